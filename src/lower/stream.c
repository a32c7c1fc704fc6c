/* Inputs that pass L2 by. In: a kernel's loads. Out: for each tensor that is read once, its size, and
 * that of all of these together.
 *
 * What is read once and is large only pushes other lines out of L2: results that could wait there
 * until GM has time. A tensor is read once when one load names it, every loop around that load
 * moves it on, and it begins where a loop's variable says and nowhere else, so that no two turns
 * overlap. (asc-devkit examples add_high_performance: 264 to 188 us)
 *
 * Past L2 a run of a copy costs 3.2 cycles more (npu/cost.def BURST_PAST_L2): 54 bytes' time. Results
 * that stay in L2 are two thirds of it at most, so where as much is written as read, copies of short
 * runs pass it by only while the tensor is so small that this is worth more. */
#include "lower/lower_int.h"

enum { LONG_RUN = 4096, RUN_COSTS = 80 /* bytes' time, by two thirds of L2 */ };

typedef struct Loads {
    const Lower *l;
    uint32_t tensor;
    uint32_t count;
    bool once;
    bool split;                /* by a loop that deals it out: no two cores read the same */
    int64_t run;               /* bytes of a run at most; 0: long ones */
    VEC(const IrStmt *) loops; /* around the place */
} Loads;

static bool moves_on(const Loads *f, const IrAccess *a, IrVarId var)
{
    for (uint32_t i = 0; i < a->rank; i++)
        if (lx_uses(f->l, a->start[i], var))
            return true;
    return false;
}

/* Each axis begins at a loop's variable or at 0. */
static bool begins_plainly(const Loads *f, const IrAccess *a)
{
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->start[i] && f->l->ir->exprs.at[a->start[i]].op != IR_E_VAR &&
            !lx_is(f->l, a->start[i], 0))
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
    int64_t run = v->rank == 2 ? lx_most(f->l, v->size[1]) : LONG_RUN;
    run = run < LONG_RUN ? run * (int64_t)dtype_bytes(view_dtype(v)) : LONG_RUN;
    return run < LONG_RUN && lx_most(f->l, v->size[0]) > 1 ? run : 0;
}

/* Is a tensor written that has as many axes? */
static bool written_alike(const Lower *l, const IrTensor *in)
{
    for (uint32_t i = 0; i < l->source->tensors.len; i++)
        if (l->source->tensors.at[i].role == IR_ROLE_OUT &&
            l->source->tensors.at[i].rank >= in->rank)
            return true;
    return false;
}

static void walk(Loads *f, const IrBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &f->l->ir->stmts.at[block->at[i]];
        bool reads = s->kind == IR_S_LOAD || s->kind == IR_S_GM_READ;
        if (reads && s->access.tensor == f->tensor) {
            f->count++;
            f->once = s->kind == IR_S_LOAD && read_once(f, &s->access);
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

static void add_stream(Lower *l, AscKernel *k, uint32_t t)
{
    const IrTensor *tensor = &l->source->tensors.at[t];
    Loads f = {.l = l, .tensor = t};
    if (tensor->role == IR_ROLE_IN)
        walk(&f, &l->source->body);
    if (f.count != 1 || !f.once)
        return;
    AscStream s = {.tensor = t, .bytes = bytes_of(l, tensor), .split = f.split};
    if (f.run && written_alike(l, tensor))
        s.most = f.run * ((int64_t)l->chip->l2_mib * 1048576 / RUN_COSTS);
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
        if (lx_most(l, s.together) > asc_stream_least(l->chip))
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
        add_up(l, k);
    }
}

int64_t asc_stream_least(const NpuChip *chip) { return (int64_t)chip->l2_mib * 1048576 / 3; }
