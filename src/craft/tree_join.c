/* Two programs become one; see tree.h. In: the programs, and how names of the second are renamed in
 * the first. Out: the first, whose host function launches the kernels of both. */
#include "base/map.h"
#include "craft/tree.h"

typedef VEC(TreeName) NameVec;

/* Names in the order they were met. */
typedef struct Bound {
    VEC(Str) names;
    Map map;
} Bound;

typedef struct Join {
    Arena *arena;
    CraftFile *into, *from; /* from: a copy of ours */
    AstStmt *into_host, *from_host;
    TreeNames given;
    const char *prefix;
    Bound file_level, host_level, bound; /* names of `into`: there, and of any place */
    NameVec everywhere, host;
} Join;

/* ---- names that a tree binds ---- */

static bool is_bound(const Bound *bound, Str name)
{
    uint32_t value;
    return map_get(&bound->map, name, &value);
}

static void bind_name(Join *j, Bound *bound, Str name)
{
    if (is_bound(bound, name))
        return;
    name = str_copy(j->arena, name);
    map_put(j->arena, &bound->map, name, bound->names.len);
    vec_push(j->arena, &bound->names, name);
}

static void bind_target(Join *j, Bound *map, const AstExpr *target)
{
    if (target->kind == EX_NAME)
        bind_name(j, map, target->text);
    for (uint32_t i = 0; target->kind == EX_TUPLE && i < target->items.len; i++)
        bind_target(j, map, target->items.at[i]);
}

static void bind_block(Join *j, Bound *map, const StmtList *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const AstStmt *s = block->at[i];
        if (s->target)
            bind_target(j, map, s->target);
        bind_block(j, map, &s->body);
        bind_block(j, map, &s->orelse);
        for (uint32_t p = 0; s->def && p < s->def->params.len; p++)
            bind_name(j, map, s->def->params.at[p].name);
        if (s->def)
            bind_block(j, map, &s->def->body);
    }
}

static void bind_file(Join *j, Bound *map, const StmtList *stmts)
{
    for (uint32_t i = 0; i < stmts->len; i++)
        if (stmts->at[i]->kind == ST_DEF)
            bind_name(j, map, stmts->at[i]->def->name);
        else if (stmts->at[i]->kind == ST_ASSIGN)
            bind_target(j, map, stmts->at[i]->target);
}

/* ---- what names become ---- */

static const TreeName *given_name(const Join *j, Str name)
{
    for (uint32_t i = 0; i < j->given.len; i++)
        if (str_is(name, j->given.at[i].from))
            return &j->given.at[i];
    return NULL;
}

static AstExpr *prefixed(const Join *j, Str name)
{
    return tree_name(j->arena, str_format(j->arena, "%s%.*s", j->prefix, STR_ARG(name)));
}

static void add_name(const Join *j, NameVec *to, Str name, AstExpr *becomes)
{
    TreeName n = {str_dup(j->arena, name), becomes};
    vec_push(j->arena, to, n);
}

/* Names of a scope of `from`: as given, or with the prefix where `taken` has them. */
static void settle_names(const Join *j, const Bound *own, const Bound *taken, NameVec *to)
{
    for (uint32_t i = 0; i < own->names.len; i++) {
        Str name = own->names.at[i];
        const TreeName *given = given_name(j, name);
        if (given)
            add_name(j, to, name, given->to);
        else if (is_bound(taken, name))
            add_name(j, to, name, prefixed(j, name));
    }
}

static TreeNames names_of(const NameVec *v) { return (TreeNames){v->at, v->len}; }

/* ---- the parts of `from` ---- */

/* choose("tile", ...): the choice's own name must be new, too. */
static void rename_choices(const Join *j, StmtList *block, const Bound *taken)
{
    for (uint32_t i = 0; i < block->len; i++) {
        AstStmt *s = block->at[i];
        AstExpr *v = s->kind == ST_ASSIGN ? s->value : NULL;
        rename_choices(j, &s->body, taken);
        rename_choices(j, &s->orelse, taken);
        if (!v || v->kind != EX_CALL || v->a->kind != EX_NAME || !str_is(v->a->text, "choose") ||
            !v->items.len || v->items.at[0]->kind != EX_STRING ||
            !is_bound(taken, v->items.at[0]->string))
            continue;
        Str name = v->items.at[0]->string;
        v->items.at[0] = tree_text(j->arena,
                                   str_format(j->arena, "%s%.*s", j->prefix, STR_ARG(name)));
    }
}

static void bind_choices(Join *j, Bound *map, const StmtList *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const AstStmt *s = block->at[i];
        const AstExpr *v = s->kind == ST_ASSIGN ? s->value : NULL;
        bind_choices(j, map, &s->body);
        bind_choices(j, map, &s->orelse);
        if (v && v->kind == EX_CALL && v->a->kind == EX_NAME && str_is(v->a->text, "choose") &&
            v->items.len && v->items.at[0]->kind == EX_STRING)
            bind_name(j, map, v->items.at[0]->string);
    }
}

static void rename_kernel(Join *j, AstStmt *def)
{
    Bound own = {0};
    NameVec local = {0};
    StmtList one = {.at = &def, .len = 1, .cap = 1};
    bind_block(j, &own, &one);
    for (uint32_t i = 0; i < own.names.len; i++)
        if (is_bound(&j->file_level, own.names.at[i]))
            add_name(j, &local, own.names.at[i], prefixed(j, own.names.at[i]));
    for (uint32_t i = 0; i < j->everywhere.len; i++)
        if (!is_bound(&own, str_from(j->everywhere.at[i].from)))
            vec_push(j->arena, &local, j->everywhere.at[i]);
    tree_rename(j->arena, &one, names_of(&local));
}

static void rename_host(Join *j)
{
    StmtList one = {.at = &j->from_host, .len = 1, .cap = 1};
    NameVec all = {0};
    for (uint32_t i = 0; i < j->host.len; i++)
        vec_push(j->arena, &all, j->host.at[i]);
    for (uint32_t i = 0; i < j->everywhere.len; i++)
        vec_push(j->arena, &all, j->everywhere.at[i]);
    tree_rename(j->arena, &one, names_of(&all));
}

static void append_host(Join *j)
{
    Bound choices = {0}, known = {0};
    StmtList *body = &j->into_host->def->body;
    StmtList one = {.at = &j->into_host, .len = 1, .cap = 1};
    bind_block(j, &known, &one);
    bind_choices(j, &choices, body);
    rename_choices(j, &j->from_host->def->body, &choices);
    for (uint32_t i = 0; i < j->from_host->def->params.len; i++) {
        AstParam p = j->from_host->def->params.at[i];
        if (!is_bound(&known, p.name))
            vec_push(j->arena, &j->into_host->def->params, p);
    }
    for (uint32_t i = 0; i < j->from_host->def->body.len; i++)
        tree_append(j->arena, body, j->from_host->def->body.at[i]);
}

/* ---- declarations ---- */

/* A dim that `into` has already is the narrower one. */
static bool meet_dims(Join *j, const char *mine, const char *theirs)
{
    int64_t least, most, multiple;
    return !tree_dim_range(j->from, theirs, &least, &most, &multiple) ||
           tree_restrict_dim(j->arena, j->into, mine, least, most, multiple);
}

static bool join_declaration(Join *j, AstStmt *s)
{
    if (s->kind != ST_ASSIGN || s->target->kind != EX_NAME || str_is(s->target->text, "craft"))
        return true;
    const TreeName *given = given_name(j, s->target->text);
    if (given && given->to->kind != EX_NAME)
        return true;
    const char *theirs = str_dup(j->arena, s->target->text);
    if (given) {
        const char *mine = str_dup(j->arena, given->to->text);
        if (tree_find_declared(j->into, mine))
            return meet_dims(j, mine, theirs);
    }
    StmtList one = {.at = &s, .len = 1, .cap = 1};
    AstExpr *value = tree_rename_expr(j->arena, s->value, names_of(&j->everywhere));
    tree_rename(j->arena, &one, names_of(&j->everywhere));
    tree_constant(j->arena, j->into, str_dup(j->arena, s->target->text), value);
    return true;
}

static void join_functions(Join *j)
{
    for (uint32_t i = 0; i < j->from->stmts.len; i++) {
        AstStmt *s = j->from->stmts.at[i];
        if (s->kind == ST_DEF && s != j->from_host) {
            rename_kernel(j, s);
            tree_append(j->arena, &j->into->stmts, s);
        }
    }
}

bool tree_join(Arena *arena, CraftFile *into, const CraftFile *from, TreeNames names,
               const char *prefix)
{
    Join j = {.arena = arena,
              .into = into,
              .from = tree_copy(arena, from),
              .given = names,
              .prefix = prefix};
    Bound own_file = {0}, own_host = {0};
    j.into_host = tree_find_host(into);
    j.from_host = tree_find_host(j.from);
    if (!j.into_host || !j.from_host)
        return false;
    StmtList one = {.at = &j.from_host, .len = 1, .cap = 1};
    StmtList mine = {.at = &j.into_host, .len = 1, .cap = 1};
    bind_file(&j, &j.file_level, &into->stmts);
    bind_file(&j, &j.host_level, &into->stmts);
    bind_block(&j, &j.host_level, &mine);
    bind_file(&j, &j.bound, &into->stmts);
    bind_block(&j, &j.bound, &into->stmts);
    bind_file(&j, &own_file, &j.from->stmts);
    bind_block(&j, &own_host, &one);
    settle_names(&j, &own_file, &j.bound, &j.everywhere);
    settle_names(&j, &own_host, &j.host_level, &j.host);
    for (uint32_t i = 0; i < j.from->stmts.len; i++)
        if (!join_declaration(&j, j.from->stmts.at[i]))
            return false;
    rename_host(&j);
    append_host(&j);
    join_functions(&j);
    return true;
}
