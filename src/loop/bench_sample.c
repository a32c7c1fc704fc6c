/* Full size with values, in part. In: a candidate that was followed at full size without values. Out: the case "rows".
 *
 *     a size of the task whose rows depend on nothing but themselves ──▶ a small case with fewer of them, drawn by the text
 *     twice as many, some of them several times, in any order        ──▶ the reference gives the same rows?
 *     full size, filled with the small case's rows over and over     ──▶ some blocks run on it (eval/sample.h)
 *
 * So a factor that arithmetic alone makes of a size is seen where it counts, whatever the size is. Other tasks, and
 * kernels whose cores wait for each other, are left as they are. */
#include "eval/sample.h"

#include "base/rng.h"
#include "loop/bench_judge_int.h"
#include "loop/bench_pool.h"
#include <string.h>

enum { PAGE = 4096, LEAST_PARTS = 4 };
static const int64_t most_copied = INT64_C(64) << 20, liked = INT64_C(4) << 20,
                     most_small = INT64_C(48) << 20;

/* A size of the task, alone or with all that are equal to it. */
typedef struct RowSize {
    Judging *j;
    const TorchTask *full;
    TorchSet *sets;
    uint32_t knob;
    bool equals;
    int64_t value;
} RowSize;

static CaseSpec with_rows(const RowSize *r, int64_t rows)
{
    uint32_t n = r->full->knobs.len;
    TorchSet *sets = arena_array(r->j->arena, TorchSet, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const TorchKnob *k = &r->full->knobs.at[i];
        bool with = i == r->knob || (r->equals && k->value == r->value);
        sets[i] = (TorchSet){k->name, with ? rows : k->value};
    }
    return (CaseSpec){.name = "rows",
                      .scale = SCALE_FULL,
                      .listed = -1,
                      .seed = text_seed(&r->j->judged->candidate, r->j->spec->seed + 7),
                      .sets = sets,
                      .n_sets = n};
}

static TorchTask *read_rows(const RowSize *r, int64_t rows)
{
    CaseSpec c = with_rows(r, rows);
    int64_t bytes;
    Diag quiet = diag_make(r->j->arena, r->j->task->path, r->j->task->source);
    TorchOptions options;
    return sizes_with(r->j->task, r->full->graph, &c, &bytes)
               ? case_read(r->j->arena, r->j->task, &c, r->j->cases, &options, &quiet)
               : NULL;
}

/* Whether the outermost axis with more than one element, and no other, goes with the size. */
static bool has_rows(Shape full, Shape fewer, int64_t value, int64_t rows)
{
    int at = 0;
    while (at < full.rank && at < fewer.rank && full.dim[at] == 1 && fewer.dim[at] == 1)
        at++;
    if (full.rank != fewer.rank || at == full.rank || full.dim[at] * rows != fewer.dim[at] * value)
        return false;
    for (int d = at + 1; d < full.rank; d++)
        if (full.dim[d] != fewer.dim[d])
            return false;
    return true;
}

static int64_t gcd(int64_t a, int64_t b) { return b ? gcd(b, a % b) : a; }

static int64_t bytes_of(const Graph *g, ValueId id)
{
    const Value *v = graph_value(g, id);
    int64_t bytes;
    return shape_bytes(v->shape, v->dtype, &bytes) ? bytes : INT64_MAX;
}

/* How many rows the small case has: whole pages of each large input, and about as much as is liked. 0: this size is
 * not one of rows. */
static int64_t rows_of(const RowSize *r)
{
    enum { FEW = 2 };
    const Graph *full = r->full->graph;
    TorchTask *fewer = read_rows(r, FEW);
    int64_t unit = 1, per_row = 0;
    if (!fewer)
        return 0;
    const Graph *small = fewer->graph;
    for (uint32_t i = 0; i < full->inputs.len; i++) {
        Shape a = graph_value(full, full->inputs.at[i])->shape;
        Shape b = graph_value(small, small->inputs.at[i])->shape;
        int64_t bytes = bytes_of(full, full->inputs.at[i]), row = bytes / r->value;
        if (shape_equal(a, b))
            continue;
        if (!has_rows(a, b, r->value, FEW) || bytes % r->value)
            return 0;
        int64_t need = bytes > most_copied ? PAGE / gcd(row, PAGE) : 1;
        unit = unit / gcd(unit, need) * need;
        per_row += row;
    }
    for (uint32_t i = 0; i < full->params.len; i++)
        if (!shape_equal(graph_value(full, full->params.at[i])->shape,
                         graph_value(small, small->params.at[i])->shape))
            return 0;
    for (uint32_t i = 0; i < full->outputs.len; i++) {
        if (!has_rows(graph_value(full, full->outputs.at[i])->shape,
                      graph_value(small, small->outputs.at[i])->shape, r->value, FEW))
            return 0;
        per_row += bytes_of(full, full->outputs.at[i]) / r->value;
    }
    int64_t times = per_row ? liked / (unit * per_row) : 0;
    uint64_t drawn = rng_u64(text_seed(&r->j->judged->candidate, 8), 0, 0);
    int64_t rows = unit * (times > 2 ? times - (int64_t)(drawn % (uint64_t)(times / 2)) : 1);
    rows = rows < FEW ? FEW : rows;
    return rows * per_row <= most_small && rows <= r->value / LEAST_PARTS ? rows : 0;
}

/* ---- do rows depend on themselves alone? ---- */

/* Rows of `from` in the order that the seed draws, as many as `shape` has. */
static Tensor *draw_rows(const Tensor *from, Shape shape, int64_t rows, int64_t more, uint64_t seed)
{
    Tensor *to = tensor_new_raw(from->dtype, shape);
    if (!to || to->count == from->count) {
        if (to)
            memcpy(to->at, from->at, (size_t)to->count * dtype_bytes(to->dtype));
        return to;
    }
    size_t bytes = (size_t)(from->count / rows) * dtype_bytes(from->dtype);
    for (int64_t i = 0; i < more; i++) {
        uint64_t row = rng_u64(seed, 0x726f7773, (uint64_t)i) % (uint64_t)rows;
        memcpy((char *)to->at + (size_t)i * bytes, (const char *)from->at + row * bytes, bytes);
    }
    return to;
}

static bool gives_same_rows(const RowSize *r, const EvalReference *small, int64_t rows)
{
    int64_t more = 2 * rows;
    TorchTask *twice = read_rows(r, more);
    if (!twice || twice->used_data)
        return false;
    const Graph *g = twice->graph;
    Arena *arena = r->j->arena;
    Tensor **in = arena_array(arena, Tensor *, g->inputs.len + 1);
    Tensor **out = arena_array(arena, Tensor *, g->outputs.len + 1);
    EvalOptions options = {.seed = small->in.seed, .wide = true, .memory = INT64_C(1) << 30};
    Diag quiet = diag_make(arena, r->j->task->path, r->j->task->source);
    uint64_t seed = text_seed(&r->j->judged->candidate, 9);
    bool same = true;
    for (uint32_t i = 0; i < g->inputs.len; i++)
        same = same &&
               (in[i] = draw_rows(small->in.inputs[i], graph_value(g, g->inputs.at[i])->shape, rows,
                                  more, seed));
    same = same && graph_eval(g, in, small->in.params, &options, out, &quiet);
    for (uint32_t i = 0; same && i < g->outputs.len; i++) {
        Tensor *want = draw_rows(small->want[i], out[i]->shape, rows, more, seed);
        CompareSpec spec = eval_spec(small, i);
        spec.own = NULL;
        memset(spec.others, 0, sizeof spec.others);
        same = want && compare_fits(out[i], want, &spec, compare_rms(want));
        tensor_free(want);
    }
    for (uint32_t i = 0; i < g->inputs.len; i++)
        tensor_free(in[i]);
    for (uint32_t i = 0; i < g->outputs.len; i++)
        tensor_free(out[i]);
    return same;
}

/* ---- the whole ---- */

/* The small case of the first size whose rows stand alone; NULL: there is none. */
static const CaseReady *small_case(Judging *j, const TorchTask *full, CaseSpec *c)
{
    enum { MOST_KNOBS = 8 };
    RowSize r = {.j = j, .full = full};
    uint32_t n = full->knobs.len < MOST_KNOBS ? full->knobs.len : MOST_KNOBS;
    for (r.knob = 0; r.knob < n; r.knob++)
        for (int equals = 0; equals < 2; equals++) {
            r.equals = equals;
            r.value = full->knobs.at[r.knob].value;
            int64_t rows = full->knobs.at[r.knob].deep || r.value < 2 * LEAST_PARTS ? 0
                                                                                    : rows_of(&r);
            if (!rows)
                continue;
            *c = with_rows(&r, rows);
            const CaseReady *ready = case_ready(j->cache, j->spec, j->task, c);
            if (ready->status == VERDICT_OK && ready->ref.steady && !ready->task->used_data &&
                gives_same_rows(&r, &ready->ref, rows))
                return ready;
        }
    return NULL;
}

void judge_sample(Judging *j, const TorchTask *full, SampleRun *run, void *context)
{
    CaseSpec c;
    EvalSample sample;
    double start = pool_clock();
    const CaseReady *ready = small_case(j, full, &c);
    Verdict v = verdict_make();
    if (!ready)
        return;
    v.task = j->task->name;
    v.candidate = j->judged->candidate.name;
    bool ran = eval_sample_open(j->arena, full->graph, &ready->ref,
                                text_seed(&j->judged->candidate, 10), &sample) &&
               run(context, &sample);
    bool right = ran && eval_sample_compare(j->arena, &sample, &v);
    if (right || v.status != VERDICT_OK) {
        v.compiled = VERDICT_YES;
        v.stage = right ? STAGE_DONE : v.stage;
        v.seconds = pool_clock() - start;
        judge_add_case(j->arena, j->judged, &c, case_shapes(j->arena, full->graph), &v, NULL,
                       &j->log);
    }
    eval_sample_close(&sample);
    case_forget(j->cache, ready);
}
