/* What a statement leaves known: scalars just assigned, counts that data decide, running totals.
 *
 *     total = 0
 *     for t in tiles(n, tile):                  0 <= total <= t.start
 *         here = compact(d[:t.size], ...)       0 <= here <= t.size
 *         total += here
 *                                               0 <= total <= n
 *
 * A total starts at 0 and grows once in a turn of its loop, by no more than the piece in hand. So
 * it never exceeds the pieces done before, whichever of them this core had.
 *
 * In: the walk, at a loop or after a statement. Out: facts for the prover, and the totals. */
#include "ir/prove_int.h"

static Poly var_poly(const ProofWalk *w, IrVarId var) { return poly_of(w->pr, ir_var(w->p, var)); }

static bool is_counter(const ProofWalk *w, IrVarId var)
{
    const IrVar *v = &w->p->vars.at[var];
    return v->kind == IR_VAR_LOCAL && v->type == DT_I64 && !w->pr->alias[var];
}

/* v = v + e: *more is e, which does not speak of v. */
static bool grows(const ProofWalk *w, const IrStmt *s, Poly *more)
{
    const IrExpr *e = &w->p->exprs.at[s->value];
    if (s->kind != IR_S_ASSIGN || e->op != IR_E_ADD || !is_counter(w, s->var))
        return false;
    for (int i = 0; i < 2; i++) {
        const IrExpr *own = &w->p->exprs.at[e->arg[i]];
        if (own->op != IR_E_VAR || own->of.var != s->var || ir_mentions(w->p, e->arg[!i], s->var))
            continue;
        *more = poly_of(w->pr, e->arg[!i]);
        return !more->overflow;
    }
    return false;
}

/* ---- after a statement ---- */

static void learn_assign(ProofWalk *w, const IrStmt *s)
{
    if (!is_counter(w, s->var) || ir_mentions(w->p, s->value, s->var))
        return;
    Poly v = var_poly(w, s->var), value = poly_of(w->pr, s->value);
    prover_assume(w->pr, poly_sub(v, value));
    prover_assume(w->pr, poly_sub(value, v));
}

static void learn_compact(ProofWalk *w, const IrStmt *s)
{
    Poly v = var_poly(w, s->var);
    prover_assume(w->pr, v);
    prover_assume(w->pr, poly_sub(poly_of(w->pr, s->src[0].size[0]), v));
}

static void learn_totals(ProofWalk *w, const IrStmt *loop)
{
    for (uint32_t i = 0; i < w->totals.len; i++) {
        const ProofTotal *t = &w->totals.at[i];
        if (t->loop != loop->axes[0].range.start)
            continue;
        Poly v = var_poly(w, t->var);
        prover_assume(w->pr, v);
        prover_assume(w->pr, poly_sub(t->most, v));
    }
}

static void learn(ProofWalk *w, const IrStmt *s)
{
    if (s->kind == IR_S_ASSIGN)
        learn_assign(w, s);
    else if (s->kind == IR_S_OP && s->op == IR_T_COMPACT && is_counter(w, s->var))
        learn_compact(w, s);
    else if (s->kind == IR_S_FOR) {
        learn_totals(w, s);
        proof_learn_sum(w, s);
    }
}

void proof_leave(ProofWalk *w, const IrStmt *s)
{
    Poly more;
    if (grows(w, s, &more))
        prover_shift(w->pr, ir_var(w->p, s->var), more);
    else if (s->var)
        prover_forget(w->pr, s->var);
    learn(w, s);
}

/* ---- totals of a loop ---- */

typedef struct Growth {
    ProofWalk *w;
    IrVarId var;
    Poly piece;    /* the most that one turn may add */
    uint32_t seen; /* assignments that grow it as they should */
    bool bad;
} Growth;

static void count_var(void *context, IrVarId var)
{
    Growth *g = context;
    g->seen += var == g->var;
}

static uint32_t assigned_in(ProofWalk *w, const IrBlock *block, IrVarId var)
{
    Growth g = {.w = w, .var = var};
    proof_each_assigned(w->p, block, count_var, &g);
    return g.seen;
}

static void follow(Growth *g, const IrBlock *block);

static void follow_if(Growth *g, const IrStmt *s)
{
    Prover *pr = g->w->pr;
    uint32_t mark = pr->facts.len;
    for (int branch = 0; branch < 2; branch++) {
        prover_assume_cond(pr, s->cond, branch == 0);
        follow(g, branch == 0 ? &s->body : &s->orelse);
        pr->facts.len = mark;
    }
}

/* Through one turn, in order, up to where the total grows. */
static void follow(Growth *g, const IrBlock *block)
{
    Prover *pr = g->w->pr;
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt s = g->w->p->stmts.at[block->at[i]];
        Poly more;
        if (s.kind == IR_S_FOR && assigned_in(g->w, &s.body, g->var))
            g->bad = true;
        else if (s.kind == IR_S_FOR)
            proof_forget_assigned(g->w, &s);
        else if (s.kind == IR_S_IF)
            follow_if(g, &s);
        else if (s.kind == IR_S_STAGE || s.kind == IR_S_ROLE)
            follow(g, &s.body);
        else if (s.var == g->var && grows(g->w, &s, &more))
            g->seen += prove_nonneg(pr, more) && prove_nonneg(pr, poly_sub(g->piece, more));
        if (s.kind != IR_S_STAGE)
            proof_leave(g->w, &s);
    }
}

/* The sizes of the pieces of one turn, and of all turns of all cores. */
static bool extents(ProofWalk *w, const IrStmt *loop, Poly *piece, Poly *all)
{
    *piece = *all = poly_const(1);
    for (uint32_t i = 0; i < loop->axis_count; i++) {
        const IrAxis *a = &loop->axes[i];
        Poly span = poly_sub(poly_of(w->pr, a->hi), poly_of(w->pr, a->lo));
        if (a->step || !prove_nonneg(w->pr, span))
            return false;
        *piece = poly_mul(*piece, a->tile ? var_poly(w, a->range.size) : poly_const(1));
        *all = poly_mul(*all, span);
    }
    return loop->loop != IR_LOOP_MINE_LIST && !all->overflow;
}

static void forget_totals(ProofWalk *w, IrVarId loop)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->totals.len; i++)
        if (w->totals.at[i].loop != loop)
            w->totals.at[kept++] = w->totals.at[i];
    w->totals.len = kept;
}

typedef struct Zeroes {
    ProofWalk *w;
    const IrStmt *loop;
    VEC(IrVarId) vars;
} Zeroes;

/* Is 0 when the loop begins, and grows once in it. */
static void note_zero(void *context, IrVarId var)
{
    Zeroes *z = context;
    if (is_counter(z->w, var) && assigned_in(z->w, &z->loop->body, var) == 1 &&
        prove_nonneg(z->w->pr, poly_scale(var_poly(z->w, var), -1)) &&
        prove_nonneg(z->w->pr, var_poly(z->w, var)))
        vec_push(z->w->arena, &z->vars, var);
}

static void assume_total(ProofWalk *w, const IrStmt *loop, const ProofTotal *t, Poly piece)
{
    Poly v = var_poly(w, t->var);
    prover_assume(w->pr, v);
    prover_assume(w->pr, poly_sub(poly_sub(t->most, v), piece));
    if (loop->axis_count == 1)
        prover_assume(w->pr, poly_sub(poly_sub(var_poly(w, loop->axes[0].range.start),
                                               poly_of(w->pr, loop->axes[0].lo)),
                                      v));
}

/* The totals among the counters that were 0; what the loop's body does is known by now. */
static void find_totals(ProofWalk *w, const IrStmt *loop, const Zeroes *zero, Poly piece, Poly all)
{
    for (uint32_t i = 0; i < zero->vars.len; i++) {
        Growth g = {.w = w, .var = zero->vars.at[i], .piece = piece};
        uint32_t mark = w->pr->facts.len;
        follow(&g, &loop->body);
        w->pr->facts.len = mark;
        if (!g.bad && g.seen == 1)
            vec_push(w->arena, &w->totals, ((ProofTotal){loop->axes[0].range.start, g.var, all}));
    }
}

void proof_enter_loop(ProofWalk *w, const IrStmt *loop)
{
    Zeroes zero = {.w = w, .loop = loop};
    Poly piece, all;
    forget_totals(w, loop->axes[0].range.start);
    if (extents(w, loop, &piece, &all))
        proof_each_assigned(w->p, &loop->body, note_zero, &zero);
    proof_assume_loop(w, loop);
    uint32_t first = w->totals.len;
    find_totals(w, loop, &zero, piece, all);
    for (uint32_t i = first; i < w->totals.len; i++)
        assume_total(w, loop, &w->totals.at[i], piece);
}

/* ---- stores that append ---- */

typedef struct Change {
    const ProofWalk *w;
    const Poly *of;
    bool any;
} Change;

static void note_change(void *context, IrVarId var)
{
    Change *c = context;
    c->any |= poly_mentions(c->w->pr, c->of, var);
}

/* Statements from..to-1 of the block leave the value as it is. */
static bool is_kept(const ProofWalk *w, const IrBlock *block, uint32_t from, uint32_t to,
                    const Poly *value)
{
    Change c = {.w = w, .of = value};
    IrBlock part = {.at = block->at + from, .len = to - from};
    proof_each_assigned(w->p, &part, note_change, &c);
    return !c.any;
}

/* Whether the value is the same in every turn of the loop. */
static bool is_fixed(const ProofWalk *w, const IrStmt *loop, const Poly *value)
{
    for (uint32_t i = 0; i < loop->axis_count; i++) {
        const IrRange *r = &loop->axes[i].range;
        const IrVarId own[] = {r->start, r->size, r->index};
        for (int k = 0; k < 3; k++)
            if (own[k] && poly_mentions(w->pr, value, own[k]))
                return false;
    }
    return !value->overflow && is_kept(w, &loop->body, 0, loop->body.len, value);
}

static bool holds(const IrProgram *p, const IrBlock *block, const IrStmt *s)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *inner = &p->stmts.at[block->at[i]];
        if (inner == s || (inner->kind == IR_S_STAGE && holds(p, &inner->body, s)))
            return true;
    }
    return false;
}

/* The statement runs the store in every turn, or in every turn in which its size is not 0. */
static bool always_stores(const ProofWalk *w, const IrStmt *s, const IrStmt *store, Poly size)
{
    if (s->kind == IR_S_STAGE)
        return holds(w->p, &s->body, store);
    if (s->kind != IR_S_IF || !holds(w->p, &s->body, store))
        return false;
    uint32_t mark = w->pr->facts.len;
    prover_assume_cond(w->pr, s->cond, false);
    bool empty = prove_nonneg(w->pr, poly_scale(size, -1));
    w->pr->facts.len = mark;
    return empty;
}

/* The store comes first, then the total grows by its size. */
static bool stores_then_grows(const ProofWalk *w, const IrBlock *body, const IrStmt *store,
                              Poly size, IrVarId total)
{
    uint32_t stored = UINT32_MAX;
    Poly more;
    for (uint32_t i = 0; i < body->len; i++) {
        const IrStmt *s = &w->p->stmts.at[body->at[i]];
        if (always_stores(w, s, store, size))
            stored = i;
        if (s->var == total)
            return stored < i && grows(w, s, &more) && poly_equal(more, size) &&
                   is_kept(w, body, stored, i, &size);
    }
    return false;
}

/* All axes but one stay where they are; that one starts at the total. */
static bool appends_on(const ProofWalk *w, const IrStmt *loop, const IrAccess *a, uint32_t axis,
                       IrVarId total)
{
    for (uint32_t i = 0; i < a->rank; i++) {
        Poly start = poly_of(w->pr, a->start[i]);
        Poly size = a->size[i] ? poly_of(w->pr, a->size[i]) : poly_const(1);
        if (i == axis)
            start = poly_sub(start, var_poly(w, total));
        if (!is_fixed(w, loop, &start) || (i != axis && !is_fixed(w, loop, &size)))
            return false;
    }
    return true;
}

bool proof_appends(const ProofWalk *w, const IrStmt *loop, const IrStmt *store, uint32_t *axis,
                   IrVarId *total)
{
    const IrAccess *a = &store->access;
    for (uint32_t i = 0; i < w->totals.len && store->atomic == IR_PLAIN; i++) {
        *total = w->totals.at[i].var;
        for (*axis = 0; w->totals.at[i].loop == loop->axes[0].range.start && *axis < a->rank;
             ++*axis)
            if (a->size[*axis] && appends_on(w, loop, a, *axis, *total) &&
                stores_then_grows(w, &loop->body, store, poly_of(w->pr, a->size[*axis]), *total))
                return true;
    }
    return false;
}
