/* The judge as a function from one line of JSON to another: what a trainer's reward function calls.
 *
 *     {"id": 7, "task": "softmax", "answer": "...", "form": "craft"}
 *     {"id": 7, "task": "softmax", "status": "ok", "reason": "", "compiled": 1, "correct": 1,
 *      "hazard_free": 1, "speed": 0.62, "reward": 0.81, "predicted_us": ..., "bound_us": ...,
 *      "source": "...", "message": "", "verdicts": [...]}
 *
 * `task` is a name of the suite or the path of a model file; `model` instead of it is the text of
 * one. Any line gets an answer: one that asks nothing sensible gets status "no-answer" and says why
 * in `reason`. `message` is what a repair loop would tell the writer. */
#ifndef LOOP_JUDGE_LINE_H
#define LOOP_JUDGE_LINE_H

#include "loop/bench_judge.h"
#include "loop/bench_suite.h"

typedef struct JudgeLines {
    JudgeSpec spec;
    const BenchTasks *tasks; /* by name; NULL: paths only */
    bool names_only;         /* no paths: the asker is not the user */
    bool brief;              /* no verdicts */
} JudgeLines;

/* The reward: 0 unless ok; then .5, and .5 speed (bound / predicted time). */
typedef struct JudgeReward {
    bool compiled, correct, hazard_free;
    double speed; /* NaN: not known, counts as 0 */
    double reward;
} JudgeReward;
JudgeReward judge_reward(const Judged *judged);

/* PoolSpec.work with a JudgeLines: the answer line, without its newline. */
void judge_line(void *lines, Str request, Buf *reply);
/* The answer when the worker could not give one. */
void judge_line_failed(Str request, VerdictStatus status, const char *reason, Buf *reply);

#endif
