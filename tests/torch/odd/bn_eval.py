import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm2d(4)
        self.bn.running_mean.fill_(0.5)
    def forward(self, x):
        self.bn.eval()
        return self.bn(x) + F.batch_norm(x, self.bn.running_mean, self.bn.running_var, training=False)

def get_inputs():
    return [torch.randn(2, 4, 3, 3)]

def get_init_inputs():
    return []
