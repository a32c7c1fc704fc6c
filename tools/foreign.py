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


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def season3():
    """linnlh/ascendc-competition-s3 and the other answers to the same tasks in KiaraStark/ascendc-homework."""
    x, y = draw(64, 96), draw(64, 96)
    pads = np.array([1, 2, 1, 1], I32)
    image = draw(2, 3, 16, 32)
    padded = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 2)), mode="edge")
    near = np.where(draw(64, 96) > 0, x, y)
    for repo, names, z in (("ascendc-competition-s3", "basic/{0}/{0}", "z"), ("ascendc-homework", "Ascend_S3-main/{1}", "y")):
        def path(own, theirs):
            return names.format(own, theirs)
        case(repo, path("asinh", "04Asinh"), {"x": x}, {"y": np.arcsinh(x)}, 1e-4)
        case(repo, path("asinh_grad", "05AsinhGrad"), {"y": x, "dy": y}, {"z": y / np.cosh(x)}, 1e-4)
        case(repo, path("softmax", "01Softmax"), {"x": x}, {"y": softmax(x, -1)}, 1e-5)
        case(repo, path("div", "02Div"), {"x1": x, "x2": y + F32(4)}, {z: x / (y + F32(4))}, 1e-5)
        case(repo, path("not_equal", "03NotEqual"), {"x1": x, "x2": near}, {"y": x != near}, 0)
        case(repo, path("is_close", "08IsClose"), {"x1": x, "x2": near}, {"y": np.isclose(x, near)}, 0)
        case(repo, path("replication_pad2d", "10ReplicationPad2d"), {"x": image, "paddings": pads}, {"y": padded}, 0)
        case(repo, path("logsum_exp", "09LogSumExp"), {"x": x}, {"y": np.log(np.exp(x).sum(0))}, 1e-4, ["--attr", "dim=[0]"])
    unique = np.stack([rng.permutation(64) for _ in range(96)], axis=1).astype(I32)
    scattered = x.copy()
    np.put_along_axis(scattered, unique, y, axis=0)
    case("ascendc-competition-s3", "basic/scatter_elements/scatter_elements", {"var": x, "indices": unique, "updates": y},
         {"var": scattered}, 0)
    case("ascendc-homework", "2_ScatterElements/ScatterElements", {"var": x, "indices": unique, "updates": y}, {"var": scattered}, 0)
    target = rng.integers(0, 96, 64).astype(I32)
    weight = draw(96, low=0.5, high=2)
    loss = -(x[np.arange(64), target] * weight[target]).sum() / weight[target].sum()
    case("ascendc-competition-s3", "perf/nll_loss/nll_loss", {"x": x, "target": target, "weight": weight}, {"y": np.array([loss], F32)}, 1e-4)
    gamma, beta = draw(96), draw(96)
    normal = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gamma + beta
    case("ascendc-homework", "LayerNormCustomSample/FrameworkLaunch/LayerNormCustom", {"x": x, "gamma": gamma, "beta": beta},
         {"res_out": normal.astype(F32)}, 1e-4)


def season2():
    """Youshikawa/ascendC-S2 and linnlh/ascendc-perf-s2."""
    x, y, w = draw(64, 96), draw(64, 96, low=0.1), draw(64, 96, low=0, high=1)
    at = "ascends2/{0}/{0}"
    case("ascendC-S2", "ascends2/xlogy", {"x1": x, "x2": y}, {"y": x * np.log(y)}, 1e-4)
    case("ascendC-S2", at.format("Lerp"), {"start": x, "end": y, "weight": w}, {"y": x + w * (y - x)}, 1e-5)
    case("ascendC-S2", at.format("Gelu"), {"x": x}, {"y": (x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))).astype(F32)}, 1e-3)
    case("ascendC-S2", at.format("Tril"), {"x": x}, {"y": np.tril(x)}, 0)
    case("ascendC-S2", at.format("Triu"), {"x": x}, {"y": np.triu(x)}, 0)
    image = draw(2, 4, 16, 32)
    case("ascendC-S2", at.format("GlobalAvgPool"), {"x": image}, {"y": image.mean((2, 3), keepdims=True)}, 1e-5)
    case("ascendC-S2", at.format("ReduceSum"), {"x": x, "axes": np.array([1], I32)}, {"y": x.sum(1)}, 1e-4)
    case("ascendC-S2", at.format("Cumsum"), {"x": x, "axis": np.array([1], I32)}, {"y": x.cumsum(1)}, 1e-4)
    counts = np.histogram(x, 10, (-3, 3))[0].astype(F32)
    case("ascendC-S2", at.format("Histogram"), {"x": x}, {"y": counts}, 0, ["--attr", "bins=10", "--attr", "min=-3", "--attr", "max=3"])
    one, two = draw(1, 32, 3), draw(1, 40, 3)
    far = ((one[:, :, None] - two[:, None]) ** 2).sum(3)
    order = np.argsort(far, axis=2, kind="stable")[:, :, :3].astype(I32)
    case("ascendC-S2", at.format("ThreeNN"), {"xyz1": one, "xyz2": two},
         {"dist": np.take_along_axis(far, order, 2), "indices": order}, 1e-4)
    view = np.lib.stride_tricks.as_strided(x[0, 3:], (4, 8), (2 * 4, 3 * 4)).copy()
    case("ascendC-S2", at.format("AsStrided"), {"x": x, "size": np.array([4, 8], I32), "stride": np.array([2, 3], I32),
                                                "storage_offset": np.array([3], I32)}, {"y": view}, 0)
    points = draw(24, 16)
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(2))[np.triu_indices(24, 1)].astype(F32)
    case("ascendc-perf-s2", "Pdist", {"x": points}, {"y": apart}, 1e-4)
    depth = draw(2, 4, 8, 16)
    spread = depth.reshape(2, 4, 8, 2, 2, 4).transpose(0, 1, 3, 2, 4, 5).reshape(2, 8, 16, 4)
    case("ascendc-perf-s2", "DepthToSpace", {"x": depth}, {"y": spread}, 0, ["--attr", "block_size=2"])


def other_contests():
    """A-Y-1/AscendC-S4, JasperXzy/AscendC-S7, HWXROS/AscendcS7, JeffDing/AscendC_Code, hansheng1001/AscendCContest."""
    x, y = draw(64, 96), draw(64, 96)
    values = draw(64, 96)
    case("AscendC-S4", "Heaviside", {"input": np.where(x > 1, 0, x).astype(F32), "values": values},
         {"out": np.heaviside(np.where(x > 1, 0, x), values).astype(F32)}, 0)
    case("AscendC-S7", "Fmax", {"input": x, "other": y}, {"out": np.fmax(x, y)}, 0)
    case("AscendcS7", "Fmax", {"x": x, "y": y}, {"z": np.fmax(x, y)}, 0)
    points = draw(12, 16)
    pairs = np.triu_indices(12, 1)
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(2))[pairs].astype(F32)
    grad = draw(66)
    each = (grad / apart)[:, None] * (points[pairs[0]] - points[pairs[1]])
    back = np.zeros_like(points)
    np.add.at(back, pairs[0], each)
    np.add.at(back, pairs[1], -each)
    case("AscendcS7", "PdistGrad", {"grad": grad, "input": points, "pdist_output": apart}, {"result": back}, 1e-4, ["--attr", "p=2.0"])
    half = draw(8, 2048, low=-2, high=2, dtype=F16)
    for path in ("SinhCustom", "SinhCustomSegmentation"):
        case("AscendC_Code", "SinhCustomSample/FrameworkLaunch/" + path, {"x": half}, {"z": np.sinh(half.astype(F32)).astype(F16)}, 1e-2)
    at = "{}/FrameworkLaunch/{}"
    fast = x / (1 + np.exp(-1.702 * np.abs(x))) * np.exp(0.851 * (x - np.abs(x)))
    case("AscendCContest", at.format("02FastGelu", "FastGelu"), {"x": x}, {"y": fast.astype(F32)}, 1e-4)
    case("AscendCContest", at.format("05MseLoss", "MseLoss"), {"x": x, "y": y}, {"out": np.array([((x - y) ** 2).mean()], F32)}, 1e-4)
    case("AscendCContest", at.format("06MseLossGrad", "MseLossGrad"), {"predict": x, "label": y, "x": values},
         {"z": (2 * (x - y) * values / x.size).astype(F32)}, 1e-4)
    case("AscendCContest", at.format("07ClipByValue", "ClipByValue"), {"x": x, "minv": np.array([-1], F32), "maxv": np.array([1], F32)},
         {"z": np.clip(x, -1, 1)}, 0)
    case("AscendCContest", at.format("08LpNormV2", "LpNormV2"), {"x": x}, {"y": np.array([np.sqrt((x ** 2).sum())], F32)}, 1e-4)
    case("AscendCContest", at.format("01Addcmul", "Addcmul"), {"value": np.array([0.5], F32), "input_data": values, "x1": x, "x2": y},
         {"y": values + x * y * F32(0.5)}, 1e-5)
    case("AscendCContest", at.format("04LessEqual", "LessEqualV2"), {"x1": x, "x2": y}, {"y": (x <= y).astype(U8)}, 0)
    spots, change = rng.permutation(64)[:16].astype(I32), draw(16, 96)
    less, more = x.copy(), x.copy()
    less[spots] -= change
    more[spots] = np.maximum(more[spots], change)
    case("AscendCContest", at.format("10ScatterSub", "ScatterSub"), {"x": x, "index": spots, "update": change}, {"x": less}, 1e-5)
    case("AscendCContest", at.format("11ScatterMax", "ScatterMax"), {"x": x, "index": spots, "update": change}, {"x": more}, 1e-5)


COPY = "skills/ascend-kernel-generator/reference/ref_repositories/cann-ops/src/"


def older_operators():
    """The operators of cann-ops that are in no other list, from the copy in KernelHive/ascendc-skill."""
    def own(path, inputs, outputs, tolerance=1e-5, more=()):
        case("KernelHive+ascendc-skill", COPY + path, inputs, outputs, tolerance, more)

    x, y, w = draw(37, 96), draw(37, 96), draw(37, 96)
    p = draw(37, 96, low=0.5)
    m, n = draw(37, 96, low=1, high=99, dtype=I32), draw(37, 96, low=1, high=99, dtype=I32)
    a, b = draw(37, 96) > 0, draw(37, 96) > 0
    own("math/gcd", {"x1": m, "x2": n}, {"y": np.gcd(m, n)}, 0)
    zeros = np.where(x > 1, 0, x).astype(F32)
    own("math/heaviside", {"input": zeros, "values": y}, {"out": np.heaviside(zeros, y).astype(F32)}, 0)
    own("math/tril", {"x": x}, {"y": np.tril(x)}, 0)
    own("math/triu", {"x": x}, {"y": np.triu(x)}, 0)
    own("math/logical_or", {"x1": a, "x2": b}, {"y": a | b}, 0)
    own("math/logical_not", {"x": a}, {"y": ~a}, 0)
    own("math/greater_equal", {"x1": x, "x2": np.where(y > 0, x, y)}, {"y": x >= np.where(y > 0, x, y)}, 0)
    own("math/trunc", {"input_x": x}, {"output_y": np.trunc(x)}, 0)
    own("math/xlogy", {"x1": x, "x2": p}, {"y": (x * np.log(p)).astype(F32)}, 1e-4)
    own("math/reciprocal", {"x": p}, {"y": 1 / p}, 1e-5)
    flat = draw(3552)
    own("math/scopy", {"x": flat}, {"y": flat}, 0, ["--attr", "n=3552"])
    own("math/pows", {"x1": p, "x2": np.array([1.5], F32)}, {"y": (p.astype(np.float64) ** 1.5).astype(F32)}, 1e-4)
    own("math/angle_v2", {"x": x}, {"y": np.where(x < 0, F32(np.pi), F32(0))}, 1e-5)
    own("math/mse_loss", {"predict": x, "label": y}, {"y": np.array([((x - y) ** 2).mean()], F32)}, 1e-4)
    own("math/mse_loss_grad_v1", {"predict": x, "label": y, "dout": w}, {"y": (2 * (x - y) * w / x.size).astype(F32)}, 1e-4)
    own("contrib/math/exp", {"x": x}, {"y": np.exp(x)}, 1e-4)
    own("contrib/math/log", {"x": p}, {"y": np.log2(p)}, 1e-4, ["--attr", "base=2"])
    own("contrib/math/greater", {"x1": x, "x2": y}, {"y": x > y}, 0)
    own("math/clip_by_value_v2", {"x": x, "clip_value_min": np.array([-1], F32), "clip_value_max": np.array([1], F32)},
        {"y": np.clip(x, -1, 1)}, 0)
    half = draw(8, 2048, dtype=F16)
    own("math/sub_frameworklaunch", {"x": half, "y": half[::-1].copy()}, {"z": half - half[::-1]}, 0)
    image = draw(2, 4, 16, 32)
    own("pooling/global_avg_pool", {"x": image}, {"y": image.mean((2, 3), keepdims=True)}, 1e-5)
    own("conversion/diag_flat", {"x": flat[:64].copy()}, {"y": np.diagflat(flat[:64])}, 0)
    square = draw(64, 64)
    own("math/diag_v2", {"x": square}, {"y": np.diag(square).copy()}, 0)
    scattered, spots, change = x.copy(), rng.permutation(37)[:16].astype(I32), draw(16, 96)
    scattered[spots] = np.maximum(x[spots], change)
    own("math/scatter_max", {"var": x, "indices": spots, "updates": change}, {"var": scattered}, 0)
    own("math/gather", {"x1": x, "indices": spots}, {"y": x[spots]}, 0)
    own("math/mul_mul_reduce_mean_d_twice", *layer())
    own("loss/mse_loss_v2", {"input": x, "target": y}, {"output": np.array(((x - y) ** 2).mean(), F32)}, 1e-4)
    quant = draw(8, 256, dtype=F16)
    scale = (np.abs(quant.astype(F32)).max(1) / 127).astype(F32)
    own("quant/dynamic_quant", {"x": quant}, {"y": np.rint(quant.astype(F32) / scale[:, None]).astype(np.int8), "scale": scale}, 1e-3)


def layer():
    """(a * b) * c + y, normalised over its last axis."""
    a, b, c, y = draw(32, 1024), draw(1), draw(1), draw(32, 1024)
    gamma, beta = draw(1024), draw(1024)
    t = a * b * c + y
    out = (t - t.mean(1, keepdims=True)) / np.sqrt(((t - t.mean(1, keepdims=True)) ** 2).mean(1, keepdims=True) + 0.001) * gamma + beta
    return ({"mul0_input0": a, "mul0_input1": b, "mul1_input0": c, "add_y": y, "gamma": gamma, "beta": beta},
            {"output": out.astype(F32)}, 1e-3)


def small_repositories():
    """Six repositories with a few operators each."""
    x, y, w = draw(64, 96), draw(64, 96), draw(64, 96)
    p = draw(64, 96, low=0.5)
    mine, at = "EliwiiKeeya+my_operators_ascendc", "cann-opdev-classic/"
    a, b = draw(64, 128, low=-1, high=1, dtype=F16), draw(128, 96, low=-1, high=1, dtype=F16)
    product = a.astype(F32) @ b.astype(F32)
    case(mine, at + "01_MyAddCustom/MyAddCustom", {"a": x, "b": y, "c": w}, {"o": x + y + w}, 1e-5)
    case(mine, at + "02_MyMatmulCustom/MyMatmulCustom", {"a": a, "b": b}, {"c": product}, 1e-3)
    case(mine, at + "03_MyFusionCustom/MyFusionCustom", {"a": a, "b": b}, {"c": product}, 1e-3)
    vec = draw(8, 2048)
    case("Golden-Irises+AscendC", "VecAddFl32", {"x": vec, "y": -2 * vec}, {"z": -vec}, 1e-5)
    m, k, bias = draw(32, 64), draw(64, 48), draw(48)
    case("Golden-Irises+AscendC", "MatMadCustom", {"weight": m, "x": k, "bias": bias}, {"y": m @ k + bias}, 1e-3)
    they, at = "chiparon+ascendC", "{}/{}"
    left, right, add = draw(1024, 256, low=-1, high=1, dtype=F16), draw(256, 640, low=-1, high=1, dtype=F16), draw(640)
    sums = left.astype(F32) @ right.astype(F32) + add
    for version in ("baseline", "optimi-v1"):
        case(they, at.format(version, "10_matmul_frameworklaunch/MatmulCustomMultiCore"), {"a": left, "b": right, "bias": add},
             {"c": sums}, 1e-3)
        case(they, at.format(version, "10_matmul_frameworklaunch/MatmulCustomSingleCore"), {"a": left, "b": right, "bias": add},
             {"c": sums}, 1e-3)
        case(they, at.format(version, "12_matmulleakyrelu_frameworklaunch/MatmulLeakyReluCustom"),
             {"a": left, "b": right, "bias": add}, {"c": np.where(sums > 0, sums, sums * F32(0.001))}, 1e-3)
        line = draw(1024, low=0, high=1)
        case(they, at.format(version, "14_reduce_frameworklaunch/ReduceCustom"), {"x": line}, {"z": np.array([line.sum()], F32)}, 1e-3)
        ragged = draw(13, 123, low=0, high=1, dtype=F16)
        case(they, at.format(version, "18_unaligned_wholereduces_frameworklaunch/WholeReduceSumCustom"), {"x": ragged},
             {"y": ragged.astype(F32).sum(1).astype(F16)}, 2e-2)
    tokens, skip, scale = draw(16, 1024, dtype=F16), draw(16, 1024, dtype=F16), draw(1024, dtype=F16)
    both = (tokens + skip).astype(F32)
    normal = both / np.sqrt((both ** 2).mean(1, keepdims=True) + 1e-6) * scale.astype(F32)
    case("llrnb666-arch+HPC101-AscendC-FusedRMSNorm", "src/ascendc", {"x": tokens, "residual": skip, "weight": scale},
         {"y": normal.astype(F16), "residual_out": tokens + skip}, 1e-2)
    season, near = "xsh20021105+AscendC-S3", np.where(draw(64, 96) > 0, x, y)
    case(season, "01-Softmax", {"X": x}, {"y": softmax(x, -1)}, 1e-5)
    case(season, "03-NotEqual", {"x1": x, "x2": near}, {"y": x != near}, 0)
    case(season, "04-Asinh", {"X": x}, {"y": np.arcsinh(x)}, 1e-4)
    unique = np.stack([rng.permutation(64) for _ in range(96)], axis=1).astype(I32)
    scattered = x.copy()
    np.put_along_axis(scattered, unique, y, axis=0)
    case(season, "06-ScatterElements", {"var": x, "indices": unique, "updates": y}, {"var": scattered}, 0)
    case(season, "09-LogSumExp", {"x": x}, {"y": np.log(np.exp(x).sum(0))}, 1e-4)
    first = "wenyi1989+AscendC"
    case(first, "Lerp", {"start": x, "end": y, "weight": w}, {"y": x + w * (y - x)}, 1e-5)
    case(first, "Tril/FrameworkLaunch", {"x": x}, {"y": np.tril(x)}, 0)
    case(first, "Triu/FrameworkLaunch/Triu", {"x": x}, {"y": np.triu(x)}, 0)
    case(first, "Xlogy/Framework", {"x1": x, "x2": p}, {"y": (x * np.log(p)).astype(F32)}, 1e-4)
    image = draw(2, 4, 16, 32)
    case(first, "GlobalAvgPool-02/Framework", {"x": image}, {"y": image.mean((2, 3), keepdims=True)}, 1e-5)
    one, two = draw(1, 32, 3), draw(1, 40, 3)
    far = ((one[:, :, None] - two[:, None]) ** 2).sum(3)
    order = np.argsort(far, axis=2, kind="stable")[:, :, :3].astype(I32)
    case(first, "ThreeNN-02/Framework", {"xyz1": one, "xyz2": two}, {"dist": np.take_along_axis(far, order, 2), "indices": order}, 1e-4)
    long = draw(16384, low=-9, high=9, dtype=F16)
    case("grandolantow+get_topk_ascendC", "csrc/ops/helloworld/op_kernel/kernel_helloworld.cpp", {"x": long, "y": long}, {"z": long + long}, 0,
         ["--attr", "totalLength=16384", "--blocks", "8"])


def spec(array):
    return NAMES[str(array.dtype)] + "[" + ",".join(map(str, array.shape)) + "]"


def judge(acraft, clones, row):
    repo, path, inputs, outputs, tolerance, more = row
    with tempfile.TemporaryDirectory() as folder:
        words = [acraft, "run", f"{clones}/{repo}/{path}", "--json", "--seconds", "120"]
        words += [m.replace("{clone}", f"{clones}/{repo}") for m in more]
        for name, array in inputs.items():
            np.save(f"{folder}/{name}.npy", array)
            words += ["--inout" if name in outputs else "--in", f"{name}=@{folder}/{name}.npy"]
        for name, array in outputs.items():
            words += ["--out", f"{name}={'' if name in inputs else spec(array)}@{folder}/out_{name}.npy"]
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
    season3()
    season2()
    other_contests()
    older_operators()
    small_repositories()
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
