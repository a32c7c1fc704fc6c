import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        m = torch.ones(4, 4, dtype=torch.bool).tril()
        return F.scaled_dot_product_attention(x, y, x, attn_mask=m), F.scaled_dot_product_attention(x, y, y, is_causal=True)

def get_inputs():
    return [torch.randn(2, 4, 5), torch.randn(2, 4, 5)]

def get_init_inputs():
    return []
