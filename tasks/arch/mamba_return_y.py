"""Structured state space duality in blocks; the output of every step.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange

BATCH = 2048
STEPS = 128
HEADS = 8
HEAD_WIDTH = 64
STATES = 16
BLOCK = 64


def segment_sums(x):
    total = torch.cumsum(x, dim=-1)
    size = x.size(-1)
    below = torch.tril(torch.ones(size, size, dtype=torch.bool))
    return (total[..., :, None] - total[..., None, :]).masked_fill(~below, -torch.inf)


class Model(nn.Module):
    def __init__(self, batch, steps, heads, head_width, states, block):
        super().__init__()
        self.block = block
        self.A = nn.Parameter(torch.randn(batch, steps, heads))
        self.B = nn.Parameter(torch.randn(batch, steps, heads, states))
        self.C = nn.Parameter(torch.randn(batch, steps, heads, states))

    def forward(self, x):
        x, a, b, c = [rearrange(t, "b (c l) ... -> b c l ...", l=self.block)
                      for t in (x, self.A, self.B, self.C)]
        a = rearrange(a, "b c l h -> b h c l")
        sums = torch.cumsum(a, dim=-1)
        inside = torch.exp(segment_sums(a))
        near = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", c, b, inside, x)
        decay = torch.exp(sums[:, :, :, -1:] - sums)
        states = torch.einsum("bclhn,bhcl,bclhp->bchpn", b, decay, x)
        states = torch.cat([torch.zeros_like(states[:, :1]), states], dim=1)
        chunks = torch.exp(segment_sums(F.pad(sums[:, :, :, -1], (1, 0))))
        states = torch.einsum("bhzc,bchpn->bzhpn", chunks, states)
        far = torch.einsum("bclhn,bchpn,bhcl->bclhp", c, states[:, :-1], torch.exp(sums))
        return rearrange(near + far, "b c l h p -> b (c l) h p")


def get_inputs():
    return [torch.rand(BATCH, STEPS, HEADS, HEAD_WIDTH)]


def get_init_inputs():
    return [BATCH, STEPS, HEADS, HEAD_WIDTH, STATES, BLOCK]
