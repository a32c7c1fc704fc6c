/* Sizes of a chain that may vary. Every dimension of every value belongs to a class; operators that
 * line dimensions up put them into one. A class whose size some operator or stage has as a number is
 * fixed to it; the others are sizes of the program, read from its inputs.
 *
 *     x [8, 64] ─ softmax ─▶ [8, 64] ─ x 2 ─▶ slice [:, :32]        {8} is free, {64} is fixed */
#ifndef GEN_PLAN_CHAIN_SIZES_H
#define GEN_PLAN_CHAIN_SIZES_H

#include "gen/plan/chain.h"

typedef struct SizeClass {
    uint32_t same; /* itself, or the class it was found to be */
    int64_t size, most;
    bool fixed;
    const char *name; /* in the program; NULL: not used yet */
} SizeClass;

typedef struct ChainSizes {
    Arena *arena;
    const Graph *g;
    SizeClass *classes; /* GRAPH_MAX_RANK for each value */
    uint32_t named;
} ChainSizes;

/* A number times classes. */
typedef struct SizeProduct {
    int64_t number;
    uint32_t n;
    uint32_t of[GRAPH_MAX_RANK];
} SizeProduct;

ChainSizes *chain_sizes(Arena *arena, const Graph *g);
void sizes_fix(ChainSizes *s, ValueId value);
/* Which axes of inputs and parameters the held axes of the graph are (Value.held_axes), by value: all
 * of them where one is no axis of an input. */
void sizes_held(Arena *arena, const Graph *g, uint32_t *held);
void sizes_fix_all(ChainSizes *s);
void sizes_fix_product(ChainSizes *s, const SizeProduct *p);
/* Classes of which no input of forward has a dimension are fixed. */
void sizes_fix_unread(ChainSizes *s);
SizeProduct sizes_dim(ChainSizes *s, ValueId value, int dim);
/* The axes of an operand, which sees the value's dimensions merged. False: it sees them otherwise. */
bool sizes_axes(ChainSizes *s, ValueId value, Shape seen, SizeProduct *axes);
/* The product as it is now that more is known. */
SizeProduct sizes_now(ChainSizes *s, const SizeProduct *p);
bool sizes_same(const SizeProduct *a, const SizeProduct *b);
/* Two sizes that a stage has as one. */
void sizes_unite(ChainSizes *s, const SizeProduct *a, const SizeProduct *b);
/* No factor is larger. */
void sizes_limit(ChainSizes *s, const SizeProduct *p, int64_t most);

#endif
