/* The driver of reference evaluation.
 *
 * In: a graph and the tensors of its inputs and parameters. Out: its output tensors. Nodes run in
 * order; neighbouring elementwise nodes of one shape run as a group, so that what flows between
 * them is never stored in memory; a value is freed after its last reader.
 */
#include "graph/eval_int.h"

#include "base/meter.h"
#include "graph/compare.h"
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

enum { GROUP_MOST = 24 };
#define KEEP UINT32_MAX /* last_use of an output */

static EvalOp *const eval_table[OP_COUNT] = {
#define OP(name, ...) eval_op_##name,
#include "graph/op.def"
#undef OP
};

bool eval_fail(EvalNode *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    Buf text = {0};
    buf_vprintf(&text, format, args);
    va_end(args);
    diag_error(e->eval->diag, "E480", e->node->at, "%s: %s", op_rows[e->node->op].name, text.at);
    buf_free(&text);
    return false;
}

static bool out_of_memory(Eval *ev, const Node *node, DType dtype, Shape shape)
{
    Buf text = {0};
    shape_print(shape, &text);
    diag_error(ev->diag, "E481", node->at, "%s: no memory for %s%s", op_rows[node->op].name,
               dtype_name(dtype), text.at ? text.at : "");
    buf_free(&text);
    return false;
}

Tensor *eval_scratch(EvalNode *e, DType dtype, Shape shape)
{
    Tensor *t = tensor_new_raw(dtype, shape);
    if (!t)
        out_of_memory(e->eval, e->node, dtype, shape);
    return t;
}

Tensor *eval_as(EvalNode *e, const Tensor *t, DType dtype)
{
    Tensor *as = t->dtype == dtype ? tensor_alias(t, t->shape) : tensor_cast(t, dtype);
    if (!as)
        out_of_memory(e->eval, e->node, dtype, t->shape);
    return as;
}

/* --- plan --------------------------------------------------------------------------------- */

static uint32_t *find_last_use(const Graph *g)
{
    uint32_t *last = heap_alloc(sizeof *last * (g->values.len + 1));
    memset(last, 0xff, sizeof *last * (g->values.len + 1)); /* never read: kept */
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        for (uint32_t i = 0; i < node->n_in; i++)
            if (node->in[i] != VALUE_NONE)
                last[node->in[i]] = n;
        for (uint32_t o = 0; o < node->n_out; o++)
            last[node->out + o] = n;
    }
    for (uint32_t i = 0; i < g->outputs.len; i++)
        last[g->outputs.at[i]] = KEEP;
    return last;
}

/* Operators that widen what they read a stretch or a line at a time, and round what they write. */
static bool widens_itself(const Eval *ev, const Node *node)
{
    switch (node->op) {
    case OP_REDUCE:
    case OP_REDUCE_INDEX:
    case OP_SCAN:
    case OP_SOFTMAX:
    case OP_LAYER_NORM:
    case OP_GROUP_NORM:
    case OP_INSTANCE_NORM: return true;
    default: return eval_elem_is(ev, node);
    }
}

/* Which f32 values can stay f32 though all work is done in f64: what is given and read by such
 * operators only, and outputs of theirs that nothing reads. It saves two passes over memory. */
static bool *find_narrow(const Eval *ev, bool wide_out)
{
    const Graph *g = ev->graph;
    bool *narrow = heap_alloc(g->values.len + 1);
    for (ValueId v = 0; v < g->values.len; v++) {
        const Value *value = graph_value(g, v);
        bool made = value->kind == VALUE_NODE;
        narrow[v] = value->dtype == DT_F32 &&
                    (made ? ev->last_use[v] == KEEP && !wide_out &&
                                widens_itself(ev, &g->nodes.at[value->node])
                          : true);
    }
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        for (uint32_t i = 0; i < node->n_in; i++) {
            ValueId in = node->in[i];
            if (in != VALUE_NONE &&
                (graph_value(g, in)->kind == VALUE_NODE || !widens_itself(ev, node)))
                narrow[in] = false;
        }
    }
    for (uint32_t i = 0; wide_out && i < g->outputs.len; i++)
        narrow[g->outputs.at[i]] = false;
    return narrow;
}

/* How many nodes from `first` on run together. */
static uint32_t group_size(const Eval *ev, uint32_t first)
{
    const Graph *g = ev->graph;
    const Node *head = &g->nodes.at[first];
    if (!eval_elem_is(ev, head))
        return 1;
    uint32_t n = 1;
    while (n < GROUP_MOST && first + n < g->nodes.len) {
        const Node *node = &g->nodes.at[first + n];
        if (!eval_elem_is(ev, node) ||
            (ev->rounds && (ev->rounds[first] || ev->rounds[first + n])) ||
            !shape_equal(graph_value(g, node->out)->shape, graph_value(g, head->out)->shape))
            break;
        n++;
    }
    return n;
}

/* --- memory ------------------------------------------------------------------------------- */

typedef struct Tally {
    int64_t now, peak;
    bool ok;
} Tally;

static int64_t value_bytes(const Eval *ev, ValueId id, Tally *tally)
{
    const Value *v = graph_value(ev->graph, id);
    int64_t bytes = 0;
    if (!shape_bytes(v->shape, eval_dtype(ev, v->dtype), &bytes) || bytes > INT64_MAX / 8)
        tally->ok = false;
    return tally->ok ? bytes : 0;
}

static void tally_add(Tally *tally, int64_t bytes)
{
    if (__builtin_add_overflow(tally->now, bytes, &tally->now))
        tally->ok = false;
    if (tally->now > tally->peak)
        tally->peak = tally->now;
}

/* Converted copies and packed operands of one node: at most twice its inputs and outputs. */
static int64_t work_bytes(const Eval *ev, const Node *node, Tally *tally)
{
    int64_t bytes = 0;
    if (eval_elem_is(ev, node) || node->op == OP_RESHAPE)
        return 0;
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != VALUE_NONE)
            bytes += value_bytes(ev, node->in[i], tally) * 2;
    for (uint32_t o = 0; o < node->n_out; o++)
        bytes += value_bytes(ev, node->out + o, tally);
    return bytes;
}

/* Gives back what dies with these nodes; `held` says which values are in memory. */
static void tally_dead(const Eval *ev, uint32_t first, uint32_t count, bool *held, Tally *tally)
{
    for (uint32_t n = first; n < first + count; n++) {
        const Node *node = &ev->graph->nodes.at[n];
        for (uint32_t i = 0; i < node->n_in + node->n_out; i++) {
            ValueId v = i < node->n_in ? node->in[i] : node->out + (i - node->n_in);
            if (v == VALUE_NONE || !held[v] || ev->last_use[v] >= first + count)
                continue;
            held[v] = false;
            tally->now -= value_bytes(ev, v, tally);
        }
    }
}

static void tally_node(const Eval *ev, uint32_t n, uint32_t end, bool alone, bool *held,
                       Tally *tally)
{
    const Node *node = &ev->graph->nodes.at[n];
    for (uint32_t o = 0; o < node->n_out; o++)
        if (alone || ev->last_use[node->out + o] >= end) {
            held[node->out + o] = true;
            tally_add(tally, value_bytes(ev, node->out + o, tally));
        }
    int64_t work = work_bytes(ev, node, tally);
    tally_add(tally, work);
    tally->now -= work;
}

static void tally_nodes(const Eval *ev, bool *held, Tally *tally)
{
    for (uint32_t first = 0; first < ev->graph->nodes.len && tally->ok;) {
        uint32_t count = group_size(ev, first);
        for (uint32_t n = first; n < first + count; n++)
            tally_node(ev, n, first + count, count == 1, held, tally);
        tally_dead(ev, first, count, held, tally);
        first += count;
    }
}

bool graph_eval_bytes(const Graph *graph, const EvalOptions *options, int64_t *peak)
{
    Eval ev = {.graph = graph, .wide = options->wide, .last_use = find_last_use(graph)};
    Tally tally = {.ok = true};
    bool *held = heap_alloc(graph->values.len + 1);
    for (ValueId v = 0; v < graph->values.len; v++)
        if (graph_value(graph, v)->kind != VALUE_NODE) {
            held[v] = true;
            tally_add(&tally, value_bytes(&ev, v, &tally));
            if (ev.wide && graph_value(graph, v)->dtype == DT_F32) /* the caller's own copy */
                tally_add(&tally, value_bytes(&ev, v, &tally) / 2);
        }
    tally_nodes(&ev, held, &tally);
    heap_free(held);
    heap_free(ev.last_use);
    *peak = tally.peak;
    return tally.ok;
}

/* --- run ---------------------------------------------------------------------------------- */

static DType held_dtype(const Eval *ev, ValueId id)
{
    DType dtype = graph_value(ev->graph, id)->dtype;
    return ev->narrow && ev->narrow[id] ? dtype : eval_dtype(ev, dtype);
}

static bool make_outputs(Eval *ev, const Node *node)
{
    for (uint32_t o = 0; o < node->n_out; o++) {
        const Value *v = graph_value(ev->graph, node->out + o);
        DType dtype = held_dtype(ev, node->out + o);
        ev->values[node->out + o] = tensor_new_raw(dtype, v->shape);
        if (!ev->values[node->out + o])
            return out_of_memory(ev, node, dtype, v->shape);
    }
    return true;
}

/* Operators that know complex numbers, or never look at what they move. */
static bool takes_complex(Op op)
{
    switch (op) {
    case OP_UNARY:
    case OP_BINARY:
    case OP_WHERE:
    case OP_CAST:
    case OP_DROPOUT:
    case OP_GATHER:
    case OP_INDEX_SELECT:
    case OP_INDEX_COPY:
    case OP_INDEX:
    case OP_MASKED_SELECT:
    case OP_EMBEDDING:
    case OP_MATMUL:
    case OP_FFT:
    case OP_VIEW_AS_REAL:
    case OP_VIEW_AS_COMPLEX: return true;
    default: return op >= OP_RESHAPE && op <= OP_DIAGONAL && op != OP_IM2COL && op != OP_COL2IM;
    }
}

static bool complex_refused(Eval *ev, const Node *node)
{
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != VALUE_NONE && graph_value(ev->graph, node->in[i])->dtype == DT_C64 &&
            !takes_complex(node->op)) {
            diag_error(ev->diag, "E484", node->at, "%s is not evaluated for complex numbers",
                       op_rows[node->op].name);
            return true;
        }
    return false;
}

static bool run_node(Eval *ev, const Node *node)
{
    enum { FEW = 16 };
    Tensor *few[FEW];
    if (complex_refused(ev, node) || !make_outputs(ev, node))
        return false;
    Tensor **in = node->n_in > FEW ? heap_alloc(sizeof *in * node->n_in) : few;
    for (uint32_t i = 0; i < node->n_in; i++)
        in[i] = node->in[i] == VALUE_NONE ? NULL : ev->values[node->in[i]];
    EvalNode e = {
        .eval = ev, .graph = ev->graph, .node = node, .in = in, .out = ev->values + node->out};
    EvalOp *op = eval_table[node->op];
    bool ok = node_bool(node, AT_HF32) ? eval_in_hf32(&e, op) : op(&e);
    if (in != few)
        heap_free(in);
    return ok;
}

static void free_dead(Eval *ev, uint32_t first, uint32_t count)
{
    for (uint32_t n = first; n < first + count; n++) {
        const Node *node = &ev->graph->nodes.at[n];
        for (uint32_t i = 0; i < node->n_in + node->n_out; i++) {
            ValueId v = i < node->n_in ? node->in[i] : node->out + (i - node->n_in);
            if (v == VALUE_NONE || ev->last_use[v] >= first + count)
                continue;
            tensor_free(ev->values[v]);
            ev->values[v] = NULL;
        }
    }
}

/* The input of a node that rounds, moved by the error it may have. */
static Tensor *nudged(const Eval *ev, const Node *node)
{
    const Tensor *from = ev->values[node->in[0]];
    Tensor *t = tensor_copy(from);
    double rms = compare_rms(from);
    DType dtype = graph_value(ev->graph, node->in[0])->dtype;
    for (int64_t i = 0; t && i < t->count; i++) {
        double x = tensor_get(t, i);
        double off = compare_allowed(ev->options->allowed, dtype, x, rms);
        tensor_set(t, i, x + ev->options->nudge * off);
    }
    return t;
}

static bool run_group(Eval *ev, uint32_t first, uint32_t count)
{
    const Node *node = &ev->graph->nodes.at[first];
    bool rounds = ev->rounds && ev->rounds[first];
    Tensor *own = rounds ? ev->values[node->in[0]] : NULL,
           *moved = rounds ? nudged(ev, node) : NULL;
    if (rounds && !moved)
        return out_of_memory(ev, node, own->dtype, own->shape);
    if (rounds)
        ev->values[node->in[0]] = moved;
    bool ok = eval_elem_is(ev, node) ? eval_elem_run(ev, first, count) : run_node(ev, node);
    if (rounds)
        ev->values[node->in[0]] = own;
    tensor_free(moved);
    return ok;
}

static void count_work(const Eval *ev, uint32_t first, uint32_t count)
{
    for (uint32_t n = first; n < first + count; n++) {
        const Node *node = &ev->graph->nodes.at[n];
        int64_t elements = 0;
        if (node->n_out && shape_count(graph_value(ev->graph, node->out)->shape, &elements))
            meter_add(1 + (uint64_t)elements / 16);
    }
}

static bool run_nodes(Eval *ev)
{
    const Graph *g = ev->graph;
    for (uint32_t first = 0; first < g->nodes.len;) {
        uint32_t count = group_size(ev, first);
        count_work(ev, first, count);
        if (!run_group(ev, first, count))
            return false;
        free_dead(ev, first, count);
        first += count;
    }
    return true;
}

static bool bind(Eval *ev, ValueId id, const Tensor *t)
{
    const Value *v = graph_value(ev->graph, id);
    const char *name = v->name ? v->name : "(unnamed)";
    if (!t || t->dtype != v->dtype || !shape_equal(t->shape, v->shape)) {
        diag_error(ev->diag, "E482", (Span){0}, "value '%s' was given with another dtype or shape",
                   name);
        return false;
    }
    DType dtype = held_dtype(ev, id);
    ev->values[id] = dtype == t->dtype ? tensor_alias(t, t->shape) : tensor_cast(t, dtype);
    if (!ev->values[id])
        diag_error(ev->diag, "E481", (Span){0}, "no memory for '%s'", name);
    return ev->values[id] != NULL;
}

static bool bind_const(Eval *ev, ValueId id)
{
    const Value *v = graph_value(ev->graph, id);
    Tensor *t = tensor_new_raw(v->dtype, v->shape);
    if (t && t->count > 0)
        memcpy(t->at, v->data, (size_t)t->count * dtype_bytes(v->dtype));
    bool ok = t && bind(ev, id, t);
    if (!t)
        diag_error(ev->diag, "E481", (Span){0}, "no memory for a constant");
    tensor_free(t);
    return ok;
}

static bool bind_all(Eval *ev, Tensor *const *inputs, Tensor *const *params)
{
    const Graph *g = ev->graph;
    for (uint32_t i = 0; i < g->inputs.len; i++)
        if (!bind(ev, g->inputs.at[i], inputs[i]))
            return false;
    for (uint32_t i = 0; i < g->params.len; i++)
        if (!bind(ev, g->params.at[i], params[i]))
            return false;
    for (ValueId v = 0; v < g->values.len; v++)
        if (graph_value(g, v)->kind == VALUE_CONST && !bind_const(ev, v))
            return false;
    return true;
}

static bool take_outputs(Eval *ev, bool wide_out, Tensor **outputs)
{
    for (uint32_t i = 0; i < ev->graph->outputs.len; i++) {
        ValueId id = ev->graph->outputs.at[i];
        const Tensor *t = ev->values[id];
        DType dtype = wide_out ? t->dtype : graph_value(ev->graph, id)->dtype;
        bool own = t->dtype == dtype && tensor_sole_owner(t);
        outputs[i] = own ? tensor_alias(t, t->shape) : tensor_cast(t, dtype);
        if (!outputs[i]) {
            diag_error(ev->diag, "E481", (Span){0}, "no memory for output %u", i);
            return false;
        }
    }
    return true;
}

static bool fits(const Graph *graph, const EvalOptions *options, Diag *diag)
{
    int64_t peak = 0;
    bool counted = graph_eval_bytes(graph, options, &peak);
    if (counted && (options->memory == 0 || peak <= options->memory))
        return true;
    diag_error(diag, "E483", (Span){0}, "evaluation needs %.3g GiB, allowed are %.3g GiB",
               counted ? (double)peak / 0x1p30 : 0x1p32, (double)options->memory / 0x1p30);
    diag_hint(diag, "choose a smaller --scale, or --set sizes by hand");
    return false;
}

bool graph_eval(const Graph *graph, Tensor *const *inputs, Tensor *const *params,
                const EvalOptions *options, Tensor **outputs, Diag *diag)
{
    for (uint32_t i = 0; i < graph->outputs.len; i++)
        outputs[i] = NULL;
    if (!fits(graph, options, diag))
        return false;
    Eval ev = {.graph = graph,
               .values = heap_alloc(sizeof(Tensor *) * (graph->values.len + 1)),
               .last_use = find_last_use(graph),
               .seed = options->seed,
               .wide = options->wide,
               .options = options,
               .diag = diag};
    bool *rounds = options->nudge ? compare_roundings(graph) : NULL;
    ev.rounds = rounds;
    ev.narrow = options->wide ? find_narrow(&ev, options->wide_out) : NULL;
    bool ok = bind_all(&ev, inputs, params) && run_nodes(&ev) &&
              take_outputs(&ev, options->wide_out, outputs);
    for (ValueId v = 0; v < graph->values.len; v++)
        tensor_free(ev.values[v]);
    for (uint32_t i = 0; !ok && i < graph->outputs.len; i++) {
        tensor_free(outputs[i]);
        outputs[i] = NULL;
    }
    heap_free(rounds);
    heap_free(ev.values);
    heap_free(ev.last_use);
    heap_free(ev.narrow);
    return ok;
}

bool graph_eval_others(const Graph *graph, Tensor *const *inputs, Tensor *const *params,
                       const EvalOptions *options, const CompareSpec *spec, Tensor *const *want,
                       Tensor **others, Diag *diag)
{
    uint32_t n = graph->outputs.len;
    CompareSpec allowed = {.rule = RULE_ACRAFT, .reduction = spec->reduction, .depth = spec->depth};
    EvalOptions nudged = *options;
    bool *rounds = compare_roundings(graph), ok = true;
    nudged.allowed = &allowed;
    for (uint32_t i = 0; i < 2 * n; i++)
        others[i] = NULL;
    for (int side = 0; side < 2 && rounds && ok; side++) {
        nudged.nudge = side ? 1 : -1;
        ok = graph_eval(graph, inputs, params, &nudged, others + (uint32_t)side * n, diag);
        for (uint32_t i = 0; i < n && ok; i++)
            if (tensor_equal(others[(uint32_t)side * n + i], want[i])) {
                tensor_free(others[(uint32_t)side * n + i]);
                others[(uint32_t)side * n + i] = NULL;
            }
    }
    heap_free(rounds);
    return ok;
}

void graph_eval_threads(int most)
{
    (void)most;
#ifdef _OPENMP
    omp_set_num_threads(most);
#endif
}
