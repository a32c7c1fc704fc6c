# A detection loss that is divided by how many anchors are positive, taken out of the tensor as a number.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, scores, labels):
        positive = max(1, (labels == 1).sum().item())
        each = F.binary_cross_entropy_with_logits(scores, (labels == 1).float(), reduction="none")
        lowest, highest = torch.quantile(scores, torch.tensor([0.1, 0.9]), dim=1, keepdim=True)
        return each.sum() / positive, scores.clamp(min=lowest, max=highest)


def get_inputs():
    return [torch.randn(12, 40), torch.randint(-1, 3, (12, 40))]
