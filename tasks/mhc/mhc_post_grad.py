"""Gradients of mhc_post: of x, h_out, h_res and h_post, from the gradient g of its output.

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
    def forward(self, g, x, h_out, h_res, h_post):
        grad_x = torch.einsum('tkm,tmd->tkd', h_res, g)
        grad_h_out = torch.einsum('tm,tmd->td', h_post, g)
        grad_h_res = torch.einsum('tkd,tmd->tkm', x, g)
        grad_h_post = torch.einsum('tmd,td->tm', g, h_out)
        return grad_x, grad_h_out, grad_h_res, grad_h_post


def get_inputs():
    g = torch.randn(TOKENS, STREAMS, WIDTH)
    x = torch.randn(TOKENS, STREAMS, WIDTH)
    h_out = torch.randn(TOKENS, WIDTH)
    h_res = torch.rand(TOKENS, STREAMS, STREAMS).softmax(dim=-1)
    h_post = torch.rand(TOKENS, STREAMS)
    return [g, x, h_out, h_res, h_post]


def get_init_inputs():
    return []
