/* Inside judging: one case made ready, and the time at full size. */
#ifndef LOOP_BENCH_JUDGE_INT_H
#define LOOP_BENCH_JUDGE_INT_H

#include "gen/plan/plan.h"
#include "loop/bench_judge.h"
#include "loop/unfused.h"

/* bench_case.c: what is to be judged, in order. */
typedef struct CaseSpec {
    const char *name;
    TorchScale scale;
    uint64_t seed;
    int64_t listed; /* line of the suite's list; -1: the file's own inputs */
} CaseSpec;
typedef VEC(CaseSpec) CaseSpecs;

void case_list(Arena *arena, const JudgeSpec *spec, const TorchCases *cases, CaseSpecs *list);
/* The task at the sizes of the case, without empty tensors; NULL with the reason in diag. */
TorchTask *case_read(Arena *arena, const JudgeTask *task, const CaseSpec *c,
                     const TorchCases *cases, TorchOptions *options, Diag *diag);
const char *case_shapes(Arena *arena, const Graph *graph);

/* bench_ready.c: a case with its inputs and its right answer, kept for the next candidate. */
typedef struct CaseReady {
    Arena arena; /* of all that follows */
    const char *key;
    TorchTask *task; /* NULL: `failed` says why there is none */
    TorchOptions options;
    TorchCases cases;
    EvalReference ref;
    const char *shapes;
    VerdictStatus status; /* not ok: the case cannot be judged, for this reason */
    const char *failed;
    int64_t bytes; /* of its tensors */
    uint64_t used; /* when, by the cache's count */
} CaseReady;

/* Stays valid until the next call. */
const CaseReady *case_ready(JudgeCache *cache, const JudgeSpec *spec, const JudgeTask *task,
                            const CaseSpec *c);

/* bench_time.c: adds the case "full" and fills the times; nothing when the form cannot be timed. No
 * time is given to a way through the program that none of the cases judged has gone. */
void time_candidate(Arena *arena, const JudgeSpec *spec, const JudgeTask *task,
                    const TorchCases *cases, const CaseSpecs *list, Judged *judged, Buf *log);
void time_plan(Arena *arena, const JudgeSpec *spec, const JudgeTask *task, Judged *judged,
               Buf *log);

/* bench_checker.c: the tolerance that NPUKernelBench's task asks for itself. In: the text beside its
 * module.py that prepares inputs, the dtype of the case. Out: the rule, and its constant (0: the
 * rule's own). A task without a checker of its own has the default one. */
CompareRule checker_rule(Str prepare_inputs, DType dtype, double *bound);

/* bench_trace.c: a picture made small enough to be kept with every attempt. Empty: no picture. */
Str judge_trace(Arena *arena, const Buf *picture);

/* bench_judge.c */
void judge_add_case(Arena *arena, Judged *judged, const CaseSpec *c, const char *shapes,
                    const Verdict *verdict, const Diag *said, Buf *log);

#endif
