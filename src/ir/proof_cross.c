/* Cores that meet: a tensor that one core writes and another touches needs a sync_all() between.
 *
 *     slots[core_id(), :] = ...      phase 0: each core writes a place of its own
 *     sync_all()
 *     if core_id() == 0: slots[...]  phase 1: everybody may read
 *
 * The sync_all() of the kernel's outermost level part it into phases, and so do those of a loop that
 * all cores walk alike:
 *
 *     before                         one phase with the loop's first part, its last (that of the turn
 *     for g in tiles(n, group):      before is not parted from it) and what follows
 *         first; sync_all()
 *         between; sync_all()        a phase of its own, in which g is one number
 *         last
 *     after
 *
 * Proved where in each phase
 * the tensor is only read, or only added to, or touched by one core, or touched by every core at
 * the same place of its own piece or anywhere inside its own share; else it is checked at run time, since orders between cores are only seen
 * when the kernel runs. */
#include "ir/prove_int.h"

/* What happens to a tensor in one phase. */
typedef struct Meeting {
    ProofWalk *w;
    uint32_t tensor;
    const IrAccess *first;
    uint32_t reads, writes;
    uint32_t kinds; /* of the writes: a bit for each IrAtomic */
    uint32_t roles; /* of a two-role kernel: a bit for each IrCore */
    bool same;      /* all accesses have the same indices so far */
    ProofHome home; /* the share that holds them all so far; `first` decides */
    uint32_t free;  /* accesses that are not under `if core_id() == number` */
    int64_t core;   /* that number; -1: none yet, -2: several */
    Span at;
} Meeting;

/* Where a statement stands. */
typedef struct Place {
    int64_t core;  /* under `if core_id() == core`; -1: under none */
    uint32_t role; /* bit of its role; 0: the kernel has one */
} Place;

/* Per variable, the statement that splits the work over cores and binds the variable as the start
 * of an axis: mine, cyclic, share, or a loop over exactly one of their pieces. */
typedef const IrStmt **Splits;

/* A loop over what is not steady has other pieces when it is met again, and what was one core's
 * becomes another's. */
bool proof_is_steady(const ProofWalk *w, IrExprId id)
{
    const IrExpr *e = &w->p->exprs.at[id];
    if (e->op == IR_E_VAR) {
        IrVarKind kind = w->p->vars.at[e->of.var].kind;
        const IrRange *held = &w->held;
        if (e->of.var == held->start || e->of.var == held->size || e->of.var == held->index)
            return true;
        if (w->pr->alias[e->of.var])
            return proof_is_steady(w, w->pr->alias[e->of.var]);
        return kind != IR_VAR_LOOP && kind != IR_VAR_LOCAL;
    }
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (!proof_is_steady(w, e->arg[i]))
            return false;
    return e->op != IR_E_CORE_ID;
}

bool proof_splits_steadily(const ProofWalk *w, const IrStmt *s)
{
    if (s->kind != IR_S_SHARE && s->loop != IR_LOOP_MINE && s->loop != IR_LOOP_CYCLIC)
        return false;
    for (uint32_t k = 0; k < s->axis_count; k++) {
        const IrAxis *a = &s->axes[k];
        IrExprId parts[] = {a->lo, a->hi, a->step, a->tile, s->align};
        for (int j = 0; j < 5; j++)
            if (parts[j] && !proof_is_steady(w, parts[j]))
                return false;
    }
    return true;
}

/* The loop walks from the start to the stop of the piece that is all its core has. */
static bool walks_piece(const ProofWalk *w, const IrStmt *s, Splits splits)
{
    const IrExpr *lo = &w->p->exprs.at[s->axes[0].lo];
    const IrStmt *outer = s->axis_count == 1 && lo->op == IR_E_VAR ? splits[lo->of.var] : NULL;
    if (!outer || outer->axis_count != 1 || !outer->axes[0].range.size ||
        lo->of.var != outer->axes[0].range.start)
        return false;
    Prover *pr = w->pr;
    Poly size = poly_sub(poly_of(pr, s->axes[0].hi), poly_of(pr, s->axes[0].lo));
    return poly_equal(size, poly_of(pr, ir_var(w->p, outer->axes[0].range.size)));
}

static void mark_splits(const ProofWalk *w, const IrBlock *block, Splits splits)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &w->p->stmts.at[block->at[i]];
        bool binds = s->kind == IR_S_FOR || s->kind == IR_S_SHARE;
        if (binds && (proof_splits_steadily(w, s) || walks_piece(w, s, splits)))
            for (uint32_t k = 0; k < s->axis_count; k++)
                splits[s->axes[k].range.start] = splits[s->axes[k].range.index] = s;
        mark_splits(w, &s->body, splits);
        mark_splits(w, &s->orelse, splits);
    }
}

/* Some index of the access is exactly the piece of this axis, or its number. */
static bool has_piece(ProofWalk *w, const IrAccess *a, const IrRange *piece)
{
    for (uint32_t i = 0; i < a->rank; i++) {
        const IrExpr *e = &w->p->exprs.at[a->start[i]];
        if (e->op == IR_E_VAR && piece->index && e->of.var == piece->index && !a->size[i])
            return true;
        if (e->op != IR_E_VAR || e->of.var != piece->start)
            continue;
        Poly size = a->size[i] ? poly_of(w->pr, a->size[i]) : poly_const(1);
        if (poly_equal(size,
                       piece->size ? poly_of(w->pr, ir_var(w->p, piece->size)) : poly_const(1)))
            return true;
    }
    return false;
}

/* The access names the core, or the whole of a piece that only this core has. */
static bool is_own(ProofWalk *w, const IrAccess *a, Splits splits)
{
    for (uint32_t i = 0; i < a->rank; i++) {
        const IrExpr *e = &w->p->exprs.at[a->start[i]];
        if (e->op == IR_E_CORE_ID && !a->size[i])
            return true;
        const IrStmt *split = e->op == IR_E_VAR ? splits[e->of.var] : NULL;
        uint32_t have = 0;
        for (uint32_t k = 0; split && k < split->axis_count; k++)
            have += has_piece(w, a, &split->axes[k].range);
        if (split && have == split->axis_count)
            return true;
    }
    return false;
}

static bool same_access(Prover *pr, const IrAccess *a, const IrAccess *b)
{
    if (a->rank != b->rank || a->flat != b->flat)
        return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (!a->size[i] != !b->size[i] ||
            !poly_equal(poly_of(pr, a->start[i]), poly_of(pr, b->start[i])))
            return false;
        if (a->size[i] && !poly_equal(poly_of(pr, a->size[i]), poly_of(pr, b->size[i])))
            return false;
    }
    return true;
}

/* The number in `core_id() == number`, or -1. */
static int64_t one_core(const IrProgram *p, IrExprId cond)
{
    const IrExpr *e = &p->exprs.at[cond];
    if (e->op != IR_E_EQ)
        return -1;
    for (int side = 0; side < 2; side++) {
        const IrExpr *id = &p->exprs.at[e->arg[side]], *number = &p->exprs.at[e->arg[!side]];
        if (id->op == IR_E_CORE_ID && number->op == IR_E_INT && number->of.i >= 0)
            return number->of.i;
    }
    return -1;
}

static void note_access(Meeting *m, const IrStmt *s, bool read, Place place)
{
    m->reads += read;
    m->writes += !read;
    m->roles |= place.role;
    if (!read)
        m->kinds |= 1u << s->atomic;
    m->free += place.core < 0;
    if (place.core >= 0)
        m->core = m->core == -1 || m->core == place.core ? place.core : -2;
    ProofHome home = m->w->homes[s - m->w->p->stmts.at];
    if (!m->first) {
        m->first = &s->access;
        m->home = home;
    } else {
        m->same = m->same && same_access(m->w->pr, m->first, &s->access);
        if (home.share != m->home.share || home.axis != m->home.axis)
            m->home.share = 0;
    }
    if (read || s->atomic != IR_PLAIN || !m->at.line)
        m->at = s->at;
}

static void meet(Meeting *m, const IrStmt *s, Place place);

static void meet_all(Meeting *m, const IrBlock *block, Place place)
{
    for (uint32_t i = 0; i < block->len; i++)
        meet(m, &m->w->p->stmts.at[block->at[i]], place);
}

static void meet(Meeting *m, const IrStmt *s, Place place)
{
    bool read = (s->kind == IR_S_LOAD && !s->src_count) || s->kind == IR_S_GM_READ;
    bool write = s->kind == IR_S_STORE || s->kind == IR_S_GM_WRITE;
    int64_t only = s->kind == IR_S_IF ? one_core(m->w->p, s->cond) : -1;
    if ((read || write) && s->access.tensor == m->tensor)
        note_access(m, s, read, place);
    meet_all(m, &s->orelse, place);
    if (only >= 0)
        place.core = only;
    if (s->kind == IR_S_ROLE)
        place.role = 1u << s->core;
    meet_all(m, &s->body, place);
}

static bool many(uint32_t bits) { return bits & (bits - 1); }

/* Nothing that one core does to the tensor in this phase can meet what another does, nor what one
 * role does what the other does. */
static bool is_apart(const Meeting *m, Splits splits)
{
    bool plain = m->kinds & 1u << IR_PLAIN;
    if (!m->writes || (!plain && !many(m->kinds) && !m->reads))
        return true;
    /* Two vector cores of a core are two that may meet. */
    if (many(m->roles) || (m->w->k->paired && (m->roles & 1u << IR_CORE_VECTOR)))
        return false;
    int64_t cores;
    IrExprId launched = m->w->pr->num_cores;
    if ((!m->free && m->core >= 0) ||
        (launched && ir_is_int(m->w->p, launched, &cores) && cores == 1))
        return true;
    const IrStmt *share = &m->w->p->stmts.at[m->home.share];
    return (m->same && is_own(m->w, m->first, splits)) ||
           (m->home.share && proof_splits_steadily(m->w, share));
}

/* ---- phases ---- */

static Meeting meeting_of(ProofWalk *w, uint32_t tensor)
{
    return (Meeting){.w = w, .tensor = tensor, .same = true, .core = -1};
}

static bool is_sync(const ProofWalk *w, IrStmtId id)
{
    return w->p->stmts.at[id].kind == IR_S_SYNC_ALL;
}

static bool syncs(const ProofWalk *w, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &w->p->stmts.at[block->at[i]];
        if (is_sync(w, block->at[i]) || syncs(w, &s->body) || syncs(w, &s->orelse))
            return true;
    }
    return false;
}

/* A loop that every core walks alike, whose own statements meet and none inside them. */
static bool parts_phases(const ProofWalk *w, const IrStmt *s)
{
    bool meets = false;
    if (s->kind != IR_S_FOR || (s->loop != IR_LOOP_RANGE && s->loop != IR_LOOP_TILES))
        return false;
    const IrAxis *a = &s->axes[0];
    IrExprId bounds[] = {a->lo, a->hi, a->step, a->tile};
    for (int i = 0; i < 4; i++)
        if (bounds[i] && !proof_is_steady(w, bounds[i]))
            return false;
    for (uint32_t i = 0; i < s->body.len; i++) {
        const IrStmt *inner = &w->p->stmts.at[s->body.at[i]];
        meets = meets || is_sync(w, s->body.at[i]);
        if (syncs(w, &inner->body) || syncs(w, &inner->orelse))
            return false;
    }
    return meets;
}

/* The statements of a block from one meeting to the next, or to its end. */
static uint32_t meet_until(Meeting *m, const IrBlock *block, uint32_t from)
{
    for (; from < block->len && !is_sync(m->w, block->at[from]); from++)
        meet(m, &m->w->p->stmts.at[block->at[from]], (Place){.core = -1});
    return from;
}

/* The parts of a loop that lie between two meetings of one turn. */
static bool between_apart(ProofWalk *w, uint32_t tensor, const IrStmt *loop, uint32_t from,
                          uint32_t to, Span *at)
{
    Splits splits = arena_array(w->arena, const IrStmt *, w->p->vars.len);
    bool apart = true;
    w->held = loop->axes[0].range;
    mark_splits(w, &loop->body, splits);
    while (from < to && apart) {
        Meeting m = meeting_of(w, tensor);
        from = meet_until(&m, &loop->body, from) + 1;
        *at = m.at;
        apart = is_apart(&m, splits);
    }
    w->held = (IrRange){0};
    return apart;
}

/* `m`: what is not parted from the loop's beginning and from its end. */
static bool loop_apart(Meeting *m, const IrStmt *loop, Span *at)
{
    uint32_t last = loop->body.len;
    while (!is_sync(m->w, loop->body.at[last - 1]))
        last--;
    uint32_t first = meet_until(m, &loop->body, 0) + 1;
    meet_until(m, &loop->body, last);
    return between_apart(m->w, m->tensor, loop, first, last, at);
}

/* Phase by phase; false at the first that is not apart, and *at is the place in it. */
static bool phases_apart(ProofWalk *w, uint32_t tensor, Splits splits, Span *at)
{
    const IrBlock *body = &w->k->body;
    for (uint32_t i = 0; i <= body->len; i++) {
        Meeting m = meeting_of(w, tensor);
        for (; i < body->len && !is_sync(w, body->at[i]); i++) {
            const IrStmt *s = &w->p->stmts.at[body->at[i]];
            if (!parts_phases(w, s))
                meet(&m, s, (Place){.core = -1});
            else if (!loop_apart(&m, s, at))
                return false;
        }
        *at = m.at;
        if (!is_apart(&m, splits))
            return false;
    }
    return true;
}

/* One tensor of the host behind two parameters, one of them written. */
static void check_aliases(ProofWalk *w, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &w->p->stmts.at[block->at[i]];
        bool here = s->kind == IR_S_LAUNCH && s->kernel == w->kernel;
        for (uint32_t a = 0; here && a < s->args.len; a++) {
            for (uint32_t b = 0; b < a; b++) {
                if (!s->args.at[a].is_tensor || !s->args.at[b].is_tensor ||
                    s->args.at[a].tensor != s->args.at[b].tensor)
                    continue;
                proof_add(w, IR_PROOF_CROSS, IR_WATCHED, s->at,
                          str_format(w->arena, "'%s' is passed twice: that its uses do not meet",
                                     w->p->tensors.at[s->args.at[a].tensor].name));
            }
        }
        check_aliases(w, &s->body);
        check_aliases(w, &s->orelse);
    }
}

void proof_cross(ProofWalk *w)
{
    Splits splits = arena_array(w->arena, const IrStmt *, w->p->vars.len);
    mark_splits(w, &w->k->body, splits);
    for (uint32_t t = 0; t < w->k->tensors.len; t++) {
        const IrTensor *tensor = &w->k->tensors.at[t];
        Meeting whole = meeting_of(w, t);
        meet_all(&whole, &w->k->body, (Place){.core = -1});
        bool mixed = many(whole.kinds);                   /* cleared here, added there */
        bool scratch = tensor->role == IR_ROLE_WORKSPACE; /* nothing else asks who writes it */
        if (!whole.writes || !(whole.reads || mixed || scratch))
            continue;
        Span at = whole.at;
        bool apart = phases_apart(w, t, splits, &at);
        const char *text = NULL;
        if (!apart)
            text = str_format(w->arena, "that no core touches '%s' while another writes it",
                              tensor->name);
        proof_add(w, IR_PROOF_CROSS, apart ? IR_PROVED : IR_WATCHED, apart ? whole.at : at, text);
    }
    check_aliases(w, &w->p->host);
}
