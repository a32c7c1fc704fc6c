/* Running sums, products, extremes and log-sum-exps along rows. In: views of 32-bit elements, or of
 * what is computed in f32. Out: calls. With a sum:
 *
 *     a row of n          lane 0: x0 .. x7, lane 1: x8 .. x15, ...
 *     gathered            t[step][lane] = x[8 lane + step]
 *     8 steps             t[step] += t[step - 1]                 all lanes at once
 *     totals of lanes     t[7], scanned by doubling: 1, 2, 4 places before by Gather, 8, 16, ...
 *                         by an offset; what stands before the first lane is neutral
 *     spread              t[step] += what came before the lane
 *     gathered back       y[8 lane + step] = t[step][lane]
 *
 * An element costs two gathers and two combinations however long the row is: one call each, but
 * nine for log-sum-exp. Positions, and the neutral elements before the totals, are made once at the
 * start of the kernel. */
#include "lower/lower_int.h"

#include <float.h>
#include <math.h>

enum {
    STEPS = 8,
    STEP_BITS = 3,
    CHUNK = 1024,
    BYTES = 4,
    BANK = 64 /* elements that set rows of t apart */
};

/* How two elements become one. */
typedef struct Combiner {
    AscApi api;
    bool log_exp; /* log(exp(a) + exp(b)) instead of `api` */
    double neutral;
} Combiner;

typedef struct Scan {
    Lower *l;
    Combiner by;
    IrExprId n, lanes, full; /* elements; lanes; lanes of 8 elements */
    ScanPlaces at;
    AscRef t;
    AscRef high, low; /* log_exp: the larger and the smaller operand of a row of t */
} Scan;

static IrExprId bytes_of(Lower *l, IrExprId elements)
{
    return lx_mul(l, elements, lx_int(l, BYTES));
}

/* ---- combinations ---- */

static Combiner combiner_of(IrTileOp op, DType d)
{
    double lowest = d == DT_I32 ? (double)INT32_MIN : (double)-INFINITY;
    double highest = d == DT_I32 ? (double)INT32_MAX : (double)INFINITY;
    switch (op) {
    case IR_T_CUMSUM: return (Combiner){.api = ASC_ADD, .neutral = 0};
    case IR_T_CUMPROD: return (Combiner){.api = ASC_MUL, .neutral = 1};
    case IR_T_CUMMAX: return (Combiner){.api = ASC_MAX, .neutral = lowest};
    case IR_T_CUMMIN: return (Combiner){.api = ASC_MIN, .neutral = highest};
    case IR_T_LOGCUMSUMEXP: return (Combiner){.log_exp = true, .neutral = -INFINITY};
    default: panic("not a scan");
    }
}

/* high + log(1 + exp(low - high)). What is subtracted is finite, so that two equal infinities give
 * that infinity and not NaN. */
static void add_exponents(Scan *c, AscRef dst, AscRef a, AscRef b, IrExprId count)
{
    Lower *l = c->l;
    call_binary(l, ASC_MAX, c->high, a, b, count);
    call_binary(l, ASC_MIN, c->low, a, b, count);
    call_const(l, ASC_MAXS, dst, c->high, -FLT_MAX, count);
    call_const(l, ASC_MINS, dst, dst, FLT_MAX, count);
    call_binary(l, ASC_SUB, c->low, c->low, dst, count);
    call_unary(l, ASC_EXP, c->low, c->low, count);
    call_const(l, ASC_ADDS, c->low, c->low, 1, count);
    call_unary(l, ASC_LN, c->low, c->low, count);
    call_binary(l, ASC_ADD, dst, c->high, c->low, count);
}

/* dst = a with b, of at most one row of t; dst may be either. */
static void combine(Scan *c, AscRef dst, AscRef a, AscRef b, IrExprId count)
{
    if (c->by.log_exp)
        add_exponents(c, dst, a, b, count);
    else
        call_binary(c->l, c->by.api, dst, a, b, count);
}

/* ---- positions ---- */

/* (i % 8) rows of t and (i / 8) elements: i * row - (i / 8) * (8 * row - 1), in bytes. */
static void make_back(Lower *l, ScanPlaces *p)
{
    IrExprId n = lx_min(l, lx_int(l, CHUNK), p->room), row = bytes_of(l, p->stride);
    AscRef high = scratch_take(l, DT_I32, n);
    IrExprId less = lx_sub(l, lx_int(l, BYTES), lx_mul(l, row, lx_int(l, STEPS)));
    p->back = scratch_keep(l, "back", DT_I32, n);
    call_index(l, p->back, lx_int(l, 0), n);
    call_const(l, ASC_SHR, high, p->back, STEP_BITS, n);
    call_scalar(l, ASC_MULS, p->back, p->back, row, n);
    call_scalar(l, ASC_MULS, high, high, less, n);
    call_binary(l, ASC_ADD, p->back, p->back, high, n);
    l->scratch_used--;
}

static void make_places(Lower *l, ScanPlaces *p)
{
    IrExprId most = lx_ceildiv(l, p->room, lx_int(l, STEPS));
    p->stride = lx_add(l, lx_align(l, most, 2 * BANK), lx_int(l, BANK));
    p->before = lx_mul(l, p->stride, lx_int(l, 2));
    p->every = scratch_keep(l, "every", DT_I32, p->stride);
    p->near = scratch_keep(l, "near", DT_I32, p->stride);
    for (int i = 0; i < 2; i++)
        p->total[i] = scratch_keep(l, "total", p->dtype, lx_mul(l, p->stride, lx_int(l, 3)));
    call_index(l, p->near, lx_int(l, 0), p->stride);
    call_const(l, ASC_MULS, p->every, p->near, STEPS * BYTES, p->stride);
    call_const(l, ASC_MULS, p->near, p->near, BYTES, p->stride);
    make_back(l, p);
    for (int i = 0; i < 2; i++)
        call_fill(l, p->total[i], lower_scalar_const(l, p->neutral, p->dtype), p->before);
}

static ScanPlaces places_of(Lower *l, IrExprId room, DType dtype, double neutral)
{
    for (uint32_t i = 0; i < l->scans.len; i++) {
        const ScanPlaces *p = &l->scans.at[i];
        if (p->dtype == dtype && p->neutral == neutral && ir_same(l->ir, p->room, room))
            return *p;
    }
    ScanPlaces made = {.room = room, .dtype = dtype, .neutral = neutral};
    AscBlock *at = l->at;
    l->at = &l->once;
    make_places(l, &made);
    l->at = at;
    vec_push(l->arena, &l->scans, made);
    return made;
}

/* ---- steps ---- */

typedef struct Steps {
    AscStmtId owner;
    Opened body;
    AscRef row; /* of t */
    IrExprId step, count;
} Steps;

/* for step in from..8, of the lanes that have that element */
static void open_steps(Scan *c, int64_t from, Steps *s)
{
    Lower *l = c->l;
    IrVarId step = lx_local(l, "step", DT_I64);
    l->ir->vars.at[step].lo = from;
    IrExprId steps = lx_int(l, STEPS);
    s->owner = ls_for(l, step, lx_int(l, from), lx_min(l, steps, c->n), lx_int(l, 1));
    ls_open(l, &s->body);
    s->step = lx_var(l, step);
    s->row = ref_at(l, c->t, lx_mul(l, s->step, c->at.stride));
    s->count = lx_ceildiv(l, lx_sub(l, c->n, s->step), steps);
}

static void scan_lanes(Scan *c, AscRef src)
{
    Lower *l = c->l;
    Steps s;
    open_steps(c, 0, &s);
    call_gather(l, s.row, src, c->at.every, bytes_of(l, s.step), s.count);
    ls_close(l, &s.body, s.owner, false);
    open_steps(c, 1, &s);
    AscRef last = ref_at(l, c->t, lx_mul(l, lx_sub(l, s.step, lx_int(l, 1)), c->at.stride));
    combine(c, s.row, s.row, last, s.count);
    ls_close(l, &s.body, s.owner, false);
}

/* total[to] = total[from], and `distance` lanes before it */
static void double_totals(Scan *c, int from, IrExprId distance)
{
    Lower *l = c->l;
    AscRef a = ref_at(l, c->at.total[from], c->at.before),
           to = ref_at(l, c->at.total[1 - from], c->at.before);
    AscRef earlier = ref_at(l, c->at.total[from], lx_sub(l, c->at.before, distance));
    combine(c, to, a, earlier, c->full);
}

static void scan_totals(Scan *c)
{
    Lower *l = c->l;
    AscRef a = ref_at(l, c->at.total[0], c->at.before), b = ref_at(l, c->at.total[1], c->at.before);
    AscRef last = ref_at(l, c->t, lx_mul(l, lx_int(l, STEPS - 1), c->at.stride));
    op_copy(l, a, last, (Run){c->full, c->at.stride});
    for (int64_t d = 1; d < 8; d *= 2) {
        IrExprId base = bytes_of(l, lx_sub(l, c->at.before, lx_int(l, d)));
        call_gather(l, b, c->at.total[0], c->at.near, base, c->full);
        combine(c, a, a, b, c->full);
    }
    IrVarId distance = lx_local(l, "distance", DT_I64);
    l->ir->vars.at[distance].lo = 8;
    l->ir->vars.at[distance].multiple = 8;
    ls_set(l, distance, lx_int(l, 8));
    ls_new(l, ASC_S_WHILE)->value = ir_expr2(l->ir, IR_E_LT, lx_var(l, distance), c->full);
    AscStmtId owner = ls_last(l);
    Opened body;
    ls_open(l, &body);
    double_totals(c, 0, lx_var(l, distance));
    double_totals(c, 1, lx_mul(l, lx_var(l, distance), lx_int(l, 2)));
    ls_set(l, distance, lx_mul(l, lx_var(l, distance), lx_int(l, 4)));
    ls_close(l, &body, owner, false);
    IrExprId base = bytes_of(l, lx_sub(l, c->at.before, lx_int(l, 1)));
    call_gather(l, b, c->at.total[0], c->at.near, base, c->lanes);
}

/* Where a row has more than one lane. */
static void scan_between(Scan *c)
{
    Lower *l = c->l;
    ls_new(l, ASC_S_IF)->value = ir_expr2(l->ir, IR_E_GT, c->n, lx_int(l, STEPS));
    AscStmtId guard = ls_last(l);
    Opened inner;
    ls_open(l, &inner);
    scan_totals(c);
    Steps s;
    open_steps(c, 0, &s);
    combine(c, s.row, s.row, ref_at(l, c->at.total[1], c->at.before), s.count);
    ls_close(l, &s.body, s.owner, false);
    ls_close(l, &inner, guard, false);
}

static void gather_back(Scan *c, AscRef dst)
{
    Lower *l = c->l;
    IrExprId chunk = lx_int(l, CHUNK);
    IrVarId done = lx_local(l, "done", DT_I64);
    l->ir->vars.at[done].lo = 0;
    l->ir->vars.at[done].multiple = CHUNK;
    AscStmtId owner = ls_for(l, done, lx_int(l, 0), c->n, chunk);
    Opened body;
    ls_open(l, &body);
    IrExprId at = lx_var(l, done);
    IrExprId base = bytes_of(l, ir_expr2(l->ir, IR_E_FLOORDIV, at, lx_int(l, STEPS)));
    call_gather(l, ref_at(l, dst, at), c->t, c->at.back, base,
                lx_min(l, chunk, lx_sub(l, c->n, at)));
    ls_close(l, &body, owner, false);
}

/* src to dst; dst may be src. */
static void scan_row(Scan *c, AscRef dst, AscRef src)
{
    scan_lanes(c, src);
    scan_between(c);
    gather_back(c, dst);
}

static void scan_any(Scan *c, AscRef dst, AscRef src, Run run)
{
    if (dst.dtype == DT_F32 || dst.dtype == DT_I32) {
        scan_row(c, dst, src);
        return;
    }
    AscRef wide = scratch_take(c->l, DT_F32, run.room);
    op_cast(c->l, wide, src, NPU_ROUND_NONE, run);
    scan_row(c, wide, wide);
    op_cast(c->l, dst, wide, NPU_ROUND_RINT, run);
    c->l->scratch_used--;
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
    DType dtype = d.ref.dtype == DT_I32 ? DT_I32 : DT_F32;
    Combiner by = combiner_of(s->op, dtype);
    Scan c = {.l = l,
              .by = by,
              .n = d.cols,
              .lanes = lx_ceildiv(l, d.cols, lx_int(l, STEPS)),
              .full = ir_expr2(l->ir, IR_E_FLOORDIV, d.cols, lx_int(l, STEPS)),
              .at = places_of(l, run.room, dtype, by.neutral)};
    c.t = scratch_take(l, dtype, lx_mul(l, c.at.stride, lx_int(l, STEPS)));
    if (by.log_exp) {
        c.high = scratch_take(l, dtype, c.at.stride);
        c.low = scratch_take(l, dtype, c.at.stride);
    }
    if (!d.rows) {
        scan_any(&c, d.ref, a.ref, run);
        return;
    }
    IrVarId row = lx_local(l, "row", DT_I64);
    l->ir->vars.at[row].lo = 0;
    AscStmtId owner = ls_for(l, row, lx_int(l, 0), d.rows, lx_int(l, 1));
    Opened body;
    ls_open(l, &body);
    scan_any(&c, ref_at(l, d.ref, lx_mul(l, lx_var(l, row), d.stride)),
             ref_at(l, a.ref, lx_mul(l, lx_var(l, row), a.stride)), run);
    ls_close(l, &body, owner, false);
}
