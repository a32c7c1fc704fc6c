import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x, y):
        mode = 'Max_Pool'.lower().split('_')
        key = '-'.join(reversed(mode)).replace('-', '.').upper()
        assert key == 'POOL.MAX' and key.startswith('P') and 'MAX' in key
        return {'max': F.max_pool1d, 'avg': F.avg_pool1d}[mode[0]](x, 2, stride=1)

def get_inputs():
    return [torch.randn(3, 4, 5), torch.randn(3, 4, 5)]

def get_init_inputs():
    return []
