import torch
import torch.nn as nn
import functools
import operator


class Model(nn.Module):
    def __init__(self, sections, fns=("relu", "tanh", "sigmoid", "exp")):
        super().__init__()
        self.sections = list(sections)
        self.fns = fns

    def forward(self, x):
        outs = []
        for part, name in zip(torch.split(x, self.sections, dim=-1), self.fns):
            fn = getattr(torch, name)
            outs.append(fn(part))
        total = functools.reduce(operator.add, [o.sum(-1, keepdim=True) for o in outs])
        return torch.cat(outs, dim=-1) / (total.abs() + 1)


def get_inputs():
    return [torch.randn(40, 100)]


def get_init_inputs():
    return [(10, 20, 30, 40)]
