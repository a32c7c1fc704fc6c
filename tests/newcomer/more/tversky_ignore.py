import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, a=0.7, b=0.3):
        super().__init__()
        self.a, self.b = a, b

    def forward(self, p, t):
        keep = (t != -1).float()
        t = t.clamp(min=0).float()
        p = torch.sigmoid(p)
        tp = (p * t * keep).sum((1, 2))
        fp = (p * (1 - t) * keep).sum((1, 2))
        fn = ((1 - p) * t * keep).sum((1, 2))
        return 1 - (tp + 1) / (tp + self.a * fn + self.b * fp + 1)


def get_inputs():
    return [torch.randn(4, 32, 32), torch.randint(-1, 2, (4, 32, 32))]
