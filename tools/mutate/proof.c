/* Is every conflicting pair of accesses ordered? Written a second time, apart from sim/hazard.c: an
 * explicit graph instead of clocks, every earlier access instead of the last one. In: the records
 * of a run. Out: yes with a path, or the first pair without one.
 *
 * A node is a moment: an instruction starts, an instruction ends, a flag is set, cores synchronise. Edges
 * lead from earlier to later, so a node's set of ancestors is known when it is made. Small runs
 * only: past MOST_NODES nothing is shown. */
#include "tools/mutate/mutate.h"

#include "base/hash.h"
#include "sim/sim_int.h"

enum { MOST_NODES = 65536, PIPES = NPU_PIPE_ALL, EVENTS = 8, PENDING = 16 };
enum { MOST_CORES = 96 };

typedef struct Node {
    uint32_t line;
    const char *what;
    VEC(uint32_t) preds;
    uint64_t *ancestors;
} Node;

typedef struct Touch {
    SimAccess access;
    uint32_t start, end, line, core;
    uint32_t told; /* what the scalar unit had done before its store to GM */
    uint8_t pipe;
    bool atomic, unit, same;
    uint64_t fractals;
} Touch;

typedef VEC(Touch) Touches;

typedef struct Fifo {
    uint32_t at[PENDING], len;
} Fifo;

typedef struct ProofCore {
    uint32_t knows[PIPES]; /* what the next instruction of the pipe starts after */
    uint32_t done[PIPES];  /* all its instructions so far have ended */
    Fifo flag[PIPES][PIPES][EVENTS];
    Fifo sent[3][16], ready[16];
    uint32_t meetings[2];
    Touches touches; /* of its own memories */
    uint64_t stream;
    bool atomic;
} ProofCore;

struct Proof {
    Sim *sim;
    bool strict, too_long;
    Arena arena;
    VEC(Node) nodes;
    Touches gm;
    ProofCore core[MOST_CORES];
    uint32_t met[2], meeting[2];
    uint64_t pairs, inserted;
    bool lines[MUTATE_LINES];
    Touch bad[2];   /* the first pair without a path */
    PairList loose; /* all such */
    Touch shown[2]; /* the pair whose path is printed: the last two that meet through a wait */
    bool any_shown;
};

static bool before(const Proof *p, uint32_t a, uint32_t b)
{
    return a == b || (p->nodes.at[b].ancestors[a / 64] >> (a % 64) & 1);
}

static void precede(Proof *p, uint32_t earlier, uint32_t later)
{
    if (p->too_long || earlier == later || before(p, earlier, later))
        return;
    Node *n = &p->nodes.at[later];
    const Node *e = &p->nodes.at[earlier];
    for (uint32_t w = 0; w <= earlier / 64; w++)
        n->ancestors[w] |= e->ancestors[w];
    n->ancestors[earlier / 64] |= 1ull << (earlier % 64);
    vec_push(&p->arena, &n->preds, earlier);
}

static uint32_t node(Proof *p, uint32_t line, const char *what)
{
    if (p->nodes.len == MOST_NODES) {
        p->too_long = true;
        return 0;
    }
    Node n = {.line = line, .what = what};
    n.ancestors = arena_array(&p->arena, uint64_t, p->nodes.len / 64 + 1);
    vec_push(&p->arena, &p->nodes, n);
    return p->nodes.len - 1;
}

/* A later moment of a pipe's own knowledge. */
static uint32_t advance(Proof *p, ProofCore *c, uint32_t pipe, uint32_t line, const char *what)
{
    uint32_t n = node(p, line, what);
    precede(p, c->knows[pipe], n);
    c->knows[pipe] = n;
    return n;
}

/* --- pairs --- */

static bool runs_meet(const SimAccess *a, const SimAccess *b)
{
    for (uint32_t i = 0; i < a->outer * a->inner; i++) {
        uint64_t from = a->at + i / a->inner * a->outer_step + i % a->inner * a->inner_step;
        for (uint32_t k = 0; k < b->outer * b->inner; k++) {
            uint64_t other = b->at + k / b->inner * b->outer_step + k % b->inner * b->inner_step;
            if (from < other + b->run && other < from + a->run)
                return true;
        }
    }
    return false;
}

static uint64_t reach(const SimAccess *a)
{
    return a->at + (a->outer - 1) * a->outer_step + (a->inner - 1) * a->inner_step + a->run;
}

static bool conflict(const Touch *a, const Touch *b)
{
    if (!(a->access.write || b->access.write) || a->access.space != b->access.space)
        return false;
    if (a->access.space != NPU_GM && a->core != b->core)
        return false;
    return a->access.at < reach(&b->access) && b->access.at < reach(&a->access) &&
           runs_meet(&a->access, &b->access);
}

static bool hardware_orders(const Touch *a, const Touch *b)
{
    bool one_core = a->core == b->core, one_pipe = one_core && a->pipe == b->pipe;
    if (one_pipe && (a->pipe == NPU_PIPE_S || !a->access.write))
        return true;
    if (one_pipe && a->pipe == NPU_PIPE_M)
        return b->fractals >= 10;
    bool cube = one_core && a->pipe != b->pipe &&
                (a->pipe == NPU_PIPE_M || a->pipe == NPU_PIPE_FIX) &&
                (b->pipe == NPU_PIPE_M || b->pipe == NPU_PIPE_FIX);
    if (cube && (a->unit || b->unit))
        return true;
    if (!one_core && a->access.write && b->access.write && b->same)
        return true;
    return a->atomic && b->atomic && a->access.write && b->access.write;
}

static bool compiler_inserts(const Proof *p, const Touch *a, const Touch *b)
{
    if (p->strict || a->core != b->core || p->sim->core[a->core].pub.aic)
        return false;
    return a->pipe == NPU_PIPE_S || b->pipe == NPU_PIPE_S ||
           (a->pipe == NPU_PIPE_V && b->pipe == NPU_PIPE_V);
}

/* Scalar units that talk through GM words synchronise by that. */
static bool scalar_talk(Proof *p, const Touch *a, const Touch *b)
{
    if (a->core == b->core || a->pipe != NPU_PIPE_S || b->pipe != NPU_PIPE_S)
        return false;
    if (a->access.write && !b->access.write)
        precede(p, a->told, b->start);
    return true;
}

/* By lines, pipes and kinds, once. */
static void note_loose(Proof *p, const Touch *a, const Touch *b)
{
    LoosePair pair = {{a->line, b->line}, {a->pipe, b->pipe}, {a->access.write, b->access.write}};
    for (uint32_t i = 0; i < p->loose.len; i++)
        if (memcmp(&p->loose.at[i], &pair, sizeof pair) == 0)
            return;
    vec_push(&p->arena, &p->loose, pair);
}

static void judge(Proof *p, const Touch *a, const Touch *b)
{
    if (scalar_talk(p, a, b))
        return;
    p->pairs++;
    if (before(p, a->end, b->start)) {
        if (!p->any_shown || p->shown[1].end != b->end)
            p->shown[0] = *a, p->shown[1] = *b;
        p->any_shown = true;
        return;
    }
    if (hardware_orders(a, b))
        return;
    if (compiler_inserts(p, a, b)) {
        p->inserted++;
        precede(p, a->end, b->start);
        return;
    }
    if (p->loose.len == 0) {
        p->bad[0] = *a;
        p->bad[1] = *b;
    }
    note_loose(p, a, b);
}

/* With every earlier access to the same memory. */
static void judge_all(Proof *p, const Touches *earlier, uint32_t count, const Touch *b)
{
    for (uint32_t k = count; k > 0; k--)
        if (conflict(&earlier->at[k - 1], b))
            judge(p, &earlier->at[k - 1], b);
}

/* --- records --- */

static bool gm_changes(const Sim *sim, uint64_t byte)
{
    for (uint32_t i = 0; i < sim->gm.len; i++) {
        const SimRegion *g = &sim->gm.at[i]->region;
        if (byte >= g->base && byte - g->base < g->bytes)
            return g->role != SIM_IN && g->role != SIM_TILING;
    }
    return false;
}

static Touch touch_of(const Proof *p, uint32_t core, const Record *r, const SimAccess *a)
{
    bool out = r->pipe == NPU_PIPE_MTE3 || r->pipe == NPU_PIPE_FIX;
    bool fix = r->op == NPU_FIXPIPE_GM || r->op == NPU_FIXPIPE_L1;
    return (Touch){.access = *a,
                   .line = r->line,
                   .core = core,
                   .pipe = r->pipe,
                   .atomic = p->core[core].atomic && out,
                   .unit = (r->op == NPU_MMAD && r->n[3]) || (fix && r->mask[1]),
                   .same = p->sim->core[core].wrote_same,
                   .fractals = ((uint64_t)r->n[0] + 15) / 16 * (((uint64_t)r->n[1] + 15) / 16)};
}

/* All that a core has done so far, and knows of others. */
static uint32_t so_far(Proof *p, const ProofCore *c, uint32_t line, const char *what)
{
    uint32_t all = node(p, line, what);
    for (uint32_t i = 0; i < PIPES; i++) {
        precede(p, c->done[i], all);
        precede(p, c->knows[i], all);
    }
    return all;
}

static void look(Proof *p, uint32_t index, const Record *r)
{
    ProofCore *c = &p->core[index];
    const SimTouched *t = sim_touched(p->sim, &p->sim->core[index], r);
    if (t->n == 0)
        return;
    uint32_t start = advance(p, c, r->pipe, r->line, npu_pipe_name(r->pipe));
    precede(p, c->knows[NPU_PIPE_S], start);
    uint32_t end = node(p, r->line, "ends"), own = c->touches.len, shared = p->gm.len;
    precede(p, start, end);
    for (uint32_t i = 0; i < t->n && !p->too_long; i++) {
        const SimAccess *a = &t->access[i];
        if (a->run == 0 || a->space >= NPU_SPACE_COUNT || (uint64_t)a->outer * a->inner > 4096 ||
            (a->space == NPU_GM && !gm_changes(p->sim, a->at)))
            continue;
        Touch b = touch_of(p, index, r, a);
        b.start = start;
        b.end = end;
        if (a->space == NPU_GM && a->write && r->pipe == NPU_PIPE_S)
            b.told = so_far(p, c, r->line, "scalar store");
        Touches *all = a->space == NPU_GM ? &p->gm : &c->touches;
        judge_all(p, all, a->space == NPU_GM ? shared : own, &b);
        vec_push(&p->arena, all, b);
    }
    precede(p, start, end); /* what was inserted on the way */
    if (p->nodes.at[end].ancestors && !p->too_long)
        for (uint32_t w = 0; w <= start / 64; w++)
            p->nodes.at[end].ancestors[w] |= p->nodes.at[start].ancestors[w];
    uint32_t all = node(p, r->line, "all ended");
    precede(p, c->done[r->pipe], all);
    precede(p, end, all);
    c->done[r->pipe] = all;
}

static void push(Fifo *f, uint32_t n)
{
    if (f->len < PENDING)
        f->at[f->len++] = n;
}

static bool pop(Fifo *f, uint32_t *n)
{
    if (f->len == 0)
        return false;
    *n = f->at[0];
    memmove(f->at, f->at + 1, --f->len * sizeof *f->at);
    return true;
}

static uint32_t announce(Proof *p, ProofCore *c, uint32_t pipe, uint32_t line, const char *what)
{
    uint32_t n = node(p, line, what);
    precede(p, c->done[pipe], n);
    precede(p, c->knows[pipe], n);
    precede(p, c->knows[NPU_PIPE_S], n);
    return n;
}

static void flag(Proof *p, ProofCore *c, const Record *r)
{
    if (r->pipe >= PIPES || r->mode >= PIPES || r->n[0] >= EVENTS)
        return;
    Fifo *f = &c->flag[r->pipe][r->mode][r->n[0]];
    uint32_t set;
    if (r->op == NPU_SET_FLAG)
        push(f, announce(p, c, r->pipe, r->line,
                         r->flags & REC_FROM_QUEUE ? "queue sets" : "SetFlag"));
    else if (pop(f, &set))
        precede(p, set,
                advance(p, c, r->mode, r->line,
                        r->flags & REC_FROM_QUEUE ? "queue waits" : "WaitFlag"));
}

static void barrier(Proof *p, ProofCore *c, uint32_t which, uint32_t line)
{
    uint32_t all = node(p, line, "barrier");
    for (uint32_t i = 0; i < PIPES; i++)
        if (which == NPU_PIPE_ALL || i == which)
            precede(p, c->done[i], all);
    for (uint32_t i = 0; i < PIPES; i++)
        if (which == NPU_PIPE_ALL || i == which)
            precede(p, all, advance(p, c, i, line, "after the barrier"));
}

static bool partners(const Sim *sim, uint32_t a, uint32_t b, uint32_t mode)
{
    const SimCore *x = &sim->core[a].pub, *y = &sim->core[b].pub;
    return x->aic == y->aic && (mode == 0 || x->block == y->block);
}

static void tell(Proof *p, uint32_t core, uint32_t from, uint32_t line, const char *what)
{
    for (uint32_t i = 0; i < PIPES; i++)
        precede(p, from, advance(p, &p->core[core], i, line, what));
}

static void cross_set(Proof *p, uint32_t index, const Record *r)
{
    uint32_t mode = r->mode, id = r->n[0], cores = p->sim->cores, part;
    if (mode > 2 || id > 15)
        return;
    push(&p->core[index].sent[mode][id],
         announce(p, &p->core[index], r->pipe < PIPES ? r->pipe : 0, r->line, "CrossCoreSetFlag"));
    for (uint32_t i = 0; i < cores; i++)
        if (partners(p->sim, index, i, mode) && p->core[i].sent[mode][id].len == 0)
            return;
    uint32_t joined = node(p, r->line, "all have set");
    for (uint32_t i = 0; i < cores; i++)
        if (partners(p->sim, index, i, mode) && pop(&p->core[i].sent[mode][id], &part))
            precede(p, part, joined);
    const SimCore *me = &p->sim->core[index].pub;
    for (uint32_t i = 0; i < cores; i++) {
        const SimCore *c = &p->sim->core[i].pub;
        if (mode == 2 ? c->block == me->block && c->aic != me->aic
                      : partners(p->sim, index, i, mode))
            push(&p->core[i].ready[id], joined);
    }
}

static void cross_wait(Proof *p, uint32_t index, const Record *r)
{
    uint32_t joined;
    if (r->n[0] < 16 && pop(&p->core[index].ready[r->n[0]], &joined))
        tell(p, index, joined, r->line, "CrossCoreWaitFlag");
}

/* The first core through finds all the others standing at the same call. */
static void meet(Proof *p, uint32_t index, const Record *r)
{
    uint32_t which = r->mode & 1;
    barrier(p, &p->core[index], NPU_PIPE_ALL, r->line);
    if (++p->core[index].meetings[which] > p->met[which]) {
        p->met[which] = p->core[index].meetings[which];
        uint32_t all = p->meeting[which] = node(p, r->line, "SyncAll");
        for (uint32_t i = 0; i < p->sim->cores; i++)
            for (uint32_t k = 0; k < PIPES; k++)
                if (which == 1 || partners(p->sim, index, i, 0)) {
                    precede(p, p->core[i].done[k], all);
                    precede(p, p->core[i].knows[k], all);
                }
    }
    tell(p, index, p->meeting[which], r->line, "after SyncAll");
}

static void hash_record(ProofCore *c, const Record *r)
{
    Record plain = *r;
    plain.line = 0;
    plain.file = plain.api = 0;
    c->stream = c->stream * 0x100000001B3ull ^ hash64(&plain, sizeof plain);
}

static void observe(void *context, Sim *sim, uint32_t core, uint64_t index, const Record *r)
{
    Proof *p = context;
    (void)sim, (void)index;
    if (r->line < MUTATE_LINES && !(r->op & REC_TEXT))
        p->lines[r->line] = true;
    if (core >= MOST_CORES)
        p->too_long = true;
    else
        hash_record(&p->core[core], r);
    if (p->too_long)
        return;
    ProofCore *c = &p->core[core];
    switch (r->op) {
    case NPU_SET_FLAG:
    case NPU_WAIT_FLAG: flag(p, c, r); break;
    case NPU_BARRIER: barrier(p, c, r->mode, r->line); break;
    case NPU_CROSS_SET: cross_set(p, core, r); break;
    case NPU_CROSS_WAIT: cross_wait(p, core, r); break;
    case NPU_SYNC_ALL: meet(p, core, r); break;
    case NPU_SET_REGISTER:
        if (r->mode == REC_REG_ATOMIC)
            c->atomic = (r->scalar & 0xFF) != REC_ATOMIC_NONE;
        break;
    default:
        if (r->pipe < PIPES)
            look(p, core, r);
    }
}

Proof *proof_open(Sim *sim, bool strict, bool prove)
{
    Proof *p = heap_alloc(sizeof *p);
    p->sim = sim;
    p->strict = strict;
    p->too_long = !prove;
    node(p, 0, "launch");
    sim_observe(sim, observe, p);
    return p;
}

void proof_close(Proof *proof)
{
    if (!proof)
        return;
    arena_drop(&proof->arena);
    heap_free(proof);
}

/* The shortest path from the end of a to the start of b, told backwards. */
static void show_path(const Proof *p, const Touch *a, const Touch *b, Buf *out)
{
    uint32_t span = b->start - a->end + 1;
    uint32_t *hops = heap_alloc(2 * span * sizeof *hops), *via = hops + span;
    for (uint32_t i = 1; i < span; i++) {
        const Node *n = &p->nodes.at[a->end + i];
        hops[i] = UINT32_MAX;
        for (uint32_t k = 0; k < n->preds.len; k++) {
            uint32_t e = n->preds.at[k] - a->end;
            if (n->preds.at[k] >= a->end && hops[e] < UINT32_MAX && hops[e] + 1 < hops[i])
                hops[i] = hops[e] + 1, via[i] = e;
        }
    }
    buf_printf(out, "%s line %u", npu_pipe_name(b->pipe), b->line);
    for (uint32_t i = via[span - 1]; span > 1 && hops[span - 1] < UINT32_MAX && i; i = via[i])
        buf_printf(out, " <- %s line %u", p->nodes.at[a->end + i].what,
                   p->nodes.at[a->end + i].line);
    buf_printf(out, " <- %s line %u", npu_pipe_name(a->pipe), a->line);
    heap_free(hops);
}

bool proof_holds(const Proof *p, Buf *why)
{
    if (p->too_long)
        buf_puts(why, "too many records to show the order of all");
    else if (p->loose.len)
        buf_printf(why, "no path from %s line %u to %s line %u", npu_pipe_name(p->bad[0].pipe),
                   p->bad[0].line, npu_pipe_name(p->bad[1].pipe), p->bad[1].line);
    else
        buf_printf(why, "%llu conflicting pairs, %llu ordered by the compiler's insertion",
                   (unsigned long long)p->pairs, (unsigned long long)p->inserted);
    if (!p->too_long && !p->loose.len && p->any_shown) {
        buf_puts(why, "; the last: ");
        show_path(p, &p->shown[0], &p->shown[1], why);
    }
    return !p->too_long && !p->loose.len;
}

const PairList *proof_loose(const Proof *p) { return p->too_long ? NULL : &p->loose; }

uint64_t proof_stream(const Proof *p)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < MOST_CORES; i++)
        all = all * 0x9E3779B97F4A7C15ull + p->core[i].stream;
    return all;
}

const bool *proof_lines(const Proof *p) { return p->lines; }
