/* The planner's own view of a task: primitive steps over named axes.
 *
 *     x f32[8, 64] ──▶ leaf over axes {A, B}
 *     softmax(x, 1) ─▶ m = reduce max over B;  e = map exp($0 - $1);  s = reduce sum over B;
 *                      y = map $0 / $1
 *
 * Every dimension of every tensor belongs to an axis; operators that line dimensions up make
 * them the same axis. So broadcasting, kept and reduced dimensions are all the same question:
 * which axes does a value vary along. Composite operators are taken apart here, once; the
 * strategies see only leaves, numbers, maps and reductions. */
#ifndef GEN_PLAN_PRIM_H
#define GEN_PLAN_PRIM_H

#include "graph/graph.h"

typedef uint32_t PrimId; /* 0: none */
typedef uint32_t AxisId; /* 0: a dimension of size 1 */

typedef enum PrimOp {
    PRIM_LEAF,   /* a tensor in GM */
    PRIM_NUMBER, /* a constant */
    PRIM_COUNT,  /* number of elements along `axes`, as f32 */
    PRIM_MAP,    /* element by element: `form` with its operands */
    PRIM_REDUCE, /* over `over` */
    PRIM_PICK,   /* one element of leaf arg[0] along `over`, at the position arg[1] says */
    PRIM_SCAN,   /* `reduce` of the elements so far along `over` */
    PRIM_FLIP,   /* reversed along `over`; only to meet a scan or another flip */
} PrimOp;

typedef enum PrimReduce {
    PRIM_SUM,
    PRIM_MAX,
    PRIM_MIN,
    PRIM_PROD,
    PRIM_LOGSUMEXP /* SCAN only */
} PrimReduce;

typedef struct Prim {
    PrimOp op;
    const char *form; /* MAP: Craft text with $0 $1 $2 */
    bool mask;        /* MAP: gives a mask */
    PrimReduce reduce;
    bool exclusive, reverse; /* SCAN: without the element itself; from the end */
    uint32_t n_arg;
    PrimId arg[3];
    uint64_t axes; /* bit i: varies along axis i (after prim_axes_fix) */
    uint64_t over; /* REDUCE, COUNT: axes taken */
    double number;
    ValueId value; /* LEAF */
    DType dtype;   /* LEAF: in memory */
    uint32_t uses;
    bool shared; /* several operators of the graph read it, or it is a result */
} Prim;

/* A value of the graph: its primitive, and the axis of each of its dimensions. */
typedef struct PrimValue {
    PrimId prim;
    int rank;
    AxisId dim[GRAPH_MAX_RANK];
} PrimValue;

typedef struct PrimAxis {
    AxisId same; /* itself, or the axis it was found to be */
    int64_t size;
} PrimAxis;

typedef struct PrimOutput {
    ValueId value;
    PrimValue is;
} PrimOutput;

typedef struct PrimGraph {
    Arena *arena;
    const Graph *graph;
    Diag *diag;
    VEC(Prim) prims;       /* [0] unused */
    VEC(PrimAxis) axes;    /* [0] unused */
    PrimValue *values;     /* per graph value; prim 0: not made yet */
    VEC(PrimValue) leaves; /* in order of first use */
    VEC(PrimOutput) outputs;
    uint32_t depth; /* how deep operators are taken apart, against deep graphs */
    bool rounds;    /* what is computed in f16 or bf16 is rounded to it at once */
    bool smooth;    /* no operator jumps, none of them is rounded: factors may be put together */
} PrimGraph;

/* Whether something computed in f16 or bf16 goes on in f32: then each of its steps is rounded where
 * the task rounds it. Otherwise the last rounding hides the others. */
bool prim_widens(const Graph *graph);
/* "cast(cast($0, f16), f32)" where the node is computed, of such a dtype and read by another; a
 * result is rounded when it is stored. Else NULL. */
const char *prim_rounding(const Graph *graph, const Node *node);

/* Takes the graph apart. NULL, with a diagnostic that names the operator, when it holds one
 * that is not understood here. */
PrimGraph *prim_graph(Arena *arena, const Graph *graph, Diag *diag);
AxisId prim_axis(PrimGraph *g, AxisId axis); /* what it is the same as */
/* Is it a product with a number? Of what, and the number. */
bool prim_factor(const PrimGraph *g, PrimId id, PrimId *of, double *by);

/* The node rounds to whole numbers or compares: a last bit of what it reads may become a whole step. */
bool prim_node_steps(const Graph *graph, const Node *node);
bool prim_steps_follow(const Graph *graph); /* such nodes come after this part of a task */

#endif
