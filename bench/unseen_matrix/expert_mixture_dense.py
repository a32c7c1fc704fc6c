"""All experts for all tokens, weighed by the router's softmax."""
import torch
import torch.nn as nn
import torch.nn.functional as F

TOKENS = 1024
WIDTH = 256
HIDDEN = 512
EXPERTS = 4


class Model(nn.Module):
    def __init__(self, width, hidden, experts):
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        self.w1 = nn.Parameter(torch.randn(experts, width, hidden) * 0.05)
        self.w2 = nn.Parameter(torch.randn(experts, hidden, width) * 0.05)

    def forward(self, x):
        p = torch.softmax(self.router(x), dim=-1)
        h = F.gelu(torch.einsum("tc,ech->eth", x, self.w1))
        y = torch.einsum("eth,ehc->etc", h, self.w2)
        return (y * p.t().unsqueeze(-1)).sum(0)


def get_inputs():
    return [torch.randn(TOKENS, WIDTH)]


def get_init_inputs():
    return [WIDTH, HIDDEN, EXPERTS]
