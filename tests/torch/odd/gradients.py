import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 6)

    def forward(self, x, w):
        with torch.enable_grad():
            a = x.detach().clone().requires_grad_(True)
            b = w.detach().clone().requires_grad_(True)
            one = F.gelu(a) * torch.sigmoid(a) + torch.tanh(a) / (1 + a * a) - F.silu(a).exp()
            two = F.softmax(self.fc(a) @ b, dim=-1).log().sum(0).mean()
            three = F.gelu(a.transpose(0, 1)[1:3], approximate="tanh").pow(3).sum(dim=(0, 2))
            first = torch.autograd.grad(one, a, torch.ones_like(one))[0]
            second = torch.autograd.grad(two, [a, b])
            third = torch.autograd.grad([three], [a], grad_outputs=[torch.ones(3)])
            wide = torch.where(a > 0, a.sin(), a.cos()).expand(2, 3, 4, 5)
            (fourth,) = torch.autograd.grad(wide, a, torch.ones_like(wide))
        return first, second[0], second[1], third[0], fourth


def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(6, 2)]


def get_init_inputs():
    return []
