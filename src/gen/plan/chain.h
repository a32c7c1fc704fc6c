/* What no single kernel computes: several, one after the other, each planned alone; what they hand
 * on goes through workspaces.
 *
 *     nodes ─▶ stages: as many nodes from here on as one planner takes,
 *              two instead of one where they are predicted to be faster   chain.c
 *           ─▶ one program: the stages' kernels, launched in order        chain_join.c
 *
 * Reshapes are free: the next stage sees the same memory under another shape. Stages are planned
 * for the sizes of the task, so that a kernel is chosen for each once. */
#ifndef GEN_PLAN_CHAIN_H
#define GEN_PLAN_CHAIN_H

#include "gen/plan/plan.h"

enum { CHAIN_MAX_STAGES = 64 };

typedef struct ChainStage {
    Graph *graph;         /* the nodes of the stage alone */
    const ValueId *outer; /* per value of that graph: which one of the task it is */
    Plan plan;
    uint32_t from, to; /* nodes from..to-1 of the task */
} ChainStage;

typedef struct Chain {
    Arena *arena;
    const Graph *g;
    const NpuChip *chip;
    int64_t tile_limit;
    const char *name;
    Diag *diag;
    VEC(ChainStage) stages;
    uint32_t planned; /* stages that were tried, for their names */
    ValueId *root;    /* per value of the task: whose memory it is */
    bool fixed;       /* all sizes are those of the task */
    bool rounds;      /* f16 and bf16 are rounded at every step */
} Chain;

bool plan_chain(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                const char *name, Plan *plan, Diag *diag);

/* The stages' texts as one program. False: one of them has a form that is not understood. */
bool chain_join(Chain *c, Plan *plan);

#endif
