import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

# Functions of kernels. Arithmetic is in float32.
as_f32, as_f16, as_bf16, as_i32, as_rint = jnp.float32, jnp.float16, jnp.bfloat16, jnp.int32, None
op_max, op_min, op_abs, op_where = jnp.maximum, jnp.minimum, jnp.abs, jnp.where
op_exp, op_log, op_sqrt, op_tanh = jnp.exp, jnp.log, jnp.sqrt, jnp.tanh
op_sin, op_cos, op_tan, op_erf = jnp.sin, jnp.cos, jnp.tan, jax.lax.erf
op_floor, op_ceil, op_round, op_pow, op_log1p = jnp.floor, jnp.ceil, jnp.round, jnp.power, jnp.log1p
op_asin, op_acos, op_atan = jnp.arcsin, jnp.arccos, jnp.arctan


def op_sign(x):
    return jnp.where(x > 0.0, 1.0, jnp.where(x < 0.0, -1.0, x))


def op_trunc(x):
    return jnp.where(x < 0.0, jnp.ceil(x), jnp.floor(x))


def op_cast(x, to, *how):
    return jnp.round(x) if to is jnp.int32 else x.astype(to).astype(jnp.float32)


def op_sinh(x):
    return 0.5 * (jnp.exp(x) - jnp.exp(-x))


def op_cosh(x):
    return 0.5 * (jnp.exp(x) + jnp.exp(-x))


def op_log2(x):
    return jnp.log(x) * 1.4426950408889634


def op_log10(x):
    return jnp.log(x) * 0.4342944819032518


def op_rsqrt(x):
    return jax.lax.rsqrt(x)


def op_recip(x):
    return 1.0 / x


def op_relu(x):
    return jnp.maximum(x, 0.0)


def op_sigmoid(x):
    return 1.0 / (1.0 + jnp.exp(-x))


def op_silu(x):
    return x / (1.0 + jnp.exp(-x))


def op_gelu(x):
    return 0.5 * x * (1.0 + jax.lax.erf(x * 0.7071067811865476))


def op_softplus(x):
    return jnp.maximum(x, 0.0) + jnp.log1p(jnp.exp(-jnp.abs(x)))


def op_mish(x):
    return x * jnp.tanh(op_softplus(x))


# How partial results are joined, and what joins without effect.
none_sum, none_prod, none_max, none_min = 0.0, 1.0, -jnp.inf, jnp.inf
none_logsumexp = -jnp.inf
join_max, join_min = jnp.maximum, jnp.minimum


def join_sum(a, b):
    return a + b


def join_prod(a, b):
    return a * b


def join_logsumexp(a, b):
    most, least = jnp.maximum(a, b), jnp.minimum(a, b)
    return jnp.where(least == -jnp.inf, most, most + jnp.log1p(jnp.exp(least - most)))


def fold_sum(x, dims):
    return jnp.sum(x, axis=dims, keepdims=True)


def fold_max(x, dims):
    return jnp.max(x, axis=dims, keepdims=True)


def fold_min(x, dims):
    return jnp.min(x, axis=dims, keepdims=True)


def part(x, dim, start, end):
    return jax.lax.slice_in_dim(x, start, end, axis=dim)


def fold_prod(x, dims):
    """Each step joins the second half to the first."""
    for dim in dims:
        while x.shape[dim] > 1:
            n = x.shape[dim]
            half = n // 2
            rest = part(x, dim, 2 * half, n)
            x = part(x, dim, 0, half) * part(x, dim, half, 2 * half)
            x = jnp.concatenate([x, rest], dim) if n % 2 else x
    return x


def scan(x, dim, join, none, reverse):
    """Running results along a dimension, in log2(n) steps."""
    n, step = x.shape[dim], 1
    while step < n:
        shape = list(x.shape)
        shape[dim] = step
        fill = jnp.full(shape, none, x.dtype)
        moved = [part(x, dim, step, n), fill] if reverse else [fill, part(x, dim, 0, n - step)]
        x, step = join(x, jnp.concatenate(moved, dim)), 2 * step
    return x


def line(size, dim, rank):
    """0, 1, 2, ... along one dimension."""
    return jax.lax.broadcasted_iota(jnp.int32, [size if d == dim else 1 for d in range(rank)], dim)


def take(x, *index):
    """Elements by arrays of indices; what a mask throws away may lie outside."""
    return x[tuple(jnp.clip(i, 0, n - 1) for i, n in zip(index, x.shape))]
