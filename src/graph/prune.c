/* Graphs without dead parts: what no output rests on is left out, the rest is renumbered in
 * order. Inputs stay, since the task's signature names them. */
#include "graph/graph.h"

#include <string.h>

typedef struct Prune {
    Arena *arena;
    const Graph *from;
    Graph *to;
    uint8_t *want;
    ValueId *map;
} Prune;

static void mark(Prune *p)
{
    const Graph *g = p->from;
    for (uint32_t i = 0; i < g->outputs.len; i++)
        p->want[g->outputs.at[i]] = 1;
    for (uint32_t i = 0; i < g->inputs.len; i++)
        p->want[g->inputs.at[i]] = 1;
    for (uint32_t i = g->nodes.len; i-- > 0;) {
        const Node *node = &g->nodes.at[i];
        bool used = false;
        for (uint32_t k = 0; k < node->n_out; k++)
            used = used || p->want[node->out + k];
        if (!used)
            continue;
        for (uint32_t k = 0; k < node->n_out; k++)
            p->want[node->out + k] = 1;
        for (uint32_t k = 0; k < node->n_in; k++) {
            if (node->in[k] != VALUE_NONE)
                p->want[node->in[k]] = 1;
        }
    }
}

static void copy_node(Prune *p, const Node *old)
{
    Node node = *old;
    node.in = arena_array(p->arena, ValueId, node.n_in + 1);
    for (uint32_t i = 0; i < node.n_in; i++)
        node.in[i] = old->in[i] == VALUE_NONE ? VALUE_NONE : p->map[old->in[i]];
    node.out = p->to->values.len;
    for (uint32_t i = 0; i < node.n_out; i++) {
        Value value = *graph_value(p->from, old->out + i);
        value.node = p->to->nodes.len;
        p->map[old->out + i] = graph_add_value(p->to, value);
    }
    vec_push(p->arena, &p->to->nodes, node);
}

Graph *graph_prune(Arena *arena, const Graph *graph)
{
    Prune p = {.arena = arena, .from = graph, .to = graph_new(arena, graph->name)};
    p.want = arena_alloc(arena, graph->values.len + 1);
    p.map = arena_array(arena, ValueId, graph->values.len + 1);
    memset(p.map, 0xff, (graph->values.len + 1) * sizeof *p.map);
    mark(&p);
    for (uint32_t i = 0; i < graph->values.len; i++) {
        const Value *value = graph_value(graph, i);
        if (!p.want[i] || p.map[i] != VALUE_NONE)
            continue;
        if (value->kind == VALUE_NODE)
            copy_node(&p, &graph->nodes.at[value->node]);
        else
            p.map[i] = graph_add_value(p.to, *value);
    }
    for (uint32_t i = 0; i < graph->inputs.len; i++)
        vec_push(arena, &p.to->inputs, p.map[graph->inputs.at[i]]);
    for (uint32_t i = 0; i < graph->params.len; i++) {
        if (p.want[graph->params.at[i]])
            vec_push(arena, &p.to->params, p.map[graph->params.at[i]]);
    }
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        vec_push(arena, &p.to->outputs, p.map[graph->outputs.at[i]]);
    for (uint32_t i = 0; i < graph->notes.len; i++)
        vec_push(arena, &p.to->notes, graph->notes.at[i]);
    p.to->source = graph->source;
    return p.to;
}
