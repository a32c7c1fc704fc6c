/* Comments of a text go to the statements they stand at. In: a parsed file, its comments by line.
 * Out: the same file, each comment above a statement, after its header, or at the end of a block;
 * one inside a broken line moves above it. Blank lines become marks of what follows them. */
#include "craft/parse_int.h"

typedef struct Attach {
    CraftFile *file;
    uint32_t next;     /* the next comment to give away */
    uint32_t end_line; /* of what was passed last */
} Attach;

static const Comment *next_comment(const Attach *t)
{
    return t->next < t->file->comments.len ? &t->file->comments.at[t->next] : NULL;
}

static void take_comment(Attach *t, const Comment *c, CommentList *to)
{
    AstComment made = {c->text, c->line > t->end_line + 1};
    vec_push(t->file->arena, to, made);
    t->end_line = c->line;
    t->next++;
}

/* Comments above a header on lines `first` to `last`; those inside the header move above it. */
static void take_above(Attach *t, uint32_t first, uint32_t last, CommentList *to)
{
    const Comment *c;
    while ((c = next_comment(t)) && (c->line < last || (c->line == last && c->own_line))) {
        if (c->line >= first && t->end_line < c->line)
            t->end_line = c->line - 1;
        take_comment(t, c, to);
    }
}

/* next: the line of the next statement; a comment belongs to the last one on its line. */
static void take_trailing(Attach *t, uint32_t line, uint32_t next, Str *to)
{
    const Comment *c = next_comment(t);
    if (c && c->line == line && next != line) {
        *to = c->text;
        t->next++;
    }
    t->end_line = line;
}

static void block(Attach *t, StmtList *body, uint32_t until);

static void if_block(Attach *t, AstStmt *s, uint32_t until)
{
    AstStmt *elif = s->orelse.len == 1 && s->orelse.at[0]->is_elif ? s->orelse.at[0] : NULL;
    uint32_t other = elif ? elif->at.line : s->else_line ? s->else_line : until;
    take_trailing(t, s->last_line, 0, &s->trailing);
    block(t, &s->body, other);
    if (elif) {
        take_above(t, elif->at.line, elif->last_line, &elif->above);
        if_block(t, elif, until);
    } else if (s->orelse.len) {
        take_above(t, s->else_line, s->else_line, &s->else_above);
        take_trailing(t, s->else_line, 0, &s->else_trailing);
        block(t, &s->orelse, until);
    }
}

/* until: the line of what follows the statement in the text. */
static void statement(Attach *t, AstStmt *s, uint32_t until)
{
    bool small = s->kind != ST_DEF && s->kind != ST_FOR && s->kind != ST_WITH;
    take_above(t, s->at.line, s->last_line, &s->above);
    s->blank = s->at.line > t->end_line + 1;
    if (s->kind == ST_IF) {
        if_block(t, s, until);
    } else {
        take_trailing(t, s->last_line, small ? until : 0, &s->trailing);
        if (!small)
            block(t, s->kind == ST_DEF ? &s->def->body : &s->body, until);
    }
    if (s->end_line > t->end_line)
        t->end_line = s->end_line;
}

static void block(Attach *t, StmtList *body, uint32_t until)
{
    const Comment *c;
    for (uint32_t i = 0; i < body->len; i++)
        statement(t, body->at[i], i + 1 < body->len ? body->at[i + 1]->at.line : until);
    /* comments at the end of the block, indented like it */
    while (body->len && (c = next_comment(t)) && c->line < until && c->own_line &&
           c->col >= body->at[0]->at.col)
        take_comment(t, c, &body->after);
}

void craft_attach_comments(CraftFile *file)
{
    Attach t = {.file = file};
    const Comment *c;
    block(&t, &file->stmts, UINT32_MAX);
    while ((c = next_comment(&t)))
        take_comment(&t, c, &file->stmts.after);
}
