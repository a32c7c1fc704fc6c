/* acraft make: from a model file to a checked kernel, offline. Plans a kernel at the task's own
 * sizes, then judges it on the twin at small and odd sizes; only what passes everywhere is
 * called good. */
#ifndef LOOP_MAKE_H
#define LOOP_MAKE_H

#include "eval/eval.h"
#include "gen/plan/plan.h"
#include "loop/tune.h"
#include "torch/torch.h"

typedef struct MakeSpec {
    const char *path; /* of the model file */
    Str source;
    const NpuChip *chip;
    uint64_t seed;
    uint32_t fuzz; /* how many odd-sized cases to draw */
    bool medium;   /* one larger case: choices are tuned on it and its time is predicted */
    EvalEngine engine;
    bool plan_only; /* judge nothing */
    bool trust;
    bool listed; /* judge every listed case of up to a million elements */
    bool tiny;   /* ... shrunk: a quick look */
    /* Called as each case ends, for progress; NULL: nobody. */
    void (*progress)(void *context, const Verdict *verdict, uint32_t done, uint32_t all);
    void *context;
} MakeSpec;

typedef struct MakeResult {
    TorchTask *task; /* at full size */
    Plan plan;       /* of the full size: what is shipped */
    VEC(Verdict) verdicts;
    uint32_t ok;
    uint32_t other_plans; /* cases whose sizes of 1 gave a program of their own */
    uint32_t small_tiles; /* cases judged with tiny tiles, so that all loops turn at odd sizes */
    TuneResult tuned;     /* at the medium size; no rows: not tuned */
} MakeResult;

/* False: nothing good came out; the diagnostics and verdicts say why. */
bool make_kernel(Arena *arena, const MakeSpec *spec, MakeResult *result, Diag *diag);

#endif
