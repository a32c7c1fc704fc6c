import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Spearman rank correlation per row via argsort of argsort."""

    def forward(self, a, b):
        ra = a.argsort(dim=-1).argsort(dim=-1).float()
        rb = b.argsort(dim=-1).argsort(dim=-1).float()
        ra = ra - ra.mean(-1, keepdim=True)
        rb = rb - rb.mean(-1, keepdim=True)
        return (ra * rb).sum(-1) / (ra.norm(dim=-1) * rb.norm(dim=-1))


def get_inputs():
    return [torch.randn(32, 100), torch.randn(32, 100)]
