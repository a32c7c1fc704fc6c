/* Rules of tile operations: how many operands, which are masks, how many axes, which element
 * types. In: one IR_S_OP statement. Out: true, or an error. The chip's own limits are not the
 * IR's: an operation that a machine lacks for a type is lowered through another, or refused. */
#include "ir/verify_int.h"

static bool is_mask(const Verifier *v, const IrView *w) { return v->k->buffers.at[w->buffer].mask; }

static bool is_int(DType d) { return dtype_is_int(d); }

static bool same_axes(const IrView *a, const IrView *b) { return a->rank == b->rank; }

/* A tile of numbers with the type and axes of dst. */
static bool like_dst(Verifier *v, const IrStmt *s, const IrView *w)
{
    if (is_mask(v, w) || w->dtype != s->dst.dtype || !same_axes(w, &s->dst))
        return verify_fail(v, s->at, "%s: an operand differs from the result in type or axes",
                           ir_tile_ops[s->op].name);
    return true;
}

static bool misfit(Verifier *v, const IrStmt *s, const char *why)
{
    return verify_fail(v, s->at, "%s: %s", ir_tile_ops[s->op].name, why);
}

static bool scalar_for(Verifier *v, const IrStmt *s, uint32_t i, DType element)
{
    DType want = ir_scalar_of(element);
    IrExprId e = s->scalar[i];
    if (want == DT_BOOL && e && e < v->p->exprs.len && v->p->exprs.at[e].type == DT_I64)
        want = DT_I64;
    return verify_expr(v, s->at, e, want, "the scalar operand");
}

/* Which element types an elementwise operation knows. */
static bool elem_type_ok(IrTileOp op, DType d)
{
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
    case IR_T_COPY: return true;
    case IR_T_NEG:
    case IR_T_ABS:
    case IR_T_SIGN:
    case IR_T_RELU:
    case IR_T_FMA:
    case IR_T_AXPY: return dtype_is_float(d) || is_int(d);
    default: return dtype_is_float(d);
    }
}

static bool check_elem(Verifier *v, const IrStmt *s)
{
    if (s->op == IR_T_COPY && is_mask(v, &s->dst))
        return (is_mask(v, &s->src[0]) && same_axes(&s->src[0], &s->dst)) ||
               misfit(v, s, "a mask is copied from a mask");
    if (is_mask(v, &s->dst) || !elem_type_ok(s->op, s->dst.dtype))
        return misfit(v, s, "does not exist for these elements");
    for (uint32_t i = 0; i < s->src_count; i++)
        if (!like_dst(v, s, &s->src[i]))
            return false;
    return s->scalar_count == 0 || scalar_for(v, s, 0, s->dst.dtype);
}

static bool check_bits(Verifier *v, const IrStmt *s)
{
    bool mask = is_mask(v, &s->dst), shift = s->op == IR_T_SHL || s->op == IR_T_SHR;
    DType d = s->dst.dtype;
    if (mask ? shift : !is_int(d))
        return misfit(v, s, "does not exist for these elements");
    for (uint32_t i = 0; i < s->src_count; i++)
        if (is_mask(v, &s->src[i]) != mask || s->src[i].dtype != d ||
            !same_axes(&s->src[i], &s->dst))
            return misfit(v, s, "an operand differs from the result in type or axes");
    return !shift || verify_expr(v, s->at, s->scalar[0], DT_I64, "the distance of a shift");
}

static bool check_compare(Verifier *v, const IrStmt *s)
{
    if (!is_mask(v, &s->dst))
        return misfit(v, s, "the result is a mask");
    for (uint32_t i = 0; i < s->src_count; i++)
        if (is_mask(v, &s->src[i]) || s->src[i].dtype != s->src[0].dtype ||
            !same_axes(&s->src[i], &s->dst))
            return misfit(v, s, "the operands differ in type or axes");
    return s->scalar_count == 0 || scalar_for(v, s, 0, s->src[0].dtype);
}

static bool check_select(Verifier *v, const IrStmt *s)
{
    if (!is_mask(v, &s->src[0]) || !same_axes(&s->src[0], &s->dst) || is_mask(v, &s->dst))
        return misfit(v, s, "the first operand is a mask of the size of the result");
    for (uint32_t i = 1; i < s->src_count; i++)
        if (!like_dst(v, s, &s->src[i]))
            return false;
    for (uint32_t i = 0; i < s->scalar_count; i++)
        if (!scalar_for(v, s, i, s->dst.dtype))
            return false;
    return true;
}

static bool check_fill(Verifier *v, const IrStmt *s)
{
    DType d = s->dst.dtype;
    if (s->op == IR_T_FILL)
        return scalar_for(v, s, 0, d);
    if (s->op == IR_T_INSERT)
        return (s->dst.rank == 1 || misfit(v, s, "one row is meant")) &&
               verify_expr(v, s->at, s->scalar[0], DT_I64, "the position") &&
               scalar_for(v, s, 1, d);
    if (is_mask(v, &s->dst) || d == DT_BOOL)
        return misfit(v, s, "does not exist for these elements");
    return scalar_for(v, s, 0, d) && scalar_for(v, s, 1, d);
}

static bool check_shape(Verifier *v, const IrStmt *s)
{
    const IrView *a = &s->src[0], *d = &s->dst;
    if (is_mask(v, a) || is_mask(v, d) || a->dtype != d->dtype)
        return misfit(v, s, "an operand differs from the result in type");
    switch (s->op) {
    case IR_T_ROW:
    case IR_T_COL: return (a->rank == 1 && d->rank == 2) || misfit(v, s, "makes two axes of one");
    case IR_T_TRANSPOSE:
        return (a->rank == 2 && d->rank == 2) || misfit(v, s, "two axes are meant");
    case IR_T_REVERSE: return (a->rank == 1 && d->rank == 1) || misfit(v, s, "one axis is meant");
    default: break;
    }
    if (is_mask(v, &s->src[1]) || s->src[1].dtype != DT_I32 || !same_axes(&s->src[1], d))
        return misfit(v, s, "the positions are i32, one for each element of the result");
    return true;
}

static bool is_sum(IrTileOp op)
{
    switch (op) {
    case IR_T_RSUM:
    case IR_T_RPROD:
    case IR_T_ROWSUM:
    case IR_T_ROWPROD:
    case IR_T_COLSUM:
    case IR_T_COLPROD: return true;
    default: return false;
    }
}

/* Sums of bytes and bools have no type to live in. */
static bool reduce_type_ok(IrTileOp op, DType d)
{
    return !is_sum(op) || dtype_is_float(d) || (is_int(d) && dtype_bytes(d) > 1);
}

static bool check_scan(Verifier *v, const IrStmt *s)
{
    DType d = s->dst.dtype;
    bool exists = dtype_is_float(d) ||
                  (s->op != IR_T_LOGCUMSUMEXP && is_int(d) && dtype_bytes(d) > 1);
    return (exists || misfit(v, s, "does not exist for these elements")) &&
           like_dst(v, s, &s->src[0]);
}

static bool check_reduce(Verifier *v, const IrStmt *s)
{
    const IrView *a = &s->src[0];
    bool any_all = s->op == IR_T_RANY || s->op == IR_T_RALL;
    if (s->op == IR_T_EXTRACT)
        return (a->rank == 1 || misfit(v, s, "one row is meant")) &&
               verify_expr(v, s->at, s->scalar[0], DT_I64, "the position") &&
               verify_target(v, s->at, s->var, ir_scalar_of(a->dtype));
    if (any_all != is_mask(v, a) || !reduce_type_ok(s->op, a->dtype))
        return misfit(v, s, "does not exist for these elements");
    bool position = s->op == IR_T_ARGMAX || s->op == IR_T_ARGMIN;
    if (position && a->rank != 1)
        return misfit(v, s, "one axis is meant");
    return verify_target(v, s->at, s->var, position ? DT_I64 : ir_scalar_of(a->dtype));
}

static bool check_rows(Verifier *v, const IrStmt *s)
{
    const IrView *a = &s->src[0];
    if (is_mask(v, a) || is_mask(v, &s->dst) || a->dtype != s->dst.dtype ||
        !reduce_type_ok(s->op, a->dtype))
        return misfit(v, s, "does not exist for these elements");
    return (a->rank == 2 && s->dst.rank == 1) || misfit(v, s, "makes one axis of two");
}

static bool check_sort(Verifier *v, const IrStmt *s)
{
    const IrView *a = &s->src[0];
    if (is_mask(v, a) || is_mask(v, &s->dst) || a->dtype != s->dst.dtype || a->rank != 1 ||
        s->dst.rank != 1)
        return misfit(v, s, "one axis of equal elements is meant");
    if (s->op == IR_T_COMPACT)
        return ((is_mask(v, &s->src[1]) && s->src[1].rank == 1) ||
                misfit(v, s, "the second operand is a mask")) &&
               verify_target(v, s->at, s->var, DT_I64);
    if (is_mask(v, &s->dst2) || s->dst2.dtype != DT_I32 || s->dst2.rank != 1)
        return misfit(v, s, "the positions are i32");
    return true;
}

static bool check_cast(Verifier *v, const IrStmt *s)
{
    if (is_mask(v, &s->dst) || !same_axes(&s->src[0], &s->dst))
        return misfit(v, s, "the result is a tile of the same axes");
    return (uint32_t)s->round <= IR_ROUND_TRUNC || misfit(v, s, "no such rounding");
}

static bool check_mmad(Verifier *v, const IrStmt *s)
{
    const IrBuffer *a = &v->k->buffers.at[s->src[0].buffer];
    const IrBuffer *b = &v->k->buffers.at[s->src[1].buffer];
    const IrBuffer *c = &v->k->buffers.at[s->dst.buffer];
    if (a->memory != IR_L0A || b->memory != IR_L0B || c->memory != IR_L0C)
        return misfit(v, s, "multiplies L0A by L0B into L0C");
    DType in = s->src[0].dtype, out = s->dst.dtype;
    bool types = in == s->src[1].dtype &&
                 (in == DT_I8 ? out == DT_I32 : dtype_is_float(in) && out == DT_F32) &&
                 (s->op != IR_T_MMAD_HF32 || in == DT_F32);
    if (!types || s->dst.rank != 2 || s->src[0].rank != 2 || s->src[1].rank != 2)
        return misfit(v, s, "does not exist for these elements");
    return verify_expr(v, s->at, s->scalar[0], DT_BOOL, "the start of a sum");
}

static bool check_views(Verifier *v, const IrStmt *s, const IrTileOpRow *row)
{
    bool writes = row->result != IR_RESULT_SCALAR || s->op == IR_T_COMPACT;
    if (writes != (s->dst.rank != 0) || (row->result == IR_RESULT_TWO) != (s->dst2.rank != 0) ||
        (row->result == IR_RESULT_SCALAR) != (s->var != 0))
        return misfit(v, s, "the result goes to the wrong place");
    if (s->src_count != row->tiles || s->scalar_count != row->scalars)
        return misfit(v, s, "a wrong number of operands");
    if ((s->dst.rank && !verify_view(v, s->at, &s->dst)) ||
        (s->dst2.rank && !verify_view(v, s->at, &s->dst2)))
        return false;
    for (uint32_t i = 0; i < s->src_count; i++)
        if (!verify_view(v, s->at, &s->src[i]))
            return false;
    return s->round == IR_ROUND_NONE || s->op == IR_T_CAST || misfit(v, s, "has no rounding");
}

/* Vector operations work on UB, mmad on L0. */
static bool check_memory(Verifier *v, const IrStmt *s)
{
    if (ir_is_mmad(s->op))
        return true;
    bool ub = !s->dst.rank || v->k->buffers.at[s->dst.buffer].memory == IR_UB;
    ub = ub && (!s->dst2.rank || v->k->buffers.at[s->dst2.buffer].memory == IR_UB);
    for (uint32_t i = 0; i < s->src_count; i++)
        ub = ub && v->k->buffers.at[s->src[i].buffer].memory == IR_UB;
    return ub || misfit(v, s, "vectors live in UB");
}

bool verify_op(Verifier *v, const IrStmt *s)
{
    if ((uint32_t)s->op >= IR_T_COUNT)
        return verify_fail(v, s->at, "an operation of no kind");
    const IrTileOpRow *row = &ir_tile_ops[s->op];
    if (!check_views(v, s, row) || !check_memory(v, s))
        return false;
    switch (row->kind) {
    case IR_CLASS_ELEM: return check_elem(v, s);
    case IR_CLASS_BITS: return check_bits(v, s);
    case IR_CLASS_COMPARE: return check_compare(v, s);
    case IR_CLASS_SELECT: return check_select(v, s);
    case IR_CLASS_CAST: return check_cast(v, s);
    case IR_CLASS_FILL: return check_fill(v, s);
    case IR_CLASS_SHAPE: return check_shape(v, s);
    case IR_CLASS_REDUCE: return check_reduce(v, s);
    case IR_CLASS_ROWS:
    case IR_CLASS_COLS: return check_rows(v, s);
    case IR_CLASS_SCAN: return check_scan(v, s);
    case IR_CLASS_SORT: return check_sort(v, s);
    case IR_CLASS_CUBE: return check_mmad(v, s);
    }
    return verify_fail(v, s->at, "an operation of no class");
}
