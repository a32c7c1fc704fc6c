import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Batch-hard triplet loss from a distance matrix and int64 labels."""

    def __init__(self, margin: float = 0.3):
        super().__init__()
        self.margin = margin

    def forward(self, dist, labels):
        same = labels.unsqueeze(0) == labels.unsqueeze(1)
        eye = torch.eye(dist.size(0), dtype=torch.bool)
        hardest_pos = dist.masked_fill(~same | eye, -1e9).amax(1)
        hardest_neg = dist.masked_fill(same, 1e9).amin(1)
        return F.relu(hardest_pos - hardest_neg + self.margin).mean()


def get_inputs():
    return [torch.rand(256, 256), torch.randint(0, 16, (256,))]
