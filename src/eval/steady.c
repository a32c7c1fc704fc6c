/* Does a program do the same whatever its values are? In: a checked program. Out: true where no
 * value can reach an address, a bound or a condition: everything in GM is of float type, what is
 * read into scalars too, and no integer or truth is made of a float that a kernel read or computed (those of the
 * host function come from sizes and attributes). Then one run without data tells what all would do. False says nothing: most that it leaves out are steady as well. */
#include "eval/eval_int.h"

static bool is_value(DType type) { return dtype_is_float(type); }

static bool holds_floats(const IrProgram *p)
{
    for (uint32_t i = 0; i < p->tensors.len; i++)
        if (!is_value(p->tensors.at[i].dtype))
            return false;
    return true;
}

static bool reads_floats(const IrProgram *p)
{
    for (uint32_t i = 0; i < p->stmts.len; i++) {
        const IrStmt *s = &p->stmts.at[i];
        bool reads = s->kind == IR_S_GM_READ || (s->kind == IR_S_OP && s->dst.rank == 0);
        if (reads && !is_value(p->vars.at[s->var].type))
            return false;
    }
    return true;
}

/* Whether a scalar of a kernel is in it; only those are read from GM or reduced from tiles. */
static bool is_of_kernel(const IrProgram *p, IrExprId id)
{
    const IrExpr *e = &p->exprs.at[id];
    if (e->op == IR_E_VAR)
        return p->vars.at[e->of.var].kind == IR_VAR_LOCAL;
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (is_of_kernel(p, e->arg[i]))
            return true;
    return false;
}

/* An integer, a truth of such a float: a truncation, a comparison. */
static bool decides_by_floats(const IrProgram *p, const IrExpr *e)
{
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (!is_value(e->type) && is_value(p->exprs.at[e->arg[i]].type) &&
            is_of_kernel(p, e->arg[i]))
            return true;
    return false;
}

bool eval_is_steady(const IrProgram *p)
{
    bool steady = holds_floats(p) && reads_floats(p);
    for (uint32_t i = 0; steady && i < p->exprs.len; i++)
        steady = !decides_by_floats(p, &p->exprs.at[i]);
    return steady;
}
