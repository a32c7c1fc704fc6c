twice = 1
