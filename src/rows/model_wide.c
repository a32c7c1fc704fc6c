/* Products, convolutions, pools, orders, moves as PyTorch writes them. In: a node. Out: an expression. */
#include "rows/model_int.h"

ValueId model_result(const Graph *graph, const Node *node)
{
    bool places = node->n_out > 1 &&
                  (graph_readers(graph, node->out + 1) || graph_is_output(graph, node->out + 1));
    return node->out + places;
}

static const char *conv_text(Writer *w, const Node *node)
{
    const char *bias = model_operand(w, node, 2);
    return str_format(w->arena, "F.conv%ud(%s, %s%s%s, stride=%lld, padding=%lld, groups=%lld)",
                      node_attr(node, AT_STRIDE)->ints.len, model_operand(w, node, 0),
                      model_operand(w, node, 1), bias ? ", bias=" : "", bias ? bias : "",
                      (long long)node_attr(node, AT_STRIDE)->ints.at[0],
                      (long long)node_attr(node, AT_PADDING)->ints.at[0],
                      (long long)node_int(node, AT_GROUPS, 1));
}

static const char *pool_text(Writer *w, const Node *node)
{
    static const char *const names[POOL_COUNT] = {
        [POOL_max] = "max", [POOL_avg] = "avg", [POOL_lp] = "lp"};
    const char *x = model_operand(w, node, 0), *name = names[node->kind];
    if (node->op == OP_ADAPTIVE_POOL) {
        const Attr *shape = node_attr(node, AT_SHAPE);
        return str_format(w->arena, "F.adaptive_%s_pool%ud(%s, %lld)", name, shape->ints.len, x,
                          (long long)shape->ints.at[0]);
    }
    const Attr *kernel = node_attr(node, AT_KERNEL);
    long long size = (long long)kernel->ints.at[0],
              pad = (long long)node_attr(node, AT_PADDING)->ints.at[0];
    long long step = (long long)node_attr(node, AT_STRIDE)->ints.at[0];
    if (node->kind == POOL_lp)
        return str_format(w->arena, "F.lp_pool%ud(%s, %s, %lld, stride=%lld)", kernel->ints.len, x,
                          model_number(w->arena, node_float(node, AT_P, 2)), size, step);
    return str_format(w->arena, "F.%s_pool%ud(%s, %lld, stride=%lld, padding=%lld)", name,
                      kernel->ints.len, x, size, step, pad);
}

static const char *order_text(Writer *w, const Node *node)
{
    const char *x = model_operand(w, node, 0);
    long long dim = (long long)node_int(node, AT_DIM, 0);
    int place = model_result(w->g, node) != node->out;
    switch (node->op) {
    case OP_SORT:
        if (place && w->wording & WORD_METHODS)
            return str_format(w->arena, "torch.argsort(%s, dim=%lld%s)", x, dim,
                              node_bool(node, AT_DESCENDING) ? ", descending=True" : "");
        return str_format(w->arena, "torch.sort(%s, dim=%lld%s)[%d]", x, dim,
                          node_bool(node, AT_DESCENDING) ? ", descending=True" : "", place);
    case OP_TOPK:
        return str_format(w->arena, "torch.topk(%s, %lld, dim=%lld%s)[%d]", x,
                          (long long)node_int(node, AT_K, 1), dim,
                          node_bool(node, AT_LARGEST) ? "" : ", largest=False", place);
    case OP_MEDIAN:
        return str_format(w->arena, "torch.median(%s, dim=%lld)[0]", x,
                          (long long)node_attr(node, AT_DIMS)->ints.at[0]);
    default:
        if (node->kind == SCAN_logsumexp)
            return str_format(w->arena, "torch.logcumsumexp(%s, dim=%lld)", x, dim);
        return str_format(w->arena, "torch.cum%s(%s, dim=%lld)[0]",
                          node->kind == SCAN_max ? "max" : "min", x, dim);
    }
}

static const char *move_text(Writer *w, const Node *node)
{
    const char *x = model_operand(w, node, 0), *y = model_operand(w, node, 1);
    const char *z = model_operand(w, node, 2);
    long long dim = (long long)node_int(node, AT_DIM, 0);
    switch (node->op) {
    case OP_REPEAT_INTERLEAVE:
        return str_format(w->arena, "torch.repeat_interleave(%s, %s, dim=%lld)", x,
                          model_list(w, node_attr(node, AT_SHAPE)), dim);
    case OP_INTERPOLATE: {
        Str scale = node_attr(node, AT_SCALES)->text;
        ptrdiff_t comma = str_find(scale, STR(","));
        return str_format(w->arena, "F.interpolate(%s, scale_factor=%.*s, mode=\"%.*s\")", x,
                          (int)(comma < 0 ? (ptrdiff_t)scale.len : comma), scale.at,
                          STR_ARG(node_attr(node, AT_MODE)->text));
    }
    case OP_INDEX_ADD:
        return str_format(w->arena, "torch.index_add(%s, %lld, %s, %s)", x, dim, y, z);
    case OP_SCATTER: {
        static const char *const by[SCATTER_COUNT] = {
            [SCATTER_max] = "amax", [SCATTER_min] = "amin", [SCATTER_multiply] = "prod"};
        if (by[node->kind])
            return str_format(w->arena, "torch.scatter_reduce(%s, %lld, %s, %s, reduce=\"%s\")", x,
                              dim, y, z, by[node->kind]);
        return str_format(w->arena, "torch.scatter_add(%s, %lld, %s, %s)", x, dim, y, z);
    }
    case OP_ONE_HOT:
        return str_format(w->arena, "F.one_hot(%s, %lld)", x,
                          (long long)node_int(node, AT_SIZE, 1));
    case OP_DIAG: return str_format(w->arena, "torch.diag(%s)", x);
    case OP_EXPAND:
        return str_format(w->arena, "%s.expand(%s)", model_bracketed(w, node, 0),
                          model_list(w, node_attr(node, AT_SHAPE)));
    case OP_IM2COL:
        return str_format(w->arena, "F.unfold(%s, %lld)", x,
                          (long long)node_attr(node, AT_KERNEL)->ints.at[0]);
    case OP_SLICE_SCATTER:
        return str_format(w->arena, "torch.slice_scatter(%s, %s, dim=%lld, start=%lld, end=%lld)",
                          x, y, dim, (long long)node_int(node, AT_START, 0),
                          (long long)node_int(node, AT_END, 0));
    case OP_INDEX: return str_format(w->arena, "%s[%s]", model_bracketed(w, node, 0), y);
    default:
        return str_format(w->arena, "torch.diagonal(%s, dim1=%lld, dim2=%lld)", x,
                          (long long)node_attr(node, AT_DIMS)->ints.at[0],
                          (long long)node_attr(node, AT_DIMS)->ints.at[1]);
    }
}

const char *model_wide(Writer *w, const Node *node)
{
    const char *x = model_operand(w, node, 0), *y = model_operand(w, node, 1);
    const char *z = model_operand(w, node, 2);
    switch (node->op) {
    case OP_MATMUL:
        return w->wording & WORD_METHODS
                   ? str_format(w->arena, "%s @ %s", model_bracketed(w, node, 0),
                                model_bracketed(w, node, 1))
                   : str_format(w->arena, "torch.matmul(%s, %s)", x, y);
    case OP_LINEAR:
        return str_format(w->arena, "F.linear(%s, %s%s%s)", x, y, z ? ", " : "", z ? z : "");
    case OP_EINSUM:
        return str_format(w->arena, "torch.einsum(\"%.*s\", %s, %s)",
                          STR_ARG(node_attr(node, AT_EQUATION)->text), x, y);
    case OP_CONV: return conv_text(w, node);
    case OP_POOL:
    case OP_ADAPTIVE_POOL: return pool_text(w, node);
    case OP_SORT:
    case OP_TOPK:
    case OP_MEDIAN:
    case OP_SCAN: return order_text(w, node);
    case OP_REPEAT_INTERLEAVE:
    case OP_INTERPOLATE:
    case OP_INDEX_ADD:
    case OP_SCATTER:
    case OP_SLICE_SCATTER:
    case OP_INDEX:
    case OP_ONE_HOT:
    case OP_DIAG:
    case OP_EXPAND:
    case OP_IM2COL:
    case OP_DIAGONAL: return move_text(w, node);
    case OP_CROSS:
        return str_format(w->arena, "torch.cross(%s, %s, dim=%lld)", x, y,
                          (long long)node_int(node, AT_DIM, 0));
    case OP_CDIST:
        return str_format(w->arena, "torch.cdist(%s, %s, p=%s)", x, y,
                          model_number(w->arena, node_float(node, AT_P, 2)));
    case OP_NLL_LOSS: return str_format(w->arena, "F.nll_loss(%s, %s)", x, y);
    case OP_LRN:
        return str_format(w->arena, "F.local_response_norm(%s, %lld, alpha=%s, beta=%s, k=%s)", x,
                          (long long)node_int(node, AT_SIZE, 5),
                          model_number(w->arena, node_float(node, AT_A, 1e-4)),
                          model_number(w->arena, node_float(node, AT_B, 0.75)),
                          model_number(w->arena, node_float(node, AT_C, 1)));
    default: return NULL;
    }
}
