/* Mask compaction and sorting. In: views. Out: GatherMask, Sort, Extract. */
#include "lower/lower_int.h"

#include <math.h>

static void keep_masked(Lower *l, AscRef dst, AscRef src, AscRef mask, IrVarId kept, IrExprId n)
{
    DType pattern = dtype_bytes(src.dtype) == 4 ? DT_U32 : DT_U16;
    AscRef bits = ref_as(l, mask, pattern);
    AscStmt *c = ls_new(l, ASC_S_CALL);
    c->api = ASC_GATHER_MASK;
    c->dst = dst;
    c->a = src;
    c->b = bits;
    c->count = n;
    c->var = kept;
}

static void compact(Lower *l, const IrStmt *s)
{
    View2 d = view_of(l, &s->dst), a = view_of(l, &s->src[0]), m = view_of(l, &s->src[1]);
    size_t bytes = dtype_bytes(a.ref.dtype);
    if (a.rows || bytes == 8) {
        op_unsupported(l, s, "GatherMask takes one row of elements up to 32 bits");
        return;
    }
    if (bytes > 1) {
        keep_masked(l, d.ref, a.ref, m.ref, s->var, a.cols);
        return;
    }
    Run run = {a.cols, view_room(l, &s->src[0])};
    AscRef from = scratch_take(l, DT_F16, run.room), to = scratch_take(l, DT_F16, run.room);
    op_cast(l, from, a.ref, NPU_ROUND_NONE, run);
    keep_masked(l, to, from, m.ref, s->var, a.cols);
    IrExprId kept = lx_var(l, s->var);
    op_cast(l, d.ref, to, NPU_ROUND_RINT, (Run){kept, run.room});
}

/* Whole groups of 32: the rest of the last one is -inf, which ties lose to by position. */
static void sort_run(Lower *l, const IrStmt *s, const View2 *a)
{
    enum { GROUP = 32 };
    View2 v = view_of(l, &s->dst), i = view_of(l, &s->dst2);
    IrExprId room = lx_align(l, view_room(l, &s->src[0]), GROUP),
             whole = lx_align(l, a->cols, GROUP);
    IrExprId twice = lx_mul(l, room, lx_int(l, 2));
    Run run = {a->cols, room};
    AscRef value = scratch_take(l, DT_F32, room), place = scratch_take(l, DT_I32, room);
    AscRef sorted = scratch_take(l, DT_F32, twice), work = scratch_take(l, DT_F32, twice);
    call_fill(l, value, ir_float(l->ir, -INFINITY), whole);
    op_cast(l, value, a->ref, NPU_ROUND_NONE, run);
    AscStmt *c = ls_new(l, ASC_S_CALL);
    c->api = ASC_INDEX;
    c->dst = place;
    c->scalar = lx_int(l, 0);
    c->count = whole;
    IrExprId groups = lx_ceildiv(l, a->cols, lx_int(l, GROUP));
    AscRef seats = ref_as(l, place, DT_U32);
    c = ls_new(l, ASC_S_CALL);
    *c = (AscStmt){.kind = ASC_S_CALL,
                   .at = l->span,
                   .api = ASC_SORT,
                   .dst = sorted,
                   .a = value,
                   .b = seats,
                   .c = work,
                   .repeat = groups};
    c = ls_new(l, ASC_S_CALL);
    *c = (AscStmt){.kind = ASC_S_CALL,
                   .at = l->span,
                   .api = ASC_EXTRACT,
                   .dst = value,
                   .a = sorted,
                   .b = seats,
                   .repeat = groups};
    op_cast(l, v.ref, value, NPU_ROUND_RINT, (Run){v.cols, room});
    op_copy(l, i.ref, place, (Run){i.cols, room});
}

void op_sort(Lower *l, const IrStmt *s)
{
    if (s->op == IR_T_COMPACT) {
        compact(l, s);
        return;
    }
    View2 a = view_of(l, &s->src[0]);
    DType d = a.ref.dtype;
    bool exact = d == DT_F32 || d == DT_F16 || d == DT_BF16 || d == DT_I16 || d == DT_I8 ||
                 d == DT_U8;
    if (a.rows || !exact)
        op_unsupported(l, s, "Sort takes one row of floats or of integers up to 16 bits");
    else
        sort_run(l, s, &a);
}
