/* Cores that meet: a tensor that one core writes and another touches needs a sync_all() between.
 *
 *     slots[core_id(), :] = ...      phase 0: each core writes a place of its own
 *     sync_all()
 *     if core_id() == 0: slots[...]  phase 1: everybody may read
 *
 * The sync_all() of the kernel's outermost level part it into phases. Proved where in each phase
 * the tensor is only read, or only added to, or touched by one core, or touched by every core at
 * the same place of its own piece; else it is watched, since orders between cores are only seen
 * when the kernel runs. */
#include "ir/prove_int.h"

/* What happens to a tensor in one phase. */
typedef struct Meeting {
    ProofWalk *w;
    uint32_t tensor;
    const IrAccess *first;
    uint32_t reads, writes, atomics;
    bool same;     /* all accesses have the same indices so far */
    uint32_t free; /* accesses that are not under `if core_id() == number` */
    int64_t core;  /* that number; -1: none yet, -2: several */
    Span at;
} Meeting;

/* Which variables take different values on different cores by construction: those of mine,
 * cyclic and share, and of loops over such ranges. */
static void mark_split(const IrProgram *p, const IrBlock *block, bool *split)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &p->stmts.at[block->at[i]];
        for (uint32_t k = 0; k < s->axis_count; k++) {
            const IrAxis *a = &s->axes[k];
            const IrExpr *lo = &p->exprs.at[a->lo];
            bool inner = lo->op == IR_E_VAR && split[lo->of.var];
            if (s->kind == IR_S_SHARE || inner ||
                (s->kind == IR_S_FOR && s->loop != IR_LOOP_RANGE && s->loop != IR_LOOP_TILES))
                split[a->range.start] = true;
        }
        mark_split(p, &s->body, split);
        mark_split(p, &s->orelse, split);
    }
}

/* Some index of the access moves with the core. */
static bool is_own(const IrProgram *p, const IrAccess *a, const bool *split)
{
    for (uint32_t i = 0; i < a->rank; i++) {
        const IrExpr *e = &p->exprs.at[a->start[i]];
        if (e->op == IR_E_CORE_ID || (e->op == IR_E_VAR && split[e->of.var]))
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

static void note_access(Meeting *m, const IrStmt *s, bool read, int64_t core)
{
    bool atomic = !read && s->atomic != IR_PLAIN;
    m->reads += read;
    m->writes += !read;
    m->atomics += atomic;
    m->free += core < 0;
    if (core >= 0)
        m->core = m->core == -1 || m->core == core ? core : -2;
    if (!m->first)
        m->first = &s->access;
    else
        m->same = m->same && same_access(m->w->pr, m->first, &s->access);
    if (read || atomic || !m->at.line)
        m->at = s->at;
}

static void meet(Meeting *m, const IrStmt *s, int64_t core);

static void meet_all(Meeting *m, const IrBlock *block, int64_t core)
{
    for (uint32_t i = 0; i < block->len; i++)
        meet(m, &m->w->p->stmts.at[block->at[i]], core);
}

static void meet(Meeting *m, const IrStmt *s, int64_t core)
{
    bool read = (s->kind == IR_S_LOAD && !s->src_count) || s->kind == IR_S_GM_READ;
    bool write = s->kind == IR_S_STORE || s->kind == IR_S_GM_WRITE;
    int64_t only = s->kind == IR_S_IF ? one_core(m->w->p, s->cond) : -1;
    if ((read || write) && s->access.tensor == m->tensor)
        note_access(m, s, read, core);
    meet_all(m, &s->body, only >= 0 ? only : core);
    meet_all(m, &s->orelse, core);
}

/* Nothing that one core does to the tensor in this phase can meet what another does. */
static bool is_apart(const Meeting *m, const bool *split)
{
    if (!m->writes || (m->atomics == m->writes && !m->reads))
        return true;
    if (!m->free && m->core >= 0)
        return true;
    return m->same && is_own(m->w->p, m->first, split);
}

/* Phase by phase; false at the first that is not apart, and *at is the place in it. */
static bool phases_apart(ProofWalk *w, uint32_t tensor, const bool *split, Span *at)
{
    const IrBlock *body = &w->k->body;
    for (uint32_t i = 0; i <= body->len; i++) {
        Meeting m = {.w = w, .tensor = tensor, .same = true, .core = -1};
        for (; i < body->len && w->p->stmts.at[body->at[i]].kind != IR_S_SYNC_ALL; i++)
            meet(&m, &w->p->stmts.at[body->at[i]], -1);
        *at = m.at;
        if (!is_apart(&m, split))
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
    bool *split = arena_array(w->arena, bool, w->p->vars.len);
    mark_split(w->p, &w->k->body, split);
    for (uint32_t t = 0; t < w->k->tensors.len; t++) {
        Meeting whole = {.w = w, .tensor = t, .same = true, .core = -1};
        meet_all(&whole, &w->k->body, -1);
        bool mixed = whole.atomics && whole.atomics < whole.writes; /* cleared here, added there */
        if (!(whole.reads && whole.writes) && !mixed)
            continue;
        Span at = whole.at;
        bool apart = phases_apart(w, t, split, &at);
        const char *text = NULL;
        if (!apart)
            text = str_format(w->arena, "that no core touches '%s' while another writes it",
                              w->k->tensors.at[t].name);
        proof_add(w, IR_PROOF_CROSS, apart ? IR_PROVED : IR_WATCHED, apart ? whole.at : at, text);
    }
    check_aliases(w, &w->p->host);
}
