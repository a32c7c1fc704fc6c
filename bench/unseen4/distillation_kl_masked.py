"""Kullback-Leibler divergence of teacher and student at a temperature, over positions that count."""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 420
VOCAB = 5003


class Model(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, student, teacher, labels):
        s = F.log_softmax(student / self.temperature, dim=-1)
        t = F.log_softmax(teacher / self.temperature, dim=-1)
        each = (torch.exp(t) * (t - s)).sum(dim=-1)
        valid = (labels != -100).float()
        return (each * valid).sum() / valid.sum().clamp(min=1.0) * self.temperature * self.temperature


def get_inputs():
    return [torch.randn(TOKENS, VOCAB), torch.randn(TOKENS, VOCAB), torch.randint(0, VOCAB, (TOKENS,))]


def get_init_inputs():
    return [2.0]
