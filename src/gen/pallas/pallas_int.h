/* Inside the Pallas target: blocks of kernels, views of tensors. */
#ifndef GEN_PALLAS_PALLAS_INT_H
#define GEN_PALLAS_PALLAS_INT_H

#include "gen/kernel/text.h"
#include "gen/pallas/pallas.h"

enum {
    PALLAS_LANES = 128,
    PALLAS_SUBLANES = 8,
    PALLAS_DIMS = 16,
    PALLAS_VMEM = 12 << 20, /* bytes that the blocks of a kernel may take of 16 MiB */
    PALLAS_LEAST = 128      /* elements of the smallest block */
};

/* A kernel with its blocks. */
typedef struct PallasKernel {
    Kernel loops;
    uint32_t rank;                /* of its arrays, at least 2 */
    uint32_t tile[NEST_MAX_AXES]; /* axes of the arrays, the outermost first; 0: a dimension of 1 */
    uint64_t tiled;               /* the same as a set */
    int64_t block[NEST_MAX_AXES]; /* by axis: elements of a block, 1 where the grid walks them */
    uint32_t n_grid;              /* points that the grid walks, the outermost first */
    uint32_t grid[NEST_MAX_AXES];
    uint32_t n_walked; /* axes of the row that the grid walks, after the passes */
    uint32_t walked[NEST_MAX_AXES];
    uint32_t levels; /* of reductions of the row, one on the other */
    uint32_t
        passes; /* over a row that is walked: one for each level, one for results along the row */
} PallasKernel;

/* A dimension of a view. The index is at + Σ by * axis, + picked * place. */
typedef struct PallasDim {
    int64_t size, stride; /* of the tensor */
    int64_t at;
    uint32_t n;
    AffineTerm term[AFFINE_TERMS];
    int64_t picked;           /* 0: no place in it */
    bool whole;               /* the kernel has the whole dimension and takes what it needs */
    int64_t pad_low, pad_end; /* elements that are added at its ends */
    int64_t
        phases; /* whole: of a window's steps, that many elements apart; phases are a dimension of their
                       own, in front */
    uint32_t walks; /* whole: the grid walks it with this axis; a block has `halo` elements */
    int64_t halo;
} PallasDim;

typedef struct PallasView {
    uint32_t n;
    PallasDim dim[PALLAS_DIMS];
    bool gather; /* elements are taken by arrays of indices */
} PallasView;

/* An operand: how an element of it is reached inside the kernel. */
typedef struct PallasOperand {
    NestId load; /* 0: a result */
    uint32_t tensor;
    PallasView view;   /* of a load */
    const char *name;  /* in the kernel */
    const char *spec;  /* BlockSpec */
    const char *array; /* what the caller hands over */
    int64_t bytes;     /* of a block */
} PallasOperand;

typedef struct PallasWriter {
    KernelText text;
    const PallasKernel *k;
    VEC(PallasOperand) in;
    const uint32_t *operand;                          /* by value: 1 + its place in `in`; 0: none */
    bool placed[NEST_MAX_AXES], local[NEST_MAX_AXES]; /* by axis: aN, bN is written */
} PallasWriter;

/* Blocks of at most so many elements; 0: as many as is usual. */
void pallas_roles(const Nest *nest, PallasKernel *k, int64_t most);
int64_t pallas_blocks(const Nest *nest, const PallasKernel *k, uint32_t axis); /* of a grid */
/* How a load or pick reaches its tensor, and a store its result. */
void pallas_view(const Nest *nest, const PallasKernel *k, NestId id, PallasView *view);
bool pallas_store_view(const Nest *nest, const NestStore *s, PallasView *view);
/* The dimensions of a view as the kernel has them. */
typedef enum PallasKind { PALLAS_AXIS, PALLAS_WHOLE, PALLAS_PHASE, PALLAS_UNIT } PallasKind;
typedef struct PallasEntry {
    PallasKind kind;
    uint32_t axis; /* AXIS */
    uint32_t dim;  /* of the view */
    int64_t size;  /* of the array */
    int64_t block; /* 0: squeezed, the grid walks it */
    bool overlaps; /* blocks begin at elements, `step` from one to the next of `axis` */
    int64_t step;
} PallasEntry;
uint32_t pallas_entries(const Nest *nest, const PallasKernel *k, const PallasView *view,
                        PallasEntry entries[2 * PALLAS_DIMS]);
/* Adds dimensions of 1 so that the last two of a block are legal. */
uint32_t pallas_legalize(PallasEntry entries[2 * PALLAS_DIMS], uint32_t n);
/* What the caller makes of the tensor `array`. */
const char *pallas_array(const Nest *nest, const PallasView *view, uint32_t tensor,
                         const char *array, const PallasEntry *entries, uint32_t n);
/* The part of a result that a view is: "[0:4, :]"; "": all of it. */
const char *pallas_slices(const Nest *nest, const PallasView *view);
const char *pallas_spec(const Nest *nest, const PallasKernel *k, const PallasEntry *entries,
                        uint32_t n, bool result);

/* The name or number that a value has here. */
const char *pallas_value(PallasWriter *w, NestId id);
/* The place of the axis in the arrays of the kernel. */
uint32_t pallas_place(const PallasKernel *k, uint32_t axis);
/* "(8, 1)": the shape of a value that varies along the axes. */
const char *pallas_shape(Arena *arena, const PallasKernel *k, uint64_t axes);
const char *pallas_axis(PallasWriter *w, uint32_t axis); /* its coordinates, written where needed */

typedef struct PallasCall {
    const char *function; /* text of the kernel */
    const char *call;     /* text of the pallas_call, with its results */
    int64_t bytes;        /* of VMEM that blocks and scratch memory take */
} PallasCall;
PallasCall pallas_write_kernel(const Nest *nest, const PallasKernel *k, const KernelTask *task,
                               const char *name);
/* Whether the store fills a part of its tensor only. */
bool pallas_is_part(const Nest *nest, const NestStore *s);
const char *pallas_tensor(const Nest *nest, const KernelTask *task, uint32_t tensor);
const char *pallas_type(DType dtype); /* "float32"; NULL: none */

extern const KernelLanguage pallas_language;
extern const char pallas_prelude[], pallas_prelude_end[];

#endif
