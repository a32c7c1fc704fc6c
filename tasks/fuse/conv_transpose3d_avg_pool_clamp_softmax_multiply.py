"""Mean over windows, transposed convolution, clamp, softmax over space, channel scale.

category: fuse
suite: multikernelbench
level: 2
"""
import torch
import torch.nn as nn

BATCH = 32
IN_CHANNELS = 32
OUT_CHANNELS = 64
DEPTH = 32
HEIGHT = 64
WIDTH = 64
KERNEL = 3
STRIDE = 2
PADDING = 1
OUTPUT_PADDING = 1
POOL = 2
LOW = 0.0
HIGH = 1.0


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding,
                 pool_size, low, high):
        super().__init__()
        self.conv = nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=stride,
                                       padding=padding, output_padding=output_padding)
        self.pool = nn.AvgPool3d(pool_size)
        self.low = low
        self.high = high
        self.scale = nn.Parameter(torch.ones(1, out_channels, 1, 1, 1))

    def forward(self, x):
        x = torch.clamp(self.conv(self.pool(x)), self.low, self.high)
        flat = torch.softmax(x.flatten(2), dim=2)
        return flat.view(x.shape) * self.scale


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, KERNEL, STRIDE, PADDING, OUTPUT_PADDING, POOL, LOW, HIGH]
