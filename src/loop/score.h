/* Scores: counts per task in, shares with their intervals out. Pure functions.
 *
 *     Compile@k, Pass@k, Fast_p@k   mean over tasks of 1 - C(n-c, k) / C(n, k), where c of a
 *                                   task's n samples compile, are right, are right and at least
 *                                   p times as fast as the baseline (Chen et al. 2021); a measured
 *                                   baseline is compared with the end of the prediction's interval
 *     interval, 95 %                Wilson's where every task is a plain yes or no (k = n = 1),
 *                                   else a percentile bootstrap over tasks and, within each,
 *                                   over its samples, with a fixed seed
 *     hardware-anchored             mean of bound / predicted time, 0 for what is not right
 *     level score                   NPUKernelBench: shares of three levels weighted .2 .3 .5
 *
 * What acraft lacks (status not `counted`) is counted in `unsupported` and is a failure in every score:
 * a candidate could choose it. What no candidate can choose (`unscored`: the task cannot be scored for
 * anybody) may be left out, as if never sampled. */
#ifndef LOOP_SCORE_H
#define LOOP_SCORE_H

#include "base/str.h"

typedef enum ScoreKind {
#define SCORE(name, ...) SCORE_##name,
#include "loop/score.def"
#undef SCORE
    SCORE_KIND_COUNT
} ScoreKind;

const char *score_kind_text(ScoreKind kind);

/* What is known of one task. */
typedef struct ScoreTask {
    const char *name, *category, *level;
    uint32_t samples, unsupported, unscored;
    uint32_t good[SCORE_KIND_COUNT]; /* samples that meet the kind */
    bool has_baseline, has_unfused;  /* else the task is left out of those kinds */
    double anchored;                 /* sum over its samples */
    uint32_t cases, passed;          /* over its samples */
    uint32_t measured;               /* samples with a time measured on this machine */
    double log_copy;                 /* sum of their log(copy_us / measured_us) */
} ScoreTask;

/* A sample of a task; times are microseconds, NaN when not known. */
typedef struct ScoreSample {
    bool compiled, correct, unsupported, unscored;
    double predicted_us, bound_us, baseline_us, unfused_us;
    double longest_us;           /* that the prediction may stand for; NaN or 0: predicted_us */
    double measured_us, copy_us; /* on this machine; NaN: not run here */
    uint32_t cases, passed;
} ScoreSample;
void score_add(ScoreTask *task, const ScoreSample *sample);

/* NaN when k is 0 or more than n. */
double score_at_k(uint32_t n, uint32_t good, uint32_t k);

typedef struct ScoreShare {
    double share;     /* NaN: no task can say */
    double low, high; /* 95 % */
    uint32_t tasks;   /* of so many */
} ScoreShare;

typedef struct ScoreOf {
    const ScoreTask *tasks;
    uint32_t count;
    uint32_t k;
    bool without_unscored;
} ScoreOf;

/* Over all tasks. */
ScoreShare score_of_all(const ScoreOf *of, ScoreKind kind);
/* Over what is right: the share of all divided by Pass@k of the same tasks. */
double score_of_correct(const ScoreOf *of, ScoreKind kind);
ScoreShare score_anchored(const ScoreOf *of);
/* Samples measured on this machine, and the geometric mean of a copy's time over theirs (NaN: none). */
uint32_t score_measured(const ScoreOf *of, double *of_copy);
/* NaN unless a task has level 1, 2 or 3. `by_case`: as its documents say (cases passed of a task,
 * mean over tasks); else as its code does (samples passed of a level). */
double score_levels(const ScoreOf *of, bool by_case);

/* The interval of `good` of `n`. */
ScoreShare score_wilson(uint32_t good, uint32_t n);

#endif
