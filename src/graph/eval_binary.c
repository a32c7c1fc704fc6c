/* Elementwise kernels of two and three inputs. In: stretches of one class; out: the values.
 * Rows as in eval_unary.c: a kind of op.def and its formula in x, y (and z). */
#include "graph/eval_elem.h"
#include <math.h>
#include <tgmath.h>

static double remainder_f(double x, double y)
{
    double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* Divides as Python's // does, exactly even where x/y rounds up to a whole number. */
static double floor_div_f(double x, double y)
{
    if (y == 0)
        return x / y;
    double r = fmod(x, y), q = (x - r) / y;
    if (r != 0 && (y < 0) != (r < 0))
        q -= 1;
    if (q == 0)
        return copysign(0.0, x / y);
    double whole = floor(q);
    return q - whole > 0.5 ? whole + 1 : whole;
}

static double logaddexp_f(double x, double y)
{
    if (isinf(x) && x == y)
        return x;
    double high = fmax(x, y);
    return x != x || y != y ? x + y : high + log1p(exp(-fabs(x - y)));
}

static double logaddexp2_f(double x, double y)
{
    if (isinf(x) && x == y)
        return x;
    double high = fmax(x, y);
    return x != x || y != y ? x + y : high + log1p(exp2(-fabs(x - y))) * 1.4426950408889634;
}

static double mish_slope(double x)
{
    double t = tanh(log1p(exp(x)));
    return t + x * (1 - t * t) / (1 + exp(-x));
}

static bool is_close(double x, double y, const ElemParams *p)
{
    return x == y || (isfinite(x) && isfinite(y) && fabs(x - y) <= p->b + p->a * fabs(y));
}

static double power(double x, double y)
{
    return y == 2 ? x * x : y == 1 ? x : y == 0.5 ? (isinf(x) ? fabs(x) : sqrt(x)) : pow(x, y);
}

#define FLOATING_ROWS(X)                                   \
    X(add, x + ALPHA * y)                                  \
    X(sub, x - ALPHA * y)                                  \
    X(mul, x *y)                                           \
    X(div, x / y)                                          \
    X(floor_div, floor_div_f((double)x, (double)y))        \
    X(trunc_div, trunc(x / y))                             \
    X(remainder, remainder_f((double)x, (double)y))        \
    X(fmod, fmod(x, y))                                    \
    X(pow, power((double)x, (double)y))                    \
    X(atan2, atan2(x, y))                                  \
    X(hypot, hypot(x, y))                                  \
    X(maximum, x != x ? x : y != y ? y : x > y ? x : y)    \
    X(minimum, x != x ? x : y != y ? y : x < y ? x : y)    \
    X(fmax, fmax(x, y))                                    \
    X(fmin, fmin(x, y))                                    \
    X(logaddexp, logaddexp_f((double)x, (double)y))        \
    X(logaddexp2, logaddexp2_f((double)x, (double)y))      \
    X(xlogy, y != y ? y : x == 0 ? (T)0 : x * log(y))      \
    X(copysign, copysign(x, y))                            \
    X(relu_grad, y > 0 ? x : (T)0)                         \
    X(hardsigmoid_grad, y > -3 && y < 3 ? x / (T)6 : (T)0) \
    X(mish_grad, (double)x *mish_slope((double)y))

#define TRUTH_ROWS(X)                    \
    X(eq, x == y)                        \
    X(ne, x != y)                        \
    X(lt, x < y)                         \
    X(le, x <= y)                        \
    X(gt, x > y)                         \
    X(ge, x >= y)                        \
    X(logical_and, x != 0 && y != 0)     \
    X(logical_or, x != 0 || y != 0)      \
    X(logical_xor, (x != 0) != (y != 0)) \
    X(isclose, is_close((double)x, (double)y, p))

/* Division by zero gives 0; overflow wraps. */
static int64_t trunc_div_i(int64_t x, int64_t y)
{
    if (y == -1)
        return (int64_t)(0 - (uint64_t)x);
    return y == 0 ? 0 : x / y;
}

static int64_t fmod_i(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }

static int64_t floor_div_i(int64_t x, int64_t y)
{
    int64_t q = trunc_div_i(x, y), r = fmod_i(x, y);
    return r != 0 && (r < 0) != (y < 0) ? q - 1 : q;
}

static int64_t remainder_i(int64_t x, int64_t y)
{
    int64_t r = fmod_i(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static int64_t pow_i(int64_t x, int64_t y)
{
    if (y < 0)
        return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    uint64_t result = 1, square = (uint64_t)x;
    for (; y > 0; y >>= 1, square *= square)
        if (y & 1)
            result *= square;
    return (int64_t)result;
}

static int64_t shift_left_i(int64_t x, int64_t y)
{
    return y < 0 || y > 63 ? 0 : (int64_t)((uint64_t)x << y);
}

static int64_t shift_right_i(int64_t x, int64_t y) { return x >> (y < 0 || y > 63 ? 63 : y); }

#define INTEGER_ROWS(X)                                            \
    X(add, (int64_t)((uint64_t)x + (uint64_t)ALPHA * (uint64_t)y)) \
    X(sub, (int64_t)((uint64_t)x - (uint64_t)ALPHA * (uint64_t)y)) \
    X(mul, (int64_t)((uint64_t)x * (uint64_t)y))                   \
    X(floor_div, floor_div_i(x, y))                                \
    X(trunc_div, trunc_div_i(x, y))                                \
    X(remainder, remainder_i(x, y))                                \
    X(fmod, fmod_i(x, y))                                          \
    X(pow, pow_i(x, y))                                            \
    X(maximum, x > y ? x : y)                                      \
    X(minimum, x < y ? x : y)                                      \
    X(fmax, x > y ? x : y)                                         \
    X(fmin, x < y ? x : y)                                         \
    X(bitwise_and, x &y)                                           \
    X(bitwise_or, x | y)                                           \
    X(bitwise_xor, x ^ y)                                          \
    X(shift_left, shift_left_i(x, y))                              \
    X(shift_right, shift_right_i(x, y))                            \
    X(relu_grad, y > 0 ? x : 0)

#define KERNEL(name, type, result, formula)                                                        \
    static ATTR_CLONES void name(int64_t n, const ElemParams *p, const void *const *in, void *out) \
    {                                                                                              \
        typedef type T;                                                                            \
        const T *restrict xs = in[0], *restrict ys = in[1];                                        \
        result *restrict o = out;                                                                  \
        const T ALPHA = (T)p->a;                                                                   \
        (void)ALPHA;                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = xs[i], y = ys[i];                                                          \
            o[i] = (result)(formula);                                                              \
        }                                                                                          \
    }
#define KERNEL_F(kind, formula)               \
    KERNEL(kind##_f32, float, float, formula) \
    KERNEL(kind##_f64, double, double, formula)
#define KERNEL_TRUTH(kind, formula)              \
    KERNEL(kind##_f32, float, int64_t, formula)  \
    KERNEL(kind##_f64, double, int64_t, formula) \
    KERNEL(kind##_i64, int64_t, int64_t, formula)
#define KERNEL_I(kind, formula) KERNEL(kind##_i64, int64_t, int64_t, formula)
FLOATING_ROWS(KERNEL_F)
TRUTH_ROWS(KERNEL_TRUTH)
INTEGER_ROWS(KERNEL_I)

#define SLOT_F(kind, formula) \
    [BINARY_##kind][ELEM_F32] = kind##_f32, [BINARY_##kind][ELEM_F64] = kind##_f64,
#define SLOT_I(kind, formula) [BINARY_##kind][ELEM_I64] = kind##_i64,
ElemFn *const elem_binary[BINARY_COUNT][ELEM_CLASSES] = {
    FLOATING_ROWS(SLOT_F) TRUTH_ROWS(SLOT_F) TRUTH_ROWS(SLOT_I) INTEGER_ROWS(SLOT_I)};

bool elem_binary_truth(int kind)
{
    return (kind >= BINARY_eq && kind <= BINARY_logical_xor) || kind == BINARY_isclose;
}

/* --- three inputs ------------------------------------------------------------------------- */

#define KERNEL3(name, type, first, formula)                                                        \
    static ATTR_CLONES void name(int64_t n, const ElemParams *p, const void *const *in, void *out) \
    {                                                                                              \
        typedef type T;                                                                            \
        const first *restrict xs = in[0];                                                          \
        const T *restrict ys = in[1], *restrict zs = in[2];                                        \
        T *restrict o = out;                                                                       \
        const T VALUE = (T)p->a;                                                                   \
        (void)VALUE;                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const first x = xs[i];                                                                 \
            const T y = ys[i], z = zs[i];                                                          \
            o[i] = (T)(formula);                                                                   \
        }                                                                                          \
    }
#define TABLE3(name, formula_f, formula_i)           \
    KERNEL3(name##_f32, float, float, formula_f)     \
    KERNEL3(name##_f64, double, double, formula_f)   \
    KERNEL3(name##_i64, int64_t, int64_t, formula_i) \
    ElemFn *const elem_##name[ELEM_CLASSES] = {name##_f32, name##_f64, name##_i64};

#define CLAMP_LOW(v, low) ((v) != (v) ? (v) : (low) != (low) ? (low) : (v) < (low) ? (low) : (v))
#define CLAMP_HIGH(v, high) \
    ((v) != (v) ? (v) : (high) != (high) ? (high) : (v) > (high) ? (high) : (v))
TABLE3(clamp, CLAMP_HIGH(CLAMP_LOW(x, y), z), x<y ? (y > z ? z : y) : x> z ? z : x)
TABLE3(lerp, fabs(z) < (T)0.5 ? x + z * (y - x) : y - (y - x) * ((T)1 - z),
       (int64_t)((uint64_t)x + (uint64_t)z * ((uint64_t)y - (uint64_t)x)))
TABLE3(addcmul, x + VALUE * y * z,
       (int64_t)((uint64_t)x + (uint64_t)VALUE * (uint64_t)y * (uint64_t)z))
TABLE3(addcdiv, x + VALUE * (y / z),
       (int64_t)((uint64_t)x + (uint64_t)VALUE * (uint64_t)trunc_div_i(y, z)))

KERNEL3(where_f32, float, int64_t, x ? y : z)
KERNEL3(where_f64, double, int64_t, x ? y : z)
KERNEL3(where_i64, int64_t, int64_t, x ? y : z)
ElemFn *const elem_where[ELEM_CLASSES] = {where_f32, where_f64, where_i64};

#define TABLE2(name, formula_f, formula_i)          \
    KERNEL(name##_f32, float, float, formula_f)     \
    KERNEL(name##_f64, double, double, formula_f)   \
    KERNEL(name##_i64, int64_t, int64_t, formula_i) \
    ElemFn *const elem_##name[ELEM_CLASSES] = {name##_f32, name##_f64, name##_i64};
TABLE2(clamp_low, CLAMP_LOW(x, y), x < y ? y : x)
TABLE2(clamp_high, CLAMP_HIGH(x, y), x > y ? y : x)

#define NONZERO(name, type)                                                            \
    static void name(int64_t n, const ElemParams *p, const void *const *in, void *out) \
    {                                                                                  \
        (void)p;                                                                       \
        const type *restrict xs = in[0];                                               \
        int64_t *restrict o = out;                                                     \
        for (int64_t i = 0; i < n; i++)                                                \
            o[i] = xs[i] != 0;                                                         \
    }
NONZERO(nonzero_f32, float)
NONZERO(nonzero_f64, double)
NONZERO(nonzero_i64, int64_t)
ElemFn *const elem_nonzero[ELEM_CLASSES] = {nonzero_f32, nonzero_f64, nonzero_i64};
