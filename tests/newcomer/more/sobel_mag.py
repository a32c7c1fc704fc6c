import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        k = torch.tensor([[1., 0., -1.], [2., 0., -2.], [1., 0., -1.]])
        self.register_buffer('kx', k.view(1, 1, 3, 3))
        self.register_buffer('ky', k.t().contiguous().view(1, 1, 3, 3))

    def forward(self, x):
        gx = F.conv2d(x, self.kx, padding=1)
        gy = F.conv2d(x, self.ky, padding=1)
        return torch.sqrt(gx * gx + gy * gy + 1e-6)


def get_inputs():
    return [torch.rand(2, 1, 64, 64)]
