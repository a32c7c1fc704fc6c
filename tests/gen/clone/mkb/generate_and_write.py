messages = [{"role": "system", "content": "be useful"}, {"role": "user", "content": prompt}]
