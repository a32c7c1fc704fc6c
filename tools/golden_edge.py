"""The edges of every operator: each row below is run on an empty batch, on sizes of 1, with nan and infinities strewn
in, in f16 (computed in float64, rounded once), and with its dim counted from the end (lists of dims are counted from the front in a graph).  Where PyTorch itself refuses a variant there is no case.
"""
import torch
import torch.nn.functional as F

NAN, INF = float("nan"), float("inf")


def rows(c):
    """operator, inputs for batch b and size n, function, attributes, the same with negative dims (or None)."""
    r, i = c.randn, c.ints
    at = lambda n, *s: i(0, max(1, n), *s)  # noqa: E731: places below n
    count = lambda x: {"size": x[0] * x[1]}  # noqa: E731: all of them
    yield "clamp", lambda b, n: [r(b, n), r(n), None], lambda x, lo, hi: torch.clamp(x, lo), {}, None
    yield "where", lambda b, n: [r(b, n) > 0, r(b, n), r(1, n)], torch.where, {}, None
    yield "lerp", lambda b, n: [r(b, n), r(1, n), r(b, 1)], torch.lerp, {}, None
    yield "addcmul", lambda b, n: [r(b, n), r(1, n), r(b, 1)], lambda x, y, z: torch.addcmul(x, y, z, value=0.5), {"value": 0.5}, None
    yield "addcdiv", lambda b, n: [r(b, n), r(1, n), c.rand(b, 1)], lambda x, y, z: torch.addcdiv(x, y, z, value=2), {"value": 2}, None
    yield "cast", lambda b, n: [r(b, n)], lambda x: x.to(torch.float16), {"dtype": "f16"}, None
    yield "dropout", lambda b, n: [r(b, n)], lambda x: x.clone(), {"p": 0.5, "training": True}, None
    yield "reshape", lambda b, n: [r(b, n)], lambda x: x.reshape(x.shape[1], x.shape[0], 1), lambda x: {"shape": [x[1], x[0], 1]}, None
    yield "permute", lambda b, n: [r(b, 2, n)], lambda x: x.permute(2, 0, 1), {"dims": [2, 0, 1]}, None
    yield "expand", lambda b, n: [r(b, 1, n)], lambda x: x.expand(-1, 3, -1), {"shape": [-1, 3, -1]}, None
    yield "slice", lambda b, n: [r(b, n + 1)], lambda x: x[:, 1:], lambda x: {"dim": 1, "start": 1, "end": x[1], "step": 1}, \
        lambda x: {"dim": -1, "start": 1, "end": x[1], "step": 1}
    yield "slice_scatter", lambda b, n: [r(b, n + 1), r(b, n)], lambda x, y: x.slice_scatter(y, 1, 1), \
        lambda x: {"dim": 1, "start": 1, "end": x[1], "step": 1}, lambda x: {"dim": -1, "start": 1, "end": x[1], "step": 1}
    yield "cat", lambda b, n: [r(b, n), r(b, 1)], lambda *x: torch.cat(x, 1), {"dim": 1}, {"dim": -1}
    yield "flip", lambda b, n: [r(b, n)], lambda x: x.flip(1), {"dims": [1]}, None
    yield "roll", lambda b, n: [r(b, n)], lambda x: x.roll(1, 1), {"shape": [1], "dims": [1]}, None
    yield "repeat", lambda b, n: [r(b, n)], lambda x: x.repeat(2, 2), {"shape": [2, 2]}, None
    yield "repeat_interleave", lambda b, n: [r(b, n)], lambda x: x.repeat_interleave(2, 1), {"dim": 1, "shape": [2]}, {"dim": -1, "shape": [2]}
    yield "pad", lambda b, n: [r(b, n)], lambda x: F.pad(x, (1, 2), value=0.5), {"pads": [1, 2], "mode": "constant", "value": 0.5}, None
    yield "unfold", lambda b, n: [r(b, n + 2)], lambda x: x.unfold(1, 2, 1), {"dim": 1, "size": 2, "step": 1}, {"dim": -1, "size": 2, "step": 1}
    win = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1]}
    yield "im2col", lambda b, n: [r(b, n, 3, 3)], lambda x: F.unfold(x, 2), dict(kernel=[2, 2], **win), None
    yield "col2im", lambda b, n: [r(b, 4 * n, 4)], lambda x: F.fold(x, (3, 3), 2), dict(shape=[3, 3], kernel=[2, 2], **win), None
    yield "tri", lambda b, n: [r(b, n, n)], torch.tril, {}, None
    yield "diag", lambda b, n: [r(b * n)], torch.diag, {}, None
    yield "diagonal", lambda b, n: [r(b, n, n)], lambda x: x.diagonal(0, 1, 2), {"dims": [1, 2]}, None
    for k in ("sum", "mean", "prod", "amax", "amin", "logsumexp", "std", "var", "any", "all", "argmax", "argmin"):
        kind = {"amax": "max", "amin": "min"}.get(k, k)
        yield f"reduce.{kind}", lambda b, n: [r(b, n)], lambda x, k=k: getattr(torch, k)(x, 1), {"dims": [1]}, None
    yield "reduce.norm", lambda b, n: [r(b, n)], lambda x: torch.linalg.vector_norm(x, 2, 1), {"dims": [1], "p": 2}, None
    for k in ("max", "min"):
        yield f"reduce_index.{k}", lambda b, n: [r(b, n)], lambda x, k=k: getattr(torch, k)(x, 1), {"dims": [1]}, None
    yield "median", lambda b, n: [r(b, n)], lambda x: torch.median(x, 1), {"dims": [1]}, None
    for k, f in (("sum", torch.cumsum), ("prod", torch.cumprod), ("logsumexp", torch.logcumsumexp),
                 ("max", lambda x, d: torch.cummax(x, d)[0]), ("min", lambda x, d: torch.cummin(x, d)[0])):
        yield f"scan.{k}", lambda b, n: [r(b, n)], lambda x, f=f: f(x, 1), {"dim": 1}, {"dim": -1}
    yield "sort", lambda b, n: [r(b, n)], lambda x: torch.sort(x, dim=1, stable=True), {"dim": 1, "stable": True}, {"dim": -1, "stable": True}
    yield "topk", lambda b, n: [r(b, n)], lambda x: torch.topk(x, 1, 1), {"k": 1, "dim": 1, "largest": True, "sorted": True}, \
        {"k": 1, "dim": -1, "largest": True, "sorted": True}
    yield "topk", lambda b, n: [r(b, n)], lambda x: torch.topk(x, 1, 1, largest=False), {"k": 1, "dim": 1, "sorted": True}, \
        {"k": 1, "dim": -1, "sorted": True}
    yield "softmax", lambda b, n: [r(b, n)], lambda x: torch.softmax(x, 1), {"dim": 1}, {"dim": -1}
    yield "softmax", lambda b, n: [r(b, n)], lambda x: torch.log_softmax(x, 1), {"dim": 1, "log": True}, {"dim": -1, "log": True}
    yield "bincount", lambda b, n: [at(4, b * n)], lambda x: torch.bincount(x, minlength=4), {"size": 4}, None
    yield "gather", lambda b, n: [r(b, n), at(n, b, 3)], lambda x, j: torch.gather(x, 1, j), {"dim": 1}, {"dim": -1}
    for k in ("add", "set"):
        yield f"scatter.{k}", lambda b, n: [r(b, n), at(n, b, 1), r(b, 1)], \
            lambda x, j, s, k=k: x.scatter_add(1, j, s) if k == "add" else x.scatter(1, j, s), {"dim": 1}, {"dim": -1}
    yield "index_select", lambda b, n: [r(b, n), at(n, 3)], lambda x, j: x.index_select(1, j), {"dim": 1}, {"dim": -1}
    yield "index_add", lambda b, n: [r(b, n), at(n, 3), r(b, 3)], lambda x, j, s: x.index_add(1, j, s), {"dim": 1}, {"dim": -1}
    yield "index_copy", lambda b, n: [r(b, n), at(n, 1), r(b, 1)], lambda x, j, s: x.index_copy(1, j, s), {"dim": 1}, {"dim": -1}
    yield "masked_select", lambda b, n: [r(b, n), r(b, n) > -9], torch.masked_select, count, None
    yield "nonzero", lambda b, n: [r(b, n) + 9], torch.nonzero, count, None
    yield "embedding", lambda b, n: [r(4, n), at(4, b, 2)], lambda w, j: F.embedding(j, w), {}, None
    yield "matmul", lambda b, n: [r(b, n), r(n, 3)], torch.matmul, {}, None
    yield "matmul", lambda b, n: [r(b, 2, n), r(b, n, 1)], torch.matmul, {}, None
    yield "linear", lambda b, n: [r(b, n), r(3, n), r(3)], F.linear, {}, None
    yield "einsum", lambda b, n: [r(b, n), r(n, 3)], lambda x, y: torch.einsum("bn,nk->kb", x, y), {"equation": "bn,nk->kb"}, None
    yield "cross", lambda b, n: [r(b, 3), r(b, 3)], lambda x, y: torch.linalg.cross(x, y, dim=1), {"dim": 1}, {"dim": -1}
    yield "cdist", lambda b, n: [r(b, n), r(3, n)], lambda x, y: torch.cdist(x, y), {"p": 2}, None
    yield "conv", lambda b, n: [r(b, n, 5), r(2, n, 3), r(2)], lambda x, w, z: F.conv1d(x, w, z, 2, 1), \
        {"stride": [2], "padding": [1], "dilation": [1], "groups": 1}, None
    yield "conv", lambda b, n: [r(b, n, 3), r(n, 2, 3), None], lambda x, w, z: F.conv_transpose1d(x, w, None, 2), \
        {"stride": [2], "padding": [0], "dilation": [1], "output_padding": [0], "groups": 1, "transposed": True}, None
    one = {"kernel": [2], "stride": [1], "padding": [1], "dilation": [1]}
    yield "pool.max", lambda b, n: [r(b, 2, n + 1)], lambda x: F.max_pool1d(x, 2, 1, 1), one, None
    yield "pool.avg", lambda b, n: [r(b, 2, n + 1)], lambda x: F.avg_pool1d(x, 2, 1, 1), dict(one, count_pad=True), None
    yield "adaptive_pool.avg", lambda b, n: [r(b, 2, n)], lambda x: F.adaptive_avg_pool1d(x, 1), {"shape": [1]}, None
    yield "batch_norm", lambda b, n: [r(b, 3, n), None, None, r(3), r(3)], \
        lambda x, m, v, w, z: F.batch_norm(x, None, None, w, z, True), {"training": True, "eps": 1e-5}, None
    yield "layer_norm", lambda b, n: [r(b, n), r(n), r(n)], lambda x, w, z: F.layer_norm(x, w.shape, w, z), \
        lambda x: {"shape": [x[1]], "eps": 1e-5}, None
    yield "group_norm", lambda b, n: [r(b, 4, n), r(4), r(4)], lambda x, w, z: F.group_norm(x, 2, w, z), {"groups": 2, "eps": 1e-5}, None
    yield "rms_norm", lambda b, n: [r(b, n), r(n)], lambda x, w: F.rms_norm(x, w.shape, w, 1e-5), lambda x: {"shape": [x[1]], "eps": 1e-5}, None
    yield "interpolate", lambda b, n: [r(b, 2, n)], lambda x: F.interpolate(x, size=6, mode="linear", align_corners=True), \
        {"shape": [6], "mode": "linear", "align_corners": True}, None
    yield "interpolate", lambda b, n: [r(b, 2, n)], lambda x: F.interpolate(x, size=6, mode="nearest"), {"shape": [6], "mode": "nearest"}, None
    yield "grid_sample", lambda b, n: [r(b, 2, n, n), r(b, 2, 2, 2)], lambda x, g: F.grid_sample(x, g, align_corners=False), \
        {"mode": "bilinear", "pad_mode": "zeros", "align_corners": False}, None
    yield "affine_grid", lambda b, n: [r(b, 2, 3)], lambda t: F.affine_grid(t, (t.shape[0], 1, 2, 3), align_corners=False), \
        lambda x: {"shape": [x[0], 1, 2, 3], "align_corners": False}, None
    yield "sdpa", lambda b, n: [r(b, 2, n), r(b, 3, n), r(b, 3, n), None], lambda q, k, v, m: attention(q, k, v), {}, None
    for k, f in (("mse", F.mse_loss), ("l1", F.l1_loss), ("huber", F.huber_loss), ("smooth_l1", F.smooth_l1_loss)):
        yield f"loss.{k}", lambda b, n: [r(b, n), r(b, n), None], lambda x, y, w, f=f: f(x, y), {"reduction": "mean", "a": 1}, None
    yield "nll_loss", lambda b, n: [r(b, n), at(n, b), None], lambda x, y, w: F.nll_loss(x, y), {"reduction": "mean"}, None
    yield "cross_entropy", lambda b, n: [r(b, n), at(n, b), None], lambda x, y, w: F.cross_entropy(x, y), {"reduction": "mean"}, None
    yield "cosine_similarity", lambda b, n: [r(b, n), r(b, n)], lambda x, y: F.cosine_similarity(x, y, 1), {"dim": 1}, {"dim": -1}
    yield "triplet_loss", lambda b, n: [r(b, n), r(b, n), r(b, n)], lambda x, y, z: F.triplet_margin_loss(x, y, z), \
        {"reduction": "mean", "margin": 1, "p": 2, "eps": 1e-6}, None
    yield "instance_norm", lambda b, n: [r(b, 2, n + 1), r(2), r(2)], lambda x, w, z: F.instance_norm(x, None, None, w, z), {"eps": 1e-5}, None
    yield "lrn", lambda b, n: [r(b, n, 2)], lambda x: F.local_response_norm(x, 3, 0.1, 0.75, 2.0), {"size": 3, "a": 0.1, "b": 0.75, "c": 2.0}, None
    yield "one_hot", lambda b, n: [at(3, b, n)], lambda x: F.one_hot(x, 3), {"size": 3}, None
    yield "index", lambda b, n: [r(b, n), at(n, 2)], lambda x, j: x[:, j], {"dims": [1]}, None
    yield "index_put", lambda b, n: [r(n, b), r(1, b), at(n, 1)], lambda x, v, j: x.index_put((j,), v), {"dims": [0]}, None
    yield "masked_scatter", lambda b, n: [r(b, n), r(b, n) > 0, r(b * n)], lambda x, m, v: x.masked_scatter(m, v), {}, None
    yield "unpool", lambda b, n: [r(b, n, 1, 1), at(4, b, n, 1, 1)], lambda x, j: F.max_unpool2d(x, j, 2), {"shape": [2, 2]}, None
    yield "histc", lambda b, n: [c.rand(b * n)], lambda x: torch.histc(x, 3, 0, 1), {"size": 3, "a": 0, "b": 1}, None
    yield "fft.rfft", lambda b, n: [r(b, n)], lambda x: torch.fft.rfft(x, dim=1), lambda x: {"dim": 1, "mode": "backward", "size": x[1]}, \
        lambda x: {"dim": -1, "mode": "backward", "size": x[1]}
    yield "view_as_complex", lambda b, n: [r(b, n, 2)], torch.view_as_complex, {}, None
    for pad, often in ((-1, False), (1, False), (-1, True)):
        yield "embedding_grad", lambda b, n: [r(b, n), at(4, b)], \
            lambda g, j, pad=pad, often=often: torch.ops.aten.embedding_dense_backward(g, j, 4, pad, often), \
            {"size": 4, "ignore_index": pad, "scale": int(often)}, None
    ends = lambda b: torch.tensor([0, b // 2, b], dtype=torch.int32)  # noqa: E731: the first group has nothing
    yield "grouped_matmul", lambda b, n: [r(b, n), r(3, n, 2), ends(b)], by_rows, {}, None
    yield "grouped_matmul", lambda b, n: [r(n, b), r(b, 2), ends(b)], by_inner, {}, None
    yield "grouped_matmul", lambda b, n: [r(b, 0), r(3, 0, 2), ends(b)], by_rows, {}, None
    for k, gates in (("lstm", 4), ("gru", 3), ("tanh", 1), ("relu", 1)):
        for ways in (1, 2):
            yield f"rnn.{k}", lambda b, n, g=gates, w=ways: [r(n, b, 2), None, None, *(x for _ in range(w) for x in gate_weights(r, g))], \
                lambda x, h, s, *w, k=k: recurrent(k, x, w), {"hidden": 2, "layers": 1, "bias": True, "bidirectional": ways == 2}, None
    for first in (True, False):
        yield "mha", lambda b, n: [r(b, n, 4), r(b, n, 4), r(b, n, 4), r(4, 4), r(4, 4), r(4, 4), r(12), r(4, 4), r(4), None, None], \
            lambda *a, first=first: heads(first, *a), {"heads": 2, "batch_first": first}, None
    yield "pairwise_distance", lambda b, n: [r(b, n), r(b, n)], F.pairwise_distance, {"p": 2, "eps": 1e-6}, None


def attention(q, k, v):
    """By its formula: the fused kernels give 0 where it gives nan."""
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return F.scaled_dot_product_attention(q, k, v)


def by_rows(a, b, ends):
    e = [0, *ends.tolist()]
    return torch.cat([a[e[g]:e[g + 1]] @ b[g] for g in range(len(e) - 1)])


def by_inner(a, b, ends):
    e = [0, *ends.tolist()]
    return torch.stack([a[:, e[g]:e[g + 1]] @ b[e[g]:e[g + 1]] for g in range(len(e) - 1)])


def gate_weights(r, gates):
    return r(2 * gates, 2), r(2 * gates, 2), r(2 * gates), r(2 * gates)


def recurrent(kind, x, weights):
    ways = len(weights) // 4
    run = {"lstm": torch.lstm, "gru": torch.gru, "tanh": torch.rnn_tanh, "relu": torch.rnn_relu}[kind]
    start = torch.zeros(ways, x.shape[1], 2, dtype=x.dtype)
    return run(x, (start, start) if kind == "lstm" else start, list(weights), True, 1, 0.0, False, ways == 2, False)


def heads(first, q, k, v, wq, wk, wv, bias_in, w_out, b_out, mask, padding):
    q, k, v = (x.transpose(0, 1) if first else x for x in (q, k, v))
    y, weights = F.multi_head_attention_forward(q, k, v, 4, 2, torch.cat([wq, wk, wv]), bias_in, None, None, False, 0.0, w_out, b_out)
    return y.transpose(0, 1) if first else y, weights


def strewn(inputs):
    """nan and infinities in the first tensor of floats."""
    out = list(inputs)
    for k, x in enumerate(out):
        if isinstance(x, torch.Tensor) and x.is_floating_point() and x.numel() >= 4:
            y = x.clone().reshape(-1)
            y[0], y[y.numel() // 2], y[-1] = NAN, INF, -INF
            out[k] = y.reshape(x.shape)
            break
    return out


def half(inputs):
    return [x.half() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in inputs]


def rounded_once(function):
    """The mathematical value of f16 inputs as f16: PyTorch itself may round in between (rnn, attention, conv, cosine)."""
    def run(*inputs):
        got = function(*[x.double() if isinstance(x, torch.Tensor) and x.dtype == torch.float16 else x for x in inputs])
        got = got if isinstance(got, (tuple, list)) else [got]
        return [g.half() if g.is_floating_point() else g for g in got]
    return run


def of(attrs, inputs):
    return attrs(list(inputs[0].shape)) if callable(attrs) else attrs


def add_if(c, name, op, inputs, function, attrs):
    try:
        c.add(name, op, inputs, function, **attrs)
    except SystemExit:  # PyTorch refuses it
        pass


# Half complex numbers are none of ours.
NOT_IN_HALF = {"view_as_complex", "fft.rfft"}
# How far nan spreads in a transform depends on the algorithm.
NOT_STREWN = {"fft.rfft"}


def cases(c):
    c.begin("edge")
    for op, make, function, attrs, negative in rows(c):
        for name, inputs in (("empty", make(0, 3)), ("size 1", make(1, 1)), ("nan and inf", strewn(make(2, 3))), ("f16", half(make(2, 3)))):
            if (name == "f16" and op in NOT_IN_HALF) or (name == "nan and inf" and op in NOT_STREWN):
                continue
            run = rounded_once(function) if name == "f16" else function
            add_if(c, f"{op} {name}", op, inputs, run, of(attrs, inputs))
        if negative:
            inputs = make(2, 3)
            add_if(c, f"{op} negative dim", op, inputs, function, of(negative, inputs))
