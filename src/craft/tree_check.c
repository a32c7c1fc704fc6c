/* Whether a tree that was built could have been read. In: a tree. Out: diagnostics with the
 * parser's codes, and no place: the tree has none yet. What passes here prints as text that reads
 * back to it. */
#include "craft/report.h"
#include "craft/tree.h"

#include <string.h>

typedef struct Check {
    Arena *arena;
    Diag *diag;
    Str where; /* the function being looked at; empty: file level */
    bool ok;
} Check;

static void report(Check *c, CraftCodeId id, const char *what, Str text)
{
    craft_report(c->diag, id, (Span){0}, NULL, "%s%s%.*s%s%s%.*s", what, text.len ? " '" : "",
                 STR_ARG(text), text.len ? "'" : "", c->where.len ? ", in " : ", at file level",
                 STR_ARG(c->where));
    c->ok = false;
}

static bool is_name(Str s)
{
    bool ok = s.len > 0 && !(s.at[0] >= '0' && s.at[0] <= '9');
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.at[i];
        ok = ok && ((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                    (ch >= '0' && ch <= '9') || ch == '_');
    }
    for (Tok t = TOK_AND; t <= TOK_YIELD && ok; t++)
        ok = !str_is(s, craft_tok_names[t]);
    return ok;
}

static void check_name(Check *c, Str name)
{
    if (!is_name(name))
        report(c, CC_SYNTAX, "not a name:", name);
}

static void check_expr(Check *c, const AstExpr *e, bool slice);

static void check_part(Check *c, const AstExpr *e, bool needed)
{
    if (e)
        check_expr(c, e, false);
    else if (needed)
        report(c, CC_SYNTAX, "an expression has a part that is missing", (Str){0});
}

static bool is_unary(Tok op)
{
    return op == TOK_MINUS || op == TOK_PLUS || op == TOK_TILDE || op == TOK_NOT;
}

static bool is_binary(Tok op)
{
    switch (op) {
    case TOK_OR:
    case TOK_AND:
    case TOK_IN:
    case TOK_STARSTAR:
    case TOK_SLASHSLASH:
    case TOK_SHL:
    case TOK_SHR:
    case TOK_LE:
    case TOK_GE:
    case TOK_EQ:
    case TOK_NE:
    case TOK_PLUS:
    case TOK_MINUS:
    case TOK_STAR:
    case TOK_SLASH:
    case TOK_PERCENT:
    case TOK_AMP:
    case TOK_PIPE:
    case TOK_CARET:
    case TOK_LT:
    case TOK_GT: return true;
    default: return false;
    }
}

static bool is_assignment(Tok op)
{
    switch (op) {
    case TOK_ASSIGN:
    case TOK_PLUSEQ:
    case TOK_MINUSEQ:
    case TOK_STAREQ:
    case TOK_SLASHEQ:
    case TOK_SLASHSLASHEQ:
    case TOK_PERCENTEQ:
    case TOK_AMPEQ:
    case TOK_PIPEEQ:
    case TOK_CARETEQ:
    case TOK_SHLEQ:
    case TOK_SHREQ: return true;
    default: return false;
    }
}

static void check_operator(Check *c, const AstExpr *e)
{
    bool known = e->kind == EX_UNARY    ? is_unary(e->op)
                 : e->kind == EX_BINARY ? is_binary(e->op)
                                        : true;
    if (!known)
        report(c, CC_EXPR_FORM, "not an operator of Craft:",
               str_from(e->op < TOK_COUNT ? craft_tok_names[e->op] : ""));
}

static void check_items(Check *c, const AstExpr *e)
{
    bool index = e->kind == EX_INDEX, call = e->kind == EX_CALL;
    if (index && !e->items.len)
        report(c, CC_SYNTAX, "an index has no items", (Str){0});
    for (uint32_t i = 0; i < e->items.len; i++)
        check_expr(c, e->items.at[i], index);
    if (e->keywords.len && !call)
        report(c, CC_SYNTAX, "keywords stand in calls only", (Str){0});
    for (uint32_t i = 0; i < e->keywords.len; i++) {
        check_name(c, e->keywords.at[i].name);
        check_part(c, e->keywords.at[i].value, true);
    }
}

static void check_expr(Check *c, const AstExpr *e, bool slice)
{
    bool one = e->kind == EX_UNARY || e->kind == EX_CALL || e->kind == EX_INDEX ||
               e->kind == EX_ATTR;
    bool two = e->kind == EX_BINARY || e->kind == EX_COND;
    if (e->depth > CRAFT_MAX_DEPTH) {
        report(c, CC_TOO_DEEP, "an expression is nested too deep", (Str){0});
        return;
    }
    if (e->kind == EX_SLICE && !slice)
        report(c, CC_SYNTAX, "a slice stands outside an index", (Str){0});
    if (e->kind == EX_NAME || e->kind == EX_ATTR)
        check_name(c, e->text);
    check_operator(c, e);
    check_part(c, e->a, one || two);
    check_part(c, e->b, two);
    check_part(c, e->c, e->kind == EX_COND);
    check_items(c, e);
}

static bool is_target(const AstExpr *e, bool in_tuple)
{
    if (e->kind != EX_TUPLE)
        return e->kind == EX_NAME || e->kind == EX_INDEX;
    for (uint32_t i = 0; i < e->items.len; i++)
        if (!is_target(e->items.at[i], true))
            return false;
    return e->items.len && !in_tuple;
}

/* ---- statements ---- */

static void check_block(Check *c, StmtList *block, uint32_t depth);

static void check_comment(Check *c, Str text)
{
    if (!str_starts(text, "#") || memchr(text.at, '\n', text.len) || !str_utf8_valid(text))
        report(c, CC_SYNTAX, "a comment is one line that begins with #:", text);
}

static void check_comments(Check *c, const CommentList *list)
{
    for (uint32_t i = 0; i < list->len; i++)
        check_comment(c, list->at[i].text);
}

static void check_def(Check *c, AstDef *def, uint32_t depth)
{
    Str outside = c->where;
    check_name(c, def->name);
    c->where = def->name;
    for (uint32_t i = 0; i < def->decorators.len; i++)
        check_expr(c, def->decorators.at[i], false);
    for (uint32_t i = 0; i < def->params.len; i++) {
        check_name(c, def->params.at[i].name);
        check_part(c, def->params.at[i].type, false);
        check_part(c, def->params.at[i].value, false);
    }
    check_block(c, &def->body, depth + 1);
    c->where = outside;
}

static void check_stmt(Check *c, AstStmt *s, uint32_t depth)
{
    bool target = s->kind == ST_ASSIGN || s->kind == ST_FOR;
    check_comments(c, &s->above);
    check_comments(c, &s->else_above);
    if (s->trailing.len)
        check_comment(c, s->trailing);
    if (s->else_trailing.len)
        check_comment(c, s->else_trailing);
    if (target && (!s->target || !is_target(s->target, false) ||
                   (s->op != TOK_ASSIGN && s->kind == ST_ASSIGN && s->target->kind == EX_TUPLE)))
        report(c, CC_TARGET, "a name, a view or an element can be assigned", (Str){0});
    if (s->kind == ST_ASSIGN && !is_assignment(s->op))
        report(c, CC_STMT_FORM, "not an assignment of Craft:",
               str_from(s->op < TOK_COUNT ? craft_tok_names[s->op] : ""));
    check_part(c, target ? s->target : NULL, false);
    check_part(c, s->value, s->kind != ST_RETURN && s->kind != ST_PASS && s->kind != ST_DEF);
    check_part(c, s->text, false);
    if (s->kind == ST_DEF)
        check_def(c, s->def, depth);
    if (s->kind == ST_FOR || s->kind == ST_WITH || s->kind == ST_IF)
        check_block(c, &s->body, depth + 1);
    if (s->kind == ST_IF && s->orelse.len)
        check_block(c, &s->orelse, depth + !s->orelse.at[0]->is_elif);
}

/* An empty block is `pass`; elif stands alone after an if. */
static void check_block(Check *c, StmtList *block, uint32_t depth)
{
    if (depth > CRAFT_MAX_BLOCKS) {
        report(c, CC_TOO_DEEP, "blocks are nested too deep", (Str){0});
        return;
    }
    if (!block->len && depth)
        tree_append(c->arena, block, tree_pass(c->arena));
    for (uint32_t i = 0; i < block->len; i++)
        check_stmt(c, block->at[i], depth);
    check_comments(c, &block->after);
}

/* Whether `elif` stands where it may: alone in the else of an if. */
static bool elifs_fit(const StmtList *block, bool orelse)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const AstStmt *s = block->at[i];
        if ((s->is_elif && (!orelse || block->len != 1 || s->kind != ST_IF)) ||
            !elifs_fit(&s->body, false) || !elifs_fit(&s->orelse, true) ||
            (s->def && !elifs_fit(&s->def->body, false)))
            return false;
    }
    return true;
}

static void part_shared(Arena *arena, StmtList *block)
{
    tree_rename(arena, block, (TreeNames){0});
}

bool tree_finish(CraftFile *file, Diag *diag)
{
    Check c = {.arena = file->arena, .diag = diag, .ok = true};
    check_block(&c, &file->stmts, 0);
    if (c.ok && !elifs_fit(&file->stmts, false))
        report(&c, CC_SYNTAX, "'elif' without an if before it", (Str){0});
    if (!c.ok)
        return false;
    part_shared(file->arena, &file->stmts); /* a node has one place */
    tree_place(file);
    if (file->text.len <= CRAFT_MAX_BYTES)
        return true;
    report(&c, CC_TOO_LARGE, "the program has more than a megabyte of text", (Str){0});
    return false;
}
