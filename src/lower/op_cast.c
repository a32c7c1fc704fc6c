/* Conversions, copies, fills. In: runs of elements. Out: Cast calls along the pairs that 2201 has
 * (npu/cast.def), with stops in between where a pair is missing. */
#include "lower/lower_int.h"

static bool is_byte(DType d) { return d == DT_I8 || d == DT_U8; }

/* A pair without the requested mode is exact, or takes its only one. */
static enum NpuRound legal_round(DType src, DType dst, enum NpuRound round)
{
    if (npu_cast_ok(src, dst, round))
        return round;
    return npu_cast_ok(src, dst, NPU_ROUND_NONE) ? NPU_ROUND_NONE : NPU_ROUND_RINT;
}

/* The next type of the conversion; i32 to f16 scales by a register, so it is not used. */
static DType next_type(DType src, DType dst)
{
    bool direct = npu_cast_ok(src, dst, NPU_ROUND_NONE) || npu_cast_ok(src, dst, NPU_ROUND_RINT);
    if (direct && !(src == DT_I32 && dst == DT_F16))
        return dst;
    switch (src) {
    case DT_I8:
    case DT_U8: return DT_F16;
    case DT_F32: return is_byte(dst) ? DT_F16 : DT_COUNT;
    case DT_F16:
    case DT_BF16:
    case DT_I16:
    case DT_I32: return DT_F32;
    case DT_I64: return dst == DT_I16 ? DT_I32 : DT_F32;
    default: return DT_COUNT;
    }
}

/* f32 that becomes 8 bits is made an integer first: f16 would round it once more. */
static AscRef to_integer(Lower *l, AscRef src, enum NpuRound round, Run run)
{
    AscRef whole = scratch_take(l, DT_F32, run.room);
    call_cast(l, whole, src, round == NPU_ROUND_NONE ? NPU_ROUND_RINT : round, run.count);
    return whole;
}

bool op_cast(Lower *l, AscRef dst, AscRef src, enum NpuRound round, Run run)
{
    uint32_t mark = scratch_mark(l);
    bool ok = true;
    if (src.dtype == dst.dtype)
        op_copy(l, dst, src, run);
    while (ok && src.dtype != dst.dtype) {
        DType next = next_type(src.dtype, dst.dtype);
        ok = next != DT_COUNT;
        if (!ok)
            break;
        if (src.dtype == DT_F32 && is_byte(dst.dtype))
            src = to_integer(l, src, round, run);
        AscRef to = next == dst.dtype ? dst : scratch_take(l, next, run.room);
        call_cast(l, to, src, legal_round(src.dtype, next, round), run.count);
        src = to;
    }
    scratch_drop(l, mark);
    return ok;
}

/* A multiplication by one moves any 16- or 32-bit pattern that is read as an integer. */
void op_copy(Lower *l, AscRef dst, AscRef src, Run run)
{
    bool bytes = dtype_bytes(dst.dtype) == 1;
    if (bytes && !lx_divides(l, run.count, 2)) {
        AscRef half = scratch_take(l, DT_F16, run.room);
        call_cast(l, half, src, NPU_ROUND_NONE, run.count);
        call_cast(l, dst, half, NPU_ROUND_RINT, run.count);
        l->scratch_used--;
        return;
    }
    IrExprId count = run.count;
    if (bytes) {
        count = ir_expr2(l->ir, IR_E_FLOORDIV, count, lx_int(l, 2));
        dst = ref_as(l, dst, DT_I16);
        src = ref_as(l, src, DT_I16);
    } else if (!(asc_apis[ASC_MULS].dtypes >> dst.dtype & 1)) {
        DType as = dtype_bytes(dst.dtype) == 2 ? DT_I16 : DT_I32;
        if (dtype_bytes(dst.dtype) == 8)
            count = lx_mul(l, count, lx_int(l, 2));
        dst = ref_as(l, dst, as);
        src = ref_as(l, src, as);
    }
    call_const(l, ASC_MULS, dst, src, 1.0, count);
}

static bool fits_duplicate(DType d)
{
    return d != DT_BF16 && (asc_apis[ASC_DUPLICATE].dtypes >> d & 1);
}

/* Types Duplicate has not are filled in a neighbour type and converted. */
static bool fill_any(Lower *l, AscRef dst, IrExprId value, Run run)
{
    if (fits_duplicate(dst.dtype)) {
        call_fill(l, dst, value, run.count);
        return true;
    }
    DType near = dst.dtype == DT_I64 ? DT_I32 : dst.dtype == DT_BF16 ? DT_F32 : DT_F16;
    AscRef other = scratch_take(l, near, run.room);
    call_fill(l, other, value, run.count);
    return op_cast(l, dst, other, NPU_ROUND_RINT, run);
}

/* start + step * position */
static bool iota(Lower *l, AscRef dst, IrExprId start, IrExprId step, Run run)
{
    if (!(asc_apis[ASC_INDEX].dtypes >> dst.dtype & 1))
        return false;
    bool unit = l->ir->exprs.at[step].op == IR_E_INT
                    ? lx_is(l, step, 1)
                    : l->ir->exprs.at[step].op == IR_E_FLOAT && l->ir->exprs.at[step].of.f == 1.0;
    AscStmt *s = ls_new(l, ASC_S_CALL);
    s->api = ASC_INDEX;
    s->dst = dst;
    s->count = run.count;
    s->scalar = unit ? start : lower_scalar_const(l, 0, dst.dtype);
    if (!unit) {
        call_scalar(l, ASC_MULS, dst, dst, step, run.count);
        call_scalar(l, ASC_ADDS, dst, dst, start, run.count);
    }
    return true;
}

static bool fill_op(Lower *l, const IrStmt *s, AscRef dst, Run run)
{
    if (s->op == IR_T_IOTA)
        return iota(l, dst, s->scalar[0], s->scalar[1], run);
    return fill_any(l, dst, s->scalar[0], run);
}

static void to_bool(Lower *l, AscRef dst, AscRef src, Run run)
{
    DType wide = src.dtype == DT_F32 || src.dtype == DT_F16 || src.dtype == DT_I32
                     ? src.dtype
                     : op_wide(src.dtype);
    AscRef value = src;
    if (wide != src.dtype) {
        value = scratch_take(l, wide, run.room);
        op_cast(l, value, src, NPU_ROUND_RINT, run);
    }
    AscRef mask = scratch_take(l, DT_U8, run.room);
    AscRef one = scratch_take(l, DT_F16, run.room);
    bool int_like = wide == DT_I32;
    call_compares(l, mask, value, lower_scalar_const(l, 0, wide), int_like ? NPU_EQ : NPU_NE,
                  run.count);
    call_fill(l, one, ir_float(l->ir, int_like ? 0 : 1), run.count);
    call_selects(l, one, mask, one, ir_float(l->ir, int_like ? 1 : 0), run.count);
    call_cast(l, dst, one, NPU_ROUND_RINT, run.count);
}

static enum NpuRound round_of(IrRound r)
{
    static const enum NpuRound as[] = {
        [IR_ROUND_NONE] = NPU_ROUND_NONE,   [IR_ROUND_RINT] = NPU_ROUND_RINT,
        [IR_ROUND_FLOOR] = NPU_ROUND_FLOOR, [IR_ROUND_CEIL] = NPU_ROUND_CEIL,
        [IR_ROUND_AWAY] = NPU_ROUND_ROUND,  [IR_ROUND_TRUNC] = NPU_ROUND_TRUNC,
    };
    return as[r];
}

static bool cast_op(Lower *l, const IrStmt *s, AscRef dst, AscRef src, Run run)
{
    if (l->source->buffers.at[s->src[0].buffer].mask) {
        op_mask_to(l, dst, src, run);
        return true;
    }
    if (s->dst.dtype == DT_BOOL && s->src[0].dtype != DT_BOOL) {
        to_bool(l, dst, src, run);
        return true;
    }
    return op_cast(l, dst, src, round_of(s->round), run);
}

/* ---- elementwise operations in the tile's own type, or through a wider one ---- */

/* Types the operation's own calls take; others go through op_wide. */
static uint32_t native_types(IrTileOp op)
{
    uint32_t f = 1u << DT_F32 | 1u << DT_F16, i = 1u << DT_I16 | 1u << DT_I32;
    switch (op) {
    case IR_T_ADD:
    case IR_T_SUB:
    case IR_T_MUL:
    case IR_T_MIN:
    case IR_T_MAX:
    case IR_T_ADDS:
    case IR_T_SUBS:
    case IR_T_RSUBS:
    case IR_T_MULS:
    case IR_T_MINS:
    case IR_T_MAXS:
    case IR_T_NEG:
    case IR_T_RELU:
    case IR_T_ABS: return f | i;
    case IR_T_DIV:
    case IR_T_DIVS:
    case IR_T_RDIVS:
    case IR_T_EXP:
    case IR_T_LOG:
    case IR_T_SQRT:
    case IR_T_RSQRT:
    case IR_T_RECIP:
    case IR_T_FMA:
    case IR_T_AXPY: return f;
    default: return 1u << DT_F32;
    }
}

static bool same_ref(const Lower *l, AscRef a, AscRef b)
{
    return a.id == b.id && a.dtype == b.dtype && ir_same(l->ir, a.offset, b.offset);
}

static void divide_by(Lower *l, AscRef dst, AscRef a, IrExprId s, bool reversed, Run run)
{
    AscRef t = scratch_take(l, dst.dtype, run.room);
    call_fill(l, t, s, run.count);
    call_binary(l, ASC_DIV, dst, reversed ? t : a, reversed ? a : t, run.count);
}

static void absolute(Lower *l, AscRef dst, AscRef a, Run run)
{
    if (dtype_is_float(dst.dtype)) {
        call_unary(l, ASC_ABS, dst, a, run.count);
        return;
    }
    AscRef t = scratch_take(l, dst.dtype, run.room);
    call_const(l, ASC_MULS, t, a, -1, run.count);
    call_binary(l, ASC_MAX, dst, a, t, run.count);
}

static void fma_op(Lower *l, AscRef dst, const AscRef *src, Run run)
{
    if (same_ref(l, dst, src[2])) {
        call_binary(l, ASC_MUL_ADD_DST, dst, src[0], src[1], run.count);
        return;
    }
    call_binary(l, ASC_MUL, dst, src[0], src[1], run.count);
    call_binary(l, ASC_ADD, dst, dst, src[2], run.count);
}

static void axpy_op(Lower *l, AscRef dst, const AscRef *src, IrExprId s, Run run)
{
    if (same_ref(l, dst, src[0])) {
        call_scalar(l, ASC_AXPY, dst, src[1], s, run.count);
        return;
    }
    call_scalar(l, ASC_MULS, dst, src[1], s, run.count);
    call_binary(l, ASC_ADD, dst, src[0], dst, run.count);
}

static IrExprId negated(Lower *l, IrExprId s) { return ir_expr1(l->ir, IR_E_NEG, s); }

/* dst and the sources are of one type that the operation's calls take. */
static bool basic(Lower *l, IrTileOp op, AscRef dst, const AscRef *src, IrExprId s, Run run)
{
    IrExprId n = run.count;
    IrExprId one = lower_scalar_const(l, 1, dst.dtype);
    switch (op) {
    case IR_T_ADD: call_binary(l, ASC_ADD, dst, src[0], src[1], n); return true;
    case IR_T_SUB: call_binary(l, ASC_SUB, dst, src[0], src[1], n); return true;
    case IR_T_MUL: call_binary(l, ASC_MUL, dst, src[0], src[1], n); return true;
    case IR_T_DIV: call_binary(l, ASC_DIV, dst, src[0], src[1], n); return true;
    case IR_T_MIN: call_binary(l, ASC_MIN, dst, src[0], src[1], n); return true;
    case IR_T_MAX: call_binary(l, ASC_MAX, dst, src[0], src[1], n); return true;
    case IR_T_ADDS: call_scalar(l, ASC_ADDS, dst, src[0], s, n); return true;
    case IR_T_SUBS: call_scalar(l, ASC_ADDS, dst, src[0], negated(l, s), n); return true;
    case IR_T_RSUBS:
        call_const(l, ASC_MULS, dst, src[0], -1, n);
        call_scalar(l, ASC_ADDS, dst, dst, s, n);
        return true;
    case IR_T_MULS: call_scalar(l, ASC_MULS, dst, src[0], s, n); return true;
    case IR_T_MINS: call_scalar(l, ASC_MINS, dst, src[0], s, n); return true;
    case IR_T_MAXS: call_scalar(l, ASC_MAXS, dst, src[0], s, n); return true;
    case IR_T_NEG: call_const(l, ASC_MULS, dst, src[0], -1, n); return true;
    case IR_T_EXP: call_unary(l, ASC_EXP, dst, src[0], n); return true;
    case IR_T_LOG: call_unary(l, ASC_LN, dst, src[0], n); return true;
    case IR_T_SQRT: call_unary(l, ASC_SQRT, dst, src[0], n); return true;
    case IR_T_DIVS: divide_by(l, dst, src[0], s, false, run); return true;
    case IR_T_RDIVS: divide_by(l, dst, src[0], s, true, run); return true;
    case IR_T_RECIP: divide_by(l, dst, src[0], one, true, run); return true;
    case IR_T_RSQRT:
        call_unary(l, ASC_SQRT, dst, src[0], n);
        divide_by(l, dst, dst, one, true, run);
        return true;
    case IR_T_ABS: absolute(l, dst, src[0], run); return true;
    case IR_T_RELU:
        if (asc_apis[ASC_RELU].dtypes >> dst.dtype & 1)
            call_unary(l, ASC_RELU, dst, src[0], n);
        else
            call_const(l, ASC_MAXS, dst, src[0], 0, n);
        return true;
    case IR_T_FMA: fma_op(l, dst, src, run); return true;
    case IR_T_AXPY: axpy_op(l, dst, src, s, run); return true;
    default: return false;
    }
}

static bool compute_as(Lower *l, const IrStmt *s, IrTileOp op, AscRef dst, const AscRef *src,
                       Run run)
{
    if (basic(l, op, dst, src, s->scalar[0], run))
        return true;
    return op_math(l, op, dst, src, s->scalar[0], run);
}

static bool through(Lower *l, const IrStmt *s, IrTileOp op, DType wide, AscRef dst,
                    const AscRef *src, Run run)
{
    AscRef in[IR_MAX_OPERANDS];
    for (uint32_t i = 0; i < s->src_count; i++) {
        in[i] = scratch_take(l, wide, run.room);
        if (!op_cast(l, in[i], src[i], NPU_ROUND_RINT, run))
            return false;
    }
    return compute_as(l, s, op, in[0], in, run) && op_cast(l, dst, in[0], NPU_ROUND_RINT, run);
}

void op_elementwise(Lower *l, const IrStmt *s, IrTileOp op, AscRef dst, const AscRef *src, Run run)
{
    bool ok;
    DType wide = dst.dtype;
    uint32_t native = native_types(op);
    if (ir_tile_ops[op].kind == IR_CLASS_FILL) {
        ok = fill_op(l, s, dst, run);
    } else if (op == IR_T_CAST) {
        ok = cast_op(l, s, dst, src[0], run);
    } else if (op == IR_T_COPY) {
        op_copy(l, dst, src[0], run);
        ok = true;
    } else {
        while (wide != DT_COUNT && !(native >> wide & 1))
            wide = op_wide(wide);
        ok = wide == dst.dtype ? compute_as(l, s, op, dst, src, run)
                               : wide != DT_COUNT && through(l, s, op, wide, dst, src, run);
    }
    if (!ok)
        op_unsupported(l, s, str_format(l->arena, "no instruction for %s", dtype_name(dst.dtype)));
}
