/* Does what was read hold for any values? In: a task. Out: an error where a kernel would hold for the
 * values drawn alone: a number of Python's was taken from a tensor, or how many elements a mask
 * picks goes on into the computation. Branches are left to the summary, which names them. */
#include "loop/make_int.h"

static const char usual_advice[] =
    "sizes, loops and options of a call must follow from shapes and constants; in arithmetic leave "
    "out .item(), .tolist() and int()";

static bool is_drawn_number(const TorchTask *task, Diag *diag)
{
    for (uint32_t i = 0; i < task->looks.len; i++) {
        if (task->looks.at[i].branch)
            continue;
        const char *advice = task->looks.at[i].advice;
        diag_error(
            diag, "G005", task->looks.at[i].at,
            "a number of Python's is made here from values that are drawn; the kernel would be "
            "right for these alone: %s",
            advice ? advice : usual_advice);
        return true;
    }
    return false;
}

/* The result is as long as the operand whose length only values tell. */
static bool keeps_length(const Graph *graph, const Node *node, int64_t length)
{
    Shape shape = graph_value(graph, node->out)->shape;
    for (int i = 0; i < shape.rank; i++)
        if (shape.dim[i] == length)
            return true;
    return false;
}

static int64_t drawn_length(const Node *node, const int64_t *length)
{
    if (node->op == OP_NONZERO || node->op == OP_MASKED_SELECT)
        return node_int(node, AT_SIZE, 0);
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != VALUE_NONE && length[node->in[i]] >= 0)
            return length[node->in[i]];
    return -1;
}

static bool is_drawn_length(Arena *arena, const Graph *graph, Diag *diag)
{
    int64_t *length = arena_array(arena, int64_t, graph->values.len + 1);
    for (uint32_t i = 0; i < graph->values.len; i++)
        length[i] = -1;
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        const Node *node = &graph->nodes.at[i];
        int64_t n = drawn_length(node, length);
        if (n < 0 || node->op == OP_INDEX_PUT)
            continue;
        if (!keeps_length(graph, node, n)) {
            diag_error(diag, "G005", node->at,
                       "how many elements the mask picks depends on values, and %s needs to know; "
                       "write it with torch.where and the mask's own sum",
                       op_rows[node->op].name);
            return true;
        }
        for (uint32_t k = 0; k < node->n_out; k++)
            length[node->out + k] = n;
    }
    return false;
}

bool make_holds(Arena *arena, const TorchTask *task, Diag *diag)
{
    return !is_drawn_number(task, diag) && !is_drawn_length(arena, task->graph, diag);
}
