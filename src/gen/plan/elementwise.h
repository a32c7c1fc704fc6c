/* Element-by-element work of any dtype, planned from the graph itself: integers, bools, masks,
 * casts, lists of tensors, parts of tensors read in place, results joined in place.
 *
 *     outputs ─▶ jobs: a region of an output, its value     elementwise_read.c
 *             ─▶ axes of each job, merged where all operands allow it
 *             ─▶ one loop per job in one kernel              elementwise.c */
#ifndef GEN_PLAN_ELEMENTWISE_H
#define GEN_PLAN_ELEMENTWISE_H

#include "gen/plan/plan.h"

enum { EACH_MAX_JOBS = 64, EACH_MAX_LEAVES = 64 };

/* Where a dimension of a value lies in the job: `axis` -1: it is one place, at `offset`. */
typedef struct EachDim {
    int axis;
    int64_t offset;
} EachDim;

/* A value of the graph as a job sees it. A tensor may be seen at several places, through views. */
typedef struct EachUse {
    ValueId value;
    uint32_t uses;
    int in[3];   /* a node's operands among the uses */
    Shape shape; /* of the value; a tensor may be seen under another than its own */
    int rank;
    EachDim dim[GRAPH_MAX_RANK];
} EachUse;

/* A group of outputs, or parts of outputs, of one shape: one loop nest. */
typedef struct EachJob {
    Shape shape;                /* of the region */
    bool apart[GRAPH_MAX_RANK]; /* axis i is not merged with axis i + 1 */
    VEC(EachUse) uses;          /* leaves and nodes, operands before users */
    VEC(ValueId) results;       /* what is stored */
    VEC(int) stored;            /* which of the uses that is */
    VEC(ValueId) outputs;       /* and where: outputs of the graph */
    VEC(int64_t) places;        /* offset of the region along `along` in the output */
    int along;                  /* -1: the whole output */
} EachJob;

typedef struct Each {
    Arena *arena;
    const Graph *g;
    Diag *diag;
    VEC(EachJob) jobs;
    VEC(ValueId) leaves; /* each once, in the order of the task */
    Shape *seen;         /* per value of the graph: the shape a tensor is seen under */
    bool fixed;          /* sizes are those of this task */
    bool rounds;         /* f16 and bf16 are rounded at every step, as the task does */
    uint32_t depth;
} Each;

/* False, silently or with a diagnostic, where something is not element by element. */
bool elementwise_read(Each *e);
bool plan_elementwise(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                      const char *name, Plan *plan, Diag *diag);
/* A simpler plan that always uses all cores: no branch on sizes, no cycle-model constants. */
bool plan_elementwise_plain(Arena *arena, const Graph *graph, const NpuChip *chip,
                            int64_t tile_limit, const char *name, Plan *plan, Diag *diag);

#endif
