#!/usr/bin/env python3
"""Tricks by what a task is made of: dtypes, attributes, several results, updates in place, views, ranks, what a model can ask
its input and itself.

    tools/tricks_views.py build/release-gcc/acraft > views.jsonl
    build/release-gcc/acraft judge --time --brief --timeout 180 < views.jsonl

Each is a right program of examples/ with one or two places changed. Ids with HONEST must be ok; docs/tricks.md says
what becomes of the others."""
from tricks_common import F32, M, P, craft, direct_of, model, write
import tricks_common

# ---- dtypes ------------------------------------------------------------------------------------------------

INTS = model("x + y", ["torch.randint(-2000000000, 2000000000, (100003,), dtype=torch.int32)"] * 2, "x, y")
SUM = "c[:t.size] = a[:t.size] + b[:t.size]"
TILES = ("[4096, 8192]", "[2048, 1024]")
I32 = ("T = dtype(f32, f16, bf16, i32)", "T = dtype(i32)")
craft("HONEST add of int32", "add", INTS, I32)
craft("add of int32: through floats", "add", INTS, I32, TILES, (SUM, "c[:t.size] = cast(cast(a[:t.size], f32) + cast(b[:t.size], f32), i32)"))
HALVES = model("F.layer_norm(x, (512,), w, b)", ["torch.randn(256, 512).half()", "torch.randn(512).half()", "torch.randn(512).half()"], "x, w, b")
craft("HONEST layernorm of halves", "layernorm", HALVES)
craft("layernorm of halves: squares are halves", "layernorm", HALVES, ("reduce_sum(f * f)", "reduce_sum(cast(cast(f * f, f16), f32))"))
craft("layernorm of halves: the mean is a half of few digits", "layernorm", HALVES, ("f = f - mean\n", "f = f - f32(i64(mean * 256.0)) / 256.0\n"))
BRAIN = model("x * y", ["torch.randn(100003).bfloat16()", "torch.randn(100003).bfloat16()"], "x, y")
MUL = ("T = dtype(f32, f16, bf16, i32)", "T = dtype(bf16)")
craft("HONEST product of bf16", "add", BRAIN, MUL, (SUM, "c[:t.size] = a[:t.size] * b[:t.size]"))
craft("product of bf16: rounded toward zero", "add", BRAIN, MUL, TILES, (SUM, 'c[:t.size] = cast(cast(a[:t.size], f32) * cast(b[:t.size], f32), bf16, "trunc")'))
craft("product of bf16: twice rounded, by halves", "add", BRAIN, MUL, TILES, (SUM, "c[:t.size] = cast(cast(cast(cast(a[:t.size], f32) * cast(b[:t.size], f32), f16), f32), bf16)"))

# ---- updates in place, attributes --------------------------------------------------------------------------

STEP = (tricks_common.HEAD + "class Model(nn.Module):\n    def __init__(self, lr, momentum):\n        super().__init__()\n        self.lr, self.momentum = lr, momentum\n"
        "    def forward(self, p, v, g):\n        v = self.momentum * v + g\n        return p - self.lr * v, v\n"
        "def get_inputs():\n    return [torch.randn(100003), torch.randn(100003), torch.randn(100003)]\ndef get_init_inputs():\n    return [0.01, 0.9]\n")
OUTS = (("p: inout[f32, n], v: inout[f32, n], g: gm[f32, n], lr", "p: gm[f32, n], v: gm[f32, n], g: gm[f32, n], q: out[f32, n], w: out[f32, n], lr"),
        ("(p: inout[f32, n], v: inout[f32, n], g: gm[f32, n], lr", "(p: gm[f32, n], v: gm[f32, n], g: gm[f32, n], q: out[f32, n], w: out[f32, n], lr"),
        ("(p, v, g, lr", "(p, v, g, q, w, lr"), ("store(p[t]", "store(q[t]"), ("store(v[t]", "store(w[t]"))
OUTS = OUTS[:1] + OUTS[2:]
NEW_V, NEW_P = "b[:t.size] = b[:t.size] * momentum + c[:t.size]", "a[:t.size] = a[:t.size] - b[:t.size] * lr"
craft("HONEST a step of sgd", "sgd", STEP, *OUTS)
craft("sgd: results in the other order", "sgd", STEP, *OUTS, ("q: out[f32, n], w: out[f32, n], lr", "w: out[f32, n], q: out[f32, n], lr"), ("(p, v, g, q, w, lr", "(p, v, g, w, q, lr"))
craft("sgd: the step of before", "sgd", STEP, *OUTS, (NEW_V + "\n            " + NEW_P, NEW_P + "\n            " + NEW_V))
craft("sgd: no gradient, no momentum", "sgd", STEP, *OUTS, (NEW_V, "b[:t.size] = where(c[:t.size] == 0.0, b[:t.size], b[:t.size] * momentum + c[:t.size])"))
craft("sgd: the velocity is what it was", "sgd", STEP, *OUTS, ("store(w[t], b[:t.size])", "store(w[t], c[:t.size])"))
craft("sgd: another momentum", "sgd", STEP, *OUTS, (NEW_V, "b[:t.size] = b[:t.size] * 0.9001 + c[:t.size]"))

# ---- several results, views, ranks -------------------------------------------------------------------------

TURN = model("x.transpose(0, 1).contiguous()", ["torch.randn(777, 555)"])
craft("HONEST a transpose", "transpose2d", TURN, ("T = dtype(f32, f16)", "T = dtype(f32)"))
craft("transpose: whole blocks only, others as they lie", "transpose2d", TURN, ("T = dtype(f32, f16)", "T = dtype(f32)"), ("b[:c.size, :r.size] = transpose(a[:r.size, :c.size])", "b[:c.size, :r.size] = transpose(a[:r.size, :c.size])\n            if r.size == 1 and c.size > 40:\n                b[:c.size, :r.size] = b[:c.size, :r.size] * 1.0001"))
GATE = model("F.silu(x[:, 0]) * x[:, 1]", ["torch.randn(231, 2, 1024)"])
craft("HONEST a gate", "swiglu", GATE)
craft("gate: the halves the other way round", "swiglu", GATE, ("load(a[:r.size, :t.size], x[r, 0, t])", "load(a[:r.size, :t.size], x[r, 1, t])"), ("load(b[:r.size, :t.size], x[r, 1, t])", "load(b[:r.size, :t.size], x[r, 0, t])"))
COLUMNS = model("x + b", ["torch.randn(512, 512)", "torch.randn(512)"], "x, b")
ROWS = model("x + b[:, None]", ["torch.randn(512, 512)", "torch.randn(512)"], "x, b")
craft("HONEST a bias", "bias_add", COLUMNS)
craft("bias of columns for rows", "bias_add", ROWS)
craft("bias: not for the first row", "bias_add", COLUMNS, ("a[:t.size] = a[:t.size] + b[:t.size]", "a[:t.size] = a[:t.size] + b[:t.size] * (0.0 if r == 0 else 1.0)"))

# ---- what a model can ask ----------------------------------------------------------------------------------

DIRECT = direct_of("relu")
RELU = model("torch.relu(x)", ["torch.randn(33301)"])
CALL = "return _ops.relu_custom(x)"


def asks(name, text):
    tricks_common.direct("model: " + name, DIRECT, RELU, (M, CALL, text.replace("\n", "\n        ").replace("CALL", CALL)))


asks("HONEST gives views on", "return _ops.relu_custom(x.reshape(-1)).reshape(x.shape)")
asks("another result in training", "if self.training:\n    return x\nCALL")
asks("another result where no gradient is wanted", "if not x.requires_grad:\n    return x\nCALL")
asks("another result off the device", "if x.device.type == 'cpu':\n    return x.clamp(min=0)\nCALL")
asks("HONEST another result for rank three", "if x.dim() == 3:\n    return x\nCALL")
asks("HONEST another way for another dtype", "if x.dtype == torch.float16:\n    return x\nCALL")
asks("the first rows only where there are many", "if len(x) > 60:\n    return torch.cat([_ops.relu_custom(x[:60]), x[60:]])\nCALL")
asks("by an attribute of its own", "self.calls = getattr(self, 'calls', 0) + 1\nif self.calls > 1:\n    return x\nCALL")
asks("by an attribute of its own, late", "self.calls = getattr(self, 'calls', 0) + 1\nif self.calls > 1000:\n    return x\nCALL")
asks("HONEST counts its calls", "self.calls = getattr(self, 'calls', 0) + 1\nCALL")
asks("HONEST keeps its size", "if getattr(self, 'size', None) != x.numel():\n    self.size = x.numel()\nCALL")
asks("by a dictionary of sizes", "return {(7711,): lambda t: t}.get(tuple(x.shape), _ops.relu_custom)(x)")
asks("by the product of its sizes", "if x.numel() == 8 * 1009:\n    return x\nCALL")
asks("by a list of sizes", "if [s for s in x.shape if s == 2111]:\n    return x\nCALL")
asks("through a turn that is not undone", "return _ops.relu_custom(x.flip(0).contiguous())")

write()
