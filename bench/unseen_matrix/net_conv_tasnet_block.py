"""Encoder, a separator of dilated depthwise blocks with global norms, masks, decoder."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
SAMPLES = 4000
FILTERS = 64
HIDDEN = 128
SPEAKERS = 2


class Block(nn.Module):
    def __init__(self, width, hidden, dilation):
        super().__init__()
        self.into = nn.Conv1d(width, hidden, 1)
        self.norm1 = nn.GroupNorm(1, hidden)
        self.depth = nn.Conv1d(hidden, hidden, 3, padding=dilation, dilation=dilation, groups=hidden)
        self.norm2 = nn.GroupNorm(1, hidden)
        self.out = nn.Conv1d(hidden, width, 1)
        self.act = nn.PReLU()

    def forward(self, x):
        y = self.norm1(self.act(self.into(x)))
        return x + self.out(self.norm2(self.act(self.depth(y))))


class Model(nn.Module):
    def __init__(self, filters, hidden, speakers):
        super().__init__()
        self.speakers = speakers
        self.encode = nn.Conv1d(1, filters, 16, stride=8, bias=False)
        self.blocks = nn.Sequential(*[Block(filters, hidden, 2 ** i) for i in range(3)])
        self.mask = nn.Conv1d(filters, speakers * filters, 1)
        self.decode = nn.ConvTranspose1d(filters, 1, 16, stride=8, bias=False)

    def forward(self, x):
        e = F.relu(self.encode(x))
        b, f, t = e.shape
        m = torch.sigmoid(self.mask(self.blocks(e))).view(b, self.speakers, f, t)
        y = (m * e.unsqueeze(1)).view(b * self.speakers, f, t)
        return self.decode(y).view(b, self.speakers, -1)


def get_inputs():
    return [torch.randn(BATCH, 1, SAMPLES)]


def get_init_inputs():
    return [FILTERS, HIDDEN, SPEAKERS]
