/* A buffer is read only where it was written. Walks the kernel forward with, per buffer, the
 * few views that are certainly written by then; a read is proved when one of them holds it.
 * Leaving a loop, views that speak of its variables are forgotten, except that rows written one
 * by one become a block of rows. In: the walk. Out: one obligation per view read. */
#include "ir/prove_int.h"

#include <string.h>

enum { MAX_VIEWS = 8 };

typedef struct Written {
    IrView view[MAX_VIEWS];
    uint32_t len;
    bool ever; /* written somewhere before, if only on some path */
} Written;

typedef ProofFlow Flow;

static Written *now(const Flow *f) { return f->state; } /* per buffer */

static bool axis_inside(Flow *f, IrExprId start, IrExprId size, IrExprId in_start, IrExprId in_size)
{
    Prover *pr = f->w->pr;
    Poly s = poly_of(pr, start), t = poly_of(pr, in_start);
    Poly end = poly_add(s, size ? poly_of(pr, size) : poly_const(1));
    Poly in_end = poly_add(t, in_size ? poly_of(pr, in_size) : poly_const(1));
    return prove_nonneg(pr, poly_sub(s, t)) && prove_nonneg(pr, poly_sub(in_end, end));
}

/* Bytes per element decide; a reinterpreted view only matches a view of the same dtype. */
static bool view_inside(Flow *f, const IrView *v, const IrView *in)
{
    if (dtype_bytes(v->dtype) != dtype_bytes(in->dtype))
        return false;
    uint32_t last = v->rank - 1, in_last = in->rank - 1;
    if (!axis_inside(f, v->start[last], v->size[last], in->start[in_last], in->size[in_last]))
        return false;
    IrExprId row = v->row ? v->row : v->rank == 2 ? v->start[0] : 0;
    IrExprId rows = v->row ? 0 : v->rank == 2 ? v->size[0] : 0;
    IrExprId in_row = in->row ? in->row : in->rank == 2 ? in->start[0] : 0;
    IrExprId in_rows = in->row ? 0 : in->rank == 2 ? in->size[0] : 0;
    if (!row || !in_row)
        return !row && !in_row;
    return axis_inside(f, row, rows, in_row, in_rows);
}

static const char *name_of(const Flow *f, const IrView *v)
{
    return f->w->k->buffers.at[v->buffer].name;
}

static bool was_written(Flow *f, const IrView *v)
{
    const Written *known = &now(f)[v->buffer];
    for (uint32_t i = 0; i < known->len; i++)
        if (view_inside(f, v, &known->view[i]))
            return true;
    return false;
}

/* A few rows, each written by itself. */
static bool rows_were_written(Flow *f, const IrView *v)
{
    int64_t rows;
    if (v->rank != 2 || !ir_is_int(f->w->p, v->size[0], &rows) || rows < 2 || rows > MAX_VIEWS)
        return false;
    for (int64_t r = 0; r < rows; r++) {
        IrView row = {.buffer = v->buffer, .dtype = v->dtype, .rank = 1};
        row.row = ir_expr2(f->w->p, IR_E_ADD, v->start[0], ir_int(f->w->p, r));
        row.start[0] = v->start[1];
        row.size[0] = v->size[1];
        if (!was_written(f, &row))
            return false;
    }
    return true;
}

static void read_view(Flow *f, const IrView *v)
{
    Written *known = &now(f)[v->buffer];
    ProofWalk *w = f->w;
    if (was_written(f, v) || rows_were_written(f, v))
        proof_add(w, IR_PROOF_WRITTEN, IR_PROVED, v->at, NULL);
    else if (known->ever)
        proof_add(w, IR_PROOF_WRITTEN, IR_WATCHED, v->at,
                  str_format(w->arena, "that all of this part of '%s' was written before",
                             name_of(f, v)));
    else
        proof_add(w, IR_PROOF_WRITTEN, IR_REFUSED, v->at,
                  str_format(w->arena, "'%s' is read here, but nothing was written to it before",
                             name_of(f, v)));
}

/* b[0:8] and b[8:16] written one after the other are b[0:16]. */
static bool extend_view(Flow *f, IrView *known, const IrView *v)
{
    Prover *pr = f->w->pr;
    Poly end = poly_add(poly_of(pr, known->start[0]), poly_of(pr, known->size[0]));
    if (known->rank != 1 || v->rank != 1 || known->dtype != v->dtype || known->row != v->row ||
        !poly_equal(end, poly_of(pr, v->start[0])))
        return false;
    known->size[0] = ir_expr2(f->w->p, IR_E_ADD, known->size[0], v->size[0]);
    return true;
}

static void write_view(Flow *f, const IrView *v)
{
    Written *known = &now(f)[v->buffer];
    known->ever = true;
    for (uint32_t i = 0; i < known->len; i++)
        if (extend_view(f, &known->view[i], v))
            return;
    for (uint32_t i = 0; i < known->len; i++)
        if (view_inside(f, v, &known->view[i]))
            return;
    if (known->len == MAX_VIEWS) {
        memmove(&known->view[0], &known->view[1], (MAX_VIEWS - 1) * sizeof(IrView));
        known->len--;
    }
    known->view[known->len++] = *v;
}

/* The rows of a view: those of a tile, or the one that it lies in; false: it has none. */
static bool rows_of(Flow *f, const IrView *v, Poly *from, Poly *to)
{
    if (!v->row && v->rank < 2)
        return false;
    *from = poly_of(f->w->pr, v->row ? v->row : v->start[0]);
    *to = poly_add(*from, v->row ? poly_const(1) : poly_of(f->w->pr, v->size[0]));
    return true;
}

/* Rows begin at blocks of their own: what is written to some spoils nothing of others. */
static bool rows_apart(Flow *f, const IrView *a, const IrView *b, int64_t unit)
{
    const IrBuffer *buffer = &f->w->k->buffers.at[a->buffer];
    Poly a_from, a_to, b_from, b_to;
    if (buffer->rank != 2 || ir_multiple(f->w->p, f->w->chip, buffer->shape[1]) % unit ||
        !rows_of(f, a, &a_from, &a_to) || !rows_of(f, b, &b_from, &b_to))
        return false;
    return prove_nonneg(f->w->pr, poly_sub(b_from, a_to)) ||
           prove_nonneg(f->w->pr, poly_sub(a_from, b_to));
}

/* A load writes whole blocks of 32 bytes: what stood after the view in its last block is lost. */
static void forget_block_ends(Flow *f, const IrView *v)
{
    const IrProgram *p = f->w->p;
    int64_t unit = 32 / (int64_t)dtype_bytes(v->dtype);
    Written *known = &now(f)[v->buffer];
    uint32_t kept = 0;
    if (ir_multiple(p, f->w->chip, v->size[v->rank - 1]) % unit == 0)
        return;
    for (uint32_t i = 0; i < known->len; i++)
        if (view_inside(f, &known->view[i], v) || rows_apart(f, &known->view[i], v, unit))
            known->view[kept++] = known->view[i];
    known->len = kept;
}

static bool view_mentions(const IrProgram *p, const IrView *v, IrVarId var)
{
    if (var && ir_mentions(p, v->row, var))
        return true;
    for (uint32_t i = 0; i < v->rank && var; i++)
        if (ir_mentions(p, v->start[i], var) || ir_mentions(p, v->size[i], var))
            return true;
    return false;
}

static bool axis_mentioned(const IrProgram *p, const IrView *v, const IrAxis *a)
{
    return view_mentions(p, v, a->range.start) || view_mentions(p, v, a->range.size) ||
           view_mentions(p, v, a->range.index);
}

/* for i in range(lo, hi): b[i, :n] written   becomes   b[lo:hi, :n] written */
static bool rows_to_block(Flow *f, IrView *v, const IrAxis *a)
{
    const IrProgram *p = f->w->p;
    const IrExpr *row = &p->exprs.at[v->row];
    if (a->tile || a->step || !v->row || row->op != IR_E_VAR || row->of.var != a->range.start)
        return false;
    IrView block = *v;
    block.row = 0;
    block.rank = 2;
    block.start[1] = v->start[0];
    block.size[1] = v->size[0];
    block.start[0] = a->lo;
    block.size[0] = ir_expr2(f->w->p, IR_E_SUB, a->hi, a->lo);
    *v = block;
    return !axis_mentioned(f->w->p, v, a);
}

/* for t in tiles(lo..hi): a[t.start:+t.size] written   becomes   a[lo:hi] written */
static bool tiles_to_whole(Flow *f, IrView *v, const IrAxis *a)
{
    uint32_t last = v->rank - 1;
    const IrExpr *start = &f->w->p->exprs.at[v->start[last]];
    const IrExpr *size = &f->w->p->exprs.at[v->size[last]];
    if (!a->tile || start->op != IR_E_VAR || start->of.var != a->range.start ||
        size->op != IR_E_VAR || size->of.var != a->range.size)
        return false;
    v->start[last] = a->lo;
    v->size[last] = ir_expr2(f->w->p, IR_E_SUB, a->hi, a->lo);
    return !axis_mentioned(f->w->p, v, a);
}

/* for i in range(lo, hi): a[i] written   becomes   a[lo:hi] written */
static bool elements_to_whole(Flow *f, IrView *v, const IrAxis *a)
{
    uint32_t last = v->rank - 1;
    const IrExpr *start = &f->w->p->exprs.at[v->start[last]];
    int64_t size;
    if (a->tile || a->step || start->op != IR_E_VAR || start->of.var != a->range.start ||
        !ir_is_int(f->w->p, v->size[last], &size) || size != 1)
        return false;
    v->start[last] = a->lo;
    v->size[last] = ir_expr2(f->w->p, IR_E_SUB, a->hi, a->lo);
    return !axis_mentioned(f->w->p, v, a);
}

/* Keeps of one view what is still true after the loop; false: nothing. */
static bool leave_loop(Flow *f, IrView *v, const IrStmt *loop)
{
    bool whole = loop->axis_count == 1 &&
                 (loop->loop == IR_LOOP_RANGE || loop->loop == IR_LOOP_TILES);
    for (uint32_t i = 0; i < loop->axis_count; i++) {
        const IrAxis *a = &loop->axes[i];
        if (!axis_mentioned(f->w->p, v, a))
            continue;
        if (!whole ||
            !(rows_to_block(f, v, a) || tiles_to_whole(f, v, a) || elements_to_whole(f, v, a)))
            return false;
    }
    return true;
}

static void forget_loop(Flow *f, const IrStmt *loop)
{
    for (uint32_t b = 0; b < f->w->k->buffers.len; b++) {
        Written *known = &now(f)[b];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < known->len; i++) {
            IrView v = known->view[i];
            if (leave_loop(f, &v, loop))
                known->view[kept++] = v;
        }
        known->len = kept;
    }
}

/* After either of two paths: what both wrote. */
static void meet(Flow *f, const Written *other)
{
    for (uint32_t b = 0; b < f->w->k->buffers.len; b++) {
        Written *known = &now(f)[b];
        uint32_t kept = 0;
        known->ever |= other[b].ever;
        for (uint32_t i = 0; i < known->len; i++) {
            bool both = false;
            for (uint32_t k = 0; k < other[b].len && !both; k++)
                both = view_inside(f, &known->view[i], &other[b].view[k]);
            if (both)
                known->view[kept++] = known->view[i];
        }
        known->len = kept;
    }
}

/* The body certainly runs: every axis has at least one element, and no core is left out. */
static bool runs(Flow *f, const IrStmt *loop)
{
    if (loop->loop != IR_LOOP_RANGE && loop->loop != IR_LOOP_TILES)
        return false;
    for (uint32_t i = 0; i < loop->axis_count; i++) {
        Poly n = poly_sub(poly_of(f->w->pr, loop->axes[i].hi), poly_of(f->w->pr, loop->axes[i].lo));
        if (!prove_nonneg(f->w->pr, poly_sub(n, poly_const(1))))
            return false;
    }
    return true;
}

/* The scalar gets another value: views that speak of the old one are forgotten. */
static void forget_scalar(void *context, IrVarId var)
{
    Flow *f = context;
    for (uint32_t b = 0; b < f->w->k->buffers.len; b++) {
        Written *known = &now(f)[b];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < known->len; i++)
            if (!view_mentions(f->w->p, &known->view[i], var))
                known->view[kept++] = known->view[i];
        known->len = kept;
    }
}

/* Loads of an earlier iteration have spoiled what they spoil. */
static void forget_spoiled(Flow *f, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &f->w->p->stmts.at[block->at[i]];
        if (s->kind == IR_S_LOAD)
            forget_block_ends(f, &s->dst);
        forget_spoiled(f, &s->body);
        forget_spoiled(f, &s->orelse);
    }
}

static void begin_loop(Flow *f, const IrStmt *s) { forget_spoiled(f, &s->body); }

static void end_loop(Flow *f, const IrStmt *s, void *before)
{
    forget_loop(f, s);
    if (!runs(f, s) || s->alternate) /* the other vector core has buffers of its own */
        meet(f, before);
}

static void end_if(Flow *f, const IrStmt *s, void *then)
{
    (void)s;
    meet(f, then);
}

/* a[i] = s writes one element of the view. */
static void write_element(Flow *f, const IrStmt *s)
{
    IrView v = s->dst;
    uint32_t last = v.rank - 1;
    v.start[last] = ir_expr2(f->w->p, IR_E_ADD, v.start[last], s->scalar[0]);
    v.size[last] = ir_int(f->w->p, 1);
    write_view(f, &v);
}

static void flow_op(Flow *f, const IrStmt *s)
{
    for (uint32_t i = 0; i < s->src_count; i++)
        read_view(f, &s->src[i]);
    if (s->op == IR_T_INSERT)
        write_element(f, s);
    else if (s->dst.rank)
        write_view(f, &s->dst);
    if (s->dst2.rank)
        write_view(f, &s->dst2);
}

static void step(Flow *f, const IrStmt *s)
{
    switch (s->kind) {
    case IR_S_STORE:
    case IR_S_SEND: read_view(f, &s->src[0]); break;
    case IR_S_OP: flow_op(f, s); break;
    case IR_S_LOAD:
        if (s->src_count)
            read_view(f, &s->src[0]);
        forget_block_ends(f, &s->dst);
        write_view(f, &s->dst);
        break;
    case IR_S_RECV: write_view(f, &s->dst); break;
    default: break;
    }
}

void proof_written(ProofWalk *w)
{
    size_t bytes = w->k->buffers.len * sizeof(Written);
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
