#!/usr/bin/env python3
"""Compares many small CUDA kernels that acraft wrote with PyTorch on the CPU, on a machine with an NVIDIA GPU.

    cuda_check.py DIR... [--sanitizer memcheck,racecheck] [--units N] [--limit SECONDS]

DIR/*/ are directories as `acraft build --platform cuda` writes them, of whatever sizes and dtypes. The bodies of all are
compiled in N files. Then every kernel runs once on poisoned results and is compared: f32 within 1e-4, f16 and bf16 within
two of their last places (the reference is f32 on the rounded inputs). With --sanitizer the same run is repeated under
compute-sanitizer; every tensor has an allocation of its own then, and nothing but our kernels runs on the GPU. Prints
what is wrong, then one line a run. Exit status 1: something was.
"""
import argparse
import concurrent.futures
import ctypes
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import torch

from platform_bench import DTYPES, attribute, flat, read_model

TOLERANCE = {"f32": 1e-4, "f16": 2e-3, "bf16": 1.6e-2}


class Host:
    name = "cpu"


def find_tasks(dirs):
    tasks = []
    for folder in dirs:
        for path in sorted(glob.glob(f"{folder}/*/platform.json")):
            own = os.path.dirname(path)
            name = json.load(open(path))["name"]
            prefix = re.sub(r"\W", "_", f"{os.path.basename(folder)}_{os.path.basename(own)}")
            tasks.append((own, name, prefix))
    return tasks


def write_units(tasks, count, to):
    """The prelude once, then the bodies, each in a namespace."""
    paths = []
    for unit in range(count):
        text = ""
        for own, name, prefix in tasks[unit::count]:
            source = open(f"{own}/{name}.cu").read()
            prelude, body = source.split("} // namespace\n", 1)
            text = text or prelude + "} // namespace\n"
            text += f"namespace {prefix} {{{body}}}\n".replace(f"int {name}_launch(", f"int {prefix}_launch(")
        if text:
            paths.append(f"{to}/unit{unit}.cu")
            open(paths[-1], "w").write(text)
    return paths


def compile_unit(path):
    library = path.replace(".cu", ".so")
    got = subprocess.run(["nvcc", "-std=c++17", "-O2", "-lineinfo", "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC", "-o",
                          library, path], capture_output=True, text=True)
    if got.returncode:
        sys.exit(f"{path}: {got.stderr[-2000:]}")
    return library


def rounded(x, dtype):
    return x.to(DTYPES[dtype]) if isinstance(x, torch.Tensor) and x.is_floating_point() else x


def run_one(function, own, name):
    manifest = json.load(open(f"{own}/{name}.json"))
    dtype = json.load(open(f"{own}/platform.json"))["dtype"]
    model, inputs = read_model(Host, own)
    inputs = [rounded(x, dtype) for x in inputs]
    model = model.to(DTYPES[dtype]).float()
    with torch.no_grad():
        want = flat(model(*[x.float() if isinstance(x, torch.Tensor) and x.is_floating_point() else
                            x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]))
    tensors = [x for x in inputs if isinstance(x, torch.Tensor)]
    held, outputs = [], []
    for o in manifest["operands"]:
        if o["kind"] == "output":
            t = torch.empty(o["shape"], dtype=DTYPES[o["dtype"]])
            t = t.fill_(float("nan") if t.is_floating_point() else 1).cuda()
            outputs.append(t)
        else:
            t = tensors[o["input"]] if o["kind"] == "input" else attribute(model, o["of"])
            t = t.detach().to(DTYPES[o["dtype"]]).contiguous().cuda()
        held.append(t)
    held.append(torch.full((max(1, manifest["workspace"]),), 255, dtype=torch.uint8).cuda())
    status = function(*[ctypes.c_void_p(t.data_ptr()) for t in held],
                      ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
    torch.cuda.synchronize()
    if status:
        raise RuntimeError(f"cudaError {status}")
    worst, t = 0.0, TOLERANCE[dtype]
    for g, w in zip(outputs, want, strict=True):
        g = g.cpu()
        if not w.is_floating_point():
            worst = max(worst, float((g != w.reshape(g.shape)).any()) * 2)
            continue
        a, b = g.double(), w.double().reshape(g.shape)
        same = (a == b) | (a.isnan() & b.isnan())
        share = torch.where(same, 0.0, (a - b).abs() / (t + t * b.abs()))
        worst = max(worst, float("inf") if share.isnan().any() else share.max().item() if share.numel() else 0.0)
    return worst


def run_all(tasks, libraries):
    wrong = ran = 0
    loaded = [ctypes.CDLL(path) for path in libraries]
    for own, name, prefix in tasks:
        library = next((l for l in loaded if hasattr(l, f"{prefix}_launch")), None)
        print(f"task {prefix}", flush=True)
        try:
            error = run_one(getattr(library, f"{prefix}_launch"), own, name)
            ran += 1
            if not error <= 1:
                wrong += 1
                print(f"wrong {prefix} {error:.3g}", flush=True)
        except Exception as e:
            wrong += 1
            print(f"failed {prefix} {type(e).__name__}: {' '.join(str(e).split())[:200]}", flush=True)
            if "CUDA error" in str(e):
                break
    print(f"ran {ran} of {len(tasks)}, wrong or failed {wrong}", flush=True)
    return wrong


def show(what, text):
    task, findings = "", 0
    for line in text.splitlines():
        if line.startswith("task "):
            task = line[5:]
        elif line.startswith(("wrong ", "failed ", "ran ")) or "ERROR SUMMARY" in line or "RACECHECK SUMMARY" in line:
            print(f"{what}: {line}")
        elif re.match(r"========= (Invalid|Error|Warning: Race|.*[Hh]azard|Program hit)", line) and findings < 40:
            findings += 1
            print(f"{what}: {task}: {line}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dirs", nargs="+")
    parser.add_argument("--sanitizer", default="")
    parser.add_argument("--units", type=int, default=16)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--libraries", default="")
    options = parser.parse_args()
    tasks = find_tasks(options.dirs)
    if options.libraries:
        sys.exit(1 if run_all(tasks, options.libraries.split(",")) else 0)
    with tempfile.TemporaryDirectory() as to, concurrent.futures.ThreadPoolExecutor(options.units) as pool:
        libraries = list(pool.map(compile_unit, write_units(tasks, options.units, to)))
        own = [sys.executable, __file__, *options.dirs, "--libraries", ",".join(libraries)]
        bad = 0
        for tool in [""] + [t for t in options.sanitizer.split(",") if t]:
            command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", *own] if tool else own
            try:
                got = subprocess.run(command, capture_output=True, text=True, timeout=options.limit,
                                     env={**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"})
                bad += got.returncode != 0
                show(tool or "values", got.stdout + got.stderr)
            except subprocess.TimeoutExpired as e:
                bad += 1
                show(tool or "values", (e.stdout or b"").decode())
                print(f"{tool}: stopped after {options.limit} s")
        sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
