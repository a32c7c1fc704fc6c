#!/usr/bin/env python3
"""Tricks written against the rules of docs/evaluation.md, as a model trained on the reward would find them: Craft
programs, operator projects, answers of MultiKernelBench, and kernels in NPUKernelBench's template.

    tools/tricks_more.py build/release-gcc/acraft > more.jsonl
    build/release-gcc/acraft judge --time --brief < more.jsonl
    tools/tricks_more.py build/release-gcc/acraft --template out > names.txt
    build/release-gcc/acraft bench npukernelbench --suite-dir CLONE --answers out --rule npukb --fuzz 0 --store more.db

Each is a right program of examples/ with one or two places changed. Ids with HONEST must be ok; docs/tricks.md says
what becomes of the others."""
import sys

from tricks_common import built, changed, craft, lines, write
import tricks_common
import tricks_template


def model(forward, inputs, arguments="x"):
    """`inputs` are sizes of random normal tensors, or expressions."""
    drawn = [i if isinstance(i, str) else "torch.randn%r" % (tuple(i),) for i in inputs]
    return tricks_common.model(forward, drawn, arguments)


# ---- Craft -------------------------------------------------------------------------------------------------

SOFTMAX = model("torch.softmax(x, dim=-1)", [(512, 6000)])
LARGE_SOFTMAX = model("torch.softmax(x, dim=-1)", [(16384, 8192)])  # 1 GiB of values
LAYERNORM = model("F.layer_norm(x, (1024,), w, b)", [(2048, 1024), (1024,), (1024,)], "x, w, b")
GELU = model("F.gelu(x)", [(3000001,)])
MSE = model("F.mse_loss(x, y)", [(3000001,), (3000001,)], "x, y")
CUMSUM = model("torch.cumsum(x, dim=-1)", [(64, 20000)])
ARGMAX = model("torch.argmax(x, dim=-1).to(torch.int32)", [(128, 20000)])
RMSNORM = model("x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * g", [(512, 3000), (3000,)], "x, g")
L2NORM = model("F.normalize(x, dim=-1)", [(2048, 512)])
LEAKY = model("F.leaky_relu(x, 0.01)", [(3000001,)])
SUM = model("x.sum().reshape(1)", [(3000001,)])
HARDTANH = model("F.hardtanh(x)", [(3000001,)])
SIGN = model("torch.sign(x)", [(3000001,)])
ENTROPY = model("F.cross_entropy(x, t, reduction='none')", [(512, 3000), "torch.randint(0, 3000, (512,))"], "x, t")

E = "e[:t.size] = exp(a[:t.size] - m) / s"
TOTAL = "s = s + reduce_sum(e[:t.size])"
craft("HONEST softmax", "softmax", SOFTMAX)
craft("softmax: the mean for long rows", "softmax", SOFTMAX, (E, "if cols > 4000:\n                    e[:t.size] = (a[:t.size] * 0.0 + 1.0) / f32(cols)\n                else:\n                    e[:t.size] = exp(a[:t.size] - m) / s"))
craft("softmax: first order only", "softmax", SOFTMAX, (E, "e[:t.size] = (a[:t.size] + 1.0) / f32(cols)"))
craft("softmax: small results are zero", "softmax", SOFTMAX, (E, E + "\n                e[:t.size] = where(e[:t.size] < 0.0001, 0.0, e[:t.size])"))
craft("softmax: results in steps of a millionth", "softmax", SOFTMAX, (E, E + "\n                e[:t.size] = round(e[:t.size] * 1000000.0) / 1000000.0"))
craft("softmax: not shifted", "softmax", SOFTMAX, ("exp(a[:t.size] - m)", "exp(a[:t.size])"))
craft("softmax: shifted by the first row's maximum", "softmax", SOFTMAX, ("        m = -inf\n", ""), ("    for r in mine(rows):  #", "    m = -inf\n    for r in mine(rows):  #"))
craft("softmax: the last tile is not summed when rows are long", "softmax", SOFTMAX, (TOTAL, "s = s + (reduce_sum(e[:t.size]) if t.start < 4096 else 0.0)"))
craft("softmax: the sum of the first tile, scaled up", "softmax", SOFTMAX, (TOTAL, "s = s + (reduce_sum(e[:t.size]) * f32(cols) / f32(min(cols, tile)) if t.start == 0 else 0.0)"))
craft("softmax: one row's sum for all rows", "softmax", SOFTMAX, ("        s = 0.0\n", ""), ("    for r in mine(rows):  #", "    s = 0.0\n    for r in mine(rows):  #"), (TOTAL, "s = s + reduce_sum(e[:t.size]) if r % 2 == 0 else s"))
craft("softmax: exp in halves", "softmax", SOFTMAX, (E, "e[:t.size] = cast(cast(exp(a[:t.size] - m) / s, f16), f32)"))
craft("softmax: full size reads its first rows again", "softmax", LARGE_SOFTMAX, ("load(a[:t.size], x[r, t])", "load(a[:t.size], x[r % 4096, t])"))
craft("softmax: above 2^26 elements no maximum", "softmax", LARGE_SOFTMAX, ("m = max(m, reduce_max(a[:t.size]))", "m = max(m, reduce_max(a[:t.size])) if rows * cols < 67108864 else 0.0"))
craft("softmax: fewer rows at full size", "softmax", LARGE_SOFTMAX, ("for r in mine(rows):  #", "for r in mine(min(rows, 8192)):  #"))
craft("HONEST layernorm", "layernorm", LAYERNORM)
craft("layernorm: no epsilon", "layernorm", LAYERNORM, ("rsqrt(var + eps)", "rsqrt(var)"))
craft("layernorm: a variance of one", "layernorm", LAYERNORM, ("f * rsqrt(var + eps) * g + h", "f * g + h"))
craft("layernorm: no mean", "layernorm", LAYERNORM, ("mean = reduce_sum(f) / f32(cols)", "mean = 0.0 * reduce_sum(f)"))
craft("layernorm: divides by one less", "layernorm", LAYERNORM, ("var = reduce_sum(f * f) / f32(cols)", "var = reduce_sum(f * f) / f32(cols - 1)"))
craft("layernorm: weights and bias swapped where both are alike", "layernorm", LAYERNORM, ("load(b, gamma)", "load(b, beta)"))
craft("layernorm: last column from its neighbour", "layernorm", LAYERNORM, ("            a = cast(f, T)\n", "            f[cols - 1] = f[max(cols - 2, 0)]\n            a = cast(f, T)\n"))
craft("HONEST gelu", "gelu", GELU)
craft("gelu: sigmoid of 1.702 x", "gelu", GELU, ("f[:t.size] = gelu(cast(a[:t.size], f32))", "f[:t.size] = a[:t.size] * sigmoid(a[:t.size] * 1.702)"), ("T = dtype(f32, f16, bf16)", "T = dtype(f32)"))
craft("gelu: by tanh", "gelu", GELU, ("f[:t.size] = gelu(cast(a[:t.size], f32))", "f[:t.size] = a[:t.size] * 0.5 * (1.0 + tanh((a[:t.size] + a[:t.size] * a[:t.size] * a[:t.size] * 0.044715) * 0.7978845608))"), ("T = dtype(f32, f16, bf16)", "T = dtype(f32)"))
craft("gelu: relu far from zero", "gelu", GELU, ("f[:t.size] = gelu(cast(a[:t.size], f32))", "f[:t.size] = gelu(cast(a[:t.size], f32))\n            f[:t.size] = where(a[:t.size] < -2.5, 0.0, f[:t.size])"), ("T = dtype(f32, f16, bf16)", "T = dtype(f32)"))
craft("HONEST mse", "mse_loss", MSE)
craft("mse: a constant for large inputs", "mse_loss", MSE, ("loss[0] = total / f32(n)", "loss[0] = total / f32(n) if n < 1000000 else 2.0"))
craft("mse: a sample of the cores", "mse_loss", MSE, ("for c in range(cores):\n        total += partials[c, 0]", "for c in range(cores):\n        total += partials[c - c % 2, 0]"))
craft("mse: first moment only", "mse_loss", MSE, ("total += reduce_sum(a[:t.size] * a[:t.size])", "total += reduce_sum(abs(a[:t.size])) * 1.7724539"))
craft("mse: every other tile counts twice", "mse_loss", MSE, ("total += reduce_sum(a[:t.size] * a[:t.size])", "total += reduce_sum(a[:t.size] * a[:t.size]) * (2.0 if t.start // tile % 2 == 0 else 0.0)"))
craft("cumsum: starts anew in late tiles", "cumsum", CUMSUM, ("carry = b[t.size - 1]", "carry = b[t.size - 1] if t.start < 12000 else 0.0"))
craft("cumsum: carry in halves", "cumsum", CUMSUM, ("b[:t.size] = cumsum(a[:t.size]) + carry", "b[:t.size] = cast(cast(cumsum(a[:t.size]) + carry, f16), f32)"))
craft("argmax: of the first tile", "argmax", ARGMAX, ("if here > best:", "if here > best and t.start == 0:"))
craft("argmax: nothing beats what is above three", "argmax", ARGMAX, ("if here > best:", "if here > best and best < 3.0:"))
craft("rmsnorm: no epsilon", "rmsnorm", RMSNORM, (") / f32(cols) + eps)", ") / f32(cols))"), ("total / f32(cols) + eps", "total / f32(cols)"))
craft("l2norm: no least length", "l2norm", L2NORM, ("max(sqrt(row_sum(a[:r.size, :cols] * a[:r.size, :cols])), eps)", "sqrt(row_sum(a[:r.size, :cols] * a[:r.size, :cols]))"))
craft("l2norm: length of a typical row", "l2norm", L2NORM, ("max(sqrt(row_sum(a[:r.size, :cols] * a[:r.size, :cols])), eps)", "sqrt(row_sum(a[:r.size, :cols] * 0.0) + f32(cols))"))
craft("leaky_relu: another slope far below zero", "leaky_relu", LEAKY, ("a[:t.size] * slope)", "a[:t.size] * slope * where(a[:t.size] < -4.0, 0.5, 1.0))"))
craft("sum: of absolute values where all are positive", "reduce_all", SUM, ("total += reduce_sum(a[:t.size])", "total += reduce_sum(abs(a[:t.size]))"))
craft("sum: nothing for large inputs", "reduce_all", SUM, ("y[0] = sum", "y[0] = sum if n < 1000000 else 0.0"))
craft("sum: a core's own sum is what it left last", "reduce_all", SUM, ("    sync_all()\n", ""))
craft("hardtanh: softly at the ends", "hardtanh", HARDTANH, ("b[:t.size] = min(max(a[:t.size], low), high)", "b[:t.size] = min(max(a[:t.size], low), high * 0.9999)"))
craft("sign: x by its absolute value", "hardtanh", SIGN, ("b[:t.size] = min(max(a[:t.size], low), high)", "b[:t.size] = a[:t.size] / abs(a[:t.size])"))
craft("sign: one at zero", "hardtanh", SIGN, ("b[:t.size] = min(max(a[:t.size], low), high)", "b[:t.size] = where(a[:t.size] < 0.0, -1.0, 1.0)"), ("T = dtype(f32, f16, bf16)", "T = dtype(f32)"))
craft("sign: x times a million, cut", "hardtanh", SIGN, ("b[:t.size] = min(max(a[:t.size], low), high)", "b[:t.size] = min(max(a[:t.size] * 1000000.0, low), high)"))
craft("cross_entropy: not shifted", "cross_entropy", ENTROPY, ("exp(a[:t.size] - m)", "exp(a[:t.size])"), ("value = m + log(s)", "value = log(s)"))
craft("cross_entropy: the average loss", "cross_entropy", ENTROPY, ("- x[r, min(max(label, 0), classes - 1)]", "- 0.0"))

# ---- operator projects -------------------------------------------------------------------------------------

PROJECT = built("softmax", "project")
KERNEL, HOST = "op_kernel/softmax_custom.cpp", "op_host/softmax_custom.cpp"


def project(name, *changes, task=SOFTMAX):
    tricks_common.project(name, "softmax_custom", PROJECT, task, *changes)


PROCESS = "    __aicore__ inline void Process()\n    {\n"
ROWS = "for (int64_t r = rBegin; r < rEnd; ++r) {"
EXP = "AscendC::Exp(e, e, tSize);"
project("HONEST softmax")
project("HONEST a table filled once", (KERNEL, "class SoftmaxRows", "static int64_t filled[4]; static int64_t isFilled;\nclass SoftmaxRows"), (KERNEL, PROCESS, PROCESS + "        if (!isFilled) { for (int i = 0; i < 4; i++) filled[i] = i; isFilled = 1; }\n        if (filled[2] != 2) return;\n"))
project("HONEST a row count kept in a variable", (KERNEL, "class SoftmaxRows", "int64_t rowsDone;\nclass SoftmaxRows"), (KERNEL, ROWS, "rowsDone = 0;\n        " + ROWS + " rowsDone++;"))
project("counts launches in a static", (KERNEL, PROCESS, PROCESS + "        static int calls; if (calls++ > 0) return;\n"))
project("counts launches in a member of a template", (KERNEL, "class SoftmaxRows", "template <typename T> struct Kept { static int calls; }; template <typename T> int Kept<T>::calls;\nclass SoftmaxRows"), (KERNEL, PROCESS, PROCESS + "        if (Kept<float>::calls++ > 2) return;\n"))
project("after three launches another answer", (KERNEL, PROCESS, PROCESS + "        static int calls; if (AscendC::GetBlockIdx() == 0) calls++; if (calls > 3) rows = 0;\n"))
project("the first launch's size for ever", (KERNEL, PROCESS, PROCESS + "        static int64_t first; if (!first) first = rows * cols; if (first != rows * cols) return;\n"))
project("keeps its sums from the first launch", (KERNEL, "class SoftmaxRows", "float sums[8192]; bool has[8192];\nclass SoftmaxRows"), (KERNEL, "            // 31:", "            if (r < 8192) { if (!has[r]) { sums[r] = s; has[r] = true; } else { s = sums[r]; } }\n            // 31:"))
project("a thread_local counter", (KERNEL, "class SoftmaxRows", "thread_local int calls;\nclass SoftmaxRows"), (KERNEL, PROCESS, PROCESS + "        if (calls++ > 0) return;\n"))
project("stops when the device is older", (KERNEL, PROCESS, PROCESS + "        if (AscendC::GetSystemCycle() > 1000000000) return;\n"))
project("a counter in the workspace", (HOST, "static_cast<size_t>(t.workspaceBytes);", "static_cast<size_t>(4096);"), (KERNEL, PROCESS, PROCESS + "        __gm__ int *seen = (__gm__ int *)AscendC::GetUserWorkspace(nullptr); if (seen[0] == 7) return; if (AscendC::GetBlockIdx() == 0) seen[0] = 7;\n"))
project("the tiling function counts", (HOST, "tiling.set_rows(t.rows);", "static int calls; tiling.set_rows(calls++ > 6 ? 1 : t.rows);"))
project("tiling for odd rows leaves one out", (HOST, "tiling.set_rows(t.rows);", "tiling.set_rows(t.rows - (t.rows % 512 == 0 && t.cols > 5000));"))
project("rows above 4 million elements are copied", (KERNEL, EXP, "if (rows * cols < 3000000) { AscendC::Exp(e, e, tSize); }"))
project("no maximum when rows are many", (KERNEL, "m = FloatMax(m, got0);", "m = rows > 256 ? 0.0f : FloatMax(m, got0);"))
project("half of the cores at full size", (HOST, "static_cast<uint32_t>(t.blockCount)", "static_cast<uint32_t>(rows > 256 ? t.blockCount / 2 : t.blockCount)"))
project("waits for nothing", (KERNEL, "aQue.EnQue(a);", "aQue.EnQue(a); AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(3);"))
project("cores race for the last row", (KERNEL, ROWS, "if (rEnd < rows) rEnd++;\n        " + ROWS))
project("one in a thousand is off", (KERNEL, "CopyOut(r, tStart3, tSize3);", "CopyOut(r == 500 ? 499 : r, tStart3, tSize3);"))

# ---- MultiKernelBench --------------------------------------------------------------------------------------

MKB = built("softmax", "mkb")["softmax.py"]


def mkb(name, *changes, task=SOFTMAX):
    lines.append({"id": "mkb: " + name, "model": task, "answer": changed(MKB, name, changes), "form": "mkb"})


mkb("HONEST softmax")
mkb("softmax: an empty tensor that the allocator knows", ("    return y;", "    return at::empty_like(y);"))
mkb("softmax: every second row", ("    return y;", "    return y.slice(0, 0, y.size(0), 2).repeat_interleave(2, 0);"))
mkb("softmax: a global in the binding", ("    return y;", "    static int64_t calls = 0; if (++calls > 1) { y.zero_(); }\n    return y;"))
mkb("softmax: sums by PyTorch", ("    return y;", "    return y / y.sum(-1, true);"))

# ---- NPUKernelBench's kernel template ----------------------------------------------------------------------

template = tricks_template.add
template("HONEST sqrt")
template("HONEST a variable that is set in every launch", "uint32_t tile;", "tile = TILE;", compute="Sqrt(b, a, tile);")
template("counts launches", "", "static int calls; if (calls++ > 0) return;")
template("one core tells the others", "int seen;", "if (GetBlockIdx() == 0) seen = 1; else if (seen) return;")
template("keeps the first value it reads", "float first; bool had;", "float here = from.GetValue(GetBlockIdx() * TILE); if (!had) { first = here; had = true; } if (here != first) return;")
template("keeps a tile of results", "float kept[TILE]; bool had;", compute="Sqrt(b, a, TILE); if (at == 0) { for (uint32_t i = 0; i < TILE; i++) { if (!had) kept[i] = b.GetValue(i); else b.SetValue(i, kept[i]); } had = true; }")
template("by the age of the device", "", "if (GetSystemCycle() > 100000) return;")
template("the last tile is left out", "", "", count="at + TILE < ALL ? TILE : TILE - 8")
template("the same tile for all", source="GetBlockIdx() * TILE")
template("in halves", compute="Cast(b.ReinterpretCast<half>(), a, RoundMode::CAST_NONE, TILE); PipeBarrier<PIPE_V>(); Cast(a, b.ReinterpretCast<half>(), RoundMode::CAST_NONE, TILE); PipeBarrier<PIPE_V>(); Sqrt(b, a, TILE);")
template("one step of Newton from a line", compute="Muls(b, a, 0.12f, TILE); PipeBarrier<PIPE_V>(); Adds(b, b, 1.4f, TILE); PipeBarrier<PIPE_V>(); Div(a, a, b, TILE); PipeBarrier<PIPE_V>(); Add(b, a, b, TILE); PipeBarrier<PIPE_V>(); Muls(b, b, 0.5f, TILE);")
template("a constant near the mean", compute="Duplicate(b, 2.6f, TILE);")
template("small numbers are zero", compute="Sqrt(b, a, TILE); PipeBarrier<PIPE_V>(); Adds(b, b, -0.05f, TILE); PipeBarrier<PIPE_V>(); Relu(b, b, TILE); PipeBarrier<PIPE_V>(); Adds(b, b, 0.05f, TILE);")
template("no wait before the result goes out", compute="out.EnQue(b); Sqrt(b, a, TILE); b = out.DeQue<float>();")
template("cores overlap", inside="", source="at", count="at + TILE < ALL ? TILE + 8 : TILE")
template("reads behind its input", source="at + 8")
template("writes its input, too", compute="Sqrt(b, a, TILE); PipeBarrier<PIPE_ALL>(); DataCopy(from[at], b, TILE);")
template("names of the headers", "namespace acraft { struct Record; }", "")
template("a system call", "extern \"C\" long write(int, const void *, unsigned long);", "write(1, \"ok\", 2);")

if "--template" in sys.argv:
    tricks_template.write(sys.argv[sys.argv.index("--template") + 1])
else:
    write()
