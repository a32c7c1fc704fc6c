/* Special functions by polynomials, in f32. In: a unary node of such a kind. Out: arithmetic. */
#include "gen/plan/rewrite.h"

static ValueId mul(Rewrite *r, ValueId a, ValueId b) { return rw_binary(r, BINARY_mul, a, b); }
static ValueId add_values(Rewrite *r, ValueId a, ValueId b)
{
    return rw_binary(r, BINARY_add, a, b);
}
static ValueId sub(Rewrite *r, ValueId a, ValueId b) { return rw_binary(r, BINARY_sub, a, b); }
static ValueId log_of(Rewrite *r, ValueId x) { return rw_unary(r, UNARY_log, x); }

/* By Horner's rule, the highest power first. */
static ValueId polynomial(Rewrite *r, ValueId x, const double *at, int n)
{
    ValueId p = rw_number(r, at[0]);
    for (int i = 1; i < n; i++)
        p = add_values(r, mul(r, p, x), rw_number(r, at[i]));
    return p;
}

/* The inverse of the error function in single precision: M. Giles, Approximating the erfinv
 * function, GPU Computing Gems, 2011. */
static ValueId inverse_erf(Rewrite *r, ValueId x)
{
    static const double middle[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                    -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                    -0.00417768164,  0.246640727,    1.50140941};
    static const double tails[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                   -0.00367342844,  0.00573950773,  -0.0076224613,
                                   0.00943887047,   1.00167406,     2.83297682};
    ValueId one = rw_number(r, 1);
    ValueId w = mul(r, sub(r, one, x), add_values(r, x, one));
    w = rw_unary(r, UNARY_neg, rw_unary(r, UNARY_log, w));
    ValueId near = polynomial(r, sub(r, w, rw_number(r, 2.5)), middle, 9);
    ValueId far = rw_unary(r, UNARY_sqrt, rw_unary(r, UNARY_relu, w));
    far = polynomial(r, sub(r, far, rw_number(r, 3)), tails, 9);
    ValueId p = rw_where(r, rw_binary(r, BINARY_lt, w, rw_number(r, 5)), near, far);
    return mul(r, p, x);
}

/* The dilogarithm of 1 - a for 1/2 <= a <= 1, by its series in u = -log(a) with Bernoulli numbers:
 * u - u^2/4 + u^3/36 - u^5/3600 + u^7/211680 - u^9/10886400. */
static ValueId dilogarithm(Rewrite *r, ValueId a)
{
    static const double odd[] = {-1.0 / 10886400, 1.0 / 211680, -1.0 / 3600, 1.0 / 36, 1.0};
    ValueId u = rw_unary(r, UNARY_neg, log_of(r, a)), square = mul(r, u, u);
    ValueId p = mul(r, polynomial(r, square, odd, 5), u);
    return sub(r, p, mul(r, square, rw_number(r, 0.25)));
}

/* spence(x) = -log(x)^2 / 2 - spence(1/x), and pi^2/6 - log(x) log(1-x) - spence(1-x). */
static ValueId spence(Rewrite *r, ValueId x)
{
    ValueId one = rw_number(r, 1), zero = rw_number(r, 0), basel = rw_number(r, 1.6449340668482264);
    ValueId large = rw_binary(r, BINARY_gt, x, one);
    ValueId m = rw_where(r, large, rw_unary(r, UNARY_reciprocal, x), x);
    ValueId low = rw_binary(r, BINARY_lt, m, rw_number(r, 0.5));
    ValueId p = dilogarithm(r, rw_where(r, low, sub(r, one, m), m));
    ValueId logs = mul(r, log_of(r, m), log_of(r, sub(r, one, m)));
    logs = rw_where(r, rw_binary(r, BINARY_eq, m, zero), zero, logs);
    ValueId s = rw_where(r, low, sub(r, sub(r, basel, logs), p), p);
    ValueId log = log_of(r, rw_where(r, large, x, one));
    ValueId other = sub(r, mul(r, mul(r, log, log), rw_number(r, -0.5)), s);
    return rw_where(r, large, other, s);
}

/* log |gamma| from 4 on by Stirling's series, below by gamma(x) = gamma(x + 4) / (x (x+1) (x+2) (x+3)),
 * of negative numbers by gamma(x) gamma(1-x) = pi / sin(pi x). */
static ValueId log_gamma(Rewrite *r, ValueId x)
{
    static const double series[] = {1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};
    ValueId one = rw_number(r, 1), half = rw_number(r, 0.5);
    ValueId turned = rw_binary(r, BINARY_lt, x, rw_number(r, 0));
    ValueId y = rw_where(r, turned, sub(r, one, x), x);
    ValueId low = rw_binary(r, BINARY_lt, y, rw_number(r, 4));
    ValueId t = rw_where(r, low, add_values(r, y, rw_number(r, 4)), y), steps = y;
    for (int k = 1; k < 4; k++)
        steps = mul(r, steps, add_values(r, y, rw_number(r, k)));
    steps = rw_where(r, low, steps, one);
    ValueId inverse = rw_unary(r, UNARY_reciprocal, t);
    ValueId rest = mul(r, polynomial(r, mul(r, inverse, inverse), series, 5), inverse);
    ValueId log = sub(r, mul(r, sub(r, t, half), log_of(r, t)),
                      sub(r, t, rw_number(r, 0.91893853)));
    log = sub(r, add_values(r, log, rest), log_of(r, steps));
    ValueId part = rw_unary(r, UNARY_abs, sub(r, x, rw_unary(r, UNARY_round, x))); /* exact */
    ValueId wave = rw_unary(r, UNARY_sin, mul(r, part, rw_number(r, 3.14159265358979)));
    wave = sub(r, rw_number(r, 1.1447298858494), log_of(r, wave));
    return rw_where(r, turned, sub(r, wave, log), log);
}

bool rewrite_special(Rewrite *r, const Node *node, ValueId *out)
{
    if (node->op != OP_UNARY ||
        (node->kind != UNARY_erfinv && node->kind != UNARY_spence && node->kind != UNARY_lgamma))
        return false;
    DType own = graph_value(r->from, node->out)->dtype;
    ValueId x = rw_cast(r, rw_in(r, node, 0), DT_F32);
    ValueId y = node->kind == UNARY_erfinv   ? inverse_erf(r, x)
                : node->kind == UNARY_spence ? spence(r, x)
                                             : log_gamma(r, x);
    out[0] = rw_cast(r, y, own);
    return true;
}
