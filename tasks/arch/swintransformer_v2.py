"""Swin Transformer V2: cosine attention inside shifted windows, position bias by a perceptron.

category: arch
suite: multikernelbench
level: 3
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 10
CHANNELS = 3
SIDE = 224
PATCH = 4
WIDTH = 96
DEPTHS = [2, 2, 6, 2]
HEADS = [3, 6, 12, 24]
WINDOW = 7
CLASSES = 1000


def to_windows(x, size):
    b, h, w, c = x.shape
    x = x.view(b, h // size, size, w // size, size, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, size, size, c)


def from_windows(windows, size, h, w):
    c = windows.shape[-1]
    x = windows.view(-1, h // size, w // size, size, size, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, h, w, c)


class Mlp(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.fc1 = nn.Linear(width, inner)
        self.fc2 = nn.Linear(inner, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class Attention(nn.Module):
    def __init__(self, width, window, heads):
        super().__init__()
        self.window, self.heads = window, heads
        self.logit_scale = nn.Parameter(torch.log(10 * torch.ones(heads, 1, 1)))
        self.cpb_mlp = nn.Sequential(
            nn.Linear(2, 512), nn.ReLU(), nn.Linear(512, heads, bias=False))
        line = torch.arange(-(window - 1), window, dtype=torch.float32)
        table = torch.stack(torch.meshgrid([line, line])).permute(1, 2, 0).unsqueeze(0)
        table = table / (window - 1) * 8
        table = torch.sign(table) * torch.log2(torch.abs(table) + 1.0) / math.log2(8)
        self.register_buffer("relative_coords_table", table)
        places = torch.stack(torch.meshgrid([torch.arange(window), torch.arange(window)])).flatten(1)
        apart = (places[:, :, None] - places[:, None, :]).permute(1, 2, 0) + (window - 1)
        index = apart[:, :, 0] * (2 * window - 1) + apart[:, :, 1]
        self.register_buffer("relative_position_index", index)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.q_bias = nn.Parameter(torch.zeros(width))
        self.v_bias = nn.Parameter(torch.zeros(width))
        self.proj = nn.Linear(width, width)

    def position_bias(self):
        pixels = self.window ** 2
        table = self.cpb_mlp(self.relative_coords_table).view(-1, self.heads)
        bias = table[self.relative_position_index.view(-1)].view(pixels, pixels, -1)
        return 16 * torch.sigmoid(bias.permute(2, 0, 1))

    def forward(self, x, mask):
        b, n, c = x.shape
        bias = torch.cat([self.q_bias, torch.zeros_like(self.v_bias), self.v_bias])
        qkv = F.linear(x, self.qkv.weight, bias)
        q, k, v = qkv.reshape(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        most = torch.log(torch.tensor(1.0 / 0.01))
        scores = scores * torch.clamp(self.logit_scale, max=most).exp()
        scores = scores + self.position_bias().unsqueeze(0)
        if mask is not None:
            count = mask.shape[0]
            scores = scores.view(b // count, count, self.heads, n, n) + mask[None, :, None]
            scores = scores.view(-1, self.heads, n, n)
        y = torch.softmax(scores, dim=-1) @ v
        return self.proj(y.transpose(1, 2).reshape(b, n, c))


def window_mask(side, window, shift):
    image = torch.zeros(1, side, side, 1)
    parts = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
    for i, rows in enumerate(parts):
        for j, columns in enumerate(parts):
            image[:, rows, columns] = 3 * i + j
    ids = to_windows(image, window).view(-1, window * window)
    apart = ids.unsqueeze(1) - ids.unsqueeze(2)
    return apart.masked_fill(apart != 0, -100.0).masked_fill(apart == 0, 0.0)


class Block(nn.Module):
    def __init__(self, width, side, heads, shift):
        super().__init__()
        self.side = side
        self.window = min(WINDOW, side)
        self.shift = shift if side > WINDOW else 0
        self.norm1 = nn.LayerNorm(width)
        self.attn = Attention(width, self.window, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = Mlp(width, 4 * width)
        mask = window_mask(side, self.window, self.shift) if self.shift else None
        self.register_buffer("attn_mask", mask)

    def forward(self, x):
        b, pixels, c = x.shape
        y = x.view(b, self.side, self.side, c)
        if self.shift:
            y = torch.roll(y, (-self.shift, -self.shift), (1, 2))
        y = self.attn(to_windows(y, self.window).view(-1, self.window ** 2, c), self.attn_mask)
        y = from_windows(y.view(-1, self.window, self.window, c), self.window, self.side, self.side)
        if self.shift:
            y = torch.roll(y, (self.shift, self.shift), (1, 2))
        x = x + self.norm1(y.view(b, pixels, c))
        return x + self.norm2(self.mlp(x))


class PatchMerging(nn.Module):
    def __init__(self, side, width):
        super().__init__()
        self.side = side
        self.reduction = nn.Linear(4 * width, 2 * width, bias=False)
        self.norm = nn.LayerNorm(2 * width)

    def forward(self, x):
        b, _, c = x.shape
        x = x.view(b, self.side, self.side, c)
        corners = [x[:, i::2, j::2] for j in range(2) for i in range(2)]
        x = torch.cat(corners, dim=-1).view(b, -1, 4 * c)
        return self.norm(self.reduction(x))


class Stage(nn.Module):
    def __init__(self, width, side, depth, heads, merges):
        super().__init__()
        self.blocks = nn.ModuleList(
            [Block(width, side, heads, 0 if i % 2 == 0 else WINDOW // 2) for i in range(depth)])
        self.downsample = PatchMerging(side, width) if merges else None

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x if self.downsample is None else self.downsample(x)


class PatchEmbed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Conv2d(CHANNELS, width, PATCH, stride=PATCH)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(self.proj(x).flatten(2).transpose(1, 2))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = PatchEmbed(WIDTH)
        self.layers = nn.ModuleList()
        width, side = WIDTH, SIDE // PATCH
        for i, depth in enumerate(DEPTHS):
            self.layers.append(Stage(width << i, side >> i, depth, HEADS[i], i + 1 < len(DEPTHS)))
        last = WIDTH << (len(DEPTHS) - 1)
        self.norm = nn.LayerNorm(last)
        self.head = nn.Linear(last, CLASSES)

    def forward(self, x):
        x = self.patch_embed(x)
        for layer in self.layers:
            x = layer(x)
        x = F.adaptive_avg_pool1d(self.norm(x).transpose(1, 2), 1)
        return self.head(x.flatten(1))


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return []
