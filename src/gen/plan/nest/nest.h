/* A task as loop nests: values over named axes, tensors read and written through affine accesses.
 *
 *     y = softmax(x[:, 64:128])       axes a (rows), b (64)
 *       v1 = load x [128 a + b + 64]
 *       v2 = reduce max over b  v1
 *       v3 = map exp($0 - $1)   v1 v2
 *       v4 = reduce sum over b  v3
 *       v5 = map $0 / $1        v3 v4
 *       store y [64 a + b] = v5
 *
 * A slice, flip, permutation, broadcast, reshape, repetition or join is no operator here: it is part of
 * how a tensor is accessed. A reshape splits an axis; a join writes its result in several parts. Every
 * value is a function of the axes it varies along and of nothing else, so the axes of a reduction are
 * bound names: they may be axes that other values use. */
#ifndef GEN_PLAN_NEST_NEST_H
#define GEN_PLAN_NEST_NEST_H

#include "gen/plan/nest/affine.h"
#include "gen/plan/prim.h"

typedef uint32_t NestId; /* 0: none */

enum { NEST_MAX_AXES = 48, NEST_ARGS = 3 };

typedef enum NestOp {
    NEST_NUMBER, /* number */
    NEST_COUNT,  /* how many elements the axes of `over` have, as f32 */
    NEST_LOAD, /* the element of `tensor` at `index`, as f32; 0 where the argument, a mask, is false */
    NEST_PLACE,  /* where the one axis of `axes` stands, as f32 */
    NEST_MAP,    /* `form` of the arguments */
    NEST_REDUCE, /* `reduce` of the argument over the axes of `over` */
    NEST_MERGE,  /* `reduce` of what all cores have at `index` of the workspace `tensor` */
    NEST_SCAN,   /* `reduce` of the argument so far along the one axis of `over`, or from the end */
    NEST_WINDOW, /* `reduce` of the elements of the argument under `window`, along the one axis of `over` */
    /* of general nests only */
    NEST_INSIDE, /* a mask: 0 <= index < bound */
    NEST_PICK, /* the element of `tensor` at index + by * the first argument, a whole number; a second
                    argument is a mask as a load has it */
    NEST_PRODUCT, /* matrix products only: the sum of both arguments' products over the axes of `over`, which both have */
} NestOp;

/* What a nest may hold. */
typedef enum NestKind {
    NEST_AFFINE,   /* every access is affine and stays inside its tensor */
    NEST_WINDOWED, /* as above, and windows over values: pools, pads */
    NEST_GENERAL,  /* also accesses under a mask, and picked by value */
    NEST_PRODUCTS  /* also products of large matrices and convolutions */
} NestKind;

/* What a window reads outside: the value's `number`, the nearest element, what is as far inside. */
typedef enum NestEdge { NEST_FILL, NEST_CLAMP, NEST_REFLECT } NestEdge;

/* Element a of axis `to` reads elements by * a + at + step * k of the argument, k below count. */
typedef struct NestWindow {
    uint32_t to;
    NestEdge edge;
    int64_t by, at, step, count;
} NestWindow;

typedef struct NestValue {
    NestOp op;
    const char *form; /* MAP: Craft text with $0 $1 $2 */
    bool mask;        /* MAP: gives a mask */
    PrimReduce reduce;
    uint32_t n_arg;
    NestId arg[NEST_ARGS];
    NestId
        follows; /* REDUCE, a sum: its argument has a factor exp(-this), the largest over the same axes,
                       so that what was summed so far moves to a larger one by a factor; 0: nothing */
    uint64_t axes; /* bit i: varies along axis i */
    uint64_t over;
    double number;
    NestWindow window;
    uint32_t tensor;
    Affine index;  /* LOAD, MERGE, PICK: in elements; INSIDE */
    int64_t bound; /* INSIDE; PICK: places are below it */
    int64_t by;    /* PICK */
    bool reverse;  /* SCAN */
    uint32_t uses;
} NestValue;

enum { NEST_DIGITS = 6 };

/* Several axes that are walked as one, the outermost first. */
typedef struct NestFold {
    uint32_t n;
    uint32_t axis[NEST_DIGITS];
} NestFold;

/* An axis that windows read: element a of axis `root` needs its elements scale * a + low to scale * a + high. */
typedef struct NestHalo {
    uint32_t root;  /* 0: it is none; never itself such an axis */
    uint32_t level; /* windows between the two */
    int64_t scale, low, high;
} NestHalo;

typedef struct NestAxis {
    int64_t size;
    int64_t whole; /* size of the dimension that it is part of */
    uint32_t part; /* which part of it, the outermost first */
    NestFold fold; /* the axes that it stands for; n is 0: itself alone */
    NestHalo halo;
} NestAxis;

/* A tensor in GM. Every core has a row of its own in a workspace; what the cores merged part by part is there
 * once, for all of them. */
typedef enum NestRole { NEST_INPUT, NEST_OUTPUT, NEST_WORKSPACE, NEST_MERGED } NestRole;

typedef struct NestTensor {
    ValueId value; /* none: a workspace */
    NestRole role;
    DType dtype;
    int64_t count; /* elements; of a workspace: for each core */
} NestTensor;

typedef struct NestStore {
    uint32_t tensor;
    Affine index;
    NestId value;
    uint32_t split; /* the axis whose parts the cores reduce each for itself; 0: none */
    uint32_t phase; /* phases follow each other, and all cores wait for each other in between */
} NestStore;

typedef struct Nest {
    Arena *arena;
    const Graph *graph;
    VEC(NestAxis) axes;      /* [0] unused */
    VEC(NestValue) values;   /* [0] unused; arguments stand before those that use them */
    VEC(NestTensor) tensors; /* inputs in order of first use, then outputs, then workspaces */
    VEC(NestStore) stores;
} Nest;

/* The nests of a graph. NULL, with a diagnostic, when an operator of it is not understood here or needs
 * what it reads in memory. */
Nest *nest_derive(Arena *arena, const Graph *graph, Diag *diag);
/* The same with some reductions computed by all cores together: each stores what its part of axis split[i]
 * gives to a workspace, and whoever reads reductions[i] merges what all cores stored, one phase later. Many
 * values that are read again and again are merged once, each core some of them, and read a phase after that.
 * split[i] is 0: no axis is shared, the reduction is computed in a phase of its own, stored and read from there. */
Nest *nest_split(const Nest *nest, uint32_t n, const NestId *reductions, const uint32_t *split);
Nest *nest_derive_kind(Arena *arena, const Graph *graph, NestKind kind, Diag *diag);
/* As nest_derive_kind; *stuck is the node that was refused. */
Nest *nest_derive_until(Arena *arena, const Graph *graph, NestKind kind, const Node **stuck,
                        Diag *diag);
/* What a walk of reduced axes is: the axes, and those of the tile; without a tile no sum follows a maximum. */
typedef struct NestPass {
    uint64_t walked, tile;
} NestPass;
/* Whether the sum is computed in the walk in which what it follows is. */
bool nest_is_online(const Nest *nest, NestId id, NestPass pass);
/* How many walks stand one behind the other in the value, its own among them. */
uint32_t nest_level(const Nest *nest, NestId id, NestPass pass);
/* A copy in which one more axis, the last, stands for these: results have it in their place. A load that does not
 * walk them as one keeps them in its index: it is a box of memory, from which elements are picked on chip. NULL:
 * results or reductions do not have all of them, or not as one. */
Nest *nest_fold(const Nest *nest, const NestFold *fold);
/* The folded axis whose parts the index has; 0: none. */
uint32_t nest_boxed(const Nest *nest, const Affine *index);
/* How many elements of a box lie next to each other: parts of the folded axis, then one other axis. */
int64_t nest_box_run(const Nest *nest, const Affine *index, uint32_t *other);
/* What may be worth folding: the innermost axes of the results, those of reductions; at most `most`. */
uint32_t nest_folds(const Nest *nest, NestFold *folds, uint32_t most);
/* Neighbouring axes that every access walks as one become one. */
void nest_merge(Nest *nest);
/* As nest_merge, but merges only axes of the same group; NULL: of any group. */
void nest_merge_groups(Nest *nest, const uint32_t *group);
/* Axes with those that windows read replaced by their roots. */
uint64_t nest_roots(const Nest *nest, uint64_t axes);
Affine nest_root_index(const Nest *nest, const Affine *index);
/* Windows read it, or are dealt out along it. */
bool nest_has_window(const Nest *nest, uint32_t axis);
bool nest_has_windows(const Nest *nest);
/* A map of this form. */
bool nest_is_map(const NestValue *v, const char *form);
bool nest_reads(const NestValue *v); /* it is used and reads memory at `index` */
/* "x0", "y1", "w2": inputs, results and workspaces are counted each for themselves. */
const char *nest_tensor_name(const Nest *nest, uint32_t tensor);
void nest_sizes(const Nest *nest, int64_t sizes[NEST_MAX_AXES]);
void nest_print(const Nest *nest, Buf *out);
/* A line for each input and result: its name in the task, and which of its axes the nest's axes are. */
void nest_legend(const Nest *nest, Buf *out);
/* One sentence: which values its programs do not hold; NULL: they hold all. */
const char *nest_limit(const Nest *nest);

#endif
