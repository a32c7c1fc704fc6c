# Elements under a mask: computed on, reduced, counted, written back, by every way to pick them.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, y, labels, row):
        keep = labels != -1
        rows, classes = x[keep], labels[keep]
        logp = F.log_softmax(rows, dim=-1)
        likely = -logp.gather(1, classes.unsqueeze(1)).squeeze(1).mean()
        high = y > 0.3
        p = torch.masked_select(y, high)
        x = x.clone()
        x[keep] = row
        z = y.clone()
        z[high] = z[high] * 2 + x[high]
        z[y < -1] = 0
        total = y[torch.where(high)].sum() / p.numel()
        spread = p.std() + p.var(unbiased=False) + p.norm() + p.logsumexp(0)
        ends = p.max() - p.min() + rows.shape[0] + rows.sum(0).prod() * 0 + (p > 0.5).sum()
        return (likely, x, z, total, spread, ends, rows.mean(), rows.mean(0), F.cross_entropy(rows, classes),
                F.l1_loss(y[high], z[high]), F.mse_loss(y[high], z[high], reduction="sum"), (p > 2).any(), (p > 0).all())


def get_inputs():
    return [torch.randn(9, 5), torch.randn(9, 5), torch.randint(-1, 5, (9,)), torch.randn(5)]
