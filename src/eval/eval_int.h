/* Inside the evaluation: a candidate that has been checked, and its operands as memory. */
#ifndef EVAL_EVAL_INT_H
#define EVAL_EVAL_INT_H

#include "eval/eval.h"
#include "ir/host.h"
#include "twin/observe.h"

typedef struct EvalRun {
    Arena *arena;
    const EvalCraft *candidate;
    const EvalReference *ref;
    const EvalConfig *config;
    IrProgram *program;
    Tensor **operands;  /* one per operand: a copy of an input, or an output to fill */
    const double *need; /* bytes of each operand that must be read; NULL: any */
    const char *unread; /* with operands: which one was not read so far; NULL: none */
    Tensor **indices;   /* without operands: those that have values all the same; NULL: none */
    const struct EvalSample *sample; /* instead of operands (sample.h); NULL: none */
    Verdict *verdict;
    Diag *diag;
} EvalRun;

/* Whether the program executes the same instructions for all values. False: that is not known
 * (steady.c). */
bool eval_is_steady(const IrProgram *p);

/* Reads and proves the Craft program into run->program (craft.c). */
bool eval_read_craft(EvalRun *run);
/* The bytes of each operand that must be read. NULL: the shapes are not the graph's (twin.c). */
const double *eval_needed_bytes(Arena *arena, const Graph *graph, const EvalCraft *candidate);
/* The least time the chip could need for operands of these shapes (bound.c). */
double eval_bound_us(const EvalRun *run, const EvalOperand *operands);

/* A kernel that is lowered and compiled once and launched as often as wanted, with run->operands
 * or, where that is NULL, without data (twin.c). */
typedef struct EvalKernel {
    struct AscProgram *program;
    struct TwinKernel *kernel;
    Str text; /* what was compiled */
} EvalKernel;
bool eval_twin_open(EvalRun *run, EvalKernel *kernel);
void eval_twin_close(EvalKernel *kernel);
bool eval_twin_launch(EvalRun *run, const EvalKernel *kernel);
/* Some of its cores on run->sample. False: they do not run alone. */
bool eval_twin_sample(EvalRun *run, const EvalKernel *kernel);
/* Shapes and choices of the candidate, for its host function. */
IrHostInput eval_host_input(const EvalRun *run);
SimRole eval_role(const IrTensor *declared);

/* The time of a launch without data from records of the lowered program, without a compiler or
 * processes (straight.c). Open gives NULL where the configuration does not ask for it or values
 * may decide; launch false where there is more to say than a time: then go through the text. */
typedef struct EvalStraight EvalStraight;
EvalStraight *eval_straight_open(EvalRun *run);
void eval_straight_close(EvalStraight *straight);
bool eval_straight_launch(EvalRun *run, EvalStraight *straight);
struct EvalShares;
bool eval_straight_kernels(EvalRun *run, EvalStraight *straight, struct EvalShares *kernels);

/* The first observes what the configuration asks for; the second hands it over and frees it. */
TwinObserver eval_observer(const EvalConfig *config);
void eval_keep_observed(const EvalConfig *config, TwinObserver *observer);
/* Converts the costs of a kernel's lines (sim/cycle.h) to costs of the Craft lines they were
 * made from (costs.c). */
void eval_craft_costs(Arena *arena, Str kernel, const char *craft_file, Str costs, Buf *out);

/* Each fills run->operands of the outputs; false: the verdict says why. */
bool eval_run_interp(EvalRun *run);
bool eval_run_twin(EvalRun *run);
const char *eval_first_error(const EvalRun *run);

#endif
