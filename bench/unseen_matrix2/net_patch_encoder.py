"""Patches by a strided convolution, positions, one encoder layer with heads, mean and head."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
H = 32
WIDTH = 48
OUT = 10


class Model(nn.Module):
    def __init__(self, width, out, h):
        super().__init__()
        self.heads = 4
        self.patch = nn.Conv2d(3, width, 8, stride=8)
        self.place = nn.Parameter(torch.randn(1, (h // 8) ** 2, width) * 0.02)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.head = nn.Linear(width, out)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.place
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        a = torch.softmax(q @ k.transpose(-2, -1) / (c // self.heads) ** 0.5, dim=-1) @ v
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, c))
        x = x + self.down(F.gelu(self.up(self.norm2(x))))
        return self.head(x.mean(1))


def get_inputs():
    return [torch.randn(BATCH, 3, H, H)]


def get_init_inputs():
    return [WIDTH, OUT, H]
