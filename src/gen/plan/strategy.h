/* The strategies, one file each. Each writes the kernel's body for the space it is given and
 * says how many cores to launch. */
#ifndef GEN_PLAN_STRATEGY_H
#define GEN_PLAN_STRATEGY_H

#include "gen/plan/write.h"

typedef struct Strategy {
    const char *name;
    bool (*takes)(const Space *s);
    void (*write)(Writer *w, Buf *cores, Buf *workspace);
    const char *reason; /* one sentence for the top of the program */
} Strategy;

extern const Strategy strategy_map;    /* no reduction: any broadcast pattern */
extern const Strategy strategy_rows;   /* the last axis is reduced, others are kept */
extern const Strategy strategy_middle; /* the last axis is kept */
extern const Strategy strategy_full;   /* everything is reduced: two stages over the cores */

extern const Strategy strategy_scan;      /* running sums and products */
extern const Strategy strategy_rows_full; /* rows first, then their results over everything */

/* Shared by the strategies that end in one result of all cores (full.c). */
void full_buffers(Writer *w);
/* The reduction's scalar becomes the result over all cores. */
void full_combine(Writer *w, PrimId id, uint32_t slot, Buf *workspace);
void full_store_scalars(Writer *w); /* outputs of one element, by core 0 */
/* Shared by the strategies over rows (rows.c). */
void rows_open(Writer *w, bool blocks);
void rows_open_pass(Writer *w);

/* What the reductions share (reduce.c). */
extern const char *const reduce_starts[]; /* by PrimReduce: the neutral element */
extern const char *const reduce_steps[];  /* two scalars: "%s + %s" */
const char *reduce_format(Writer *w, const char *form, const char *so_far, const char *operand);
/* The last pass: every output that varies along reduced axes is written in it. */
uint32_t reduce_passes(const Writer *w);
/* One pass: initial values, loops over the reduced axes, accumulation, stores of the last. */
void reduce_pass(Writer *w, uint32_t pass, bool final, void (*open)(Writer *w));
/* Forgets the names of what only lived inside the pass. */
void reduce_forget(Writer *w);
bool reduce_is_full(const Writer *w, uint32_t output); /* varies along reduced axes */

#endif
