import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Modular square-and-multiply of int64 residues."""

    def forward(self, x):
        m = 1000003
        r = torch.ones_like(x)
        base = x % m
        e = 13
        while e:
            if e & 1:
                r = r * base % m
            base = base * base % m
            e >>= 1
        return r


def get_inputs():
    return [torch.randint(0, 1000000, (64,))]
