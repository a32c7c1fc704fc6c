"""Swin MLP: mixing inside shifted windows by grouped 1 x 1 convolutions.

category: arch
suite: multikernelbench
level: 3
"""
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


class Block(nn.Module):
    def __init__(self, width, side, heads, shift):
        super().__init__()
        self.side, self.heads = side, heads
        self.window = min(WINDOW, side)
        self.shift = shift if side > WINDOW else 0
        self.norm1 = nn.LayerNorm(width)
        mixed = heads * self.window ** 2
        self.spatial_mlp = nn.Conv1d(mixed, mixed, 1, groups=heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = Mlp(width, 4 * width)

    def mix(self, windows):
        pixels, c = self.window ** 2, windows.shape[-1]
        y = windows.view(-1, pixels, self.heads, c // self.heads).transpose(1, 2)
        y = self.spatial_mlp(y.reshape(-1, self.heads * pixels, c // self.heads))
        y = y.view(-1, self.heads, pixels, c // self.heads).transpose(1, 2)
        return y.reshape(-1, self.window, self.window, c)

    def forward(self, x):
        b, pixels, c = x.shape
        y = self.norm1(x).view(b, self.side, self.side, c)
        low, high = self.window - self.shift, self.shift
        if self.shift:
            y = F.pad(y, (0, 0, low, high, low, high))
        h, w = y.shape[1], y.shape[2]
        y = from_windows(self.mix(to_windows(y, self.window)), self.window, h, w)
        if self.shift:
            y = y[:, low:-high, low:-high]
        x = x + y.reshape(b, pixels, c)
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Module):
    def __init__(self, side, width):
        super().__init__()
        self.side = side
        self.reduction = nn.Linear(4 * width, 2 * width, bias=False)
        self.norm = nn.LayerNorm(4 * width)

    def forward(self, x):
        b, _, c = x.shape
        x = x.view(b, self.side, self.side, c)
        corners = [x[:, i::2, j::2] for j in range(2) for i in range(2)]
        x = torch.cat(corners, dim=-1).view(b, -1, 4 * c)
        return self.reduction(self.norm(x))


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
