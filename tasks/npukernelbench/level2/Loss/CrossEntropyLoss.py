"""Cross entropy of class scores against class numbers in float32: loss, log softmax, and the log
of the sum of exponentials of each row; zloss is lse_square_scale_for_zloss times the mean
square of the latter when asked for, else 0. A class number equal to a non-negative ignore_index
does not count.

in   input                      f16 f32 bf16
in   target                     i64*3
opt  weight                     f32*3
out  loss                       f16 f32 bf16
out  log_prob                   f16 f32 bf16
out  zloss                      f16 f32 bf16
out  lse_for_zloss              f16 f32 bf16
attr reduction                  text mean
attr ignore_index               int -100
attr label_smoothing            float 0.0
attr lse_square_scale_for_zloss float 0.0
attr return_zloss               bool False
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, input, target, weight, reduction, ignore_index, label_smoothing,
                lse_square_scale_for_zloss, return_zloss):
        classes = input.shape[1]
        wide = input.float()
        share = torch.ones(classes) if weight is None else weight.float()
        top = torch.max(wide, dim=1, keepdim=True)[0]
        lse = top + torch.log(torch.sum(torch.exp(wide - top), dim=1, keepdim=True))
        log_prob = wide - lse
        own = torch.gather(share, 0, target)
        counts = (target != ignore_index).float() if ignore_index >= 0 else torch.ones_like(own)
        loss = -torch.gather(log_prob, 1, target.unsqueeze(-1)).squeeze(-1) * own * counts
        smooth = -torch.sum(log_prob * share.unsqueeze(0), dim=1) * counts
        if reduction != "none":
            total = torch.sum(own * counts) + 1e-12 if reduction == "mean" else 1.0
            loss, smooth = torch.sum(loss) / total, torch.sum(smooth) / total
        loss = (1 - label_smoothing) * loss + smooth * label_smoothing / classes
        zloss = torch.zeros(1)
        if return_zloss:
            zloss = (lse_square_scale_for_zloss * torch.mean(lse.pow(2))).reshape(1)
        return [t.to(input.dtype) for t in (loss, log_prob, zloss, lse.squeeze(-1))]


def get_inputs(case):
    batch, classes, dtype = case["batch"], case["classes"], getattr(torch, case["dtype"])
    return [torch.randn(batch, classes, dtype=dtype), torch.randint(0, classes, (batch,)),
            torch.rand(classes) if case["weight"] == "present" else None, case["reduction"],
            case["ignore"], float(case["smoothing"]), float(case["zscale"]), case["return_zloss"]]
