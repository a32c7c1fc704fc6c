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
    bool **names; /* by function and variable: a statement of its own names it */
    bool *runs;   /* by function: it calls others */
    bool *handed; /* by variable: some function takes it as a parameter */
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

enum { STMT_EXPRS = 35 + ASC_CUBE_ARGS };

/* The expressions of the statement itself, without its blocks. */
static uint32_t stmt_exprs(const AscStmt *s, IrExprId out[STMT_EXPRS])
{
    const AscCopy *c = &s->copy;
    const AscStrides *t = &s->strides;
    const IrExprId e[] = {s->lo,         s->hi,       s->step,      s->value,   s->scalar,
                          s->count,      s->mask,     s->repeat,    c->rows,    c->cols,
                          c->gm_row,     c->ub_row,   c->pad,       c->len,     c->gm_gap,
                          c->ub_gap,     c->right,    t->dst_block, t->a_block, t->b_block,
                          t->dst_repeat, t->a_repeat, t->b_repeat};
    const AscRef *refs[] = {&s->dst, &s->a, &s->b, &s->c, &c->gm, &c->ub};
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof e / sizeof *e; i++)
        if (e[i])
            out[n++] = e[i];
    for (size_t i = 0; i < ASC_CUBE_ARGS; i++)
        if (s->arg[i])
            out[n++] = s->arg[i];
    for (size_t i = 0; i < sizeof refs / sizeof *refs; i++) {
        if (refs[i]->used && refs[i]->offset)
            out[n++] = refs[i]->offset;
        if (refs[i]->used && refs[i]->item)
            out[n++] = refs[i]->item;
    }
    return n;
}

static int reads_of(const Uses *u, const AscStmt *s, IrVarId var)
{
    IrExprId e[STMT_EXPRS];
    int use = 0;
    uint32_t n = stmt_exprs(s, e);
    for (uint32_t i = 0; i < n; i++)
        use |= use_in_expr(u->p->ir, e[i], var);
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

/* ---- which variables are used ---- */

static void name_expr(const IrProgram *ir, IrExprId e, bool *names)
{
    const IrExpr *x = &ir->exprs.at[e];
    if (!e)
        return;
    if (x->op == IR_E_VAR)
        names[x->of.var] = true;
    for (int i = 0; i < ir_expr_rows[x->op].arity; i++)
        name_expr(ir, x->arg[i], names);
}

static void name_block(Uses *u, uint32_t function, const AscBlock *block)
{
    bool *names = u->names[function];
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &u->p->stmts.at[block->at[i]];
        IrExprId e[STMT_EXPRS];
        uint32_t n = stmt_exprs(s, e);
        for (uint32_t k = 0; k < n; k++)
            name_expr(u->p->ir, e[k], names);
        names[s->var] = true;
        u->runs[function] = u->runs[function] || s->kind == ASC_S_RUN;
        name_block(u, function, &s->body);
        name_block(u, function, &s->orelse);
    }
}

/* False: no statement of the function, nor one it calls, uses the variable. */
static bool may_use(const Uses *u, uint32_t function, IrVarId var)
{
    return u->names[function][var] || (u->runs[function] && u->handed[var]);
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
    for (uint32_t f = 0; f < u->k->functions.len; f++)
        if (f != function && u->names[f][var])
            return true;
    return false;
}

static void scope_stage(Uses *u, uint32_t function)
{
    FunctionScope *scope = &u->scopes[function];
    const AscBlock *body = &u->k->functions.at[function].body;
    for (IrVarId v = 1; v < u->p->ir->vars.len; v++) {
        int use = may_use(u, function, v) ? use_in_block(u, body, v) : 0;
        if (!use || is_member(u->k, v))
            continue;
        Declared d = declare_in(u, body, v);
        if (used_elsewhere(u, function, v) || !d.at) {
            d = (Declared){.param = true, .by_ref = use & USE_WRITE};
            u->handed[v] = true;
            vec_push(u->arena, &scope->params, v);
        }
        scope->vars[v] = d;
    }
}

static void scope_process(Uses *u)
{
    const AscBlock *body = &u->k->functions.at[0].body;
    for (IrVarId v = 1; v < u->p->ir->vars.len; v++)
        if (!is_member(u->k, v) && may_use(u, 0, v))
            u->scopes[0].vars[v] = declare_in(u, body, v);
}

/* ---- tensors ---- */

typedef struct Tensors {
    const Uses *u;
    bool *used, *made; /* beside the locals: referred to, and dequeued here */
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
    Uses u = {.p = p, .k = k, .scopes = scopes, .arena = arena};
    u.names = arena_array(arena, bool *, k->functions.len + 1);
    u.runs = arena_array(arena, bool, k->functions.len + 1);
    u.handed = arena_array(arena, bool, p->ir->vars.len);
    for (uint32_t f = 0; f < k->functions.len; f++) {
        scopes[f].vars = arena_array(arena, Declared, p->ir->vars.len);
        u.names[f] = arena_array(arena, bool, p->ir->vars.len);
        name_block(&u, f, &k->functions.at[f].body);
    }
    for (uint32_t f = 1; f < k->functions.len; f++)
        scope_stage(&u, f);
    if (k->functions.len)
        scope_process(&u);
    for (uint32_t f = 0; f < k->functions.len; f++)
        scope_tensors(&u, f);
    return scopes;
}
