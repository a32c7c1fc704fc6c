/* Writing a planned program: names for primitives, statements in order, buffers as needed.
 * Shared by the strategies; each decides the loops and asks here for what stands inside. */
#ifndef GEN_PLAN_WRITE_H
#define GEN_PLAN_WRITE_H

#include "gen/plan/space.h"

/* What a primitive is where it is written. In one dimension a tile of the last axis or a scalar;
 * in two dimensions (several rows at once) also one value per row or one per column. */
typedef enum WriteKind { KIND_SCALAR, KIND_PER_ROW, KIND_PER_COLUMN, KIND_TILE } WriteKind;

/* A buffer; passes that follow each other use the same ones. */
typedef struct WriteBuffer {
    const char *name;
    char stem;
    WriteKind kind;
    DType dtype;
    int depth;
    bool busy;
    PrimId owner; /* whose name it holds; 0: nobody's after the statement */
} WriteBuffer;

typedef struct Writer {
    Arena *arena;
    PrimGraph *g;
    const Space *s;
    Diag *diag;
    bool failed;
    VEC(WriteBuffer) pool;
    Buf buffers;                      /* declarations of the kernel */
    Buf body;                         /* its statements */
    int depth;                        /* of indentation */
    const char **name;                /* per prim: how it is written where we are; NULL: not made */
    uint32_t *level;                  /* per prim: passes that must have ended before it is known */
    const char *index[PLAN_MAX_AXES]; /* per axis: what indexes it: "i0", "t" */
    const char *count;                /* the extent of tiles: "t.size" */
    const char *first;                /* a condition: this is the first tile of a pass */
    uint32_t last;                    /* the tiled axis */
    bool two;                         /* tiles are `block` rows of `wide` (0: "tile") elements */
    bool one_row;                     /* what varies along rows only is read as a scalar */
    bool flat;                        /* for the moment only row 0 of them is used */
    uint32_t row_axis;                /* in two dimensions: the axis of the rows */
    const char *rows;                 /* their extent: "r.size" */
    int64_t block, wide;
    int load_depth;     /* of the buffers that loads go to */
    int store_depth;    /* of those that stores come from */
    PrimId *pair;       /* per reduction: the one it is computed together with; units.c */
    const char **recip; /* per prim: the name of its reciprocal, where that is needed */
    const bool *wanted; /* per prim: what the pass needs; NULL: everything */
    const char *piece;  /* how many elements a piece of a row has, while one is reduced */
    uint32_t next;      /* number for new names */
    uint32_t bytes;     /* of buffers per element of the tile */
    VEC(PlanOperand) operands;
    VEC(PrimId) operand_prims; /* leaf, or 0 for outputs */
} Writer;

/* `paired`: reductions that can be computed in one pass together are. */
Writer *writer_new(PrimGraph *g, const Space *s, bool paired, Diag *diag);
void write_line(Writer *w, const char *format, ...) ATTR_PRINTF(2, 3);

WriteKind write_kind(const Writer *w, PrimId id);
bool write_is_fixed(const Writer *w, PrimId id); /* does not vary along reduced axes */
bool write_is_tile(const Writer *w, PrimId id);  /* varies along the tiled axis */
/* An expression for the primitive, of what is named and inlining the rest. */
const char *write_expr(Writer *w, PrimId id);
void write_count(Writer *w, Buf *out, uint64_t over); /* "f32(n0 * n1)" */
/* Gives buffers (or scalars) to what is needed more than once below `id`; statements go to the
 * body, which must be inside `with compute()` for tiles. */
void write_needs(Writer *w, PrimId id);
/* Names what is below `id`, is known already and does not change along the reduced axes: before a
 * pass, so that it is computed once. */
void write_hoist(Writer *w, PrimId id);
/* The primitive as a view or a name, making a buffer or scalar for it if need be. */
const char *write_named(Writer *w, PrimId id);

/* A buffer: one that is free, or a new one. */
const char *write_buffer(Writer *w, char stem, WriteKind kind, DType dtype, int depth,
                         PrimId owner);
/* Every buffer whose owner has no name any more is free again. */
void write_free_buffers(Writer *w);
/* Values and loops of a pass are over. */
void write_forget(Writer *w);
void write_release(Writer *w, const char *buffer); /* nobody's after the pass */
const char *write_view(Writer *w, WriteKind kind, const char *buffer);
/* copyin of every leaf in UB that `wanted` (per prim) marks, with its cast to f32. */
void write_loads(Writer *w, const bool *wanted);
/* Reads scalar leaves whose axes are all bound. */
void write_scalar_leaves(Writer *w);
/* Marks the leaves and everything below `id` that is not named yet. */
void write_mark(const Writer *w, PrimId id, bool *wanted);
/* compute + copyout of one output that is not a scalar. */
void write_store(Writer *w, const PrimOutput *out, const char *operand);
/* "y[i0, t]" */
const char *write_access(Writer *w, const char *tensor, uint64_t prim_axes);
const char *write_leaf_name(const Writer *w, PrimId id); /* the operand a leaf is read from */
/* The operand an output is written to. */
const char *write_output_name(const Writer *w, uint32_t output);

#endif
