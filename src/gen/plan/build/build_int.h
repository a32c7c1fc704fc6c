/* Inside the builder: the state while a band is turned into statements. */
#ifndef GEN_PLAN_BUILD_BUILD_INT_H
#define GEN_PLAN_BUILD_BUILD_INT_H

#include "gen/plan/build/layout.h"
#include "gen/plan/schedule/schedule.h"

/* What a value is in a tile of rows and lanes. */
typedef enum BuildKind { BUILD_SCALAR, BUILD_ROWS, BUILD_LANES, BUILD_TILE } BuildKind;

typedef struct BuildBuffer {
    const char *name;
    BuildKind kind;
    DType dtype;
    int depth;
    char stem;
    int64_t rows, lanes; /* its size; later bands use it with as many rows as they need */
    int64_t
        times; /* it has so many times the lanes of a tile, or the rows where it has one value a row */
    NestId owner; /* 0: nobody holds it */
    bool kept;    /* until the band ends */
} BuildBuffer;

typedef VEC(BuildBuffer) BuildPool;

/* A copy of which every step-th element is used: what it reads, from a multiple of the step on. */
typedef struct BuildStrided {
    uint32_t tensor;
    Affine from;
    const char *buffer;
} BuildStrided;

enum { BUILD_STEPS = 9 };

/* Where the elements of a tile stand in a copy on chip: element [r, l] at by_row * r + by_lane * l. */
typedef struct BuildTable {
    int64_t by_row, by_lane;
    const char *places; /* i32, a tile */
} BuildTable;

/* Where the elements of a tile stand in a box: by_part for each part of the lanes. */
typedef struct BuildBoxTable {
    bool lanes_only; /* of a box that is the same for all rows */
    int64_t by_row, by_part[NEST_DIGITS];
    const char *places; /* i32 */
} BuildBoxTable;

/* What puts as many runs as a step has elements together by turns. */
typedef struct BuildWeave {
    const char *runs;   /* one run behind the other */
    const char *places; /* i32: where each element of the result stands among the runs */
    const char *tile;   /* the same for all rows of a tile; NULL: it has none */
} BuildWeave;

/* What windows of one value along one axis read, with what stands outside. */
typedef struct BuildPad {
    NestId arg;
    uint32_t axis;
    uint32_t
        wide; /* rows are read: the axis under windows along lanes, whose outside is there too; 0: none */
    double fill;
    NestEdge edge;
    BuildKind kind;
    int64_t rows, lanes;
    bool leaves;      /* some windows read what is outside */
    uint32_t readers; /* windows */
    uint32_t left;    /* of them in this pass */
    uint32_t room;    /* number of its buffer + 1; 0: it is not there yet */
} BuildPad;

/* A buffer of pads that lie alike in it, one after the other: what is outside stays as it is. */
typedef struct BuildRoom {
    BuildPad pad;
    const char *name;
    bool busy;
} BuildRoom;

/* Where the elements of a tile stand in what windows read, from its first element on. */
typedef struct BuildTapTable {
    BuildKind kind;
    int64_t by_row, by_lane, rows, lanes;
    NestEdge edge;      /* along lanes */
    int64_t at, last;   /* of the first lane; none is beyond */
    const char *places; /* i32 */
} BuildTapTable;

enum { BUILD_SLOTS = 8 }; /* queue slots of a kernel for copies in, and as many for copies out */

/* One tensor is not in memory: another role of the kernel sends it, or it is a sum of several. */
typedef struct BuildFed {
    uint32_t tensor;
    const char
        *loop; /* over the tiles, instead of the one that deals out work; with lines inside it */
    const char *receive; /* how a tile comes on chip, as lines */
    const char *inner;   /* a loop over parts of it; NULL: none */
    uint64_t walked;     /* the axes of that loop */
    const char *view;    /* of the tensor's values in it */
} BuildFed;

typedef struct Build {
    Arena *arena;
    const Nest *nest;
    const Layout *layout;
    const NpuChip *chip;
    const Band *band;
    const bool *wanted; /* values of the band */
    Buf *body;
    int depth;           /* of the next statement */
    const char **name;   /* per value: the view or scalar that holds it; NULL: none */
    const char **spread; /* per value of lanes: the tile that has it in every row; NULL: none */
    const char **filled; /* per single number: the view that has it in every element; NULL: none */
    const char **factor; /* per maximum that sums follow: what moves these to its present value */
    const char **carry;  /* per scan: what is handed on to the next tile; NULL: it is whole */
    uint32_t *left;      /* per value: uses that are still to come in this pass */
    uint32_t *level;     /* per value: how many reductions stand behind it */
    bool *stored;        /* per store of the band: it is written */
    bool *straight;      /* per value: it is stored from where it is */
    VEC(BuildStrided) strided;
    VEC(BuildTable) tables;
    VEC(BuildBoxTable) box_tables;
    VEC(BuildPad) pads;
    VEC(BuildRoom) rooms;
    size_t before_loops; /* place in the body */
    VEC(BuildTapTable) taps;
    uint64_t
        frame; /* axes of the value that is written: those under windows have sizes of their own */
    const char **picked_from;       /* per load: the buffer of the copy that it is picked from */
    const char *picks[BUILD_STEPS]; /* per step: i32 places 0, step, 2 step, ... */
    BuildWeave weaves[BUILD_STEPS], row_weaves[BUILD_STEPS]; /* per step: of lanes, of rows */
    BuildPool *pool;                                         /* of the kernel */
    uint32_t *next;                                          /* number of its next scalar */
    uint32_t number;                                         /* of the band */
    const char *core;    /* which rows of workspaces an access is to: "core_id()", "q" */
    const char *row;     /* one row of the tile, which an access is to; NULL: all of them */
    const BuildFed *fed; /* NULL: all tensors are in memory */
    int load_depth, store_depth;
    const char *failed; /* why it cannot be built; NULL: so far it can */
} Build;

void build_line(Build *b, const char *format, ...) ATTR_PRINTF(2, 3);
BuildKind build_kind(const Build *b, uint64_t axes);
/* A buffer that nobody holds, or a new one; its view. */
const char *build_buffer(Build *b, char stem, BuildKind kind, DType dtype, int depth, NestId owner);
const char *build_wide(Build *b, char stem, BuildKind kind, DType dtype, int depth, int64_t times,
                       NestId owner); /* so many times as wide */
const char *build_take(Build *b, BuildBuffer want);
const char *build_scalar(Build *b); /* a new name */
bool build_needs_lanes(const Build *b,
                       NestId id); /* one value that only the vector unit computes */
const char *build_view(Build *b, BuildKind kind, const char *buffer);
const char *build_rows(Build *b);  /* how many rows a tile has: "r.size" */
const char *build_lanes(Build *b); /* "t.size" */
/* "x0[i1, r, 64 : 128]" */
const char *build_access(Build *b, uint32_t tensor, const Affine *index);
/* The access with `more` rows after those of the tile. */
const char *build_access_rows(Build *b, uint32_t tensor, const Affine *index, int64_t more);

/* The access with `wider` lanes, where the band keeps lanes whole. */
const char *build_access_more(Build *b, uint32_t tensor, const Affine *index, int64_t more,
                              int64_t wider);

/* Copies (copies.c). All loads of the values that are needed now; what was loaded in another dtype or order, as tiles of
 * f32, inside a stage that computes; a result from the tile to memory. */
void build_load_all(Build *b, const bool *now);
void build_cast_loads(Build *b, const bool *now);
void build_store_value(Build *b, const NestStore *store);

/* Copies that lie beside each other (join.c): one for all of them. False: it has none beside it. */
bool build_load_joined(Build *b, NestId id, const bool *now, bool *open);
bool build_store_joined(Build *b, const NestStore *store);

bool build_store_joins(const Build *b, const NestStore *store);

/* Results without a copy on chip (straight.c). Nothing but stores reads the value, at most so many, and they take it as
 * it is, in this dtype; its buffer: then the one that is copied out; false: it is stored otherwise. */
bool build_goes_straight(const Build *b, NestId id, DType dtype, uint32_t most);
const char *build_result(Build *b, char stem, BuildKind kind, DType dtype, NestId id);
bool build_store_straight(Build *b, const NestStore *store);

/* The row of a tile of one row that places are put into, since tiles are compared with them; NULL: they are not. */
const char *build_only_row(Build *b, NestId id);

/* A mask of tiles that several read: it is computed once. */
bool build_keeps_mask(const Build *b, NestId id);

/* What computing the value read is over. */
void build_release(Build *b, NestId id);
/* Gives the value a name, computing it and what it needs; inside `with compute()`. */
const char *build_named(Build *b, NestId id);
/* Gives names to what its expression needs. */
void build_prepare(Build *b, NestId id);
/* Its expression, after what must have a name has one. */
const char *build_expr(Build *b, NestId id);
/* ... of a mask, for as many elements as `into` has. */
const char *build_expr_at(Build *b, NestId id, BuildKind into);

/* Every step-th element (strided.c). The places, before all loops; a load; its elements; a store of all
 * results that are put together by turns, when the first of them comes. */
int64_t build_step(const Build *b, const Affine *index);
bool build_is_woven(const Build *b, const Affine *index);
void build_places(Build *b);
void build_strided_load(Build *b, NestId id, bool *open);
const char *build_picked(Build *b, NestId id);
void build_strided_store(Build *b, const NestStore *store);
/* Tiles whose rows are next to each other in memory, not their lanes: a copy with rows and lanes exchanged, put
 * right on chip. */
bool build_is_transposed(const Build *b, const Affine *index);
void build_transposed_load(Build *b, NestId id, bool *open);
const char *build_transposed(Build *b, NestId id);
/* Lanes that stand for several axes which memory has apart (box.c). */
bool build_is_boxed(const Build *b, const NestValue *v);
void build_box_places(Build *b, NestId id);
void build_box_load(Build *b, NestId id, bool *open);
const char *build_boxed(Build *b, NestId id);
/* Rows that memory has in the other order. */
bool build_is_turned(const Build *b, const Affine *index);
const char *build_turned(Build *b, NestId id);

/* Windows (window.c). The axis of the frame that windows of the tile's axis read; 0: none. Where its elements in
 * the present tile begin, how many there are, and how many there may be. */
uint32_t build_halo(const Build *b, uint32_t root);
const char *build_halo_from(Build *b, uint32_t axis);
const char *build_halo_count(Build *b, uint32_t axis);
int64_t build_halo_most(const Build *b, uint32_t axis);
/* Before all loops: buffers and places. In a tile, before everything else. The value of a window. */
void build_window_places(Build *b);
void build_forget_pads(Build *b, uint64_t walked);
void build_fill_rooms(Build *b); /* after everything else */
void build_open_halos(Build *b);
const char *build_windowed(Build *b, NestId id);

/* Partial results (merge.c): the neutral element; two as one; rows, lanes or all of a view as one. */
const char *build_start(PrimReduce reduce);
const char *build_combine(Build *b, PrimReduce reduce, const char *x, const char *y);
const char *build_fold(Build *b, PrimReduce reduce, bool rows, bool lanes, const char *view);
/* What all cores have stored, as one value; before the stages that read it. */
void build_merge(Build *b, NestId id);
/* A result without axes. */
void build_store_one(Build *b, const NestStore *store);

/* Running results along an axis of the tile (scan.c); the name. Before the walk of an axis that is scanned:
 * what its tiles hand on. */
void build_open_scan(Build *b, NestId id);
const char *build_scanned(Build *b, NestId id);

/* For those who write the loops of a band themselves: tables, then names for what they hold; one value of the present
 * tile, loaded and computed; all results of it. */
void build_open(Build *b);
const char *build_value(Build *b, NestId id);
void build_results(Build *b);

/* The loops of the band and all in them. */
void build_band(Build *b);
/* Declarations of all buffers. */
void build_declare(const BuildPool *pool, Buf *out);

#endif
