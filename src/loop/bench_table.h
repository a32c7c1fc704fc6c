/* The scores of a run: attempts in the store become the table at the end of a bench.
 *
 * A sample counts as its last turn. Rows: one for each category, for each level where there are
 * several, for all, and for all without what can be scored for nobody. */
#ifndef LOOP_BENCH_TABLE_H
#define LOOP_BENCH_TABLE_H

#include "loop/score.h"
#include "store/store.h"

typedef VEC(ScoreTask) ScoreTasks;

typedef struct BenchScores {
    StoreRun run;
    ScoreTasks tasks; /* in order of category and name */
    uint32_t statuses[VERDICT_STATUS_COUNT];
    uint32_t samples, repaired; /* repaired: right only after the first turn */
    const char *platform;       /* other than Ascend, where its kernels ran; "" */
} BenchScores;

bool bench_scores(Store *store, Arena *arena, int64_t run, BenchScores *scores, Diag *diag);

/* A row of the table. */
typedef struct BenchGroup {
    const char *title;
    ScoreTasks tasks;
    bool without_unscored;
} BenchGroup;
typedef VEC(BenchGroup) BenchGroups;

/* Categories, levels where there are several, all, and last all without what can be scored for nobody. */
BenchGroups bench_groups(Arena *arena, const BenchScores *scores);
ScoreOf bench_group_of(const BenchGroup *group, uint32_t k);
uint32_t bench_group_unsupported(const BenchGroup *group); /* samples */

/* ks: the k of Pass@k, ascending, ended by 0. */
void bench_table_text(Arena *arena, const BenchScores *scores, const uint32_t *ks, Buf *out);
/* One object: run, groups with every score, tasks with their counts. */
void bench_table_json(Arena *arena, const BenchScores *scores, const uint32_t *ks, Buf *out);

/* Several runs of one suite beside each other, one platform each: how many tasks are right, and how fast. */
typedef struct BenchPlace {
    const char *platform;
    const BenchScores *scores; /* NULL: it did not run, for this reason: */
    const char *missing,
        *time; /* time: where it comes from, "predicted", "measured", "no TPU ran it" */
} BenchPlace;
void bench_leaderboard_text(const BenchPlace *places, uint32_t count, Buf *out);

#endif
