/* Shape and dtype rules of reductions, scans, sorting and counting. */
#include "graph/infer_int.h"

static bool is_whole(DType dtype) { return dtype_is_int(dtype) || dtype == DT_BOOL; }

static bool need_floating(Infer *infer, DType in)
{
    infer->dtype[0] = in;
    return !is_whole(in) || infer_fail(infer, "needs a floating dtype, got %s", dtype_name(in));
}

static bool reduce_dtype(Infer *infer)
{
    const Node *node = infer->node;
    DType in = infer_in(infer, 0)->dtype;
    bool cast = node_attr(node, AT_DTYPE) != NULL;
    DType type = node_dtype(node, AT_DTYPE, in);
    infer->dtype[0] = type;
    if (node->op == OP_MEDIAN)
        return true;
    switch ((REDUCE_Kind)node->kind) {
    case REDUCE_sum:
    case REDUCE_prod: infer->dtype[0] = is_whole(type) && !cast ? DT_I64 : type; return true;
    case REDUCE_norm:
        infer->dtype[0] = type == DT_C64 ? DT_F32 : type;
        return !is_whole(type) || need_floating(infer, type);
    case REDUCE_mean:
    case REDUCE_var:
    case REDUCE_std: return need_floating(infer, type);
    case REDUCE_logsumexp: infer->dtype[0] = is_whole(type) ? DT_F32 : type; return true;
    case REDUCE_any:
    case REDUCE_all: infer->dtype[0] = in == DT_U8 ? DT_U8 : DT_BOOL; return true;
    case REDUCE_argmax:
    case REDUCE_argmin:
    case REDUCE_count_nonzero: infer->dtype[0] = DT_I64; return true;
    default: return true;
    }
}

/* The set of reduced dims as bits; all of them when the attribute is absent. */
static bool reduced_dims(Infer *infer, Shape in, unsigned *set)
{
    const Attr *attr = node_attr(infer->node, AT_DIMS);
    *set = attr ? 0 : (1u << in.rank) - 1;
    for (uint32_t i = 0; attr && i < attr->ints.len; i++) {
        int64_t dim = attr->ints.at[i];
        if (dim < 0 || dim >= (in.rank ? in.rank : 1) || (*set >> dim & 1))
            return infer_fail(infer, "dim %lld is outside %s or named twice", (long long)dim,
                              infer_text(infer, in));
        *set |= 1u << dim;
    }
    return true;
}

static bool needs_elements(const Node *node)
{
    return node->op != OP_REDUCE || node->kind == REDUCE_max || node->kind == REDUCE_min ||
           node->kind == REDUCE_argmax || node->kind == REDUCE_argmin;
}

static bool has_one_dim(const Node *node)
{
    const Attr *attr = node_attr(node, AT_DIMS);
    return attr && attr->ints.len == 1;
}

bool infer_reduce(Infer *infer)
{
    const Node *node = infer->node;
    Shape in = infer_in(infer, 0)->shape, *out = &infer->out[0];
    unsigned set;
    if (!reduce_dtype(infer) || !reduced_dims(infer, in, &set))
        return false;
    for (int i = 0; i < in.rank; i++) {
        bool gone = set >> i & 1;
        if (gone && in.dim[i] == 0 && needs_elements(node))
            return infer_fail(infer, "nothing to reduce along dim %d of %s", i,
                              infer_text(infer, in));
        if (!gone || node_bool(node, AT_KEEPDIM))
            out->dim[out->rank++] = gone ? 1 : in.dim[i];
    }
    if (node->op == OP_REDUCE_INDEX && node->kind != REDUCE_max && node->kind != REDUCE_min)
        return infer_fail(infer, "has no index");
    if (node->n_out > 1 && !has_one_dim(node))
        return infer_fail(infer, "an index needs exactly one dim");
    infer->out[1] = *out;
    infer->dtype[1] = DT_I64;
    return true;
}

bool infer_scan(Infer *infer)
{
    const Node *node = infer->node;
    DType in = infer_in(infer, 0)->dtype;
    int dim;
    infer->out[0] = infer_in(infer, 0)->shape;
    if (node->op == OP_SCAN) {
        DType type = node_dtype(node, AT_DTYPE, in);
        bool widens = node->kind == SCAN_sum || node->kind == SCAN_prod;
        infer->dtype[0] = widens && is_whole(type) && !node_attr(node, AT_DTYPE) ? DT_I64 : type;
    } else if (!need_floating(infer, infer->dtype[0])) {
        return false;
    }
    return infer_dim(infer, infer->out[0], 0, &dim);
}

bool infer_sort(Infer *infer)
{
    const Value *x = infer_in(infer, 0);
    int dim;
    infer->out[0] = infer->out[1] = x->shape;
    infer->dtype[0] = x->dtype;
    infer->dtype[1] = DT_I64;
    return infer_dim(infer, x->shape, -1, &dim);
}

bool infer_topk(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape;
    int64_t k = node_int(infer->node, AT_K, 0);
    int dim;
    if (!infer_sort(infer) || !infer_dim(infer, in, -1, &dim))
        return false;
    if (k < 0 || k > (in.rank ? in.dim[dim] : 1))
        return infer_fail(infer, "k %lld is larger than dim %d of %s", (long long)k, dim,
                          infer_text(infer, in));
    if (in.rank)
        infer->out[0].dim[dim] = infer->out[1].dim[dim] = k;
    return true;
}

bool infer_histc(Infer *infer)
{
    int64_t bins = node_int(infer->node, AT_SIZE, 100);
    infer->out[0] = (Shape){1, {bins}};
    if (bins < 1)
        return infer_fail(infer, "needs at least one bin");
    if (node_float(infer->node, AT_A, 0) > node_float(infer->node, AT_B, 0))
        return infer_fail(infer, "the range is empty");
    return true;
}

bool infer_bincount(Infer *infer)
{
    const Value *x = infer_in(infer, 0);
    infer->out[0] = (Shape){1, {node_int(infer->node, AT_SIZE, 0)}};
    if (x->shape.rank != 1 || !dtype_is_int(x->dtype) || infer->out[0].dim[0] < 0)
        return infer_fail(infer, "needs a vector of integers");
    return true;
}
