/* Loads one turn ahead. In: Process, with its loops and stages. Out: loops whose loads are issued
 * before the work of the turn before:
 *
 *     for (v = lo; v < hi; v += step) {        for (ahead = lo; ahead < hi + step; ahead += step) {
 *         CopyIn(v);                     ─▶        if (ahead < hi) { v = ahead; CopyIn(v); }
 *         Compute(v);                              if (ahead > lo) { v = ahead - step; Compute(v); }
 *     }                                        }
 *
 * A pipe's queue holds 32 instructions and a scalar read waits for the vector unit: either way the
 * scalar unit would come to the next load too late, and two slots would be filled one after the
 * other. Only where the work of a turn is that much, every load has two slots, and nothing the
 * kernel writes is loaded.
 *
 * Where such a loop stands in another, its last turn loads the first of the outer loop's next one:
 *
 *     for (r = lo; r < hi; r += step) {        CopyIn(lo, first);
 *         Before(r);                           for (turn = lo; turn < hi; turn += step) {
 *         for (v = ...) {                          r = turn; Before(r);
 *             CopyIn(r, v);              ─▶        for (ahead = second; ...) {
 *             Compute(r, v);                           if (there is one) CopyIn(r, ahead);
 *         }                                            else if (there is a next) CopyIn(r + step, first);
 *     }                                                Compute(r, ahead - 1);
 *                                                  }
 *                                              } */
#include "lower/lower_int.h"

enum { FEW = 24 /* calls that leave room in the queue */ };

typedef VEC(uint32_t) Locals;

static bool is_ahead_load(const Lower *l, const AscStmt *s, Locals *locals)
{
    const AscBuffer *b;
    switch (s->kind) {
    case ASC_S_COPY:
        return s->copy.inward && l->source->tensors.at[s->copy.gm.id].role == IR_ROLE_IN;
    case ASC_S_ALLOC:
    case ASC_S_ENQUE:
        b = &l->k->buffers.at[l->k->locals.at[s->local].buffer];
        if (s->kind == ASC_S_ALLOC)
            vec_push(l->arena, locals, s->local);
        return b->storage == ASC_QUE_IN && lx_least(l, b->depth) >= 2; /* bound: V hands it on */
    default: return s->kind == ASC_S_FOR || s->kind == ASC_S_IF;
    }
}

static bool only_loads(const Lower *l, const AscBlock *block, Locals *locals)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &l->out->stmts.at[block->at[i]];
        if (!is_ahead_load(l, s, locals) || !only_loads(l, &s->body, locals) ||
            !only_loads(l, &s->orelse, locals))
            return false;
    }
    return true;
}

/* Does the block take a slot of one of these queues? */
static bool takes_slot(const Lower *l, const AscBlock *block, const Locals *locals)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &l->out->stmts.at[block->at[i]];
        for (uint32_t k = 0; s->kind == ASC_S_ALLOC && k < locals->len; k++)
            if (l->k->locals.at[locals->at[k]].buffer == l->k->locals.at[s->local].buffer)
                return true;
        bool run = s->kind == ASC_S_RUN;
        if (takes_slot(l, &s->body, locals) || takes_slot(l, &s->orelse, locals) ||
            (run && takes_slot(l, &l->k->functions.at[s->callee].body, locals)))
            return true;
    }
    return false;
}

/* Calls of a turn; a loop or a scalar read counts as many. */
static uint32_t work_of(const Lower *l, const AscBlock *block)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &l->out->stmts.at[block->at[i]];
        bool many = s->kind == ASC_S_FOR || s->kind == ASC_S_WHILE || s->kind == ASC_S_GET;
        n += many ? FEW + 1 : s->kind == ASC_S_CALL;
        n += work_of(l, &s->body) + work_of(l, &s->orelse);
        if (s->kind == ASC_S_RUN)
            n += work_of(l, &l->k->functions.at[s->callee].body);
    }
    return n;
}

static bool assigns(const Lower *l, const AscBlock *block, IrVarId var)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &l->out->stmts.at[block->at[i]];
        bool run = s->kind == ASC_S_RUN;
        if (s->var == var || assigns(l, &s->body, var) || assigns(l, &s->orelse, var) ||
            (run && assigns(l, &l->k->functions.at[s->callee].body, var)))
            return true;
    }
    return false;
}

/* The assignments before the loads are made twice a turn: what they read is the loop's own
 * variable, what the ones before made, or never changes in the loop. */
static bool may_repeat(const Lower *l, const AscBlock *body, uint32_t sets)
{
    for (uint32_t i = 0; i < sets; i++) {
        const AscStmt *s = &l->out->stmts.at[body->at[i]];
        AscBlock before = {.at = body->at, .len = i};
        for (IrVarId v = 1; v < l->ir->vars.len; v++)
            if (lx_uses(l, s->value, v) && assigns(l, body, v) && !assigns(l, &before, v))
                return false;
    }
    return true;
}

/* Which child is the stage of loads; UINT32_MAX: it may not run ahead. `around`: calls of the loop
 * around it. */
static uint32_t loads_of(const Lower *l, const AscBlock *body, uint32_t around, Locals *locals)
{
    uint32_t at = 0;
    while (at < body->len && l->out->stmts.at[body->at[at]].kind == ASC_S_SET)
        at++;
    if (at == body->len || l->out->stmts.at[body->at[at]].kind != ASC_S_RUN)
        return UINT32_MAX;
    const AscFunction *f = &l->k->functions.at[l->out->stmts.at[body->at[at]].callee];
    AscBlock rest = {.at = body->at + at + 1, .len = body->len - at - 1};
    bool ahead = f->stage == IR_COPYIN && only_loads(l, &f->body, locals) && locals->len &&
                 !takes_slot(l, &rest, locals) && work_of(l, &rest) + around > FEW &&
                 may_repeat(l, body, at);
    return ahead ? at : UINT32_MAX;
}

/* loop's var = value; the assignments that follow from it */
static void put_sets(Lower *l, const AscStmt *loop, uint32_t sets, IrExprId value)
{
    ls_set(l, loop->var, value);
    for (uint32_t i = 0; i < sets; i++) {
        AscStmt copy = l->out->stmts.at[loop->body.at[i]];
        *ls_new(l, ASC_S_SET) = copy;
    }
}

static void put_rest(Lower *l, const AscStmt *loop, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        vec_push(l->arena, l->at, loop->body.at[i]);
}

/* if (cond) { var = value; the assignments; statements from..to } */
static AscStmtId put_turn(Lower *l, const AscStmt *loop, uint32_t sets, IrExprId cond,
                          IrExprId value, uint32_t from, uint32_t to)
{
    ls_new(l, ASC_S_IF)->value = cond;
    AscStmtId guard = ls_last(l);
    Opened body;
    ls_open(l, &body);
    put_sets(l, loop, sets, value);
    put_rest(l, loop, from, to);
    ls_close(l, &body, guard, false);
    return guard;
}

static void mark_ahead(Lower *l, const Locals *locals, AscAhead how)
{
    for (uint32_t i = 0; i < locals->len; i++) {
        AscBuffer *b = &l->k->buffers.at[l->k->locals.at[locals->at[i]].buffer];
        b->ahead = b->ahead > how ? b->ahead : how;
    }
}

static void run_ahead(Lower *l, AscStmtId id, uint32_t loads, const Locals *locals)
{
    AscStmt loop = l->out->stmts.at[id];
    IrVarId var = lx_local(l, "ahead", DT_I64);
    IrExprId ahead = lx_var(l, var);
    AscBlock body = {0}, *outer = l->at;
    l->span = loop.at;
    l->at = &body;
    put_turn(l, &loop, loads, ir_expr2(l->ir, IR_E_LT, ahead, loop.hi), ahead, loads, loads + 1);
    put_turn(l, &loop, loads, ir_expr2(l->ir, IR_E_GT, ahead, loop.lo), lx_sub(l, ahead, loop.step),
             loads + 1, loop.body.len);
    l->at = outer;
    AscStmt *s = &l->out->stmts.at[id];
    s->var = var;
    s->hi = lx_add(l, loop.hi, loop.step);
    s->body = body;
    mark_ahead(l, locals, ASC_AHEAD_TURN);
}

/* ---- over the turns of the loop around it ---- */

/* A loop whose body is assignments, stages, and one loop that may run ahead. */
typedef struct Nest {
    AscStmt outer, inner;
    uint32_t sets;  /* assignments at the start of the outer body */
    uint32_t own;   /* stages of loads after them that may run ahead as well: 0 or 1 */
    uint32_t at;    /* the inner loop in it */
    uint32_t loads; /* the stage of loads in the inner body */
    Locals locals;
} Nest;

static AscBlock part_of(const AscBlock *block, uint32_t from, uint32_t to)
{
    return (AscBlock){.at = block->at + from, .len = to - from};
}

static bool own_uses(const Lower *l, const Nest *n, IrVarId var)
{
    const AscStmt *run = &l->out->stmts.at[n->outer.body.at[n->sets]];
    return n->own && ls_uses(l, &l->k->functions.at[run->callee].body, var);
}

/* What is made in the outer turn, other than by its first assignments, is not what loads go by. */
static bool loads_follow(const Lower *l, const Nest *n)
{
    const AscStmt *run = &l->out->stmts.at[n->inner.body.at[n->loads]];
    const AscBlock *load = &l->k->functions.at[run->callee].body;
    AscBlock first = part_of(&n->outer.body, 0, n->sets);
    AscBlock before = part_of(&n->outer.body, n->sets + n->own, n->at);
    AscBlock after = part_of(&n->outer.body, n->at + 1, n->outer.body.len);
    AscBlock sets = part_of(&n->inner.body, 0, n->loads);
    AscBlock rest = part_of(&n->inner.body, n->loads + 1, n->inner.body.len);
    for (IrVarId v = 1; v < l->ir->vars.len; v++) {
        bool made = assigns(l, &before, v) || assigns(l, &after, v) || assigns(l, &rest, v);
        bool moves = made || v == n->outer.var || assigns(l, &first, v);
        bool bounds = lx_uses(l, n->inner.lo, v) || lx_uses(l, n->inner.hi, v) ||
                      lx_uses(l, n->inner.step, v);
        bool around = lx_uses(l, n->outer.lo, v) || lx_uses(l, n->outer.hi, v) ||
                      lx_uses(l, n->outer.step, v);
        if ((moves && (bounds || around)) ||
            (made && (ls_uses(l, &sets, v) || ls_uses(l, load, v) || own_uses(l, n, v))))
            return false;
    }
    return true;
}

/* Is it seen that the loop has a turn whenever it is met? */
static bool has_turn(const Lower *l, const AscStmt *loop)
{
    const IrExpr *hi = &l->ir->exprs.at[loop->hi];
    return lx_least(l, loop->hi) > lx_most(l, loop->lo) ||
           (hi->op == IR_E_ADD && ir_same(l->ir, hi->arg[0], loop->lo) &&
            lx_least(l, hi->arg[1]) >= 1);
}

/* Is the statement at `at` a stage of loads that nothing else in the body takes slots of? */
static uint32_t own_loads(const Lower *l, const AscBlock *body, uint32_t at, Locals *locals)
{
    const AscStmt *s = &l->out->stmts.at[body->at[at]];
    const AscFunction *f = s->kind == ASC_S_RUN ? &l->k->functions.at[s->callee] : NULL;
    Locals own = {0};
    AscBlock rest = part_of(body, at + 1, body->len);
    if (!f || f->stage != IR_COPYIN || !only_loads(l, &f->body, &own) || !own.len ||
        takes_slot(l, &rest, &own))
        return 0;
    for (uint32_t i = 0; i < own.len; i++)
        vec_push(l->arena, locals, own.at[i]);
    return 1;
}

/* An assignment that may be made again in the middle of the turn: nothing after it changes its variable,
 * as a turn's own sum would be. */
static bool sets_once(const Lower *l, const AscBlock *body, uint32_t at)
{
    const AscStmt *s = &l->out->stmts.at[body->at[at]];
    AscBlock rest = part_of(body, at + 1, body->len);
    return s->kind == ASC_S_SET && !assigns(l, &rest, s->var);
}

/* The only loop among the statements of an outer turn, and nothing but it takes its slots. */
static bool find_nest(const Lower *l, AscStmtId id, Nest *n)
{
    *n = (Nest){.outer = l->out->stmts.at[id]};
    const AscBlock *body = &n->outer.body;
    uint32_t loops = 0;
    while (n->sets < body->len && sets_once(l, body, n->sets))
        n->sets++;
    for (uint32_t i = n->sets; i < body->len; i++)
        if (l->out->stmts.at[body->at[i]].kind == ASC_S_FOR) {
            n->at = i;
            loops++;
        }
    if (n->outer.kind != ASC_S_FOR || loops != 1)
        return false;
    n->inner = l->out->stmts.at[body->at[n->at]];
    n->own = has_turn(l, &n->inner) ? own_loads(l, body, n->sets, &n->locals) : 0;
    AscBlock before = part_of(body, n->sets + n->own, n->at);
    AscBlock after = part_of(body, n->at + 1, body->len);
    n->loads = loads_of(l, &n->inner.body, work_of(l, &before) + work_of(l, &after), &n->locals);
    return n->loads != UINT32_MAX && !takes_slot(l, &before, &n->locals) &&
           !takes_slot(l, &after, &n->locals) && may_repeat(l, body, n->sets) && loads_follow(l, n);
}

/* The first loads of the outer loop's turn `value`. */
static void put_first(Lower *l, const Nest *n, IrExprId value)
{
    AscStmt run = l->out->stmts.at[n->inner.body.at[n->loads]];
    put_sets(l, &n->outer, n->sets, value);
    if (n->own) {
        AscStmt own = l->out->stmts.at[n->outer.body.at[n->sets]];
        *ls_new(l, ASC_S_RUN) = own;
    }
    put_sets(l, &n->inner, n->loads, n->inner.lo);
    *ls_new(l, ASC_S_RUN) = run;
}

/* Those of the first turn, if the inner loop has any. */
static void put_very_first(Lower *l, const Nest *n)
{
    if (has_turn(l, &n->inner)) {
        put_first(l, n, n->outer.lo);
        return;
    }
    ls_new(l, ASC_S_IF)->value = ir_expr2(l->ir, IR_E_LT, n->inner.lo, n->inner.hi);
    AscStmtId guard = ls_last(l);
    Opened body;
    ls_open(l, &body);
    put_first(l, n, n->outer.lo);
    ls_close(l, &body, guard, false);
}

/* if (this turn has more) its next loads; else if (there is a next turn) its first ones */
static void put_next(Lower *l, const Nest *n, IrExprId turn, IrExprId ahead)
{
    AscStmtId owner = put_turn(l, &n->inner, n->loads, ir_expr2(l->ir, IR_E_LT, ahead, n->inner.hi),
                               ahead, n->loads, n->loads + 1);
    IrExprId next = lx_add(l, turn, n->outer.step);
    Opened other, body;
    ls_open(l, &other);
    ls_new(l, ASC_S_IF)->value = ir_expr2(l->ir, IR_E_LT, next, n->outer.hi);
    AscStmtId guard = ls_last(l);
    ls_open(l, &body);
    put_first(l, n, next);
    put_sets(l, &n->outer, n->sets, turn);
    ls_close(l, &body, guard, false);
    ls_close(l, &other, owner, true);
}

static void put_inner(Lower *l, const Nest *n, IrExprId turn)
{
    IrVarId var = lx_local(l, "ahead", DT_I64);
    IrExprId ahead = lx_var(l, var);
    l->span = n->inner.at;
    AscStmtId owner = ls_for(l, var, lx_add(l, n->inner.lo, n->inner.step),
                             lx_add(l, n->inner.hi, n->inner.step), n->inner.step);
    Opened body;
    ls_open(l, &body);
    put_next(l, n, turn, ahead);
    put_sets(l, &n->inner, n->loads, lx_sub(l, ahead, n->inner.step));
    put_rest(l, &n->inner, n->loads + 1, n->inner.body.len);
    ls_close(l, &body, owner, false);
}

/* if (there is a turn) { the first loads; the loops } */
static void run_nest(Lower *l, AscStmtId id, const Nest *n)
{
    IrVarId var = lx_local(l, "turn", DT_I64);
    IrExprId turn = lx_var(l, var);
    AscBlock *before = l->at, all = {0};
    l->span = n->outer.at;
    l->at = &all;
    put_very_first(l, n);
    AscStmtId owner = ls_for(l, var, n->outer.lo, n->outer.hi, n->outer.step);
    Opened body;
    ls_open(l, &body);
    put_sets(l, &n->outer, n->sets, turn);
    put_rest(l, &n->outer, n->sets + n->own, n->at);
    put_inner(l, n, turn);
    l->span = n->outer.at;
    put_rest(l, &n->outer, n->at + 1, n->outer.body.len);
    ls_close(l, &body, owner, false);
    l->at = before;
    l->out->stmts.at[id] = (AscStmt){.kind = ASC_S_IF,
                                     .at = n->outer.at,
                                     .value = ir_expr2(l->ir, IR_E_LT, n->outer.lo, n->outer.hi),
                                     .body = all};
    mark_ahead(l, &n->locals, ASC_AHEAD_NEST);
}

static void walk(Lower *l, const AscBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        AscStmtId id = block->at[i];
        AscBlock body = l->out->stmts.at[id].body, orelse = l->out->stmts.at[id].orelse;
        Locals locals = {0};
        Nest nest;
        if (find_nest(l, id, &nest)) {
            run_nest(l, id, &nest);
            continue;
        }
        bool loop = l->out->stmts.at[id].kind == ASC_S_FOR;
        uint32_t loads = loop ? loads_of(l, &body, 0, &locals) : UINT32_MAX;
        if (loads != UINT32_MAX)
            run_ahead(l, id, loads, &locals);
        walk(l, &body);
        walk(l, &orelse);
    }
}

/* ---- what a loop computes anew and alike in every turn ---- */

static uint32_t assignments(const Lower *l, const AscBlock *block, IrVarId var)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &l->out->stmts.at[block->at[i]];
        n += s->var == var;
        n += assignments(l, &s->body, var) + assignments(l, &s->orelse, var);
        if (s->kind == ASC_S_RUN)
            n += assignments(l, &l->k->functions.at[s->callee].body, var);
    }
    return n;
}

/* Reads nothing that the loop counts or makes; `kept` and `rest` are its statements. */
static bool is_steady(const Lower *l, const AscStmt *set, IrVarId counter, const AscBlock *kept,
                      const AscBlock *rest)
{
    if (set->kind != ASC_S_SET)
        return false;
    for (IrVarId v = 1; v < l->ir->vars.len; v++)
        if (lx_uses(l, set->value, v) &&
            (v == counter || assigns(l, kept, v) || assigns(l, rest, v)))
            return false;
    return assignments(l, &l->k->functions.at[0].body, set->var) == 1;
}

/* Such assignments go before the loop: the bounds of loops that are split over the cores. */
static void hoist(Lower *l, AscBlock *block)
{
    AscBlock out = {0};
    for (uint32_t i = 0; i < block->len; i++) {
        AscStmt s = l->out->stmts.at[block->at[i]];
        AscBlock kept = {0};
        hoist(l, &s.body);
        hoist(l, &s.orelse);
        for (uint32_t k = 0; k < s.body.len; k++) {
            AscBlock rest = part_of(&s.body, k, s.body.len);
            bool steady = s.kind == ASC_S_FOR &&
                          is_steady(l, &l->out->stmts.at[s.body.at[k]], s.var, &kept, &rest);
            vec_push(l->arena, steady ? &out : &kept, s.body.at[k]);
        }
        s.body = kept;
        l->out->stmts.at[block->at[i]] = s;
        vec_push(l->arena, &out, block->at[i]);
    }
    *block = out;
}

/* requires: Process and its stages, slots taken in the stage that loads.
 * keeps: the order of turns; each slot is still allocated, handed over and freed once a turn. */
void lower_ahead(Lower *l)
{
    for (uint32_t i = 0; i < l->out->kernels.len; i++) {
        l->k = &l->out->kernels.at[i];
        l->source = &l->ir->kernels.at[i];
        if (!l->k->launched || !l->k->functions.len)
            continue;
        hoist(l, &l->k->functions.at[0].body);
        walk(l, &l->k->functions.at[0].body);
    }
}
