"""Text attends to an image: both are projected to the width of the text first.

category: attention
suite: multikernelbench
level: 1
"""
import torch
import torch.nn as nn

BATCH = 4
WORDS = 32
PATCHES = 196
TEXT_WIDTH = 256
IMAGE_WIDTH = 512
HEADS = 8


class Model(nn.Module):
    def __init__(self, text_width, image_width, num_heads):
        super().__init__()
        self.to_query = nn.Linear(text_width, text_width)
        self.to_key_value = nn.Linear(image_width, text_width)
        self.attention = nn.MultiheadAttention(text_width, num_heads, batch_first=True)

    def forward(self, text, image):
        kv = self.to_key_value(image)
        return self.attention(self.to_query(text), kv, kv)[0]


def get_inputs():
    return [torch.rand(BATCH, WORDS, TEXT_WIDTH), torch.rand(BATCH, PATCHES, IMAGE_WIDTH)]


def get_init_inputs():
    return [TEXT_WIDTH, IMAGE_WIDTH, HEADS]
