/* Worker processes: requests go in, replies come out as they finish, each under a deadline.
 *
 *     Pool *pool = pool_open(&spec);
 *     while (work is left or pool_busy(pool)) {
 *         while (work is left && pool_busy(pool) < spec.jobs)
 *             pool_send(pool, id, request);
 *         if (pool_next(pool, 1, &reply)) ...
 *     }
 *     pool_close(pool);
 *
 * A worker is a fork of the caller that calls spec.work for each request. One that crashes or is
 * late costs its request only: it is killed with everything it started, and replaced. Workers die
 * with their parent. Their memory is given back by replacing them after so many requests. */
#ifndef LOOP_BENCH_POOL_H
#define LOOP_BENCH_POOL_H

#include "base/buf.h"

typedef struct Pool Pool;

typedef struct PoolSpec {
    uint32_t jobs;    /* workers at once; 0: one for each processor */
    double seconds;   /* for one request; 0: no limit */
    uint32_t recycle; /* requests after which a worker is replaced; 0: never */
    bool alone;       /* a worker keeps the standard streams only: no socket of the caller's */
    void (*work)(void *context, Str request, Buf *reply);
    void *context;
} PoolSpec;

typedef enum PoolEnd {
    POOL_DONE,
    POOL_LATE, /* past its time, and killed */
    POOL_DIED, /* by `signal`, or with exit status `status` */
} PoolEnd;

typedef struct PoolReply {
    uint64_t id;
    PoolEnd end;
    int signal, status;
    Str text; /* until the next call */
    double seconds;
} PoolReply;

Pool *pool_open(const PoolSpec *spec);
void pool_close(Pool *pool); /* kills the workers that still run */
uint32_t pool_jobs(const Pool *pool);
uint32_t pool_busy(const Pool *pool);
/* Only while fewer than `jobs` are busy. False: no process could be started. */
bool pool_send(Pool *pool, uint64_t id, Str request);
/* False: nothing ended within `seconds`, or nothing runs. A descriptor `wake` that becomes
 * readable ends the wait too; -1: none. */
bool pool_next(Pool *pool, double seconds, int wake, PoolReply *reply);

double pool_clock(void); /* seconds, monotonic */
uint32_t pool_processors(void);

/* Opens as many file descriptors to this process as the machine lets it have. False: fewer than judging
 * needs; *have says how many. */
bool pool_descriptors(uint64_t *have);

#endif
