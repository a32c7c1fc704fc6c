"""gelu of x in float32, quantised to int8: round(gelu * input_scale + input_offset) in static
mode, else scaled so that the largest magnitude of each row becomes 127. approximate "none" is a
polynomial in the exponent, "tanh" the usual form. out_scale is absent in static mode.

in   x            f32 f16 bf16
opt  input_scale  f32 f16 bf16
opt  input_offset f32 f16 bf16
out  y            i8*3
out  out_scale    f32*3
attr approximate  text none
attr quant_mode   text dynamic
"""
import torch
import torch.nn as nn


def gelu(x, approximate):
    if approximate == "tanh":
        return x / (torch.exp((x + 0.044715 * (x * x * x)) * -1.5957691) + 1.0)
    near = x.clamp(-13.25, 5.75)
    square = near * near
    sum = square * -3.512339572e-09 + 2.64526617e-07
    for factor in (-7.929488134e-06, 0.000110612384, 6.518995814e-05, -0.07266616915, -1.595769883):
        sum = sum * square + factor
    return x / (torch.exp(sum * near) + 1.0)


class Model(nn.Module):
    def forward(self, x, input_scale, input_offset, approximate, quant_mode):
        value = gelu(x.float(), approximate) * input_scale.float()
        if quant_mode == "static":
            return (value + input_offset.float()).round().clamp(-128, 127).to(torch.int8), None
        scale = 127.0 / (value.abs().amax(dim=-1, keepdim=True) + 1e-06)
        return (value * scale).round().clamp(-128, 127).to(torch.int8), 1.0 / scale


def get_inputs(case):
    dtype = getattr(torch, case["dtype"])
    return [torch.rand(case["shape"], dtype=dtype) * 2 - 1,
            torch.tensor(case["scale"], dtype=dtype),
            torch.tensor(case["offset"], dtype=dtype), case["approximate"], case["mode"]]
