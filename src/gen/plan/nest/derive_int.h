/* Inside the derivation of nests: a graph's value at an index becomes a value of the nest.
 *
 * Everything is pulled from the results: "element [i, j] of this value" asks for elements of what it is
 * made of. An operator that cuts or regroups a dimension can find that an axis has to be split, or that a
 * result has to be written in parts; it notes that, and the derivation starts again with it. */
#ifndef GEN_PLAN_NEST_DERIVE_INT_H
#define GEN_PLAN_NEST_DERIVE_INT_H

#include "gen/plan/nest/nest.h"

enum {
    DERIVE_FACTORS = 6,
    EXACT_INT = 1 << 24 /* f32 holds every integer up to it */
};

/* An element of a value: a place along each of its dimensions. */
typedef struct NestIndex {
    int rank;
    Affine dim[GRAPH_MAX_RANK];
} NestIndex;

/* All dimensions of size `whole` are walked by as many axes as there are factors. */
typedef struct NestSplit {
    int64_t whole;
    uint32_t n;
    int64_t factor[DERIVE_FACTORS];
} NestSplit;

/* A result is written in parts: part `part` of its dimension begins anew at `at`. */
typedef struct NestCut {
    uint32_t output, part;
    int dim;
    int64_t at;
} NestCut;

typedef struct NestDim {
    int64_t size;
    Affine index;
    uint64_t axes;
} NestDim;

typedef struct NestMemo {
    ValueId value;
    NestId mask;
    NestIndex index;
    NestId is;
} NestMemo;

/* Which part of which dimension of the present result an axis walks, from where on. */
typedef struct NestWalk {
    uint32_t axis, part;
    int dim;
    int64_t from;
} NestWalk;

typedef struct Derive {
    Arena *arena;
    const Graph *graph;
    Diag *diag;
    Nest *nest;
    NestKind kind;
    /* kept when it starts again */
    VEC(NestSplit) splits;
    VEC(NestCut) cuts;
    bool again;
    bool phased;    /* a transposed convolution was taken apart into phases */
    bool stretched; /* none is */
    /* of one try */
    VEC(NestDim) dims;
    VEC(NestMemo) memo;
    VEC(NestWalk) walks;
    uint32_t output; /* number of the present result */
    uint32_t depth;
    NestId mask; /* what is derived now is wanted only where it is true; 0: everywhere */
    bool rounds;
    const bool *decides; /* per value of the graph: its last bits may decide something */
    const Node *node;    /* whose result is derived now */
    const Node *stuck;   /* the one that was refused last */
} Derive;

bool derive_refuse(Derive *d, const Node *node, const char *why); /* always false */
/* Element `index` of the value. False: refused, or to be started again. */
bool derive_at(Derive *d, ValueId id, const NestIndex *index, NestId *out);
/* Derives element `index` of a node's first result, or of its second. */
bool derive_node(Derive *d, const Node *node, const NestIndex *index, bool second, NestId *out);
/* Which one of `n` elements of a dimension the index says; where it says several, the result is written in
 * parts. */
bool derive_one_of(Derive *d, const Node *node, const Affine *index, int64_t n, int64_t *which);
/* Always false: the present result is written in parts, of which one begins where the index reaches `border`; where that
 * cannot be, the node is refused. */
bool derive_cut(Derive *d, const Node *node, const Affine *index, int64_t border);
/* Operators that only move elements. *is_view false: it is none of them. */
bool derive_view(Derive *d, const Node *node, const NestIndex *index, NestId *out, bool *is_view);

/* Operators of general nests: windows, scans, elements picked by value. *taken false: it is none. */
/* A pool whose windows share no element and stay inside: affine nests hold it. */
bool derive_disjoint_pool(Derive *d, const Node *node, const NestIndex *index, NestId *out,
                          bool *taken);
bool derive_general(Derive *d, const Node *node, const NestIndex *index, NestId *out, bool *taken);
/* Pools and pads of nests that hold windows (derive_window.c). */
bool derive_window(Derive *d, const Node *node, const NestIndex *index, NestId *out, bool *taken);
/* Which elements windows need, and loads that lie inside those of windows. */
void derive_halos(Nest *nest);
bool derive_resample(Derive *d, const Node *node, const NestIndex *index, NestId *out);
/* Products: matrices, einsum, convolutions. */
bool derive_product(Derive *d, const Node *node, const NestIndex *index, NestId *out);
/* Index writes. */
bool derive_write(Derive *d, const Node *node, const NestIndex *index, NestId *out);
/* The value with the axis replaced by a value. False: it is compared with bounds, or scanned. */
bool derive_replace_axis(Derive *d, NestId in, uint32_t axis, NestId place, NestId *out);
/* A result under a condition: `inside` of the affine functions, of what lies there, else `fill`. */
typedef struct NestBound {
    Affine index;
    int64_t size;
} NestBound;
NestId derive_inside(Derive *d, uint32_t n, const NestBound *bounds); /* the mask; 0: always */
bool derive_bounded(Derive *d, ValueId id, const NestIndex *index, uint32_t n,
                    const NestBound *bounds, double fill, NestId *out);

/* An integer all of whose elements f32 holds, by the bounds that the file gives. */
bool derive_is_exact(const Graph *graph, ValueId id);
/* An integer of 8 or 16 bits that was computed and may have lost its upper bits. */
bool derive_may_wrap(const Graph *graph, ValueId id);
/* Operators on booleans, and what tests numbers. *taken false: it is none of them. */
bool derive_logic(Derive *d, const Node *node, const NestIndex *index, NestId *out, bool *taken);
bool derive_is_not(const Graph *graph, const Node *node); /* the opposite of a boolean */
/* A value as a mask; a mask as 1 and 0. */
NestId derive_mask(Nest *nest, NestId v);
NestId derive_number(Nest *nest, NestId v);

/* A dimension of that size none of whose axes is among `avoid`: one that is there, or a new one. */
const NestDim *derive_dim(Derive *d, int64_t size, uint64_t avoid);
uint64_t derive_axes(const NestIndex *index); /* bits of all axes in it */
/* index = by * *times + *rest, 0 <= *rest < by. False: refused, or to be started again. */
bool derive_divide(Derive *d, const Node *node, const Affine *index, int64_t by, Affine *times,
                   Affine *rest);
/* The place in row-major order; and the places along the dimensions of a shape. */
bool derive_flatten(const NestIndex *index, Shape shape, Affine *flat);
bool derive_unflatten(Derive *d, const Node *node, Affine flat, Shape shape, NestIndex *index);
/* The operand's index where the result's is `index`: lined up from the right, dimensions of size 1
 * stay at 0. */
NestIndex derive_broadcast(const NestIndex *index, Shape shape);

/* Building values; equal ones are one. */
NestId nest_number(Nest *nest, double number);
NestId nest_count(Nest *nest, uint64_t over);
NestId nest_map(Nest *nest, const char *form, bool mask, uint32_t n, const NestId *args);
NestId nest_map1(Nest *nest, const char *form, NestId a);
NestId nest_map2(Nest *nest, const char *form, NestId a, NestId b);
NestId nest_reduce(Nest *nest, PrimReduce reduce, NestId of, uint64_t over);
/* The sum of what has a factor exp(-follows). */
NestId nest_reduce_following(Nest *nest, NestId of, uint64_t over, NestId follows);
/* The sum of a * b over axes that both have. */
NestId nest_product(Nest *nest, NestId a, NestId b, uint64_t over);
NestId nest_load(Nest *nest, ValueId value, const Affine *index);
NestId nest_load_masked(Nest *nest, ValueId value, const Affine *index, NestId mask);
/* bound: places are below it. */
NestId nest_pick(Nest *nest, ValueId value, const Affine *index, NestId at, int64_t by,
                 int64_t bound, NestId mask);
NestId nest_inside(Nest *nest, const Affine *index, int64_t bound);
NestId nest_scan(Nest *nest, PrimReduce reduce, NestId of, uint32_t axis, bool reverse);
/* `axis`: of what it is over. */
NestId nest_window(Nest *nest, PrimReduce reduce, NestId of, uint32_t axis,
                   const NestWindow *window, double fill);
NestId nest_place(Nest *nest, const Affine *index); /* the index itself, as f32 */

#endif
