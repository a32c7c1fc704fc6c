/* Rewriting a graph node by node; see rewrite.h. */
#include "gen/plan/rewrite.h"

#include "graph/bounds.h"
#include <math.h>

typedef bool Rule(Rewrite *r, const Node *node, ValueId *out);

static Rule *const rules[] = {rewrite_complex,  rewrite_window,  rewrite_reduce,    rewrite_index,
                              rewrite_loss,     rewrite_shape,   rewrite_pool,      rewrite_special,
                              rewrite_sum,      rewrite_product, rewrite_attention, rewrite_conv,
                              rewrite_small,    rewrite_written, rewrite_slice,     rewrite_fold,
                              rewrite_recurrent};

static void note_outer(Rewrite *r, ValueId mine, ValueId theirs)
{
    while (r->outer.len <= mine)
        vec_push(r->arena, &r->outer, VALUE_NONE);
    r->outer.at[mine] = theirs;
}

static void add_leaf(Rewrite *r, ValueId id)
{
    r->map[id] = graph_add_value(r->to, *graph_value(r->from, id));
    note_outer(r, r->map[id], id);
}

static const Node nowhere; /* the node of values that no node of the task computes */

static double loaded(const Value *v, int64_t at)
{
    return dtype_load(v->dtype, v->data, (size_t)at);
}

static bool is_minus_zero(double v) { return v == 0 && signbit(v); }

/* How many elements from `at` on go up by the same whole number, or are equal. Truths do not go up. */
static int64_t run_at(const Value *v, int64_t at, int64_t count, double *step)
{
    double first = loaded(v, at);
    bool below = is_minus_zero(first);
    *step = at + 1 < count ? loaded(v, at + 1) - first : 0;
    bool even = *step == 0 ||
                (*step > 0 && *step == floor(*step) && first == floor(first) &&
                 fabs(first) < 0x1p24 && *step < 0x1p16 && !below && v->dtype != DT_BOOL);
    int64_t n = 1;
    while (even && at + n < count && loaded(v, at + n) == first + (double)n * *step &&
           is_minus_zero(loaded(v, at + n)) == below)
        n++;
    return n;
}

/* A tensor that the file itself holds: its numbers one after the other, made by the kernel. */
static void add_constant(Rewrite *r, ValueId id)
{
    const Value *v = graph_value(r->from, id);
    int64_t count = 0;
    uint32_t n = 0;
    ValueId parts[REWRITE_CONSTANT];
    Attr dim = {.key = AT_DIM, .i = 0};
    shape_count(v->shape, &count);
    r->node = &nowhere;
    if (count < 2)
        return;
    for (int64_t at = 0; at < count;) {
        double step, first = loaded(v, at);
        int64_t run = run_at(v, at, count, &step);
        bool even = step == 0 || run == 1;
        int64_t from = even ? 0 : (int64_t)first, by = even ? 0 : (int64_t)step;
        if (n == REWRITE_CONSTANT)
            return;
        if (run == count && step == 0) {
            r->map[id] = rw_full(r, v->shape, v->dtype, first);
            return;
        }
        parts[n++] = even ? rw_full(r, (Shape){1, {run}}, v->dtype, first)
                          : rw_range(r, v->dtype, from, from + run * by, by);
        at += run;
    }
    ValueId all = n == 1 ? parts[0] : rw_make(r, OP_CAT, 0, n, parts, 1, &dim);
    r->map[id] = rw_reshape(r, all, v->shape);
}

bool rewrite_has_constant(const Graph *graph)
{
    for (uint32_t i = 0; i < graph->nodes.len; i++)
        for (uint32_t k = 0; k < graph->nodes.at[i].n_in; k++) {
            ValueId id = graph->nodes.at[i].in[k];
            int64_t count = 0;
            if (id != VALUE_NONE && graph_value(graph, id)->kind == VALUE_CONST &&
                shape_count(graph_value(graph, id)->shape, &count) && count > 1)
                return true;
        }
    return false;
}

static void copy_node(Rewrite *r, const Node *node)
{
    ValueId *in = arena_array(r->arena, ValueId, node->n_in + 1);
    for (uint32_t i = 0; i < node->n_in; i++)
        in[i] = rw_in(r, node, i);
    ValueId out = rw_again(r, node, in);
    for (uint32_t k = 0; k < node->n_out; k++)
        r->map[node->out + k] = out + k;
}

/* A rule's result has the shape and dtype of what it replaces, or the rule does not count. */
static bool fits(const Rewrite *r, const Node *node, const ValueId *out)
{
    for (uint32_t k = 0; k < node->n_out; k++) {
        const Value *was = graph_value(r->from, node->out + k);
        const Value *is = out[k] == VALUE_NONE ? NULL : graph_value(r->to, out[k]);
        if (is && (is->kind != VALUE_NODE || is->dtype != was->dtype ||
                   !shape_equal(is->shape, was->shape)))
            return false;
    }
    return true;
}

/* What numbers were computed from stays so. */
static void keep_held(Rewrite *r, const Node *node)
{
    for (uint32_t k = 0; k < node->n_out && !r->failed; k++)
        if (r->map[node->out + k] != VALUE_NONE)
            r->to->values.at[r->map[node->out + k]].held_axes |=
                graph_value(r->from, node->out + k)->held_axes;
}

static bool stays(const Rewrite *r, const Node *node)
{
    return r->products && (node->op == OP_MATMUL || node->op == OP_LINEAR || node->op == OP_CONV ||
                           (node->op == OP_EINSUM && node->n_in <= 2));
}

static void rewrite_node(Rewrite *r, const Node *node)
{
    ValueId out[3] = {VALUE_NONE, VALUE_NONE, VALUE_NONE};
    r->node = node;
    if (stays(r, node)) {
        copy_node(r, node);
        return;
    }
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !r->failed && node->n_out <= 3; i++) {
        if (!rules[i](r, node, out) || r->failed)
            continue;
        r->failed = !fits(r, node, out);
        r->changed = true;
        for (uint32_t k = 0; k < node->n_out; k++)
            r->map[node->out + k] = out[k];
        return;
    }
    if (!r->failed)
        copy_node(r, node);
}

static bool known_operands(const Rewrite *r, const Node *node)
{
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != VALUE_NONE && r->map[node->in[i]] == VALUE_NONE &&
            r->pair[node->in[i]].re == VALUE_NONE)
            return false;
    return true;
}

/* A result that is an input of the task, or another result too, is a copy of it. */
static ValueId as_result(Rewrite *r, ValueId id)
{
    bool again = graph_value(r->to, id)->kind != VALUE_NODE;
    for (uint32_t i = 0; i < r->to->outputs.len; i++)
        again = again || r->to->outputs.at[i] == id;
    if (!again)
        return id;
    Shape s = graph_value(r->to, id)->shape;
    Attr to = {.key = AT_SHAPE};
    to.ints.at = s.dim;
    to.ints.len = (uint32_t)s.rank;
    r->changed = true;
    r->node = &nowhere;
    return rw_make(r, OP_RESHAPE, 0, 1, &id, 1, &to);
}

static Graph *rewrite_once(const Rewrite *like, const Graph *graph, const ValueId **outer,
                           Diag *diag)
{
    Arena *arena = like->arena;
    Diag quiet = diag_make(arena, diag->file, diag->source);
    Rewrite r = *like;
    r.from = graph;
    r.diag = &quiet;
    r.to = graph_new(arena, graph->name);
    for (uint32_t i = 0; i < graph->notes.len; i++) /* that every step is rounded */
        vec_push(arena, &r.to->notes, graph->notes.at[i]);
    r.map = arena_array(arena, ValueId, graph->values.len + 1);
    r.pair = arena_array(arena, RewritePair, graph->values.len + 1);
    for (uint32_t i = 0; i < graph->values.len; i++) {
        r.pair[i] = (RewritePair){VALUE_NONE, VALUE_NONE};
        r.map[i] = VALUE_NONE;
        if (graph->values.at[i].kind != VALUE_NODE)
            add_leaf(&r, i);
    }
    r.changed = rewrite_has_constant(graph);
    for (uint32_t i = 0; i < graph->values.len && r.changed; i++)
        if (graph->values.at[i].kind == VALUE_CONST)
            add_constant(&r, i);
    for (uint32_t i = 0; i < graph->inputs.len; i++)
        vec_push(arena, &r.to->inputs, r.map[graph->inputs.at[i]]);
    for (uint32_t i = 0; i < graph->params.len; i++)
        vec_push(arena, &r.to->params, r.map[graph->params.at[i]]);
    for (uint32_t i = 0; i < graph->nodes.len && !r.failed; i++) {
        r.failed = !known_operands(&r, &graph->nodes.at[i]);
        if (!r.failed)
            rewrite_node(&r, &graph->nodes.at[i]);
        keep_held(&r, &graph->nodes.at[i]);
    }
    for (uint32_t i = 0; i < graph->outputs.len && !r.failed; i++) {
        ValueId id = r.map[graph->outputs.at[i]];
        r.failed = id == VALUE_NONE;
        if (!r.failed)
            id = as_result(&r, id);
        if (r.failed)
            break;
        vec_push(arena, &r.to->outputs, id);
        note_outer(&r, id, graph->outputs.at[i]);
    }
    note_outer(&r, r.to->values.len, VALUE_NONE);
    *outer = r.outer.at;
    return r.failed || !r.changed ? NULL : r.to;
}

/* What a rule writes may itself be rewritten. */
static Graph *rewrite_rounds(const Rewrite *like, const Graph *graph, const ValueId **outer,
                             Diag *diag)
{
    Arena *arena = like->arena;
    const ValueId *total = NULL;
    Graph *last = NULL;
    for (int round = 0; round < 4; round++) {
        const ValueId *step = NULL;
        Graph *next = rewrite_once(like, last ? last : graph, &step, diag);
        if (!next)
            break;
        graph_bounds(next);
        ValueId *both = arena_array(arena, ValueId, next->values.len + 1);
        for (uint32_t i = 0; i < next->values.len; i++) {
            ValueId before = step[i];
            both[i] = before == VALUE_NONE || !total ? before : total[before];
        }
        total = both;
        last = next;
    }
    *outer = total;
    return last;
}

Graph *rewrite_graph(Arena *arena, const Graph *graph, const ValueId **outer, Diag *diag)
{
    return rewrite_rounds(&(Rewrite){.arena = arena}, graph, outer, diag);
}

Graph *rewrite_composites(Arena *arena, const Graph *graph, const ValueId **outer, Diag *diag)
{
    return rewrite_rounds(&(Rewrite){.arena = arena, .composites = true}, graph, outer, diag);
}

Graph *rewrite_around_products(Arena *arena, const Graph *graph, const ValueId **outer, Diag *diag)
{
    Rewrite like = {.arena = arena, .composites = true, .products = true};
    return rewrite_rounds(&like, graph, outer, diag);
}
