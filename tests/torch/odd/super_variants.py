import torch
import torch.nn as nn
import torch.nn.functional as F
class Base(nn.Module):
    scale = 3
    def __init__(self, w, **kw):
        super(Base, self).__init__()
        self.w = w
        self.kw = kw
    def act(self, x):
        return torch.relu(x)
    def forward(self, x):
        return self.act(x) * self.w + self.kw.get('bias', 0)
class Mixin:
    def act(self, x):
        return -super().act(-x)
class Model(Mixin, Base):
    def __init__(self, w=2, *args, **kwargs):
        super().__init__(w, **kwargs)
        nn.Module.__init__
    def forward(self, x):
        return super().forward(x) + self.scale
def get_inputs():
    return [torch.randn(4, 4)]
def get_init_inputs():
    return {'w': 5, 'bias': 1}
