/* Elements that move, and what is constant. Both run the node by the reference evaluator: on the
 * numbers of the expressions where elements only change place (a slice, a gather by known
 * places), on the elements themselves where all of them are known. */
#include "graph/eval.h"
#include "graph/unroll_int.h"

#include <string.h>

/* --- running one node --------------------------------------------------------------------- */

Tensor *unroll_run(Unroll *u, const NodeSpec *spec, Tensor *const *in)
{
    Arena arena = {0};
    Diag scratch = diag_make(&arena, "", (Str){0});
    Graph *one = graph_new(&arena, "one");
    NodeSpec inner = *spec;
    ValueId *ids = arena_array(&arena, ValueId, spec->n_in + 1), out;
    Tensor **given = arena_array(&arena, Tensor *, spec->n_in + 1), *result = NULL;
    for (uint32_t i = 0; i < spec->n_in; i++) {
        ids[i] = VALUE_NONE;
        if (in[i]) {
            given[one->inputs.len] = in[i];
            ids[i] = graph_add_value(one, (Value){.dtype = in[i]->dtype,
                                                  .shape = in[i]->shape,
                                                  .kind = VALUE_INPUT,
                                                  .node = NODE_NONE});
            vec_push(&arena, &one->inputs, ids[i]);
        } else if (spec->in[i] != VALUE_NONE) { /* a Python number */
            ids[i] = graph_add_value(one, *unroll_info(u, spec->in[i]));
        }
    }
    inner.in = ids;
    EvalOptions options = {0};
    if (graph_add(one, &inner, &scratch, &out)) {
        vec_push(&arena, &one->outputs, out);
        if (!graph_eval(one, given, NULL, &options, &result, &scratch))
            result = NULL;
    }
    arena_drop(&arena);
    return result;
}

static NodeSpec spec_of(const Node *node)
{
    return (NodeSpec){.op = node->op,
                      .kind = node->kind,
                      .n_in = node->n_in,
                      .in = node->in,
                      .n_attr = node->n_attr,
                      .attr = node->attr};
}

static void free_all(Tensor **t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        tensor_free(t[i]);
}

/* --- constants ---------------------------------------------------------------------------- */

Tensor *unroll_known(Unroll *u, const Tensor *ids, DType dtype)
{
    for (int64_t i = 0; i < ids->count; i++) {
        if (!expr_is_const(u->x, (ExprId)TENSOR_AT(ids, int64_t)[i]))
            return NULL;
    }
    Tensor *out = tensor_new_raw(dtype, ids->shape);
    for (int64_t i = 0; out && i < ids->count; i++)
        expr_const_to(u->x, (ExprId)TENSOR_AT(ids, int64_t)[i], out, i);
    return out;
}

Tensor *unroll_constant(Unroll *u, const Node *node)
{
    Tensor **in = arena_array(u->arena, Tensor *, node->n_in + 1), *out = NULL, *data = NULL;
    bool known = node->op != OP_RANDOM && node->op != OP_DROPOUT;
    for (uint32_t i = 0; i < node->n_in && known; i++) {
        if (node->in[i] == VALUE_NONE || unroll_info(u, node->in[i])->weak)
            continue;
        in[i] = unroll_known(u, u->values[node->in[i]], unroll_info(u, node->in[i])->dtype);
        known = in[i] != NULL;
    }
    NodeSpec spec = spec_of(node);
    data = known ? unroll_run(u, &spec, in) : NULL;
    out = data ? unroll_new(u, node->out) : NULL;
    for (int64_t i = 0; out && i < out->count; i++)
        TENSOR_AT(out, int64_t)[i] = expr_const_from(u->x, data, i);
    tensor_free(data);
    free_all(in, node->n_in);
    return out;
}

Tensor *unroll_cast(Unroll *u, const Tensor *ids, DType dtype)
{
    Tensor *out = tensor_new_raw(DT_I64, ids->shape);
    for (int64_t i = 0; out && i < ids->count; i++)
        TENSOR_AT(out, int64_t)[i] = expr_cast(u->x, (ExprId)TENSOR_AT(ids, int64_t)[i], dtype);
    return out;
}

/* --- moves -------------------------------------------------------------------------------- */

/* What moves keeps its expression; what says where must be known. */
static Tensor *move_input(Unroll *u, const Node *node, OpMove move, uint32_t i)
{
    const Tensor *ids = u->values[node->in[i]];
    bool element = i >= 32 ? move.inputs == MOVE_EVERY : move.inputs >> i & 1;
    return element ? unroll_cast(u, ids, unroll_info(u, node->out)->dtype)
                   : unroll_known(u, ids, unroll_info(u, node->in[i])->dtype);
}

/* Padding moves the number of its constant in. */
static void pad_by_number(Unroll *u, NodeSpec *spec, DType dtype)
{
    Attr *attr = arena_array(u->arena, Attr, spec->n_attr + 1);
    bool found = false;
    memcpy(attr, spec->attr, spec->n_attr * sizeof *attr);
    for (uint32_t i = 0; i < spec->n_attr; i++) {
        if (attr[i].key == AT_VALUE) {
            attr[i].f = (double)expr_const_number(u->x, dtype, attr[i].f);
            found = true;
        }
    }
    spec->attr = found ? attr : spec->attr;
}

/* What the evaluator fills with 0 (a triangle, a margin) is number 0 here: the constant 0. */
static void fill_zeros(Unroll *u, Tensor *ids, DType dtype)
{
    ExprId zero = expr_const_number(u->x, dtype, 0);
    for (int64_t i = 0; i < ids->count; i++) {
        if (!TENSOR_AT(ids, int64_t)[i])
            TENSOR_AT(ids, int64_t)[i] = zero;
    }
}

Tensor *unroll_move(Unroll *u, const Node *node)
{
    OpMove move = op_move(node);
    int64_t count = 0;
    DType dtype = unroll_info(u, node->out)->dtype;
    if (!move.inputs || !shape_count(unroll_info(u, node->out)->shape, &count) ||
        !unroll_spend(u, count))
        return NULL;
    Tensor **in = arena_array(u->arena, Tensor *, node->n_in + 1), *out = NULL;
    bool ok = true;
    for (uint32_t i = 0; i < node->n_in && ok; i++) {
        in[i] = node->in[i] == VALUE_NONE ? NULL : move_input(u, node, move, i);
        ok = node->in[i] == VALUE_NONE || in[i];
    }
    NodeSpec spec = spec_of(node);
    if (node->op == OP_PAD)
        pad_by_number(u, &spec, dtype);
    out = ok ? unroll_run(u, &spec, in) : NULL;
    if (out)
        fill_zeros(u, out, dtype);
    free_all(in, node->n_in);
    return out;
}

/* --- tables ------------------------------------------------------------------------------- */

/* table[place] with a known table of a, a + b, a + 2b, ... and a place that is not known. */
Tensor *unroll_lookup(Unroll *u, const Node *node)
{
    bool index = node->op == OP_INDEX || node->op == OP_INDEX_SELECT || node->op == OP_GATHER;
    if (!index || node->n_in != 2 || unroll_info(u, node->in[0])->shape.rank != 1 ||
        !dtype_is_int(unroll_info(u, node->in[0])->dtype))
        return NULL;
    DType dtype = unroll_info(u, node->out)->dtype;
    Tensor *table = unroll_known(u, u->values[node->in[0]], DT_I64);
    int64_t *v = table ? TENSOR_AT(table, int64_t) : NULL, step = 0;
    bool ok = table && table->count > 1;
    step = ok ? v[1] - v[0] : 0;
    for (int64_t i = 1; ok && i < table->count; i++)
        ok = v[i] - v[i - 1] == step;
    Tensor *out = ok ? unroll_new(u, node->out) : NULL;
    for (int64_t i = 0; out && i < out->count; i++) {
        ExprId place = expr_cast(u->x, (ExprId)unroll_ids(u, node->in[1])[i], dtype);
        ExprId scaled[3] = {place, expr_const(u->x, dtype, (uint64_t)step)};
        ExprId moved[3] = {expr_elem(u->x, OP_BINARY, BINARY_mul, dtype, scaled, 0),
                           expr_const(u->x, dtype, (uint64_t)v[0])};
        TENSOR_AT(out, int64_t)[i] = expr_elem(u->x, OP_BINARY, BINARY_add, dtype, moved, 0);
    }
    tensor_free(table);
    return out;
}
