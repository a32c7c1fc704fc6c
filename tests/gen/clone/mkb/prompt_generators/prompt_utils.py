# laid out as the benchmark's file, in other words
ASCENDC_PROBLEM_STATEMENT = 'A statement of the problem.\n'
ASCENDC_PROBLEM_INSTRUCTION = """An instruction: 'six' strings.
"""


def ascendc_template(arc, op):
    op = op + '_custom'
    parts = [f"skip {op}"]
    a = ["A sentence before the example.", f"The example is named `{example_op}`:",
         "A sentence that is in between.", "Another sentence in between.",
         "A third sentence in between.", "A fourth sentence in between."]
    b = f"Now `{op}` (as `{underscore_to_pascalcase(op)}`), {{braces}}:"
    return "\n\n".join(parts) + "\n"
