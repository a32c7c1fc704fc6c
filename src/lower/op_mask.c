/* Comparisons, selections, bits. In: runs of elements; masks are bits in bytes, first element
 * lowest. Out: Compare, Select, And, Or, Not, shifts. */
#include "lower/lower_int.h"

static int mode_of(IrTileOp op)
{
    switch (op) {
    case IR_T_EQ:
    case IR_T_EQS: return NPU_EQ;
    case IR_T_NE:
    case IR_T_NES: return NPU_NE;
    case IR_T_LT:
    case IR_T_LTS: return NPU_LT;
    case IR_T_LE:
    case IR_T_LES: return NPU_LE;
    case IR_T_GT:
    case IR_T_GTS: return NPU_GT;
    default: return NPU_GE;
    }
}

static IrExprId mask_words(Lower *l, IrExprId count) { return lx_ceildiv(l, count, lx_int(l, 16)); }

static bool compares(DType d) { return d == DT_F32 || d == DT_F16; }

/* The chip's own NE is false for NaN, and i32 has only EQ: inequality is the complement. */
static void compare_in(Lower *l, AscRef mask, AscRef a, AscRef b, IrExprId scalar, int mode,
                       IrExprId n)
{
    int own = mode == NPU_NE ? NPU_EQ : mode;
    if (scalar)
        call_compares(l, mask, a, scalar, own, n);
    else
        call_compare(l, mask, a, b, own, n);
    if (mode == NPU_NE) {
        AscRef bits = ref_as(l, mask, DT_U16);
        call_unary(l, ASC_NOT, bits, bits, mask_words(l, n));
    }
}

/* a < b for i32 is a > b with the sides changed, and the rest follows from max(a, b) == b. */
static void compare_i32(Lower *l, AscRef mask, AscRef a, AscRef b, IrExprId scalar, int mode,
                        Run run)
{
    if (scalar && mode != NPU_EQ && mode != NPU_NE) {
        b = scratch_take(l, DT_I32, run.room);
        call_fill(l, b, scalar, run.count);
        scalar = 0;
    }
    if (mode == NPU_EQ || mode == NPU_NE) {
        compare_in(l, mask, a, b, scalar, mode, run.count);
        return;
    }
    bool less = mode == NPU_LT || mode == NPU_LE, strict = mode == NPU_LT || mode == NPU_GT;
    AscRef most = scratch_take(l, DT_I32, run.room);
    call_binary(l, ASC_MAX, most, a, b, run.count);
    /* a <= b: max is b; a < b: max is not a */
    AscRef side = less != strict ? b : a;
    compare_in(l, mask, most, side, 0, strict ? NPU_NE : NPU_EQ, run.count);
}

void op_compare(Lower *l, const IrStmt *s, AscRef mask, const AscRef *src, Run run)
{
    DType d = src[0].dtype;
    IrExprId scalar = s->scalar_count ? s->scalar[0] : 0;
    AscRef in[2] = {src[0], s->src_count > 1 ? src[1] : (AscRef){0}};
    if (d == DT_I32) {
        compare_i32(l, mask, in[0], in[1], scalar, mode_of(s->op), run);
        return;
    }
    DType wide = compares(d) ? d : op_wide(d);
    if (wide == DT_COUNT) {
        op_unsupported(l, s, str_format(l->arena, "no comparison of %s", dtype_name(d)));
        return;
    }
    for (uint32_t i = 0; wide != d && i < s->src_count; i++) {
        in[i] = scratch_take(l, wide, run.room);
        op_cast(l, in[i], src[i], NPU_ROUND_NONE, run);
    }
    compare_in(l, mask, in[0], in[1], scalar, mode_of(s->op), run.count);
}

/* ---- selection ---- */

/* Select moves bits: a type of the same width stands in. */
static DType select_type(DType d)
{
    return dtype_bytes(d) == 4 ? DT_F32 : dtype_bytes(d) == 2 ? DT_F16 : DT_COUNT;
}

static AscRef filled(Lower *l, DType d, IrExprId value, Run run)
{
    AscRef t = scratch_take(l, d, run.room);
    if (d == DT_BF16) {
        AscRef wide = scratch_take(l, DT_F32, run.room);
        call_fill(l, wide, value, run.count);
        call_cast(l, t, wide, NPU_ROUND_RINT, run.count);
    } else {
        call_fill(l, t, value, run.count);
    }
    return t;
}

static void select_two(Lower *l, AscRef dst, AscRef mask, AscRef a, AscRef b, Run run)
{
    DType as = select_type(dst.dtype);
    call_select(l, ref_as(l, dst, as), mask, ref_as(l, a, as), ref_as(l, b, as), run.count);
}

static AscRef widened(Lower *l, AscRef a, DType wide, Run run)
{
    AscRef t = scratch_take(l, wide, run.room);
    op_cast(l, t, a, NPU_ROUND_NONE, run);
    return t;
}

static void select_bytes(Lower *l, const IrStmt *s, AscRef dst, const AscRef *src, Run run)
{
    AscRef a = s->op == IR_T_SELECTSS ? filled(l, DT_F16, s->scalar[0], run)
                                      : widened(l, src[1], DT_F16, run);
    if (s->op == IR_T_SELECT)
        call_select(l, a, src[0], a, widened(l, src[2], DT_F16, run), run.count);
    else
        call_selects(l, a, src[0], a, s->scalar[s->op == IR_T_SELECTSS], run.count);
    op_cast(l, dst, a, NPU_ROUND_RINT, run);
}

void op_select(Lower *l, const IrStmt *s, AscRef dst, const AscRef *src, Run run)
{
    if (dtype_bytes(dst.dtype) == 1) {
        select_bytes(l, s, dst, src, run);
        return;
    }
    if (select_type(dst.dtype) == DT_COUNT) {
        op_unsupported(l, s, str_format(l->arena, "no selection of %s", dtype_name(dst.dtype)));
        return;
    }
    bool scalars = compares(dst.dtype);
    IrExprId last = s->scalar_count ? s->scalar[s->scalar_count - 1] : 0;
    if (s->op == IR_T_SELECT) {
        select_two(l, dst, src[0], src[1], src[2], run);
    } else if (s->op == IR_T_SELECTS && scalars) {
        call_selects(l, dst, src[0], src[1], last, run.count);
    } else if (scalars) {
        call_fill(l, dst, s->scalar[0], run.count);
        call_selects(l, dst, src[0], dst, last, run.count);
    } else {
        AscRef a = s->op == IR_T_SELECTS ? src[1] : filled(l, dst.dtype, s->scalar[0], run);
        select_two(l, dst, src[0], a, filled(l, dst.dtype, last, run), run);
    }
}

/* 1 where the bit is set, else 0. */
void op_mask_to(Lower *l, AscRef dst, AscRef mask, Run run)
{
    AscRef t = compares(dst.dtype)
                   ? dst
                   : scratch_take(l, dst.dtype == DT_BF16 || dst.dtype == DT_I32 ? DT_F32 : DT_F16,
                                  run.room);
    call_fill(l, t, ir_float(l->ir, 1), run.count);
    call_selects(l, t, mask, t, ir_float(l->ir, 0), run.count);
    if (!compares(dst.dtype))
        op_cast(l, dst, t, NPU_ROUND_RINT, run);
}

/* ---- bits ---- */

static void exclusive_or(Lower *l, AscRef dst, AscRef a, AscRef b, IrExprId n, IrExprId room)
{
    AscRef t = scratch_take(l, DT_U16, room);
    call_binary(l, ASC_AND, t, a, b, n);
    call_unary(l, ASC_NOT, t, t, n);
    call_binary(l, ASC_OR, dst, a, b, n);
    call_binary(l, ASC_AND, dst, dst, t, n);
}

static void shift(Lower *l, const IrStmt *s, AscRef dst, AscRef a, Run run)
{
    AscApi api = s->op == IR_T_SHL ? ASC_SHL : ASC_SHR;
    if (!(asc_apis[api].dtypes >> dst.dtype & 1)) {
        op_unsupported(l, s, str_format(l->arena, "no shift of %s", dtype_name(dst.dtype)));
        return;
    }
    call_scalar(l, api, dst, a, s->scalar[0], run.count);
}

/* Any tile of 16 bits or more is a row of 16-bit words; a mask is one too. */
void op_bits(Lower *l, const IrStmt *s, AscRef dst, const AscRef *src, bool mask, Run run)
{
    if (s->op == IR_T_SHL || s->op == IR_T_SHR) {
        shift(l, s, dst, src[0], run);
        return;
    }
    size_t bytes = dtype_bytes(dst.dtype);
    if (!mask && bytes == 1) {
        op_unsupported(l, s, "no bitwise operation on 8 bits");
        return;
    }
    IrExprId per = lx_int(l, (int64_t)bytes / 2);
    IrExprId n = mask ? mask_words(l, run.count) : lx_mul(l, run.count, per);
    IrExprId room = mask ? mask_words(l, run.room) : lx_mul(l, run.room, per);
    AscRef to = ref_as(l, dst, DT_U16), a = ref_as(l, src[0], DT_U16);
    AscRef b = s->src_count > 1 ? ref_as(l, src[1], DT_U16) : a;
    switch (s->op) {
    case IR_T_AND: call_binary(l, ASC_AND, to, a, b, n); break;
    case IR_T_OR:
    case IR_T_COPY: call_binary(l, ASC_OR, to, a, b, n); break;
    case IR_T_XOR: exclusive_or(l, to, a, b, n, room); break;
    case IR_T_NOT: call_unary(l, ASC_NOT, to, a, n); break;
    default: op_unsupported(l, s, "not an operation on masks"); break;
    }
}
