/* Inside the evaluation: a candidate that has been checked, and its operands as memory. */
#ifndef EVAL_EVAL_INT_H
#define EVAL_EVAL_INT_H

#include "eval/eval.h"

typedef struct EvalRun {
    Arena *arena;
    const EvalCraft *candidate;
    const EvalReference *ref;
    const EvalConfig *config;
    IrProgram *program;
    Tensor **operands; /* one per operand: a copy of an input, or an output to fill */
    Verdict *verdict;
    Diag *diag;
} EvalRun;

/* Each fills run->operands of the outputs; false: the verdict says why. */
bool eval_run_interp(EvalRun *run);
bool eval_run_twin(EvalRun *run);
const char *eval_first_error(const EvalRun *run);

#endif
