"""Mean of token losses over the valid positions of each sequence.

category: loss
"""
import torch
import torch.nn as nn

BATCH = 16
STEPS = 60
VOCAB = 4000


class Model(nn.Module):
    def forward(self, logits, labels, lengths):
        logp = torch.log_softmax(logits, dim=-1)
        nll = -logp.gather(2, labels.unsqueeze(2)).squeeze(2)
        valid = torch.arange(nll.shape[1]).unsqueeze(0) < lengths.unsqueeze(1)
        nll = nll * valid.float()
        return nll.sum(1) / valid.float().sum(1)


def get_inputs():
    return [
        torch.randn(BATCH, STEPS, VOCAB),
        torch.randint(0, VOCAB, (BATCH, STEPS)),
        torch.randint(1, STEPS, (BATCH,)),
    ]


def get_init_inputs():
    return []
