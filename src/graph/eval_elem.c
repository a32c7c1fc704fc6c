/* Elementwise evaluation: a group of neighbouring nodes with outputs of one shape.
 *
 * In: nodes, and the tensors they read from outside the group. Out: the tensors read after it.
 * Each node becomes a step; the shape's elements are walked in stretches, and for each stretch
 * all steps run, their results passing through small buffers:
 *
 *     stretch 0..511:    x ──load──▶ [buf] ─sigmoid─▶ [buf] ─mul─▶ [buf] ──store──▶ y
 *     stretch 512..1023: ...                           ▲
 *                                          w (broadcast)
 *
 * A step computes in f32 (for f32, f16, bf16), f64 or int64 (integers, bool), then rounds to its
 * own dtype.
 */
#include "graph/eval_elem.h"
#include <stdlib.h>
#include <string.h>

enum { STRETCH = 512, MOST_IN = 3 };

/* A tensor seen through the output's shape: neighbouring dims merged, stride 0 where it repeats. */
typedef struct View {
    int rank;
    int64_t dim[GRAPH_MAX_RANK], stride[GRAPH_MAX_RANK];
} View;

typedef struct Operand {
    const Tensor *t; /* from outside; NULL: result of step `step` */
    uint32_t step;
    View view;
    ElemClass as;
} Operand;

typedef struct Step {
    ElemFn *fn; /* NULL: the operand itself */
    ElemParams p;
    int n_in;
    Operand in[MOST_IN];
    ElemClass result; /* class of what fn writes */
    DType dtype;      /* what it is rounded to */
    Tensor *keep;     /* NULL: read inside the group only */
} Step;

typedef struct Group {
    Eval *eval;
    uint32_t first, count;
    Step *steps;
} Group;

static const DType class_dtype[ELEM_CLASSES] = {DT_F32, DT_F64, DT_I64};

static ElemClass class_of(DType dtype)
{
    if (dtype == DT_F64)
        return ELEM_F64;
    return dtype_is_float(dtype) ? ELEM_F32 : ELEM_I64;
}

/* --- building ----------------------------------------------------------------------------- */

static View view_of(Shape in, Shape out)
{
    View v = {0};
    int64_t stride[GRAPH_MAX_RANK], run = 1;
    for (int i = out.rank - 1, j = in.rank - 1; i >= 0; i--, j--) {
        stride[i] = j >= 0 && in.dim[j] > 1 ? run : 0;
        run *= j >= 0 ? in.dim[j] : 1;
    }
    for (int i = 0; i < out.rank; i++) {
        int last = v.rank - 1;
        if (out.dim[i] == 1)
            continue;
        if (last >= 0 && v.stride[last] == stride[i] * out.dim[i]) {
            v.dim[last] *= out.dim[i];
            v.stride[last] = stride[i];
        } else {
            v.dim[v.rank] = out.dim[i];
            v.stride[v.rank++] = stride[i];
        }
    }
    return v;
}

static Operand operand_of(const Group *g, ValueId id, Shape out, ElemClass as)
{
    const Value *v = graph_value(g->eval->graph, id);
    if (v->kind == VALUE_NODE && v->node >= g->first)
        return (Operand){.step = v->node - g->first, .as = as};
    return (Operand){.t = g->eval->values[id], .view = view_of(v->shape, out), .as = as};
}

static bool any_complex(const Graph *g, const Node *node)
{
    if (graph_value(g, node->out)->dtype == DT_C64)
        return true;
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != VALUE_NONE && graph_value(g, node->in[i])->dtype == DT_C64)
            return true;
    return false;
}

bool eval_elem_is(const Eval *eval, const Node *node)
{
    return (op_is_elementwise(node->op) || node->op == OP_DROPOUT) &&
           !any_complex(eval->graph, node);
}

static ElemParams unary_params(const Node *node, DType dtype)
{
    static const struct {
        int kind;
        double a, b;
    } defaults[] = {{UNARY_softplus, 1, 20},    {UNARY_elu, 1, 0},
                    {UNARY_celu, 1, 0},         {UNARY_leaky_relu, 0.01, 0},
                    {UNARY_hardshrink, 0.5, 0}, {UNARY_softshrink, 0.5, 0}};
    ElemParams p = {.dtype = dtype,
                    .has_b = node_attr(node, AT_B) != NULL,
                    .has_c = node_attr(node, AT_C) != NULL};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (node->kind == defaults[i].kind) {
            p.a = defaults[i].a;
            p.b = defaults[i].b;
        }
    p.a = node_float(node, AT_A, p.a);
    p.b = node_float(node, AT_B, p.b);
    p.c = node_float(node, AT_C, 0);
    if (node->kind == UNARY_gelu)
        p.a = str_is(node_text(node, AT_APPROX), "tanh");
    return p;
}

static ElemParams binary_params(const Node *node, DType dtype)
{
    ElemParams p = {.dtype = dtype, .a = node_float(node, AT_ALPHA, 1)};
    if (node->kind == BINARY_isclose) {
        p.a = node_float(node, AT_A, 1e-5);
        p.b = node_float(node, AT_B, 1e-8);
    }
    return p;
}

/* The class inputs are compared or computed in. */
static ElemClass input_class(const Group *g, const Node *node, DType result, bool truth)
{
    DType dtype = truth ? eval_dtype(g->eval, graph_promote(g->eval->graph, node->in, node->n_in))
                        : result;
    return class_of(dtype);
}

static void set_inputs(Step *s, const Group *g, const Node *node, Shape out, ElemClass as)
{
    s->n_in = 0;
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != VALUE_NONE)
            s->in[s->n_in++] = operand_of(g, node->in[i], out, as);
}

static void build_cast(Step *s, const Group *g, const Node *node, Shape out)
{
    DType from = eval_dtype(g->eval, graph_value(g->eval->graph, node->in[0])->dtype);
    bool truth = s->dtype == DT_BOOL && node->op == OP_CAST;
    ElemClass as = truth ? class_of(from) : class_of(s->dtype);
    set_inputs(s, g, node, out, as);
    s->fn = truth ? elem_nonzero[as] : NULL;
    s->result = truth ? ELEM_I64 : as;
}

static void build_clamp(Step *s, const Group *g, const Node *node, Shape out)
{
    ElemClass as = class_of(s->dtype);
    bool low = node->in[1] != VALUE_NONE, high = node->in[2] != VALUE_NONE;
    set_inputs(s, g, node, out, as);
    s->fn = low && high ? elem_clamp[as]
            : low       ? elem_clamp_low[as]
            : high      ? elem_clamp_high[as]
                        : NULL;
    s->result = as;
}

static void build_three(Step *s, const Group *g, const Node *node, Shape out)
{
    ElemClass as = class_of(s->dtype);
    set_inputs(s, g, node, out, as);
    if (node->op == OP_WHERE)
        s->in[0].as = ELEM_I64;
    s->fn = node->op == OP_WHERE     ? elem_where[as]
            : node->op == OP_LERP    ? elem_lerp[as]
            : node->op == OP_ADDCMUL ? elem_addcmul[as]
                                     : elem_addcdiv[as];
    s->p.a = node_float(node, AT_VALUE, 1);
    s->result = as;
}

static bool build_kind(Step *s, const Group *g, const Node *node, Shape out)
{
    bool unary = node->op == OP_UNARY;
    bool truth = unary ? elem_unary_truth(node->kind) : elem_binary_truth(node->kind);
    ElemClass as = input_class(g, node, s->dtype, truth);
    set_inputs(s, g, node, out, as);
    s->p = unary ? unary_params(node, s->dtype) : binary_params(node, s->dtype);
    s->fn = unary ? elem_unary[node->kind][as] : elem_binary[node->kind][as];
    s->result = truth ? ELEM_I64 : as;
    if (!s->fn)
        diag_error(g->eval->diag, "E484", node->at, "%s.%s is not defined for %s",
                   op_rows[node->op].name, node_kind_name(node), dtype_name(s->dtype));
    return s->fn != NULL;
}

static bool build_step(Step *s, const Group *g, const Node *node)
{
    const Value *v = graph_value(g->eval->graph, node->out);
    *s = (Step){.dtype = eval_dtype(g->eval, v->dtype)};
    switch (node->op) {
    case OP_CAST:
    case OP_DROPOUT: build_cast(s, g, node, v->shape); break;
    case OP_CLAMP: build_clamp(s, g, node, v->shape); break;
    case OP_UNARY:
    case OP_BINARY:
        if (!build_kind(s, g, node, v->shape))
            return false;
        break;
    default: build_three(s, g, node, v->shape); break;
    }
    if (g->eval->last_use[node->out] < g->first + g->count && g->count > 1)
        return true;
    bool narrow = g->eval->narrow && g->eval->narrow[node->out];
    s->keep = g->eval->values[node->out] = tensor_new_raw(narrow ? v->dtype : s->dtype, v->shape);
    if (!s->keep)
        diag_error(g->eval->diag, "E481", node->at, "%s: no memory for the result",
                   op_rows[node->op].name);
    return s->keep != NULL;
}

/* --- running ------------------------------------------------------------------------------ */

typedef union Stretch {
    _Alignas(64) float f32[STRETCH];
    double f64[STRETCH];
    int64_t i64[STRETCH];
} Stretch;

static void load_run(const Tensor *t, int64_t from, int64_t step, int64_t n, ElemClass as,
                     Stretch *to, int64_t at)
{
    if (as == ELEM_F32)
        tensor_load_f32(t, from, step, n, to->f32 + at);
    else if (as == ELEM_F64)
        tensor_load_f64(t, from, step, n, to->f64 + at);
    else
        tensor_load_i64(t, from, step, n, to->i64 + at);
}

static void fill_run(Stretch *to, ElemClass as, int64_t at, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (as == ELEM_F32)
            to->f32[at + i] = to->f32[at];
        else
            to->i64[at + i] = to->i64[at];
}

/* Elements start .. start+n-1 of the output, as the view gives them. */
static void load_view(const Operand *o, int64_t start, int64_t n, Stretch *to)
{
    const View *v = &o->view;
    if (v->rank == 0) {
        load_run(o->t, 0, 1, 1, o->as, to, 0);
        fill_run(to, o->as, 0, n);
        return;
    }
    int last = v->rank - 1;
    for (int64_t done = 0; done < n;) {
        int64_t index = start + done, from = 0, column = index % v->dim[last];
        index /= v->dim[last];
        for (int d = last - 1; d >= 0; index /= v->dim[d], d--)
            from += index % v->dim[d] * v->stride[d];
        int64_t run = v->dim[last] - column < n - done ? v->dim[last] - column : n - done;
        if (v->stride[last] == 0) {
            load_run(o->t, from, 1, 1, o->as, to, done);
            fill_run(to, o->as, done, run);
        } else {
            load_run(o->t, from + column * v->stride[last], v->stride[last], run, o->as, to, done);
        }
        done += run;
    }
}

static bool view_dense(const View *v) { return v->rank == 1 && v->stride[0] == 1; }

/* The step's operand as n elements in memory; `spare` is used when they must be converted. */
static const void *operand_at(const Group *g, const Operand *o, Stretch *results, int64_t start,
                              int64_t n, Stretch *spare)
{
    DType native = class_dtype[o->as];
    if (o->t) {
        if (view_dense(&o->view) && o->t->dtype == native)
            return (const char *)o->t->at + (size_t)start * dtype_bytes(native);
        load_view(o, start, n, spare);
        return spare;
    }
    ElemClass from = g->steps[o->step].result;
    if (from == o->as)
        return &results[o->step];
    Tensor t = {.dtype = class_dtype[from], .at = &results[o->step]};
    load_run(&t, 0, 1, n, o->as, spare, 0);
    return spare;
}

static void store_run(Tensor *t, int64_t from, int64_t n, ElemClass as, const Stretch *values)
{
    if (as == ELEM_F32)
        tensor_store_f32(t, from, 1, n, values->f32);
    else if (as == ELEM_F64)
        tensor_store_f64(t, from, 1, n, values->f64);
    else
        tensor_store_i64(t, from, 1, n, values->i64);
}

/* Rounds a result to the step's dtype in place, keeping it where it is read later. */
static void finish_step(const Step *s, Stretch *result, int64_t start, int64_t n)
{
    bool native = class_dtype[s->result] == s->dtype || (s->fn && s->dtype == DT_BOOL);
    if (s->keep)
        store_run(s->keep, start, n, s->result, result);
    if (native)
        return;
    Stretch cut;
    Tensor t = {.dtype = s->dtype, .at = &cut};
    store_run(&t, 0, n, s->result, result);
    load_run(&t, 0, 1, n, s->result, result, 0);
}

static void run_step(const Group *g, const Step *s, Stretch *result, Stretch *results,
                     int64_t start, int64_t n)
{
    Stretch spare[MOST_IN];
    const void *in[MOST_IN];
    for (int i = 0; i < s->n_in; i++)
        in[i] = operand_at(g, &s->in[i], results, start, n, &spare[i]);
    bool direct = s->keep && class_dtype[s->result] == s->keep->dtype && g->count == 1;
    size_t bytes = dtype_bytes(class_dtype[s->result]);
    void *out = direct ? (char *)s->keep->at + (size_t)start * bytes : (void *)result;
    if (s->fn)
        s->fn(n, &s->p, in, out);
    else
        memcpy(out, in[0], (size_t)n * bytes);
    if (!direct)
        finish_step(s, result, start, n);
}

static void run_group(const Group *g, int64_t count)
{
    int64_t stretches = (count + STRETCH - 1) / STRETCH;
#pragma omp parallel if (stretches > 16)
    {
        Stretch *results = aligned_alloc(64, sizeof *results * g->count);
        if (!results)
            panic("no memory for %u stretches", g->count);
#pragma omp for schedule(static)
        for (int64_t k = 0; k < stretches; k++) {
            int64_t start = k * STRETCH, n = count - start < STRETCH ? count - start : STRETCH;
            for (uint32_t s = 0; s < g->count; s++)
                run_step(g, &g->steps[s], &results[s], results, start, n);
        }
        free(results);
    }
}

bool eval_elem_run(Eval *eval, uint32_t first, uint32_t count)
{
    Group g = {.eval = eval, .first = first, .count = count};
    g.steps = heap_alloc(sizeof *g.steps * count);
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++)
        ok = build_step(&g.steps[i], &g, &eval->graph->nodes.at[first + i]);
    int64_t elements = 0;
    if (ok &&
        shape_count(graph_value(eval->graph, eval->graph->nodes.at[first].out)->shape, &elements))
        run_group(&g, elements);
    heap_free(g.steps);
    return ok;
}

/* --- nodes that are not in a group: complex numbers --------------------------------------- */

bool eval_op_UNARY(EvalNode *e) { return eval_complex_unary(e); }
bool eval_op_BINARY(EvalNode *e) { return eval_complex_binary(e); }

bool eval_op_CAST(EvalNode *e)
{
    Tensor *t = tensor_cast(e->in[0], e->out[0]->dtype);
    if (!t)
        return eval_fail(e, "no memory");
    tensor_free(e->out[0]);
    e->out[0] = t;
    return true;
}

bool eval_op_DROPOUT(EvalNode *e) { return eval_op_CAST(e); }

#define REFUSE_COMPLEX(name) \
    bool eval_op_##name(EvalNode *e) { return eval_fail(e, "complex numbers are not supported"); }
REFUSE_COMPLEX(CLAMP)
REFUSE_COMPLEX(LERP)
REFUSE_COMPLEX(ADDCMUL)
REFUSE_COMPLEX(ADDCDIV)
