#!/usr/bin/env python3
"""Predicted times of planned kernels beside NPUKernelBench's expert answers.

    tools/experts_time.py ACRAFT CLONE OUT.tsv [TASK...]

In: the acraft binary, a clone of the benchmark. For each task of levels 1 and 2 with an answer/0: the
largest listed case of up to 8 M elements, once as planned and once as the expert wrote it, both on
the twin with values. Out: a line for each task (status, right values, predicted us of both); tasks
already in OUT.tsv are not run again. Ends with the geometric mean of theirs / ours over what is right
on both sides. Run it in the root of the repository."""
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
    rows = [line.split("\t") for line in known]
    ratios = [float(r[7]) / float(r[4]) for r in rows if r[2] == "ok" and r[5] == "ok"]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} right on both sides; theirs / ours: geometric mean {mean:.2f}, "
              f"over 1.1: {sum(r > 1.1 for r in ratios)}, under 1 / 1.1: {sum(r < 1 / 1.1 for r in ratios)}")


main()
