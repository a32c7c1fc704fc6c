/* Cutting a task into stages. In: a graph that no planner takes whole. Out: runs of nodes, each
 * planned as a task of its own; from each place the longest run that a planner takes, and two shorter ones
 * instead where the cycle model finds them faster. */
#include "gen/plan/chain.h"

#include "gen/plan/clock.h"
#include "gen/plan/planners.h"
#include "gen/plan/prim.h"

enum {
    MOST_NODES = 24,
    MOST_PLANNED = 72 /* operators of stages that are planned once more in two parts */
};
#define MOST_TIMED 4e9 /* bytes of operands: then the other stages of a network are not timed */
#define SLOW_STAGE 1.5 /* times what its operands take: then it is tried in two parts */

/* Whether a node outside from..to-1 reads the value. */
static bool read_outside(const Graph *g, ValueId id, uint32_t from, uint32_t to)
{
    for (uint32_t n = 0; n < g->nodes.len; n++)
        for (uint32_t k = 0; k < g->nodes.at[n].n_in && (n < from || n >= to); k++)
            if (g->nodes.at[n].in[k] == id)
                return true;
    return false;
}

static bool is_wanted(const Graph *g, ValueId id, uint32_t from, uint32_t to)
{
    return graph_is_output(g, id) || read_outside(g, id, from, to);
}

/* ---- the graph of a run of nodes ---- */

typedef struct Cut {
    Graph *g;
    const Graph *of;
    ValueId *inner; /* per value of the task: the one of the cut; VALUE_NONE: none */
    VEC(ValueId) outer;
} Cut;

static ValueId add_value(Cut *cut, ValueId id, ValueKind kind, uint32_t node)
{
    Value v = *graph_value(cut->of, id);
    v.kind = kind;
    v.node = node;
    cut->inner[id] = graph_add_value(cut->g, v);
    vec_push(cut->g->arena, &cut->outer, id);
    return cut->inner[id];
}

static ValueId operand(Cut *cut, ValueId id)
{
    if (id == VALUE_NONE || cut->inner[id] != VALUE_NONE)
        return id == VALUE_NONE ? id : cut->inner[id];
    bool constant = graph_value(cut->of, id)->kind == VALUE_CONST;
    add_value(cut, id, constant ? VALUE_CONST : VALUE_INPUT, NODE_NONE);
    if (!constant)
        vec_push(cut->g->arena, &cut->g->inputs, cut->inner[id]);
    return cut->inner[id];
}

static void add_node(Cut *cut, const Node *node)
{
    Node copy = *node;
    copy.in = arena_array(cut->g->arena, ValueId, node->n_in + 1);
    for (uint32_t i = 0; i < node->n_in; i++)
        copy.in[i] = operand(cut, node->in[i]);
    for (uint32_t i = 0; i < node->n_out; i++) {
        ValueId id = add_value(cut, node->out + i, VALUE_NODE, cut->g->nodes.len);
        copy.out = i ? copy.out : id;
    }
    vec_push(cut->g->arena, &cut->g->nodes, copy);
}

/* Whether a node behind from..to-1 that rounds or compares rests on one of them. */
static bool steps_follow(Arena *arena, const Graph *g, uint32_t from, uint32_t to)
{
    bool *reached = arena_array(arena, bool, g->values.len + 1);
    for (uint32_t n = from; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        bool rests = n < to;
        for (uint32_t k = 0; k < node->n_in && !rests; k++)
            rests = node->in[k] != VALUE_NONE && reached[node->in[k]];
        if (n >= to && rests && prim_node_steps(g, node))
            return true;
        for (uint32_t k = 0; k < node->n_out; k++)
            reached[node->out + k] = rests;
    }
    return false;
}

static Cut cut_graph(Chain *c, uint32_t from, uint32_t to)
{
    Cut cut = {.of = c->g};
    cut.g = graph_new(c->arena, str_format(c->arena, "%s_s%u", c->name, c->planned));
    cut.inner = arena_array(c->arena, ValueId, c->g->values.len + 1);
    for (uint32_t i = 0; i < c->g->values.len; i++)
        cut.inner[i] = VALUE_NONE;
    if (c->rounds)
        vec_push(c->arena, &cut.g->notes, plan_rounds);
    if (steps_follow(c->arena, c->g, from, to))
        vec_push(c->arena, &cut.g->notes, plan_steps);
    for (uint32_t i = from; i < to; i++)
        add_node(&cut, &c->g->nodes.at[i]);
    for (uint32_t i = from; i < to; i++)
        for (uint32_t k = 0; k < c->g->nodes.at[i].n_out; k++) {
            ValueId id = c->g->nodes.at[i].out + k;
            if (is_wanted(c->g, id, from, to))
                vec_push(c->arena, &cut.g->outputs, cut.inner[id]);
        }
    return cut;
}

/* ---- stages ---- */

static ChainTry plan_graph(Chain *c, const Graph *g, Diag *said)
{
    ChainTry tried = {.name = g->name};
    *said = diag_make(c->arena, c->diag->file, c->diag->source);
    if (!plan_alone(c->arena, g, c->chip, c->tile_limit, &tried.plan, said) ||
        !plan_is_valid(c->arena, &tried.plan))
        tried.plan = (Plan){0};
    return tried;
}

/* The stage's plan, or that of one which computes the same. A single node that no planner takes is planned
 * again, for what is said of its own place in the file. */
static bool plan_stage(Chain *c, uint32_t from, uint32_t to, ChainStage *stage, Diag *said)
{
    Cut cut = cut_graph(c, from, to);
    ChainMemo *memo = c->memo;
    Str key = chain_key(c->arena, cut.g);
    *stage = (ChainStage){.graph = cut.g, .outer = cut.outer.at, .from = from, .to = to};
    bool known = map_get(&memo->tries, key, &stage->known);
    if (!known || (!memo->at.at[stage->known].plan.strategy && to == from + 1)) {
        if (memo->timed > MOST_TIMED)
            vec_push(c->arena, &cut.g->notes, plan_untimed);
        ChainTry tried = plan_graph(c, cut.g, said);
        memo->timed += tried.plan.strategy ? clock_bytes(cut.g) * clock_budget(cut.g) : 0;
        stage->known = memo->at.len;
        map_put(c->arena, &memo->tries, key, stage->known);
        vec_push(c->arena, &memo->at, tried);
    }
    stage->plan = memo->at.at[stage->known].plan;
    stage->planned_as = memo->at.at[stage->known].name;
    return stage->plan.strategy != NULL;
}

static bool try_stage(Chain *c, uint32_t from, uint32_t to, Diag *said)
{
    ChainStage stage;
    bool ok = plan_stage(c, from, to, &stage, said);
    if (ok)
        vec_push(c->arena, &c->stages, stage);
    c->planned += ok;
    return ok;
}

/* Predicted time, whatever the limit on tiles is, so that the same stages are found under any. */
static bool stage_time(const Chain *c, const ChainStage *stage, double *us)
{
    Plan plan = stage->plan;
    Diag quiet = diag_make(c->arena, c->diag->file, c->diag->source);
    return (!c->tile_limit || plan_alone(c->arena, stage->graph, c->chip, 0, &plan, &quiet)) &&
           clock_plan(&plan, c->chip, us);
}

static void replace_stage(Chain *c, uint32_t at, const ChainStage parts[2])
{
    vec_push(c->arena, &c->stages, parts[1]);
    for (uint32_t i = c->stages.len - 1; i > at + 1; i--)
        c->stages.at[i] = c->stages.at[i - 1];
    c->stages.at[at] = parts[0];
    c->stages.at[at + 1] = parts[1];
}

/* The stage as the two parts that take the least time together, if that is less. */
static bool part_stage(Chain *c, uint32_t at, uint32_t *budget)
{
    ChainStage whole = c->stages.at[at], best[2], parts[2];
    double least, first, second;
    bool found = false;
    if (whole.to - whole.from < 2 || !stage_time(c, &whole, &least) ||
        least < SLOW_STAGE * clock_least(whole.graph, c->chip))
        return false;
    uint32_t operators = whole.to - whole.from;
    for (uint32_t cut = whole.from + 1; cut < whole.to && *budget >= operators; cut++) {
        Diag said;
        *budget -= operators;
        if (!plan_stage(c, whole.from, cut, &parts[0], &said) ||
            !stage_time(c, &parts[0], &first) || first >= least * CLOCK_GAIN)
            continue;
        c->planned++;
        if (!plan_stage(c, cut, whole.to, &parts[1], &said) || !stage_time(c, &parts[1], &second) ||
            first + second >= least * CLOCK_GAIN)
            continue;
        c->planned++;
        least = first + second;
        best[0] = parts[0];
        best[1] = parts[1];
        found = true;
    }
    if (found)
        replace_stage(c, at, best);
    return found;
}

/* Of tasks that are small enough to be timed often. */
static void part_stages(Chain *c)
{
    bool few = clock_budget(c->g) == CLOCK_MOST && c->memo->timed <= MOST_TIMED;
    uint32_t budget = few ? MOST_PLANNED : 0;
    for (uint32_t i = 0; i < c->stages.len && budget;)
        if (c->stages.len >= CHAIN_MAX_STAGES || !part_stage(c, i, &budget))
            i++;
}

/* Elements in the same order: no kernel is needed, but where both are results of the task. */
static bool is_free(const Chain *c, const Node *node)
{
    if (node->op != OP_RESHAPE && node->op != OP_DROPOUT && node->op != OP_VIEW_AS_REAL &&
        node->op != OP_VIEW_AS_COMPLEX)
        return false;
    ValueId root = c->root[node->in[0]];
    return !graph_is_output(c->g, node->out) ||
           (graph_value(c->g, root)->kind == VALUE_NODE && !graph_is_output(c->g, root));
}

/* A result of the task is where its elements are kept. */
static void take_root(Chain *c, const Node *node)
{
    ValueId root = c->root[node->in[0]];
    c->root[node->out] = root;
    if (!graph_is_output(c->g, node->out))
        return;
    for (uint32_t i = 0; i < c->g->values.len; i++)
        if (c->root[i] == root)
            c->root[i] = node->out;
}

static bool fuses(const Node *node, bool slices);

/* Whether two nodes read the same tensor, or one the other's result. */
static bool share_value(const Graph *g, const Node *a, const Node *b)
{
    for (uint32_t i = 0; i < b->n_in; i++) {
        if (b->in[i] == VALUE_NONE || graph_value(g, b->in[i])->kind == VALUE_CONST)
            continue;
        if (b->in[i] >= a->out && b->in[i] < a->out + a->n_out)
            return true;
        for (uint32_t k = 0; k < a->n_in; k++)
            if (a->in[k] == b->in[i])
                return true;
    }
    return false;
}

/* Operators that have nothing to do with each other are one stage only where all of them are elementwise: a copy
 * beside a product gains nothing, and keeps both from planners of their own. */
static bool belongs_together(const Graph *g, uint32_t from, uint32_t to)
{
    uint64_t reached = 1; /* MOST_NODES bits */
    bool all = true, grown = true;
    for (uint32_t i = from; i < to; i++)
        all = all && fuses(&g->nodes.at[i], true) && g->nodes.at[i].op != OP_RESHAPE;
    while (grown && !all) {
        grown = false;
        for (uint32_t i = from; i < to; i++)
            for (uint32_t k = from; k < i; k++) {
                uint64_t both = UINT64_C(1) << (i - from) | UINT64_C(1) << (k - from);
                bool new = (reached & both) && (reached & both) != both;
                if (!new || !share_value(g, &g->nodes.at[k], &g->nodes.at[i]))
                    continue;
                reached |= both;
                grown = true;
            }
    }
    return all || reached == (UINT64_C(1) << (to - from)) - 1;
}

/* A pad and what needs no kernel: pads have a planner of their own, which takes nothing else. */
static bool is_pad_alone(const Chain *c, uint32_t from, uint32_t to)
{
    return to - from == 2 && c->g->nodes.at[from].op == OP_PAD &&
           is_free(c, &c->g->nodes.at[from + 1]);
}

/* The end of the stage that begins here; `from`: there is none. */
static uint32_t longest_stage(Chain *c, uint32_t from, Diag *said)
{
    uint32_t to = c->g->nodes.len - from > MOST_NODES ? from + MOST_NODES : c->g->nodes.len;
    for (; to > from; to--)
        if ((from || to < c->g->nodes.len) && !is_pad_alone(c, from, to) &&
            belongs_together(c->g, from, to) && try_stage(c, from, to, said))
            return to;
    return from;
}

/* A program of more kernels than the limit is refused at the first operator beyond it. */
static void fail_long_chain(const Chain *c, uint32_t at, Diag *said)
{
    diag_error(said, "G002", c->g->nodes.at[at].at,
               "the planner cannot plan this task: it needs more than %d kernels, the most that "
               "one operator may launch; those before this place compute %u of its %u operators",
               CHAIN_MAX_STAGES, at, c->g->nodes.len);
    diag_hint(said, "split the model here and make an operator of each part");
}

static bool cut_stages(Chain *c)
{
    for (uint32_t at = 0; at < c->g->nodes.len;) {
        const Node *node = &c->g->nodes.at[at];
        if (is_free(c, node)) {
            take_root(c, node);
            at++;
        } else {
            Diag said = diag_make(c->arena, c->diag->file, c->diag->source);
            bool full = c->stages.len >= CHAIN_MAX_STAGES;
            uint32_t end = full ? at : longest_stage(c, at, &said);
            if (full)
                fail_long_chain(c, at, &said);
            if (end == at) {
                for (uint32_t i = 0; i < said.items.len; i++)
                    vec_push(c->diag->arena, &c->diag->items, said.items.at[i]);
                return false;
            }
            at = end;
        }
    }
    return c->stages.len > 0;
}

/* ---- order ---- */

static bool is_slice(const Node *node)
{
    return node->op == OP_SLICE && node_int(node, AT_STEP, 1) == 1;
}

/* Whether the node can be part of a stage with others: elementwise, reshape, reduction; with `slices` also a slice, which
 * is read in place. */
static bool fuses(const Node *node, bool slices)
{
    Op op = node->op;
    return op_is_elementwise(op) || (slices && is_slice(node)) || op == OP_RESHAPE ||
           op == OP_EXPAND || op == OP_FULL || op == OP_REDUCE || op == OP_SOFTMAX;
}

static bool is_ready(const Graph *g, const Node *node, const bool *done)
{
    for (uint32_t i = 0; i < node->n_in; i++) {
        const Value *v = node->in[i] == VALUE_NONE ? NULL : graph_value(g, node->in[i]);
        if (v && v->kind == VALUE_NODE && !done[v->node])
            return false;
    }
    return true;
}

/* Nodes that some result rests on. */
static bool *find_alive(Arena *arena, const Graph *g)
{
    bool *alive = arena_array(arena, bool, g->nodes.len + 1);
    bool *wanted = arena_array(arena, bool, g->values.len + 1);
    for (uint32_t i = 0; i < g->outputs.len; i++)
        wanted[g->outputs.at[i]] = true;
    for (uint32_t n = g->nodes.len; n-- > 0;) {
        const Node *node = &g->nodes.at[n];
        for (uint32_t k = 0; k < node->n_out; k++)
            alive[n] = alive[n] || wanted[node->out + k];
        for (uint32_t k = 0; k < node->n_in && alive[n]; k++)
            if (node->in[k] != VALUE_NONE)
                wanted[node->in[k]] = true;
    }
    return alive;
}

/* What does not fuse comes as early as it can, so that what does stands together; what nothing
 * rests on is gone. */
static Graph *in_order(Arena *arena, const Graph *graph, bool slices)
{
    Graph *g = arena_new(arena, Graph);
    bool *done = arena_array(arena, bool, graph->nodes.len + 1);
    const bool *alive = find_alive(arena, graph);
    uint32_t left = 0;
    for (uint32_t i = 0; i < graph->nodes.len; i++)
        left += alive[i];
    *g = *graph;
    g->nodes.at = NULL;
    g->nodes.len = g->nodes.cap = 0;
    g->values.at = arena_array(arena, Value, graph->values.len + 1);
    for (uint32_t i = 0; i < graph->values.len; i++)
        g->values.at[i] = graph->values.at[i];
    while (g->nodes.len < left) {
        uint32_t next = UINT32_MAX;
        for (uint32_t i = graph->nodes.len; i-- > 0;) {
            const Node *node = &graph->nodes.at[i];
            if (done[i] || !alive[i] || !is_ready(graph, node, done))
                continue;
            bool better = next == UINT32_MAX || !fuses(node, slices) ||
                          fuses(&graph->nodes.at[next], slices);
            next = better ? i : next;
        }
        done[next] = true;
        for (uint32_t k = 0; k < graph->nodes.at[next].n_out; k++)
            g->values.at[graph->nodes.at[next].out + k].node = g->nodes.len;
        vec_push(arena, &g->nodes, graph->nodes.at[next]);
    }
    return g;
}

/* The stages, their nodes in one of the two orders; false: some node is in none. */
static bool find_stages(const Chain *like, const Graph *graph, bool slices, Chain *c)
{
    *c = *like;
    c->g = in_order(c->arena, graph, slices);
    c->root = arena_array(c->arena, ValueId, graph->values.len + 1);
    for (uint32_t i = 0; i < graph->values.len; i++)
        c->root[i] = i;
    return cut_stages(c);
}

/* Slices apart or where they are read, whichever takes fewer stages. */
static bool fewest_stages(const Chain *like, const Graph *graph, Chain *c)
{
    bool slices = false;
    for (uint32_t i = 0; i < graph->nodes.len; i++)
        slices = slices || is_slice(&graph->nodes.at[i]);
    bool found = find_stages(like, graph, false, c);
    if (!slices)
        return found;
    Chain other;
    Chain quiet = *like;
    Diag said = diag_make(like->arena, like->diag->file, like->diag->source);
    quiet.diag = &said;
    bool better = find_stages(&quiet, graph, true, &other) &&
                  (!found || other.stages.len < c->stages.len);
    if (better) {
        *c = other;
        c->diag = like->diag;
    }
    return found || better;
}

bool plan_chain(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                const char *name, Plan *plan, Diag *diag)
{
    ChainMemo memo = {0};
    Chain c, like = {.arena = arena,
                     .memo = &memo,
                     .chip = chip,
                     .tile_limit = tile_limit,
                     .name = name,
                     .diag = diag,
                     .rounds = prim_widens(graph)};
    Diag before = *diag;
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        for (uint32_t k = 0; k < i; k++)
            if (graph->outputs.at[i] == graph->outputs.at[k])
                return false;
    if (graph->nodes.len < 2 || !fewest_stages(&like, graph, &c))
        return false;
    part_stages(&c);
    *diag = before;
    if (chain_join(&c, plan) && plan_is_valid(arena, plan))
        return true;
    c.fixed = true;
    return chain_join(&c, plan);
}
