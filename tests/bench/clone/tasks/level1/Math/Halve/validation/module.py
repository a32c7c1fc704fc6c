import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x / 2


class ModelNew(nn.Module):
    def forward(self, x):
        import kernel_gen_ops
        return kernel_gen_ops.halve(x)
