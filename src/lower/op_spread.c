/* A row or column that is spread over a 2-D tile only to be an operand of the next operation:
 *
 *     tmp = col(m); d = a - tmp    one Sub per row, whose second operand repeats one 256-byte row
 *     tmp = row(g); d = a * tmp    one Mul per row, whose second operand is g itself
 *     tmp = row(g); d = fma(a, tmp, d)   the same with MulAddDst
 *
 * In: the two statements. Out: calls that never write tmp. */
#include "lower/lower_int.h"

enum { LANES = 64 };

static bool same_view(const Lower *l, const IrView *a, const IrView *b)
{
    bool same = a->buffer == b->buffer && a->rank == b->rank && a->dtype == b->dtype;
    for (uint32_t i = 0; same && i < a->rank; i++)
        same = ir_same(l->ir, a->start[i], b->start[i]);
    return same;
}

static AscApi direct_api(const Lower *l, const IrStmt *s)
{
    switch (s->op) {
    case IR_T_ADD: return ASC_ADD;
    case IR_T_SUB: return ASC_SUB;
    case IR_T_MUL: return ASC_MUL;
    case IR_T_DIV: return ASC_DIV;
    case IR_T_MAX: return ASC_MAX;
    case IR_T_MIN: return ASC_MIN;
    case IR_T_FMA: return same_view(l, &s->dst, &s->src[2]) ? ASC_MUL_ADD_DST : ASC_API_COUNT;
    default: return ASC_API_COUNT;
    }
}

/* Which operand of `next` is what `s` made; -1: they do not join. */
static int joined(const Lower *l, const IrStmt *s, const IrStmt *next)
{
    if (s->kind != IR_S_OP || next->kind != IR_S_OP || (s->op != IR_T_COL && s->op != IR_T_ROW) ||
        direct_api(l, next) == ASC_API_COUNT || s->dst.rank != 2 || s->dst.dtype != DT_F32)
        return -1;
    const IrBuffer *made = &l->source->buffers.at[s->dst.buffer];
    bool fma = next->op == IR_T_FMA;
    bool gone = made->scratch || (next->dst.buffer == s->dst.buffer && !fma);
    bool first = next->src[0].buffer == s->dst.buffer;
    bool second = next->src[1].buffer == s->dst.buffer;
    if (!gone || first == second || next->dst.buffer == s->src[0].buffer)
        return -1;
    return first ? 0 : 1;
}

/* Spread twice: a value fills a block, then the block's eight fill a repeat of eight blocks. */
static AscRef spread_repeats(Lower *l, AscRef value, IrExprId rows, IrExprId room)
{
    IrExprId eight = lx_int(l, 8);
    AscRef narrow = scratch_take(l, DT_F32, lx_mul(l, lx_align(l, room, 8), eight));
    AscRef wide = scratch_take(l, DT_F32, lx_mul(l, lx_align(l, room, 8), lx_int(l, 64)));
    *ls_new(l, ASC_S_CALL) = (AscStmt){.kind = ASC_S_CALL,
                                       .at = l->span,
                                       .api = ASC_BROADCAST,
                                       .dst = narrow,
                                       .a = value,
                                       .repeat = lx_ceildiv(l, rows, eight)};
    *ls_new(l, ASC_S_CALL) = (AscStmt){.kind = ASC_S_CALL,
                                       .at = l->span,
                                       .api = ASC_BROADCAST,
                                       .dst = wide,
                                       .a = narrow,
                                       .repeat = rows};
    return wide;
}

typedef struct Spread {
    Lower *l;
    AscApi api;
    AscRef dst, tile, value;
    int at; /* which operand the value is */
} Spread;

static void spread_call(const Spread *p, IrExprId offset, IrExprId mask, IrExprId repeat)
{
    Lower *l = p->l;
    IrExprId one = lx_int(l, 1), eight = lx_int(l, 8), zero = lx_int(l, 0);
    AscRef tile = ref_at(l, p->tile, offset);
    AscStmt *s = ls_new(l, ASC_S_CALL);
    s->api = p->api;
    s->dst = ref_at(l, p->dst, offset);
    s->a = p->at ? tile : p->value;
    s->b = p->at ? p->value : tile;
    s->mask = mask;
    s->repeat = repeat;
    s->strides = (AscStrides){one, one, one, eight, p->at ? eight : zero, p->at ? zero : eight};
}

static void spread_row(const Spread *p, IrExprId cols, int64_t lanes)
{
    Lower *l = p->l;
    IrExprId full = ir_expr2(l->ir, IR_E_FLOORDIV, cols, lx_int(l, lanes));
    spread_call(p, 0, lx_int(l, lanes), full);
    if (lx_divides(l, cols, lanes))
        return;
    IrExprId done = lx_mul(l, full, lx_int(l, lanes)), rest = lx_sub(l, cols, done);
    ls_new(l, ASC_S_IF)->value = ir_expr2(l->ir, IR_E_GT, rest, lx_int(l, 0));
    AscStmtId guard = ls_last(l);
    Opened body;
    ls_open(l, &body);
    spread_call(p, done, rest, lx_int(l, 1));
    ls_close(l, &body, guard, false);
}

/* All rows at once, 64 columns at a time: the value steps by its 64 copies, a shared row not. */
static void spread_columns(Lower *l, const Spread *p, const View2 *d, const View2 *tile, bool col)
{
    IrVarId at = lx_local(l, "col", DT_I64);
    l->ir->vars.at[at].lo = 0;
    l->ir->vars.at[at].multiple = LANES;
    AscStmtId owner = ls_for(l, at, lx_int(l, 0), d->cols, lx_int(l, LANES));
    Opened body;
    ls_open(l, &body);
    IrExprId here = lx_var(l, at), one = lx_int(l, 1), steps = op_blocks(l, tile->stride, DT_F32);
    IrExprId value_steps = lx_int(l, col ? LANES / 8 : 0);
    AscRef from = ref_at(l, tile->ref, here), value = col ? p->value : ref_at(l, p->value, here);
    AscStmt *s = ls_new(l, ASC_S_CALL);
    s->api = p->api;
    s->dst = ref_at(l, d->ref, here);
    s->a = p->at ? from : value;
    s->b = p->at ? value : from;
    s->mask = lx_min(l, lx_int(l, LANES), lx_sub(l, d->cols, here));
    s->repeat = d->rows;
    s->strides = (AscStrides){one,
                              one,
                              one,
                              op_blocks(l, d->stride, DT_F32),
                              p->at ? steps : value_steps,
                              p->at ? value_steps : steps};
    ls_close(l, &body, owner, false);
}

bool op_spread_joins(const Lower *l, const IrStmt *s, const IrStmt *next)
{
    int at = joined(l, s, next);
    if (at < 0)
        return false;
    const IrBuffer *b = &l->source->buffers.at[s->dst.buffer];
    return s->op == IR_T_ROW ||
           (lx_most(l, b->shape[0]) <= 255 && lx_most(l, b->shape[1]) < 256 * 64);
}

void op_spread(Lower *l, const IrStmt *s, const IrStmt *next)
{
    uint32_t mark = scratch_mark(l);
    int at = joined(l, s, next);
    View2 d = view_of(l, &next->dst), tile = view_of(l, &next->src[1 - at]);
    View2 v = view_of(l, &s->src[0]);
    Spread p = {.l = l, .api = direct_api(l, next), .at = at};
    AscRef wide = s->op == IR_T_COL ? spread_repeats(l, v.ref, d.rows, view_room(l, &s->src[0]))
                                    : v.ref;
    if (op_short_rows(l, &next->dst) && op_short_rows(l, &next->src[1 - at])) {
        p.value = wide;
        spread_columns(l, &p, &d, &tile, s->op == IR_T_COL);
        scratch_drop(l, mark);
        return;
    }
    IrVarId row = lx_local(l, "row", DT_I64);
    l->ir->vars.at[row].lo = 0;
    AscStmtId owner = ls_for(l, row, lx_int(l, 0), d.rows, lx_int(l, 1));
    Opened body;
    ls_open(l, &body);
    p.dst = ref_at(l, d.ref, lx_mul(l, lx_var(l, row), d.stride));
    p.tile = ref_at(l, tile.ref, lx_mul(l, lx_var(l, row), tile.stride));
    if (s->op == IR_T_COL) {
        p.value = ref_at(l, wide, lx_mul(l, lx_var(l, row), lx_int(l, 64)));
        spread_row(&p, d.cols, 64);
    } else {
        call_binary(l, p.api, p.dst, at ? p.tile : wide, at ? wide : p.tile, d.cols);
    }
    ls_close(l, &body, owner, false);
    scratch_drop(l, mark);
}
