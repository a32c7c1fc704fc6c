/* Which planner takes the task. In: a graph. Out: the plan of the first that takes it; else what
 * the first said. */
#include "gen/plan/others.h"

#include "craft/craft.h"
#include "gen/plan/boundary.h"
#include "gen/plan/build/build.h"
#include "gen/plan/cube/product.h"
#include "gen/plan/fit.h"
#include "gen/plan/wide.h"

typedef bool Planner(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                     const char *name, Plan *plan, Diag *diag);

static Planner *const planners[] = {
    plan_streams, plan_arg,   plan_index, plan_resize, plan_sample,  plan_each, plan_move,
    plan_column,  plan_tally, plan_order, plan_select, plan_product, plan_nest};

static bool name_ok(const char *name)
{
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

bool plan_alone(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                Plan *plan, Diag *diag)
{
    const char *name = name_of(arena, graph);
    Diag first = diag_make(arena, diag->file, diag->source);
    Diag quiet = diag_make(arena, diag->file, diag->source);
    graph = graph_share(arena, graph);
    if (is_single(graph) && plan_each(arena, graph, chip, tile_limit, name, plan, &quiet))
        return true;
    bool wide = wide_node(arena, graph) != NULL;
    bool taken = !wide && plan_prims(arena, graph, chip, tile_limit, name, plan, &first);
    Plan prims = *plan;
    if (wide)
        wide_refuse(arena, graph, &first);
    if (taken && plan_is_valid(arena, plan))
        return true;
    for (size_t i = 0; i < sizeof planners / sizeof *planners; i++) {
        Diag own = diag_make(arena, diag->file, diag->source);
        if (graph->nodes.len == 0 && planners[i] != plan_each)
            continue;
        if (wide && planners[i] != plan_each && planners[i] != plan_tally)
            continue;
        if (planners[i](arena, graph, chip, tile_limit, name, plan, &own) &&
            plan_is_valid(arena, plan))
            return true;
    }
    *plan = prims;
    if (taken)
        return true;
    for (uint32_t i = 0; i < first.items.len; i++)
        diag_error(diag, first.items.at[i].code, first.items.at[i].at, "%s",
                   first.items.at[i].text);
    *plan = (Plan){0};
    return false;
}

/* Stages that fit alone may not where their sizes are numbers: then with smaller tiles. */
static bool chain_that_fits(Arena *arena, const Graph *graph, const NpuChip *chip,
                            int64_t tile_limit, const char *name, Plan *plan, Diag *diag)
{
    if (!plan_chain(arena, graph, chip, tile_limit, name, plan, diag))
        return false;
    Plan first = *plan;
    for (int64_t limit = 8192; limit >= 512 && !fit_lowered(plan->craft, chip); limit /= 2) {
        Diag quiet = diag_make(arena, diag->file, diag->source);
        if (!(tile_limit && tile_limit <= limit) &&
            !plan_chain(arena, graph, chip, limit, name, plan, &quiet))
            *plan = first;
    }
    return true;
}

/* The graph with what is not planned said otherwise, its operands named as the task's. */
static bool plan_rewritten(Arena *arena, const Graph *graph, const NpuChip *chip,
                           int64_t tile_limit, Plan *plan, Diag *diag)
{
    const ValueId *outer = NULL;
    const Graph *other = rewrite_graph(arena, graph, &outer, diag);
    if (!other)
        return chain_that_fits(arena, graph, chip, tile_limit, name_of(arena, graph), plan, diag);
    Diag quiet = diag_make(arena, diag->file, diag->source);
    if (!(plan_alone(arena, other, chip, tile_limit, plan, &quiet) && plan_is_valid(arena, plan)) &&
        !chain_that_fits(arena, other, chip, tile_limit, name_of(arena, graph), plan, diag))
        return false;
    for (uint32_t i = 0; i < plan->operands.len; i++) {
        PlanOperand *o = &plan->operands.at[i];
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

/* One kernel where that is possible, else several. */
static bool plan_first(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                       Plan *plan, Diag *diag)
{
    Diag first = diag_make(arena, diag->file, diag->source);
    Diag second = diag_make(arena, diag->file, diag->source);
    bool taken = !rewrite_has_constant(graph) &&
                 plan_alone(arena, graph, chip, tile_limit, plan, &first);
    Plan alone = *plan;
    if (taken && plan_is_valid(arena, plan))
        return true;
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
    graph = wide_bounds(arena, graph);
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
