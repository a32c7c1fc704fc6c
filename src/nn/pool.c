/* The thread pool. A loop is published under a new generation number; workers take pieces with an
 * atomic counter. Decoding runs some forty loops a token, so that workers spin a little before they
 * sleep on a condition variable. */
#include "nn/pool.h"

#include "base/arena.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { MOST_THREADS = 256, SPINS = 20000 };

struct NnPool {
    uint32_t threads; /* the caller among them */
    pthread_t *workers;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_uint generation; /* of the loop in progress */
    atomic_uint busy;       /* workers that have not finished it */
    atomic_uint next;       /* first index that no thread has started */
    atomic_bool stop;
    uint32_t count, grain;
    NnRange *range;
    void *job;
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void take_pieces(NnPool *pool)
{
    for (;;) {
        uint32_t from = atomic_fetch_add(&pool->next, pool->grain);
        if (from >= pool->count)
            return;
        uint32_t left = pool->count - from;
        pool->range(pool->job, from, from + (left < pool->grain ? left : pool->grain));
    }
}

static void wait_for_loop(NnPool *pool, unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&pool->generation) != seen)
            return;
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->generation) == seen)
        pthread_cond_wait(&pool->wake, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *given)
{
    NnPool *pool = given;
    for (unsigned seen = 0;;) {
        wait_for_loop(pool, seen);
        seen = atomic_load(&pool->generation);
        if (atomic_load(&pool->stop))
            return NULL;
        take_pieces(pool);
        atomic_fetch_sub(&pool->busy, 1);
    }
}

NnPool *nn_pool_open(uint32_t threads)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!threads)
        threads = cores < 1 ? 1 : (uint32_t)cores;
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    NnPool *pool = heap_alloc(sizeof *pool);
    pool->workers = heap_alloc(threads * sizeof *pool->workers);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pool->threads = 1;
    while (pool->threads < threads &&
           pthread_create(&pool->workers[pool->threads - 1], NULL, work, pool) == 0)
        pool->threads++;
    return pool;
}

static void publish(NnPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

void nn_pool_close(NnPool *pool)
{
    if (!pool)
        return;
    atomic_store(&pool->stop, true);
    publish(pool);
    for (uint32_t i = 0; i + 1 < pool->threads; i++)
        pthread_join(pool->workers[i], NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    heap_free(pool->workers);
    heap_free(pool);
}

uint32_t nn_pool_threads(const NnPool *pool) { return pool ? pool->threads : 1; }

void nn_pool_run(NnPool *pool, uint32_t count, uint32_t grain, NnRange *range, void *job)
{
    if (!pool || pool->threads == 1 || count <= grain) {
        if (count)
            range(job, 0, count);
        return;
    }
    pool->count = count;
    pool->grain = grain ? grain : 1;
    pool->range = range;
    pool->job = job;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->busy, pool->threads - 1);
    publish(pool);
    take_pieces(pool);
    for (int spins = 0; atomic_load(&pool->busy); spins++) {
        if (spins < SPINS)
            relax();
        else
            usleep(20);
    }
}
