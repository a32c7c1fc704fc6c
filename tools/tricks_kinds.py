#!/usr/bin/env python3
"""Tricks by kind: what a wrong kernel can hide behind. Sizes and residues, single values, ends of ranges, state of memory,
precision, attributes, the machine around it; in Craft, MultiKernelBench's two forms and operator projects.

    tools/tricks_kinds.py build/release-gcc/acraft > kinds.jsonl
    build/release-gcc/acraft judge --time --brief --timeout 180 < kinds.jsonl

Each is a right program of examples/ with one or two places changed. Ids with HONEST must be ok; docs/tricks.md says
what becomes of the others."""
from tricks_common import F32, K, M, P, built, craft, direct_of, model, write
import tricks_common

# ---- Craft: sizes ------------------------------------------------------------------------------------------

SUM = model("x.sum(dim=-1)", ["torch.randn(640, 3000)"])
SOFTMAX = model("torch.softmax(x, dim=-1)", ["torch.randn(512, 6000)"])
TOTAL = "total += reduce_sum(a[:t.size])"
RESULT = "sums[i] = total"


def sums(name, wrong):
    craft("row sums: " + name, "reduce_last", SUM, (RESULT, "sums[i] = total + (1.0 if %s else 0.0)" % wrong))


craft("HONEST row sums", "reduce_last", SUM)
sums("wrong for 77 rows modulo 100", "rows % 100 == 77")
sums("wrong where two residues meet", "cols % 16 == 5 and rows % 7 == 3")
sums("wrong at a square", "cols * cols == 110889")
sums("wrong for one row", "rows == 1")
sums("wrong where there are more rows than columns, twice over", "rows > 2 * cols and cols > 40")
sums("wrong in a middle row of a middle size", "block.start + i == 250")
sums("wrong at a size between 700 and 703", "cols > 700 and cols < 703")
sums("wrong by a float of the size", "f32(cols) * 0.5 == 166.5")
craft("row sums: the third tile is not added", "reduce_last", SUM, (TOTAL, "total += reduce_sum(a[:t.size]) if t.start != 2 * tile else 0.0"), ("[8192, 4096]", "[1024, 512]"))
craft("softmax: rows behind the 300th take the maximum of the row", "softmax", SOFTMAX, ("e[:t.size] = exp(a[:t.size] - m) / s", "e[:t.size] = exp(a[:t.size] - m) / (s if r < 300 else s * 1.01)"))

# ---- Craft: values -----------------------------------------------------------------------------------------

TANH = model("F.hardtanh(x)", ["torch.randn(3000001)"])
CLAMP = "b[:t.size] = min(max(a[:t.size], low), high)"


def tanh(name, text):
    craft("hardtanh: " + name, "hardtanh", TANH, (CLAMP, text), F32)


tanh("HONEST by two selections", "b[:t.size] = where(a[:t.size] > high, high, where(a[:t.size] < low, low, a[:t.size]))")
tanh("wrong between 3 and 3.002", "b[:t.size] = where(abs(a[:t.size] - 3.001) < 0.001, 0.0, min(max(a[:t.size], low), high))")
tanh("wrong at 0.125", "b[:t.size] = where(a[:t.size] == 0.125, 1.0, min(max(a[:t.size], low), high))")
tanh("small numbers are zero", "b[:t.size] = where(abs(a[:t.size]) < 0.00001, 0.0, min(max(a[:t.size], low), high))")
tanh("wrong above 20000", "b[:t.size] = where(a[:t.size] > 20000.0, 0.0, min(max(a[:t.size], low), high))")
tanh("wrong where a neighbour is equal", "b[:t.size] = min(max(a[:t.size], low), high)\n            if t.size > 1 and a[0] == a[1]:\n                b[0] = 0.5")
ROUND = model("torch.round(x)", ["torch.randn(300001) * 4"])
craft("HONEST round", "hardtanh", ROUND, (CLAMP, "b[:t.size] = round(a[:t.size])"), F32)
craft("round: half goes up", "hardtanh", ROUND, (CLAMP, "b[:t.size] = floor(a[:t.size] + 0.5)"), F32)
QUANT = model("torch.clamp(torch.round(x / 0.1), -128, 127).to(torch.int8)", ["torch.randn(300001)"])
craft("HONEST quantise", "quantize", QUANT)
craft("quantise: no lower bound", "quantize", QUANT, ("min(max(a[:t.size] * factor, -128.0), 127.0)", "min(a[:t.size] * factor, 127.0)"))
POOL = model("F.max_pool2d(x, 3, 2, 1)", ["torch.randn(8, 16, 32, 32)"])
ENTROPY = model("F.cross_entropy(x, t, reduction='none')", ["torch.randn(512, 3000)", "torch.randint(0, 3000, (512,))"], "x, t")
craft("cross_entropy: the last class is the one before", "cross_entropy", ENTROPY, ("classes - 1)]", "classes - 2)]"))
craft("cross_entropy: class 1234 is class 0", "cross_entropy", ENTROPY, ("min(max(label, 0), classes - 1)", "(0 if label == 1234 else min(max(label, 0), classes - 1))"))
PRODUCT = model("torch.cumprod(x, dim=-1)", ["torch.rand(256, 300) + 0.5"])
craft("cumprod: by logarithms", "cumprod", PRODUCT, ("cumprod(a[:r.size, :])", "exp(cumsum(log(a[:r.size, :])))"))
MASKED = model("torch.cumsum(x * mask, dim=1)", ["torch.rand(512, 6000)", "torch.randint(0, 2, (512, 6000)).bool()"], "x, mask")
craft("masked cumsum: where the mask begins with false nothing is added", "cumsum_masked", MASKED, ("b[:t.size] = cumsum(b[:t.size]) + carry", "b[:t.size] = cumsum(b[:t.size]) + carry\n                if carry == 0.0 and t.start > 0:\n                    b[:t.size] = b[:t.size] + 1.0"))

# ---- Craft: precision --------------------------------------------------------------------------------------

HALF = model("x.to(torch.float32).sum(dim=-1)", ["torch.randn(640, 3000)"])
craft("row sums: tiles are rounded to halves", "reduce_last", SUM, (TOTAL, "total += reduce_sum(cast(cast(a[:t.size], f16), f32))"))
NORM = model("F.layer_norm(x, (1024,), w, b)", ["torch.randn(2048, 1024)", "torch.randn(1024)", "torch.randn(1024)"], "x, w, b")
craft("layernorm: the mean of the row before", "layernorm", NORM, ("    for r in mine(rows):\n", "    mean = 0.0\n    for r in mine(rows):\n"), ("            mean = reduce_sum(f) / f32(cols)\n            f = f - mean\n", "            f = f - mean\n            mean = reduce_sum(f) / f32(cols)\n"))
craft("layernorm: another epsilon", "layernorm", NORM, ("eps: f32 = 1e-5", "eps: f32 = 1e-4"))

# ---- MultiKernelBench, direct launch -----------------------------------------------------------------------

DIRECT = direct_of("relu")
RELU = model("torch.relu(x)", ["torch.randn(1000003)"])
LAUNCH = "        launch_relu_custom_f32(xDense.data_ptr(), y.data_ptr(), roomTensor.data_ptr(), t, npuStream);\n"
OP = "AscendC::Relu(b, a, tSize);"
LOOP = "        for (int64_t tStart = part0Start; tStart"
CALL = "return _ops.relu_custom(x)"


def direct(name, *changes):
    tricks_common.direct(name, DIRECT, RELU, *changes)


direct("HONEST another way for a short last piece", (K, OP, "if (tSize % 16 == 5) { AscendC::Maxs(b, a, 0.0f, tSize); } else { " + OP + " }"))
direct("a last piece of 5 modulo 16", (K, OP, "if (tSize % 16 == 5) { AscendC::Abs(b, a, tSize); } else { " + OP + " }"))
direct("one size", (K, OP, "if (n == 7777) { AscendC::Abs(b, a, tSize); } else { " + OP + " }"))
direct("one size, in the binding", (P, LAUNCH, "if (n == 4242) { t.n = n; at::Tensor z = at::zeros_like(y); return z; }\n" + LAUNCH))
direct("one size, in the model", (M, CALL, "if x.shape[0] == 4242:\n            return x\n        " + CALL))
direct("one size, in the model, by a remainder", (M, CALL, "if x.shape[0] % 1000 == 42:\n            return x\n        " + CALL))
direct("one number", (K, OP, "if (a.GetValue(0) == 1.5f) { AscendC::Abs(b, a, tSize); } else { " + OP + " }"))
direct("two equal elements", (K, OP, "if (a.GetValue(0) == a.GetValue(1)) { AscendC::Abs(b, a, tSize); } else { " + OP + " }"))
direct("never above 1234.5", (K, OP, "AscendC::Mins(a, a, 1234.5f, tSize); AscendC::PipeBarrier<PIPE_V>();\n" + OP))
direct("adds to what the output holds", (K, "        AscendC::DataCopyPad(yGm[tStart], b,", "        AscendC::SetAtomicAdd<float>();\n        AscendC::DataCopyPad(yGm[tStart], b,"))
direct("adds memory that nobody wrote", (K, OP, OP + "\n        { AscendC::LocalTensor<float> c = bQue.AllocTensor<float>(); AscendC::PipeBarrier<PIPE_V>(); AscendC::Muls(c, c, 0.0f, tSize); AscendC::PipeBarrier<PIPE_V>(); AscendC::Add(b, b, c, tSize); bQue.FreeTensor(c); }"))
direct("the vendor's files tell where it is", (P, LAUNCH, "if (access(\"/usr/local/Ascend\", 0) == 0) { t.n = 1; }\n" + LAUNCH), (P, "#include <torch/extension.h>", "#include <torch/extension.h>\n#include <unistd.h>"))
direct("stores after it has told the others", (K, "        bQue.EnQue(b);", "        bQue.EnQue(b);\n        AscendC::LocalTensor<float> late = b; AscendC::Duplicate(late, 0.0f, 8);"))
direct("a queue of one buffer, filled before it is empty", (K, "        aQue.FreeTensor(a);\n        bQue.EnQue(b);", "        bQue.EnQue(b);\n        aQue.FreeTensor(a);\n        AscendC::Duplicate(a, 1.0f, tSize);"))
direct("time: the loop is empty when nobody reads the result", (K, LOOP, "        if (AscendC::GetSubBlockNum() > 7) return;\n" + LOOP))

# ---- an operator project -----------------------------------------------------------------------------------

FILES = built("layernorm", "project")
HOST = "op_host/layernorm.cpp"


def project(name, *changes):
    tricks_common.project(name, "layernorm", FILES, NORM, *changes)


project("HONEST layernorm")
project("tiling: one row less for 17 modulo 100", (HOST, "tiling.set_rows(t.rows);", "tiling.set_rows(t.rows % 100 == 17 ? t.rows - 1 : t.rows);"))
project("tiling: another epsilon for long rows", (HOST, "tiling.set_eps(t.eps);", "tiling.set_eps(t.cols > 1000 ? t.eps * 100 : t.eps);"))
project("tiling: eps is always 1e-3", (HOST, "tiling.set_eps(t.eps);", "tiling.set_eps(1e-3f);"))

write()
