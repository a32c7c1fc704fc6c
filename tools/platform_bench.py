#!/usr/bin/env python3
"""Runs kernels that acraft wrote beside PyTorch: CUDA on a machine with an NVIDIA GPU, C on its processor.

    platform_bench.py cuda|cpu DIR OUT.tsv [--compile] [--reps N] [--only NAME,...] [--limit SECONDS]

DIR/*/ each hold NAME.cu or NAME.c, NAME.json (as `acraft build --platform cuda|cpu` writes them), model.py and
platform.json (the integers of the model file as they were set). Compiles all, compares
values with PyTorch eager on the same inputs (in f32, without TF32), and times kernel, eager and (--compile) torch.compile by
turns, each run after 256 MiB were written to empty the caches; the median of N. Every timed result is compared
too. Kernels written with --tf32 are timed beside PyTorch with TF32 allowed everywhere, and their distance from exact
results is compared with PyTorch's own: 1 is twice as far. Tasks that OUT.tsv has already are passed over. Exit status 75: the GPU refused to go on, run it again.
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
import time

import torch

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8, "u8": torch.uint8,
          "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "bool": torch.bool}


class Cuda:
    name = "cuda"
    compilers = 16

    @staticmethod
    def compile(source, library):
        return ["nvcc", "-std=c++17", "-O3", "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC", "-Xptxas", "-v", "-o", library,
                f"{source}.cu"]

    @staticmethod
    def arguments():
        return [ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)]

    @staticmethod
    def time(f):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        f()
        b.record()
        b.synchronize()
        return a.elapsed_time(b)

    @staticmethod
    def machine():
        return f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}"


class Cpu:
    name = "cpu"
    compilers = os.cpu_count()

    @staticmethod
    def compile(source, library):
        return ["cc", "-std=c17", "-O3", "-fopenmp", "-fPIC", "-shared", "-ffp-contract=fast", "-fno-math-errno",
                "-fno-trapping-math", "-o", library, f"{source}.c", "-lm"]

    @staticmethod
    def arguments():
        return []

    @staticmethod
    def time(f):
        start = time.perf_counter()
        f()
        return (time.perf_counter() - start) * 1e3

    @staticmethod
    def machine():
        model = re.findall(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
        return f"{model[0] if model else 'processor'}, {torch.get_num_threads()} threads, PyTorch {torch.__version__}"


def compile_one(device, folder, manifest):
    name = manifest["name"]
    library = f"/tmp/{os.path.basename(os.path.dirname(os.path.abspath(folder)))}_{os.path.basename(folder)}.so"
    got = subprocess.run(device.compile(f"{folder}/{name}", library), capture_output=True, text=True)
    spills = sum(int(n) for n in re.findall(r"(\d+) bytes spill stores", got.stderr))
    return library if got.returncode == 0 else None, got.stderr[-400:], spills


def read_model(device, folder):
    text = open(f"{folder}/model.py").read()
    for name, value in json.load(open(f"{folder}/platform.json"))["sizes"].items():
        text = re.sub(rf"^{re.escape(name)} *=.*$", f"{name} = {value}", text, flags=re.M)
    space = {"__name__": "model"}
    path = f"/tmp/{os.path.basename(folder)}_model.py"  # torch.compile looks at the file
    open(path, "w").write(text)
    exec(compile(text, path, "exec"), space)
    with torch.device(device.name):
        torch.manual_seed(1)
        model = space["Model"](*space["get_init_inputs"]())
        inputs = space["get_inputs"]()
    return model.to(device.name), [x.to(device.name) if isinstance(x, torch.Tensor) else x for x in inputs]


def attribute(owner, path):
    for name in path.split("."):
        owner = getattr(owner, name)
    return owner


class Kernel:
    def __init__(self, device, library, manifest, model, inputs):
        self.device = device
        self.function = getattr(ctypes.CDLL(library), manifest["name"] + "_launch")
        tensors = [x for x in inputs if isinstance(x, torch.Tensor)]
        self.held, self.outputs = [], []
        for o in manifest["operands"]:
            if o["kind"] == "output":
                t = torch.empty(o["shape"], dtype=DTYPES[o["dtype"]], device=device.name)
                self.outputs.append(t)
            else:
                t = (tensors[o["input"]] if o["kind"] == "input" else attribute(model, o["of"])).detach().contiguous()
                if list(t.shape) != o["shape"] or t.dtype != DTYPES[o["dtype"]]:
                    raise ValueError(f"{o['name']}: {list(t.shape)} {t.dtype}, the kernel wants {o['shape']} {o['dtype']}")
            self.held.append(t)
        self.workspace = torch.empty(max(1, manifest["workspace"]), dtype=torch.uint8, device=device.name)
        self.arguments = [ctypes.c_void_p(t.data_ptr()) for t in self.held]
        self.arguments.append(ctypes.c_void_p(self.workspace.data_ptr()))

    def __call__(self):
        status = self.function(*self.arguments, *self.device.arguments())
        if status:
            raise RuntimeError(f"{self.device.name}Error {status}")
        return self.outputs

    def poison(self):
        for t in self.outputs:
            t.fill_(float("nan") if t.is_floating_point() else 1)
        self.workspace.fill_(255)


def flat(out):
    return [t for x in out for t in flat(x)] if isinstance(out, (list, tuple)) else [out]


def compare(got, want):
    """Largest error as a share of 1e-4 + 1e-4 |want|; over 1 is wrong."""
    worst = 0.0
    for g, w in zip(got, want, strict=True):
        if g.shape != w.shape:
            return float("inf")
        for a, b in zip(g.reshape(-1).split(1 << 28), w.reshape(-1).split(1 << 28)):
            if not b.is_floating_point():
                worst = max(worst, float((a != b).any()) * 2)
                continue
            same = (a == b) | (a.isnan() & b.isnan())
            share = torch.where(same, 0.0, (a - b).abs() / (1e-4 + 1e-4 * b.abs()))
            worst = max(worst, float("inf") if share.isnan().any() else share.max().item())
    return worst


def distance(got, want):
    """How far results are from exact ones, as a share of those: the largest of all tensors."""
    return max((float((g.reshape(w.shape).double() - w.double()).norm() / w.double().norm().clamp_min(1e-30))
                for g, w in zip(got, want, strict=True)), default=0.0)


def allow_tf32(matrices, convolutions):
    torch.backends.cuda.matmul.allow_tf32 = matrices
    torch.backends.cudnn.allow_tf32 = convolutions


def measure(device, functions, reps, flush):
    times = [[] for _ in functions]
    for _ in range(reps):
        for i, f in enumerate(functions):
            flush.zero_()
            times[i].append(device.time(f))
    return [sorted(t)[len(t) // 2] for t in times]


def copy_rate(device, flush):
    n = 1 << (30 if device.name == "cuda" else 27)
    a, b = torch.ones(n, device=device.name), torch.ones(n, device=device.name)
    (ms,) = measure(device, [lambda: b.copy_(a)], 15, flush)
    return 8 * n / ms / 1e6


def run_task(device, folder, manifest, library, options, flush):
    model, inputs = read_model(device, folder)
    kernel = Kernel(device, library, manifest, model, inputs)
    with torch.no_grad():
        tf32 = json.load(open(f"{folder}/platform.json")).get("tf32", False)
        allow_tf32(False, False)  # convolutions are compared with exact ones, and timed as PyTorch runs them
        want = [t.clone() if t.numel() < 1 << 28 else t for t in flat(model(*inputs))]
        allow_tf32(tf32, True)
        kernel.poison()
        least = distance(flat(model(*inputs)), want) if tf32 else 0.0
        check = (lambda got: distance(got, want) / max(2 * least, 5e-4)) if tf32 else (lambda got: compare(got, want))
        error = check(kernel())
        if device.name == "cuda":
            torch.cuda.synchronize()
        functions = [kernel, lambda: model(*inputs)]
        if options.compile and time.time() < options.until:
            try:
                compiled = torch.compile(model, dynamic=False)
                compiled(*inputs)
                functions.append(lambda: compiled(*inputs))
            except torch._dynamo.exc.TorchDynamoException as e:
                print(f"{folder}: torch.compile: {e}", file=sys.stderr)
        for f in functions:
            f()
        times = measure(device, functions, options.reps, flush)
        error = max(error, check(kernel.outputs))
    return error, times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("platform", choices=["cuda", "cpu"])
    parser.add_argument("dir")
    parser.add_argument("out")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--reps", type=int, default=15)
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=500)
    options = parser.parse_args()
    device = Cuda if options.platform == "cuda" else Cpu
    options.until = time.time() + options.limit
    only = set(options.only.split(",")) - {""}
    done = set()
    if os.path.exists(options.out):
        done = {line.split("\t")[0] for line in open(options.out)}
    tasks = []
    for path in sorted(glob.glob(f"{options.dir}/*/*.json")):
        name = os.path.basename(os.path.dirname(path))
        if os.path.basename(path) != "platform.json" and name not in done and (not only or name in only):
            tasks.append((os.path.dirname(path), json.load(open(path))))
    with concurrent.futures.ThreadPoolExecutor(device.compilers) as pool:
        libraries = list(pool.map(lambda t: compile_one(device, *t), tasks))
    flush = torch.empty(1 << 28, dtype=torch.uint8, device=device.name)
    rate = copy_rate(device, flush)
    with open(options.out, "a") as out:
        out.write(f"# {device.machine()}, {time.strftime('%Y-%m-%d')}, copy {rate:.3g} GB/s, median of {options.reps}\n")
        if not done:
            out.write("task\tbytes\terror\tours_ms\teager_ms\tcompile_ms\tspills\tnote\n")
        for (folder, manifest), (library, said, spills) in zip(tasks, libraries):
            name = os.path.basename(folder)
            if not library:
                out.write(f"{name}\t{manifest['bytes']}\t\t\t\t\t\tcompiler: {' '.join(said.split())[-200:]}\n")
                continue
            try:
                error, times = run_task(device, folder, manifest, library, options, flush)
                times += [float("nan")] * (3 - len(times))
                out.write(f"{name}\t{manifest['bytes']}\t{error:.3g}\t" +
                          "\t".join(f"{t:.4f}" if t == t else "" for t in times) + f"\t{spills}\t\n")
            except Exception as e:
                out.write(f"{name}\t{manifest['bytes']}\t\t\t\t\t{spills}\t{type(e).__name__}: {' '.join(str(e).split())[:160]}\n")
                if "CUDA error" in str(e) or "cudaError" in str(e):
                    out.flush()
                    sys.exit(75)  # the device answers no more: a new process goes on behind this task
            out.flush()
            if device is Cuda:
                torch.cuda.empty_cache()
            torch._dynamo.reset()


if __name__ == "__main__":
    main()
