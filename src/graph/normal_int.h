/* What the parts of the normal form share: normal.c builds and orders, normal_rewrite.c turns
 * spellings into one, normal_fixed.c finds values that are the same in every run. */
#ifndef GRAPH_NORMAL_INT_H
#define GRAPH_NORMAL_INT_H

#include "graph/graph.h"

#include "base/map.h"

typedef struct Normal {
    Arena *arena;
    const Graph *from;
    Graph *to;
    ValueId *map;             /* old value -> new value */
    VEC(uint64_t) hashes;     /* of new values, by structure */
    Map known;                /* text of a node or constant -> new value */
    const uint64_t *given;    /* hashes of inputs and parameters, by source index; NULL: by kind */
    Diag scratch;             /* rewriting never fails on a graph that was inferred */
    uint8_t *used;            /* old values that something reads */
    const void *const *fixed; /* old values that are constants in disguise: their elements */
} Normal;

/* The new value of a node or constant; equal ones are made once. */
ValueId normal_add(Normal *n, const NodeSpec *spec);
ValueId normal_const(Normal *n, const Value *value);

/* The new value of an old node, whose inputs are `in` now. `second`: set where an old node with
 * two outputs becomes one of one output. */
ValueId normal_rewrite(Normal *n, const Node *old, NodeSpec *spec, ValueId *in, ValueId *second);

/* By value id: elements of integer and bool values that rest on no input, parameter or random
 * number, where something else reads them (a mask kept as a buffer, or made on the way). NULL
 * for all others, and NULL altogether where there is none. */
const void *const *normal_fixed(Arena *arena, const Graph *graph);

#endif
