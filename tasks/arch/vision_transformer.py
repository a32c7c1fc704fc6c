"""A vision transformer: patches, a class token, six encoder layers, a perceptron as head.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 2
CHANNELS = 3
SIDE = 224
PATCH = 16
CLASSES = 10
WIDTH = 512
DEPTH = 6
HEADS = 8
INNER = 2048
DROP = 0.0


class Model(nn.Module):
    def __init__(self, side, patch, classes, width, depth, heads, inner, channels, drop):
        super().__init__()
        self.patch = patch
        self.pos_embedding = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, width))
        self.patch_to_embedding = nn.Linear(channels * patch * patch, width)
        self.cls_token = nn.Parameter(torch.randn(1, 1, width))
        self.dropout = nn.Dropout(drop)
        layer = nn.TransformerEncoderLayer(width, heads, inner, dropout=drop)
        self.transformer = nn.TransformerEncoder(layer, depth)
        self.mlp_head = nn.Sequential(
            nn.Linear(width, inner), nn.GELU(), nn.Dropout(drop), nn.Linear(inner, classes))

    def forward(self, image):
        n, c, p = image.shape[0], image.shape[1], self.patch
        x = image.unfold(2, p, p).unfold(3, p, p).reshape(n, -1, p * p * c)
        x = torch.cat([self.cls_token.expand(n, -1, -1), self.patch_to_embedding(x)], dim=1)
        x = self.transformer(self.dropout(x + self.pos_embedding))
        return self.mlp_head(x[:, 0])


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [SIDE, PATCH, CLASSES, WIDTH, DEPTH, HEADS, INNER, CHANNELS, DROP]
