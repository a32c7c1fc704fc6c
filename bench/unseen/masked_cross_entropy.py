"""Cross entropy of logits with a mask over tokens and a z-loss.

category: loss
"""
import torch
import torch.nn as nn

TOKENS = 512
CLASSES = 8191


class Model(nn.Module):
    def forward(self, logits, target, mask):
        lse = torch.logsumexp(logits, dim=-1)
        picked = logits.gather(1, target.unsqueeze(1)).squeeze(1)
        loss = (lse - picked + 1e-4 * lse * lse) * mask
        return loss.sum() / mask.sum()


def get_inputs():
    return [
        torch.randn(TOKENS, CLASSES),
        torch.randint(0, CLASSES, (TOKENS,)),
        torch.rand(TOKENS).round() + 0.5,
    ]


def get_init_inputs():
    return []
