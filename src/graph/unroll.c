/* The walk over the graph, leaves, and elementwise operators. */
#include "graph/unroll_int.h"

#include <string.h>

const Value *unroll_info(const Unroll *u, ValueId id) { return graph_value(u->graph, id); }

bool unroll_spend(Unroll *u, int64_t steps)
{
    u->budget = steps > u->budget ? -1 : u->budget - steps;
    return u->budget >= 0;
}

Tensor *unroll_new(Unroll *u, ValueId id)
{
    int64_t count = 0;
    Shape shape = unroll_info(u, id)->shape;
    if (!shape_count(shape, &count) || !unroll_spend(u, count))
        return NULL;
    return tensor_new_raw(DT_I64, shape);
}

void unroll_strides(Shape shape, Shape to, int64_t *stride)
{
    int64_t run = 1;
    for (int i = 0; i < to.rank; i++)
        stride[i] = 0;
    for (int i = shape.rank - 1, k = to.rank - 1; i >= 0; i--, k--) {
        stride[k] = shape.dim[i] == 1 ? 0 : run;
        run *= shape.dim[i];
    }
}

/* --- leaves ------------------------------------------------------------------------------- */

static Tensor *take_const(Unroll *u, ValueId id)
{
    const Value *value = unroll_info(u, id);
    Tensor *out = unroll_new(u, id), *data = tensor_new_raw(value->dtype, value->shape);
    if (out && data) {
        memcpy(data->at, value->data, (size_t)data->count * dtype_bytes(value->dtype));
        for (int64_t i = 0; i < out->count; i++)
            TENSOR_AT(out, int64_t)[i] = expr_const_from(u->x, data, i);
    }
    tensor_free(data);
    return out;
}

static Tensor *take_leaf(Unroll *u, ValueId id, const UnrollLeaf *leaf)
{
    const Value *value = unroll_info(u, id);
    Tensor *out = unroll_new(u, id);
    for (int64_t i = 0; out && i < out->count; i++) {
        ExprId e = leaf->pinned ? expr_const_from(u->x, leaf->pinned, i)
                                : expr_leaf(u->x, leaf->drawn, leaf->tensor, i);
        TENSOR_AT(out, int64_t)[i] = expr_cast(u->x, e, value->dtype);
    }
    return out;
}

/* --- elementwise -------------------------------------------------------------------------- */

/* One elementwise node: its operands along the result, and what it computes in. */
typedef struct Elem {
    Unroll *u;
    const Node *node;
    DType work, out;
    bool half; /* work is float32, rounded to `out` at the end */
    uint32_t attrs;
    int64_t stride[EXPR_MOST_ARGS][GRAPH_MAX_RANK];
} Elem;

static Elem elem_of(Unroll *u, const Node *node)
{
    Elem e = {.u = u, .node = node, .out = unroll_info(u, node->out)->dtype};
    Shape shape = unroll_info(u, node->out)->shape;
    e.work = e.out == DT_BOOL && (node->op == OP_BINARY || node->op == OP_UNARY)
                 ? graph_promote(u->graph, node->in, node->n_in)
                 : e.out;
    if (node->op == OP_UNARY && unroll_info(u, node->in[0])->dtype == DT_C64)
        e.work = DT_C64;
    if (node->op == OP_BINARY && node->kind == BINARY_complex)
        e.work = DT_F32;
    e.half = (e.work == DT_F16 || e.work == DT_BF16) && node->op != OP_WHERE;
    if (e.half)
        e.work = DT_F32;
    e.attrs = expr_attrs(u->x, node);
    for (uint32_t i = 0; i < node->n_in; i++) {
        if (node->in[i] != VALUE_NONE)
            unroll_strides(unroll_info(u, node->in[i])->shape, shape, e.stride[i]);
    }
    return e;
}

static ExprId make_elem(const Elem *e, const ExprId *raw)
{
    Exprs *x = e->u->x;
    ExprId args[EXPR_MOST_ARGS] = {0};
    if (e->node->op == OP_CAST)
        return expr_cast(x, raw[0], e->out);
    for (uint32_t i = 0; i < e->node->n_in; i++) {
        bool condition = e->node->op == OP_WHERE && i == 0;
        args[i] = raw[i] ? expr_cast(x, raw[i], condition ? DT_BOOL : e->work) : EXPR_NONE;
    }
    DType made = e->out == DT_BOOL || e->work == DT_C64 || !e->half ? e->out : DT_F32;
    return expr_cast(x, expr_elem(x, e->node->op, e->node->kind, made, args, e->attrs), e->out);
}

typedef VEC(int64_t) Places;

/* Elements whose operands are all constants, worked out at once by the reference evaluator. */
static bool fold_elements(Elem *e, const Places *at, ExprId *const *raw, Tensor *out)
{
    Unroll *u = e->u;
    Tensor *in[EXPR_MOST_ARGS] = {0}, *result = NULL;
    Shape row = {.rank = 1, .dim = {at->len}};
    bool ok = true;
    for (uint32_t i = 0; i < e->node->n_in && ok; i++) {
        if (e->node->in[i] == VALUE_NONE || unroll_info(u, e->node->in[i])->weak)
            continue;
        in[i] = tensor_new_raw(unroll_info(u, e->node->in[i])->dtype, row);
        ok = in[i] != NULL;
        for (uint32_t k = 0; k < at->len && ok; k++)
            expr_const_to(u->x, raw[i][k], in[i], k);
    }
    NodeSpec spec = {.op = e->node->op,
                     .kind = e->node->kind,
                     .n_in = e->node->n_in,
                     .in = e->node->in,
                     .n_attr = e->node->n_attr,
                     .attr = e->node->attr};
    result = ok ? unroll_run(u, &spec, in) : NULL;
    for (uint32_t k = 0; k < at->len && result; k++)
        TENSOR_AT(out, int64_t)
    [at->at[k]] = expr_const_from(u->x, result, result->count == 1 ? 0 : k);
    for (uint32_t i = 0; i < EXPR_MOST_ARGS; i++)
        tensor_free(in[i]);
    ok = result != NULL;
    tensor_free(result);
    return ok;
}

Tensor *unroll_elementwise(Unroll *u, const Node *node)
{
    Tensor *out = op_is_elementwise(node->op) ? unroll_new(u, node->out) : NULL;
    if (!out)
        return NULL;
    Elem e = elem_of(u, node);
    Arena scratch = {0};
    Places known = {0};
    VEC(ExprId) kept[EXPR_MOST_ARGS] = {{0}};
    int64_t at[GRAPH_MAX_RANK] = {0}, from[EXPR_MOST_ARGS] = {0};
    for (int64_t i = 0; i < out->count; i++) {
        ExprId raw[EXPR_MOST_ARGS] = {0};
        bool all = true;
        for (uint32_t k = 0; k < node->n_in; k++) {
            if (node->in[k] == VALUE_NONE)
                continue;
            raw[k] = (ExprId)unroll_ids(u, node->in[k])[from[k]];
            all = all && expr_is_const(u->x, raw[k]);
        }
        if (all) {
            vec_push(&scratch, &known, i);
            for (uint32_t k = 0; k < node->n_in; k++)
                vec_push(&scratch, &kept[k], raw[k]);
        } else {
            TENSOR_AT(out, int64_t)[i] = make_elem(&e, raw);
        }
        for (int d = out->shape.rank - 1; d >= 0; d--) {
            bool more = ++at[d] < out->shape.dim[d];
            for (uint32_t k = 0; k < node->n_in; k++)
                from[k] += more ? e.stride[k][d] : -e.stride[k][d] * (out->shape.dim[d] - 1);
            if (more)
                break;
            at[d] = 0;
        }
    }
    ExprId *const lists[] = {kept[0].at, kept[1].at, kept[2].at};
    bool ok = !known.len || fold_elements(&e, &known, lists, out);
    arena_drop(&scratch);
    if (ok)
        return out;
    tensor_free(out);
    return NULL;
}

/* --- the walk ----------------------------------------------------------------------------- */

/* Kept whole: each element is known by the node, what goes in, and its place. */
static Tensor *whole_output(Unroll *u, const Node *node, uint32_t which)
{
    ExprSum sum = {0};
    int64_t place = 0;
    for (uint32_t i = 0; i < node->n_in; i++) {
        if (node->in[i] == VALUE_NONE) {
            expr_sum_add_at(&sum, EXPR_NONE, place++);
            continue;
        }
        const Tensor *in = u->values[node->in[i]];
        for (int d = 0; d < in->shape.rank; d++)
            expr_sum_add_at(&sum, (ExprId)in->shape.dim[d], place++);
        expr_sum_add_at(&sum, EXPR_NONE, place++);
        for (int64_t k = 0; k < in->count; k++)
            expr_sum_add_at(&sum, (ExprId)TENSOR_AT(in, int64_t)[k], place++);
    }
    if (node->op == OP_RANDOM || !unroll_spend(u, place))
        return NULL;
    Tensor *out = unroll_new(u, node->out + which);
    DType dtype = unroll_info(u, node->out + which)->dtype;
    uint64_t attrs = (uint64_t)expr_attrs(u->x, node) << 8 | which;
    for (int64_t i = 0; out && i < out->count; i++) {
        ExprSum one = sum;
        expr_sum_add_at(&one, EXPR_NONE, -1 - i);
        TENSOR_AT(out, int64_t)[i] = expr_many(u->x, node->op, node->kind, dtype, &one, attrs);
    }
    return out;
}

static bool take_node(Unroll *u, const Node *node)
{
    static UnrollRule *const rules[] = {unroll_elementwise, unroll_constant, unroll_move,
                                        unroll_reduce,      unroll_softmax,  unroll_matmul,
                                        unroll_index_add,   unroll_lookup};
    Tensor *out = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !out && u->budget >= 0; i++)
        out = node->n_out == 1 ? rules[i](u, node) : NULL;
    u->values[node->out] = out ? out : u->budget >= 0 ? whole_output(u, node, 0) : NULL;
    for (uint32_t i = 1; i < node->n_out && u->values[node->out]; i++) {
        u->values[node->out + i] = whole_output(u, node, i);
        if (!u->values[node->out + i])
            return false;
    }
    return u->values[node->out] != NULL;
}

#define NEVER_READ UINT32_MAX

/* By value: the last node that reads it. */
static uint32_t *last_reads(Arena *arena, const Graph *g)
{
    uint32_t *last = arena_array(arena, uint32_t, g->values.len + 1);
    for (ValueId id = 0; id < g->values.len; id++)
        last[id] = NEVER_READ;
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        for (uint32_t i = 0; i < g->nodes.at[n].n_in; i++) {
            if (g->nodes.at[n].in[i] != VALUE_NONE)
                last[g->nodes.at[n].in[i]] = n;
        }
    }
    for (uint32_t i = 0; i < g->outputs.len; i++)
        last[g->outputs.at[i]] = UINT32_MAX - 1;
    return last;
}

static void free_read(Unroll *u, const Node *node, uint32_t n, const uint32_t *last)
{
    for (uint32_t i = 0; i < node->n_in; i++) {
        ValueId id = node->in[i];
        if (id != VALUE_NONE && last[id] == n && u->values[id]) {
            tensor_free(u->values[id]);
            u->values[id] = NULL;
        }
    }
}

static bool walk(Unroll *u, const UnrollLeaf *leaves)
{
    const Graph *g = u->graph;
    const uint32_t *last = last_reads(u->arena, g);
    for (ValueId id = 0; id < g->values.len; id++) {
        const Value *value = graph_value(g, id);
        if (value->kind == VALUE_NODE) {
            const Node *node = &g->nodes.at[value->node];
            if (!take_node(u, node))
                return false;
            free_read(u, node, value->node, last);
            id = node->out + node->n_out - 1;
            continue;
        }
        if (last[id] == NEVER_READ)
            continue;
        u->values[id] = value->kind == VALUE_CONST ? take_const(u, id)
                                                   : take_leaf(u, id, &leaves[value->source]);
        if (!u->values[id])
            return false;
    }
    return true;
}

/* Whether the elements of all nodes alone are more than the budget. */
static bool is_too_large(const Graph *g, int64_t budget)
{
    int64_t all = 0, count;
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        if (!shape_count(graph_value(g, g->nodes.at[i].out)->shape, &count) ||
            __builtin_add_overflow(all, count, &all) || all > budget)
            return true;
    }
    return false;
}

bool unroll_graph(Exprs *x, const Graph *graph, const UnrollLeaf *leaves, int64_t budget,
                  Tensor **out)
{
    Arena arena = {0};
    Unroll u = {.x = x, .arena = &arena, .graph = graph, .budget = budget};
    u.values = arena_array(&arena, Tensor *, graph->values.len + 1);
    bool ok = !is_too_large(graph, budget) && walk(&u, leaves);
    for (uint32_t i = 0; i < graph->outputs.len; i++) {
        out[i] = ok ? tensor_copy(u.values[graph->outputs.at[i]]) : NULL;
        ok = ok && out[i];
    }
    for (ValueId id = 0; id < graph->values.len; id++)
        tensor_free(u.values[id]);
    for (uint32_t i = 0; i < graph->outputs.len && !ok; i++) {
        tensor_free(out[i]);
        out[i] = NULL;
    }
    arena_drop(&arena);
    return ok;
}
