"""A decoder layer: RMS norm, rotary grouped-query attention, gated perceptron."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
STEPS = 256
WIDTH = 512
HEADS = 8
KV_HEADS = 2
HIDDEN = 1376


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


class Model(nn.Module):
    def __init__(self, width, heads, kv_heads, hidden):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, width // heads
        self.q = nn.Linear(width, heads * self.size, bias=False)
        self.k = nn.Linear(width, kv_heads * self.size, bias=False)
        self.v = nn.Linear(width, kv_heads * self.size, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        self.norm1, self.norm2 = Norm(width), Norm(width)

    def forward(self, x, cos, sin):
        b, t, c = x.shape
        y = self.norm1(x)
        q = self.q(y).view(b, t, self.heads, self.size).transpose(1, 2)
        k = self.k(y).view(b, t, self.kv_heads, self.size).transpose(1, 2)
        v = self.v(y).view(b, t, self.kv_heads, self.size).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        k = k.repeat_interleave(self.heads // self.kv_heads, dim=1)
        v = v.repeat_interleave(self.heads // self.kv_heads, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, c))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def get_inputs():
    return [torch.randn(BATCH, STEPS, WIDTH), torch.randn(STEPS, WIDTH // HEADS),
            torch.randn(STEPS, WIDTH // HEADS)]


def get_init_inputs():
    return [WIDTH, HEADS, KV_HEADS, HIDDEN]
