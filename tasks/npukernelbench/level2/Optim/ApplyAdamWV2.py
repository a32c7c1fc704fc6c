"""One step of AdamW; var, m, v, and with amsgrad max_grad_norm change in place. step counts the
steps before this one.

in   var           f32 f16 bf16 f32 f16 bf16 f32*4
in   m             f32 f16 bf16 f32 f16 bf16 f32*4
in   v             f32 f16 bf16 f32 f16 bf16 f32*4
in   grad          f32 f16 bf16 f32 f16 bf16 f16 bf16 f16 bf16
in   step          f32*3 i64*3 f32*2 i64*2
opt  max_grad_norm f32 f16 bf16 f32 f16 bf16 f16 bf16 f16 bf16
attr lr            float 0.1
attr beta1         float 0.1
attr beta2         float 0.1
attr weight_decay  float 0.1
attr eps           float 0.1
attr amsgrad       bool False
attr maximize      bool False
mut  var           f32 f16 bf16 f32 f16 bf16 f32*4
mut  m             f32 f16 bf16 f32 f16 bf16 f32*4
mut  v             f32 f16 bf16 f32 f16 bf16 f32*4
mut  max_grad_norm f32 f16 bf16 f32 f16 bf16 f16 bf16 f16 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, var, m, v, grad, step, max_grad_norm, lr, beta1, beta2, weight_decay, eps,
                amsgrad, maximize):
        g = grad.to(var.dtype)
        if maximize:
            g = -g
        now = step.item() + 1
        if weight_decay != 0:
            var = var * (1 - lr * weight_decay)
        m = torch.lerp(m, g, 1 - beta1)
        v = torch.addcmul(v * beta2, g, g, value=1 - beta2)
        largest = torch.maximum(v, max_grad_norm.to(var.dtype)) if amsgrad else None
        second = (largest if amsgrad else v) / (1 - beta2 ** now)
        var = torch.addcdiv(var, m, torch.sqrt(second) + eps, value=-lr / (1 - beta1 ** now))
        return var, m, v, largest


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    var, m, v, grad, largest = [(torch.rand(shape) * 0.9 + 0.1).to(dtype) for _ in range(5)]
    return [var, m, v, grad, torch.randint(0, 10, (1,)), largest, case["lr"], case["beta1"], case["beta2"],
            case["decay"], case["eps"], case["amsgrad"], case["maximize"]]
