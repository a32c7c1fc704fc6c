/* Broadcasts, gathers, transposes. In: views. Out: calls. Running sums are in op_scan.c. */
#include "lower/lower_int.h"

enum {
    MIRROR = 1024,
    BLOCK_WORDS = 8, /* elements of four bytes in a block, in a repeat */
    WORDS = 64,
    MOST_REPEATS = 255
};

static IrVarId open_rows(Lower *l, const char *name, IrExprId count, AscStmtId *owner, Opened *body)
{
    IrVarId row = lx_local(l, name, DT_I64);
    l->ir->vars.at[row].lo = 0;
    *owner = ls_for(l, row, lx_int(l, 0), count, lx_int(l, 1));
    ls_open(l, body);
    return row;
}

static AscRef row_at(Lower *l, const View2 *v, IrVarId row)
{
    return ref_at(l, v->ref, lx_mul(l, lx_var(l, row), v->stride));
}

/* All rows at once, a repeat of columns at a time: the same row for all of them, or (col) a block of the same
 * value for each. */
static void spread_columns(Lower *l, const View2 *d, AscRef from, bool col)
{
    DType dtype = d->ref.dtype;
    int64_t lanes = 256 / (int64_t)dtype_bytes(dtype);
    IrVarId at = lx_local(l, "col", DT_I64);
    l->ir->vars.at[at].lo = 0;
    l->ir->vars.at[at].multiple = lanes;
    AscStmtId owner = ls_for(l, at, lx_int(l, 0), d->cols, lx_int(l, lanes));
    Opened body;
    ls_open(l, &body);
    IrExprId here = lx_var(l, at), one = lx_int(l, 1), zero = lx_int(l, 0);
    AscStmt call = {
        .kind = ASC_S_CALL,
        .at = l->span,
        .api = ASC_MULS,
        .dst = ref_at(l, d->ref, here),
        .a = col ? from : ref_at(l, from, here),
        .scalar = lower_scalar_const(l, 1, dtype),
        .mask = lx_min(l, lx_int(l, lanes), lx_sub(l, d->cols, here)),
        .repeat = d->rows,
        .strides = {one, col ? zero : one, 0, op_blocks(l, d->stride, dtype), col ? one : zero, 0}};
    *ls_new(l, ASC_S_CALL) = call;
    ls_close(l, &body, owner, false);
}

static bool spreads_columns(const Lower *l, const IrStmt *s)
{
    return op_short_rows(l, &s->dst) && asc_apis[ASC_MULS].dtypes >> s->dst.dtype & 1;
}

static void broadcast_row(Lower *l, const IrStmt *s)
{
    View2 d = view_of(l, &s->dst), v = view_of(l, &s->src[0]);
    if (spreads_columns(l, s)) {
        spread_columns(l, &d, v.ref, false);
        return;
    }
    AscStmtId owner;
    Opened body;
    IrVarId row = open_rows(l, "row", d.rows, &owner, &body);
    op_copy(l, row_at(l, &d, row), v.ref, (Run){d.cols, view_room(l, &s->src[0])});
    ls_close(l, &body, owner, false);
}

/* One block, or one repeat (whole), again and again along `cols` elements: whole repeats, then the rest. */
static void repeat_block(Lower *l, AscRef to, AscRef from, IrExprId cols, int64_t lanes, bool whole)
{
    IrExprId one = lx_int(l, 1), eight = lx_int(l, 8), zero = lx_int(l, 0);
    IrExprId full = ir_expr2(l->ir, IR_E_FLOORDIV, cols, lx_int(l, lanes));
    AscStmt call = {.kind = ASC_S_CALL,
                    .at = l->span,
                    .api = ASC_MULS,
                    .dst = to,
                    .a = from,
                    .scalar = lower_scalar_const(l, 1, to.dtype),
                    .mask = lx_int(l, lanes),
                    .repeat = full,
                    .strides = {one, whole ? one : zero, 0, eight, zero, 0}};
    if (lx_most(l, full) > 0)
        *ls_new(l, ASC_S_CALL) = call;
    if (lx_divides(l, cols, lanes))
        return;
    IrExprId done = lx_mul(l, full, lx_int(l, lanes)), rest = lx_sub(l, cols, done);
    ls_new(l, ASC_S_IF)->value = ir_expr2(l->ir, IR_E_GT, rest, zero);
    AscStmtId guard = ls_last(l);
    Opened inner;
    ls_open(l, &inner);
    call.dst = ref_at(l, to, lx_is(l, done, 0) ? 0 : done);
    call.mask = rest;
    call.repeat = one;
    *ls_new(l, ASC_S_CALL) = call;
    ls_close(l, &inner, guard, false);
}

/* Blocks of the same value, one for each row, become 64 columns of all rows at once. An instruction fills
 * whole repeats, so the last columns are filled together with some that are filled before. */
static void spread_blocks(Lower *l, const View2 *d, AscRef blocks)
{
    IrVarId at = lx_local(l, "col", DT_I64), first = lx_local(l, "first", DT_I64);
    l->ir->vars.at[at].lo = l->ir->vars.at[first].lo = 0;
    l->ir->vars.at[at].multiple = WORDS;
    l->ir->vars.at[first].multiple = BLOCK_WORDS;
    AscStmtId owner = ls_for(l, at, lx_int(l, 0), d->cols, lx_int(l, WORDS));
    Opened body;
    ls_open(l, &body);
    IrExprId last = lx_sub(l, lx_align(l, d->cols, BLOCK_WORDS), lx_int(l, WORDS));
    ls_set(l, first, lx_min(l, lx_var(l, at), last));
    AscStmt *s = ls_new(l, ASC_S_CALL);
    s->api = ASC_BROADCAST;
    s->dst = ref_at(l, d->ref, lx_var(l, first));
    s->a = blocks;
    s->repeat = d->rows;
    s->strides.dst_repeat = op_blocks(l, d->stride, d->ref.dtype);
    ls_close(l, &body, owner, false);
}

/* Spreads rows of any length. Rows that do not fit into a repeat read one block again and again,
 * which takes as long as six blocks (npu/cost.def ONE_BLOCK). */
static void spread_short(Lower *l, const View2 *d, AscRef blocks)
{
    bool fits = d->full && dtype_bytes(d->ref.dtype) == 4;
    int64_t least = WORDS - BLOCK_WORDS; /* with so many and one more, blocks make a repeat */
    if (!fits || lx_most(l, d->cols) <= least) {
        spread_columns(l, d, blocks, true);
        return;
    }
    if (lx_least(l, d->cols) > least) {
        spread_blocks(l, d, blocks);
        return;
    }
    ls_new(l, ASC_S_IF)->value = ir_expr2(l->ir, IR_E_GT, d->cols, lx_int(l, least));
    AscStmtId owner = ls_last(l);
    Opened body;
    ls_open(l, &body);
    spread_blocks(l, d, blocks);
    ls_close(l, &body, owner, false);
    ls_open(l, &body);
    spread_columns(l, d, blocks, true);
    ls_close(l, &body, owner, true);
}

static AscRef spread_call(Lower *l, AscRef value, IrExprId repeat, IrExprId room)
{
    AscRef wide = scratch_take(l, value.dtype, room);
    *ls_new(l, ASC_S_CALL) = (AscStmt){.kind = ASC_S_CALL,
                                       .at = l->span,
                                       .api = ASC_BROADCAST,
                                       .dst = wide,
                                       .a = value,
                                       .repeat = repeat};
    return wide;
}

/* Each value is spread over one block, that block over a repeat, and the repeat is copied along its row. */
static void spread_rows(Lower *l, const View2 *d, AscRef value, IrExprId room, bool columns)
{
    int64_t block = 32 / (int64_t)dtype_bytes(d->ref.dtype);
    bool words = block == BLOCK_WORDS && lx_most(l, room) <= MOST_REPEATS;
    IrExprId rows = lx_align(l, room, 8);
    AscRef wide = spread_call(l, value, lx_ceildiv(l, d->rows, lx_int(l, 8)),
                              lx_mul(l, rows, lx_int(l, block)));
    if (columns) {
        spread_short(l, d, wide);
        return;
    }
    if (words) /* a repeat of the same value is read once for each copy, a block eight times */
        wide = spread_call(l, wide, d->rows, lx_mul(l, rows, lx_int(l, WORDS)));
    AscStmtId owner;
    Opened body;
    IrVarId row = open_rows(l, "row", d->rows, &owner, &body);
    AscRef from = ref_at(l, wide, lx_mul(l, lx_var(l, row), lx_int(l, words ? WORDS : block)));
    repeat_block(l, row_at(l, d, row), from, d->cols, 8 * block, words);
    ls_close(l, &body, owner, false);
}

static void broadcast_col(Lower *l, const IrStmt *s)
{
    View2 d = view_of(l, &s->dst), v = view_of(l, &s->src[0]);
    bool moves = asc_apis[ASC_MULS].dtypes >> d.ref.dtype & 1;
    int64_t lanes = 256 / (int64_t)dtype_bytes(d.ref.dtype);
    const IrBuffer *b = &l->source->buffers.at[s->dst.buffer];
    int64_t rows = lx_most(l, b->shape[0]), cols = lx_most(l, b->shape[1]);
    rows = lx_most(l, d.rows) < rows ? lx_most(l, d.rows) : rows;
    cols = lx_most(l, d.cols) < cols ? lx_most(l, d.cols) : cols;
    if (moves && rows <= 255 * 8 && cols < 256 * lanes) {
        spread_rows(l, &d, v.ref, view_room(l, &s->src[0]), spreads_columns(l, s));
        return;
    }
    AscStmtId owner;
    Opened body;
    IrVarId row = open_rows(l, "row", d.rows, &owner, &body);
    IrVarId value = lx_local(l, "row.value", dtype_is_float(d.ref.dtype) ? DT_F32 : DT_I64);
    ls_get(l, value, ref_at(l, v.ref, lx_var(l, row)));
    IrStmt fill = {.kind = IR_S_OP, .at = s->at, .op = IR_T_FILL, .scalar_count = 1};
    fill.scalar[0] = lx_var(l, value);
    op_elementwise(l, &fill, IR_T_FILL, row_at(l, &d, row), NULL, (Run){d.cols, d.stride});
    ls_close(l, &body, owner, false);
}

/* ---- gathering ---- */

static DType moved_as(DType d)
{
    return dtype_bytes(d) == 4 ? d : dtype_bytes(d) == 2 ? (d == DT_BF16 ? DT_F16 : d) : DT_COUNT;
}

void call_gather(Lower *l, AscRef dst, AscRef src, AscRef offsets, IrExprId base, IrExprId n)
{
    DType as = moved_as(dst.dtype);
    AscStmt call = {.kind = ASC_S_CALL, .at = l->span, .api = ASC_GATHER, .count = n};
    call.dst = ref_as(l, dst, as);
    call.a = ref_as(l, src, as);
    call.b = ref_as(l, offsets, DT_U32);
    call.scalar = base ? base : lx_int(l, 0);
    *ls_new(l, ASC_S_CALL) = call;
}

void call_index(Lower *l, AscRef dst, IrExprId first, IrExprId n)
{
    AscStmt *c = ls_new(l, ASC_S_CALL);
    c->api = ASC_INDEX;
    c->dst = dst;
    c->scalar = first;
    c->count = n;
}

/* Elements of the result where these and their positions lie without gaps; 0: row by row. */
static IrExprId gathered_run(Lower *l, const View2 *d, const View2 *i)
{
    if (!d->rows)
        return d->cols;
    bool flat = d->full && i->full && ir_same(l->ir, d->stride, i->stride) &&
                ir_same(l->ir, d->stride, d->cols);
    return flat ? lx_mul(l, d->rows, d->cols) : 0;
}

static void gather(Lower *l, const IrStmt *s)
{
    View2 d = view_of(l, &s->dst), a = view_of(l, &s->src[0]), i = view_of(l, &s->src[1]);
    if (moved_as(d.ref.dtype) == DT_COUNT || i.ref.dtype != DT_I32) {
        op_unsupported(l, s, "Gather takes 16- or 32-bit elements and i32 positions");
        return;
    }
    IrExprId count = gathered_run(l, &d, &i);
    AscRef offsets = i.ref;
    if (!l->plan->placed.at[s->src[1].buffer].scaled) {
        offsets = scratch_take(l, DT_I32, view_room(l, &s->src[1]));
        call_const(l, ASC_MULS, offsets, i.ref, (double)dtype_bytes(d.ref.dtype),
                   count ? count : lx_mul(l, i.rows, i.stride));
    }
    /* a source that starts anywhere is addressed from the start of its buffer */
    int64_t size = (int64_t)dtype_bytes(d.ref.dtype);
    bool aligned = !a.ref.offset || lx_divides(l, a.ref.offset, 32 / size);
    IrExprId first = aligned ? 0 : lx_mul(l, a.ref.offset, lx_int(l, size));
    a.ref.offset = aligned ? a.ref.offset : 0;
    if (count) {
        call_gather(l, d.ref, a.ref, offsets, first, count);
        return;
    }
    AscStmtId owner;
    Opened body;
    View2 at = {.ref = offsets, .rows = i.rows, .cols = i.cols, .stride = i.stride};
    IrVarId row = open_rows(l, "row", d.rows, &owner, &body);
    call_gather(l, row_at(l, &d, row), a.ref, row_at(l, &at, row), first, d.cols);
    ls_close(l, &body, owner, false);
}

/* Byte offsets of 1024 elements from the last to the first; made once in a kernel. */
static AscRef mirror_of(Lower *l, int64_t size)
{
    AscRef *kept = &l->mirror[size == 4];
    IrExprId n = lx_int(l, MIRROR);
    if (kept->used)
        return *kept;
    AscBlock *at = l->at;
    l->at = &l->once;
    *kept = scratch_keep(l, "mirror", DT_I32, n);
    call_index(l, *kept, lx_int(l, 0), n);
    call_const(l, ASC_MULS, *kept, *kept, (double)-size, n);
    call_const(l, ASC_ADDS, *kept, *kept, (double)(size * (MIRROR - 1)), n);
    l->at = at;
    return *kept;
}

/* 1024 elements at a time, from the other end; what is left at offsets of its own. */
static void reverse_run(Lower *l, AscRef out, AscRef src, IrExprId n)
{
    int64_t size = (int64_t)dtype_bytes(out.dtype);
    IrExprId chunk = lx_int(l, MIRROR), width = lx_int(l, size);
    AscRef mirror = mirror_of(l, size);
    IrVarId done = lx_local(l, "done", DT_I64);
    l->ir->vars.at[done].lo = 0;
    l->ir->vars.at[done].multiple = MIRROR;
    IrExprId whole = ir_expr2(l->ir, IR_E_ALIGN_DOWN, n, chunk), at = lx_var(l, done);
    AscStmtId owner = ls_for(l, done, lx_int(l, 0), whole, chunk);
    Opened body;
    ls_open(l, &body);
    IrExprId base = lx_mul(l, lx_sub(l, lx_sub(l, n, chunk), at), width);
    call_gather(l, ref_at(l, out, at), src, mirror, base, chunk);
    ls_close(l, &body, owner, false);
    IrExprId rest = lx_sub(l, n, whole);
    ls_new(l, ASC_S_IF)->value = ir_expr2(l->ir, IR_E_GT, rest, lx_int(l, 0));
    owner = ls_last(l);
    ls_open(l, &body);
    AscRef offsets = scratch_take(l, DT_I32, chunk);
    call_scalar(l, ASC_ADDS, offsets, mirror, lx_mul(l, lx_sub(l, rest, chunk), width), chunk);
    call_gather(l, ref_at(l, out, whole), src, offsets, 0, rest);
    ls_close(l, &body, owner, false);
}

static void reverse(Lower *l, const IrStmt *s)
{
    View2 d = view_of(l, &s->dst), a = view_of(l, &s->src[0]);
    if (moved_as(d.ref.dtype) == DT_COUNT || d.rows) {
        op_unsupported(l, s, "Gather takes one row of 16- or 32-bit elements");
        return;
    }
    IrExprId room = view_room(l, &s->dst);
    AscRef out = d.ref.id == a.ref.id ? scratch_take(l, d.ref.dtype, room) : d.ref;
    reverse_run(l, out, a.ref, d.cols);
    if (out.id != d.ref.id)
        op_copy(l, d.ref, out, (Run){d.cols, room});
}

/* Row j of the result: every row's element j. */
static void transpose(Lower *l, const IrStmt *s)
{
    View2 d = view_of(l, &s->dst), a = view_of(l, &s->src[0]);
    if (moved_as(d.ref.dtype) == DT_COUNT || !d.rows || !a.rows || d.ref.id == a.ref.id) {
        op_unsupported(l, s, "transpose moves 16- or 32-bit elements into another buffer");
        return;
    }
    int64_t size = (int64_t)dtype_bytes(d.ref.dtype);
    const IrBuffer *b = &l->source->buffers.at[s->dst.buffer];
    AscRef offsets = scratch_take(l, DT_I32, lx_align(l, b->shape[1], 8));
    call_index(l, offsets, lx_int(l, 0), d.cols);
    IrExprId step = lx_mul(l, a.stride, lx_int(l, size));
    call_scalar(l, ASC_MULS, offsets, offsets, step, d.cols);
    AscStmtId owner;
    Opened body;
    IrVarId row = open_rows(l, "row", d.rows, &owner, &body);
    IrExprId base = lx_mul(l, lx_var(l, row), lx_int(l, size));
    call_gather(l, row_at(l, &d, row), a.ref, offsets, base, d.cols);
    ls_close(l, &body, owner, false);
}

void op_shape(Lower *l, const IrStmt *s)
{
    switch (s->op) {
    case IR_T_ROW: broadcast_row(l, s); break;
    case IR_T_COL: broadcast_col(l, s); break;
    case IR_T_GATHER: gather(l, s); break;
    case IR_T_REVERSE: reverse(l, s); break;
    case IR_T_TRANSPOSE: transpose(l, s); break;
    default: op_unsupported(l, s, "not a change of shape"); break;
    }
}
