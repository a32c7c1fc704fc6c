/* The strategies, one file each. A strategy writes one or more parts: kernels of which the host
 * function launches one, by conditions over the sizes. */
#ifndef GEN_PLAN_STRATEGY_H
#define GEN_PLAN_STRATEGY_H

#include "gen/plan/units.h"
#include "gen/plan/write.h"

typedef struct PartWorkspace {
    const char *name;
    const char *shape; /* "n0, ceildiv(n1, chunk), 8" */
} PartWorkspace;

enum { PART_SCALARS = 4, SCRATCH_STEP = 4 };

/* One kernel and its launch. */
typedef struct Part {
    const char *suffix; /* of the kernel's name */
    const char *when;   /* the host's condition; NULL: in all other cases */
    const char *setup;  /* a line of the host function before the launch, or NULL */
    const char *cores;
    struct {
        const char *name, *value; /* scalars the kernel takes */
    } scalar[PART_SCALARS];
    uint32_t scalars;
    VEC(PartWorkspace) workspaces;
    Writer *w;
} Part;

/* A task on its way to a program. */
typedef struct Job {
    Arena *arena;
    PrimGraph *g;
    const Space *s;
    const NpuChip *chip;
    int64_t tile_limit;  /* most elements of a tile; 0: as many as fit */
    uint32_t scratch[2]; /* bytes of the compiler's scratch per element: of parts with "tile", of
                            parts in two dimensions */
    uint64_t single;     /* parts whose loads get one slot each: with two they have too many */
    uint64_t bare;       /* parts of which that is true of stores */
    Diag *diag;
    int64_t last_most; /* largest size of the last axis; 0: as of the others */
    int64_t tile_unit; /* tiles are multiples of it where they are as large; 0: of 128 */
    VEC(Part) parts;
} Job;

typedef struct Strategy {
    const char *name;
    bool (*takes)(const Space *s);
    void (*write)(Job *job);
    const char *reason; /* one sentence for the top of the program */
} Strategy;

extern const Strategy strategy_map;  /* no reduction: any broadcast pattern */
extern const Strategy strategy_rows; /* the last axis is reduced, others are kept */
extern const Strategy strategy_full; /* everything is reduced: two stages over the cores */

extern const Strategy strategy_scan;      /* running sums and products */
extern const Strategy strategy_rows_full; /* rows first, then their results over everything */
extern const Strategy strategy_across;    /* rows, and beside them sums over all rows */

/* A part whose kernel is given the tile; its writer is new. */
Part *job_part(Job *job, const char *suffix, bool paired);
/* "n0 * n1": the kept axes, how many rows there are; or the reduced ones, how long one is. */
const char *job_axes(Job *job, bool reduced);
void job_drop(Job *job, uint32_t from); /* the parts from that one on */
void part_scalar(Part *part, const char *name, const char *value);
void part_workspace(Job *job, Part *part, const char *name, const char *shape);
/* Elements of a tile when the buffers take `bytes` of each; a multiple of 128, at least 64. */
int64_t job_tile(const Job *job, uint32_t bytes, bool two);

/* Whole rows on chip, several at once (resident.c). False: the space has no such rows. */
bool resident_takes(const Space *s);
/* Adds a part per class of row lengths; returns the longest row it takes. */
int64_t resident_parts(Job *job);

/* Results of rows that are reduced further: accumulators per row of the tile; what a tile adds;
 * the results over all cores, and their outputs. */
const char **resident_start(Writer *w);
void resident_add(Writer *w, const char **lanes);
void resident_finish(Job *job, Part *part, const char **lanes);

/* Sums over all rows: rows of a core's own that tiles are added to; what a tile adds; the cores' rows
 * combined, and the outputs that come of them (across.c). */
bool across_is(const Writer *w, PrimId id);
bool across_is_output(const Writer *w, uint32_t output);
const char **across_start(Writer *w);
void across_add(Writer *w, const char **lanes);
void across_finish(Job *job, Part *part, const char **lanes);

/* Long rows of two passes, each by one core: all of a group first, then all again (groups.c). */
bool groups_takes(const Job *job);
void groups_part(Job *job, const char *when);
/* Lines of the host that set `group`: how many of `count` things L2 holds the inputs and outputs of at a
 * time; each has `unit` elements. */
const char *groups_lines(Job *job, const Writer *w, const char *count, const char *unit);

/* Few long rows: each is split over the cores (split.c). */
bool split_takes(Job *job);
void split_part(Job *job);
/* Rows so long that all cores work on one, in groups that stay in L2 (rows_all_cores.c); where split_takes. */
void rows_all_cores_part(Job *job);

/* Uses as many cores as the work along a single axis is worth, and gives each core several
 * pieces (cores.c). */
void few_cores(Job *job, Part *part);
/* All cores, and pieces of which each has as many, all alike. */
void even_pieces(Job *job, Part *part);
/* No more cores than there are pieces: the kept axes, one of them in tiles. */
void item_cores(Job *job, Part *part, uint32_t tiled, const char *tile);
/* Uses as many cores as whole rows are worth whose results all cores combine; the host's scalar
 * is `cores`. */
void row_cores(Job *job, Part *part, uint32_t tiled, const char *tile);

/* Operands that rows share are loaded once for a block of rows (shared.c). */
bool shared_takes(const Writer *w);
void shared_setup(Job *job, Part *part); /* the block of rows, from the host */
void shared_open(Writer *w);             /* loops over everything, down to a tile of a row */

/* Shared by the strategies that end in one result of all cores (full.c). */
/* The reductions' scalars become the results over all cores; the cores synchronise once. */
typedef VEC(PrimId) PrimIds;
void full_combine(Job *job, Part *part, const PrimIds *ids);
void full_store_scalars(Writer *w); /* outputs of one element, by core 0 */
/* Shared by the strategies over rows (rows.c). */
void rows_two(Writer *w); /* tiles are one row of the last axis */
uint32_t rows_axis(const Space *s);
void rows_open(Writer *w);
void rows_open_pass(Writer *w);
bool rows_is_outer(const Writer *w, PrimId id); /* a reduction of the rows' results */

/* What the reductions share (reduce.c). */
/* The last pass: every output that varies along reduced axes is written in it. */
uint32_t reduce_passes(const Writer *w);
/* One pass: initial values, loops over the reduced axes, accumulation, stores of the last. */
void reduce_pass(Writer *w, uint32_t pass, bool final, void (*open)(Writer *w));
/* What a pass needs and is known before it, computed once. */
void reduce_hoist(Writer *w, uint32_t pass, bool final);
/* Marks what a pass needs in `wanted`. */
void reduce_mark(const Writer *w, uint32_t pass, bool final, bool *wanted);
/* Forgets the names of what only lived inside the pass. */
void reduce_forget(Writer *w);
bool reduce_is_full(const Writer *w, uint32_t output); /* varies along reduced axes */
bool reduce_is_spread(const Writer *w, PrimId id);     /* what varies along them takes it */
void reduce_store_scalars(Writer *w);                  /* outputs of one value a row */

#endif
