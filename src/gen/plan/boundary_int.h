/* Inside the boundary: the program's sizes and the axes of the task's tensors. */
#ifndef GEN_PLAN_BOUNDARY_INT_H
#define GEN_PLAN_BOUNDARY_INT_H

#include "gen/plan/boundary.h"
#include "graph/operand.h"
#include "ir/ir.h"

/* A size of the planned program, and the axes of the task whose product it is. */
typedef struct BoundSize {
    IrVarId var;
    int64_t value; /* at the task's own sizes; 0: not known */
    bool fixed;    /* it becomes that number */
    int parts;     /* 1: an axis of the task as it is; 0: none is known yet */
    int64_t part[GRAPH_MAX_RANK];
    const char *part_name[GRAPH_MAX_RANK];
} BoundSize;

typedef struct BoundFactor {
    BoundSize *size; /* NULL: `expr` is a number, or made of several sizes */
    IrExprId expr;
    int64_t value;
} BoundFactor;

/* An axis of a task's tensor: a number, a product of factors, or one of the axes that a size of the
 * program stands for. */
typedef struct BoundAxis {
    enum { AXIS_NUMBER, AXIS_PRODUCT, AXIS_PART } kind;
    int64_t number; /* its size at the task's own sizes */
    int factors;    /* of a product; a part has one */
    BoundFactor factor[GRAPH_MAX_RANK];
} BoundAxis;

/* A tensor of the task and the parameter of the planned program that it is. */
typedef struct BoundTensor {
    const char *name;
    ValueId value;
    bool output;
    Shape shape;          /* of the task; complex numbers have a last axis of 2 */
    const IrTensor *seen; /* as it was planned; NULL: no kernel reads it */
    uint32_t planned;     /* which operand of the plan */
    BoundAxis axis[GRAPH_MAX_RANK];
    const char *size_names[GRAPH_MAX_RANK]; /* of a tensor that no kernel reads */
    uint32_t updates;                       /* output: the tensor it replaces; UINT32_MAX: none */
    uint32_t replaced;   /* input: the output that replaces it; UINT32_MAX: none */
    const char *kept_as; /* ... and the workspace that kernels read it from; NULL: in place */
} BoundTensor;

typedef struct Boundary {
    Arena *arena;
    const Graph *graph;
    Plan *plan;
    const IrProgram *program;
    VEC(BoundTensor) tensors; /* in the order of the signature */
    BoundSize *sizes;         /* beside program->dims */
} Boundary;

/* Finds which axes of the task's tensors the program's sizes stand for (boundary_axes.c). */
void boundary_axes(Boundary *b);
/* Writes the program with this signature (boundary_text.c). */
Str boundary_text(Boundary *b);

#endif
