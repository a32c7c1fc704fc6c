/* Lives of buffers. In: a kernel. Out: its episodes, each the run of statements of one block
 * from the first write of a value to its last use.
 *
 * A buffer is live between two statements of a block when what follows may read what stood there
 * before. It may when a read is not covered by regions certainly written in between. Where a
 * value is live neither into nor out of a loop, nor around it, its episodes lie inside the loop;
 * otherwise the loop as a whole is part of an episode of the block around it. So a gamma loaded
 * before a loop, or an accumulator kept over one, gets its slot outside that loop.
 *
 * What cannot be shown to be covered counts as read: an episode may come out longer than needed,
 * never shorter. */
#include "lower/lower_int.h"

/* A rectangle of a buffer; rank-1 buffers use axis 1 only. */
typedef struct Region {
    IrExprId start[2], size[2]; /* start 0: at 0 */
} Region;

typedef VEC(Region) Regions;

typedef VEC(const IrAxis *) Axes;

typedef struct Life {
    Lower *l;
    uint32_t buffer;
    const IrBuffer *b;
    const Axes *axes; /* of all loops of the kernel */
    Axes entered;     /* loops around the statement being looked at, from where the look began */
} Life;

const IrBlock *lower_block(const Lower *l, Home home)
{
    if (!home.stmt)
        return &l->source->body;
    const IrStmt *s = &l->ir->stmts.at[home.stmt];
    return home.orelse ? &s->orelse : &s->body;
}

bool lower_reads_dst(IrTileOp op) { return ir_is_mmad(op); }

/* ---- who touches what ---- */

static uint8_t touch_block(const Lower *l, const IrBlock *block, uint32_t buffer)
{
    uint8_t t = 0;
    for (uint32_t i = 0; i < block->len; i++)
        t |= lower_touch(l, block->at[i], buffer);
    return t;
}

static bool op_touches(const IrStmt *s, uint32_t buffer)
{
    if (s->dst.rank && s->dst.buffer == buffer)
        return true;
    if (s->dst2.rank && s->dst2.buffer == buffer)
        return true;
    for (uint32_t i = 0; i < s->src_count; i++)
        if (s->src[i].buffer == buffer)
            return true;
    return false;
}

uint8_t lower_touch(const Lower *l, IrStmtId stmt, uint32_t buffer)
{
    const IrStmt *s = &l->ir->stmts.at[stmt];
    switch (s->kind) {
    case IR_S_LOAD:
        if (s->src_count && s->src[0].buffer == buffer)
            return TOUCH_VECTOR;
        return s->dst.buffer == buffer ? TOUCH_LOAD : 0;
    case IR_S_STORE: return s->src[0].buffer == buffer ? TOUCH_STORE : 0;
    case IR_S_OP: return op_touches(s, buffer) ? TOUCH_VECTOR : 0;
    case IR_S_FOR:
    case IR_S_IF:
    case IR_S_STAGE:
    case IR_S_ROLE:
        return (uint8_t)(touch_block(l, &s->body, buffer) | touch_block(l, &s->orelse, buffer));
    default: return 0;
    }
}

/* ---- regions ---- */

/* False when the view sees the bytes as elements of another width. */
static bool region_of(const Life *f, const IrView *v, Region *r)
{
    *r = (Region){0};
    if (dtype_bytes(v->dtype) != dtype_bytes(f->b->dtype))
        return false;
    if (f->b->rank == 1) {
        r->start[1] = v->start[0];
        r->size[1] = v->size[0];
        return true;
    }
    bool row = v->rank == 1;
    r->start[0] = row ? v->row : v->start[0];
    r->size[0] = row ? lx_int(f->l, 1) : v->size[0];
    r->start[1] = v->start[row ? 0 : 1];
    r->size[1] = v->size[row ? 0 : 1];
    return true;
}

/* One element of a view: a read or write of a scalar. */
static IrView element_of(const Life *f, const IrView *v, IrExprId index)
{
    IrView e = *v;
    uint32_t last = v->rank - 1;
    e.start[last] = lx_add(f->l, lx_is(f->l, v->start[last], 0) ? 0 : v->start[last], index);
    e.size[last] = lx_int(f->l, 1);
    return e;
}

/* A sum as atoms that are counted, and a number. */
enum { SUM_TERMS = 8, SUM_DEPTH = 16, SUM_FACTOR = 1 << 20 };
typedef struct Sum {
    int64_t number;
    uint32_t n;
    IrExprId atom[SUM_TERMS];
    int64_t times[SUM_TERMS];
} Sum;

static bool sum_add(const Life *f, Sum *sum, IrExprId id, int64_t times, int depth)
{
    const IrExpr *e = &f->l->ir->exprs.at[id];
    if (!id || depth > SUM_DEPTH)
        return !id;
    if (e->op == IR_E_INT) {
        sum->number += times * e->of.i;
        return true;
    }
    if (e->op == IR_E_ADD || e->op == IR_E_SUB)
        return sum_add(f, sum, e->arg[0], times, depth + 1) &&
               sum_add(f, sum, e->arg[1], e->op == IR_E_SUB ? -times : times, depth + 1);
    for (int side = 0; side < 2 && e->op == IR_E_MUL; side++) {
        const IrExpr *factor = &f->l->ir->exprs.at[e->arg[side]];
        if (factor->op == IR_E_INT && factor->of.i > -SUM_FACTOR && factor->of.i < SUM_FACTOR)
            return sum_add(f, sum, e->arg[1 - side], times * factor->of.i, depth + 1);
    }
    uint32_t i = 0;
    while (i < sum->n && !ir_same(f->l->ir, sum->atom[i], id))
        i++;
    if (i == SUM_TERMS)
        return false;
    sum->n = i == sum->n ? i + 1 : sum->n;
    sum->atom[i] = id;
    sum->times[i] += times;
    return true;
}

static bool is_var(const Life *f, IrExprId e, IrVarId var)
{
    return e && f->l->ir->exprs.at[e].op == IR_E_VAR && f->l->ir->exprs.at[e].of.var == var;
}

/* The loop that counts by this variable, one by one; NULL: none, or several. */
static const IrAxis *counting_axis(const Life *f, IrExprId e)
{
    const IrAxis *found = NULL;
    for (uint32_t i = 0; i < f->axes->len; i++) {
        const IrAxis *a = f->axes->at[i];
        if (!is_var(f, e, a->range.start))
            continue;
        if (found || a->tile || (a->step && !lx_is(f->l, a->step, 1)))
            return NULL;
        found = a;
    }
    return found;
}

/* b - a is a number that is not below 0, in the last turn of loops that a counts with. */
static bool differ_by_number(const Life *f, IrExprId a, IrExprId b)
{
    Sum sum = {0};
    bool ok = sum_add(f, &sum, b, 1, 0) && sum_add(f, &sum, a, -1, 0);
    for (uint32_t i = 0; i < sum.n && ok; i++) {
        const IrAxis *loop = sum.times[i] < 0 ? counting_axis(f, sum.atom[i]) : NULL;
        int64_t times = sum.times[i];
        if (!loop)
            continue;
        sum.times[i] = 0;
        sum.number -= times;
        ok = sum_add(f, &sum, loop->hi, times, 0);
    }
    for (uint32_t i = 0; i < sum.n && ok; i++)
        ok = sum.times[i] == 0;
    return ok && sum.number >= 0;
}

static bool at_most(const Life *f, IrExprId a, IrExprId b)
{
    if (!a || ir_same(f->l->ir, a, b ? b : lx_int(f->l, 0)))
        return true;
    if (differ_by_number(f, a, b))
        return true;
    const IrExpr *e = &f->l->ir->exprs.at[a];
    if (e->op == IR_E_MIN && (at_most(f, e->arg[0], b) || at_most(f, e->arg[1], b)))
        return true;
    return lx_least(f->l, lx_sub(f->l, b, a)) >= 0;
}

/* start + size; of the element n - 1 that is n. */
static IrExprId end_of(const Life *f, IrExprId start, IrExprId size)
{
    const IrExpr *e = &f->l->ir->exprs.at[start];
    if (e->op == IR_E_SUB && ir_same(f->l->ir, e->arg[1], size))
        return e->arg[0];
    return lx_add(f->l, start, size);
}

/* Where the loop ends whose turn the range is: the range ends there at the latest. 0: none, or
 * several loops count by the variable. */
static IrExprId loop_end(const Life *f, IrExprId start, IrExprId size)
{
    IrExprId end = 0;
    for (uint32_t i = 0; i < f->axes->len; i++) {
        const IrAxis *a = f->axes->at[i];
        if (!is_var(f, start, a->range.start))
            continue;
        bool turn = a->tile ? is_var(f, size, a->range.size) : lx_is(f->l, size, 1);
        if (!turn || (end && !ir_same(f->l->ir, end, a->hi)))
            return 0;
        end = a->hi;
    }
    return end;
}

static bool axis_covers(const Life *f, const Region *w, const Region *r, uint32_t axis)
{
    IrExprId shape = f->b->shape[f->b->rank == 1 ? 0 : axis];
    if (lx_is(f->l, w->start[axis], 0) && ir_same(f->l->ir, w->size[axis], shape))
        return true;
    if (!at_most(f, w->start[axis], r->start[axis]))
        return false;
    IrExprId w_end = end_of(f, w->start[axis], w->size[axis]);
    IrExprId r_end = end_of(f, r->start[axis], r->size[axis]);
    IrExprId latest = loop_end(f, r->start[axis], r->size[axis]);
    return at_most(f, r_end, w_end) || (latest && at_most(f, latest, w_end));
}

static bool covered(const Life *f, const Regions *written, const IrView *view)
{
    Region r;
    bool known = region_of(f, view, &r);
    Region all = {.size = {f->b->shape[0], f->b->shape[f->b->rank - 1]}};
    for (uint32_t i = 0; i < written->len; i++) {
        const Region *w = &written->at[i];
        bool rows = f->b->rank == 1 || axis_covers(f, w, known ? &r : &all, 0);
        if (rows && axis_covers(f, w, known ? &r : &all, 1))
            return true;
    }
    return false;
}

/* b starts where a ends along one axis, or ends where a starts, and they agree on the other: a grows. */
static bool region_join(const Life *f, Region *a, const Region *b)
{
    const IrProgram *ir = f->l->ir;
    for (uint32_t axis = f->b->rank == 1 ? 1 : 0; axis < 2; axis++) {
        uint32_t other = 1 - axis;
        bool agree = f->b->rank == 1 || (ir_same(ir, a->start[other], b->start[other]) &&
                                         ir_same(ir, a->size[other], b->size[other]));
        IrExprId end = lx_add(f->l, a->start[axis], a->size[axis]);
        if (agree && b->start[axis] && ir_same(ir, end, b->start[axis])) {
            a->size[axis] = lx_add(f->l, a->size[axis], b->size[axis]);
            return true;
        }
        IrExprId before = b->start[axis] ? lx_add(f->l, b->start[axis], b->size[axis])
                                         : b->size[axis];
        if (agree && a->start[axis] && ir_same(ir, before, a->start[axis])) {
            a->start[axis] = b->start[axis];
            a->size[axis] = lx_add(f->l, a->size[axis], b->size[axis]);
            return true;
        }
    }
    return false;
}

static void region_add(Life *f, Regions *w, const IrView *view)
{
    Region r;
    if (!region_of(f, view, &r))
        return;
    for (uint32_t i = 0; i < w->len; i++)
        if (region_join(f, &w->at[i], &r))
            return;
    vec_push(f->l->arena, w, r);
}

static bool region_uses(const Life *f, const Region *r, IrVarId var)
{
    for (int i = 0; i < 2; i++)
        if (lx_uses(f->l, r->start[i], var) || lx_uses(f->l, r->size[i], var))
            return true;
    return false;
}

/* The variable changes: regions spelled with it are no longer what they were. */
static void forget_var(const Life *f, Regions *w, IrVarId var)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; var && i < w->len; i++)
        if (!region_uses(f, &w->at[i], var))
            w->at[kept++] = w->at[i];
    if (var)
        w->len = kept;
}

static void forget_assigned(const Life *f, Regions *w, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &f->l->ir->stmts.at[block->at[i]];
        if (s->kind == IR_S_ASSIGN || s->kind == IR_S_GM_READ || s->kind == IR_S_OP)
            forget_var(f, w, s->var);
        forget_assigned(f, w, &s->body);
        forget_assigned(f, w, &s->orelse);
    }
}

static Regions copy_regions(const Life *f, const Regions *w)
{
    Regions c = {0};
    for (uint32_t i = 0; i < w->len; i++)
        vec_push(f->l->arena, &c, w->at[i]);
    return c;
}

/* ---- reads of what stood there before ---- */

static bool exposes_block(Life *f, const IrBlock *block, uint32_t from, Regions *w);

/* Blocks of as many elements as lie between the starts of neighbouring turns: n*i .. n*i + n. */
static bool sweep_blocks(const Life *f, const IrAxis *a, Region *r, uint32_t axis)
{
    Sum start = {0};
    int64_t size = r->size[axis] ? lx_most(f->l, r->size[axis]) : 0;
    if (a->tile || !r->start[axis] || !sum_add(f, &start, r->start[axis], 1, 0) || start.n != 1 ||
        !is_var(f, start.atom[0], a->range.start) || start.times[0] < 1 || start.times[0] != size ||
        !lx_is(f->l, r->size[axis], size))
        return false;
    IrExprId block = lx_int(f->l, size);
    r->size[axis] = lx_mul(f->l, lx_sub(f->l, a->hi, a->lo), block);
    r->start[axis] = lx_add(f->l, lx_mul(f->l, a->lo, block), lx_int(f->l, start.number));
    return true;
}

/* What every iteration writes at its own place, the whole loop writes over its range. */
static bool sweep_axis(const Life *f, const IrAxis *a, Region *r, uint32_t axis)
{
    bool at_var = is_var(f, r->start[axis], a->range.start);
    if (a->step && !lx_is(f->l, a->step, 1))
        return false;
    if (!at_var)
        return sweep_blocks(f, a, r, axis);
    bool unit = a->tile ? ir_same(f->l->ir, r->size[axis], lx_var(f->l, a->range.size))
                        : lx_is(f->l, r->size[axis], 1);
    if (!unit)
        return false;
    r->start[axis] = a->lo;
    r->size[axis] = lx_sub(f->l, a->hi, a->lo);
    return true;
}

static bool uses_axis(const Life *f, const IrAxis *a, const Region *r)
{
    return region_uses(f, r, a->range.start) ||
           (a->range.size && region_uses(f, r, a->range.size)) ||
           (a->range.index && region_uses(f, r, a->range.index));
}

static void after_loop(Life *f, const IrStmt *s, const Regions *body, Regions *w)
{
    if (s->loop != IR_LOOP_RANGE && s->loop != IR_LOOP_TILES)
        return;
    const IrAxis *a = &s->axes[0];
    /* A sum over no products is stored as whatever its tile held: its one slot still does. */
    bool runs = f->b->memory == IR_L0C || lx_least(f->l, lx_sub(f->l, a->hi, a->lo)) >= 1;
    for (uint32_t i = 0; i < body->len; i++) {
        Region r = body->at[i];
        bool swept = sweep_axis(f, a, &r, 0) || sweep_axis(f, a, &r, 1);
        if (!uses_axis(f, a, &r) && (swept || runs))
            vec_push(f->l->arena, w, r);
    }
}

static bool exposes_for(Life *f, const IrStmt *s, Regions *w)
{
    forget_assigned(f, w, &s->body);
    Regions inside = copy_regions(f, w), own = {0};
    uint32_t outside = f->entered.len;
    for (uint32_t i = 0; i < s->axis_count; i++)
        vec_push(f->l->arena, &f->entered, &s->axes[i]);
    bool exposed = exposes_block(f, &s->body, 0, &inside);
    if (!exposed)
        exposes_block(f, &s->body, 0, &own);
    f->entered.len = outside;
    if (!exposed)
        after_loop(f, s, &own, w);
    return exposed;
}

static bool has_region(const Life *f, const Regions *w, const Region *r)
{
    for (uint32_t i = 0; i < w->len; i++) {
        bool same = true;
        for (int k = 0; k < 2; k++)
            same = same && ir_same(f->l->ir, r->start[k], w->at[i].start[k]) &&
                   ir_same(f->l->ir, r->size[k], w->at[i].size[k]);
        if (same)
            return true;
    }
    return false;
}

static bool exposes_if(Life *f, const IrStmt *s, Regions *w)
{
    Regions a = copy_regions(f, w), b = copy_regions(f, w);
    if (exposes_block(f, &s->body, 0, &a) || exposes_block(f, &s->orelse, 0, &b))
        return true;
    forget_assigned(f, w, &s->body);
    forget_assigned(f, w, &s->orelse);
    for (uint32_t i = 0; i < a.len; i++)
        if (has_region(f, &b, &a.at[i]) && !has_region(f, w, &a.at[i]))
            vec_push(f->l->arena, w, a.at[i]);
    return false;
}

/* An mmad that starts from zero in the first turn of the loops entered so far, and adds to the same
 * place in all others, needs nothing that stood there before. Each turn of a loop that moves the place
 * starts anew. */
static bool starts_here(const Life *f, const IrStmt *s)
{
    Region r;
    if (!ir_is_mmad(s->op) || !region_of(f, &s->dst, &r))
        return false;
    uint32_t from = 0;
    for (uint32_t i = 0; i < f->entered.len; i++)
        if (uses_axis(f, f->entered.at[i], &r))
            from = i + 1;
    return cube_starts(f->l, s, f->entered.at + from, f->entered.len - from);
}

static bool exposes_op(Life *f, const IrStmt *s, Regions *w)
{
    for (uint32_t i = 0; i < s->src_count; i++) {
        IrView v = s->src[i];
        if (v.buffer != f->buffer)
            continue;
        if (s->op == IR_T_EXTRACT && v.rank == 1)
            v = element_of(f, &v, s->scalar[0]);
        if (!covered(f, w, &v))
            return true;
    }
    bool mine = s->dst.rank && s->dst.buffer == f->buffer;
    bool adds = mine && lower_reads_dst(s->op) && !starts_here(f, s);
    if (adds && !covered(f, w, &s->dst))
        return true;
    forget_var(f, w, s->var);
    if (mine && s->op == IR_T_INSERT && s->dst.rank == 1) {
        IrView v = element_of(f, &s->dst, s->scalar[0]);
        region_add(f, w, &v);
    } else if (mine && !adds) {
        region_add(f, w, &s->dst);
    }
    if (s->dst2.rank && s->dst2.buffer == f->buffer)
        region_add(f, w, &s->dst2);
    return false;
}

static bool exposes_stmt(Life *f, IrStmtId id, Regions *w)
{
    const IrStmt *s = &f->l->ir->stmts.at[id];
    switch (s->kind) {
    case IR_S_FOR: return exposes_for(f, s, w);
    case IR_S_IF: return exposes_if(f, s, w);
    case IR_S_STAGE:
    case IR_S_ROLE: return exposes_block(f, &s->body, 0, w);
    case IR_S_OP: return exposes_op(f, s, w);
    case IR_S_STORE: return s->src[0].buffer == f->buffer && !covered(f, w, &s->src[0]);
    case IR_S_LOAD:
        if (s->src_count && s->src[0].buffer == f->buffer && !covered(f, w, &s->src[0]))
            return true;
        if (s->dst.buffer == f->buffer)
            region_add(f, w, &s->dst);
        return false;
    case IR_S_ASSIGN:
    case IR_S_GM_READ: forget_var(f, w, s->var); return false;
    default: return false;
    }
}

static bool exposes_block(Life *f, const IrBlock *block, uint32_t from, Regions *w)
{
    for (uint32_t i = from; i < block->len; i++)
        if (exposes_stmt(f, block->at[i], w))
            return true;
    return false;
}

/* ---- episodes ---- */

static bool live_after(Life *f, const IrBlock *block, uint32_t child)
{
    Regions w = {0};
    return exposes_block(f, block, child + 1, &w);
}

static void part_add(const Lower *l, Part *part, const IrBlock *block, uint32_t child)
{
    bool stage = l->ir->stmts.at[block->at[child]].kind == IR_S_STAGE;
    part->alone = !part->any && stage;
    part->first = part->any ? part->first : child;
    part->last = child;
    part->any = true;
}

static void episode_add(Life *f, Home home, uint32_t first, uint32_t last)
{
    const IrBlock *block = lower_block(f->l, home);
    Episode e = {.buffer = f->buffer, .home = home, .first = first, .last = last};
    for (uint32_t i = first; i <= last; i++) {
        uint8_t t = lower_touch(f->l, block->at[i], f->buffer);
        if (t & TOUCH_LOAD)
            part_add(f->l, &e.load, block, i);
        if (t & TOUCH_VECTOR)
            part_add(f->l, &e.vector, block, i);
        if (t & TOUCH_STORE)
            part_add(f->l, &e.store, block, i);
    }
    vec_push(f->l->arena, &f->l->plan->episodes, e);
}

static void episodes_of(Life *f, Home home);

/* A single statement holds whole values: look inside, unless it passes one around itself. */
static void episodes_inside(Life *f, Home home, uint32_t child)
{
    IrStmtId id = lower_block(f->l, home)->at[child];
    const IrStmt *s = &f->l->ir->stmts.at[id];
    bool compound = s->kind == IR_S_FOR || s->kind == IR_S_IF || s->kind == IR_S_STAGE ||
                    s->kind == IR_S_ROLE;
    Regions none = {0};
    if (!compound || exposes_stmt(f, id, &none)) {
        episode_add(f, home, child, child);
        return;
    }
    episodes_of(f, (Home){id, false});
    if (s->kind == IR_S_IF)
        episodes_of(f, (Home){id, true});
}

static void episodes_of(Life *f, Home home)
{
    const IrBlock *block = lower_block(f->l, home);
    for (uint32_t i = 0; i < block->len; i++) {
        if (!lower_touch(f->l, block->at[i], f->buffer))
            continue;
        uint32_t last = i;
        for (uint32_t j = i; j < block->len && live_after(f, block, j); j++)
            if (j + 1 < block->len && lower_touch(f->l, block->at[j + 1], f->buffer))
                last = j + 1;
        if (last == i)
            episodes_inside(f, home, i);
        else
            episode_add(f, home, i, last);
        i = last;
    }
}

static void collect_axes(const Lower *l, const IrBlock *block, Axes *axes)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &l->ir->stmts.at[block->at[i]];
        for (uint32_t a = 0; s->kind == IR_S_FOR && a < s->axis_count; a++)
            vec_push(l->arena, axes, &s->axes[a]);
        collect_axes(l, &s->body, axes);
        collect_axes(l, &s->orelse, axes);
    }
}

/* Fills the plan's episodes, in the order of the kernel's buffers. */
void lower_lives(Lower *l)
{
    Axes axes = {0};
    collect_axes(l, &l->source->body, &axes);
    for (uint32_t b = 0; b < l->source->buffers.len; b++) {
        Life f = {.l = l, .buffer = b, .b = &l->source->buffers.at[b], .axes = &axes};
        episodes_of(&f, (Home){0});
    }
}
