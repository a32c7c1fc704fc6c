"""A Lion step whose update is masked where it disagrees with the gradient, rescaled by the share kept."""
import torch
import torch.nn as nn

SIZE = 840000


class Model(nn.Module):
    def __init__(self, lr, beta1, beta2, decay):
        super().__init__()
        self.lr = lr
        self.beta1 = beta1
        self.beta2 = beta2
        self.decay = decay

    def forward(self, p, g, m):
        update = torch.sign(self.beta1 * m + (1 - self.beta1) * g)
        mask = (update * g > 0).float()
        update = update * mask / mask.mean().clamp(min=1e-3)
        p = p * (1 - self.lr * self.decay) - self.lr * update
        return p, self.beta2 * m + (1 - self.beta2) * g


def get_inputs():
    return [torch.randn(SIZE), torch.randn(SIZE), torch.randn(SIZE)]


def get_init_inputs():
    return [1e-3, 0.9, 0.99, 0.01]
