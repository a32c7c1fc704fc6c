/* Divisors are not 0: in the host function, whose arithmetic becomes the tiling function, in the
 * shapes it declares, and in kernels. In: the walk. Out: one obligation for each division by what
 * is no constant, under the conditions that lead to it. */
#include "ir/prove_int.h"

static bool divides(IrExprOp op)
{
    return op == IR_E_FLOORDIV || op == IR_E_MOD || op == IR_E_CEILDIV || op == IR_E_ALIGN_UP ||
           op == IR_E_ALIGN_DOWN;
}

static void check_divisor(ProofWalk *w, const IrExpr *e, Span at)
{
    int64_t value;
    if (ir_is_int(w->p, e->arg[1], &value) && value != 0)
        return;
    Poly d = poly_of(w->pr, e->arg[1]), one = poly_const(1);
    bool ok = prove_nonneg(w->pr, poly_sub(d, one)) ||
              prove_nonneg(w->pr, poly_sub(poly_scale(d, -1), one));
    const char *text = NULL;
    if (!ok)
        text = str_format(w->arena, "the divisor %s may be 0", proof_expr(w, e->arg[1]));
    proof_add(w, IR_PROOF_OVERFLOW, ok ? IR_PROVED : IR_WATCHED, e->at.line ? e->at : at, text);
}

static void visit(ProofWalk *w, IrExprId id, Span at);

static void visit_under(ProofWalk *w, IrExprId id, IrExprId cond, bool holds, Span at)
{
    uint32_t mark = w->pr->facts.len;
    prover_assume_cond(w->pr, cond, holds);
    visit(w, id, at);
    w->pr->facts.len = mark;
}

/* and, or and if evaluate only what they need. */
static void visit(ProofWalk *w, IrExprId id, Span at)
{
    const IrExpr e = w->p->exprs.at[id];
    if (id == 0)
        return;
    if (e.op == IR_E_AND || e.op == IR_E_OR) {
        visit(w, e.arg[0], at);
        visit_under(w, e.arg[1], e.arg[0], e.op == IR_E_AND, at);
    } else if (e.op == IR_E_SELECT) {
        visit(w, e.arg[0], at);
        visit_under(w, e.arg[1], e.arg[0], true, at);
        visit_under(w, e.arg[2], e.arg[0], false, at);
    } else {
        for (int i = 0; i < ir_expr_rows[e.op].arity; i++)
            visit(w, e.arg[i], at);
        if (divides(e.op) && e.type == DT_I64)
            check_divisor(w, &e, at);
    }
}

static void visit_all(ProofWalk *w, const IrExprId *ids, uint32_t n, Span at)
{
    for (uint32_t i = 0; i < n; i++)
        visit(w, ids[i], at);
}

static void visit_view(ProofWalk *w, const IrView *v, Span at)
{
    visit(w, v->row, at);
    visit_all(w, v->start, v->rank, at);
    visit_all(w, v->size, v->rank, at);
}

static void visit_tensors(ProofWalk *w, const IrTensor *tensors, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        visit_all(w, tensors[i].shape, tensors[i].rank, tensors[i].at);
}

/* What the statement itself evaluates, without its blocks. */
static void visit_stmt(ProofWalk *w, const IrStmt *s)
{
    const IrExprId single[] = {s->align,     s->cond, s->value, s->access.item,
                               s->scalar[0], s->pad,  s->cores, s->scalar[1]};
    visit_all(w, single, sizeof single / sizeof *single, s->at);
    for (uint32_t i = 0; i < s->axis_count; i++) {
        const IrAxis *a = &s->axes[i];
        visit_all(w, (IrExprId[]){a->lo, a->hi, a->step, a->tile}, 4, s->at);
    }
    visit_all(w, s->access.start, s->access.rank, s->at);
    visit_all(w, s->access.size, s->access.rank, s->at);
    visit_view(w, &s->dst, s->at);
    visit_view(w, &s->dst2, s->at);
    for (uint32_t i = 0; i < s->src_count; i++)
        visit_view(w, &s->src[i], s->at);
    for (uint32_t i = 0; i < s->args.len; i++)
        visit(w, s->args.at[i].is_tensor ? 0 : s->args.at[i].value, s->at);
    if (s->kind == IR_S_WORKSPACE)
        visit_tensors(w, &w->p->tensors.at[s->tensor], 1);
}

static void forget(void *prover, IrVarId var) { prover_forget(prover, var); }

static void walk(ProofWalk *w, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt s = w->p->stmts.at[block->at[i]];
        uint32_t mark = w->pr->facts.len;
        visit_stmt(w, &s);
        if (s.kind == IR_S_ASSERT) {
            prover_assume_cond(w->pr, s.cond, true);
            continue; /* holds to the end of the block */
        }
        if (s.kind == IR_S_SHARE) {
            proof_enter_share(w, &s);
            continue;
        }
        if (s.kind == IR_S_FOR)
            proof_enter_loop(w, &s);
        if (s.kind == IR_S_IF)
            prover_assume_cond(w->pr, s.cond, true);
        walk(w, &s.body);
        w->pr->facts.len = mark;
        if (s.kind == IR_S_IF)
            prover_assume_cond(w->pr, s.cond, false);
        walk(w, &s.orelse);
        w->pr->facts.len = mark;
        if (s.var)
            prover_forget(w->pr, s.var);
        proof_each_assigned(w->p, &s.body, forget, w->pr);
        proof_each_assigned(w->p, &s.orelse, forget, w->pr);
    }
}

void proof_arith(ProofWalk *w)
{
    uint32_t mark = w->pr->facts.len;
    for (uint32_t i = 0; i < w->k->buffers.len; i++) {
        const IrBuffer *b = &w->k->buffers.at[i];
        visit_all(w, b->shape, b->rank, b->at);
        visit(w, b->depth, b->at);
    }
    walk(w, &w->k->body);
    w->pr->facts.len = mark;
}

/* The operator refuses what its asserts refuse, so shapes are computed where they hold. */
void proof_arith_host(ProofWalk *w)
{
    uint32_t mark = w->pr->facts.len;
    walk(w, &w->p->host);
    visit_tensors(w, w->p->tensors.at, w->p->operand_count);
    w->pr->facts.len = mark;
}
