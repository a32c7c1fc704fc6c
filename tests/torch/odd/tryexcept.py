import torch
import torch.nn as nn
import torch.nn.functional as F
try:
    import triton
    HAS = True
except (ImportError, ModuleNotFoundError) as e:
    HAS = False
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        try:
            import flash_attn
            ok = True
        except ImportError:
            ok = False
        try:
            z = x @ y
        except RuntimeError:
            z = x @ y.transpose(-1, -2)
        finally:
            k = 2
        return z * k if not ok else z

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
