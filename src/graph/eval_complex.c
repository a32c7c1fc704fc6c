/* Complex elementwise operators. In: c64 (or real) tensors, broadcast; out: c64, real or bool.
 * Computed in double, rounded once. */
#include "graph/eval_elem.h"
#include <complex.h>
#include <math.h>

typedef double _Complex Number;

static Number number_of(double real, double imaginary)
{
    union {
        double part[2];
        Number z;
    } u = {.part = {real, imaginary}};
    return u.z;
}

static Number number_at(const Tensor *t, int64_t i)
{
    if (t->dtype != DT_C64)
        return tensor_get(t, i);
    const float *at = TENSOR_AT(t, float) + 2 * i;
    return number_of((double)at[0], (double)at[1]);
}

static void number_put(Tensor *t, int64_t i, Number z)
{
    if (t->dtype != DT_C64) {
        tensor_set(t, i, creal(z));
        return;
    }
    TENSOR_AT(t, float)[2 * i] = (float)creal(z);
    TENSOR_AT(t, float)[2 * i + 1] = (float)cimag(z);
}

static bool unary(int kind, Number z, Number *out)
{
    switch (kind) {
    case UNARY_neg: *out = -z; return true;
    case UNARY_abs: *out = cabs(z); return true;
    case UNARY_square: *out = z * z; return true;
    case UNARY_exp: *out = cexp(z); return true;
    case UNARY_log: *out = clog(z); return true;
    case UNARY_sqrt: *out = csqrt(z); return true;
    case UNARY_sin: *out = csin(z); return true;
    case UNARY_cos: *out = ccos(z); return true;
    case UNARY_tanh: *out = ctanh(z); return true;
    case UNARY_sigmoid: *out = 1 / (1 + cexp(-z)); return true;
    case UNARY_reciprocal: *out = 1 / z; return true;
    case UNARY_rsqrt: *out = 1 / csqrt(z); return true;
    case UNARY_real: *out = creal(z); return true;
    case UNARY_imag: *out = cimag(z); return true;
    case UNARY_conj: *out = conj(z); return true;
    case UNARY_isnan: *out = isnan(creal(z)) || isnan(cimag(z)); return true;
    case UNARY_isinf: *out = isinf(creal(z)) || isinf(cimag(z)); return true;
    case UNARY_isfinite: *out = isfinite(creal(z)) && isfinite(cimag(z)); return true;
    case UNARY_logical_not: *out = z == 0; return true;
    default: return false;
    }
}

static bool binary(int kind, double alpha, Number x, Number y, Number *out)
{
    switch (kind) {
    case BINARY_add: *out = x + alpha * y; return true;
    case BINARY_sub: *out = x - alpha * y; return true;
    case BINARY_mul: *out = x * y; return true;
    case BINARY_div: *out = x / y; return true;
    case BINARY_pow: *out = y == 2 ? x * x : cpow(x, y); return true;
    case BINARY_eq: *out = x == y; return true;
    case BINARY_ne: *out = x != y; return true;
    case BINARY_logical_and: *out = x != 0 && y != 0; return true;
    case BINARY_logical_or: *out = x != 0 || y != 0; return true;
    case BINARY_logical_xor: *out = (x != 0) != (y != 0); return true;
    case BINARY_complex: *out = number_of(creal(x), creal(y)); return true;
    default: return false;
    }
}

static bool refuse_complex(EvalNode *e)
{
    return eval_fail(e, "%s is not supported for complex numbers", node_kind_name(e->node));
}

bool eval_complex_unary(EvalNode *e)
{
    Number z;
    for (int64_t i = 0; i < e->out[0]->count; i++) {
        if (!unary(e->node->kind, number_at(e->in[0], i), &z))
            return refuse_complex(e);
        number_put(e->out[0], i, z);
    }
    return true;
}

/* Where element `index` of the output lies in an input that broadcasts to it. */
static int64_t broadcast_at(Shape out, Shape in, int64_t index)
{
    int64_t at = 0, stride = 1;
    for (int d = out.rank - 1, i = in.rank - 1; i >= 0; d--, i--) {
        at += in.dim[i] == 1 ? 0 : index % out.dim[d] * stride;
        stride *= in.dim[i];
        index /= out.dim[d];
    }
    return at;
}

bool eval_complex_binary(EvalNode *e)
{
    Tensor *out = e->out[0];
    double alpha = node_float(e->node, AT_ALPHA, 1);
    for (int64_t i = 0; i < out->count; i++) {
        Number x = number_at(e->in[0], broadcast_at(out->shape, e->in[0]->shape, i)), z;
        Number y = number_at(e->in[1], broadcast_at(out->shape, e->in[1]->shape, i));
        if (!binary(e->node->kind, alpha, x, y, &z))
            return refuse_complex(e);
        number_put(out, i, z);
    }
    return true;
}

bool eval_op_WHERE(EvalNode *e)
{
    Tensor *out = e->out[0];
    for (int64_t i = 0; i < out->count; i++) {
        bool first = tensor_get(e->in[0], broadcast_at(out->shape, e->in[0]->shape, i)) != 0;
        const Tensor *from = e->in[first ? 1 : 2];
        number_put(out, i, number_at(from, broadcast_at(out->shape, from->shape, i)));
    }
    return true;
}

bool eval_op_VIEW_AS_REAL(EvalNode *e)
{
    tensor_store_f32(e->out[0], 0, 1, e->out[0]->count, TENSOR_AT(e->in[0], float));
    return true;
}

bool eval_op_VIEW_AS_COMPLEX(EvalNode *e)
{
    tensor_load_f32(e->in[0], 0, 1, e->in[0]->count, TENSOR_AT(e->out[0], float));
    return true;
}

/* --- Fourier transforms ------------------------------------------------------------------- */

/* Sum over j of x[j] * w^(j*k), w = exp(sign * 2 pi i / n), by definition for odd lengths and by
 * halving for even ones; `step` walks the input, `work` holds n numbers. */
static void transform(const Number *x, int64_t step, Number *out, int64_t n, double sign)
{
    const double two_pi = 6.283185307179586476925;
    if (n % 2 == 0 && n > 2) {
        transform(x, step * 2, out, n / 2, sign);
        transform(x + step, step * 2, out + n / 2, n / 2, sign);
        for (int64_t k = 0; k < n / 2; k++) {
            Number even = out[k];
            Number odd = out[k + n / 2] * cexp(number_of(0, sign * two_pi * (double)k / (double)n));
            out[k] = even + odd;
            out[k + n / 2] = even - odd;
        }
        return;
    }
    Number *sums = heap_alloc(sizeof(Number) * (size_t)(n + 1));
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = 0; j < n; j++)
            sums[k] += x[j * step] *
                       cexp(number_of(0, sign * two_pi * (double)(j * k % n) / (double)n));
    for (int64_t k = 0; k < n; k++)
        out[k] = sums[k];
    heap_free(sums);
}

static double fft_scale(const Node *node, int64_t n)
{
    Str mode = node_text(node, AT_MODE);
    bool inverse = node->kind == FFT_ifft || node->kind == FFT_irfft;
    if (str_is(mode, "ortho"))
        return 1 / sqrt((double)n);
    return inverse != str_is(mode, "forward") ? 1 / (double)n : 1;
}

/* The spectrum of a real line is real at 0 and, for an even n, in the middle. */
static void drop_imaginary(Number *freq, int64_t n)
{
    for (int64_t j = 0; j < n; j += n % 2 == 0 && n > 1 ? n / 2 : n)
        freq[j] = creal(freq[j]);
}

/* One line of the input as n numbers: cut or zero-padded, the second half mirrored for irfft. */
static void fft_load(const EvalNode *e, int64_t base, Axis in, int64_t n, Number *line)
{
    bool mirror = e->node->kind == FFT_irfft;
    for (int64_t j = 0; j < n; j++) {
        int64_t source = mirror && j > n / 2 ? n - j : j;
        Number z = source < in.n ? number_at(e->in[0], base + source * in.inner) : 0;
        line[j] = mirror && j > n / 2 ? conj(z) : z;
    }
    if (mirror)
        drop_imaginary(line, n);
}

bool eval_op_FFT(EvalNode *e)
{
    int dim = eval_dim(e->node, e->in[0]->shape, -1);
    Axis in = eval_axis(e->in[0]->shape, dim), out = eval_axis(e->out[0]->shape, dim);
    int64_t n = e->node->kind == FFT_rfft ? node_int(e->node, AT_SIZE, in.n) : out.n;
    double sign = e->node->kind == FFT_ifft || e->node->kind == FFT_irfft ? 1 : -1;
    double scale = fft_scale(e->node, n);
    Number *line = heap_alloc(sizeof(Number) * (size_t)(n + 1) * 2), *freq = line + n;
    for (int64_t o = 0; o < in.outer; o++)
        for (int64_t i = 0; i < in.inner; i++) {
            fft_load(e, o * in.n * in.inner + i, in, n, line);
            transform(line, 1, freq, n, sign);
            if (e->node->kind == FFT_rfft)
                drop_imaginary(freq, n);
            for (int64_t k = 0; k < out.n; k++)
                number_put(e->out[0], (o * out.n + k) * out.inner + i, freq[k] * scale);
        }
    heap_free(line);
    return true;
}
