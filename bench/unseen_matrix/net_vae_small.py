"""A variational autoencoder: convolutions down, two heads, transposed convolutions up."""
import torch
import torch.nn as nn

BATCH = 16
LATENT = 32


class Model(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.down = nn.Sequential(
            nn.Conv2d(3, 32, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.LeakyReLU(0.2), nn.Flatten())
        self.mean = nn.Linear(64 * 8 * 8, latent)
        self.logvar = nn.Linear(64 * 8 * 8, latent)
        self.grow = nn.Linear(latent, 64 * 8 * 8)
        self.up = nn.Sequential(
            nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), nn.ReLU(),
            nn.ConvTranspose2d(32, 3, 4, stride=2, padding=1), nn.Sigmoid())

    def forward(self, x, noise):
        h = self.down(x)
        mean, logvar = self.mean(h), self.logvar(h)
        z = mean + noise * torch.exp(0.5 * logvar)
        y = self.up(self.grow(z).view(-1, 64, 8, 8))
        kl = -0.5 * (1.0 + logvar - mean * mean - logvar.exp()).sum(dim=1)
        return y, kl


def get_inputs():
    return [torch.rand(BATCH, 3, 32, 32), torch.randn(BATCH, LATENT)]


def get_init_inputs():
    return [LATENT]
