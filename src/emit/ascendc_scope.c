/* Where scalars are declared and what stage functions take. In: a kernel's functions. Out: for each
 * function its parameters, and for each variable the statement that declares it.
 *
 * A variable is declared by the statement that first assigns it, when that statement stands in the
 * innermost block around all of its uses; otherwise its value may come from an earlier turn of a
 * loop or another branch, and it is declared as zero in front of everything that uses it. */
#include "emit/ascendc_int.h"

#include <string.h>

typedef struct Uses {
    const AscProgram *p;
    const AscKernel *k;
    FunctionScope *scopes;
    Arena *arena;
} Uses;

enum { USE_READ = 1, USE_WRITE = 2 };

static int use_in_expr(const IrProgram *ir, IrExprId e, IrVarId var)
{
    if (!e)
        return 0;
    const IrExpr *x = &ir->exprs.at[e];
    if (x->op == IR_E_VAR)
        return x->of.var == var ? USE_READ : 0;
    int u = 0;
    for (int i = 0; i < ir_expr_rows[x->op].arity; i++)
        u |= use_in_expr(ir, x->arg[i], var);
    return u;
}

static int use_in_ref(const IrProgram *ir, const AscRef *r, IrVarId var)
{
    return r->used ? use_in_expr(ir, r->offset, var) | use_in_expr(ir, r->item, var) : 0;
}

/* Reads of the statement itself, without its blocks. */
static int reads_of(const Uses *u, const AscStmt *s, IrVarId var)
{
    const IrProgram *ir = u->p->ir;
    const AscCopy *c = &s->copy;
    const AscStrides *t = &s->strides;
    const IrExprId e[] = {s->lo,         s->hi,       s->step,      s->value,   s->scalar,
                          s->count,      s->mask,     s->repeat,    c->rows,    c->cols,
                          c->gm_row,     c->ub_row,   c->pad,       c->len,     c->gm_gap,
                          c->ub_gap,     c->right,    t->dst_block, t->a_block, t->b_block,
                          t->dst_repeat, t->a_repeat, t->b_repeat};
    int use = 0;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++)
        use |= use_in_expr(ir, e[i], var);
    const AscRef *refs[] = {&s->dst, &s->a, &s->b, &s->c, &c->gm, &c->ub};
    for (size_t i = 0; i < sizeof refs / sizeof *refs; i++)
        use |= use_in_ref(ir, refs[i], var);
    return use;
}

static int use_in_block(const Uses *u, const AscBlock *block, IrVarId var);

static int own_use(const Uses *u, const AscStmt *s, IrVarId var)
{
    int use = reads_of(u, s, var);
    if (s->var == var)
        use |= USE_WRITE;
    if (s->kind == ASC_S_RUN && u->scopes) {
        const Declared *d = &u->scopes[s->callee].vars[var];
        use |= (d->param ? USE_READ : 0) | (d->by_ref ? USE_WRITE : 0);
    }
    return use;
}

static int use_in_stmt(const Uses *u, const AscStmt *s, IrVarId var)
{
    return own_use(u, s, var) | use_in_block(u, &s->body, var) | use_in_block(u, &s->orelse, var);
}

static int use_in_block(const Uses *u, const AscBlock *block, IrVarId var)
{
    int use = 0;
    for (uint32_t i = 0; i < block->len; i++)
        use |= use_in_stmt(u, &u->p->stmts.at[block->at[i]], var);
    return use;
}

/* ---- declarations ---- */

static bool defines(const Uses *u, const AscStmt *s, IrVarId var)
{
    bool assigns = s->kind == ASC_S_SET || s->kind == ASC_S_GET || s->kind == ASC_S_CALL;
    return assigns && s->var == var && !reads_of(u, s, var);
}

/* A loop's own variable, which nothing outside of it uses. */
static bool counts(const AscStmt *s, IrVarId var) { return s->kind == ASC_S_FOR && s->var == var; }

static Declared declare_in(const Uses *u, const AscBlock *block, IrVarId var)
{
    uint32_t users = 0;
    AscStmtId first = 0;
    for (uint32_t i = 0; i < block->len; i++) {
        if (!use_in_stmt(u, &u->p->stmts.at[block->at[i]], var))
            continue;
        users++;
        first = first ? first : block->at[i];
    }
    if (!first)
        return (Declared){0};
    const AscStmt *s = &u->p->stmts.at[first];
    if (defines(u, s, var) || (users == 1 && counts(s, var)))
        return (Declared){.at = first};
    if (users == 1 && !own_use(u, s, var)) {
        bool then = use_in_block(u, &s->body, var), other = use_in_block(u, &s->orelse, var);
        Declared d = {0};
        if (then != other)
            d = declare_in(u, then ? &s->body : &s->orelse, var);
        if (d.at)
            return d;
    }
    return (Declared){.before = first};
}

/* ---- functions ---- */

static bool is_member(const AscKernel *k, IrVarId var)
{
    for (uint32_t i = 0; i < k->members.len; i++)
        if (k->members.at[i] == var)
            return true;
    return false;
}

static bool used_elsewhere(const Uses *u, uint32_t function, IrVarId var)
{
    Uses plain = *u;
    plain.scopes = NULL;
    for (uint32_t f = 0; f < u->k->functions.len; f++)
        if (f != function && use_in_block(&plain, &u->k->functions.at[f].body, var))
            return true;
    return false;
}

static void scope_stage(Uses *u, uint32_t function)
{
    FunctionScope *scope = &u->scopes[function];
    const AscBlock *body = &u->k->functions.at[function].body;
    for (IrVarId v = 1; v < u->p->ir->vars.len; v++) {
        int use = use_in_block(u, body, v);
        if (!use || is_member(u->k, v))
            continue;
        Declared d = declare_in(u, body, v);
        if (used_elsewhere(u, function, v) || !d.at) {
            d = (Declared){.param = true, .by_ref = use & USE_WRITE};
            vec_push(u->arena, &scope->params, v);
        }
        scope->vars[v] = d;
    }
}

static void scope_process(Uses *u)
{
    const AscBlock *body = &u->k->functions.at[0].body;
    for (IrVarId v = 1; v < u->p->ir->vars.len; v++)
        if (!is_member(u->k, v))
            u->scopes[0].vars[v] = declare_in(u, body, v);
}

/* ---- tensors ---- */

typedef struct Tensors {
    const Uses *u;
    bool *used, *made; /* beside the locals: referred to, and taken from a queue here */
} Tensors;

static void note_ref(Tensors *t, const AscRef *r)
{
    if (r->used && !r->global)
        t->used[r->id] = true;
}

static void note_block(Tensors *t, const AscBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &t->u->p->stmts.at[block->at[i]];
        const AscRef *refs[] = {&s->dst, &s->a, &s->b, &s->c, &s->copy.ub};
        for (size_t j = 0; j < sizeof refs / sizeof *refs; j++)
            note_ref(t, refs[j]);
        if (s->kind == ASC_S_ALLOC || s->kind == ASC_S_DEQUE)
            t->made[s->local] = true;
        if (s->kind >= ASC_S_ALLOC && s->kind <= ASC_S_FREE)
            t->used[s->local] = true;
        note_block(t, &s->body);
        note_block(t, &s->orelse);
    }
}

static void scope_tensors(const Uses *u, uint32_t function)
{
    FunctionScope *scope = &u->scopes[function];
    Tensors t = {u, arena_array(u->arena, bool, u->k->locals.len + 1),
                 arena_array(u->arena, bool, u->k->locals.len + 1)};
    note_block(&t, &u->k->functions.at[function].body);
    for (uint32_t i = 0; i < u->k->locals.len; i++) {
        bool tbuf = u->k->buffers.at[u->k->locals.at[i].buffer].storage == ASC_TBUF;
        if (t.used[i] && tbuf)
            vec_push(u->arena, &scope->tbufs, i);
        else if (t.used[i] && !t.made[i])
            vec_push(u->arena, &scope->tensors, i);
    }
}

FunctionScope *scope_kernel(Arena *arena, const AscProgram *p, const AscKernel *k)
{
    FunctionScope *scopes = arena_array(arena, FunctionScope, k->functions.len + 1);
    Uses u = {p, k, scopes, arena};
    for (uint32_t f = 0; f < k->functions.len; f++)
        scopes[f].vars = arena_array(arena, Declared, p->ir->vars.len);
    for (uint32_t f = 1; f < k->functions.len; f++)
        scope_stage(&u, f);
    if (k->functions.len)
        scope_process(&u);
    for (uint32_t f = 0; f < k->functions.len; f++)
        scope_tensors(&u, f);
    return scopes;
}
