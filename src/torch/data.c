/* Values a file asks for while it is read: .item(), masks in subscripts, conditions on tensors.
 * The nodes a value rests on are copied into a graph of their own, inputs and parameters
 * replaced by the source nodes that make them, and the reference evaluator runs it. Small values
 * are kept, so that a loop which asks again and again computes each node once. */
#include "torch/tvar.h"

#include "graph/eval.h"
#include <string.h>

enum { MAX_DATA_BYTES = 1 << 28, KEEP_BYTES = 1 << 16, OUTCOME_BYTES = 1 << 20 };

/* A value of either graph, in the order in which it can be computed. */
typedef struct Step {
    int which;
    ValueId id;
} Step;

typedef struct Extract {
    Interp *it;
    Span at;
    Graph *out;
    uint32_t epoch;
    VEC(Step) stack;
    VEC(Step) kept; /* outputs of `out`, in order */
} Extract;

static DataSlot *slot_of(Interp *it, int which, ValueId id)
{
    static const DataSlot empty = {0};
    while (it->data[which].len <= id)
        vec_push(it->arena, &it->data[which], empty);
    return &it->data[which].at[id];
}

static void copy_const(Extract *x, Value value, DataSlot *slot)
{
    if (slot->data) {
        value.kind = VALUE_CONST;
        value.node = NODE_NONE;
        value.data = slot->data;
    }
    slot->copy = graph_add_value(x->out, value);
}

static void copy_node(Extract *x, int which, const Node *node)
{
    Interp *it = x->it;
    ValueId *in = arena_array(it->arena, ValueId, node->n_in + 1), out;
    for (uint32_t i = 0; i < node->n_in; i++)
        in[i] = node->in[i] == VALUE_NONE ? VALUE_NONE : slot_of(it, which, node->in[i])->copy;
    NodeSpec spec = {.op = node->op,
                     .kind = node->kind,
                     .n_in = node->n_in,
                     .in = in,
                     .n_out = node->n_out,
                     .n_attr = node->n_attr,
                     .attr = node->attr,
                     .at = node->at};
    if (!graph_add(x->out, &spec, it->diag, &out))
        interp_stop(it);
    for (uint32_t i = 0; i < node->n_out; i++) {
        DataSlot *slot = slot_of(it, which, node->out + i);
        slot->copy = out + i;
        slot->epoch = x->epoch;
        int64_t bytes;
        const Value *value = graph_value(x->out, out + i);
        if (shape_bytes(value->shape, value->dtype, &bytes) && bytes <= KEEP_BYTES)
            vec_push(it->arena, &x->kept, ((Step){which, node->out + i}));
    }
}

static void want(Extract *x, int which, ValueId id)
{
    if (slot_of(x->it, which, id)->epoch != x->epoch)
        vec_push(x->it->arena, &x->stack, ((Step){which, id}));
}

/* Copies the value on top of the stack, or puts what it needs above it. */
static void advance(Extract *x)
{
    Interp *it = x->it;
    Step top = vec_last(&x->stack);
    DataSlot *slot = slot_of(it, top.which, top.id);
    const Graph *graph = it->graphs[top.which];
    const Value *value = graph_value(graph, top.id);
    uint32_t before = x->stack.len;
    interp_step(it, 1, x->at);
    if (slot->epoch == x->epoch) {
        x->stack.len--;
        return;
    }
    if (slot->data || value->kind == VALUE_CONST) {
        copy_const(x, *value, slot);
        slot->epoch = x->epoch;
    } else if (value->kind == VALUE_NODE) {
        const Node *node = &graph->nodes.at[value->node];
        for (uint32_t i = 0; i < node->n_in; i++) {
            if (node->in[i] != VALUE_NONE)
                want(x, top.which, node->in[i]);
        }
        if (x->stack.len == before)
            copy_node(x, top.which, node);
    } else if (value->source == UINT32_MAX) {
        interp_fail(it, x->at, "T014", "this depends on what a kernel computes");
    } else {
        want(x, 0, value->source);
        if (x->stack.len > before)
            return;
        ValueId copy = slot_of(it, 0, value->source)->copy;
        slot = slot_of(it, top.which, top.id);
        slot->copy = copy;
        slot->epoch = x->epoch;
    }
}

static void keep_results(Extract *x, Tensor **results)
{
    for (uint32_t i = 0; i < x->kept.len; i++) {
        const Tensor *t = results[i + 1];
        size_t bytes = (size_t)t->count * dtype_bytes(t->dtype);
        void *data = arena_alloc(x->it->arena, bytes + 8);
        memcpy(data, t->at, bytes);
        slot_of(x->it, x->kept.at[i].which, x->kept.at[i].id)->data = data;
        tensor_free(results[i + 1]);
    }
}

static void extract(Extract *x, int which, ValueId id)
{
    Interp *it = x->it;
    x->epoch = ++it->data_epoch;
    vec_push(it->arena, &x->stack, ((Step){which, id}));
    while (x->stack.len)
        advance(x);
    vec_push(it->arena, &x->out->outputs, slot_of(it, which, id)->copy);
    for (uint32_t i = 0; i < x->kept.len; i++)
        vec_push(it->arena, &x->out->outputs,
                 slot_of(it, x->kept.at[i].which, x->kept.at[i].id)->copy);
}

/* While forward runs, what it learns of a value is a condition on the graph it leaves. */
static void note_outcome(Interp *it, int which, ValueId id, const Tensor *found)
{
    Outcome outcome = {.id = id};
    if (it->graph != 1)
        return;
    if (which == 0) {
        if (id >= it->imported.len || !it->imported.at[id])
            return;
        outcome.id = it->imported.at[id] - 1;
    }
    size_t bytes = (size_t)found->count * dtype_bytes(found->dtype);
    if (bytes <= OUTCOME_BYTES) {
        void *copy = arena_alloc(it->arena, bytes + 8);
        memcpy(copy, found->at, bytes);
        outcome.data = copy;
    }
    vec_push(it->arena, &it->outcomes, outcome);
}

static Tensor *evaluate(Interp *it, Span at, int which, ValueId id, const char *why)
{
    if (it->no_data)
        interp_fail(it, at, "T014", "%s depends on data", why);
    if (which == 1)
        it->used_data = true;
    Extract x = {.it = it, .at = at, .out = graph_new(it->arena, "data")};
    extract(&x, which, id);
    EvalOptions options = {.seed = it->seed, .memory = MAX_DATA_BYTES};
    int64_t bytes;
    if (!graph_eval_bytes(x.out, &options, &bytes) || bytes > MAX_DATA_BYTES)
        interp_fail(it, at, "T014", "%s depends on data too large to work out while reading", why);
    interp_step(it, (uint64_t)bytes / 64, at);
    Tensor **results = arena_array(it->arena, Tensor *, x.kept.len + 1);
    if (!graph_eval(x.out, NULL, NULL, &options, results, it->diag))
        interp_stop(it);
    keep_results(&x, results);
    note_outcome(it, which, id, results[0]);
    return results[0];
}

Tensor *tensor_data(Interp *it, Span at, TVar *t, const char *why)
{
    if (t->base)
        tvar_read(it, t);
    return evaluate(it, at, t->graph, t->id, why);
}

/* Some input or parameter stands behind a value of the main graph. */
static bool rests_on_inputs(Interp *it, Span at, ValueId id)
{
    const Graph *graph = it->graphs[1];
    bool *seen = arena_array(it->arena, bool, graph->values.len + 1);
    VEC(ValueId) left = {0};
    vec_push(it->arena, &left, id);
    while (left.len) {
        ValueId v = left.at[--left.len];
        const Value *value = graph_value(graph, v);
        if (v == VALUE_NONE || seen[v])
            continue;
        seen[v] = true;
        interp_step(it, 1, at);
        if (value->kind == VALUE_INPUT || value->kind == VALUE_PARAM)
            return true;
        const Node *node = value->kind == VALUE_NODE ? &graph->nodes.at[value->node] : NULL;
        for (uint32_t i = 0; node && i < node->n_in; i++)
            vec_push(it->arena, &left, node->in[i]);
    }
    return false;
}

/* What forward learns of t holds for the values drawn. */
static bool is_drawn(Interp *it, Span at, TVar *t)
{
    if (it->graph != 1 || t->graph == 1)
        return it->graph == 1 && rests_on_inputs(it, at, t->id);
    if (t->id >= it->imported.len || !it->imported.at[t->id])
        return t->role == ROLE_PARAM;
    return rests_on_inputs(it, at, it->imported.at[t->id] - 1);
}

static Tensor *look_at(Interp *it, Span at, TVar *t, bool branch, const char *why)
{
    Tensor *data = tensor_data(it, at, t, why);
    if (is_drawn(it, at, t))
        vec_push(it->arena, &it->looks, ((TorchLook){at, branch, NULL}));
    return data;
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

static void need_one(Interp *it, Span at, TVar *t)
{
    int64_t count;
    if (!shape_count(tvar_shape(it, t), &count) || count != 1)
        interp_fail(it, at, "T010",
                    "only a tensor of one element can become a number or condition");
}

static PyVal look_at_one(Interp *it, Span at, TVar *t, bool branch)
{
    need_one(it, at, t);
    Tensor *data = look_at(it, at, t, branch, "a number taken from a tensor");
    PyVal value = number_at(data, 0);
    tensor_free(data);
    return value;
}

PyVal tensor_item(Interp *it, Span at, TVar *t) { return look_at_one(it, at, t, false); }

int64_t tensor_largest(Interp *it, Span at, ValueId x, const char *advice)
{
    uint32_t looks = it->looks.len;
    PyVal top = tensor_of(it, emit1(it, at, OP_REDUCE, REDUCE_max, x, NULL));
    int64_t found = need_int(it, at, tensor_item(it, at, top.tensor), "the largest element");
    if (!advice)
        it->looks.len = looks;
    for (uint32_t i = looks; i < it->looks.len; i++)
        it->looks.at[i].advice = advice;
    return found;
}

bool tensor_truth(Interp *it, Span at, TVar *t)
{
    return pv_as_double(look_at_one(it, at, t, true)) != 0;
}

PyVal tensor_number(Interp *it, Span at, TVar *t)
{
    need_one(it, at, t);
    DType own = tvar_dtype(it, t);
    bool registered = it->graph == 1 && t->graph == 0 && t->role == ROLE_BUFFER;
    if (own == DT_C64 || (!registered && !is_drawn(it, at, t)))
        return tensor_item(it, at, t);
    ValueId id = emit_reshape(it, at, tvar_read(it, t), (Shape){0});
    return tensor_of(it, own == DT_F16 || own == DT_BF16 ? emit_cast(it, at, id, DT_F32) : id);
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
    Tensor *data = look_at(it, at, t, false, "a list made from a tensor");
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
