dataset = {"twice": {"category": "activation"}}
category2exampleop = {"activation": "half"}
