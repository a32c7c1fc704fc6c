"""alpha a b + beta c for several matrices of different sizes, which lie one after another in a, b
and c; summed in float32 and written over c.

in   a     f16
in   b     f16
in   c     f16
in   alpha f32
in   beta  f32
attr mList ints
attr kList ints
attr nList ints
mut  c     f16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, c, alpha, beta, mList, kList, nList):
        result, at_a, at_b, at_c = [], 0, 0, 0
        for i, (m, k, n) in enumerate(zip(mList, kList, nList)):
            left = a[at_a : at_a + m * k].float().view(m, k)
            right = b[at_b : at_b + k * n].float().view(k, n)
            old = c[at_c : at_c + m * n].float().view(m, n)
            result.append((torch.matmul(alpha[i] * left, right) + beta[i] * old).flatten())
            at_a, at_b, at_c = at_a + m * k, at_b + k * n, at_c + m * n
        return torch.cat(result).to(c.dtype)


def get_inputs(case):
    ms, ks, ns, dtype = case["m"], case["k"], case["n"], getattr(torch, case["dtype"])
    sizes = [sum(m * k for m, k in zip(ms, ks)), sum(k * n for k, n in zip(ks, ns)),
             sum(m * n for m, n in zip(ms, ns))]
    drawn = [torch.rand(size, dtype=dtype) * 2 - 1 for size in sizes]
    return drawn + [torch.rand(len(ms)) * 2 - 1, torch.rand(len(ms)) * 2 - 1, ms, ks, ns]
