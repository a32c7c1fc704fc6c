/* acraft make: from a model file to a checked kernel, offline.
 *
 *     plan at the task's own sizes ─▶ tune over sizes between small and medium ─▶ a rule
 *          ─▶ judge: small, odd sizes (values, hazards); full (time, bounds, coverage, hazards)
 *
 * Only what passes everywhere is called good. */
#ifndef LOOP_MAKE_H
#define LOOP_MAKE_H

#include "eval/eval.h"
#include "eval/time.h"
#include "gen/plan/plan.h"
#include "loop/make_sizes.h"
#include "loop/tune_rule.h"
#include "torch/torch.h"

typedef struct MakeSpec {
    const char *path; /* of the model file */
    Str source;
    const NpuChip *chip;
    uint64_t seed;
    uint32_t fuzz; /* how many odd-sized cases to draw */
    bool medium;   /* judge values at the medium size, too */
    bool full;     /* tune, and time the task's own size without values */
    bool
        branches; /* judge values at the task's own size, and at sizes that execute the branches left out */
    EvalEngine engine;
    DType float_type;          /* of tensors whose file names no dtype */
    bool hf32;                 /* convolutions of f32 round their factors, as torch_npu's do */
    MakeRanges ranges;         /* of the file's integers */
    const char *schedule_file; /* where `schedule` stands; NULL: the planner chooses */
    Str schedule;              /* what somebody wrote: built as it is, not tuned */
    bool plan_only;            /* neither tune nor judge */
    bool tune_only;            /* judge nothing */
    bool trust;
    bool strict;            /* only synchronisation that is written counts; see `inserted` */
    bool no_memo;           /* timing: execute every record, also those that only repeat */
    bool listed;            /* judge every listed case of up to a million elements */
    bool written_once;      /* each written form is judged at one of the sizes, in turn */
    uint32_t written_forms; /* bits by EvalForm: the written forms that are judged; 0: all */
    double written_own; /* written forms are judged at the task's own size up to so many elements */
    bool tiny;          /* ... shrunk: a quick look */
    int64_t only;       /* ... this one alone, whatever its size, counted from 1; 0: all */
    const char
        *one;      /* judge this case alone: "small", "fuzz3", "medium", "own", "full"; NULL: all */
    bool rounds;   /* f16 and bf16 are rounded at every step from the start */
    Buf *trace;    /* gets the small case as a picture; NULL: none */
    uint32_t jobs; /* processes that tune and judge; 0 and 1: this one. The result is the same */
    /* Called as each case ends, for progress; NULL: nobody. */
    void (*progress)(void *context, const Verdict *verdict, uint32_t done, uint32_t all);
    /* Likewise, as each written form is judged at one of the sizes. */
    void (*progress_written)(void *context, uint32_t done, uint32_t all);
    void *context;
} MakeSpec;

/* A launch of the shipped host function. */
typedef struct MakeBranch {
    uint32_t line;    /* of the Craft program */
    const char *text; /* "softmax_rows[min(n0, chip.cores)](x, y)" */
    bool own;         /* executed at the task's own sizes */
    bool ran;         /* a case with values took it */
} MakeBranch;

typedef struct MakeResult {
    TorchTask *task; /* at full size */
    Plan plan;       /* of the full size: what is shipped */
    Str untuned;     /* the program before that */
    VEC(Verdict) verdicts;
    uint32_t ok;
    uint32_t left_out;    /* listed cases of more than a million elements */
    uint32_t other_plans; /* cases whose sizes the shipped program does not take */
    VEC(MakeBranch) branches;
    const char *fixed; /* sizes that the program fixes: "x[planes, 1, 128, 128]"; "": none */
    const char *free;  /* what makes a program for other sizes: "--range H=64..64"; "": not known */
    Span free_at;      /* where the file says that size */
    bool rounds;       /* f16 and bf16 are rounded at every step: else values were wrong */
    uint32_t inserted; /* strict: cases with races that the device compiler orders, else ok */
    uint32_t small_tiles; /* cases judged with tiny tiles, so that all loops turn at odd sizes */
    TuneTable tuned;      /* no rows: not tuned */
    TuneRule rule;
    const char *rule_text; /* "tile = 2048 if n0 < 65536 else 8192"; "": no choices */
    const Verdict *timed;  /* of the largest case that was timed; NULL: none */
    EvalShares shares;     /* of its kernels at the task's own size, where there are several */
    double unfused_us;     /* predicted: one kernel for each operator, at full size */
    double eager_us;       /* measured, of PyTorch eager at full size; NaN: not known */
} MakeResult;

/* False: nothing good came out; the diagnostics and verdicts say why. */
bool make_kernel(Arena *arena, const MakeSpec *spec, MakeResult *result, Diag *diag);

/* Whether this machine lacks what judging needs: a compiler, our headers, a sandbox. */
bool make_lacks(const MakeResult *result);

/* Another text for a task that was made, judged at the small size: case "written". */
bool make_again(Arena *arena, const MakeSpec *spec, MakeResult *result, Str craft,
                Verdict *verdict);

/* Whether a plan of the task at other sizes is the same program. */
bool make_same(const MakeResult *result, const Plan *plan);

/* What the program's operands are in the task: "`x0` is x, `y0` is result 0.\n" */
const char *make_operand_names(Arena *arena, const Graph *graph, const Plan *plan);

/* What the program's sizes are in the task: "`n0` is axis 0 of x (2048), `n1` is axis 1 of x (3000)"; NULL: it
 * names none. */
const char *make_size_names(Arena *arena, const Graph *graph, const Plan *plan);

/* The task's own size without values as a picture (sim/trace.h), cut to the first instructions. Empty: what the
 * kernel does depends on values, or the run takes too long. */
Str make_full_trace(Arena *arena, const MakeSpec *spec, MakeResult *result);

/* For whoever wants to time a planned program: its operands as a candidate has them. */
const EvalOperand *make_operands(Arena *arena, const Plan *plan);

#endif
