/* The walk that rules with a state share: forward through a kernel, what is known copied where paths
 * part and put together where they meet. In: a rule's state and its hooks. Out: the state at the
 * end; the hooks add obligations. */
#include "ir/prove_int.h"

#include <string.h>

static void *keep(const ProofFlow *f)
{
    return memcpy(arena_alloc(f->w->arena, f->bytes + 1), f->state, f->bytes);
}

static void flow_loop(ProofFlow *f, const IrStmt *s, uint32_t mark)
{
    proof_each_assigned(f->w->p, &s->body, f->forget, f);
    if (f->begin_loop)
        f->begin_loop(f, s);
    void *before = keep(f);
    proof_enter_loop(f->w, s);
    proof_flow(f, &s->body);
    f->w->pr->facts.len = mark; /* after the loop nobody knows that it ran */
    f->end_loop(f, s, before);
}

static void flow_if(ProofFlow *f, const IrStmt *s, uint32_t mark)
{
    void *before = keep(f);
    prover_assume_cond(f->w->pr, s->cond, true);
    proof_flow(f, &s->body);
    void *then = f->state;
    f->state = before;
    f->w->pr->facts.len = mark;
    prover_assume_cond(f->w->pr, s->cond, false);
    proof_flow(f, &s->orelse);
    f->w->pr->facts.len = mark;
    f->end_if(f, s, then);
}

void proof_flow(ProofFlow *f, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt s = f->w->p->stmts.at[block->at[i]]; /* a copy: new expressions move nothing */
        uint32_t mark = f->w->pr->facts.len;
        switch (s.kind) {
        case IR_S_FOR: flow_loop(f, &s, mark); break;
        case IR_S_IF: flow_if(f, &s, mark); break;
        case IR_S_STAGE:
        case IR_S_ROLE: proof_flow(f, &s.body); continue;       /* what it leaves known lasts */
        case IR_S_SHARE: proof_enter_share(f->w, &s); continue; /* to the end of the block */
        default: f->step(f, &s); break;
        }
        f->w->pr->facts.len = mark;
        if (s.var)
            f->forget(f, s.var);
        proof_leave(f->w, &s);
    }
}

void proof_flow_kernel(ProofFlow *f)
{
    uint32_t mark = f->w->pr->facts.len;
    proof_flow(f, &f->w->k->body);
    f->w->pr->facts.len = mark;
}
