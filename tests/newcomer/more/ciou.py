import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """CIoU of box pairs (x1,y1,x2,y2)."""

    def forward(self, b1, b2, eps=1e-7):
        b1x1, b1y1, b1x2, b1y2 = b1.unbind(-1)
        b2x1, b2y1, b2x2, b2y2 = b2.unbind(-1)
        w1, h1 = b1x2 - b1x1, b1y2 - b1y1 + eps
        w2, h2 = b2x2 - b2x1, b2y2 - b2y1 + eps
        inter = (torch.min(b1x2, b2x2) - torch.max(b1x1, b2x1)).clamp(0) * \
                (torch.min(b1y2, b2y2) - torch.max(b1y1, b2y1)).clamp(0)
        union = w1 * h1 + w2 * h2 - inter + eps
        iou = inter / union
        cw = torch.max(b1x2, b2x2) - torch.min(b1x1, b2x1)
        ch = torch.max(b1y2, b2y2) - torch.min(b1y1, b2y1)
        c2 = cw ** 2 + ch ** 2 + eps
        rho2 = ((b2x1 + b2x2 - b1x1 - b1x2) ** 2 + (b2y1 + b2y2 - b1y1 - b1y2) ** 2) / 4
        v = (4 / 3.141592653589793 ** 2) * torch.pow(torch.atan(w2 / h2) - torch.atan(w1 / h1), 2)
        alpha = v / (v - iou + (1 + eps))
        return iou - (rho2 / c2 + v * alpha)


def get_inputs():
    a = torch.rand(4096, 4)
    b = torch.rand(4096, 4)
    a = torch.cat([a[:, :2], a[:, :2] + a[:, 2:] + 0.1], 1)
    b = torch.cat([b[:, :2], b[:, :2] + b[:, 2:] + 0.1], 1)
    return [a, b]
