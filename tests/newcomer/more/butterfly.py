# A Walsh-Hadamard transform by butterflies, doubled until it spans the row.
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        width, half = x.shape[-1], 1
        while half < width:
            pairs = x.view(-1, width // (2 * half), 2, half)
            x = torch.stack((pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]), dim=2)
            half *= 2
        return x.reshape(-1, width) * width ** -0.5


def get_inputs():
    return [torch.randn(10, 16)]
