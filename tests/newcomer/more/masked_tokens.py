# A masked language model's inputs and loss: tokens under the mask are replaced, others are not counted.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.blank = nn.Parameter(torch.randn(width))

    def forward(self, tokens, noise, chosen, logits, labels):
        tokens = tokens.clone()
        tokens[chosen] = self.blank
        loud = noise > 0.9
        tokens[loud] = tokens[loud] * 0.5 + noise[loud]
        right = logits[chosen].argmax(-1) == labels[chosen]
        return tokens, F.cross_entropy(logits[chosen], labels[chosen]), right.float().mean()


batch, length, width, words = 4, 20, 12, 30


def get_inputs():
    return [torch.randn(batch, length, width), torch.rand(batch, length, width), torch.rand(batch, length) > 0.4,
            torch.randn(batch, length, words), torch.randint(0, words, (batch, length))]


def get_init_inputs():
    return [width]
