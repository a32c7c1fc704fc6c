/* One result per row. In: a 2-D view. Out: short rows by one WholeReduce* with a repeat per row;
 * long ones of f32 by BlockReduce*, eight elements to one, until a repeat is left; many rows by
 * adding their repeats up first. No step waits for the scalar unit. */
#include "lower/lower_int.h"

enum { BLOCK = 8, REPEATS = 255, MANY = 16, FEW_ROWS = 8 };

static const AscApi repeat_api[] = {ASC_REPEAT_SUM, ASC_REPEAT_MAX, ASC_REPEAT_MIN};
static const AscApi block_api[] = {ASC_BLOCK_SUM, ASC_BLOCK_MAX, ASC_BLOCK_MIN};

typedef struct Rows {
    Lower *l;
    Fold fold;
    AscRef dst, src;
    IrExprId rows, cols, stride, room; /* room: rows of the buffer */
    int64_t most;                      /* columns at most */
    int64_t lanes;                     /* elements of a repeat */
    int64_t far;                       /* blocks from row to row, at most */
} Rows;

static IrExprId blocks(Lower *l, IrExprId elements, DType d)
{
    return ir_expr2(l->ir, IR_E_FLOORDIV, elements, lx_int(l, 32 / (int64_t)dtype_bytes(d)));
}

static void repeat_reduce(Rows *r, AscRef src, IrExprId mask, IrExprId stride)
{
    Lower *l = r->l;
    IrExprId one = lx_int(l, 1);
    AscStmt *s = ls_new(l, ASC_S_CALL);
    s->api = repeat_api[r->fold];
    s->dst = r->dst;
    s->a = src;
    s->mask = mask;
    s->repeat = r->rows;
    s->strides = (AscStrides){.dst_repeat = one, .a_block = one, .a_repeat = stride};
}

static void block_row(Rows *r, AscRef to, AscRef from, IrExprId count, int64_t most);

/* Rows of 64 columns: twice eight to one. WholeReduce takes seven times as long for a repeat (npu/isa.def). */
static void block_reduce(Rows *r, AscRef src, IrExprId stride)
{
    Lower *l = r->l;
    IrExprId eight = lx_int(l, BLOCK), one = lx_int(l, 1);
    AscRef eighths = scratch_take(l, DT_F32, lx_align(l, lx_mul(l, r->room, eight), r->lanes));
    AscStmt *s = ls_new(l, ASC_S_CALL);
    s->api = block_api[r->fold];
    s->dst = eighths;
    s->a = src;
    s->mask = lx_int(l, r->lanes);
    s->repeat = r->rows;
    s->strides = (AscStrides){.dst_repeat = one, .a_block = one, .a_repeat = stride};
    block_row(r, r->dst, eighths, lx_mul(l, r->rows, eight), lx_most(l, r->room) * BLOCK);
}

/* The results of eight rows are written at once: the buffer they are in has room for that, other parts of a
 * larger one may not. */
static bool may_block(const Rows *r)
{
    return r->src.dtype == DT_F32 && !r->dst.offset && lx_least(r->l, r->room) >= FEW_ROWS;
}

/* Rows of up to one repeat. */
static void reduce_short(Rows *r, AscRef src, IrExprId mask, IrExprId stride)
{
    Lower *l = r->l;
    if (!may_block(r) || lx_most(l, mask) < r->lanes) {
        repeat_reduce(r, src, mask, stride);
        return;
    }
    if (lx_least(l, mask) == r->lanes) {
        block_reduce(r, src, stride);
        return;
    }
    ls_new(l, ASC_S_IF)->value = ir_expr2(l->ir, IR_E_EQ, mask, lx_int(l, r->lanes));
    AscStmtId owner = ls_last(l);
    Opened body;
    ls_open(l, &body);
    block_reduce(r, src, stride);
    ls_close(l, &body, owner, false);
    ls_open(l, &body);
    repeat_reduce(r, src, mask, stride);
    ls_close(l, &body, owner, true);
}

static void fold_chunk(Rows *r, AscRef acc, AscRef src, IrExprId mask, bool first)
{
    Lower *l = r->l;
    IrExprId one = lx_int(l, 1), eight = lx_int(l, 8), far = blocks(l, r->stride, src.dtype);
    IrExprId unit = ir_float(l->ir, 1);
    AscStmt *s = ls_new(l, ASC_S_CALL);
    s->api = first ? ASC_MULS : fold_api[r->fold];
    s->dst = acc;
    s->a = first ? src : acc;
    s->b = first ? (AscRef){0} : src;
    s->scalar = first ? unit : 0;
    s->mask = mask;
    s->repeat = r->rows;
    s->strides = (AscStrides){
        one, one, first ? 0 : one, eight, first ? far : eight, first ? 0 : far};
}

/* Columns are folded repeat by repeat into one repeat per row, then each row at once. */
static void fold_lanes(Rows *r)
{
    Lower *l = r->l;
    IrExprId lanes = lx_int(l, r->lanes);
    AscRef acc = scratch_take(l, r->src.dtype, lx_mul(l, r->room, lanes));
    fold_chunk(r, acc, r->src, lanes, true);
    IrVarId col = lx_local(l, "col", DT_I64);
    l->ir->vars.at[col].lo = 0;
    l->ir->vars.at[col].multiple = r->lanes;
    IrExprId full = ir_expr2(l->ir, IR_E_ALIGN_DOWN, r->cols, lanes);
    AscStmtId owner = ls_for(l, col, lanes, full, lanes);
    Opened body;
    ls_open(l, &body);
    fold_chunk(r, acc, ref_at(l, r->src, lx_var(l, col)), lanes, false);
    ls_close(l, &body, owner, false);
    if (!lx_divides(l, r->cols, r->lanes)) {
        IrExprId tail = lx_sub(l, r->cols, full);
        ls_new(l, ASC_S_IF)->value = ir_expr2(l->ir, IR_E_GT, tail, lx_int(l, 0));
        owner = ls_last(l);
        ls_open(l, &body);
        fold_chunk(r, acc, ref_at(l, r->src, full), tail, false);
        ls_close(l, &body, owner, false);
    }
    reduce_short(r, acc, lanes, lx_int(l, 8));
}

/* ---- long rows: blocks ---- */

static void block_call(Rows *r, AscRef to, AscRef from, IrExprId repeat, IrExprId mask)
{
    Lower *l = r->l;
    AscStmt *s = ls_new(l, ASC_S_CALL);
    s->api = block_api[r->fold];
    s->dst = to;
    s->a = from;
    s->mask = mask;
    s->repeat = repeat;
    s->strides = (AscStrides){
        .dst_repeat = lx_int(l, 1), .a_block = lx_int(l, 1), .a_repeat = lx_int(l, 8)};
}

/* All whole repeats of a row; an instruction takes at most 255. */
static void block_repeats(Rows *r, AscRef to, AscRef from, IrExprId full, int64_t most)
{
    Lower *l = r->l;
    IrExprId lanes = lx_int(l, r->lanes);
    if (most < (REPEATS + 1) * r->lanes) {
        block_call(r, to, from, full, lanes);
        return;
    }
    IrVarId done = lx_local(l, "done", DT_I64);
    l->ir->vars.at[done].lo = 0;
    AscStmtId owner = ls_for(l, done, lx_int(l, 0), full, lx_int(l, REPEATS));
    Opened body;
    ls_open(l, &body);
    IrExprId here = lx_var(l, done), left = lx_sub(l, full, here);
    block_call(r, ref_at(l, to, lx_mul(l, here, lx_int(l, BLOCK))),
               ref_at(l, from, lx_mul(l, here, lanes)), lx_min(l, lx_int(l, REPEATS), left), lanes);
    ls_close(l, &body, owner, false);
}

/* One row: eight elements become one. */
static void block_row(Rows *r, AscRef to, AscRef from, IrExprId count, int64_t most)
{
    Lower *l = r->l;
    IrExprId lanes = lx_int(l, r->lanes);
    IrExprId full = ir_expr2(l->ir, IR_E_FLOORDIV, count, lanes);
    block_repeats(r, to, from, full, most);
    if (lx_divides(l, count, r->lanes))
        return;
    IrExprId rest = lx_sub(l, count, lx_mul(l, full, lanes));
    ls_new(l, ASC_S_IF)->value = ir_expr2(l->ir, IR_E_GT, rest, lx_int(l, 0));
    AscStmtId guard = ls_last(l);
    Opened body;
    ls_open(l, &body);
    block_call(r, ref_at(l, to, lx_mul(l, full, lx_int(l, BLOCK))),
               ref_at(l, from, lx_mul(l, full, lanes)), lx_int(l, 1), rest);
    ls_close(l, &body, guard, false);
}

/* All rows take a step before any takes the next, so that no step waits for the one before. */
static void fold_blocks(Rows *r)
{
    Lower *l = r->l;
    AscRef from = r->src;
    IrExprId count = r->cols, stride = r->stride;
    bool one = lx_is(l, r->rows, 1);
    for (int64_t most = r->most; most > r->lanes;) {
        int64_t next = (most + BLOCK - 1) / BLOCK;
        IrExprId width = lx_int(l, (next + BLOCK - 1) / BLOCK * BLOCK);
        AscRef to = scratch_take(l, DT_F32, lx_mul(l, r->room, width));
        if (one) {
            block_row(r, to, from, count, most);
        } else {
            IrVarId row = lx_local(l, "row", DT_I64);
            l->ir->vars.at[row].lo = 0;
            AscStmtId owner = ls_for(l, row, lx_int(l, 0), r->rows, lx_int(l, 1));
            Opened body;
            ls_open(l, &body);
            block_row(r, ref_at(l, to, lx_mul(l, lx_var(l, row), width)),
                      ref_at(l, from, lx_mul(l, lx_var(l, row), stride)), count, most);
            ls_close(l, &body, owner, false);
        }
        from = to;
        stride = width;
        count = lx_ceildiv(l, count, lx_int(l, BLOCK));
        most = next;
    }
    repeat_reduce(r, from, count, blocks(l, stride, DT_F32));
}

/* Rows of 64 that lie one after the other, eight or a multiple of it: all of them as one run, twice
 * eight to one. WholeReduce takes seven times as long for a repeat (npu/isa.def). */
static bool fold_repeats(Rows *r)
{
    Lower *l = r->l;
    IrExprId lanes = lx_int(l, r->lanes), all = lx_mul(l, r->rows, lanes);
    if (r->src.dtype != DT_F32 || !lx_is(l, r->cols, r->lanes) || !lx_is(l, r->stride, r->lanes) ||
        !lx_divides(l, r->rows, BLOCK))
        return false;
    AscRef eighths = scratch_take(l, DT_F32, lx_mul(l, r->room, lx_int(l, BLOCK)));
    int64_t most = lx_most(l, r->room) * r->lanes;
    block_row(r, eighths, r->src, all, most);
    block_row(r, r->dst, eighths, lx_mul(l, r->rows, lx_int(l, BLOCK)), most / BLOCK);
    return true;
}

void fold_run(Lower *l, Fold fold, AscRef dst, AscRef src, Run run)
{
    int64_t most = lx_most(l, run.room), ub = (int64_t)l->chip->ub / 4;
    Rows r = {.l = l,
              .fold = fold,
              .dst = dst,
              .src = src,
              .rows = lx_int(l, 1),
              .cols = run.count,
              .stride = lx_int(l, BLOCK),
              .room = lx_int(l, 1),
              .most = most < ub ? most : ub,
              .lanes = fold_lanes_of(DT_F32)};
    fold_blocks(&r);
}

static void rows_one_by_one(Rows *r)
{
    Lower *l = r->l;
    IrVarId row = lx_local(l, "row", DT_I64);
    IrVarId value = lx_local(l, "row.value", r->src.dtype == DT_I32 ? DT_I64 : DT_F32);
    l->ir->vars.at[row].lo = 0;
    AscStmtId owner = ls_for(l, row, lx_int(l, 0), r->rows, lx_int(l, 1));
    Opened body;
    ls_open(l, &body);
    AscRef src = ref_at(l, r->src, lx_mul(l, lx_var(l, row), r->stride));
    fold_to_scalar(l, src, r->fold, value, (Run){r->cols, r->stride});
    ls_put(l, ref_at(l, r->dst, lx_var(l, row)), lx_var(l, value));
    ls_close(l, &body, owner, false);
}

/* Few rows are folded by blocks; of many each repeat is one instruction for all of them. */
static void reduce_long(Rows *r, IrExprId far)
{
    Lower *l = r->l;
    bool blockwise = r->src.dtype == DT_F32 && lx_least(l, r->room) < MANY;
    if (blockwise || (r->src.dtype == DT_F32 && r->far > REPEATS)) {
        fold_blocks(r);
        return;
    }
    if (lx_least(l, r->cols) >= r->lanes) {
        fold_lanes(r);
        return;
    }
    ls_new(l, ASC_S_IF)->value = ir_expr2(l->ir, IR_E_GE, r->cols, lx_int(l, r->lanes));
    AscStmtId owner = ls_last(l);
    Opened body;
    ls_open(l, &body);
    fold_lanes(r);
    ls_close(l, &body, owner, false);
    ls_open(l, &body);
    repeat_reduce(r, r->src, r->cols, far);
    ls_close(l, &body, owner, true);
}

/* The hardware repeats at most 255 times; Add steps at most 255 blocks, WholeReduce 65535. */
static void reduce_rows(Rows *r)
{
    Lower *l = r->l;
    bool repeats = r->fold != FOLD_PROD && r->src.dtype != DT_I32 && lx_most(l, r->room) <= REPEATS;
    IrExprId far = blocks(l, r->stride, r->src.dtype);
    if (repeats && fold_repeats(r))
        return;
    if (repeats && r->most <= r->lanes && r->far <= 65535)
        reduce_short(r, r->src, r->cols, far);
    else if (repeats && (r->src.dtype == DT_F32 || r->far <= REPEATS))
        reduce_long(r, far);
    else
        rows_one_by_one(r);
}

/* What the buffer can hold bounds what its views hold. */
static int64_t most_columns(const Lower *l, IrExprId cols, const IrBuffer *b)
{
    int64_t here = lx_most(l, cols), held = lx_most(l, b->shape[1]), ub = (int64_t)l->chip->ub;
    held = held < here ? held : here;
    return held < ub ? held : ub;
}

static AscRef convert_rows(Lower *l, const IrStmt *s, const View2 *v, DType type, IrExprId *stride)
{
    const IrBuffer *b = &l->source->buffers.at[s->src[0].buffer];
    *stride = lx_align(l, b->shape[1], 32 / (int64_t)dtype_bytes(type));
    AscRef t = scratch_take(l, type, lx_mul(l, b->shape[0], *stride));
    IrVarId row = lx_local(l, "row", DT_I64);
    l->ir->vars.at[row].lo = 0;
    AscStmtId owner = ls_for(l, row, lx_int(l, 0), v->rows, lx_int(l, 1));
    Opened body;
    ls_open(l, &body);
    AscRef to = ref_at(l, t, lx_mul(l, lx_var(l, row), *stride));
    AscRef from = ref_at(l, v->ref, lx_mul(l, lx_var(l, row), v->stride));
    op_cast(l, to, from, NPU_ROUND_NONE, (Run){v->cols, *stride});
    ls_close(l, &body, owner, false);
    return t;
}

void op_row_reduce(Lower *l, const IrStmt *s)
{
    View2 v = view_of(l, &s->src[0]), d = view_of(l, &s->dst);
    Fold fold = fold_of(s->op);
    DType type = fold_type(v.ref.dtype, fold);
    if (type == DT_COUNT || !v.rows) {
        op_unsupported(l, s, str_format(l->arena, "no reduction of %s", dtype_name(v.ref.dtype)));
        return;
    }
    const IrBuffer *b = &l->source->buffers.at[s->src[0].buffer];
    Rows r = {.l = l,
              .fold = fold,
              .dst = d.ref,
              .src = v.ref,
              .rows = v.rows,
              .cols = v.cols,
              .stride = v.stride,
              .room = b->shape[0],
              .most = most_columns(l, v.cols, b),
              .lanes = fold_lanes_of(type)};
    if (type != v.ref.dtype)
        r.src = convert_rows(l, s, &v, type, &r.stride);
    if (type != d.ref.dtype)
        r.dst = scratch_take(l, type, b->shape[0]);
    int64_t far = lx_most(l, blocks(l, r.stride, type)), held = lx_most(l, b->shape[1]) / BLOCK + 1;
    r.far = far < held ? far : held;
    reduce_rows(&r);
    if (type != d.ref.dtype)
        op_cast(l, d.ref, r.dst, NPU_ROUND_RINT, (Run){v.rows, b->shape[0]});
}
