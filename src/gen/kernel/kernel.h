/* A task as kernels, before they are written in a language.
 *
 *     graph ─nest_derive_kind─▶ nest ─kernel_cut─▶ kernels (stores, axes, row) ─▶ text: CUDA, C
 *
 * A kernel is a set of stores over the same axes. Reductions and scans that its stores do not share a row with
 * are tensors of the workspace, which kernels before it fill. What a platform makes of the axes (threads, teams,
 * vectors) is its own business: src/gen/cuda, src/gen/cpu. Sizes are those of the task. */
#ifndef GEN_KERNEL_KERNEL_H
#define GEN_KERNEL_KERNEL_H

#include "gen/plan/nest/nest.h"

enum { KERNEL_STORES = 16 };

typedef enum KernelShape {
    KERNEL_MAP,    /* elements of the results, each for itself */
    KERNEL_ROWS,   /* rows: reductions of a row, then what they are used for */
    KERNEL_SCAN,   /* rows, walked from one end to the other */
    KERNEL_MEET,   /* rows that writes at picked places meet */
    KERNEL_PRODUCT /* tiles of a sum of products, then what each element of it is used for */
} KernelShape;

/* Several axes that are walked as one, the outermost first. */
typedef struct KernelAxes {
    uint32_t n, axis[NEST_MAX_AXES];
    int64_t count;
} KernelAxes;

/* left[batch, m, k] right[batch, n, k] summed over k; n is the side that lies side by side in the result. */
typedef struct KernelProduct {
    NestId value, left, right;
    KernelAxes batch, m, n, k;
} KernelProduct;

typedef struct Kernel {
    KernelShape shape;
    uint32_t n_stores;
    uint32_t store[KERNEL_STORES]; /* of the nest */
    uint64_t kept;                 /* axes of the stores */
    uint64_t row;                  /* ROWS, SCAN: axes of a row; MEET: the axis of the places */
    /* as they lie in memory, the outermost first */
    uint32_t n_point, n_row;
    uint32_t point[NEST_MAX_AXES], along[NEST_MAX_AXES];
    int64_t points, length; /* of the row; 1 where there is none */
    bool columns; /* ROWS, SCAN: neighbouring rows lie side by side, elements of one do not */
    bool edges;   /* some access is masked */
    bool reverse; /* SCAN: from the end */
    NestId tiles; /* PRODUCT: the sum of products */
    const KernelProduct *product; /* PRODUCT */
} Kernel;

typedef struct Kernels {
    Arena *arena;
    Nest *nest;
    const struct KernelLimits *limits;
    VEC(Kernel) at;
} Kernels;

/* From which sizes on a platform shares work between threads. */
typedef struct KernelLimits {
    const char *platform; /* for messages */
    bool keep_axes;       /* neighbouring axes are not merged: arrays keep the task's dimensions */
    bool products; /* it has tiles for products of matrices; tasks are cut into parts before them */
    bool meets;    /* it walks index writes once for many results */
    bool
        again; /* of shared rows, parts along which an operand stays the same have several places */
    int64_t serial_most;  /* elements of a reduction that one thread takes alone */
    int64_t serial_again; /* the same where several threads repeat it */
    int64_t few_threads;  /* fewer do not fill the machine */
    int64_t few_rows;     /* fewer teams do not either */
    int64_t team_row;     /* longer rows are read again for each pass */
    int64_t long_row;     /* half of a row that is worth sharing between kernels */
    int64_t chunk;        /* of a long row for one team */
    int64_t least_chunk;
    int64_t enough_chunks;
} KernelLimits;

/* Puts into memory what kernels do not have in common, groups the stores and orders the axes; changes the
 * nest. */
bool kernel_cut(Arena *arena, Nest *nest, const KernelLimits *limits, Kernels *kernels, Diag *diag);

/* Values that the stores of a kernel rest on: marked by id. */
void kernel_reach(const Nest *nest, const Kernel *k, bool *reached);
void kernel_reach_value(const Nest *nest, NestId id, bool *reached);
/* The smallest step in memory that one of the axes takes in what the value rests on; 0: none is taken. */
int64_t kernel_step(const Nest *nest, NestId id, uint64_t axes);
int64_t kernel_count(const Nest *nest, uint64_t axes); /* product of their sizes */
/* Reductions of a row kernel that run over its row. */
bool kernel_is_team(const Kernel *k, const NestValue *v);
/* How many reductions of the row it rests on, one on the other. memo: zeros, one for each value. */
uint32_t kernel_level(const Nest *nest, const Kernel *k, NestId id, uint32_t *memo);
/* A reduction of index writes: for each result the join of `of` over the writes whose place it is. */
typedef struct KernelMeet {
    NestId value, place, mask, of, none;
    uint32_t axis, writes; /* of the places; of the writes */
} KernelMeet;
bool kernel_meet(const Nest *nest, NestId id, KernelMeet *meet);
/* Axes of the results along which the places do not vary: neighbours there meet the same writes. */
uint64_t kernel_meet_beside(const Nest *nest, const KernelMeet *meet);
/* Writes that the threads of a warp look at together, as all of them compute results beside each other. */
bool kernel_meets_beside(const Nest *nest, const Kernel *k, NestId id);
/* The tensors that a kernel reads and writes: marked by number. */
void kernel_tensors(const Nest *nest, const Kernel *k, bool *read, bool *written);
uint64_t kernel_bits(const KernelAxes *g);          /* of its axes */
int64_t kernel_blocks(int64_t count, int64_t each); /* how many of `each` hold all */
const char *kernel_role(const Kernel *k); /* "stream", "rows", "columns", "scan", "product" */

/* An argument of the launcher. */
typedef struct KernelOperand {
    const char *name; /* of the argument */
    ValueId value;
    bool output;
    DType dtype;
    int64_t count;
} KernelOperand;

/* A part of a task: kernels over one nest. */
typedef struct KernelPart {
    Kernels kernels;
    const char **argument; /* by tensor: the operand's name; NULL: it lies in the workspace */
    int64_t *place;        /* by tensor: its first byte of the workspace */
} KernelPart;

/* A task that is cut, with its operands: inputs and parameters in the order of the task, then results. Parts are
 * launched in order; what one hands on to another lies in the workspace. */
typedef struct KernelTask {
    VEC(KernelPart) parts;
    VEC(KernelOperand) operands;
    int64_t workspace; /* bytes */
    int64_t bytes;     /* each operand once */
} KernelTask;

/* False with a diagnostic that names the operator when the task is out of reach. `has_type`: whether the
 * platform has a type for tensors of this dtype. */
bool kernel_task(Arena *arena, const Graph *graph, const KernelLimits *limits,
                 bool has_type(DType dtype), KernelTask *task, Diag *diag);
uint32_t kernel_total(const KernelTask *task); /* kernels of all parts */
/* {"name", "workspace", "bytes", "operands": [ ... , left open for what a platform adds. */
void kernel_manifest(const KernelTask *task, const Graph *graph, const char *name, Buf *out);
/* An operand in `forward` of a module that has `tensors` and a function `attribute`. */
void kernel_python_operand(const Graph *graph, ValueId value, Buf *out);

#endif
