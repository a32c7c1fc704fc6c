#!/usr/bin/env python3
"""Predicted times of planned kernels beside NPUKernelBench's expert answers.

    tools/experts_time.py ACRAFT CLONE OUT.tsv [TASK...]

In: the acraft binary, a clone of the benchmark. For each task of levels 1 and 2 with an answer/0: the
largest listed case of up to 8 M elements, once as planned and once as the expert wrote it, both on
the twin with values. Out: a line for each task (status, right values, predicted us of both); tasks
already in OUT.tsv are not run again. Ends with a table of microseconds, ours / theirs, and with geometric
means of theirs / ours over what is right on both sides; one is counted faster only where the other's
predicted time is beyond the range of the model's error (src/npu/interval.def). Run it in the root of the
repository; with "-" as TASK nothing is run and OUT.tsv is summed up."""
import glob
import json
import math
import os
import re
import subprocess
import sys

MOST = 8 << 20


def elements(line):
    """Of the largest tensor that a line of the list names."""
    shapes = re.findall(r"\[([\d,\s]+)\]", line)
    return max((math.prod(int(n) for n in s.split(",") if n.strip()) for s in shapes), default=0)


def verdict(*command):
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return {"status": "timeout"}
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[0]) if lines else {"status": "none"}


def compare(acraft, clone, py):
    rel = "/".join(py[:-3].split("/")[-3:])
    expert = f"{clone}/tasks/{rel}/answer/0"
    with open(py[:-3] + ".csv") as listed:
        cases = [line for line in listed.read().splitlines()[1:] if line.strip()]
    fitting = [(elements(c), -i) for i, c in enumerate(cases) if 0 < elements(c) <= MOST]
    if not os.path.isdir(expert) or not fitting:
        return None
    n = -max(fitting)[1]
    ours = verdict(acraft, "make", py, "--listed", "own", "--case", str(n + 1), "--json")
    theirs = verdict(acraft, "run", expert, "--task", py, "--scale", "full", "--case", str(n),
                     "--rule", "npukb", "--seconds", "300", "--json")
    fields = [str(v.get(k)) for v in (ours, theirs) for k in ("status", "correct", "predicted_us")]
    return "\t".join([os.path.basename(rel), cases[n]] + fields)


def ranges():
    """From how many us on, and between which multiples of a predicted time a measured one lies: vector kernels."""
    with open("src/npu/interval.def") as table:
        found = re.findall(r"INTERVAL\(VECTOR, (\d+), ([\d.]+), ([\d.]+)", table.read())
    return [tuple(float(n) for n in row) for row in found]


def is_faster(us, than, rows):
    low = [low for start, low, _ in rows if than >= start][-1]
    return us < low * than


def print_mean(name, rows, error):
    if not rows:
        return
    ours, theirs = [r[0] for r in rows], [r[1] for r in rows]
    ratios = sorted(t / o for o, t in rows)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{name}: {len(rows)} right on both sides; theirs / ours: geometric mean {mean:.2f}, median {ratios[len(ratios) // 2]:.2f}; "
          f"beyond the model's error ours faster {sum(is_faster(o, t, error) for o, t in rows)}, "
          f"theirs faster {sum(is_faster(t, o, error) for o, t in zip(ours, theirs))}; over ten times {sum(r > 10 for r in ratios)}")


def shape_of(case):
    """'[4096, 2048];[2048];float16;1e-6' -> 'f16 4096x2048'"""
    kinds = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float": "f32", "half": "f16"}
    first = re.search(r"\[([\d,\s]+)\]", case)
    kind = re.search(r"(bfloat16|float16|float32|float|half|u?int\d+|bool)", case)
    kind = kind.group(1) if kind else ""
    kind = kinds.get(kind, kind.replace("uint", "u").replace("int", "i"))
    return (kind + " " + "x".join(n.strip() for n in first.group(1).split(",") if n.strip())).strip()


def print_table(rows):
    cells = [f"{r[0]} {shape_of(r[1])}: {float(r[4]):.1f} / {float(r[7]):.1f}" for r in rows]
    for i in range(0, len(cells), 3):
        print("| " + " | ".join(cells[i:i + 3]) + " |")


def sum_up(rows):
    right = [r for r in rows if r[2] == "ok" and r[5] == "ok" and "None" not in (r[4], r[7])]
    right.sort(key=lambda r: float(r[4]) / float(r[7]))
    error = ranges()
    times = [(float(r[4]), float(r[7])) for r in right]
    print_table(right)
    for r in rows:
        if r not in right:
            print(f"not compared: {r[0]}: ours {r[2]}, theirs {r[5]}")
    print_mean("all", times, error)
    print_mean("without Foreach", [t for t, r in zip(times, right) if not r[0].startswith("Foreach")], error)
    print_mean("without Foreach, ours over 10 us", [t for t, r in zip(times, right) if not r[0].startswith("Foreach") and t[0] > 10], error)
    print_mean("without those over ten times", [t for t in times if t[1] / t[0] <= 10], error)


def main():
    acraft, clone, out, only = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    known = open(out).read().splitlines() if os.path.exists(out) else []
    done = {line.split("\t")[0] for line in known}
    for py in sorted(glob.glob("tasks/npukernelbench/level[12]/*/*.py")):
        name = os.path.basename(py)[:-3]
        line = None if name in done or (only and name not in only) else compare(acraft, clone, py)
        if line:
            known.append(line)
            with open(out, "a") as file:
                print(line, file=file)
    sum_up([line.split("\t") for line in known])


main()
