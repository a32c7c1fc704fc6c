"""x = x1 + x2 over its root mean square, times gamma, in float32, then quantised to int8 channel
by channel: y / scales1 + zero_points1, rounded to even and limited. y2 belongs to scales2,
which no case has. With div_mode off the scales multiply, and x is multiplied by the reciprocal
root of its root mean square plus epsilon, as the suite's reference does it.

in   x1           f16 bf16*2
in   x2           f16 bf16*2
in   gamma        f16 bf16*2
in   scales1      f32 bf16 f32
opt  scales2      f32 bf16 f32
opt  zero_points1 i32 bf16 i32
opt  zero_points2 i32 bf16 i32
out  y1           i8*3
out  y2           i8*3
out  x            f16 bf16*2
attr axis         int -1
attr epsilon      float 1e-6
attr div_mode     bool True
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x1, x2, gamma, scales1, scales2, zero_points1, zero_points2, epsilon,
                div_mode):
        x = x1.float() + x2.float()
        rms = torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + epsilon)
        y = (x / rms if div_mode else x * torch.rsqrt(rms + epsilon)) * gamma.float()
        scale = scales1.float() if div_mode else 1.0 / scales1.float()
        zero = 0.0 if zero_points1 is None else zero_points1.float()
        quantised = torch.round(y * (1.0 / scale) + zero).clamp(-128, 127).to(torch.int8)
        return quantised, None, x.to(x1.dtype)


def get_inputs(case):
    shape, norm, dtype = case["shape"], case["norm"], getattr(torch, case["dtype"])
    kind = getattr(torch, case["zeros_dtype"])
    if kind == torch.int32:
        zero = torch.randint(-8, 9, norm, dtype=kind)
    else:
        zero = torch.rand(norm, dtype=kind)
    return [torch.rand(shape, dtype=dtype) * 2 - 1, torch.rand(shape, dtype=dtype) * 2 - 1,
            torch.rand(norm, dtype=dtype),
            torch.rand(norm, dtype=getattr(torch, case["scales_dtype"])) + 0.01,
            None, zero, None, case["epsilon"], case["div"]]
