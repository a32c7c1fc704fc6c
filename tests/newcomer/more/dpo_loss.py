import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """DPO: per-sequence log probs of labels (ignore -100), then preference loss and rewards."""

    def __init__(self, beta=0.1):
        super().__init__()
        self.beta = beta

    @staticmethod
    def logps(logits, labels):
        labels = labels[:, 1:].clone()
        logits = logits[:, :-1, :]
        mask = labels != -100
        labels[labels == -100] = 0
        per_token = torch.gather(logits.log_softmax(-1), dim=2, index=labels.unsqueeze(2)).squeeze(2)
        return (per_token * mask).sum(-1)

    def forward(self, chosen, rejected, labels_c, labels_r, ref_c, ref_r):
        pc, pr = self.logps(chosen, labels_c), self.logps(rejected, labels_r)
        logits = (pc - pr) - (ref_c - ref_r)
        losses = -F.logsigmoid(self.beta * logits)
        return losses.mean(), self.beta * (pc - ref_c).detach(), self.beta * (pr - ref_r).detach()


B, L, V = 4, 32, 500


def get_inputs():
    lc = torch.randint(0, V, (B, L))
    lc[:, :5] = -100
    lr = torch.randint(0, V, (B, L))
    return [torch.randn(B, L, V), torch.randn(B, L, V), lc, lr, torch.randn(B), torch.randn(B)]
