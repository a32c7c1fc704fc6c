/* What a kernel reads from GM was written before. Inputs come written; outputs and workspaces are
 * born undefined. Per tensor of a kernel the walk keeps the regions that are certainly written:
 * at the start all of it, where an earlier launch wrote all of it; then what its own stores add.
 *
 *     for r in mine(n): store w[r, :]     w[0:n, :] is written, seen by other cores after sync_all
 *     w[core_id(), 0] = s                 the same of w[0:num_cores(), 0]
 *
 * In: a program. Out: one obligation for each read and each atomic store of such a tensor. */
#include "ir/prove_int.h"

#include <string.h>

enum { MAX_REGIONS = 4 };

typedef struct Region {
    IrExprId start[IR_MAX_RANK], size[IR_MAX_RANK]; /* size 0: one element */
    bool late;                                      /* by other cores too: seen after sync_all() */
} Region;

typedef struct Known {
    Region region[MAX_REGIONS];
    uint32_t len;
    bool watched; /* on some path it is read before it is written */
    bool full;    /* all of it is written before the launch, on every path */
    bool ever;    /* part of it is written before, on every path */
} Known;

typedef ProofFlow Flow;

static Known *now(const Flow *f) { return f->state; } /* per tensor of the kernel */
static uint32_t tensors_of(const Flow *f) { return f->w->k->tensors.len; }

/* ---- regions ---- */

static Poly size_poly(Flow *f, IrExprId size)
{
    return size ? poly_of(f->w->pr, size) : poly_const(1);
}

static bool axis_full(Flow *f, uint32_t tensor, const Region *r, uint32_t axis)
{
    Poly start = poly_of(f->w->pr, r->start[axis]);
    Poly shape = poly_of(f->w->pr, f->w->k->tensors.at[tensor].shape[axis]);
    return poly_is_zero(&start) && poly_equal(size_poly(f, r->size[axis]), shape);
}

static bool region_full(Flow *f, uint32_t tensor, const Region *r)
{
    for (uint32_t i = 0; i < f->w->k->tensors.at[tensor].rank; i++)
        if (!axis_full(f, tensor, r, i))
            return false;
    return true;
}

/* Where the region spans an axis, that the access stays inside is another rule's matter. */
static bool holds(Flow *f, uint32_t tensor, const Region *r, const Region *part)
{
    Prover *pr = f->w->pr;
    for (uint32_t i = 0; i < f->w->k->tensors.at[tensor].rank; i++) {
        Poly before = poly_sub(poly_of(pr, part->start[i]), poly_of(pr, r->start[i]));
        Poly behind = poly_sub(size_poly(f, r->size[i]), size_poly(f, part->size[i]));
        if (!axis_full(f, tensor, r, i) &&
            !(prove_nonneg(pr, before) && prove_nonneg(pr, poly_sub(behind, before))))
            return false;
    }
    return true;
}

static bool region_mentions(const IrProgram *p, const Region *r, uint32_t rank, IrVarId var)
{
    for (uint32_t i = 0; i < rank && var; i++)
        if (ir_mentions(p, r->start[i], var) || ir_mentions(p, r->size[i], var))
            return true;
    return false;
}

static void add_region(Flow *f, uint32_t tensor, const Region *r)
{
    Known *known = &now(f)[tensor];
    for (uint32_t i = 0; i < known->len; i++)
        if (known->region[i].late == r->late && holds(f, tensor, &known->region[i], r))
            return;
    if (known->len == MAX_REGIONS) {
        memmove(&known->region[0], &known->region[1], (MAX_REGIONS - 1) * sizeof *r);
        known->len--;
    }
    known->region[known->len++] = *r;
}

/* ---- reads and writes ---- */

static Region region_of(const IrAccess *a)
{
    Region r = {0};
    memcpy(r.start, a->start, sizeof r.start);
    memcpy(r.size, a->size, sizeof r.size);
    return r;
}

static bool is_whole_access(const Flow *f, const IrAccess *a)
{
    return !a->flat && !a->item && a->rank == f->w->k->tensors.at[a->tensor].rank;
}

static bool was_written(Flow *f, const IrAccess *a)
{
    const Known *known = &now(f)[a->tensor];
    Region part = region_of(a);
    for (uint32_t i = 0; i < known->len; i++) {
        const Region *r = &known->region[i];
        bool covers = is_whole_access(f, a) ? holds(f, a->tensor, r, &part)
                                            : region_full(f, a->tensor, r);
        if (!r->late && covers)
            return true;
    }
    return known->full;
}

static void read_region(Flow *f, const IrAccess *a, Span at)
{
    const Known *known = &now(f)[a->tensor];
    const char *name = f->w->k->tensors.at[a->tensor].name, *text = NULL;
    IrProofState state = was_written(f, a) ? IR_PROVED : known->ever ? IR_WATCHED : IR_REFUSED;
    if (f->silent || !known->watched)
        return;
    if (state == IR_WATCHED)
        text = str_format(f->w->arena, "that all of this part of '%s' was written before", name);
    else if (state == IR_REFUSED)
        text = str_format(f->w->arena, "'%s' is read here, but nothing was written to it before",
                          name);
    proof_add(f->w, IR_PROOF_WRITTEN, state, a->at.line ? a->at : at, text);
}

static void write_region(Flow *f, const IrAccess *a)
{
    Region r = region_of(a);
    now(f)[a->tensor].ever = true;
    if (is_whole_access(f, a))
        add_region(f, a->tensor, &r);
}

/* ---- loops, branches, meetings of the cores ---- */

/* The piece is the loop's own: over the whole loop it is all of lo..hi. */
static bool absorb(Flow *f, Region *r, uint32_t rank, const IrAxis *a)
{
    const IrProgram *p = f->w->p;
    for (uint32_t i = 0; i < rank; i++) {
        const IrExpr *start = &p->exprs.at[r->start[i]], *size = &p->exprs.at[r->size[i]];
        int64_t one = r->size[i] ? 0 : 1;
        bool single = one == 1 || (ir_is_int(p, r->size[i], &one) && one == 1);
        bool slot = a->tile && single && start->op == IR_E_VAR && a->range.index &&
                    start->of.var == a->range.index;
        bool own = start->op == IR_E_VAR && start->of.var == a->range.start;
        bool whole = r->size[i] && size->op == IR_E_VAR && size->of.var == a->range.size;
        bool all = a->tile ? whole || (single && ir_tile_is_one(p, a)) : !a->step && single;
        if (!slot && !(own && all))
            continue;
        r->start[i] = slot ? ir_int(f->w->p, 0) : a->lo;
        r->size[i] = slot ? ir_piece_count(f->w->p, a) : ir_expr2(f->w->p, IR_E_SUB, a->hi, a->lo);
        return true;
    }
    return false;
}

static bool axis_runs(Flow *f, const IrAxis *a)
{
    Poly n = poly_sub(poly_of(f->w->pr, a->hi), poly_of(f->w->pr, a->lo));
    return prove_nonneg(f->w->pr, poly_sub(n, poly_const(1)));
}

/* What one region says after the loop; false: nothing. */
static bool leave_loop(Flow *f, Region *r, uint32_t rank, const IrStmt *loop)
{
    bool split = loop->loop != IR_LOOP_RANGE && loop->loop != IR_LOOP_TILES;
    if (loop->loop == IR_LOOP_MINE_LIST)
        return false;
    for (uint32_t i = 0; i < loop->axis_count; i++) {
        const IrAxis *a = &loop->axes[i];
        if (!absorb(f, r, rank, a) && (split || !axis_runs(f, a)))
            return false;
        if (region_mentions(f->w->p, r, rank, a->range.start) ||
            region_mentions(f->w->p, r, rank, a->range.size) ||
            region_mentions(f->w->p, r, rank, a->range.index))
            return false;
    }
    r->late |= split;
    return true;
}

/* The state after a loop: what was known before it, and what its body adds. */
static void close_loop(Flow *f, const IrStmt *loop, Known *before)
{
    const Known *after = now(f);
    f->state = before;
    for (uint32_t t = 0; t < tensors_of(f); t++) {
        now(f)[t].ever |= after[t].ever;
        for (uint32_t i = 0; i < after[t].len; i++) {
            Region r = after[t].region[i];
            if (leave_loop(f, &r, f->w->k->tensors.at[t].rank, loop))
                add_region(f, t, &r);
        }
    }
}

/* Stores that append to a tensor, turn after turn: it is written up to the total. */
static void close_appends(Flow *f, const IrStmt *loop, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt s = f->w->p->stmts.at[block->at[i]];
        uint32_t axis;
        IrVarId total;
        if (s.kind == IR_S_STORE && is_whole_access(f, &s.access) &&
            proof_appends(f->w, loop, &f->w->p->stmts.at[block->at[i]], &axis, &total)) {
            Region r = region_of(&s.access);
            r.size[axis] = ir_var(f->w->p, total);
            r.start[axis] = ir_expr2(f->w->p, IR_E_SUB, s.access.start[axis], r.size[axis]);
            add_region(f, s.access.tensor, &r);
        }
        if (s.kind == IR_S_IF || s.kind == IR_S_STAGE)
            close_appends(f, loop, &s.body);
    }
}

static void forget_scalar(void *context, IrVarId var)
{
    Flow *f = context;
    for (uint32_t t = 0; t < tensors_of(f); t++) {
        Known *known = &now(f)[t];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < known->len; i++)
            if (!region_mentions(f->w->p, &known->region[i], f->w->k->tensors.at[t].rank, var))
                known->region[kept++] = known->region[i];
        known->len = kept;
    }
}

static void end_loop(Flow *f, const IrStmt *s, void *before)
{
    close_loop(f, s, before);
    close_appends(f, s, &s->body);
}

/* After either of two paths: what both wrote. A path that one core takes adds what it wrote. */
static void meet(Flow *f, const Known *then, bool one_core)
{
    for (uint32_t t = 0; t < tensors_of(f); t++) {
        Known orelse = now(f)[t];
        now(f)[t].len = 0;
        now(f)[t].ever |= then[t].ever;
        for (uint32_t i = 0; i < then[t].len; i++) {
            Region r = then[t].region[i];
            bool both = false;
            for (uint32_t k = 0; k < orelse.len && !both; k++)
                both = holds(f, t, &orelse.region[k], &r) && orelse.region[k].late <= r.late;
            r.late |= !both;
            if (both || one_core)
                add_region(f, t, &r);
        }
    }
}

static bool is_core_test(const Flow *f, IrExprId cond)
{
    const IrProgram *p = f->w->p;
    const IrExpr *e = &p->exprs.at[cond];
    int64_t core;
    return e->op == IR_E_EQ && p->exprs.at[e->arg[0]].op == IR_E_CORE_ID &&
           ir_is_int(p, e->arg[1], &core) && core == 0;
}

static void end_if(Flow *f, const IrStmt *s, void *then)
{
    meet(f, then, is_core_test(f, s->cond));
}

/* Every core has come here: w[core_id()] is w[0:num_cores()], a share is the whole. */
static void join_cores(Flow *f, Region *r, uint32_t rank, const IrStmt *share)
{
    const IrProgram *p = f->w->p;
    for (uint32_t i = 0; i < rank; i++) {
        IrExpr start = p->exprs.at[r->start[i]];
        if (start.op == IR_E_CORE_ID && !r->size[i] && !share) {
            r->start[i] = ir_int(f->w->p, 0);
            r->size[i] = f->w->pr->num_cores ? f->w->pr->num_cores
                                             : ir_leaf(f->w->p, IR_E_NUM_CORES, 0, 0);
        } else if (share && start.op == IR_E_VAR && r->size[i] &&
                   start.of.var == share->axes[0].range.start) {
            Poly size = poly_of(f->w->pr, ir_var(f->w->p, share->axes[0].range.size));
            if (!poly_equal(size_poly(f, r->size[i]), size))
                continue;
            r->start[i] = ir_int(f->w->p, 0);
            r->size[i] = share->axes[0].hi;
        }
    }
}

/* `share`: NULL at sync_all(), else one that is in force there. */
static void join_all(Flow *f, const IrStmt *share)
{
    for (uint32_t t = 0; t < tensors_of(f); t++) {
        for (uint32_t i = 0; i < now(f)[t].len; i++) {
            now(f)[t].region[i].late = false;
            join_cores(f, &now(f)[t].region[i], f->w->k->tensors.at[t].rank, share);
        }
    }
}

static void join_shares(Flow *f, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt s = f->w->p->stmts.at[block->at[i]];
        if (s.kind == IR_S_SHARE)
            join_all(f, &s);
    }
}

static void step(Flow *f, const IrStmt *s)
{
    switch (s->kind) {
    case IR_S_GM_READ: read_region(f, &s->access, s->at); break;
    case IR_S_LOAD:
        if (!s->src_count)
            read_region(f, &s->access, s->at);
        break;
    case IR_S_STORE:
        if (s->atomic != IR_PLAIN)
            read_region(f, &s->access, s->at);
        write_region(f, &s->access);
        break;
    case IR_S_GM_WRITE: write_region(f, &s->access); break;
    case IR_S_SYNC_ALL:
        join_all(f, NULL);
        join_shares(f, &f->w->k->body);
        break;
    default: break;
    }
}

static Flow flow_of(ProofWalk *w, Known *start)
{
    return (Flow){.w = w,
                  .state = start,
                  .bytes = w->k->tensors.len * sizeof(Known),
                  .step = step,
                  .forget = forget_scalar,
                  .end_loop = end_loop,
                  .end_if = end_if};
}

/* ---- the launches before ---- */

/* What the host's tensors hold, launch by launch. */
typedef struct Host {
    ProofWalk *w;
    uint32_t launches; /* of the kernel under proof, so far */
    Known *at_start;   /* of its tensors */
} Host;

static bool is_born_undefined(const IrTensor *t)
{
    return t->role == IR_ROLE_OUT || t->role == IR_ROLE_WORKSPACE;
}

/* Which parameters the kernel has written in full, or in part, when it ends. */
static void run_silently(const ProofWalk *w, uint32_t kernel, Known *end)
{
    ProofWalk other = {.arena = w->arena,
                       .p = w->p,
                       .chip = w->chip,
                       .report = w->report,
                       .diag = w->diag,
                       .kernel = kernel,
                       .k = &w->p->kernels.at[kernel],
                       .pr = prover_new(w->arena, w->p, w->chip)};
    prover_enter_kernel(other.pr, kernel);
    proof_find_prefix(&other);
    Flow f = flow_of(&other, end);
    f.silent = true;
    proof_flow_kernel(&f);
    join_all(&f, NULL);
    join_shares(&f, &other.k->body);
    for (uint32_t t = 0; t < other.k->tensors.len; t++)
        for (uint32_t i = 0; i < now(&f)[t].len; i++)
            now(&f)[t].full |= region_full(&f, t, &now(&f)[t].region[i]);
    memmove(end, f.state, other.k->tensors.len * sizeof(Known));
}

/* Means the same in every kernel: sizes, attributes, choices, and host scalars that stay. */
static bool is_global(const ProofWalk *w, IrExprId id)
{
    const IrExpr *e = &w->p->exprs.at[id];
    if (e->op == IR_E_VAR) {
        IrVarKind kind = w->p->vars.at[e->of.var].kind;
        return kind == IR_VAR_DIM || kind == IR_VAR_ATTR || kind == IR_VAR_CHOICE ||
               (kind == IR_VAR_HOST && w->pr->alias[e->of.var]);
    }
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (!is_global(w, e->arg[i]))
            return false;
    return e->op != IR_E_CORE_ID && e->op != IR_E_NUM_CORES;
}

static bool region_is_global(const ProofWalk *w, const Region *r, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++)
        if (!is_global(w, r->start[i]) || (r->size[i] && !is_global(w, r->size[i])))
            return false;
    return true;
}

/* What the launch leaves behind of the tensor passed as this parameter. */
static void leave(const Host *h, const Known *end, uint32_t rank, Known *after)
{
    after->full |= end->full;
    after->ever |= end->ever;
    for (uint32_t i = 0; i < end->len && after->len < MAX_REGIONS; i++)
        if (region_is_global(h->w, &end->region[i], rank))
            after->region[after->len++] = end->region[i];
}

static void note_launch(Host *h, const IrStmt *s, const Known *state)
{
    const IrKernel *k = &h->w->p->kernels.at[s->kernel];
    for (uint32_t i = 0; i < k->params.len; i++) {
        if (!k->params.at[i].is_tensor)
            continue;
        const IrTensor *given = &h->w->p->tensors.at[s->args.at[i].tensor];
        const Known *before = &state[s->args.at[i].tensor];
        Known *start = &h->at_start[k->params.at[i].tensor];
        bool born = is_born_undefined(given);
        start->watched |= born;
        start->len = 0;
        if (h->launches == 0 && born) {
            memcpy(start->region, before->region, sizeof start->region);
            start->len = before->len;
        }
        start->full = (start->full || h->launches == 0) && (before->full || !born);
        start->ever = (start->ever || h->launches == 0) && (before->ever || !born);
    }
    h->launches++;
}

static void launch(Host *h, const IrStmt *s, Known *state)
{
    const IrKernel *k = &h->w->p->kernels.at[s->kernel];
    if (s->kernel == h->w->kernel)
        note_launch(h, s, state);
    Known *end = arena_array(h->w->arena, Known, k->tensors.len + 1);
    run_silently(h->w, s->kernel, end);
    for (uint32_t i = 0; i < k->params.len; i++) {
        if (!k->params.at[i].is_tensor)
            continue;
        uint32_t tensor = k->params.at[i].tensor;
        leave(h, &end[tensor], k->tensors.at[tensor].rank, &state[s->args.at[i].tensor]);
    }
}

static void walk_host(Host *h, const IrBlock *block, Known *state)
{
    size_t bytes = h->w->p->tensors.len * sizeof(Known);
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt s = h->w->p->stmts.at[block->at[i]];
        if (s.kind == IR_S_LAUNCH)
            launch(h, &s, state);
        if (s.kind != IR_S_IF)
            continue;
        Known *other = memcpy(arena_alloc(h->w->arena, bytes + 1), state, bytes);
        walk_host(h, &s.body, state);
        walk_host(h, &s.orelse, other);
        for (uint32_t t = 0; t < h->w->p->tensors.len; t++) {
            state[t].full &= other[t].full;
            state[t].ever &= other[t].ever;
            state[t].len = 0;
        }
    }
}

static bool reads_born(const ProofWalk *w)
{
    for (uint32_t i = 0; i < w->p->tensors.len; i++)
        if (w->p->tensors.at[i].role == IR_ROLE_WORKSPACE)
            return true;
    return w->p->kernels.len > 1;
}

void proof_gm(ProofWalk *w)
{
    Host h = {.w = w, .at_start = arena_array(w->arena, Known, w->k->tensors.len + 1)};
    Known *state = arena_array(w->arena, Known, w->p->tensors.len + 1);
    for (uint32_t t = 0; t < w->k->tensors.len; t++)
        h.at_start[t].watched = is_born_undefined(&w->k->tensors.at[t]);
    if (reads_born(w))
        walk_host(&h, &w->p->host, state);
    Flow f = flow_of(w, h.at_start);
    proof_flow_kernel(&f);
}
