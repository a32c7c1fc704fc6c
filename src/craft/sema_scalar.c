/* Arithmetic on scalars: i64, f32, bool. In: values. Out: IR expressions, folded. Integer
 * constants become f32 where a float is needed; nothing else converts by itself. */
#include "craft/sema.h"

#include <math.h>

DType sema_type(Sema *s, IrExprId e) { return s->ir->exprs.at[e].type; }

Value sema_bad(Span at) { return (Value){.kind = VAL_BAD, .at = at}; }

Value sema_scalar_value(Sema *s, IrExprId e, Span at)
{
    if (!e)
        return sema_bad(at);
    return (Value){.kind = VAL_SCALAR, .scalar = e, .dtype = sema_type(s, e), .at = at};
}

static bool is_int_constant(Sema *s, IrExprId e) { return s->ir->exprs.at[e].op == IR_E_INT; }

IrExprId sema_as_float(Sema *s, IrExprId e, Span at)
{
    if (sema_type(s, e) == DT_F32)
        return e;
    if (is_int_constant(s, e))
        return ir_float(s->ir, (double)s->ir->exprs.at[e].of.i);
    sema_error(s, SCALAR_TYPE, at, sema_format(s, "convert it: f32(%s)", sema_expr_text(s, e)),
               "an f32 scalar is needed here, '%s' is %s", sema_expr_text(s, e),
               dtype_name(sema_type(s, e)));
    return 0;
}

/* Makes the two of one type, or reports. */
bool sema_unify(Sema *s, IrExprId *a, IrExprId *b, Span at, const char *what)
{
    DType x = sema_type(s, *a), y = sema_type(s, *b);
    if (x == y)
        return true;
    if (x == DT_F32 && is_int_constant(s, *b))
        *b = sema_as_float(s, *b, at);
    else if (y == DT_F32 && is_int_constant(s, *a))
        *a = sema_as_float(s, *a, at);
    if (sema_type(s, *a) == sema_type(s, *b))
        return true;
    const char *integer = sema_expr_text(s, x == DT_F32 ? *b : *a);
    const char *hint = x == DT_BOOL || y == DT_BOOL
                           ? "use 'a if c else b' to turn a bool into a number"
                           : sema_format(s,
                                         "convert the integer: f32(%s); a scalar that is to hold "
                                         "floats starts as one, with 0.0",
                                         integer);
    sema_error(s, SCALAR_TYPE, at, hint, "%s mixes scalars of %s and %s", what, dtype_name(x),
               dtype_name(y));
    return false;
}

static bool want_number(Sema *s, IrExprId e, Span at, const char *what)
{
    if (sema_type(s, e) != DT_BOOL)
        return true;
    sema_error(s, SCALAR_TYPE, at, "use and, or, not, == on bools", "%s on a bool", what);
    return false;
}

/* A constant result that does not exist (overflow, division by zero) was left unfolded. */
static IrExprId check_folded(Sema *s, IrExprOp op, IrExprId a, IrExprId b, IrExprId e, Span at)
{
    int64_t x, y = 0, out;
    bool constant = ir_is_int(s->ir, a, &x) && (!b || ir_is_int(s->ir, b, &y));
    bool divides = op == IR_E_FLOORDIV || op == IR_E_MOD || op == IR_E_CEILDIV ||
                   op == IR_E_ALIGN_UP || op == IR_E_ALIGN_DOWN;
    if (divides && b && ir_is_int(s->ir, b, &y) && y <= 0) {
        sema_error(s, OVERFLOW, at, NULL, "the divisor is %lld; it must be at least 1",
                   (long long)y);
        return 0;
    }
    if (!constant || s->ir->exprs.at[e].op != op || ir_is_compare(op) ||
        ir_eval_int(op, x, y, &out))
        return e;
    sema_error(s, OVERFLOW, at, NULL, "the result does not fit 64 bits");
    return 0;
}

static bool float_constant(Sema *s, IrExprId e, double *value)
{
    if (s->ir->exprs.at[e].op != IR_E_FLOAT)
        return false;
    *value = s->ir->exprs.at[e].of.f;
    return true;
}

/* Constant floats fold in double and round once; the IR itself folds only integers. */
static IrExprId fold_float(Sema *s, IrExprOp op, IrExprId a, IrExprId b)
{
    double x, y = 0;
    if (!float_constant(s, a, &x) || (b && !float_constant(s, b, &y)))
        return 0;
    switch (op) {
    case IR_E_ADD: return ir_float(s->ir, x + y);
    case IR_E_SUB: return ir_float(s->ir, x - y);
    case IR_E_MUL: return ir_float(s->ir, x * y);
    case IR_E_DIV: return ir_float(s->ir, x / y);
    case IR_E_SQRT: return ir_float(s->ir, sqrt(x));
    default: return 0;
    }
}

static IrExprId make(Sema *s, IrExprOp op, IrExprId a, IrExprId b, Span at)
{
    IrExprId folded = fold_float(s, op, a, b);
    if (folded)
        return folded;
    IrExprId e = b ? ir_expr2(s->ir, op, a, b) : ir_expr1(s->ir, op, a);
    return check_folded(s, op, a, b, e, at);
}

static Value divide(Sema *s, Tok op, IrExprId a, IrExprId b, Span at)
{
    bool floats = sema_type(s, a) == DT_F32;
    if (op == TOK_SLASH && !floats) {
        sema_error(s, DIVIDE, at, "integers divide with //; floats: f32(a) / f32(b)",
                   "'/' divides floats, these are i64");
        return sema_bad(at);
    }
    if (op != TOK_SLASH && floats) {
        sema_error(s, DIVIDE, at, "floats divide with /", "'%s' divides integers, these are f32",
                   craft_tok_names[op]);
        return sema_bad(at);
    }
    IrExprOp ir = op == TOK_SLASH ? IR_E_DIV : op == TOK_PERCENT ? IR_E_MOD : IR_E_FLOORDIV;
    return sema_scalar_value(s, make(s, ir, a, b, at), at);
}

static IrExprOp scalar_op(Tok op)
{
    switch (op) {
    case TOK_PLUS: return IR_E_ADD;
    case TOK_MINUS: return IR_E_SUB;
    case TOK_STAR: return IR_E_MUL;
    case TOK_EQ: return IR_E_EQ;
    case TOK_NE: return IR_E_NE;
    case TOK_LT: return IR_E_LT;
    case TOK_LE: return IR_E_LE;
    case TOK_GT: return IR_E_GT;
    case TOK_GE: return IR_E_GE;
    default: return IR_E_NONE;
    }
}

/* x ** n for a constant n from 0 to 16, as products; shifts of integers as products too. */
static Value power(Sema *s, IrExprId a, IrExprId b, Span at)
{
    int64_t n;
    if (!ir_is_int(s->ir, b, &n) || n < 0 || n > 16) {
        sema_error(s, KIND, at, "write it as products, or exp(y * log(x))",
                   "a power of scalars needs a constant exponent from 0 to 16");
        return sema_bad(at);
    }
    IrExprId e = sema_type(s, a) == DT_F32 ? ir_float(s->ir, 1) : ir_int(s->ir, 1);
    for (int64_t i = 0; i < n && e; i++)
        e = i ? make(s, IR_E_MUL, e, a, at) : a;
    return sema_scalar_value(s, e, at);
}

static Value shift(Sema *s, Tok op, IrExprId a, IrExprId b, Span at)
{
    int64_t n;
    if (sema_type(s, a) != DT_I64 || !ir_is_int(s->ir, b, &n) || n < 0 || n > 62) {
        sema_error(s, KIND, at, NULL,
                   "a shift of a scalar needs an integer and a constant from 0 to 62");
        return sema_bad(at);
    }
    IrExprId by = ir_int(s->ir, (int64_t)1 << n);
    return sema_scalar_value(s, make(s, op == TOK_SHL ? IR_E_MUL : IR_E_FLOORDIV, a, by, at), at);
}

Value sema_scalar_binary(Sema *s, Tok op, Value a, Value b, Span at)
{
    IrExprId x = a.scalar, y = b.scalar;
    const char *what = sema_format(s, "'%s'", craft_tok_names[op]);
    if (op == TOK_STARSTAR)
        return power(s, x, y, at);
    if (op == TOK_SHL || op == TOK_SHR)
        return shift(s, op, x, y, at);
    if (op == TOK_AMP || op == TOK_PIPE || op == TOK_CARET) {
        sema_error(s, KIND, at, "on bools write and, or, not", "%s is for masks and integer tiles",
                   what);
        return sema_bad(at);
    }
    if (!sema_unify(s, &x, &y, at, what))
        return sema_bad(at);
    if (op == TOK_SLASH || op == TOK_SLASHSLASH || op == TOK_PERCENT)
        return want_number(s, x, at, what) ? divide(s, op, x, y, at) : sema_bad(at);
    IrExprOp ir = scalar_op(op);
    bool equality = ir == IR_E_EQ || ir == IR_E_NE;
    if (!ir || (!equality && !want_number(s, x, at, what)))
        return sema_bad(at);
    return sema_scalar_value(s, make(s, ir, x, y, at), at);
}

Value sema_scalar_unary(Sema *s, Tok op, Value a, Span at)
{
    if (op == TOK_NOT) {
        if (a.dtype != DT_BOOL) {
            sema_error(s, CONDITION, at, "compare it with something",
                       "'not' needs a bool, this is %s", dtype_name(a.dtype));
            return sema_bad(at);
        }
        return sema_scalar_value(s, ir_expr1(s->ir, IR_E_NOT, a.scalar), at);
    }
    if (op == TOK_TILDE) {
        sema_error(s, KIND, at, "on bools write not", "'~' is for masks and integer tiles");
        return sema_bad(at);
    }
    if (!want_number(s, a.scalar, at, "a sign"))
        return sema_bad(at);
    if (op == TOK_PLUS)
        return a;
    return sema_scalar_value(s, make(s, IR_E_NEG, a.scalar, 0, at), at);
}

/* min, max, ceildiv and the other named functions of two scalars. */
Value sema_scalar_fold(Sema *s, IrExprOp op, Value a, Value b, Span at)
{
    IrExprId x = a.scalar, y = b.scalar;
    if (!sema_unify(s, &x, &y, at, ir_expr_rows[op].text) ||
        !want_number(s, x, at, ir_expr_rows[op].text))
        return sema_bad(at);
    return sema_scalar_value(s, make(s, op, x, y, at), at);
}
