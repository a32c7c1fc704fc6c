/* Inside the pooling strategy: the pool, a kernel's tile, and the text being written. */
#ifndef GEN_PLAN_POOL_INT_H
#define GEN_PLAN_POOL_INT_H

#include "gen/plan/pool.h"

enum { MAX_SPATIAL = 3, BLOCK = 8 /* f32 in 32 bytes */ };

typedef struct Pool {
    DType dtype; /* of what is read and written; computed in f32 */
    bool max, ceil;
    int rank; /* spatial */
    int64_t kernel[MAX_SPATIAL], stride[MAX_SPATIAL], pad[MAX_SPATIAL], dilation[MAX_SPATIAL];
    int64_t divisor;
    Shape in, out; /* [rows, spatial...] */
    int64_t room;  /* bytes of UB */
    int64_t most;  /* outputs of a row at most; 0: as many as fit */
} Pool;

/* One kernel: tiles of `down` output rows by `across` outputs, from `high` rows of `wide`. */
typedef struct PoolTile {
    int64_t across, down, high, wide;
} PoolTile;

/* A kernel being written. */
typedef struct PoolText {
    const Pool *p;
    const PoolTile *t;
    Buf *out;
    int depth;
} PoolText;

void pool_put(PoolText *k, const char *format, ...) ATTR_PRINTF(2, 3);
/* "max(a, b)" or "a + b" */
const char *pool_folded(const Pool *p, char *text, size_t size, const char *a, const char *b);
int64_t pool_skip(const Pool *p); /* columns of a line before the first window's */
bool pool_is_near(const Pool *p); /* windows of neighbouring outputs start next to each other */
/* The values in f32, and back in the pool's own dtype. */
const char *pool_wide(const Pool *p, char *text, size_t size, const char *values);
const char *pool_narrow(const Pool *p, char *text, size_t size, const char *values);
bool pool_needs_total(const Pool *p); /* sums of windows put together from several */

/* Columns of the window folded, from `acc` to `o` (pool_columns.c). */
void pool_put_columns(PoolText *k);

#endif
