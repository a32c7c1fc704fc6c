/* Looks for trivial answers and for parts of a task that its inputs never execute (contract in the
 * header). In: a graph, a tolerance; out: flags, and the law to draw inputs with. */
#include "graph/probe.h"
#include "graph/eval_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const flag_texts[PROBE_FLAG_COUNT] = {
#define FLAG(name, text) text,
    PROBE_FLAGS(FLAG)
#undef FLAG
};

const char *probe_flag_text(int bit) { return flag_texts[bit]; }

/* One evaluation, with all that is needed to judge it. */
typedef struct Trial {
    const Graph *graph;
    const CompareSpec *spec;
    const EvalOptions *options;
    TaskInputs in;
    Tensor **want;
    double *rms; /* of each of `want` */
} Trial;

static void trial_free(Trial *t)
{
    for (uint32_t o = 0; t->want && o < t->graph->outputs.len; o++)
        tensor_free(t->want[o]);
    heap_free(t->want);
    heap_free(t->rms);
    graph_inputs_free(&t->in);
}

static bool trial_run(Trial *t, uint64_t seed, InputLaw law, Diag *diag)
{
    EvalOptions options = *t->options;
    options.seed = seed;
    t->want = heap_alloc(sizeof *t->want * (t->graph->outputs.len + 1));
    t->rms = heap_alloc(sizeof *t->rms * (t->graph->outputs.len + 1));
    if (!graph_inputs(t->graph, seed, law, &t->in, diag) ||
        !graph_eval(t->graph, t->in.inputs, t->in.params, &options, t->want, diag))
        return false;
    for (uint32_t o = 0; o < t->graph->outputs.len; o++)
        t->rms[o] = compare_rms(t->want[o]);
    return true;
}

/* --- answers that cost nothing ------------------------------------------------------------ */

static bool passes(const Trial *t, const Tensor *got, uint32_t o)
{
    return compare_fits(got, t->want[o], t->spec, t->rms[o]);
}

static bool passes_filled(const Trial *t, uint32_t o, double value)
{
    DType dtype = t->want[o]->dtype;
    char rounded[16];
    dtype_store(dtype, rounded, 0, value);
    return compare_fits_filled(dtype_load(dtype, rounded, 0), t->want[o], t->spec, t->rms[o]);
}

static double middle_of(const Tensor *t)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < t->count; i++) {
        double x = tensor_get(t, i);
        low = fmin(low, x);
        high = fmax(high, x);
    }
    return low <= high ? low + (high - low) / 2 : 0;
}

static bool passes_input(const Trial *t, uint32_t o)
{
    for (uint32_t i = 0; i < t->in.n_inputs; i++)
        if (passes(t, t->in.inputs[i], o))
            return true;
    return false;
}

/* Line through (x, w) by two far-apart points near the middle of the data. */
static void fit_line(const Tensor *x, const Tensor *w, double *slope, double *start)
{
    int64_t n = x->count, a = 0, b = 0;
    double low = INFINITY, high = -INFINITY, near_a = INFINITY, near_b = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double v = tensor_get(x, i);
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    double from = low + 0.25 * (high - low), to = low + 0.75 * (high - low);
    for (int64_t i = 0; i < n; i++) {
        double v = tensor_get(x, i);
        if (fabs(v - from) < near_a) {
            near_a = fabs(v - from);
            a = i;
        }
        if (fabs(v - to) < near_b) {
            near_b = fabs(v - to);
            b = i;
        }
    }
    double run = tensor_get(x, b) - tensor_get(x, a);
    *slope = run != 0 ? (tensor_get(w, b) - tensor_get(w, a)) / run : 0;
    *start = tensor_get(w, a) - *slope * tensor_get(x, a);
}

/* A line fitted to another evaluation gives want for 99 of 100 elements, to what is allowed and
 * some rounding. */
static bool affine_in(const Trial *t, const Tensor *x, uint32_t o, const Tensor *other_x,
                      const Tensor *other_want)
{
    const Tensor *want = t->want[o];
    if (!dtype_is_float(x->dtype) || !dtype_is_float(want->dtype) || want->count < 16 ||
        !shape_equal(x->shape, want->shape))
        return false;
    double slope, start;
    int64_t off = 0;
    fit_line(other_x, other_want, &slope, &start);
    for (int64_t i = 0; i < want->count; i++) {
        double w = tensor_get(want, i),
               allowed = compare_allowed(t->spec, want->dtype, w, t->rms[o]);
        off += !(fabs(slope * tensor_get(x, i) + start - w) <= 4 * allowed);
    }
    return off * 100 <= want->count;
}

static bool passes_affine(const Trial *t, const Trial *other, uint32_t o)
{
    for (uint32_t i = 0; i < t->in.n_inputs; i++)
        if (affine_in(t, t->in.inputs[i], o, other->in.inputs[i], other->want[o]))
            return true;
    for (uint32_t i = 0; i < t->in.n_params; i++)
        if (affine_in(t, t->in.params[i], o, other->in.params[i], other->want[o]))
            return true;
    return false;
}

static bool mostly_zero(const Trial *t, uint32_t o)
{
    const Tensor *want = t->want[o];
    int64_t there = 0, lost = 0;
    for (int64_t i = 0; dtype_is_float(want->dtype) && i < want->count; i++) {
        double w = tensor_get(want, i);
        there += w != 0;
        lost += w != 0 && fabs(w) <= compare_allowed(t->spec, want->dtype, w, t->rms[o]);
    }
    return there >= 16 && lost * 4 >= there * 3;
}

/* Flags that hold for every output. */
static unsigned trivial_flags(const Trial *t, const Trial *other)
{
    unsigned all = ~0u;
    int64_t elements = 0;
    for (uint32_t o = 0; o < t->graph->outputs.len; o++) {
        const Tensor *w = t->want[o];
        unsigned f = passes_filled(t, o, 0) ? PROBE(ZEROS) : 0;
        f |= passes_filled(t, o, 1) ? PROBE(ONES) : 0;
        f |= w->count > 1 && passes_filled(t, o, middle_of(w)) ? PROBE(CONSTANT) : 0;
        f |= passes_input(t, o) ? PROBE(INPUT) | PROBE(AFFINE) : 0;
        f |= passes_affine(t, other, o) ? PROBE(AFFINE) : 0;
        f |= mostly_zero(t, o) ? PROBE(MOSTLY_ZERO) : 0;
        f |= passes(t, other->want[o], o) ? PROBE(OTHER_SEED) : 0;
        all &= f;
        elements += w->count;
    }
    return elements > 0 ? all : 0;
}

/* --- parts that are never executed -------------------------------------------------------- */

static bool all_equal_to(const Tensor *t, double value)
{
    for (int64_t i = 0; i < t->count; i++)
        if (tensor_get(t, i) != value)
            return false;
    return t->count > 1;
}

static bool is_read(const Graph *g, ValueId id)
{
    for (uint32_t n = 0; n < g->nodes.len; n++)
        for (uint32_t i = 0; i < g->nodes.at[n].n_in; i++)
            if (g->nodes.at[n].in[i] == id)
                return true;
    return false;
}

static bool dead_value(const Graph *g, ValueId id, const Tensor *t)
{
    return dtype_is_float(t->dtype) && (all_equal_to(t, 0) || all_equal_to(t, 1)) && is_read(g, id);
}

static bool dead_param(const Trial *t)
{
    for (uint32_t i = 0; i < t->in.n_inputs; i++)
        if (dead_value(t->graph, t->graph->inputs.at[i], t->in.inputs[i]))
            return true;
    for (uint32_t i = 0; i < t->in.n_params; i++)
        if (dead_value(t->graph, t->graph->params.at[i], t->in.params[i]))
            return true;
    return false;
}

static bool dead_step(const Graph *g)
{
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        if (node->op != OP_REDUCE && node->op != OP_SOFTMAX)
            continue;
        Shape x = graph_value(g, node->in[0])->shape;
        bool flags[GRAPH_MAX_RANK];
        int64_t count = 1;
        eval_dim_flags(node, AT_DIMS, x, flags);
        for (int d = 0; d < x.rank; d++)
            count *= node->op == OP_REDUCE        ? (flags[d] ? x.dim[d] : 1)
                     : d == eval_dim(node, x, -1) ? x.dim[d]
                                                  : 1;
        if (count == 1 && x.rank > 0)
            return true;
    }
    return false;
}

/* Where a kind changes its formula: x below low, between, above high. */
typedef struct Cases {
    double low, high;
    bool has_low, has_high;
} Cases;

static bool unary_cases(const Node *node, Cases *c)
{
    double a = node_float(node, AT_A, 0.5);
    switch (node->kind) {
    case UNARY_relu:
    case UNARY_leaky_relu:
    case UNARY_elu:
    case UNARY_selu:
    case UNARY_celu:
    case UNARY_abs: *c = (Cases){.low = 0, .has_low = true}; return true;
    case UNARY_threshold: *c = (Cases){.low = a, .has_low = true}; return true;
    case UNARY_hardsigmoid:
    case UNARY_hardswish: *c = (Cases){-3, 3, true, true}; return true;
    case UNARY_hardshrink:
    case UNARY_softshrink: *c = (Cases){-a, a, true, true}; return true;
    default: return false;
    }
}

/* A bound next to 0 guards a division or a logarithm; no value should be as small. */
static bool guards(double bound) { return bound != 0 && fabs(bound) < 1e-4; }

static bool cases_missing(const Tensor *x, Cases c)
{
    int64_t below = 0, above = 0, between = 0;
    for (int64_t i = 0; i < x->count; i++) {
        double v = tensor_get(x, i);
        if (c.has_low && v < c.low)
            below++;
        else if (c.has_high && v > c.high)
            above++;
        else
            between++;
    }
    return x->count > 1 && ((c.has_low && !below) || (c.has_high && !above) || !between);
}

/* The value of a bound when it is one number; false: absent, or a tensor. */
static bool bound_number(const Graph *g, ValueId id, double *v)
{
    const Value *bound = id == VALUE_NONE ? NULL : graph_value(g, id);
    if (!bound || bound->kind != VALUE_CONST || bound->shape.rank != 0)
        return false;
    *v = dtype_load(bound->dtype, bound->data, 0);
    return true;
}

static bool has_cases(const Graph *g, const Node *node, Cases *c)
{
    *c = (Cases){0};
    if (node->op == OP_UNARY)
        return unary_cases(node, c);
    if (node->op != OP_CLAMP)
        return false;
    c->has_low = bound_number(g, node->in[1], &c->low) && !guards(c->low);
    c->has_high = bound_number(g, node->in[2], &c->high) && !guards(c->high);
    return c->has_low || c->has_high;
}

/* x - bound, to be looked at for its sign: a clamp by a tensor. */
static bool add_difference(Graph *g, const Node *clamp, uint32_t i, Diag *diag, ValueId *out)
{
    double number;
    if (clamp->op != OP_CLAMP || clamp->in[i] == VALUE_NONE ||
        bound_number(g, clamp->in[i], &number))
        return false;
    ValueId in[2] = {clamp->in[0], clamp->in[i]};
    NodeSpec spec = {.op = OP_BINARY, .kind = BINARY_sub, .n_in = 2, .in = in};
    return graph_add(g, &spec, diag, out);
}

typedef VEC(Cases) CasesList;

/* Makes the outputs of `g` the values whose cases are looked at. */
static void list_cases(Arena *arena, Graph *g, CasesList *cases, Diag *diag)
{
    memset(&g->outputs, 0, sizeof g->outputs);
    for (uint32_t n = 0, count = g->nodes.len; n < count; n++) {
        Node node = g->nodes.at[n];
        Cases c;
        ValueId difference;
        if (has_cases(g, &node, &c) && graph_value(g, node.in[0])->dtype != DT_C64) {
            vec_push(arena, &g->outputs, node.in[0]);
            vec_push(arena, cases, c);
        }
        for (uint32_t i = 1; i < 3; i++)
            if (add_difference(g, &node, i, diag, &difference)) {
                vec_push(arena, &g->outputs, difference);
                vec_push(arena, cases, ((Cases){.low = 0, .has_low = true}));
            }
    }
}

/* A graph that can be added to without touching the original. */
static Graph own_graph(Arena *arena, const Graph *g)
{
    Graph own = *g;
    own.arena = arena;
    memset(&own.nodes, 0, sizeof own.nodes);
    memset(&own.values, 0, sizeof own.values);
    for (uint32_t i = 0; i < g->nodes.len; i++)
        vec_push(arena, &own.nodes, g->nodes.at[i]);
    for (uint32_t i = 0; i < g->values.len; i++)
        vec_push(arena, &own.values, g->values.at[i]);
    return own;
}

static bool dead_branch(const Trial *t)
{
    Arena arena = {0};
    Diag quiet = diag_make(&arena, "", (Str){0});
    Graph g = own_graph(&arena, t->graph);
    CasesList cases = {0};
    list_cases(&arena, &g, &cases, &quiet);
    Tensor **x = heap_alloc(sizeof *x * (g.outputs.len + 1));
    bool missing = false;
    if (g.outputs.len && graph_eval(&g, t->in.inputs, t->in.params, t->options, x, &quiet))
        for (uint32_t i = 0; i < g.outputs.len; i++)
            missing |= cases_missing(x[i], cases.at[i]);
    for (uint32_t i = 0; i < g.outputs.len; i++)
        tensor_free(x[i]);
    heap_free(x);
    arena_drop(&arena);
    return missing;
}

static int order_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool line_repeats(const Tensor *index, int64_t from, Axis a, int64_t *line)
{
    tensor_load_i64(index, from, a.inner, a.n, line);
    qsort(line, (size_t)a.n, sizeof *line, order_i64);
    for (int64_t i = 1; i < a.n; i++)
        if (line[i] == line[i - 1])
            return true;
    return false;
}

static bool repeats(const Tensor *index, Axis a)
{
    int64_t *line = heap_alloc(sizeof *line * (size_t)(a.n + 1));
    bool found = false;
    for (int64_t l = 0; !found && l < a.outer * a.inner; l++)
        found = line_repeats(index, l / a.inner * a.n * a.inner + l % a.inner, a, line);
    heap_free(line);
    return found;
}

static bool repeated_index(const Trial *t)
{
    const Graph *g = t->graph;
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        bool put = node->op == OP_INDEX_PUT && !node_bool(node, AT_ACCUMULATE) && node->n_in == 3;
        bool set = node->op == OP_SCATTER && node->kind == SCATTER_set;
        if (node->op != OP_INDEX_COPY && !put && !set)
            continue;
        for (uint32_t i = 0; i < g->inputs.len; i++) {
            const Tensor *index = t->in.inputs[i];
            if (g->inputs.at[i] != node->in[put ? 2 : 1] || index->shape.rank == 0)
                continue;
            Axis a = set ? eval_axis(index->shape,
                                     eval_dim(node, graph_value(g, node->in[0])->shape, 0))
                         : (Axis){1, index->count, 1};
            if (repeats(index, a))
                return true;
        }
    }
    return false;
}

/* --- choosing ----------------------------------------------------------------------------- */

static bool all_finite(const Trial *t)
{
    for (uint32_t o = 0; o < t->graph->outputs.len; o++)
        for (int64_t i = 0; i < t->want[o]->count; i++)
            if (!isfinite(tensor_get(t->want[o], i)))
                return false;
    return true;
}

static bool probe_law(const Graph *g, const CompareSpec *spec, const EvalOptions *options,
                      InputLaw law, unsigned *flags, bool *finite, Diag *diag)
{
    Trial t = {.graph = g, .spec = spec, .options = options}, other = t;
    Arena arena = {0};
    Diag quiet = diag_make(&arena, "", (Str){0});
    bool ok = trial_run(&t, options->seed, law, diag);
    bool again = ok &&
                 trial_run(&other, options->seed + 1, law, &quiet); /* data may decide sizes */
    if (ok) {
        *finite = all_finite(&t);
        *flags = trivial_flags(&t, again ? &other : &t);
        if (!again)
            *flags &= ~(PROBE(OTHER_SEED) | PROBE(AFFINE));
        *flags = *flags | (dead_param(&t) ? PROBE(DEAD_PARAM) : 0) |
                 (dead_branch(&t) ? PROBE(DEAD_BRANCH) : 0) |
                 (dead_step(g) ? PROBE(DEAD_STEP) : 0) |
                 (repeated_index(&t) ? PROBE(REPEATED_INDEX) : 0);
    }
    trial_free(&t);
    trial_free(&other);
    arena_drop(&arena);
    return ok;
}

static int bits(unsigned x)
{
    int n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}

bool graph_probe(const Graph *g, const CompareSpec *spec, const EvalOptions *options, Probe *probe,
                 Diag *diag)
{
    bool finite, given_finite;
    *probe = (Probe){0};
    if (!probe_law(g, spec, options, LAW_GIVEN, &probe->given, &given_finite, diag))
        return false;
    probe->left = probe->given;
    unsigned lasting = PROBE(DEAD_STEP); /* no input changes that */
    for (int law = LAW_GIVEN + 1; (probe->left & ~lasting) && law < LAW_COUNT; law++) {
        unsigned flags = 0;
        Arena arena = {0};
        Diag quiet = diag_make(&arena, "",
                               (Str){0}); /* a law the task cannot take is passed over */
        bool ok = probe_law(g, spec, options, (InputLaw)law, &flags, &finite, &quiet);
        arena_drop(&arena);
        if (ok && (finite || !given_finite) && bits(flags) < bits(probe->left)) {
            probe->left = flags;
            probe->law = (InputLaw)law;
        }
    }
    return true;
}

static void print_flags(unsigned flags, Buf *out)
{
    bool first = true;
    for (int b = 0; b < PROBE_FLAG_COUNT; b++)
        if (flags >> b & 1) {
            buf_printf(out, "%s%s", first ? "" : ", ", flag_texts[b]);
            first = false;
        }
}

void probe_print(const Probe *p, Buf *out)
{
    if (!p->given)
        return;
    print_flags(p->given, out);
    if (p->law != LAW_GIVEN)
        buf_printf(out, "; inputs: %s", input_law_name(p->law));
    if (p->left) {
        buf_puts(out, "; left under every law: ");
        print_flags(p->left, out);
    }
}
