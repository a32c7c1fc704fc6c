/* What no single kernel computes: several, one after the other, each planned alone; what they hand
 * on goes through workspaces.
 *
 *     nodes ─▶ stages: runs of nodes, each taken by a planner        chain.c
 *              the runs that take the least time together            chain_cuts.c
 *           ─▶ one program: the stages' kernels, launched in order   chain_join.c
 *
 * Stages that compute the same share a plan (chain_memo.c) and, where their sizes have the same names, a
 * kernel, which is launched several times.
 *
 * Reshapes are free: the next stage sees the same memory under another shape. Stages are planned
 * for the sizes of the task, so that a kernel is chosen for each once. */
#ifndef GEN_PLAN_CHAIN_H
#define GEN_PLAN_CHAIN_H

#include "base/map.h"
#include "gen/plan/plan.h"

enum { CHAIN_MAX_STAGES = 1024, CHAIN_STAGE_NODES = 48 };

typedef struct ChainStage {
    Graph *graph;         /* the nodes of the stage alone */
    const ValueId *outer; /* per value of that graph: which one of the task it is */
    Plan plan;
    uint32_t from, to;      /* nodes from..to-1 of the task */
    uint32_t known;         /* its plan in the memo: the same for stages that compute the same */
    const char *planned_as; /* what its kernels' names begin with */
} ChainStage;

/* What has been tried: networks repeat their layers, and each is planned once. */
typedef struct ChainTry {
    const char *name; /* of the graph that was planned */
    Plan plan;        /* strategy NULL: no planner takes it */
    double us;        /* predicted, without the launch, which all stages share; 0: not timed yet */
} ChainTry;

typedef struct ChainMemo {
    Map tries; /* by what the graph computes */
    VEC(ChainTry) at;
    uint32_t planned; /* stages that a planner takes, for their names */
    double timed;     /* bytes of operands of the programs that were timed, at most */
} ChainMemo;

typedef struct Chain {
    Arena *arena;
    const Graph *g;
    const NpuChip *chip;
    const char *name;
    Diag *diag;
    ChainMemo *memo;
    VEC(ChainStage) stages;
    ValueId *root; /* per value of the task: whose memory it is */
    uint32_t
        small; /* so many nodes come first that make few elements: a cut behind them is looked at */
    bool fixed;  /* all sizes are those of the task */
    bool rounds; /* f16 and bf16 are rounded at every step */
} Chain;

/* Several kernels that are predicted to take less than `than` us; INFINITY: whatever they take. */
bool plan_chain(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                const char *name, double than, Plan *plan, Diag *diag);

/* What a graph computes, as text: the same for graphs that differ only in names and places of the file. */
Str chain_key(Arena *arena, const Graph *g);

/* The stages' texts as one program. False: one of them has a form that is not understood. */
bool chain_join(Chain *c, Plan *plan);

#endif
