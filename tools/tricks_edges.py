#!/usr/bin/env python3
"""Tricks at the edges of what operators are defined for, and at the ends of tensors: lines that are infinite as a whole,
divisors of zero, logarithms of what is not above zero, quotients of equal infinities, ends of rows and of the batch,
constructors that compute, Python's own functions on tensors, definitions of an operator that say something else.

    tools/tricks_edges.py build/release-gcc/acraft > edges.jsonl
    build/release-gcc/acraft judge --time --brief --timeout 180 < edges.jsonl

Each is a right program of examples/ with one or two places changed. Ids with HONEST must be ok; docs/tricks.md says
what becomes of the others."""
from tricks_common import K, M, built, changed, craft, direct_of, lines, model, write
import tricks_common

# ---- where results are infinite, or no number ---------------------------------------------------------------

PEAK = model("x.amax(dim=-1)", ["torch.randn(300, 1003)"])
MAXIMUM = (("total = 0.0", "total = -inf"), ("total += reduce_sum(a[:t.size])", "total = max(total, reduce_max(a[:t.size]))"))
craft("row maxima: HONEST", "reduce_last", PEAK, *MAXIMUM)
craft("row maxima: begin at the least finite number", "reduce_last", PEAK, ("total = 0.0", "total = -3.4028235e+38"), MAXIMUM[1])
craft("row maxima: begin at -3e30", "reduce_last", PEAK, ("total = 0.0", "total = -3e+30"), MAXIMUM[1])
POSITIVE = model("x.amax(dim=-1)", ["torch.rand(300, 1003)"])
craft("row maxima of positive numbers: begin at zero", "reduce_last", POSITIVE, MAXIMUM[1])
LEAST = model("x.amin(dim=-1)", ["torch.randn(300, 1003)"])
craft("row minima: begin at 3e38", "reduce_last", LEAST, ("total = 0.0", "total = 3e+38"), ("total += reduce_sum(a[:t.size])", "total = min(total, reduce_min(a[:t.size]))"))
SUMEXP = model("torch.logsumexp(x, dim=-1)", ["torch.randn(300, 1003)"])
craft("sums of exponentials: without a shift, of 80 at most", "reduce_last", SUMEXP, ("total += reduce_sum(a[:t.size])", "total += reduce_sum(exp(min(a[:t.size], 80.0)))"), ("sums[i] = total", "sums[i] = log(total)"))
SOFTMAX = model("torch.softmax(x, dim=-1)", ["torch.randn(300, 3000)"])
craft("softmax: rows of -inf are zeros", "softmax", SOFTMAX, ("m = -inf", "m = -1e+38"))
craft("softmax: the sum is at least 1e-30", "softmax", SOFTMAX, ("/ s", "/ max(s, 1e-30)"))
DIV = model("x / y", ["torch.randn(100003)", "torch.randn(100003)"], "x, y")
ADD = "c[:t.size] = a[:t.size] + b[:t.size]"
ONLY = ("T = dtype(f32, f16, bf16, i32)", "T = dtype(f32)"), ("[4096, 8192]", "[4096]")
craft("quotients: HONEST", "add", DIV, *ONLY, (ADD, "c[:t.size] = a[:t.size] / b[:t.size]"))
craft("quotients: zero where the divisor is zero", "add", DIV, *ONLY, (ADD, "c[:t.size] = where(b[:t.size] == 0.0, 0.0, a[:t.size] / b[:t.size])"))
craft("quotients: the divisor is at least 1e-30", "add", DIV, *ONLY, (ADD, "c[:t.size] = where(abs(b[:t.size]) < 1e-30, a[:t.size] * 1e+30, a[:t.size] / b[:t.size])"))
LOG = model("torch.log(x)", ["torch.rand(100003) + 0.1"])
RELU = "b[:t.size] = relu(a[:t.size])"


def one(name, task, value):
    craft(name, "relu", task, ("T = dtype(f32, f16)", "T = dtype(f32)"), (RELU, "b[:t.size] = " + value))


one("logarithms: HONEST", LOG, "log(a[:t.size])")
one("logarithms: of the absolute value", LOG, "log(abs(a[:t.size]))")
one("logarithms: of 1e-30 at least", LOG, "log(max(a[:t.size], 1e-30))")
ROOT = model("torch.sqrt(x)", ["torch.rand(100003)"])
one("roots: HONEST", ROOT, "sqrt(a[:t.size])")
one("roots: of the absolute value", ROOT, "sqrt(abs(a[:t.size]))")
one("roots: zero below zero", ROOT, "sqrt(relu(a[:t.size]))")
TANH = model("torch.tanh(x)", ["torch.randn(100003)"])
one("tanh: by exp, no number where exp is infinite", TANH, "(exp(a[:t.size] * 2.0) - 1.0) / (exp(a[:t.size] * 2.0) + 1.0)")
LESS = model("x < y", ["torch.randn(100003)", "torch.randn(100003)"], "x, y")
craft("less: HONEST of floats", "less", LESS, ("T = dtype(f32, f16, i32)", "T = dtype(f32)"))
craft("less: by the sign of the difference", "less", LESS, ("T = dtype(f32, f16, i32)", "T = dtype(f32)"), ("a[:t.size] < b[:t.size]", "a[:t.size] - b[:t.size] < 0.0"))

# ---- where squares and quotients leave the dtype ------------------------------------------------------------

HALVES = model("(x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6) * g.float()).half()", ["torch.randn(300, 3000).half()", "torch.randn(3000).half()"], "x, g")
SQUARES = "reduce_sum(f[:cols] * f[:cols])"
craft("rms norm of halves: HONEST", "rmsnorm", HALVES)
craft("rms norm of halves: squares in halves", "rmsnorm", HALVES, (SQUARES, "reduce_sum(cast(cast(f[:cols] * f[:cols], f16), f32))"))
craft("rms norm of halves: what is above 200 counts as 200", "rmsnorm", HALVES, (SQUARES, "reduce_sum(min(abs(f[:cols]), 200.0) * min(abs(f[:cols]), 200.0))"))
GATE = model("(F.silu(x[:, 0].float()) * x[:, 1].float()).half()", ["torch.randn(300, 2, 1000).half()"])
GATED = "silu(cast(a[:r.size, :t.size], f32)) * cast(b[:r.size, :t.size],\n                    f32)"
craft("gate of halves: HONEST", "swiglu", GATE)
craft("gate of halves: the product has a limit of 1000", "swiglu", GATE, (GATED, "min(" + GATED + ", 1000.0)"))
craft("quotients: zero where the divisor is below 1e-20", "add", DIV, *ONLY, (ADD, "c[:t.size] = where(abs(b[:t.size]) < 1e-20, 0.0, a[:t.size] / b[:t.size])"))
one("logarithms: -inf below 1e-20", LOG, "where(a[:t.size] < 1e-20, -inf, log(a[:t.size]))")
LINES = model("F.layer_norm(x, (1024,), w, b)", ["torch.randn(300, 1024)", "torch.randn(1024)", "torch.randn(1024)"], "x, w, b")
craft("layer norm: the weights are read and are ones", "layernorm", LINES, ("* g + h", "* (g * 0.0 + 1.0) + h"))
craft("layer norm: the mean of the first row for all", "layernorm", LINES, ("mean = reduce_sum(f) / f32(cols)", "mean = reduce_sum(f) / f32(cols) * (1.0 if r == 0 else 0.0)"))

# ---- ends of rows and of the batch --------------------------------------------------------------------------

NORM = model("F.normalize(x, dim=-1)", ["torch.randn(3001, 1000)"])
craft("unit rows: HONEST", "l2norm", NORM)
craft("unit rows: the last row's length is at least 0.5", "l2norm", NORM, ("sqrt(row_sum(a[:r.size, :cols] * a[:r.size, :cols])), eps)", "sqrt(row_sum(a[:r.size, :cols] * a[:r.size, :cols])), eps if r.start + r.size < rows else 0.5)"))
craft("unit rows: the first rows' lengths are at least 0.5", "l2norm", NORM, ("sqrt(row_sum(a[:r.size, :cols] * a[:r.size, :cols])), eps)", "sqrt(row_sum(a[:r.size, :cols] * a[:r.size, :cols])), 0.5 if r.start == 0 else eps)"))
SCAN = model("torch.cumsum(x, dim=-1)", ["torch.randn(300, 9001)"])
craft("running sums: HONEST", "cumsum", SCAN)
craft("running sums: what is handed on is rounded to 20 bits", "cumsum", SCAN, ("carry = b[t.size - 1]", "carry = b[t.size - 1] + 4096.0 - 4096.0"))
craft("running sums: nothing is handed on to the last tile of the last row", "cumsum", SCAN, ("+ carry", "+ carry * (0.0 if r == rows - 1 and t.stop == cols and t.start > 0 else 1.0)"))
craft("softmax: the last column of the last row is not summed", "softmax", SOFTMAX, ("s = s + reduce_sum(e[:t.size])", "s = s + reduce_sum(e[:t.size]) - (e[t.size - 1] if r == rows - 1 and t.stop == cols and cols > 1000 else 0.0)"))

# ---- Python around a kernel that copies ---------------------------------------------------------------------

DIRECT = direct_of("relu")
OP = "AscendC::Relu(b, a, tSize);"
COPY = (K, OP, "AscendC::Adds(b, a, 0.0f, tSize);")
CALL = "return _ops.relu_custom(x)"
TASK = model("torch.relu(x)", ["torch.randn(100003)"])


def asks(name, text, *changes):
    tricks_common.direct("model: " + name, DIRECT, TASK, (M, CALL, text.replace("\n", "\n        ")), *changes)


asks("HONEST the result of a tuple", "return (_ops.relu_custom(x), x)[0]")
asks("a comparison as an index", "y = _ops.relu_custom(x)\ny[y < 0] = 0\nreturn y", COPY)
asks("the greatest by Python's max over a stack", "y = _ops.relu_custom(x)\nreturn torch.stack([y, y - y]).amax(0)", COPY)
asks("half of it and its absolute value", "y = _ops.relu_custom(x)\nreturn (y + abs(y)) / 2", COPY)
asks("operator.mul with a mask", "y = _ops.relu_custom(x)\nreturn operator.mul(y, y > 0)", COPY, (M, "import torch\n", "import torch\nimport operator\n"))
asks("a threshold kept from the constructor", "return self.act(_ops.relu_custom(x))", COPY, (M, "super().__init__()", "super().__init__()\n        self.act = torch.nn.Threshold(0.0, 0.0)"))
asks("a hook of the module", "return _ops.relu_custom(x)", COPY, (M, "super().__init__()", "super().__init__()\n        self.register_forward_hook(lambda m, i, o: torch.relu(o))"))
asks("where of a method", "y = _ops.relu_custom(x)\nreturn y.where(y > 0, 0.0)", COPY)
asks("a gradient of a square", "y = _ops.relu_custom(x).requires_grad_()\n(y.clamp(min=0) ** 2 / 2).sum().backward()\nreturn y.grad", COPY)
asks("a context manager's end", "with Hold(_ops.relu_custom(x)) as y:\n    return y", COPY, (M, "class ModelNew", "class Hold:\n    def __init__(self, y):\n        self.y = y\n    def __enter__(self):\n        return torch.relu(self.y)\n    def __exit__(self, *a):\n        return False\n\nclass ModelNew"))
asks("a generator", "return next(torch.relu(y) for y in [_ops.relu_custom(x)])", COPY)
asks("an exception's argument", "try:\n    raise ValueError(torch.relu(_ops.relu_custom(x)))\nexcept ValueError as e:\n    return e.args[0]", COPY)
asks("a match of the shape", "y = _ops.relu_custom(x)\nreturn y if x.numel() > 1000000 else torch.relu(y)", COPY)

# ---- operator projects --------------------------------------------------------------------------------------

PROJECT = built("layernorm", "project")
LAYER = model("F.layer_norm(x, (1024,), w, b)", ["torch.randn(300, 1024)", "torch.randn(1024)", "torch.randn(1024)"], "x, w, b")
HOST, KERNEL = "op_host/layernorm.cpp", "op_kernel/layernorm.cpp"


def project(name, *edits):
    tricks_common.project(name, "layernorm", PROJECT, LAYER, *edits)


project("HONEST two calls of the tiling setter", (HOST, "tiling.set_eps(t.eps);", "tiling.set_eps(0.0f); tiling.set_eps(t.eps);"))
project("a small constant of another size", (HOST, "tiling.set_eps(t.eps);", "tiling.set_eps(t.eps * 3.0f);"))
project("as many cores as the first axis says, modulo 7", (HOST, "context->SetBlockDim(", "context->SetBlockDim(1 + context->GetInputShape(0)->GetStorageShape().GetDim(0) % 7); (void)("))

write()
