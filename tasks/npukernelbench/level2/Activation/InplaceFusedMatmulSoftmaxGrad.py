"""With g = gradOutput times values transposed: (g - sum(softmaxOutput * g)) * softmaxOutput, the
sum over the last dim; written over softmaxOutput.

in   softmaxOutput f16 f32 bf16
in   gradOutput    f16 f32 bf16
in   values        f16 f32 bf16
mut  softmaxOutput f16 f32 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, softmaxOutput, gradOutput, values):
        g = torch.matmul(gradOutput, torch.transpose(values, -2, -1))
        return (g - (softmaxOutput * g).sum(-1, keepdim=True)) * softmaxOutput


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    shapes = [case["softmax"], case["grad"], case["values"]]
    return [torch.empty(shape, dtype=dtype).uniform_(-0.01, 0.01) for shape in shapes]
