/* A candidate becomes a verdict: always the same stages, each with its own failures.
 *
 *     reference: inputs from a seed, the right answer from the graph       (once per case)
 *     craft:     check ─▶ lower ─▶ AscendC text ─▶ twin: compile, run ─▶ compare
 *
 * The reference never comes near the candidate's processes: outputs are compared here, after
 * the run. */
#ifndef EVAL_EVAL_H
#define EVAL_EVAL_H

#include "graph/probe.h"
#include "graph/strew.h"
#include "ir/ir.h"
#include "npu/npu.h"
#include "torch/torch.h"
#include "verdict/verdict.h"

/* The model file a case was read from. A candidate with a Python model of its own is constructed
 * with this file's arguments; an operator takes its attributes from them. */
typedef struct EvalModel {
    const char *path;
    Str source;
    const TorchTask *task;
    TorchOptions options; /* as the graph was read, its sizes as sets */
} EvalModel;

/* One case: the inputs, and what is to come out. */
typedef struct EvalReference {
    const Graph *graph;
    TaskInputs in;
    Tensor **want;
    CompareSpec spec;
    double *noise; /* by output: what rounding in the task's own dtypes does to it, rms */
    Tensor **own;  /* the output in these dtypes, where single elements are off by far more; NULL */
    Tensor **others; /* 2 n outputs that errors before a rounding may make; NULL: none */
    bool steady;     /* all is finite, and near what the task's own dtypes give */
    bool
        special; /* NaN or infinities are among the inputs: a result may be NaN where the task's is not */
    Probe probe; /* the law the inputs follow, and which trivial answers the task lets pass */
    const EvalModel *model; /* NULL: the graph is all that is known */
} EvalReference;

/* Draws inputs that tell right answers from trivial ones, and evaluates the graph. */
bool eval_reference(Arena *arena, const Graph *graph, uint64_t seed, CompareRule rule,
                    EvalReference *ref, Diag *diag);
/* The same with other values strewn among the inputs (NULL: none), of a law that is known already (NULL: the task is
 * probed for it). False, too, where they are too much for the task: a result that is not finite, or that the
 * task's own dtypes do not give, or one that says which of equal numbers was taken. */
bool eval_reference_strewn(Arena *arena, const Graph *graph, uint64_t seed, CompareRule rule,
                           const InputLaw *law, const Strew *strew, EvalReference *ref, Diag *diag);
/* The answer of another graph to the same inputs. */
bool eval_reference_like(Arena *arena, const Graph *graph, const EvalReference *like,
                         EvalReference *ref, Diag *diag);
void eval_reference_free(EvalReference *ref);
/* The tolerance of one output. */
CompareSpec eval_spec(const EvalReference *ref, uint32_t output);
/* One output of the task, as somebody computed it (NULL: nobody did); errors and the first bad element go to the
 * verdict. `reshape`: the same elements under another shape are right. */
bool eval_compare(Arena *arena, const EvalReference *ref, uint32_t output, const Tensor *got,
                  bool reshape, Verdict *verdict);
/* Says which file the graph of `ref` was read from, and how. */
void eval_reference_model(Arena *arena, const char *path, Str source, const TorchTask *task,
                          const TorchOptions *options, EvalReference *ref);

/* What a parameter of the candidate's host function stands for. */
typedef struct EvalOperand {
    ValueId value;  /* of the graph */
    Shape shape;    /* as the candidate sees the same elements */
    bool updates;   /* the parameter is updated in place ... */
    ValueId result; /* ... and this is its value then */
} EvalOperand;

typedef struct EvalSetting {
    const char *name; /* of a choice or an attribute */
    double value;
} EvalSetting;

typedef struct EvalCraft {
    const char *file;
    Str text;
    const EvalOperand *operands; /* one per operand of the host function */
    uint32_t operand_count;
    const EvalSetting *settings;
    uint32_t setting_count;
} EvalCraft;

typedef enum EvalEngine {
    EVAL_TWIN,   /* AscendC text, compiled and run on the simulated chip */
    EVAL_INTERP, /* the reference interpreter of tile IR: what the program means */
} EvalEngine;

/* Makes an empty store of what is kept between cases (candidate.c). */
struct TwinKept *eval_kept_make(Arena *arena);
struct TwinSeen *eval_seen_make(Arena *arena);
/* Whether the code went nowhere in `full` where it did not go in `seen`. */
bool eval_seen_in(const struct TwinSeen *full, const struct TwinSeen *seen);
/* How much of where it went in `one` is in none of the others; what comparisons lack for another outcome
 * (twin/twin.h). */
uint32_t eval_seen_new(const struct TwinSeen *one, struct TwinSeen *const *seen, uint32_t n);
typedef struct EvalGap {
    uint64_t place;
    int64_t gap;
    bool constant, beyond;
} EvalGap;
typedef struct EvalRuns {
    struct TwinSeen *const *all;
    uint32_t count;
    struct TwinSeen *const *had;
    uint32_t had_count;
} EvalRuns;
uint32_t eval_seen_gaps(const struct TwinSeen *one, const EvalRuns *runs, EvalGap *gaps,
                        uint32_t most);

/* Sizes at which host code goes where it went in no run so far (twin/twin.h), each in the place of another one. */
typedef struct EvalSize {
    int64_t from, to;
} EvalSize;
struct TwinScan *eval_scan_make(Arena *arena, struct TwinSeen *const *seen, uint32_t n);
uint32_t eval_scan_sizes(const struct TwinScan *scan, EvalSize *sizes, uint32_t most);

typedef struct EvalConfig {
    const NpuChip *chip;
    EvalEngine engine;
    uint64_t seed;
    uint64_t place;     /* of addresses in GM; 0: fixed ones */
    uint64_t steps;     /* EVAL_INTERP: at most so many (ir/run.h); 0: its own limit */
    bool trust;         /* run without a full sandbox: the text is our own */
    bool deny_unproven; /* what is not proved is an error */
    bool no_proofs;     /* ablation: nothing is proved before the run */
    bool strict;        /* only synchronisation that is written counts */
    uint32_t blocks;    /* of a kernel file without host code; 0: every core of the chip */
    Str tiling;         /* of a kernel file without host code; empty: zeros */
    uint64_t nudge;     /* 0: none; else last bits vary within isa.def's accuracy */
    bool no_memo;       /* without values: execute every record, also those that only repeat */
    bool only_time;     /* races are not looked for: to compare what is judged later */
    const NameList
        *attrs; /* "eps=1e-6": attributes the user gives, before those of the task; NULL */
    /* Timing without values: records come straight from the lowered program where that gives the
     * same, without a compiler; for comparing candidates, not for judging. */
    bool straight;
    struct TwinKept
        *kept; /* what earlier cases' launches left in variables (twin/twin.h); NULL: none */
    struct TwinSeen
        *seen; /* gets where the candidate's code goes (twin/twin.h); NULL: nobody asks */
    struct TwinScan *scan; /* gets sizes at which host code goes elsewhere; NULL: nobody asks */
    /* Forms other than Craft: nothing is computed or compared. The reference has a graph and a model file
     * only; bounds, hazards, what is read and written, and the time are as with values. */
    bool no_values;
    /* With no_values: some blocks of its one launch run with values, on these tensors (eval/sample.h); NULL: none. */
    struct EvalSample *sample;
    bool inferred;    /* projects: their own inference must say what the results are */
    bool all_choices; /* Craft: another value of each choose() is run too, and must be as right */
    double seconds;   /* time limit of one launch; 0: 60 */
    Buf *trace;       /* EVAL_TWIN: gets the run as a picture (sim/trace.h); NULL: none */
    Buf *explain;     /* EVAL_TWIN: gets where the time of each launch goes; NULL: nobody asks */
    Buf *costs;       /* EVAL_TWIN: gets what every source line cost (sim/cycle.h); NULL: none */
} EvalConfig;

/* Fills the verdict; `diag` gets what the checker and the compilers say. True when it is ok. */
bool eval_craft(Arena *arena, const EvalCraft *candidate, const EvalReference *ref,
                const EvalConfig *config, Verdict *verdict, Diag *diag);

/* The parameters of a Craft file in the order of the task: inputs, parameters, outputs. False
 * with a diagnostic when they do not fit. */
bool eval_bind(Arena *arena, const IrProgram *p, const Graph *graph, EvalOperand **operands,
               Diag *diag);
/* Whether the program's operands, in this order, have the task's dtypes. */
bool eval_has_dtypes(const IrProgram *p, const Graph *graph);
/* Whether the host function takes the task's shapes. */
bool eval_takes(Arena *arena, const IrProgram *p, const Graph *graph, const NpuChip *chip);

#endif
