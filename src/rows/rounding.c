/* Tasks whose right programs differ by more than rounding. In: a task. Out: whether its results depend on how values
 * between its operators are rounded, in 16 bits; on the last bit of a function, where the place of the largest is asked.
 *
 * The reference rounds after every operator, a kernel that holds values in f32 does not. A comparison of
 * rounded values, or a rounding to whole numbers, then takes the other side for single elements; values that
 * cancel lose their digits. The first is seen in the graph, the second in the share of the tolerance that
 * the program uses at a larger size (rows_margin). */
#include "rows/rows_int.h"

static bool is_short(DType dtype) { return dtype == DT_F16 || dtype == DT_BF16; }

bool rows_is_short(const Graph *graph)
{
    for (uint32_t i = 0; i < graph->inputs.len; i++)
        if (is_short(graph_value(graph, graph->inputs.at[i])->dtype))
            return true;
    return false;
}

/* Whether the node's results are elements of its operands, or exact for any of them. */
static bool is_exact(const Node *node)
{
    switch (node->op) {
    case OP_RESHAPE:
    case OP_PERMUTE:
    case OP_SLICE:
    case OP_CAT:
    case OP_FLIP:
    case OP_ROLL:
    case OP_REPEAT:
    case OP_PAD:
    case OP_UNFOLD:
    case OP_WHERE:
    case OP_CLAMP: return true;
    case OP_UNARY:
        return node->kind == UNARY_neg || node->kind == UNARY_abs || node->kind == UNARY_relu;
    case OP_BINARY: return node->kind == BINARY_maximum || node->kind == BINARY_minimum;
    case OP_REDUCE: return node->kind == REDUCE_max || node->kind == REDUCE_min;
    default: return false;
    }
}

/* Whether the node makes a step of its operand's values: a small difference decides. */
static bool is_step(const Graph *graph, const Node *node)
{
    if (node->op == OP_UNARY)
        return node->kind == UNARY_floor || node->kind == UNARY_ceil || node->kind == UNARY_sign ||
               node->kind == UNARY_hardshrink;
    return node->op == OP_BINARY && graph_value(graph, node->out)->dtype == DT_BOOL;
}

/* Whether the node's results say where elements stand. */
static bool is_place(const Graph *graph, const Node *node)
{
    if (node->op == OP_REDUCE)
        return node->kind == REDUCE_argmax || node->kind == REDUCE_argmin;
    bool two = node->op == OP_REDUCE_INDEX || node->op == OP_SORT || node->op == OP_TOPK;
    return two && node->n_out > 1 &&
           (graph_readers(graph, node->out + 1) || graph_is_output(graph, node->out + 1));
}

/* Whether every machine computes the same f32 of the same operands. Functions differ in the last bit, and where they
 * level off many of their values are equal. */
static bool is_same_everywhere(const Node *node)
{
    return is_exact(node) ||
           (node->op == OP_BINARY &&
            (node->kind == BINARY_add || node->kind == BINARY_sub || node->kind == BINARY_mul));
}

bool rows_place_decides(Arena *arena, const Graph *graph)
{
    bool *differs = arena_array(arena, bool, graph->values.len + 1);
    bool exact = !rows_is_short(graph);
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        const Node *node = &graph->nodes.at[i];
        bool any = false;
        for (uint32_t k = 0; k < node->n_in; k++)
            any = any || (node->in[k] != VALUE_NONE && differs[node->in[k]]);
        if (any && is_place(graph, node))
            return true;
        differs[node->out] = any || !(exact ? is_same_everywhere(node) : is_exact(node));
    }
    return false;
}

bool rows_rounding_decides(Arena *arena, const Graph *graph)
{
    bool *rounded = arena_array(arena, bool, graph->values.len + 1);
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        const Node *node = &graph->nodes.at[i];
        bool any = false;
        for (uint32_t k = 0; k < node->n_in; k++)
            any = any || (node->in[k] != VALUE_NONE && rounded[node->in[k]]);
        if (any && is_step(graph, node))
            return true;
        rounded[node->out] = any || !is_exact(node);
    }
    return false;
}
