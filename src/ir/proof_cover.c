/* Coverage: every element of an output is written, once, by one core.
 *
 * A store site is traced outwards through its loops. Per axis of the tensor the piece
 * [start, start + size) that one execution writes grows as each loop is left:
 *
 *     for r in mine(rows)                axis 0: [r, 1)  -> [0, rows)   (r is a partition)
 *       for t in tiles(cols, tile)       axis 1: [t.start, t.size) -> [0, cols)
 *         store y[r, t]
 *
 * mine, cyclic, share and tiles are partitions by construction, so the pieces of one loop are
 * disjoint and their union is the whole; no solver is needed. A loop that no axis uses writes
 * again; two core splits on one path leave holes; none lets every core write everything. */
#include "ir/prove_int.h"

enum { MAX_PATH = 32 };

typedef struct Guard {
    IrStmtId stmt;
    bool holds;
} Guard;

typedef struct Site {
    IrStmtId stmt;
    IrStmtId path[MAX_PATH]; /* loops and shares, outermost first */
    uint32_t path_len;
    Guard guards[MAX_PATH];
    uint32_t guard_len;
    uint32_t top;                               /* statement of the kernel's outermost level */
    bool one_core;                              /* under `if core_id() == constant` */
    bool lost;                                  /* too deep to follow */
    Poly start[IR_MAX_RANK], size[IR_MAX_RANK]; /* the piece, after tracing */
    bool full[IR_MAX_RANK];
    uint32_t unused_loops, core_splits;
} Site;

typedef struct Cover {
    ProofWalk *w;
    uint32_t tensor;
    VEC(Site) sites;
    bool atomic; /* some site adds instead of storing */
    Site now;
} Cover;

/* ---- collecting the sites ---- */

/* `core_id() == k`, the same k everywhere, and the launch has a core k */
static bool is_core_test(const ProofWalk *w, IrExprId cond)
{
    const IrExpr e = w->p->exprs.at[cond];
    if (e.op != IR_E_EQ)
        return false;
    int core = w->p->exprs.at[e.arg[0]].op == IR_E_CORE_ID ? 0 : 1;
    if (w->p->exprs.at[e.arg[core]].op != IR_E_CORE_ID || !proof_is_steady(w, e.arg[!core]))
        return false;
    Poly k = poly_of(w->pr, e.arg[!core]);
    Poly cores = poly_of(w->pr, ir_leaf(w->p, IR_E_NUM_CORES, 0, 0));
    return prove_nonneg(w->pr, k) &&
           prove_nonneg(w->pr, poly_sub(poly_sub(cores, poly_const(1)), k));
}

static void push_path(Site *site, IrStmtId stmt)
{
    if (site->path_len == MAX_PATH)
        site->lost = true;
    else
        site->path[site->path_len++] = stmt;
}

static void collect(Cover *c, const IrBlock *block);

static void collect_if(Cover *c, IrStmtId id, const IrStmt *s)
{
    Site saved = c->now;
    for (int branch = 0; branch < 2; branch++) {
        c->now = saved;
        if (branch == 0 && is_core_test(c->w, s->cond))
            c->now.one_core = true;
        else if (c->now.guard_len == MAX_PATH)
            c->now.lost = true;
        else
            c->now.guards[c->now.guard_len++] = (Guard){id, branch == 0};
        collect(c, branch == 0 ? &s->body : &s->orelse);
    }
    c->now = saved;
}

static void collect(Cover *c, const IrBlock *block)
{
    uint32_t path_len = c->now.path_len;
    for (uint32_t i = 0; i < block->len; i++) {
        IrStmtId id = block->at[i];
        const IrStmt *s = &c->w->p->stmts.at[id];
        if (block == &c->w->k->body)
            c->now.top = i;
        bool store = s->kind == IR_S_STORE || s->kind == IR_S_GM_WRITE;
        if (store && s->access.tensor == c->tensor) {
            c->atomic |= s->atomic != IR_PLAIN;
            c->now.stmt = id;
            if (s->atomic == IR_PLAIN)
                vec_push(c->w->arena, &c->sites, c->now);
        } else if (s->kind == IR_S_SHARE) {
            push_path(&c->now, id); /* in force to the end of the block */
        } else if (s->kind == IR_S_FOR) {
            uint32_t before = c->now.path_len;
            push_path(&c->now, id);
            collect(c, &s->body);
            c->now.path_len = before;
        } else if (s->kind == IR_S_IF) {
            collect_if(c, id, s);
        } else {
            collect(c, &s->body);
        }
    }
    c->now.path_len = path_len;
}

/* ---- tracing one axis outwards ---- */

/* p = coef * var + rest, with var only in the first power and not inside other atoms' terms */
static bool linear_in(Prover *pr, const Poly *p, IrVarId var, Poly *coef, Poly *rest)
{
    *coef = *rest = (Poly){0};
    for (uint32_t i = 0; i < p->len; i++) {
        PolyTerm t = p->term[i];
        uint32_t kept = 0, found = 0;
        for (uint32_t k = 0; k < t.degree; k++) {
            const IrExpr *e = &pr->p->exprs.at[pr->atoms.at[t.atom[k]].expr];
            if (e->op == IR_E_VAR && e->of.var == var)
                found++;
            else
                t.atom[kept++] = p->term[i].atom[k];
        }
        if (found > 1)
            return false;
        if (found)
            t.degree = kept;
        Poly one = {.len = 1, .term = {found ? t : p->term[i]}};
        *(found ? coef : rest) = poly_add(*(found ? coef : rest), one);
    }
    return true;
}

static bool is_one(const Poly *p) { return poly_equal(*p, poly_const(1)); }

/* The piece is this range shifted by a constant, or its mirror image [k - stop, k - start): it
 * becomes the union over the range's loop. */
static bool absorb_range(Cover *c, Site *site, uint32_t axis, const IrRange *r, Poly lo, Poly hi)
{
    Prover *pr = c->w->pr;
    Poly coef, rest, size = poly_of(pr, ir_var(c->w->p, r->size));
    if (!linear_in(pr, &site->start[axis], r->start, &coef, &rest) ||
        !poly_equal(site->size[axis], size))
        return false;
    if (is_one(&coef))
        site->start[axis] = poly_add(rest, lo);
    else if (poly_equal(coef, poly_const(-1)))
        site->start[axis] = poly_sub(poly_add(rest, size), hi);
    else
        return false;
    site->size[axis] = poly_sub(hi, lo);
    return true;
}

/* The piece moves by its own size with the scalar, upwards or downwards: adjacent pieces. */
static bool absorb_scalar(Cover *c, Site *site, uint32_t axis, IrVarId var, Poly lo, Poly hi)
{
    Poly coef, rest;
    if (!linear_in(c->w->pr, &site->start[axis], var, &coef, &rest) || coef.len == 0)
        return false;
    if (poly_equal(coef, site->size[axis]))
        site->start[axis] = poly_add(rest, poly_mul(coef, lo));
    else if (poly_equal(poly_scale(coef, -1), site->size[axis]))
        site->start[axis] = poly_add(rest, poly_mul(coef, poly_sub(hi, poly_const(1))));
    else
        return false;
    site->size[axis] = poly_mul(site->size[axis], poly_sub(hi, lo));
    return true;
}

static bool absorb_axis(Cover *c, Site *site, const IrAxis *a, uint32_t rank)
{
    Prover *pr = c->w->pr;
    Poly lo = poly_of(pr, a->lo), hi = poly_of(pr, a->hi);
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (a->tile ? absorb_range(c, site, axis, &a->range, lo, hi)
                    : !a->step && absorb_scalar(c, site, axis, a->range.start, lo, hi))
            return true;
    }
    /* a loop that runs exactly once writes nothing again */
    return poly_equal(poly_sub(hi, lo), poly_const(1));
}

static bool absorb_share(Cover *c, Site *site, const IrStmt *s, uint32_t rank)
{
    Poly n = poly_of(c->w->pr, s->axes[0].hi);
    for (uint32_t axis = 0; axis < rank; axis++)
        if (absorb_range(c, site, axis, &s->axes[0].range, poly_const(0), n))
            return true;
    return false;
}

static void trace_step(Cover *c, Site *site, const IrStmt *s, uint32_t rank)
{
    if (s->kind == IR_S_SHARE) {
        site->core_splits += absorb_share(c, site, s, rank);
        return; /* a share that this site does not use costs nothing */
    }
    bool split = s->loop == IR_LOOP_MINE || s->loop == IR_LOOP_CYCLIC ||
                 s->loop == IR_LOOP_MINE_LIST;
    site->core_splits += split;
    for (uint32_t i = s->axis_count; i-- > 0;) {
        if (absorb_axis(c, site, &s->axes[i], rank))
            continue;
        Poly trips = poly_sub(poly_of(c->w->pr, s->axes[i].hi), poly_of(c->w->pr, s->axes[i].lo));
        site->unused_loops++;
        if (!prove_nonneg(c->w->pr, poly_sub(trips, poly_const(1))))
            site->lost = true; /* it may not run at all */
    }
}

/* Is the variable bound by a loop around the site? */
static bool bound_on_path(const Cover *c, const Site *site, IrVarId var)
{
    for (uint32_t i = 0; i < site->path_len; i++) {
        const IrStmt *s = &c->w->p->stmts.at[site->path[i]];
        for (uint32_t k = 0; k < s->axis_count && s->kind == IR_S_FOR; k++) {
            const IrRange *r = &s->axes[k].range;
            if (r->start == var || r->size == var || r->index == var)
                return true;
        }
    }
    return false;
}

/* A value that is the same on every core or belongs to the piece of work in hand; `in_piece`
 * false: the former only. */
static bool is_even(const Cover *c, const Site *site, IrExprId id, bool in_piece)
{
    const IrExpr *e = &c->w->p->exprs.at[id];
    if (e->op == IR_E_VAR && c->w->p->vars.at[e->of.var].kind == IR_VAR_LOOP)
        return in_piece && bound_on_path(c, site, e->of.var);
    if (e->op == IR_E_VAR && c->w->pr->alias[e->of.var])
        return is_even(c, site, c->w->pr->alias[e->of.var], in_piece);
    if (e->op == IR_E_VAR || e->op == IR_E_CORE_ID)
        return !proof_differs(c->w, id);
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (!is_even(c, site, e->arg[i], in_piece))
            return false;
    return true;
}

/* Made of what is the same on every core, and of this core's place after the cores before it. */
static bool is_placed(const Cover *c, const Site *site, IrExprId id)
{
    const ProofPrefix *prefix = &c->w->prefix;
    const IrExpr *e = &c->w->p->exprs.at[id];
    if (!prefix->bounded || site->top <= prefix->at)
        return false;
    if (e->op == IR_E_VAR && c->w->pr->alias[e->of.var])
        return is_placed(c, site, c->w->pr->alias[e->of.var]);
    if (e->op == IR_E_VAR)
        return e->of.var == prefix->start || ir_mentions(c->w->p, prefix->count, e->of.var) ||
               !proof_differs(c->w, id);
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (!is_placed(c, site, e->arg[i]))
            return false;
    return e->op != IR_E_CORE_ID;
}

/* A partition is proved only when all cores split the same range, and a branch only when its
 * condition is the same on all cores. */
static bool is_regular(const Cover *c, const Site *site)
{
    for (uint32_t i = 0; i < site->guard_len; i++)
        if (!is_even(c, site, c->w->p->stmts.at[site->guards[i].stmt].cond, true))
            return false;
    for (uint32_t i = 0; i < site->path_len; i++) {
        const IrStmt *s = &c->w->p->stmts.at[site->path[i]];
        bool split = s->kind == IR_S_SHARE || s->loop == IR_LOOP_MINE || s->loop == IR_LOOP_CYCLIC;
        if (split && s->kind == IR_S_SHARE && !is_even(c, site, s->align, false))
            return false;
        for (uint32_t k = 0; k < s->axis_count; k++) {
            const IrAxis *a = &s->axes[k];
            IrExprId parts[] = {a->lo, a->hi, a->tile};
            for (int j = 0; j < 3; j++) {
                bool ok = !parts[j] ||
                          (split ? is_even(c, site, parts[j], false)
                                 : !proof_differs(c->w, parts[j]) || is_placed(c, site, parts[j]));
                if (!ok)
                    return false;
            }
        }
    }
    return true;
}

/* The first axis of an output whose length data decide: pieces that lie end to end, one after
 * the other's, cover it as far as it goes. */
static void absorb_prefix(Cover *c, Site *site)
{
    const ProofPrefix *prefix = &c->w->prefix;
    Prover *pr = c->w->pr;
    if (site->lost || !prefix->bounded || site->top <= prefix->at ||
        !poly_equal(site->start[0], poly_of(pr, ir_var(c->w->p, prefix->start))) ||
        !poly_equal(site->size[0], poly_of(pr, prefix->count)))
        return;
    site->core_splits++;
    site->full[0] = true;
}

static void trace(Cover *c, Site *site)
{
    const IrTensor *t = &c->w->k->tensors.at[c->tensor];
    const IrAccess *a = &c->w->p->stmts.at[site->stmt].access;
    Prover *pr = c->w->pr;
    if (a->flat || a->rank != t->rank || !is_regular(c, site))
        site->lost = true;
    for (uint32_t i = 0; i < a->rank; i++) {
        site->start[i] = poly_of(pr, a->start[i]);
        site->size[i] = a->size[i] ? poly_of(pr, a->size[i]) : poly_const(1);
    }
    for (uint32_t i = site->path_len; i-- > 0;) {
        IrStmt s = c->w->p->stmts.at[site->path[i]];
        trace_step(c, site, &s, a->rank);
    }
    for (uint32_t i = 0; i < a->rank && !site->lost; i++)
        site->full[i] = poly_is_zero(&site->start[i]) &&
                        poly_equal(site->size[i], poly_of(pr, t->shape[i]));
    if (t->upto)
        absorb_prefix(c, site);
}

/* ---- putting sites together ---- */

static uint32_t rank_of(const Cover *c) { return c->w->k->tensors.at[c->tensor].rank; }

static uint32_t partial_axes(const Cover *c, const Site *s, uint32_t *axis)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < rank_of(c); i++) {
        if (!s->full[i]) {
            *axis = i;
            n++;
        }
    }
    return n;
}

/* Unguarded sites whose pieces lie end to end along one axis and span it. */
static bool chain_covers(const Cover *c, bool *all_used)
{
    Poly at = poly_const(0);
    uint32_t used = 0, axis = 0, first_axis = UINT32_MAX;
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < c->sites.len && used < c->sites.len; i++) {
            const Site *s = &c->sites.at[i];
            if (s->lost || s->guard_len || partial_axes(c, s, &axis) != 1)
                continue;
            if (first_axis == UINT32_MAX)
                first_axis = axis;
            if (axis != first_axis || !poly_equal(s->start[axis], at) || !s->size[axis].len)
                continue;
            at = poly_add(at, s->size[axis]);
            used++;
            more = true;
            break;
        }
    }
    *all_used = used == c->sites.len;
    if (first_axis == UINT32_MAX)
        return false;
    Poly shape = poly_of(c->w->pr, c->w->k->tensors.at[c->tensor].shape[first_axis]);
    return poly_equal(at, shape);
}

static bool site_full(const Cover *c, const Site *s)
{
    uint32_t axis;
    return !s->lost && partial_axes(c, s, &axis) == 0;
}

/* Full sites whose guards exhaust the cases: at `level`, both branches of one if. */
static bool cases_cover(const Cover *c, const bool *in, uint32_t level)
{
    const Site *first = NULL;
    for (uint32_t i = 0; i < c->sites.len; i++) {
        const Site *s = &c->sites.at[i];
        if (!in[i] || !site_full(c, s))
            continue;
        if (s->guard_len == level)
            return true;
        if (!first)
            first = s;
    }
    if (!first || level >= MAX_PATH)
        return false;
    for (int branch = 0; branch < 2; branch++) {
        bool *part = arena_array(c->w->arena, bool, c->sites.len);
        for (uint32_t i = 0; i < c->sites.len; i++) {
            const Site *s = &c->sites.at[i];
            part[i] = in[i] && s->guard_len > level &&
                      s->guards[level].stmt == first->guards[level].stmt &&
                      s->guards[level].holds == (branch == 0);
        }
        if (!cases_cover(c, part, level + 1))
            return false;
    }
    return true;
}

/* Two sites that can never both run: opposite branches of one if. */
static bool exclusive(const Site *a, const Site *b)
{
    for (uint32_t i = 0; i < a->guard_len; i++)
        for (uint32_t k = 0; k < b->guard_len; k++)
            if (a->guards[i].stmt == b->guards[k].stmt && a->guards[i].holds != b->guards[k].holds)
                return true;
    return false;
}

static bool all_exclusive(const Cover *c)
{
    for (uint32_t i = 0; i < c->sites.len; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!exclusive(&c->sites.at[i], &c->sites.at[k]))
                return false;
    return true;
}

static bool single_core(const Cover *c)
{
    int64_t cores;
    return c->w->pr->num_cores && ir_is_int(c->w->p, c->w->pr->num_cores, &cores) && cores == 1;
}

static bool site_differs(const Cover *c, const Site *s)
{
    const IrProgram *p = c->w->p;
    const IrAccess *a = &p->stmts.at[s->stmt].access;
    for (uint32_t i = 0; i < a->rank; i++)
        if (proof_differs(c->w, a->start[i]))
            return true;
    for (uint32_t i = 0; i < s->guard_len; i++)
        if (proof_differs(c->w, p->stmts.at[s->guards[i].stmt].cond))
            return true;
    for (uint32_t i = 0; i < s->path_len; i++) {
        const IrStmt *loop = &p->stmts.at[s->path[i]];
        for (uint32_t k = 0; k < loop->axis_count; k++)
            if (proof_differs(c->w, loop->axes[k].lo) || proof_differs(c->w, loop->axes[k].hi))
                return true;
    }
    return false;
}

typedef enum Split { SPLIT_ONE, SPLIT_NONE, SPLIT_TWICE, SPLIT_AGAIN, SPLIT_UNKNOWN } Split;

static Split worst_split(const Cover *c, const Site **where)
{
    bool alone = single_core(c);
    for (uint32_t i = 0; i < c->sites.len; i++) {
        const Site *s = &c->sites.at[i];
        *where = s;
        if (s->unused_loops)
            return SPLIT_AGAIN;
        if (s->core_splits == 0 && !s->one_core && !alone)
            return site_differs(c, s) ? SPLIT_UNKNOWN : SPLIT_NONE;
        if (s->core_splits > 1 || (s->core_splits && s->one_core))
            return SPLIT_TWICE;
    }
    return SPLIT_ONE;
}

static void report_cover(Cover *c, const IrTensor *t, bool covered, Split split, Span at)
{
    ProofWalk *w = c->w;
    const char *text = NULL;
    IrProofState state = covered && split != SPLIT_TWICE ? IR_PROVED : IR_WATCHED;
    if (split == SPLIT_TWICE) {
        state = IR_REFUSED;
        text = str_format(w->arena,
                          "'%s' is not written everywhere: its loops split the work over "
                          "cores twice, so each core sees only its part of its part",
                          t->name);
    } else if (state != IR_PROVED) {
        text = str_format(w->arena,
                          t->upto ? "that '%s' is written from its first element on, without a gap"
                                  : "that every element of '%s' is written",
                          t->name);
    }
    proof_add(w, IR_PROOF_COVER, state, at, text);
}

static void report_once(Cover *c, const IrTensor *t, bool disjoint, Split split, Span at)
{
    ProofWalk *w = c->w;
    const char *text = str_format(w->arena, "that no element of '%s' is written twice", t->name);
    IrProofState state = disjoint && split == SPLIT_ONE ? IR_PROVED : IR_WATCHED;
    if (split == SPLIT_NONE) {
        state = IR_REFUSED;
        text = str_format(w->arena, "every core writes '%s' here: nothing splits the work",
                          t->name);
    } else if (split == SPLIT_AGAIN && disjoint) {
        text = str_format(w->arena,
                          "that '%s' is written once: a loop around this store does not "
                          "move it",
                          t->name);
    }
    proof_add(w, IR_PROOF_ONCE, state, at, text);
}

static bool list_covered(const Cover *c)
{
    const Site *s = c->sites.len == 1 ? &c->sites.at[0] : NULL;
    if (!s || s->guard_len || s->path_len != 1)
        return false;
    const IrStmt *loop = &c->w->p->stmts.at[s->path[0]];
    const IrAccess *a = &c->w->p->stmts.at[s->stmt].access;
    const IrExpr *item = &c->w->p->exprs.at[a->item], *start = &c->w->p->exprs.at[a->start[0]];
    const IrExpr *size = &c->w->p->exprs.at[a->size[0]];
    return loop->kind == IR_S_FOR && loop->loop == IR_LOOP_MINE_LIST && item->op == IR_E_VAR &&
           item->of.var == loop->axes[0].range.start && start->op == IR_E_VAR &&
           start->of.var == loop->axes[1].range.start && size->op == IR_E_VAR &&
           size->of.var == loop->axes[1].range.size;
}

static void check_list(Cover *c, const IrTensor *t)
{
    bool ok = list_covered(c);
    Span at = c->sites.len ? c->w->p->stmts.at[c->sites.at[0].stmt].at : t->at;
    report_cover(c, t, ok, SPLIT_ONE, at);
    report_once(c, t, ok, SPLIT_ONE, at);
}

/* `whole`: every element must be written. */
static void check_tensor(ProofWalk *w, uint32_t tensor, bool whole)
{
    const IrTensor *t = &w->k->tensors.at[tensor];
    Cover c = {.w = w, .tensor = tensor};
    collect(&c, &w->k->body);
    if (t->role == IR_ROLE_OUT_LIST) {
        check_list(&c, t);
        return;
    }
    if (c.sites.len == 0) {
        if (whole)
            proof_add(w, IR_PROOF_COVER, c.atomic ? IR_WATCHED : IR_REFUSED, t->at,
                      str_format(w->arena,
                                 c.atomic ? "that '%s' is initialised before the atomic "
                                            "stores"
                                          : "'%s' is never written",
                                 t->name));
        return;
    }
    for (uint32_t i = 0; i < c.sites.len; i++)
        trace(&c, &c.sites.at[i]);
    bool *all = arena_array(w->arena, bool, c.sites.len);
    for (uint32_t i = 0; i < c.sites.len; i++)
        all[i] = true;
    bool all_used = false;
    bool chained = chain_covers(&c, &all_used);
    bool covered = chained || cases_cover(&c, all, 0);
    bool disjoint = (chained && all_used) || (covered && all_exclusive(&c)) ||
                    (c.sites.len == 1 && !c.sites.at[0].lost);
    const Site *where = NULL;
    Split split = worst_split(&c, &where);
    Span at = w->p->stmts.at[where->stmt].at;
    if (whole)
        report_cover(&c, t, covered, split, at);
    report_once(&c, t, disjoint, split, at);
}

void proof_coverage(ProofWalk *w)
{
    const bool *first = proof_first_writers(w);
    for (uint32_t i = 0; i < w->k->tensors.len; i++) {
        IrRole role = w->k->tensors.at[i].role;
        if (role == IR_ROLE_OUT || role == IR_ROLE_INOUT || role == IR_ROLE_OUT_LIST)
            check_tensor(w, i, role == IR_ROLE_OUT || first[i]);
    }
}
