/* Seeded inputs and parameters.
 * In: a graph with its source graph, a seed, a law; out: tensors. A law other than the file's own
 * rewrites the `random` and `full` nodes of a copy of the source graph. */
#include "graph/inputs.h"
#include "graph/eval_int.h"
#include "base/rng.h"
#include <math.h>
#include <string.h>

static const char *const law_names[LAW_COUNT] = {
    [LAW_GIVEN] = "given", [LAW_VARIED] = "varied",     [LAW_SIGNED] = "signed",
    [LAW_WIDE] = "wide",   [LAW_NEAR_ONE] = "near-one", [LAW_POSITIVE] = "positive",
    [LAW_EDGE] = "edge"};

const char *input_law_name(InputLaw law) { return law_names[law]; }

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
    _Static_assert(AT_SHAPE < AT_A && AT_DTYPE < AT_A && AT_B < AT_STREAM,
                   "attributes stand by key");
    vec_push(arena, &attrs, ((Attr){.key = AT_A, .f = a}));
    vec_push(arena, &attrs, ((Attr){.key = AT_B, .f = b}));
    vec_push(arena, &attrs, ((Attr){.key = AT_STREAM, .i = stream}));
    node->op = OP_RANDOM;
    node->kind = (uint16_t)kind;
    node->attr = attrs.at;
    node->n_attr = attrs.len;
}

/* A uniform or normal node that feeds an input gets the law's own distribution, its size depending
 * on the seed: a mean over many elements would else be the same for every seed. */
static void relaw(Arena *arena, Node *node, InputLaw law, uint64_t seed)
{
    double a = node_float(node, AT_A, 0), b = node_float(node, AT_B, 1);
    if (node->op != OP_RANDOM || (node->kind != RANDOM_uniform && node->kind != RANDOM_normal))
        return;
    double size = node->kind == RANDOM_uniform ? fmax(fabs(a), fabs(b)) : b;
    size = (size > 0 ? size : 1) * (0.75 + 0.5 * rng_uniform(seed, UINT64_C(0x73697A65), 0));
    int64_t stream = node_int(node, AT_STREAM, 0);
    switch (law) {
    case LAW_WIDE: set_random(arena, node, RANDOM_normal, 0, 4 * size, stream); break;
    case LAW_NEAR_ONE: set_random(arena, node, RANDOM_normal, 1, 0.01, stream); break;
    case LAW_POSITIVE: set_random(arena, node, RANDOM_uniform, 0.5, 0.5 + 2 * size, stream); break;
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

/* Whether a value of the source graph is one of these inputs or parameters, as it stands. */
static bool makes_one_of(const Graph *g, const ValueId *ids, uint32_t n, ValueId source_value)
{
    for (uint32_t i = 0; i < n; i++)
        if (g->source->outputs.at[graph_value(g, ids[i])->source] == source_value)
            return true;
    return false;
}

/* Constants that may vary: of parameters all, of inputs zeros and ones (optimiser states). */
static bool may_vary(const Graph *g, const Node *node)
{
    double value = node_float(node, AT_VALUE, 0);
    return node->op == OP_FULL && (makes_one_of(g, g->params.at, g->params.len, node->out) ||
                                   ((value == 0 || value == 1) &&
                                    makes_one_of(g, g->inputs.at, g->inputs.len, node->out)));
}

static Graph source_under(Arena *arena, const Graph *g, InputLaw law, uint64_t seed)
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
        if (may_vary(g, node))
            vary_constant(arena, &s, node);
        else if (feeds[node->out] && law != LAW_VARIED)
            relaw(arena, node, law, seed);
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

/* Replaces the indices along each line by the first ones of a permutation of 0 .. size-1. */
static void make_distinct(Tensor *index, Axis a, int64_t size, uint64_t seed)
{
    int64_t *p = heap_alloc(sizeof *p * (size_t)(size + 1));
    for (int64_t line = 0; line < a.outer * a.inner; line++) {
        for (int64_t i = 0; i < size; i++)
            p[i] = i;
        for (int64_t i = 0; i < a.n; i++) {
            int64_t k = rng_range(seed ^ 0x6469u, (uint64_t)line, (uint64_t)i, i, size),
                    swap = p[i];
            p[i] = p[k];
            p[k] = swap;
            tensor_store_i64(index, line / a.inner * a.n * a.inner + line % a.inner + i * a.inner,
                             1, 1, &p[i]);
        }
    }
    heap_free(p);
}

/* Position of a value among the inputs, or -1. */
static int64_t input_number(const Graph *g, ValueId id)
{
    for (uint32_t i = 0; i < g->inputs.len; i++)
        if (g->inputs.at[i] == id)
            return i;
    return -1;
}

void graph_inputs_distinct(const Graph *g, TaskInputs *in, uint64_t seed)
{
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        bool copy = node->op == OP_INDEX_COPY,
             put = node->op == OP_INDEX_PUT && !node_bool(node, AT_ACCUMULATE);
        bool set = node->op == OP_SCATTER && node->kind == SCATTER_set;
        if (!copy && !set && !(put && node->n_in == 3))
            continue;
        int64_t i = input_number(g, node->in[put ? 2 : 1]);
        Shape x = graph_value(g, node->in[0])->shape;
        int dim = put ? (int)node_attr(node, AT_DIMS)->ints.at[0] : eval_dim(node, x, 0);
        if (i < 0 || x.rank == 0 || in->inputs[i]->shape.rank == 0)
            continue;
        Tensor *index = in->inputs[i];
        Axis a = set ? eval_axis(index->shape, dim) : (Axis){1, index->count, 1};
        if (a.n <= x.dim[dim])
            make_distinct(index, a, x.dim[dim], seed);
    }
}

static void finish_inputs(const Graph *g, TaskInputs *in, uint64_t seed, InputLaw law)
{
    if (law != LAW_GIVEN)
        graph_inputs_distinct(g, in, seed);
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
    *out = (TaskInputs){.seed = seed};
    Arena arena = {0};
    Graph source = {0};
    if (g->source)
        source = source_under(&arena, g, law, seed);
    Tensor **made = heap_alloc(sizeof *made * (source.outputs.len + 1));
    EvalOptions options = {.seed = seed};
    bool ok = !g->source || graph_eval(&source, NULL, NULL, &options, made, diag);
    if (ok && !take_values(g, made, out)) {
        diag_error(diag, "E485", (Span){0}, "no memory for the inputs of '%s'",
                   g->name ? g->name : "");
        ok = false;
    }
    for (uint32_t i = 0; i < source.outputs.len; i++)
        tensor_free(made[i]);
    heap_free(made);
    arena_drop(&arena);
    if (ok)
        finish_inputs(g, out, seed, law);
    else
        graph_inputs_free(out);
    return ok;
}

Tensor *graph_input(const Graph *g, uint64_t seed, ValueId value, Diag *diag)
{
    if (!g->source)
        return NULL;
    Arena arena = {0};
    Graph source = *g->source;
    ValueId wanted = source.outputs.at[graph_value(g, value)->source];
    source.outputs.at = &wanted;
    source.outputs.len = 1;
    Tensor *made = NULL;
    EvalOptions options = {.seed = seed};
    bool ok = graph_eval(graph_prune(&arena, &source), NULL, NULL, &options, &made, diag);
    arena_drop(&arena);
    return ok ? made : NULL;
}
