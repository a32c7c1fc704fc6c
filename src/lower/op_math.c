/* Functions the vector unit has no instruction for, on f32. In: runs of f32. Out: basic calls and
 * scratch. dst may be the source. Errors against the exact value, in f32 and away from the
 * poles: a few units in the last place of max(|result|, 1) unless a comment says otherwise. */
#include "lower/lower_int.h"

#include <math.h>

typedef struct Math {
    Lower *l;
    AscRef dst, a;
    Run run;
} Math;

static AscRef temp(Math *m) { return scratch_take(m->l, DT_F32, m->run.room); }
static AscRef temp_mask(Math *m) { return scratch_take(m->l, DT_U8, m->run.room); }

static void un(Math *m, AscApi api, AscRef dst, AscRef a)
{
    call_unary(m->l, api, dst, a, m->run.count);
}

static void bi(Math *m, AscApi api, AscRef dst, AscRef a, AscRef b)
{
    call_binary(m->l, api, dst, a, b, m->run.count);
}

static void sc(Math *m, AscApi api, AscRef dst, AscRef a, double s)
{
    call_const(m->l, api, dst, a, s, m->run.count);
}

static void fill(Math *m, AscRef dst, double s)
{
    call_fill(m->l, dst, ir_float(m->l->ir, s), m->run.count);
}

static void integer(Math *m, AscRef dst, AscRef a, enum NpuRound round)
{
    call_cast(m->l, dst, a, round, m->run.count);
}

static void compare(Math *m, AscRef mask, AscRef a, double s, int mode)
{
    call_compares(m->l, mask, a, ir_float(m->l->ir, s), mode, m->run.count);
}

/* dst = c[0] x^(n-1) + ... + c[n-1] */
static void horner(Math *m, AscRef dst, AscRef x, const double *c, int n)
{
    sc(m, ASC_MULS, dst, x, c[0]);
    for (int i = 1; i < n; i++) {
        sc(m, ASC_ADDS, dst, dst, c[i]);
        if (i + 1 < n)
            bi(m, ASC_MUL, dst, dst, x);
    }
}

/* 1 / (1 + exp(-a)) times `top` */
static void logistic(Math *m, const AscRef *top)
{
    AscRef e = temp(m), t = top ? *top : temp(m);
    sc(m, ASC_MULS, e, m->a, -1);
    un(m, ASC_EXP, e, e);
    sc(m, ASC_ADDS, e, e, 1);
    if (!top)
        fill(m, t, 1);
    bi(m, ASC_DIV, m->dst, t, e);
}

/* dst = exp(x) - 1 to a few units of its own last place for |x| below 30. With e the rounded exp(x),
 * exp(x) is e exp(x - log(e)), and e (1 + x - log(e)) to first order; e - 1 is exact near 1. x is overwritten. */
static void exp_minus_one(Math *m, AscRef dst, AscRef x)
{
    AscRef t = temp(m);
    un(m, ASC_EXP, dst, x);
    un(m, ASC_LN, t, dst);
    bi(m, ASC_SUB, x, x, t);
    bi(m, ASC_MUL, x, x, dst);
    sc(m, ASC_ADDS, dst, dst, -1);
    bi(m, ASC_ADD, dst, dst, x);
}

/* n / (n + 2) with n = exp(2a) - 1; in f32 it is 1 beyond 15. */
static void hyperbolic_tangent(Math *m)
{
    AscRef n = m->dst, t = temp(m);
    sc(m, ASC_MINS, t, m->a, 15);
    sc(m, ASC_MAXS, t, t, -15);
    sc(m, ASC_MULS, t, t, 2);
    exp_minus_one(m, n, t);
    sc(m, ASC_ADDS, t, n, 2);
    bi(m, ASC_DIV, m->dst, n, t);
}

/* The rational approximation x P(x^2) / Q(x^2) on [-4, 4] that Eigen and XLA use. */
static void error_function(Math *m, AscRef dst, AscRef a)
{
    static const double p[] = {-2.72614225801306e-10, 2.77068142495902e-08,  -2.10102402082508e-06,
                               -5.69250639462346e-05, -7.34990630326855e-04, -2.95459980854025e-03,
                               -1.60960333262415e-02};
    static const double q[] = {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                               -7.37332916720468e-03, -1.42647390514189e-02};
    AscRef x = temp(m), x2 = temp(m), t = temp(m);
    sc(m, ASC_MINS, x, a, 4);
    sc(m, ASC_MAXS, x, x, -4);
    bi(m, ASC_MUL, x2, x, x);
    horner(m, t, x2, p, 7);
    bi(m, ASC_MUL, x, x, t);
    horner(m, t, x2, q, 5);
    bi(m, ASC_DIV, dst, x, t);
}

/* a / (1 + exp(-a P(a^2))), P fitted to the logit of the normal distribution: 7e-8 from the exact
 * value everywhere, and its largest coefficient is positive, so that far out it is a or -0. */
static void gelu(Math *m)
{
    static const double p[] = {-3.61129444112808e-09, 2.668955860112936e-07, -7.938263962373322e-06,
                               1.104806476702294e-04, 6.625888459652112e-05, -7.266856558612271e-02,
                               -1.5957684326586075};
    AscRef x2 = temp(m), t = m->dst.id != m->a.id ? m->dst : temp(m);
    bi(m, ASC_MUL, x2, m->a, m->a);
    horner(m, t, x2, p, 7);
    bi(m, ASC_MUL, t, t, m->a);
    un(m, ASC_EXP, t, t);
    sc(m, ASC_ADDS, t, t, 1);
    bi(m, ASC_DIV, m->dst, m->a, t);
}

/* dst = log(1 + e) for e in [0, 1], to a few units of its own last place: log(u), u being 1 + e rounded, and what
 * the rounding has lost. e is overwritten. */
static void log_one_plus(Math *m, AscRef dst, AscRef e)
{
    AscRef t = temp(m);
    sc(m, ASC_ADDS, t, e, 1);
    un(m, ASC_LN, dst, t);
    sc(m, ASC_ADDS, t, t, -1);
    bi(m, ASC_SUB, e, e, t);
    bi(m, ASC_ADD, dst, dst, e);
}

/* max(a, 0) + log(1 + exp(-|a|)) */
static void softplus(Math *m)
{
    AscRef e = temp(m), t = m->dst.id != m->a.id ? m->dst : temp(m);
    un(m, ASC_ABS, e, m->a);
    sc(m, ASC_MULS, e, e, -1);
    un(m, ASC_EXP, e, e);
    log_one_plus(m, t, e);
    sc(m, ASC_MAXS, e, m->a, 0);
    bi(m, ASC_ADD, m->dst, e, t);
}

/* tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2), e = exp(a); beyond 20 it is 1. */
static void mish(Math *m)
{
    AscRef e = temp(m), t = temp(m);
    sc(m, ASC_MINS, e, m->a, 20);
    un(m, ASC_EXP, e, e);
    sc(m, ASC_ADDS, t, e, 2);
    bi(m, ASC_MUL, e, e, t);
    sc(m, ASC_ADDS, t, e, 2);
    bi(m, ASC_DIV, e, e, t);
    bi(m, ASC_MUL, m->dst, m->a, e);
}

/* sin of r in [-pi/2, pi/2], Taylor to the 13th power; r is overwritten. */
static void sine_near_zero(Math *m, AscRef dst, AscRef r)
{
    static const double c[] = {1.6059043836821613e-10, -2.505210838544172e-08,
                               2.7557319223985893e-06, -1.984126984126984e-04,
                               8.333333333333333e-03,  -1.6666666666666666e-01};
    AscRef x2 = temp(m), t = temp(m);
    bi(m, ASC_MUL, x2, r, r);
    horner(m, t, x2, c, 6);
    bi(m, ASC_MUL, t, t, x2);
    sc(m, ASC_ADDS, t, t, 1);
    bi(m, ASC_MUL, dst, t, r);
    m->l->scratch_used -= 2;
}

/* a = r + (k + half) pi with |r| <= pi/2, pi in three parts; then the sign from k's parity.
 * Good to 1e-6 for |a| below 3e4. */
static void circular(Math *m, AscRef dst, AscRef a, bool cosine)
{
    static const double pi_parts[] = {3.140625, 9.67502593994140625e-4, 1.509957990978376432e-7};
    AscRef k = temp(m), r = temp(m), t = temp(m);
    sc(m, ASC_MULS, k, a, 0.31830988618379067);
    if (cosine)
        sc(m, ASC_ADDS, k, k, -0.5);
    integer(m, k, k, NPU_ROUND_RINT);
    sc(m, ASC_ADDS, t, k, cosine ? 0.5 : 0);
    sc(m, ASC_MULS, r, a, 1);
    for (int i = 0; i < 3; i++)
        sc(m, ASC_AXPY, r, t, -pi_parts[i]);
    sine_near_zero(m, r, r);
    sc(m, ASC_MULS, t, k, 0.5);
    integer(m, t, t, NPU_ROUND_FLOOR);
    sc(m, ASC_AXPY, k, t, -2);
    sc(m, ASC_MULS, k, k, cosine ? 2 : -2);
    sc(m, ASC_ADDS, k, k, cosine ? -1 : 1);
    bi(m, ASC_MUL, dst, r, k);
    m->l->scratch_used -= 3;
}

static void tangent(Math *m)
{
    AscRef s = temp(m), c = temp(m);
    circular(m, s, m->a, false);
    circular(m, c, m->a, true);
    bi(m, ASC_DIV, m->dst, s, c);
}

/* For |a| > 1: the sign's pi/2 minus atan(1/a). Coefficients: Abramowitz and Stegun 4.4.49. */
static void arc_tangent(Math *m, AscRef dst, AscRef a)
{
    static const double c[] = {0.0028662257,  -0.0161657367, 0.0429096138,
                               -0.0752896400, 0.1065626393,  -0.1420889944,
                               0.1999355085,  -0.3333314528, 1.0};
    AscRef x = temp(m), t = temp(m), x2 = temp(m), big = temp_mask(m), plus = temp_mask(m);
    un(m, ASC_ABS, t, a);
    compare(m, big, t, 1, NPU_GT);
    compare(m, plus, a, 0, NPU_GE);
    fill(m, x, 1);
    bi(m, ASC_DIV, x, x, a);
    call_select(m->l, x, big, x, a, m->run.count);
    bi(m, ASC_MUL, x2, x, x);
    horner(m, t, x2, c, 9);
    bi(m, ASC_MUL, t, t, x);
    fill(m, x, 1.5707963267948966);
    call_selects(m->l, x, plus, x, ir_float(m->l->ir, -1.5707963267948966), m->run.count);
    bi(m, ASC_SUB, x, x, t);
    call_select(m->l, dst, big, x, t, m->run.count);
    m->l->scratch_used -= 5;
}

/* atan(a / sqrt((1 - a)(1 + a))) */
static void arc_sine(Math *m, bool cosine)
{
    AscRef t = temp(m), u = temp(m);
    sc(m, ASC_ADDS, t, m->a, 1);
    sc(m, ASC_MULS, u, m->a, -1);
    sc(m, ASC_ADDS, u, u, 1);
    bi(m, ASC_MUL, t, t, u);
    un(m, ASC_SQRT, t, t);
    bi(m, ASC_DIV, t, m->a, t);
    arc_tangent(m, cosine ? t : m->dst, t);
    if (!cosine)
        return;
    sc(m, ASC_MULS, t, t, -1);
    sc(m, ASC_ADDS, m->dst, t, 1.5707963267948966);
}

/* sinh of |a| < 1, where the difference of exponentials cancels: Taylor to the 9th power; else `big`. */
static void near_zero_or(Math *m, AscRef big)
{
    static const double c[] = {2.7557319223985893e-06, 1.984126984126984e-04, 8.333333333333333e-03,
                               1.6666666666666666e-01, 1.0};
    AscRef x2 = temp(m), t = temp(m), small = temp_mask(m);
    bi(m, ASC_MUL, x2, m->a, m->a);
    compare(m, small, x2, 1, NPU_LT);
    horner(m, t, x2, c, 5);
    bi(m, ASC_MUL, t, t, m->a);
    call_select(m->l, m->dst, small, t, big, m->run.count);
}

/* With e = exp(a / 2): e^2 / 2 -+ 1 / (2 e^2), so that nothing overflows before the result. */
static void hyperbolic(Math *m, bool cosine)
{
    AscRef e = temp(m), h = temp(m), t = temp(m);
    sc(m, ASC_MULS, e, m->a, 0.5);
    un(m, ASC_EXP, e, e);
    sc(m, ASC_MULS, h, e, 0.5);
    bi(m, ASC_MUL, h, h, e);
    fill(m, t, 0.5);
    bi(m, ASC_DIV, t, t, e);
    bi(m, ASC_DIV, t, t, e);
    bi(m, cosine ? ASC_ADD : ASC_SUB, cosine ? m->dst : h, h, t);
    if (!cosine)
        near_zero_or(m, h);
}

/* Scaled until even the smallest number passes 1, and clamped; NaN stays. */
static void sign(Math *m)
{
    AscRef x = m->a;
    for (int i = 0; i < 2; i++) {
        sc(m, ASC_MULS, m->dst, x, 0x1p100);
        sc(m, ASC_MINS, m->dst, m->dst, 1);
        sc(m, ASC_MAXS, m->dst, m->dst, -1);
        x = m->dst;
    }
}

/* ---- powers ---- */

/* exp(b log a) where a > 0; the sign and the integer exponents of a negative base by selection. */
static void power(Math *m, AscRef b)
{
    Lower *l = m->l;
    IrExprId n = m->run.count;
    AscRef mag = temp(m), t = temp(m), u = temp(m), mask = temp_mask(m);
    un(m, ASC_ABS, mag, m->a);
    un(m, ASC_LN, mag, mag);
    bi(m, ASC_MUL, mag, mag, b);
    un(m, ASC_EXP, mag, mag);
    sc(m, ASC_MULS, t, b, 0.5);
    integer(m, u, t, NPU_ROUND_FLOOR);
    call_compare(l, mask, t, u, NPU_EQ, n);
    sc(m, ASC_MULS, t, mag, -1);
    call_select(l, t, mask, mag, t, n);
    integer(m, u, b, NPU_ROUND_FLOOR);
    call_compare(l, mask, b, u, NPU_EQ, n);
    call_selects(l, t, mask, t, ir_float(l->ir, (double)NAN), n);
    compare(m, mask, m->a, 0, NPU_LT);
    call_select(l, t, mask, t, mag, n);
    compare(m, mask, b, 0, NPU_NE);
    call_selects(l, m->dst, mask, t, ir_float(l->ir, 1), n);
}

static void small_power(Math *m, int n)
{
    if (n == 1) {
        op_copy(m->l, m->dst, m->a, m->run);
        return;
    }
    AscRef t = temp(m);
    bi(m, ASC_MUL, t, m->a, m->a);
    if (n == 4)
        bi(m, ASC_MUL, m->dst, t, t);
    else if (n == 3)
        bi(m, ASC_MUL, m->dst, t, m->a);
    else
        op_copy(m->l, m->dst, t, m->run);
}

static void power_scalar(Math *m, IrExprId s)
{
    const IrExpr *e = &m->l->ir->exprs.at[s];
    bool known = e->op == IR_E_FLOAT || e->op == IR_E_INT;
    double value = e->op == IR_E_FLOAT ? e->of.f : (double)e->of.i;
    if (known && value == 2) {
        bi(m, ASC_MUL, m->dst, m->a, m->a);
    } else if (known && (value == 1 || value == 3 || value == 4)) {
        small_power(m, (int)value);
    } else if (known && value == 0.5) {
        un(m, ASC_SQRT, m->dst, m->a);
    } else if (known && value == 0) {
        fill(m, m->dst, 1);
    } else if (known && floor(value) != value) {
        un(m, ASC_LN, m->dst, m->a);
        sc(m, ASC_MULS, m->dst, m->dst, value);
        un(m, ASC_EXP, m->dst, m->dst);
    } else {
        AscRef b = temp(m);
        call_fill(m->l, b, s, m->run.count);
        power(m, b);
    }
}

bool op_math(Lower *l, IrTileOp op, AscRef dst, const AscRef *src, IrExprId scalar, Run run)
{
    Math m = {l, dst, src[0], run};
    switch (op) {
    case IR_T_SIGMOID: logistic(&m, NULL); break;
    case IR_T_SILU: logistic(&m, &m.a); break;
    case IR_T_TANH: hyperbolic_tangent(&m); break;
    case IR_T_ERF: error_function(&m, dst, m.a); break;
    case IR_T_GELU: gelu(&m); break;
    case IR_T_SOFTPLUS: softplus(&m); break;
    case IR_T_MISH: mish(&m); break;
    case IR_T_SIN: circular(&m, dst, m.a, false); break;
    case IR_T_COS: circular(&m, dst, m.a, true); break;
    case IR_T_TAN: tangent(&m); break;
    case IR_T_ATAN: arc_tangent(&m, dst, m.a); break;
    case IR_T_ASIN: arc_sine(&m, false); break;
    case IR_T_ACOS: arc_sine(&m, true); break;
    case IR_T_SINH: hyperbolic(&m, false); break;
    case IR_T_COSH: hyperbolic(&m, true); break;
    case IR_T_SIGN: sign(&m); break;
    case IR_T_FLOOR: integer(&m, dst, m.a, NPU_ROUND_FLOOR); break;
    case IR_T_CEIL: integer(&m, dst, m.a, NPU_ROUND_CEIL); break;
    case IR_T_ROUND: integer(&m, dst, m.a, NPU_ROUND_RINT); break;
    case IR_T_TRUNC: integer(&m, dst, m.a, NPU_ROUND_TRUNC); break;
    case IR_T_LOG2:
        un(&m, ASC_LN, dst, m.a);
        sc(&m, ASC_MULS, dst, dst, 1.4426950408889634);
        break;
    case IR_T_LOG10:
        un(&m, ASC_LN, dst, m.a);
        sc(&m, ASC_MULS, dst, dst, 0.43429448190325183);
        break;
    case IR_T_POW: power(&m, src[1]); break;
    case IR_T_POWS: power_scalar(&m, scalar); break;
    default: return false;
    }
    return true;
}
