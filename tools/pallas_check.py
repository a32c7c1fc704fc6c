#!/usr/bin/env python3
"""pallas_check.py ACRAFT [options] [MODEL.py ...]: Pallas kernels beside the reference, without a TPU.

Every model file (without names: the 86 vector tasks below tasks/) is written for Pallas at each of the sizes, and its
kernels are run on the inputs of `acraft task --run` by JAX's interpreter (interpret), by the one that knows a TPU's
memories and looks for races, reads out of bounds and of nothing (tpu-interpret), or are lowered to Mosaic as for a TPU
(lower), where nothing runs. Prints a table, one line a task, and what every miss says. No TPU is asked for anything.

  --modes A,B    interpret,tpu-interpret,lower (interpret)
  --scales A,B   tiny, small, fuzz, fuzz:SEED (tiny,fuzz:1)
  --rtol X       largest error, of |want| + the mean of |want| (1e-4)
  --most N       at most N elements of all operands together (4000000); larger sizes are not run
"""
import argparse
import glob
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import jax
from jax._src.pallas.mosaic.interpret import interpret_pallas_call as interpreter  # its races
from jax.experimental.pallas import tpu as pltpu

VECTOR = ["activation", "broadcast", "index", "loss", "math", "mhc", "normalization", "optimizer",
          "pooling", "reduce", "resize"]


def call(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    said = (done.stderr or done.stdout).strip().splitlines()
    return done.returncode, said[0] if said else ""


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arrays(folder, kind):
    """By number and, where they have one, by name."""
    out = {}
    for i, about in enumerate(json.load(open(os.path.join(folder, "values.json")))[kind]):
        out[i] = out[about["name"]] = np.load(os.path.join(folder, about["file"]))
    return out


def operand(o, inputs, params):
    return inputs[o["input"]] if o["kind"] == "input" else params[o["of"]]


def worst(got, want, rtol):
    """The largest error, as a multiple of what is allowed."""
    got, want = np.asarray(got).astype(np.float64), np.asarray(want).astype(np.float64)
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    if want.size == 0:
        return None
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return "infinities or NaN differ"
    got, want = got[finite], want[finite]
    if want.size == 0:
        return None
    if not np.all(np.isfinite(got)):
        return "NaN or infinity where the reference has a number"
    room = rtol * (np.abs(want) + np.mean(np.abs(want)) + 1e-6)
    ratio = np.max(np.abs(got - want) / room)
    return None if ratio <= 1 else f"error {ratio * rtol:.2g} of the value"


def run_case(acraft, path, scale, modes, rtol, most):
    """{mode: None (right) or what is wrong}, one entry also where nothing was written."""
    name = "k_" + os.path.splitext(os.path.basename(path))[0]
    scale, _, seed = scale.partition(":")
    sizes = ["--scale", scale, "--seed", seed or "0"]
    with tempfile.TemporaryDirectory() as folder:
        made, ref = os.path.join(folder, "made"), os.path.join(folder, "ref")
        status, said = call(acraft, "build", path, "--platform", "pallas", *sizes, "-o", made)
        for again in range(int(seed or 0) + 100, int(seed or 0) + 110):
            if not status or "has no elements" not in said or scale != "fuzz":
                break
            sizes[-1] = str(again)  # a size was drawn as 0
            status, said = call(acraft, "build", path, "--platform", "pallas", *sizes, "-o", made)
        if status:
            return {m: "not written: " + said for m in modes}
        status, said = call(acraft, "task", path, "--run", *sizes, "-o", ref)
        if status:
            return {m: "no reference: " + said for m in modes}
        json_path = glob.glob(os.path.join(made, "*.json"))[0]
        about = json.load(open(json_path))
        if sum(int(np.prod(o["shape"])) for o in about["operands"]) > most:
            return {m: "too large to interpret" for m in modes}
        inputs, params, wanted = (arrays(ref, k) for k in ("inputs", "params", "outputs"))
        given = [operand(o, inputs, params) for o in about["operands"] if o["kind"] != "output"]
        module = load(os.path.join(made, about["name"] + ".py"), name)
        function = getattr(module, about["name"])
        return {m: run_mode(function, given, wanted, m, rtol) for m in modes}


def run_mode(function, given, wanted, mode, rtol):
    try:
        if mode == "lower":
            jax.jit(function).trace(*given).lower(lowering_platforms=("tpu",))
            return None
        how = True
        if mode == "tpu-interpret":
            how = pltpu.InterpretParams(detect_races=True)
        out = [np.asarray(y) for y in function(*given, interpret=how)]
        if mode == "tpu-interpret":
            if interpreter.races is None:
                return "the interpreter looked for no races"
            if interpreter.races.races_found:
                return "a race"
            pltpu.reset_tpu_interpret_mode_state()
    except Exception as error:  # the text is what is tested: whatever it raises is its fault
        lines = [line for line in str(error).splitlines() if line.strip()]
        return f"{type(error).__name__}: {lines[0][:150] if lines else ''}"
    for key, y in enumerate(out):
        bad = worst(y, wanted[key], rtol)
        if bad:
            return f"output {key}: {bad}"
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("acraft")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--modes", default="interpret")
    parser.add_argument("--scales", default="tiny,fuzz:1")
    parser.add_argument("--rtol", type=float, default=1e-4)
    parser.add_argument("--most", type=int, default=4_000_000)
    asked = parser.parse_intermixed_args()
    modes, scales = asked.modes.split(","), asked.scales.split(",")
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tasks")
    files = asked.files or sorted(f for c in VECTOR for f in glob.glob(f"{root}/{c}/*.py"))
    right = {(m, s): 0 for m in modes for s in scales}
    whole = {m: 0 for m in modes}
    misses = []
    print(f"jax {jax.__version__}; no TPU ran any of this")
    print(f"{'task':40}" + "".join(f"{m + ' ' + s:>24}" for m in modes for s in scales))
    for path in files:
        start, task = time.time(), os.path.relpath(path, root)
        results = {}
        for s in scales:
            for m, bad in run_case(asked.acraft, path, s, modes, asked.rtol, asked.most).items():
                results[m, s] = bad
                right[m, s] += bad is None
                if bad:
                    misses.append(f"{task} {m} {s}: {bad}")
        for m in modes:
            whole[m] += all(results[m, s] is None for s in scales)
        print(f"{task:40}" + "".join(f"{'ok' if results[m, s] is None else 'NO':>24}"
                                     for m in modes for s in scales)
              + f"  {time.time() - start:.1f} s", flush=True)
    for m in modes:
        print(f"{m}: {whole[m]} of {len(files)} at every size; "
              + ", ".join(f"{s} {right[m, s]}" for s in scales))
    print("\n".join(misses))
    return 0 if not misses else 1


if __name__ == "__main__":
    sys.exit(main())
