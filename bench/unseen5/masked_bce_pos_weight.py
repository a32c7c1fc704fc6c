"""Binary cross entropy of logits with a weight for positives, over labels that are known, mean per class first.

category: loss
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

SAMPLES = 3300
CLASSES = 400


class Model(nn.Module):
    def forward(self, logits, labels, known, pos_weight):
        log_weight = 1.0 + (pos_weight - 1.0) * labels
        loss = (1.0 - labels) * logits + log_weight * F.softplus(-logits)
        per_class = (loss * known).sum(dim=0) / known.sum(dim=0).clamp(min=1.0)
        return per_class.mean()


def get_inputs():
    return [
        torch.randn(SAMPLES, CLASSES),
        (torch.rand(SAMPLES, CLASSES) > 0.7).float(),
        (torch.rand(SAMPLES, CLASSES) > 0.1).float(),
        torch.rand(CLASSES) + 0.5,
    ]


def get_init_inputs():
    return []
