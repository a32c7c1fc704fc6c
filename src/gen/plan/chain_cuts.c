/* The best cuts of a chain. In: nodes in an order. Out: stages.
 *
 *     node 0    1    2    3    4          a stage is a run of nodes, [i, j); the time of a chain is the sum of
 *          |---------|                    its stages' times, and the least one up to node j follows from
 *                    |----|---------|     those up to the nodes before it
 *
 * Planning a stage is what costs, so that times are filled in as they are asked for: one that is not known is
 * estimated, from below. The stages of the best cut are planned and timed, and the best cut is looked for again,
 * until all of its stages are known, it is no faster than what there is, or as many operators were planned as a
 * task of this size may take. Single operators are always planned: where nothing else is faster, they are the
 * chain. */
#include "gen/plan/chain_cuts.h"

#include "gen/plan/clock.h"

#include <math.h>
#include <string.h>

enum {
    PLANNED_EACH = 5,    /* operators for each program that may be timed for a task */
    RECORDS_EACH = 20000 /* records of a stage's program that count as one more operator */
};

typedef enum SegmentState { SEGMENT_UNKNOWN, SEGMENT_KNOWN, SEGMENT_NONE } SegmentState;

/* Nodes from..from+length-1. */
typedef struct Segment {
    SegmentState state;
    double us; /* without the launch, estimated while the state is unknown; INFINITY: no stage */
    ChainStage stage;
} Segment;

typedef struct Cuts {
    Chain *c;
    Arena *arena;
    uint32_t n;
    Segment *segments; /* per node and length - 1 */
    bool *free;        /* per node: no kernel is needed for it */
    uint32_t *
        last_read; /* per value: the last node that reads it; 0: none does, results are read by `n` */
    double *extra;   /* per node: us that it takes alone beyond what its operands take */
    double *least;   /* per node: us of the best cut of all before it; n + 1 of them */
    uint32_t *start; /* ... and where its last stage starts; the node itself: it is free */
    int64_t budget;  /* operators that may still be planned */
} Cuts;

static Segment *segment_at(Cuts *s, uint32_t from, uint32_t to)
{
    return &s->segments[(size_t)from * CHAIN_STAGE_NODES + (to - from - 1)];
}

/* ---- estimates ---- */

static double value_bytes(const Graph *g, ValueId id)
{
    const Value *v = graph_value(g, id);
    int64_t bytes = 0;
    return shape_bytes(v->shape, v->dtype, &bytes) ? (double)bytes : 0;
}

static void find_last_reads(Cuts *s)
{
    const Graph *g = s->c->g;
    for (uint32_t n = 0; n < s->n; n++)
        for (uint32_t k = 0; k < g->nodes.at[n].n_in; k++)
            if (g->nodes.at[n].in[k] != VALUE_NONE)
                s->last_read[g->nodes.at[n].in[k]] = n;
    for (uint32_t i = 0; i < g->outputs.len; i++)
        s->last_read[g->outputs.at[i]] = s->n;
}

/* Marks the nodes that need no kernel of their own, in order, as if no stage computed any of
 * them. */
static void find_free(Cuts *s)
{
    Chain all = *s->c;
    all.root = arena_array(s->arena, ValueId, all.g->values.len + 1);
    memcpy(all.root, s->c->root, sizeof *all.root * all.g->values.len);
    for (uint32_t i = 0; i < s->n; i++) {
        const Node *node = &all.g->nodes.at[i];
        s->free[i] = chain_is_free(&all, node);
        if (s->free[i])
            chain_take_root(&all, node);
    }
}

/* What the nodes store, when they are a stage. */
static double written_bytes(const Cuts *s, uint32_t from, uint32_t to)
{
    const Graph *g = s->c->g;
    double bytes = 0;
    for (uint32_t n = from; n < to; n++)
        for (uint32_t k = 0; k < g->nodes.at[n].n_out; k++)
            if (s->last_read[g->nodes.at[n].out + k] >= to)
                bytes += value_bytes(g, g->nodes.at[n].out + k);
    return bytes;
}

static double constant(enum NpuConstant which) { return npu_constants[which].value; }

/* What all stages share: they are one launch on all cores. */
static double launch_us(const NpuChip *chip)
{
    return constant(NPU_C_LAUNCH_US) + chip->aiv * constant(NPU_C_CORE_US) +
           constant(NPU_C_PROLOGUE) / chip->mhz;
}

/* Between two stages all cores wait for each other. */
static double wait_us(const NpuChip *chip) { return constant(NPU_C_SYNC_ALL) / chip->mhz; }

/* Of the least time of a graph what is no launch. */
static double copies_us(const NpuChip *chip, const Graph *graph)
{
    NpuWork nothing = {0};
    return clock_least(graph, chip) - npu_attainable(chip, &nothing).us;
}

/* Every operand once at the rate that the chip reaches; not less than half of what its operators take beyond that
 * on their own. */
static void estimate_from(Cuts *s, uint32_t from)
{
    const Graph *g = s->c->g;
    uint32_t *seen = arena_array(s->arena, uint32_t, g->values.len + 1);
    NpuWork work = {0}, nothing = {0};
    double extra = 0, start = npu_attainable(s->c->chip, &nothing).us;
    for (uint32_t to = from + 1; to <= s->n && to - from <= CHAIN_STAGE_NODES; to++) {
        const Node *node = &g->nodes.at[to - 1];
        Segment *segment = segment_at(s, from, to);
        for (uint32_t k = 0; k < node->n_in; k++)
            if (node->in[k] != VALUE_NONE && !seen[node->in[k]]++)
                work.read += value_bytes(g, node->in[k]);
        for (uint32_t k = 0; k < node->n_out; k++)
            seen[node->out + k] = 1;
        work.written = written_bytes(s, from, to);
        extra += s->extra[to - 1];
        if (segment->state == SEGMENT_UNKNOWN)
            segment->us = wait_us(s->c->chip) +
                          fmax(npu_attainable(s->c->chip, &work).us - start, extra / 2);
        if (!chain_may_be_stage(s->c, from, to)) {
            segment->state = SEGMENT_NONE;
            segment->us = INFINITY;
        }
    }
}

/* ---- times ---- */

/* Predicted time without the launch, whatever the limit on tiles is, so that the same stages are found under any. What values
 * decide cannot be timed. */
static double stage_time(Cuts *s, const ChainStage *stage)
{
    ClockCost cost;
    if (!clock_cost(&stage->plan, s->c->chip, &cost))
        return cost.by_values ? CLOCK_UNTIMED * clock_least(stage->graph, s->c->chip) : INFINITY;
    s->budget -= (int64_t)(cost.records / RECORDS_EACH);
    return cost.us - cost.launch_us + wait_us(s->c->chip);
}

/* That of a stage which computes the same is the same, and costs nothing more. */
static void time_segment(Cuts *s, Segment *segment)
{
    ChainTry *tried = &s->c->memo->at.at[segment->stage.known];
    if (tried->us <= 0) {
        tried->us = stage_time(s, &segment->stage);
        s->budget -= segment->stage.to - segment->stage.from;
    }
    segment->us = tried->us;
    segment->state = isinf(tried->us) ? SEGMENT_NONE : SEGMENT_KNOWN;
}

static void plan_segment(Cuts *s, uint32_t from, uint32_t to)
{
    Segment *segment = segment_at(s, from, to);
    Diag said = diag_make(s->arena, s->c->diag->file, s->c->diag->source);
    if (segment->state != SEGMENT_UNKNOWN)
        return;
    if (chain_plan_stage(s->c, from, to, &segment->stage, &said)) {
        time_segment(s, segment);
        if (to - from == 1)
            s->extra[from] = fmax(0, segment->us - wait_us(s->c->chip) -
                                         copies_us(s->c->chip, segment->stage.graph));
        return;
    }
    segment->us = INFINITY;
    segment->state = SEGMENT_NONE;
    s->budget--; /* refusing takes no program */
    for (uint32_t i = 0; to - from == 1 && i < said.items.len; i++)
        vec_push(s->c->diag->arena, &s->c->diag->items, said.items.at[i]);
}

/* What was planned already, for other nodes that compute the same: layers that repeat are cut alike, however few
 * of them could be planned. */
static void find_known(Cuts *s)
{
    for (uint32_t from = 0; from < s->n; from++)
        for (uint32_t to = from + 1; to <= s->n && to - from <= CHAIN_STAGE_NODES; to++) {
            Segment *segment = segment_at(s, from, to);
            if (segment->state == SEGMENT_UNKNOWN && !s->free[from] &&
                chain_known_stage(s->c, from, to, &segment->stage))
                time_segment(s, segment);
        }
}

/* ---- cuts ---- */

/* The best cut by what is known and estimated. False: there is none. */
static bool find_cut(Cuts *s)
{
    s->least[0] = launch_us(s->c->chip);
    for (uint32_t to = 1; to <= s->n; to++) {
        s->least[to] = s->free[to - 1] ? s->least[to - 1] : INFINITY;
        s->start[to] = to;
        for (uint32_t from = to; from-- > 0 && to - from <= CHAIN_STAGE_NODES;) {
            const Segment *segment = segment_at(s, from, to);
            bool usable = segment->state == SEGMENT_KNOWN || s->budget > 0 || to - from == 1;
            double us = s->least[from] + segment->us;
            if (!usable || segment->state == SEGMENT_NONE || s->free[from] || us >= s->least[to])
                continue;
            s->least[to] = us;
            s->start[to] = from;
        }
    }
    return !isinf(s->least[s->n]);
}

static bool estimate(Cuts *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        estimate_from(s, i);
    return find_cut(s);
}

/* Plans what the best cut does not know yet. False: it knows all of it. */
static bool plan_cut(Cuts *s)
{
    bool any = false;
    for (uint32_t to = s->n; to > 0;) {
        uint32_t from = s->start[to];
        bool open = from < to && segment_at(s, from, to)->state == SEGMENT_UNKNOWN;
        if (open)
            plan_segment(s, from, to);
        any = any || open;
        to = from < to ? from : to - 1;
    }
    return any;
}

/* The stages of the best cut, first to last; what is free stands between them. */
static void take_cut(Cuts *s)
{
    bool *ends = arena_array(s->arena, bool, s->n + 1);
    for (uint32_t to = s->n; to > 0; to = s->start[to] < to ? s->start[to] : to - 1)
        ends[to] = true;
    for (uint32_t from = 0, to = 1; to <= s->n; to++) {
        if (!ends[to])
            continue;
        if (s->start[to] == to)
            chain_take_root(s->c, &s->c->g->nodes.at[to - 1]);
        else
            vec_push(s->c->arena, &s->c->stages, segment_at(s, from, to)->stage);
        from = to;
    }
}

bool chain_cut(Chain *c, double than, double *us)
{
    uint32_t n = c->g->nodes.len, values = c->g->values.len + 1;
    Arena *arena = c->arena;
    Cuts s = {.c = c,
              .arena = arena,
              .n = n,
              .segments = arena_array(arena, Segment, (size_t)n * CHAIN_STAGE_NODES),
              .free = arena_array(arena, bool, n),
              .last_read = arena_array(arena, uint32_t, values),
              .extra = arena_array(arena, double, n),
              .least = arena_array(arena, double, n + 1),
              .start = arena_array(arena, uint32_t, n + 1),
              .budget = PLANNED_EACH * clock_budget(c->g)};
    find_free(&s);
    find_last_reads(&s);
    bool found = estimate(&s) && s.least[n] < than;
    for (uint32_t i = 0; i < n && found; i++)
        if (!s.free[i] && !op_is_elementwise(c->g->nodes.at[i].op))
            plan_segment(&s, i, i + 1);
    if (found && c->small && c->small < n && n - c->small <= CHAIN_STAGE_NODES &&
        c->small <= CHAIN_STAGE_NODES) {
        plan_segment(&s, 0, c->small);
        plan_segment(&s, c->small, n);
    }
    found = found && estimate(&s);
    while (found && s.least[n] < than && plan_cut(&s)) {
        if (s.budget <= 0)
            find_known(&s);
        found = find_cut(&s);
    }
    *us = s.least[n];
    if (found && *us < than)
        take_cut(&s);
    return found && *us < than && c->stages.len > 0;
}
