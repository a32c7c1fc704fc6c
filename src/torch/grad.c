/* torch.autograd.grad: gradients as nodes of the graph in hand. In: results, the tensors to
 * differentiate by, the gradients of the results. Out: one gradient for each tensor.
 *
 * The nodes between are walked backwards; each hands the gradient of its result on to its
 * inputs. Functions PyTorch has one backward kernel for (gelu, silu, sigmoid, tanh) work in
 * float32 and round once, as those do; the others in the type at hand. What has no rule is refused
 * by name. */
#include "torch/builtin.h"
#include "torch/tvar.h"

#include <math.h>

typedef struct Grad {
    Interp *it;
    Span at;
    Graph *graph;
    uint32_t values;      /* how many the graph had before the first gradient */
    uint8_t *depends;     /* by value: on a tensor that is differentiated by */
    ValueId *of;          /* by value: its gradient so far; VALUE_NONE: none */
    const Node *node;     /* the one in hand */
    ValueId x, y, g, out; /* its first two inputs, the gradient of its result, the result */
} Grad;

static const Value *info(const Grad *d, ValueId id) { return graph_value(d->graph, id); }

static ValueId number(Grad *d, double value) { return graph_const_float(d->graph, value); }
static ValueId unary(Grad *d, int kind, ValueId x)
{
    return emit1(d->it, d->at, OP_UNARY, kind, x, NULL);
}
static ValueId binary(Grad *d, int kind, ValueId x, ValueId y)
{
    return emit2(d->it, d->at, OP_BINARY, kind, x, y, NULL);
}
static ValueId mul(Grad *d, ValueId x, ValueId y) { return binary(d, BINARY_mul, x, y); }
static ValueId times(Grad *d, double c, ValueId x) { return mul(d, x, number(d, c)); }
static ValueId plus(Grad *d, double c, ValueId x) { return binary(d, BINARY_add, x, number(d, c)); }
/* 1 - x */
static ValueId rest(Grad *d, ValueId x) { return binary(d, BINARY_sub, number(d, 1), x); }

static ValueId wide(Grad *d, ValueId x)
{
    DType dtype = info(d, x)->dtype;
    return dtype == DT_F16 || dtype == DT_BF16 ? emit_cast(d->it, d->at, x, DT_F32) : x;
}

static ValueId sum_over(Grad *d, ValueId x, const int64_t *dims, uint32_t n, bool keep)
{
    Attrs attrs = {0};
    attrs_ints(&attrs, AT_DIMS, dims, n);
    attrs_bool(&attrs, AT_KEEPDIM, keep);
    return n ? emit1(d->it, d->at, OP_REDUCE, REDUCE_sum, x, &attrs) : x;
}

/* --- what has gathered --------------------------------------------------------------------- */

/* A gradient of a broadcast shape, added up to the shape of what was broadcast. */
static ValueId unbroadcast(Grad *d, ValueId g, Shape to)
{
    Shape from = info(d, g)->shape;
    int64_t dims[GRAPH_MAX_RANK];
    uint32_t n = 0;
    for (int i = 0; i < from.rank; i++) {
        int k = i - (from.rank - to.rank);
        if (k < 0 || (to.dim[k] == 1 && from.dim[i] != 1))
            dims[n++] = i;
    }
    g = sum_over(d, g, dims, n, true);
    return shape_equal(info(d, g)->shape, to) ? g : emit_reshape(d->it, d->at, g, to);
}

static void give(Grad *d, ValueId to, ValueId g)
{
    if (to == VALUE_NONE || to >= d->values || !d->depends[to])
        return;
    g = emit_cast(d->it, d->at, unbroadcast(d, g, info(d, to)->shape), info(d, to)->dtype);
    d->of[to] = d->of[to] == VALUE_NONE ? g : binary(d, BINARY_add, d->of[to], g);
}

ATTR_NORETURN static void refuse(Grad *d)
{
    const char *kind = node_kind_name(d->node);
    interp_fail(d->it, d->at, "T011", "the gradient of %s%s%s is not supported",
                op_rows[d->node->op].name, *kind ? "." : "", kind);
}

/* --- elementwise --------------------------------------------------------------------------- */

static ValueId gelu_slope(Grad *d, ValueId x)
{
    if (!str_is(node_text(d->node, AT_APPROX), "tanh")) {
        ValueId below = times(d, 0.5, plus(d, 1, unary(d, UNARY_erf, times(d, M_SQRT1_2, x))));
        ValueId bell = unary(d, UNARY_exp, times(d, -0.5, mul(d, x, x)));
        bell = times(d, M_2_SQRTPI * M_SQRT1_2 * 0.5, bell);
        return binary(d, BINARY_add, below, mul(d, x, bell));
    }
    const double beta = M_SQRT2 * M_2_SQRTPI * 0.5, kappa = 0.044715;
    ValueId square = mul(d, x, x);
    ValueId inner = binary(d, BINARY_add, x, times(d, kappa, mul(d, square, x)));
    ValueId t = unary(d, UNARY_tanh, times(d, beta, inner));
    ValueId left = times(d, 0.5, plus(d, 1, t));
    ValueId right = mul(d, times(d, 0.5, x), rest(d, mul(d, t, t)));
    ValueId slope = times(d, beta, plus(d, 1, times(d, 3 * kappa, square)));
    return binary(d, BINARY_add, left, mul(d, right, slope));
}

static ValueId silu_slope(Grad *d, ValueId x)
{
    ValueId s = unary(d, UNARY_sigmoid, x);
    return mul(d, s, plus(d, 1, mul(d, x, rest(d, s))));
}

static ValueId unary_grad(Grad *d)
{
    ValueId g = d->g, x = d->x, y = d->out;
    switch (d->node->kind) {
    case UNARY_neg: return unary(d, UNARY_neg, g);
    case UNARY_abs: return mul(d, g, unary(d, UNARY_sign, x));
    case UNARY_square: return mul(d, g, times(d, 2, x));
    case UNARY_exp: return mul(d, g, y);
    case UNARY_expm1: return mul(d, g, plus(d, 1, y));
    case UNARY_log: return binary(d, BINARY_div, g, x);
    case UNARY_log1p: return binary(d, BINARY_div, g, plus(d, 1, x));
    case UNARY_sqrt: return binary(d, BINARY_div, g, times(d, 2, y));
    case UNARY_rsqrt: return mul(d, times(d, -0.5, g), mul(d, y, mul(d, y, y)));
    case UNARY_reciprocal: return mul(d, unary(d, UNARY_neg, g), mul(d, y, y));
    case UNARY_sin: return mul(d, g, unary(d, UNARY_cos, x));
    case UNARY_cos: return mul(d, g, unary(d, UNARY_neg, unary(d, UNARY_sin, x)));
    case UNARY_erf:
        return mul(d, g,
                   times(d, M_2_SQRTPI, unary(d, UNARY_exp, unary(d, UNARY_neg, mul(d, x, x)))));
    case UNARY_relu: return binary(d, BINARY_relu_grad, g, x);
    case UNARY_tanh: y = wide(d, y); return mul(d, wide(d, g), rest(d, mul(d, y, y)));
    case UNARY_sigmoid: y = wide(d, y); return mul(d, mul(d, wide(d, g), rest(d, y)), y);
    case UNARY_gelu: return mul(d, wide(d, g), gelu_slope(d, wide(d, x)));
    case UNARY_silu: return mul(d, wide(d, g), silu_slope(d, wide(d, x)));
    default: refuse(d);
    }
}

static void binary_grad(Grad *d)
{
    ValueId g = d->g, x = d->x, y = d->y;
    double alpha = node_float(d->node, AT_ALPHA, 1);
    switch (d->node->kind) {
    case BINARY_add:
    case BINARY_sub:
        give(d, x, g);
        alpha = d->node->kind == BINARY_sub ? -alpha : alpha;
        give(d, y, alpha == 1 ? g : alpha == -1 ? unary(d, UNARY_neg, g) : times(d, alpha, g));
        return;
    case BINARY_mul:
        give(d, x, mul(d, g, y));
        give(d, y, mul(d, g, x));
        return;
    case BINARY_div:
        give(d, x, binary(d, BINARY_div, g, y));
        give(d, y, mul(d, unary(d, UNARY_neg, g), binary(d, BINARY_div, d->out, y)));
        return;
    case BINARY_pow:
        if (d->depends[y])
            refuse(d);
        give(d, x, mul(d, g, mul(d, y, binary(d, BINARY_pow, x, plus(d, -1, y)))));
        return;
    default: refuse(d);
    }
}

/* --- shapes and sums ----------------------------------------------------------------------- */

static ValueId zeros_like(Grad *d, ValueId x)
{
    return emit_full(d->it, d->at, info(d, x)->shape, info(d, x)->dtype, 0);
}

static ValueId slice_of(Grad *d, ValueId x, int dim, int64_t start, int64_t end)
{
    Attrs attrs = {0};
    attrs_int(&attrs, AT_DIM, dim);
    attrs_int(&attrs, AT_START, start);
    attrs_int(&attrs, AT_END, end);
    attrs_int(&attrs, AT_STEP, 1);
    return emit1(d->it, d->at, OP_SLICE, 0, x, &attrs);
}

static void slice_grad(Grad *d)
{
    Attrs attrs = {0};
    for (uint32_t i = 0; i < d->node->n_attr; i++)
        attrs.at[attrs.n++] = d->node->attr[i];
    give(d, d->x, emit2(d->it, d->at, OP_SLICE_SCATTER, 0, zeros_like(d, d->x), d->g, &attrs));
}

static void cat_grad(Grad *d)
{
    int dim = (int)node_int(d->node, AT_DIM, 0);
    int64_t at = 0;
    dim = dim < 0 ? dim + info(d, d->out)->shape.rank : dim;
    for (uint32_t i = 0; i < d->node->n_in; i++) {
        Shape shape = info(d, d->node->in[i])->shape;
        if (dim >= shape.rank)
            continue;
        give(d, d->node->in[i], slice_of(d, d->g, dim, at, at + shape.dim[dim]));
        at += shape.dim[dim];
    }
}

static void permute_grad(Grad *d)
{
    const Attr *dims = node_attr(d->node, AT_DIMS);
    int64_t back[GRAPH_MAX_RANK];
    Attrs attrs = {0};
    for (uint32_t i = 0; i < dims->ints.len; i++)
        back[dims->ints.at[i]] = i;
    attrs_ints(&attrs, AT_DIMS, back, dims->ints.len);
    give(d, d->x, emit1(d->it, d->at, OP_PERMUTE, 0, d->g, &attrs));
}

static ValueId expanded(Grad *d, ValueId x, Shape shape)
{
    Attrs attrs = {0};
    attrs_shape(&attrs, AT_SHAPE, &shape);
    return emit1(d->it, d->at, OP_EXPAND, 0, x, &attrs);
}

static void reduce_grad(Grad *d)
{
    Shape shape = info(d, d->x)->shape, kept = shape;
    const Attr *dims = node_attr(d->node, AT_DIMS);
    int64_t count = 1;
    if (d->node->kind != REDUCE_sum && d->node->kind != REDUCE_mean)
        refuse(d);
    for (int i = 0; i < shape.rank; i++) {
        bool over = !dims || !dims->ints.len;
        for (uint32_t k = 0; dims && k < dims->ints.len; k++)
            over = over || dims->ints.at[k] == i || dims->ints.at[k] == i - shape.rank;
        count *= over ? shape.dim[i] : 1;
        kept.dim[i] = over ? 1 : shape.dim[i];
    }
    ValueId g = expanded(d, emit_reshape(d->it, d->at, d->g, kept), shape);
    bool mean = d->node->kind == REDUCE_mean;
    give(d, d->x, mean ? binary(d, BINARY_div, g, number(d, (double)count)) : g);
}

static ValueId turned(Grad *d, ValueId x)
{
    int rank = info(d, x)->shape.rank;
    int64_t dims[GRAPH_MAX_RANK];
    Attrs attrs = {0};
    for (int i = 0; i < rank; i++)
        dims[i] = i;
    dims[rank - 1] = rank - 2;
    dims[rank - 2] = rank - 1;
    attrs_ints(&attrs, AT_DIMS, dims, (uint32_t)rank);
    return emit1(d->it, d->at, OP_PERMUTE, 0, x, &attrs);
}

static void matmul_grad(Grad *d)
{
    if (info(d, d->x)->shape.rank < 2 || info(d, d->y)->shape.rank < 2)
        refuse(d);
    give(d, d->x, emit2(d->it, d->at, OP_MATMUL, 0, d->g, turned(d, d->y), NULL));
    give(d, d->y, emit2(d->it, d->at, OP_MATMUL, 0, turned(d, d->x), d->g, NULL));
}

static void linear_grad(Grad *d)
{
    if (info(d, d->x)->shape.rank < 2)
        refuse(d);
    give(d, d->x, emit2(d->it, d->at, OP_MATMUL, 0, d->g, d->y, NULL));
    give(d, d->y, emit2(d->it, d->at, OP_MATMUL, 0, turned(d, d->g), d->x, NULL));
    give(d, d->node->in[2], d->g);
}

static void softmax_grad(Grad *d)
{
    if (node_bool(d->node, AT_LOG))
        refuse(d);
    int64_t dim = node_int(d->node, AT_DIM, -1);
    dim = dim < 0 ? dim + info(d, d->x)->shape.rank : dim;
    ValueId g = wide(d, d->g), y = wide(d, d->out);
    ValueId total = sum_over(d, mul(d, g, y), &dim, 1, true);
    give(d, d->x, mul(d, y, binary(d, BINARY_sub, g, total)));
}

static void where_grad(Grad *d)
{
    ValueId zero = number(d, 0), cond = d->x;
    give(d, d->y, emit3(d->it, d->at, OP_WHERE, cond, d->g, zero, NULL));
    give(d, d->node->in[2], emit3(d->it, d->at, OP_WHERE, cond, zero, d->g, NULL));
}

static void node_grad(Grad *d)
{
    switch (d->node->op) {
    case OP_UNARY: give(d, d->x, unary_grad(d)); break;
    case OP_BINARY: binary_grad(d); break;
    case OP_CAST:
    case OP_EXPAND: give(d, d->x, d->g); break;
    case OP_RESHAPE: give(d, d->x, emit_reshape(d->it, d->at, d->g, info(d, d->x)->shape)); break;
    case OP_PERMUTE: permute_grad(d); break;
    case OP_SLICE: slice_grad(d); break;
    case OP_CAT: cat_grad(d); break;
    case OP_REDUCE: reduce_grad(d); break;
    case OP_MATMUL: matmul_grad(d); break;
    case OP_LINEAR: linear_grad(d); break;
    case OP_SOFTMAX: softmax_grad(d); break;
    case OP_WHERE: where_grad(d); break;
    default: refuse(d);
    }
}

/* --- the walk ------------------------------------------------------------------------------ */

static void mark_dependent(Grad *d)
{
    for (uint32_t i = 0; i < d->graph->nodes.len; i++) {
        const Node *node = &d->graph->nodes.at[i];
        bool any = false;
        for (uint32_t k = 0; k < node->n_in; k++)
            any = any || (node->in[k] != VALUE_NONE && d->depends[node->in[k]]);
        for (uint32_t k = 0; k < node->n_out; k++)
            d->depends[node->out + k] |= any;
    }
}

static void walk_back(Grad *d)
{
    for (uint32_t i = d->graph->nodes.len; i-- > 0;) {
        Node node = d->graph->nodes.at[i]; /* the list grows as gradients are written */
        if (node.out >= d->values || !d->depends[node.out])
            continue;
        for (uint32_t k = 1; k < node.n_out; k++) {
            d->node = &node;
            if (d->of[node.out + k] != VALUE_NONE)
                refuse(d);
        }
        if (d->of[node.out] == VALUE_NONE)
            continue;
        d->node = &node;
        d->g = d->of[node.out];
        d->out = node.out;
        d->x = node.n_in ? node.in[0] : VALUE_NONE;
        d->y = node.n_in > 1 ? node.in[1] : VALUE_NONE;
        interp_step(d->it, 16, d->at);
        node_grad(d);
    }
}

static PyVal as_list(B *b, PyVal v)
{
    return v.tag == PV_TENSOR ? pv_tuple_of(b->it->arena, 1, &v) : builtin_items(b, v);
}

static void seed_gradients(Grad *d, B *b, PyVal outputs, PyVal given)
{
    PyVal seeds = pv_is_none(given) ? given : as_list(b, given);
    for (uint32_t i = 0; i < outputs.list->items.len; i++) {
        TVar *t = need_tensor(d->it, d->at, outputs.list->items.at[i], "outputs");
        ValueId id = tvar_read(d->it, t), g = VALUE_NONE;
        int64_t count;
        if (seeds.tag != PV_NONE && i < seeds.list->items.len &&
            !pv_is_none(seeds.list->items.at[i]))
            g = value_of(d->it, d->at, seeds.list->items.at[i]);
        else if (shape_count(info(d, id)->shape, &count) && count == 1)
            g = emit_full(d->it, d->at, info(d, id)->shape, info(d, id)->dtype, 1);
        else
            builtin_fail(b, "grad_outputs is needed for a result of more than one element");
        give(d, id, g);
    }
}

PyVal b_autograd_grad(B *b)
{
    Interp *it = b->it;
    PyVal outputs = b->args->n > 0 ? b->args->v[0] : pv_none();
    PyVal inputs = b->args->n > 1 ? b->args->v[1] : pv_none();
    PyVal given = b->args->n > 2 ? b->args->v[2] : pv_none();
    builtin_keyword(b, "outputs", &outputs);
    builtin_keyword(b, "inputs", &inputs);
    builtin_keyword(b, "grad_outputs", &given);
    outputs = as_list(b, outputs);
    inputs = as_list(b, inputs);
    Grad d = {.it = it, .at = b->at, .graph = it->graphs[it->graph]};
    uint32_t n = inputs.list->items.len;
    ValueId *by = arena_array(it->arena, ValueId, n + 1);
    for (uint32_t i = 0; i < outputs.list->items.len; i++)
        tvar_read(it, need_tensor(it, b->at, outputs.list->items.at[i], "outputs"));
    for (uint32_t i = 0; i < n; i++)
        by[i] = tvar_read(it, need_tensor(it, b->at, inputs.list->items.at[i], "inputs"));
    d.values = d.graph->values.len;
    d.depends = arena_alloc(it->arena, d.values + 1);
    d.of = arena_array(it->arena, ValueId, d.values + 1);
    for (ValueId i = 0; i < d.values; i++)
        d.of[i] = VALUE_NONE;
    for (uint32_t i = 0; i < n; i++)
        d.depends[by[i]] = 1;
    mark_dependent(&d);
    seed_gradients(&d, b, outputs, given);
    walk_back(&d);
    PyVal result = pv_list(it->arena, PV_TUPLE);
    for (uint32_t i = 0; i < n; i++) {
        if (d.of[by[i]] == VALUE_NONE)
            builtin_fail(b, "one of the inputs is not used in the results");
        pv_push(it->arena, result, tensor_of(it, d.of[by[i]]));
    }
    return result;
}
