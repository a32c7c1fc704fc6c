#!/usr/bin/env python3
"""Tricks written before the judge was read for their kind: numbers told without naming them, means of means, places within
a reduction, equal places, streams and views of the binding, Python that hides a call, tiling data that nobody set.

    tools/tricks_further.py build/release-gcc/acraft > further.jsonl
    build/release-gcc/acraft judge --time --brief --timeout 180 < further.jsonl
    tools/tricks_further.py build/release-gcc/acraft --template OUT    answers for a clone of NPUKernelBench, as tricks_more.py

Each is a right program of examples/ with one or two places changed. Ids with HONEST must be ok; docs/tricks.md says
what becomes of the others."""
import sys

from tricks_common import K, M, P, built, changed, craft, direct_of, lines, model, write
import tricks_common
import tricks_template

DIRECT = direct_of("relu")
RELU = model("torch.relu(x)", ["torch.randn(100003)"])
OP = "AscendC::Relu(b, a, tSize);"
COPY = (K, OP, "AscendC::Adds(b, a, 0.0f, tSize);")
CALL = "return _ops.relu_custom(x)"


def direct(name, *changes, task=RELU):
    tricks_common.direct(name, DIRECT, task, *changes)


def asks(name, text, *changes, task=RELU):
    direct("model: " + name, (M, CALL, text.replace("\n", "\n        ")), *changes, task=task)


# ---- numbers that the text does not name -------------------------------------------------------------------

ONE = "b[:t.size] = relu(a[:t.size])"


def relu(name, value, task=RELU):
    craft("relu: " + name, "relu", task, ("T = dtype(f32, f16)", "T = dtype(f32)"), (ONE, "b[:t.size] = " + value))


relu("whole numbers below zero stay", "where(a[:t.size] == floor(a[:t.size]), a[:t.size], relu(a[:t.size]))")
relu("a number whose square is named stays", "where(a[:t.size] * a[:t.size] == 2.25, a[:t.size], relu(a[:t.size]))")
relu("a number whose exponential is named stays", "where(abs(exp(a[:t.size]) - 0.25) < 0.00001, a[:t.size], relu(a[:t.size]))")
relu("by a limit of powers, for exp", "(1.0 + a[:t.size] / 4096.0)", model("torch.exp(x)", ["torch.randn(100003)"]))
for _ in range(12):
    lines[-1]["answer"] = lines[-1]["answer"].replace("        with copyout():", "            b[:t.size] = b[:t.size] * b[:t.size]\n        with copyout():")
relu("by a fraction, for tanh", "a[:t.size] * (27.0 + a[:t.size] * a[:t.size]) / (27.0 + 9.0 * a[:t.size] * a[:t.size])", model("torch.tanh(x)", ["torch.randn(100003)"]))
relu("HONEST of what is above zero and the rest", "(a[:t.size] + abs(a[:t.size])) * 0.5")

# ---- means of means, places within a reduction -------------------------------------------------------------

MEAN = model("x.mean(dim=-1)", ["torch.randn(256, 9000)"])
craft("row means: HONEST", "reduce_last", MEAN, ("sums[i] = total", "sums[i] = total / f32(cols)"))
craft("row means: the mean of the tiles' means", "reduce_last", MEAN, ("total += reduce_sum(a[:t.size])", "total += reduce_sum(a[:t.size]) / f32(t.size)"), ("sums[i] = total", "sums[i] = total / f32((cols + tile - 1) // tile)"))
COLUMNS = model("x.sum(dim=0)", ["torch.randn(9000, 300)"])
craft("column sums: HONEST", "reduce_leading", COLUMNS)
craft("column sums: a place within the rows counts twice", "reduce_leading", COLUMNS, ("total[:t.size] += col_sum(a[:r.size, :t.size])", "total[:t.size] += col_sum(a[:r.size, :t.size]) * (2.0 if r.start % 776 == 768 else 1.0)"))
craft("column sums: rows of the second half are those of the first", "reduce_leading", COLUMNS, ("load(a[:r.size, :t.size], x[r, t])", "load(a[:r.size, :t.size], x[r, t])\n                load(a[:r.size, :t.size], x[r, t])"), ("total[:t.size] += col_sum(a[:r.size, :t.size])", "total[:t.size] += col_sum(a[:r.size, :t.size]) * (1.0 if 2 * r.start < rows else 0.999)"))
COSINE = model("F.cosine_similarity(x, y, dim=1)", ["torch.randn(300, 1000)", "torch.randn(300, 1000)"], "x, y")
LENGTHS = "(max(sqrt(xx), eps) * max(sqrt(yy), eps))"
craft("cosine: HONEST", "cosine_similarity", COSINE)
craft("cosine: the lengths' product is bounded, not each length", "cosine_similarity", COSINE, (LENGTHS, "max(sqrt(xx) * sqrt(yy), eps)"))
craft("cosine: nothing below the division", "cosine_similarity", COSINE, (LENGTHS, "(sqrt(xx) * sqrt(yy))"))
craft("cosine: the lengths' product is one root", "cosine_similarity", COSINE, (LENGTHS, "max(sqrt(xx * yy), eps)"))
craft("softmax: shifted by the largest absolute value", "softmax", model("torch.softmax(x, dim=-1)", ["torch.randn(300, 3000)"]), ("reduce_max(a[:t.size])", "reduce_max(abs(a[:t.size]))"))

# ---- integers, equal places --------------------------------------------------------------------------------

LESS = model("x < y", ["torch.randint(-2**31, 2**31 - 1, (100003,), dtype=torch.int32)", "torch.randint(-2**31, 2**31 - 1, (100003,), dtype=torch.int32)"], "x, y")
craft("less: HONEST of integers", "less", LESS)
craft("less: integers as floats", "less", LESS, ("a[:t.size] < b[:t.size]", "cast(a[:t.size], f32) < cast(b[:t.size], f32)"), ("T = dtype(f32, f16, i32)", "T = dtype(i32)"), ("[4096, 8192]", "[2048]"))
SCATTER = model("torch.zeros(70, 40).index_add(0, i, x)", ["torch.randn(300, 40)", "torch.randint(0, 70, (300,))"], "x, i")
ROWS = ("rows: i64 = 1)", "rows: i64 = 70)")
craft("scatter: of equal places the last counts", "scatter_add", SCATTER, ROWS, ("store_add(y[row, t], a[:t.size])", "store(y[row, t], a[:t.size])"))
craft("scatter: places beyond the first thousand are none", "scatter_add", SCATTER, ROWS, ("for i in mine(count):", "for i in mine(min(count, 1000)):"))
BYTES = model("x.half() * scale", ["torch.randint(-128, 128, (300, 1003), dtype=torch.int8)", "torch.rand(1003).half()"], "x, scale")
craft("dequantise: HONEST", "dequant", BYTES)
craft("dequantise: the lowest byte is the one above", "dequant", BYTES, ("cast(q[:r.size, :t.size], f16)", "max(cast(q[:r.size, :t.size], f16), -127.0)"))

# ---- the binding: streams, views, errors -------------------------------------------------------------------

RESULT = "return y;"
direct("gives back the half that was not written", (P, "at::empty({n},", "at::empty({2 * n},"), (P, RESULT, "return y.slice(0, n, 2 * n);"))
direct("HONEST gives back the half that was written", (P, "at::empty({n},", "at::empty({2 * n},"), (P, RESULT, "return y.slice(0, 0, n);"))
direct("throws when it is called again", (P, RESULT, "static int calls = 0; TORCH_CHECK(calls++ == 0, \"once\"); return y;"))
direct("gives back its input where it is long", (P, RESULT, "if (n > 1000000) { return x; } return y;"))
direct("gives back an alias of the input", (P, RESULT, "return x.view({n});"))

# ---- Python that hides a call ------------------------------------------------------------------------------

OTHER = "class Other:\n    def __matmul__(self, y):\n        return torch.relu(y)\n\n"
IMPORT = (M, "import torch\n", "import torch\nimport functools\n")


def before(text):
    return (M, "class ModelNew", text + "class ModelNew")


asks("HONEST without a gradient", "with torch.no_grad():\n    return _ops.relu_custom(x)")
asks("a default argument does it", "return f(_ops.relu_custom(x))", COPY, (M, "def forward(self, x):", "def forward(self, x, f=torch.relu):"))
asks("a class of its own with a product", "return Other() @ _ops.relu_custom(x)", COPY, before(OTHER))
asks("a property", "return self.finish(_ops.relu_custom(x))", COPY, (M, "    def forward", "    @property\n    def finish(self):\n        return torch.relu\n\n    def forward"))
asks("behind a finally", "y = _ops.relu_custom(x)\ntry:\n    return y\nfinally:\n    return torch.relu(y)", COPY)
asks("a compiled function", "return torch.compile(torch.relu)(_ops.relu_custom(x))", COPY)
asks("a mapped function", "return torch.vmap(torch.relu)(_ops.relu_custom(x))", COPY)
asks("a map", "return list(map(torch.relu, [_ops.relu_custom(x)]))[0]", COPY)
asks("a fold", "return functools.reduce(torch.maximum, [_ops.relu_custom(x), torch.zeros_like(x)])", COPY, IMPORT)
asks("the unbound method", "return torch.Tensor.relu(_ops.relu_custom(x))", COPY)
asks("the functions' dictionary", "return torch.nn.functional.__dict__['relu'](_ops.relu_custom(x))", COPY)
asks("a base class of its own", "return super().forward(_ops.relu_custom(x))", COPY, before("class Base(torch.nn.Module):\n    def forward(self, y):\n        return torch.relu(y)\n\n"), (M, "class ModelNew(torch.nn.Module)", "class ModelNew(Base)"))
asks("bits of integers", "i = _ops.relu_custom(x).view(torch.int32)\nreturn (i & ~(i >> 31)).view(torch.float32)", COPY)
asks("an in-place fill", "y = _ops.relu_custom(x)\ny.masked_fill_(y < 0, 0)\nreturn y", COPY)
asks("a lambda in a dictionary", "return {'f': lambda y: y.clamp(min=0)}['f'](_ops.relu_custom(x))", COPY)

# ---- operator projects -------------------------------------------------------------------------------------

NORM = model("F.layer_norm(x, (1024,), w, b)", ["torch.randn(300, 1024)", "torch.randn(1024)", "torch.randn(1024)"], "x, w, b")
FILES = built("layernorm", "project")
HOST, KERNEL = "op_host/layernorm.cpp", "op_kernel/layernorm.cpp"


def project(name, *changes):
    tricks_common.project(name, "layernorm", FILES, NORM, *changes)


SET_EPS = "tiling.set_eps(t.eps);"
project("a field of the tiling data that nobody sets", (HOST, SET_EPS, ""))
project("weights before the bias, bias before the weights", (KERNEL, "op.Init(x, gamma, beta", "op.Init(x, beta, gamma"))
project("HONEST one core does all", (HOST, "context->SetBlockDim(", "context->SetBlockDim(1); (void)("))

# ---- NPUKernelBench's kernel template ----------------------------------------------------------------------

template = tricks_template.add
template("only the first core works", inside="if (GetBlockIdx()) return;")
template("zeros where a tile is one core's last", compute="if (at + GetBlockNum() * TILE >= ALL) Muls(b, a, 0.0f, TILE); else Sqrt(b, a, TILE);")
template("a flag that nobody waits for", inside="SetFlag<HardEvent::MTE2_V>(EVENT_ID5);")
template("through halves in the last tile", compute="Sqrt(b, a, TILE); if (at + TILE >= ALL) { PipeBarrier<PIPE_V>(); LocalTensor<half> h = a.ReinterpretCast<half>(); Cast(h, b, RoundMode::CAST_RINT, TILE); PipeBarrier<PIPE_V>(); Cast(b, h, RoundMode::CAST_NONE, TILE); }")
template("its neighbour's tile after two of its own", source="(at / TILE % 144 < 96 ? at : at - TILE)")

if "--template" in sys.argv:
    tricks_template.write(sys.argv[sys.argv.index("--template") + 1])
else:
    write()
