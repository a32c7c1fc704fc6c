/* Typed tile expressions. In: values that are tiles, masks or scalars. Out: TileNode trees in
 * which every node knows its dtype and shape, or will take them from its neighbour. Nothing is
 * emitted here. */
#include "craft/sema.h"

#include "craft/fn.h"

#define NO_FORM IR_T_COUNT

typedef struct OperatorRow {
    Tok tok;
    IrTileOp tiles, by_scalar, from_scalar; /* a op b, a op s, s op a */
    uint32_t dtypes;
} OperatorRow;

#define D_ARITH (D_FLOAT | D_INT)
#define D_COMPARE (D_FLOAT | D_INT | D_BOOL)
static const OperatorRow operators[] = {
    {TOK_PLUS, IR_T_ADD, IR_T_ADDS, IR_T_ADDS, D_ARITH},
    {TOK_MINUS, IR_T_SUB, IR_T_SUBS, IR_T_RSUBS, D_ARITH},
    {TOK_STAR, IR_T_MUL, IR_T_MULS, IR_T_MULS, D_ARITH},
    {TOK_SLASH, IR_T_DIV, IR_T_DIVS, IR_T_RDIVS, D_FLOAT},
    {TOK_STARSTAR, IR_T_POW, IR_T_POWS, NO_FORM, D_FLOAT},
    {TOK_EQ, IR_T_EQ, IR_T_EQS, IR_T_EQS, D_COMPARE},
    {TOK_NE, IR_T_NE, IR_T_NES, IR_T_NES, D_COMPARE},
    {TOK_LT, IR_T_LT, IR_T_LTS, IR_T_GTS, D_COMPARE},
    {TOK_LE, IR_T_LE, IR_T_LES, IR_T_GES, D_COMPARE},
    {TOK_GT, IR_T_GT, IR_T_GTS, IR_T_LTS, D_COMPARE},
    {TOK_GE, IR_T_GE, IR_T_GES, IR_T_LES, D_COMPARE},
    {TOK_AMP, IR_T_AND, NO_FORM, NO_FORM, D_BITS},
    {TOK_PIPE, IR_T_OR, NO_FORM, NO_FORM, D_BITS},
    {TOK_CARET, IR_T_XOR, NO_FORM, NO_FORM, D_BITS},
    {TOK_SHL, NO_FORM, IR_T_SHL, NO_FORM, D_BITS},
    {TOK_SHR, NO_FORM, IR_T_SHR, NO_FORM, D_BITS},
    /* min, max and pow by name */
    {TOK_END, IR_T_MIN, IR_T_MINS, IR_T_MINS, D_ARITH},
    {TOK_END, IR_T_MAX, IR_T_MAXS, IR_T_MAXS, D_ARITH},
};

/* ---- nodes ---- */

TileNode *sema_new_node(Sema *s, IrTileOp op, uint32_t dtypes, Span at)
{
    TileNode *n = arena_new(s->arena, TileNode);
    n->op = op;
    n->dtypes = dtypes;
    n->at = at;
    return n;
}

static void add_src(TileNode *n, TileNode *src) { n->src[n->src_count++] = src; }

static void add_scalar(TileNode *n, IrExprId e) { n->scalar[n->scalar_count++] = e; }

static IrExprId buffer_extent(Sema *s, const IrView *v, uint32_t axis)
{
    const IrBuffer *b = &s->ir->kernels.at[s->kernel].buffers.at[v->buffer];
    IrExprId extent = b->shape[v->rank < b->rank ? b->rank - 1 : axis];
    size_t was = dtype_bytes(b->dtype), is = dtype_bytes(v->dtype);
    if (was == is)
        return extent;
    IrExprId bytes = ir_expr2(s->ir, IR_E_MUL, extent, ir_int(s->ir, (int64_t)was));
    return ir_expr2(s->ir, IR_E_FLOORDIV, bytes, ir_int(s->ir, (int64_t)is));
}

/* The most elements of a view along an axis: its size where that is a number, the piece of a loop
 * over pieces, else the size of the buffer. */
static IrExprId view_extent(Sema *s, const IrView *v, uint32_t axis)
{
    const IrExpr *e = &s->ir->exprs.at[v->size[axis]];
    int64_t constant, most = e->op == IR_E_VAR ? s->ir->vars.at[e->of.var].hi : INT64_MAX;
    if (ir_is_int(s->ir, v->size[axis], &constant))
        return v->size[axis];
    IrExprId extent = buffer_extent(s, v, axis);
    bool fewer = ir_is_int(s->ir, extent, &constant) && most < constant;
    return fewer ? ir_int(s->ir, most) : extent;
}

TileNode *sema_view_node(Sema *s, const IrView *view, Span at)
{
    TileNode *n = arena_new(s->arena, TileNode);
    const IrBuffer *b = &s->ir->kernels.at[s->kernel].buffers.at[view->buffer];
    n->is_view = true;
    n->view = *view;
    n->view.at = at;
    n->at = at;
    n->mask = b->mask;
    n->dtype = view->dtype;
    n->dtype_known = true;
    n->rank = view->rank;
    for (uint32_t i = 0; i < view->rank; i++) {
        n->size[i] = view->size[i];
        n->cap[i] = view_extent(s, view, i);
    }
    return n;
}

Value sema_tile_value(TileNode *node)
{
    return (Value){.kind = VAL_TILE, .tile = node, .dtype = node->dtype, .at = node->at};
}

/* ---- dtypes ---- */

bool sema_check_dtype(Sema *s, IrTileOp op, uint32_t dtypes, DType dtype, Span at)
{
    if (dtypes >> dtype & 1)
        return true;
    const char *hint = dtype == DT_BOOL
                           ? "b != 0 turns a bool tile into a mask, cast(b, f16) into numbers"
                       : dtype == DT_I64     ? "cast it to i32 or f32 first"
                       : dtype_is_int(dtype) ? "cast it to f32 first, and back after"
                                             : NULL;
    sema_error(s, NO_OP, at, hint, "%s does not exist for %s", ir_tile_ops[op].name,
               dtype_name(dtype));
    return false;
}

static bool int_fits(DType dtype, int64_t v)
{
    int bits = (int)dtype_bytes(dtype) * 8;
    if (bits >= 64)
        return true;
    int64_t span = (int64_t)1 << (dtype_rows[dtype].kind == DTC_I ? bits - 1 : bits);
    return v < span && v >= (dtype_rows[dtype].kind == DTC_I ? -span : 0);
}

/* The scalar as an operand of tiles of `dtype`; 0: reported. */
IrExprId sema_fit_scalar(Sema *s, IrExprId e, DType dtype, Span at)
{
    int64_t v;
    DType type = sema_type(s, e);
    if (dtype_is_float(dtype)) {
        if (type != DT_BOOL)
            return sema_as_float(s, e, at);
    } else if (type == DT_I64) {
        if (!ir_is_int(s->ir, e, &v) || int_fits(dtype, v))
            return e;
        sema_error(s, SCALAR_TYPE, at, "use a wider tile, or a number inside its range",
                   "%lld does not fit %s", (long long)v, dtype_name(dtype));
        return 0;
    } else if (type == DT_BOOL && dtype == DT_BOOL) {
        return ir_expr3(s->ir, IR_E_SELECT, e, ir_int(s->ir, 1), ir_int(s->ir, 0));
    }
    sema_error(s, SCALAR_TYPE, at,
               type == DT_F32 ? "i64(s) truncates; or cast the tile to f32"
                              : "a if c else b makes a number",
               "a scalar of %s with a tile of %s", dtype_name(type), dtype_name(dtype));
    return 0;
}

/* Whether sources of this operation have the dtype of its result. */
static bool keeps_dtype(IrTileOp op)
{
    switch (ir_tile_ops[op].kind) {
    case IR_CLASS_ELEM:
    case IR_CLASS_BITS:
    case IR_CLASS_FILL:
    case IR_CLASS_SELECT: return true;
    default: return false;
    }
}

static bool set_dtype(Sema *s, TileNode *n, DType dtype)
{
    if (n->dtype_known || n->mask)
        return true;
    n->dtype = dtype;
    n->dtype_known = true;
    if (n->is_view)
        return true;
    bool ok = sema_check_dtype(s, n->op, n->dtypes, dtype, n->at);
    for (uint32_t i = 0; ok && i < n->scalar_count; i++) {
        if (n->op == IR_T_SHL || n->op == IR_T_SHR)
            continue;
        n->scalar[i] = sema_fit_scalar(s, n->scalar[i], dtype, n->at);
        ok = n->scalar[i] != 0;
    }
    for (uint32_t i = 0; ok && keeps_dtype(n->op) && i < n->src_count; i++)
        ok = set_dtype(s, n->src[i], dtype);
    return ok;
}

static bool has_float_scalar(Sema *s, const TileNode *n)
{
    for (uint32_t i = 0; i < n->scalar_count; i++)
        if (sema_type(s, n->scalar[i]) == DT_F32)
            return true;
    for (uint32_t i = 0; i < n->src_count; i++)
        if (!n->src[i]->dtype_known && !n->src[i]->mask && has_float_scalar(s, n->src[i]))
            return true;
    return false;
}

void sema_settle(Sema *s, TileNode *node)
{
    if (!node->dtype_known && !node->mask)
        set_dtype(s, node, has_float_scalar(s, node) ? DT_F32 : DT_I32);
}

/* ---- shapes ---- */

static const char *shape_text(Sema *s, const TileNode *n)
{
    if (n->rank == 1)
        return sema_format(s, "[%s]", sema_expr_text(s, n->size[0]));
    return sema_format(s, "[%s, %s]", sema_expr_text(s, n->size[0]), sema_expr_text(s, n->size[1]));
}

bool sema_same_shape(Sema *s, const TileNode *a, const TileNode *b, Span at, const char *what)
{
    if (a->rank != b->rank) {
        sema_error(s, RANK, at,
                   "in a 2-D expression row(v) spreads one value per column, col(v) one per row",
                   "%s: a tile of %u and one of %u axes, %s and %s", what, a->rank, b->rank,
                   shape_text(s, a), shape_text(s, b));
        return false;
    }
    for (uint32_t i = 0; i < a->rank; i++) {
        if (sema_same_size(s, a->size[i], b->size[i]))
            continue;
        sema_error(s, SHAPE, at,
                   sema_format(s, "write the same size on both sides, for example [:%s]",
                               sema_expr_text(s, b->size[i])),
                   "%s: sizes differ, %s and %s", what, shape_text(s, a), shape_text(s, b));
        return false;
    }
    return true;
}

/* row(v) and col(v) fit the 2-D shape they are spread over. */
static bool fit_spread(Sema *s, TileNode *n)
{
    uint32_t axis = n->op == IR_T_ROW ? 1 : 0;
    const TileNode *v = n->src[0];
    if (n->rank == 2 && sema_same_size(s, v->size[0], n->size[axis]))
        return true;
    if (n->rank != 2)
        sema_error(s, RANK, n->at, "on 1-D tiles write the tile itself",
                   "%s spreads over a 2-D tile, this is 1-D", ir_tile_ops[n->op].name);
    else
        sema_error(s, SHAPE, n->at, NULL, "%s has %s values, the tile %s has %s %s",
                   ir_tile_ops[n->op].name, sema_expr_text(s, v->size[0]), shape_text(s, n),
                   sema_expr_text(s, n->size[axis]), axis ? "columns" : "rows");
    return false;
}

static bool set_shape(Sema *s, TileNode *n, const TileNode *like)
{
    if (n->rank || !like->rank)
        return true;
    n->rank = like->rank;
    for (uint32_t i = 0; i < like->rank; i++) {
        n->size[i] = like->size[i];
        n->cap[i] = like->cap[i];
    }
    if (n->op == IR_T_ROW || n->op == IR_T_COL)
        return fit_spread(s, n);
    bool ok = true;
    for (uint32_t i = 0; ok && i < n->src_count; i++)
        ok = set_shape(s, n->src[i], n);
    return ok;
}

bool sema_adopt(Sema *s, TileNode *node, const TileNode *like)
{
    return set_shape(s, node, like) &&
           (!like->dtype_known || like->mask || set_dtype(s, node, like->dtype));
}

/* Makes two operands agree in dtype and shape. */
bool sema_match(Sema *s, TileNode *a, TileNode *b, Span at)
{
    if (!sema_adopt(s, a, b) || !sema_adopt(s, b, a))
        return false;
    if (a->dtype_known && b->dtype_known && a->dtype != b->dtype) {
        sema_error(s, DTYPE, at,
                   sema_format(s, "cast one of them: cast(a, %s)", dtype_name(a->dtype)),
                   "tiles of %s and %s are combined", dtype_name(a->dtype), dtype_name(b->dtype));
        return false;
    }
    return !a->rank || !b->rank || sema_same_shape(s, a, b, at, "operands");
}

/* Takes dtype and shape of an elementwise node from its sources. */
static bool derive(Sema *s, TileNode *n)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < n->src_count; i++) {
        const TileNode *src = n->src[i];
        if (!n->rank && src->rank)
            ok = set_shape(s, n, src);
        if (!n->mask && !n->dtype_known && !src->mask && src->dtype_known)
            ok = ok && set_dtype(s, n, src->dtype);
    }
    return ok;
}

/* ---- operands ---- */

bool sema_want_tile(Sema *s, const Value *v, const char *what)
{
    if (v->kind == VAL_TILE && !v->tile->mask)
        return true;
    if (v->kind == VAL_TILE)
        sema_error(s, MASK, v->at,
                   "where(m, a, b) selects by a mask, cast(m, f32) makes 1 and 0 of it",
                   "%s works on numbers, this is a mask", what);
    else if (v->kind == VAL_REGION || v->kind == VAL_TENSOR)
        sema_error(s, GM_REGION, v->at, "load it into a buffer in copyin first",
                   "%s works on buffers, this is %s", what, sema_describe(s, v));
    else if (v->kind != VAL_BAD)
        sema_error(s, KIND, v->at, NULL, "%s needs a tile, this is %s", what, sema_describe(s, v));
    return false;
}

bool sema_want_mask(Sema *s, const Value *v, const char *what)
{
    if (v->kind == VAL_TILE && v->tile->mask)
        return true;
    bool flags = v->kind == VAL_TILE && v->tile->dtype_known && v->tile->dtype == DT_BOOL;
    if (v->kind != VAL_BAD)
        sema_error(s, MASK, v->at,
                   flags ? "b != 0 turns a tile of bool into a mask" : "a comparison gives a mask",
                   "%s needs a mask, this is %s", what, sema_describe(s, v));
    return false;
}

TileNode *sema_fill_node(Sema *s, IrExprId value, Span at)
{
    TileNode *n = sema_new_node(s, IR_T_FILL, D_FLOAT | D_INT | D_BOOL | D_WIDE, at);
    add_scalar(n, value);
    return n;
}

Value sema_tile_unary(Sema *s, IrTileOp op, uint32_t dtypes, Value a, Span at)
{
    if (!sema_want_tile(s, &a, ir_tile_ops[op].name))
        return sema_bad(at);
    TileNode *n = sema_new_node(s, op, dtypes, at);
    add_src(n, a.tile);
    return derive(s, n) ? sema_tile_value(n) : sema_bad(at);
}

/* ---- binary ---- */

static Value tiles_form(Sema *s, const OperatorRow *row, TileNode *a, TileNode *b, Span at)
{
    if (row->tiles == NO_FORM) {
        sema_error(s, KIND, at, NULL, "'%s' needs a scalar on its right",
                   craft_tok_names[row->tok]);
        return sema_bad(at);
    }
    if (!sema_match(s, a, b, at))
        return sema_bad(at);
    TileNode *n = sema_new_node(s, row->tiles, row->dtypes, at);
    n->mask = ir_tile_ops[row->tiles].result == IR_RESULT_MASK;
    add_src(n, a);
    add_src(n, b);
    if (!derive(s, n))
        return sema_bad(at);
    if (n->mask) {
        sema_settle(s, a);
        sema_settle(s, b);
        if (!sema_check_dtype(s, n->op, n->dtypes, a->dtype, at))
            return sema_bad(at);
    }
    return sema_tile_value(n);
}

static Value scalar_form(Sema *s, IrTileOp op, const OperatorRow *row, TileNode *a, IrExprId b,
                         Span at)
{
    TileNode *n = sema_new_node(s, op, row->dtypes, at);
    n->mask = ir_tile_ops[op].result == IR_RESULT_MASK;
    add_src(n, a);
    add_scalar(n, b);
    if (n->mask) {
        sema_settle(s, a);
        n->scalar[0] = sema_fit_scalar(s, b, a->dtype, at);
        if (!n->scalar[0] || !sema_check_dtype(s, op, n->dtypes, a->dtype, at))
            return sema_bad(at);
    }
    if ((op == IR_T_SHL || op == IR_T_SHR) && sema_type(s, b) != DT_I64) {
        sema_error(s, SCALAR_TYPE, at, "write it as 3, not 3.0, or i64(s)",
                   "a shift count is an integer");
        return sema_bad(at);
    }
    return derive(s, n) ? sema_tile_value(n) : sema_bad(at);
}

static Value masks_form(Sema *s, const OperatorRow *row, Value a, Value b, Span at)
{
    const char *what = craft_tok_names[row->tok];
    if (row->tok != TOK_AMP && row->tok != TOK_PIPE && row->tok != TOK_CARET) {
        sema_error(s, MASK, at, "masks combine with & | ^ ~; cast(m, f32) makes numbers of one",
                   "'%s' on a mask", what);
        return sema_bad(at);
    }
    if (!sema_want_mask(s, &a, what) || !sema_want_mask(s, &b, what) ||
        !sema_match(s, a.tile, b.tile, at))
        return sema_bad(at);
    TileNode *n = sema_new_node(s, row->tiles, 0, at);
    n->mask = true;
    add_src(n, a.tile);
    add_src(n, b.tile);
    return derive(s, n) ? sema_tile_value(n) : sema_bad(at);
}

static bool is_mask(const Value *v) { return v->kind == VAL_TILE && v->tile->mask; }

static Value by_row(Sema *s, const OperatorRow *row, Value a, Value b, Span at)
{
    if (is_mask(&a) || is_mask(&b))
        return masks_form(s, row, a, b, at);
    if (a.kind == VAL_TILE && b.kind == VAL_SCALAR && row->by_scalar != NO_FORM)
        return scalar_form(s, row->by_scalar, row, a.tile, b.scalar, at);
    if (a.kind == VAL_SCALAR && row->from_scalar != NO_FORM)
        return scalar_form(s, row->from_scalar, row, b.tile, a.scalar, at);
    TileNode *x = a.kind == VAL_TILE ? a.tile : sema_fill_node(s, a.scalar, a.at);
    TileNode *y = b.kind == VAL_TILE ? b.tile : sema_fill_node(s, b.scalar, b.at);
    return tiles_form(s, row, x, y, at);
}

Value sema_tile_binary_op(Sema *s, Tok op, Value a, Value b, Span at)
{
    if (op == TOK_SLASHSLASH || op == TOK_PERCENT) {
        sema_error(s, NO_OP, at, "floor(a / b) on f32, after a cast",
                   "'%s' does not exist for tiles", craft_tok_names[op]);
        return sema_bad(at);
    }
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].tok == op)
            return by_row(s, &operators[i], a, b, at);
    sema_error(s, KIND, at, NULL, "'%s' does not work on tiles", craft_tok_names[op]);
    return sema_bad(at);
}

Value sema_tile_pair(Sema *s, IrTileOp op, Value a, Value b, Span at)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].tiles == op)
            return by_row(s, &operators[i], a, b, at);
    panic("no row for %s", ir_tile_ops[op].name);
}

Value sema_tile_unary_op(Sema *s, Tok op, Value a, Span at)
{
    if (op == TOK_PLUS)
        return a;
    if (op == TOK_MINUS)
        return sema_tile_unary(s, IR_T_NEG, D_ARITH, a, at);
    if (op == TOK_NOT) {
        sema_error(s, MASK, at, "write ~m",
                   "'not' is for bool scalars; a mask is inverted with '~'");
        return sema_bad(at);
    }
    if (!is_mask(&a))
        return sema_tile_unary(s, IR_T_NOT, D_BITS, a, at);
    TileNode *n = sema_new_node(s, IR_T_NOT, 0, at);
    n->mask = true;
    add_src(n, a.tile);
    return derive(s, n) ? sema_tile_value(n) : sema_bad(at);
}
