"""Cross entropy of tokens with a mask, and the squared log of the partition function as a regulariser."""
import torch
import torch.nn as nn

TOKENS = 500
VOCAB = 8003


class Model(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, logits, target, mask):
        partition = torch.logsumexp(logits, dim=-1)
        chosen = logits.gather(1, target.unsqueeze(1)).squeeze(1)
        loss = partition - chosen + self.weight * partition * partition
        return (loss * mask).sum() / mask.sum().clamp(min=1.0)


def get_inputs():
    return [torch.randn(TOKENS, VOCAB), torch.randint(0, VOCAB, (TOKENS,)), (torch.rand(TOKENS) > 0.2).float()]


def get_init_inputs():
    return [1e-4]
