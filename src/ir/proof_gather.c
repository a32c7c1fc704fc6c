/* Positions of gather lie inside what it gathers from. Walks the kernel forward with, per buffer of
 * i32, what its elements certainly are: a line (iota, moved and scaled by scalars) or a range
 * (clipped by min and max).
 *
 *     even = iota(0, 2)                            even[j] is 2 * j
 *     re = gather(a[:2 * n], even[:n] + 1)         positions 1 .. 2 * n - 1: inside
 *     p = min(max(p, 0), m - 1)                    p[j] is 0 .. m - 1
 *
 * In: the walk. Out: one obligation for each gather. */
#include "ir/prove_int.h"

/* Elements of `view`: element j is first + step * j, or lies in lo..hi. */
typedef struct Content {
    enum { ANYTHING, LINE, RANGE } kind;
    IrView view;
    Poly first, step;
    bool has_lo, has_hi;
    Poly lo, hi;
} Content;

typedef ProofFlow Flow;

static uint32_t buffers_of(const Flow *f) { return f->w->k->buffers.len; }
static Content *now(const Flow *f) { return f->state; } /* per buffer */

/* ---- what is forgotten ---- */

static bool view_mentions(const IrProgram *p, const IrView *v, IrVarId var)
{
    return ir_mentions(p, v->start[0], var) || ir_mentions(p, v->size[0], var);
}

static void forget_scalar(void *context, IrVarId var)
{
    Flow *f = context;
    for (uint32_t b = 0; b < buffers_of(f); b++) {
        Content *c = &now(f)[b];
        if (c->kind != ANYTHING &&
            (view_mentions(f->w->p, &c->view, var) || poly_mentions(f->w->pr, &c->first, var) ||
             poly_mentions(f->w->pr, &c->step, var) || poly_mentions(f->w->pr, &c->lo, var) ||
             poly_mentions(f->w->pr, &c->hi, var)))
            c->kind = ANYTHING;
    }
}

static void forget_written(Flow *f, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &f->w->p->stmts.at[block->at[i]];
        if (s->dst.rank && s->kind != IR_S_SEND)
            now(f)[s->dst.buffer].kind = ANYTHING;
        if (s->dst2.rank)
            now(f)[s->dst2.buffer].kind = ANYTHING;
        forget_written(f, &s->body);
        forget_written(f, &s->orelse);
    }
}

static void forget_block(Flow *f, const IrBlock *block)
{
    forget_written(f, block);
    proof_each_assigned(f->w->p, block, forget_scalar, f);
}

/* ---- what a view holds ---- */

static bool is_plain(const Flow *f, const IrView *v)
{
    const IrBuffer *b = &f->w->k->buffers.at[v->buffer];
    return v->rank == 1 && b->rank == 1 && v->dtype == DT_I32 && b->dtype == DT_I32;
}

static Poly expr(const Flow *f, IrExprId e) { return poly_of(f->w->pr, e); }

/* The part of a buffer's content that the view sees, counted from the view's first element. */
static Content seen_by(const Flow *f, const IrView *v)
{
    Content c = now(f)[v->buffer];
    Prover *pr = f->w->pr;
    if (!is_plain(f, v) || c.kind == ANYTHING)
        return (Content){0};
    Poly before = poly_sub(expr(f, v->start[0]), expr(f, c.view.start[0]));
    Poly behind = poly_sub(poly_sub(expr(f, c.view.size[0]), expr(f, v->size[0])), before);
    if (!prove_nonneg(pr, before) || !prove_nonneg(pr, behind))
        return (Content){0};
    c.first = poly_add(c.first, poly_mul(c.step, before));
    c.view = *v;
    return c;
}

/* A scalar as an i32 tile takes it: unchanged. */
static bool fits_i32(const Flow *f, IrExprId e)
{
    IrInterval i = ir_interval(f->w->p, f->w->chip, e);
    if (i.lo >= INT32_MIN && i.hi <= INT32_MAX)
        return true;
    Poly v = expr(f, e);
    return prove_nonneg(f->w->pr, poly_sub(poly_const(INT32_MAX), v)) &&
           prove_nonneg(f->w->pr, poly_sub(v, poly_const(INT32_MIN)));
}

/* ---- operations ---- */

/* i32 wraps as all of these do, so a line that ends in range is right whatever happened before. */
static Content line_op(const Flow *f, const IrStmt *s, Content c)
{
    Poly by = expr(f, s->scalar[0]);
    switch (s->op) {
    case IR_T_ADDS: c.first = poly_add(c.first, by); break;
    case IR_T_SUBS: c.first = poly_sub(c.first, by); break;
    case IR_T_RSUBS:
        c.first = poly_sub(by, c.first);
        c.step = poly_scale(c.step, -1);
        break;
    case IR_T_MULS:
        c.first = poly_mul(c.first, by);
        c.step = poly_mul(c.step, by);
        break;
    default: c.kind = ANYTHING;
    }
    return c;
}

static Content clip(const Flow *f, const IrStmt *s, Content c)
{
    Poly by = expr(f, s->scalar[0]);
    bool most = s->op == IR_T_MINS, keeps_lo = c.kind == RANGE && c.has_lo,
         keeps_hi = c.kind == RANGE && c.has_hi;
    if (most) {
        c.has_lo = keeps_lo && prove_nonneg(f->w->pr, poly_sub(by, c.lo));
        c.has_hi = true;
        c.hi = by;
    } else {
        c.has_hi = keeps_hi && prove_nonneg(f->w->pr, poly_sub(c.hi, by));
        c.has_lo = true;
        c.lo = by;
    }
    c.kind = fits_i32(f, s->scalar[0]) ? RANGE : ANYTHING;
    c.first = c.step = (Poly){0};
    return c;
}

static Content result_of(const Flow *f, const IrStmt *s)
{
    Content c = {.kind = LINE};
    if (!is_plain(f, &s->dst))
        return (Content){0};
    if (s->op == IR_T_IOTA || s->op == IR_T_FILL) {
        c.first = expr(f, s->scalar[0]);
        c.step = s->op == IR_T_IOTA ? expr(f, s->scalar[1]) : poly_const(0);
        return c;
    }
    if (s->src_count != 1 || s->scalar_count != 1)
        return (Content){0};
    c = seen_by(f, &s->src[0]);
    if (s->op == IR_T_MINS || s->op == IR_T_MAXS)
        return clip(f, s, c);
    return c.kind == LINE ? line_op(f, s, c) : (Content){0};
}

static void flow_op(Flow *f, const IrStmt *s)
{
    Content c = s->dst.rank ? result_of(f, s) : (Content){0};
    c.view = s->dst;
    if (c.first.overflow || c.step.overflow || c.lo.overflow || c.hi.overflow)
        c.kind = ANYTHING;
    if (s->dst.rank)
        now(f)[s->dst.buffer] = c;
    if (s->dst2.rank)
        now(f)[s->dst2.buffer].kind = ANYTHING;
}

/* ---- gather ---- */

/* 0 <= first + step * j < size for every j of 0..count-1: at both ends. */
static bool line_inside(const Flow *f, const Content *c, Poly count, Poly size)
{
    Prover *pr = f->w->pr;
    Poly last = poly_add(c->first, poly_mul(c->step, poly_sub(count, poly_const(1))));
    Poly end = poly_sub(size, poly_const(1));
    return prove_nonneg(pr, c->first) && prove_nonneg(pr, poly_sub(end, c->first)) &&
           prove_nonneg(pr, last) && prove_nonneg(pr, poly_sub(end, last));
}

static bool positions_inside(const Flow *f, const IrStmt *s)
{
    Content c = seen_by(f, &s->src[1]);
    Poly size = expr(f, s->src[0].size[0]), end = poly_sub(size, poly_const(1));
    if (s->src[0].rank != 1)
        return false;
    if (c.kind == LINE)
        return line_inside(f, &c, expr(f, s->src[1].size[0]), size);
    return c.kind == RANGE && c.has_lo && c.has_hi && prove_nonneg(f->w->pr, c.lo) &&
           prove_nonneg(f->w->pr, poly_sub(end, c.hi));
}

static void check_gather(Flow *f, const IrStmt *s)
{
    const IrView *from = &s->src[0];
    const char *text = NULL;
    bool inside = positions_inside(f, s);
    if (!inside)
        text = str_format(
            f->w->arena, "that every position lies below %s, the size of this part of '%s'",
            proof_expr(f->w, from->size[from->rank - 1]), f->w->k->buffers.at[from->buffer].name);
    proof_add(f->w, IR_PROOF_GATHER, inside ? IR_PROVED : IR_WATCHED, s->at, text);
}

/* ---- the walk ---- */

static void begin_loop(Flow *f, const IrStmt *s) { forget_written(f, &s->body); }

static void end_loop(Flow *f, const IrStmt *s, void *before)
{
    (void)s;
    f->state = before;
}

static void end_if(Flow *f, const IrStmt *s, void *then)
{
    (void)then;
    forget_block(f, &s->body);
    forget_block(f, &s->orelse);
}

static void step(Flow *f, const IrStmt *s)
{
    if (s->kind == IR_S_LOAD || s->kind == IR_S_RECV)
        now(f)[s->dst.buffer].kind = ANYTHING;
    if (s->kind != IR_S_OP)
        return;
    if (s->op == IR_T_GATHER)
        check_gather(f, s);
    flow_op(f, s);
}

static bool has_gather(const IrProgram *p, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &p->stmts.at[block->at[i]];
        if ((s->kind == IR_S_OP && s->op == IR_T_GATHER) || has_gather(p, &s->body) ||
            has_gather(p, &s->orelse))
            return true;
    }
    return false;
}

void proof_gather(ProofWalk *w)
{
    if (!has_gather(w->p, &w->k->body))
        return;
    size_t bytes = w->k->buffers.len * sizeof(Content);
    Flow f = {.w = w,
              .state = arena_alloc(w->arena, bytes + 1),
              .bytes = bytes,
              .step = step,
              .forget = forget_scalar,
              .begin_loop = begin_loop,
              .end_loop = end_loop,
              .end_if = end_if};
    proof_flow_kernel(&f);
}
