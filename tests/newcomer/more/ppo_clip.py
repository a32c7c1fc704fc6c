import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, clip=0.2, vf=0.5, ent=0.01):
        super().__init__()
        self.clip, self.vf, self.ent = clip, vf, ent

    def forward(self, logits, actions, old_logp, adv, values, returns):
        logp_all = F.log_softmax(logits, -1)
        logp = logp_all.gather(1, actions[:, None]).squeeze(1)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        ratio = torch.exp(logp - old_logp)
        pg = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 1 - self.clip, 1 + self.clip)).mean()
        v = 0.5 * ((values - returns) ** 2).mean()
        entropy = -(logp_all.exp() * logp_all).sum(-1).mean()
        return pg + self.vf * v - self.ent * entropy


def get_inputs():
    n = 2048
    return [torch.randn(n, 18), torch.randint(0, 18, (n,)), -torch.rand(n) * 3, torch.randn(n), torch.randn(n), torch.randn(n)]
