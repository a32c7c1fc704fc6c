"""Operator cases with values from PyTorch, for tests/graph/golden (see tools/golden.py).

Each case is one operator of src/graph/op.def: its attributes, its inputs, and what PyTorch gives.
f32 inputs go to PyTorch as float64, so that the expected value is the mathematical one; half types
are run as they are.  A case in the file:

    case NAME
    op reduce.sum dims=0,1 keepdim=true
    in f32 2,3 1 2 3 4 5 6          one line per input; `none` for an absent one, `weak f64 0.5`
    out f32 1,1 21                  one line per output
    fails                           instead of out: the operator must be refused
"""
import itertools
import math

import torch
import torch.nn.functional as F

import golden_edge

NAN, INF = float("nan"), float("inf")
NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64",
         torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
         torch.uint8: "u8", torch.bool: "bool", torch.complex64: "c64"}


class Weak:
    """A Python number as an input."""

    def __init__(self, value):
        self.value = value


class Cases:
    def __init__(self):
        self.groups = {}
        self.group = None
        self.generator = torch.Generator().manual_seed(7)

    def begin(self, group):
        self.group = self.groups.setdefault(group, [])

    def randn(self, *shape, scale=1.0):
        """Normal numbers with few digits, so that the files stay small."""
        x = torch.randn(*shape, generator=self.generator) * scale
        return (x * 64).round() / 64

    def rand(self, *shape):
        return (torch.rand(*shape, generator=self.generator) * 62 + 1).round() / 64

    def ints(self, low, high, *shape, dtype=torch.int64):
        return torch.randint(low, high, shape, generator=self.generator).to(dtype)

    def add(self, name, op, inputs, function, **attrs):
        """`function` gets the inputs (f32 as float64) and returns a tensor or several."""
        lines = ["case " + name, "op " + op + "".join(f" {k}={text(v)}" for k, v in attrs.items())]
        lines += [input_line(x) for x in inputs]
        try:
            got = function(*[widen(x) for x in inputs])
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            raise SystemExit(f"{name}: {error}")
        got = list(got) if isinstance(got, (tuple, list)) else [got]
        wide = [x for x in inputs if isinstance(x, torch.Tensor) and x.dtype == torch.float64]
        for g in got:
            dtype = torch.float32 if g.dtype == torch.float64 and not wide else g.dtype
            if dtype == torch.complex128:
                dtype = torch.complex64
            lines.append("out " + tensor_text(g, dtype))
        self.group.append(lines)

    def fails(self, name, op, inputs, **attrs):
        lines = ["case " + name, "op " + op + "".join(f" {k}={text(v)}" for k, v in attrs.items())]
        self.group.append(lines + [input_line(x) for x in inputs] + ["fails"])


def widen(x):
    if isinstance(x, Weak):
        return x.value
    if isinstance(x, torch.Tensor) and x.dtype == torch.float32:
        return x.double()
    if isinstance(x, torch.Tensor) and x.dtype == torch.complex64:
        return x.to(torch.complex128)
    return x


def text(v):
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, (list, tuple)):
        return ",".join(str(i) for i in v) if v else "-"
    return str(v)


def number(v):
    if isinstance(v, bool):
        return "1" if v else "0"
    if isinstance(v, int):
        return str(v)
    if v != v:
        return "nan"
    if v in (INF, -INF):
        return "inf" if v > 0 else "-inf"
    return "%.10g" % v


def tensor_text(t, dtype):
    shape = ",".join(map(str, t.shape)) or "-"
    flat = torch.view_as_real(t).reshape(-1) if t.is_complex() else t.reshape(-1)
    return " ".join([NAMES[dtype], shape] + [number(v) for v in flat.tolist()])


def input_line(x):
    if x is None:
        return "in none"
    if isinstance(x, Weak):
        kind = "bool" if isinstance(x.value, bool) else "i64" if isinstance(x.value, int) else "f64"
        return f"in weak {kind} {number(x.value)}"
    return "in " + tensor_text(x, x.dtype)


SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 20.5, -20.5, 1e-3, 100.0, -100.0]


def unary(c):
    c.begin("unary")
    s = torch.tensor(SPECIAL)
    x = c.randn(3, 5)
    nn = torch.nn
    plain = "neg abs sign square exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos " \
            "atan sinh cosh tanh asinh acosh atanh erf erfc erfinv lgamma digamma floor ceil trunc round frac " \
            "sigmoid relu selu logical_not isnan isinf isfinite signbit".split()
    for k in plain:
        f = getattr(torch, k, None) or getattr(torch.special, k)
        finite = k in ("sin", "cos", "tan", "lgamma", "digamma")
        v = torch.tensor([i for i in SPECIAL if math.isfinite(i)]) if finite else s
        c.add(f"{k} special", f"unary.{k}", [v], f)
        c.add(f"{k} normal", f"unary.{k}", [x], f)
    more = {"log_sigmoid": (F.logsigmoid, {}), "leaky_relu": (lambda t: F.leaky_relu(t, 0.2), {"a": 0.2}),
            "elu": (lambda t: F.elu(t, 1.5), {"a": 1.5}), "celu": (lambda t: F.celu(t, 2.0), {"a": 2.0}),
            "gelu": (F.gelu, {}), "silu": (F.silu, {}), "mish": (F.mish, {}), "softsign": (F.softsign, {}),
            "softplus": (lambda t: F.softplus(t, 2.0, 5.0), {"a": 2.0, "b": 5.0}), "tanhshrink": (F.tanhshrink, {}),
            "hardsigmoid": (F.hardsigmoid, {}), "hardswish": (F.hardswish, {}),
            "hardshrink": (lambda t: F.hardshrink(t, 0.7), {"a": 0.7}),
            "softshrink": (lambda t: F.softshrink(t, 0.7), {"a": 0.7}),
            "threshold": (lambda t: F.threshold(t, 0.1, 20.0), {"a": 0.1, "b": 20.0})}
    for k, (f, attrs) in more.items():
        for name, v in (("special", s), ("normal", x)):
            c.add(f"{k} {name}", f"unary.{k}", [v], f, **attrs)
    c.add("gelu tanh", "unary.gelu", [s], lambda t: F.gelu(t, approximate="tanh"), approximate="tanh")
    c.add("nan_to_num", "unary.nan_to_num", [torch.tensor([NAN, INF, -INF, 2.0])],
          lambda t: torch.nan_to_num(t, 0.5, 7.0, -8.0), a=0.5, b=7.0, c=-8.0)
    c.add("round digits", "unary.round", [torch.tensor([0.125, 2.345, -7.5])],
          lambda t: torch.round(t, decimals=2), a=2)
    c.add("round halves", "unary.round", [torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5])], torch.round)
    try:
        import scipy.special  # noqa: F401  not required
    except ImportError:
        pass
    c.add("spence", "unary.spence", [torch.tensor([0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 7.0, -1.0])], spence)
    for k in "neg abs sign square floor logical_not bitwise_not".split():
        for d in (torch.int8, torch.int32, torch.int64, torch.uint8):
            if k == "neg" and d == torch.uint8:
                continue
            v = torch.tensor([0, 1, 5, 100, 127] if d == torch.uint8 else [0, 1, -5, 100, -128], dtype=d)
            c.add(f"{k} {NAMES[d]}", f"unary.{k}", [v], getattr(torch, k))
    c.add("bitwise_not bool", "unary.bitwise_not", [torch.tensor([True, False])], torch.bitwise_not)
    c.add("sqrt of integers", "unary.sqrt", [torch.tensor([0, 4, 9])], lambda t: torch.sqrt(t.double()))
    for d in (torch.float16, torch.bfloat16):
        for k in "exp tanh sigmoid sqrt relu neg log1p".split():
            c.add(f"{k} {NAMES[d]}", f"unary.{k}", [c.rand(9).to(d)], getattr(torch, k))
        c.add(f"silu {NAMES[d]}", "unary.silu", [x.to(d)], F.silu)
    c.add("empty", "unary.exp", [torch.zeros(0, 3)], torch.exp)
    c.add("rank 0", "unary.exp", [torch.tensor(1.0)], torch.exp)
    z = torch.complex(c.randn(4), c.randn(4))
    for k in "neg square exp sqrt conj reciprocal".split():
        c.add(f"{k} complex", f"unary.{k}", [z], lambda t, k=k: torch.resolve_conj(getattr(torch, k)(t)))
    for k in "abs real imag".split():
        c.add(f"{k} complex", f"unary.{k}", [z], lambda t, k=k: getattr(torch, k)(t).contiguous())


def spence(x):
    """By integration, to 1e-12: minus the integral from 1 to x of log(t)/(t-1)."""
    out = []
    for v in x.tolist():
        if v < 0:
            out.append(NAN)
            continue
        n = 20000
        # t = 1 + (v-1) u^... ; substitution keeps the integrand smooth at t = 0
        a, b, total = 0.0, 1.0, 0.0
        for i in range(n + 1):
            u = a + (b - a) * i / n
            t = 1 + (v - 1) * (1 - (1 - u) ** 4)
            dt = (v - 1) * 4 * (1 - u) ** 3
            f = 1.0 if abs(t - 1) < 1e-12 else (math.log(t) / (t - 1) if t > 0 else 0.0)
            total += (1 if i in (0, n) else 4 if i % 2 else 2) * f * dt
        out.append(-total / (3 * n))
    return torch.tensor(out, dtype=torch.float64)


def binary(c):
    c.begin("binary")
    s = [NAN, INF, -INF, 0.0, 1.0, -1.0, 2.5, -2.5]
    pairs = list(itertools.product(s, s))
    a, b = torch.tensor([p[0] for p in pairs]), torch.tensor([p[1] for p in pairs])
    fs = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div,
          "floor_div": torch.floor_divide, "trunc_div": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
          "remainder": torch.remainder, "fmod": torch.fmod, "pow": torch.pow, "atan2": torch.atan2,
          "hypot": torch.hypot, "maximum": torch.maximum, "minimum": torch.minimum, "fmax": torch.fmax,
          "fmin": torch.fmin, "logaddexp": torch.logaddexp, "logaddexp2": torch.logaddexp2,
          "xlogy": torch.xlogy, "copysign": torch.copysign, "eq": torch.eq, "ne": torch.ne, "lt": torch.lt,
          "le": torch.le, "gt": torch.gt, "ge": torch.ge, "logical_and": torch.logical_and,
          "logical_or": torch.logical_or, "logical_xor": torch.logical_xor}
    finite = [p for p in pairs if all(map(math.isfinite, p))]
    fa, fb = torch.tensor([p[0] for p in finite]), torch.tensor([p[1] for p in finite])
    for k, f in fs.items():
        hard = k in ("remainder", "fmod", "floor_div")  # infinities differ between vector and scalar code
        c.add(f"{k} special", f"binary.{k}", [fa, fb] if hard else [a, b], f)
        x, y = c.randn(2, 1, 4), c.randn(3, 1)
        c.add(f"{k} broadcast both ways", f"binary.{k}", [x, y], f)
    c.add("add alpha", "binary.add", [c.randn(5), c.randn(5)], lambda x, y: torch.add(x, y, alpha=2.5), alpha=2.5)
    c.add("sub alpha", "binary.sub", [c.randn(5), c.randn(5)], lambda x, y: torch.sub(x, y, alpha=-3.0), alpha=-3.0)
    c.add("isclose", "binary.isclose", [torch.tensor([1.0, 1.0, INF, NAN]), torch.tensor([1.001, 1.1, INF, NAN])],
          lambda x, y: torch.isclose(x, y, rtol=0.01, atol=0.0), a=0.01, b=0.0)
    ints = [7, -7, 0, 3, -3, 100, -128]
    ip = [p for p in itertools.product(ints, ints) if p[1] != 0]
    for d in (torch.int8, torch.int32, torch.int64):
        ia, ib = torch.tensor([p[0] for p in ip], dtype=d), torch.tensor([p[1] for p in ip], dtype=d)
        for k in "add sub mul floor_div trunc_div remainder fmod maximum minimum bitwise_and bitwise_or " \
                 "bitwise_xor eq lt".split():
            f = fs.get(k) or getattr(torch, k)
            if d == torch.int8 and k in ("floor_div", "trunc_div", "remainder", "fmod"):
                keep = [i for i, p in enumerate(ip) if p != (-128, -1)]
                c.add(f"{k} i8", f"binary.{k}", [ia[keep], ib[keep]], f)
                continue
            c.add(f"{k} {NAMES[d]}", f"binary.{k}", [ia, ib], f)
    c.add("pow i64", "binary.pow", [torch.tensor([2, -3, 5, 0, 7]), torch.tensor([10, 3, 0, 4, 2])], torch.pow)
    c.add("div integers", "binary.div", [torch.tensor([7, -7, 1]), torch.tensor([2, 2, 0])], lambda x, y: x.double() / y)
    c.add("shift left", "binary.shift_left", [torch.tensor([1, 3, -1]), torch.tensor([4, 0, 2])], torch.bitwise_left_shift)
    c.add("shift right", "binary.shift_right", [torch.tensor([16, 3, -8]), torch.tensor([4, 0, 2])], torch.bitwise_right_shift)
    bb = [torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])]
    for k in "add mul bitwise_and bitwise_or bitwise_xor logical_and eq".split():
        c.add(f"{k} bool", f"binary.{k}", bb, fs.get(k) or getattr(torch, k))
    x = c.randn(6)
    c.add("weak float", "binary.mul", [x, Weak(0.1)], torch.mul)
    c.add("weak float first", "binary.sub", [Weak(1.0), x], lambda p, q: p - q)
    c.add("weak int", "binary.add", [x, Weak(2)], torch.add)
    c.add("weak int with i32", "binary.mul", [torch.tensor([1, 2], dtype=torch.int32), Weak(3)], torch.mul)
    c.add("weak float with i64", "binary.mul", [torch.tensor([1, 2]), Weak(0.5)], lambda p, q: p.double() * q)
    c.add("compare i64 with weak float", "binary.gt", [torch.tensor([1, 2]), Weak(1.5)], torch.gt)
    c.add("i32 with f32", "binary.add", [torch.tensor([1, 2], dtype=torch.int32), torch.tensor([0.5, 1.5])], torch.add)
    c.add("bool with f32", "binary.mul", [torch.tensor([True, False]), torch.tensor([0.5, 1.5])], torch.mul)
    c.add("u8 with i8", "binary.add", [torch.tensor([200], dtype=torch.uint8), torch.tensor([-1], dtype=torch.int8)], torch.add)
    for d in (torch.float16, torch.bfloat16):
        p, q = c.randn(8).to(d), c.randn(8).to(d)
        for k in "add sub mul div pow maximum atan2".split():
            base = p.abs() if k == "pow" else p
            c.add(f"{k} {NAMES[d]}", f"binary.{k}", [base, q], fs[k])
        c.add(f"weak with {NAMES[d]}", "binary.mul", [p, Weak(0.1)], torch.mul)
    y, g = c.randn(9, scale=3), c.randn(9)
    c.add("relu_grad", "binary.relu_grad", [g, y], lambda u, v: torch.where(v > 0, u, torch.zeros_like(u)))
    c.add("hardsigmoid_grad", "binary.hardsigmoid_grad", [g, y],
          lambda u, v: torch.ops.aten.hardsigmoid_backward(u, v))
    c.add("mish_grad", "binary.mish_grad", [g, y], lambda u, v: torch.ops.aten.mish_backward(u, v))
    z, w = torch.complex(c.randn(3), c.randn(3)), torch.complex(c.randn(3), c.randn(3))
    z[1] = 0
    for k in "add sub mul div eq logical_and logical_or logical_xor".split():
        c.add(f"{k} complex", f"binary.{k}", [z, w], fs[k])
    c.add("complex", "binary.complex", [c.randn(3), c.randn(3)], torch.complex)
    c.add("empty", "binary.add", [torch.zeros(0, 3), torch.zeros(1, 3)], torch.add)
    c.fails("shapes", "binary.add", [torch.zeros(2), torch.zeros(3)])


def three(c):
    c.begin("three")
    x = torch.tensor(SPECIAL)
    for low, high in ((-1.0, 2.0), (None, 0.5), (-0.5, None), (2.0, 1.0)):
        c.add(f"clamp {low} {high}", "clamp", [x, None if low is None else Weak(low), None if high is None else Weak(high)],
              lambda t, p, q: torch.clamp(t, p, q))
    c.add("clamp tensors", "clamp", [c.randn(2, 3), c.randn(3), c.randn(2, 1) + 1], torch.clamp)
    c.add("clamp i32", "clamp", [torch.tensor([1, 5, 9], dtype=torch.int32), Weak(2), Weak(7)], torch.clamp)
    cond = torch.tensor([[True], [False]])
    c.add("where broadcast", "where", [cond, c.randn(2, 3), c.randn(3)], torch.where)
    c.add("where weak", "where", [cond, c.randn(2, 3), Weak(0.0)], lambda p, q, r: torch.where(p, q, r))
    c.add("where promotes", "where", [cond, torch.tensor([1, 2]), c.randn(2, 1)], torch.where)
    c.add("where nan", "where", [torch.tensor([True, False]), torch.tensor([NAN, NAN]), torch.tensor([1.0, 2.0])], torch.where)
    p, q, r = c.randn(2, 3), c.randn(2, 3), c.rand(2, 3)
    c.add("lerp", "lerp", [p, q, r], torch.lerp)
    c.add("lerp number", "lerp", [p, q, Weak(0.75)], torch.lerp)
    c.add("addcmul", "addcmul", [p, q, r], lambda u, v, w: torch.addcmul(u, v, w, value=0.5), value=0.5)
    c.add("addcdiv", "addcdiv", [p, q, r], lambda u, v, w: torch.addcdiv(u, v, w, value=-2.0), value=-2.0)
    for a, b in itertools.product((torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8,
                                   torch.bool), repeat=2):
        v = torch.tensor([0, 1, 2, 7]).to(a) if not a.is_floating_point else torch.tensor([0.0, 0.5, 1.75, 100.25]).to(a)
        c.add(f"cast {NAMES[a]} {NAMES[b]}", "cast", [v],
              lambda t, b=b: t.to(torch.float64 if b == torch.float32 else b), dtype=NAMES[b])
    c.add("cast negative to i32", "cast", [torch.tensor([-1.75, 1.75, -0.5])], lambda t: t.int(), dtype="i32")
    c.add("cast i64 to i8 wraps", "cast", [torch.tensor([300, -129])], lambda t: t.to(torch.int8), dtype="i8")
    c.add("dropout", "dropout", [p], lambda t: t, p=0.5, training=True)


def shape(c):
    c.begin("shape")
    x = c.randn(2, 3, 4)
    c.add("reshape", "reshape", [x], lambda t: t.reshape(4, 6), shape=[4, -1])
    c.add("reshape empty", "reshape", [torch.zeros(0, 3)], lambda t: t.reshape(3, 0), shape=[3, 0])
    c.add("reshape to rank 0", "reshape", [torch.ones(1, 1)], lambda t: t.reshape(()), shape=[])
    c.fails("reshape count", "reshape", [x], shape=[5, 5])
    c.add("permute", "permute", [x], lambda t: t.permute(2, 0, 1), dims=[2, 0, 1])
    c.add("permute i8", "permute", [c.ints(-9, 9, 2, 3, dtype=torch.int8)], lambda t: t.t(), dims=[1, 0])
    c.add("expand", "expand", [c.randn(3, 1)], lambda t: t.expand(2, 3, 4), shape=[2, -1, 4])
    c.add("slice", "slice", [x], lambda t: t[:, :, 1:4:2], dim=2, start=1, end=4, step=2)
    c.add("slice empty", "slice", [x], lambda t: t[:, 2:2], dim=1, start=2, end=2, step=1)
    c.add("slice_scatter", "slice_scatter", [x, c.randn(2, 2, 4)], lambda t, s: t.slice_scatter(s, 1, 0, 3, 2),
          dim=1, start=0, end=3, step=2)
    c.add("cat", "cat", [c.randn(2, 1), c.randn(2, 3), c.randn(2, 2)], lambda *t: torch.cat(t, -1), dim=1)
    c.add("cat dtypes", "cat", [torch.tensor([1, 2]), torch.tensor([0.5])], lambda *t: torch.cat(t), dim=0)
    c.add("cat legacy empty", "cat", [torch.zeros(0), c.randn(2, 3)], lambda *t: torch.cat(t, 0), dim=0)
    c.add("cat empty dim", "cat", [torch.zeros(2, 0), c.randn(2, 3)], lambda *t: torch.cat(t, 1), dim=1)
    c.add("flip", "flip", [x], lambda t: t.flip(0, 2), dims=[0, 2])
    c.add("roll", "roll", [x], lambda t: t.roll((1, -2), (0, 2)), shape=[1, -2], dims=[0, 2])
    c.add("roll flat", "roll", [x], lambda t: t.roll(5), shape=[5])
    c.add("repeat", "repeat", [c.randn(2, 3)], lambda t: t.repeat(2, 1, 2), shape=[2, 1, 2])
    c.add("repeat_interleave", "repeat_interleave", [c.randn(2, 3)], lambda t: t.repeat_interleave(2, 1), dim=1, shape=[2])
    c.add("repeat_interleave each", "repeat_interleave", [c.randn(2, 3)],
          lambda t: t.repeat_interleave(torch.tensor([1, 0, 2]), 1), dim=1, shape=[1, 0, 2])
    p = c.randn(1, 2, 4, 5)
    for mode in ("reflect", "replicate", "circular"):
        c.add(f"pad {mode}", "pad", [p], lambda t, m=mode: F.pad(t, (2, 1, 3, 0) if m != "reflect" else (2, 1, 3, 0), mode=m),
              pads=[2, 1, 3, 0], mode=mode)
    c.add("pad constant", "pad", [p], lambda t: F.pad(t, (1, 2, 0, 3), value=1.5), pads=[1, 2, 0, 3], mode="constant", value=1.5)
    c.add("pad negative", "pad", [p], lambda t: F.pad(t, (-1, 2, 1, -2)), pads=[-1, 2, 1, -2], mode="constant")
    c.add("pad reflect 1d", "pad", [c.randn(1, 2, 5)], lambda t: F.pad(t, (4, 3), mode="reflect"), pads=[4, 3], mode="reflect")
    c.add("pad replicate 3d", "pad", [c.randn(1, 1, 2, 2, 2)], lambda t: F.pad(t, (1, 0, 2, 1, 0, 1), mode="replicate"),
          pads=[1, 0, 2, 1, 0, 1], mode="replicate")
    c.add("unfold dim", "unfold", [c.randn(2, 7)], lambda t: t.unfold(1, 3, 2), dim=1, size=3, step=2)
    c.add("im2col", "im2col", [c.randn(1, 2, 5, 4)], lambda t: F.unfold(t, (3, 2), (1, 2), (1, 0), (2, 1)),
          kernel=[3, 2], stride=[2, 1], padding=[1, 0], dilation=[1, 2])
    c.add("col2im", "col2im", [c.randn(1, 8, 6)], lambda t: F.fold(t, (4, 3), (2, 2)), shape=[4, 3], kernel=[2, 2],
          stride=[1, 1], padding=[0, 0], dilation=[1, 1])
    c.add("col2im strided", "col2im", [c.randn(2, 4, 9)], lambda t: F.fold(t, (4, 5), (2, 2), 1, 1, 2), shape=[4, 5],
          kernel=[2, 2], stride=[2, 2], padding=[1, 1], dilation=[1, 1])
    m = c.randn(2, 3, 4)
    for d in (-1, 0, 2):
        c.add(f"tril {d}", "tri", [m], lambda t, d=d: torch.tril(t, d), diagonal=d)
        c.add(f"triu {d}", "tri", [m], lambda t, d=d: torch.triu(t, d), upper=True, diagonal=d)
        c.add(f"diag {d}", "diag", [c.randn(3)], lambda t, d=d: torch.diag(t, d), diagonal=d)
        c.add(f"diagonal {d}", "diagonal", [m], lambda t, d=d: t.diagonal(d, 1, 2), diagonal=d, dims=[1, 2])
    c.add("diagonal other dims", "diagonal", [m], lambda t: t.diagonal(0, 2, 0), dims=[2, 0])


def reduce(c):
    c.begin("reduce")
    x = c.randn(2, 3, 4)
    n = x.clone()
    n[0, 1, 2] = NAN
    i = x.clone()
    i[1, 0, 3] = INF
    fs = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin, "logsumexp": torch.logsumexp,
          "var": torch.var, "std": torch.std, "any": torch.any, "all": torch.all, "count_nonzero": torch.count_nonzero}
    for k, f in fs.items():
        for dims, keep in (((0,), False), ((1,), True), ((2,), False), ((0, 2), False), ((0, 1, 2), True), ((1, 2), True)):
            kw = {} if k == "count_nonzero" else {"keepdim": keep}
            shape_keep = keep and k != "count_nonzero"
            v = (x > 0.3).float() if k in ("any", "all", "count_nonzero") else x
            c.add(f"{k} {dims} {keep}", f"reduce.{k}", [v], lambda t, f=f, d=dims, kw=kw: f(t, dim=d, **kw),
                  dims=dims, keepdim=shape_keep)
        for name, v in (("nan", n), ("inf", i)):
            c.add(f"{k} {name}", f"reduce.{k}", [v], lambda t, f=f: f(t, dim=(1,)), dims=[1])
    c.add("prod", "reduce.prod", [x], lambda t: t.prod(1, keepdim=True), dims=[1], keepdim=True)
    c.add("prod all", "reduce.prod", [x], torch.prod)
    c.add("sum all", "reduce.sum", [x], torch.sum)
    c.add("mean all", "reduce.mean", [x], torch.mean)
    c.add("sum of nothing", "reduce.sum", [torch.zeros(2, 0)], lambda t: t.sum(1), dims=[1])
    c.add("prod of nothing", "reduce.prod", [torch.zeros(2, 0)], lambda t: t.prod(1), dims=[1])
    c.add("mean of nothing", "reduce.mean", [torch.zeros(2, 0)], lambda t: t.mean(1), dims=[1])
    c.add("logsumexp of nothing", "reduce.logsumexp", [torch.zeros(2, 0)], lambda t: t.logsumexp(1), dims=[1])
    c.add("any of nothing", "reduce.any", [torch.zeros(2, 0)], lambda t: t.any(1), dims=[1])
    c.add("all of nothing", "reduce.all", [torch.zeros(2, 0)], lambda t: t.all(1), dims=[1])
    c.add("sum to nothing", "reduce.sum", [torch.zeros(0, 3)], lambda t: t.sum(1), dims=[1])
    c.fails("max of nothing", "reduce.max", [torch.zeros(2, 0)], dims=[1])
    c.add("logsumexp of -inf", "reduce.logsumexp", [torch.full((2, 2), -INF)], lambda t: t.logsumexp(1), dims=[1])
    c.add("sum rank 0", "reduce.sum", [torch.tensor(3.0)], torch.sum)
    c.add("sum size 1", "reduce.sum", [torch.ones(1, 1)], lambda t: t.sum(0), dims=[0])
    c.add("var of one", "reduce.var", [torch.ones(2, 1)], lambda t: torch.var(t, 1), dims=[1])
    c.add("var unbiased off", "reduce.var", [x], lambda t: torch.var(t, -1, correction=0), dims=[2], a=0)
    c.add("std all", "reduce.std", [x], torch.std)
    for p in (0, 1, 2, 3, 0.5, INF, -INF):
        c.add(f"norm {p}", "reduce.norm", [x], lambda t, p=p: torch.linalg.vector_norm(t, p, dim=(1,)), dims=[1], p=p)
    c.add("norm all", "reduce.norm", [x], lambda t: torch.linalg.vector_norm(t, 2), p=2)
    c.add("norm nan", "reduce.norm", [n], lambda t: torch.linalg.vector_norm(t, INF, dim=(2,)), dims=[2], p=INF)
    big = c.ints(-50, 50, 3, 4)
    for k in ("sum", "prod"):
        c.add(f"{k} i64", f"reduce.{k}", [big], lambda t, k=k: getattr(torch, k)(t, 1), dims=[1])
        c.add(f"{k} i32 to i64", f"reduce.{k}", [big.int()], lambda t, k=k: getattr(torch, k)(t, 0), dims=[0])
        c.add(f"{k} bool", f"reduce.{k}", [big > 0], lambda t, k=k: getattr(torch, k)(t, 0), dims=[0])
    c.add("max i32", "reduce.max", [big.int()], lambda t: t.amax(1), dims=[1])
    c.add("min i8", "reduce.min", [big.to(torch.int8)], lambda t: t.amin(0), dims=[0])
    c.add("sum dtype", "reduce.sum", [big], lambda t: t.sum(1, dtype=torch.float64), dims=[1], dtype="f32")
    for d in (torch.float16, torch.bfloat16):
        h = c.randn(3, 40).to(d)
        c.add(f"sum {NAMES[d]}", "reduce.sum", [h], lambda t: t.sum(1), dims=[1])
        c.add(f"mean {NAMES[d]}", "reduce.mean", [h], lambda t: t.mean(1), dims=[1])
        c.add(f"max {NAMES[d]}", "reduce.max", [h], lambda t: t.amax(1), dims=[1])
    long = c.randn(1, 1300)
    c.add("sum long", "reduce.sum", [long], lambda t: t.sum(1), dims=[1])
    ties = torch.tensor([[1.0, 3.0, 3.0], [NAN, 5.0, NAN], [-1.0, -1.0, -2.0]])
    for k in ("argmax", "argmin"):
        c.add(f"{k} ties", f"reduce.{k}", [ties], lambda t, k=k: getattr(torch, k)(t, 1), dims=[1])
        c.add(f"{k} columns", f"reduce.{k}", [x], lambda t, k=k: getattr(torch, k)(t, 0, keepdim=True), dims=[0], keepdim=True)
        c.add(f"{k} flat", f"reduce.{k}", [x], lambda t, k=k: getattr(torch, k)(t))
        c.add(f"{k} i64", f"reduce.{k}", [big], lambda t, k=k: getattr(torch, k)(t, 1), dims=[1])
    for k in ("max", "min"):
        c.add(f"{k} with index", f"reduce_index.{k}", [ties], lambda t, k=k: getattr(torch, k)(t, 1), dims=[1])
        c.add(f"{k} with index, middle", f"reduce_index.{k}", [x], lambda t, k=k: getattr(torch, k)(t, 1, keepdim=True),
              dims=[1], keepdim=True)
    c.add("median", "median", [x], lambda t: torch.median(t, 2), dims=[2])
    c.add("median odd keepdim", "median", [x], lambda t: torch.median(t, 1, keepdim=True), dims=[1], keepdim=True)
    c.add("median all", "median", [x], torch.median)


def lines(c):
    c.begin("lines")
    x = c.randn(2, 3, 4)
    n = x.clone()
    n[0, 1, 1] = NAN
    for k, f in {"sum": torch.cumsum, "prod": torch.cumprod, "logsumexp": torch.logcumsumexp,
                 "max": lambda t, d: torch.cummax(t, d)[0], "min": lambda t, d: torch.cummin(t, d)[0]}.items():
        for d in (0, 1, 2):
            c.add(f"scan {k} {d}", f"scan.{k}", [x], lambda t, f=f, d=d: f(t, d), dim=d)
        c.add(f"scan {k} nan", f"scan.{k}", [n], lambda t, f=f: f(t, 1), dim=1)
        c.add(f"scan {k} empty", f"scan.{k}", [torch.zeros(2, 0)], lambda t, f=f: f(t, 1), dim=1)
    c.add("scan sum i32", "scan.sum", [c.ints(-9, 9, 5, dtype=torch.int32)], lambda t: t.cumsum(0), dim=0)
    ties = torch.tensor([[3.0, 1.0, NAN, 3.0, -INF], [0.0, -0.0, 2.0, 2.0, 1.0]])
    for desc in (False, True):
        c.add(f"sort {desc}", "sort", [ties], lambda t, d=desc: torch.sort(t, dim=1, descending=d, stable=True),
              dim=1, descending=desc, stable=True)
        c.add(f"sort columns {desc}", "sort", [x], lambda t, d=desc: torch.sort(t, dim=0, descending=d, stable=True),
              dim=0, descending=desc, stable=True)
        c.add(f"sort i64 {desc}", "sort", [torch.tensor([2 ** 60 + 1, 2 ** 60, -5, 2 ** 60 + 1])],
              lambda t, d=desc: torch.sort(t, descending=d, stable=True), dim=0, descending=desc, stable=True)
        c.add(f"topk {desc}", "topk", [x], lambda t, d=desc: torch.topk(t, 2, 2, largest=d), k=2, dim=2, largest=desc, sorted=True)
    for d in (0, 1, 2):
        c.add(f"softmax {d}", "softmax", [x], lambda t, d=d: t.softmax(d), dim=d)
        c.add(f"log_softmax {d}", "softmax", [x], lambda t, d=d: t.log_softmax(d), dim=d, log=True)
    c.add("softmax inf", "softmax", [torch.tensor([[INF, 1.0], [-INF, -INF], [-INF, 2.0], [NAN, 0.0]])],
          lambda t: t.softmax(1), dim=1)
    c.add("softmax large", "softmax", [torch.tensor([[1000.0, 1001.0, 999.0]])], lambda t: t.softmax(1), dim=1)
    c.add("softmax empty", "softmax", [torch.zeros(0, 3)], lambda t: t.softmax(1), dim=1)
    c.add("softmax f16", "softmax", [x.half()], lambda t: t.softmax(1), dim=1)
    c.add("softmax bf16 to f32", "softmax", [x.bfloat16()], lambda t: t.double().softmax(2), dim=2, dtype="f32")
    c.add("histc", "histc", [c.randn(40)], lambda t: torch.histc(t, 5, -2, 2), size=5, a=-2, b=2)
    c.add("histc range", "histc", [c.randn(20)], lambda t: torch.histc(t, 4), size=4, a=0, b=0)
    c.add("bincount", "bincount", [torch.tensor([0, 3, 3, 1])], lambda t: torch.bincount(t, minlength=5), size=5)


def index(c):
    c.begin("index")
    x = c.randn(3, 4)
    i = torch.tensor([[0, 2, 1, 0], [1, 1, 0, 2]])
    c.add("gather 0", "gather", [x, i], lambda t, k: t.gather(0, k), dim=0)
    c.add("gather 1", "gather", [x, torch.tensor([[3], [0], [2]])], lambda t, k: t.gather(1, k), dim=1)
    c.fails("gather outside", "gather", [x, torch.tensor([[7]])], dim=0)
    s = c.randn(2, 4)
    c.add("scatter set", "scatter.set", [x, i[:1], s], lambda t, k, v: t.scatter(0, k, v), dim=0)
    c.add("scatter number", "scatter.set", [x, i, Weak(9.0)], lambda t, k, v: t.scatter(0, k, v), dim=0)
    c.add("scatter add", "scatter.add", [x, i, s], lambda t, k, v: t.scatter_add(0, k, v), dim=0)
    for k, r in (("add", "sum"), ("multiply", "prod"), ("max", "amax"), ("min", "amin"), ("mean", "mean")):
        for inc in (True, False):
            c.add(f"scatter_reduce {r} {inc}", f"scatter.{k}", [x, i, s],
                  lambda t, j, v, r=r, inc=inc: t.scatter_reduce(0, j, v, r, include_self=inc), dim=0, b=0 if inc else 1)
    c.add("scatter add i64", "scatter.add", [torch.zeros(3, dtype=torch.int64), torch.tensor([2, 2, 0]), torch.tensor([5, 6, 7])],
          lambda t, k, v: t.scatter_add(0, k, v), dim=0)
    c.add("index_select", "index_select", [x, torch.tensor([2, 0, 2])], lambda t, k: t.index_select(0, k), dim=0)
    c.add("index_select 1", "index_select", [x, torch.tensor([3])], lambda t, k: t.index_select(1, k), dim=1)
    c.add("index_add", "index_add", [x, torch.tensor([0, 0]), s], lambda t, k, v: t.index_add(0, k, v, alpha=2.0), dim=0, alpha=2.0)
    c.add("index_copy", "index_copy", [x, torch.tensor([2, 0]), s], lambda t, k, v: t.index_copy(0, k, v), dim=0)
    y = c.randn(2, 3, 4, 2)
    a, b = torch.tensor([[0], [1]]), torch.tensor([2, -1, 0])
    c.add("index neighbours", "index", [y, a, b], lambda t, p, q: t[:, p, q], dims=[1, 2])
    c.add("index apart", "index", [y, a, torch.tensor([0, 1, 1])], lambda t, p, q: t[p, :, :, q], dims=[0, 3])
    c.add("index one", "index", [y, torch.tensor([[1, 0]])], lambda t, p: t[:, :, p], dims=[2])
    c.add("index last", "index", [x, torch.tensor([1, 1])], lambda t, p: t[:, p], dims=[1])
    c.fails("index outside", "index", [x, torch.tensor([4])], dims=[1])
    c.add("index_put", "index_put", [x, c.randn(2, 4), torch.tensor([2, 0])],
          lambda t, v, p: t.clone().index_put((p,), v), dims=[0])
    c.add("index_put add", "index_put", [x, torch.tensor(1.0), torch.tensor([1, 1]), torch.tensor([2, 2])],
          lambda t, v, p, q: t.clone().index_put((p, q), v, accumulate=True), dims=[0, 1], accumulate=True)
    m = x > 0
    c.add("masked_select", "masked_select", [x, m], torch.masked_select, size=int(m.sum()))
    row = torch.tensor([True, False, True, False])
    c.add("masked_select broadcast", "masked_select", [x, row], torch.masked_select, size=6)
    c.add("masked_scatter", "masked_scatter", [x, m, c.randn(12)], lambda t, k, v: t.masked_scatter(k, v))
    z = torch.tensor([[0.0, 1.0], [NAN, 0.0]])
    c.add("nonzero", "nonzero", [z], torch.nonzero, size=2)
    w = c.randn(5, 3)
    c.add("embedding", "embedding", [w, torch.tensor([[0, 4], [1, 1]])], lambda p, q: F.embedding(q, p))
    c.fails("embedding outside", "embedding", [w, torch.tensor([5])])
    c.add("embedding_grad", "embedding_grad", [c.randn(4, 3), torch.tensor([0, 2, 2, 1])],
          lambda g, k: torch.ops.aten.embedding_dense_backward(g, k, 4, 1, False), size=4, ignore_index=1)
    c.add("embedding_grad by frequency", "embedding_grad", [c.randn(4, 3), torch.tensor([0, 2, 2, 1])],
          lambda g, k: torch.ops.aten.embedding_dense_backward(g, k, 4, -1, True), size=4, ignore_index=-1, scale=1)
    c.add("one_hot", "one_hot", [torch.tensor([0, 2])], lambda k: F.one_hot(k, 4), size=4)


def matrix(c):
    c.begin("matrix")
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
              ((2, 1, 2, 3), (4, 3, 2)), ((1, 1), (1, 1)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((13, 37), (37, 35))]
    for a, b in shapes:
        c.add(f"matmul {a} {b}", "matmul", [c.randn(*a), c.randn(*b)], torch.matmul)
    c.add("matmul i64", "matmul", [c.ints(-9, 9, 2, 3), c.ints(-9, 9, 3, 2)], torch.matmul)
    c.add("matmul f16", "matmul", [c.randn(4, 9).half(), c.randn(9, 3).half()], torch.matmul)
    c.add("matmul bf16", "matmul", [c.randn(4, 9).bfloat16(), c.randn(9, 3).bfloat16()], torch.matmul)
    c.add("matmul f64", "matmul", [c.randn(2, 3).double(), c.randn(3, 2).double()], torch.matmul)
    c.add("matmul inf", "matmul", [torch.tensor([[INF, 1.0]]), torch.tensor([[0.0, 1.0], [1.0, NAN]])], torch.matmul)
    c.add("matmul complex", "matmul", [torch.complex(c.randn(2, 3), c.randn(2, 3)), torch.complex(c.randn(3), c.randn(3))], torch.matmul)
    c.fails("matmul shapes", "matmul", [c.randn(2, 3), c.randn(2, 3)])
    c.add("linear", "linear", [c.randn(2, 3, 5), c.randn(4, 5), c.randn(4)], F.linear)
    c.add("linear without bias", "linear", [c.randn(5), c.randn(4, 5), None], lambda x, w, b: F.linear(x, w))
    c.add("linear f16", "linear", [c.randn(2, 5).half(), c.randn(4, 5).half(), c.randn(4).half()], F.linear)
    for eq, sh in (("ij,jk->ik", ((2, 3), (3, 4))), ("bij,bjk->bik", ((2, 2, 3), (2, 3, 4))), ("ij->ji", ((2, 3),)),
                   ("ij->", ((2, 3),)), ("ii->i", ((3, 3),)), ("ii->", ((3, 3),)), ("i,j->ij", ((2,), (3,))),
                   ("bhid,bhjd->bhij", ((1, 2, 3, 4), (1, 2, 5, 4))), ("ijk,k->ij", ((2, 3, 4), (4,))),
                   ("ab,bc,cd->ad", ((2, 3), (3, 4), (4, 2))), ("bchw,bcd->bhwd", ((1, 2, 2, 3), (1, 2, 3))),
                   ("ij,ij->j", ((3, 4), (3, 4))), ("abc,cd->abd", ((2, 3, 1), (4, 2))), ("i,i->", ((4,), (4,))),
                   ("bl,bl,bl->b", ((2, 3), (2, 3), (2, 3)))):
        c.add(f"einsum {eq}", "einsum", [c.randn(*s) for s in sh], lambda *t, eq=eq: torch.einsum(eq, *t), equation=eq)
    c.add("cross", "cross", [c.randn(2, 3), c.randn(2, 3)], lambda a, b: torch.linalg.cross(a, b, dim=1), dim=1)
    c.add("cross dim 0", "cross", [c.randn(3, 2), c.randn(3, 1)], lambda a, b: torch.linalg.cross(a, b, dim=0), dim=0)
    for p in (0, 1, 2, 3, INF):
        c.add(f"cdist {p}", "cdist", [c.randn(2, 3, 4), c.randn(5, 4)],
              lambda a, b, p=p: torch.cdist(a, b.expand(2, 5, 4), p), p=p)

    def grouped(a, b, offs):
        ends, out = offs.tolist(), []
        for g, e in enumerate(ends):
            s = ends[g - 1] if g else 0
            out.append(a[s:e] @ b[g] if b.dim() == 3 else a[:, s:e] @ b[s:e])
        return torch.cat(out) if b.dim() == 3 else torch.stack(out)
    off = torch.tensor([2, 2, 5], dtype=torch.int32)
    c.add("grouped_matmul rows", "grouped_matmul", [c.randn(5, 3), c.randn(3, 3, 4), off], grouped)
    c.add("grouped_matmul inner", "grouped_matmul", [c.randn(3, 5), c.randn(5, 4), off], grouped)
    c.add("grouped_matmul batch", "grouped_matmul", [c.randn(2, 3, 5), c.randn(2, 5, 4), None], lambda a, b, o: a @ b)


def conv(c):
    c.begin("conv")
    one = lambda n, v: [v] * n
    for dims, f, ft in ((1, F.conv1d, F.conv_transpose1d), (2, F.conv2d, F.conv_transpose2d), (3, F.conv3d, F.conv_transpose3d)):
        size = {1: (9,), 2: (6, 7), 3: (4, 5, 4)}[dims]
        for name, k, s, p, d, g in (("plain", 3, 1, 0, 1, 1), ("strided padded", 3, 2, 1, 1, 1), ("dilated", 2, 1, 1, 2, 1),
                                    ("grouped", 3, 1, 1, 1, 2), ("depthwise", 3, 1, 1, 1, 4), ("pointwise", 1, 1, 0, 1, 1)):
            x, w, b = c.randn(2, 4, *size), c.randn(8 if name != "depthwise" else 4, 4 // g, *one(dims, k)), None
            b = c.randn(w.shape[0]) if name != "dilated" else None
            if dims == 3:
                x = x[:1]
            c.add(f"conv{dims}d {name}", "conv", [x, w, b],
                  lambda x, w, b, f=f, s=s, p=p, d=d, g=g: f(x, w, b, s, p, d, g), stride=one(dims, s), padding=one(dims, p),
                  dilation=one(dims, d), groups=g)
        for name, k, s, p, d, g, o in (("plain", 3, 1, 0, 1, 1, 0), ("strided", 3, 2, 1, 1, 1, 1), ("dilated", 2, 1, 1, 2, 1, 0),
                                       ("grouped", 3, 2, 0, 1, 2, 0)):
            x = c.randn(1, 4, *[i // 2 + 1 for i in size])
            w = c.randn(4, 3, *one(dims, k))
            b = c.randn(3 * g) if name != "plain" else None
            c.add(f"conv_transpose{dims}d {name}", "conv", [x, w, b],
                  lambda x, w, b, f=ft, s=s, p=p, d=d, g=g, o=o: f(x, w, b, s, p, o, g, d), stride=one(dims, s),
                  padding=one(dims, p), dilation=one(dims, d), groups=g, transposed=True, output_padding=one(dims, o))
    c.add("conv2d unequal", "conv", [c.randn(1, 2, 8, 6), c.randn(3, 2, 3, 2), c.randn(3)],
          lambda x, w, b: F.conv2d(x, w, b, (2, 1), (2, 0), (1, 3)), stride=[2, 1], padding=[2, 0], dilation=[1, 3], groups=1)
    c.add("conv2d without batch", "conv", [c.randn(2, 5, 5), c.randn(3, 2, 3, 3), None],
          lambda x, w, b: F.conv2d(x, w), stride=[1, 1], padding=[0, 0], dilation=[1, 1], groups=1)
    c.add("conv2d f16", "conv", [c.randn(1, 2, 5, 5).half(), c.randn(3, 2, 3, 3).half(), None],
          lambda x, w, b: F.conv2d(x, w), stride=[1, 1], padding=[0, 0], dilation=[1, 1], groups=1)
    c.add("conv2d empty batch", "conv", [torch.zeros(0, 2, 5, 5), c.randn(3, 2, 3, 3), None],
          lambda x, w, b: F.conv2d(x, w), stride=[1, 1], padding=[0, 0], dilation=[1, 1], groups=1)
    c.add("conv1d many channels", "conv", [c.randn(1, 40, 6), c.randn(20, 40, 3), c.randn(20)], F.conv1d, stride=[1],
          padding=[0], dilation=[1], groups=1)
    c.add("conv1d padding larger than input", "conv", [c.randn(1, 1, 2), c.randn(1, 1, 5), None],
          lambda x, w, b: F.conv1d(x, w, None, 1, 4), stride=[1], padding=[4], dilation=[1], groups=1)
    c.fails("conv channels", "conv", [c.randn(1, 3, 5), c.randn(2, 4, 3), None], stride=[1], padding=[0], dilation=[1], groups=1)


def pool(c):
    c.begin("pool")
    one = lambda n, v: [v] * n
    for dims in (1, 2, 3):
        size = {1: (10,), 2: (7, 8), 3: (5, 6, 5)}[dims]
        x = c.randn(1, 2, *size)
        fm, fa = getattr(F, f"max_pool{dims}d"), getattr(F, f"avg_pool{dims}d")
        for k, s, p, d, ceil in ((2, 2, 0, 1, False), (3, 2, 1, 1, False), (3, 2, 1, 1, True), (2, 1, 0, 2, False), (3, 3, 0, 1, True)):
            c.add(f"max{dims}d k{k} s{s} p{p} d{d} ceil {ceil}", "pool.max", [x],
                  lambda t, f=fm, a=(k, s, p, d, ceil): f(t, *a), kernel=one(dims, k), stride=one(dims, s), padding=one(dims, p),
                  dilation=one(dims, d), ceil=ceil)
        for k, s, p, ceil, cip in ((2, 2, 0, False, True), (3, 2, 1, False, True), (3, 2, 1, False, False), (3, 2, 1, True, True),
                                   (3, 2, 1, True, False)):
            c.add(f"avg{dims}d k{k} s{s} p{p} ceil {ceil} count {cip}", "pool.avg", [x],
                  lambda t, f=fa, a=(k, s, p, ceil, cip): f(t, *a), kernel=one(dims, k), stride=one(dims, s),
                  padding=one(dims, p), dilation=one(dims, 1), ceil=ceil, count_pad=cip)
        fx, fv = getattr(F, f"adaptive_max_pool{dims}d"), getattr(F, f"adaptive_avg_pool{dims}d")
        for o in (1, 3, size[0] + 2):
            c.add(f"adaptive max{dims}d {o}", "adaptive_pool.max", [x], lambda t, f=fx, o=o: f(t, o), shape=one(dims, o))
            c.add(f"adaptive avg{dims}d {o}", "adaptive_pool.avg", [x], lambda t, f=fv, o=o: f(t, o), shape=one(dims, o))
    y = c.randn(1, 1, 6, 6)
    y[0, 0, 2, 3] = NAN
    c.add("max2d nan", "pool.max", [y], lambda t: F.max_pool2d(t, 2), kernel=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1])
    c.add("max2d -inf with padding", "pool.max", [torch.full((1, 1, 2, 2), -INF)], lambda t: F.max_pool2d(t, 3, 1, 1),
          kernel=[3, 3], stride=[1, 1], padding=[1, 1], dilation=[1, 1])
    x = c.randn(2, 5, 5)
    c.add("max2d without batch", "pool.max", [x], lambda t: F.max_pool2d(t, 2), kernel=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1])
    c.add("avg2d divisor", "pool.avg", [x[None]], lambda t: F.avg_pool2d(t, 2, divisor_override=3), kernel=[2, 2], stride=[2, 2],
          padding=[0, 0], dilation=[1, 1], count_pad=True, divisor=3)
    c.add("lp2d", "pool.lp", [x[None].abs()], lambda t: F.lp_pool2d(t, 3.0, 2), kernel=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1], p=3)
    c.add("lp1d", "pool.lp", [c.randn(1, 1, 9)], lambda t: F.lp_pool1d(t, 2.0, 3, 2), kernel=[3], stride=[2], padding=[0], dilation=[1], p=2)
    c.add("max2d f16", "pool.max", [x[None].half()], lambda t: F.max_pool2d(t, 2), kernel=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1])
    v, i = F.max_pool2d(x[None], 2, return_indices=True)
    c.add("unpool", "unpool", [v, i], lambda a, b: F.max_unpool2d(a, b, 2, output_size=(5, 5)), shape=[5, 5])
    c.add("lrn", "lrn", [c.randn(1, 6, 2, 2)], lambda t: F.local_response_norm(t, 3, 0.1, 0.75, 2.0), size=3, a=0.1, b=0.75, c=2.0)
    c.add("lrn even", "lrn", [c.randn(1, 6, 2)], lambda t: F.local_response_norm(t, 4), size=4, a=1e-4, b=0.75, c=1.0)


def norm(c):
    c.begin("norm")
    x = c.randn(3, 4, 5)
    w, b, m, v = c.randn(4), c.randn(4), c.randn(4), c.rand(4)
    c.add("batch training", "batch_norm", [x, None, None, w, b], lambda x, m, v, w, b: F.batch_norm(x, None, None, w, b, True, eps=1e-3),
          training=True, eps=1e-3)
    c.add("batch eval", "batch_norm", [x, m, v, w, b], lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, False, eps=1e-5), eps=1e-5)
    c.add("batch plain 2d", "batch_norm", [c.randn(6, 4), None, None, None, None],
          lambda x, *_: F.batch_norm(x, None, None, training=True), training=True, eps=1e-5)
    c.add("layer", "layer_norm", [x, c.randn(5), c.randn(5)], lambda x, w, b: F.layer_norm(x, (5,), w, b, 1e-3), shape=[5], eps=1e-3)
    c.add("layer two dims", "layer_norm", [x, c.randn(4, 5), None], lambda x, w, b: F.layer_norm(x, (4, 5), w), shape=[4, 5], eps=1e-5)
    c.add("layer of one", "layer_norm", [c.randn(3, 1), None, None], lambda x, w, b: F.layer_norm(x, (1,)), shape=[1], eps=1e-5)
    c.add("layer f16", "layer_norm", [x.half(), c.randn(5).half(), c.randn(5).half()],
          lambda x, w, b: F.layer_norm(x, (5,), w, b), shape=[5], eps=1e-5)
    c.add("layer with statistics", "layer_norm", [x, c.randn(5), None], lambda x, w, b: torch.ops.aten.native_layer_norm(x, (5,), w, b, 1e-5),
          shape=[5], eps=1e-5)
    c.add("group", "group_norm", [x, w, b], lambda x, w, b: F.group_norm(x, 2, w, b, 1e-3), groups=2, eps=1e-3)
    c.add("group plain 2d", "group_norm", [c.randn(3, 4), None, None], lambda x, w, b: F.group_norm(x, 2), groups=2, eps=1e-5)
    c.add("instance", "instance_norm", [x, w, b], lambda x, w, b: F.instance_norm(x, weight=w, bias=b), eps=1e-5)
    c.add("instance 3d", "instance_norm", [c.randn(1, 2, 2, 3, 2), None, None], lambda x, w, b: F.instance_norm(x), eps=1e-5)
    c.add("rms", "rms_norm", [x, c.randn(5)], lambda x, w: F.rms_norm(x, (5,), w, 1e-3), shape=[5], eps=1e-3)
    c.add("rms plain", "rms_norm", [x, None], lambda x, w: F.rms_norm(x, (4, 5), None, 1e-6), shape=[4, 5], eps=1e-6)
    n = x.clone()
    n[0, 0, 0] = NAN
    c.add("layer nan", "layer_norm", [n, None, None], lambda x, w, b: F.layer_norm(x, (5,)), shape=[5], eps=1e-5)


def resample(c):
    c.begin("resample")
    x1, x2, x3 = c.randn(1, 2, 5), c.randn(1, 2, 4, 5), c.randn(1, 1, 3, 4, 3)
    for x, modes in ((x1, ("nearest", "nearest-exact", "linear", "area")), (x2, ("nearest", "nearest-exact", "bilinear", "bicubic", "area")),
                     (x3, ("nearest", "nearest-exact", "trilinear", "area"))):
        for mode in modes:
            for size in ([7, 9, 5], [3, 2, 2], [4, 5, 3]):
                size = size[:x.dim() - 2]
                for align in ((False, True) if "linear" in mode or mode == "bicubic" else (None,)):
                    kw = {} if align is None else {"align_corners": align}
                    c.add(f"{mode} {x.dim() - 2}d {size} {align}", "interpolate", [x],
                          lambda t, s=size, m=mode, kw=kw: F.interpolate(t, s, mode=m, **kw), mode=mode, shape=size, **kw)
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic"):
        kw = {"align_corners": False} if mode[0] == "b" else {}
        out = F.interpolate(x2, scale_factor=(1.7, 2.3), mode=mode)
        c.add(f"{mode} by scale", "interpolate", [x2], lambda t, m=mode, kw=kw: F.interpolate(t, scale_factor=(1.7, 2.3), mode=m, **kw),
              mode=mode, shape=list(out.shape[2:]), scales="1.7,2.3", **kw)
    for mode in ("bilinear", "bicubic"):
        for size in ((2, 3), (7, 9)):
            c.add(f"{mode} antialias {size}", "interpolate", [x2], lambda t, s=size, m=mode: F.interpolate(t, s, mode=m, antialias=True),
                  mode=mode, shape=size, align_corners=False, antialias=True)
    c.add("bilinear to one, aligned", "interpolate", [x2], lambda t: F.interpolate(t, (1, 1), mode="bilinear", align_corners=True),
          mode="bilinear", shape=[1, 1], align_corners=True)
    grid = c.randn(1, 3, 4, 2)
    edge = torch.tensor([[[[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0], [-1.5, 2.0]]]])
    for mode in ("bilinear", "nearest", "bicubic"):
        for pad in ("zeros", "border", "reflection"):
            for align in (False, True):
                for name, g in (("random", grid), ("edge", edge)):
                    if mode == "nearest" and name == "edge" and not align:
                        continue  # exact halves: the side depends on the last bit
                    c.add(f"grid_sample {mode} {pad} {align} {name}", "grid_sample", [x2, g],
                          lambda t, g, a=(mode, pad, align): F.grid_sample(t, g, *a), mode=mode, pad_mode=pad, align_corners=align)
    g3 = c.randn(1, 2, 2, 3, 3)
    for mode in ("bilinear", "nearest"):
        for pad in ("zeros", "border", "reflection"):
            c.add(f"grid_sample 3d {mode} {pad}", "grid_sample", [x3, g3], lambda t, g, a=(mode, pad, True): F.grid_sample(t, g, *a),
                  mode=mode, pad_mode=pad, align_corners=True)
    for align in (False, True):
        c.add(f"affine_grid {align}", "affine_grid", [c.randn(2, 2, 3)], lambda t, a=align: F.affine_grid(t, (2, 1, 3, 4), a),
              shape=[2, 1, 3, 4], align_corners=align)
        c.add(f"affine_grid 3d {align}", "affine_grid", [c.randn(1, 3, 4)], lambda t, a=align: F.affine_grid(t, (1, 1, 2, 3, 2), a),
              shape=[1, 1, 2, 3, 2], align_corners=align)


def attention(c):
    c.begin("attention")
    q, k, v = c.randn(2, 3, 4, 5), c.randn(2, 3, 6, 5), c.randn(2, 3, 6, 2)
    f = F.scaled_dot_product_attention
    c.add("sdpa", "sdpa", [q, k, v, None], lambda q, k, v, m: f(q, k, v))
    c.add("sdpa causal", "sdpa", [q, k, v, None], lambda q, k, v, m: f(q, k, v, is_causal=True), causal=True)
    c.add("sdpa scale", "sdpa", [q, k, v, None], lambda q, k, v, m: f(q, k, v, scale=0.3), scale=0.3)
    c.add("sdpa mask", "sdpa", [q, k, v, c.randn(4, 6)], lambda q, k, v, m: f(q, k, v, m))
    mask = torch.ones(2, 1, 4, 6, dtype=torch.bool)
    mask[0, 0, 1] = False
    mask[1, 0, 2, 3:] = False
    c.add("sdpa bool mask", "sdpa", [q, k, v, mask], lambda q, k, v, m: f(q, k, v, m))
    c.add("sdpa gqa", "sdpa", [c.randn(1, 4, 3, 5), c.randn(1, 2, 6, 5), c.randn(1, 2, 6, 5), None],
          lambda q, k, v, m: f(q, k, v, enable_gqa=True), gqa=True)
    c.add("sdpa rank 2", "sdpa", [q[0, 0], k[0, 0], v[0, 0], None], lambda q, k, v, m: f(q, k, v))
    for name, batch_first, average, flat, kdim in (("plain", False, True, False, None), ("batch first", True, False, False, None),
                                                   ("without batch", False, True, True, None), ("other widths", True, True, False, 3)):
        torch.manual_seed(3)
        mha = torch.nn.MultiheadAttention(6, 2, batch_first=batch_first, kdim=kdim, vdim=kdim)
        with torch.no_grad():
            for p in mha.parameters():
                p.copy_(c.randn(*p.shape, scale=0.5))
        width = kdim or 6
        sq, sk = ((4,), (5,)) if flat else ((2, 4), (2, 5)) if batch_first else ((4, 2), (5, 2))
        x, y, z = c.randn(*sq, 6), c.randn(*sk, width), c.randn(*sk, width)
        ws = list(mha.in_proj_weight.detach().chunk(3)) if kdim is None else \
            [w.detach() for w in (mha.q_proj_weight, mha.k_proj_weight, mha.v_proj_weight)]
        am = c.randn(4, 5) if name == "plain" else None
        kp = torch.tensor([[False, False, True, False, True], [False] * 5]) if name == "batch first" else None

        def run(x, y, z, *rest, mha=mha, average=average, am=am, kp=kp):
            return mha.double()(x, y, z, attn_mask=None if am is None else am.double(), key_padding_mask=kp,
                                average_attn_weights=average)
        c.add(f"mha {name}", "mha", [x, y, z, *ws, mha.in_proj_bias.detach().float(), mha.out_proj.weight.detach().float(),
                                     mha.out_proj.bias.detach().float(), am, kp],
              lambda *a, run=run: [t.detach() for t in run(*a)], heads=2, batch_first=batch_first, keepdim=not average)
    for kind, cls, n_state in (("lstm", torch.nn.LSTM, 2), ("gru", torch.nn.GRU, 1), ("tanh", torch.nn.RNN, 1), ("relu", torch.nn.RNN, 1)):
        for name, layers, bi, first, bias, state, flat, proj in (
                ("plain", 1, False, False, True, False, False, 0), ("two layers, both ways", 2, True, True, True, True, False, 0),
                ("no bias", 1, False, True, False, True, False, 0), ("without batch", 1, True, False, True, False, True, 0),
                ("projection", 2, True, False, True, True, False, 2)):
            if proj and kind != "lstm":
                continue
            kw = {"nonlinearity": kind} if cls is torch.nn.RNN else {}
            if proj:
                kw["proj_size"] = proj
            net = cls(3, 4, layers, bias=bias, batch_first=first, bidirectional=bi, **kw)
            with torch.no_grad():
                for p in net.parameters():
                    p.copy_(c.randn(*p.shape, scale=0.5))
            x = c.randn(5, 3) if flat else c.randn(2, 5, 3) if first else c.randn(5, 2, 3)
            ways = layers * (2 if bi else 1)
            h = c.randn(ways, 2, proj or 4) if state else None
            cc = c.randn(ways, 2, 4) if state and n_state == 2 else None
            ws = [p.detach().clone() for p in net.parameters()]

            def run(x, h, cc, *ws, net=net, n_state=n_state):
                st = None if h is None else (h, cc) if n_state == 2 else h
                y, s = net.double()(x, st)
                return [t.detach() for t in ((y, *s) if n_state == 2 else (y, s))]
            c.add(f"{kind} {name}", f"rnn.{kind}", [x, h, cc, *ws], run, hidden=4, layers=layers, bias=bias, batch_first=first,
                  bidirectional=bi, size=proj)


def loss(c):
    c.begin("loss")
    x, y = c.randn(3, 4), c.randn(3, 4)
    p, q = c.rand(3, 4), c.rand(3, 4)
    for r in ("mean", "sum", "none"):
        c.add(f"mse {r}", "loss.mse", [x, y, None], lambda a, b, w, r=r: F.mse_loss(a, b, reduction=r), reduction=r)
        c.add(f"l1 {r}", "loss.l1", [x, y, None], lambda a, b, w, r=r: F.l1_loss(a, b, reduction=r), reduction=r)
        c.add(f"smooth_l1 {r}", "loss.smooth_l1", [x, y, None], lambda a, b, w, r=r: F.smooth_l1_loss(a, b, reduction=r, beta=0.7), reduction=r, a=0.7)
        c.add(f"huber {r}", "loss.huber", [x, y, None], lambda a, b, w, r=r: F.huber_loss(a, b, reduction=r, delta=0.7), reduction=r, a=0.7)
        c.add(f"bce {r}", "loss.bce", [p, q, c.rand(3, 4)], lambda a, b, w, r=r: F.binary_cross_entropy(a, b, w, reduction=r), reduction=r)
        c.add(f"bce_logits {r}", "loss.bce_logits", [x, q, None], lambda a, b, w, r=r: F.binary_cross_entropy_with_logits(a, b, reduction=r), reduction=r)
        c.add(f"soft_margin {r}", "loss.soft_margin", [x, y.sign(), None], lambda a, b, w, r=r: F.soft_margin_loss(a, b, reduction=r), reduction=r)
        c.add(f"hinge_embedding {r}", "loss.hinge_embedding", [x, y.sign(), None],
              lambda a, b, w, r=r: F.hinge_embedding_loss(a, b, margin=0.8, reduction=r), reduction=r, margin=0.8)
        c.add(f"poisson_nll {r}", "loss.poisson_nll", [x, q, None], lambda a, b, w, r=r: F.poisson_nll_loss(a, b, reduction=r), reduction=r, log=True)
        t = torch.tensor([1, 3, 0])
        c.add(f"nll {r}", "nll_loss", [x, t, c.rand(4)], lambda a, b, w, r=r: F.nll_loss(a, b, w, reduction=r), reduction=r)
        c.add(f"cross_entropy {r}", "cross_entropy", [x, torch.tensor([1, -100, 0]), c.rand(4)],
              lambda a, b, w, r=r: F.cross_entropy(a, b, w, reduction=r), reduction=r, ignore_index=-100)
        c.add(f"cross_entropy smoothed {r}", "cross_entropy", [x, t, c.rand(4)],
              lambda a, b, w, r=r: F.cross_entropy(a, b, w, reduction=r, label_smoothing=0.2), reduction=r, smoothing=0.2)
        c.add(f"cross_entropy probabilities {r}", "cross_entropy", [x, q, None],
              lambda a, b, w, r=r: F.cross_entropy(a, b, reduction=r), reduction=r)
        c.add(f"triplet {r}", "triplet_loss", [x, y, c.randn(3, 4)],
              lambda a, b, d, r=r: F.triplet_margin_loss(a, b, d, margin=0.5, swap=True, reduction=r), reduction=r, margin=0.5, p=2, eps=1e-6, swap=True)
    for r in ("batchmean", "mean", "sum"):
        c.add(f"kl_div {r}", "loss.kl_div", [x, q, None], lambda a, b, w, r=r: F.kl_div(a, b, reduction=r), reduction=r)
    c.add("kl_div log target", "loss.kl_div", [x, y, None], lambda a, b, w: F.kl_div(a, b, reduction="sum", log_target=True), reduction="sum", log_target=True)
    c.add("kl_div zero target", "loss.kl_div", [x[:1], torch.tensor([[0.0, 0.5, 0.5, 0.0]]), None],
          lambda a, b, w: F.kl_div(a, b, reduction="sum"), reduction="sum")
    c.add("mse broadcast", "loss.mse", [c.randn(3, 1), c.randn(4), None], lambda a, b, w: ((a - b) ** 2).mean(), reduction="mean")
    c.add("poisson_nll plain", "loss.poisson_nll", [p, q, None], lambda a, b, w: F.poisson_nll_loss(a, b, log_input=False, reduction="none"),
          reduction="none", log=False, eps=1e-8)
    c.add("bce at the ends", "loss.bce", [torch.tensor([0.0, 1.0, 0.0]), torch.tensor([0.0, 1.0, 1.0]), None],
          lambda a, b, w: F.binary_cross_entropy(a, b, reduction="none"), reduction="none")
    z = c.randn(2, 3, 4, 2)
    c.add("cross_entropy planes", "cross_entropy", [z, c.ints(0, 3, 2, 4, 2), None], lambda a, b, w: F.cross_entropy(a, b), reduction="mean")
    c.add("cross_entropy one", "cross_entropy", [c.randn(4), torch.tensor(2), None], lambda a, b, w: F.cross_entropy(a, b), reduction="mean")
    c.fails("cross_entropy class", "cross_entropy", [x, torch.tensor([1, 4, 0]), None], reduction="mean")
    c.add("cosine", "cosine_similarity", [x, y], lambda a, b: F.cosine_similarity(a, b, 1), dim=1, eps=1e-8)
    c.add("cosine broadcast", "cosine_similarity", [c.randn(3, 1, 4), c.randn(2, 4)], lambda a, b: F.cosine_similarity(a, b, -1), dim=-1, eps=1e-8)
    c.add("cosine zero", "cosine_similarity", [torch.zeros(2, 3), torch.ones(2, 3)], lambda a, b: F.cosine_similarity(a, b, 1), dim=1, eps=1e-8)
    for pw in (1, 2, 3, INF):
        c.add(f"pairwise {pw}", "pairwise_distance", [x, y], lambda a, b, pw=pw: F.pairwise_distance(a, b, pw, keepdim=True), p=pw, eps=1e-6, keepdim=True)


def sources(c):
    c.begin("sources")
    c.add("full", "full", [], lambda: torch.full((2, 2), 1.5, dtype=torch.float64), shape=[2, 2], dtype="f32", value=1.5)
    c.add("full empty", "full", [], lambda: torch.full((0,), 1.5, dtype=torch.float64), shape=[0], dtype="f32", value=1.5)
    c.add("arange", "arange", [], lambda: torch.arange(2, 9, 3), dtype="i64", a=2, b=9, c=3)
    c.add("arange down", "arange", [], lambda: torch.arange(5, 0, -2), dtype="i64", a=5, b=0, c=-2)
    c.add("arange float", "arange", [], lambda: torch.arange(0, 1, 0.3, dtype=torch.float64), dtype="f32", a=0, b=1, c=0.3)
    c.add("linspace", "linspace", [], lambda: torch.linspace(-1, 2, 7, dtype=torch.float64), dtype="f32", a=-1, b=2, size=7)
    c.add("linspace one", "linspace", [], lambda: torch.linspace(-1, 2, 1, dtype=torch.float64), dtype="f32", a=-1, b=2, size=1)
    c.add("eye", "eye", [], lambda: torch.eye(2, 3, dtype=torch.float64), shape=[2, 3], dtype="f32")
    for n in (1, 2, 3, 6, 8, 7):
        z = torch.complex(c.randn(2, n), c.randn(2, n))
        for norm in ("backward", "ortho", "forward"):
            c.add(f"fft {n} {norm}", "fft.fft", [z], lambda t, norm=norm: torch.fft.fft(t, norm=norm), dim=1, mode=norm)
            c.add(f"ifft {n} {norm}", "fft.ifft", [z], lambda t, norm=norm: torch.fft.ifft(t, norm=norm), dim=1, mode=norm)
        c.add(f"rfft {n}", "fft.rfft", [c.randn(2, n)], torch.fft.rfft, dim=1, mode="backward", size=n)
        c.add(f"irfft {n}", "fft.irfft", [z], lambda t, n=n: torch.fft.irfft(t, max(1, 2 * n - 2)), dim=1, mode="backward", size=max(1, 2 * n - 2))
    c.add("fft dim 0 padded", "fft.fft", [torch.complex(c.randn(3, 2), c.randn(3, 2))], lambda t: torch.fft.fft(t, 5, 0), dim=0, size=5, mode="backward")
    z = torch.complex(c.randn(3), c.randn(3))
    c.add("view_as_real", "view_as_real", [z], torch.view_as_real)
    c.add("view_as_complex", "view_as_complex", [c.randn(3, 2)], torch.view_as_complex)


def all_cases():
    c = Cases()
    for part in (unary, binary, three, shape, reduce, lines, index, matrix, conv, pool, norm, resample, attention, loss, sources):
        part(c)
    golden_edge.cases(c)
    return c.groups
