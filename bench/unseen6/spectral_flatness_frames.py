"""Flatness of power spectra: mean of logarithms less the logarithm of the mean, and the centroid.

category: reduce
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

FRAMES = 4096
BINS = 513


class Model(nn.Module):
    def forward(self, power):
        p = power + 1e-6
        flat = p.log().mean(dim=-1) - p.mean(dim=-1).log()
        bins = torch.arange(p.shape[-1], device=p.device, dtype=p.dtype)
        centre = (p * bins).sum(dim=-1) / p.sum(dim=-1)
        return flat, centre


def get_inputs():
    return [torch.rand(FRAMES, BINS)]


def get_init_inputs():
    return []
