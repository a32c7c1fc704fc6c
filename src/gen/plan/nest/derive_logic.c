/* Booleans and integers in nests. In: a node whose result is a boolean, or an integer value. Out: a mask;
 * or whether f32 holds all integers that the value can have.
 *
 * A boolean is a mask where it is used as one and 1 or 0 where it is a number. An integer is computed in
 * f32 where its bounds (graph/bounds.h) say that no element lies beyond 2^24. */
#include "gen/plan/nest/derive_int.h"

#include "gen/plan/prim_int.h"
#include "graph/bounds.h"

/* ---- integers ---- */

/* The dtype cuts off what goes beyond it, so that its bounds say nothing about the operation. */
bool derive_may_wrap(const Graph *g, ValueId id)
{
    static const double low[] = {[DT_I8] = -128, [DT_U8] = 0, [DT_I16] = -32768};
    static const double high[] = {[DT_I8] = 127, [DT_U8] = 255, [DT_I16] = 32767};
    const Value *v = graph_value(g, id);
    const Node *node = v->kind == VALUE_NODE ? &g->nodes.at[v->node] : NULL;
    bool narrow = v->dtype == DT_I8 || v->dtype == DT_U8 || v->dtype == DT_I16;
    bool computes = node &&
                    (node->op == OP_UNARY || node->op == OP_BINARY || node->op == OP_REDUCE ||
                     node->op == OP_SCAN ||
                     (node->op == OP_CAST && dtype_is_int(graph_value(g, node->in[0])->dtype)));
    return narrow && computes && v->bounds.low <= low[v->dtype] && v->bounds.high >= high[v->dtype];
}

bool derive_is_exact(const Graph *graph, ValueId id)
{
    const Value *v = graph_value(graph, id);
    return dtype_is_int(v->dtype) && bounds_within(v, -EXACT_INT, EXACT_INT) &&
           !derive_may_wrap(graph, id);
}

/* ---- booleans ---- */

NestId derive_mask(Nest *nest, NestId v)
{
    return nest->values.at[v].mask ? v : nest_map(nest, "$0 != 0.0", true, 1, &v);
}

NestId derive_number(Nest *nest, NestId v)
{
    return nest->values.at[v].mask ? nest_map1(nest, "where($0, 1.0, 0.0)", v) : v;
}

static bool operand_at(Derive *d, const Node *node, uint32_t i, const NestIndex *index, NestId *out)
{
    NestIndex inner = derive_broadcast(index, graph_value(d->graph, node->in[i])->shape);
    return derive_at(d, node->in[i], &inner, out);
}

static bool at_logic(Derive *d, const Node *node, const char *form, const NestIndex *index,
                     NestId *out)
{
    NestId arg[2];
    for (uint32_t i = 0; i < 2; i++) {
        if (!operand_at(d, node, i, index, &arg[i]))
            return false;
        arg[i] = derive_mask(d->nest, arg[i]);
    }
    *out = nest_map(d->nest, form, true, 2, arg);
    return true;
}

static const char *logic_form(int kind)
{
    switch (kind) {
    case BINARY_logical_and:
    case BINARY_bitwise_and: return "$0 & $1";
    case BINARY_logical_or:
    case BINARY_bitwise_or: return "$0 | $1";
    case BINARY_logical_xor:
    case BINARY_bitwise_xor: return "$0 ^ $1";
    default: return NULL;
    }
}

/* Languages that are written from general nests have no operator for it that all of them share. */
static bool at_not(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    bool general = d->kind >= NEST_GENERAL;
    NestId x;
    if (!operand_at(d, node, 0, index, &x))
        return false;
    x = general ? derive_number(d->nest, derive_mask(d->nest, x)) : derive_mask(d->nest, x);
    *out = nest_map(d->nest, general ? "$0 < 0.5" : "~$0", true, 1, &x);
    return true;
}

static const char *test_form(int kind)
{
    switch (kind) {
    case UNARY_isnan: return "$0 != $0";
    case UNARY_isinf: return "abs($0) == inf";
    case UNARY_isfinite: return "abs($0) < inf";
    default: return NULL;
    }
}

static bool at_test(Derive *d, const Node *node, const NestIndex *index, NestId *out)
{
    NestId x;
    if (!operand_at(d, node, 0, index, &x))
        return false;
    x = derive_number(d->nest, x);
    *out = nest_map(d->nest, test_form(node->kind), true, 1, &x);
    return true;
}

static bool is_bool(const Graph *g, ValueId id) { return graph_value(g, id)->dtype == DT_BOOL; }

bool derive_is_not(const Graph *graph, const Node *node)
{
    return node && node->op == OP_UNARY && is_bool(graph, node->in[0]) &&
           (node->kind == UNARY_logical_not || node->kind == UNARY_bitwise_not);
}

bool derive_logic(Derive *d, const Node *node, const NestIndex *index, NestId *out, bool *taken)
{
    *taken = is_bool(d->graph, node->out);
    if (*taken && node->op == OP_BINARY && logic_form(node->kind))
        return at_logic(d, node, logic_form(node->kind), index, out);
    if (*taken && node->op == OP_UNARY &&
        (node->kind == UNARY_logical_not || derive_is_not(d->graph, node)))
        return at_not(d, node, index, out);
    if (*taken && node->op == OP_UNARY && test_form(node->kind) && d->kind < NEST_GENERAL)
        return at_test(d, node, index, out);
    *taken = false;
    return false;
}
