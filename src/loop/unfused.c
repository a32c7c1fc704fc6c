/* The time of a task operator by operator. In: its graph. Out: microseconds. */
#include "loop/unfused.h"

#include <math.h>

static bool is_view(const Node *node)
{
    return op_move(node).flags & MOVE_VIEW || node->op == OP_VIEW_AS_REAL ||
           node->op == OP_VIEW_AS_COMPLEX;
}

static double bytes_of(const Graph *graph, ValueId id)
{
    int64_t bytes = 0;
    if (id == VALUE_NONE)
        return 0;
    const Value *v = graph_value(graph, id);
    return shape_bytes(v->shape, v->dtype, &bytes) ? (double)bytes : 0;
}

double time_operator_us(const Graph *graph, const Node *node, const NpuChip *chip)
{
    double bytes = 0;
    if (is_view(node))
        return 0;
    for (uint32_t k = 0; k < node->n_in; k++)
        bytes += bytes_of(graph, node->in[k]);
    for (uint32_t k = 0; k < node->n_out; k++)
        bytes += bytes_of(graph, node->out + k);
    return npu_constants[NPU_C_TASK_LEAST_US].value +
           (chip->gm_tbps > 0 ? bytes / (chip->gm_tbps * 1e6) : 0);
}

double time_unfused_us(const Graph *graph, const NpuChip *chip)
{
    double us = 0;
    for (uint32_t i = 0; i < graph->nodes.len; i++)
        us += time_operator_us(graph, &graph->nodes.at[i], chip);
    return us > 0 ? us : (double)NAN;
}
