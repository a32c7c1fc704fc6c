import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def forward(self, scores, mask):
        return torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
b, h, q, k = 2, 4, 16, 48
def get_inputs():
    return [torch.randn(b, h, q, k), torch.rand(b, 1, 1, k) > 0.7]
def get_init_inputs():
    return []
