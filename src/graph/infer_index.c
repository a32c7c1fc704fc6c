/* Shape rules of gather, scatter and the other indexing operators. */
#include "graph/infer_int.h"

static bool need_index(Infer *infer, uint32_t input)
{
    DType dtype = infer_in(infer, input)->dtype;
    return dtype_is_int(dtype) ||
           infer_fail(infer, "an index must be an integer tensor, not %s", dtype_name(dtype));
}

/* Rank 0 acts as one element. */
static Shape at_least_1d(Shape shape) { return shape.rank ? shape : (Shape){1, {1}}; }

static bool fits_beside(Infer *infer, Shape index, Shape x, int dim)
{
    if (index.rank != x.rank)
        return infer_fail(infer, "index %s and tensor %s differ in rank", infer_text(infer, index),
                          infer_text(infer, x));
    for (int i = 0; i < x.rank; i++) {
        if (i != dim && index.dim[i] > x.dim[i])
            return infer_fail(infer, "index %s is larger than %s along dim %d",
                              infer_text(infer, index), infer_text(infer, x), i);
    }
    return true;
}

bool infer_gather(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape, index = infer_in(infer, 1)->shape;
    int dim;
    infer->out[0] = index;
    return need_index(infer, 1) && infer_dim(infer, x, 0, &dim) &&
           fits_beside(infer, at_least_1d(index), at_least_1d(x), dim);
}

bool infer_scatter(Infer *infer)
{
    Shape x = at_least_1d(infer_in(infer, 0)->shape);
    Shape index = at_least_1d(infer_in(infer, 1)->shape);
    int dim;
    infer->out[0] = infer_in(infer, 0)->shape;
    if (!need_index(infer, 1) || !infer_dim(infer, x, 0, &dim) ||
        !fits_beside(infer, index, x, dim))
        return false;
    if (infer_in(infer, 2)->weak)
        return true;
    Shape source = at_least_1d(infer_in(infer, 2)->shape);
    return fits_beside(infer, index, source, -1);
}

bool infer_index_select(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape, index = at_least_1d(infer_in(infer, 1)->shape);
    int dim;
    if (!need_index(infer, 1) || !infer_dim(infer, x, 0, &dim))
        return false;
    if (index.rank != 1)
        return infer_fail(infer, "the index must be a vector, got %s", infer_text(infer, index));
    infer->out[0] = x;
    if (x.rank)
        infer->out[0].dim[dim] = index.dim[0];
    return true;
}

bool infer_index_write(Infer *infer)
{
    Shape x = infer_in(infer, 0)->shape, index = at_least_1d(infer_in(infer, 1)->shape);
    Shape source = infer_in(infer, 2)->shape, want = x;
    int dim;
    if (!need_index(infer, 1) || !infer_dim(infer, x, 0, &dim))
        return false;
    if (index.rank != 1)
        return infer_fail(infer, "the index must be a vector, got %s", infer_text(infer, index));
    if (x.rank)
        want.dim[dim] = index.dim[0];
    infer->out[0] = x;
    return shape_equal(want, source) ||
           infer_fail(infer, "the source must have shape %s, got %s", infer_text(infer, want),
                      infer_text(infer, source));
}

/* Result of indexing x by the tensors from input `first` on: the broadcast index shape goes
 * where the indexed dims stood when they are neighbours, else to the front. */
static bool indexed_shape(Infer *infer, uint32_t first, Shape *out)
{
    const Node *node = infer->node;
    Shape x = infer_in(infer, 0)->shape, common = {0};
    uint32_t count = node->n_in - first;
    const int64_t *dims;
    if (!infer_ints(infer, AT_DIMS, count, 0, &dims))
        return false;
    unsigned set = 0;
    bool neighbours = true;
    for (uint32_t i = 0; i < count; i++) {
        Shape index = infer_in(infer, first + i)->shape;
        if (!need_index(infer, first + i))
            return false;
        if (dims[i] >= x.rank || (set >> dims[i] & 1))
            return infer_fail(infer, "dim %lld is outside %s or named twice", (long long)dims[i],
                              infer_text(infer, x));
        if (!shape_broadcast(common, index, &common))
            return infer_fail(infer, "index shapes %s and %s do not broadcast",
                              infer_text(infer, common), infer_text(infer, index));
        neighbours = neighbours && (i == 0 || dims[i] == dims[i - 1] + 1);
        set |= 1u << dims[i];
    }
    if (x.rank - (int)count + common.rank > GRAPH_MAX_RANK)
        return infer_fail(infer, "the result has more than %d dims", GRAPH_MAX_RANK);
    int place = neighbours ? (int)dims[0] : 0;
    *out = (Shape){0};
    for (int i = 0, kept = 0; i <= x.rank; i++) {
        if (kept == place) {
            for (int j = 0; j < common.rank; j++)
                out->dim[out->rank++] = common.dim[j];
            kept++;
        }
        if (i < x.rank && !(set >> i & 1)) {
            out->dim[out->rank++] = x.dim[i];
            kept++;
        }
    }
    return true;
}

bool infer_index(Infer *infer) { return indexed_shape(infer, 1, &infer->out[0]); }

bool infer_index_put(Infer *infer)
{
    Shape slot, both;
    Shape values = infer_in(infer, 1)->shape;
    if (!indexed_shape(infer, 2, &slot))
        return false;
    infer->out[0] = infer_in(infer, 0)->shape;
    return (shape_broadcast(slot, values, &both) && shape_equal(slot, both)) ||
           infer_fail(infer, "values %s do not broadcast to %s", infer_text(infer, values),
                      infer_text(infer, slot));
}

static bool counted(Infer *infer, int64_t most, int64_t *size)
{
    *size = node_int(infer->node, AT_SIZE, -1);
    return (*size >= 0 && *size <= most) || infer_fail(infer, "needs the number of true elements");
}

bool infer_masked_select(Infer *infer)
{
    Shape both;
    int64_t all, size;
    if (infer_in(infer, 1)->dtype != DT_BOOL)
        return infer_fail(infer, "the mask must be bool");
    if (!shape_broadcast(infer_in(infer, 0)->shape, infer_in(infer, 1)->shape, &both) ||
        !shape_count(both, &all))
        return infer_fail(infer, "tensor and mask do not broadcast");
    if (!counted(infer, all, &size))
        return false;
    infer->out[0] = (Shape){1, {size}};
    return true;
}

bool infer_nonzero(Infer *infer)
{
    Shape in = infer_in(infer, 0)->shape;
    int64_t all, size;
    if (!shape_count(in, &all) || !counted(infer, all, &size))
        return false;
    infer->out[0] = (Shape){2, {size, in.rank}};
    return true;
}

bool infer_embedding(Infer *infer)
{
    Shape weight = infer_in(infer, 0)->shape, out = infer_in(infer, 1)->shape;
    if (!need_index(infer, 1))
        return false;
    if (weight.rank != 2 || out.rank >= GRAPH_MAX_RANK)
        return infer_fail(infer, "needs a weight matrix, got %s", infer_text(infer, weight));
    out.dim[out.rank++] = weight.dim[1];
    infer->out[0] = out;
    return true;
}

bool infer_embedding_grad(Infer *infer)
{
    Shape grad = infer_in(infer, 0)->shape, index = infer_in(infer, 1)->shape, lead = grad;
    int64_t rows = node_int(infer->node, AT_SIZE, -1);
    lead.rank--;
    if (!need_index(infer, 1))
        return false;
    if (rows < 0 || grad.rank < 1 || !shape_equal(lead, index))
        return infer_fail(infer, "gradient %s does not go with index %s", infer_text(infer, grad),
                          infer_text(infer, index));
    infer->out[0] = (Shape){2, {rows, grad.dim[grad.rank - 1]}};
    return true;
}

bool infer_one_hot(Infer *infer)
{
    int64_t size = node_int(infer->node, AT_SIZE, -1);
    Shape *out = &infer->out[0];
    *out = infer_in(infer, 0)->shape;
    if (!need_index(infer, 0))
        return false;
    if (size < 1 || out->rank >= GRAPH_MAX_RANK)
        return infer_fail(infer, "needs the number of classes");
    out->dim[out->rank++] = size;
    return true;
}
