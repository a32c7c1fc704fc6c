/* Tensors as Python names them. In-place writes and views are resolved here: a write gives the
 * tensor a new value and sends it back through every view step to what it is a view of; a view
 * whose base has changed is made again when it is next read. */
#include "torch/tvar.h"

#include "torch/masked.h"

#include <string.h>

/* --- attributes --------------------------------------------------------------------------- */

static Attr *next_attr(Attrs *attrs, AttrKey key)
{
    if (attrs->n == sizeof attrs->at / sizeof *attrs->at)
        panic("too many attributes on one node");
    attrs->at[attrs->n] = (Attr){.key = key};
    return &attrs->at[attrs->n++];
}

void attrs_int(Attrs *attrs, AttrKey key, int64_t value) { next_attr(attrs, key)->i = value; }

void attrs_float(Attrs *attrs, AttrKey key, double value) { next_attr(attrs, key)->f = value; }

void attrs_bool(Attrs *attrs, AttrKey key, bool value)
{
    if (value)
        next_attr(attrs, key)->i = 1;
}

void attrs_ints(Attrs *attrs, AttrKey key, const int64_t *ints, uint32_t len)
{
    Attr *attr = next_attr(attrs, key);
    attr->ints.at = ints;
    attr->ints.len = len;
}

void attrs_shape(Attrs *attrs, AttrKey key, const Shape *shape)
{
    attrs_ints(attrs, key, shape->dim, (uint32_t)shape->rank);
}

void attrs_text(Attrs *attrs, AttrKey key, Str text) { next_attr(attrs, key)->text = text; }

void attrs_dtype(Attrs *attrs, DType dtype) { next_attr(attrs, AT_DTYPE)->dtype = dtype; }

/* --- nodes -------------------------------------------------------------------------------- */

ValueId emit(Interp *it, Span at, Op op, int kind, uint32_t n_in, const ValueId *in,
             const Attrs *attrs, uint32_t n_out)
{
    interp_step(it, 20, at);
    NodeSpec spec = {.op = op,
                     .kind = kind,
                     .n_in = n_in,
                     .in = in,
                     .n_out = n_out,
                     .at = at,
                     .scope = it->scope};
    if (attrs) {
        spec.attr = attrs->at;
        spec.n_attr = attrs->n;
    }
    ValueId out;
    it->masks = it->masks || op == OP_NONZERO || op == OP_MASKED_SELECT;
    if (it->masks && masked_reduce(it, &spec, &out))
        return out;
    if (!graph_add(it->graphs[it->graph], &spec, it->diag, &out))
        interp_stop(it);
    return out;
}

ValueId emit1(Interp *it, Span at, Op op, int kind, ValueId x, const Attrs *attrs)
{
    return emit(it, at, op, kind, 1, &x, attrs, 0);
}

ValueId emit2(Interp *it, Span at, Op op, int kind, ValueId x, ValueId y, const Attrs *attrs)
{
    return emit(it, at, op, kind, 2, (ValueId[]){x, y}, attrs, 0);
}

ValueId emit3(Interp *it, Span at, Op op, ValueId x, ValueId y, ValueId z, const Attrs *attrs)
{
    return emit(it, at, op, 0, 3, (ValueId[]){x, y, z}, attrs, 0);
}

const Value *emit_info(Interp *it, ValueId id) { return graph_value(it->graphs[it->graph], id); }

/* A weak number becomes an ordinary rank-0 constant by a cast. */
ValueId emit_cast(Interp *it, Span at, ValueId x, DType dtype)
{
    const Value *value = emit_info(it, x);
    if (value->dtype == dtype && !value->weak)
        return x;
    Attrs attrs = {0};
    attrs_dtype(&attrs, dtype);
    return emit1(it, at, OP_CAST, 0, x, &attrs);
}

ValueId emit_reshape(Interp *it, Span at, ValueId x, Shape shape)
{
    if (shape_equal(emit_info(it, x)->shape, shape))
        return x;
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    return emit1(it, at, OP_RESHAPE, 0, x, &attrs);
}

static ValueId emit_expand(Interp *it, Span at, ValueId x, Shape shape)
{
    if (shape_equal(emit_info(it, x)->shape, shape))
        return x;
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    return emit1(it, at, OP_EXPAND, 0, x, &attrs);
}

ValueId emit_full(Interp *it, Span at, Shape shape, DType dtype, double value)
{
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    attrs_dtype(&attrs, dtype);
    attrs_float(&attrs, AT_VALUE, value);
    return emit(it, at, OP_FULL, 0, 0, NULL, &attrs, 0);
}

ValueId emit_random(Interp *it, Span at, int kind, Shape shape, DType dtype, double a, double b,
                    double c)
{
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    attrs_dtype(&attrs, dtype);
    attrs_float(&attrs, AT_A, a);
    attrs_float(&attrs, AT_B, b);
    if (kind == RANDOM_trunc_normal)
        attrs_float(&attrs, AT_C, c);
    attrs_int(&attrs, AT_STREAM, it->stream++);
    return emit(it, at, OP_RANDOM, kind, 0, NULL, &attrs, 0);
}

/* --- reading ------------------------------------------------------------------------------ */

PyVal tensor_of(Interp *it, ValueId id)
{
    TVar *t = arena_new(it->arena, TVar);
    t->graph = it->graph;
    t->id = id;
    return pv_tensor(t);
}

/* A value of the source graph as the main graph sees it. Constants are copied. */
static ValueId import_value(Interp *it, const TVar *t)
{
    while (it->imported.len <= t->id)
        vec_push(it->arena, &it->imported, 0);
    ValueId *known = &it->imported.at[t->id];
    if (*known)
        return *known - 1;
    Graph *main = it->graphs[1];
    Value value = *graph_value(it->graphs[0], t->id);
    if (value.kind != VALUE_CONST) {
        value.kind = t->role == ROLE_INPUT   ? VALUE_INPUT
                     : t->role == ROLE_PARAM ? VALUE_PARAM
                                             : VALUE_BUFFER;
        value.node = NODE_NONE;
        value.source = t->id;
        value.name = t->name;
    }
    ValueId id = graph_add_value(main, value);
    if (value.kind == VALUE_INPUT)
        vec_push(it->arena, &main->inputs, id);
    else if (value.kind != VALUE_CONST)
        vec_push(it->arena, &main->params, id);
    *known = id + 1;
    return id;
}

void tvar_own(Interp *it, Span at, TVar *t)
{
    ValueId id = tvar_read(it, t);
    while (it->owners.len <= id)
        vec_push(it->arena, &it->owners, NULL);
    const TVar *owner = it->owners.at[id];
    if (owner == t)
        return;
    if (owner || emit_info(it, id)->kind == VALUE_CONST) {
        Attrs attrs = {0};
        Shape shape = emit_info(it, id)->shape;
        attrs_shape(&attrs, AT_SHAPE, &shape);
        t->id = emit1(it, at, OP_RESHAPE, 0, id, &attrs);
        while (it->owners.len <= t->id)
            vec_push(it->arena, &it->owners, NULL);
    }
    it->owners.at[t->id] = t;
}

static void refresh(Interp *it, TVar *t)
{
    if (!t->base)
        return;
    interp_enter(it, t->recipe.at);
    ValueId base = tvar_read(it, t->base);
    if (t->base_version != t->base->version) {
        NodeSpec spec = t->recipe;
        spec.in = &base;
        spec.n_in = 1;
        if (!graph_add(it->graphs[it->graph], &spec, it->diag, &t->id))
            interp_stop(it);
        t->graph = it->graph;
        t->base_version = t->base->version;
        t->version++;
    }
    interp_leave(it);
}

ValueId tvar_read(Interp *it, TVar *t)
{
    refresh(it, t);
    if (t->graph == it->graph)
        return t->id;
    if (it->graph == 0)
        interp_fail(it, it->at, "T011", "a tensor of forward is used outside it");
    return import_value(it, t);
}

static const Value *tvar_info(Interp *it, TVar *t)
{
    refresh(it, t);
    return graph_value(it->graphs[t->graph], t->id);
}

Shape tvar_shape(Interp *it, TVar *t) { return tvar_info(it, t)->shape; }

DType tvar_dtype(Interp *it, TVar *t) { return tvar_info(it, t)->dtype; }

/* --- views -------------------------------------------------------------------------------- */

PyVal tensor_view(Interp *it, Span at, TVar *t, ViewKind view, Op op, const Attrs *attrs)
{
    ValueId base = tvar_read(it, t);
    ValueId id = emit1(it, at, op, 0, base, attrs);
    PyVal result = tensor_of(it, id);
    TVar *made = result.tensor;
    const Graph *graph = it->graphs[it->graph];
    const Node *node = &graph->nodes.at[graph->nodes.len - 1];
    made->base = t;
    made->base_version = t->version;
    made->view = view;
    made->recipe = (NodeSpec){.op = op,
                              .n_in = 1,
                              .n_attr = node->n_attr,
                              .attr = node->attr,
                              .at = at,
                              .scope = it->scope};
    made->strided = t->strided || view == VIEW_PERMUTE || view == VIEW_OTHER ||
                    (view == VIEW_SLICE && node_int(node, AT_DIM, 0) != 0);
    return result;
}

PyVal tensor_slice(Interp *it, Span at, TVar *t, int dim, int64_t start, int64_t end, int64_t step)
{
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, dim);
    attrs_int(&attrs, AT_START, start);
    attrs_int(&attrs, AT_END, end);
    attrs_int(&attrs, AT_STEP, step);
    return tensor_view(it, at, t, VIEW_SLICE, OP_SLICE, &attrs);
}

PyVal tensor_reshape(Interp *it, Span at, TVar *t, Shape shape)
{
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    if (t->strided)
        return tensor_of(it, emit1(it, at, OP_RESHAPE, 0, tvar_read(it, t), &attrs));
    return tensor_view(it, at, t, VIEW_RESHAPE, OP_RESHAPE, &attrs);
}

PyVal tensor_permute(Interp *it, Span at, TVar *t, const int64_t *dims, int rank)
{
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_DIMS, dims, (uint32_t)rank);
    return tensor_view(it, at, t, VIEW_PERMUTE, OP_PERMUTE, &attrs);
}

PyVal tensor_expand(Interp *it, Span at, TVar *t, Shape shape)
{
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    return tensor_view(it, at, t, VIEW_OTHER, OP_EXPAND, &attrs);
}

/* --- writing ------------------------------------------------------------------------------ */

/* The base's value with the part that `t` views replaced by `id`. */
static ValueId write_back(Interp *it, Span at, const TVar *t, ValueId base, ValueId id)
{
    Attrs attrs = {0};
    int64_t inverse[GRAPH_MAX_RANK];
    Shape shape = emit_info(it, base)->shape;
    const Attr *recipe = t->recipe.attr;
    switch (t->view) {
    case VIEW_SLICE:
        for (uint32_t i = 0; i < t->recipe.n_attr; i++)
            attrs_int(&attrs, recipe[i].key, recipe[i].i);
        return emit2(it, at, OP_SLICE_SCATTER, 0, base, id, &attrs);
    case VIEW_RESHAPE: return emit_reshape(it, at, id, shape);
    case VIEW_PERMUTE:
        for (uint32_t i = 0; i < recipe[0].ints.len; i++)
            inverse[recipe[0].ints.at[i]] = i;
        attrs_ints(&attrs, AT_DIMS, inverse, recipe[0].ints.len);
        return emit1(it, at, OP_PERMUTE, 0, id, &attrs);
    default:
        interp_fail(it, at, "T011", "writing into this kind of view (%s) is not supported",
                    op_rows[t->recipe.op].name);
    }
}

void tvar_write(Interp *it, Span at, TVar *t, ValueId id)
{
    it->in_place = true;
    interp_enter(it, at);
    if (t->base) {
        ValueId base = tvar_read(it, t->base);
        tvar_write(it, at, t->base, write_back(it, at, t, base, id));
        t->base_version = t->base->version;
    }
    t->id = id;
    t->graph = it->graph;
    t->version++;
    interp_leave(it);
}

PyVal tensor_inplace(Interp *it, Span at, TVar *t, PyVal result)
{
    Shape shape = tvar_shape(it, t);
    DType dtype = tvar_dtype(it, t);
    ValueId id = value_of(it, at, result);
    Shape both;
    if (!shape_broadcast(emit_info(it, id)->shape, shape, &both) || !shape_equal(both, shape))
        interp_fail(it, at, "T010", "the result does not fit the tensor it is written to");
    id = emit_expand(it, at, emit_cast(it, at, id, dtype), shape);
    tvar_write(it, at, t, id);
    return pv_tensor(t);
}

/* --- conversions -------------------------------------------------------------------------- */

TVar *need_tensor(Interp *it, Span at, PyVal v, const char *what)
{
    if (v.tag != PV_TENSOR)
        interp_fail(it, at, "T010", "%s must be a tensor, not %s", what, pv_type_name(v));
    return v.tensor;
}

ValueId value_of(Interp *it, Span at, PyVal v)
{
    Graph *graph = it->graphs[it->graph];
    switch (v.tag) {
    case PV_TENSOR: return tvar_read(it, v.tensor);
    case PV_BOOL: return graph_const_bool(graph, v.b);
    case PV_INT: return graph_const_int(graph, v.i);
    case PV_FLOAT: return graph_const_float(graph, v.f);
    default: interp_fail(it, at, "T010", "%s is no tensor or number", pv_type_name(v));
    }
}

static int number_class(PyVal v) { return v.tag == PV_FLOAT ? 2 : v.tag == PV_INT ? 1 : 0; }

/* Walks nested lists: checks that they are rectangular, and collects the numbers. */
static void collect(Interp *it, Span at, PyVal v, int depth, Shape *shape, PyVals *out, int *class)
{
    if (!pv_is_seq(v)) {
        if (v.tag == PV_TENSOR)
            v = tensor_item(it, at, v.tensor);
        if (depth != shape->rank || !pv_is_number(v))
            interp_fail(it, at, "T010", "a tensor is made of numbers in lists of equal length");
        *class = number_class(v) > *class ? number_class(v) : *class;
        interp_step(it, 1, at);
        vec_push(it->arena, out, v);
        return;
    }
    if (depth >= shape->rank || v.list->items.len != shape->dim[depth])
        interp_fail(it, at, "T010", "the lists of this tensor differ in length or depth");
    for (uint32_t i = 0; i < v.list->items.len; i++)
        collect(it, at, v.list->items.at[i], depth + 1, shape, out, class);
}

PyVal tensor_literal(Interp *it, Span at, PyVal v, DType dtype)
{
    const DType by_class[] = {DT_BOOL, DT_I64, it->float_type};
    Shape shape = {0};
    PyVals numbers = {0};
    if (v.tag == PV_RANGE)
        v = interp_items(it, at, v);
    for (PyVal first = v; pv_is_seq(first);) {
        if (shape.rank == GRAPH_MAX_RANK)
            interp_fail(it, at, "T010", "lists are nested more than %d deep", GRAPH_MAX_RANK);
        shape.dim[shape.rank++] = first.list->items.len;
        if (!first.list->items.len)
            break;
        first = first.list->items.at[0];
    }
    int class = shape.rank && shape.dim[shape.rank - 1] == 0 ? 2 : 0;
    collect(it, at, v, 0, &shape, &numbers, &class);
    if (dtype == DT_COUNT)
        dtype = by_class[class];
    void *data = arena_alloc(it->arena, (size_t)numbers.len * dtype_bytes(dtype) + 8);
    for (uint32_t i = 0; i < numbers.len; i++) {
        if (dtype == DT_I64 && numbers.at[i].tag != PV_FLOAT)
            ((int64_t *)data)[i] = pv_as_int(numbers.at[i]);
        else
            dtype_store(dtype, data, i, pv_as_double(numbers.at[i]));
    }
    return tensor_of(it, graph_add_value(it->graphs[it->graph], (Value){.dtype = dtype,
                                                                        .shape = shape,
                                                                        .kind = VALUE_CONST,
                                                                        .node = NODE_NONE,
                                                                        .data = data}));
}

/* --- operators ---------------------------------------------------------------------------- */

void tensor_check_divisor(Interp *it, Span at, int kind, ValueId x, ValueId y)
{
    const Value *by = emit_info(it, y);
    bool divides = kind == BINARY_floor_div || kind == BINARY_trunc_div ||
                   kind == BINARY_remainder || kind == BINARY_fmod;
    if (divides && by->kind == VALUE_CONST && by->shape.rank == 0 && dtype_is_int(by->dtype) &&
        dtype_is_int(emit_info(it, x)->dtype) && dtype_load(by->dtype, by->data, 0) == 0) {
        it->raised = STR("ZeroDivisionError");
        interp_fail(it, at, "T010", "integers are divided by 0");
    }
}

/* PyTorch's number / tensor is the tensor's reciprocal times the number: in half precision both round. */
static bool rounds_twice(Interp *it, PyVal number, PyVal t)
{
    if (!pv_is_number(number) || t.tag != PV_TENSOR || pv_as_double(number) == 1)
        return false;
    DType dtype = tvar_dtype(it, t.tensor);
    return dtype == DT_F16 || dtype == DT_BF16;
}

PyVal tensor_binary(Interp *it, Span at, PyOp op, PyVal a, PyVal b)
{
    static const int kinds[] = {[PYOP_ADD] = BINARY_add,
                                [PYOP_SUB] = BINARY_sub,
                                [PYOP_MUL] = BINARY_mul,
                                [PYOP_DIV] = BINARY_div,
                                [PYOP_FLOORDIV] = BINARY_floor_div,
                                [PYOP_MOD] = BINARY_remainder,
                                [PYOP_POW] = BINARY_pow,
                                [PYOP_SHL] = BINARY_shift_left,
                                [PYOP_SHR] = BINARY_shift_right,
                                [PYOP_AND] = BINARY_bitwise_and,
                                [PYOP_OR] = BINARY_bitwise_or,
                                [PYOP_XOR] = BINARY_bitwise_xor};
    ValueId x = value_of(it, at, a), y = value_of(it, at, b);
    if (op == PYOP_MATMUL)
        return tensor_of(it, emit2(it, at, OP_MATMUL, 0, x, y, NULL));
    tensor_check_divisor(it, at, kinds[op], x, y);
    if (op == PYOP_DIV && rounds_twice(it, a, b)) {
        y = emit1(it, at, OP_UNARY, UNARY_reciprocal, y, NULL);
        return tensor_of(it, emit2(it, at, OP_BINARY, BINARY_mul, y, x, NULL));
    }
    PyVal result = tensor_of(it, emit2(it, at, OP_BINARY, kinds[op], x, y, NULL));
    result.tensor->array = (a.tag == PV_TENSOR && a.tensor->array) ||
                           (b.tag == PV_TENSOR && b.tensor->array);
    return result;
}

PyVal tensor_compare(Interp *it, Span at, PyOp op, PyVal a, PyVal b)
{
    int kind = op == PYOP_EQ   ? BINARY_eq
               : op == PYOP_NE ? BINARY_ne
               : op == PYOP_LT ? BINARY_lt
               : op == PYOP_LE ? BINARY_le
               : op == PYOP_GT ? BINARY_gt
                               : BINARY_ge;
    ValueId x = value_of(it, at, a), y = value_of(it, at, b);
    return tensor_of(it, emit2(it, at, OP_BINARY, kind, x, y, NULL));
}

PyVal tensor_unary_op(Interp *it, Span at, PyOp op, PyVal v)
{
    if (op == PYOP_POS)
        return v;
    int kind = op == PYOP_NEG ? UNARY_neg : UNARY_bitwise_not;
    return tensor_of(it, emit1(it, at, OP_UNARY, kind, tvar_read(it, v.tensor), NULL));
}
