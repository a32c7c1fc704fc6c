/* The operands of a task as an operator takes them: names, roles, attributes. In: a graph, with the
 * table of its file where that has one. Out: one name for each tensor, the same in every form that
 * is written or judged. */
#ifndef GRAPH_OPERAND_H
#define GRAPH_OPERAND_H

#include "graph/graph.h"

typedef enum GraphRole {
    OPERAND_IN,
    OPERAND_OPT,
    OPERAND_LIST,
    OPERAND_OUT,
    OPERAND_OUTS,
    OPERAND_MUT,
    OPERAND_ATTR
} GraphRole;

typedef enum GraphAttr {
    OPATTR_BOOL,
    OPATTR_INT,
    OPATTR_FLOAT,
    OPATTR_TEXT,
    OPATTR_INTS,
    OPATTR_FLOATS
} GraphAttr;

/* One row of the table in a model file's docstring (torch.h), and what the case in hand has for it. */
struct GraphOperand {
    GraphRole role;
    const char *name;
    VEC(DType) types; /* tensors: declared, one for each combination */
    /* tensors: which of graph->inputs or graph->outputs; attributes: how many numbers.
     * Count 0: an optional tensor that is None, an empty list, an attribute without value. */
    uint32_t first, count;
    GraphAttr attr;
    const int64_t *ints;  /* bool, int, ints */
    const double *floats; /* float, floats */
    const char *text;     /* text */
};

/* Names of the tensors, beside graph->inputs, params and outputs. Inputs are called as forward calls
 * them; "norm.weight" is weight, or norm_weight where another tensor ends so; results are those of
 * the table, else output0, output1, ... Every name is an identifier, and no two are the same but for
 * a result that is written over an input. */
typedef struct GraphNames {
    const char **inputs, **params, **outputs;
} GraphNames;

GraphNames graph_names(Arena *arena, const Graph *graph);
/* The row of the table whose tensors hold input (or output) number `index`; NULL: there is none. */
const GraphOperand *graph_operand_of(const Graph *graph, bool output, uint32_t index);

#endif
