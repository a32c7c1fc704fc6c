/* What PyTorch may do around a candidate's kernels: allocate and move elements. In: the part of a
 * model's graph that is about to be evaluated. Out: a verdict where it computes.
 *
 * Where moving elements is all the task does, only views are left to PyTorch. A cast to integers or
 * bool is a move as long as it changes no value: 2.0 to 2, but not 2.5. */
#include "eval/candidate_int.h"

#include <math.h>

static bool is_move(Op op)
{
    switch (op) {
    case OP_RANDOM:
    case OP_FULL:
    case OP_ARANGE:
    case OP_LINSPACE:
    case OP_EYE:
    case OP_CAST:
    case OP_RESHAPE:
    case OP_PERMUTE:
    case OP_EXPAND:
    case OP_SLICE:
    case OP_SLICE_SCATTER:
    case OP_CAT:
    case OP_PAD:
    case OP_REPEAT:
    case OP_VIEW_AS_REAL:
    case OP_VIEW_AS_COMPLEX: return true;
    default: return false;
    }
}

static bool is_view(Op op)
{
    return op == OP_RESHAPE || op == OP_RANDOM || op == OP_FULL || op == OP_VIEW_AS_REAL ||
           op == OP_VIEW_AS_COMPLEX;
}

bool eval_task_moves(const Graph *task)
{
    bool all = task->nodes.len > 0;
    for (uint32_t i = 0; all && i < task->nodes.len; i++)
        all = is_move(task->nodes.at[i].op);
    return all;
}

/* Whether the task only moves elements (views alone excepted), so that a kernel may copy. */
bool eval_task_copies(const Graph *task)
{
    bool all = true;
    for (uint32_t i = 0; all && i < task->nodes.len; i++)
        all = is_view(task->nodes.at[i].op) || task->nodes.at[i].op == OP_SLICE ||
              task->nodes.at[i].op == OP_DROPOUT;
    return all;
}

static const char *op_text(Arena *arena, const Node *node)
{
    const char *kind = node_kind_name(node);
    return kind[0] ? str_format(arena, "%s (%s)", kind, op_rows[node->op].name)
                   : op_rows[node->op].name;
}

static bool leaves(EvalJudge *j, const Node *node)
{
    return eval_judge_fail(j, VERDICT_NOT_COMPUTED, STAGE_RUN,
                           str_format(j->arena, "line %u of the model leaves %s to PyTorch",
                                      node->at.line, op_text(j->arena, node)));
}

/* ---- casts ---- */

static bool cuts(const Graph *g, const Node *node)
{
    return node->op == OP_CAST && dtype_is_float(graph_value(g, node->in[0])->dtype) &&
           !dtype_is_float(graph_value(g, node->out)->dtype);
}

/* Whole numbers of an integer type; truth values are 0 and 1. */
bool eval_cast_keeps(const Tensor *t, DType to)
{
    for (int64_t i = 0; i < t->count; i++) {
        double v = tensor_get(t, i);
        if (to == DT_BOOL ? v != 0 && v != 1 : v != nearbyint(v))
            return false;
    }
    return true;
}

static bool cast_keeps(EvalJudge *j, const Graph *graph, const Node *node, Tensor *const *inputs,
                       Tensor *const *params)
{
    Graph g = *graph;
    ValueId from = node->in[0];
    Tensor *value = NULL;
    EvalOptions options = {.seed = j->ref->in.seed};
    Diag quiet = diag_make(j->arena, "model", (Str){0});
    g.outputs.at = &from;
    g.outputs.len = 1;
    bool ok = graph_eval(&g, inputs, params, &options, &value, &quiet) &&
              eval_cast_keeps(value, graph_value(graph, node->out)->dtype);
    tensor_free(value);
    return ok || leaves(j, node);
}

bool eval_moves_only(EvalJudge *j, const Graph *graph, Tensor *const *inputs, Tensor *const *params)
{
    bool views_only = eval_task_moves(j->ref->graph);
    for (uint32_t i = 0; i < graph->nodes.len; i++) {
        const Node *node = &graph->nodes.at[i];
        if (!(views_only ? is_view(node->op) : is_move(node->op)))
            return leaves(j, node);
        if (cuts(graph, node) && j->config->no_values)
            return leaves(j, node);
        if (cuts(graph, node) && !cast_keeps(j, graph, node, inputs, params))
            return false;
    }
    return true;
}
