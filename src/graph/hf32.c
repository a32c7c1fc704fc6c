/* Convolutions in HF32, as torch_npu computes those of f32 by default. In: a graph. Out: marks on its
 * convolutions, and what they mean: both factors are rounded to 11 bits after the point, sums stay f32. */
#include "graph/eval_int.h"

int64_t graph_conv_products(const Graph *g, const Node *conv)
{
    Shape w = graph_value(g, conv->in[1])->shape;
    int64_t count = 0;
    shape_count(w, &count);
    return count / node_int(conv, AT_GROUPS, 1);
}

static bool is_hf32(const Graph *g, const Node *node)
{
    return node->op == OP_CONV && graph_value(g, node->out)->dtype == DT_F32 &&
           graph_value(g, node->in[0])->dtype == DT_F32 &&
           graph_value(g, node->in[1])->dtype == DT_F32 &&
           (node_bool(node, AT_TRANSPOSED) || graph_conv_products(g, node) > GRAPH_FEW_PRODUCTS);
}

/* Attributes are ordered by key. */
static void add_mark(Graph *g, Node *node)
{
    Attr *all = arena_array(g->arena, Attr, node->n_attr + 1);
    uint32_t n = 0;
    for (; n < node->n_attr && node->attr[n].key < AT_HF32; n++)
        all[n] = node->attr[n];
    all[n] = (Attr){.key = AT_HF32, .i = 1};
    for (; n < node->n_attr; n++)
        all[n + 1] = node->attr[n];
    node->attr = all;
    node->n_attr++;
}

bool graph_use_hf32(Graph *g)
{
    bool any = false;
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        Node *node = &g->nodes.at[i];
        if (!is_hf32(g, node) || node_attr(node, AT_HF32))
            continue;
        add_mark(g, node);
        any = true;
    }
    return any;
}

static Tensor *rounded(EvalNode *e, const Tensor *x)
{
    Tensor *y = eval_scratch(e, x->dtype, x->shape);
    for (int64_t i = 0; y && i < x->count; i++) {
        double v = (double)hf32_round((float)tensor_get(x, i), false);
        tensor_store_f64(y, i, 1, 1, &v);
    }
    return y;
}

bool eval_in_hf32(EvalNode *e, EvalOp *op)
{
    Tensor *in[3] = {NULL, NULL, e->node->n_in > 2 ? e->in[2] : NULL};
    Tensor **was = e->in;
    in[0] = rounded(e, was[0]);
    in[1] = in[0] ? rounded(e, was[1]) : NULL;
    e->in = in;
    bool ok = in[1] && op(e);
    e->in = was;
    tensor_free(in[0]);
    tensor_free(in[1]);
    return ok;
}
