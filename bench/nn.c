/* Decoding speed on the CPU: tokens per second, and the bytes they read as a share of the memory
 * bandwidth measured in the same run with the same threads. A model of the default size, one that no
 * cache holds, and several sequences at once. */
#include "base/rng.h"
#include "nn/infer.h"
#include "nn/int8.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct SumJob {
    const uint64_t *at;
    uint64_t sums[4096];
} SumJob;

enum { PIECE = 1 << 17 }; /* words of one piece: 1 MiB */

static void sum_range(void *given, uint32_t from, uint32_t to)
{
    SumJob *j = given;
    for (uint32_t i = from; i < to; i++) {
        uint64_t sum[8] = {0};
        for (size_t k = 0; k < PIECE; k += 8)
            for (size_t lane = 0; lane < 8; lane++)
                sum[lane] += j->at[(size_t)i * PIECE + k + lane];
        for (int lane = 0; lane < 8; lane++)
            j->sums[i] += sum[lane];
    }
}

/* Bytes per second of reading 512 MiB, the best of seven. */
static double bandwidth(NnPool *pool)
{
    enum { PIECES = 512 };
    static SumJob job;
    double best = 0;
    uint64_t *words = heap_alloc((size_t)PIECES * PIECE * sizeof *words);
    memset(words, 1, (size_t)PIECES * PIECE * sizeof *words);
    job.at = words;
    for (int round = 0; round < 7; round++) {
        double start = now();
        nn_pool_run(pool, PIECES, 4, sum_range, &job);
        double speed = (double)PIECES * PIECE * 8 / (now() - start);
        best = speed > best ? speed : best;
    }
    heap_free(words);
    return best;
}

/* Tokens per second of `streams` sequences from position 64 on, the best of three stretches. */
static double decode_speed(const NnInfer *model, NnPool *pool, uint32_t streams, uint32_t steps)
{
    const NnConfig *c = nn_infer_config(model);
    NnSession *s = nn_session_open(model, pool, streams, 512);
    float *logits = nn_floats_new((uint64_t)streams * c->vocab);
    NnRow rows[64];
    double best = 0;
    for (uint32_t step = 0; step < 64 + 3 * steps; step++) {
        static double start;
        if (step >= 64 && (step - 64) % steps == 0)
            start = now();
        for (uint32_t i = 0; i < streams; i++)
            rows[i] = (NnRow){i, (uint32_t)rng_range(1, i, step, 0, c->vocab), true};
        nn_session_run(s, rows, streams, logits);
        if (step >= 64 && (step - 64) % steps == steps - 1) {
            double speed = streams * steps / (now() - start);
            best = speed > best ? speed : best;
        }
    }
    nn_floats_free(logits);
    nn_session_close(s);
    return best;
}

static void show(const char *name, NnConfig config, NnPool *pool, double bytes_per_second,
                 uint32_t steps)
{
    Arena arena = {0};
    NnModel model = nn_open(&arena, &config);
    for (uint64_t i = 0; i < model.table.total; i++)
        model.weights[i] = (float)((double)(rng_u64(1, 2, i) & 255) - 128) / 4096;
    NnInfer *infer = nn_infer_make(&model);
    nn_close(&model);
    double bytes = (double)nn_infer_bytes(infer), one = decode_speed(infer, pool, 1, steps);
    double eight = decode_speed(infer, pool, 8, steps / 4 + 1);
    printf("%-8s %6.1f MB a token  %8.1f tokens/s  %5.1f %% of bandwidth   8 sequences %8.1f "
           "tokens/s\n",
           name, bytes / 1e6, one, 100 * one * bytes / bytes_per_second, eight);
    nn_infer_close(infer);
    arena_drop(&arena);
}

int main(void)
{
    for (uint32_t threads = 1; threads <= 2; threads++) {
        NnPool *pool = nn_pool_open(threads);
        double speed = bandwidth(pool);
        printf("%u thread%s, %s: memory read at %.1f GB/s\n", threads, threads > 1 ? "s" : "",
               nn_int8_version(), speed / 1e9);
        NnConfig large = nn_config_default();
        large.layers = 12;
        large.width = 1280;
        large.heads = 20;
        large.kv_heads = 5;
        large.ffn = 4096;
        show("27 M", nn_config_default(), pool, speed, 64);
        show("large", large, pool, speed, 16);
        nn_pool_close(pool);
    }
    return 0;
}
