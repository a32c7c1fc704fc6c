/* Inside make: a case, and what planning one gives. */
#ifndef LOOP_MAKE_INT_H
#define LOOP_MAKE_INT_H

#include "ir/host.h"
#include "loop/make.h"

typedef struct MakeCase {
    const char *name;
    TorchScale scale;
    uint64_t seed;
    uint32_t draw;        /* which of the odd-sized cases */
    int64_t tile_limit;   /* 0: the program as it is shipped */
    bool values;          /* the full size too is judged by its values */
    const TorchSet *sets; /* sizes of the file for this case alone */
    uint32_t n_sets;
} MakeCase;

/* What judging a case gave. */
typedef struct MakeAnswer {
    enum {
        MAKE_NONE,     /* not judged yet */
        MAKE_JUDGED,   /* the verdict says how */
        MAKE_LEFT_OUT, /* it is only timed, and its time depends on values; listed, and large */
        MAKE_LATER,    /* its program is the shipped one, which is still being tuned */
        MAKE_UNREAD    /* listed, and the file cannot be read with it: `said` says why */
    } end;
    Verdict verdict;
    bool planned, same; /* same: the shipped program was run */
    IrTurns turns;      /* ... and what these sizes decided in it */
    Diag said;          /* what is wrong with its text */
    Str trace;
} MakeAnswer;

typedef struct MakeJob {
    const MakeSpec *spec;
    TorchCases cases; /* listed beside the model file; the first is used */
    MakeResult *result;
    bool rounds; /* f16 and bf16 are rounded at every step */
    bool tunes;  /* the shipped program may still change */
} MakeJob;

/* Judges one case, in any process; changes nothing of the job (make_judge.c). */
void make_judge(Arena *arena, const MakeJob *job, const MakeCase *c, MakeAnswer *answer);
/* Writes and reads an answer that goes from one process to another (make_wire.c). */
void make_answer_put(const MakeAnswer *answer, Buf *out);
bool make_answer_take(Arena *arena, Str text, MakeAnswer *answer);
/* Of a case whose process gave none; died: how it ended, NULL: its answer cannot be read. */
void make_answer_lost(Arena *arena, const char *task, const char *kase, const char *died,
                      MakeAnswer *answer);

/* Which sizes the shipped program accepts (make_shipped.c). */
typedef struct MakeShipped {
    const IrProgram *ir;
    const Plan *plan; /* as it was planned, at the task's own sizes */
    const NpuChip *chip;
} MakeShipped;
bool make_shipped_read(Arena *arena, const MakeJob *job, MakeShipped *shipped);
/* Whether it takes the sizes of a plan made at other ones; `turns` (may be NULL) gets what they decide. */
bool make_shipped_takes(Arena *arena, const MakeShipped *shipped, const Plan *at, IrTurns *turns);
/* Whether the shipped program serves the task at other sizes, without planning it there. `at`
 * gets the shipped plan with the operands of that graph. False: it is another operator, or the
 * program refuses its sizes. */
bool make_shipped_serves(Arena *arena, const MakeJob *job, const MakeShipped *shipped,
                         const Graph *graph, Plan *at, IrTurns *turns);
/* Fills in which sizes the program fixes to the task's. */
void make_note_fixed(Arena *arena, const MakeJob *job);

/* Finds sizes at which branches are taken that no case has taken yet (make_branch.c). In: what
 * the judged cases decided. Out: at most MAKE_BRANCH_CASES cases, the task's own branches first. */
enum { MAKE_BRANCH_CASES = 8 };
uint32_t make_branch_cases(Arena *arena, const MakeJob *job, const IrTurns *seen, MakeCase *cases);
/* Which launches of the host function the cases took. */
void make_branches(Arena *arena, const MakeJob *job, const IrTurns *seen, MakeResult *result);
/* Elements of all values of a task. */
double make_elements(const Graph *graph);

/* Tunes the shipped program and judges all cases, in as many processes as the job may have
 * (make_all.c). */
void make_tune_and_judge(Arena *arena, MakeJob *job, Diag *diag);

/* Plans the task's graph, as the job rounds. */
bool make_plan(Arena *arena, const MakeJob *job, Graph *graph, int64_t tile_limit, Plan *plan,
               Diag *diag);

/* Under strict: races that the device compiler's own synchronisation orders are kept as findings, but
 * a case with right values and no others is ok. True: it is such a case. */
bool make_excuse(const MakeSpec *spec, Verdict *verdict);

TorchOptions make_options(const MakeJob *job, uint64_t seed);
EvalCraft make_candidate(Arena *arena, const Plan *plan);

/* Gives the shipped program a rule over the shape for its choices, fitted at sizes between small
 * and medium (make_tune.c). NULL: there is nothing to choose, or nothing to try it at. */
TuneWork *make_tune_open(Arena *arena, MakeJob *job);
void make_tune_end(Arena *arena, MakeJob *job, TuneWork *work);
/* Gives dims of the shipped program that are a stated size its range (make_range.c). */
bool make_limit(Arena *arena, MakeJob *job, Diag *diag);

/* "x f32[64,512], w f32[512]" (make_names.c) */
const char *make_inputs(Arena *arena, const Graph *graph);
/* Whether what was read holds for any values. False, with an error: it does not (make_drawn.c). */
bool make_holds(Arena *arena, const TorchTask *task, Diag *diag);

/* The text with a legend of the program's names that it speaks of (make_names.c). */
const char *make_names(Arena *arena, const Graph *graph, const Plan *plan, const char *text);

#endif
