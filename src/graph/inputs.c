/* Seeded inputs and parameters, and the probe for tasks that trivial answers pass.
 * In: a graph with its source graph, a seed, a law; out: tensors. A law other than the file's own
 * rewrites the `random` and `full` nodes of a copy of the source graph. */
#include "graph/inputs.h"
#include "base/rng.h"
#include <math.h>
#include <string.h>

static const char *const law_names[LAW_COUNT] = {"given",    "signed",   "wide",
                                                 "near-one", "positive", "edge"};
static const char *const trivial_names[TRIVIAL_COUNT] = {"zeros", "ones", "a constant", "an input"};

const char *input_law_name(InputLaw law) { return law_names[law]; }
const char *trivial_name(Trivial t) { return trivial_names[t]; }

bool input_law_from_name(Str name, InputLaw *law)
{
    for (int i = 0; i < LAW_COUNT; i++)
        if (str_is(name, law_names[i])) {
            *law = (InputLaw)i;
            return true;
        }
    return false;
}

/* --- laws --------------------------------------------------------------------------------- */

/* Which values of the source graph are inputs of the task, as against parameters. */
static bool *input_sources(const Graph *g)
{
    bool *is_input = heap_alloc(g->source->values.len + 1);
    for (uint32_t i = 0; i < g->inputs.len; i++)
        is_input[g->source->outputs.at[graph_value(g, g->inputs.at[i])->source]] = true;
    return is_input;
}

/* The random node an element of value v is drawn from, looked for through casts and arithmetic:
 * marks every random node that feeds an input. */
static void mark_feeding(const Graph *s, bool *feeds)
{
    for (uint32_t n = s->nodes.len; n-- > 0;) {
        const Node *node = &s->nodes.at[n];
        bool wanted = false;
        for (uint32_t o = 0; o < node->n_out; o++)
            wanted |= feeds[node->out + o];
        for (uint32_t i = 0; wanted && i < node->n_in; i++)
            if (node->in[i] != VALUE_NONE)
                feeds[node->in[i]] = true;
    }
}

/* Makes the node a random one with these bounds, keeping its shape and dtype. */
static void set_random(Arena *arena, Node *node, int kind, double a, double b, int64_t stream)
{
    VEC(Attr) attrs = {0};
    for (uint32_t i = 0; i < node->n_attr; i++)
        if (node->attr[i].key == AT_SHAPE || node->attr[i].key == AT_DTYPE)
            vec_push(arena, &attrs, node->attr[i]);
    _Static_assert(AT_SHAPE < AT_A && AT_DTYPE < AT_A && AT_B < AT_STREAM, "attributes stand by key");
    vec_push(arena, &attrs, ((Attr){.key = AT_A, .f = a}));
    vec_push(arena, &attrs, ((Attr){.key = AT_B, .f = b}));
    vec_push(arena, &attrs, ((Attr){.key = AT_STREAM, .i = stream}));
    node->op = OP_RANDOM;
    node->kind = (uint16_t)kind;
    node->attr = attrs.at;
    node->n_attr = attrs.len;
}

/* A uniform or normal node that feeds an input gets the law's own distribution. */
static void relaw(Arena *arena, Node *node, InputLaw law)
{
    double a = node_float(node, AT_A, 0), b = node_float(node, AT_B, 1);
    if (node->op != OP_RANDOM || (node->kind != RANDOM_uniform && node->kind != RANDOM_normal))
        return;
    double size = node->kind == RANDOM_uniform ? fmax(fabs(a), fabs(b)) : b;
    size = size > 0 ? size : 1;
    int64_t stream = node_int(node, AT_STREAM, 0);
    switch (law) {
    case LAW_WIDE: set_random(arena, node, RANDOM_normal, 0, 4 * size, stream); break;
    case LAW_NEAR_ONE: set_random(arena, node, RANDOM_normal, 1, 0.01, stream); break;
    case LAW_POSITIVE: set_random(arena, node, RANDOM_uniform, 0.5, 2.5, stream); break;
    default: set_random(arena, node, RANDOM_normal, 0, size, stream); break;
    }
}

/* Parameters that start as one number (norm weights, biases, optimiser states) vary around it. */
static void vary_constant(Arena *arena, const Graph *s, Node *node)
{
    if (node->op != OP_FULL || !dtype_is_float(graph_value(s, node->out)->dtype))
        return;
    double value = node_float(node, AT_VALUE, 0);
    set_random(arena, node, RANDOM_uniform, value, value + 0.25 * (fabs(value) + 1),
               (int64_t)(node->out | 1u << 30));
}

static bool is_parameter(const Graph *g, ValueId source_value)
{
    for (uint32_t i = 0; i < g->params.len; i++) {
        const Value *v = graph_value(g, g->params.at[i]);
        if (g->source->outputs.at[v->source] == source_value)
            return true;
    }
    return false;
}

static Graph source_under(Arena *arena, const Graph *g, InputLaw law)
{
    Graph s = *g->source;
    if (law == LAW_GIVEN)
        return s;
    s.nodes.at = arena_array(arena, Node, s.nodes.len + 1);
    memcpy(s.nodes.at, g->source->nodes.at, sizeof(Node) * s.nodes.len);
    bool *feeds = input_sources(g);
    mark_feeding(&s, feeds);
    for (uint32_t n = 0; n < s.nodes.len; n++) {
        Node *node = &s.nodes.at[n];
        if (feeds[node->out])
            relaw(arena, node, law);
        else if (is_parameter(g, node->out))
            vary_constant(arena, &s, node);
    }
    heap_free(feeds);
    return s;
}

/* Edge values: one element in eight is 0, a repeat of its neighbour, tiny, or large. */
static void strew_edges(Tensor *t, uint64_t seed, uint64_t stream)
{
    static const double special[] = {0, 1, -1, 1e-6, -1e-6, 30, -30, 0.5};
    for (int64_t i = 0; i < t->count; i++) {
        uint64_t r = rng_u64(seed ^ 0x65646765u, stream, (uint64_t)i);
        if (r % 8 == 0)
            tensor_set(t, i, r >> 3 & 1 && i ? tensor_get(t, i - 1) : special[r >> 4 & 7]);
    }
}

/* near-one draws are mirrored by a random sign. */
static void mix_signs(Tensor *t, uint64_t seed, uint64_t stream)
{
    for (int64_t i = 0; i < t->count; i++)
        if (rng_u64(seed ^ 0x7369676Eu, stream, (uint64_t)i) & 1)
            tensor_set(t, i, -tensor_get(t, i));
}

static void finish_inputs(TaskInputs *in, uint64_t seed, InputLaw law)
{
    for (uint32_t i = 0; i < in->n_inputs; i++) {
        if (!dtype_is_float(in->inputs[i]->dtype))
            continue;
        if (law == LAW_EDGE)
            strew_edges(in->inputs[i], seed, i);
        if (law == LAW_NEAR_ONE)
            mix_signs(in->inputs[i], seed, i);
    }
}

/* --- values ------------------------------------------------------------------------------- */

void graph_inputs_free(TaskInputs *in)
{
    for (uint32_t i = 0; i < in->n_inputs; i++)
        tensor_free(in->inputs[i]);
    for (uint32_t i = 0; i < in->n_params; i++)
        tensor_free(in->params[i]);
    heap_free(in->inputs);
    heap_free(in->params);
    *in = (TaskInputs){0};
}

static Tensor *own_copy(const Graph *g, ValueId id, Tensor *const *made)
{
    const Tensor *t = made[graph_value(g, id)->source];
    return t ? tensor_copy(t) : NULL;
}

static bool take_values(const Graph *g, Tensor *const *made, TaskInputs *out)
{
    bool ok = true;
    out->n_inputs = g->inputs.len;
    out->n_params = g->params.len;
    out->inputs = heap_alloc(sizeof(Tensor *) * (out->n_inputs + 1));
    out->params = heap_alloc(sizeof(Tensor *) * (out->n_params + 1));
    for (uint32_t i = 0; i < g->inputs.len; i++)
        ok &= (out->inputs[i] = own_copy(g, g->inputs.at[i], made)) != NULL;
    for (uint32_t i = 0; i < g->params.len; i++)
        ok &= (out->params[i] = own_copy(g, g->params.at[i], made)) != NULL;
    return ok;
}

bool graph_inputs(const Graph *g, uint64_t seed, InputLaw law, TaskInputs *out, Diag *diag)
{
    *out = (TaskInputs){0};
    Arena arena = {0};
    Graph source = {0};
    if (g->source)
        source = source_under(&arena, g, law);
    Tensor **made = heap_alloc(sizeof *made * (source.outputs.len + 1));
    EvalOptions options = {.seed = seed};
    bool ok = !g->source || graph_eval(&source, NULL, NULL, &options, made, diag);
    if (ok && !take_values(g, made, out)) {
        diag_error(diag, "E485", (Span){0}, "no memory for the inputs of '%s'", g->name ? g->name : "");
        ok = false;
    }
    for (uint32_t i = 0; i < source.outputs.len; i++)
        tensor_free(made[i]);
    heap_free(made);
    arena_drop(&arena);
    if (ok)
        finish_inputs(out, seed, law);
    else
        graph_inputs_free(out);
    return ok;
}

/* --- probe -------------------------------------------------------------------------------- */

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

static bool passes_filled(const Tensor *want, double value, const CompareSpec *spec)
{
    Tensor *got = tensor_new_raw(want->dtype, want->shape);
    if (!got)
        return false;
    for (int64_t i = 0; i < got->count; i++)
        tensor_set(got, i, value);
    CompareResult r = compare_tensors(got, want, spec, NULL, 0);
    tensor_free(got);
    return compare_ok(&r);
}

static bool passes_input(const Tensor *want, const CompareSpec *spec, const TaskInputs *in, uint32_t *which)
{
    for (uint32_t i = 0; i < in->n_inputs; i++) {
        CompareResult r = compare_tensors(in->inputs[i], want, spec, NULL, 0);
        if (compare_ok(&r)) {
            *which = i;
            return true;
        }
    }
    return false;
}

static bool trivial_passes(Trivial t, const Tensor *want, const CompareSpec *spec, const TaskInputs *in,
                           uint32_t *which)
{
    switch (t) {
    case TRIVIAL_ZEROS: return passes_filled(want, 0, spec);
    case TRIVIAL_ONES: return passes_filled(want, 1, spec);
    case TRIVIAL_CONSTANT: return want->count > 1 && passes_filled(want, middle_of(want), spec);
    default: return passes_input(want, spec, in, which);
    }
}

unsigned probe_outputs(Tensor *const *want, uint32_t n, const CompareSpec *spec, const TaskInputs *in,
                       uint32_t *which)
{
    unsigned passed = 0;
    int64_t elements = 0;
    for (uint32_t o = 0; o < n; o++)
        elements += want[o]->count;
    for (int t = 0; elements > 0 && t < TRIVIAL_COUNT; t++) {
        bool all = true;
        for (uint32_t o = 0; all && o < n; o++)
            all = trivial_passes((Trivial)t, want[o], spec, in, which);
        passed |= all ? 1u << t : 0;
    }
    return passed;
}

static bool all_finite(Tensor *const *t, uint32_t n)
{
    for (uint32_t o = 0; o < n; o++)
        for (int64_t i = 0; i < t[o]->count; i++)
            if (!isfinite(tensor_get(t[o], i)))
                return false;
    return true;
}

/* What passes under one law; `finite` says whether its values can be used at all. */
static bool probe_law(const Graph *g, const CompareSpec *spec, const EvalOptions *options, InputLaw law,
                      unsigned *passed, uint32_t *which, bool *finite, Diag *diag)
{
    TaskInputs in;
    if (!graph_inputs(g, options->seed, law, &in, diag))
        return false;
    Tensor **want = heap_alloc(sizeof *want * (g->outputs.len + 1));
    bool ok = graph_eval(g, in.inputs, in.params, options, want, diag);
    if (ok) {
        *finite = all_finite(want, g->outputs.len);
        *passed = probe_outputs(want, g->outputs.len, spec, &in, which);
    }
    for (uint32_t o = 0; o < g->outputs.len; o++)
        tensor_free(want[o]);
    heap_free(want);
    graph_inputs_free(&in);
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
    *probe = (Probe){0};
    bool finite;
    if (!probe_law(g, spec, options, LAW_GIVEN, &probe->passed_given, &probe->trivial_input, &finite, diag))
        return false;
    probe->passed = probe->passed_given;
    for (int law = LAW_GIVEN + 1; probe->passed && law < LAW_COUNT; law++) {
        unsigned passed = 0;
        uint32_t which = 0;
        Arena arena = {0};
        Diag quiet = diag_make(&arena, "", (Str){0}); /* a law the task cannot take is passed over */
        bool ok = probe_law(g, spec, options, (InputLaw)law, &passed, &which, &finite, &quiet);
        arena_drop(&arena);
        if (ok && finite && bits(passed) < bits(probe->passed)) {
            probe->passed = passed;
            probe->law = (InputLaw)law;
        }
    }
    return true;
}
