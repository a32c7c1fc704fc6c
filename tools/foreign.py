#!/usr/bin/env python3
"""Public kernels that nobody here wrote, run unmodified and compared with NumPy.

    tools/foreign.py ACRAFT CLONES [PART_OF_NAME...]

In: the acraft binary, a folder with clones of the repositories of docs/foreign.md, each under its own
name. Out: a line for each kernel: repository, path, status, whether the values are right."""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

rng = np.random.default_rng(7)
F32, F16, I32, U8 = np.float32, np.float16, np.int32, np.uint8
NAMES = {"float32": "f32", "float16": "f16", "int32": "i32", "uint8": "u8", "bool": "bool", "int8": "i8", "int64": "i64"}


def draw(*shape, low=-3.0, high=3.0, dtype=F32):
    if np.issubdtype(dtype, np.integer):
        return rng.integers(int(low), int(high), shape).astype(dtype)
    return rng.uniform(low, high, shape).astype(dtype)


MATH = "experimental/math/"
ROOT_MATH = ["-I", "{clone}", "-I", "{clone}/common/inc"]
CASES = []


def case(repo, path, inputs, outputs, tolerance=1e-5, more=()):
    """inputs: name to array; outputs: name to the values wanted."""
    CASES.append((repo, path, inputs, outputs, tolerance, list(more)))


def unary(name, function, low=-3.0, high=3.0, dtype=F32, tolerance=1e-5, x="x", y="y", more=()):
    a = draw(37, 96, low=low, high=high, dtype=dtype)
    case("ops-math", MATH + name, {x: a}, {y: function(a.astype(np.float64) if dtype != I32 else a).astype(dtype)}, tolerance,
         ROOT_MATH + list(more))


def binary(name, function, low=-3.0, high=3.0, dtype=F32, tolerance=1e-5, names=("x1", "x2", "y"), out=None):
    a, b = draw(37, 96, low=low, high=high, dtype=dtype), draw(37, 96, low=low, high=high, dtype=dtype)
    want = function(a.astype(np.float64), b.astype(np.float64)).astype(out or dtype)
    case("ops-math", MATH + name, {names[0]: a, names[1]: b}, {names[2]: want}, tolerance, ROOT_MATH)


def ops_math():
    unary("sign", np.sign)
    unary("floor", np.floor)
    unary("exp", np.exp)
    unary("log", np.log2, low=0.1, more=["--attr", "base=2"])
    unary("cos", np.cos)
    unary("sin", np.sin)
    unary("trunc_v2", np.trunc)
    unary("round", np.round)
    unary("neg", np.negative)
    unary("reciprocal", np.reciprocal, low=0.5)
    unary("rsqrt", lambda x: 1 / np.sqrt(x), low=0.5)
    unary("cosh", np.cosh)
    unary("sinh", np.sinh)
    unary("asinh_v2", np.arcsinh)
    unary("acos", np.arccos, low=-0.9, high=0.9, tolerance=1e-4)  # its own polynomial
    unary("erf", np.vectorize(math.erf), tolerance=1e-4)  # its own polynomial
    unary("bitwise_not", np.invert, low=-99, high=99, dtype=I32)
    unary("inv", np.reciprocal, low=0.5)
    binary("add_v2", np.add)
    binary("real_div", np.divide, low=0.5)
    binary("atan2", np.arctan2)
    binary("minimum", np.minimum)
    binary("maximum_v2", np.maximum)
    binary("tanh_grad", lambda y, dy: dy * (1 - y * y), low=-0.9, high=0.9, names=("y", "dy", "dx"))
    binary("sqrt_grad", lambda y, dy: dy * 0.5 / y, low=0.5, names=("y", "dy", "z"))
    binary("asin_grad", lambda y, dy: dy / np.sqrt(1 - y * y), low=-0.9, high=0.9, names=("y", "dy", "z"))
    binary("log_add_exp", np.logaddexp, names=("x", "y", "out"))
    moved = draw(37, 96)
    case("ops-math", "experimental/conversion/tensor_move", {"x": moved}, {"y": moved}, 0, ROOT_MATH)


def lora():
    tokens, hidden, rank, loras = 6, 256, 16, 3
    x, w = draw(tokens, hidden, low=-1, high=1, dtype=F16), draw(loras, rank, hidden, low=-1, high=1, dtype=F16)
    which = np.array([0, 2, 1, 1, 0, 2], np.int64)
    y = (np.einsum("th,trh->tr", x.astype(F32), w[which].astype(F32)) * 0.5).astype(F32)
    numbers = ["--attr", f"indicesSize={tokens}", "--attr", f"batchSize={tokens}", "--attr", "numTokensPerCore=3", "--attr",
               f"inputHiddenDim={hidden}", "--attr", f"maxLoRARank={rank}", "--attr", "scale=0.5", "--blocks", "2"]
    both = (("vllm-ascend", "csrc/kernels/{}.cpp"), ("sgl-kernel-npu", "csrc/lora/op_kernel/{}_kernel.cpp"))
    for repo, path in both:
        case(repo, path.format("bgmv_shrink"), {"x": x, "weight": w, "indices": which}, {"y": y}, 1e-3,
             ["--kernel", "bgmv_shrink_half"] + numbers)
    a, up = draw(tokens, rank, low=-1, high=1), draw(loras, hidden, rank, low=-1, high=1, dtype=F16)
    before = draw(tokens, hidden, low=-1, high=1, dtype=F16)
    after = (before.astype(F32) + np.einsum("tr,thr->th", a, up[which].astype(F32))).astype(F16)
    numbers = ["--attr", f"indicesSize={tokens}", "--attr", f"batchSize={tokens}", "--attr", "numTokensPerCore=3", "--attr",
               f"maxLoRARank={rank}", "--attr", f"outputHiddenDim={hidden}", "--attr", "sliceOffset=0", "--attr",
               f"outputFullDim={hidden}", "--blocks", "2"]
    for repo, path in both:
        case(repo, path.format("bgmv_expand"), {"x": a, "weight": up, "indices": which, "yIn": before}, {"yOut": after}, 1e-2,
             ["--kernel", "bgmv_expand_half"] + numbers)
    lengths, order = np.array([2, 3, 1], np.int64), np.array([1, 0, 2], np.int64)
    each = np.repeat(order, lengths)
    y = (np.einsum("th,trh->tr", x.astype(F32), w[each].astype(F32)) * 0.5).astype(F32)
    numbers = ["--attr", "loraIndicesSize=3", "--attr", "seqLenSize=3", "--attr", f"batchSize={tokens}", "--attr", "numTokensPerCore=3",
               "--attr", f"inputHiddenDim={hidden}", "--attr", f"maxLoRARank={rank}", "--attr", "scale=0.5", "--blocks", "2"]
    for repo, path in both:
        case(repo, path.format("sgmv_shrink"), {"x": x, "weight": w, "loraIndices": order, "seqLen": lengths}, {"y": y}, 1e-3,
             ["--kernel", "sgmv_shrink_half"] + numbers)


def others():
    a, b = draw(16384, low=-9, high=9, dtype=F16), draw(16384, low=-9, high=9, dtype=F16)
    case("sgl-kernel-npu", "csrc/helloworld/op_kernel/kernel_helloworld.cpp", {"x": a, "y": b}, {"z": a + b}, 0,
         ["--attr", "totalLength=16384", "--blocks", "8"])
    a, b, c = draw(16, 128), draw(16, 128), draw(16, 128)
    value = np.array([0.5], F32)
    case("ascend_c_op", "Addcmul", {"input_data": a, "x1": b, "x2": c, "value": value}, {"y": a + b * c * F32(0.5)}, 1e-5)
    case("ascend_c_op", "LessEqual", {"x1": a, "x2": b}, {"y": a <= b}, 0)
    x = draw(1024, low=0, high=255, dtype=F32)
    for kind, want in ((0, np.where(x > 100, F32(200), F32(0))), (2, np.minimum(x, F32(100)))):
        head = np.zeros(16, U8)
        head[:12] = np.frombuffer(np.array([200, 100], F32).tobytes() + np.array([1024], np.uint32).tobytes(), U8)
        head[12:14] = (kind, 5)
        case("opencv_contrib", "modules/cannops/ascendc_kernels/threshold_opencv_kernel.cpp", {"tilingGM": head, "x": x}, {"y": want}, 0,
             ["--blocks", "2"])
    boxes, truth = draw(40, 4, low=0, high=50), draw(24, 4, low=0, high=50)
    for p in (boxes, truth):
        p[:, 2:] += p[:, :2] + 5
    low = np.maximum(boxes[None, :, :2], truth[:, None, :2])
    high = np.minimum(boxes[None, :, 2:], truth[:, None, 2:])
    inner = np.prod(np.clip(high - low, 0, None), axis=2)
    area = [np.prod(p[:, 2:] - p[:, :2], axis=1) for p in (boxes, truth)]
    iou = inner / (area[0][None, :] + area[1][:, None] - inner)
    case("ops-cv", "objdetect/iou_v2", {"bboxes": boxes, "gtboxes": truth}, {"overlap": iou.astype(F32)}, 1e-4,
         ["--attr", "eps=0.0", "-I", "{clone}", "-I", "{clone}/common/inc"])


def spec(array):
    return NAMES[str(array.dtype)] + "[" + ",".join(map(str, array.shape)) + "]"


def judge(acraft, clones, row):
    repo, path, inputs, outputs, tolerance, more = row
    with tempfile.TemporaryDirectory() as folder:
        words = [acraft, "run", f"{clones}/{repo}/{path}", "--json", "--seconds", "120"]
        words += [m.replace("{clone}", f"{clones}/{repo}") for m in more]
        for name, array in inputs.items():
            np.save(f"{folder}/{name}.npy", array)
            words += ["--in", f"{name}=@{folder}/{name}.npy"]
        for name, array in outputs.items():
            words += ["--out", f"{name}={spec(array)}@{folder}/out_{name}.npy"]
        run = subprocess.run(words, capture_output=True, text=True)
        lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
        verdict = json.loads(lines[0]) if lines else {"status": "none", "reason": run.stderr[-200:]}
        if verdict["status"] != "ok":
            return verdict["status"], None, str(verdict.get("reason"))[:160]
        worst = 0.0
        for name, want in outputs.items():
            got = np.load(f"{folder}/out_{name}.npy").reshape(want.shape).astype(np.float64)
            scale = np.maximum(1.0, np.abs(want.astype(np.float64)))
            worst = max(worst, float(np.max(np.abs(got - want.astype(np.float64)) / scale)))
        return "ok", worst <= tolerance, f"largest error {worst:.2g}"


def main():
    acraft, clones, parts = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
    ops_math()
    lora()
    others()
    right = ran = 0
    for row in CASES:
        if parts and not any(p in row[0] + "/" + row[1] for p in parts):
            continue
        status, good, note = judge(acraft, clones, row)
        right += bool(good)
        ran += 1
        print(f"{row[0]}\t{row[1]}\t{status}\t{'right' if good else 'wrong' if good is False else '-'}\t{note}", flush=True)
    print(f"{ran} kernels, {right} right")


main()
