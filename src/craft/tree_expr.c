/* Constructors of expressions; see tree.h. In: values and parts. Out: nodes as the parser makes
 * them, without a place. */
#include "craft/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static AstExpr *new_expr(Arena *arena, ExprKind kind)
{
    AstExpr *e = arena_new(arena, AstExpr);
    e->kind = kind;
    return e;
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static uint32_t depth_of(const AstExpr *e) { return e ? e->depth : 0; }

/* As the parser counts. */
static AstExpr *deepen(AstExpr *e)
{
    uint32_t depth = larger(depth_of(e->a), larger(depth_of(e->b), depth_of(e->c)));
    for (uint32_t i = 0; i < e->items.len; i++)
        depth = larger(depth, depth_of(e->items.at[i]));
    for (uint32_t i = 0; i < e->keywords.len; i++)
        depth = larger(depth, depth_of(e->keywords.at[i].value));
    e->depth = depth + 1;
    return e;
}

/* ---- words ---- */

AstExpr *tree_name(Arena *arena, const char *name)
{
    AstExpr *e = new_expr(arena, EX_NAME);
    e->text = str_copy(arena, str_from(name));
    return e;
}

AstExpr *tree_attr(Arena *arena, AstExpr *base, const char *name)
{
    AstExpr *e = new_expr(arena, EX_ATTR);
    e->a = base;
    e->text = str_copy(arena, str_from(name));
    return deepen(e);
}

AstExpr *tree_path(Arena *arena, const char *path)
{
    Str rest = str_from(path), word;
    AstExpr *e = NULL;
    while (str_next(&rest, '.', &word)) {
        const char *name = str_dup(arena, word);
        e = e ? tree_attr(arena, e, name) : tree_name(arena, name);
    }
    return e ? e : tree_name(arena, "");
}

static AstExpr *negated(Arena *arena, AstExpr *e) { return tree_unary(arena, TOK_MINUS, e); }

AstExpr *tree_int(Arena *arena, int64_t value)
{
    if (value == INT64_MIN) /* its digits alone do not fit */
        return tree_binary(arena, TOK_MINUS, tree_int(arena, INT64_MIN + 1), tree_int(arena, 1));
    if (value < 0)
        return negated(arena, tree_int(arena, -value));
    AstExpr *e = new_expr(arena, EX_INT);
    e->i = value;
    e->text = str_from(str_format(arena, "%lld", (long long)value));
    return e;
}

/* "1e-6", "0.5", "3.0": the fewest digits that are this number. */
static const char *float_text(Arena *arena, double value)
{
    char digits[64];
    int precision = 1;
    do
        snprintf(digits, sizeof digits, "%.*g", precision, value);
    while (strtod(digits, NULL) != value && precision++ < 17);
    char *exponent = strchr(digits, 'e');
    if (!exponent)
        return str_format(arena, "%s%s", digits, strchr(digits, '.') ? "" : ".0");
    *exponent = '\0';
    return str_format(arena, "%se%d", digits, (int)strtol(exponent + 1, NULL, 10));
}

AstExpr *tree_float(Arena *arena, double value)
{
    if (isnan(value))
        return tree_name(arena, "nan");
    if (signbit(value))
        return negated(arena, tree_float(arena, -value));
    if (isinf(value))
        return tree_name(arena, "inf");
    AstExpr *e = new_expr(arena, EX_FLOAT);
    e->f = value;
    e->text = str_from(float_text(arena, value));
    return e;
}

AstExpr *tree_bool(Arena *arena, bool value)
{
    AstExpr *e = new_expr(arena, EX_BOOL);
    e->i = value;
    e->text = value ? STR("True") : STR("False");
    return e;
}

AstExpr *tree_text(Arena *arena, const char *text)
{
    AstExpr *e = new_expr(arena, EX_STRING);
    Buf out = {0};
    e->string = str_copy(arena, str_from(text));
    buf_char(&out, '"');
    for (; *text; text++) {
        if (strchr("\n\t\\\"", *text))
            buf_char(&out, '\\');
        buf_char(&out, *text == '\n' ? 'n' : *text == '\t' ? 't' : *text);
    }
    buf_char(&out, '"');
    e->text = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return e;
}

AstExpr *tree_dtype(Arena *arena, DType dtype) { return tree_name(arena, dtype_name(dtype)); }

TreeList tree_names(Arena *arena, const char *const *names, uint32_t count)
{
    AstExpr **at = arena_array(arena, AstExpr *, count);
    for (uint32_t i = 0; i < count; i++)
        at[i] = tree_path(arena, names[i]);
    return (TreeList){at, count};
}

/* ---- operators ---- */

AstExpr *tree_unary(Arena *arena, Tok op, AstExpr *a)
{
    AstExpr *e = new_expr(arena, EX_UNARY);
    e->op = op;
    e->a = a;
    return deepen(e);
}

AstExpr *tree_binary(Arena *arena, Tok op, AstExpr *a, AstExpr *b)
{
    AstExpr *e = new_expr(arena, EX_BINARY);
    e->op = op;
    e->a = a;
    e->b = b;
    return deepen(e);
}

AstExpr *tree_cond(Arena *arena, AstExpr *yes, AstExpr *condition, AstExpr *no)
{
    AstExpr *e = new_expr(arena, EX_COND);
    e->a = yes;
    e->b = condition;
    e->c = no;
    return deepen(e);
}

/* ---- with items ---- */

static AstExpr *with_items(Arena *arena, ExprKind kind, AstExpr *a, TreeList items)
{
    AstExpr *e = new_expr(arena, kind);
    e->a = a;
    for (uint32_t i = 0; i < items.len; i++)
        vec_push(arena, &e->items, items.at[i]);
    return deepen(e);
}

AstExpr *tree_call_of(Arena *arena, AstExpr *function, TreeList args)
{
    return with_items(arena, EX_CALL, function, args);
}

AstExpr *tree_call(Arena *arena, const char *function, TreeList args)
{
    return tree_call_of(arena, tree_name(arena, function), args);
}

AstExpr *tree_keyword(Arena *arena, AstExpr *call, const char *name, AstExpr *value)
{
    AstKeyword k = {.name = str_copy(arena, str_from(name)), .value = value};
    vec_push(arena, &call->keywords, k);
    return deepen(call);
}

AstExpr *tree_index(Arena *arena, AstExpr *base, TreeList items)
{
    return with_items(arena, EX_INDEX, base, items);
}

AstExpr *tree_slice(Arena *arena, AstExpr *from, AstExpr *to)
{
    AstExpr *e = new_expr(arena, EX_SLICE);
    e->a = from;
    e->b = to;
    return deepen(e);
}

AstExpr *tree_list(Arena *arena, TreeList items) { return with_items(arena, EX_LIST, NULL, items); }

AstExpr *tree_tuple(Arena *arena, TreeList items)
{
    AstExpr *e = with_items(arena, EX_TUPLE, NULL, items);
    e->depth = items.len ? e->depth : 0; /* as the parser leaves () */
    return e;
}
