/* Reductions. In: views. Out: blocks folded until one element is left, and a scalar read; per
 * column a running row. Rows are in op_rows.c.
 *
 * Sums and products are computed in f32 whatever the tile's type; the largest and smallest of an
 * f16 are exact in f16. */
#include "lower/lower_int.h"

Fold fold_of(IrTileOp op)
{
    switch (op) {
    case IR_T_RSUM:
    case IR_T_ROWSUM:
    case IR_T_COLSUM: return FOLD_SUM;
    case IR_T_RMAX:
    case IR_T_ROWMAX:
    case IR_T_COLMAX:
    case IR_T_ARGMAX: return FOLD_MAX;
    case IR_T_RMIN:
    case IR_T_ROWMIN:
    case IR_T_COLMIN:
    case IR_T_ARGMIN: return FOLD_MIN;
    default: return FOLD_PROD;
    }
}

const AscApi fold_api[] = {ASC_ADD, ASC_MAX, ASC_MIN, ASC_MUL};
static const AscApi reduce_api[] = {ASC_REDUCE_SUM, ASC_REDUCE_MAX, ASC_REDUCE_MIN};
static const IrExprOp fold_expr[] = {IR_E_ADD, IR_E_MAX, IR_E_MIN, IR_E_MUL};

/* The type to reduce in; DT_COUNT: none. */
DType fold_type(DType d, Fold fold)
{
    bool exact = fold == FOLD_MAX || fold == FOLD_MIN;
    if (d == DT_F32 || d == DT_I32 || (d == DT_F16 && exact))
        return d;
    if (d == DT_F16 || d == DT_BF16 || d == DT_I16)
        return DT_F32;
    if (d == DT_I8 || d == DT_U8)
        return exact ? DT_F16 : DT_F32;
    return DT_COUNT;
}

static AscRef converted(Lower *l, AscRef src, DType to, Run run)
{
    if (src.dtype == to)
        return src;
    AscRef t = scratch_take(l, to, run.room);
    op_cast(l, t, src, NPU_ROUND_NONE, run);
    return t;
}

int64_t fold_lanes_of(DType d) { return 256 / (int64_t)dtype_bytes(d); }

/* Scratch that ReduceMax and ReduceMin want: a value and an index per repeat, and with an index
 * the same again for the rounds that follow (docs 归约计算/ReduceMax.md). */
static AscRef work_for(Lower *l, DType d, IrExprId room, bool index)
{
    IrExprId repeats = lx_ceildiv(l, room, lx_int(l, fold_lanes_of(d)));
    IrExprId elements = lx_align(l, lx_mul(l, repeats, lx_int(l, 2)), 32 / (int64_t)dtype_bytes(d));
    if (index)
        elements = lx_add(l, lx_mul(l, elements, lx_int(l, 2)), lx_int(l, 64));
    return scratch_take(l, d, elements);
}

/* ---- products, and i32: halves are folded until one block is left ---- */

static IrExprId first_value(Lower *l, Fold fold, DType d)
{
    static const double floats[] = {0, -__builtin_inf(), __builtin_inf(), 1};
    static const int64_t ints[] = {0, INT32_MIN, INT32_MAX, 1};
    return d == DT_I32 ? lx_int(l, ints[fold]) : ir_float(l->ir, floats[fold]);
}

static void fold_halves(Lower *l, AscRef t, Fold fold, IrVarId len, int64_t block)
{
    IrVarId half = lx_local(l, "half", DT_I64);
    l->ir->vars.at[half].lo = 0;
    ls_new(l, ASC_S_WHILE)->value = ir_expr2(l->ir, IR_E_GT, lx_var(l, len), lx_int(l, block));
    AscStmtId owner = ls_last(l);
    Opened body;
    ls_open(l, &body);
    IrExprId middle = lx_ceildiv(l, lx_var(l, len), lx_int(l, 2));
    ls_set(l, half, ir_expr2(l->ir, IR_E_ALIGN_UP, middle, lx_int(l, block)));
    IrExprId rest = lx_sub(l, lx_var(l, len), lx_var(l, half));
    call_binary(l, fold_api[fold], t, t, ref_at(l, t, lx_var(l, half)), rest);
    ls_set(l, len, lx_var(l, half));
    ls_close(l, &body, owner, false);
}

static void halve(Lower *l, AscRef src, Fold fold, IrVarId result, Run run)
{
    AscRef t = scratch_take(l, src.dtype, run.room);
    op_copy(l, t, src, run);
    IrVarId len = lx_local(l, "len", DT_I64), lane = lx_local(l, "lane", DT_I64);
    IrVarId value = lx_local(l, "lane.value", src.dtype == DT_I32 ? DT_I64 : DT_F32);
    l->ir->vars.at[len].lo = l->ir->vars.at[lane].lo = 0;
    ls_set(l, len, run.count);
    fold_halves(l, t, fold, len, 32 / (int64_t)dtype_bytes(src.dtype));
    ls_set(l, result, first_value(l, fold, src.dtype));
    AscStmtId owner = ls_for(l, lane, lx_int(l, 0), lx_var(l, len), lx_int(l, 1));
    Opened body;
    ls_open(l, &body);
    ls_get(l, value, ref_at(l, t, lx_var(l, lane)));
    ls_set(l, result, ir_expr2(l->ir, fold_expr[fold], lx_var(l, result), lx_var(l, value)));
    ls_close(l, &body, owner, false);
}

/* ---- a run to a scalar ---- */

void fold_to_scalar(Lower *l, AscRef src, Fold fold, IrVarId result, Run run)
{
    if (fold == FOLD_PROD || src.dtype == DT_I32) {
        halve(l, src, fold, result, run);
        return;
    }
    AscRef out = scratch_take(l, src.dtype, lx_int(l, 32 / (int64_t)dtype_bytes(src.dtype)));
    if (src.dtype == DT_F32) {
        fold_run(l, fold, out, src, run);
    } else {
        AscRef work = work_for(l, src.dtype, run.room, false);
        call_reduce(l, reduce_api[fold], out, src, work, run.count, 0);
    }
    ls_get(l, result, out);
}

/* Rows that do not touch: one after the other into a running scalar. */
static void rows_to_scalar(Lower *l, const View2 *v, Fold fold, DType type, IrVarId result,
                           IrExprId room)
{
    ls_set(l, result, first_value(l, fold, type));
    IrVarId row = lx_local(l, "row", DT_I64);
    IrVarId part = lx_local(l, "row.value", type == DT_I32 ? DT_I64 : DT_F32);
    l->ir->vars.at[row].lo = 0;
    AscStmtId owner = ls_for(l, row, lx_int(l, 0), v->rows, lx_int(l, 1));
    Opened body;
    ls_open(l, &body);
    Run run = {v->cols, room};
    AscRef src = ref_at(l, v->ref, lx_mul(l, lx_var(l, row), v->stride));
    fold_to_scalar(l, converted(l, src, type, run), fold, part, run);
    ls_set(l, result, ir_expr2(l->ir, fold_expr[fold], lx_var(l, result), lx_var(l, part)));
    ls_close(l, &body, owner, false);
}

/* All rows as one run, when nothing lies between them. */
static bool as_run(const Lower *l, const View2 *v)
{
    return !v->rows || (v->full && ir_same(l->ir, v->stride, v->cols));
}

static Run whole_run(Lower *l, const IrStmt *s, const View2 *v)
{
    IrExprId n = v->rows ? lx_mul(l, v->rows, v->cols) : v->cols;
    return (Run){n, view_room(l, &s->src[0])};
}

static void reduce_scalar(Lower *l, const IrStmt *s)
{
    View2 v = view_of(l, &s->src[0]);
    Fold fold = fold_of(s->op);
    DType type = fold_type(v.ref.dtype, fold);
    if (type == DT_COUNT) {
        op_unsupported(l, s, str_format(l->arena, "no reduction of %s", dtype_name(v.ref.dtype)));
        return;
    }
    Run run = whole_run(l, s, &v);
    if (as_run(l, &v))
        fold_to_scalar(l, converted(l, v.ref, type, run), fold, s->var, run);
    else
        rows_to_scalar(l, &v, fold, type, s->var, run.room);
}

static void reduce_index(Lower *l, const IrStmt *s)
{
    View2 v = view_of(l, &s->src[0]);
    Fold fold = fold_of(s->op);
    DType type = fold_type(v.ref.dtype, fold);
    if (type == DT_I32)
        type = DT_COUNT;
    if (type == DT_COUNT || !as_run(l, &v)) {
        op_unsupported(l, s,
                       type == DT_COUNT ? "no reduction of this type"
                                        : "rows of the view are not contiguous");
        return;
    }
    Run run = whole_run(l, s, &v);
    /* a position in f16's slot has 16 bits */
    if (type == DT_F16 && lx_most(l, run.count) > 65535)
        type = DT_F32;
    AscRef src = converted(l, v.ref, type, run);
    AscRef work = work_for(l, type, run.room, true);
    AscRef out = scratch_take(l, type, lx_int(l, 32 / (int64_t)dtype_bytes(type)));
    call_reduce(l, reduce_api[fold], out, src, work, run.count, 1);
    AscRef index = ref_as(l, out, type == DT_F32 ? DT_U32 : DT_U16);
    ls_get(l, s->var, ref_at(l, index, lx_int(l, 1)));
}

/* Any: the largest of 0 and 1 per bit; all: the smallest. */
static void reduce_mask(Lower *l, const IrStmt *s)
{
    View2 v = view_of(l, &s->src[0]);
    if (v.rows) {
        op_unsupported(l, s, "a mask of two dimensions");
        return;
    }
    Run run = {v.cols, view_room(l, &s->src[0])};
    AscRef ones = scratch_take(l, DT_F16, run.room);
    op_mask_to(l, ones, v.ref, run);
    IrVarId value = lx_local(l, "bit.value", DT_F32);
    fold_to_scalar(l, ones, s->op == IR_T_RANY ? FOLD_MAX : FOLD_MIN, value, run);
    ls_set(l, s->var, ir_expr2(l->ir, IR_E_GT, lx_var(l, value), ir_float(l->ir, 0.5)));
}

void op_reduce(Lower *l, const IrStmt *s)
{
    switch (s->op) {
    case IR_T_RANY:
    case IR_T_RALL: reduce_mask(l, s); break;
    case IR_T_ARGMAX:
    case IR_T_ARGMIN: reduce_index(l, s); break;
    case IR_T_EXTRACT:
        ls_get(l, s->var, ref_at(l, view_of(l, &s->src[0]).ref, s->scalar[0]));
        break;
    default: reduce_scalar(l, s); break;
    }
}

/* ---- one result per column ---- */

void op_cols(Lower *l, const IrStmt *s)
{
    View2 v = view_of(l, &s->src[0]), d = view_of(l, &s->dst);
    Fold fold = fold_of(s->op);
    DType type = fold_type(v.ref.dtype, fold);
    if (type == DT_COUNT || !v.rows) {
        op_unsupported(l, s, str_format(l->arena, "no reduction of %s", dtype_name(v.ref.dtype)));
        return;
    }
    Run run = {v.cols, l->source->buffers.at[s->src[0].buffer].shape[1]};
    bool wide = type != v.ref.dtype;
    AscRef acc = type == d.ref.dtype ? d.ref : scratch_take(l, type, run.room);
    AscRef next = wide ? scratch_take(l, type, run.room) : (AscRef){0};
    op_cast(l, acc, v.ref, NPU_ROUND_NONE, run);
    IrVarId row = lx_local(l, "row", DT_I64);
    l->ir->vars.at[row].lo = 0;
    AscStmtId owner = ls_for(l, row, lx_int(l, 1), v.rows, lx_int(l, 1));
    Opened body;
    ls_open(l, &body);
    AscRef from = ref_at(l, v.ref, lx_mul(l, lx_var(l, row), v.stride));
    if (wide)
        op_cast(l, next, from, NPU_ROUND_NONE, run);
    call_binary(l, fold_api[fold], acc, acc, wide ? next : from, run.count);
    ls_close(l, &body, owner, false);
    if (type != d.ref.dtype)
        op_cast(l, d.ref, acc, NPU_ROUND_RINT, run);
}
