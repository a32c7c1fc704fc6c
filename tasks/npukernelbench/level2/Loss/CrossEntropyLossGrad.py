"""The gradient of cross entropy by the class scores, in float32, from log softmax. grad_zloss and
lse_for_zloss take no part in the suite's reference.

in   grad_loss                  bf16 f16 f32
in   log_prob                   bf16 f16 f32
in   target                     i64*3
opt  weight                     f32*3
opt  grad_zloss                 bf16 f16 f32
opt  lse_for_zloss              bf16 f16 f32
out  x_grad                     bf16 f16 f32
attr reduction                  text mean
attr ignore_index               int -100
attr label_smoothing            float 0.0
attr lse_square_scale_for_zloss float 0.0
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, grad_loss, log_prob, target, weight, grad_zloss, lse_for_zloss, reduction,
                ignore_index, label_smoothing, lse_square_scale_for_zloss):
        logs, dy = log_prob.float(), grad_loss.float()
        batch, classes = logs.shape
        share = torch.ones(classes) if weight is None else weight.float()
        own = torch.gather(share, 0, target)
        counts = (target != ignore_index).float() if ignore_index >= 0 else torch.ones_like(own)
        total = torch.sum(own * counts) + 1e-12 if reduction == "mean" else 1.0
        hard = dy * (1.0 - label_smoothing) / total * counts * own
        grad = torch.exp(logs) * hard.unsqueeze(-1)
        zeros = torch.zeros(batch, classes)
        grad = grad - zeros.scatter(1, target.unsqueeze(-1), hard.unsqueeze(-1))
        if label_smoothing > 0:
            grad = grad + (dy * label_smoothing / classes / total * counts).unsqueeze(-1)
        return grad.to(log_prob.dtype)


def get_inputs(case):
    batch, classes, dtype = case["batch"], case["classes"], getattr(torch, case["dtype"])
    dy = torch.rand(batch if case["reduction"] == "none" else (), dtype=dtype)
    if dtype == torch.float32:
        scores = torch.randn(batch, classes) * 2
    else:
        scores = torch.rand(batch, classes, dtype=dtype) * 2 - 1
    return [dy, torch.log_softmax(scores, dim=-1), torch.randint(0, classes, (batch,)),
            torch.rand(classes) if case["weight"] == "present" else None,
            torch.rand(1, dtype=dtype) if case["grad_zloss"] == "present" else None,
            torch.rand(batch, dtype=dtype) + 1 if case["lse"] == "present" else None,
            case["reduction"], case["ignore"], float(case["smoothing"]), float(case["zscale"])]
