/* Asserts of the host function that must hold before shapes of outputs can be computed: those at its
 * head, made of sizes and attributes, where a shape divides by one of them. In: a host side. Out:
 * the asserts, one after the other; shape inference and the torch binding print them. */
#include "emit/ascendc_host.h"

/* Made of sizes and attributes alone, which everybody knows. */
static bool is_public(const IrProgram *ir, IrExprId id)
{
    const IrExpr *e = &ir->exprs.at[id];
    if (e->op == IR_E_VAR)
        return ir->vars.at[e->of.var].kind == IR_VAR_DIM ||
               ir->vars.at[e->of.var].kind == IR_VAR_ATTR;
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (!is_public(ir, e->arg[i]))
            return false;
    return e->op != IR_E_CHIP && e->op != IR_E_PRESENT && e->op != IR_E_LIST_LEN &&
           e->op != IR_E_LIST_SIZE;
}

static bool divides(const IrProgram *ir, IrExprId id)
{
    const IrExpr *e = &ir->exprs.at[id];
    int64_t by;
    bool here = e->op == IR_E_FLOORDIV || e->op == IR_E_MOD || e->op == IR_E_CEILDIV ||
                e->op == IR_E_ALIGN_UP || e->op == IR_E_ALIGN_DOWN;
    if (here && !ir_is_int(ir, e->arg[1], &by))
        return true;
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (divides(ir, e->arg[i]))
            return true;
    return false;
}

bool host_next_guard(const Host *h, uint32_t *at, const IrStmt **guard)
{
    const IrProgram *ir = h->p->ir;
    bool needed = false;
    for (uint32_t i = 0; i < ir->operand_count; i++)
        for (uint32_t a = 0; operand_is_output(&ir->tensors.at[i]) && a < ir->tensors.at[i].rank;
             a++)
            needed = needed || (ir->tensors.at[i].role != IR_ROLE_OUT_LIST &&
                                divides(ir, ir->tensors.at[i].shape[a]));
    for (; needed && *at < ir->host.len; ++*at) {
        *guard = &ir->stmts.at[ir->host.at[*at]];
        if ((*guard)->kind == IR_S_ASSERT && is_public(ir, (*guard)->cond)) {
            ++*at;
            return true;
        }
        if ((*guard)->kind != IR_S_ASSERT && (*guard)->kind != IR_S_ASSIGN)
            break;
    }
    return false;
}
