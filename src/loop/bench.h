/* acraft bench: tasks x samples, judged in parallel by worker processes, kept as they finish.
 *
 *     suite, answers or generator ─▶ items ─minus what the store has─▶ pool ─▶ store ─▶ table
 *
 * The run is found again by its suite, generator and settings, so that the same command
 * after any interruption does what is left. The parent alone touches the store; it does nothing
 * else, so that a candidate can take down only its worker. */
#ifndef LOOP_BENCH_H
#define LOOP_BENCH_H

#include "gen/chat.h"
#include "gen/prompt/prompt.h"
#include "loop/bench_answers.h"
#include "loop/bench_judge.h"
#include "store/store.h"

/* A model as the generator. */
typedef struct BenchModel {
    const Generator *generator;
    PromptStrategy strategy;
    const char *home, *clone;
    uint32_t turns;       /* repairs after the first answer */
    const char *settings; /* of sampling, as JSON fields: ", \"temperature\": 0.6" */
} BenchModel;

typedef struct BenchSpec {
    const BenchSuite *suite;
    const char *generator;       /* "plan", "answers", or the model's name */
    const BenchAnswers *answers; /* NULL: the generator writes them */
    const char *answers_path;    /* "" */
    bool answered_only;          /* tasks without an answer are left out, not failures */
    const BenchModel *model;     /* NULL: the planner */
    /* Another platform than Ascend: its own planner writes, this machine runs. NULL: none. */
    const struct Platform *platform;
    TorchScale scale; /* of its own sizes */
    uint32_t samples; /* of each task, unless answers say */
    JudgeSpec judge;
    const char *label;
    const char *version; /* of acraft */
    bool fresh;          /* begin again though the run is there */
    bool failed;         /* only what was not ok in the last run of this suite and generator */
    uint32_t jobs;
    double seconds; /* for one attempt; 0: no limit */
    double budget;  /* start nothing more after so many seconds; 0: no limit */
    /* Called as each attempt is stored, for progress; NULL: nobody. */
    void (*progress)(void *context, const StoreAttempt *attempt, uint32_t done, uint32_t all);
    void *context;
} BenchSpec;

typedef struct BenchDone {
    int64_t run;
    uint32_t all;      /* requested samples */
    uint32_t kept;     /* that the store had already */
    uint32_t judged;   /* now */
    uint32_t missing;  /* tasks and samples without an answer: failures, stored as no-answer */
    uint32_t internal; /* samples that acraft itself failed twice, stored as failures */
    uint32_t refused;  /* samples that a server or this machine failed: not stored */
    char why[240];     /* the last reason for that */
    bool gave_up;      /* it was so from the first one: the rest was not tried */
    bool out_of_time;  /* the budget ended it */
    bool other_rules;  /* an earlier run was judged by other rules: this one is a new one */
    double seconds;
    uint64_t peak_bytes; /* resident, of the largest worker */
} BenchDone;

/* False with the reason in diag when it could not go on: what was finished is kept. */
bool bench_run(Store *store, const BenchSpec *spec, BenchDone *done, Diag *diag);

#endif
