/* Which 64-bit integers need all their bits; see int64.h. */
#include "gen/plan/int64.h"

#include "graph/bounds.h"
#include <math.h>
#include <string.h>

static Graph *copy_values(Arena *arena, const Graph *graph)
{
    Graph *own = arena_new(arena, Graph);
    *own = *graph;
    own->values.at = arena_array(arena, Value, graph->values.len + 1);
    own->values.cap = graph->values.len + 1;
    if (graph->values.len)
        memcpy(own->values.at, graph->values.at, graph->values.len * sizeof(Value));
    return own;
}

const Graph *int64_bounds(Arena *arena, const Graph *graph)
{
    Graph *own = copy_values(arena, graph);
    if (own->source)
        own->source = copy_values(arena, own->source);
    graph_bounds(own);
    return own;
}

static bool beyond_32(const Value *v)
{
    return v->dtype == DT_I64 && !v->weak && v->bounds.known &&
           !bounds_within(v, -0x1p31, 0x1p31 - 1);
}

/* The last bits of the result are those of the operands' last bits. */
static bool keeps_low(const Node *node)
{
    if (node->op == OP_UNARY)
        return node->kind == UNARY_neg || node->kind == UNARY_bitwise_not ||
               node->kind == UNARY_square;
    if (node->op != OP_BINARY)
        return op_move(node).flags & MOVE_VIEW;
    switch (node->kind) {
    case BINARY_add:
    case BINARY_sub:
    case BINARY_mul:
    case BINARY_bitwise_and:
    case BINARY_bitwise_or:
    case BINARY_bitwise_xor: return true;
    default: return false;
    }
}

/* x & 0xffff asks for the last bits of x alone. */
static bool cuts(const Graph *g, const Node *node)
{
    return node->op == OP_BINARY && node->kind == BINARY_bitwise_and &&
           (bounds_within(graph_value(g, node->in[0]), 0, 0x1p31 - 1) ||
            bounds_within(graph_value(g, node->in[1]), 0, 0x1p31 - 1));
}

const bool *int64_values(Arena *arena, const Graph *graph)
{
    bool *high = arena_array(arena, bool, graph->values.len + 1), any = false;
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        high[graph->outputs.at[i]] = true;
    for (uint32_t n = graph->nodes.len; n-- > 0;) {
        const Node *node = &graph->nodes.at[n];
        bool asked = !cuts(graph, node) && (!keeps_low(node) || high[node->out]);
        for (uint32_t i = 0; i < node->n_in; i++)
            if (node->in[i] != VALUE_NONE)
                high[node->in[i]] = high[node->in[i]] || asked;
    }
    for (uint32_t i = 0; i < graph->values.len; i++) {
        const Value *v = graph_value(graph, i);
        bool loaded = v->kind != VALUE_NODE; /* a tile of 32 bits would saturate it */
        high[i] = beyond_32(v) && (high[i] || loaded);
        any = any || high[i];
    }
    return any ? high : NULL;
}

const Node *int64_node(Arena *arena, const Graph *graph)
{
    const bool *wide = int64_values(arena, graph);
    for (uint32_t i = 0; i < graph->nodes.len && wide; i++) {
        const Node *node = &graph->nodes.at[i];
        bool uses = wide[node->out];
        for (uint32_t k = 0; k < node->n_in; k++)
            uses = uses || (node->in[k] != VALUE_NONE && wide[node->in[k]]);
        if (uses && !op_only_moves(node))
            return node;
    }
    return NULL;
}

static double farthest(GraphBounds b) { return fabs(b.low) > fabs(b.high) ? b.low : b.high; }

void int64_refuse(Arena *arena, const Graph *graph, Diag *diag)
{
    const Node *node = int64_node(arena, graph);
    if (!node)
        return;
    double most = 0;
    for (uint32_t k = 0; k <= node->n_in; k++) {
        ValueId id = k < node->n_in ? node->in[k] : node->out;
        double far = id == VALUE_NONE ? 0 : farthest(graph_value(graph, id)->bounds);
        most = fabs(far) > fabs(most) ? far : most;
    }
    const char *kind = node_kind_name(node);
    diag_error(
        diag, "G001", node->at,
        "the planner cannot plan %s%s%s of these 64-bit integers yet: with the inputs of the "
        "file they go up to %.4g, and tiles compute integers in 32 bits",
        op_rows[node->op].name, *kind ? "." : "", kind, most);
}
