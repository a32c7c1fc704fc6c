/* acraft make with a model: best of several conversations about one task.
 *
 *     task ─prompt─▶ samples x (answer, verdict, repair ...) ─▶ the fastest that is right */
#ifndef LOOP_MAKE_MODEL_H
#define LOOP_MAKE_MODEL_H

#include "loop/bench.h"
#include "loop/repair.h"

typedef struct MakeModelSpec {
    const BenchModel *model;
    JudgeSpec judge;
    JudgeTask task;
    const char *category;
    uint32_t samples;
    /* As each turn ends, for progress; NULL: nobody. */
    void (*turned)(void *context, uint32_t sample, uint32_t turn, const RepairTurn *of);
    void *context;
} MakeModelSpec;

typedef struct MakeModelResult {
    Prompt prompt;
    RepairResult *samples;
    bool found;    /* a candidate passed everything */
    Judged judged; /* of the best one; its candidate holds the texts */
    uint32_t sample, turn;
} MakeModelResult;

/* False, with the reason in diag, when no candidate passed. */
bool make_model(Arena *arena, const MakeModelSpec *spec, MakeModelResult *result, Diag *diag);

#endif
