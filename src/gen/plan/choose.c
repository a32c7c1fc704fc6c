/* Which planner's program is used. In: a graph. Out: the plan that the cycle model finds fastest; else
 * the diagnostics of the first planner. */
#include "gen/plan/planners.h"

#include "craft/craft.h"
#include "gen/plan/boundary.h"
#include "gen/plan/chain_sizes.h"
#include "gen/plan/clock.h"
#include "gen/plan/cube/attention.h"
#include "gen/plan/cube/conv.h"
#include "gen/plan/cube/product.h"
#include "gen/plan/schedule/search.h"
#include "gen/plan/int64.h"
#include <math.h>
#include <string.h>

/* A chain takes less than the sum of its stages, which read from L2 what was stored before. */
#define CHAIN_SUM 1.25

typedef bool Planner(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                     const char *name, Plan *plan, Diag *diag);

static Planner *const planners[] = {plan_hyper_connections,
                                    plan_arg,
                                    plan_index,
                                    plan_resize,
                                    plan_sample,
                                    plan_elementwise,
                                    plan_pad,
                                    plan_move,
                                    plan_column,
                                    plan_int_reduce,
                                    plan_sort,
                                    plan_select,
                                    plan_attention,
                                    plan_product,
                                    plan_conv,
                                    plan_recurrent,
                                    plan_nest};

static bool has_nest(Arena *arena, const Graph *graph, Diag *diag)
{
    Diag first = diag_make(arena, diag->file, diag->source), second = first;
    if (nest_derive(arena, graph, &first) || nest_derive_kind(arena, graph, NEST_WINDOWED, &second))
        return true;
    *diag = first;
    return false;
}

const Graph *plan_nest_graph(Arena *arena, const Graph *graph, const ValueId **outer, Diag *diag)
{
    Diag quiet = diag_make(arena, diag->file, diag->source);
    *outer = NULL;
    if (has_nest(arena, graph, diag))
        return graph;
    const Graph *other = rewrite_composites(arena, graph, outer, &quiet);
    other = other ? graph_share(arena, other) : NULL;
    return other && has_nest(arena, other, &quiet) ? other : NULL;
}

/* Scalars of planned host functions: no function may have such a name beside them. */
static const char *const host_words[] = {"cores", "parts", "most", "piece", "cut"};

static bool name_ok(const char *name)
{
    for (size_t i = 0; i < sizeof host_words / sizeof *host_words; i++)
        if (!strcmp(name, host_words[i]))
            return false;
    for (const char *c = name; *c; c++)
        if (!(*c == '_' || (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9' && c != name)))
            return false;
    return *name != 0;
}

/* Sizes of 1 have no axis among primitives. */
static bool is_single(const Graph *g)
{
    for (uint32_t i = 0; i < g->values.len; i++) {
        int64_t count = 0;
        if (!shape_count(g->values.at[i].shape, &count) || count != 1)
            return false;
    }
    return true;
}

const char *plan_bytes(Arena *arena, double bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB"};
    int unit = 0;
    for (; bytes >= 999.5 && unit < 3; unit++)
        bytes /= 1000;
    return str_format(arena, unit ? "%.3g %s" : "%.0f %s", bytes, units[unit]);
}

bool plan_is_valid(Arena *arena, const Plan *plan)
{
    Diag said = diag_make(arena, "plan.craft", plan->craft);
    CraftFile *craft = craft_read(arena, "plan.craft", plan->craft, &said);
    return craft && diag_ok(&said) && craft_program(arena, craft, 0, &said);
}

/* A file may be called anything: LayerNormV4 and "layer norm v4" become op_layer_norm_v4. */
static const char *name_of(Arena *arena, const Graph *graph)
{
    enum { MOST = 48 };
    Buf out = {0};
    char before = '_';
    if (graph->name && name_ok(graph->name))
        return graph->name;
    for (const char *c = graph->name ? graph->name : ""; *c && out.len < MOST; c++) {
        bool upper = *c >= 'A' && *c <= 'Z', small = *c >= 'a' && *c <= 'z';
        bool word = upper || small || (*c >= '0' && *c <= '9');
        if ((upper && before >= 'a' && before <= 'z') || (!word && before != '_'))
            buf_char(&out, '_');
        if (word)
            buf_char(&out, upper ? (char)(*c - 'A' + 'a') : *c);
        before = word ? *c : '_';
    }
    while (out.len && out.at[out.len - 1] == '_')
        out.len--;
    const char *name = out.len ? str_format(arena, "op_%.*s", (int)out.len, out.at) : "op";
    buf_free(&out);
    return name;
}

/* Operands of a rewritten graph become those of the task. */
static bool name_operands(Arena *arena, const Graph *graph, const Graph *other,
                          const ValueId *outer, Plan *plan, Diag *diag)
{
    uint32_t *held = arena_array(arena, uint32_t, other->values.len + 1);
    sizes_held(arena, other, held);
    for (uint32_t i = 0; i < plan->operands.len; i++) {
        PlanOperand *o = &plan->operands.at[i];
        o->held = held[o->value];
        o->value = outer[o->value];
        if (o->value == VALUE_NONE)
            return false;
        if (graph_value(graph, o->value)->kind == VALUE_CONST) {
            diag_error(diag, "G002", (Span){0},
                       "the planner cannot plan this task yet: a tensor of more than %d runs of "
                       "numbers that "
                       "the file itself holds",
                       REWRITE_CONSTANT);
            return false;
        }
    }
    return true;
}

/* Loop nests of the task with operators that have none defined by others: losses, distances. */
static bool plan_nest_rewritten(Arena *arena, const Graph *graph, const NpuChip *chip,
                                int64_t tile_limit, const char *name, Plan *plan, Diag *diag)
{
    const ValueId *outer = NULL;
    const Graph *other = plan_nest_graph(arena, graph, &outer, diag);
    return other && outer && plan_nest(arena, other, chip, tile_limit, name, plan, diag) &&
           name_operands(arena, graph, other, outer, plan, diag);
}

/* Candidates for one kernel, or a few of one planner, in order of preference. */
typedef struct Task {
    Arena *arena;
    const Graph *graph;
    const NpuChip *chip;
    const char *name;
    bool wide; /* needs integers of more than 32 bits */
} Task;

typedef struct Candidate {
    Planner *by;
    Plan plan;
} Candidate;

enum { MOST_CANDIDATES = 4 };
typedef struct Candidates {
    uint32_t n;
    Candidate at[MOST_CANDIDATES];
} Candidates;

static bool try_planner(const Task *t, Planner *planner, int64_t tile_limit, Candidate *c,
                        Diag *said)
{
    c->by = planner;
    return planner(t->arena, t->graph, t->chip, tile_limit, t->name, &c->plan, said) &&
           plan_is_valid(t->arena, &c->plan) &&
           ((planner != plan_nest && planner != plan_nest_rewritten) ||
            clock_is_sound(&c->plan, t->chip));
}

/* Steps that follow each other are no nest of loops; looking for one would time them all. */
static bool has_steps(const Graph *g)
{
    for (uint32_t i = 0; i < g->nodes.len; i++)
        if (g->nodes.at[i].op == OP_RNN)
            return true;
    return false;
}

static bool may_plan(const Task *t, Planner *planner)
{
    if (planner == plan_nest && has_steps(t->graph))
        return false;
    if (t->graph->nodes.len == 0)
        return planner == plan_elementwise;
    return !t->wide || planner == plan_elementwise || planner == plan_int_reduce;
}

static bool reads_integers(const Graph *g)
{
    for (uint32_t i = 0; i < g->inputs.len; i++)
        if (dtype_is_int(graph_value(g, g->inputs.at[i])->dtype))
            return true;
    return false;
}

/* Near enough to what memory allows, or too large to be timed: nothing else is looked at. Integers may
 * decide what a program does, which is then as slow as single elements are. */
static bool is_near(const Task *t, const Plan *plan)
{
    double us;
    if (clock_budget(t->graph) == 1 && !reads_integers(t->graph))
        return true;
    return clock_plan(plan, t->chip, &us) &&
           (clock_budget(t->graph) == 1 || us < CLOCK_NEAR * clock_least(t->graph, t->chip));
}

static bool may_be_faster(const Task *t, const Candidate *first)
{
    return first->by != plan_nest && !is_near(t, &first->plan);
}

/* The primitives' plan, or that of the first planner that has one; and that of loop nests where this one is
 * not near the least. */
static void find_candidates(const Task *t, Candidates *c, Diag *first)
{
    c->n = !t->wide && try_planner(t, plan_prims, 0, &c->at[0], first);
    for (size_t i = 0; i < sizeof planners / sizeof *planners && c->n == 0; i++) {
        Diag own = diag_make(t->arena, first->file, first->source);
        c->n = may_plan(t, planners[i]) && try_planner(t, planners[i], 0, &c->at[0], &own);
    }
    Diag own = diag_make(t->arena, first->file, first->source);
    if (may_plan(t, plan_nest) && (c->n == 0 || may_be_faster(t, &c->at[0])))
        c->n += try_planner(t, plan_nest, 0, &c->at[c->n], &own) ||
                (c->n && try_planner(t, plan_nest_rewritten, 0, &c->at[c->n], &own));
}

/* The fastest. One that cannot be timed, since values decide what it does, gives way to one that is not far
 * from the least; another that cannot be timed is taken. */
static const Candidate *fastest(const Task *t, Candidates *c)
{
    const Candidate *best = &c->at[0];
    ClockCost first;
    bool timed = c->n > 1 && clock_cost(&best->plan, t->chip, &first);
    bool compare = c->n > 1 && (timed || first.by_values);
    double us = timed ? first.us : CLOCK_UNTIMED * clock_least(t->graph, t->chip), other;
    for (uint32_t i = 1; i < c->n && compare; i++)
        if (clock_plan(&c->at[i].plan, t->chip, &other) && other < us * CLOCK_GAIN) {
            best = &c->at[i];
            us = other;
        }
    return best;
}

bool plan_alone(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                Plan *plan, Diag *diag)
{
    Diag first = diag_make(arena, diag->file, diag->source);
    Diag quiet = diag_make(arena, diag->file, diag->source);
    Candidates found = {0};
    graph = graph_share(arena, graph);
    Task t = {arena, graph, chip, name_of(arena, graph), int64_node(arena, graph) != NULL};
    if (is_single(graph) && plan_elementwise(arena, graph, chip, tile_limit, t.name, plan, &quiet))
        return true;
    if (t.wide)
        int64_refuse(arena, graph, &first);
    find_candidates(&t, &found, &first);
    if (found.n) {
        const Candidate *best = fastest(&t, &found);
        *plan = best->plan;
        return !tile_limit || best->by(arena, graph, chip, tile_limit, t.name, plan, &quiet);
    }
    for (uint32_t i = 0; i < first.items.len; i++)
        diag_error(diag, first.items.at[i].code, first.items.at[i].at, "%s",
                   first.items.at[i].text);
    *plan = (Plan){0};
    return false;
}

/* A plan of one kernel that is far from what memory allows is compared with several kernels. Both are timed
 * without a limit on tiles, so that the same one is chosen under any. */
static void prefer_chain(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                         Plan *plan, Diag *diag)
{
    double us, other;
    Plan chain = {0}, unlimited = *plan;
    Diag quiet = diag_make(arena, diag->file, diag->source);
    const char *name = name_of(arena, graph);
    if (graph->nodes.len < 2 || clock_budget(graph) == 1 ||
        (tile_limit && !plan_alone(arena, graph, chip, 0, &unlimited, &quiet)) ||
        !clock_plan(&unlimited, chip, &us) || us < CLOCK_NEAR * clock_least(graph, chip) ||
        !plan_chain(arena, graph, chip, 0, name, us * CHAIN_SUM, &chain, &quiet) ||
        !plan_is_valid(arena, &chain) || !clock_plan(&chain, chip, &other) ||
        other >= us * CLOCK_GAIN)
        return;
    if (!tile_limit ||
        (plan_chain(arena, graph, chip, tile_limit, name, us * CHAIN_SUM, &chain, &quiet) &&
         plan_is_valid(arena, &chain)))
        *plan = chain;
}

/* The graph with operators that have no schedule rewritten, its operands named as the task's. */
static bool plan_rewritten(Arena *arena, const Graph *graph, const NpuChip *chip,
                           int64_t tile_limit, Plan *plan, Diag *diag)
{
    const ValueId *outer = NULL;
    const Graph *other = rewrite_graph(arena, graph, &outer, diag);
    if (!other)
        return plan_chain(arena, graph, chip, tile_limit, name_of(arena, graph), INFINITY, plan,
                          diag);
    Diag quiet = diag_make(arena, diag->file, diag->source);
    if (plan_alone(arena, other, chip, tile_limit, plan, &quiet) && plan_is_valid(arena, plan))
        prefer_chain(arena, other, chip, tile_limit, plan, diag);
    else if (!plan_chain(arena, other, chip, tile_limit, name_of(arena, graph), INFINITY, plan,
                         diag))
        return false;
    return name_operands(arena, graph, other, outer, plan, diag);
}

/* Nothing is launched for tensors without elements. */
static bool is_empty(const Graph *graph)
{
    int64_t count = 1;
    for (uint32_t i = 0; i < graph->inputs.len; i++)
        if (shape_count(graph_value(graph, graph->inputs.at[i])->shape, &count) && count == 0)
            return true;
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        if (shape_count(graph_value(graph, graph->outputs.at[i])->shape, &count) && count == 0)
            return true;
    return false;
}

/* One kernel where that is possible and fast, else several. */
static bool plan_first(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                       Plan *plan, Diag *diag)
{
    Diag first = diag_make(arena, diag->file, diag->source);
    Diag second = diag_make(arena, diag->file, diag->source);
    bool taken = !rewrite_has_constant(graph) &&
                 plan_alone(arena, graph, chip, tile_limit, plan, &first);
    Plan alone = *plan;
    if (taken && plan_is_valid(arena, plan)) {
        prefer_chain(arena, graph, chip, tile_limit, plan, diag);
        return true;
    }
    if (plan_rewritten(arena, graph, chip, tile_limit, plan, &second) && plan_is_valid(arena, plan))
        return true;
    *plan = alone;
    const Diag *said = second.items.len ? &second : &first;
    for (uint32_t i = 0; i < said->items.len && !taken; i++)
        vec_push(diag->arena, &diag->items, said->items.at[i]);
    return taken;
}

/* A file may be called like something in its own program: t.py, tile.py, for.py. */
static bool plan_inside(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                        Plan *plan, Diag *diag)
{
    Diag before = *diag;
    if (graph->nodes.len > PLAN_MOST_NODES) {
        diag_error(diag, "G002", graph->nodes.at[PLAN_MOST_NODES].at,
                   "the planner cannot plan this task: it has %u operators, and the planner takes "
                   "up to %d",
                   graph->nodes.len, PLAN_MOST_NODES);
        diag_hint(diag, "make a kernel for each part of it");
        return false;
    }
    graph = int64_bounds(arena, graph);
    if (is_empty(graph)) {
        diag_error(diag, "G002", (Span){0},
                   "the planner cannot plan this task: a tensor has no elements, nothing would be "
                   "launched");
        return false;
    }
    bool taken = plan_first(arena, graph, chip, tile_limit, plan, diag);
    if (taken && plan_is_valid(arena, plan))
        return true;
    Graph *renamed = arena_new(arena, Graph);
    Diag quiet = diag_make(arena, diag->file, diag->source);
    Plan other = {0};
    *renamed = *graph;
    renamed->name = str_format(arena, "op_%s", name_of(arena, graph));
    if (!plan_first(arena, renamed, chip, tile_limit, &other, &quiet) ||
        !plan_is_valid(arena, &other))
        return taken;
    *plan = other;
    *diag = before;
    return true;
}

bool plan_make(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               Plan *plan, Diag *diag)
{
    return plan_inside(arena, graph, chip, tile_limit, plan, diag) &&
           (!plan_is_valid(arena, plan) || plan_boundary(arena, graph, plan, diag));
}

/* The first strategy that has a program, of those whose programs need no timing to be made; no constants of the
 * cycle model are in it. */
static bool first_strategy(const Task *t, int64_t tile_limit, Plan *plan, Diag *diag)
{
    Candidate c = {0};
    Diag quiet = diag_make(t->arena, diag->file, diag->source);
    bool found = !t->wide && try_planner(t, plan_prims, tile_limit, &c, diag);
    for (size_t i = 0; i < sizeof planners / sizeof *planners && !found; i++) {
        Planner *plain = planners[i] == plan_elementwise ? plan_elementwise_plain : planners[i];
        found = planners[i] != plan_nest && may_plan(t, planners[i]) &&
                try_planner(t, plain, tile_limit, &c, &quiet);
    }
    *plan = c.plan;
    return found;
}

bool plan_first_strategy(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                         Plan *plan, Diag *diag)
{
    Diag quiet = diag_make(arena, diag->file, diag->source);
    const ValueId *outer = NULL;
    graph = graph_share(arena, int64_bounds(arena, graph));
    const char *name = name_of(arena, graph);
    Task t = {arena, graph, chip, name, int64_node(arena, graph) != NULL};
    if (first_strategy(&t, tile_limit, plan, diag))
        return plan_boundary(arena, graph, plan, diag);
    t.graph = rewrite_graph(arena, graph, &outer, &quiet);
    if (!t.graph)
        return false;
    t.graph = graph_share(arena, t.graph);
    t.wide = int64_node(arena, t.graph) != NULL;
    return first_strategy(&t, tile_limit, plan, &quiet) &&
           name_operands(arena, graph, t.graph, outer, plan, diag) &&
           plan_boundary(arena, graph, plan, diag);
}

bool plan_by_schedule(Arena *arena, const Graph *graph, const NpuChip *chip, const char *file,
                      Str text, Plan *plan, Diag *diag)
{
    PlanBuilt built;
    const ValueId *outer = NULL;
    graph = graph_share(arena, int64_bounds(arena, graph));
    const Graph *other = plan_nest_graph(arena, graph, &outer, diag);
    if (!other ||
        !plan_nest_text(arena, other, chip, file, text, name_of(arena, graph), &built, diag))
        return false;
    *plan = built.plan;
    if (outer && !name_operands(arena, graph, other, outer, plan, diag))
        return false;
    const char *fault = clock_fault(arena, plan, chip);
    if (!fault)
        return plan_boundary(arena, graph, plan, diag);
    diag_error(diag, "G008", (Span){0}, "the program of this schedule is refused: %s", fault);
    return false;
}
