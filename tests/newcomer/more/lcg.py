import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, seed):
        x = seed
        for _ in range(2):
            x = (x * 1103515245 + 12345) & 0x7fffffff
        return x.float() / 2147483648.0


def get_inputs():
    return [torch.randint(0, 2 ** 31, (1000,))]
