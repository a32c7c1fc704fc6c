"""What PyTorch gives for every shipped task at tiny sizes, in a few numbers each.

For each model file below tasks/ (of a list of cases: a few, spread over it) acraft draws inputs and parameters and
writes them out; PyTorch computes the outputs in float64 (half types as they are).  A task becomes a few lines:

    task fuse/gemm_add_relu - signed BATCH=32 COLS=64      path below tasks/, case or -, law, the sizes that were set
    out f32 32,64 mean 0.25 rms 0.5 mix 0.125 odd 0        one for each output; shape - is a scalar
    at 0.5 0.25 0 ...                                      elements at SAMPLES places

Mean, rms and mix are over the finite elements, odd counts the others.  mix is the sum of element i times weight(i),
over the root of their number: it sees a permutation.  tests/torch/golden_test.c does the same sums.
"""
import argparse
import math
import os
import tempfile

import numpy
import torch

import compare

SAMPLES = 24


def weights(n):
    """In [-1, 1), by place."""
    x = numpy.arange(n, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
    return (x >> numpy.uint64(11)).astype(numpy.float64) * 2.0 ** -52 - 1.0


def places(n):
    return [(i * 2654435761 + 12345) % n for i in range(SAMPLES)] if n > SAMPLES else list(range(n))


def number(x):
    return "nan" if math.isnan(x) else repr(x) if math.isinf(x) or x == int(x) and abs(x) < 1e15 else f"{x:.9g}"


def output_lines(dtype, want):
    """`dtype` is acraft's: PyTorch ran f32 tasks in float64."""
    shape = ",".join(map(str, want.shape)) or "-"
    if want.is_complex():
        want = torch.view_as_real(want)
    x = want.double().reshape(-1).numpy()
    finite = numpy.isfinite(x)
    kept, n = x[finite], max(1, int(finite.sum()))
    mix = float((kept * weights(x.size)[finite]).sum()) / math.sqrt(n)
    yield (f"out {dtype} {shape} mean {number(float(kept.sum()) / n)} rms {number(math.sqrt(float((kept * kept).sum()) / n))}"
           f" mix {number(mix)} odd {x.size - int(finite.sum())}")
    yield "at " + " ".join(number(float(x[i])) for i in places(x.size))


def task_lines(name, path, case, args):
    """None and a reason where PyTorch cannot run it."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = os.path.join(scratch, "task")
        manifest, problem = compare.export(path, args, directory, case, None)
        if problem:
            return None, "acraft: " + problem
        try:
            want = compare.run_either(path, manifest, directory)
        except Exception as error:  # whatever the file does
            return None, f"{type(error).__name__}: {error}".split("\n")[0]
    sets = [f"{k['name']}={k['value']}" for k in manifest["knobs"] if k["value"] != k["original"]]
    lines = [" ".join(["task", name, "-" if case is None else str(case), args.law] + sets)]
    if len(want) != len(manifest["outputs"]):
        return None, f"{len(manifest['outputs'])} outputs, PyTorch {len(want)}"
    for out, tensor in zip(manifest["outputs"], want):
        lines += output_lines(out["dtype"], tensor)
    return lines, None


def chosen(path, args):
    """Cases and laws: a file without cases is run on its own inputs and on signed ones."""
    for case, _ in compare.choose_cases(path, args):
        yield case, "given"
        if case is None:
            yield case, "signed"


def old_lines(target):
    """What the file has for each task."""
    tasks, name = {}, None
    with open(target) as f:
        for line in list(f)[1:]:
            words = line.split()
            name = words[1] if words[0] == "task" else words[2] if line.startswith("# none") else name
            tasks.setdefault(name, []).append(line)
    return tasks


def new_lines(name, path, args, refused):
    for case, args.law in chosen(path, args):
        lines, reason = task_lines(name, path, case, args)
        if not lines:
            lines = [f"# none {name} {'-' if case is None else case} {reason}"]
            refused.append(name)
        yield from (line + "\n" for line in lines)


def write(tasks, target, acraft, only):
    """All tasks, or only those whose file has one of the names; the others keep their lines."""
    args = argparse.Namespace(acraft=acraft, scale="tiny", law="given", cases=3, timeout=120)
    kept, refused = old_lines(target) if only else {}, []
    for path in compare.find([tasks]):
        name = os.path.relpath(path, tasks)[:-3]
        if not only or os.path.basename(name) in only:
            kept[name] = list(new_lines(name, path, args, refused))
    with open(target, "w") as out:
        out.write("# Values from PyTorch, written by `tools/golden.py tasks`; the format stands in tools/golden_tasks.py.\n")
        for path in compare.find([tasks]):
            out.writelines(kept.get(os.path.relpath(path, tasks)[:-3], []))
    count = sum(line.startswith("task ") for lines in kept.values() for line in lines)
    print(f"{count} tasks and cases, {len(refused)} without values: {' '.join(refused)}")
