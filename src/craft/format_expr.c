/* Expressions in canonical spelling: no needless brackets. In: the tree. Out: text at the end of a
 * line, and marks that say which bytes of the line each node became. */
#include "craft/format_int.h"

#include <string.h>

enum {
    P_TEST = 1,
    P_OR,
    P_AND,
    P_NOT,
    P_COMPARE,
    P_BITS,
    P_SHIFT = P_BITS + 3,
    P_SUM,
    P_TERM,
    P_UNARY,
    P_POWER,
    P_PRIMARY
};

static int binary_level(Tok op)
{
    switch (op) {
    case TOK_OR: return P_OR;
    case TOK_AND: return P_AND;
    case TOK_PIPE: return P_BITS;
    case TOK_CARET: return P_BITS + 1;
    case TOK_AMP: return P_BITS + 2;
    case TOK_SHL:
    case TOK_SHR: return P_SHIFT;
    case TOK_PLUS:
    case TOK_MINUS: return P_SUM;
    case TOK_STAR:
    case TOK_SLASH:
    case TOK_SLASHSLASH:
    case TOK_PERCENT: return P_TERM;
    case TOK_STARSTAR: return P_POWER;
    default: return P_COMPARE;
    }
}

static int level_of(const AstExpr *e)
{
    switch (e->kind) {
    case EX_COND: return P_TEST;
    case EX_BINARY: return binary_level(e->op);
    case EX_UNARY: return e->op == TOK_NOT ? P_NOT : P_UNARY;
    default: return P_PRIMARY;
    }
}

/* ---- marks ---- */

void format_clear(FormatLine *line)
{
    buf_clear(&line->text);
    line->marks.len = 0;
}

static void mark(FormatLine *line, Span *at, size_t start, const Span *from, uint32_t width)
{
    FormatMark m = {at, from, (uint32_t)start, (uint32_t)line->text.len, width};
    if (line->placing)
        vec_push(line->arena, &line->marks, m);
}

void format_token(FormatLine *line, Span *at, size_t start)
{
    mark(line, at, start, NULL, (uint32_t)(line->text.len - start));
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t string_width(Str text)
{
    for (size_t i = 1; i < text.len; i++) {
        if (text.at[i] == '\\')
            i++;
        else if (text.at[i] == text.at[0])
            return i + 1;
    }
    return 1;
}

uint32_t format_token_width(Str text)
{
    size_t n = 0;
    if (!text.len)
        return 1;
    if (str_starts(text, "\"\"\"") || str_starts(text, "'''"))
        return 1;
    if (text.at[0] == '"' || text.at[0] == '\'')
        return (uint32_t)string_width(text);
    bool number = text.at[0] >= '0' && text.at[0] <= '9';
    while (n < text.len && (is_word(text.at[n]) || (number && text.at[n] == '.') ||
                            (number && n && (text.at[n - 1] | 32) == 'e' &&
                             (text.at[n] == '-' || text.at[n] == '+'))))
        n++;
    return n ? (uint32_t)n : 1;
}

/* Where the place of an expression begins when it is cut short at the end of a line: with its first
 * part, or with its first token. */
static const Span *first_part(const AstExpr *e)
{
    switch (e->kind) {
    case EX_BINARY:
    case EX_COND:
    case EX_CALL:
    case EX_INDEX:
    case EX_ATTR: return &e->a->at;
    default: return NULL;
    }
}

/* ---- expressions ---- */

static void put_expr(FormatLine *line, AstExpr *e, int least);

static void put_items(FormatLine *line, const ExprList *items)
{
    for (uint32_t i = 0; i < items->len; i++) {
        if (i)
            buf_puts(&line->text, ", ");
        put_expr(line, items->at[i], P_TEST);
    }
}

static bool is_plain(const AstExpr *e)
{
    return !e || e->kind == EX_NAME || e->kind == EX_INT || e->kind == EX_ATTR;
}

static void put_slice(FormatLine *line, const AstExpr *e)
{
    bool plain = is_plain(e->a) && is_plain(e->b);
    if (e->a)
        put_expr(line, e->a, P_TEST);
    if (!plain && e->a)
        buf_char(&line->text, ' ');
    buf_char(&line->text, ':');
    if (!plain && e->b && e->a)
        buf_char(&line->text, ' ');
    if (e->b)
        put_expr(line, e->b, P_TEST);
}

static void put_string(Buf *out, const AstExpr *e)
{
    Str t = e->text;
    bool simple = t.len >= 2 && t.at[0] == '\'' && !memchr(t.at, '"', t.len) &&
                  !memchr(t.at, '\\', t.len) && !(t.len >= 6 && t.at[1] == '\'' && t.at[2] == '\'');
    if (!simple) {
        buf_str(out, t);
        return;
    }
    buf_char(out, '"');
    buf_str(out, str_slice(t, 1, t.len - 1));
    buf_char(out, '"');
}

static void put_call(FormatLine *line, AstExpr *e)
{
    Buf *out = &line->text;
    put_expr(line, e->a, P_PRIMARY);
    buf_char(out, '(');
    put_items(line, &e->items);
    for (uint32_t i = 0; i < e->keywords.len; i++) {
        AstKeyword *k = &e->keywords.at[i];
        if (i || e->items.len)
            buf_puts(out, ", ");
        size_t start = out->len;
        buf_str(out, k->name);
        format_token(line, &k->at, start);
        buf_char(out, '=');
        put_expr(line, k->value, P_TEST);
    }
    buf_char(out, ')');
}

static void put_binary(FormatLine *line, AstExpr *e)
{
    int level = binary_level(e->op);
    bool power = e->op == TOK_STARSTAR;
    int left = power ? P_PRIMARY : level == P_COMPARE ? P_BITS : level;
    int right = power ? P_UNARY : level == P_COMPARE ? P_BITS : level + 1;
    put_expr(line, e->a, left);
    buf_printf(&line->text, " %s ", craft_tok_names[e->op]);
    put_expr(line, e->b, right);
}

static void put_bracketed(FormatLine *line, AstExpr *e)
{
    buf_char(&line->text, '[');
    put_items(line, &e->items);
    buf_char(&line->text, ']');
}

static void put_bare(FormatLine *line, AstExpr *e)
{
    Buf *out = &line->text;
    switch (e->kind) {
    case EX_NAME:
    case EX_INT:
    case EX_FLOAT:
    case EX_BOOL: buf_str(out, e->text); return;
    case EX_STRING: put_string(out, e); return;
    case EX_UNARY:
        buf_puts(out, e->op == TOK_NOT ? "not " : craft_tok_names[e->op]);
        put_expr(line, e->a, e->op == TOK_NOT ? P_NOT : P_UNARY);
        return;
    case EX_BINARY: put_binary(line, e); return;
    case EX_COND:
        put_expr(line, e->a, P_OR);
        buf_puts(out, " if ");
        put_expr(line, e->b, P_OR);
        buf_puts(out, " else ");
        put_expr(line, e->c, P_TEST);
        return;
    case EX_CALL: put_call(line, e); return;
    case EX_INDEX:
        put_expr(line, e->a, P_PRIMARY);
        put_bracketed(line, e);
        return;
    case EX_ATTR: {
        bool number = e->a->kind == EX_INT || e->a->kind == EX_FLOAT;
        put_expr(line, e->a, number ? P_PRIMARY + 1 : P_PRIMARY);
        buf_char(out, '.');
        buf_str(out, e->text);
        return;
    }
    case EX_SLICE: put_slice(line, e); return;
    case EX_LIST: put_bracketed(line, e); return;
    case EX_TUPLE:
        buf_char(out, '(');
        put_items(line, &e->items);
        buf_puts(out, e->items.len == 1 ? ",)" : ")");
        return;
    }
}

static void put_expr(FormatLine *line, AstExpr *e, int least)
{
    size_t start = line->text.len;
    bool wrap = level_of(e) < least;
    if (wrap)
        buf_char(&line->text, '(');
    put_bare(line, e);
    if (wrap)
        buf_char(&line->text, ')');
    if (line->placing) {
        Str text = str_slice(buf_view(&line->text), start, line->text.len);
        mark(line, &e->at, start, wrap ? NULL : first_part(e), format_token_width(text));
    }
}

void format_expr(FormatLine *line, AstExpr *e) { put_expr(line, e, P_TEST); }

void format_list(FormatLine *line, AstExpr *e)
{
    size_t start = line->text.len;
    if (e->kind != EX_TUPLE || !e->items.len) {
        put_expr(line, e, P_TEST);
        return;
    }
    put_items(line, &e->items);
    if (e->items.len == 1)
        buf_char(&line->text, ',');
    mark(line, &e->at, start, &e->items.at[0]->at, 0);
}
