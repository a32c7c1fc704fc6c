/* Tensors that pass L2 by. In: a kernel's loads. Out: for each tensor that is read once, its size, and
 * that of all of these together; for results beside inputs that are read twice, theirs.
 *
 * What is read once and is large only pushes other lines out of L2: results that could wait there
 * until GM has time. A tensor is read once when one load names it, every loop around that load
 * moves it on, and it begins where a loop's variable says and nowhere else, so that no two turns
 * overlap; or by a little, as windows do whose first row or column a turn shares with the one before.
 * (asc-devkit examples add_high_performance: 264 to 188 us)
 *
 * One loop after the other may read it, each all of it: what is larger than L2 is gone from there when
 * the next one begins.
 *
 * Past L2 a run of a copy costs 3.2 cycles more (npu/cost.def BURST_PAST_L2): 54 bytes' time. Results
 * that stay in L2 are two thirds of it at most, so where as much is written as read, copies of short
 * runs pass it by only while the tensor is so small that this is worth more.
 *
 * A result that is far larger than L2 must go to GM anyway. Past L2 it goes there in the pass that stores
 * it, while the inputs that are read again come from L2, and it pushes none of these out. */
#include "lower/lower_int.h"

enum { LONG_RUN = 4096, RUN_COSTS = 80 /* bytes' time, by two thirds of L2 */, FAR_LARGER = 2 };

typedef struct Loads {
    const Lower *l;
    uint32_t tensor;
    uint32_t count;  /* places that read it */
    uint32_t passes; /* loops that load it, one after the other */
    const IrStmt *pass;
    const IrStmt *outer;       /* the outermost loop around the last place */
    bool once;                 /* by each of several outermost loops, if there are several places */
    bool split;                /* by a loop that deals it out: no two cores read the same */
    int64_t run;               /* bytes of a run at most; 0: long ones */
    VEC(const IrStmt *) loops; /* around the place */
} Loads;

/* By itself, or as the beginning of what a loop further in cuts into pieces. */
static bool moves_on(const Loads *f, const IrAccess *a, IrVarId var)
{
    for (uint32_t i = 0; i < a->rank; i++)
        if (lx_uses(f->l, a->start[i], var))
            return true;
    for (uint32_t i = 0; i < f->loops.len; i++)
        for (uint32_t k = 0; k < f->loops.at[i]->axis_count; k++) {
            const IrAxis *axis = &f->loops.at[i]->axes[k];
            if (axis->range.start != var && lx_uses(f->l, axis->lo, var) &&
                moves_on(f, a, axis->range.start))
                return true;
        }
    return false;
}

/* ---- turns that overlap a little ---- */

/* The only value the kernel gives a scalar; 0: none, or several. */
static IrExprId value_of(const Loads *f, const IrBlock *block, IrVarId var, uint32_t *times)
{
    IrExprId value = 0;
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &f->l->ir->stmts.at[block->at[i]];
        bool here = s->var == var && s->kind == IR_S_ASSIGN;
        IrExprId below = value_of(f, &s->body, var, times);
        below = below ? below : value_of(f, &s->orelse, var, times);
        *times += s->var == var;
        value = here ? s->value : below ? below : value;
    }
    return *times == 1 ? value : 0;
}

/* By how much it grows at most with the variable: sums, multiples, and the larger or smaller of two. */
static int64_t slope(const Loads *f, IrExprId id, IrVarId var)
{
    const IrExpr *e = &f->l->ir->exprs.at[id];
    uint32_t times = 0;
    IrExprId value;
    switch (e->op) {
    case IR_E_VAR:
        if (e->of.var == var)
            return 1;
        value = value_of(f, &f->l->source->body, e->of.var, &times);
        return value ? slope(f, value, var) : 0;
    case IR_E_ADD: return slope(f, e->arg[0], var) + slope(f, e->arg[1], var);
    case IR_E_SUB: return slope(f, e->arg[0], var) - slope(f, e->arg[1], var);
    case IR_E_MUL:
        return lx_most(f->l, e->arg[1]) == lx_least(f->l, e->arg[1])
                   ? slope(f, e->arg[0], var) * lx_most(f->l, e->arg[1])
                   : 0;
    case IR_E_MIN:
    case IR_E_MAX: {
        int64_t a = slope(f, e->arg[0], var), b = slope(f, e->arg[1], var);
        return a > b ? a : b;
    }
    default: return 0;
    }
}

/* From the end: "n - t.stop". */
static bool goes_back(const Loads *f, IrExprId start)
{
    for (uint32_t i = 0; i < f->loops.len && f->l->ir->exprs.at[start].op == IR_E_SUB; i++)
        for (uint32_t k = 0; k < f->loops.at[i]->axis_count; k++)
            if (slope(f, start, f->loops.at[i]->axes[k].range.start) == -1)
                return true;
    return false;
}

/* Each axis begins at a loop's variable, as far from its end, or at 0. */
static bool begins_plainly(const Loads *f, const IrAccess *a)
{
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->start[i] && f->l->ir->exprs.at[a->start[i]].op != IR_E_VAR &&
            !lx_is(f->l, a->start[i], 0) && !goes_back(f, a->start[i]))
            return false;
    return !a->flat && !a->item;
}

static bool read_once(const Loads *f, const IrAccess *a)
{
    for (uint32_t i = 0; i < f->loops.len; i++)
        for (uint32_t k = 0; k < f->loops.at[i]->axis_count; k++)
            if (!moves_on(f, a, f->loops.at[i]->axes[k].range.start))
                return false;
    return begins_plainly(f, a);
}

/* Elements that the load takes of an axis at most: what its buffer holds bounds them too. */
static int64_t most_of(const Loads *f, const IrStmt *load, uint32_t axis)
{
    const IrBuffer *b = &f->l->source->buffers.at[load->dst.buffer];
    uint32_t behind = 0;
    if (!load->access.size[axis])
        return 1;
    for (uint32_t i = axis + 1; i < load->access.rank; i++)
        behind += load->access.size[i] != 0;
    int64_t most = lx_most(f->l, load->access.size[axis]);
    int64_t held = behind < b->rank ? lx_most(f->l, b->shape[b->rank - 1 - behind]) : most;
    return held < most ? held : most;
}

/* Along some axis a turn begins nearly as far on as one reads: at most a fifth is read twice. */
static bool steps_on(const Loads *f, const IrStmt *load, const IrAxis *axis)
{
    int64_t tile = axis->tile ? lx_least(f->l, axis->tile) : 1;
    for (uint32_t i = 0; i < load->access.rank; i++) {
        IrExprId start = load->access.start[i];
        int64_t step = start ? slope(f, start, axis->range.start) : 0;
        if (step > 0 && step <= 64 && tile <= INT32_MAX &&
            most_of(f, load, i) <= step * tile * 5 / 4)
            return true;
    }
    return false;
}

static bool read_nearly_once(const Loads *f, const IrStmt *load)
{
    for (uint32_t i = 0; i < f->loops.len; i++)
        for (uint32_t k = 0; k < f->loops.at[i]->axis_count; k++)
            if (!steps_on(f, load, &f->loops.at[i]->axes[k]))
                return false;
    return f->loops.len && !load->access.flat && !load->access.item;
}

static bool is_split(const Loads *f)
{
    for (uint32_t i = 0; i < f->loops.len; i++)
        if (f->loops.at[i]->loop != IR_LOOP_RANGE && f->loops.at[i]->loop != IR_LOOP_TILES)
            return true;
    return false;
}

static int64_t short_run(const Loads *f, const IrStmt *load)
{
    const IrView *v = &load->dst;
    int64_t run = v->rank == 2 ? most_of(f, load, load->access.rank - 1) : LONG_RUN;
    run = run < LONG_RUN ? run * (int64_t)dtype_bytes(view_dtype(v)) : LONG_RUN;
    return run < LONG_RUN && lx_most(f->l, v->size[0]) > 1 ? run : 0;
}

/* Whether the kernel writes a tensor with at least as many axes. */
static bool written_alike(const Lower *l, const IrTensor *in)
{
    for (uint32_t i = 0; i < l->source->tensors.len; i++)
        if (l->source->tensors.at[i].role == IR_ROLE_OUT &&
            l->source->tensors.at[i].rank >= in->rank)
            return true;
    return false;
}

/* Loads side by side in one loop take different parts; those of another loop the same again. */
static void count_pass(Loads *f, const IrStmt *load)
{
    const IrStmt *loop = f->loops.len ? f->loops.at[f->loops.len - 1] : NULL;
    f->passes += load->kind == IR_S_LOAD && (!f->passes || loop != f->pass);
    f->pass = load->kind == IR_S_LOAD ? loop : f->pass;
}

static bool reads_once(Loads *f, const IrStmt *load)
{
    const IrStmt *outer = f->loops.len ? f->loops.at[0] : NULL;
    bool apart = f->count == 1 || (f->once && outer && outer != f->outer);
    f->outer = outer;
    return apart && load->kind == IR_S_LOAD &&
           (read_once(f, &load->access) || read_nearly_once(f, load));
}

static void walk(Loads *f, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &f->l->ir->stmts.at[block->at[i]];
        bool reads = (s->kind == IR_S_LOAD && !s->src_count) || s->kind == IR_S_GM_READ;
        if (reads && s->access.tensor == f->tensor) {
            f->count++;
            count_pass(f, s);
            f->once = reads_once(f, s);
            f->split = is_split(f);
            f->run = f->once ? short_run(f, s) : 0;
        }
        if (s->kind == IR_S_FOR)
            vec_push(f->l->arena, &f->loops, s);
        walk(f, &s->body);
        walk(f, &s->orelse);
        if (s->kind == IR_S_FOR)
            f->loops.len--;
    }
}

static IrExprId bytes_of(Lower *l, const IrTensor *t)
{
    IrExprId bytes = lx_int(l, (int64_t)dtype_bytes(t->dtype));
    for (uint32_t i = 0; i < t->rank; i++)
        bytes = lx_mul(l, t->shape[i], bytes);
    return bytes;
}

static int64_t l2_bytes(const Lower *l) { return (int64_t)l->chip->l2_mib * 1048576; }

static void add_stream(Lower *l, AscKernel *k, uint32_t t)
{
    const IrTensor *tensor = &l->source->tensors.at[t];
    Loads f = {.l = l, .tensor = t};
    if (tensor->role == IR_ROLE_IN)
        walk(&f, &l->source->body);
    if (!f.once)
        return;
    AscStream s = {.tensor = t,
                   .bytes = bytes_of(l, tensor),
                   .split = f.split && f.count == 1,
                   .least = f.count == 1 ? l2_bytes(l) / 3 : l2_bytes(l)};
    if (f.run && written_alike(l, tensor))
        s.most = f.run * (l2_bytes(l) / RUN_COSTS);
    vec_push(l->arena, &k->streams, s);
}

/* Is an input with as many axes loaded by several loops? */
static bool read_twice(const Lower *l, uint32_t rank)
{
    for (uint32_t i = 0; i < l->source->tensors.len; i++) {
        const IrTensor *in = &l->source->tensors.at[i];
        Loads f = {.l = l, .tensor = i};
        if (in->role == IR_ROLE_IN && in->rank == rank)
            walk(&f, &l->source->body);
        if (f.passes > 1 && !f.once)
            return true;
    }
    return false;
}

static void add_result(Lower *l, AscKernel *k, uint32_t t)
{
    const IrTensor *tensor = &l->source->tensors.at[t];
    Loads f = {.l = l, .tensor = t};
    if (tensor->role != IR_ROLE_OUT || !read_twice(l, tensor->rank))
        return;
    walk(&f, &l->source->body);
    AscStream s = {.tensor = t, .bytes = bytes_of(l, tensor), .least = FAR_LARGER * l2_bytes(l)};
    if (!f.count)
        vec_push(l->arena, &k->streams, s);
}

/* What the cores deal out among them is pushed out by all of it. */
static void add_up(Lower *l, AscKernel *k)
{
    IrExprId all = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->streams.len; i++)
        if (k->streams.at[i].split)
            all = all ? lx_add(l, all, k->streams.at[i].bytes) : k->streams.at[i].bytes;
    for (uint32_t i = 0; i < k->streams.len; i++) {
        AscStream s = k->streams.at[i];
        s.together = s.split ? all : s.bytes;
        if (lx_most(l, s.together) > s.least)
            k->streams.at[kept++] = s;
    }
    k->streams.len = kept;
}

/* requires: the kernels as the source has them.
 * keeps: everything; it only adds to the kernels. */
void lower_streams(Lower *l)
{
    for (uint32_t i = 0; i < l->out->kernels.len; i++) {
        AscKernel *k = &l->out->kernels.at[i];
        l->source = &l->ir->kernels.at[i];
        for (uint32_t t = 0; k->launched && t < l->source->tensors.len; t++)
            add_stream(l, k, t);
        for (uint32_t t = 0; k->launched && t < l->source->tensors.len; t++)
            add_result(l, k, t);
        add_up(l, k);
    }
}
