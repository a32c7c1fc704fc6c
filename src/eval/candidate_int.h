/* Inside the evaluation of candidates: the pieces all forms share. */
#ifndef EVAL_CANDIDATE_INT_H
#define EVAL_CANDIDATE_INT_H

#include "eval/candidate.h"
#include "twin/observe.h"

/* ---- form.c ---- */
const EvalText *eval_text_ending(const EvalCandidate *c, const char *suffix); /* NULL: none */
const EvalText *eval_text_with(const EvalCandidate *c, const char *mark);
void eval_text_add(Arena *arena, EvalCandidate *c, const char *path, Str text);
bool eval_is_source(const char *path); /* of C++ or AscendC, no header */
bool eval_is_craft(Str text);
bool eval_is_kernel(Str text);
bool eval_is_six_strings(Str text);

/* ---- answer.c: false with the reason, and whether the text breaks off ---- */
bool eval_read_six(Arena *arena, Str text, EvalCandidate *c, const char **reason, bool *cut);
bool eval_read_direct_json(Arena *arena, Str text, EvalCandidate *c, const char **reason,
                           bool *cut);

/* ---- include.c ---- */
/* The text with #include "..." of the candidate's own texts replaced by them, lines kept. */
Str eval_include(Arena *arena, const EvalCandidate *c, const EvalText *text);

/* The name in a line `#include "name"`; empty: no such line. */
Str eval_included_name(Str line);

/* ---- one judging ---- */
typedef struct EvalJudge {
    Arena *arena;
    const EvalCandidate *candidate;
    const EvalReference *ref; /* NULL: a program of its own, no task */
    const char *files;        /* the directory of such a program; NULL: it has none */
    const EvalConfig *config;
    TwinOptions twin;
    TwinObserver observer;
    Verdict *verdict;
    Diag *diag;
} EvalJudge;

EvalJudge eval_judge_make(Arena *arena, const EvalCandidate *candidate, const EvalReference *ref,
                          const EvalConfig *config, Verdict *verdict, Diag *diag);
/* False: the verdict says why. */
bool eval_judge_fail(EvalJudge *j, VerdictStatus status, VerdictStage stage, const char *reason);
/* Between two launches of one candidate: times are summed. */
/* ---- narrow.c ---- */
/* The value of an attribute: as the user gives it, else the task's number of this name. */
bool eval_attribute(const EvalJudge *j, const char *name, double *value);
/* While floats of the task are attributes of the candidate, j->ref computes with them as f32. */
typedef struct EvalNarrow {
    const EvalReference *own;
    EvalReference ref;
} EvalNarrow;
void eval_narrow(EvalJudge *j, const NameList *attrs, EvalNarrow *narrow);
void eval_narrow_end(EvalJudge *j, EvalNarrow *narrow);

void eval_launched(EvalJudge *j);

/* ---- operands.c ---- */
/* The task's tensors as the twin takes them: inputs, parameters, outputs to be written, under the
 * names of the task or its operand table. */
typedef struct EvalTensors {
    TwinTensor *at;
    uint32_t count;
    uint32_t *outputs; /* which tensor holds output i of the task */
    ValueId *values;   /* of the task, by tensor; VALUE_NONE: an output */
    NameList attrs;    /* "NAME=VALUE" */
    NameList in_place; /* outputs of an input's name: what is not written of them is that input's */
} EvalTensors;
bool eval_tensors(EvalJudge *j, EvalTensors *tensors);
/* NULL: there are no values. */
static inline const Tensor *eval_input(const EvalJudge *j, uint32_t i)
{
    return j->config->no_values ? NULL : j->ref->in.inputs[i];
}
static inline const Tensor *eval_param(const EvalJudge *j, uint32_t i)
{
    return j->config->no_values ? NULL : j->ref->in.params[i];
}
/* Without values: those that an input of integers has all the same; NULL: none. */
Tensor *eval_index_values(EvalJudge *j, ValueId value);
void eval_tensors_free(const EvalJudge *j, EvalTensors *tensors);
bool eval_tensors_compare(EvalJudge *j, const EvalTensors *tensors);
/* After a launch of these tensors: which of them was not read as far as the task needs it, in words; NULL:
 * none. */
const char *eval_unread(EvalJudge *j, const EvalTensors *tensors, const TwinTensor *launched,
                        uint32_t count);
/* A kernel's arguments by the operand table, in its order. False: there is none, or it does not fit. */
bool eval_operand_args(EvalJudge *j, const EvalTensors *tensors, const TwinParams *params,
                       TwinArg *args);

/* ---- compare.c ---- */
/* Without values: that it is of the right shape and dtype. */
bool eval_has_shape(EvalJudge *j, uint32_t output, const Tensor *got);

/* ---- moves.c ---- */
bool eval_task_moves(const Graph *task);  /* it moves elements and computes nothing */
bool eval_task_copies(const Graph *task); /* it gives its input back, as it lies */
/* Whether a cast to integers or bool changes no value. */
bool eval_cast_keeps(const Tensor *t, DType to);
/* Whether this part of a model only moves elements; its inputs and parameters as graph_eval takes
 * them. False with a verdict: PyTorch computes. */
bool eval_moves_only(EvalJudge *j, const Graph *graph, Tensor *const *inputs,
                     Tensor *const *params);

/* ---- one function for each form ---- */
bool eval_judge_kernel(EvalJudge *j);
bool eval_judge_project(EvalJudge *j);
/* False with a verdict: the operator's host side wants to see the elements themselves. */
bool eval_values_stay(EvalJudge *j, const TwinOp *op, const TwinTensor *tensors, uint32_t count);
bool eval_judge_model(EvalJudge *j);  /* a Python model around a binding */
bool eval_judge_direct(EvalJudge *j); /* host code of its own, no model */
/* An answer to NPUKernelBench against a clone of it: its binding and model are the task's. False:
 * the task is not of such a clone, nothing was judged. */
bool eval_judge_in_clone(EvalJudge *j, bool *ok);

#endif
