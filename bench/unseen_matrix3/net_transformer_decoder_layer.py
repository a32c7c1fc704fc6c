"""A decoder layer: causal attention, attention to memory, a feed-forward part, norms before each."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
LENGTH = 40
MEMORY = 52
WIDTH = 64
HEADS = 4


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.n1 = nn.LayerNorm(width)
        self.n2 = nn.LayerNorm(width)
        self.n3 = nn.LayerNorm(width)
        self.own = nn.Linear(width, width)
        self.other = nn.Linear(width, width)
        self.up = nn.Linear(width, 3 * width)
        self.down = nn.Linear(3 * width, width)

    def join(self, project, q, kv, causal):
        def split(t):
            return t.view(t.shape[0], t.shape[1], self.heads, -1).transpose(1, 2)

        y = F.scaled_dot_product_attention(split(q), split(kv), split(kv), is_causal=causal)
        return project(y.transpose(1, 2).reshape(q.shape))

    def forward(self, x, memory):
        h = self.n1(x)
        x = x + self.join(self.own, h, h, True)
        x = x + self.join(self.other, self.n2(x), memory, False)
        return x + self.down(F.relu(self.up(self.n3(x))))


def get_inputs():
    return [torch.randn(BATCH, LENGTH, WIDTH), torch.randn(BATCH, MEMORY, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS]
