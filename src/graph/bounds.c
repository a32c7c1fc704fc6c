/* GraphBounds of values, operator by operator; see bounds.h. */
#include "graph/bounds.h"

#include <math.h>

static const GraphBounds unknown;
static const GraphBounds truth = {true, 0, 1};

static GraphBounds between(double low, double high)
{
    bool sound = low <= high; /* false for nan */
    return (GraphBounds){sound, sound ? low : 0, sound ? high : 0};
}

static GraphBounds hull(GraphBounds a, GraphBounds b)
{
    return a.known && b.known ? between(fmin(a.low, b.low), fmax(a.high, b.high)) : unknown;
}

/* The least and largest of the four combinations of ends. */
static GraphBounds of_ends(double a, double b, double c, double d)
{
    return between(fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)));
}

static GraphBounds scaled(GraphBounds a, double by)
{
    return a.known ? of_ends(a.low * by, a.high * by, a.low * by, a.high * by) : unknown;
}

static GraphBounds plus(GraphBounds a, GraphBounds b)
{
    return a.known && b.known ? between(a.low + b.low, a.high + b.high) : unknown;
}

static GraphBounds times(GraphBounds a, GraphBounds b)
{
    return a.known && b.known
               ? of_ends(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
               : unknown;
}

static GraphBounds of_dtype(DType dtype)
{
    switch (dtype) {
    case DT_BOOL: return truth;
    case DT_I8: return between(-128, 127);
    case DT_U8: return between(0, 255);
    case DT_I16: return between(-32768, 32767);
    case DT_I32: return between(-0x1p31, 0x1p31 - 1);
    default: return unknown;
    }
}

static GraphBounds of_constant(const Value *v)
{
    enum { MOST = 1 << 20 };
    int64_t count = 0;
    if (!shape_count(v->shape, &count) || count < 1 || count > MOST || v->dtype == DT_C64)
        return unknown;
    GraphBounds b = between(dtype_load(v->dtype, v->data, 0), dtype_load(v->dtype, v->data, 0));
    for (int64_t i = 1; i < count; i++) {
        double x = dtype_load(v->dtype, v->data, (size_t)i);
        b = hull(b, between(x, x));
    }
    return b;
}

static const Value *operand(const Graph *g, const Node *node, uint32_t i)
{
    return i < node->n_in && node->in[i] != VALUE_NONE ? graph_value(g, node->in[i]) : NULL;
}

static GraphBounds in_bounds(const Graph *g, const Node *node, uint32_t i)
{
    const Value *v = operand(g, node, i);
    return v ? v->bounds : unknown;
}

/* ---- operators ---- */

static GraphBounds of_random(const Node *node, Shape shape)
{
    double a = node_float(node, AT_A, 0), b = node_float(node, AT_B, 1);
    switch (node->kind) {
    case RANDOM_integer: return between(a, b - 1);
    case RANDOM_uniform: return between(a, b);
    case RANDOM_bernoulli: return truth;
    case RANDOM_permutation:
        return shape.rank == 1 ? between(0, (double)(shape.dim[0] > 0 ? shape.dim[0] - 1 : 0))
                               : unknown;
    default: return unknown;
    }
}

static GraphBounds of_unary(int kind, GraphBounds x)
{
    double most = fmax(fabs(x.low), fabs(x.high));
    bool crosses = x.low < 0 && x.high > 0;
    switch (kind) {
    case UNARY_logical_not:
    case UNARY_isnan:
    case UNARY_isinf:
    case UNARY_isfinite:
    case UNARY_signbit:
    case UNARY_sigmoid: return truth;
    case UNARY_sign:
    case UNARY_sin:
    case UNARY_cos:
    case UNARY_tanh: return between(-1, 1);
    default: break;
    }
    if (!x.known)
        return unknown;
    switch (kind) {
    case UNARY_neg: return between(-x.high, -x.low);
    case UNARY_bitwise_not: return between(-x.high - 1, -x.low - 1);
    case UNARY_abs: return between(crosses ? 0 : fmin(fabs(x.low), fabs(x.high)), most);
    case UNARY_square: return between(0, most * most);
    case UNARY_relu: return between(fmax(x.low, 0), fmax(x.high, 0));
    case UNARY_floor:
    case UNARY_ceil:
    case UNARY_trunc:
    case UNARY_round: return between(floor(x.low), ceil(x.high));
    default: return unknown;
    }
}

/* The numbers of as many bits as the larger of both has, with a sign where one is negative. */
static GraphBounds of_bits(GraphBounds a, GraphBounds b)
{
    if (!a.known || !b.known)
        return unknown;
    double most = fmax(fmax(fabs(a.low), fabs(a.high)), fmax(fabs(b.low), fabs(b.high)));
    double power = exp2(ceil(log2(most + 1)));
    return a.low >= 0 && b.low >= 0 ? between(0, power - 1) : between(-power, power - 1);
}

static GraphBounds of_division(int kind, GraphBounds a, GraphBounds b)
{
    double most = fmax(fabs(b.low), fabs(b.high));
    if (!b.known || (b.low <= 0 && b.high >= 0))
        return unknown;
    if (kind == BINARY_remainder)
        return b.low > 0 ? between(0, b.high) : between(b.low, 0);
    if (kind == BINARY_fmod)
        return between(-most, most);
    GraphBounds q = a.known
                        ? of_ends(a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high)
                        : unknown;
    return q.known && kind != BINARY_div ? between(floor(q.low), ceil(q.high)) : q;
}

static bool is_comparison(int kind)
{
    return (kind >= BINARY_eq && kind <= BINARY_logical_xor) || kind == BINARY_isclose;
}

static GraphBounds of_binary(const Node *node, GraphBounds a, GraphBounds b)
{
    double alpha = node_float(node, AT_ALPHA, 1);
    bool one = b.known && b.low == b.high;
    switch (node->kind) {
    case BINARY_add: return plus(a, scaled(b, alpha));
    case BINARY_sub: return plus(a, scaled(b, -alpha));
    case BINARY_mul: return times(a, b);
    case BINARY_div:
    case BINARY_floor_div:
    case BINARY_trunc_div:
    case BINARY_remainder:
    case BINARY_fmod: return of_division(node->kind, a, b);
    case BINARY_maximum:
    case BINARY_minimum: return hull(a, b);
    case BINARY_bitwise_and:
        if (b.known && b.low >= 0)
            return between(0, b.high);
        return a.known && a.low >= 0 ? between(0, a.high) : of_bits(a, b);
    case BINARY_bitwise_or:
    case BINARY_bitwise_xor: return of_bits(a, b);
    case BINARY_shift_left: return one && b.low >= 0 ? scaled(a, exp2(b.low)) : unknown;
    case BINARY_shift_right:
        return one && b.low >= 0 && a.known
                   ? between(floor(a.low / exp2(b.low)), floor(a.high / exp2(b.low)))
                   : unknown;
    case BINARY_pow:
        if (!one || !a.known || b.low < 0 || b.low != floor(b.low))
            return unknown;
        return a.low >= 0 ? between(pow(a.low, b.low), pow(a.high, b.low))
                          : between(-pow(fmax(-a.low, fabs(a.high)), b.low),
                                    pow(fmax(-a.low, fabs(a.high)), b.low));
    default: return is_comparison(node->kind) ? truth : unknown;
    }
}

static GraphBounds of_clamp(const Graph *g, const Node *node)
{
    GraphBounds x = in_bounds(g, node, 0), low = in_bounds(g, node, 1),
                high = in_bounds(g, node, 2);
    double from = x.known ? x.low : -INFINITY, to = x.known ? x.high : INFINITY;
    if (operand(g, node, 1) && low.known) {
        from = fmax(from, low.low);
        to = fmax(to, low.high);
    }
    if (operand(g, node, 2) && high.known) {
        from = fmin(from, high.low);
        to = fmin(to, high.high);
    }
    return isfinite(from) && isfinite(to) ? between(from, to) : unknown;
}

/* How many elements of x come together in one of the result. */
static double count_of(const Graph *g, const Node *node)
{
    int64_t in = 1, out = 1;
    shape_count(graph_value(g, node->in[0])->shape, &in);
    shape_count(graph_value(g, node->out)->shape, &out);
    return out > 0 ? (double)in / (double)out : (double)in;
}

static GraphBounds place_bounds(double count) { return between(0, fmax(count - 1, 0)); }

static GraphBounds of_reduce(const Graph *g, const Node *node)
{
    GraphBounds x = in_bounds(g, node, 0);
    double n = count_of(g, node);
    switch (node->kind) {
    case REDUCE_sum: return scaled(x, n);
    case REDUCE_mean:
    case REDUCE_max:
    case REDUCE_min: return x;
    case REDUCE_any:
    case REDUCE_all: return truth;
    case REDUCE_count_nonzero: return between(0, n);
    case REDUCE_argmax:
    case REDUCE_argmin: return place_bounds(n);
    default: return unknown;
    }
}

static int64_t size_along(const Graph *g, const Node *node)
{
    Shape s = graph_value(g, node->in[0])->shape;
    int dim = 0;
    return s.rank && shape_dim(s, node_int(node, AT_DIM, -1), &dim) ? s.dim[dim] : 1;
}

static GraphBounds of_scan(const Graph *g, const Node *node)
{
    GraphBounds x = in_bounds(g, node, 0);
    if (node->kind == SCAN_sum)
        return hull(x, scaled(x, (double)size_along(g, node)));
    return node->kind == SCAN_max || node->kind == SCAN_min ? x : unknown;
}

/* The bounds of a move: those of the inputs whose elements it moves and of the value it fills
 * in. */
static GraphBounds of_move(const Graph *g, const Node *node, OpMove move)
{
    double value = node_float(node, AT_VALUE, 0);
    GraphBounds b = in_bounds(g, node, 0);
    for (uint32_t i = 1; i < node->n_in; i++)
        if (move.inputs == MOVE_EVERY || (i < 32 && move.inputs >> i & 1))
            b = hull(b, in_bounds(g, node, i));
    return move.flags & MOVE_FILLS ? hull(b, between(value, value)) : b;
}

/* Output `which` of the node. */
static GraphBounds of_node(const Graph *g, const Node *node, uint32_t which)
{
    const Value *out = graph_value(g, node->out);
    double value = node_float(node, AT_VALUE, 0);
    double a = node_float(node, AT_A, 0), b = node_float(node, AT_B, 0);
    int64_t all = 1;
    switch (node->op) {
    case OP_RANDOM: return of_random(node, out->shape);
    case OP_FULL: return between(value, value);
    case OP_ARANGE:
    case OP_LINSPACE: return between(fmin(a, b), fmax(a, b));
    case OP_EYE:
    case OP_ONE_HOT:
    case OP_SOFTMAX: return truth;
    case OP_UNARY: return of_unary(node->kind, in_bounds(g, node, 0));
    case OP_BINARY: return of_binary(node, in_bounds(g, node, 0), in_bounds(g, node, 1));
    case OP_CLAMP: return of_clamp(g, node);
    case OP_WHERE: return hull(in_bounds(g, node, 1), in_bounds(g, node, 2));
    case OP_CAST: return out->dtype == DT_BOOL ? truth : in_bounds(g, node, 0);
    case OP_REDUCE: return of_reduce(g, node);
    case OP_REDUCE_INDEX:
    case OP_MEDIAN: return which ? place_bounds(count_of(g, node)) : in_bounds(g, node, 0);
    case OP_SCAN: return of_scan(g, node);
    case OP_SORT:
    case OP_TOPK: return which ? place_bounds((double)size_along(g, node)) : in_bounds(g, node, 0);
    case OP_BINCOUNT:
    case OP_HISTC:
        shape_count(graph_value(g, node->in[0])->shape, &all);
        return between(0, (double)all);
    default: return op_move(node).inputs ? of_move(g, node, op_move(node)) : unknown;
    }
}

/* Never wider than the dtype: what goes beyond wraps. */
static GraphBounds fit(GraphBounds b, DType dtype)
{
    GraphBounds most = of_dtype(dtype);
    if (!most.known)
        return b;
    return b.known && b.low >= most.low && b.high <= most.high ? b : most;
}

static void fill(Graph *g, const Graph *source)
{
    for (uint32_t i = 0; i < g->values.len; i++) {
        Value *v = &g->values.at[i];
        bool given = v->kind != VALUE_NODE && v->kind != VALUE_CONST;
        if (v->kind == VALUE_CONST)
            v->bounds = of_constant(v);
        else if (given && !v->bounds.known && source && v->source < source->outputs.len)
            v->bounds = graph_value(source, source->outputs.at[v->source])->bounds;
        if (v->kind != VALUE_NODE)
            v->bounds = fit(v->bounds, v->dtype);
    }
    for (uint32_t i = 0; i < g->nodes.len; i++)
        for (uint32_t k = 0; k < g->nodes.at[i].n_out; k++) {
            Value *v = &g->values.at[g->nodes.at[i].out + k];
            v->bounds = fit(of_node(g, &g->nodes.at[i], k), v->dtype);
        }
}

void graph_bounds(Graph *graph)
{
    if (graph->source)
        fill(graph->source, NULL);
    fill(graph, graph->source);
}

bool bounds_within(const Value *value, double low, double high)
{
    return value->bounds.known && value->bounds.low >= low && value->bounds.high <= high;
}
