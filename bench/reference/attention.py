import torch
import torch.nn as nn
import torch.nn.functional as F

batch = 2
heads = 8
length = 512
width = 64


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def get_inputs():
    return [torch.randn(batch, heads, length, width) for _ in range(3)]


def get_init_inputs():
    return []
