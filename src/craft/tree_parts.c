/* The parts that every Craft program is made of; see tree.h. */
#include "craft/tree.h"

CraftFile *tree_module(Arena *arena, const char *name)
{
    CraftFile *f = arena_new(arena, CraftFile);
    f->arena = arena;
    f->name = str_dup(arena, str_from(name));
    tree_append(arena, &f->stmts, tree_set(arena, "craft", tree_int(arena, 1)));
    return f;
}

/* Before the first function, with a blank line after the version. */
static AstStmt *declare(Arena *arena, CraftFile *file, AstStmt *s)
{
    StmtList *all = &file->stmts;
    uint32_t place = 0;
    while (place < all->len && all->at[place]->kind != ST_DEF)
        place++;
    s->blank = place == 1;
    tree_append(arena, all, s);
    for (uint32_t i = all->len - 1; i > place; i--)
        all->at[i] = all->at[i - 1];
    all->at[place] = s;
    return s;
}

AstStmt *tree_constant(Arena *arena, CraftFile *file, const char *name, AstExpr *value)
{
    return declare(arena, file, tree_set(arena, name, value));
}

AstExpr *tree_dim_value(Arena *arena, int64_t least, int64_t most, int64_t multiple)
{
    AstExpr *call = TREE_CALL(arena, "dim", tree_int(arena, least));
    if (most != least)
        vec_push(arena, &call->items, tree_int(arena, most));
    if (most != least && multiple != 1)
        vec_push(arena, &call->items, tree_int(arena, multiple));
    return call;
}

AstStmt *tree_dim(Arena *arena, CraftFile *file, const char *name, int64_t least, int64_t most,
                  int64_t multiple)
{
    return tree_constant(arena, file, name, tree_dim_value(arena, least, most, multiple));
}

AstStmt *tree_dtypes(Arena *arena, CraftFile *file, const char *name, const DType *types,
                     uint32_t count)
{
    AstExpr *call = tree_call(arena, "dtype", (TreeList){0});
    for (uint32_t i = 0; i < count; i++)
        vec_push(arena, &call->items, tree_dtype(arena, types[i]));
    return tree_constant(arena, file, name, call);
}

/* ---- functions ---- */

AstStmt *tree_helper(Arena *arena, CraftFile *file, const char *name)
{
    AstStmt *s = arena_new(arena, AstStmt);
    s->kind = ST_DEF;
    s->def = arena_new(arena, AstDef);
    s->def->name = str_copy(arena, str_from(name));
    return tree_append(arena, &file->stmts, s);
}

AstStmt *tree_host(Arena *arena, CraftFile *file, const char *name)
{
    AstStmt *s = tree_helper(arena, file, name);
    vec_push(arena, &s->def->decorators, tree_name(arena, "host"));
    return s;
}

AstStmt *tree_kernel(Arena *arena, CraftFile *file, const char *name, const char *role)
{
    AstStmt *s = tree_helper(arena, file, name);
    AstExpr *decorator = tree_name(arena, "kernel");
    Str rest = str_from(role), word;
    if (role)
        decorator = tree_call_of(arena, decorator, (TreeList){0});
    while (role && str_next(&rest, ',', &word))
        vec_push(arena, &decorator->items, tree_name(arena, str_dup(arena, str_trim(word))));
    vec_push(arena, &s->def->decorators, decorator);
    return s;
}

void tree_param(Arena *arena, AstStmt *def, const char *name, AstExpr *type)
{
    AstParam p = {.name = str_copy(arena, str_from(name)), .type = type};
    vec_push(arena, &def->def->params, p);
}

/* type first, then the sizes. */
static TreeList typed(Arena *arena, AstExpr *type, TreeList shape)
{
    AstExpr **at = arena_array(arena, AstExpr *, shape.len + 1);
    at[0] = type;
    for (uint32_t i = 0; i < shape.len; i++)
        at[i + 1] = shape.at[i];
    return (TreeList){at, shape.len + 1};
}

void tree_tensor(Arena *arena, AstStmt *def, const char *name, const char *role, AstExpr *type,
                 TreeList shape)
{
    AstExpr *base = tree_name(arena, role);
    tree_param(arena, def, name, tree_index(arena, base, typed(arena, type, shape)));
}

/* ---- statements of the host function ---- */

AstStmt *tree_choose(Arena *arena, const char *name, const int64_t *values, uint32_t count)
{
    AstExpr **at = arena_array(arena, AstExpr *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        at[i] = tree_int(arena, values[i]);
    AstExpr *list = tree_list(arena, (TreeList){at, count});
    return tree_set(arena, name, TREE_CALL(arena, "choose", tree_text(arena, name), list));
}

AstStmt *tree_workspace(Arena *arena, const char *name, AstExpr *type, TreeList shape)
{
    return tree_set(arena, name, tree_call(arena, "workspace", typed(arena, type, shape)));
}

AstStmt *tree_launch(Arena *arena, const char *kernel, AstExpr *cores, TreeList args)
{
    AstExpr *grid = TREE_INDEX(arena, tree_name(arena, kernel), cores);
    return tree_do(arena, tree_call_of(arena, grid, args));
}

/* ---- statements of kernels ---- */

AstStmt *tree_buffer(Arena *arena, const char *name, const char *memory, AstExpr *type,
                     TreeList shape, uint32_t depth)
{
    AstExpr *call = tree_call(arena, memory, type ? typed(arena, type, shape) : shape);
    if (depth)
        tree_keyword(arena, call, "depth", tree_int(arena, depth));
    return tree_set(arena, name, call);
}

AstStmt *tree_for_range(Arena *arena, const char *name, AstExpr *count)
{
    return tree_for(arena, tree_name(arena, name), TREE_CALL(arena, "range", count));
}

AstStmt *tree_for_mine(Arena *arena, const char *name, TreeList items)
{
    return tree_for(arena, tree_name(arena, name), tree_call(arena, "mine", items));
}

AstStmt *tree_for_tiles(Arena *arena, const char *name, bool mine, TreeList extent_and_tile)
{
    AstExpr *tiles = tree_call(arena, "tiles", extent_and_tile);
    return tree_for(arena, tree_name(arena, name), mine ? TREE_CALL(arena, "mine", tiles) : tiles);
}

AstStmt *tree_stage(Arena *arena, const char *stage)
{
    return tree_with(arena, tree_call(arena, stage, (TreeList){0}));
}

AstStmt *tree_load(Arena *arena, AstExpr *buffer, AstExpr *tensor)
{
    return tree_do(arena, TREE_CALL(arena, "load", buffer, tensor));
}

AstStmt *tree_store(Arena *arena, AstExpr *tensor, AstExpr *buffer)
{
    return tree_do(arena, TREE_CALL(arena, "store", tensor, buffer));
}
