# Names and habits of older code: tensor types as text, number over half tensor, the mode of a row, numbers taken out.
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, half, votes):
        weight = torch.FloatTensor([0.5, 1.5, 2.5, 3.5])
        order = torch.LongTensor([3, 1, 0, 2])
        above = (x > 0).type(torch.FloatTensor) * weight
        turned = x[:, order].type(x.type())
        steps = 3 if math.log2(x.size(0)).is_integer() else 5
        scale = 127.0 / half.abs().max(dim=-1, keepdim=True).values
        value, place = torch.mode(votes, dim=1)
        count = max(1, (x > 0).sum().item())
        return above, turned * steps, (half * scale).round(), value, place, x.sum() / count, int(x.abs().max()) + x


def get_inputs():
    return [torch.randn(6, 4), torch.randn(5, 8).to(torch.bfloat16), torch.randint(0, 3, (6, 7))]
