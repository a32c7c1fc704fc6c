import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        dev = x.device if x.is_cuda else torch.device('cpu')
        z = torch.zeros(x.shape, device=dev, dtype=x.dtype).to(x)
        return (z + x).to(dev).contiguous().cuda() if torch.cuda.is_available() else (z + x).cpu().detach()

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
