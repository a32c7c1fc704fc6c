/* How long would a Craft program take, without its values? For whoever tries many shapes and choices.
 *
 *     EvalTimer *t = eval_timer_open(arena, &candidate, graph, &config, &verdict, &diag);
 *     for every shape and choice:
 *         eval_timer_run(arena, t, operands, settings, n, &verdict);   ... verdict.predicted_us
 *     eval_timer_close(t);
 *
 * The text is checked, lowered and compiled once (the compiled kernel comes from the cache when
 * it is known; with config.straight nothing is compiled where records straight from the lowered program
 * give the same): shapes and choices travel as tiling data, so a run is a matter of milliseconds and
 * of little memory whatever the size of the tensors. Bounds, coverage of the outputs, hazards and
 * 32-bit wraps are still looked for at full size (hazards not with config.only_time). A kernel whose
 * instructions depend on values it reads is timed once more with the task's own integers (indices,
 * class numbers), where the shapes are the graph's; if they do not decide either it ends with
 * VERDICT_NEEDS_DATA and the line. */
#ifndef EVAL_TIME_H
#define EVAL_TIME_H

#include "eval/eval.h"
#include "ir/decide.h"

typedef struct EvalTimer EvalTimer;

/* Dtypes come from the graph's values that candidate->operands names; shapes and settings of the
 * candidate are not looked at. `arena` must outlive the timer. NULL: the verdict says why. */
EvalTimer *eval_timer_open(Arena *arena, const EvalCraft *candidate, const Graph *graph,
                           const EvalConfig *config, Verdict *verdict, Diag *diag);
void eval_timer_close(EvalTimer *timer);
/* operands: as many as the candidate's, their shapes count; the bound of verdict->bound_us is for
 * these shapes. True: it would run, and the verdict holds predicted_us, cycles and pipes. */
bool eval_timer_run(Arena *arena, EvalTimer *timer, const EvalOperand *operands,
                    const EvalSetting *settings, uint32_t setting_count, Verdict *verdict);
/* What these shapes decide on the program's way (ir/decide.h); false: it refuses them, or the walk is too
 * long. */
bool eval_timer_decide(Arena *arena, const EvalTimer *timer, const EvalOperand *operands,
                       uint64_t seed, IrDecisions **decisions, Diag *diag);
/* Some cores of these shapes with values (eval/sample.h). True: they ran; the sample holds what they wrote. */
struct EvalSample;
bool eval_timer_sample(Arena *arena, EvalTimer *timer, const EvalOperand *operands,
                       const struct EvalSample *sample);
const IrProgram *eval_timer_program(const EvalTimer *timer);

/* What each kernel takes of the time, in the order of their first launch. */
typedef struct EvalShare {
    const char *name;
    uint32_t launches, cores;
    double us;        /* of all its launches; the first one's has the program's own launch in it */
    const char *pipe; /* the busiest, and what part of that time it works */
    double busy;
} EvalShare;
typedef struct EvalShares {
    EvalShare *at;
    uint32_t len;
    double us;          /* of all */
    uint64_t workspace; /* bytes: those that are needed at one time share no place */
} EvalShares;
/* False: the timer goes through the text (config.straight), the shapes are refused, or there are too many
 * instructions. */
bool eval_timer_kernels(Arena *arena, EvalTimer *timer, const EvalOperand *operands,
                        EvalShares *kernels);

#endif
