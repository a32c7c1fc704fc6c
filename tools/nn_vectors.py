#!/usr/bin/env python3
"""Numbers from PyTorch and transformers that src/nn is tested against.

    tools/nn_vectors.py golden          rewrites tests/nn/golden (small, committed)
    tools/nn_vectors.py lessons         those of preferences and groups alone
    tools/nn_vectors.py checkpoints DIR random tiny Qwen3 checkpoints written by transformers, each
                                        with its logits; then
                                            NN_CHECKPOINTS=DIR make test-nn T_FILTER=checkpoints
    tools/nn_vectors.py noise           how far PyTorch's bf16 gradients are from its float32 ones
"""
import math, os, sys
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

GOLDEN = os.path.join(os.path.dirname(__file__), "..", "tests", "nn", "golden")
SMALL = dict(layers=2, width=16, heads=4, kv_heads=2, head_dim=6, ffn=20, vocab=29, theta=1e4, eps=1e-6)


def names(c):
    C, D = c["width"], c["head_dim"]
    q, kv = c["heads"] * D, c["kv_heads"] * D
    yield "model.embed_tokens.weight", (c["vocab"], C)
    for i in range(c["layers"]):
        p = f"model.layers.{i}."
        yield p + "input_layernorm.weight", (C,)
        yield p + "self_attn.q_proj.weight", (q, C)
        yield p + "self_attn.k_proj.weight", (kv, C)
        yield p + "self_attn.v_proj.weight", (kv, C)
        yield p + "self_attn.q_norm.weight", (D,)
        yield p + "self_attn.k_norm.weight", (D,)
        yield p + "self_attn.o_proj.weight", (C, q)
        yield p + "post_attention_layernorm.weight", (C,)
        yield p + "mlp.gate_proj.weight", (c["ffn"], C)
        yield p + "mlp.up_proj.weight", (c["ffn"], C)
        yield p + "mlp.down_proj.weight", (C, c["ffn"])
    yield "model.norm.weight", (C,)


def norm(x, w, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w


def rotate(x, theta):
    T, D = x.shape[-2], x.shape[-1]
    f = 1.0 / (theta ** (torch.arange(0, D, 2).to(x.dtype) / D))
    a = torch.outer(torch.arange(T).to(x.dtype), f)
    cos, sin = torch.cat([a.cos()] * 2, -1), torch.cat([a.sin()] * 2, -1)
    half = torch.cat([-x[..., D // 2:], x[..., : D // 2]], -1)
    return x * cos + half * sin


def forward(c, w, tokens):
    B, T = tokens.shape
    D, H, G = c["head_dim"], c["heads"], c["kv_heads"]
    x = w["model.embed_tokens.weight"][tokens]
    for i in range(c["layers"]):
        p = lambda n: w[f"model.layers.{i}.{n}.weight"]
        h = norm(x, p("input_layernorm"), c["eps"])
        heads = lambda y, n: y.view(B, T, n, D).transpose(1, 2)
        q = rotate(norm(heads(h @ p("self_attn.q_proj").T, H), p("self_attn.q_norm"), c["eps"]), c["theta"])
        k = rotate(norm(heads(h @ p("self_attn.k_proj").T, G), p("self_attn.k_norm"), c["eps"]), c["theta"])
        v = heads(h @ p("self_attn.v_proj").T, G)
        k, v = k.repeat_interleave(H // G, 1), v.repeat_interleave(H // G, 1)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + a.transpose(1, 2).reshape(B, T, H * D) @ p("self_attn.o_proj").T
        h = norm(x, p("post_attention_layernorm"), c["eps"])
        x = x + (F.silu(h @ p("mlp.gate_proj").T) * (h @ p("mlp.up_proj").T)) @ p("mlp.down_proj").T
    return norm(x, w["model.norm.weight"], c["eps"]) @ w["model.embed_tokens.weight"].T


def golden_training():
    """Forward, loss, gradients, then ten AdamW steps with clipping on the same batch."""
    torch.manual_seed(7)
    c, B, T = SMALL, 3, 11
    w = {}
    for n, shape in names(c):
        one = n.endswith("norm.weight")
        w[n] = (1 + 0.2 * torch.randn(shape) if one else 0.3 * torch.randn(shape)).requires_grad_()
    tokens, targets = torch.randint(0, c["vocab"], (B, T)), torch.randint(0, c["vocab"], (B, T))
    targets[torch.rand(B, T) < 0.3] = -1
    out = {"weight/" + n: t.detach().clone() for n, t in w.items()}
    groups = [dict(params=[t for t in w.values() if t.dim() == 2], weight_decay=0.1),
              dict(params=[t for t in w.values() if t.dim() == 1], weight_decay=0.0)]
    adam = torch.optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.95), eps=1e-8)
    losses, norms = [], []
    for step in range(10):
        adam.zero_grad()
        logits = forward(c, w, tokens)
        loss = F.cross_entropy(logits.view(-1, c["vocab"]), targets.view(-1), ignore_index=-1)
        loss.backward()
        if step == 0:
            out["logits"] = logits.detach().clone()
            out.update({"grad/" + n: t.grad.clone() for n, t in w.items()})
        norms.append(torch.nn.utils.clip_grad_norm_(list(w.values()), 1.0).item())
        losses.append(loss.item())
        adam.step()
    out.update({"final/" + n: t.detach().clone() for n, t in w.items()})
    out.update(tokens=tokens.int(), targets=targets.int(), losses=torch.tensor(losses), norms=torch.tensor(norms))
    save_file({n: t.contiguous() for n, t in out.items()}, os.path.join(GOLDEN, "training.safetensors"))


def sums(c, w, tokens, targets):
    """Sum of the losses of each sequence, and how many tokens of it are learnt."""
    logits = forward(c, w, tokens)
    each = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=-1, reduction="none")
    return each.sum(1), (targets >= 0).sum(1)


def golden_lessons():
    """Preferences (nn/dpo.h) and groups of graded answers (nn/group.h): losses, gradients, three AdamW steps of each."""
    torch.manual_seed(11)
    c, N, T = SMALL, 6, 9
    start = {n: 1 + 0.2 * torch.randn(s) if n.endswith("norm.weight") else 0.3 * torch.randn(s) for n, s in names(c)}
    old = {n: t + 0.02 * torch.randn_like(t) for n, t in start.items()}  # the model that is compared with
    tokens = torch.randint(0, c["vocab"], (N, T))
    targets = torch.cat([tokens[:, 1:], torch.full((N, 1), -1)], 1)
    targets[:, :2] = -1
    targets[1, 6:] = -1
    targets[4, 5:] = -1
    beta, nll, low, high = 0.5, 0.3, 0.003, 0.004
    advantage = torch.tensor([1.2, -0.7, 0.4, -1.1, 0.9, -0.7])
    with torch.no_grad():
        reference, learnt = sums(c, old, tokens, targets)
    out = {"weight/" + n: t.clone() for n, t in start.items()}
    out.update(tokens=tokens.int(), targets=targets.int(), reference=reference, advantage=advantage,
               limits=torch.tensor([beta, nll, low, high]))

    def pairs(now):  # sequences 0, 2, 4 are preferred to 1, 3, 5
        z = beta * ((reference - now)[0::2] - (reference - now)[1::2])
        return (F.softplus(-z) + nll * now[0::2] / learnt[0::2]).mean()

    def groups(now):
        ratio = torch.exp((reference - now) / learnt)
        return -torch.minimum(ratio * advantage, ratio.clamp(1 - low, 1 + high) * advantage).mean()

    for name, loss_of in (("pairs", pairs), ("groups", groups)):
        w = {n: t.clone().requires_grad_() for n, t in start.items()}
        split = [dict(params=[t for t in w.values() if t.dim() == 2], weight_decay=0.1),
                 dict(params=[t for t in w.values() if t.dim() == 1], weight_decay=0.0)]
        adam, losses = torch.optim.AdamW(split, lr=1e-3, betas=(0.9, 0.95), eps=1e-8), []
        for step in range(3):
            adam.zero_grad()
            loss = loss_of(sums(c, w, tokens, targets)[0])
            loss.backward()
            if step == 0:
                out.update({f"{name}/grad/" + n: t.grad.clone() for n, t in w.items()})
            torch.nn.utils.clip_grad_norm_(list(w.values()), 1.0)
            losses.append(loss.item())
            adam.step()
        out[f"{name}/losses"] = torch.tensor(losses)
        out.update({f"{name}/final/" + n: t.detach().clone() for n, t in w.items()})
    save_file({n: t.contiguous() for n, t in out.items()}, os.path.join(GOLDEN, "lessons.safetensors"))


def write_checkpoint(path, seed, dtype=torch.float32, shard="10GB", **sizes):
    """A random Qwen3 checkpoint as transformers saves it, its logits in expected.safetensors."""
    from transformers import Qwen3Config, Qwen3ForCausalLM
    torch.manual_seed(seed)
    config = Qwen3Config(max_position_embeddings=64, **sizes)
    model = Qwen3ForCausalLM(config).eval()
    with torch.no_grad():
        for n, p in model.named_parameters():
            p.copy_(1 + 0.2 * torch.randn_like(p) if p.dim() == 1 else 0.3 * torch.randn_like(p))
    model = model.to(dtype)
    model.save_pretrained(path, max_shard_size=shard)
    generation = os.path.join(path, "generation_config.json")
    if os.path.exists(generation):
        os.remove(generation)
    tokens = torch.randint(0, config.vocab_size, (2, 9))
    # Read back as float32: .to() would have rounded the rotary frequencies with the weights.
    model = Qwen3ForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
    with torch.no_grad():
        logits = model(tokens).logits
    save_file({"tokens": tokens.int(), "logits": logits.contiguous()}, os.path.join(path, "expected.safetensors"))


TINY = dict(hidden_size=16, num_attention_heads=2, num_key_value_heads=1, head_dim=12, intermediate_size=24,
            num_hidden_layers=2, vocab_size=32)


def checkpoints(root):
    rows = [dict(TINY, tie_word_embeddings=True), dict(TINY, tie_word_embeddings=False, num_hidden_layers=3),
            dict(TINY, hidden_size=48, num_attention_heads=6, num_key_value_heads=3, head_dim=8, vocab_size=101),
            dict(TINY, hidden_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=32,
                 intermediate_size=96, rope_parameters=dict(rope_type="default", rope_theta=1e6))]
    for i, row in enumerate(rows):
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            for shard in ("10GB", "8KB"):
                name = f"{i}-{str(dtype)[6:]}-{shard}"
                write_checkpoint(os.path.join(root, name), 100 + i, dtype, shard, **row)
                print(name)


def noise():
    """The small model of tests/nn/cuda/model.c, weights as nn_init draws them."""
    c = dict(layers=3, width=192, heads=4, kv_heads=2, head_dim=64, ffn=320, vocab=512, theta=1e4, eps=1e-6)
    torch.manual_seed(0)
    w = {}
    for n, shape in names(c):
        scale = 1 / math.sqrt(shape[-1] * (2 * c["layers"] if "o_proj" in n or "down_proj" in n else 1))
        w[n] = (torch.ones(shape) if len(shape) == 1 else scale * torch.randn(shape)).requires_grad_()
    tokens, targets = torch.randint(0, 512, (3, 150)), torch.randint(0, 512, (450,))

    def grads(dtype):
        loss = F.cross_entropy(forward(c, {n: t.to(dtype) for n, t in w.items()}, tokens).float().view(-1, 512), targets)
        return dict(zip(w, torch.autograd.grad(loss, list(w.values()))))

    exact, rounded = grads(torch.float32), grads(torch.bfloat16)
    far = sorted((float((exact[n] - rounded[n]).norm() / exact[n].norm()), n) for n in w)
    print("median %.4f, worst %.4f (%s)" % (far[len(far) // 2][0], *far[-1]))


if __name__ == "__main__":
    if sys.argv[1:] == ["golden"]:
        os.makedirs(GOLDEN, exist_ok=True)
        golden_training()
        golden_lessons()
        write_checkpoint(os.path.join(GOLDEN, "qwen3"), 1, tie_word_embeddings=True, **TINY)
        write_checkpoint(os.path.join(GOLDEN, "qwen3_shards"), 2, torch.bfloat16, "8KB", tie_word_embeddings=False,
                         **TINY)
    elif sys.argv[1:] == ["lessons"]:
        golden_lessons()
    elif sys.argv[1:] == ["noise"]:
        noise()
    elif len(sys.argv) == 3 and sys.argv[1] == "checkpoints":
        checkpoints(sys.argv[2])
    else:
        sys.exit(__doc__)
