/* Pass 4, align. In: copies between GM and UB. Out: each copy's form: DataCopy exactly where the
 * length, the distances and both offsets are proven to be whole 32-byte blocks, else DataCopyPad.
 * Nothing else changes: no size, no offset, no order. */
#include "lower/lower_int.h"

enum { BLOCK_BYTES = 32, MOST_BLOCKS = 65535 };

static bool whole(const Lower *l, IrExprId elements, int64_t block)
{
    return lx_divides(l, elements, block);
}

static bool gaps_fit(Lower *l, const AscCopy *c, int64_t block)
{
    IrExprId gm = lx_sub(l, c->gm_row, c->cols), ub = lx_sub(l, c->ub_row, c->cols);
    return lx_most(l, gm) / block <= MOST_BLOCKS && lx_most(l, ub) / block <= MOST_BLOCKS;
}

static AscCopyForm choose(Lower *l, const AscCopy *c, int64_t block)
{
    bool ends = whole(l, c->cols, block) && whole(l, c->gm.offset, block) &&
                whole(l, c->ub.offset, block);
    if (!ends)
        return ASC_COPY_PAD;
    if (!c->rows)
        return ASC_COPY_PLAIN;
    if (!whole(l, c->gm_row, block) || !whole(l, c->ub_row, block) || !gaps_fit(l, c, block))
        return ASC_COPY_PAD;
    bool dense = ir_same(l->ir, c->gm_row, c->cols) && ir_same(l->ir, c->ub_row, c->cols);
    return dense ? ASC_COPY_PLAIN : ASC_COPY_STRIDED;
}

static IrExprId in_blocks(Lower *l, IrExprId elements, int64_t block)
{
    return ir_expr2(l->ir, IR_E_FLOORDIV, elements, lx_int(l, block));
}

static void set_plain(Lower *l, AscCopy *c)
{
    c->len = c->rows ? lx_mul(l, c->rows, c->cols) : c->cols;
}

static void set_strided(Lower *l, AscCopy *c, int64_t block)
{
    c->len = in_blocks(l, c->cols, block);
    c->gm_gap = in_blocks(l, lx_sub(l, c->gm_row, c->cols), block);
    c->ub_gap = in_blocks(l, lx_sub(l, c->ub_row, c->cols), block);
}

/* Rows one after the other. */
static bool is_dense(const Lower *l, const AscCopy *c)
{
    const IrExpr *row = &l->ir->exprs.at[c->gm_row], *cols = &l->ir->exprs.at[c->cols];
    return c->gm_row == c->cols ||
           (row->op == IR_E_VAR && cols->op == IR_E_VAR && row->of.var == cols->of.var);
}

static void set_padded(Lower *l, AscCopy *c, int64_t block)
{
    IrExprId size = lx_int(l, BLOCK_BYTES / block), zero = lx_int(l, 0);
    IrExprId rounded = lx_align(l, c->cols, block);
    c->len = lx_mul(l, c->cols, size);
    c->gm_gap = c->rows ? lx_mul(l, lx_sub(l, c->gm_row, c->cols), size) : zero;
    c->ub_gap = c->rows ? in_blocks(l, lx_sub(l, c->ub_row, rounded), block) : zero;
    c->right = lx_sub(l, rounded, c->cols);
    if (lx_most(l, c->gm_gap) > (int64_t)UINT32_MAX && !is_dense(l, c)) {
        diag_error(l->diag, "E095", l->span, "rows of this copy may lie more than 4 GiB apart");
        diag_hint(l->diag, "bound the sizes of the tensor, or move one row at a time");
    }
}

/* requires: every copy in elements, undecided.
 * keeps: everything but the form of the copies. */
bool lower_align(Lower *l)
{
    for (uint32_t i = 1; i < l->out->stmts.len; i++) {
        if (l->out->stmts.at[i].kind != ASC_S_COPY)
            continue;
        AscCopy c = l->out->stmts.at[i].copy;
        int64_t block = BLOCK_BYTES / (int64_t)dtype_bytes(c.gm.dtype);
        l->span = l->out->stmts.at[i].at;
        c.form = choose(l, &c, block);
        if (c.form == ASC_COPY_PLAIN)
            set_plain(l, &c);
        else if (c.form == ASC_COPY_STRIDED)
            set_strided(l, &c, block);
        else
            set_padded(l, &c, block);
        l->out->stmts.at[i].copy = c;
    }
    return diag_ok(l->diag);
}
