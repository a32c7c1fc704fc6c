"""Two graph attention layers over a dense adjacency matrix."""
import torch
import torch.nn as nn
import torch.nn.functional as F

NODES = 700
FEATURES = 200
WIDTH = 16
HEADS = 4
CLASSES = 7


class Layer(nn.Module):
    def __init__(self, features, width, heads):
        super().__init__()
        self.heads, self.width = heads, width
        self.proj = nn.Linear(features, heads * width, bias=False)
        self.left = nn.Parameter(torch.randn(heads, width) * 0.1)
        self.right = nn.Parameter(torch.randn(heads, width) * 0.1)

    def forward(self, x, adjacency):
        h = self.proj(x).view(-1, self.heads, self.width)
        a = (h * self.left).sum(-1)
        b = (h * self.right).sum(-1)
        s = F.leaky_relu(a.t().unsqueeze(2) + b.t().unsqueeze(1), 0.2)
        s = s.masked_fill(adjacency == 0, -1e9)
        return torch.softmax(s, dim=-1) @ h.transpose(0, 1)


class Model(nn.Module):
    def __init__(self, features, width, heads, classes):
        super().__init__()
        self.one = Layer(features, width, heads)
        self.two = Layer(width * heads, classes, 1)

    def forward(self, x, adjacency):
        y = F.elu(self.one(x, adjacency).transpose(0, 1).flatten(1))
        return torch.log_softmax(self.two(y, adjacency).squeeze(0), dim=-1)


def get_inputs():
    return [torch.randn(NODES, FEATURES), torch.randint(0, 2, (NODES, NODES))]


def get_init_inputs():
    return [FEATURES, WIDTH, HEADS, CLASSES]
