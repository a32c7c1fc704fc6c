/* Between the files of the elementwise strategy. */
#ifndef GEN_PLAN_ELEMENTWISE_INT_H
#define GEN_PLAN_ELEMENTWISE_INT_H

#include "gen/plan/elementwise.h"

/* A tensor of GM: which of its dimensions are larger than 1, and which of those are declared
 * apart from the next. */
typedef struct EachTensor {
    ValueId value;
    bool output;
    uint32_t jobs; /* how many use it */
    int kept[GRAPH_MAX_RANK], n_kept;
    bool apart[GRAPH_MAX_RANK];
    const char *name;
    Shape shape; /* as declared */
} EachTensor;

/* Axes of a job larger than 1, merged into groups: the loops. */
typedef struct EachAxes {
    int active[GRAPH_MAX_RANK], n_active;
    bool apart[GRAPH_MAX_RANK];
    int groups, first[GRAPH_MAX_RANK], group_of[GRAPH_MAX_RANK];
    int64_t size[GRAPH_MAX_RANK];
    const char *name[GRAPH_MAX_RANK];
} EachAxes;

typedef struct EachPlan {
    Each *e;
    const NpuChip *chip;
    EachAxes axes[EACH_MAX_JOBS];
    VEC(EachTensor) tensors; /* inputs in the order of the task, then outputs */
    int64_t tile;
    bool all_cores; /* whatever the sizes; else as many as are worth it */
    bool wide;      /* integers that need 64 bits: one after the other */
    int64_t row,
        pitch; /* elements of rows of which a tile has several, and between them; 0: it has one */
} EachPlan;

bool elementwise_axes(EachPlan *p);
void elementwise_rows(EachPlan *p); /* sets `row` (elementwise_rows.c) */
EachTensor *elementwise_tensor(const EachPlan *p, ValueId id, bool output);
EachUse elementwise_region(const EachPlan *p, const EachJob *job, uint32_t result);

/* What a value is on chip. */
typedef enum EachClass { EACH_F32, EACH_I32, EACH_MASK } EachClass;
EachClass elementwise_class(DType dtype);
/* The Craft expression of a node: $0 $1 $2 its operands in class *in, the result in class *out.
 * NULL: it has none. */
const char *elementwise_form(Arena *arena, const Graph *g, const Node *node, EachClass *in,
                             EachClass *out);
/* Statements of the kernel for job `number`; counts the buffers it needs. */
typedef struct EachBuffers {
    struct {
        char stem;
        DType dtype;
        int depth;
        bool busy;
        bool stored; /* what is loaded goes out as it is */
        const char *name;
    } at[256];
    uint32_t len;
    bool failed;
} EachBuffers;
void elementwise_body(EachPlan *p, uint32_t number, EachBuffers *buffers, Buf *out);
void elementwise_int64_body(EachPlan *p, uint32_t number, EachBuffers *buffers, Buf *out);
extern const char elementwise_int64_helpers[]; /* functions that such a program may call */

#endif
