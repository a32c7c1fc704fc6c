/* Threads that share loops. The caller works too; a pool of one runs everything itself. Results do
 * not depend on the number of threads where every index writes its own output.
 *
 *     NnPool *pool = nn_pool_open(0);            0: as many threads as the machine has cores
 *     nn_pool_run(pool, rows, 16, multiply_rows, &job);
 *     nn_pool_close(pool);
 */
#ifndef NN_POOL_H
#define NN_POOL_H

#include <stdint.h>

typedef struct NnPool NnPool;

/* Does indices from .. to-1 of the loop. */
typedef void NnRange(void *job, uint32_t from, uint32_t to);

NnPool *nn_pool_open(uint32_t threads);
void nn_pool_close(NnPool *pool);
uint32_t nn_pool_threads(const NnPool *pool);
/* Calls `range` over 0 .. count-1 in pieces of about `grain`, and waits. A NULL pool is one thread. */
void nn_pool_run(NnPool *pool, uint32_t count, uint32_t grain, NnRange *range, void *job);

#endif
