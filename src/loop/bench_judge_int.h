/* Inside judging: one case made ready, and the time at full size. */
#ifndef LOOP_BENCH_JUDGE_INT_H
#define LOOP_BENCH_JUDGE_INT_H

#include "gen/plan/plan.h"
#include "loop/bench_judge.h"
#include "loop/unfused.h"

/* What is to be judged, in order (bench_case.c). */
typedef struct CaseSpec {
    const char *name;
    TorchScale scale;
    uint64_t seed;
    int64_t listed;       /* line of the suite's list; -1: the file's own inputs */
    const TorchSet *sets; /* sizes other than the file's */
    uint32_t n_sets;
    bool no_values;     /* time only */
    Strew strew;        /* what no draw contains, among the inputs */
    const Probe *probe; /* the law of the inputs; NULL: the task is probed for it */
    DType float_type;   /* of tensors whose file names no dtype */
} CaseSpec;
typedef VEC(CaseSpec) CaseSpecs;

void case_list(Arena *arena, const JudgeSpec *spec, const TorchCases *cases, CaseSpecs *list);
/* The task at the sizes of the case, without empty tensors; NULL with the reason in diag. */
TorchTask *case_read(Arena *arena, const JudgeTask *task, const CaseSpec *c,
                     const TorchCases *cases, TorchOptions *options, Diag *diag);
const char *case_shapes(Arena *arena, const Graph *graph);

/* A case with its inputs and its right answer, kept for the next candidate (bench_ready.c). */
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

/* Makes room: nobody asks for this case again. */
void case_forget(JudgeCache *cache, const CaseReady *ready);
/* What could be strewn among this task's inputs for the last candidate; NULL: none so far. */
const Strew *case_strew_known(const JudgeCache *cache, const JudgeTask *task);
void case_strew_keep(JudgeCache *cache, const JudgeTask *task, const Strew *strew);

/* A candidate while its cases are judged. */
typedef struct Judging {
    Arena *arena;
    const JudgeSpec *spec;
    const JudgeTask *task;
    const TorchCases *cases;
    JudgeCache *cache;
    Judged *judged;
    CaseSpecs done;              /* judged with values */
    VEC(struct TwinSeen *) seen; /* where the code went in each of them */
    bool whole_tried;            /* full size with values */
    bool
        full_seen; /* what it does at full size was seen with values, there or in a case that does the same */
    struct TwinKept *kept; /* by the launches of these cases */
    Strew strew;           /* unusual values of the case `again`; full size gets the same */
    Strew far;             /* of the case `far` */
    uint32_t places;       /* drawn so far */
    bool telling;          /* some case tells a right answer from a trivial one */
    Buf log;
} Judging;

/* Judges the values of one case (bench_judge.c). */
void judge_case(Judging *j, const CaseSpec *c);

/* The same once more, for the sizes at which the candidate's tiling function goes where it went in no case. */
void judge_scan(Judging *j, const CaseSpec *c, struct TwinScan *scan);

/* Right where values were compared, but not all that it does was seen with values. */
void judge_leave_unseen(Judging *j, const char *reason);

/* Adds the numbers that a text names to the n there are, and returns the new count
 * (bench_numbers.c). */
uint32_t text_numbers(Str text, double *numbers, uint32_t n, uint32_t most);

/* Judges the first case with inputs that nobody could foresee: their seed, and the numbers among
 * them, are drawn from the text itself, so that no text can hold the answers to it
 * (bench_again.c). */
void judge_again(Judging *j, const CaseSpec *first);
/* Judges the first case with numbers that the text or the task names and that are far from all
 * others. Beside such numbers small errors vanish, so they have a case of their own. There is
 * none where nothing is named, or the task does not take them. */
void judge_far(Judging *j, const CaseSpec *first);
/* Judges the first case with small numbers at the ends of one input, then of the next: where a result is the larger of
 * two, each of them decides it there once. */
void judge_edges(Judging *j, const CaseSpec *first);
/* Judges the first case with NaN and infinities among the inputs, where the task's result is
 * defined for them. */
void judge_special(Judging *j, const CaseSpec *first);
/* Judges the first case with numbers below 0 where an input has none, among others of its size: beside huge ones small
 * errors vanish. */
void judge_minus(Judging *j, const CaseSpec *first);
/* A case that was right once more, with what the case `again` had among its inputs, and with what `far` had, where the
 * task takes it. */
void judge_strewn(Judging *j, CaseSpec c);
/* A seed that the candidate's own text decides. */
uint64_t text_seed(const EvalCandidate *c, uint64_t seed);

/* The next place of tensors in GM: another one for each run of the candidate, and none that its text can foresee. */
uint64_t judge_place(Judging *j);

/* The bytes of inputs, parameters and outputs (bench_sizes.c). */
bool sizes_bytes(const Graph *graph, int64_t *bytes);
/* The bytes at the sizes that the case sets. False: there is no such task, or it is another
 * operator than at full size. */
bool sizes_with(const JudgeTask *task, const Graph *full, const CaseSpec *c, int64_t *bytes);
/* Sizes between. The task's sizes at full size shrunk, one after the other until all values fit into `bytes`: inner
 * axes stay as they are. Variants below the number of sizes begin with another size each; later ones shrink
 * it 1, 2, ... times only. False: it does not get so small, or there is no such variant. */
bool sizes_within(Arena *arena, const JudgeTask *task, const TorchTask *full, int64_t bytes,
                  uint32_t variant, CaseSpec *c);
uint32_t sizes_variants(const TorchTask *full);

/* A candidate that is not Craft, too large at full size for values (bench_follow.c). It is
 * followed there without them, and must go as in a case with values. False: that is not so; v
 * says why, and nothing where a case was wrong. */
bool follow_full(Judging *j, const TorchTask *full, const TorchOptions *options, int64_t bytes,
                 Verdict *v, Diag *said);

/* Judges the candidate at full size, the case "full" (bench_full.c). With values where they are
 * few enough. Else a Craft text is followed without them (ir/decide.h): what the sizes decide
 * there must have been decided so in one case with values, for which a larger one is judged
 * where needed, or no time is given. */
void judge_full(Judging *j);
/* Judges some blocks of the full size with values, where rows of the task stand alone
 * (bench_sample.c). `run` lets the candidate run on the sample's tensors; false: it cannot. */
struct EvalSample;
typedef bool SampleRun(void *context, struct EvalSample *sample);
void judge_sample(Judging *j, const TorchTask *full, SampleRun *run, void *context);
/* What a Craft text decides at the sizes of a case; NULL: it refuses them. */
struct EvalTimer;
struct IrDecisions;
struct EvalTimer *full_timer(Judging *j, const CaseSpec *c, Verdict *v);
struct IrDecisions *full_decisions(Judging *j, const struct EvalTimer *timer, const CaseSpec *c);
/* Judges indices over the range they have at full size, with little behind each
 * (bench_indices.c). */
void judge_indices(Judging *j, const CaseSpec *first);
/* Judges a Craft text at sizes where it decides what it decided in no case so far
 * (bench_reach.c). */
void judge_reach(Judging *j);
/* Judges other forms at sizes at which their code takes branches that no case has taken so far
 * (bench_reach_code.c). */
void judge_reach_code(Judging *j);
/* Asks for sizes, from those of the cases so far, at which the candidate's Python model decides
 * otherwise (bench_reach_model.c). */
typedef void WishSize(void *context, const TorchSet *base, uint32_t knob, int64_t value);
void reach_model(Judging *j, const TorchSet *const *bases, uint32_t n, uint32_t knobs,
                 const bool *fixed, WishSize *wish, void *context);
void time_plan(Arena *arena, const JudgeSpec *spec, const JudgeTask *task, Judged *judged,
               Buf *log);

/* The tolerance that NPUKernelBench's task asks for itself (bench_checker.c). In: the text
 * beside its module.py that prepares inputs, the dtype of the case. Out: the rule, and its
 * constant (0: the rule's own). A task without a checker of its own has the default one. */
CompareRule checker_rule(Str prepare_inputs, DType dtype, double *bound);

/* Makes a picture small enough to be kept with every attempt (bench_trace.c). Empty: no picture. */
Str judge_trace(Arena *arena, const Buf *picture);

/* bench_judge.c */
/* Whether the answers of all cases together are right, once they are there; `log` is taken. */
bool judge_sum_up(Arena *arena, Judged *judged, Buf *log);
void judge_add_case(Arena *arena, Judged *judged, const CaseSpec *c, const char *shapes,
                    const Verdict *verdict, const Diag *said, Buf *log);

#endif
