"""x in the element type with the number dst_type.

in   x        f16*7 f32*8 i32*8 i8*8 u8*7 bool*7 i64*8 bf16*6 i16*6
out  y        f32 i8 i32 i16 u8 bool bf16 f16 bf16 i32 i64 bool i8 u8 i16 f32 f16 bf16 i8 u8 i16 i64 bool f16 f32 i32 u8 bool bf16 i16 i64 f16 f32 i32 i8 i16 bf16 i64 f16 f32 i32 i8 u8 bf16 i64 f16 f32 i8 i32 u8 bool i16 bf16 f16 f32 i8 i32 u8 bool f16 f32 i8 i32 u8 i64
attr dst_type int
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, dst_type):
        types = {0: torch.float32, 1: torch.float16, 2: torch.int8, 3: torch.int32, 4: torch.uint8,
                 6: torch.int16, 9: torch.int64, 12: torch.bool, 27: torch.bfloat16}
        return x.to(types[dst_type])


def get_inputs(case):
    numbers = {"float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4,
               "int16": 6, "int64": 9, "bool": 12, "bfloat16": 27}
    ranges = {"int8": (-128, 127), "uint8": (0, 255), "bool": (0, 2)}
    shape, dtype = case["shape"], getattr(torch, case["dtype"])
    if dtype.is_floating_point:
        return [torch.randn(shape, dtype=dtype), numbers[case["to"]]]
    low, high = ranges.get(case["dtype"], (-100, 100))
    return [torch.randint(low, high, shape, dtype=dtype), numbers[case["to"]]]
