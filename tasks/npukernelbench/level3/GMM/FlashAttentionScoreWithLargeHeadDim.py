"""softmax(query key^T scale_value) value in float32, with the largest score of each row and the
sum of its exponentials. As in the suite's reference the heads are not told apart.

in   query         f16
in   key           f16
in   value         f16
out  softmax_max   f32
out  softmax_sum   f32
out  attention_out f16
attr scale_value   float 1.0
attr head_num      int
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, query, key, value, scale_value, head_num):
        scores = torch.matmul(query.float(), key.float().transpose(-1, -2)) * scale_value
        largest = torch.amax(scores, dim=-1, keepdim=True)
        total = torch.sum(torch.exp(scores - largest), dim=-1, keepdim=True)
        weights = torch.softmax(scores, dim=-1)
        return largest, total, torch.matmul(weights, value.float()).to(query.dtype)


def get_inputs(case):
    drawn = [torch.rand(case["shape"], dtype=torch.float16) * 0.02 - 0.01 for _ in range(3)]
    return drawn + [case["scale_value"], case["head_num"]]
