# An optimizer step: Lion. The new parameter and the new momentum.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, lr, beta1, beta2, decay):
        super(Model, self).__init__()
        self.lr = lr
        self.beta1 = beta1
        self.beta2 = beta2
        self.decay = decay

    def forward(self, p, g, m):
        update = torch.sign(self.beta1 * m + (1 - self.beta1) * g)
        p = p * (1 - self.lr * self.decay) - self.lr * update
        m = self.beta2 * m + (1 - self.beta2) * g
        return p, m


def get_inputs():
    return [torch.randn(1024, 515), torch.randn(1024, 515), torch.randn(1024, 515)]


def get_init_inputs():
    return [1e-4, 0.9, 0.99, 0.1]
