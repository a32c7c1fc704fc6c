/* The offline planner: a task's graph becomes a Craft program, with its reasons.
 *
 *     graph ─prim─▶ primitives over named axes ─space─▶ an ordered iteration space
 *           ─strategy─▶ Craft text
 *
 * A strategy says whether it takes a space and writes the program; the first that takes it is
 * used. What no strategy takes is refused, naming the operator. */
#ifndef GEN_PLAN_PLAN_H
#define GEN_PLAN_PLAN_H

#include "graph/graph.h"
#include "npu/npu.h"

enum { PLAN_MAX_AXES = 8, PLAN_MOST_NODES = 4096 };
#define PLAN_DIM_MOST INT64_C(1073741824) /* largest size of an axis */
#define PLAN_DIM_HUGE \
    INT64_C(1099511627776) /* largest size of the only range, or of one of a larger task */

/* An operand of the planned operator, in the order of the host function's parameters. */
typedef struct PlanOperand {
    ValueId value;
    bool output;
    const char *name; /* in the Craft text */
    DType dtype;
    Shape shape;    /* as the kernel sees the same elements */
    bool updates;   /* an input that a result of the task replaces in place */
    ValueId result; /* ... this one */
    uint32_t held;  /* bit a: the program computes with numbers that follow from its axis a */
} PlanOperand;

/* One stage of a chain. */
typedef struct PlanStage {
    const char *operators; /* "binary.mul, reduce.sum" */
    const char *strategy;
    const char *schedule; /* its text; NULL: a strategy wrote the program */
} PlanStage;

typedef struct Plan {
    const char *strategy;
    const char *reason;   /* of the strategy, one sentence; NULL: none */
    const char *schedule; /* its text (schedule/text.c); NULL: a strategy wrote the program */
    const char *name;     /* of the operator */
    Str craft;            /* the program */
    int64_t tile;         /* the default tile */
    VEC(PlanOperand) operands;
    VEC(PlanStage) stages; /* of a chain */
} Plan;

/* A note of a graph: what it computes in f16 or bf16 is rounded at every step, as the task does.
 * Without it only where something goes on in f32; the last rounding hides the others, but where
 * numbers cancel. */
extern const char plan_rounds[];
/* A note on a part of a task: what follows its results rounds them to whole numbers or compares them. */
extern const char plan_steps[];
/* A note on a part of a large task: its programs are chosen by analytic cost, none is timed. */
extern const char plan_untimed[];

/* "33.6 MB", for reasons. */
const char *plan_bytes(Arena *arena, double bytes);

/* `tile_limit`: most elements of a tile; 0: as many as fit. False with a diagnostic when the
 * task is out of reach. */
bool plan_make(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               Plan *plan, Diag *diag);
/* One kernel by the first strategy that has one, the loop nests' search left out: nothing is timed or compared. */
bool plan_first_strategy(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                         Plan *plan, Diag *diag);
/* The program of a schedule that somebody wrote; `file` names where, for diagnostics. */
bool plan_by_schedule(Arena *arena, const Graph *graph, const NpuChip *chip, const char *file,
                      Str text, Plan *plan, Diag *diag);

#endif
