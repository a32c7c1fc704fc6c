#!/usr/bin/env python3
"""The yardstick for training speed: the same model in PyTorch with torch.compile, bf16 autocast, fused
AdamW and the library's flash attention, on the same batch. Prints one JSON line like model-cuda --speed.

    tools/nn_torch_speed.py [--compile-mode MODE]
"""
import json, sys, time
import torch
import torch.nn as nn
import torch.nn.functional as F

L, C, H, G, D, FFN, V, B, T = 8, 512, 8, 4, 64, 1600, 2048, 64, 1024


class Norm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x):
        return F.rms_norm(x, (x.size(-1),), self.weight.to(x.dtype), 1e-6)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2, self.nq, self.nk = Norm(C), Norm(C), Norm(D), Norm(D)
        self.qkv, self.o = nn.Linear(C, (H + 2 * G) * D, bias=False), nn.Linear(H * D, C, bias=False)
        self.gu, self.down = nn.Linear(C, 2 * FFN, bias=False), nn.Linear(FFN, C, bias=False)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, H + 2 * G, D).transpose(1, 2).split([H, G, G], 1)
        turn = lambda y: y * cos + torch.cat([-y[..., D // 2:], y[..., : D // 2]], -1) * sin
        q, k = turn(self.nq(q)), turn(self.nk(k))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(a.transpose(1, 2).reshape(b, t, H * D))
        g, u = self.gu(self.n2(x)).chunk(2, -1)
        return x + self.down(F.silu(g) * u)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Embedding(V, C), Norm(C)
        self.layers = nn.ModuleList(Layer() for _ in range(L))
        f = 1.0 / (10000 ** (torch.arange(0, D, 2).float() / D))
        a = torch.outer(torch.arange(T).float(), f)
        self.register_buffer("cos", torch.cat([a.cos()] * 2, -1).to(torch.bfloat16))
        self.register_buffer("sin", torch.cat([a.sin()] * 2, -1).to(torch.bfloat16))

    def forward(self, tokens, targets):
        x = self.embed(tokens).to(torch.bfloat16)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        logits = F.linear(self.norm(x), self.embed.weight)
        return F.cross_entropy(logits.view(-1, V).float(), targets.view(-1), ignore_index=-1)


def main(mode):
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    model = Model().cuda()
    adam = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    run = torch.compile(model, mode=mode)
    tokens = torch.randint(0, V, (B, T), device="cuda")
    targets = torch.randint(0, V, (B, T), device="cuda")

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            loss = run(tokens, targets)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        adam.zero_grad(set_to_none=True)
        return loss, norm

    for _ in range(10):
        step()
    best = 1e9
    for _ in range(6):
        torch.cuda.synchronize()
        start = time.time()
        for _ in range(10):
            loss, norm = step()
        loss.item()
        torch.cuda.synchronize()
        best = min(best, (time.time() - start) / 10)
    n = sum(p.numel() for p in model.parameters())
    flops = 6 * n + 6 * L * T * H * D
    print(json.dumps(dict(engine=f"torch {torch.__version__}, compile {mode or 'default'}", parameters=n, batch=B, seq=T,
                          step_ms=round(best * 1e3, 2), tokens_per_second=round(B * T / best),
                          utilisation=round(flops * B * T / best / 989e12, 3))))


main(sys.argv[2] if sys.argv[1:2] == ["--compile-mode"] else None)
