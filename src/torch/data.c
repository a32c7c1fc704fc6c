/* Values a file asks for while it is read: .item(), masks in subscripts, conditions on tensors.
 * The nodes a value rests on are copied into a graph of their own, inputs and parameters
 * replaced by the source nodes that make them, and the reference evaluator runs it. */
#include "torch/tvar.h"

#include "graph/eval.h"
#include <string.h>

enum { MAX_DATA_BYTES = 1 << 28 };

typedef struct Extract {
    Interp *it;
    Span at;
    Graph *out;
    ValueId *map[2];  /* value of either graph -> value of out; VALUE_NONE: not copied */
    uint8_t *want[2]; /* value of either graph is needed */
} Extract;

static void mark_needed(Extract *x, int which)
{
    const Graph *graph = x->it->graphs[which];
    for (uint32_t i = graph->values.len; i-- > 0;) {
        const Value *value = &graph->values.at[i];
        if (!x->want[which][i])
            continue;
        if (value->kind == VALUE_NODE) {
            const Node *node = &graph->nodes.at[value->node];
            for (uint32_t j = 0; j < node->n_in; j++) {
                if (node->in[j] != VALUE_NONE)
                    x->want[which][node->in[j]] = 1;
            }
        } else if (value->kind != VALUE_CONST) {
            x->want[0][value->source] = 1;
        }
    }
}

static void copy_node(Extract *x, int which, const Node *node)
{
    Interp *it = x->it;
    ValueId *in = arena_array(it->arena, ValueId, node->n_in + 1);
    for (uint32_t i = 0; i < node->n_in; i++)
        in[i] = node->in[i] == VALUE_NONE ? VALUE_NONE : x->map[which][node->in[i]];
    NodeSpec spec = {.op = node->op, .kind = node->kind, .n_in = node->n_in, .in = in,
                     .n_out = node->n_out, .n_attr = node->n_attr, .attr = node->attr, .at = node->at};
    ValueId out;
    if (!graph_add(x->out, &spec, it->diag, &out))
        interp_stop(it);
    for (uint32_t i = 0; i < node->n_out; i++)
        x->map[which][node->out + i] = out + i;
}

static void copy_needed(Extract *x, int which)
{
    const Graph *graph = x->it->graphs[which];
    for (uint32_t i = 0; i < graph->values.len; i++) {
        const Value *value = &graph->values.at[i];
        if (!x->want[which][i] || x->map[which][i] != VALUE_NONE)
            continue;
        interp_step(x->it, 1, x->at);
        if (value->kind == VALUE_NODE)
            copy_node(x, which, &graph->nodes.at[value->node]);
        else if (value->kind == VALUE_CONST)
            x->map[which][i] = graph_add_value(x->out, *value);
        else
            x->map[which][i] = x->map[0][value->source];
    }
}

static Extract extract(Interp *it, Span at, int which, ValueId id)
{
    Extract x = {.it = it, .at = at, .out = graph_new(it->arena, "data")};
    for (int i = 0; i < 2; i++) {
        uint32_t count = it->graphs[i] ? it->graphs[i]->values.len : 0;
        x.want[i] = arena_alloc(it->arena, count + 1);
        x.map[i] = arena_array(it->arena, ValueId, count + 1);
        memset(x.map[i], 0xff, count * sizeof *x.map[i]);
    }
    x.want[which][id] = 1;
    for (int i = which; i >= 0; i--)
        mark_needed(&x, i);
    for (int i = 0; i <= which; i++)
        copy_needed(&x, i);
    vec_push(it->arena, &x.out->outputs, x.map[which][id]);
    return x;
}

static Tensor *evaluate(Interp *it, Span at, int which, ValueId id, const char *why)
{
    if (it->no_data)
        interp_fail(it, at, "T014", "%s depends on data", why);
    if (which == 1)
        it->used_data = true;
    Extract x = extract(it, at, which, id);
    interp_step(it, x.out->values.len, at);
    EvalOptions options = {.seed = it->seed, .memory = MAX_DATA_BYTES};
    Tensor *result = NULL;
    int64_t bytes;
    if (!graph_eval_bytes(x.out, &options, &bytes) || bytes > MAX_DATA_BYTES)
        interp_fail(it, at, "T014", "%s depends on data too large to work out while reading", why);
    interp_step(it, (uint64_t)bytes / 64, at);
    if (!graph_eval(x.out, NULL, NULL, &options, &result, it->diag))
        interp_stop(it);
    return result;
}

Tensor *tensor_data(Interp *it, Span at, TVar *t, const char *why)
{
    if (t->base)
        tvar_read(it, t);
    return evaluate(it, at, t->graph, t->id, why);
}

static PyVal number_at(const Tensor *data, int64_t i)
{
    if (dtype_is_float(data->dtype) || data->dtype == DT_C64)
        return pv_float(tensor_get(data, i));
    if (data->dtype == DT_BOOL)
        return pv_bool(tensor_get(data, i) != 0);
    int64_t value;
    tensor_load_i64(data, i, 1, 1, &value);
    return pv_int(value);
}

PyVal tensor_item(Interp *it, Span at, TVar *t)
{
    int64_t count;
    if (!shape_count(tvar_shape(it, t), &count) || count != 1)
        interp_fail(it, at, "T010", "only a tensor of one element can become a number or condition");
    Tensor *data = tensor_data(it, at, t, "a number taken from a tensor");
    PyVal value = number_at(data, 0);
    tensor_free(data);
    return value;
}

static PyVal nest(Interp *it, const Tensor *data, int dim, int64_t *at)
{
    if (dim == data->shape.rank)
        return number_at(data, (*at)++);
    PyVal list = pv_list(it->arena, PV_LIST);
    for (int64_t i = 0; i < data->shape.dim[dim]; i++)
        pv_push(it->arena, list, nest(it, data, dim + 1, at));
    return list;
}

PyVal tensor_to_list(Interp *it, Span at, TVar *t)
{
    int64_t count, from = 0;
    if (!shape_count(tvar_shape(it, t), &count) || count > INTERP_MAX_ITEMS / 4)
        interp_fail(it, at, "T012", "this tensor is too large for a list");
    interp_step(it, (uint64_t)count, at);
    Tensor *data = tensor_data(it, at, t, "a list made from a tensor");
    PyVal list = nest(it, data, 0, &from);
    tensor_free(data);
    return list;
}

int64_t tensor_count_true(Interp *it, Span at, ValueId id)
{
    Tensor *data = evaluate(it, at, it->graph, id, "the number of true elements of a mask");
    int64_t count = 0;
    for (int64_t i = 0; i < data->count; i++)
        count += tensor_get(data, i) != 0;
    tensor_free(data);
    return count;
}
