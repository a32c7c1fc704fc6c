/* Attention in one kernel: softmax(scores) v, where scores are anything elementwise of q k^T.
 *
 *     graph ─attention_read─▶ Attention: one nest of everything but the two products
 *           ─plan_attention─▶ Craft text: the cube multiplies, the vector role keeps the largest score and the sum so far
 *
 * It is known by its structure: a product, what is computed of each of its elements (scales, masks, biases), a softmax of its
 * rows, a product. Operands and results may be any views (heads inside a wider tensor, keys as they lie, groups of heads that
 * share keys): their accesses are those of the nest.
 *
 *     axes    batch ...   queries   keys   depth   width
 *     q           x          x               x            loaded by the cube
 *     k           x                  x       x
 *     v           x                  x              x
 *     scores      x          x       x                    handed to the vector role
 *     result      x          x                      x     the same */
#ifndef GEN_PLAN_CUBE_ATTENTION_H
#define GEN_PLAN_CUBE_ATTENTION_H

#include "gen/plan/cube/tail.h"

/* What an axis of the nest is. */
typedef enum AttentionAxis {
    ATTENTION_NONE,
    ATTENTION_BATCH,
    ATTENTION_QUERIES,
    ATTENTION_KEYS,
    ATTENTION_DEPTH, /* of queries and keys */
    ATTENTION_WIDTH, /* of values */
    ATTENTION_AXES
} AttentionAxis;

typedef struct Attention {
    Arena *arena;
    const NpuChip *chip;
    Nest *nest; /* its stores are the results */
    Layout layout;
    AttentionAxis is[NEST_MAX_AXES];
    uint32_t axis[ATTENTION_AXES]; /* the one that is queries, keys, depth, width */
    int64_t size[ATTENTION_AXES];  /* of BATCH: of all of them */
    uint32_t product, sums;        /* tensors that the cube hands over: q k^T; weights times v */
    NestId scores;                 /* what softmax is taken of */
    NestId q, k, v;                /* loads */
    DType dtype;                   /* of q, k and v */
    DType product_dtype;           /* what q k^T is rounded to */
    bool causal;                   /* keys behind `query + ahead` have no weight */
    int64_t ahead;
} Attention;

/* False: the graph is something else. */
bool attention_read(Arena *arena, const Graph *graph, const NpuChip *chip, Attention *a);

/* Keys behind `query + ahead` have no weight. */
bool attention_causal(const Graph *graph, ValueId scores, int64_t *ahead);

/* Where one kernel is likely to be faster than several: a causal mask, or scores that L2 does not hold. */
bool plan_attention(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                    const char *name, Plan *plan, Diag *diag);

#endif
