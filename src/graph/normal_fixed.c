/* Values that are the same in every run: masks, tables of places. In: a graph and its source. Out:
 * the elements of each integer or bool value that rests on no input, parameter or random number
 * and that something else reads. Two files may build such a mask in any way (a buffer cut to
 * size, a loop, a comparison of positions): what counts is what stands in it. Floats are left as
 * they are computed, since two ways to compute them may round differently. */
#include "graph/normal_int.h"

#include "graph/eval.h"
#include <string.h>

enum { MOST_ELEMENTS = 1 << 22 };
static const int64_t most_bytes = INT64_C(1) << 30;

typedef VEC(ValueId) Ids;

/* --- which -------------------------------------------------------------------------------- */

static bool node_fixed(const Node *node, const uint8_t *fixed)
{
    if (node->op == OP_RANDOM || node->op == OP_DROPOUT)
        return false;
    for (uint32_t i = 0; i < node->n_in; i++) {
        if (node->in[i] != VALUE_NONE && !fixed[node->in[i]])
            return false;
    }
    return true;
}

/* `given`: of the source graph's outputs, which are fixed; NULL for the source graph itself. */
static uint8_t *mark_fixed(Arena *arena, const Graph *g, const uint8_t *given)
{
    uint8_t *fixed = arena_alloc(arena, g->values.len + 1);
    for (ValueId v = 0; v < g->values.len; v++) {
        const Value *value = graph_value(g, v);
        switch (value->kind) {
        case VALUE_CONST: fixed[v] = 1; break;
        case VALUE_BUFFER: fixed[v] = given && given[value->source]; break;
        case VALUE_NODE: fixed[v] = node_fixed(&g->nodes.at[value->node], fixed); break;
        default: break;
        }
    }
    return fixed;
}

static uint8_t *fixed_sources(Arena *arena, const Graph *source)
{
    uint8_t *fixed = mark_fixed(arena, source, NULL);
    uint8_t *given = arena_alloc(arena, source->outputs.len + 1);
    for (uint32_t i = 0; i < source->outputs.len; i++)
        given[i] = fixed[source->outputs.at[i]];
    return given;
}

static void add_wanted(const Graph *g, ValueId id, const uint8_t *fixed, uint8_t *wanted)
{
    int64_t count;
    const Value *value = id == VALUE_NONE ? NULL : graph_value(g, id);
    if (value && fixed[id] && value->kind != VALUE_CONST && !dtype_is_float(value->dtype) &&
        value->dtype != DT_C64 && shape_count(value->shape, &count) && count <= MOST_ELEMENTS)
        wanted[id] = 1;
}

/* The last fixed values on each path: those read by a node that is not fixed, and outputs. */
static Ids find_wanted(Arena *arena, const Graph *g, const uint8_t *fixed)
{
    uint8_t *wanted = arena_alloc(arena, g->values.len + 1);
    Ids ids = {0};
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        for (uint32_t i = 0; i < node->n_in && !fixed[node->out]; i++)
            add_wanted(g, node->in[i], fixed, wanted);
    }
    for (uint32_t i = 0; i < g->outputs.len; i++)
        add_wanted(g, g->outputs.at[i], fixed, wanted);
    for (ValueId v = 0; v < g->values.len; v++) {
        if (wanted[v])
            vec_push(arena, &ids, v);
    }
    return ids;
}

/* --- values ------------------------------------------------------------------------------- */

/* The part of a graph that these values rest on. */
static Graph *part_for(Arena *arena, const Graph *g, const ValueId *ids, uint32_t n)
{
    Graph view = *g;
    memset(&view.outputs, 0, sizeof view.outputs);
    memset(&view.inputs, 0, sizeof view.inputs);
    memset(&view.notes, 0, sizeof view.notes);
    for (uint32_t i = 0; i < n; i++)
        vec_push(arena, &view.outputs, ids[i]);
    return graph_prune(arena, &view);
}

static Tensor **evaluate(Arena *arena, const Graph *g, Tensor *const *params)
{
    Diag diag = diag_make(arena, "", (Str){0});
    EvalOptions options = {.memory = most_bytes};
    Tensor **out = arena_array(arena, Tensor *, g->outputs.len + 1);
    return graph_eval(g, NULL, params, &options, out, &diag) ? out : NULL;
}

static void free_all(Tensor **tensors, uint32_t n)
{
    for (uint32_t i = 0; tensors && i < n; i++)
        tensor_free(tensors[i]);
}

static Tensor **evaluate_part(Arena *arena, const Graph *source, const Graph *part)
{
    Ids ids = {0};
    for (uint32_t i = 0; i < part->params.len; i++)
        vec_push(arena, &ids, source->outputs.at[graph_value(part, part->params.at[i])->source]);
    Tensor **params = ids.len ? evaluate(arena, part_for(arena, source, ids.at, ids.len), NULL)
                              : NULL;
    Tensor **out = ids.len && !params ? NULL : evaluate(arena, part, params);
    free_all(params, ids.len);
    return out;
}

const void *const *normal_fixed(Arena *arena, const Graph *graph)
{
    uint8_t *given = graph->source ? fixed_sources(arena, graph->source) : NULL;
    Ids ids = find_wanted(arena, graph, mark_fixed(arena, graph, given));
    if (!ids.len)
        return NULL;
    Tensor **values = evaluate_part(arena, graph->source, part_for(arena, graph, ids.at, ids.len));
    if (!values)
        return NULL;
    const void **fixed = arena_array(arena, const void *, graph->values.len + 1);
    for (uint32_t i = 0; i < ids.len; i++) {
        size_t bytes = (size_t)values[i]->count * dtype_bytes(values[i]->dtype);
        void *copy = arena_alloc(arena, bytes + 8);
        memcpy(copy, values[i]->at, bytes);
        fixed[ids.at[i]] = copy;
    }
    free_all(values, ids.len);
    return fixed;
}
