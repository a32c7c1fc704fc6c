/* Broadcasts, gathers, transposes, running sums. In: views. Out: calls.
 *
 * A running sum is built by doubling: add to every element the one 1, 2, 4, ... places before it.
 * Distances below one 32-byte block are fetched by Gather, longer ones by an offset. */
#include "lower/lower_int.h"

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

static void broadcast_row(Lower *l, const IrStmt *s)
{
    View2 d = view_of(l, &s->dst), v = view_of(l, &s->src[0]);
    AscStmtId owner;
    Opened body;
    IrVarId row = open_rows(l, "row", d.rows, &owner, &body);
    op_copy(l, row_at(l, &d, row), v.ref, (Run){d.cols, view_room(l, &s->src[0])});
    ls_close(l, &body, owner, false);
}

/* One block, again and again along `cols` elements: whole repeats, then the rest. */
static void repeat_block(Lower *l, AscRef to, AscRef from, IrExprId cols, int64_t lanes)
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
                    .strides = {one, zero, 0, eight, zero, 0}};
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

/* Each value is spread over one block, then that block is repeated along its row. */
static void spread_rows(Lower *l, const View2 *d, AscRef value, IrExprId room)
{
    int64_t block = 32 / (int64_t)dtype_bytes(d->ref.dtype);
    AscRef wide = scratch_take(l, d->ref.dtype, lx_mul(l, lx_align(l, room, 8), lx_int(l, block)));
    IrExprId groups = lx_ceildiv(l, d->rows, lx_int(l, 8));
    *ls_new(l, ASC_S_CALL) = (AscStmt){.kind = ASC_S_CALL,
                                       .at = l->span,
                                       .api = ASC_BROADCAST,
                                       .dst = wide,
                                       .a = value,
                                       .repeat = groups};
    AscStmtId owner;
    Opened body;
    IrVarId row = open_rows(l, "row", d->rows, &owner, &body);
    AscRef from = ref_at(l, wide, lx_mul(l, lx_var(l, row), lx_int(l, block)));
    repeat_block(l, row_at(l, d, row), from, d->cols, 8 * block);
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
        spread_rows(l, &d, v.ref, view_room(l, &s->src[0]));
        return;
    }
    AscStmtId owner;
    Opened body;
    IrVarId row = open_rows(l, "row", d.rows, &owner, &body);
    IrVarId value = lx_local(l, "rowValue", dtype_is_float(d.ref.dtype) ? DT_F32 : DT_I64);
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

static void gather_call(Lower *l, AscRef dst, AscRef src, AscRef offsets, IrExprId base, IrExprId n)
{
    DType as = moved_as(dst.dtype);
    AscStmt call = {.kind = ASC_S_CALL, .at = l->span, .api = ASC_GATHER, .count = n};
    call.dst = ref_as(l, dst, as);
    call.a = ref_as(l, src, as);
    call.b = ref_as(l, offsets, DT_U32);
    call.scalar = base ? base : lx_int(l, 0);
    *ls_new(l, ASC_S_CALL) = call;
}

static void index_call(Lower *l, AscRef dst, IrExprId first, IrExprId n)
{
    AscStmt *c = ls_new(l, ASC_S_CALL);
    c->api = ASC_INDEX;
    c->dst = dst;
    c->scalar = first;
    c->count = n;
}

static void gather(Lower *l, const IrStmt *s)
{
    View2 d = view_of(l, &s->dst), a = view_of(l, &s->src[0]), i = view_of(l, &s->src[1]);
    if (moved_as(d.ref.dtype) == DT_COUNT || d.rows || a.rows || i.ref.dtype != DT_I32) {
        op_unsupported(l, s, "Gather takes one row of 16- or 32-bit elements and i32 positions");
        return;
    }
    AscRef offsets = scratch_take(l, DT_I32, view_room(l, &s->src[1]));
    call_const(l, ASC_MULS, offsets, i.ref, (double)dtype_bytes(d.ref.dtype), d.cols);
    gather_call(l, d.ref, a.ref, offsets, 0, d.cols);
}

static void reverse(Lower *l, const IrStmt *s)
{
    View2 d = view_of(l, &s->dst), a = view_of(l, &s->src[0]);
    if (moved_as(d.ref.dtype) == DT_COUNT || d.rows) {
        op_unsupported(l, s, "Gather takes one row of 16- or 32-bit elements");
        return;
    }
    IrExprId room = view_room(l, &s->dst);
    int64_t size = (int64_t)dtype_bytes(d.ref.dtype);
    AscRef offsets = scratch_take(l, DT_I32, room);
    AscRef out = d.ref.id == a.ref.id ? scratch_take(l, d.ref.dtype, room) : d.ref;
    index_call(l, offsets, lx_int(l, 0), d.cols);
    call_const(l, ASC_MULS, offsets, offsets, (double)-size, d.cols);
    IrExprId last = lx_mul(l, lx_sub(l, d.cols, lx_int(l, 1)), lx_int(l, size));
    call_scalar(l, ASC_ADDS, offsets, offsets, last, d.cols);
    gather_call(l, out, a.ref, offsets, 0, d.cols);
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
    index_call(l, offsets, lx_int(l, 0), d.cols);
    IrExprId step = lx_mul(l, a.stride, lx_int(l, size));
    call_scalar(l, ASC_MULS, offsets, offsets, step, d.cols);
    AscStmtId owner;
    Opened body;
    IrVarId row = open_rows(l, "row", d.rows, &owner, &body);
    IrExprId base = lx_mul(l, lx_var(l, row), lx_int(l, size));
    gather_call(l, row_at(l, &d, row), a.ref, offsets, base, d.cols);
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

/* ---- running sums and products ---- */

typedef struct Scan {
    Lower *l;
    AscApi api;
    double neutral;
    AscRef cur, shifted, offsets; /* offsets: 0, size, 2 size, ... */
    Run run;
} Scan;

/* Distances 1, 2, 4: gathered from `distance` places before; the first ones get the neutral. */
static void scan_near(Scan *c, int64_t distance)
{
    Lower *l = c->l;
    IrExprId n = c->run.count;
    AscRef back = scratch_take(l, DT_I32, c->run.room);
    call_const(l, ASC_ADDS, back, c->offsets, (double)(-4 * distance), n);
    call_const(l, ASC_MAXS, back, back, 0, n);
    gather_call(l, c->shifted, c->cur, back, 0, n);
    IrExprId neutral = lower_scalar_const(l, c->neutral, c->cur.dtype);
    call_fill(l, c->shifted, neutral, lx_min(l, lx_int(l, distance), n));
    call_binary(l, c->api, c->cur, c->cur, c->shifted, n);
    l->scratch_used--;
}

static void scan_far(Scan *c)
{
    Lower *l = c->l;
    IrExprId n = c->run.count;
    IrVarId distance = lx_local(l, "distance", DT_I64);
    l->ir->vars.at[distance].lo = 8;
    l->ir->vars.at[distance].multiple = 8;
    ls_set(l, distance, lx_int(l, 8));
    ls_new(l, ASC_S_WHILE)->value = ir_expr2(l->ir, IR_E_LT, lx_var(l, distance), n);
    AscStmtId owner = ls_last(l);
    Opened body;
    ls_open(l, &body);
    op_copy(l, c->shifted, c->cur, c->run);
    AscRef ahead = ref_at(l, c->cur, lx_var(l, distance));
    call_binary(l, c->api, ahead, ahead, c->shifted, lx_sub(l, n, lx_var(l, distance)));
    ls_set(l, distance, lx_mul(l, lx_var(l, distance), lx_int(l, 2)));
    ls_close(l, &body, owner, false);
}

/* src to dst, 32-bit elements; dst may be src. */
static void scan_run(Lower *l, const IrStmt *s, AscRef dst, AscRef src, AscRef offsets, Run run)
{
    bool sum = s->op == IR_T_CUMSUM;
    Scan c = {.l = l,
              .api = sum ? ASC_ADD : ASC_MUL,
              .neutral = sum ? 0 : 1,
              .cur = dst,
              .offsets = offsets,
              .run = run};
    c.shifted = scratch_take(l, dst.dtype, run.room);
    if (src.id != dst.id)
        op_copy(l, dst, src, run);
    for (int64_t d = 1; d < 8; d *= 2)
        scan_near(&c, d);
    scan_far(&c);
    l->scratch_used--;
}

static void scan_any(Lower *l, const IrStmt *s, AscRef dst, AscRef src, AscRef offsets, Run run)
{
    if (dst.dtype == DT_F32 || dst.dtype == DT_I32) {
        scan_run(l, s, dst, src, offsets, run);
        return;
    }
    AscRef wide = scratch_take(l, DT_F32, run.room);
    op_cast(l, wide, src, NPU_ROUND_NONE, run);
    scan_run(l, s, wide, wide, offsets, run);
    op_cast(l, dst, wide, NPU_ROUND_RINT, run);
    l->scratch_used--;
}

void op_scan(Lower *l, const IrStmt *s)
{
    View2 d = view_of(l, &s->dst), a = view_of(l, &s->src[0]);
    if (d.ref.dtype == DT_I64) {
        op_unsupported(l, s, "no arithmetic on i64");
        return;
    }
    const IrBuffer *b = &l->source->buffers.at[s->dst.buffer];
    Run run = {d.cols, lx_align(l, b->shape[b->rank - 1], 8)};
    AscRef offsets = scratch_take(l, DT_I32, run.room);
    index_call(l, offsets, lx_int(l, 0), d.cols);
    call_const(l, ASC_MULS, offsets, offsets, 4, d.cols);
    if (!d.rows) {
        scan_any(l, s, d.ref, a.ref, offsets, run);
        return;
    }
    AscStmtId owner;
    Opened body;
    IrVarId row = open_rows(l, "row", d.rows, &owner, &body);
    scan_any(l, s, row_at(l, &d, row), row_at(l, &a, row), offsets, run);
    ls_close(l, &body, owner, false);
}
