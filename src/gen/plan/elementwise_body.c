/* The statements of one elementwise job. In: its values with their places. Out: a loop nest of
 * load, compute and store; each node is one statement on buffers that are used again. */
#include "gen/plan/elementwise_lines.h"

#include "gen/plan/prim_int.h"

#include <math.h>
#include <string.h>

static const DType class_dtype[] = {DT_F32, DT_I32, DT_BOOL};

static int take_class(EachBody *b, EachClass is)
{
    return is == EACH_MASK ? elementwise_take(b, 'm', DT_BOOL, 1)
                           : elementwise_take(b, is == EACH_F32 ? 'v' : 'k', class_dtype[is], 1);
}

static EachCell *operand_of(EachBody *b, const EachUse *use, uint32_t i)
{
    return &b->cell[use->in[i]];
}

static void done_with(EachBody *b, EachCell *c)
{
    if (c->left && --c->left == 0)
        elementwise_free(b, c->slot);
}

static void read_leaf(EachBody *b, const EachUse *use, EachCell *c)
{
    const Value *v = graph_value(b->p->e->g, use->value);
    const EachTensor *t = elementwise_tensor(b->p, use->value, false);
    bool tile = false;
    const char *at = elementwise_index(b, use, t, &tile);
    c->is = elementwise_class(v->dtype);
    c->made = true;
    if (!tile) {
        c->scalar = true;
        c->text = str_format(b->p->e->arena, "s%u_%u", b->number, b->scalars++);
        elementwise_put(b, &b->reads, "%s = %s[%s]", c->text, t->name, at);
        return;
    }
    c->slot = elementwise_take(b, 'a', v->dtype, 2);
    c->text = elementwise_view(b, c->slot);
    c->raw = v->dtype != class_dtype[c->is] || v->dtype == DT_BOOL;
    b->depth++;
    elementwise_put(b, &b->loads, "load(%s, %s[%s])", c->text, t->name, at);
    b->depth--;
}

/* ---- classes ---- */

static const char *number_text(EachBody *b, double value, EachClass is)
{
    Buf out = {0};
    if (is == EACH_F32 && isinf(value))
        buf_puts(&out, value > 0 ? "inf" : "-inf");
    else if (is == EACH_F32 && isnan(value))
        buf_puts(&out, "nan");
    else if (is == EACH_F32)
        prim_literal(&out, value);
    else
        buf_printf(&out, "%lld", (long long)value);
    char *text = buf_take(&out, b->p->e->arena);
    buf_free(&out);
    return text;
}

/* From memory's dtype to the class of the value, once. */
static void unpack(EachBody *b, EachCell *c)
{
    if (!c->raw)
        return;
    int slot = take_class(b, c->is);
    const char *to = elementwise_view(b, slot);
    if (c->is == EACH_MASK)
        elementwise_put(b, &b->steps, "%s = %s != 0", to, c->text);
    else
        elementwise_put(b, &b->steps, "%s = cast(%s, %s)", to, c->text,
                        dtype_name(class_dtype[c->is]));
    c->slot = slot;
    c->text = to;
    c->raw = false;
}

static const char *scalar_as(EachBody *b, const EachCell *c, EachClass is)
{
    Arena *arena = b->p->e->arena;
    if (c->number)
        return number_text(b, c->value, is);
    if (c->is == EACH_MASK)
        return str_format(arena, is == EACH_F32 ? "(1.0 if %s else 0.0)" : "(1 if %s else 0)",
                          c->text);
    if (is == EACH_F32 && c->is != EACH_F32)
        return str_format(arena, "f32(%s)", c->text);
    if (is != EACH_F32 && c->is == EACH_F32)
        return str_format(arena, "i64(%s)", c->text);
    return c->text;
}

/* The value in this class; *slot is a buffer that was needed for that, or -1. `tile`: a scalar
 * does not do. */
static const char *as_class(EachBody *b, EachCell *c, EachClass is, bool tile, int *slot)
{
    Arena *arena = b->p->e->arena;
    *slot = -1;
    if (c->scalar && !tile && is != EACH_MASK)
        return scalar_as(b, c, is);
    if (c->scalar) {
        EachClass plain = is == EACH_MASK ? EACH_I32 : is;
        *slot = take_class(b, plain);
        const char *to = elementwise_view(b, *slot);
        elementwise_put(b, &b->steps, "%s = %s", to, scalar_as(b, c, plain));
        return is == EACH_MASK ? str_format(arena, "(%s != 0)", to) : to;
    }
    unpack(b, c);
    if (c->is == is)
        return c->text;
    if (is == EACH_MASK)
        return str_format(arena, c->is == EACH_F32 ? "(%s != 0.0)" : "(%s != 0)", c->text);
    *slot = take_class(b, is);
    const char *to = elementwise_view(b, *slot);
    elementwise_put(b, &b->steps, "%s = cast(%s, %s%s)", to, c->text, dtype_name(class_dtype[is]),
                    c->is == EACH_F32 ? ", \"trunc\"" : "");
    return to;
}

/* Integers narrower than the class wrap as they do in memory. */
static void wrap(EachBody *b, EachCell *c, DType dtype)
{
    const char *text = c->text;
    if (c->is != EACH_I32 || (dtype != DT_I8 && dtype != DT_I16 && dtype != DT_U8))
        return;
    int one = dtype == DT_U8 ? take_class(b, EACH_I32) : -1;
    if (dtype == DT_U8) {
        elementwise_put(b, &b->steps, "%s = 255", elementwise_view(b, one));
        elementwise_put(b, &b->steps, "%s = %s & %s", text, text, elementwise_view(b, one));
    } else {
        int by = dtype == DT_I8 ? 24 : 16;
        elementwise_put(b, &b->steps, "%s = (%s << %d) >> %d", text, text, by, by);
    }
    elementwise_free(b, one);
}

/* ---- nodes ---- */

static const char *substitute(EachBody *b, const char *form, const char *const *operand)
{
    Buf out = {0};
    for (const char *c = form; *c; c++) {
        if (*c == '$' && c[1] >= '0' && c[1] <= '2')
            buf_puts(&out, operand[*++c - '0']);
        else
            buf_char(&out, *c);
    }
    char *text = buf_take(&out, b->p->e->arena);
    buf_free(&out);
    return text;
}

static void refuse_form(EachBody *b, const Node *node)
{
    const char *kind = node_kind_name(node);
    if (!b->buffers->failed)
        diag_error(b->p->e->diag, "G001", node->at,
                   "the planner cannot plan %s%s%s yet: it has no Craft form for %s",
                   op_rows[node->op].name, *kind ? "." : "", kind,
                   dtype_name(graph_value(b->p->e->g, node->out)->dtype));
    b->buffers->failed = true;
}

static void make_form(EachBody *b, const Node *node, const EachUse *use, EachCell *c)
{
    EachClass in[3], out;
    const char *operand[3] = {"", "", ""},
               *form = elementwise_form(b->p->e->arena, b->p->e->g, node, in, &out);
    int slot[3] = {-1, -1, -1};
    bool tiles = false;
    if (!form) {
        refuse_form(b, node);
        return;
    }
    for (uint32_t i = 0; i < node->n_in && i < 3; i++)
        if (node->in[i] != VALUE_NONE)
            tiles = tiles || !operand_of(b, use, i)->scalar;
    bool bits = node->op == OP_BINARY && in[0] == EACH_I32 &&
                (node->kind == BINARY_bitwise_and || node->kind == BINARY_bitwise_or ||
                 node->kind == BINARY_bitwise_xor);
    for (uint32_t i = 0; i < node->n_in && i < 3; i++)
        if (node->in[i] != VALUE_NONE)
            operand[i] = as_class(b, operand_of(b, use, i), in[i], bits || (!tiles && i == 0),
                                  &slot[i]);
    c->is = out;
    c->slot = take_class(b, out);
    c->text = elementwise_view(b, c->slot);
    elementwise_put(b, &b->steps, "%s = %s", c->text, substitute(b, form, operand));
    wrap(b, c, graph_value(b->p->e->g, node->out)->dtype);
    const char *rounding = b->p->e->rounds ? prim_rounding(b->p->e->g, node) : NULL;
    if (rounding && c->is == EACH_F32)
        elementwise_put(b, &b->steps, "%s = %s", c->text, substitute(b, rounding, &c->text));
    for (int i = 0; i < 3; i++)
        elementwise_free(b, slot[i]);
}

/* A value of the same class that nobody reads any more goes on under the new name. */
static bool take_over(EachBody *b, EachCell *from, EachCell *c)
{
    if (from->scalar || from->is != c->is || c->is == EACH_MASK || from->left != 1)
        return false;
    unpack(b, from);
    c->slot = from->slot;
    c->text = from->text;
    from->slot = -1;
    return true;
}

static void make_cast(EachBody *b, const Node *node, const EachUse *use, EachCell *c)
{
    EachCell *from = operand_of(b, use, 0);
    DType to = graph_value(b->p->e->g, node->out)->dtype;
    int slot = -1;
    c->is = elementwise_class(to);
    if (to == class_dtype[c->is] && take_over(b, from, c))
        return;
    const char *text = as_class(b, from, c->is, true, &slot);
    c->slot = slot >= 0 && c->is != EACH_MASK ? slot : take_class(b, c->is);
    c->text = elementwise_view(b, c->slot);
    if (c->slot != slot)
        elementwise_put(b, &b->steps, "%s = %s", c->text, text);
    if (c->slot != slot)
        elementwise_free(b, slot);
    wrap(b, c, to);
    if (to == DT_F16 || to == DT_BF16)
        elementwise_put(b, &b->steps, "%s = cast(cast(%s, %s), f32)", c->text, c->text,
                        dtype_name(to));
}

/* The position along an axis: a scalar, or on the last one a tile. */
static const char *position(EachBody *b, const EachUse *use, int dim, bool *tile)
{
    int axis = use->dim[dim].axis;
    *tile = axis >= 0 && b->axes->group_of[axis] == b->axes->groups - 1;
    if (axis < 0)
        return "0";
    if (use->dim[dim].offset)
        b->buffers->failed = true;
    return *tile ? "t" : str_format(b->p->e->arena, "i%d", b->axes->group_of[axis]);
}

/* Row and column of a matrix decide: triangle, unit matrix. */
static void make_matrix(EachBody *b, const Node *node, const EachUse *use, EachCell *c)
{
    bool row_tile, col_tile, tri = node->op == OP_TRI;
    const char *row = position(b, use, use->rank - 2, &row_tile);
    position(b, use, use->rank - 1, &col_tile);
    long long diagonal = tri ? (long long)node_int(node, AT_DIAGONAL, 0) : 0;
    const char *op = !tri ? "==" : node_bool(node, AT_UPPER) ? ">=" : "<=";
    int at = take_class(b, EACH_I32), slot = -1;
    if (row_tile || (!col_tile && use->dim[use->rank - 1].axis >= 0)) {
        refuse_form(b, node);
        return;
    }
    const char *zero = !tri || c->is == EACH_F32 ? "0.0" : "0", *x = "1.0";
    if (tri) {
        c->is = elementwise_class(graph_value(b->p->e->g, node->out)->dtype);
        zero = c->is == EACH_F32 ? "0.0" : "0";
        x = as_class(b, operand_of(b, use, 0), c->is == EACH_MASK ? EACH_I32 : c->is, true, &slot);
        c->is = c->is == EACH_MASK ? EACH_I32 : c->is;
    }
    elementwise_put(b, &b->steps, "%s = iota(%s, 1)", elementwise_view(b, at),
                    col_tile ? "t.start" : "0");
    c->slot = take_class(b, c->is);
    c->text = elementwise_view(b, c->slot);
    elementwise_put(b, &b->steps, "%s = where(%s %s %s + %lld, %s, %s)", c->text,
                    elementwise_view(b, at), op, row, diagonal, x, zero);
    elementwise_free(b, at);
    elementwise_free(b, slot);
}

static void make_arange(EachBody *b, const Node *node, const EachUse *use, EachCell *c)
{
    bool tile;
    DType dtype = graph_value(b->p->e->g, node->out)->dtype;
    position(b, use, 0, &tile);
    if (!tile) {
        refuse_form(b, node);
        return;
    }
    double from = node_float(node, AT_A, 0), step = node_float(node, AT_C, 1);
    int at = take_class(b, EACH_I32);
    elementwise_put(b, &b->steps, "%s = iota(t.start, 1)", elementwise_view(b, at));
    c->is = elementwise_class(dtype);
    if (c->is == EACH_F32) {
        c->slot = take_class(b, EACH_F32);
        c->text = elementwise_view(b, c->slot);
        elementwise_put(b, &b->steps, "%s = cast(%s, f32) * %s + %s", c->text,
                        elementwise_view(b, at), number_text(b, step, EACH_F32),
                        number_text(b, from, EACH_F32));
        elementwise_free(b, at);
        return;
    }
    c->slot = at;
    c->text = elementwise_view(b, at);
    elementwise_put(b, &b->steps, "%s = %s * %s + %s", c->text, c->text,
                    number_text(b, step, EACH_I32), number_text(b, from, EACH_I32));
}

static void make_one_hot(EachBody *b, const Node *node, const EachUse *use, EachCell *c)
{
    bool tile;
    int slot;
    EachCell *at = operand_of(b, use, 0);
    position(b, use, use->rank - 1, &tile);
    if (!tile || !at->scalar) {
        refuse_form(b, node);
        return;
    }
    int place = take_class(b, EACH_I32);
    c->is = EACH_I32;
    c->slot = take_class(b, EACH_I32);
    c->text = elementwise_view(b, c->slot);
    elementwise_put(b, &b->steps, "%s = iota(t.start, 1)", elementwise_view(b, place));
    elementwise_put(b, &b->steps, "%s = where(%s == %s, 1, 0)", c->text, elementwise_view(b, place),
                    as_class(b, at, EACH_I32, false, &slot));
    elementwise_free(b, place);
}

/* Integers divided: a quotient by f32 is near, what remains is divided again, and the last step is
 * set right by comparing. The remainder has the sign of the divisor, or with `trunc` of a. */
static void make_divide(EachBody *b, const Node *node, const EachUse *use, EachCell *c)
{
    int slot[2], quotient = take_class(b, EACH_I32), rest = take_class(b, EACH_I32);
    int wide = take_class(b, EACH_F32), by = take_class(b, EACH_F32);
    int step = take_class(b, EACH_I32);
    const char *x = as_class(b, operand_of(b, use, 0), EACH_I32, true, &slot[0]);
    const char *y = as_class(b, operand_of(b, use, 1), EACH_I32, true, &slot[1]);
    const char *q = elementwise_view(b, quotient), *r = elementwise_view(b, rest),
               *f = elementwise_view(b, wide), *d = elementwise_view(b, by),
               *s = elementwise_view(b, step);
    bool trunc = node->kind == BINARY_trunc_div || node->kind == BINARY_fmod;
    elementwise_put(b, &b->steps, "%s = cast(%s, f32)", d, y);
    elementwise_put(b, &b->steps, "%s = cast(%s, f32) / %s", f, x, d);
    elementwise_put(b, &b->steps, "%s = cast(%s, i32, \"floor\")", q, f);
    elementwise_put(b, &b->steps, "%s = %s - %s * %s", r, x, q, y);
    elementwise_put(b, &b->steps, "%s = cast(%s, f32) / %s", f, r, d);
    elementwise_put(b, &b->steps, "%s = cast(%s, i32, \"floor\")", s, f);
    elementwise_put(b, &b->steps, "%s = %s + %s", q, q, s);
    elementwise_put(b, &b->steps, "%s = %s - %s * %s", r, x, q, y);
    elementwise_put(
        b, &b->steps,
        "%s = where((%s != 0) & ((%s < 0) ^ (%s < 0)), -1, where(abs(%s) >= abs(%s), 1, 0))", s, r,
        r, y, r, y);
    elementwise_put(b, &b->steps, "%s = %s + %s", q, q, s);
    elementwise_put(b, &b->steps, "%s = %s - %s * %s", r, x, q, y);
    if (trunc) {
        elementwise_put(b, &b->steps, "%s = where((%s != 0) & ((%s < 0) ^ (%s < 0)), 1, 0)", s, r,
                        x, y);
        elementwise_put(b, &b->steps, "%s = %s + %s", q, q, s);
        elementwise_put(b, &b->steps, "%s = %s - %s * %s", r, r, s, y);
    }
    bool whole = node->kind == BINARY_floor_div || node->kind == BINARY_trunc_div;
    c->is = EACH_I32;
    c->slot = whole ? quotient : rest;
    c->text = elementwise_view(b, c->slot);
    elementwise_free(b, whole ? rest : quotient);
    int used[] = {wide, by, step, slot[0], slot[1]};
    for (int i = 0; i < 5; i++)
        elementwise_free(b, used[i]);
    wrap(b, c, graph_value(b->p->e->g, node->out)->dtype);
}

/* An integer to the power of an integer that is known when the kernel runs. */
static bool make_power(EachBody *b, const Node *node, const EachUse *use, EachCell *c)
{
    int slot, other;
    if (node->op != OP_BINARY || node->kind != BINARY_pow || operand_of(b, use, 0)->scalar ||
        !operand_of(b, use, 1)->scalar || operand_of(b, use, 1)->number ||
        operand_of(b, use, 1)->is != EACH_I32 ||
        elementwise_class(graph_value(b->p->e->g, node->out)->dtype) != EACH_I32)
        return false;
    const char *x = as_class(b, operand_of(b, use, 0), EACH_I32, true, &slot);
    const char *n = as_class(b, operand_of(b, use, 1), EACH_I32, false, &other);
    c->is = EACH_I32;
    c->slot = take_class(b, EACH_I32);
    c->text = elementwise_view(b, c->slot);
    elementwise_put(b, &b->steps, "%s = 1", c->text);
    elementwise_put(b, &b->steps, "for k in range(%s):", n);
    elementwise_put(b, &b->steps, "    %s = %s * %s", c->text, c->text, x);
    wrap(b, c, graph_value(b->p->e->g, node->out)->dtype);
    elementwise_free(b, slot);
    return true;
}

/* Shifted by one number for each element: by 16, 8, 4, 2 and 1 where its bits say so. */
static bool make_shift(EachBody *b, const Node *node, const EachUse *use, EachCell *c)
{
    int slot[2];
    bool left = node->op == OP_BINARY && node->kind == BINARY_shift_left;
    bool right = node->op == OP_BINARY && node->kind == BINARY_shift_right;
    if ((!left && !right) || operand_of(b, use, 1)->scalar)
        return false;
    const char *x = as_class(b, operand_of(b, use, 0), EACH_I32, true, &slot[0]);
    const char *n = as_class(b, operand_of(b, use, 1), EACH_I32, true, &slot[1]);
    int rest = take_class(b, EACH_I32), moved = take_class(b, EACH_I32);
    c->is = EACH_I32;
    c->slot = take_class(b, EACH_I32);
    c->text = elementwise_view(b, c->slot);
    const char *r = elementwise_view(b, rest), *m = elementwise_view(b, moved);
    elementwise_put(b, &b->steps, "%s = %s", c->text, x);
    elementwise_put(b, &b->steps, "%s = %s", r, n);
    for (int by = 16; by; by /= 2) {
        elementwise_put(b, &b->steps, "%s = %s %s %d", m, c->text, left ? "<<" : ">>", by);
        elementwise_put(b, &b->steps, "%s = where(%s >= %d, %s, %s)", c->text, r, by, m, c->text);
        elementwise_put(b, &b->steps, "%s = where(%s >= %d, %s - %d, %s)", r, r, by, r, by, r);
    }
    wrap(b, c, graph_value(b->p->e->g, node->out)->dtype);
    int used[] = {rest, moved, slot[0], slot[1]};
    for (int i = 0; i < 4; i++)
        elementwise_free(b, used[i]);
    return true;
}

static bool divides_integers(EachBody *b, const Node *node)
{
    return node->op == OP_BINARY &&
           (node->kind == BINARY_floor_div || node->kind == BINARY_trunc_div ||
            node->kind == BINARY_remainder || node->kind == BINARY_fmod) &&
           elementwise_class(graph_value(b->p->e->g, node->out)->dtype) == EACH_I32;
}

static void make_node(EachBody *b, const Node *node, const EachUse *use, EachCell *c)
{
    bool divided = divides_integers(b, node);
    if (divided)
        make_divide(b, node, use, c);
    if (divided || make_power(b, node, use, c) || make_shift(b, node, use, c)) {
        for (uint32_t i = 0; i < node->n_in; i++)
            done_with(b, operand_of(b, use, i));
        return;
    }
    switch (node->op) {
    case OP_FULL:
        c->scalar = c->number = true;
        c->is = elementwise_class(graph_value(b->p->e->g, node->out)->dtype);
        c->value = node_float(node, AT_VALUE, 0);
        break;
    case OP_CAST: make_cast(b, node, use, c); break;
    case OP_TRI:
    case OP_EYE: make_matrix(b, node, use, c); break;
    case OP_ARANGE: make_arange(b, node, use, c); break;
    case OP_ONE_HOT: make_one_hot(b, node, use, c); break;
    default: make_form(b, node, use, c); break;
    }
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != VALUE_NONE)
            done_with(b, operand_of(b, use, i));
}

static void make_use(EachBody *b, uint32_t i)
{
    const EachUse *use = &b->job->uses.at[i];
    const Value *v = graph_value(b->p->e->g, use->value);
    EachCell *c = &b->cell[i];
    *c = (EachCell){.slot = -1, .left = use->uses, .made = true};
    if (v->kind == VALUE_NODE) {
        make_node(b, &b->p->e->g->nodes.at[v->node], use, c);
    } else if (elementwise_tensor(b->p, use->value, false)) {
        read_leaf(b, use, c);
    } else {
        c->scalar = c->number = true;
        c->is = elementwise_class(v->dtype);
        c->value = dtype_load(v->dtype, v->data, 0);
    }
}

/* ---- results ---- */

static const char *pack(EachBody *b, EachCell *c, DType dtype)
{
    int slot = -1;
    if (c->raw && c->slot >= 0 && b->buffers->at[c->slot].dtype == dtype) {
        b->buffers->at[c->slot].stored = true;
        return c->text;
    }
    EachClass is = elementwise_class(dtype);
    const char *text = as_class(b, c, is, true, &slot);
    int to = elementwise_take(b, 'o', dtype, 2);
    if (is == EACH_MASK || dtype != class_dtype[is])
        elementwise_put(b, &b->steps, "%s = cast(%s, %s)", elementwise_view(b, to), text,
                        dtype_name(dtype));
    else
        elementwise_put(b, &b->steps, "%s = %s", elementwise_view(b, to), text);
    elementwise_free(b, slot);
    return elementwise_view(b, to);
}

static void make_result(EachBody *b, uint32_t i)
{
    EachUse use = elementwise_region(b->p, b->job, i);
    const EachTensor *t = elementwise_tensor(b->p, use.value, true);
    EachCell *c = &b->cell[b->job->stored.at[i]];
    bool tile;
    const char *at = elementwise_index(b, &use, t, &tile);
    const char *from = pack(b, c, graph_value(b->p->e->g, use.value)->dtype);
    if (!tile) {
        b->buffers->failed = true;
        return;
    }
    elementwise_put(b, &b->stores, "store(%s[%s], %s)", t->name, at, from);
}

void elementwise_body(EachPlan *p, uint32_t number, EachBuffers *buffers, Buf *out)
{
    const EachJob *job = &p->e->jobs.at[number];
    EachBody b = {.p = p,
                  .job = job,
                  .axes = &p->axes[number],
                  .buffers = buffers,
                  .out = out,
                  .number = number};
    b.cell = arena_array(p->e->arena, EachCell, job->uses.len + 1);
    for (uint32_t i = 0; i < job->uses.len; i++) {
        b.depth = elementwise_tensor(p, job->uses.at[i].value, false) ? 1 : 2;
        make_use(&b, i);
    }
    b.depth = 2;
    for (uint32_t i = 0; i < job->results.len; i++)
        make_result(&b, i);
    elementwise_finish(&b);
}
