# Library functions that are said by others, the second lot.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.pads = nn.ModuleList([nn.CircularPad2d(1), nn.ZeroPad1d(2)])
        self.up = nn.UpsamplingBilinear2d(scale_factor=2)
        self.near = nn.UpsamplingNearest2d(size=(7, 5))
        self.soft = nn.Softmax2d()
        self.far = nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1), swap=True, margin=3.0)
        self.weight = nn.Parameter(torch.randn(3, 6, 6) * 0.1)
        self.steps = torch.logspace(0, 2, 6)

    def forward(self, x, y, img, target, places):
        m = x[:4, :4].clone()
        m.fill_diagonal_(0.5)
        first = [m, torch.slice_scatter(x, y[:, :2], dim=1, start=1, end=5, step=2), torch.cov(x), torch.corrcoef(x)]
        p = torch.sigmoid(x)
        second = [torch.special.entr(p), torch.special.ndtr(x), torch.special.xlog1py(p, p), x * self.steps]
        parts = list(torch.hsplit(x, 3)) + list(torch.vsplit(x, [1, 3]))
        joined = [torch.column_stack([x[:, 0], y]), torch.dstack([x, y]), torch.block_diag(x[:2], y[:1], x[0])]
        low, high = torch.tril_indices(5, 6, -1), torch.triu_indices(5, 6, 1)
        taken = [x[low[0], low[1]], x[high[0], high[1]], torch.cartesian_prod(x[0], y[0, :3])]
        norms = [torch.linalg.matrix_norm(x), torch.linalg.matrix_norm(x, 1), torch.linalg.matrix_norm(x, float("-inf"), keepdim=True)]
        pairs = [torch.linalg.vecdot(x, y), F.bilinear(x, y, self.weight), F.pdist(x), torch.vdot(x[0], y[0])]
        losses = [F.multilabel_margin_loss(x, target), self.far(x, y, y.flip(0))]
        images = [self.pads[0](img), self.pads[1](img[0]), self.up(img), self.near(img), self.soft(img)]
        shifts = [torch.fft.fftshift(img, dim=(-2, -1)), torch.fft.ifftshift(x)]
        return first + second + parts + joined + taken + norms + pairs + losses + images + shifts + list(torch.unravel_index(places, (4, 5)))


def get_inputs():
    target = torch.full((5, 6), -1)
    target[:, 0] = 3
    target[:3, 1] = 5
    target[4, 3] = 2
    return [torch.randn(5, 6), torch.randn(5, 6), torch.randn(2, 3, 4, 5), target, torch.randint(0, 20, (7,))]


def get_init_inputs():
    return []
