/* Decoding speed on the CPU: tokens per second, and the bytes they read as a share of the memory
 * bandwidth measured in the same run with the same threads. A model of the default size, one that no
 * cache holds, and several sequences at once.
 *
 *     bench-nn [MOST]     with 1, 2, 4, ... MOST threads (2) */
#include "base/rng.h"
#include "nn/infer.h"
#include "nn/int8.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { PIECE = 1 << 20, PIECES = 512 };

typedef struct ReadJob {
    const char *a, *b;
    int differ[PIECES];
} ReadJob;

/* Two streams at the speed of the C library's vector loop. */
static void read_range(void *given, uint32_t from, uint32_t to)
{
    ReadJob *j = given;
    for (uint32_t i = from; i < to; i++)
        j->differ[i] = memcmp(j->a + (size_t)i * PIECE, j->b + (size_t)i * PIECE, PIECE);
}

/* Bytes per second of reading 1 GiB, the best of seven. */
static double bandwidth(NnPool *pool)
{
    static ReadJob job;
    double best = 0;
    char *bytes = heap_alloc(2 * (size_t)PIECES * PIECE);
    memset(bytes, 1, 2 * (size_t)PIECES * PIECE);
    job.a = bytes;
    job.b = bytes + (size_t)PIECES * PIECE;
    for (int round = 0; round < 7; round++) {
        double start = now();
        nn_pool_run(pool, PIECES, 2, read_range, &job);
        double speed = 2.0 * PIECES * PIECE / (now() - start);
        best = speed > best ? speed : best;
    }
    heap_free(bytes);
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

/* A model of random weights. */
static NnInfer *random_model(NnConfig config)
{
    Arena arena = {0};
    NnModel model = nn_open(&arena, &config);
    for (uint64_t i = 0; i < model.table.total; i++)
        model.weights[i] = (float)(i * 0x9E3779B97F4A7C15u >> 40 & 255) / 4096 - 1.0f / 32;
    NnInfer *infer = nn_infer_make(&model);
    nn_close(&model);
    arena_drop(&arena);
    return infer;
}

static void show(const char *name, const NnInfer *infer, NnPool *pool, double bytes_per_second,
                 uint32_t steps)
{
    double bytes = (double)nn_infer_bytes(infer), one = decode_speed(infer, pool, 1, steps);
    double eight = decode_speed(infer, pool, 8, steps / 4 + 1);
    printf("%-8s %6.1f MB a token  %8.1f tokens/s  %5.1f %% of bandwidth   8 sequences %8.1f "
           "tokens/s\n",
           name, bytes / 1e6, one, 100 * one * bytes / bytes_per_second, eight);
}

int main(int argc, char **argv)
{
    uint32_t most = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 2;
    NnConfig config = nn_config_default();
    NnInfer *usual = random_model(config);
    config.layers = 36; /* 0.76 GB of int8, more than any cache */
    config.width = 1280;
    config.heads = 20;
    config.kv_heads = 5;
    config.ffn = 4096;
    NnInfer *large = random_model(config);
    for (uint32_t threads = 1; threads <= most; threads *= 2) {
        NnPool *pool = nn_pool_open(threads);
        double speed = bandwidth(pool);
        printf("%u thread%s, %s: memory read at %.1f GB/s\n", threads, threads > 1 ? "s" : "",
               nn_int8_version(), speed / 1e9);
        show("27 M", usual, pool, speed, 64);
        show("large", large, pool, speed, 8);
        nn_pool_close(pool);
    }
    nn_infer_close(usual);
    nn_infer_close(large);
    return 0;
}
