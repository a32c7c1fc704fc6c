"""U-Net with softmax over rows instead of ReLU.

category: arch
suite: multikernelbench
level: 3
"""
import torch
import torch.nn as nn

BATCH = 8
IN_CHANNELS = 8
OUT_CHANNELS = 4
HEIGHT = 64
WIDTH = 512
FEATURES = 64


class DoubleConv(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        parts = []
        for channels in (before, after):
            parts += [nn.Conv2d(channels, after, 3, padding=1), nn.BatchNorm2d(after),
                      nn.Softmax(dim=-1)]
        self.double_conv = nn.Sequential(*parts)

    def forward(self, x):
        return self.double_conv(x)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, f):
        super().__init__()
        self.pool = nn.MaxPool2d(2)
        self.encoder1 = DoubleConv(in_channels, f)
        self.encoder2 = DoubleConv(f, 2 * f)
        self.encoder3 = DoubleConv(2 * f, 4 * f)
        self.encoder4 = DoubleConv(4 * f, 8 * f)
        self.bottleneck = DoubleConv(8 * f, 16 * f)
        self.upconv4 = nn.ConvTranspose2d(16 * f, 8 * f, 2, stride=2)
        self.decoder4 = DoubleConv(16 * f, 8 * f)
        self.upconv3 = nn.ConvTranspose2d(8 * f, 4 * f, 2, stride=2)
        self.decoder3 = DoubleConv(8 * f, 4 * f)
        self.upconv2 = nn.ConvTranspose2d(4 * f, 2 * f, 2, stride=2)
        self.decoder2 = DoubleConv(4 * f, 2 * f)
        self.upconv1 = nn.ConvTranspose2d(2 * f, f, 2, stride=2)
        self.decoder1 = DoubleConv(2 * f, f)
        self.final_conv = nn.Conv2d(f, out_channels, 1)

    def forward(self, x):
        kept = []
        for encoder in (self.encoder1, self.encoder2, self.encoder3, self.encoder4):
            kept.append(encoder(x))
            x = self.pool(kept[-1])
        x = self.bottleneck(x)
        for up, decoder in ((self.upconv4, self.decoder4), (self.upconv3, self.decoder3),
                            (self.upconv2, self.decoder2), (self.upconv1, self.decoder1)):
            x = decoder(torch.cat([up(x), kept.pop()], dim=1))
        return self.final_conv(x)


def get_inputs():
    return [torch.rand(BATCH, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [IN_CHANNELS, OUT_CHANNELS, FEATURES]
