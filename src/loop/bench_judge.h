/* An answer judged on all its cases. In: a task, and a planned kernel, a candidate or a raw
 * answer. Out: a verdict for each case and one over all.
 *
 *     cases    small, fuzz0, fuzz1 ...   values, hazards: sizes drawn from the seed
 *              listed0, listed1 ...      the same for the cases a suite lists, shrunk to small
 *              full                      time only, at the baseline's sizes or the task's own
 *
 * The first case that is not ok decides, in this order; the rest are still judged unless the
 * candidate does not get as far as running. A task on which a trivial answer (zeros, a constant,
 * an input) passes in every case is scored for nobody: `unscored`. */
#ifndef LOOP_BENCH_JUDGE_H
#define LOOP_BENCH_JUDGE_H

#include "eval/candidate.h"
#include "torch/eager.h"

/* Right answers of the cases judged last, for the next candidate of the same task. */
typedef struct JudgeCache JudgeCache;
JudgeCache *judge_cache_open(void);
void judge_cache_close(JudgeCache *cache);

typedef struct JudgeSpec {
    const NpuChip *chip;
    CompareRule rule;
    uint64_t seed;   /* case i draws from seed + i */
    uint32_t fuzz;   /* cases of odd sizes */
    uint32_t listed; /* most cases of those a suite lists */
    int64_t only;    /* this listed case alone, counted from 1; 0: as above */
    bool tiny;       /* the smallest sizes that still tell, for tests */
    bool own_sizes;  /* values at the task's own sizes, for answers with sizes written in */
    bool time;       /* predict the time at full size */
    bool trace;      /* keep a picture of the first case's run */
    bool first_only; /* nothing more is judged after a case that is not ok */
    bool strict, trust;
    bool no_proofs;                  /* ablation: nothing is proved before the run */
    EvalForm form;                   /* of answers; FORM_ANY: whatever it looks like */
    const TorchEagerTable *baseline; /* measured times of tasks at stated sizes; NULL: none */
    JudgeCache *cache;               /* NULL: every case is made anew */
    const char *baseline_name;       /* of that file; "" */
    int64_t most_values;             /* bytes up to which full size has values; 0: 64 MiB */
} JudgeSpec;

/* Bound over predicted time is 1 at best, but for rounding; above that it is no time of the task. */
#define JUDGE_MOST_SPEED 1.001

/* 16 hexadecimal digits of all that decides a verdict but task, answer and program: equal ones may be
 * compared. */
const char *judge_config(Arena *arena, const JudgeSpec *spec);

typedef struct JudgeTask {
    const char *path, *name; /* of the model file */
    const char *category;    /* with the name it is the task's key in a baseline; "" */
    Str source;
} JudgeTask;

typedef struct JudgedCase {
    const char *name;
    uint64_t seed;
    const char *shapes; /* "f32[16,1000], f32[16]" */
    Verdict verdict;
    Str trace;      /* Chrome's format, its first instructions; empty: none */
    bool no_values; /* nothing was compared, and nothing had to be */
} JudgedCase;

typedef struct Judged {
    const char *config;      /* judge_config */
    uint64_t seed;           /* of the first case */
    EvalCandidate candidate; /* no texts: there was nothing to judge */
    VEC(JudgedCase) cases;
    VerdictStatus status; /* of the first case that is not ok */
    const char *reason;
    Verdict worst;                   /* of that case */
    Diag said;                       /* diagnostics of checkers and compilers */
    VerdictAnswer compiled, correct; /* correct: the values of every case */
    uint32_t hazards;
    double predicted_us, bound_us, baseline_us, unfused_us; /* NaN: not known */
    double measured_us,
        copy_us;         /* on this machine, at full size: a launch, a copy of its bytes; NaN */
    uint32_t refused;    /* odd sizes that the platform's planner cannot plan */
    const char *not_run; /* why full size was not run on the platform; NULL: it was */
    const char *log;     /* the messages of checkers and compilers, then every verdict in words */
} Judged;

/* True when every case is ok. */
bool judge_plan(Arena *arena, const JudgeSpec *spec, const JudgeTask *task, Judged *judged);
bool judge_candidate(Arena *arena, const JudgeSpec *spec, const JudgeTask *task,
                     const EvalCandidate *candidate, Judged *judged);
bool judge_answer(Arena *arena, const JudgeSpec *spec, const JudgeTask *task, Str answer,
                  Judged *judged);
/* Nothing came of it: what the attempt is then. */
void judge_nothing(Judged *judged, const char *task, VerdictStatus status, const char *reason);

#endif
