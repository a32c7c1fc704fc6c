/* Copies, comparison and edits of trees; see tree.h. In: a tree. Out: another, or the same with
 * other nodes in it: an expression node is never changed, so that it may stand in several
 * places. */
#include "craft/tree.h"

/* ---- finding ---- */

AstStmt *tree_find_def(const CraftFile *file, const char *name)
{
    for (uint32_t i = 0; i < file->stmts.len; i++) {
        AstStmt *s = file->stmts.at[i];
        if (s->kind == ST_DEF && str_is(s->def->name, name))
            return s;
    }
    return NULL;
}

AstStmt *tree_find_host(const CraftFile *file)
{
    for (uint32_t i = 0; i < file->stmts.len; i++) {
        AstStmt *s = file->stmts.at[i];
        AstExpr *d = s->kind == ST_DEF && s->def->decorators.len ? s->def->decorators.at[0] : NULL;
        if (d && d->kind == EX_NAME && str_is(d->text, "host"))
            return s;
    }
    return NULL;
}

AstStmt *tree_find_declared(const CraftFile *file, const char *name)
{
    for (uint32_t i = 0; i < file->stmts.len; i++) {
        AstStmt *s = file->stmts.at[i];
        if (s->kind == ST_ASSIGN && s->target->kind == EX_NAME && str_is(s->target->text, name))
            return s;
    }
    return NULL;
}

/* ---- every expression of a tree ---- */

/* What becomes of a node whose parts were mapped already. */
typedef enum Place { READ, TARGET, CALLEE } Place;
typedef struct Mapping {
    Arena *arena;
    AstExpr *(*word)(const struct Mapping *m, AstExpr *name, Place place); /* of EX_NAME */
    TreeNames names;
    DType from, to;
} Mapping;

static AstExpr *map_expr(const Mapping *m, const AstExpr *e, Place place);

static AstExpr *map_part(const Mapping *m, const AstExpr *e, Place place)
{
    return e ? map_expr(m, e, place) : NULL;
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static AstExpr *map_expr(const Mapping *m, const AstExpr *e, Place place)
{
    AstExpr *made = arena_new(m->arena, AstExpr);
    *made = *e;
    made->items.at = NULL, made->items.len = made->items.cap = 0;
    made->keywords.at = NULL, made->keywords.len = made->keywords.cap = 0;
    if (e->kind == EX_NAME)
        return m->word ? m->word(m, made, place) : made;
    Place inner = e->kind == EX_CALL ? CALLEE : e->kind == EX_INDEX ? place : READ;
    made->a = map_part(m, e->a, inner);
    made->b = map_part(m, e->b, READ);
    made->c = map_part(m, e->c, READ);
    uint32_t depth = larger(made->a ? made->a->depth : 0,
                            larger(made->b ? made->b->depth : 0, made->c ? made->c->depth : 0));
    for (uint32_t i = 0; i < e->items.len; i++) {
        AstExpr *item = map_expr(m, e->items.at[i], e->kind == EX_TUPLE ? place : READ);
        vec_push(m->arena, &made->items, item);
        depth = larger(depth, item->depth);
    }
    for (uint32_t i = 0; i < e->keywords.len; i++) {
        AstKeyword k = e->keywords.at[i];
        k.value = map_expr(m, k.value, READ);
        vec_push(m->arena, &made->keywords, k);
        depth = larger(depth, k.value->depth);
    }
    bool word = e->kind == EX_INT || e->kind == EX_FLOAT || e->kind == EX_STRING ||
                e->kind == EX_BOOL || (e->kind == EX_TUPLE && !e->items.len);
    made->depth = word ? 0 : depth + 1;
    return made;
}

static Str map_word(const Mapping *m, Str name)
{
    AstExpr e = {.kind = EX_NAME, .text = name};
    return map_expr(m, &e, TARGET)->text;
}

static void map_block(const Mapping *m, StmtList *block);

static void map_def(const Mapping *m, AstDef *def)
{
    def->name = map_word(m, def->name);
    for (uint32_t i = 0; i < def->decorators.len; i++)
        def->decorators.at[i] = map_expr(&(Mapping){.arena = m->arena}, def->decorators.at[i],
                                         READ);
    for (uint32_t i = 0; i < def->params.len; i++) {
        AstParam *p = &def->params.at[i];
        p->name = map_word(m, p->name);
        p->type = map_part(m, p->type, READ);
        p->value = map_part(m, p->value, READ);
    }
    map_block(m, &def->body);
}

static void map_stmt(const Mapping *m, AstStmt *s)
{
    s->target = map_part(m, s->target, TARGET);
    s->value = map_part(m, s->value, READ);
    s->text = map_part(m, s->text, READ);
    map_block(m, &s->body);
    map_block(m, &s->orelse);
    if (s->def)
        map_def(m, s->def);
}

static void map_block(const Mapping *m, StmtList *block)
{
    for (uint32_t i = 0; i < block->len; i++)
        map_stmt(m, block->at[i]);
}

/* ---- copies ---- */

AstExpr *tree_copy_expr(Arena *arena, const AstExpr *e)
{
    return map_expr(&(Mapping){.arena = arena}, e, READ);
}

static CommentList copy_comments(Arena *arena, const CommentList *list)
{
    CommentList made = {0};
    for (uint32_t i = 0; i < list->len; i++) {
        AstComment c = {str_copy(arena, list->at[i].text), list->at[i].blank};
        vec_push(arena, &made, c);
    }
    return made;
}

static StmtList copy_block(Arena *arena, const StmtList *block)
{
    StmtList made = {.after = copy_comments(arena, &block->after)};
    for (uint32_t i = 0; i < block->len; i++)
        tree_append(arena, &made, tree_copy_stmt(arena, block->at[i]));
    return made;
}

static AstDef *copy_def(Arena *arena, const AstDef *def)
{
    AstDef *made = arena_new(arena, AstDef);
    made->name = str_copy(arena, def->name);
    made->name_at = def->name_at;
    for (uint32_t i = 0; i < def->decorators.len; i++)
        vec_push(arena, &made->decorators, tree_copy_expr(arena, def->decorators.at[i]));
    for (uint32_t i = 0; i < def->params.len; i++)
        vec_push(arena, &made->params, def->params.at[i]);
    made->body = copy_block(arena, &def->body);
    return made;
}

AstStmt *tree_copy_stmt(Arena *arena, const AstStmt *s)
{
    AstStmt *made = arena_new(arena, AstStmt);
    *made = *s;
    made->above = copy_comments(arena, &s->above);
    made->else_above = copy_comments(arena, &s->else_above);
    made->body = copy_block(arena, &s->body);
    made->orelse = copy_block(arena, &s->orelse);
    made->def = s->def ? copy_def(arena, s->def) : NULL;
    made->target = s->target ? tree_copy_expr(arena, s->target) : NULL;
    made->value = s->value ? tree_copy_expr(arena, s->value) : NULL;
    made->text = s->text ? tree_copy_expr(arena, s->text) : NULL;
    return made;
}

CraftFile *tree_copy(Arena *arena, const CraftFile *file)
{
    CraftFile *made = arena_new(arena, CraftFile);
    made->arena = arena;
    made->name = str_dup(arena, str_from(file->name));
    made->broken = file->broken;
    made->stmts = copy_block(arena, &file->stmts);
    made->text = str_copy(arena, file->text);
    return made;
}

/* ---- comparison ---- */

static bool same_part(const AstExpr *a, const AstExpr *b)
{
    return !a || !b ? a == b : tree_same_expr(a, b);
}

static bool same_items(const ExprList *a, const ExprList *b)
{
    for (uint32_t i = 0; i < a->len && a->len == b->len; i++)
        if (!tree_same_expr(a->at[i], b->at[i]))
            return false;
    return a->len == b->len;
}

static bool same_word(const AstExpr *a, const AstExpr *b)
{
    switch (a->kind) {
    case EX_NAME:
    case EX_ATTR: return str_equal(a->text, b->text);
    case EX_INT:
    case EX_BOOL: return a->i == b->i;
    case EX_FLOAT: return a->f == b->f;
    case EX_STRING: return str_equal(a->string, b->string);
    default: return a->op == b->op;
    }
}

bool tree_same_expr(const AstExpr *a, const AstExpr *b)
{
    if (a->kind != b->kind || !same_word(a, b) || a->keywords.len != b->keywords.len)
        return false;
    for (uint32_t i = 0; i < a->keywords.len; i++)
        if (!str_equal(a->keywords.at[i].name, b->keywords.at[i].name) ||
            !tree_same_expr(a->keywords.at[i].value, b->keywords.at[i].value))
            return false;
    return same_part(a->a, b->a) && same_part(a->b, b->b) && same_part(a->c, b->c) &&
           same_items(&a->items, &b->items);
}

static bool same_block(const StmtList *a, const StmtList *b);

static bool same_def(const AstDef *a, const AstDef *b)
{
    if (!str_equal(a->name, b->name) || a->params.len != b->params.len ||
        a->decorators.len != b->decorators.len)
        return false;
    for (uint32_t i = 0; i < a->decorators.len; i++)
        if (!tree_same_expr(a->decorators.at[i], b->decorators.at[i]))
            return false;
    for (uint32_t i = 0; i < a->params.len; i++) {
        const AstParam *p = &a->params.at[i], *q = &b->params.at[i];
        if (!str_equal(p->name, q->name) || !same_part(p->type, q->type) ||
            !same_part(p->value, q->value))
            return false;
    }
    return same_block(&a->body, &b->body);
}

static bool same_stmt(const AstStmt *a, const AstStmt *b)
{
    bool def = !a->def || !b->def ? a->def == b->def : same_def(a->def, b->def);
    return a->kind == b->kind && a->op == b->op && a->is_elif == b->is_elif && def &&
           same_part(a->target, b->target) && same_part(a->value, b->value) &&
           same_part(a->text, b->text) && same_block(&a->body, &b->body) &&
           same_block(&a->orelse, &b->orelse);
}

static bool same_block(const StmtList *a, const StmtList *b)
{
    for (uint32_t i = 0; i < a->len && a->len == b->len; i++)
        if (!same_stmt(a->at[i], b->at[i]))
            return false;
    return a->len == b->len;
}

bool tree_same(const CraftFile *a, const CraftFile *b) { return same_block(&a->stmts, &b->stmts); }

/* ---- names ---- */

static AstExpr *renamed(const Mapping *m, AstExpr *name, Place place)
{
    for (uint32_t i = 0; i < m->names.len; i++) {
        const TreeName *n = &m->names.at[i];
        if (str_is(name->text, n->from) && (place == READ || n->to->kind == EX_NAME))
            return tree_copy_expr(m->arena, n->to);
    }
    return name;
}

void tree_rename(Arena *arena, StmtList *block, TreeNames names)
{
    map_block(&(Mapping){.arena = arena, .word = renamed, .names = names}, block);
}

AstExpr *tree_rename_expr(Arena *arena, const AstExpr *e, TreeNames names)
{
    return map_expr(&(Mapping){.arena = arena, .word = renamed, .names = names}, e, READ);
}

static void drop_stmt(StmtList *block, const AstStmt *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->len; i++)
        if (block->at[i] != s)
            block->at[kept++] = block->at[i];
    block->len = kept;
}

static bool has_param(const AstStmt *s, const char *name)
{
    for (uint32_t i = 0; s->def && i < s->def->params.len; i++)
        if (str_is(s->def->params.at[i].name, name))
            return true;
    return false;
}

void tree_fix(Arena *arena, CraftFile *file, const char *name, AstExpr *value)
{
    TreeName one = {name, value};
    Mapping m = {.arena = arena, .word = renamed, .names = {&one, 1}};
    drop_stmt(&file->stmts, tree_find_declared(file, name));
    for (uint32_t i = 0; i < file->stmts.len; i++)
        if (!has_param(file->stmts.at[i], name)) /* there it means something else */
            map_stmt(&m, file->stmts.at[i]);
}

/* ---- dtypes and roles ---- */

static AstExpr *with_dtype(const Mapping *m, AstExpr *name, Place place)
{
    if (place == READ && str_is(name->text, dtype_name(m->from)))
        return tree_dtype(m->arena, m->to);
    return name;
}

void tree_change_dtype(Arena *arena, StmtList *block, DType from, DType to)
{
    map_block(&(Mapping){.arena = arena, .word = with_dtype, .from = from, .to = to}, block);
}

bool tree_change_role(Arena *arena, AstStmt *def, const char *param, const char *role)
{
    for (uint32_t i = 0; i < def->def->params.len; i++) {
        AstParam *p = &def->def->params.at[i];
        if (!str_is(p->name, param) || !p->type || p->type->kind != EX_INDEX)
            continue;
        p->type = tree_copy_expr(arena, p->type);
        p->type->a = tree_name(arena, role);
        return true;
    }
    return false;
}

/* ---- dims ---- */

static const AstExpr *dim_call(const CraftFile *file, const char *name)
{
    const AstStmt *s = tree_find_declared(file, name);
    const AstExpr *call = s ? s->value : NULL;
    bool dim = call && call->kind == EX_CALL && call->a->kind == EX_NAME &&
               str_is(call->a->text, "dim") && call->items.len >= 1 && call->items.len <= 3;
    for (uint32_t i = 0; dim && i < call->items.len; i++)
        dim = call->items.at[i]->kind == EX_INT;
    return dim ? call : NULL;
}

bool tree_dim_range(const CraftFile *file, const char *name, int64_t *least, int64_t *most,
                    int64_t *multiple)
{
    const AstExpr *call = dim_call(file, name);
    if (!call)
        return false;
    *least = *most = call->items.at[0]->i;
    if (call->items.len > 1)
        *most = call->items.at[1]->i;
    *multiple = call->items.len > 2 ? call->items.at[2]->i : 1;
    return true;
}

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b, product;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return __builtin_mul_overflow(a / x, b, &product) ? 0 : product;
}

bool tree_restrict_dim(Arena *arena, CraftFile *file, const char *name, int64_t least, int64_t most,
                       int64_t multiple)
{
    int64_t lo, hi, step;
    if (!tree_dim_range(file, name, &lo, &hi, &step) || step < 1 || multiple < 1)
        return false;
    step = common_multiple(step, multiple);
    lo = least > lo ? least : lo;
    hi = most < hi ? most : hi;
    if (step < 1 || lo < 0 || hi < lo)
        return false;
    lo += (step - lo % step) % step;
    hi -= hi % step;
    if (lo > hi)
        return false;
    tree_find_declared(file, name)->value = tree_dim_value(arena, lo, hi, step);
    return true;
}
