/* Scores from counts; see score.h for what each means. */
#include "loop/score.h"

#include "base/arena.h"
#include "base/rng.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double z_95 = 1.959963984540054;
enum { RESAMPLES = 2000, BOOTSTRAP_SEED = 20210707 };

typedef struct KindRow {
    const char *text;
    double speed;
} KindRow;

static const KindRow kinds[SCORE_KIND_COUNT] = {
#define SCORE(name, text, speed) {text, speed},
#include "loop/score.def"
#undef SCORE
};

const char *score_kind_text(ScoreKind kind) { return kinds[kind].text; }

/* ---- counting ---- */

static bool is_unfused(ScoreKind kind) { return kind >= SCORE_UNFUSED_0_2; }

static bool meets(const ScoreSample *s, ScoreKind kind)
{
    double than = is_unfused(kind) ? s->unfused_us : s->baseline_us;
    if (kind == SCORE_COMPILE)
        return s->compiled;
    if (kind == SCORE_PASS)
        return s->correct;
    /* Predictions are compared with predictions; with what was measured, as slow as they may be. */
    double us = is_unfused(kind) ? s->predicted_us : fmax(s->predicted_us, s->longest_us);
    return s->correct && s->predicted_us > 0 && than / us >= kinds[kind].speed;
}

void score_add(ScoreTask *task, const ScoreSample *sample)
{
    task->samples++;
    task->unsupported += sample->unsupported;
    task->unscored += sample->unscored;
    for (int kind = 0; kind < SCORE_KIND_COUNT; kind++)
        task->good[kind] += meets(sample, (ScoreKind)kind);
    task->has_baseline |= sample->baseline_us > 0;
    task->has_unfused |= sample->unfused_us > 0;
    if (sample->correct && sample->predicted_us > 0 && sample->bound_us > 0)
        task->anchored += fmin(1, sample->bound_us / sample->predicted_us);
    if (sample->correct && sample->measured_us > 0 && sample->copy_us > 0) {
        task->measured++;
        task->log_copy += log(sample->copy_us / sample->measured_us);
    }
    task->cases += sample->cases;
    task->passed += sample->passed;
}

/* ---- one task ---- */

double score_at_k(uint32_t n, uint32_t good, uint32_t k)
{
    if (k == 0 || k > n || good > n)
        return (double)NAN;
    if (n - good < k)
        return 1;
    double none = 1;
    for (uint32_t i = n - good + 1; i <= n; i++)
        none *= 1 - (double)k / (double)i;
    return 1 - none;
}

static uint32_t samples_of(const ScoreOf *of, const ScoreTask *t)
{
    return t->samples - (of->without_unscored ? t->unscored : 0);
}

static bool takes_part(const ScoreTask *t, ScoreKind kind)
{
    return kinds[kind].speed == 0 || (is_unfused(kind) ? t->has_unfused : t->has_baseline);
}

static double estimate(const ScoreOf *of, const ScoreTask *t, ScoreKind kind)
{
    return takes_part(t, kind) ? score_at_k(samples_of(of, t), t->good[kind], of->k) : (double)NAN;
}

/* ---- intervals ---- */

ScoreShare score_wilson(uint32_t good, uint32_t n)
{
    if (n == 0)
        return (ScoreShare){(double)NAN, (double)NAN, (double)NAN, 0};
    double share = (double)good / n, z2 = z_95 * z_95, all = n + z2;
    double middle = (good + z2 / 2) / all;
    double half = z_95 * sqrt(share * (1 - share) * n + z2 / 4) / all;
    return (ScoreShare){share, fmax(0, middle - half), fmin(1, middle + half), n};
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A task's value, and the counts it came from where it may be drawn again (n 0: it may not). */
typedef struct Estimate {
    double value;
    uint32_t n, good, k;
} Estimate;

/* Another n samples of the same task. */
static double redraw(const Estimate *e, uint64_t stream)
{
    uint32_t good = 0;
    if (e->n < 2)
        return e->value;
    for (uint32_t i = 0; i < e->n; i++)
        good += rng_range(BOOTSTRAP_SEED + 1, stream, i, 0, e->n) < (int64_t)e->good;
    return score_at_k(e->n, good, e->k);
}

static double mean_of_resample(const Estimate *values, uint32_t n, uint64_t round)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += redraw(&values[rng_range(BOOTSTRAP_SEED, round, i, 0, n)], round * n + i);
    return sum / n;
}

static ScoreShare bootstrap(const Estimate *values, uint32_t n, double mean)
{
    double *means = heap_alloc(RESAMPLES * sizeof *means);
    for (uint32_t r = 0; r < RESAMPLES; r++)
        means[r] = mean_of_resample(values, n, r);
    qsort(means, RESAMPLES, sizeof *means, ascending);
    ScoreShare s = {mean, means[RESAMPLES / 40], means[RESAMPLES - 1 - RESAMPLES / 40], n};
    heap_free(means);
    return s;
}

/* The mean of per-task values, with the interval that fits them. */
static ScoreShare summarise(const Estimate *values, uint32_t n)
{
    double sum = 0;
    uint32_t ones = 0, plain = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += values[i].value;
        ones += values[i].value == 1;
        plain += values[i].value == 1 || values[i].value == 0;
    }
    return plain == n ? score_wilson(ones, n) : bootstrap(values, n, sum / n);
}

/* ---- groups ---- */

ScoreShare score_of_all(const ScoreOf *of, ScoreKind kind)
{
    Estimate *values = heap_alloc((of->count + 1) * sizeof *values);
    uint32_t n = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        const ScoreTask *t = &of->tasks[i];
        double value = estimate(of, t, kind);
        if (!isnan(value))
            values[n++] = (Estimate){value, samples_of(of, t), t->good[kind], of->k};
    }
    ScoreShare share = summarise(values, n);
    heap_free(values);
    return share;
}

double score_of_correct(const ScoreOf *of, ScoreKind kind)
{
    double met = 0, right = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        double value = estimate(of, &of->tasks[i], kind);
        if (isnan(value))
            continue;
        met += value;
        right += estimate(of, &of->tasks[i], SCORE_PASS);
    }
    return right > 0 ? met / right : (double)NAN;
}

ScoreShare score_anchored(const ScoreOf *of)
{
    Estimate *values = heap_alloc((of->count + 1) * sizeof *values);
    uint32_t n = 0;
    for (uint32_t i = 0; i < of->count; i++)
        if (samples_of(of, &of->tasks[i]))
            values[n++].value = of->tasks[i].anchored / samples_of(of, &of->tasks[i]);
    ScoreShare share = summarise(values, n);
    heap_free(values);
    return share;
}

/* ---- NPUKernelBench ---- */

typedef struct LevelSum {
    double sum, of;
} LevelSum;

static LevelSum sum_level(const ScoreOf *of, const char *level, bool by_case)
{
    LevelSum s = {0, 0};
    for (uint32_t i = 0; i < of->count; i++) {
        const ScoreTask *t = &of->tasks[i];
        uint32_t n = samples_of(of, t);
        if (strcmp(t->level, level) || n == 0)
            continue;
        s.sum += by_case ? (t->cases ? (double)t->passed / t->cases : 0) : t->good[SCORE_PASS];
        s.of += by_case ? 1 : n;
    }
    return s;
}

double score_levels(const ScoreOf *of, bool by_case)
{
    static const struct {
        const char *level;
        double weight;
    } weights[] = {{"1", 0.2}, {"2", 0.3}, {"3", 0.5}};
    double score = 0;
    bool any = false;
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        LevelSum s = sum_level(of, weights[i].level, by_case);
        if (s.of > 0)
            score += weights[i].weight * s.sum / s.of;
        any |= s.of > 0;
    }
    return any ? score : (double)NAN;
}

uint32_t score_measured(const ScoreOf *of, double *of_copy)
{
    uint32_t n = 0;
    double sum = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        n += of->tasks[i].measured;
        sum += of->tasks[i].log_copy;
    }
    *of_copy = n ? exp(sum / n) : (double)NAN;
    return n;
}
