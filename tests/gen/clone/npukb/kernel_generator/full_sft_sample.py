FULL_EXAMPLE_CODE = ''
FULL_CODE_REQUIREMENT = "1. another requirement"
