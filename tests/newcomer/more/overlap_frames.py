# Windowed frames of a signal added up where they overlap, divided by what the windows add up to.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, frame, hop):
        super().__init__()
        self.frame, self.hop = frame, hop
        self.register_buffer("window", torch.hann_window(frame))

    def forward(self, frames):
        batch, _, count = frames.shape
        length = (count - 1) * self.hop + self.frame
        shape = dict(output_size=(1, length), kernel_size=(1, self.frame), stride=(1, self.hop))
        sound = F.fold(frames * self.window[None, :, None], **shape)
        weight = F.fold((self.window ** 2)[None, :, None].expand(1, -1, count), **shape)
        return (sound / weight.clamp_min(1e-6)).view(batch, length)


def get_inputs():
    return [torch.randn(4, 12, 20)]


def get_init_inputs():
    return [12, 5]
