# Smoothed labels written out by hand.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, logits, target):
        lp = F.log_softmax(logits, dim=-1)
        nll = -lp.gather(1, target.unsqueeze(1)).squeeze(1)
        smooth = -lp.mean(dim=-1)
        return (0.9 * nll + 0.1 * smooth).mean()


def get_inputs():
    return [torch.randn(64, 100), torch.randint(0, 100, (64,))]


def get_init_inputs():
    return []
