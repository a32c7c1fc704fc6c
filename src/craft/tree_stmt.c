/* Constructors of statements; see tree.h. */
#include "craft/tree.h"

static AstStmt *new_stmt(Arena *arena, StmtKind kind, AstExpr *value)
{
    AstStmt *s = arena_new(arena, AstStmt);
    s->kind = kind;
    s->value = value;
    return s;
}

AstStmt *tree_append(Arena *arena, StmtList *block, AstStmt *stmt)
{
    vec_push(arena, block, stmt);
    return stmt;
}

/* Each line of the text becomes a comment. */
static void add_comments(Arena *arena, CommentList *to, const char *text)
{
    Str rest = str_from(text), line;
    while (str_next(&rest, '\n', &line)) {
        Str words = str_copy(arena, str_from(str_format(arena, "# %.*s", STR_ARG(line))));
        AstComment c = {.text = str_trim(words)};
        vec_push(arena, to, c);
    }
}

void tree_comment(Arena *arena, AstStmt *stmt, const char *text)
{
    add_comments(arena, &stmt->above, text);
}

void tree_comment_end(Arena *arena, StmtList *block, const char *text)
{
    add_comments(arena, &block->after, text);
}

void tree_trailing(Arena *arena, AstStmt *stmt, const char *text)
{
    stmt->trailing = str_from(str_format(arena, "# %s", text));
}

AstStmt *tree_assign(Arena *arena, AstExpr *target, Tok op, AstExpr *value)
{
    AstStmt *s = new_stmt(arena, ST_ASSIGN, value);
    s->target = target;
    s->op = op;
    return s;
}

AstStmt *tree_set(Arena *arena, const char *name, AstExpr *value)
{
    return tree_assign(arena, tree_name(arena, name), TOK_ASSIGN, value);
}

AstStmt *tree_do(Arena *arena, AstExpr *call) { return new_stmt(arena, ST_EXPR, call); }

AstStmt *tree_for(Arena *arena, AstExpr *target, AstExpr *over)
{
    AstStmt *s = new_stmt(arena, ST_FOR, over);
    s->target = target;
    return s;
}

AstStmt *tree_with(Arena *arena, AstExpr *what) { return new_stmt(arena, ST_WITH, what); }

AstStmt *tree_if(Arena *arena, AstExpr *condition) { return new_stmt(arena, ST_IF, condition); }

AstStmt *tree_elif(Arena *arena, AstStmt *first, AstExpr *condition)
{
    AstStmt *s = new_stmt(arena, ST_IF, condition);
    s->is_elif = true;
    return tree_append(arena, &first->orelse, s);
}

AstStmt *tree_assert(Arena *arena, AstExpr *condition, const char *text)
{
    AstStmt *s = new_stmt(arena, ST_ASSERT, condition);
    s->text = text ? tree_text(arena, text) : NULL;
    return s;
}

AstStmt *tree_return(Arena *arena, AstExpr *value) { return new_stmt(arena, ST_RETURN, value); }

AstStmt *tree_pass(Arena *arena) { return new_stmt(arena, ST_PASS, NULL); }
