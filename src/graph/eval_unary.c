/* Unary elementwise kernels. In: a stretch of elements of one class; out: the function's values.
 * Each row below is a kind of op.def with its formula in x and the parameters A, B, C; floating
 * rows are compiled for f32 and f64 (type T) through tgmath, integer rows for int64_t. Constants
 * written as doubles make an f32 row compute in double, which is meant where it matters. */
#include "graph/eval_elem.h"
#include "graph/eval_fast.h"
#include <float.h>
#include <math.h>
#include <tgmath.h>

#define SELU_SCALE 1.0507009873554805
#define SELU_ALPHA 1.6732632423543772

/* Largest finite value of the result's dtype. */
static double largest(DType dtype)
{
    switch (dtype) {
    case DT_F16: return 65504;
    case DT_BF16: return 0x1.FEp127;
    case DT_F64: return DBL_MAX;
    default: return (double)FLT_MAX;
    }
}

static double nan_to_num(double x, const ElemParams *p)
{
    if (x != x)
        return p->a;
    if (isinf(x))
        return x > 0 ? (p->has_b ? p->b : largest(p->dtype))
                     : (p->has_c ? p->c : -largest(p->dtype));
    return x;
}

/* At p->a decimal digits, to nearest even. */
static double round_digits(double x, const ElemParams *p)
{
    if (p->a == 0)
        return rint(x);
    double scale = pow(10.0, fabs(p->a));
    return p->a > 0 ? rint(x * scale) / scale : rint(x / scale) * scale;
}

/* tanh(log(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2); beyond 20 it is 1 to the last bit. */
static inline double mish(double x)
{
    double e = fast_exp(x > 20 ? 20 : x), n = e * (e + 2);
    return x != x ? x : x * (x > 20 ? 1 : n / (n + 2));
}

static inline double gelu(double x) { return x * 0.5 * fast_erfc(-0.70710678118654752 * x); }

static inline double gelu_short(double x)
{
    return x * 0.5 * fast_erfc_short(-0.70710678118654752 * x);
}

#define EXP(x) _Generic((x), float : fast_exp_f32, double : fast_exp)(x)

static inline double gelu_tanh(double x)
{
    return 0.5 * x * (1 + fast_tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
}

#define FLOATING_ROWS(X)                                                     \
    X(neg, -x)                                                               \
    X(abs, fabs(x))                                                          \
    X(sign, (T)((x > 0) - (x < 0)))                                          \
    X(square, x *x)                                                          \
    X(exp, EXP(x))                                                           \
    X(exp2, exp2(x))                                                         \
    X(expm1, expm1(x))                                                       \
    X(log, log(x))                                                           \
    X(log2, log2(x))                                                         \
    X(log10, log10(x))                                                       \
    X(log1p, log1p(x))                                                       \
    X(sqrt, sqrt(x))                                                         \
    X(rsqrt, (T)1 / sqrt(x))                                                 \
    X(reciprocal, (T)1 / x)                                                  \
    X(sin, sin(x))                                                           \
    X(cos, cos(x))                                                           \
    X(tan, tan(x))                                                           \
    X(asin, asin(x))                                                         \
    X(acos, acos(x))                                                         \
    X(atan, atan(x))                                                         \
    X(sinh, sinh(x))                                                         \
    X(cosh, cosh(x))                                                         \
    X(tanh, fast_tanh((double)x))                                            \
    X(asinh, asinh(x))                                                       \
    X(acosh, acosh(x))                                                       \
    X(atanh, atanh(x))                                                       \
    X(erf, erf(x))                                                           \
    X(erfc, fast_erfc((double)x))                                            \
    X(erfinv, eval_erfinv((double)x))                                        \
    X(lgamma, lgamma((double)x))                                             \
    X(digamma, eval_digamma((double)x))                                      \
    X(spence, eval_spence((double)x))                                        \
    X(floor, floor(x))                                                       \
    X(ceil, ceil(x))                                                         \
    X(trunc, trunc(x))                                                       \
    X(round, round_digits((double)x, p))                                     \
    X(frac, x - trunc(x))                                                    \
    X(sigmoid, (T)1 / ((T)1 + EXP(-x)))                                      \
    X(log_sigmoid, fmin(x, (T)0) - log1p(exp(-fabs(x))))                     \
    X(relu, x < 0 ? (T)0 : x)                                                \
    X(leaky_relu, x > 0 ? x : x * A)                                         \
    X(elu, x > 0 ? x : A * expm1(x))                                         \
    X(selu, SELU_SCALE *(x > 0 ? (double)x : SELU_ALPHA * expm1((double)x))) \
    X(celu, x > 0 ? x : A * expm1(x / A))                                    \
    X(silu, x / ((T)1 + EXP(-x)))                                            \
    X(mish, mish((double)x))                                                 \
    X(softplus, x *A > B ? x : log1p(exp(x * A)) / A)                        \
    X(softsign, x / ((T)1 + fabs(x)))                                        \
    X(tanhshrink, (double)x - tanh((double)x))                               \
    X(hardsigmoid, (x != x ? x : fmin(fmax(x + (T)3, (T)0), (T)6)) / (T)6)   \
    X(hardswish, x *(x != x ? x : fmin(fmax(x + (T)3, (T)0), (T)6)) / (T)6)  \
    X(hardshrink, x >= -A && x <= A ? (T)0 : x)                              \
    X(softshrink, x > A ? x - A : x < -A ? x + A : x != x ? x : (T)0)        \
    X(threshold, x <= A ? B : x)                                             \
    X(nan_to_num, nan_to_num((double)x, p))                                  \
    X(real, x)                                                               \
    X(conj, x)

#define FLOATING_TRUTH_ROWS(X)    \
    X(logical_not, x == 0)        \
    X(isnan, x != x)              \
    X(isinf, isinf(x) != 0)       \
    X(isfinite, isfinite(x) != 0) \
    X(signbit, signbit(x) != 0)

/* Integers: unsigned arithmetic, so that overflow wraps. */
#define INTEGER_ROWS(X)                                 \
    X(neg, (int64_t)(0 - (uint64_t)x))                  \
    X(abs, x < 0 ? (int64_t)(0 - (uint64_t)x) : x)      \
    X(sign, (x > 0) - (x < 0))                          \
    X(square, (int64_t)((uint64_t)x * (uint64_t)x))     \
    X(floor, x)                                         \
    X(ceil, x)                                          \
    X(trunc, x)                                         \
    X(round, x)                                         \
    X(frac, 0)                                          \
    X(relu, x < 0 ? 0 : x)                              \
    X(threshold, (double)x <= p->a ? (int64_t)p->b : x) \
    X(nan_to_num, x)                                    \
    X(logical_not, x == 0)                              \
    X(bitwise_not, p->dtype == DT_BOOL ? x == 0 : ~x)   \
    X(isnan, 0)                                         \
    X(isinf, 0)                                         \
    X(isfinite, 1)                                      \
    X(signbit, x < 0)                                   \
    X(real, x)                                          \
    X(conj, x)

#define KERNEL(name, type, result, formula)                                                        \
    static ATTR_CLONES void name(int64_t n, const ElemParams *p, const void *const *in, void *out) \
    {                                                                                              \
        typedef type T;                                                                            \
        const T *restrict xs = in[0];                                                              \
        result *restrict o = out;                                                                  \
        const T A = (T)p->a, B = (T)p->b;                                                          \
        (void)A, (void)B;                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = xs[i];                                                                     \
            (void)x;                                                                               \
            o[i] = (result)(formula);                                                              \
        }                                                                                          \
    }
#define KERNEL_F(kind, formula)               \
    KERNEL(kind##_f32, float, float, formula) \
    KERNEL(kind##_f64, double, double, formula)
#define KERNEL_TRUTH(kind, formula)             \
    KERNEL(kind##_f32, float, int64_t, formula) \
    KERNEL(kind##_f64, double, int64_t, formula)
#define KERNEL_I(kind, formula) KERNEL(kind##_i64, int64_t, int64_t, formula)
FLOATING_ROWS(KERNEL_F)
FLOATING_TRUTH_ROWS(KERNEL_TRUTH)
INTEGER_ROWS(KERNEL_I)

/* gelu has two formulas; a = 1 asks for the tanh one. */
KERNEL(gelu_erf_f32, float, float, gelu_short((double)x))
KERNEL(gelu_erf_f64, double, double, gelu(x))
KERNEL(gelu_tanh_f32, float, float, gelu_tanh((double)x))
KERNEL(gelu_tanh_f64, double, double, gelu_tanh(x))

static void gelu_f32(int64_t n, const ElemParams *p, const void *const *in, void *out)
{
    (p->a == 1 ? gelu_tanh_f32 : gelu_erf_f32)(n, p, in, out);
}

static void gelu_f64(int64_t n, const ElemParams *p, const void *const *in, void *out)
{
    (p->a == 1 ? gelu_tanh_f64 : gelu_erf_f64)(n, p, in, out);
}

#define SLOT_F(kind, formula) \
    [UNARY_##kind][ELEM_F32] = kind##_f32, [UNARY_##kind][ELEM_F64] = kind##_f64,
#define SLOT_I(kind, formula) [UNARY_##kind][ELEM_I64] = kind##_i64,
ElemFn *const elem_unary[UNARY_COUNT][ELEM_CLASSES] = {
    FLOATING_ROWS(SLOT_F) FLOATING_TRUTH_ROWS(SLOT_F) INTEGER_ROWS(SLOT_I) SLOT_F(gelu, )};

bool elem_unary_truth(int kind)
{
    switch (kind) {
    case UNARY_logical_not:
    case UNARY_isnan:
    case UNARY_isinf:
    case UNARY_isfinite:
    case UNARY_signbit: return true;
    default: return false;
    }
}
