/* The functions of fn.def that make tile expressions, and reductions. In: a call with its
 * arguments evaluated. Out: a value. */
#include "craft/sema.h"

#include "craft/fn.h"

static TileNode *node_of(Sema *s, const SemaCall *c)
{
    return sema_new_node(s, c->fn->op, c->fn->dtypes, c->e->at);
}

static void copy_shape(TileNode *to, const TileNode *from)
{
    to->rank = from->rank;
    for (uint32_t i = 0; i < from->rank; i++) {
        to->size[i] = from->size[i];
        to->cap[i] = from->cap[i];
    }
}

static void set_known(TileNode *n, DType dtype)
{
    n->dtype = dtype;
    n->dtype_known = true;
}

/* A tile argument whose dtype is known without looking further. */
static TileNode *typed(Sema *s, const SemaCall *c, uint32_t i)
{
    if (!sema_want_tile(s, &c->args[i], c->fn->name))
        return NULL;
    TileNode *n = c->args[i].tile;
    sema_settle(s, n);
    return n;
}

/* And its shape too. */
static TileNode *settled(Sema *s, const SemaCall *c, uint32_t i)
{
    TileNode *n = typed(s, c, i);
    if (!n)
        return NULL;
    if (!n->rank) {
        sema_error(s, SHAPE, n->at, "put it into a buffer first",
                   "the size of this tile is not known");
        return NULL;
    }
    if (c->fn->dtypes && !sema_check_dtype(s, c->fn->op, c->fn->dtypes, n->dtype, c->e->at))
        return NULL;
    return n;
}

static TileNode *want_rank(Sema *s, const SemaCall *c, uint32_t i, uint32_t rank)
{
    TileNode *n = settled(s, c, i);
    if (!n || n->rank == rank)
        return n;
    sema_error(s, RANK, n->at,
               rank == 2 ? "reduce_sum and the like work on 1-D tiles" : "b[i, :n] is one row",
               "%s needs a %u-D tile, this has %u axes", c->fn->name, rank, n->rank);
    return NULL;
}

/* ---- one function per kind ---- */

static Value scalar_unary_fn(Sema *s, const SemaCall *c)
{
    IrExprOp op = c->fn->scalar;
    IrExprId a = c->args[0].scalar;
    Span at = c->e->at;
    if (op == IR_E_ABS && c->args[0].dtype != DT_BOOL)
        return sema_scalar_value(s, ir_expr1(s->ir, op, a), at);
    bool reciprocal = c->fn->op == IR_T_RSQRT || c->fn->op == IR_T_RECIP;
    if (!op && !reciprocal && c->fn->op != IR_T_RELU) {
        sema_error(s, KIND, at, "scalars have abs, sqrt, exp, log, rsqrt, recip, relu, min and max",
                   "%s needs a tile, this is a scalar", c->fn->name);
        return sema_bad(at);
    }
    a = sema_as_float(s, a, c->args[0].at);
    if (!a)
        return sema_bad(at);
    if (c->fn->op == IR_T_RELU)
        return sema_scalar_value(s, ir_expr2(s->ir, IR_E_MAX, a, ir_float(s->ir, 0)), at);
    if (!reciprocal)
        return sema_scalar_value(s, ir_expr1(s->ir, op, a), at);
    if (c->fn->op == IR_T_RSQRT)
        a = ir_expr1(s->ir, IR_E_SQRT, a);
    return sema_scalar_value(s, ir_expr2(s->ir, IR_E_DIV, ir_float(s->ir, 1), a), at);
}

Value sema_fn_unary(Sema *s, const SemaCall *c)
{
    if (c->args[0].kind == VAL_SCALAR)
        return scalar_unary_fn(s, c);
    return sema_tile_unary(s, c->fn->op, c->fn->dtypes, c->args[0], c->e->at);
}

static bool is_operand(Sema *s, const SemaCall *c, uint32_t i)
{
    const Value *v = &c->args[i];
    return v->kind == VAL_SCALAR || sema_want_tile(s, v, c->fn->name);
}

Value sema_fn_fold(Sema *s, const SemaCall *c)
{
    Value v = c->args[0];
    for (uint32_t i = 0; i < c->count; i++)
        if (!is_operand(s, c, i))
            return sema_bad(c->e->at);
    for (uint32_t i = 1; i < c->count && v.kind != VAL_BAD; i++) {
        Value next = c->args[i];
        bool scalars = v.kind == VAL_SCALAR && next.kind == VAL_SCALAR;
        v = scalars ? sema_scalar_fold(s, c->fn->scalar, v, next, c->e->at)
                    : sema_tile_pair(s, c->fn->op, v, next, c->e->at);
    }
    return v;
}

Value sema_fn_pair(Sema *s, const SemaCall *c)
{
    if (!is_operand(s, c, 0) || !is_operand(s, c, 1))
        return sema_bad(c->e->at);
    if (c->args[0].kind == VAL_SCALAR && c->args[1].kind == VAL_SCALAR)
        return sema_scalar_binary(s, TOK_STARSTAR, c->args[0], c->args[1], c->e->at);
    return sema_tile_pair(s, c->fn->op, c->args[0], c->args[1], c->e->at);
}

Value sema_fn_integer(Sema *s, const SemaCall *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->args[i].kind != VAL_SCALAR || c->args[i].dtype != DT_I64) {
            sema_error(s, KIND, c->args[i].at, NULL, "%s takes integers, this is %s", c->fn->name,
                       sema_describe(s, &c->args[i]));
            return sema_bad(c->e->at);
        }
    return sema_scalar_fold(s, c->fn->scalar, c->args[0], c->args[1], c->e->at);
}

static TileNode *as_node(Sema *s, const Value *v)
{
    return v->kind == VAL_SCALAR ? sema_fill_node(s, v->scalar, v->at) : v->tile;
}

/* a * b + c over three tiles; scalars among them are filled into scratch. */
Value sema_fn_fma(Sema *s, const SemaCall *c)
{
    TileNode *n = node_of(s, c);
    for (uint32_t i = 0; i < 3; i++) {
        if (!is_operand(s, c, i))
            return sema_bad(c->e->at);
        n->src[i] = as_node(s, &c->args[i]);
    }
    n->src_count = 3;
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j < 3; j++)
            if (i != j && !sema_match(s, n->src[i], n->src[j], c->e->at))
                return sema_bad(c->e->at);
    copy_shape(n, n->src[0]);
    if (n->src[0]->dtype_known) {
        set_known(n, n->src[0]->dtype);
        if (!sema_check_dtype(s, n->op, n->dtypes, n->dtype, c->e->at))
            return sema_bad(c->e->at);
    }
    return sema_tile_value(n);
}

/* axpy(y, a, scalar) = y + a * scalar */
Value sema_fn_axpy(Sema *s, const SemaCall *c)
{
    if (!sema_want_tile(s, &c->args[0], "axpy") || !sema_want_tile(s, &c->args[1], "axpy") ||
        !sema_match(s, c->args[0].tile, c->args[1].tile, c->e->at))
        return sema_bad(c->e->at);
    TileNode *y = settled(s, c, 0), *a = settled(s, c, 1);
    if (!y || !a)
        return sema_bad(c->e->at);
    if (c->args[2].kind != VAL_SCALAR) {
        sema_error(s, KIND, c->args[2].at, "fma(a, b, c) takes three tiles",
                   "axpy's third argument is a scalar");
        return sema_bad(c->e->at);
    }
    TileNode *n = node_of(s, c);
    n->src[0] = y;
    n->src[1] = a;
    n->src_count = 2;
    n->scalar[0] = sema_fit_scalar(s, c->args[2].scalar, y->dtype, c->args[2].at);
    n->scalar_count = 1;
    copy_shape(n, y);
    set_known(n, y->dtype);
    return n->scalar[0] ? sema_tile_value(n) : sema_bad(c->e->at);
}

static bool where_shape(Sema *s, TileNode *mask, TileNode *other, Span at)
{
    return sema_adopt(s, mask, other) && sema_adopt(s, other, mask) &&
           (!mask->rank || !other->rank || sema_same_shape(s, mask, other, at, "where"));
}

/* where(m, a, b): SELECT, SELECTS when b is a scalar, SELECTSS when both are. A scalar a with a
 * tile b is the inverse mask. */
Value sema_fn_where(Sema *s, const SemaCall *c)
{
    Span at = c->e->at;
    if (!sema_want_mask(s, &c->args[0], "where") || !is_operand(s, c, 1) || !is_operand(s, c, 2))
        return sema_bad(at);
    Value m = c->args[0], a = c->args[1], b = c->args[2];
    if (a.kind == VAL_SCALAR && b.kind == VAL_TILE) {
        m = sema_tile_unary_op(s, TOK_TILDE, m, at);
        Value swap = a;
        a = b;
        b = swap;
    }
    TileNode *n = node_of(s, c);
    n->src[n->src_count++] = m.tile;
    if (a.kind == VAL_TILE)
        n->src[n->src_count++] = a.tile;
    else
        n->scalar[n->scalar_count++] = a.scalar;
    if (b.kind == VAL_TILE)
        n->src[n->src_count++] = b.tile;
    else
        n->scalar[n->scalar_count++] = b.scalar;
    n->op = n->scalar_count == 0   ? IR_T_SELECT
            : n->scalar_count == 1 ? IR_T_SELECTS
                                   : IR_T_SELECTSS;
    if (n->src_count == 3 && !sema_match(s, n->src[1], n->src[2], at))
        return sema_bad(at);
    for (uint32_t i = 1; i < n->src_count; i++)
        if (!where_shape(s, m.tile, n->src[i], at))
            return sema_bad(at);
    copy_shape(n, m.tile);
    if (n->src_count > 1) {
        TileNode like = *n->src[1];
        if (!sema_adopt(s, n, &like))
            return sema_bad(at);
    }
    return sema_tile_value(n);
}

static bool round_mode(Sema *s, const Value *v, IrRound *mode)
{
    static const char *const names[] = {"none", "rint", "floor", "ceil", "round", "trunc"};
    for (uint32_t i = 0; v->kind == VAL_STRING && i < 6; i++)
        if (str_is(v->text, names[i])) {
            *mode = (IrRound)i;
            return true;
        }
    sema_error(s, CAST, v->at,
               "\"rint\" (ties to even), \"floor\", \"ceil\", \"round\" (ties away), \"trunc\" or "
               "\"none\"",
               "no such rounding mode");
    return false;
}

static int significant_bits(DType d)
{
    switch (d) {
    case DT_F32: return 24;
    case DT_F16: return 11;
    case DT_BF16: return 8;
    case DT_BOOL: return 1;
    default: return (int)dtype_bytes(d) * 8 - (dtype_rows[d].kind == DTC_I);
    }
}

/* Exact conversions round nothing; the others to nearest even, to integers toward zero as
 * PyTorch and C do. */
static IrRound default_round(DType from, DType to)
{
    if (dtype_is_float(from) && !dtype_is_float(to))
        return IR_ROUND_TRUNC;
    bool halves = dtype_bytes(from) == 2 && dtype_bytes(to) == 2 && from != to; /* f16, bf16 */
    bool exact = significant_bits(from) <= significant_bits(to) && !halves;
    return exact || !dtype_is_float(to) ? IR_ROUND_NONE : IR_ROUND_RINT;
}

/* cast(m, dtype) of a mask: 1 and 0. */
static Value cast_mask(Sema *s, const SemaCall *c, DType to)
{
    TileNode *n = sema_new_node(s, IR_T_SELECTSS, D_FLOAT | D_INT | D_BOOL, c->e->at);
    n->src[n->src_count++] = c->args[0].tile;
    copy_shape(n, c->args[0].tile);
    n->scalar[0] = dtype_is_float(to) ? ir_float(s->ir, 1) : ir_int(s->ir, 1);
    n->scalar[1] = dtype_is_float(to) ? ir_float(s->ir, 0) : ir_int(s->ir, 0);
    n->scalar_count = 2;
    set_known(n, to);
    return sema_check_dtype(s, n->op, n->dtypes, to, c->e->at) ? sema_tile_value(n)
                                                               : sema_bad(c->e->at);
}

Value sema_fn_cast(Sema *s, const SemaCall *c)
{
    Span at = c->e->at;
    DType to;
    if (!sema_dtype(s, c->e->items.at[1], &to))
        return sema_bad(at);
    if (c->args[0].kind == VAL_SCALAR) {
        sema_error(s, KIND, at, "f32(n) and i64(s) convert scalars",
                   "cast works on tiles, this is a scalar");
        return sema_bad(at);
    }
    if (c->args[0].kind == VAL_TILE && c->args[0].tile->mask)
        return cast_mask(s, c, to);
    TileNode *a = typed(s, c, 0);
    if (!a || !sema_check_dtype(s, IR_T_CAST, c->fn->dtypes, a->dtype, at))
        return sema_bad(at);
    if (to == DT_C64 || a->dtype == DT_C64) {
        sema_error(s, CAST, at, "a complex tensor is pairs of f32 on a last axis of 2",
                   "no conversion from %s to %s", dtype_name(a->dtype), dtype_name(to));
        return sema_bad(at);
    }
    if (to == DT_BOOL && a->dtype != DT_BOOL) {
        sema_error(s, CAST, at, "cast(a != 0, bool)", "numbers become bool by a comparison");
        return sema_bad(at);
    }
    TileNode *n = node_of(s, c);
    n->round = default_round(a->dtype, to);
    if (c->count == 3 && !round_mode(s, &c->args[2], &n->round))
        return sema_bad(at);
    if (a->dtype == to && n->round == IR_ROUND_NONE)
        return sema_tile_value(a);
    n->src[n->src_count++] = a;
    copy_shape(n, a);
    set_known(n, to);
    return sema_tile_value(n);
}

Value sema_fn_iota(Sema *s, const SemaCall *c)
{
    TileNode *n = node_of(s, c);
    for (uint32_t i = 0; i < 2; i++) {
        if (c->args[i].kind != VAL_SCALAR) {
            sema_error(s, KIND, c->args[i].at, NULL, "iota(start, step) takes scalars");
            return sema_bad(c->e->at);
        }
        n->scalar[n->scalar_count++] = c->args[i].scalar;
    }
    DType dtype;
    if (c->count == 3) {
        if (!sema_dtype(s, c->e->items.at[2], &dtype))
            return sema_bad(c->e->at);
        TileNode like = {.dtype = dtype, .dtype_known = true};
        if (!sema_adopt(s, n, &like))
            return sema_bad(c->e->at);
    }
    return sema_tile_value(n);
}

Value sema_fn_spread(Sema *s, const SemaCall *c)
{
    TileNode *v = want_rank(s, c, 0, 1);
    if (!v)
        return sema_bad(c->e->at);
    TileNode *n = node_of(s, c);
    n->src[n->src_count++] = v;
    set_known(n, v->dtype);
    return sema_tile_value(n);
}

Value sema_fn_gather(Sema *s, const SemaCall *c)
{
    TileNode *a = settled(s, c, 0);
    if (!a || !sema_want_tile(s, &c->args[1], "gather"))
        return sema_bad(c->e->at);
    TileNode *idx = c->args[1].tile;
    sema_settle(s, idx);
    if (idx->dtype != DT_I32) {
        sema_error(s, DTYPE, idx->at, "cast(idx, i32)",
                   "the index of gather is a tile of i32, this is %s",
                   sema_describe(s, &c->args[1]));
        return sema_bad(c->e->at);
    }
    TileNode *n = node_of(s, c);
    n->src[0] = a;
    n->src[1] = idx;
    n->src_count = 2;
    copy_shape(n, idx);
    set_known(n, a->dtype);
    return sema_tile_value(n);
}

Value sema_fn_transpose(Sema *s, const SemaCall *c)
{
    TileNode *b = want_rank(s, c, 0, 2);
    if (!b)
        return sema_bad(c->e->at);
    TileNode *n = node_of(s, c);
    n->src[n->src_count++] = b;
    n->rank = 2;
    for (uint32_t i = 0; i < 2; i++) {
        n->size[i] = b->size[1 - i];
        n->cap[i] = b->cap[1 - i];
    }
    set_known(n, b->dtype);
    return sema_tile_value(n);
}

Value sema_fn_same_shape(Sema *s, const SemaCall *c, uint32_t rank)
{
    TileNode *a = rank ? want_rank(s, c, 0, rank) : settled(s, c, 0);
    if (!a)
        return sema_bad(c->e->at);
    TileNode *n = node_of(s, c);
    n->src[n->src_count++] = a;
    copy_shape(n, a);
    set_known(n, a->dtype);
    return sema_tile_value(n);
}

Value sema_fn_per_axis(Sema *s, const SemaCall *c, uint32_t kept)
{
    TileNode *b = want_rank(s, c, 0, 2);
    if (!b)
        return sema_bad(c->e->at);
    TileNode *n = node_of(s, c);
    n->src[n->src_count++] = b;
    n->rank = 1;
    n->size[0] = b->size[kept];
    n->cap[0] = b->cap[kept];
    set_known(n, b->dtype);
    return sema_tile_value(n);
}

Value sema_fn_reduce(Sema *s, const SemaCall *c)
{
    if (!sema_in_compute(s, c->e->at, c->fn->name))
        return sema_bad(c->e->at);
    bool mask = c->fn->kind == FN_REDUCE_MASK;
    if (mask && !sema_want_mask(s, &c->args[0], c->fn->name))
        return sema_bad(c->e->at);
    TileNode *a = mask ? c->args[0].tile : settled(s, c, 0);
    if (!a)
        return sema_bad(c->e->at);
    DType type = mask                       ? DT_BOOL
                 : c->fn->kind == FN_ARG    ? DT_I64
                 : dtype_is_float(a->dtype) ? DT_F32
                                            : DT_I64;
    if (c->fn->kind == FN_ARG && a->rank != 1) {
        sema_error(s, RANK, a->at, "b[i, :n] is one row", "%s works on a 1-D tile", c->fn->name);
        return sema_bad(c->e->at);
    }
    return sema_scalar_value(s, sema_emit_scalar_op(s, c->fn->op, a, 0, type, c->e->at), c->e->at);
}
