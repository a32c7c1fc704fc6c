import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    @torch.no_grad()
    def __init__(self):
        super().__init__()
    @torch.cuda.amp.autocast(enabled=False)
    @torch.inference_mode()
    def forward(self, x):
        return x.exp()
def get_inputs():
    return [torch.randn(5)]
def get_init_inputs():
    return []
