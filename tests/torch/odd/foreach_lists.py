# An optimizer step by functions over lists of tensors.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, lr: float = 0.01, beta: float = 0.9):
        super().__init__()
        self.lr, self.beta = lr, beta

    def forward(self, params, grads, moments):
        moments = torch._foreach_mul(moments, self.beta)
        torch._foreach_add_(moments, grads, alpha=1 - self.beta)
        norms = torch._foreach_norm(grads, 2)
        total = torch.stack(norms).norm()
        scale = torch.clamp(1.0 / (total + 1e-6), max=1.0)
        steps = torch._foreach_div(torch._foreach_mul(moments, scale), [2.0, 3.0])
        return torch._foreach_add(params, steps, alpha=-self.lr), moments


def get_inputs():
    shapes = [(6, 5), (7,)]
    return [[torch.randn(s) for s in shapes] for _ in range(3)]


def get_init_inputs():
    return []
