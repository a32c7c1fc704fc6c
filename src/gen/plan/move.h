/* Moving elements without computing: one operator that says where each element of the result
 * comes from. Dimension by dimension:
 *
 *     source = wrap((m0 * o_i + m1 * o_k + add) // div)      o: indices of the result
 *
 * move_read.c takes the operator apart into that, move.c writes the kernel: rows copied in place,
 * rows gathered on chip (move_block.c: many at once), few lanes put side by side or taken apart (move_lanes.c), blocks transposed on
 * chip, or elements one by one. */
#ifndef GEN_PLAN_MOVE_H
#define GEN_PLAN_MOVE_H

#include "gen/plan/plan.h"

typedef enum MoveWrap {
    MOVE_INSIDE,  /* it never leaves the source */
    MOVE_AROUND,  /* modulo the size */
    MOVE_CLAMP,   /* the nearest element */
    MOVE_REFLECT, /* mirrored at the first and last element */
    MOVE_FILL     /* outside: a number */
} MoveWrap;

enum { MOVE_STEP = 128 }; /* most elements between two that are gathered */

typedef struct MoveDim {
    int64_t size; /* of the source */
    int n;        /* how many indices of the result it depends on */
    int from[2];
    int64_t mul[2], add, div;
    MoveWrap wrap;
} MoveDim;

typedef struct Move {
    const Graph *g;
    ValueId x, y;
    DType dtype;
    int rank, from_rank;
    int64_t size[GRAPH_MAX_RANK]; /* of the result */
    MoveDim dim[GRAPH_MAX_RANK];  /* of the source */
    double fill;
} Move;

/* False: the graph is not one such operator. Dimensions of size 1 are gone, neighbours that move
 * together are one. */
bool move_read(const Graph *graph, Move *m);
bool plan_move(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag);

#endif
