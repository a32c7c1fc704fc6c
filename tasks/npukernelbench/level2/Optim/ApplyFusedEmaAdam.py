"""One step of Adam in float32 with a moving average s of the weights; var, m, v and s change in
place. Weight decay goes to the gradient (mode 0) or to the update (mode 1).

in   grad            f32 f16 bf16
in   var             f32 f16 bf16
in   m               f32 f16 bf16
in   v               f32 f16 bf16
in   s               f32 f16 bf16
in   step            i64*3
out  var             f32 f16 bf16
out  m               f32 f16 bf16
out  v               f32 f16 bf16
out  s               f32 f16 bf16
attr lr              float 1e-3
attr ema_decay       float 0.9999
attr beta1           float 0.9
attr beta2           float 0.999
attr eps             float 1e-8
attr mode            int 1
attr bias_correction bool True
attr weight_decay    float 0.0
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, grad, var, m, v, s, step, lr, ema_decay, beta1, beta2, eps, mode,
                bias_correction, weight_decay):
        g, w, old_m, old_v, old_s = [t.float() for t in (grad, var, m, v, s)]
        first, second = 1.0, 1.0
        if bias_correction:
            first, second = 1.0 - beta1 ** step, 1.0 - beta2 ** step
        if mode == 0:
            g = g + weight_decay * w
        new_m = beta1 * old_m + (1 - beta1) * g
        new_v = beta2 * old_v + (1 - beta2) * g * g
        update = new_m / first / (torch.sqrt(new_v / second) + eps)
        if mode == 1:
            update = update + weight_decay * w
        new_w = w - lr * update
        new_s = ema_decay * old_s + (1 - ema_decay) * new_w
        return [t.to(var.dtype) for t in (new_w, new_m, new_v, new_s)]


def get_inputs(case):
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    zeros = [torch.zeros(shape, dtype=dtype) for _ in range(3)]
    return [torch.randn(shape, dtype=dtype), torch.randn(shape, dtype=dtype)] + zeros + [
        torch.tensor([case["step"]]), case["lr"], case["ema"], case["beta1"], case["beta2"],
        case["eps"], case["mode"], case["correct"], case["decay"]]
