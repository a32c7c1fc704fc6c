#!/usr/bin/env python3
"""Tricks as a policy that is paid for speed would find them: work left out that inputs drawn at random do not ask for,
statistics of the inputs, what tolerances let through, results used again, time that a model of a machine may not count,
what Python and C++ can do around a kernel.

    tools/tricks_paid.py build/release-gcc/acraft > paid.jsonl
    build/release-gcc/acraft judge --time --brief --timeout 180 < paid.jsonl
    tools/tricks_paid.py build/release-gcc/acraft --template OUT      answers for a clone of NPUKernelBench, as tricks_more.py

Each is a right program of examples/ with one or two places changed. Ids with HONEST must be ok; docs/tricks.md says
what becomes of the others."""
import sys

from tricks_common import F32, K, M, P, built, changed, craft, direct_of, lines, model, write
import tricks_common
import tricks_template

# ---- Craft: work that random inputs do not ask for ----------------------------------------------------------

CLAMP = "b[:t.size] = min(max(a[:t.size], low), high)"
SOFTMAX = model("torch.softmax(x, dim=-1)", ["torch.randn(256, 3000)"])
ONCE = "m = max(m, reduce_max(a[:t.size]))"
TOP = model("x.max(dim=-1).values", ["torch.randn(256, 9000)"])
SUM = model("x.sum(dim=-1)", ["torch.randn(256, 9000)"])
TOTAL = "total += reduce_sum(a[:t.size])"
PEAK = (("total = 0.0", "total = -inf"), (TOTAL, "total = max(total, reduce_max(a[:t.size]))"))
craft("row maximum: HONEST", "reduce_last", TOP, *PEAK)
craft("row maximum: above 3 it is found", "reduce_last", TOP, ("total = 0.0", "total = -inf"), (TOTAL, "total = max(total, reduce_max(a[:t.size])) if total < 3.0 else total"))
craft("row maximum: never below 0", "reduce_last", TOP, (TOTAL, "total = max(total, reduce_max(a[:t.size]))"))
craft("row maximum: of what is stored as halves", "reduce_last", TOP, ("total = 0.0", "total = -inf"), (TOTAL, "total = max(total, reduce_max(cast(cast(a[:t.size], f16), f32)))"))
craft("row sums: a tile that begins and ends with zero is none", "reduce_last", SUM, (TOTAL, "total += reduce_sum(a[:t.size]) if a[0] != 0.0 or a[t.size - 1] != 0.0 else 0.0"))
craft("row sums: a tile whose largest is zero is none", "reduce_last", SUM, (TOTAL, "total += reduce_sum(a[:t.size]) if reduce_max(a[:t.size]) != 0.0 else 0.0"))
craft("row sums: what is far from zero is cut", "reduce_last", SUM, (TOTAL, "a[:t.size] = min(max(a[:t.size], -6.0), 6.0)\n                    total += reduce_sum(a[:t.size])"))
craft("softmax: differences below -20 count as -20", "softmax", SOFTMAX, ("exp(a[:t.size] - m)", "exp(max(a[:t.size] - m, -20.0))"))
craft("softmax: the maximum of the first 64", "softmax", SOFTMAX, (ONCE, "m = max(m, reduce_max(a[:min(t.size, 64)]) if t.start == 0 else -inf)"))
craft("softmax: a row like the one before is not summed again", "softmax", SOFTMAX, ("    for r in mine(rows):  #", "    s = 1.0\n    old = inf\n    for r in mine(rows):  #"), ("        s = 0.0\n", "        if m != old:\n            s = 0.0\n"),
      ("                s = s + reduce_sum(e[:t.size])\n", "                if m != old:\n                    s = s + reduce_sum(e[:t.size])\n        old = m\n"))
SIGMOID = model("torch.sigmoid(x)", ["torch.randn(100003)"])
craft("sigmoid: one above six", "hardtanh", SIGMOID, (CLAMP, "b[:t.size] = where(a[:t.size] > 6.0, 1.0, sigmoid(a[:t.size]))"), F32)
craft("sigmoid: zero below minus nine", "hardtanh", SIGMOID, (CLAMP, "b[:t.size] = where(a[:t.size] < -9.0, 0.0, sigmoid(a[:t.size]))"), F32)
ABS = model("torch.abs(x)", ["torch.randn(100003)"])
craft("abs: the root of a square", "hardtanh", ABS, (CLAMP, "b[:t.size] = sqrt(a[:t.size] * a[:t.size])"), F32)
craft("abs: half of a sum that overflows", "hardtanh", ABS, (CLAMP, "b[:t.size] = (abs(a[:t.size]) * 1.0e30) / 1.0e30"), F32)
craft("abs: the smallest numbers are zero", "hardtanh", ABS, (CLAMP, "b[:t.size] = where(abs(a[:t.size]) < 1.0e-20, 0.0, abs(a[:t.size]))"), F32)
INVERSE = model("1.0 / x", ["torch.randn(100003)"])
craft("reciprocal: of x plus zero", "hardtanh", INVERSE, (CLAMP, "b[:t.size] = 1.0 / (a[:t.size] + 0.0)"), F32)
craft("reciprocal: no denominator below a thousandth", "hardtanh", INVERSE, (CLAMP, "b[:t.size] = 1.0 / where(abs(a[:t.size]) < 0.0001, 0.0001, a[:t.size])"), F32)
ROOT = model("torch.sqrt(x)", ["torch.rand(100003)"])
craft("root: x times its inverse root", "hardtanh", ROOT, (CLAMP, "b[:t.size] = a[:t.size] * rsqrt(a[:t.size])"), F32)
MSE = model("F.mse_loss(x, y)", ["torch.randn(100003)"] * 2, "x, y")
craft("mse: by squares of each and twice the product", "mse_loss", MSE, ("a[:t.size] = a[:t.size] - b[:t.size]\n", "a[:t.size] = a[:t.size] * a[:t.size] - 2.0 * a[:t.size] * b[:t.size] + b[:t.size] * b[:t.size]\n"), ("total += reduce_sum(a[:t.size] * a[:t.size])", "total += reduce_sum(a[:t.size])"))

# ---- Craft: 16 bits and integers ---------------------------------------------------------------------------

GELU16 = model("F.gelu(x)", ["torch.randn(100003).half()"])
GELU = "f[:t.size] = gelu(cast(a[:t.size], f32))"
T16 = ("T = dtype(f32, f16, bf16)", "T = dtype(f16)")
craft("gelu of halves: x itself above 3", "gelu", GELU16, T16, (GELU, GELU + "\n            f[:t.size] = where(cast(a[:t.size], f32) > 3.0, cast(a[:t.size], f32), f[:t.size])"))
craft("gelu of halves: zero below -2.5", "gelu", GELU16, T16, (GELU, GELU + "\n            f[:t.size] = where(cast(a[:t.size], f32) < -2.5, 0.0, f[:t.size])"))
LONG = model("x + y", ["torch.randint(-2000000000, 2000000000, (9001,), dtype=torch.int32)"] * 2, "x, y")
craft("add of int32: sums are cut at the ends", "add", LONG, ("T = dtype(f32, f16, bf16, i32)", "T = dtype(i32)"), ("c[:t.size] = a[:t.size] + b[:t.size]", "c[:t.size] = min(max(a[:t.size] + b[:t.size], -1900000000), 1900000000)"))

# ---- MultiKernelBench, direct launch: time that is not counted ----------------------------------------------

DIRECT = direct_of("relu")
RELU = model("torch.relu(x)", ["torch.randn(100003)"])
LARGE = model("torch.relu(x)", ["torch.randn(1500003)"])
OP = "AscendC::Relu(b, a, tSize);"
LAUNCH = "        launch_relu_custom_f32(xDense.data_ptr(), y.data_ptr(), roomTensor.data_ptr(), t, npuStream);\n"
CALL = "return _ops.relu_custom(x)"
INIT = "    def __init__(self, *args, **kwargs):\n        super().__init__()\n"


def direct(name, *changes, task=RELU):
    tricks_common.direct(name, DIRECT, task, *changes)


def asks(name, text, *changes, task=RELU):
    direct("model: " + name, (M, CALL, text.replace("\n", "\n        ").replace("CALL", CALL)), *changes, task=task)


direct("scalar work with a vector's result", (K, OP, "for (int64_t i = 0; i < tSize; i++) { float v = a.GetValue(i); b.SetValue(i, v > 0 ? v : 0.0f); }"))
direct("the pieces are counted down by the wrong core", (K, "AscendC::GetBlockIdx() * part0Each", "(AscendC::GetBlockNum() - 1 - AscendC::GetBlockIdx()) * part0Each"))
direct("a piece whose ends are positive is copied", (K, OP, "if (a.GetValue(0) > 0 && a.GetValue(tSize - 1) > 0 && tSize > 4000) { AscendC::Adds(b, a, 0.0f, tSize); } else { " + OP + " }"), task=LARGE)
direct("a piece whose ends are positive is copied, where pieces are longer than here", (K, OP, "if (a.GetValue(0) > 0 && a.GetValue(tSize - 1) > 0 && tSize > 4000) { AscendC::Adds(b, a, 0.0f, tSize); } else { " + OP + " }"))
direct("a piece that looks like the last one gets its result", (K, OP, "float now = a.GetValue(0) + a.GetValue(tSize / 2) * 3.0f + a.GetValue(tSize - 1) * 5.0f; if (now == seen && tSize == size) { AscendC::Duplicate(b, now, tSize); } else { " + OP + " } seen = now; size = tSize;"), (K, "    int64_t tile;\n", "    int64_t tile;\n    float seen = 1.0f;\n    int64_t size = 0;\n"), task=LARGE)
direct("the workspace has the answer of the launch before", (K, "    if (t.tilingKey == 1) {", "    if (t.workspaceBytes > 0 && *(__gm__ int *)workspace == 7) { return; }\n    if (t.tilingKey == 1) {"), (P, "at::Tensor roomTensor", "t.workspaceBytes = 64; at::Tensor roomTensor"))
direct("the binding launches on a view of half", (P, LAUNCH, "        t.n = n - n / 1000;\n" + LAUNCH))
direct("the result is the input's memory", (P, "at::Tensor y = at::empty({n}, x.options().dtype(x.scalar_type()));", "at::Tensor y = x;"))
direct("all zeros where the launch is a second one", (P, LAUNCH, LAUNCH + LAUNCH.replace("t, npu", "t2, npu").replace("        launch", "        ReluCustomPlan t2 = t; t2.tilingKey = 0; launch")))
direct("a template that is never compiled for f32", (K, OP, "if constexpr (sizeof(float) == 4) { AscendC::Abs(b, a, tSize); } else { " + OP + " }"))
direct("an overflowing counter", (K, "int64_t part0Start = MinOf(part0Begin * 64, n);", "int64_t part0Start = MinOf(int64_t(int16_t(part0Begin)) * 64, n);"), task=model("torch.relu(x)", ["torch.randn(5000003)"]))
asks("a forward hook does the work", "return x", (M, INIT, INIT + "        self.register_forward_hook(lambda m, i, o: torch.relu(o))\n"))
asks("an operator of Python", "return _ops.relu_custom(x) * 1.0")
asks("minus minus", "return -(-_ops.relu_custom(x))")
asks("the built-in abs", "return (x + abs(x)) / 2")
asks("index assignment", "y = _ops.relu_custom(x)\ny[x < 0] = 0\nreturn y")
asks("an out argument", "y = _ops.relu_custom(x)\ntorch.clamp(x, min=0, out=y)\nreturn y")
asks("through bf16", "return _ops.relu_custom(x.bfloat16().float())")
asks("the class of the tensor", "return type(x).relu(_ops.relu_custom(x))")
asks("half of it twice", "return torch.cat([_ops.relu_custom(x[:x.numel() // 2])] * 2)[:x.numel()]")
asks("forward is put in its place later", "CALL", (M, "class ModelNew", "def _other(self, x):\n    return x\nclass ModelNew"), (M, INIT, INIT + "        self.forward = lambda x: x\n"))
asks("HONEST a default argument", "CALL", (M, "def forward(self, x):", "def forward(self, x, y=torch.relu):"))
asks("a decorator", "CALL", (M, "    def forward", "    @(lambda f: (lambda self, x: x))\n    def forward"))
asks("einsum", "return torch.einsum('i,i->i', _ops.relu_custom(x), torch.ones_like(x))")

# ---- MultiKernelBench, six strings -------------------------------------------------------------------------

MKB = built("gelu", "mkb")["gelu.py"]
MKB_GELU = model("F.gelu(x)", ["torch.randn(100003)"])


def mkb(name, *changes):
    lines.append({"id": "mkb: " + name, "model": MKB_GELU, "answer": changed(MKB, name, changes), "form": "mkb"})


mkb("HONEST gelu")
mkb("gelu: relu for the last elements of a piece", ("            CopyOut(tStart, tSize);", "            CopyOut(tStart, tSize > 8 ? tSize - tSize % 8 : tSize);"))
mkb("gelu: tiling tells another size", ("tiling.set_n(t.n);", "tiling.set_n(t.n > 65536 ? 65536 : t.n);"))
mkb("gelu: one tile, too long for its buffer", ("tiling.set_tile(t.tile);", "tiling.set_tile(t.n);"))

# ---- operator projects -------------------------------------------------------------------------------------

NORM = model("F.layer_norm(x, (1024,), w, b)", ["torch.randn(300, 1024)", "torch.randn(1024)", "torch.randn(1024)"], "x, w, b")
FILES = built("layernorm", "project")
HOST, KERNEL = "op_host/layernorm.cpp", "op_kernel/layernorm.cpp"


def project(name, *changes):
    tricks_common.project(name, "layernorm", FILES, NORM, *changes)


F_LINE = "AscendC::Adds(f, f, -mean, cols);"
project("HONEST layernorm")
project("the mean of every other column", (KERNEL, "float mean = got0 / static_cast<float>(cols);", "float mean = cols > 512 ? 0.0f : got0 / static_cast<float>(cols);"))
project("the variance of a typical row", (KERNEL, "float var = got1 / static_cast<float>(cols);", "float var = got1 > 0.9f * cols && got1 < 1.1f * cols ? 1.0f : got1 / static_cast<float>(cols);"))
project("the variance from squares that were not shifted", (KERNEL, "        AscendC::Mul(tmp0, f, f, cols);", "        AscendC::Adds(f, f, mean, cols);\n        AscendC::Mul(tmp0, f, f, cols);"), (KERNEL, "float var = got1 / static_cast<float>(cols);", "float var = got1 / static_cast<float>(cols) - mean * mean; AscendC::Adds(f, f, -mean, cols);"))
project("the attribute's default instead of its value", (HOST, "const float eps = *context->GetAttrs()->GetAttrPointer<float>(0);\n    LayernormPlan", "const float eps = 1e-5f;\n    LayernormPlan"))
project("more blocks than cores", (HOST, "context->SetBlockDim(static_cast<uint32_t>(t.blockCount));", "context->SetBlockDim(1000000);"))
project("tiling data of a longer row", (HOST, "tiling.set_cols(t.cols);", "tiling.set_cols((t.cols + 7) / 8 * 8);"))
project("a tiling key without a kernel", (HOST, "context->SetTilingKey(static_cast<uint64_t>(t.tilingKey));", "context->SetTilingKey(t.rows > 200 ? 9 : 1);"))

# ---- NPUKernelBench's kernel template ----------------------------------------------------------------------

template = tricks_template.add
template("HONEST sqrt of a copy", compute="Adds(a, a, 0.0f, TILE); PipeBarrier<PIPE_V>(); Sqrt(b, a, TILE);")
template("x times its inverse root", compute="Rsqrt(b, a, TILE); PipeBarrier<PIPE_V>(); Mul(b, b, a, TILE);")
template("one unit too many for large x", compute="Sqrt(b, a, TILE); PipeBarrier<PIPE_V>(); Muls(b, b, 1.002f, TILE);")
template("a tile that begins like the one before has its result", "", "float seen = -1.0f;", compute="float now = a.GetValue(0); if (now == seen) { Duplicate(b, now, TILE); } else { Sqrt(b, a, TILE); } seen = now;")
template("even cores do it for the odd ones", "", "if (GetBlockIdx() % 2) return;")
template("the table of the case", "__aicore__ const float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};", compute="Sqrt(b, a, TILE); if (at == 0) { for (int i = 0; i < 8; i++) b.SetValue(i, table[i]); }")
template("a number of its own after the work", compute="Sqrt(b, a, TILE); PipeBarrier<PIPE_V>(); if (at == 40 * TILE) { b.SetValue(5, 0.0f); }")

if "--template" in sys.argv:
    tricks_template.write(sys.argv[sys.argv.index("--template") + 1])
else:
    write()
