/* The right answer of one case. In: a graph, a seed. Out: inputs, outputs, tolerance. */
#include "eval/eval.h"

#include "base/rng.h"
#include <math.h>

static const int64_t most_bytes = INT64_C(8) << 30;

/* The rms difference between the reference and the same graph evaluated in the task's own dtypes:
 * how much the task amplifies rounding. */
static double rms_between(const Tensor *a, const Tensor *b, double *most)
{
    double sum = 0;
    int64_t finite = 0;
    *most = 0;
    for (int64_t i = 0; i < a->count; i++) {
        double d = tensor_get(a, i) - tensor_get(b, i);
        if (!isfinite(d))
            continue;
        sum += d * d;
        *most = fmax(*most, fabs(d));
        finite++;
    }
    return finite ? sqrt(sum / (double)finite) : 0;
}

/* A result of few elements is one draw of its rounding errors. Others are drawn by moving one in twelve
 * of the f32 numbers that come in to a neighbour: the same rms as errors of up to half a unit in the
 * last place of each. */
enum { FEW_ELEMENTS = 64, DRAWS = 4, DRAW_STREAM = 0x0d7a };

static Tensor **moved(Arena *arena, Tensor *const *from, uint32_t n, uint64_t seed, uint32_t draw)
{
    Tensor **to = arena_array(arena, Tensor *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        to[i] = from[i] ? tensor_copy(from[i]) : NULL;
        bool f32 = to[i] && to[i]->dtype == DT_F32;
        for (int64_t k = 0; f32 && k < to[i]->count; k++) {
            float *x = (float *)to[i]->at + k;
            double u = rng_uniform(seed + draw, DRAW_STREAM + i, (uint64_t)k);
            if (u < 1.0 / 24)
                *x = nextafterf(*x, -INFINITY);
            else if (u > 23.0 / 24)
                *x = nextafterf(*x, INFINITY);
        }
    }
    return to;
}

static void free_moved(Tensor **list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        tensor_free(list[i]);
}

static bool has_few(const EvalReference *ref, uint32_t output)
{
    return ref->want[output]->count <= FEW_ELEMENTS && ref->want[output]->dtype == DT_F32;
}

static bool draw_noise(Arena *arena, const EvalReference *ref, const EvalOptions *options,
                       Diag *diag)
{
    uint32_t n = ref->graph->outputs.len;
    double *squares = arena_array(arena, double, n + 1), most;
    Tensor **typed = arena_array(arena, Tensor *, n + 1);
    bool any = false, ok = true;
    for (uint32_t i = 0; i < n; i++) {
        any = any || has_few(ref, i);
        squares[i] = ref->noise[i] * ref->noise[i];
    }
    for (uint32_t draw = 0; draw < DRAWS && any && ok; draw++) {
        Tensor **in = moved(arena, ref->in.inputs, ref->in.n_inputs, options->seed, draw);
        Tensor **par = moved(arena, ref->in.params, ref->in.n_params, ~options->seed, draw);
        ok = graph_eval(ref->graph, in, par, options, typed, diag);
        for (uint32_t i = 0; i < n && ok; i++) {
            double off = has_few(ref, i) ? rms_between(typed[i], ref->want[i], &most) : 0;
            squares[i] += off * off;
            tensor_free(typed[i]);
        }
        free_moved(in, ref->in.n_inputs);
        free_moved(par, ref->in.n_params);
    }
    for (uint32_t i = 0; i < n && any && ok; i++)
        if (has_few(ref, i))
            ref->noise[i] = sqrt(squares[i] / (1 + DRAWS));
    return ok;
}

static bool all_finite(const Tensor *t)
{
    bool finite = true;
    for (int64_t i = 0; i < t->count && finite; i++)
        finite = isfinite(tensor_get(t, i));
    return finite;
}

/* Infinities or zeros went in: then a result that is no number depends on how it is worked out (infinity times zero), and
 * says nothing. NaN went in, or what the operator is not defined for: what that makes NaN is NaN however it is worked
 * out. Half of all results stay finite, so that the others are told apart from them. */
static bool is_defined(const Tensor *want, const Strew *strew)
{
    int64_t finite = 0, none = 0;
    for (int64_t i = 0; i < want->count; i++) {
        double x = tensor_get(want, i);
        finite += isfinite(x);
        none += isnan(x);
    }
    return 2 * finite >= want->count &&
           (strew->inputs[STREW_NAN] || strew->inputs[STREW_MINUS] || !none);
}

static bool has_special(const Strew *s)
{
    uint64_t any = 0;
    for (int k = STREW_NAN; s && k <= STREW_MINUS; k++)
        any |= k == STREW_HUGE || k == STREW_TINY ? 0 : s->inputs[k];
    return any != 0;
}

static bool measure_noise(Arena *arena, EvalReference *ref, EvalOptions options, const Strew *strew,
                          Diag *diag)
{
    uint32_t n = ref->graph->outputs.len;
    Tensor **typed = arena_array(arena, Tensor *, n + 1);
    options.wide = false;
    bool ok = graph_eval(ref->graph, ref->in.inputs, ref->in.params, &options, typed, diag);
    for (uint32_t i = 0; i < n; i++) {
        double most = 0;
        if (ok && dtype_is_float(typed[i]->dtype))
            ref->noise[i] = rms_between(typed[i], ref->want[i], &most);
        if (!ok)
            continue;
        bool defined = has_special(strew) ? is_defined(ref->want[i], strew)
                                          : all_finite(typed[i]) && all_finite(ref->want[i]);
        ref->steady &= defined &&
                       compare_fits(typed[i], ref->want[i], &ref->spec, compare_rms(ref->want[i]));
        bool rounded = ref->others[i] || ref->others[n + i];
        if (most > 8 * ref->noise[i] || (rounded && !dtype_is_float(typed[i]->dtype)))
            ref->own[i] = typed[i];
        else
            tensor_free(typed[i]);
    }
    return ok && draw_noise(arena, ref, &options, diag);
}

static void begin_reference(Arena *arena, const Graph *graph, CompareRule rule, EvalReference *ref)
{
    *ref = (EvalReference){.graph = graph, .spec = compare_spec(graph, rule), .steady = true};
    ref->want = arena_array(arena, Tensor *, graph->outputs.len + 1);
    ref->noise = arena_array(arena, double, graph->outputs.len + 1);
    ref->own = arena_array(arena, Tensor *, graph->outputs.len + 1);
    ref->others = arena_array(arena, Tensor *, 2 * graph->outputs.len + 1);
}

static bool evaluate(Arena *arena, EvalReference *ref, const EvalOptions *options,
                     const Strew *strew, Diag *diag)
{
    return graph_eval(ref->graph, ref->in.inputs, ref->in.params, options, ref->want, diag) &&
           graph_eval_others(ref->graph, ref->in.inputs, ref->in.params, options, &ref->spec,
                             ref->want, ref->others, diag) &&
           measure_noise(arena, ref, *options, strew, diag);
}

/* `law`: that of the inputs; NULL: the task is probed for it. */
static bool draw(Arena *arena, const Graph *graph, uint64_t seed, CompareRule rule,
                 const Strew *strew, const InputLaw *law, EvalReference *ref, Diag *diag)
{
    EvalOptions options = {.seed = seed, .wide = true, .memory = most_bytes};
    begin_reference(arena, graph, rule, ref);
    if (law)
        ref->probe.law = *law;
    if ((!law && !graph_probe(graph, &ref->spec, &options, &ref->probe, diag)) ||
        !graph_inputs(graph, seed, ref->probe.law, &ref->in, diag))
        return false;
    ref->special = has_special(strew);
    if (strew)
        graph_inputs_strew(graph, &ref->in, strew, seed);
    return evaluate(arena, ref, &options, strew, diag);
}

/* Of equal numbers PyTorch's argmax names the first. Where they are what was handed in, none of them comes of rounding. */
static bool names_the_first(const Graph *g, const Node *node)
{
    bool given = false;
    for (uint32_t i = 0; i < g->inputs.len; i++)
        given |= g->inputs.at[i] == node->in[0];
    return given && node->op == OP_REDUCE &&
           (node->kind == REDUCE_argmax || node->kind == REDUCE_argmin);
}

/* An integer is made of floats: a place among equal numbers, which PyTorch leaves open, or a rounding. */
static bool tells_equals_apart(const Graph *g, bool special)
{
    for (uint32_t n = 0; n < g->nodes.len; n++) {
        const Node *node = &g->nodes.at[n];
        DType made = graph_value(g, node->out)->dtype;
        if (!special && names_the_first(g, node))
            continue;
        for (uint32_t i = 0; i < node->n_in; i++)
            if (made != DT_BOOL && !dtype_is_float(made) && node->in[i] != VALUE_NONE &&
                dtype_is_float(graph_value(g, node->in[i])->dtype))
                return true;
    }
    return false;
}

/* Kinds that put equal numbers side by side. */
static bool has_equals(const Strew *s)
{
    uint64_t any = s->inputs[STREW_FLAT];
    for (int k = STREW_ALIKE; k <= STREW_FARTHER; k++)
        any |= s->inputs[k];
    return any != 0;
}

/* The operator is worked out by squares or products that are no values of the graph. PyTorch holds them in the
 * operator's own dtype, where those of huge numbers are infinite; the reference does not. */
static bool squares_inside(const Node *node)
{
    switch (node->op) {
    case OP_REDUCE:
        return node->kind == REDUCE_norm || node->kind == REDUCE_var || node->kind == REDUCE_std;
    case OP_POOL:
    case OP_ADAPTIVE_POOL: return node->kind == POOL_lp;
    case OP_BATCH_NORM:
    case OP_LAYER_NORM:
    case OP_GROUP_NORM:
    case OP_INSTANCE_NORM:
    case OP_RMS_NORM:
    case OP_LRN:
    case OP_SDPA:
    case OP_MHA:
    case OP_RNN:
    case OP_LOSS:
    case OP_TRIPLET_LOSS:
    case OP_COSINE_SIMILARITY:
    case OP_PAIRWISE_DISTANCE:
    case OP_CDIST:
    case OP_FFT: return true;
    default: return false;
    }
}

static bool any_squares_inside(const Graph *g)
{
    bool any = false;
    for (uint32_t n = 0; n < g->nodes.len && !any; n++)
        any = squares_inside(&g->nodes.at[n]);
    return any;
}

bool eval_reference(Arena *arena, const Graph *graph, uint64_t seed, CompareRule rule,
                    EvalReference *ref, Diag *diag)
{
    return draw(arena, graph, seed, rule, NULL, NULL, ref, diag);
}

static Tensor **copies(Tensor *const *from, uint32_t n)
{
    Tensor **to = heap_alloc((n + 1) * sizeof *to);
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[i] ? tensor_copy(from[i]) : NULL;
    return to;
}

bool eval_reference_like(Arena *arena, const Graph *graph, const EvalReference *like,
                         EvalReference *ref, Diag *diag)
{
    EvalOptions options = {.seed = like->in.seed, .wide = true, .memory = most_bytes};
    begin_reference(arena, graph, like->spec.rule, ref);
    ref->spec.bound = like->spec.bound;
    ref->spec.named = like->spec.named;
    ref->probe = like->probe;
    ref->special = like->special;
    ref->in = like->in;
    ref->in.inputs = copies(like->in.inputs, like->in.n_inputs);
    ref->in.params = copies(like->in.params, like->in.n_params);
    return evaluate(arena, ref, &options, NULL, diag);
}

bool eval_reference_strewn(Arena *arena, const Graph *graph, uint64_t seed, CompareRule rule,
                           const InputLaw *law, const Strew *strew, EvalReference *ref, Diag *diag)
{
    *ref = (EvalReference){0};
    if (strew && (has_equals(strew) || has_special(strew)) &&
        tells_equals_apart(graph, has_special(strew)))
        return false;
    if (strew && strew->inputs[STREW_HUGE] && any_squares_inside(graph))
        return false;
    if (draw(arena, graph, seed, rule, strew, law, ref, diag) && (!strew || ref->steady))
        return true;
    eval_reference_free(ref);
    return false;
}

CompareSpec eval_spec(const EvalReference *ref, uint32_t output)
{
    CompareSpec spec = ref->spec;
    spec.noise = ref->noise ? ref->noise[output] : 0;
    spec.own = ref->own ? ref->own[output] : NULL;
    uint32_t n = ref->graph->outputs.len;
    bool rounded = ref->others && (ref->others[output] || ref->others[n + output]);
    spec.others[0] = rounded ? ref->others[output] : NULL;
    spec.others[1] = rounded ? ref->others[n + output] : NULL;
    spec.others[2] = rounded ? spec.own : NULL;
    return spec;
}

void eval_reference_free(EvalReference *ref)
{
    for (uint32_t i = 0; ref->want && ref->graph && i < ref->graph->outputs.len; i++) {
        tensor_free(ref->want[i]);
        tensor_free(ref->own ? ref->own[i] : NULL);
        tensor_free(ref->others ? ref->others[i] : NULL);
        tensor_free(ref->others ? ref->others[ref->graph->outputs.len + i] : NULL);
    }
    graph_inputs_free(&ref->in);
    ref->want = ref->own = ref->others = NULL;
}

void eval_reference_model(Arena *arena, const char *path, Str source, const TorchTask *task,
                          const TorchOptions *options, EvalReference *ref)
{
    EvalModel *model = arena_new(arena, EvalModel);
    TorchSet *sets = arena_array(arena, TorchSet, task->knobs.len + 1);
    *model = (EvalModel){.path = path, .source = source, .task = task, .options = *options};
    model->options.n_sets = 0;
    for (uint32_t i = 0; i < task->knobs.len; i++)
        if (task->knobs.at[i].value != task->knobs.at[i].original)
            sets[model->options.n_sets++] = (TorchSet){task->knobs.at[i].name,
                                                       task->knobs.at[i].value};
    model->options.sets = sets;
    ref->model = model;
}
