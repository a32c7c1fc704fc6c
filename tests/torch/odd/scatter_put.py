import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        i = torch.tensor([[0, 1, 2, 0, 0], [2, 0, 0, 1, 2]])
        a = torch.zeros(3, 5).scatter(0, i, x[0, :2])
        b = torch.zeros(3, 5).scatter_add_(0, i, x[1, :2])
        c = x[0].clone()
        c.index_put_((torch.tensor([0, 2]), torch.tensor([1, 3])), torch.tensor([5., 6.]), accumulate=True)
        c.index_add_(0, torch.tensor([1, 1]), y[0, :2], alpha=2)
        return a, b, c, x[:, [0, 2], 1:3], x[..., torch.tensor([1, 0])]

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
