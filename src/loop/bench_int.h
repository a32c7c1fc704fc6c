/* Inside the bench: what parent and workers share by fork. */
#ifndef LOOP_BENCH_INT_H
#define LOOP_BENCH_INT_H

#include "base/map.h"
#include "loop/bench.h"

typedef struct BenchItem {
    uint32_t task, sample;
    const BenchAnswer *answer; /* NULL: the generator writes it */
    bool done, sent, again;
    uint32_t deaths;
} BenchItem;

typedef struct Bench {
    Arena arena;
    Store *store; /* the parent's alone */
    const BenchSpec *spec;
    BenchDone *done;
    int64_t run, failed_of;
    int64_t *task_ids; /* by index in the suite */
    VEC(BenchItem) items;
    JudgeCache *cache; /* each worker's own after the fork */
} Bench;

/* An attempt with all that is known before anything is judged (bench.c). */
StoreAttempt bench_empty_attempt(const Bench *b, const BenchItem *item);

/* The origin of attempts that nobody made (bench_missing.c). */
#define MISSING_ORIGIN "no answer given"
bool bench_missing_drop(Bench *b, Diag *diag);
/* Stores requests without an answer as failures. */
bool bench_missing_put(Bench *b, Diag *diag);

/* The work of a process, PoolSpec.work (bench_work.c). The request is the number of an item; the
 * reply a JSON list with one object for each turn. */
void bench_work(void *bench, Str request, Buf *reply);

#endif
