import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        m = x > 0
        z = torch.where(m, x, y)
        z = z.masked_fill(~m & (y < 0), -1.)
        z[y > 1] = 7
        z.masked_fill_(z == 7, float('-inf'))
        return torch.softmax(z, -1), (x * m).sum()

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
