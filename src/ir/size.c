/* Sizes that are computed from others. In: the sizes read from the operands. Out: the derived ones
 * (IR_VAR_DIM with a value), and which sizes a kernel reads at all.
 *
 *     rows = dim(1, 1073741824, of=batch * steps)
 *
 * A kernel sees a derived size as a variable with a range like any other; only the host knows what
 * it is made of. */
#include "ir/ir.h"

static bool eval_size(const IrProgram *p, IrExprId id, const int64_t *dims, int64_t *value)
{
    const IrExpr *e = &p->exprs.at[id];
    int64_t a = 0, b = 0;
    if (e->op == IR_E_INT) {
        *value = e->of.i;
        return true;
    }
    if (e->op == IR_E_VAR) {
        for (uint32_t i = 0; i < p->dims.len; i++)
            if (p->dims.at[i] == e->of.var) {
                *value = dims[i];
                return true;
            }
        return false;
    }
    int arity = ir_expr_rows[e->op].arity;
    if (e->type != DT_I64 || arity < 1 || arity > 2 || e->op == IR_E_LIST_SIZE ||
        !eval_size(p, e->arg[0], dims, &a) || (arity == 2 && !eval_size(p, e->arg[1], dims, &b)))
        return false;
    return ir_eval_int(e->op, a, b, value);
}

bool ir_derive_sizes(const IrProgram *p, int64_t *dims)
{
    for (uint32_t i = 0; i < p->dims.len; i++) {
        const IrVar *v = &p->vars.at[p->dims.at[i]];
        if (!ir_is_derived(v))
            continue;
        if (!eval_size(p, v->value, dims, &dims[i]) || dims[i] < v->lo || dims[i] > v->hi ||
            dims[i] % v->multiple != 0)
            return false;
    }
    return true;
}

/* ---- which sizes kernels read ---- */

static bool any_mentions(const IrProgram *p, const IrExprId *e, uint32_t n, IrVarId var)
{
    for (uint32_t i = 0; i < n; i++)
        if (e[i] && ir_mentions(p, e[i], var))
            return true;
    return false;
}

static bool view_mentions(const IrProgram *p, const IrView *v, IrVarId var)
{
    return v->rank &&
           (any_mentions(p, &v->row, 1, var) || any_mentions(p, v->start, v->rank, var) ||
            any_mentions(p, v->size, v->rank, var));
}

static bool block_mentions(const IrProgram *p, const IrBlock *block, IrVarId var);

static bool stmt_mentions(const IrProgram *p, const IrStmt *s, IrVarId var)
{
    const IrExprId single[] = {s->align,     s->cond, s->value,    s->access.item,
                               s->scalar[0], s->pad,  s->scalar[1]};
    bool found = any_mentions(p, single, sizeof single / sizeof *single, var) ||
                 any_mentions(p, s->access.start, s->access.rank, var) ||
                 any_mentions(p, s->access.size, s->access.rank, var) ||
                 view_mentions(p, &s->dst, var) || view_mentions(p, &s->dst2, var);
    for (uint32_t i = 0; i < s->axis_count && !found; i++) {
        const IrAxis *a = &s->axes[i];
        found = any_mentions(p, (IrExprId[]){a->lo, a->hi, a->step, a->tile}, 4, var);
    }
    for (uint32_t i = 0; i < s->src_count && !found; i++)
        found = view_mentions(p, &s->src[i], var);
    return found || block_mentions(p, &s->body, var) || block_mentions(p, &s->orelse, var);
}

static bool block_mentions(const IrProgram *p, const IrBlock *block, IrVarId var)
{
    for (uint32_t i = 0; i < block->len; i++)
        if (stmt_mentions(p, &p->stmts.at[block->at[i]], var))
            return true;
    return false;
}

static bool kernel_mentions(const IrProgram *p, const IrKernel *k, IrVarId var)
{
    for (uint32_t i = 0; i < k->tensors.len; i++)
        if (any_mentions(p, k->tensors.at[i].shape, k->tensors.at[i].rank, var))
            return true;
    for (uint32_t i = 0; i < k->buffers.len; i++)
        if (any_mentions(p, k->buffers.at[i].shape, k->buffers.at[i].rank, var) ||
            any_mentions(p, &k->buffers.at[i].depth, 1, var))
            return true;
    return block_mentions(p, &k->body, var);
}

bool ir_kernels_read(const IrProgram *p, IrVarId dim)
{
    bool hidden = false; /* some derived size stands for it */
    for (uint32_t i = 0; i < p->dims.len; i++) {
        const IrVar *v = &p->vars.at[p->dims.at[i]];
        hidden = hidden || (ir_is_derived(v) && ir_mentions(p, v->value, dim));
    }
    for (uint32_t i = 0; hidden && i < p->kernels.len; i++)
        if (kernel_mentions(p, &p->kernels.at[i], dim))
            return true;
    return !hidden;
}
