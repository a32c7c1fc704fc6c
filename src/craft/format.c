/* The canonical spelling of a Craft file. In: the syntax tree. Out: text that reads back to the
 * same tree and formats to itself; on request the place of every node in that text.
 *
 * Four blanks a level, one statement a line, one blank line at most between statements and
 * exactly one around functions, no needless brackets, lines of at most 100 columns broken after
 * a comma. */
#include "craft/format_int.h"

#include "craft/craft.h"
#include "craft/tree.h"
#include <string.h>

enum { COLUMNS = 100, INDENT = 4, HANG = 8 };

typedef struct Writer {
    Buf *out;
    FormatLine line;  /* being put together */
    uint32_t number;  /* of the text's line that is written next */
    bool first;       /* nothing printed in this block yet */
    bool force_blank; /* a blank line belongs before the next thing */
} Writer;

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

/* Bytes of the line up to `end` stand on one line of the text. */
typedef struct Piece {
    size_t start, end, indent;
} Piece;

/* What part of the marks this piece has: where they begin, and whether they end here. */
static void place_piece(const Writer *w, Piece p)
{
    for (uint32_t i = 0; i < w->line.marks.len; i++) {
        const FormatMark *m = &w->line.marks.at[i];
        if (m->start < p.start || m->start >= p.end)
            continue;
        bool here = m->end <= p.end;
        *m->at = (Span){.line = w->number,
                        .col = (uint32_t)(p.indent + (m->start - p.start)) + 1,
                        .width = here      ? m->end - m->start
                                 : m->from ? m->from->width
                                           : m->width};
    }
}

static void end_line(Writer *w)
{
    buf_char(w->out, '\n');
    w->number++;
}

/* Writes one logical line, wrapped at the last column, without the newline after it. */
static void put_line(Writer *w, uint32_t depth)
{
    Str line = buf_view(&w->line.text);
    Piece p = {0, line.len, (size_t)depth * INDENT};
    int brackets = 0;
    buf_fill(w->out, ' ', p.indent);
    while (p.indent + line.len - p.start > COLUMNS && !memchr(line.at, '\n', line.len)) {
        Str rest = str_slice(line, p.start, line.len);
        size_t cut = break_after(rest, COLUMNS - p.indent, &brackets);
        if (!cut)
            break;
        p.end = p.start + cut;
        buf_str(w->out, str_slice(line, p.start, p.end));
        place_piece(w, p);
        end_line(w);
        p.start = p.end;
        while (p.start < line.len && line.at[p.start] == ' ')
            p.start++;
        p.indent = (size_t)depth * INDENT + HANG;
        buf_fill(w->out, ' ', p.indent);
    }
    p.end = line.len;
    buf_str(w->out, str_slice(line, p.start, p.end));
    place_piece(w, p);
    for (size_t i = p.start; i < line.len; i++)
        w->number += line.at[i] == '\n';
}

static void put_gap(Writer *w, bool blank)
{
    if (!w->first && (w->force_blank || blank))
        end_line(w);
    w->first = w->force_blank = false;
}

static void put_comments(Writer *w, const CommentList *list, uint32_t depth)
{
    for (uint32_t i = 0; i < list->len; i++) {
        put_gap(w, list->at[i].blank);
        buf_fill(w->out, ' ', (size_t)depth * INDENT);
        buf_str(w->out, list->at[i].text);
        end_line(w);
    }
}

static void put_trailing(Writer *w, Str comment)
{
    if (comment.len) {
        buf_puts(w->out, "  ");
        buf_str(w->out, comment);
    }
    end_line(w);
}

/* ---- statements ---- */

static void put_block(Writer *w, const StmtList *body, uint32_t depth);

/* The line that was put together, the last of a header. */
static void put_header(Writer *w, AstStmt *s, uint32_t depth)
{
    put_line(w, depth);
    if (w->line.placing)
        s->last_line = w->number;
    put_trailing(w, s->trailing);
}

static void small_text(FormatLine *line, const AstStmt *s)
{
    Buf *out = &line->text;
    switch (s->kind) {
    case ST_ASSIGN:
        format_list(line, s->target);
        buf_printf(out, " %s ", craft_tok_names[s->op]);
        format_list(line, s->value);
        return;
    case ST_ASSERT:
        buf_puts(out, "assert ");
        format_expr(line, s->value);
        if (s->text) {
            buf_puts(out, ", ");
            format_expr(line, s->text);
        }
        return;
    case ST_RETURN:
        buf_puts(out, "return");
        if (s->value) {
            buf_char(out, ' ');
            format_list(line, s->value);
        }
        return;
    case ST_PASS: buf_puts(out, "pass"); return;
    default: format_list(line, s->value);
    }
}

static void header_text(FormatLine *line, const AstStmt *s)
{
    Buf *out = &line->text;
    if (s->kind == ST_FOR) {
        buf_puts(out, "for ");
        format_list(line, s->target);
        buf_puts(out, " in ");
    } else {
        buf_puts(out, s->kind == ST_WITH ? "with " : s->is_elif ? "elif " : "if ");
    }
    format_expr(line, s->value);
    buf_char(out, ':');
}

static void def_text(FormatLine *line, AstDef *def)
{
    Buf *out = &line->text;
    buf_puts(out, "def ");
    buf_str(out, def->name);
    format_token(line, &def->name_at, strlen("def "));
    buf_char(out, '(');
    for (uint32_t i = 0; i < def->params.len; i++) {
        AstParam *p = &def->params.at[i];
        if (i)
            buf_puts(out, ", ");
        size_t start = out->len;
        buf_str(out, p->name);
        format_token(line, &p->at, start);
        if (p->type) {
            buf_puts(out, ": ");
            format_expr(line, p->type);
        }
        if (p->value) {
            buf_puts(out, p->type ? " = " : "=");
            format_expr(line, p->value);
        }
    }
    buf_puts(out, "):");
}

/* A statement stands where its first token does. */
static void place_stmt(const Writer *w, AstStmt *s, uint32_t depth)
{
    uint32_t width = format_token_width(buf_view(&w->line.text));
    if (w->line.placing)
        s->at = (Span){w->number, depth * INDENT + 1, width};
}

static void put_if(Writer *w, AstStmt *s, uint32_t depth)
{
    bool elif = s->orelse.len == 1 && s->orelse.at[0]->is_elif;
    if (s->is_elif)
        put_comments(w, &s->above, depth);
    format_clear(&w->line);
    header_text(&w->line, s);
    place_stmt(w, s, depth);
    put_header(w, s, depth);
    put_block(w, &s->body, depth + 1);
    if (elif) {
        put_if(w, s->orelse.at[0], depth);
    } else if (s->orelse.len) {
        put_comments(w, &s->else_above, depth);
        buf_fill(w->out, ' ', (size_t)depth * INDENT);
        buf_puts(w->out, "else:");
        if (w->line.placing)
            s->else_line = w->number;
        put_trailing(w, s->else_trailing);
        put_block(w, &s->orelse, depth + 1);
    }
}

static void put_def(Writer *w, AstStmt *s, uint32_t depth)
{
    for (uint32_t i = 0; i < s->def->decorators.len; i++) {
        format_clear(&w->line);
        buf_char(&w->line.text, '@');
        format_expr(&w->line, s->def->decorators.at[i]);
        if (i == 0)
            place_stmt(w, s, depth);
        put_line(w, depth);
        end_line(w);
    }
    format_clear(&w->line);
    def_text(&w->line, s->def);
    if (!s->def->decorators.len)
        place_stmt(w, s, depth);
    put_header(w, s, depth);
    put_block(w, &s->def->body, depth + 1);
    w->force_blank = true;
}

static void put_stmt(Writer *w, AstStmt *s, uint32_t depth)
{
    bool block = s->kind == ST_FOR || s->kind == ST_WITH;
    if (s->kind == ST_DEF)
        w->force_blank = true;
    put_comments(w, &s->above, depth);
    put_gap(w, s->blank);
    if (s->kind == ST_DEF) {
        put_def(w, s, depth);
    } else if (s->kind == ST_IF) {
        put_if(w, s, depth);
    } else {
        format_clear(&w->line);
        if (block)
            header_text(&w->line, s);
        else
            small_text(&w->line, s);
        place_stmt(w, s, depth);
        put_header(w, s, depth);
        if (block)
            put_block(w, &s->body, depth + 1);
    }
}

static void put_block(Writer *w, const StmtList *body, uint32_t depth)
{
    w->first = true;
    for (uint32_t i = 0; i < body->len; i++)
        put_stmt(w, body->at[i], depth);
    put_comments(w, &body->after, depth);
    w->first = false;
}

static void format_file(const CraftFile *file, bool placing, Buf *out)
{
    Arena marks = {0};
    Writer w = {.out = out, .number = 1, .line = {.placing = placing, .arena = &marks}};
    put_block(&w, &file->stmts, 0);
    buf_free(&w.line.text);
    arena_drop(&marks);
}

bool craft_format(const CraftFile *file, Buf *out)
{
    if (file->broken)
        return false;
    format_file(file, false, out);
    return true;
}

void tree_place(CraftFile *file)
{
    Buf text = {0};
    format_file(file, true, &text);
    file->text = str_copy(file->arena, buf_view(&text));
    buf_free(&text);
}
