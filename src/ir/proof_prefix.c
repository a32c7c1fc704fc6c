/* A prefix over the cores' counts, recognised: where each core's part of what data decided lies.
 *
 *     counts[core_id(), 0] = total            every core tells its own count,
 *     sync_all()
 *     before = 0
 *     for c in range(core_id()):              and adds those of the cores before it
 *         before += counts[c, 0]
 *
 * So before : before + total are pieces of 0 : (all counts) that lie end to end, core by core. Where
 * no core counts more than its own part of a split of 0 : n, they lie inside 0 : n.
 *
 * In: a kernel. Out: the names of such a prefix, and facts after the loops that add up. */
#include "ir/prove_int.h"

/* The statement is all that writes the tensor. */
static bool is_only_write(const ProofWalk *w, const IrBlock *block, const IrStmt *write)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &w->p->stmts.at[block->at[i]];
        bool writes = s->kind == IR_S_STORE || s->kind == IR_S_GM_WRITE;
        if (writes && s != write && s->access.tensor == write->access.tensor)
            return false;
        if (!is_only_write(w, &s->body, write) || !is_only_write(w, &s->orelse, write))
            return false;
    }
    return true;
}

/* counts[core_id(), 0, ...] or, with `var`, counts[var, 0, ...] */
static bool is_slot(const IrProgram *p, const IrAccess *a, IrVarId var)
{
    int64_t number;
    for (uint32_t i = 0; i < a->rank; i++) {
        const IrExpr *e = &p->exprs.at[a->start[i]];
        bool who = var ? e->op == IR_E_VAR && e->of.var == var : e->op == IR_E_CORE_ID;
        if (a->size[i] || (i == 0 ? !who : !ir_is_int(p, a->start[i], &number)))
            return false;
    }
    return a->rank > 0 && !a->flat && !a->item;
}

static bool same_slot(const IrProgram *p, const IrAccess *a, const IrAccess *b)
{
    if (a->tensor != b->tensor || a->rank != b->rank)
        return false;
    for (uint32_t i = 1; i < a->rank; i++)
        if (!ir_same(p, a->start[i], b->start[i]))
            return false;
    return true;
}

typedef struct Told {
    const IrProgram *p;
    IrExprId count;
    bool changed;
} Told;

static void note_change(void *context, IrVarId var)
{
    Told *t = context;
    t->changed |= ir_mentions(t->p, t->count, var);
}

/* From statement `from` of the kernel on nobody assigns what the count is made of. */
static bool is_settled(const ProofWalk *w, IrExprId count, uint32_t from)
{
    Told told = {.p = w->p, .count = count};
    IrBlock rest = w->k->body;
    rest.at += from;
    rest.len -= from;
    proof_each_assigned(w->p, &rest, note_change, &told);
    return !told.changed;
}

/* The slot's write in a stage of the kernel's outermost level. */
static const IrStmt *find_write(const ProofWalk *w, uint32_t *at)
{
    const IrBlock *body = &w->k->body;
    for (; *at < body->len; ++*at) {
        const IrStmt *stage = &w->p->stmts.at[body->at[*at]];
        for (uint32_t i = 0; stage->kind == IR_S_STAGE && i < stage->body.len; i++) {
            const IrStmt *s = &w->p->stmts.at[stage->body.at[i]];
            if (s->kind == IR_S_GM_WRITE && is_slot(w->p, &s->access, 0) &&
                w->k->tensors.at[s->access.tensor].dtype == DT_I64 && is_only_write(w, body, s) &&
                is_settled(w, s->value, *at))
                return s;
        }
    }
    return NULL;
}

/* for c in range(hi): var += counts[c, 0]: the variable, or 0. */
static IrVarId adds_slots(const ProofWalk *w, const IrStmt *loop, const IrStmt *write)
{
    int64_t lo;
    if (loop->kind != IR_S_FOR || loop->loop != IR_LOOP_RANGE || loop->axes[0].step ||
        loop->body.len != 2 || !ir_is_int(w->p, loop->axes[0].lo, &lo) || lo != 0)
        return 0;
    const IrStmt *read = &w->p->stmts.at[loop->body.at[0]];
    const IrStmt *add = &w->p->stmts.at[loop->body.at[1]];
    const IrExpr *sum = &w->p->exprs.at[add->value];
    if (read->kind != IR_S_GM_READ || add->kind != IR_S_ASSIGN || sum->op != IR_E_ADD ||
        !is_slot(w->p, &read->access, loop->axes[0].range.start) ||
        !same_slot(w->p, &read->access, &write->access))
        return 0;
    const IrExpr *a = &w->p->exprs.at[sum->arg[0]], *b = &w->p->exprs.at[sum->arg[1]];
    bool adds = a->op == IR_E_VAR && b->op == IR_E_VAR && a->of.var == add->var &&
                b->of.var == read->var && read->var != add->var;
    return adds ? add->var : 0;
}

/* var = 0 stands right in the block before statement `loop`, and nothing else assigns it. */
static bool starts_at_zero(const ProofWalk *w, const IrBlock *block, uint32_t loop, IrVarId var,
                           const uint32_t *assigns)
{
    int64_t value;
    for (uint32_t i = 0; i < loop && assigns[var] == 2; i++) {
        const IrStmt *s = &w->p->stmts.at[block->at[i]];
        if (s->kind == IR_S_ASSIGN && s->var == var)
            return ir_is_int(w->p, s->value, &value) && value == 0;
    }
    return false;
}

/* Loops after sync_all() that add up the slots: of the cores before, or of all cores. */
static void find_sums(ProofWalk *w, const IrBlock *block, uint32_t from, const IrStmt *write,
                      const uint32_t *assigns)
{
    for (uint32_t i = from; i < block->len; i++) {
        const IrStmt *s = &w->p->stmts.at[block->at[i]];
        IrVarId var = adds_slots(w, s, write);
        bool top = block->at == w->k->body.at;
        if (var && starts_at_zero(w, block, i, var, assigns)) {
            const IrExpr *hi = &w->p->exprs.at[s->axes[0].hi];
            if (hi->op == IR_E_CORE_ID && top && !w->prefix.start) {
                w->prefix.start = var;
                w->prefix.at = i;
            } else if (poly_equal(poly_of(w->pr, s->axes[0].hi),
                                  poly_of(w->pr, ir_leaf(w->p, IR_E_NUM_CORES, 0, 0)))) {
                w->prefix.all = var;
            }
        }
        if (s->kind == IR_S_IF)
            find_sums(w, &s->body, 0, write, assigns);
    }
}

void proof_find_prefix(ProofWalk *w)
{
    const IrBlock *body = &w->k->body;
    uint32_t at = 0;
    const IrStmt *write = find_write(w, &at);
    while (at < body->len && w->p->stmts.at[body->at[at]].kind != IR_S_SYNC_ALL)
        at++;
    if (!write || at == body->len)
        return;
    w->prefix.count = write->value;
    find_sums(w, body, at, write, ir_count_assigns(w->p, w->arena));
}

/* ---- facts ---- */

/* The most that all cores together can have counted: what a split of theirs has. */
static bool find_budget(ProofWalk *w, Poly count, Poly *most)
{
    const IrExpr *e = &w->p->exprs.at[w->prefix.count];
    for (uint32_t i = 0; i < w->prefix.at; i++) {
        const IrStmt *s = &w->p->stmts.at[w->k->body.at[i]];
        if (!proof_splits_steadily(w, s))
            continue;
        IrVarId start = s->axes[0].range.start;
        *most = poly_of(w->pr, s->axes[0].hi);
        if (s->kind == IR_S_SHARE && prove_nonneg(w->pr, *most) &&
            prove_nonneg(w->pr,
                         poly_sub(poly_of(w->pr, ir_var(w->p, s->axes[0].range.size)), count)))
            return true;
        for (uint32_t t = 0; t < w->totals.len && s->kind == IR_S_FOR; t++) {
            *most = w->totals.at[t].most;
            if (w->totals.at[t].loop == start && e->op == IR_E_VAR &&
                w->totals.at[t].var == e->of.var)
                return true;
        }
    }
    return false;
}

void proof_learn_sum(ProofWalk *w, const IrStmt *loop)
{
    IrVarId sum = loop->body.len == 2 ? w->p->stmts.at[loop->body.at[1]].var : 0;
    if (!sum || (sum != w->prefix.start && sum != w->prefix.all))
        return;
    Poly count = poly_of(w->pr, w->prefix.count), most, v = poly_of(w->pr, ir_var(w->p, sum));
    if (!prove_nonneg(w->pr, count) || !find_budget(w, count, &most))
        return;
    prover_assume(w->pr, v);
    prover_assume(w->pr, poly_sub(poly_sub(most, v), sum == w->prefix.start ? count : (Poly){0}));
    w->prefix.bounded = true;
}
