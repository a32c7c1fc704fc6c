"""Manifold-constrained hyper-connections, after a block, in full form: with residual streams x,
out[m, d] = h_post[m] * h_out[d] + sum over k of h_res[k, m] * x[k, d], for each token.

category: mhc
suite: mhc
level: 2
"""
import torch
import torch.nn as nn

TOKENS = 4096
STREAMS = 4
WIDTH = 2560


class Model(nn.Module):
    def forward(self, x, h_out, h_res, h_post):
        mixed = torch.einsum('tkm,tkd->tmd', h_res, x)
        return h_post.unsqueeze(2) * h_out.unsqueeze(1) + mixed


def get_inputs():
    x = torch.randn(TOKENS, STREAMS, WIDTH)
    h_out = torch.randn(TOKENS, WIDTH)
    h_res = torch.rand(TOKENS, STREAMS, STREAMS).softmax(dim=-1)
    h_post = torch.rand(TOKENS, STREAMS)
    return [x, h_out, h_res, h_post]


def get_init_inputs():
    return []
