/* Normal form: the same computation written once, so that two spellings can be compared as text.
 *
 *   fix       masks and tables that are the same in every run become constants
 *   rewrite   nodes are rebuilt in order: spellings that mean the same become one, equal nodes
 *             become one, nodes over constants are computed
 *   order     commutative inputs are ordered by a structural hash, values are numbered by a
 *             walk from the outputs, parameters by first use, random streams by appearance
 *
 * What is kept: operators, attributes, shapes, dtypes, constants, how inputs and parameters are
 * drawn. What goes: names, lines, scopes, notes, dead nodes, no-op views. */
#include "graph/normal_int.h"

#include "base/hash.h"
#include "graph/eval.h"
#include <string.h>

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t pair[2] = {a, b};
    return hash64(pair, sizeof pair);
}

static const Value *info(const Normal *n, ValueId id) { return graph_value(n->to, id); }

static ValueId note_value(Normal *n, ValueId id, uint64_t hash)
{
    while (n->hashes.len <= id)
        vec_push(n->arena, &n->hashes, 0);
    n->hashes.at[id] = hash;
    return id;
}

/* --- nodes, made once --------------------------------------------------------------------- */

static uint64_t attr_hash(const Attr *attr)
{
    uint64_t h = (uint64_t)attr->key + 77;
    switch (attr_rows[attr->key].type) {
    case ATTR_INTS: return mix(h, hash64(attr->ints.at, attr->ints.len * sizeof *attr->ints.at));
    case ATTR_TEXT: return mix(h, hash64(attr->text.at, attr->text.len));
    case ATTR_DTYPE: return mix(h, (uint64_t)attr->dtype);
    default: return mix(h, (uint64_t)attr->i);
    }
}

/* With `streams`, equal random nodes of different streams differ. */
static uint64_t spec_hash(const Normal *n, const NodeSpec *spec, bool streams)
{
    uint64_t h = mix((uint64_t)spec->op, (uint64_t)spec->kind);
    for (uint32_t i = 0; i < spec->n_attr; i++) {
        if (streams || spec->attr[i].key != AT_STREAM)
            h = mix(h, attr_hash(&spec->attr[i]));
    }
    for (uint32_t i = 0; i < spec->n_in; i++)
        h = mix(h, spec->in[i] == VALUE_NONE ? 1
                   : streams                 ? spec->in[i] + UINT64_C(2)
                                             : n->hashes.at[spec->in[i]]);
    return mix(h, spec->n_out);
}

ValueId normal_add(Normal *n, const NodeSpec *spec)
{
    uint64_t key = spec_hash(n, spec, true);
    Str name = {(const char *)&key, sizeof key};
    uint32_t found;
    if (map_get(&n->known, name, &found))
        return found;
    ValueId out;
    if (!graph_add(n->to, spec, &n->scratch, &out))
        panic("normal form: %s does not infer", op_rows[spec->op].name);
    map_put(n->arena, &n->known, str_copy(n->arena, name), out);
    uint64_t hash = spec_hash(n, spec, false);
    uint32_t outputs = n->to->nodes.at[n->to->nodes.len - 1].n_out;
    for (uint32_t i = 0; i < outputs; i++)
        note_value(n, out + i, mix(hash, i));
    return out;
}

ValueId normal_const(Normal *n, const Value *value)
{
    int64_t bytes = 0;
    shape_bytes(value->shape, value->dtype, &bytes);
    uint64_t hash = mix(
        mix((uint64_t)value->dtype * 2 + value->weak, hash64(value->data, (size_t)bytes)),
        hash64(value->shape.dim, (size_t)value->shape.rank * sizeof *value->shape.dim));
    uint64_t key = mix(hash, 0xc0);
    Str name = {(const char *)&key, sizeof key};
    uint32_t found;
    if (map_get(&n->known, name, &found))
        return found;
    Value copy = *value;
    copy.name = NULL;
    ValueId id = graph_add_value(n->to, copy);
    map_put(n->arena, &n->known, str_copy(n->arena, name), id);
    return note_value(n, id, hash);
}

/* --- constants ---------------------------------------------------------------------------- */

static bool all_const(const Normal *n, const Node *old, const ValueId *in)
{
    enum { MOST = 4096 };
    int64_t count;
    for (uint32_t i = 0; i < old->n_in; i++) {
        if (in[i] != VALUE_NONE && info(n, in[i])->kind != VALUE_CONST)
            return false;
    }
    return old->n_in > 0 && old->n_out == 1 && old->op != OP_DROPOUT && old->op != OP_RANDOM &&
           shape_count(graph_value(n->from, old->out)->shape, &count) && count <= MOST;
}

/* The node's value by the reference evaluator; VALUE_NONE when it cannot be had. */
static ValueId fold(Normal *n, const NodeSpec *spec)
{
    Graph *one = graph_new(n->arena, "fold");
    NodeSpec inner = *spec;
    ValueId *in = arena_array(n->arena, ValueId, spec->n_in), out;
    for (uint32_t i = 0; i < spec->n_in; i++)
        in[i] = spec->in[i] == VALUE_NONE ? VALUE_NONE
                                          : graph_add_value(one, *info(n, spec->in[i]));
    inner.in = in;
    if (!graph_add(one, &inner, &n->scratch, &out))
        return VALUE_NONE;
    vec_push(n->arena, &one->outputs, out);
    EvalOptions options = {0};
    Tensor *result = NULL;
    if (!graph_eval(one, NULL, NULL, &options, &result, &n->scratch))
        return VALUE_NONE;
    size_t bytes = (size_t)result->count * dtype_bytes(result->dtype);
    void *data = arena_alloc(n->arena, bytes + 8);
    memcpy(data, result->at, bytes);
    Value value = {.dtype = result->dtype,
                   .shape = result->shape,
                   .kind = VALUE_CONST,
                   .node = NODE_NONE,
                   .data = data};
    tensor_free(result);
    return normal_const(n, &value);
}

/* --- one graph ---------------------------------------------------------------------------- */

static void take_node(Normal *n, const Node *old)
{
    ValueId *in = arena_array(n->arena, ValueId, old->n_in + 1);
    for (uint32_t i = 0; i < old->n_in; i++)
        in[i] = old->in[i] == VALUE_NONE ? VALUE_NONE : n->map[old->in[i]];
    NodeSpec spec = {.op = old->op,
                     .kind = old->kind,
                     .n_in = old->n_in,
                     .in = in,
                     .n_out = old->n_out,
                     .n_attr = old->n_attr,
                     .attr = old->attr};
    ValueId folded = all_const(n, old, in) ? fold(n, &spec) : VALUE_NONE, second = VALUE_NONE;
    ValueId out = folded != VALUE_NONE ? folded : normal_rewrite(n, old, &spec, in, &second);
    for (uint32_t i = 0; i < old->n_out; i++)
        n->map[old->out + i] = second != VALUE_NONE ? second : out + i;
}

static void take_fixed(Normal *n, ValueId id)
{
    Value value = *graph_value(n->from, id);
    value.kind = VALUE_CONST;
    value.node = NODE_NONE;
    value.data = n->fixed[id];
    n->map[id] = normal_const(n, &value);
}

static void take_given(Normal *n, ValueId id)
{
    Value value = *graph_value(n->from, id);
    uint64_t hash = n->given ? n->given[value.source] : 0;
    if (value.kind == VALUE_INPUT)
        hash = mix(hash, value.source + UINT64_C(1000));
    value.name = NULL;
    value.kind = value.kind == VALUE_INPUT ? VALUE_INPUT : VALUE_PARAM;
    n->map[id] = note_value(n, graph_add_value(n->to, value), mix(hash, (uint64_t)value.kind));
}

static void mark_used(Normal *n)
{
    for (uint32_t i = 0; i < n->from->nodes.len; i++) {
        const Node *node = &n->from->nodes.at[i];
        for (uint32_t k = 0; k < node->n_in; k++) {
            if (node->in[k] != VALUE_NONE)
                n->used[node->in[k]] = 1;
        }
    }
    for (uint32_t i = 0; i < n->from->outputs.len; i++)
        n->used[n->from->outputs.at[i]] = 1;
}

static Normal rebuild(Arena *arena, const Graph *graph, const uint64_t *given,
                      const void *const *fixed)
{
    Normal n = {
        .arena = arena, .from = graph, .to = graph_new(arena, ""), .given = given, .fixed = fixed};
    n.scratch = diag_make(arena, "", (Str){0});
    n.map = arena_array(arena, ValueId, graph->values.len + 1);
    n.used = arena_alloc(arena, graph->values.len + 1);
    mark_used(&n);
    for (ValueId i = 0; i < graph->values.len;) {
        const Value *value = graph_value(graph, i);
        if (fixed && fixed[i]) {
            take_fixed(&n, i++);
            continue;
        }
        if (value->kind == VALUE_NODE) {
            const Node *node = &graph->nodes.at[value->node];
            take_node(&n, node);
            i = node->out + node->n_out;
            continue;
        }
        if (value->kind == VALUE_CONST)
            n.map[i] = normal_const(&n, value);
        else
            take_given(&n, i);
        i++;
    }
    for (uint32_t i = 0; i < graph->inputs.len; i++)
        vec_push(arena, &n.to->inputs, n.map[graph->inputs.at[i]]);
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        vec_push(arena, &n.to->outputs, n.map[graph->outputs.at[i]]);
    return n;
}

/* --- order -------------------------------------------------------------------------------- */

typedef struct Walk {
    Arena *arena;
    const Graph *from;
    Graph *to;
    ValueId *map;
    int64_t streams;
} Walk;

static void place_node(Walk *w, const Node *old)
{
    Node node = *old;
    node.in = arena_array(w->arena, ValueId, node.n_in + 1);
    for (uint32_t i = 0; i < node.n_in; i++)
        node.in[i] = old->in[i] == VALUE_NONE ? VALUE_NONE : w->map[old->in[i]];
    node.at = (Span){0};
    node.attr = arena_array(w->arena, Attr, node.n_attr + 1);
    memcpy(node.attr, old->attr, node.n_attr * sizeof *node.attr);
    for (uint32_t i = 0; i < node.n_attr; i++) {
        if (node.attr[i].key == AT_STREAM)
            node.attr[i].i = w->streams++;
    }
    node.out = w->to->values.len;
    for (uint32_t i = 0; i < node.n_out; i++) {
        Value value = *graph_value(w->from, old->out + i);
        value.node = w->to->nodes.len;
        w->map[old->out + i] = graph_add_value(w->to, value);
    }
    vec_push(w->arena, &w->to->nodes, node);
}

static void place_leaf(Walk *w, ValueId id)
{
    w->map[id] = graph_add_value(w->to, *graph_value(w->from, id));
    if (graph_value(w->from, id)->kind == VALUE_PARAM)
        vec_push(w->arena, &w->to->params, w->map[id]);
}

/* Depth first, inputs in order, with a stack of our own: graphs are deep. */
static void visit(Walk *w, ValueId root)
{
    VEC(ValueId) stack = {0};
    vec_push(w->arena, &stack, root);
    while (stack.len) {
        ValueId id = vec_last(&stack);
        const Value *value = graph_value(w->from, id);
        if (w->map[id] != VALUE_NONE) {
            stack.len--;
            continue;
        }
        if (value->kind != VALUE_NODE) {
            place_leaf(w, id);
            continue;
        }
        const Node *node = &w->from->nodes.at[value->node];
        uint32_t before = stack.len;
        for (uint32_t i = node->n_in; i-- > 0;) {
            if (node->in[i] != VALUE_NONE && w->map[node->in[i]] == VALUE_NONE)
                vec_push(w->arena, &stack, node->in[i]);
        }
        if (stack.len == before)
            place_node(w, node);
    }
}

static Graph *ordered(Arena *arena, const Graph *graph)
{
    Walk w = {.arena = arena, .from = graph, .to = graph_new(arena, "")};
    w.map = arena_array(arena, ValueId, graph->values.len + 1);
    memset(w.map, 0xff, (graph->values.len + 1) * sizeof *w.map);
    for (uint32_t i = 0; i < graph->inputs.len; i++)
        place_leaf(&w, graph->inputs.at[i]);
    for (uint32_t i = 0; i < graph->inputs.len; i++)
        vec_push(arena, &w.to->inputs, w.map[graph->inputs.at[i]]);
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        visit(&w, graph->outputs.at[i]);
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        vec_push(arena, &w.to->outputs, w.map[graph->outputs.at[i]]);
    return w.to;
}

Graph *graph_normal(Arena *arena, const Graph *graph)
{
    uint64_t *given = NULL;
    Normal source = {0};
    if (graph->source) {
        source = rebuild(arena, graph->source, NULL, NULL);
        given = arena_array(arena, uint64_t, graph->source->outputs.len + 1);
        for (uint32_t i = 0; i < source.to->outputs.len; i++)
            given[i] = source.hashes.at[source.to->outputs.at[i]];
    }
    Graph *out = ordered(arena, rebuild(arena, graph, given, normal_fixed(arena, graph)).to);
    if (!graph->source)
        return out;
    Graph *feeds = source.to;
    VEC(ValueId) kept = {0};
    for (ValueId i = 0; i < out->values.len; i++) {
        Value *value = &out->values.at[i];
        if (value->kind != VALUE_INPUT && value->kind != VALUE_PARAM)
            continue;
        vec_push(arena, &kept, feeds->outputs.at[value->source]);
        value->source = kept.len - 1;
    }
    feeds->outputs.len = 0;
    for (uint32_t i = 0; i < kept.len; i++)
        vec_push(arena, &feeds->outputs, kept.at[i]);
    out->source = ordered(arena, feeds);
    return out;
}
