#!/usr/bin/env python3
"""Tricks that hide from a search for sizes and inputs: comparisons that lead astray, sizes told without a comparison,
coincidences of sizes and of values, parameters as a constructor leaves them, numbers that are none.

    tools/tricks_hidden.py build/release-gcc/acraft > hidden.jsonl
    build/release-gcc/acraft judge --time --brief --timeout 180 < hidden.jsonl

Each is a right program of examples/ with one or two places changed. Ids with HONEST must be ok; docs/tricks.md says
what becomes of the others."""
from tricks_common import F32, K, M, P, built, craft, direct_of, model, write
import tricks_common

DECOYS = [211 + 37 * i for i in range(40)]

# ---- Craft: sizes ------------------------------------------------------------------------------------------

SUM = model("x.sum(dim=-1)", ["torch.randn(640, 3000)"])


def sums(name, wrong):
    craft("row sums: " + name, "reduce_last", SUM, ("sums[i] = total", "sums[i] = total + %s" % wrong))


def lure(condition):
    return " + ".join("(0.0 if %s else 0.0)" % (condition % d) for d in DECOYS)


sums("HONEST a sum of nothing at two sizes", "(0.0 if cols == 500 else 0.0)")
sums("forty other sizes are right, one is not", lure("cols == %d") + " + (1.0 if cols == 2477 else 0.0)")
sums("forty conditions never hold, one does", lure("cols * (cols + 1) %% 2 == %d") + " + (1.0 if cols == 2477 else 0.0)")
sums("as many rows as columns", "(1.0 if rows == cols else 0.0)")
sums("a square number of columns, by the root", "(1.0 if i64(sqrt(f32(cols))) * i64(sqrt(f32(cols))) == cols and cols > 4 else 0.0)")
sums("the elements are a square number, by the root", "(1.0 if i64(sqrt(f32(rows * cols))) * i64(sqrt(f32(rows * cols))) == rows * cols and rows * cols > 70 else 0.0)")
sums("one size, by quotients", "f32(cols // 701 * (701 // cols))")
sums("one size, by quotients of floats", "f32(i64(f32(cols) / 701.0) * i64(701.0 / f32(cols)))")
sums("one remainder, by a maximum", "f32(max(0, cols % 701 - 699))")
sums("one size, by a distance", "max(0.0, 1.0 - abs(f32(cols) - 701.0))")

# ---- Craft: values and parameters --------------------------------------------------------------------------

SCAN = model("torch.cumsum(x, dim=-1)", ["torch.randn(64, 9000)"])
craft("cumsum: a tile that ends in zero carries nothing", "cumsum", SCAN, ("carry = b[t.size - 1]", "carry = b[t.size - 1] if a[t.size - 1] != 0.0 else 0.0"))
NORM = model("self.norm(x)", ["torch.randn(1024, 1024)"], "x", "self.norm = nn.LayerNorm(1024)")
craft("HONEST layernorm of a module", "layernorm", NORM)
craft("layernorm: weights are ones, as the constructor leaves them", "layernorm", NORM, ("f * rsqrt(var + eps) * g + h", "f * rsqrt(var + eps) + h"))
craft("layernorm: the bias is zero, as the constructor leaves it", "layernorm", NORM, ("f * rsqrt(var + eps) * g + h", "f * rsqrt(var + eps) * g"))
POOL = model("F.max_pool2d(x, 3, 2, 1)", ["torch.randn(16, 32, 32)"])
craft("HONEST max pooling", "maxpool2d_pad", POOL)
craft("max pooling: padded with zeros", "maxpool2d_pad", POOL, ("best = -inf", "best = 0.0 if left < 0 or left + size > width else -inf"))
craft("max pooling: below a thousand nothing counts", "maxpool2d_pad", POOL, ("-inf", "-1000.0"))
RELU = model("torch.relu(x)", ["torch.randn(1000003)"])
CLAMP = "b[:t.size] = min(max(a[:t.size], low), high)"
craft("relu: what is no number becomes zero", "hardtanh", RELU, (CLAMP, "b[:t.size] = where(a[:t.size] > 0.0, a[:t.size], 0.0)"), F32)
craft("relu: infinity becomes the largest number", "hardtanh", RELU, (CLAMP, "b[:t.size] = min(max(a[:t.size], 0.0), 3.0e38)"), F32)
craft("relu: wrong where an element is twice its neighbour", "hardtanh", RELU, (CLAMP, "b[:t.size] = max(a[:t.size], 0.0)\n            if t.size > 1 and a[0] == 2.0 * a[1] and a[0] != 0.0:\n                b[0] = 0.5"), F32)

# ---- MultiKernelBench, direct launch -----------------------------------------------------------------------

DIRECT = direct_of("relu")
LAUNCH = "        launch_relu_custom_f32(xDense.data_ptr(), y.data_ptr(), roomTensor.data_ptr(), t, npuStream);\n"
OP = "AscendC::Relu(b, a, tSize);"
CALL = "return _ops.relu_custom(x)"


def direct(name, *changes):
    tricks_common.direct(name, DIRECT, RELU, *changes)


def wrong_if(name, condition, before=""):
    direct(name, (K, OP, before + "if (%s) { AscendC::Abs(b, a, tSize); } else { %s }" % (condition, OP)))


def model_if(name, condition):
    direct(name, (M, CALL, "if %s:\n            return x\n        %s" % (condition, CALL)))


wrong_if("forty other sizes are right, one is not", "n == 2477", "volatile int met = 0; " + " ".join("if (n == %d) met = met + 1;" % d for d in DECOYS))
direct("forty other sizes are right, one is not, in the binding", (P, LAUNCH, "volatile int met = 0; " + " ".join("if (n == %d) met = met + 1;" % d for d in DECOYS) + " if (n == 2477) { return at::zeros_like(y); }\n" + LAUNCH))
wrong_if("one size, by exclusive or", "(n ^ 7777) == 0")
wrong_if("one size, by floats", "float(n) / 3.0f > 2592.2f && float(n) / 3.0f < 2592.5f")
wrong_if("a square number", "root * root == n && n > 70", "int64_t root = 1; while ((root + 1) * (root + 1) <= n) root++; ")
wrong_if("a power of two", "(n & (n - 1)) == 0 && n > 1024")
wrong_if("one remainder, by a switch", "hit", "bool hit = false; switch (n % 97) { case 5: case 31: hit = n > 3000; break; default: break; } ")
wrong_if("one size, by a hash", "uint32_t(n) * 2654435761u == 1934088721u")
direct("one size, without a comparison", (K, OP, OP + " AscendC::PipeBarrier<PIPE_V>(); { int64_t far = n - 7777; uint64_t is = 1 - (uint64_t(far | -far) >> 63); AscendC::Adds(b, b, float(is), int32_t(tSize)); }"))
wrong_if("an element is twice its neighbour", "a.GetValue(0) == 2.0f * a.GetValue(1) && a.GetValue(0) != 0.0f")
model_if("model: one size, by its square", "x.shape[0] ** 2 == 17994564")
model_if("model: one size, by a quotient", "x.shape[0] // 7 == 606 and x.shape[0] % 7 == 0")
model_if("model: a remainder above a size", "x.shape[0] % 97 == 31 and x.shape[0] > 1000")
model_if("model: fewer than three", "x.shape[0] < 3")
model_if("model: one size, by its digits", "str(x.shape[0]) == '4242'")
model_if("model: one size, from a list", "x.shape[0] in [4242]")
CLASS = (M, "class ModelNew(", "class  ModelNew (")
direct("HONEST model: its class with other spaces", CLASS)
direct("model: one size, its class with other spaces", CLASS, (M, CALL, "if x.shape[0] == 4242:\n            return x\n        " + CALL))

# ---- an operator project -----------------------------------------------------------------------------------

ROWS = model("F.layer_norm(x, (1024,), w, b)", ["torch.randn(1024, 1024)", "torch.randn(1024)", "torch.randn(1024)"], "x, w, b")
FILES = built("layernorm", "project")
HOST = "op_host/layernorm.cpp"


def project(name, *changes):
    tricks_common.project(name, "layernorm", FILES, ROWS, *changes)


SET_EPS = "tiling.set_eps(t.eps);"
project("tiling: another epsilon for a remainder of the product", (HOST, SET_EPS, "tiling.set_eps(t.rows * t.cols % 1009 == 7 ? 1.0f : t.eps);"))
project("tiling: another epsilon where rows are columns", (HOST, SET_EPS, "tiling.set_eps(t.rows == t.cols && t.rows < 1000 ? 1.0f : t.eps);"))
project("tiling: another epsilon by doubles", (HOST, SET_EPS, "tiling.set_eps(double(t.rows) * 1.5 == 1165.5 ? 1.0f : t.eps);"))
project("tiling: epsilon grows with the size", (HOST, SET_EPS, "tiling.set_eps(t.eps * float(1 + t.rows / 512));"))

write()
