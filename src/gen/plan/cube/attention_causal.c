/* Which keys a query never sees. In: what softmax is taken of. Out: that keys behind `query + ahead` have no weight, where the
 * file says so by places alone: a comparison of ranges, or a triangle of ones. */
#include "gen/plan/cube/attention.h"

#include <math.h>

/* keys - queries <= most, or >= least. */
typedef struct Diagonal {
    bool upper; /* >= */
    int64_t at;
} Diagonal;

static bool number_of(const Graph *g, ValueId id, double *number)
{
    const Value *v = graph_value(g, id);
    const Node *node = graph_maker(g, id);
    if (node && (node->op == OP_CAST || node->op == OP_RESHAPE || node->op == OP_EXPAND))
        return number_of(g, node->in[0], number);
    if (node && node->op == OP_FULL) {
        *number = node_float(node, AT_VALUE, 0);
        return true;
    }
    int64_t count = 0;
    if (v->kind != VALUE_CONST || !v->data || !shape_count(v->shape, &count) || count != 1)
        return false;
    *number = dtype_load(v->dtype, v->data, 0);
    return true;
}

/* 0, 1, 2, ... along the last dimension (1) or the one before it (2); 0: something else. */
static int range_of(const Graph *g, ValueId id)
{
    Shape s = graph_value(g, id)->shape;
    int which = 0;
    for (int d = 0; d < s.rank; d++)
        if (s.dim[d] > 1)
            which = which || d < s.rank - 2 ? -1 : s.rank - d;
    const Node *node = graph_maker(g, id);
    while (node && (node->op == OP_CAST || node->op == OP_RESHAPE))
        node = graph_maker(g, node->in[0]);
    bool counts = node && node->op == OP_ARANGE && node_float(node, AT_A, 0) == 0 &&
                  node_float(node, AT_C, 1) == 1;
    return counts && which > 0 ? which : 0;
}

static bool diagonal_of(const Graph *g, ValueId id, Diagonal *d);

/* A comparison of the places of keys and queries, or of a triangle with 0. */
static bool compared(const Graph *g, const Node *node, Diagonal *d)
{
    int a = range_of(g, node->in[0]), b = range_of(g, node->in[1]);
    double number;
    if ((node->kind == BINARY_eq || node->kind == BINARY_ne) &&
        number_of(g, node->in[1], &number) && number == 0) {
        if (!diagonal_of(g, node->in[0], d))
            return false;
        if (node->kind == BINARY_eq)
            *d = (Diagonal){!d->upper, d->upper ? d->at - 1 : d->at + 1};
        return true;
    }
    if (!a || !b || a == b)
        return false;
    bool keys = a == 1; /* keys stand on the left */
    switch (node->kind) {
    case BINARY_le: *d = (Diagonal){!keys, 0}; return true;
    case BINARY_lt: *d = (Diagonal){!keys, keys ? -1 : 1}; return true;
    case BINARY_ge: *d = (Diagonal){keys, 0}; return true;
    case BINARY_gt: *d = (Diagonal){keys, keys ? 1 : -1}; return true;
    default: return false;
    }
}

/* Where the value is true, or not 0. */
static bool diagonal_of(const Graph *g, ValueId id, Diagonal *d)
{
    const Node *node = graph_maker(g, id);
    double number;
    if (!node)
        return false;
    Shape from = node->n_in ? graph_value(g, node->in[0])->shape : (Shape){0};
    Shape to = graph_value(g, id)->shape;
    bool same = from.rank >= 2 && to.rank >= 2 && from.dim[from.rank - 1] == to.dim[to.rank - 1] &&
                from.dim[from.rank - 2] == to.dim[to.rank - 2];
    switch (node->op) {
    case OP_CAST: return diagonal_of(g, node->in[0], d);
    case OP_RESHAPE:
    case OP_EXPAND: return same && diagonal_of(g, node->in[0], d);
    case OP_BINARY: return compared(g, node, d);
    case OP_TRI:
        *d = (Diagonal){node_bool(node, AT_UPPER), node_int(node, AT_DIAGONAL, 0)};
        return number_of(g, node->in[0], &number) && number != 0;
    case OP_UNARY:
        if (node->kind != UNARY_logical_not &&
            !(node->kind == UNARY_bitwise_not && graph_value(g, id)->dtype == DT_BOOL))
            return false;
        if (!diagonal_of(g, node->in[0], d))
            return false;
        *d = (Diagonal){!d->upper, d->upper ? d->at - 1 : d->at + 1};
        return true;
    default: return false;
    }
}

bool attention_causal(const Graph *g, ValueId scores, int64_t *ahead)
{
    for (const Node *node = graph_maker(g, scores); node && node->op == OP_WHERE;) {
        double a, b;
        bool second = number_of(g, node->in[1], &a) && isinf(a) && a < 0;
        bool third = number_of(g, node->in[2], &b) && isinf(b) && b < 0;
        Diagonal d;
        bool known = diagonal_of(g, node->in[0], &d);
        if (known && third && !second && !d.upper) {
            *ahead = d.at;
            return true;
        }
        if (known && second && !third && d.upper) {
            *ahead = d.at - 1;
            return true;
        }
        if (second == third)
            return false;
        node = graph_maker(g, node->in[second ? 2 : 1]);
    }
    return false;
}
