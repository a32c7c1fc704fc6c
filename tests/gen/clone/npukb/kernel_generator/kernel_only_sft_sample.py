KERNEL_ONLY_EXAMPLE_CODE = '''
an example
'''
KERNEL_ONLY_CODE_REQUIREMENT = "1. a requirement"
