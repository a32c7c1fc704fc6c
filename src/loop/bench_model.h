/* An item of a bench that a model answers, in a worker. Out: a JSON list, one object for each turn:
 * what was judged, and the dialogue. */
#ifndef LOOP_BENCH_MODEL_H
#define LOOP_BENCH_MODEL_H

#include "loop/bench.h"

/* What the model is sent for the task. */
bool bench_model_prompt(Arena *arena, const BenchModel *model, const JudgeSpec *judge,
                        const char *category, const JudgeTask *task, Prompt *prompt, Diag *diag);

void bench_model(Arena *arena, const BenchSpec *spec, const BenchTask *of, const JudgeTask *task,
                 uint32_t sample, Buf *reply);

#endif
