/* Row pitches of 2-D tiles. In: the episodes of a kernel's buffers. Out: which buffers are tight, and the
 * number of elements that their pitches are multiples of.
 *
 * A tile is declared as large as it can become, and mostly used narrower: t[:r.size, :n]. Where every view
 * of a value begins at column 0 and has the same width, and that width does not change while the value
 * lives, its rows lie one after the other at that width: all of them are one run of elements, and an
 * operation on the tile is one instruction. Rows of all tight tiles are padded to the same number of
 * elements, that of the narrowest dtype among them, so that casts between them are one run, too.
 *
 * The bits of a mask lie as the elements it was compared from, where every statement that touches it works on
 * whole tiles of one pitch; elsewhere each row of a mask begins at a multiple of 32 bytes. */
#include "lower/lower_int.h"

enum { MASK_UNIT = 256 }; /* bits of 32 bytes */

typedef struct Pitch {
    Lower *l;
    uint32_t buffer;
    const IrView *first; /* of the episode: the view that the others are compared with */
    bool same;
} Pitch;

static uint32_t last_axis(const IrView *v) { return v->rank == 2 ? 1 : 0; }

static IrExprId view_cols(const IrView *v) { return v->size[last_axis(v)]; }

static bool from_column_0(const Lower *l, const IrView *v)
{
    return lx_is(l, v->start[last_axis(v)], 0);
}

/* All views of a statement; the number of them. */
static uint32_t views_of(const IrStmt *s, const IrView **views)
{
    uint32_t n = 0;
    bool load = s->kind == IR_S_LOAD, store = s->kind == IR_S_STORE, op = s->kind == IR_S_OP;
    if ((load || op) && s->dst.rank)
        views[n++] = &s->dst;
    if (op && s->dst2.rank)
        views[n++] = &s->dst2;
    for (uint32_t i = 0; i < s->src_count && (load || store || op); i++)
        views[n++] = &s->src[i];
    return n;
}

enum { MOST_VIEWS = IR_MAX_OPERANDS + 2 };

static void look_at_stmt(Pitch *p, const IrStmt *s);

static void look_at(Pitch *p, const IrBlock *block, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last && i < block->len && p->same; i++)
        look_at_stmt(p, &p->l->ir->stmts.at[block->at[i]]);
}

/* Positions of a gather count from row to row of what is declared. */
static bool is_counted(const IrStmt *s, const IrView *v)
{
    return s->kind == IR_S_OP && s->op == IR_T_GATHER && v == &s->src[0] && v->rank == 2;
}

static void look_at_stmt(Pitch *p, const IrStmt *s)
{
    const IrBuffer *b = &p->l->source->buffers.at[p->buffer];
    const IrView *views[MOST_VIEWS];
    uint32_t n = views_of(s, views);
    for (uint32_t i = 0; i < n && p->same; i++) {
        const IrView *v = views[i];
        if (v->buffer != p->buffer)
            continue;
        p->first = p->first ? p->first : v;
        p->same = !is_counted(s, v) && from_column_0(p->l, v) &&
                  dtype_bytes(v->dtype) == dtype_bytes(b->dtype) &&
                  ir_same(p->l->ir, view_cols(v), view_cols(p->first));
    }
    look_at(p, &s->body, 0, UINT32_MAX);
    look_at(p, &s->orelse, 0, UINT32_MAX);
}

static bool sets_any(const Lower *l, const IrStmt *s, IrExprId e)
{
    const IrVarId none = 0;
    for (uint32_t i = 0; i < s->axis_count; i++) {
        const IrRange *r = &s->axes[i].range;
        const IrVarId vars[] = {r->start, r->size, r->index};
        for (int k = 0; k < 3; k++)
            if (vars[k] != none && lx_uses(l, e, vars[k]))
                return true;
    }
    return s->var != none && lx_uses(l, e, s->var);
}

/* Whether a statement of the block, or inside one, gives the expression another value. */
static bool changes(const Lower *l, const IrBlock *block, uint32_t first, uint32_t last, IrExprId e)
{
    for (uint32_t i = first; i <= last && i < block->len; i++) {
        const IrStmt *s = &l->ir->stmts.at[block->at[i]];
        if (sets_any(l, s, e) || changes(l, &s->body, 0, UINT32_MAX, e) ||
            changes(l, &s->orelse, 0, UINT32_MAX, e))
            return true;
    }
    return false;
}

/* Every value of the buffer has one width while it lives. *narrower: some is narrower than declared. */
static bool has_one_width(Lower *l, uint32_t buffer, bool *narrower)
{
    const IrBuffer *b = &l->source->buffers.at[buffer];
    *narrower = false;
    for (uint32_t i = 0; i < l->plan->episodes.len; i++) {
        const Episode *e = &l->plan->episodes.at[i];
        Pitch p = {.l = l, .buffer = buffer, .same = true};
        if (e->buffer != buffer)
            continue;
        const IrBlock *home = lower_block(l, e->home);
        look_at(&p, home, e->first, e->last);
        if (!p.same || !p.first || changes(l, home, e->first, e->last, view_cols(p.first)))
            return false;
        *narrower = *narrower || !ir_same(l->ir, view_cols(p.first), b->shape[1]);
    }
    return true;
}

static bool is_tight(Lower *l, uint32_t buffer)
{
    bool narrower;
    return has_one_width(l, buffer, &narrower) && narrower;
}

/* ---- masks ---- */

/* Elements that rows of the view are padded to; 0: they do not lie one after the other. */
static int64_t dense_unit(const Lower *l, const IrView *v)
{
    const IrBuffer *b = &l->source->buffers.at[v->buffer];
    const Placed *p = &l->plan->placed.at[v->buffer];
    bool full = from_column_0(l, v) && ir_same(l->ir, view_cols(v), b->shape[b->rank - 1]) &&
                dtype_bytes(b->dtype) == dtype_bytes(view_dtype(v));
    return v->rank == 2 && (p->tight || full) ? p->unit : 0;
}

static bool handles_masks(const IrStmt *s)
{
    switch (ir_tile_ops[s->op].kind) {
    case IR_CLASS_ELEM:
    case IR_CLASS_COMPARE:
    case IR_CLASS_SELECT:
    case IR_CLASS_CAST:
    case IR_CLASS_BITS: return true;
    default: return false;
    }
}

/* Masks that a statement touches are dense with the unit of its tiles; what is not, is not. True: some mask
 * changed. */
static bool settle_masks(Lower *l, const IrStmt *s)
{
    const IrView *views[MOST_VIEWS];
    uint32_t n = views_of(s, views);
    int64_t unit = 0;
    bool dense = s->kind == IR_S_OP && handles_masks(s), changed = false;
    for (uint32_t i = 0; i < n && dense; i++) {
        const IrBuffer *b = &l->source->buffers.at[views[i]->buffer];
        int64_t own = b->mask ? l->plan->placed.at[views[i]->buffer].unit : dense_unit(l, views[i]);
        bool undecided = b->mask && own == 0;
        dense = views[i]->rank == 2 && lx_is(l, views[i]->start[0], 0) &&
                from_column_0(l, views[i]) && (undecided || (own && own != MASK_UNIT)) &&
                (undecided || !unit || unit == own);
        unit = undecided ? unit : own;
    }
    for (uint32_t i = 0; i < n; i++) {
        Placed *p = &l->plan->placed.at[views[i]->buffer];
        int64_t to = dense ? unit : MASK_UNIT;
        if (!l->source->buffers.at[views[i]->buffer].mask || !to || p->unit == to)
            continue;
        p->unit = (uint16_t)to;
        changed = true;
    }
    return changed;
}

static bool settle_block(Lower *l, const IrBlock *block)
{
    bool changed = false;
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &l->ir->stmts.at[block->at[i]];
        changed = settle_masks(l, s) || changed;
        changed = settle_block(l, &s->body) || changed;
        changed = settle_block(l, &s->orelse) || changed;
    }
    return changed;
}

static void settle_all(Lower *l)
{
    bool narrower;
    for (uint32_t i = 0; i < l->source->buffers.len; i++) {
        const IrBuffer *b = &l->source->buffers.at[i];
        if (b->mask)
            l->plan->placed.at[i].unit = b->rank == 2 && has_one_width(l, i, &narrower) ? 0
                                                                                        : MASK_UNIT;
    }
    while (settle_block(l, &l->source->body))
        ;
    for (uint32_t i = 0; i < l->source->buffers.len; i++) {
        Placed *p = &l->plan->placed.at[i];
        if (l->source->buffers.at[i].mask)
            p->unit = p->unit ? p->unit : MASK_UNIT;
        p->dense = l->source->buffers.at[i].mask && p->unit != MASK_UNIT;
    }
}

/* ---- all buffers of a kernel ---- */

static int64_t own_unit(const IrBuffer *b) { return 32 / (int64_t)dtype_bytes(b->dtype); }

void lower_pitches(Lower *l)
{
    int64_t widest = 0;
    for (uint32_t i = 0; i < l->source->buffers.len; i++) {
        const IrBuffer *b = &l->source->buffers.at[i];
        Placed *p = &l->plan->placed.at[i];
        if (b->mask || b->memory != IR_UB || b->rank != 2)
            continue;
        p->tight = is_tight(l, i);
        p->unit = (uint16_t)own_unit(b);
        widest = p->tight && own_unit(b) > widest ? own_unit(b) : widest;
    }
    for (uint32_t i = 0; i < l->source->buffers.len; i++) {
        Placed *p = &l->plan->placed.at[i];
        if (p->tight && lx_divides(l, l->source->buffers.at[i].shape[1], widest))
            p->unit = (uint16_t)widest;
    }
    settle_all(l);
}
