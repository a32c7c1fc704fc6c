/* The canonical spelling of a Craft file. In: the syntax tree and its comments. Out: text that
 * reads back to the same tree and formats to itself.
 *
 * Four blanks a level, one statement a line, one blank line at most between statements and
 * exactly one around functions, no needless brackets, lines of at most 100 columns broken after
 * a comma. Comments stay where they stand; one inside a broken line moves above it. */
#include "craft/ast.h"
#include "craft/craft.h"

#include <string.h>

enum { COLUMNS = 100, INDENT = 4, HANG = 8 };

typedef struct Writer {
    const CraftFile *file;
    Buf *out;
    uint32_t comment;  /* the next one to print */
    uint32_t end_line; /* of the source line printed last */
    bool first;        /* nothing printed in this block yet */
    bool force_blank;  /* a blank line belongs before the next thing */
} Writer;

/* ---- expressions ---- */

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

static void put_expr(Buf *out, const AstExpr *e, int least);

static void put_items(Buf *out, const ExprList *items)
{
    for (uint32_t i = 0; i < items->len; i++) {
        if (i)
            buf_puts(out, ", ");
        put_expr(out, items->at[i], P_TEST);
    }
}

static bool is_plain(const AstExpr *e)
{
    return !e || e->kind == EX_NAME || e->kind == EX_INT || e->kind == EX_ATTR;
}

static void put_slice(Buf *out, const AstExpr *e)
{
    bool plain = is_plain(e->a) && is_plain(e->b);
    if (e->a)
        put_expr(out, e->a, P_TEST);
    if (!plain && e->a)
        buf_char(out, ' ');
    buf_char(out, ':');
    if (!plain && e->b && e->a)
        buf_char(out, ' ');
    if (e->b)
        put_expr(out, e->b, P_TEST);
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

static void put_call(Buf *out, const AstExpr *e)
{
    put_expr(out, e->a, P_PRIMARY);
    buf_char(out, '(');
    put_items(out, &e->items);
    for (uint32_t i = 0; i < e->keywords.len; i++) {
        if (i || e->items.len)
            buf_puts(out, ", ");
        buf_str(out, e->keywords.at[i].name);
        buf_char(out, '=');
        put_expr(out, e->keywords.at[i].value, P_TEST);
    }
    buf_char(out, ')');
}

static void put_binary(Buf *out, const AstExpr *e)
{
    int level = binary_level(e->op);
    bool power = e->op == TOK_STARSTAR;
    int left = power ? P_PRIMARY : level == P_COMPARE ? P_BITS : level;
    int right = power ? P_UNARY : level == P_COMPARE ? P_BITS : level + 1;
    put_expr(out, e->a, left);
    buf_printf(out, " %s ", craft_tok_names[e->op]);
    put_expr(out, e->b, right);
}

static void put_bare(Buf *out, const AstExpr *e)
{
    switch (e->kind) {
    case EX_NAME:
    case EX_INT:
    case EX_FLOAT:
    case EX_BOOL: buf_str(out, e->text); return;
    case EX_STRING: put_string(out, e); return;
    case EX_UNARY:
        buf_puts(out, e->op == TOK_NOT ? "not " : craft_tok_names[e->op]);
        put_expr(out, e->a, e->op == TOK_NOT ? P_NOT : P_UNARY);
        return;
    case EX_BINARY: put_binary(out, e); return;
    case EX_COND:
        put_expr(out, e->a, P_OR);
        buf_puts(out, " if ");
        put_expr(out, e->b, P_OR);
        buf_puts(out, " else ");
        put_expr(out, e->c, P_TEST);
        return;
    case EX_CALL: put_call(out, e); return;
    case EX_INDEX:
        put_expr(out, e->a, P_PRIMARY);
        buf_char(out, '[');
        put_items(out, &e->items);
        buf_char(out, ']');
        return;
    case EX_ATTR: {
        bool number = e->a->kind == EX_INT || e->a->kind == EX_FLOAT;
        put_expr(out, e->a, number ? P_PRIMARY + 1 : P_PRIMARY);
        buf_char(out, '.');
        buf_str(out, e->text);
        return;
    }
    case EX_SLICE: put_slice(out, e); return;
    case EX_LIST:
        buf_char(out, '[');
        put_items(out, &e->items);
        buf_char(out, ']');
        return;
    case EX_TUPLE:
        buf_char(out, '(');
        put_items(out, &e->items);
        buf_puts(out, e->items.len == 1 ? ",)" : ")");
        return;
    }
}

static void put_expr(Buf *out, const AstExpr *e, int least)
{
    bool wrap = level_of(e) < least;
    if (wrap)
        buf_char(out, '(');
    put_bare(out, e);
    if (wrap)
        buf_char(out, ')');
}

/* A tuple without its brackets, as in assignments. */
static void put_list(Buf *out, const AstExpr *e)
{
    if (e->kind != EX_TUPLE || !e->items.len) {
        put_expr(out, e, P_TEST);
        return;
    }
    put_items(out, &e->items);
    if (e->items.len == 1)
        buf_char(out, ',');
}

/* ---- lines ---- */

/* Where to end a line that is too long: after a comma inside as few brackets as possible, the
 * last of those that fit, else the first at all; 0: nowhere. */
static size_t break_after(Str line, size_t room, int *depth)
{
    size_t best = 0;
    int d = *depth, best_depth = *depth;
    char quote = '\0';
    for (size_t i = 0; i < line.len && (i < room || !best); i++) {
        char c = line.at[i];
        if (quote) {
            if (c == '\\')
                i++;
            else if (c == quote)
                quote = '\0';
            continue;
        }
        if (c == '"' || c == '\'')
            quote = c;
        d += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        bool comma = c == ',' && d > 0 && i + 1 < line.len && line.at[i + 1] == ' ';
        if (comma && (!best || d <= best_depth)) {
            best = i + 1;
            best_depth = d;
        }
    }
    *depth = best_depth;
    return best;
}

static void put_line(Writer *w, Str line, uint32_t depth)
{
    size_t indent = (size_t)depth * INDENT;
    int brackets = 0;
    buf_fill(w->out, ' ', indent);
    while (indent + line.len > COLUMNS && !memchr(line.at, '\n', line.len)) {
        size_t cut = break_after(line, COLUMNS - indent, &brackets);
        if (!cut)
            break;
        buf_str(w->out, str_slice(line, 0, cut));
        buf_char(w->out, '\n');
        line = str_trim(str_slice(line, cut, line.len));
        indent = (size_t)depth * INDENT + HANG;
        buf_fill(w->out, ' ', indent);
    }
    buf_str(w->out, line);
}

static void gap(Writer *w, uint32_t line)
{
    if (!w->first && (w->force_blank || line > w->end_line + 1))
        buf_char(w->out, '\n');
    w->first = w->force_blank = false;
}

static const Comment *next_comment(const Writer *w)
{
    return w->comment < w->file->comments.len ? &w->file->comments.at[w->comment] : NULL;
}

static void put_comment(Writer *w, const Comment *c, uint32_t depth)
{
    gap(w, c->line);
    buf_fill(w->out, ' ', (size_t)depth * INDENT);
    buf_str(w->out, c->text);
    buf_char(w->out, '\n');
    w->end_line = c->line;
    w->comment++;
}

/* Comments above a statement whose header stands on lines `first` to `last`; those inside the
 * header move above it. */
static void put_comments(Writer *w, uint32_t first, uint32_t last, uint32_t depth)
{
    const Comment *c;
    while ((c = next_comment(w)) && (c->line < last || (c->line == last && c->own_line))) {
        if (c->line >= first && w->end_line < c->line)
            w->end_line = c->line - 1;
        put_comment(w, c, depth);
    }
}

/* next: the line of the next statement; a comment belongs to the last one on its line. */
static void put_trailing(Writer *w, uint32_t line, uint32_t next)
{
    const Comment *c = next_comment(w);
    if (c && c->line == line && next != line) {
        buf_puts(w->out, "  ");
        buf_str(w->out, c->text);
        w->comment++;
    }
    buf_char(w->out, '\n');
}

/* ---- statements ---- */

static void put_block(Writer *w, const StmtList *body, uint32_t depth, uint32_t until);

static void put_text(Writer *w, const Buf *text, uint32_t depth, uint32_t last_line, uint32_t next)
{
    put_line(w, buf_view(text), depth);
    put_trailing(w, last_line, next);
    w->end_line = last_line;
}

static void small_text(Buf *out, const AstStmt *s)
{
    switch (s->kind) {
    case ST_ASSIGN:
        put_list(out, s->target);
        buf_printf(out, " %s ", craft_tok_names[s->op]);
        put_list(out, s->value);
        return;
    case ST_ASSERT:
        buf_puts(out, "assert ");
        put_expr(out, s->value, P_TEST);
        if (s->text) {
            buf_puts(out, ", ");
            put_expr(out, s->text, P_TEST);
        }
        return;
    case ST_RETURN:
        buf_puts(out, "return");
        if (s->value) {
            buf_char(out, ' ');
            put_list(out, s->value);
        }
        return;
    case ST_PASS: buf_puts(out, "pass"); return;
    default: put_list(out, s->value);
    }
}

static void header_text(Buf *out, const AstStmt *s)
{
    if (s->kind == ST_FOR) {
        buf_puts(out, "for ");
        put_list(out, s->target);
        buf_puts(out, " in ");
    } else {
        buf_puts(out, s->kind == ST_WITH ? "with " : s->is_elif ? "elif " : "if ");
    }
    put_expr(out, s->value, P_TEST);
    buf_char(out, ':');
}

static void put_if(Writer *w, const AstStmt *s, uint32_t depth, uint32_t until)
{
    Buf text = {0};
    bool elif = s->orelse.len == 1 && s->orelse.at[0]->is_elif;
    uint32_t other = elif ? s->orelse.at[0]->at.line : s->else_line ? s->else_line : until;
    if (s->is_elif)
        put_comments(w, s->at.line, s->last_line, depth);
    header_text(&text, s);
    put_text(w, &text, depth, s->last_line, 0);
    buf_free(&text);
    put_block(w, &s->body, depth + 1, other);
    if (elif) {
        put_if(w, s->orelse.at[0], depth, until);
    } else if (s->orelse.len) {
        put_comments(w, s->else_line, s->else_line, depth);
        buf_fill(w->out, ' ', (size_t)depth * INDENT);
        buf_puts(w->out, "else:");
        put_trailing(w, s->else_line, 0);
        w->end_line = s->else_line;
        put_block(w, &s->orelse, depth + 1, until);
    }
}

static void def_text(Buf *out, const AstDef *def)
{
    buf_puts(out, "def ");
    buf_str(out, def->name);
    buf_char(out, '(');
    for (uint32_t i = 0; i < def->params.len; i++) {
        const AstParam *p = &def->params.at[i];
        if (i)
            buf_puts(out, ", ");
        buf_str(out, p->name);
        if (p->type) {
            buf_puts(out, ": ");
            put_expr(out, p->type, P_TEST);
        }
        if (p->value) {
            buf_puts(out, p->type ? " = " : "=");
            put_expr(out, p->value, P_TEST);
        }
    }
    buf_puts(out, "):");
}

static void put_def(Writer *w, const AstStmt *s, uint32_t depth, uint32_t until)
{
    Buf text = {0};
    for (uint32_t i = 0; i < s->def->decorators.len; i++) {
        buf_clear(&text);
        buf_char(&text, '@');
        put_expr(&text, s->def->decorators.at[i], P_TEST);
        put_line(w, buf_view(&text), depth);
        buf_char(w->out, '\n');
    }
    buf_clear(&text);
    def_text(&text, s->def);
    put_text(w, &text, depth, s->last_line, 0);
    buf_free(&text);
    put_block(w, &s->def->body, depth + 1, until);
    w->force_blank = true;
}

/* until: the line of what follows the statement in the source. */
static void put_stmt(Writer *w, const AstStmt *s, uint32_t depth, uint32_t until)
{
    if (s->kind == ST_DEF)
        w->force_blank = true;
    put_comments(w, s->at.line, s->last_line, depth);
    gap(w, s->at.line);
    if (s->kind == ST_DEF) {
        put_def(w, s, depth, until);
    } else if (s->kind == ST_IF) {
        put_if(w, s, depth, until);
    } else {
        Buf text = {0};
        bool block = s->kind == ST_FOR || s->kind == ST_WITH;
        if (block)
            header_text(&text, s);
        else
            small_text(&text, s);
        put_text(w, &text, depth, s->last_line, block ? 0 : until);
        buf_free(&text);
        if (block)
            put_block(w, &s->body, depth + 1, until);
    }
    if (s->end_line > w->end_line)
        w->end_line = s->end_line;
}

static void put_block(Writer *w, const StmtList *body, uint32_t depth, uint32_t until)
{
    const Comment *c;
    w->first = true;
    for (uint32_t i = 0; i < body->len; i++)
        put_stmt(w, body->at[i], depth, i + 1 < body->len ? body->at[i + 1]->at.line : until);
    /* comments at the end of the block, indented like it */
    while (body->len && (c = next_comment(w)) && c->line < until && c->own_line &&
           c->col >= body->at[0]->at.col)
        put_comment(w, c, depth);
    w->first = false;
}

bool craft_format(const CraftFile *file, Buf *out)
{
    if (file->broken)
        return false;
    Writer w = {.file = file, .out = out};
    put_block(&w, &file->stmts, 0, UINT32_MAX);
    const Comment *c;
    while ((c = next_comment(&w)))
        put_comment(&w, c, 0);
    return true;
}
