"""NetVLAD: differences to soft-assigned cluster centres, summed and normalised.

category: arch
suite: multikernelbench
level: 3
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2048
SAMPLES = 100
CLUSTERS = 32
FEATURES = 512
GHOSTS = 0


class Model(nn.Module):
    def __init__(self, clusters, features, ghosts):
        super().__init__()
        scale = 1 / math.sqrt(features)
        self.kept = clusters
        self.clusters = nn.Parameter(scale * torch.randn(features, clusters + ghosts))
        self.batch_norm = nn.BatchNorm1d(clusters + ghosts)
        self.clusters2 = nn.Parameter(scale * torch.randn(1, features, clusters))

    def forward(self, x):
        n, samples, features = x.shape
        rows = x.view(-1, features)
        share = F.softmax(self.batch_norm(rows @ self.clusters), dim=1)[:, :self.kept]
        share = share.view(-1, samples, self.kept)
        centres = share.sum(dim=1, keepdim=True) * self.clusters2
        sums = (share.transpose(1, 2) @ rows.view(-1, samples, features)).transpose(1, 2)
        y = F.normalize(sums - centres).reshape(-1, self.kept * features)
        return F.normalize(y)


def get_inputs():
    return [torch.rand(BATCH, SAMPLES, FEATURES)]


def get_init_inputs():
    return [CLUSTERS, FEATURES, GHOSTS]
