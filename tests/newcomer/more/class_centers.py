# How far features lie from the centre of their class, by a product with all centres; each pair's cosine beside it.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, classes, width):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(classes, width))

    def forward(self, x, labels):
        own = x.pow(2).sum(1, keepdim=True) + self.centers.pow(2).sum(1)
        distance = own.addmm(x, self.centers.t(), beta=1, alpha=-2)
        picked = labels.unsqueeze(1) == torch.arange(self.centers.size(0))
        spread = torch.einsum("ii->i", torch.einsum("bi,bj->ij", x, x)).sum()
        return (distance * picked).clamp(min=1e-12).sum() / x.size(0), F.cosine_similarity(x[:, None], self.centers[None], dim=-1), spread


def get_inputs():
    return [torch.randn(40, 24), torch.randint(0, 10, (40,))]


def get_init_inputs():
    return [10, 24]
