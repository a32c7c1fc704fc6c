/* Edits of Craft programs; see craft_edit.h. In: a text. Out: another, or what it says. */
#include "loop/craft_edit.h"

#include "craft/craft.h"
#include "craft/tree.h"

static CraftFile *read_craft(Arena *arena, Str craft)
{
    Diag quiet = diag_make(arena, "program.craft", craft);
    CraftFile *file = craft_read(arena, "program.craft", craft, &quiet);
    return file && diag_ok(&quiet) ? file : NULL;
}

static Str written(Arena *arena, const CraftFile *file, Str otherwise)
{
    Buf out = {0};
    Str text = craft_format(file, &out) ? str_copy(arena, buf_view(&out)) : otherwise;
    buf_free(&out);
    return text;
}

static bool is_call(const AstExpr *e, const char *function)
{
    return e && e->kind == EX_CALL && e->a->kind == EX_NAME && str_is(e->a->text, function);
}

/* ---- the whole program ---- */

Str edit_without_reasons(Arena *arena, Str craft)
{
    CraftFile *file = read_craft(arena, craft);
    uint32_t first = file && file->stmts.len ? file->stmts.at[0]->at.line : 1;
    size_t at = 0;
    for (uint32_t line = 1; line < first && at < craft.len; at++)
        line += craft.at[at] == '\n';
    return str_slice(craft, at, craft.len);
}

static void widen_dims(Arena *arena, CraftFile *file)
{
    for (uint32_t i = 0; i < file->stmts.len; i++) {
        AstStmt *s = file->stmts.at[i];
        bool range = is_call(s->value, "dim") && s->value->items.len > 1 &&
                     !tree_same_expr(s->value->items.at[0], s->value->items.at[1]);
        if (!range)
            continue;
        s->value = tree_copy_expr(arena, s->value);
        s->value->items.len = 0;
        vec_push(arena, &s->value->items, tree_int(arena, 1));
        vec_push(arena, &s->value->items, tree_int(arena, 2));
    }
}

bool edit_same(Arena *arena, Str a, Str b)
{
    CraftFile *one = read_craft(arena, a), *other = read_craft(arena, b);
    if (!one || !other)
        return false;
    widen_dims(arena, one);
    widen_dims(arena, other);
    return tree_same(one, other);
}

/* ---- sizes ---- */

void edit_sizes(Arena *arena, Str craft, const char *operand, NameList *names)
{
    CraftFile *file = read_craft(arena, craft);
    AstStmt *host = file ? tree_find_host(file) : NULL;
    for (uint32_t i = 0; host && i < host->def->params.len; i++) {
        const AstParam *p = &host->def->params.at[i];
        bool is = str_is(p->name, operand) && p->type && p->type->kind == EX_INDEX;
        for (uint32_t a = 1; is && a < p->type->items.len; a++)
            vec_push(arena, names,
                     p->type->items.at[a]->kind == EX_NAME
                         ? str_dup(arena, p->type->items.at[a]->text)
                         : NULL);
    }
}

Str edit_dim(Arena *arena, Str craft, const char *name, int64_t lo, int64_t hi)
{
    CraftFile *file = read_craft(arena, craft);
    AstStmt *s = file ? tree_find_declared(file, name) : NULL;
    if (!s || !is_call(s->value, "dim"))
        return craft;
    s->value = tree_copy_expr(arena, s->value);
    s->value->items.len = 0;
    vec_push(arena, &s->value->items, tree_int(arena, lo));
    vec_push(arena, &s->value->items, tree_int(arena, hi));
    return written(arena, file, craft);
}

/* ---- choices ---- */

/* The first statement `name = choose("name", [...])` of the block; any name where it is NULL. */
static AstStmt *find_choice(const StmtList *block, const char *name)
{
    for (uint32_t i = 0; i < block->len; i++) {
        AstStmt *s = block->at[i];
        if (is_call(s->value, "choose") && s->value->items.len == 2 &&
            (!name || str_is(s->value->items.at[0]->string, name)))
            return s;
        AstStmt *inside = find_choice(&s->body, name);
        inside = inside ? inside : find_choice(&s->orelse, name);
        if (inside)
            return inside;
    }
    return NULL;
}

static AstStmt *choice_of(const CraftFile *file, const char *name)
{
    AstStmt *host = file ? tree_find_host(file) : NULL;
    return host ? find_choice(&host->def->body, name) : NULL;
}

bool edit_has_choice(Arena *arena, Str craft)
{
    return choice_of(read_craft(arena, craft), NULL) != NULL;
}

Str edit_choice_first(Arena *arena, Str craft, const char *name, int64_t value)
{
    CraftFile *file = read_craft(arena, craft);
    AstStmt *s = choice_of(file, name);
    if (!s)
        return craft;
    AstExpr *call = tree_copy_expr(arena, s->value), *list = call->items.at[1];
    ExprList others = {0};
    vec_push(arena, &others, tree_int(arena, value));
    for (uint32_t i = 0; i < list->items.len; i++)
        if (list->items.at[i]->i != value)
            vec_push(arena, &others, list->items.at[i]);
    list->items = others;
    s->value = call;
    return written(arena, file, craft);
}

Str edit_choice_rule(Arena *arena, Str craft, const char *name, const EditRule *rule)
{
    CraftFile *file = read_craft(arena, craft);
    AstStmt *s = choice_of(file, name);
    if (!s)
        return craft;
    AstExpr *few = tree_binary(arena, TOK_LT, tree_name(arena, rule->size),
                               tree_int(arena, rule->below));
    s->value = tree_cond(arena, tree_int(arena, rule->small), few, tree_int(arena, rule->large));
    return written(arena, file, craft);
}
