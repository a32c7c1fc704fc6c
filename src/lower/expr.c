/* Small arithmetic on IR expressions for the passes. In: expressions of the program's copy.
 * Out: folded expressions, and what is known of them (bounds, divisibility, variables). */
#include "lower/lower_int.h"

IrExprId lx_int(Lower *l, int64_t value) { return ir_int(l->ir, value); }
IrExprId lx_var(Lower *l, IrVarId var) { return ir_var(l->ir, var); }

IrExprId lx_add(Lower *l, IrExprId a, IrExprId b)
{
    if (!a || !b)
        return a ? a : b;
    return ir_expr2(l->ir, IR_E_ADD, a, b);
}

IrExprId lx_sub(Lower *l, IrExprId a, IrExprId b)
{
    if (!b)
        return a;
    return ir_expr2(l->ir, IR_E_SUB, a ? a : lx_int(l, 0), b);
}

IrExprId lx_mul(Lower *l, IrExprId a, IrExprId b)
{
    if (!a || !b)
        return 0;
    return ir_expr2(l->ir, IR_E_MUL, a, b);
}

IrExprId lx_align(Lower *l, IrExprId a, int64_t to)
{
    if (!a || to == 1 || lx_divides(l, a, to))
        return a;
    return ir_expr2(l->ir, IR_E_ALIGN_UP, a, lx_int(l, to));
}

IrExprId lx_ceildiv(Lower *l, IrExprId a, IrExprId b)
{
    return ir_expr2(l->ir, IR_E_CEILDIV, a, b);
}

IrExprId lx_min(Lower *l, IrExprId a, IrExprId b)
{
    if (ir_same(l->ir, a, b) || lx_most(l, a) <= lx_least(l, b))
        return a;
    if (lx_most(l, b) <= lx_least(l, a))
        return b;
    return ir_expr2(l->ir, IR_E_MIN, a, b);
}

IrExprId lx_max(Lower *l, IrExprId a, IrExprId b)
{
    if (ir_same(l->ir, a, b) || lx_least(l, a) >= lx_most(l, b))
        return a;
    if (lx_least(l, b) >= lx_most(l, a))
        return b;
    return ir_expr2(l->ir, IR_E_MAX, a, b);
}

bool lx_is(const Lower *l, IrExprId e, int64_t value)
{
    int64_t v = 0;
    return (!e || ir_is_int(l->ir, e, &v)) && v == value;
}

int64_t lx_most(const Lower *l, IrExprId e) { return e ? ir_interval(l->ir, l->chip, e).hi : 0; }

int64_t lx_least(const Lower *l, IrExprId e) { return e ? ir_interval(l->ir, l->chip, e).lo : 0; }

bool lx_divides(const Lower *l, IrExprId e, int64_t by)
{
    return !e || ir_multiple(l->ir, l->chip, e) % by == 0;
}

bool lx_uses(const Lower *l, IrExprId e, IrVarId var)
{
    if (!e)
        return false;
    const IrExpr *x = &l->ir->exprs.at[e];
    if (x->op == IR_E_VAR)
        return x->of.var == var;
    for (int i = 0; i < ir_expr_rows[x->op].arity; i++)
        if (lx_uses(l, x->arg[i], var))
            return true;
    return false;
}

IrVarId lx_local(Lower *l, const char *name, DType type)
{
    IrVarId var = ir_var_new(l->ir, IR_VAR_LOCAL, name, type);
    l->ir->vars.at[var].at = l->span;
    return var;
}
