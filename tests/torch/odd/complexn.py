import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        c = torch.complex(x, y)
        d = c * 1j + (2 - 3j)
        e = torch.fft.fft(x, dim=-1)
        return d.real, d.imag, torch.abs(d), torch.view_as_real(e), (c * c.conj()).real, torch.angle(c) if False else c.abs()

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
