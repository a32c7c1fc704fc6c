#!/usr/bin/env python3
"""Cases for dtypes that an operator declares and its suite never tries.

    tools/declared_cases.py OUT tasks/npukernelbench/level1 tasks/npukernelbench/level2

Below OUT stands every model file whose docstring declares a combination of dtypes that no listed case has, with a
list of one case for each: the suite's smallest, its dtypes replaced. `bench-reach --listed` judges them.
"""
import pathlib
import re
import sys

NAMES = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16", "c64": "complex64", "bool": "bool"}
NAMES |= {f"i{b}": f"int{b}" for b in (8, 16, 32, 64)}
NAMES |= {f"u{b}": f"uint{b}" for b in (8, 16, 32, 64)}


def declared(source):
    """The dtypes of each operand, one for each combination: [["float16", "float32"], ...]."""
    operands = []
    for line in source.split('"""')[1].split("\n\n")[-1].splitlines():
        words = line.split()
        if len(words) < 3 or not all(re.fullmatch(r"\w+(\*\d+)?", w) for w in words[2:]):
            continue
        types = []
        for word in words[2:]:
            name, _, times = word.partition("*")
            types += [NAMES.get(name, name)] * int(times or 1)
        if types[0] in NAMES.values():
            operands.append(types)
    return operands


def elements(row):
    """The product of the whole numbers of a case: large cases have large ones."""
    product = 1
    for number in re.findall(r"\d+", ";".join(row)):
        product *= max(int(number), 1)
    return product


def meaning(row, columns, operands):
    """Which operand each dtype column speaks of, judged by a combination that fits; None: none does."""
    for k in range(max(len(types) for types in operands)):
        chosen = []
        for column in columns:
            fits = [o for o, types in enumerate(operands)
                    if k < len(types) and types[k] == row[column] and o not in chosen]
            if not fits:
                break
            chosen.append(fits[0])
        if len(chosen) == len(columns):
            return chosen
    return None


def missing(source, table):
    """The header, and a row for each combination without a case."""
    rows = [line.split(";") for line in table.splitlines() if line]
    operands, header = declared(source), rows[0]
    columns = [c for c in range(len(header)) if any(c < len(r) and r[c] in NAMES.values() for r in rows[1:])]
    have = {tuple(r[c] for c in columns) for r in rows[1:]}
    base = min(rows[1:], key=elements)
    of = meaning(base, columns, operands) if columns and operands else None
    made = []
    for k in range(max(len(operands[o]) for o in of) if of else 0):
        types = tuple(operands[o][min(k, len(operands[o]) - 1)] for o in of)
        if types in have:
            continue
        have.add(types)
        row = list(base)
        for column, name in zip(columns, types):
            row[column] = name
        made.append(";".join(row))
    return [table.splitlines()[0]] + made


def main(out, roots):
    for root in roots:
        for path in sorted(pathlib.Path(root).rglob("*.py")):
            source = path.read_text()
            lines = missing(source, path.with_suffix(".csv").read_text())
            if len(lines) == 1:
                continue
            to = pathlib.Path(out) / path
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(source)
            to.with_suffix(".csv").write_text("\n".join(lines) + "\n")
            print(to, len(lines) - 1)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
