/* Every shipped task at tiny sizes against PyTorch: tests/torch/golden/tasks.txt, whose format
 * stands in tools/golden_tasks.py. Reading, drawing inputs and evaluating are all under test. */
#include "graph/inputs.h"
#include "torch/torch.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

enum { MOST_SETS = 64 };

typedef struct Entry {
    const char *folder;
    const char *name; /* below it, without .py */
    TorchSet sets[MOST_SETS];
    TorchOptions options;
    InputLaw law;
    TorchCases cases;
} Entry;

typedef struct Stats {
    double mean, rms, mix, odd;
} Stats;

static Str word(Str *line)
{
    Str w = {line->at, 0};
    *line = str_trim(*line);
    str_next(line, ' ', &w);
    return w;
}

static double number(Str *line)
{
    Str w = word(line);
    double v = 0;
    if (str_is(w, "nan"))
        return (double)NAN;
    if (str_is(w, "inf") || str_is(w, "-inf"))
        return w.at[0] == '-' ? -INFINITY : INFINITY;
    CHECK_MSG(str_to_double(w, &v), "bad number '%.*s'", STR_ARG(w));
    return v;
}

/* --- the task ----------------------------------------------------------------------------- */

static bool read_entry(Arena *arena, Str line, Entry *e)
{
    e->name = str_dup(arena, word(&line));
    Str which = word(&line), law = word(&line);
    int64_t index = 0;
    if ((!str_is(which, "-") && !str_to_i64(which, &index)) || !input_law_from_name(law, &e->law))
        return false;
    e->options = (TorchOptions){.sets = e->sets, .case_index = (uint32_t)index};
    while ((line = str_trim(line)).len) {
        Str value = word(&line), name;
        TorchSet *set = &e->sets[e->options.n_sets++];
        if (e->options.n_sets > MOST_SETS || !str_next(&value, '=', &name) ||
            !str_to_i64(value, &set->value))
            return false;
        set->name = str_dup(arena, name);
    }
    return true;
}

static bool evaluate(Arena *arena, Entry *e, Tensor ***outputs, const Graph **graph, Diag *diag)
{
    const char *path = str_format(arena, "%s/%s.py", e->folder, e->name);
    TaskInputs in = {0};
    EvalOptions how = {.wide = true};
    if (!torch_cases(arena, path, &e->cases, diag))
        return false;
    e->options.cases = &e->cases;
    TorchTask *task = torch_read_file(arena, path, &e->options, diag);
    if (!task)
        return false;
    *graph = task->graph;
    *outputs = arena_array(arena, Tensor *, task->graph->outputs.len + 1);
    bool good = graph_inputs(task->graph, 0, e->law, &in, diag) &&
                graph_eval(task->graph, in.inputs, in.params, &how, *outputs, diag);
    graph_inputs_free(&in);
    return good;
}

/* --- one output --------------------------------------------------------------------------- */

static int64_t elements(const Tensor *t) { return t->count * (t->dtype == DT_C64 ? 2 : 1); }

static double element(const Tensor *t, int64_t i)
{
    return t->dtype == DT_C64 ? (double)TENSOR_AT(t, float)[i] : tensor_get(t, i);
}

static double weight(int64_t i)
{
    uint64_t x = (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);
    return (double)(x >> 11) * 0x1p-52 - 1;
}

static Stats stats_of(const Tensor *t)
{
    Stats s = {0};
    int64_t n = elements(t);
    for (int64_t i = 0; i < n; i++) {
        double x = element(t, i);
        if (!isfinite(x)) {
            s.odd++;
            continue;
        }
        s.mean += x;
        s.rms += x * x;
        s.mix += x * weight(i);
    }
    double finite = (double)n - s.odd > 1 ? (double)n - s.odd : 1;
    return (Stats){s.mean / finite, sqrt(s.rms / finite), s.mix / sqrt(finite), s.odd};
}

/* Allowed error in parts of value and rms. */
static double part(DType dtype)
{
    switch (dtype) {
    case DT_F16: return 0x1p-10;
    case DT_BF16: return 0x1p-7;
    case DT_F64: return 1e-9;
    case DT_F32:
    case DT_C64: return 1e-6;
    default: return 0;
    }
}

/* The type a result was computed in: a float32 that is a half number, cast, is a half number. */
static DType held_in(const Graph *g, uint32_t output)
{
    const Value *value = graph_value(g, g->outputs.at[output]);
    DType dtype = value->dtype;
    while (dtype == DT_F32 && value->kind == VALUE_NODE) {
        const Node *node = &g->nodes.at[value->node];
        if (node->op != OP_CAST && node->op != OP_RESHAPE)
            break;
        value = graph_value(g, node->in[0]);
        if (value->dtype == DT_F16 || value->dtype == DT_BF16)
            return value->dtype;
    }
    return dtype;
}

static bool near(double part_of, double got, double want, double rms)
{
    if (got == want || (isnan(got) && isnan(want)))
        return true;
    double floor = rms < 1e-12 ? 1e-9 : 0x1p-149; /* 0 but for rounding; what f32 cannot hold */
    return fabs(got - want) <= part_of * (fabs(want) + rms) + (part_of > 0 ? floor : 0);
}

static bool near_sum(double part_of, double got, double want, double rms)
{
    double relative = part_of > 0 ? part_of : 1e-8;
    return fabs(got - want) <= relative * (fabs(want) + rms) + 1e-9;
}

static Shape read_shape(Str text)
{
    Shape s = {0};
    Str piece;
    while (!str_is(text, "-") && s.rank < GRAPH_MAX_RANK && str_next(&text, ',', &piece))
        str_to_i64(piece, &s.dim[s.rank++]);
    return s;
}

/* "f32 32,64 mean 0.25 rms 0.5 mix 0.125 odd 0"; gives the rms. */
static bool check_stats(const char *name, const Tensor *t, double part_of, Str line, double *rms)
{
    Str dtype = word(&line);
    Shape shape = read_shape(word(&line));
    Stats want = {0}, got = stats_of(t);
    double *each[] = {&want.mean, &want.rms, &want.mix, &want.odd};
    for (int i = 0; i < 4; i++) {
        word(&line);
        *each[i] = number(&line);
    }
    *rms = want.rms;
    return CHECK_MSG(str_is(dtype, dtype_name(t->dtype)) && shape_equal(shape, t->shape),
                     "%s: another dtype or shape", name) &&
           CHECK_MSG(got.odd == want.odd, "%s: %g elements are not finite, PyTorch has %g", name,
                     got.odd, want.odd) &&
           CHECK_MSG(near_sum(part_of, got.mean, want.mean, want.rms) &&
                         near_sum(part_of, got.rms, want.rms, want.rms) &&
                         near_sum(part_of, got.mix, want.mix, want.rms),
                     "%s: mean %.9g rms %.9g mix %.9g, PyTorch has %.9g %.9g %.9g", name, got.mean,
                     got.rms, got.mix, want.mean, want.rms, want.mix);
}

static bool check_samples(const char *name, const Tensor *t, double part_of, Str line, double rms)
{
    enum { SAMPLES = 24 };
    int64_t n = elements(t), count = n > SAMPLES ? SAMPLES : n;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = n > SAMPLES ? (i * INT64_C(2654435761) + 12345) % n : i;
        double want = number(&line), got = element(t, at);
        if (!CHECK_MSG(near(part_of, got, want, rms), "%s: element %lld is %.9g, PyTorch has %.9g",
                       name, (long long)at, got, want))
            return false;
    }
    return true;
}

/* --- all ---------------------------------------------------------------------------------- */

/* Takes the lines of the outputs off the text. */
static void check_outputs(const char *name, const Graph *g, Tensor **outputs, Str *text)
{
    uint32_t n = g->outputs.len;
    Str line, rest = *text;
    uint32_t i = 0;
    double rms = 0;
    while (str_next(&rest, '\n', &line) && (str_starts(line, "out ") || str_starts(line, "at "))) {
        *text = rest;
        Str key = word(&line);
        if (!CHECK_MSG(i < n, "%s: PyTorch has more outputs", name))
            return;
        double part_of = part(held_in(g, i));
        bool good = str_is(key, "out") ? check_stats(name, outputs[i], part_of, line, &rms)
                                       : check_samples(name, outputs[i], part_of, line, rms);
        i += str_is(key, "at");
        if (!good)
            return;
    }
    CHECK_MSG(i == n, "%s: PyTorch has fewer outputs", name);
}

static void check_task(const char *folder, Str line, Str *text)
{
    Arena arena = {0};
    Entry e = {.folder = folder};
    Tensor **outputs = NULL;
    const Graph *graph = NULL;
    REQUIRE(read_entry(&arena, line, &e));
    Diag diag = diag_make(&arena, e.name, (Str){0});
    if (CHECK_MSG(evaluate(&arena, &e, &outputs, &graph, &diag), "%s: %s", e.name,
                  diag.items.len ? diag.items.at[0].text : "not evaluated"))
        check_outputs(e.name, graph, outputs, text);
    for (uint32_t i = 0; graph && i < graph->outputs.len; i++)
        tensor_free(outputs[i]);
    arena_drop(&arena);
}

/* A third of the file each, so that tests can run side by side. */
static void check_part(int which)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "tasks.txt", (Str){0});
    Str text, line;
    int count = 0;
    REQUIRE(file_read(&arena, "tests/torch/golden/tasks.txt", 0, &text, &diag));
    while (str_next(&text, '\n', &line)) {
        if (str_starts(line, "task ") && count++ % 3 == which) {
            word(&line);
            check_task("tasks", line, &text);
        }
    }
    CHECK_MSG(count >= 900, "only %d tasks", count);
    arena_drop(&arena);
}

/* Files as they are found in the wild: dataclasses, decorators, exceptions, closures, in-place
 * writes, indexing of all kinds. */
T_TEST(golden_odd_files)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "odd.txt", (Str){0});
    Str text, line;
    int count = 0;
    REQUIRE(file_read(&arena, "tests/torch/golden/odd.txt", 0, &text, &diag));
    while (str_next(&text, '\n', &line)) {
        if (str_starts(line, "task ")) {
            word(&line);
            check_task("tests/torch/odd", line, &text);
            count++;
        }
    }
    CHECK_MSG(count >= 100, "only %d runs", count);
    arena_drop(&arena);
}

T_TEST(golden_tasks_1) { check_part(0); }
T_TEST(golden_tasks_2) { check_part(1); }
T_TEST(golden_tasks_3) { check_part(2); }
