/* Plain form: a graph without how its tensors are held and handed over, so that two files which
 * declare the same operator differently can be compared by their normal forms.
 *
 *   tensors    parameters, buffers and arguments are all inputs; those nothing reads are gone
 *   widened    a parameter kept as the exact cast of a narrower tensor is that tensor, cast
 *   numbers    a tensor of one element is an input of rank 0, reshaped where it is read
 *   results    with `loose`, the last cast of each result is left out
 *
 * graph_align then puts the inputs of one plain graph in the order of another's. */
#include "graph/graph.h"

#include <string.h>

typedef struct Plain {
    Arena *arena;
    const Graph *from;
    Graph *to;
    ValueId *map;
    Diag scratch; /* nodes of an inferred graph infer again */
} Plain;

static uint8_t *read_values(Arena *arena, const Graph *graph)
{
    uint8_t *read = arena_alloc(arena, graph->values.len + 1);
    memset(read, 0, graph->values.len + 1);
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        const Node *node = &graph->nodes.at[i];
        for (uint32_t k = 0; k < node->n_in; k++) {
            if (node->in[k] != VALUE_NONE)
                read[node->in[k]] = 1;
        }
    }
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        read[graph->outputs.at[i]] = 1;
    return read;
}

static void plain_node(Plain *p, const Node *old)
{
    ValueId *in = arena_array(p->arena, ValueId, old->n_in + 1), out;
    for (uint32_t i = 0; i < old->n_in; i++)
        in[i] = old->in[i] == VALUE_NONE ? VALUE_NONE : p->map[old->in[i]];
    NodeSpec spec = {.op = old->op,
                     .kind = old->kind,
                     .n_in = old->n_in,
                     .in = in,
                     .n_out = old->n_out,
                     .n_attr = old->n_attr,
                     .attr = old->attr};
    if (!graph_add(p->to, &spec, &p->scratch, &out))
        panic("plain form: %s does not infer", op_rows[spec.op].name);
    for (uint32_t i = 0; i < old->n_out; i++)
        p->map[old->out + i] = out + i;
}

/* The dtype a parameter was drawn in, where only an exact cast stands between. */
static DType drawn_dtype(const Plain *p, const Value *value)
{
    const Graph *source = p->from->source;
    if (!source || value->kind == VALUE_INPUT || value->dtype != DT_F32)
        return value->dtype;
    const Value *drawn = graph_value(source, source->outputs.at[value->source]);
    const Node *node = drawn->kind == VALUE_NODE ? &source->nodes.at[drawn->node] : NULL;
    DType from = node && node->op == OP_CAST ? graph_value(source, node->in[0])->dtype : DT_F32;
    return from == DT_F16 || from == DT_BF16 ? from : DT_F32;
}

static ValueId add_view(Plain *p, Op op, ValueId x, Attr attr)
{
    NodeSpec spec = {.op = op, .n_in = 1, .in = &x, .n_attr = 1, .attr = &attr};
    ValueId out;
    if (!graph_add(p->to, &spec, &p->scratch, &out))
        panic("plain form: %s does not infer", op_rows[op].name);
    return out;
}

static void plain_leaf(Plain *p, ValueId id)
{
    Value value = *graph_value(p->from, id);
    Shape shape = value.shape;
    DType kept = value.dtype;
    int64_t count = 0;
    bool one = shape_count(shape, &count) && count == 1 && shape.rank > 0;
    value.dtype = drawn_dtype(p, &value);
    value.kind = VALUE_INPUT;
    value.source = p->to->inputs.len;
    if (one)
        value.shape = (Shape){0};
    ValueId leaf = graph_add_value(p->to, value);
    vec_push(p->arena, &p->to->inputs, leaf);
    if (value.dtype != kept)
        leaf = add_view(p, OP_CAST, leaf, (Attr){.key = AT_DTYPE, .dtype = kept});
    Attr attr = {.key = AT_SHAPE, .ints = {shape.dim, (uint32_t)shape.rank}};
    p->map[id] = one ? add_view(p, OP_RESHAPE, leaf, attr) : leaf;
}

static ValueId before_cast(const Graph *graph, ValueId id)
{
    const Value *value = graph_value(graph, id);
    const Node *node = value->kind == VALUE_NODE ? &graph->nodes.at[value->node] : NULL;
    return node && node->op == OP_CAST ? node->in[0] : id;
}

Graph *graph_plain(Arena *arena, const Graph *graph, bool loose)
{
    Graph *live = graph_prune(arena, graph);
    Plain p = {.arena = arena, .from = live, .to = graph_new(arena, "")};
    const uint8_t *read = read_values(arena, live);
    p.scratch = diag_make(arena, "", (Str){0});
    p.map = arena_array(arena, ValueId, live->values.len + 1);
    for (ValueId i = 0; i < live->values.len;) {
        const Value *value = graph_value(live, i);
        const Node *node = value->kind == VALUE_NODE ? &live->nodes.at[value->node] : NULL;
        if (node)
            plain_node(&p, node);
        else if (value->kind == VALUE_CONST)
            p.map[i] = graph_add_value(p.to, *value);
        else if (read[i])
            plain_leaf(&p, i);
        i = node ? node->out + node->n_out : i + 1;
    }
    for (uint32_t i = 0; i < live->outputs.len; i++) {
        ValueId out = p.map[live->outputs.at[i]];
        vec_push(arena, &p.to->outputs, loose ? before_cast(p.to, out) : out);
    }
    return graph_prune(arena, p.to);
}

/* --- operands ----------------------------------------------------------------------------- */

static bool like(const Value *a, const Value *b, bool names)
{
    bool typed = a->dtype == b->dtype && shape_equal(a->shape, b->shape);
    return typed && (!names || (a->name && b->name && strcmp(a->name, b->name) == 0));
}

static void match(const Graph *ours, const Graph *theirs, bool names, ValueId *to, uint8_t *taken)
{
    for (uint32_t i = 0; i < ours->inputs.len; i++) {
        for (uint32_t k = 0; k < theirs->inputs.len && to[i] == VALUE_NONE; k++) {
            ValueId id = theirs->inputs.at[k];
            if (taken[k] ||
                !like(graph_value(ours, ours->inputs.at[i]), graph_value(theirs, id), names))
                continue;
            to[i] = id;
            taken[k] = 1;
        }
    }
}

bool graph_align(Arena *arena, const Graph *ours, Graph *theirs, bool names)
{
    uint32_t count = ours->inputs.len;
    if (theirs->inputs.len != count)
        return false;
    ValueId *to = arena_array(arena, ValueId, count + 1);
    uint8_t *taken = arena_alloc(arena, count + 1);
    memset(to, 0xff, (count + 1) * sizeof *to);
    memset(taken, 0, count + 1);
    if (names)
        match(ours, theirs, true, to, taken);
    match(ours, theirs, false, to, taken);
    for (uint32_t i = 0; i < count; i++) {
        if (to[i] == VALUE_NONE)
            return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        theirs->inputs.at[i] = to[i];
        theirs->values.at[to[i]].source = i;
    }
    return true;
}
