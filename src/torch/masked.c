/* What a mask picks, without how many that are (masked.h). A value that is made row by row from
 * picked rows is made once more from all rows; what reduces it then leaves the others out. */
#include "torch/masked.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 160, MASK_STEPS = 8 };

/* Rows of `whole` [rows, rest...] where `mask` [rows] is true, in order. */
typedef struct Rows {
    ValueId mask, whole;
} Rows;

static bool rows_of(Interp *it, ValueId v, int steps, Rows *out);

static const Node *node_of(Interp *it, ValueId id)
{
    const Value *v = emit_info(it, id);
    return v->kind == VALUE_NODE ? &it->graphs[it->graph]->nodes.at[v->node] : NULL;
}

/* ---- the mask ---- */

static bool same_attrs(const Node *a, const Node *b)
{
    if (a->n_attr != b->n_attr)
        return false;
    for (uint32_t i = 0; i < a->n_attr; i++) {
        const Attr *x = &a->attr[i], *y = &b->attr[i];
        bool list = attr_rows[x->key].type == ATTR_INTS, text = attr_rows[x->key].type == ATTR_TEXT;
        if (x->key != y->key || (text && !str_equal(x->text, y->text)) ||
            (!list && !text && x->i != y->i) ||
            (list && (x->ints.len != y->ints.len ||
                      memcmp(x->ints.at, y->ints.at, x->ints.len * sizeof *x->ints.at) != 0)))
            return false;
    }
    return true;
}

static bool same_number(const Value *a, const Value *b)
{
    return a->kind == VALUE_CONST && b->kind == VALUE_CONST && a->dtype == b->dtype &&
           a->shape.rank == 0 && b->shape.rank == 0 &&
           memcmp(a->data, b->data, dtype_bytes(a->dtype)) == 0;
}

/* Computed from the same values by the same operators. */
static bool same_value(Interp *it, ValueId a, ValueId b, int steps)
{
    if (a == b || a == VALUE_NONE || b == VALUE_NONE)
        return a == b;
    const Node *x = node_of(it, a), *y = node_of(it, b);
    if (!x || !y)
        return same_number(emit_info(it, a), emit_info(it, b));
    if (!steps || x->op == OP_RANDOM || x->op != y->op || x->kind != y->kind ||
        x->n_in != y->n_in || a - x->out != b - y->out || !same_attrs(x, y))
        return false;
    for (uint32_t i = 0; i < x->n_in; i++)
        if (!same_value(it, x->in[i], y->in[i], steps - 1))
            return false;
    return true;
}

/* v is column k of where a mask is true. */
static bool place_of(Interp *it, ValueId v, int k, ValueId *mask)
{
    const Node *node = node_of(it, v);
    if (node && node->op == OP_RESHAPE)
        node = node_of(it, node->in[0]);
    if (!node || node->op != OP_SLICE || node_int(node, AT_DIM, 0) != 1 ||
        node_int(node, AT_START, 0) != k)
        return false;
    node = node_of(it, node->in[0]);
    if (!node || node->op != OP_NONZERO || (k && node->in[0] != *mask))
        return false;
    *mask = node->in[0];
    return true;
}

static ValueId flat_rows(Interp *it, Span at, ValueId x, int rank)
{
    Shape shape = emit_info(it, x)->shape, flat = {1 + shape.rank - rank, {1}};
    for (int i = 0; i < rank; i++)
        flat.dim[0] *= shape.dim[i];
    memcpy(flat.dim + 1, shape.dim + rank, (size_t)(shape.rank - rank) * sizeof *flat.dim);
    return emit_reshape(it, at, x, flat);
}

/* x[mask], x[torch.where(mask)], torch.masked_select(x, mask) */
static bool picked_rows(Interp *it, Node node, Rows *out)
{
    ValueId mask = VALUE_NONE;
    const Attr *dims = node_attr(&node, AT_DIMS);
    if (node.op == OP_MASKED_SELECT)
        mask = node.in[1];
    else if (node.op != OP_INDEX || !dims)
        return false;
    for (uint32_t i = 1; node.op == OP_INDEX && i < node.n_in; i++)
        if (dims->ints.at[i - 1] != i - 1 || !place_of(it, node.in[i], (int)i - 1, &mask))
            return false;
    int rank = emit_info(it, mask)->shape.rank;
    if (!rank || (node.op == OP_INDEX && rank != (int)node.n_in - 1) ||
        emit_info(it, mask)->dtype != DT_BOOL)
        return false;
    out->mask = flat_rows(it, node.at, mask, rank);
    out->whole = flat_rows(it, node.at, node.in[0], rank);
    return true;
}

/* ---- the whole ---- */

/* The mask beside a value whose rows it speaks of. */
static ValueId wide_mask(Interp *it, Span at, ValueId mask, ValueId whole)
{
    Shape shape = {emit_info(it, whole)->shape.rank, {emit_info(it, mask)->shape.dim[0]}};
    for (int i = 1; i < shape.rank; i++)
        shape.dim[i] = 1;
    return emit_reshape(it, at, mask, shape);
}

static ValueId filled(Interp *it, Span at, Rows rows, double other)
{
    DType dtype = emit_info(it, rows.whole)->dtype;
    ValueId fill = emit_cast(it, at, graph_const_float(it->graphs[it->graph], other), dtype);
    return emit3(it, at, OP_WHERE, wide_mask(it, at, rows.mask, rows.whole), rows.whole, fill,
                 NULL);
}

static bool over_rows(const Node *node, Shape shape)
{
    const Attr *dims = node_attr(node, AT_DIMS);
    int dim;
    for (uint32_t i = 0; dims && i < dims->ints.len; i++)
        if (!shape_dim(shape, dims->ints.at[i], &dim) || dim == 0)
            return true;
    return !dims;
}

/* Each row of the result comes from the same row of the operands that have rows. */
static bool row_by_row(Interp *it, const Node *node)
{
    Shape shape = emit_info(it, node->in[0])->shape, out = emit_info(it, node->out)->shape;
    int dim;
    if (op_is_elementwise(node->op))
        return true;
    switch (node->op) {
    case OP_REDUCE: return shape.rank > 1 && !over_rows(node, shape);
    case OP_RESHAPE: return shape.rank && out.rank && shape.dim[0] == out.dim[0];
    case OP_SOFTMAX:
    case OP_SLICE:
    case OP_GATHER:
    case OP_COSINE_SIMILARITY: return shape_dim(shape, node_int(node, AT_DIM, -1), &dim) && dim > 0;
    case OP_LOSS: return str_is(node_text(node, AT_REDUCTION), "none");
    case OP_ONE_HOT: return true;
    default: return false;
    }
}

/* A place under the mask that nobody looks at must still be one. */
static bool reads_by_index(const Node *node, uint32_t i)
{
    return (node->op == OP_GATHER && i == 1) || (node->op == OP_ONE_HOT && i == 0);
}

static bool rows_of_operand(Interp *it, const Node *node, uint32_t i, int steps, int rank,
                            ValueId *in, Rows *out)
{
    Rows rows;
    in[i] = node->in[i];
    if (node->in[i] == VALUE_NONE)
        return true;
    Shape shape = emit_info(it, node->in[i])->shape;
    if (!rows_of(it, node->in[i], steps - 1, &rows))
        return shape.rank < rank || shape.dim[0] == 1;
    if (shape.rank != rank ||
        (out->mask != VALUE_NONE && !same_value(it, out->mask, rows.mask, MASK_STEPS)))
        return false;
    out->mask = out->mask == VALUE_NONE ? rows.mask : out->mask;
    in[i] = reads_by_index(node, i) ? filled(it, node->at, rows, 0) : rows.whole;
    return true;
}

static bool made_row_by_row(Interp *it, Node node, int steps, Rows *out)
{
    ValueId in[8];
    Attr attr[16];
    int rank = 0;
    if (node.n_in > 8 || node.n_attr > 16 || node.n_out != 1 || !row_by_row(it, &node))
        return false;
    *out = (Rows){VALUE_NONE, VALUE_NONE};
    for (uint32_t i = 0; i < node.n_in; i++)
        if (node.in[i] != VALUE_NONE && emit_info(it, node.in[i])->shape.rank > rank)
            rank = emit_info(it, node.in[i])->shape.rank;
    for (uint32_t i = 0; i < node.n_in; i++)
        if (!rows_of_operand(it, &node, i, steps, rank, in, out))
            return false;
    if (out->mask == VALUE_NONE)
        return false;
    memcpy(attr, node.attr, node.n_attr * sizeof *attr);
    Shape shape = emit_info(it, node.out)->shape;
    shape.dim[0] = emit_info(it, out->mask)->shape.dim[0];
    for (uint32_t i = 0; i < node.n_attr; i++)
        if (node.op == OP_RESHAPE && attr[i].key == AT_SHAPE)
            attr[i].ints.at = shape.dim;
    Attrs attrs = {.n = node.n_attr};
    memcpy(attrs.at, attr, node.n_attr * sizeof *attr);
    out->whole = emit(it, node.at, node.op, node.kind, node.n_in, in, &attrs, 0);
    return true;
}

/* What is known of v; values never change, so that each is looked at once. */
static MaskedRows *known_rows(Interp *it, ValueId v)
{
    static const MaskedRows unknown = {0};
    while (it->masked.len <= v)
        vec_push(it->arena, &it->masked, unknown);
    return &it->masked.at[v];
}

static bool rows_of(Interp *it, ValueId v, int steps, Rows *out)
{
    const Node *node = node_of(it, v);
    MaskedRows known = *known_rows(it, v);
    if (!node || !steps || !emit_info(it, v)->shape.rank || known.seen)
        *out = (Rows){known.mask, known.whole};
    else {
        Node copy = *node;
        interp_step(it, 1, copy.at);
        known.seen = true;
        known.rows = picked_rows(it, copy, out) || made_row_by_row(it, copy, steps, out);
        known.mask = out->mask;
        known.whole = out->whole;
        *known_rows(it, v) = known;
    }
    return known.rows;
}

/* ---- reductions ---- */

static ValueId count_of(Interp *it, Span at, ValueId mask)
{
    return emit1(it, at, OP_REDUCE, REDUCE_sum, mask, NULL);
}

static ValueId reduce(Interp *it, Span at, int kind, ValueId x, const Attrs *attrs)
{
    return emit1(it, at, OP_REDUCE, kind, x, attrs);
}

/* A half sum is carried and divided in f32, as PyTorch's mean is. */
static ValueId mean_of(Interp *it, Span at, Rows rows, const Attrs *attrs, double correction,
                       int64_t others)
{
    DType own = emit_info(it, rows.whole)->dtype;
    rows.whole = emit_cast(it, at, rows.whole, own == DT_F64 ? DT_F64 : DT_F32);
    ValueId sum = reduce(it, at, REDUCE_sum, filled(it, at, rows, 0), attrs);
    ValueId n = count_of(it, at, rows.mask);
    Graph *graph = it->graphs[it->graph];
    if (others != 1)
        n = emit2(it, at, OP_BINARY, BINARY_mul, n, graph_const_int(graph, others), NULL);
    if (correction != 0)
        n = emit2(it, at, OP_BINARY, BINARY_sub, n, graph_const_float(graph, correction), NULL);
    return emit_cast(it, at, emit2(it, at, OP_BINARY, BINARY_div, sum, n, NULL), own);
}

/* Elements beside the rows that a reduction takes in. */
static int64_t others_of(Shape shape, const Attr *dims)
{
    int64_t n = 1;
    int dim;
    for (int i = 1; !dims && i < shape.rank; i++)
        n *= shape.dim[i];
    for (uint32_t i = 0; dims && i < dims->ints.len; i++)
        if (shape_dim(shape, dims->ints.at[i], &dim) && dim > 0)
            n *= shape.dim[dim];
    return n;
}

static ValueId variance_of(Interp *it, Span at, Rows rows, double correction, bool root)
{
    int64_t others = others_of(emit_info(it, rows.whole)->shape, NULL);
    ValueId mean = mean_of(it, at, rows, NULL, 0, others);
    ValueId off = emit2(it, at, OP_BINARY, BINARY_sub, rows.whole, mean, NULL);
    rows.whole = emit2(it, at, OP_BINARY, BINARY_mul, off, off, NULL);
    ValueId var = mean_of(it, at, rows, NULL, correction, others);
    return root ? emit1(it, at, OP_UNARY, UNARY_sqrt, var, NULL) : var;
}

static bool reduced(Interp *it, const NodeSpec *spec, Rows rows, ValueId *out)
{
    static const double least[] = {[REDUCE_max] = -INFINITY, [REDUCE_min] = INFINITY};
    Node node = {.op = spec->op, .n_attr = spec->n_attr, .attr = (Attr *)spec->attr};
    Shape shape = emit_info(it, rows.whole)->shape;
    bool floats = dtype_is_float(emit_info(it, rows.whole)->dtype);
    Attrs attrs = {.n = spec->n_attr};
    memcpy(attrs.at, spec->attr, spec->n_attr * sizeof *attrs.at);
    if (!over_rows(&node, shape))
        return false;
    switch (spec->kind) {
    case REDUCE_sum:
    case REDUCE_count_nonzero:
    case REDUCE_any:
        *out = reduce(it, spec->at, spec->kind, filled(it, spec->at, rows, 0), &attrs);
        return true;
    case REDUCE_all:
    case REDUCE_prod:
        *out = reduce(it, spec->at, spec->kind, filled(it, spec->at, rows, 1), &attrs);
        return true;
    case REDUCE_norm:
        if (!(node_float(&node, AT_P, 2) > 0))
            return false;
        *out = reduce(it, spec->at, spec->kind, filled(it, spec->at, rows, 0), &attrs);
        return true;
    case REDUCE_max:
    case REDUCE_min:
        if (floats)
            *out = reduce(it, spec->at, spec->kind, filled(it, spec->at, rows, least[spec->kind]),
                          &attrs);
        return floats;
    case REDUCE_logsumexp:
        if (floats)
            *out = reduce(it, spec->at, spec->kind, filled(it, spec->at, rows, -INFINITY), &attrs);
        return floats;
    case REDUCE_mean:
        if (floats && !node_attr(&node, AT_DTYPE))
            *out = mean_of(it, spec->at, rows, &attrs, 0,
                           others_of(shape, node_attr(&node, AT_DIMS)));
        return floats && !node_attr(&node, AT_DTYPE);
    case REDUCE_var:
    case REDUCE_std:
        if (!floats || node_attr(&node, AT_DIMS) || node_bool(&node, AT_KEEPDIM))
            return false;
        *out = variance_of(it, spec->at, rows, node_float(&node, AT_A, 1),
                           spec->kind == REDUCE_std);
        return true;
    default: return false;
    }
}

/* ---- losses ---- */

static void copy_attrs(const NodeSpec *spec, const char *reduction, Attrs *attrs)
{
    for (uint32_t i = 0; i < spec->n_attr; i++) {
        attrs->at[attrs->n] = spec->attr[i];
        if (reduction && spec->attr[i].key == AT_REDUCTION)
            attrs->at[attrs->n].text = str_from(reduction);
        attrs->n++;
    }
}

/* Both operands are rows of one mask. */
static bool two_rows(Interp *it, const NodeSpec *spec, Rows *x, Rows *y)
{
    return spec->n_in > 1 && (spec->n_in < 3 || spec->in[2] == VALUE_NONE) &&
           rows_of(it, spec->in[0], MAX_STEPS, x) && rows_of(it, spec->in[1], MAX_STEPS, y) &&
           same_value(it, x->mask, y->mask, MASK_STEPS);
}

static bool loss_of(Interp *it, const NodeSpec *spec, ValueId *out)
{
    Node node = {.op = spec->op, .n_attr = spec->n_attr, .attr = (Attr *)spec->attr};
    Str how = node_text(&node, AT_REDUCTION);
    Rows x, y;
    Attrs attrs = {0};
    if ((!str_is(how, "mean") && !str_is(how, "sum")) || !two_rows(it, spec, &x, &y))
        return false;
    copy_attrs(spec, "none", &attrs);
    Rows each = {x.mask, emit(it, spec->at, spec->op, spec->kind, 3,
                              (ValueId[]){x.whole, y.whole, VALUE_NONE}, &attrs, 0)};
    *out = str_is(how, "sum")
               ? reduce(it, spec->at, REDUCE_sum, filled(it, spec->at, each, 0), NULL)
               : mean_of(it, spec->at, each, NULL, 0,
                         others_of(emit_info(it, each.whole)->shape, NULL));
    return true;
}

/* Rows the mask leaves out get the class that is ignored. */
static bool class_loss(Interp *it, const NodeSpec *spec, ValueId *out)
{
    Node node = {.op = spec->op, .n_attr = spec->n_attr, .attr = (Attr *)spec->attr};
    Rows x, y;
    Attrs attrs = {0};
    ValueId weight = spec->n_in > 2 ? spec->in[2] : VALUE_NONE;
    NodeSpec two = *spec;
    two.n_in = 2;
    if (str_is(node_text(&node, AT_REDUCTION), "none") || !two_rows(it, &two, &x, &y) ||
        dtype_is_float(emit_info(it, y.whole)->dtype) || emit_info(it, x.whole)->shape.rank != 2 ||
        emit_info(it, y.whole)->shape.rank != 1)
        return false;
    copy_attrs(spec, NULL, &attrs);
    ValueId target = filled(it, spec->at, y, (double)node_int(&node, AT_IGNORE, -100));
    *out = emit(it, spec->at, spec->op, spec->kind, 3, (ValueId[]){x.whole, target, weight}, &attrs,
                0);
    return true;
}

bool masked_reduce(Interp *it, const NodeSpec *spec, ValueId *out)
{
    Rows rows;
    if (it->graph != 1 || spec->n_attr > 16)
        return false;
    switch (spec->op) {
    case OP_REDUCE:
        return rows_of(it, spec->in[0], MAX_STEPS, &rows) && reduced(it, spec, rows, out);
    case OP_LOSS: return loss_of(it, spec, out);
    case OP_NLL_LOSS:
    case OP_CROSS_ENTROPY: return class_loss(it, spec, out);
    default: return false;
    }
}

bool masked_put(Interp *it, Span at, ValueId z, ValueId mask, ValueId v, ValueId *out)
{
    Rows rows;
    Shape shape = emit_info(it, z)->shape;
    int rank = emit_info(it, mask)->shape.rank;
    if (it->graph != 1 || !rank || rank > shape.rank ||
        emit_info(it, v)->shape.rank != 1 + shape.rank - rank ||
        !rows_of(it, v, MAX_STEPS, &rows) ||
        !same_value(it, rows.mask, flat_rows(it, at, mask, rank), MASK_STEPS))
        return false;
    Shape wide = shape;
    for (int i = 0; i < shape.rank; i++)
        wide.dim[i] = i < rank ? emit_info(it, mask)->shape.dim[i] : 1;
    ValueId whole = emit_cast(it, at, emit_reshape(it, at, rows.whole, shape),
                              emit_info(it, z)->dtype);
    *out = emit3(it, at, OP_WHERE, emit_reshape(it, at, mask, wide), whole, z, NULL);
    return true;
}

PyVal tensor_sizes(Interp *it, Span at, TVar *t)
{
    Shape shape = tvar_shape(it, t);
    PyVal tuple = pv_list(it->arena, PV_TUPLE);
    Rows rows;
    for (int i = 0; i < shape.rank; i++)
        pv_push(it->arena, tuple, pv_int(shape.dim[i]));
    if (it->graph == 1 && it->masks && shape.rank &&
        rows_of(it, tvar_read(it, t), MAX_STEPS, &rows))
        tuple.list->items.at[0] = tensor_of(it, count_of(it, at, rows.mask));
    return tuple;
}
