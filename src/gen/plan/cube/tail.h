/* What follows a product in its own kernel: any elementwise work, broadcasts and reductions of whole rows, as a
 * loop nest over the axes of the product's result.
 *
 *     graph ─tail_cut─▶ the product alone, and the rest, which takes the product's result as an input
 *           ─tail_read─▶ Tail: a nest, its rows and lanes those of a tile of L0C
 *           ─tail_put─▶ the vector role: tiles come through a channel and are computed with as in any other nest
 *
 * The result is seen as levels, the outermost first: [batch, m, n] of a product, [images, outputs, d, h, w] of a
 * convolution. Each level is one axis of the nest; level 1 are the rows, the last one the lanes. */
#ifndef GEN_PLAN_CUBE_TAIL_H
#define GEN_PLAN_CUBE_TAIL_H

#include "gen/plan/build/build_int.h"
#include "gen/plan/script.h"

enum { TAIL_LEVELS = 5, TAIL_ROWS = 1 };

typedef struct TailCut {
    Graph *product; /* one cube operator and the transpositions before it */
    Graph *rest;    /* everything else; values have the same numbers */
    ValueId result; /* the product's, an input of `rest`: f32, as the channel hands it over */
} TailCut;

/* False: the graph is something else than one product and what follows it. */
bool tail_cut(Arena *arena, const Graph *graph, TailCut *cut);

/* A copy that has some of the nodes; values keep their numbers. */
Graph *tail_copy_nodes(Arena *arena, const Graph *g, const bool *kept);

typedef struct TailLevels {
    uint32_t n;
    int64_t size[TAIL_LEVELS];
} TailLevels;

typedef struct Tail {
    Arena *arena;
    const NpuChip *chip;
    Nest *nest;
    Layout layout;
    Band band;
    uint32_t tensor;            /* of the nest: the product's result */
    uint32_t axis[TAIL_LEVELS]; /* 0: of size 1 */
    uint32_t lanes;             /* the last level */
} Tail;

/* `fixed`: all sizes are those of the task, but that of the first level. False: rows and lanes of the product are
 * not those of the rest. */
bool tail_read(Arena *arena, const TailCut *cut, const TailLevels *levels, const NpuChip *chip,
               bool fixed, Tail *tail);
/* Two levels have the same size, whatever it is. */
void tail_same(Tail *tail, uint32_t one, uint32_t other);
/* "n1" or a number. */
const char *tail_size(const Tail *tail, uint32_t level);
/* The name of the loop variable over a level that is not tiled. */
const char *tail_loop(const Tail *tail, uint32_t level);
bool tail_reduces(const Tail *tail); /* rows are reduced: a tile must hold whole rows */

/* Parameters of a kernel. */
typedef struct TailOperand {
    ValueId value;
    bool output;
    DType dtype;
    const char *name, *dims;
    Shape shape;
} TailOperand;
typedef VEC(TailOperand) TailOperands;
void tail_operands(const Tail *tail, TailOperands *out); /* adds those of the rest */
/* The host function has each tensor once. */
void tail_host(Script *s, const TailOperands *all);
/* Parameters of a kernel, or the arguments of its launch; `all` is what the host function has. */
void tail_parameters(const TailOperands *some, const TailOperands *all, bool typed, Buf *out);
/* Sizes that vary, as lines of the program's head. */
void tail_dims(const Tail *tail, Buf *out);
/* Refusals of the host function. */
void tail_bounds(const Tail *tail, Buf *out);

/* How tiles come to the vector role. */
typedef struct TailTiles {
    int64_t rows, lanes; /* of a tile in UB */
    bool whole;          /* a tile holds all lanes */
    const char *loop; /* over the tiles of L0C: "for c, t in cyclic(...):", and lines inside it */
    const char *receive; /* how one part of a tile comes, as lines */
    const char *inner;   /* a loop over a level that the part holds several of; NULL: none */
    uint32_t walked;     /* that level */
    const char *view;    /* of the product's result */
} TailTiles;
/* The declarations of all buffers, and the body of the vector role. False: it cannot be built. */
bool tail_put(Tail *tail, const TailTiles *tiles, int depth, Buf *buffers, Buf *body);

/* Every node that read `from`, the product's own value, reads `to`, the channel's. */
void tail_read_other(Graph *rest, ValueId from, ValueId to);

#endif
