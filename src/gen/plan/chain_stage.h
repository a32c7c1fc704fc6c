/* A planned stage, read back from its text: its sizes, and the branches through its host function. */
#ifndef GEN_PLAN_CHAIN_STAGE_H
#define GEN_PLAN_CHAIN_STAGE_H

#include "gen/plan/chain_sizes.h"
#include "gen/plan/chain_text.h"
#include "ir/host.h"

typedef struct StageDim {
    Str name;
    int64_t value, most;
    bool known; /* `is` says what it is in the task */
    SizeProduct is;
} StageDim;

/* Lines of the host function under one condition. */
typedef VEC(Str) StageLines;

typedef struct StageBranch {
    Str cond; /* "n1 <= 384"; empty: in all other cases */
    StageLines lines;
    bool taken; /* at the task's sizes */
} StageBranch;

typedef struct StageText {
    IrProgram *p;
    IrHostRun run;
    VEC(StageDim) dims;
    StageLines common; /* lines before the branches part */
    VEC(StageBranch) branches;
    Str signature; /* the parameters of the host function */
} StageText;

/* False: the text has a form that is not understood. */
bool stage_read(Arena *arena, const NpuChip *chip, const Plan *plan, StageText *t);
/* The declared axes of an operand: "n0, n1". */
Str stage_axes(Arena *arena, const StageText *t, const PlanOperand *o);
StageDim *stage_dim(StageText *t, Str name); /* NULL: none */
bool stage_uses(const StageText *t, Str kernel);
/* Kernels that wait for all cores are launched on all of them (chain_cores.c). */
void stage_on_all_cores(Arena *arena, Str craft, StageText *t);

#endif
