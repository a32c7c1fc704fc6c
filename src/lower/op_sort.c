/* Mask compaction and sorting. In: views. Out: GatherMask; Sort32 and MrgSort. */
#include "lower/lower_int.h"

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

void op_sort(Lower *l, const IrStmt *s)
{
    if (s->op == IR_T_COMPACT)
        compact(l, s);
    else
        op_unsupported(l, s, "sorting networks are not written yet");
}
