/* Cutting a task into stages. In: a graph that no planner takes whole, or not well. Out: runs of nodes, each
 * planned as a task of its own: those that take the least time together (chain_cuts.c); of large tasks
 * from each place the longest run that a planner takes. */
#include "gen/plan/chain_cuts.h"

#include "gen/plan/clock.h"
#include "gen/plan/fit.h"
#include "gen/plan/planners.h"
#include "gen/plan/prim.h"
#include <math.h>

enum {
    MOST_CUT = 96, /* operators of a task whose cuts are compared */
    LONGEST = 24,  /* operators of a stage where the longest one is looked for */
    FEW_OF = 8     /* the largest value has so many times the elements of a small one */
};
#define MOST_TIMED 4e9 /* bytes of operands: then the other stages of a network are not timed */

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
    cut.g = graph_new(c->arena, str_format(c->arena, "%s_s%u", c->name, c->memo->planned));
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
    if (!plan_alone(c->arena, g, c->chip, 0, &tried.plan, said) ||
        !plan_is_valid(c->arena, &tried.plan))
        tried.plan = (Plan){0};
    return tried;
}

/* The stage without its plan. In `key`: what it computes. */
static ChainStage cut_stage(Chain *c, uint32_t from, uint32_t to, Str *key)
{
    Cut cut = cut_graph(c, from, to);
    *key = chain_key(c->arena, cut.g);
    return (ChainStage){.graph = cut.g, .outer = cut.outer.at, .from = from, .to = to};
}

static bool take_known(const ChainMemo *memo, Str key, ChainStage *stage)
{
    if (!map_get(&memo->tries, key, &stage->known))
        return false;
    stage->plan = memo->at.at[stage->known].plan;
    stage->planned_as = memo->at.at[stage->known].name;
    return stage->plan.strategy != NULL;
}

bool chain_known_stage(Chain *c, uint32_t from, uint32_t to, ChainStage *stage)
{
    Str key;
    *stage = cut_stage(c, from, to, &key);
    return take_known(c->memo, key, stage);
}

/* A single node that no planner takes is planned again, for what is said of its own place in the file. */
bool chain_plan_stage(Chain *c, uint32_t from, uint32_t to, ChainStage *stage, Diag *said)
{
    ChainMemo *memo = c->memo;
    Str key;
    *stage = cut_stage(c, from, to, &key);
    if (take_known(memo, key, stage))
        return true;
    if (map_get(&memo->tries, key, &stage->known) && to > from + 1)
        return false;
    if (memo->timed > MOST_TIMED)
        vec_push(c->arena, &stage->graph->notes, plan_untimed);
    ChainTry tried = plan_graph(c, stage->graph, said);
    memo->planned += tried.plan.strategy != NULL;
    memo->timed += tried.plan.strategy ? clock_bytes(stage->graph) * clock_budget(stage->graph) : 0;
    map_put(c->arena, &memo->tries, key, memo->at.len);
    vec_push(c->arena, &memo->at, tried);
    return take_known(memo, key, stage);
}

static bool try_stage(Chain *c, uint32_t from, uint32_t to, Diag *said)
{
    ChainStage stage;
    bool ok = chain_plan_stage(c, from, to, &stage, said);
    if (ok)
        vec_push(c->arena, &c->stages, stage);
    return ok;
}

/* Elements in the same order: no kernel is needed, but where both are results of the task. */
bool chain_is_free(const Chain *c, const Node *node)
{
    if (node->op != OP_RESHAPE && node->op != OP_DROPOUT && node->op != OP_VIEW_AS_REAL &&
        node->op != OP_VIEW_AS_COMPLEX)
        return false;
    ValueId root = c->root[node->in[0]];
    return !graph_is_output(c->g, node->out) ||
           (graph_value(c->g, root)->kind == VALUE_NODE && !graph_is_output(c->g, root));
}

/* A result of the task is where its elements are kept. */
void chain_take_root(Chain *c, const Node *node)
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
    uint64_t reached = 1; /* CHAIN_STAGE_NODES bits */
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
           chain_is_free(c, &c->g->nodes.at[from + 1]);
}

bool chain_may_be_stage(const Chain *c, uint32_t from, uint32_t to)
{
    return (from || to < c->g->nodes.len) && to - from <= CHAIN_STAGE_NODES &&
           !is_pad_alone(c, from, to) && belongs_together(c->g, from, to);
}

/* The end of the stage that begins here; `from`: there is none. */
static uint32_t longest_stage(Chain *c, uint32_t from, Diag *said)
{
    uint32_t left = c->g->nodes.len - from, to = from + (left > LONGEST ? LONGEST : left);
    for (; to > from; to--)
        if (chain_may_be_stage(c, from, to) && try_stage(c, from, to, said))
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
        if (chain_is_free(c, node)) {
            chain_take_root(c, node);
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

/* Ways to put nodes in order. In the first two, what does not fuse comes as early as it can, so that what does
 * stands together. In the last, what has few elements does: tables of sines, counts, norms of parameters are computed
 * once, and not wherever a tile needs them. */
typedef enum Order {
    ORDER_SLICES_APART,
    ORDER_SLICES_FUSED,
    ORDER_OF_FILE,
    ORDER_SMALL_FIRST,
    ORDERS
} Order;

static int64_t node_elements(const Graph *g, const Node *node)
{
    int64_t count = 0;
    return shape_count(graph_value(g, node->out)->shape, &count) ? count : INT64_MAX;
}

/* What nodes of few elements stay below. */
static int64_t few_elements(const Graph *g)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < g->nodes.len; i++)
        most = node_elements(g, &g->nodes.at[i]) > most ? node_elements(g, &g->nodes.at[i]) : most;
    return most / FEW_OF;
}

static bool comes_first(const Graph *g, const Node *node, const Node *than, Order order,
                        int64_t few)
{
    bool slices = order == ORDER_SLICES_FUSED;
    if (order == ORDER_SMALL_FIRST)
        return node_elements(g, node) < few || node_elements(g, than) >= few;
    return order == ORDER_OF_FILE || !fuses(node, slices) || fuses(than, slices);
}

/* The nodes that a result rests on. */
static Graph *in_order(Arena *arena, const Graph *graph, Order order)
{
    Graph *g = arena_new(arena, Graph);
    bool *done = arena_array(arena, bool, graph->nodes.len + 1);
    const bool *alive = find_alive(arena, graph);
    const int64_t few = few_elements(graph);
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
            if (!done[i] && alive[i] && is_ready(graph, node, done) &&
                (next == UINT32_MAX ||
                 comes_first(graph, node, &graph->nodes.at[next], order, few)))
                next = i;
        }
        done[next] = true;
        for (uint32_t k = 0; k < graph->nodes.at[next].n_out; k++)
            g->values.at[graph->nodes.at[next].out + k].node = g->nodes.len;
        vec_push(arena, &g->nodes, graph->nodes.at[next]);
    }
    return g;
}

static bool same_order(const Graph *a, const Graph *b)
{
    for (uint32_t i = 0; i < a->nodes.len; i++)
        if (a->nodes.at[i].out != b->nodes.at[i].out)
            return false;
    return true;
}

/* The orders that differ; how many. */
static uint32_t find_orders(Arena *arena, const Graph *graph, Graph *orders[ORDERS])
{
    uint32_t n = 0;
    for (Order order = 0; order < ORDERS; order++) {
        bool known = false;
        orders[n] = in_order(arena, graph, order);
        for (uint32_t i = 0; i < n; i++)
            known = known || same_order(orders[i], orders[n]);
        n += !known;
    }
    return n;
}

static Chain chain_of(const Chain *like, const Graph *ordered, Diag *diag)
{
    Chain c = *like;
    c.g = ordered;
    c.diag = diag;
    c.root = arena_array(c.arena, ValueId, ordered->values.len + 1);
    for (uint32_t i = 0; i < ordered->values.len; i++)
        c.root[i] = i;
    return c;
}

/* The longest stages from each place, in the order that takes fewer of them. */
static bool fewest_stages(const Chain *like, const Graph *graph, Chain *c)
{
    Graph *orders[ORDERS];
    uint32_t n = find_orders(like->arena, graph, orders);
    bool found = false;
    for (uint32_t i = 0; i < n; i++) {
        Diag said = diag_make(like->arena, like->diag->file, like->diag->source);
        Chain other = chain_of(like, orders[i], i ? &said : like->diag);
        if (!cut_stages(&other) || (found && other.stages.len >= c->stages.len))
            continue;
        *c = other;
        c->diag = like->diag;
        found = true;
    }
    return found;
}

static uint32_t small_first(const Graph *g)
{
    int64_t few = few_elements(g);
    uint32_t n = 0;
    while (n < g->nodes.len && node_elements(g, &g->nodes.at[n]) < few)
        n++;
    return n;
}

/* The stages that take the least time, in the order in which they do. False: none takes less than `than`. */
static bool fastest_stages(const Chain *like, const Graph *graph, double than, Chain *c)
{
    Graph *orders[ORDERS];
    uint32_t n = find_orders(like->arena, graph, orders);
    double us;
    bool found = false;
    for (uint32_t i = 0; i < n; i++) {
        Diag said = diag_make(like->arena, like->diag->file, like->diag->source);
        Chain other = chain_of(like, orders[i], &said);
        other.small = small_first(orders[i]);
        if (!chain_cut(&other, than, &us))
            continue;
        *c = other;
        c->diag = like->diag;
        than = us * CLOCK_GAIN;
        found = true;
    }
    return found;
}

/* Tiles of at most so many elements; the stages stay. */
static bool limit_stages(Chain *c, int64_t tile_limit)
{
    for (uint32_t i = 0; i < c->stages.len; i++) {
        ChainStage *stage = &c->stages.at[i];
        Diag quiet = diag_make(c->arena, c->diag->file, c->diag->source);
        uint32_t same = 0;
        while (c->stages.at[same].known != stage->known)
            same++;
        if (same < i)
            stage->plan = c->stages.at[same].plan;
        else if (!plan_alone(c->arena, stage->graph, c->chip, tile_limit, &stage->plan, &quiet))
            return false;
    }
    return true;
}

/* Joins the stages to one program. When their sizes cannot be unified, it is for the task's own sizes only. */
static bool join_stages(Chain *c, Plan *plan)
{
    if (chain_join(c, plan) && plan_is_valid(c->arena, plan))
        return true;
    c->fixed = true;
    return chain_join(c, plan);
}

/* Stages that fit alone may not where their sizes are numbers: then with smaller tiles. */
static void make_fit(Chain *c, int64_t tile_limit, Plan *plan)
{
    for (int64_t limit = 8192; limit >= 512 && !fit_lowered(plan->craft, c->chip); limit /= 2) {
        Chain smaller = *c;
        Plan other;
        smaller.stages.at = NULL;
        smaller.stages.len = smaller.stages.cap = 0;
        for (uint32_t i = 0; i < c->stages.len; i++)
            vec_push(c->arena, &smaller.stages, c->stages.at[i]);
        if (!(tile_limit && tile_limit <= limit) && limit_stages(&smaller, limit) &&
            join_stages(&smaller, &other))
            *plan = other;
    }
}

/* Launches of vector kernels take both vector cores beside each cube core, where products with a vector role take one;
 * where that is predicted to be faster. The second cores cost a part of the launch. */
static void take_both_vector_cores(Chain *c, Plan *plan)
{
    Plan both = *plan;
    double one_us = 0, both_us = 0;
    Buf out = {0};
    Str rest = plan->craft, cores = STR("chip.cores");
    bool beside = str_find(rest, STR("@kernel(cube, vector)\n")) >= 0 &&
                  str_find(rest, STR("@kernel(cube, vector, vector)")) < 0;
    for (ptrdiff_t at; (at = str_find(rest, cores)) >= 0;) {
        bool alone = at > 0 && rest.at[at - 1] == '[' && rest.at[(size_t)at + cores.len] == ']';
        buf_str(&out, str_slice(rest, 0, (size_t)at));
        buf_puts(&out, alone ? "chip.cube_cores * 2" : "(chip.cube_cores * 2)");
        rest = str_slice(rest, (size_t)at + cores.len, rest.len);
    }
    bool any = out.len != 0;
    buf_str(&out, rest);
    both.craft = str_from(buf_take(&out, c->arena));
    buf_free(&out);
    if (beside && any && clock_plan(plan, c->chip, &one_us) &&
        clock_plan(&both, c->chip, &both_us) && both_us < one_us * CLOCK_GAIN &&
        plan_is_valid(c->arena, &both))
        *plan = both;
}

static bool has_equal_results(const Graph *graph)
{
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        for (uint32_t k = 0; k < i; k++)
            if (graph->outputs.at[i] == graph->outputs.at[k])
                return true;
    return false;
}

bool plan_chain(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                const char *name, double than, Plan *plan, Diag *diag)
{
    ChainMemo memo = {0};
    Chain c, like = {.arena = arena,
                     .memo = &memo,
                     .chip = chip,
                     .name = name,
                     .diag = diag,
                     .rounds = prim_widens(graph)};
    Diag before = *diag;
    bool few = clock_budget(graph) > 1 && graph->nodes.len <= MOST_CUT;
    if (has_equal_results(graph) || graph->nodes.len < 2)
        return false;
    bool found = few && fastest_stages(&like, graph, than, &c);
    if (!found && ((few && !isinf(than)) || !fewest_stages(&like, graph, &c)))
        return false;
    *diag = before;
    if ((tile_limit && !limit_stages(&c, tile_limit)) || !join_stages(&c, plan))
        return false;
    make_fit(&c, tile_limit, plan);
    if (clock_budget(graph) > 1)
        take_both_vector_cores(&c, plan);
    return true;
}
