"""Self attention in which position i sees i - window up to i + window - 1.

category: attention
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 16
LENGTH = 128
WIDTH = 512
HEADS = 4
WINDOW = 32


class Model(nn.Module):
    def __init__(self, d_model, num_heads, window):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)
        self.window = window

    def forward(self, x):
        at = torch.arange(x.shape[1])
        step = at[None, :] - at[:, None]
        hidden = (step < -self.window) | (step >= self.window)
        return self.attention(x, x, x, attn_mask=hidden)[0]


def get_inputs():
    return [torch.rand(BATCH, LENGTH, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS, WINDOW]
