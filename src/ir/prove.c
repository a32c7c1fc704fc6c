/* The checker's frame. In: a program and a chip. Out: the report and its diagnostics. Each rule
 * lives in a proof_*.c; this file holds what they share and runs them over every kernel. */
#include "ir/prove_int.h"

const IrProofRow ir_proof_rows[IR_PROOF_COUNT] = {
#define PROOF(id, watch_, refuse_, rule_, repair_, bad_, good_) \
    [IR_PROOF_##id] = {watch_, refuse_, rule_, repair_, bad_, good_},
#include "ir/proof.def"
#undef PROOF
};

void proof_add(ProofWalk *w, IrProofKind kind, IrProofState state, Span at, const char *text)
{
    const IrProofRow *row = &ir_proof_rows[kind];
    IrProofItem item = {kind, state, w->kernel, at, state == IR_PROVED ? NULL : text};
    w->report->count[state]++;
    vec_push(w->arena, &w->report->items, item);
    if (state == IR_PROVED)
        return;
    if (state == IR_WATCHED)
        diag_warn(w->diag, row->watch, at, "not proved: %s", text);
    else
        diag_error(w->diag, row->refuse, at, "%s", text);
    diag_hint(w->diag, "%s", row->repair);
}

const char *proof_expr(ProofWalk *w, IrExprId e)
{
    Buf out = {0};
    ir_print_expr(w->p, w->k, e, &out);
    char *text = buf_take(&out, w->arena);
    buf_free(&out);
    /* a whole expression needs no outer brackets */
    size_t n = str_from(text).len;
    int depth = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth == 0)
            return text;
    }
    return n > 2 && text[0] == '(' ? str_dup(w->arena, (Str){text + 1, n - 2}) : text;
}

static Poly var_poly(ProofWalk *w, IrVarId var) { return poly_of(w->pr, ir_var(w->p, var)); }

/* lo <= v, v <= hi - 1 */
static void assume_scalar(ProofWalk *w, IrVarId var, Poly lo, Poly hi)
{
    Poly v = var_poly(w, var);
    prover_assume(w->pr, poly_sub(v, lo));
    prover_assume(w->pr, poly_sub(poly_sub(hi, poly_const(1)), v));
}

/* lo <= start, start + size <= hi, 1 <= size <= tile, start = lo + index * tile */
static void assume_tile(ProofWalk *w, const IrAxis *a, Poly lo, Poly hi)
{
    Prover *pr = w->pr;
    Poly start = var_poly(w, a->range.start), size = var_poly(w, a->range.size);
    Poly tile = poly_of(pr, a->tile);
    prover_assume(pr, poly_sub(start, lo));
    prover_assume(pr, poly_sub(poly_sub(hi, start), size));
    prover_assume(pr, poly_sub(size, poly_const(1)));
    prover_assume(pr, poly_sub(tile, size));
    if (a->range.index) {
        Poly begin = poly_add(lo, poly_mul(var_poly(w, a->range.index), tile));
        prover_assume(pr, poly_sub(start, begin));
        prover_assume(pr, poly_sub(begin, start));
        if (w->pr->named[a->range.index])
            assume_scalar(w, a->range.index, poly_const(0), poly_of(pr, ir_piece_count(w->p, a)));
    }
}

void proof_each_assigned(const IrProgram *p, const IrBlock *block,
                         void each(void *context, IrVarId var), void *context)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &p->stmts.at[block->at[i]];
        if (s->var)
            each(context, s->var);
        proof_each_assigned(p, &s->body, each, context);
        proof_each_assigned(p, &s->orelse, each, context);
    }
}

static void forget_var(void *prover, IrVarId var) { prover_forget(prover, var); }

void proof_forget_assigned(ProofWalk *w, const IrStmt *s)
{
    if (s->var)
        prover_forget(w->pr, s->var);
    proof_each_assigned(w->p, &s->body, forget_var, w->pr);
    proof_each_assigned(w->p, &s->orelse, forget_var, w->pr);
}

void proof_assume_loop(ProofWalk *w, const IrStmt *loop)
{
    proof_forget_assigned(w, loop);
    if (loop->loop == IR_LOOP_MINE_LIST) {
        IrExprId item = ir_var(w->p, loop->axes[0].range.start);
        Poly count = poly_of(w->pr, ir_leaf(w->p, IR_E_LIST_LEN, loop->list, 0));
        Poly size = poly_of(w->pr, ir_leaf(w->p, IR_E_LIST_SIZE, loop->list, item));
        assume_scalar(w, loop->axes[0].range.start, poly_const(0), count);
        assume_tile(w, &loop->axes[1], poly_const(0), size);
        return;
    }
    for (uint32_t i = 0; i < loop->axis_count; i++) {
        const IrAxis *a = &loop->axes[i];
        Poly lo = poly_of(w->pr, a->lo), hi = poly_of(w->pr, a->hi);
        if (a->tile)
            assume_tile(w, a, lo, hi);
        else
            assume_scalar(w, a->range.start, lo, hi);
    }
}

/* A share of nothing, or of less, begins at 0 and is empty. */
void proof_enter_share(ProofWalk *w, const IrStmt *share)
{
    const IrRange *r = &share->axes[0].range;
    Poly start = var_poly(w, r->start), size = var_poly(w, r->size);
    Poly all = poly_of(w->pr, share->axes[0].hi);
    if (!prove_nonneg(w->pr, all))
        all = poly_of(w->pr, ir_expr2(w->p, IR_E_MAX, share->axes[0].hi, ir_int(w->p, 0)));
    prover_assume(w->pr, start);
    prover_assume(w->pr, size);
    prover_assume(w->pr, poly_sub(poly_sub(all, start), size));
}

/* The conditions of the host on the path to the kernel's only launch. False: not in here. */
static bool assume_path(ProofWalk *w, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &w->p->stmts.at[block->at[i]];
        if (s->kind == IR_S_LAUNCH && s->kernel == w->kernel)
            return true;
        if (s->kind == IR_S_ASSERT)
            prover_assume_cond(w->pr, s->cond, true);
        uint32_t mark = w->pr->facts.len;
        for (int branch = 0; branch < 2 && s->kind == IR_S_IF; branch++) {
            prover_assume_cond(w->pr, s->cond, branch == 0);
            if (assume_path(w, branch == 0 ? &s->body : &s->orelse))
                return true;
            w->pr->facts.len = mark;
        }
        proof_forget_assigned(w, s);
    }
    return false;
}

static void check_cores(ProofWalk *w, const IrStmt *s)
{
    const IrKernel *k = &w->p->kernels.at[s->kernel];
    int64_t most = k->has_cube ? w->chip->aic : w->chip->aiv;
    Poly cores = poly_of(w->pr, s->cores);
    bool ok = prove_nonneg(w->pr, poly_sub(cores, poly_const(1))) &&
              prove_nonneg(w->pr, poly_sub(poly_const(most), cores));
    const char *text = NULL;
    if (!ok)
        text = str_format(w->arena, "'%s' is launched on %s cores, the chip has %lld", k->name,
                          proof_expr(w, s->cores), (long long)most);
    proof_add(w, IR_PROOF_CORES, ok ? IR_PROVED : IR_WATCHED, s->at, text);
}

/* Every launch of the host, under the conditions that lead to it. */
static void check_launches(ProofWalk *w, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt s = w->p->stmts.at[block->at[i]];
        if (s.kind == IR_S_LAUNCH)
            check_cores(w, &s);
        if (s.kind == IR_S_ASSERT)
            prover_assume_cond(w->pr, s.cond, true);
        uint32_t mark = w->pr->facts.len;
        for (int branch = 0; branch < 2 && s.kind == IR_S_IF; branch++) {
            prover_assume_cond(w->pr, s.cond, branch == 0);
            check_launches(w, branch == 0 ? &s.body : &s.orelse);
            w->pr->facts.len = mark;
        }
        proof_forget_assigned(w, &s);
    }
}

bool ir_prove(Arena *arena, IrProgram *p, const NpuChip *chip, IrReport *report, Diag *diag)
{
    *report = (IrReport){.ub_size = chip->ub};
    ir_annotate(p, chip);
    ProofWalk host = {.arena = arena,
                      .p = p,
                      .chip = chip,
                      .report = report,
                      .diag = diag,
                      .kernel = UINT32_MAX,
                      .pr = prover_new(arena, p, chip)};
    check_launches(&host, &p->host);
    host.pr->facts.len = 0;
    proof_arith_host(&host);
    proof_outputs(&host);
    for (uint32_t i = 0; i < p->kernels.len; i++) {
        ProofWalk w = {.arena = arena,
                       .p = p,
                       .chip = chip,
                       .report = report,
                       .diag = diag,
                       .kernel = i,
                       .k = &p->kernels.at[i],
                       .pr = prover_new(arena, p, chip)};
        prover_enter_kernel(w.pr, i);
        if (w.pr->num_cores)
            assume_path(&w, &p->host);
        proof_find_prefix(&w);
        proof_accesses(&w);
        proof_coverage(&w);
        proof_written(&w);
        proof_gm(&w);
        proof_gather(&w);
        proof_cross(&w);
        proof_capacity(&w);
        proof_channels(&w);
        proof_arith(&w);
    }
    return report->count[IR_REFUSED] == 0;
}
