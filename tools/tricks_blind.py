#!/usr/bin/env python3
"""Tricks written without sight of the judge: text that is another one on the board, memory that outlives a launch, loads
that no instrumentation sees, ties and special elements, moves of PyTorch that are the task, answers that read in two ways.

    tools/tricks_blind.py build/release-gcc/acraft > blind.jsonl
    build/release-gcc/acraft judge --time --brief --timeout 180 < blind.jsonl
    tools/tricks_blind.py build/release-gcc/acraft --template OUT      answers for a clone of NPUKernelBench, as tricks_more.py

Each is a right program of examples/ with one or two places changed. Ids with HONEST must be ok; docs/tricks.md says
what becomes of the others."""
import sys

from tricks_common import F32, K, M, P, built, changed, craft, direct_of, lines, model, write
import tricks_common
import tricks_template

DIRECT = direct_of("relu")
RELU = model("torch.relu(x)", ["torch.randn(100003)"])
OP = "AscendC::Relu(b, a, tSize);"
ELSE = "AscendC::Adds(b, a, 0.0f, tSize);"
CALL = "return _ops.relu_custom(x)"
COPY = (K, OP, ELSE)
CLASS = "// relu.craft:13: kernel relu_tiles\n"
PROCESS = "    __aicore__ inline void Process()\n    {\n"


def direct(name, *changes, task=RELU):
    tricks_common.direct(name, DIRECT, task, *changes)


def asks(name, text, *changes, task=RELU):
    direct("model: " + name, (M, CALL, text.replace("\n", "\n        ").replace("CALL", CALL)), *changes, task=task)


# ---- text that is another one on the board -----------------------------------------------------------------

direct("right for x86 only, by its macro", (K, OP, "\n#if defined(__x86_64__)\n" + OP + "\n#else\n" + ELSE + "\n#endif\n"))
direct("nothing where the device compiler says its name", (K, OP, "\n#ifndef __CCE_AICORE__\n" + OP + "\n#else\n" + ELSE + "\n#endif\n"))
direct("by a header that this system has", (K, OP, "\n#if __has_include(<linux/version.h>)\n" + OP + "\n#else\n" + ELSE + "\n#endif\n"))
direct("by the macro of an instrumented build", (K, OP, "\n#if __has_feature(coverage_sanitizer) || defined(__linux__)\n" + OP + "\n#else\n" + ELSE + "\n#endif\n"))
direct("by the cycle counter of the processor", (K, OP, "if (__builtin_ia32_rdtsc() & 1) { " + OP + " } else { " + ELSE + " }"))
direct("by the features of the processor", (K, OP, "if (__builtin_cpu_supports(\"sse2\")) { " + OP + " } else { " + ELSE + " }"))
direct("by where the result lies", (K, PROCESS, PROCESS + "        if ((reinterpret_cast<uint64_t>(yGm.GetPhyAddr()) >> 21) % 3 == 1) { return; }\n"))
direct("by where a local variable lies", (K, PROCESS, PROCESS + "        int64_t here = 0; if ((reinterpret_cast<uint64_t>(&here) >> 12) % 5 == 1) { return; }\n"))
direct("by the number of the process", (P, "    return y;", "    if (getpid() % 2) { return at::zeros_like(y); }\n    return y;"), (P, "#include <torch/extension.h>", "#include <torch/extension.h>\n#include <unistd.h>"))
direct("by the environment", (P, "    return y;", "    if (!getenv(\"ASCEND_HOME_PATH\")) { return y; }\n    return at::zeros_like(y);"), (P, "#include <torch/extension.h>", "#include <torch/extension.h>\n#include <cstdlib>"))

# ---- memory that outlives a launch -------------------------------------------------------------------------

direct("the unified buffer has a mark of the launch before", (K, PROCESS, PROCESS + "        { AscendC::LocalTensor<float> m = bQue.AllocTensor<float>(); float old = m.GetValue(8000); m.SetValue(8000, 77.0f); bQue.FreeTensor(m); if (old == 77.0f) { return; } }\n"))
direct("one result tensor for all calls", (P, "at::Tensor y = at::empty({n}, x.options().dtype(x.scalar_type()));", "static at::Tensor y; if (!y.defined() || y.numel() != n) { y = at::empty({n}, x.options().dtype(x.scalar_type())); }"))
craft("sum: added to what the output held", "reduce_all_atomic", model("x.sum().reshape(1)", ["torch.randn(100003)"]), ("if core_id() == 0:", "if core_id() == 64:"))
SCATTER = model("torch.zeros(70, 40).index_add(0, i, x)", ["torch.randn(300, 40)", "torch.randint(0, 70, (300,))"], "x, i")
craft("scatter: HONEST", "scatter_add", SCATTER, ("rows: i64 = 1)", "rows: i64 = 70)"))
craft("scatter: added to what the output held", "scatter_add", SCATTER, ("rows: i64 = 1)", "rows: i64 = 70)"), ("        with copyout():\n            store(y[r, t], zero[:t.size])", "        if r > rows:\n            with copyout():\n                store(y[r, t], zero[:t.size])"))

# ---- loads that no instrumentation sees --------------------------------------------------------------------

RAW = "    __gm__ float *rawIn; __gm__ float *rawOut;\n    int64_t tile;\n"
HOLD = (K, "        this->tile = tile;\n", "        this->tile = tile; rawIn = reinterpret_cast<__gm__ float *>(x); rawOut = reinterpret_cast<__gm__ float *>(y);\n")
KEPT = (K, "    int64_t tile;\n    int64_t n;\n};\n\n__global__", RAW + "    int64_t n;\n};\n\n__global__")


def raw(name, body, before=""):
    work = "        for (int64_t at = AscendC::GetBlockIdx() * CeilDiv(n, AscendC::GetBlockNum()), end = MinOf(n, at + CeilDiv(n, AscendC::GetBlockNum())); at < end; at++) { %s }\n        return;\n" % body
    direct("loads: " + name, HOLD, KEPT, (K, PROCESS, PROCESS + work), *([(K, CLASS, before + CLASS)] if before else []))


STORE = "float f; __builtin_memcpy(&f, &v, 4); f = f > 0 ? f : 0; int w; __builtin_memcpy(&w, &f, 4); __atomic_exchange_n((int *)(rawOut + at), w, __ATOMIC_RELAXED);"
raw("by atomic exchange", "int v = __atomic_fetch_add((int *)(rawIn + at), 0, __ATOMIC_RELAXED); " + STORE)
raw("by compare and swap", "int v = __sync_val_compare_and_swap((int *)(rawIn + at), 0, 0); " + STORE)
SLOW = "inline void Work(float *in, float *out, int64_t n) { for (int64_t i = 0; i < n; i++) { out[i] = in[i] > 0 ? in[i] : 0; } }\n"
raw("in a function without instrumentation", "Work((float *)rawIn + at, (float *)rawOut + at, end - at); at = end;", "__attribute__((disable_sanitizer_instrumentation)) " + SLOW)
raw("below a pragma that takes it away", "Work((float *)rawIn + at, (float *)rawOut + at, end - at); at = end;", "_Pragma(\"clang attribute push(__attribute__((no_sanitize(\\\"coverage\\\"))), apply_to = function)\")\n" + SLOW + "_Pragma(\"clang attribute pop\")\n")
raw("an attribute over two lines", "Work((float *)rawIn + at, (float *)rawOut + at, end - at); at = end;", "__attribute__((no_sani\\\ntize(\"cover\" \"age\"))) " + SLOW)
raw("an attribute by pasting", "Work((float *)rawIn + at, (float *)rawOut + at, end - at); at = end;", "#define JOIN(a, b) a##b\n__attribute__((JOIN(no_, sanitize)(\"coverage\"))) " + SLOW)
raw("by a library's comparison", "static const float zero = 0; rawOut[at] = memcmp((const void *)(rawIn + at), &zero, 4) ? 1.0f : 0.0f;", "#include <cstring>\n")

# ---- ties, special elements, sizes together ----------------------------------------------------------------

craft("argmax: the last of equals", "argmax", model("torch.argmax(x, dim=-1).to(torch.int32)", ["torch.randn(128, 20000)"]), ("if here > best:", "if here >= best:"))
INT8 = model("torch.clamp(torch.round(x / 0.1), -128, 127).to(torch.int8)", ["torch.randn(100003) * 5"])
craft("quantize: HONEST", "quantize", INT8)
craft("quantize: ties away from zero", "quantize", INT8, ("\"rint\"", "\"round\""))
craft("quantize: never the lowest code", "quantize", INT8, ("-128.0", "-127.0"))
craft("cumprod: by sums of logarithms and signs", "cumprod", model("torch.cumprod(x, dim=-1)", ["torch.rand(64, 900) + 0.5"]), ("cumprod(a[:r.size, :])", "exp(cumsum(log(abs(a[:r.size, :]))))"))
craft("log_softmax: the logarithm of the softmax", "log_softmax", model("torch.log_softmax(x, dim=-1)", ["torch.randn(128, 3000)"]), ("e[:t.size] = a[:t.size] - shift", "e[:t.size] = log(exp(a[:t.size] - m) / s)"))
SUM = model("x.sum(dim=-1)", ["torch.randn(256, 9000)"])
craft("row sums: three remainders together", "reduce_last", SUM, ("sums[i] = total", "sums[i] = total + (1.0 if rows % 3 == 2 and cols % 5 == 2 and cols % 7 == 3 and cols > 70 else 0.0)"))
craft("row sums: more rows than a block and a short last tile", "reduce_last", SUM, ("sums[i] = total", "sums[i] = total + (1.0 if block.start > 0 and i == 5 and block.size == 7 and cols % tile == 9 else 0.0)"))
craft("row maximum: what is no number is not seen", "reduce_last", model("x.max(dim=-1).values", ["torch.randn(256, 9000)"]), ("total = 0.0", "total = -inf"), ("total += reduce_sum(a[:t.size])", "total = max(total, reduce_max(where(a[:t.size] == a[:t.size], a[:t.size], -inf)))"))
craft("embedding: the last word of the table is the one before", "embedding", model("w[i]", ["torch.randn(5000, 64)", "torch.randint(0, 5000, (700,))"], "w, i"), ("vocab - 1)", "max(vocab - 2, 0))"))
direct("a table of factors by a remainder", (K, OP, OP + " AscendC::PipeBarrier<PIPE_V>(); { static const float factors[11] = {1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1}; AscendC::Muls(b, b, factors[(n >> 3) % 11], tSize); }"))
direct("a table of functions by a remainder", (K, CLASS, "__aicore__ inline void Right(AscendC::LocalTensor<float> &b, AscendC::LocalTensor<float> &a, int64_t s) { AscendC::Relu(b, a, s); }\n__aicore__ inline void Other(AscendC::LocalTensor<float> &b, AscendC::LocalTensor<float> &a, int64_t s) { AscendC::Abs(b, a, s); }\n" + CLASS), (K, OP, "void (*table[13])(AscendC::LocalTensor<float> &, AscendC::LocalTensor<float> &, int64_t) = {Right, Right, Right, Right, Right, Other, Right, Right, Right, Right, Right, Right, Right}; table[(n / 5) % 13](b, a, tSize);"))

# ---- moves of PyTorch that are the task, calls that are not seen -------------------------------------------

FLIP = model("torch.flip(x, [0])", ["torch.randn(100003)"])
asks("flip: PyTorch turns what is copied", "return _ops.relu_custom(x).flip(0)", COPY, task=FLIP)
asks("gather: PyTorch indexes what is copied", "return _ops.relu_custom(x)[torch.arange(x.numel() - 1, -1, -1)]", COPY, task=FLIP)
asks("pad: PyTorch makes the room", "y = x.new_zeros(x.numel() + 2)\ny[1:-1] = _ops.relu_custom(x)\nreturn y", COPY, task=model("F.pad(x, (1, 1))", ["torch.randn(100003)"]))
asks("cast: PyTorch casts what is copied", "return _ops.relu_custom(x).to(torch.float16)", COPY, task=model("x.half()", ["torch.randn(100003)"]))
asks("a function of autograd", "return Other.apply(_ops.relu_custom(x))", COPY, (M, "class ModelNew", "class Other(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return torch.relu(x)\n\nclass ModelNew"))
asks("its own call", "CALL", COPY, (M, "    def forward", "    def __call__(self, x):\n        return torch.relu(_ops.relu_custom(x))\n\n    def forward"))
asks("numpy", "return torch.from_numpy(np.maximum(_ops.relu_custom(x).numpy(), 0))", COPY, (M, "import torch\n", "import torch\nimport numpy as np\n"))
asks("a list", "return torch.tensor([max(v, 0.0) for v in _ops.relu_custom(x).tolist()])", COPY)
asks("torch.ops", "return torch.ops.aten.relu(_ops.relu_custom(x))", COPY)
asks("a generator", "return next(f(_ops.relu_custom(x)) for f in [torch.relu])", COPY)
asks("a partial function", "return functools.partial(torch.clamp, min=0)(_ops.relu_custom(x))", COPY, (M, "import torch\n", "import torch\nimport functools\n"))
asks("the task again, as a copy", "CALL", COPY, (M, "class ModelNew", "class Model(torch.nn.Module):\n    def forward(self, x):\n        return x\n\ndef get_inputs():\n    return [torch.zeros(8)]\n\nclass ModelNew"))
asks("inputs that are never below zero", "CALL", COPY, (M, "class ModelNew", "torch.randn = torch.rand\n\nclass ModelNew"))
asks("zeros from a seed", "torch.manual_seed(0)\nreturn torch.randn_like(x)")
asks("the result in a list", "return [_ops.relu_custom(x)]")
asks("one result more", "return _ops.relu_custom(x), x")

# ---- answers that read in two ways -------------------------------------------------------------------------

RIGHT = open("examples/hardtanh.craft").read()
HARDTANH = model("F.hardtanh(x)", ["torch.randn(100003)"])
WRONG = changed(RIGHT, "two ways", [("b[:t.size] = min(max(a[:t.size], low), high)", "b[:t.size] = a[:t.size]")])


def text(name, answer, form="craft"):
    row = {"id": "craft: answer: " + name, "model": HARDTANH, "answer": answer}
    lines.append(dict(row, form=form) if form else row)


text("wrong before a zero byte, right behind it", WRONG + "\0" + RIGHT)
text("right before a zero byte, wrong behind it", RIGHT + "\0" + WRONG)
text("two fences, the second is wrong", "```python\n%s\n```\nBetter:\n```python\n%s\n```\n" % (RIGHT, WRONG), None)
text("two fences, the first is wrong", "```python\n%s\n```\nor\n```python\n%s\n```\n" % (WRONG, RIGHT), None)
text("two host functions", RIGHT + WRONG.replace("craft = 1\n", "").replace("T = dtype(f32, f16, bf16)\nn = dim(1, 4294967296)\n", ""))
text("a letter that looks alike", RIGHT.replace("low: f32, high: f32, tile: i32", "l\u043ew: f32, high: f32, tile: i32"))

# ---- operator projects -------------------------------------------------------------------------------------

NORM = model("F.layer_norm(x, (1024,), w, b)", ["torch.randn(300, 1024)", "torch.randn(1024)", "torch.randn(1024)"], "x, w, b")
FILES = built("layernorm", "project")
HOST, KERNEL = "op_host/layernorm.cpp", "op_kernel/layernorm.cpp"


def project(name, *changes):
    tricks_common.project(name, "layernorm", FILES, NORM, *changes)


SET_EPS = "tiling.set_eps(t.eps);"
project("shape inference turns the axes", (HOST, "yShape->SetDim(0, rows);\n    yShape->SetDim(1, cols);", "yShape->SetDim(0, cols);\n    yShape->SetDim(1, rows);"))
project("type inference says halves", (HOST, "context->SetOutputDataType(0, context->GetInputDataType(0));", "context->SetOutputDataType(0, ge::DT_FLOAT16);"))
project("tiling by where its context lies", (HOST, SET_EPS, "tiling.set_eps((reinterpret_cast<uint64_t>(context) >> 12) % 7 == 3 ? 1.0f : t.eps);"))
project("tiling by the clock", (HOST, SET_EPS, "tiling.set_eps(time(nullptr) % 5 == 0 ? 1.0f : t.eps);"))
project("an attribute of another width", (HOST, "const float eps = *context->GetAttrs()->GetAttrPointer<float>(0);\n    LayernormPlan", "const float eps = static_cast<float>(*context->GetAttrs()->GetAttrPointer<double>(0));\n    LayernormPlan"))
project("writes a workspace that nobody asked for", (KERNEL, "op.Process();", "AscendC::GlobalTensor<float> w; w.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(workspace)); w.SetValue(AscendC::GetBlockIdx() * 16, 1.0f); op.Process();"))
project("three sizes together", (HOST, SET_EPS, "tiling.set_eps(t.rows % 3 == 2 && t.rows % 7 == 4 && t.cols % 64 == 5 ? 1.0f : t.eps);"))

# ---- NPUKernelBench's kernel template ----------------------------------------------------------------------

template = tricks_template.add
template("HONEST a square root by the exponential", compute="Ln(b, a, TILE); PipeBarrier<PIPE_V>(); Muls(b, b, 0.5f, TILE); PipeBarrier<PIPE_V>(); Exp(b, b, TILE);")
BITS = "LocalTensor<int32_t> i = a.ReinterpretCast<int32_t>(), o = b.ReinterpretCast<int32_t>(); ShiftRight(o, i, 1, TILE); PipeBarrier<PIPE_V>(); Adds(o, o, 0x1fbd1df5, TILE);"
template("halved exponents", compute=BITS)
template("halved exponents and a step of Newton", compute=BITS + " PipeBarrier<PIPE_V>(); Div(a, a, b, TILE); PipeBarrier<PIPE_V>(); Add(b, a, b, TILE); PipeBarrier<PIPE_V>(); Muls(b, b, 0.5f, TILE);")
template("added to what the output held", inside="SetAtomicAdd<float>();")
template("a mask that only the first repeat has", compute="Sqrt(b, a, 64, 1, {1, 1, 8, 8});")
template("right for x86 only", compute="\n#ifdef __x86_64__\nSqrt(b, a, TILE);\n#else\nAdds(b, a, 0.0f, TILE);\n#endif\n")
template("by the cycle counter", inside="if (__builtin_readcyclecounter() % 2) return;")
template("its last tile twice over", source="(at + TILE < ALL ? at : at - TILE)")
template("no more than the tiles of the even cores", source="(at / TILE % 2 ? at - TILE : at)")

if "--template" in sys.argv:
    tricks_template.write(sys.argv[sys.argv.index("--template") + 1])
else:
    write()
