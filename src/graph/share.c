/* What a task says twice, computed once: readers of a node that equals an earlier one read the
 * earlier one. In: a graph. Out: a copy in which values have the numbers they had, so that what was
 * known about the values of one holds for the other. */
#include "graph/graph.h"

#include <string.h>

static bool same_attr(const Attr *a, const Attr *b)
{
    if (a->key != b->key)
        return false;
    switch (attr_rows[a->key].type) {
    case ATTR_INTS:
        return a->ints.len == b->ints.len &&
               (!a->ints.len || !memcmp(a->ints.at, b->ints.at, a->ints.len * sizeof *a->ints.at));
    case ATTR_TEXT: return str_equal(a->text, b->text);
    case ATTR_DTYPE: return a->dtype == b->dtype;
    case ATTR_FLOAT: return !memcmp(&a->f, &b->f, sizeof a->f);
    default: return a->i == b->i;
    }
}

/* Whether both nodes apply the same operator to the same operands, so that their results are
 * equal. */
static bool same_node(const Node *a, const Node *b)
{
    if (a->op != b->op || a->kind != b->kind || a->n_in != b->n_in || a->n_out != b->n_out ||
        a->n_attr != b->n_attr)
        return false;
    for (uint32_t i = 0; i < a->n_in; i++)
        if (a->in[i] != b->in[i])
            return false;
    for (uint32_t i = 0; i < a->n_attr; i++)
        if (!same_attr(&a->attr[i], &b->attr[i]))
            return false;
    return true;
}

static bool same_const(const Value *a, const Value *b)
{
    int64_t bytes = 0;
    return a->kind == VALUE_CONST && b->kind == VALUE_CONST && a->dtype == b->dtype &&
           a->weak == b->weak && shape_equal(a->shape, b->shape) &&
           shape_bytes(a->shape, a->dtype, &bytes) && !memcmp(a->data, b->data, (size_t)bytes);
}

static bool is_result(const Graph *g, const Node *node)
{
    for (uint32_t i = 0; i < g->outputs.len; i++)
        if (g->outputs.at[i] - node->out < node->n_out)
            return true;
    return false;
}

typedef struct Share {
    Arena *arena;
    const Graph *from;
    Graph *to;
    ValueId *as; /* per value: the one that is read instead */
} Share;

static void share_constants(Share *s)
{
    enum { MOST = 256 }; /* of different ones */
    VEC(ValueId) seen = {0};
    for (ValueId id = 0; id < s->from->values.len && seen.len < MOST; id++) {
        const Value *v = graph_value(s->from, id);
        uint32_t k = 0;
        while (k < seen.len && !same_const(graph_value(s->from, seen.at[k]), v))
            k++;
        if (k < seen.len)
            s->as[id] = seen.at[k];
        else if (v->kind == VALUE_CONST)
            vec_push(s->arena, &seen, id);
    }
}

/* The node with what its operands are now. */
static Node read_shared(const Share *s, const Node *old)
{
    Node node = *old;
    node.in = arena_array(s->arena, ValueId, node.n_in + 1);
    for (uint32_t i = 0; i < node.n_in; i++)
        node.in[i] = old->in[i] == VALUE_NONE ? VALUE_NONE : s->as[old->in[i]];
    return node;
}

/* A result of the task stays a node of its own. */
static void share_node(Share *s, const Node *old)
{
    Node node = read_shared(s, old);
    uint32_t first = 0, len = s->to->nodes.len;
    while (first < len && !same_node(&s->to->nodes.at[first], &node))
        first++;
    bool stays = first == len || is_result(s->from, &node);
    for (uint32_t i = 0; i < node.n_out; i++) {
        s->as[node.out + i] = (first < len ? s->to->nodes.at[first].out : node.out) + i;
        s->to->values.at[node.out + i].node = stays ? len : first;
    }
    if (stays)
        vec_push(s->arena, &s->to->nodes, node);
}

Graph *graph_share(Arena *arena, const Graph *graph)
{
    Share s = {arena, graph, arena_new(arena, Graph), NULL};
    *s.to = *graph;
    s.to->arena = arena;
    memset(&s.to->nodes, 0, sizeof s.to->nodes);
    memset(&s.to->values, 0, sizeof s.to->values);
    s.as = arena_array(arena, ValueId, graph->values.len + 1);
    for (ValueId id = 0; id < graph->values.len; id++) {
        s.as[id] = id;
        vec_push(arena, &s.to->values, graph->values.at[id]);
    }
    share_constants(&s);
    for (uint32_t i = 0; i < graph->nodes.len; i++)
        share_node(&s, &graph->nodes.at[i]);
    return s.to;
}
