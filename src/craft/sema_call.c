/* Calls in expressions: finds the row of fn.def (or the helper) and builds its value. */
#include "craft/sema.h"

#include "craft/fn.h"

/* ---- arguments ---- */

const AstExpr *sema_keyword(const AstExpr *call, const char *name)
{
    for (uint32_t i = 0; i < call->keywords.len; i++)
        if (str_is(call->keywords.at[i].name, name))
            return call->keywords.at[i].value;
    return NULL;
}

/* Counts positional arguments; the only keyword allowed is `keyword` (NULL: none). */
bool sema_want_args(Sema *s, const AstExpr *call, uint32_t least, uint32_t most,
                    const char *keyword)
{
    Str name = call->a->text;
    uint32_t n = call->items.len;
    for (uint32_t i = 0; i < call->keywords.len; i++) {
        const AstKeyword *k = &call->keywords.at[i];
        if (keyword && str_is(k->name, keyword))
            continue;
        sema_error(s, ARGS, k->at,
                   keyword ? sema_format(s, "it has only %s=", keyword) : "write it by position",
                   "%.*s has no argument '%.*s'", STR_ARG(name), STR_ARG(k->name));
        return false;
    }
    if (n >= least && n <= most)
        return true;
    const char *range = least == most ? sema_format(s, "%u", least)
                                      : sema_format(s, "%u to %u", least, most);
    sema_error(s, ARGS, call->at, NULL, "%.*s takes %s arguments, not %u", STR_ARG(name), range, n);
    return false;
}

typedef struct Call {
    const FnRow *fn;
    const AstExpr *e;
    Value args[8];
    uint32_t count;
} Call;

static TileNode *node_of(Sema *s, const Call *c)
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
static TileNode *typed(Sema *s, const Call *c, uint32_t i)
{
    if (!sema_want_tile(s, &c->args[i], c->fn->name))
        return NULL;
    TileNode *n = c->args[i].tile;
    sema_settle(s, n);
    return n;
}

/* And its shape too. */
static TileNode *settled(Sema *s, const Call *c, uint32_t i)
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

static TileNode *want_rank(Sema *s, const Call *c, uint32_t i, uint32_t rank)
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

static Value scalar_unary_fn(Sema *s, const Call *c)
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

static Value unary_fn(Sema *s, const Call *c)
{
    if (c->args[0].kind == VAL_SCALAR)
        return scalar_unary_fn(s, c);
    return sema_tile_unary(s, c->fn->op, c->fn->dtypes, c->args[0], c->e->at);
}

static bool is_operand(Sema *s, const Call *c, uint32_t i)
{
    const Value *v = &c->args[i];
    return v->kind == VAL_SCALAR || sema_want_tile(s, v, c->fn->name);
}

static Value fold_fn(Sema *s, const Call *c)
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

static Value pair_fn(Sema *s, const Call *c)
{
    if (!is_operand(s, c, 0) || !is_operand(s, c, 1))
        return sema_bad(c->e->at);
    if (c->args[0].kind == VAL_SCALAR && c->args[1].kind == VAL_SCALAR)
        return sema_scalar_binary(s, TOK_STARSTAR, c->args[0], c->args[1], c->e->at);
    return sema_tile_pair(s, c->fn->op, c->args[0], c->args[1], c->e->at);
}

static Value integer_fn(Sema *s, const Call *c)
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
static Value fma_fn(Sema *s, const Call *c)
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
static Value axpy_fn(Sema *s, const Call *c)
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
static Value where_fn(Sema *s, const Call *c)
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
static Value cast_mask(Sema *s, const Call *c, DType to)
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

static Value cast_fn(Sema *s, const Call *c)
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

static Value iota_fn(Sema *s, const Call *c)
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

static Value spread_fn(Sema *s, const Call *c)
{
    TileNode *v = want_rank(s, c, 0, 1);
    if (!v)
        return sema_bad(c->e->at);
    TileNode *n = node_of(s, c);
    n->src[n->src_count++] = v;
    set_known(n, v->dtype);
    return sema_tile_value(n);
}

static Value gather_fn(Sema *s, const Call *c)
{
    TileNode *a = want_rank(s, c, 0, 1);
    if (!a || !sema_want_tile(s, &c->args[1], "gather"))
        return sema_bad(c->e->at);
    TileNode *idx = c->args[1].tile;
    sema_settle(s, idx);
    if (idx->dtype != DT_I32 || idx->rank != 1) {
        sema_error(s, DTYPE, idx->at, "cast(idx, i32)",
                   "the index of gather is a 1-D tile of i32, this is %s",
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

static Value transpose_fn(Sema *s, const Call *c)
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

static Value same_shape_fn(Sema *s, const Call *c, uint32_t rank)
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

static Value per_axis_fn(Sema *s, const Call *c, uint32_t kept)
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

static Value reduce_fn(Sema *s, const Call *c)
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

static Value convert_fn(Sema *s, const Call *c)
{
    const Value *v = &c->args[0];
    Span at = c->e->at;
    DType to = c->fn->kind == FN_TO_F32 ? DT_F32 : DT_I64;
    if (v->kind != VAL_SCALAR || v->dtype == DT_BOOL) {
        const char *hint = v->kind == VAL_TILE ? sema_format(s, "tiles: cast(a, %s)", c->fn->name)
                                               : "1 if c else 0";
        sema_error(s, KIND, v->at, hint, "%s(...) converts a number, this is %s", c->fn->name,
                   sema_describe(s, v));
        return sema_bad(at);
    }
    if (v->dtype == to)
        return *v;
    return sema_scalar_value(s, ir_expr1(s->ir, c->fn->scalar, v->scalar), at);
}

/* reinterpret(view, dtype): the same bytes. */
static Value reinterpret_fn(Sema *s, const Call *c)
{
    DType to;
    Span at = c->e->at;
    if (!sema_dtype(s, c->e->items.at[1], &to) || !sema_want_tile(s, &c->args[0], "reinterpret"))
        return sema_bad(at);
    TileNode *n = c->args[0].tile;
    if (!n->is_view || n->rank != 1) {
        sema_error(s, REINTERPRET, n->at, NULL, "reinterpret takes a 1-D view of a buffer");
        return sema_bad(at);
    }
    IrView v = n->view;
    int64_t from = (int64_t)dtype_bytes(v.dtype), width = (int64_t)dtype_bytes(to), size, start;
    v.dtype = to;
    v.at = at;
    if (from == width)
        return sema_tile_value(sema_view_node(s, &v, at));
    IrExprId *parts[2] = {&v.start[0], &v.size[0]};
    bool bad_start = ir_is_int(s->ir, v.start[0], &start) && start * from % width;
    bool bad_size = ir_is_int(s->ir, v.size[0], &size) && size * from % width;
    if (bad_start || bad_size) {
        sema_error(s, REINTERPRET, at, NULL, "%lld bytes are not a whole number of %s",
                   (long long)((bad_start ? start : size) * from), dtype_name(to));
        return sema_bad(at);
    }
    for (int i = 0; i < 2; i++) {
        IrExprOp op = from > width ? IR_E_MUL : IR_E_FLOORDIV;
        int64_t by = from > width ? from / width : width / from;
        *parts[i] = ir_expr2(s->ir, op, *parts[i], ir_int(s->ir, by));
    }
    return sema_tile_value(sema_view_node(s, &v, at));
}

static bool want_tensor(Sema *s, const Call *c, uint32_t role_mask, const char *what)
{
    const Value *v = &c->args[0];
    if (v->kind == VAL_TENSOR && role_mask >> sema_tensor(s, v->access.tensor)->role & 1)
        return true;
    sema_error(s, KIND, v->at, NULL, "%s needs %s, this is %s", c->fn->name, what,
               sema_describe(s, v));
    return false;
}

enum {
    LISTS = 1 << IR_ROLE_IN_LIST | 1 << IR_ROLE_OUT_LIST,
    NO_LISTS = ~LISTS,
    OPTIONAL = 1 << IR_ROLE_OPT,
};

static Value tensor_fn(Sema *s, const Call *c)
{
    Span at = c->e->at;
    if (c->fn->kind == FN_FLAT) {
        if (!want_tensor(s, c, (uint32_t)NO_LISTS, "a GM tensor"))
            return sema_bad(at);
        Value v = c->args[0];
        v.access.flat = true;
        v.at = at;
        return v;
    }
    if (c->fn->kind == FN_PRESENT) {
        if (!want_tensor(s, c, OPTIONAL, "an optional tensor (opt[...])"))
            return sema_bad(at);
        return sema_scalar_value(s, ir_leaf(s->ir, IR_E_PRESENT, c->args[0].access.tensor, 0), at);
    }
    if (!want_tensor(s, c, LISTS, "a list of tensors"))
        return sema_bad(at);
    IrExprId index = 0;
    if (c->fn->kind == FN_SIZE) {
        index = c->count == 2 ? sema_integer(s, c->e->items.at[1]) : 0;
        if (!index) {
            if (c->count != 2)
                sema_error(s, ARGS, at, NULL, "size(xs, i): which tensor of the list?");
            return sema_bad(at);
        }
    }
    return sema_scalar_value(s, ir_leaf(s->ir, c->fn->scalar, c->args[0].access.tensor, index), at);
}

static Value misplaced(Sema *s, const Call *c)
{
    Span at = c->e->at;
    const char *name = c->fn->name;
    switch (c->fn->kind) {
    case FN_STMT:
    case FN_COMPACT:
        sema_error(s, NO_VALUE, at,
                   c->fn->kind == FN_COMPACT ? "n = compact(d, a, m)" : "write it alone on a line",
                   "%s does not stand inside an expression", name);
        break;
    case FN_BUFFER:
        sema_error(s, BUFFER, at, sema_format(s, "a = %s(...) at the top of the kernel", name),
                   "a buffer needs a name");
        break;
    case FN_LOOP:
        sema_error(s, LOOP, at, sema_format(s, "for ... in %s(...):", name),
                   "%s belongs to a for statement", name);
        break;
    case FN_SHARE:
        sema_error(s, LOOP, at, "part = share(n, 8)", "share is assigned to a name");
        break;
    case FN_HOST:
        sema_error(s, HOST_ONLY, at,
                   "name = choose(...) or name = workspace(...) in the @host function",
                   "%s belongs to an assignment of the host function", name);
        break;
    case FN_FILE:
        sema_error(s, TOP_LEVEL, at, NULL, "%s belongs to a declaration at file level", name);
        break;
    default:
        sema_error(s, WITH, at, sema_format(s, "with %s():", name),
                   "%s belongs to a with statement", name);
    }
    return sema_bad(at);
}

static Value dispatch(Sema *s, const Call *c)
{
    switch (c->fn->kind) {
    case FN_UNARY: return unary_fn(s, c);
    case FN_FOLD: return fold_fn(s, c);
    case FN_OPERANDS: return pair_fn(s, c);
    case FN_FMA: return fma_fn(s, c);
    case FN_AXPY: return axpy_fn(s, c);
    case FN_INTEGER: return integer_fn(s, c);
    case FN_WHERE: return where_fn(s, c);
    case FN_CAST: return cast_fn(s, c);
    case FN_IOTA: return iota_fn(s, c);
    case FN_SPREAD: return spread_fn(s, c);
    case FN_GATHER: return gather_fn(s, c);
    case FN_TRANSPOSE: return transpose_fn(s, c);
    case FN_REVERSE: return same_shape_fn(s, c, 1);
    case FN_SCAN: return same_shape_fn(s, c, 0);
    case FN_ROWS: return per_axis_fn(s, c, 0);
    case FN_COLS: return per_axis_fn(s, c, 1);
    case FN_REDUCE:
    case FN_REDUCE_MASK:
    case FN_ARG: return reduce_fn(s, c);
    case FN_TO_F32:
    case FN_TO_I64: return convert_fn(s, c);
    case FN_VIEW: return sema_want_tile(s, &c->args[0], "view") ? c->args[0] : sema_bad(c->e->at);
    case FN_REINTERPRET: return reinterpret_fn(s, c);
    case FN_FLAT:
    case FN_SIZE:
    case FN_LEN:
    case FN_PRESENT: return tensor_fn(s, c);
    default: return misplaced(s, c);
    }
}

static Value leaf_fn(Sema *s, const Call *c)
{
    if (s->in_host) {
        sema_error(s, KERNEL_ONLY, c->e->at, "the host knows chip.cores",
                   "%s() belongs to a kernel", c->fn->name);
        return sema_bad(c->e->at);
    }
    return sema_scalar_value(s, ir_leaf(s->ir, c->fn->scalar, 0, 0), c->e->at);
}

static Value unknown_function(Sema *s, const AstExpr *e)
{
    static const struct {
        const char *name, *hint;
    } habits[] = {
        {"sum", "reduce_sum(a), row_sum(b), col_sum(b)"},
        {"softmax", "write it out: exp(a - reduce_max(a)) / sum"},
        {"program_id", "core_id()"},
        {"zeros", "a = 0.0 fills a buffer"},
        {"full", "a = value fills a buffer"},
        {"arange", "iota(start, step)"},
        {"int", "i64(s)"},
        {"float", "f32(n)"},
        {"matmul", "mmad(c, a, b)"},
        {"alloc_ub", "ub(f32, n)"},
        {"maximum", "max(a, b)"},
        {"minimum", "min(a, b)"},
        {"select", "where(m, a, b)"},
        {"broadcast", "row(v), col(v)"},
        {"print", NULL},
    };
    const char *hint = sema_nearest(s, e->a->text, true);
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if (str_is(e->a->text, habits[i].name))
            hint = habits[i].hint;
    sema_error(s, FUNCTION, e->a->at, hint, "unknown function '%.*s'", STR_ARG(e->a->text));
    return sema_bad(e->at);
}

/* dtypes and masks among the arguments are looked at by the function itself. */
static bool eval_args(Sema *s, Call *c)
{
    bool ok = true;
    for (uint32_t i = 0; i < c->e->items.len; i++) {
        c->args[i] = sema_eval(s, c->e->items.at[i]);
        ok = ok && c->args[i].kind != VAL_BAD;
    }
    c->count = c->e->items.len;
    return ok;
}

static Value call_def(Sema *s, const Symbol *def, const AstExpr *e)
{
    uint32_t index = (uint32_t)(def - s->symbols.at);
    if (def->role == DEF_HELPER)
        return sema_inline(s, index, e);
    if (def->role == DEF_KERNEL)
        sema_error(s, LAUNCH_ARGS, e->at,
                   sema_format(s, "%.*s[cores](args) launches it, in the host function",
                               STR_ARG(def->name)),
                   "kernel '%.*s' is called, not launched", STR_ARG(def->name));
    else
        sema_error(s, HOST_ONLY, e->at, NULL, "the host function cannot be called");
    return sema_bad(e->at);
}

Value sema_call(Sema *s, const AstExpr *e)
{
    if (e->a->kind != EX_NAME) {
        bool launch = e->a->kind == EX_INDEX && e->a->a->kind == EX_NAME;
        if (launch && sema_find_def(s, e->a->a->text))
            sema_error(s, HOST_ONLY, e->at, NULL,
                       "a launch stands alone on a line of the host function");
        else
            sema_error(s, FUNCTION, e->a->at, NULL, "only named functions can be called");
        return sema_bad(e->at);
    }
    Symbol *def = sema_find_def(s, e->a->text);
    Call c = {.fn = craft_fn_find(e->a->text), .e = e};
    if (def && (def->role == DEF_HELPER || !c.fn)) /* an operator may be called like its function */
        return call_def(s, def, e);
    if (!c.fn)
        return unknown_function(s, e);
    if (c.fn->kind >= FN_STMT)
        return misplaced(s, &c);
    if (!sema_want_args(s, e, c.fn->least, c.fn->most, NULL))
        return sema_bad(e->at);
    if (c.fn->kind == FN_LEAF)
        return leaf_fn(s, &c);
    return eval_args(s, &c) ? dispatch(s, &c) : sema_bad(e->at);
}
