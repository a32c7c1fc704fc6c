/* Cores that meet: a tensor that one core writes and another touches needs a sync_all() between.
 * Proved where every access of the kernel is to the same place of the core's own piece; else it
 * is watched, since orders between cores are only seen when the kernel runs. */
#include "ir/prove_int.h"

typedef struct Meeting {
    ProofWalk *w;
    uint32_t tensor;
    const IrAccess *first;
    uint32_t reads, writes, atomics;
    bool same; /* all accesses have the same indices so far */
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

static void meet(Meeting *m, const IrBlock *block)
{
    const IrProgram *p = m->w->p;
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &p->stmts.at[block->at[i]];
        bool read = (s->kind == IR_S_LOAD && !s->src_count) || s->kind == IR_S_GM_READ;
        bool write = s->kind == IR_S_STORE || s->kind == IR_S_GM_WRITE;
        if ((read || write) && s->access.tensor == m->tensor) {
            m->reads += read;
            m->writes += write;
            m->atomics += write && s->atomic != IR_PLAIN;
            if (!m->first)
                m->first = &s->access;
            else
                m->same = m->same && same_access(m->w->pr, m->first, &s->access);
            if (read || s->atomic != IR_PLAIN)
                m->at = s->at;
        }
        meet(m, &s->body);
        meet(m, &s->orelse);
    }
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
        Meeting m = {.w = w, .tensor = t, .same = true};
        meet(&m, &w->k->body);
        bool mixed = m.atomics && m.atomics < m.writes; /* cleared here, added to there */
        if (!(m.reads && m.writes) && !mixed)
            continue;
        m.same = m.same && !mixed && is_own(w->p, m.first, split);
        const char *text = NULL;
        if (!m.same)
            text = str_format(w->arena, "that no core touches '%s' while another writes it",
                              w->k->tensors.at[t].name);
        proof_add(w, IR_PROOF_CROSS, m.same ? IR_PROVED : IR_WATCHED, m.at, text);
    }
    check_aliases(w, &w->p->host);
}
