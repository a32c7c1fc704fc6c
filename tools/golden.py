#!/usr/bin/env python3
"""Values from real PyTorch, to hold ours against.  Needs PyTorch; nothing a user runs needs this.

    tools/golden.py ops [DIR]          writes the operator cases to tests/graph/golden
    tools/golden.py tasks [NAME...]    writes what PyTorch gives for the shipped tasks (those of these names; the others
                                       stay as they are) to tests/torch/golden/tasks.txt; ACRAFT names the program
    tools/golden.py odd [NAME...]      the same for the model files of tests/torch/odd, to tests/torch/golden/odd.txt
    tools/golden.py files PATH...      model files or directories: runs `acraft task --run` and PyTorch
                                       on the same inputs and parameters, prints a table per category
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def write_ops(directory):
    import golden_ops
    total = 0
    for group, cases in golden_ops.all_cases().items():
        with open(os.path.join(directory, group + ".txt"), "w") as out:
            out.write(f"# Values from PyTorch, written by `tools/golden.py ops`; the format stands in tools/golden_ops.py.\n")
            for lines in cases:
                out.write("\n".join(lines) + "\n\n")
        total += len(cases)
        print(f"{group:12} {len(cases):5} cases")
    print(f"{'all':12} {total:5} cases")


def main(argv):
    if len(argv) >= 2 and argv[1] == "ops":
        write_ops(argv[2] if len(argv) > 2 else os.path.join(ROOT, "tests", "graph", "golden"))
        return 0
    if len(argv) >= 2 and argv[1] in ("tasks", "odd"):
        import golden_tasks
        folder = ("tasks",) if argv[1] == "tasks" else ("tests", "torch", "odd")
        golden_tasks.write(os.path.join(ROOT, *folder), os.path.join(ROOT, "tests", "torch", "golden", argv[1] + ".txt"),
                           os.environ.get("ACRAFT", "build/debug-gcc/acraft"), argv[2:])
        return 0
    if len(argv) >= 3 and argv[1] == "files":
        import compare
        return compare.main(argv[2:])
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
