/* The simulator's own speed, records in, values out, one thread, beside a plain C loop that does the
 * same arithmetic: a large f32 Add, an f16 Add, Exp, a row softmax, a matrix product; and records
 * per second of a stream of small instructions. Prints both sides and the ratio; values, hazards and
 * cycles separately. */
#include "base/dtype.h"
#include "sim/cycle.h"
#include "sim/hazard.h"
#include "sim/sim.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BASE 0x300000000000ull
enum { TILE = 8192, TILES = 1024 }; /* elements */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* a busy machine does not matter */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static Record copy(uint16_t op, uint64_t d, uint64_t s, uint32_t bytes)
{
    Record r = {
        .op = op, .pipe = op == NPU_COPY_GM_UB ? NPU_PIPE_MTE2 : NPU_PIPE_MTE3, .n = {1, bytes}};
    r.operand[0].address = d;
    r.operand[1].address = s;
    return r;
}

static Record vec(uint16_t op, uint8_t dtype, uint64_t d, uint64_t a, uint64_t b, uint32_t n)
{
    Record r = {.op = op,
                .pipe = NPU_PIPE_V,
                .flags = REC_COUNTER,
                .mask = {n},
                .dtype = {dtype, dtype, dtype}};
    const uint64_t at[3] = {d, a, b};
    for (int i = 0; i < 3; i++)
        r.operand[i] = (RecordOperand){rec_address(NPU_UB, at[i]), 0, 1, 8};
    return r;
}

static Sim *open_sim(float *x, float *y, float *z, size_t bytes)
{
    SimConfig config = {.chip = npu_chip_find(STR("910B2")), .kind = SIM_AIV, .blocks = 1};
    Sim *sim = sim_open(&config);
    SimRegion in = {"x", BASE, bytes, x, NPU_DT_F32, .role = SIM_IN};
    SimRegion in2 = {"y", BASE + (1ull << 40), bytes, y, NPU_DT_F32, .role = SIM_IN};
    SimRegion out = {"z", BASE + (2ull << 40), bytes, z, NPU_DT_F32, .role = SIM_OUT};
    sim_gm_add(sim, &in);
    sim_gm_add(sim, &in2);
    sim_gm_add(sim, &out);
    return sim;
}

static uint64_t gm(int which, uint64_t byte)
{
    return rec_address(NPU_GM, BASE + ((uint64_t)which << 40) + byte);
}

static void feed(Sim *sim, const Record *r, size_t n)
{
    size_t used;
    if (sim_feed(sim, 0, r, n, &used) != SIM_MORE)
        printf("fault: %s\n", sim_fault(sim, 0)->message);
}

static void plain_add(float *z, const float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        z[i] = x[i] + y[i];
}

static void plain_add_half(uint16_t *z, const uint16_t *x, const uint16_t *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        z[i] = half_from_float(half_to_float(x[i]) + half_to_float(y[i]));
}

static void plain_exp(float *z, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        z[i] = expf(x[i]);
}

static void line(const char *what, double ours, double plain, double bytes)
{
    printf("%-22s sim %8.3f ms  %6.2f GB/s   plain C %8.3f ms   ratio %5.2f\n", what, ours * 1e3,
           bytes / ours * 1e-9, plain * 1e3, ours / plain);
}

static void bench_elementwise(const char *what, uint16_t op, uint8_t dtype, float *x, float *y,
                              float *z)
{
    size_t tile = TILE * dtype_bytes((DType)dtype), bytes = tile * TILES;
    Sim *sim = open_sim(x, y, z, TILE * TILES * sizeof(float));
    double start = now();
    for (uint64_t t = 0; t < TILES; t++) {
        Record r[4] = {
            copy(NPU_COPY_GM_UB, rec_address(NPU_UB, 0), gm(0, t * tile), (uint32_t)tile),
            copy(NPU_COPY_GM_UB, rec_address(NPU_UB, 32768), gm(1, t * tile), (uint32_t)tile),
            vec(op, dtype, 65536, 0, 32768, TILE),
            copy(NPU_COPY_UB_GM, gm(2, t * tile), rec_address(NPU_UB, 65536), (uint32_t)tile)};
        feed(sim, r, 4);
    }
    double ours = now() - start;
    start = now();
    if (op == NPU_EXP)
        plain_exp(z, x, TILE * TILES);
    else if (dtype == NPU_DT_F16)
        plain_add_half((uint16_t *)z, (const uint16_t *)x, (const uint16_t *)y, TILE * TILES);
    else
        plain_add(z, x, y, TILE * TILES);
    line(what, ours, now() - start, 3.0 * (double)bytes);
    sim_close(sim);
}

/* Rows of 2048: max, subtract, exp, sum, divide, as a softmax kernel issues it. */
enum { ROW = 2048 };

static void softmax_row(Sim *sim, uint64_t row)
{
    uint64_t at = row * ROW * 4;
    Record r[8];
    int n = 0;
    r[n++] = copy(NPU_COPY_GM_UB, rec_address(NPU_UB, 0), gm(0, at), ROW * 4);
    r[n] = vec(NPU_REPEAT_MAX, NPU_DT_F32, 32768, 0, 0, ROW);
    r[n].operand[0].repeat_stride = 1;
    r[n++].mode = REC_ONLY_VALUE;
    r[n] = vec(NPU_REPEAT_MAX, NPU_DT_F32, 32768, 32768, 0, ROW / 64);
    r[n].operand[0].repeat_stride = 1;
    r[n++].mode = REC_ONLY_VALUE;
    feed(sim, r, (size_t)n);
    float most, sum;
    memcpy(&most, (char *)sim_core(sim, 0)->memory[NPU_UB] + 32768, 4);
    uint32_t bits;
    most = -most;
    memcpy(&bits, &most, 4);
    n = 0;
    r[n] = vec(NPU_ADDS, NPU_DT_F32, 0, 0, 0, ROW);
    r[n++].scalar = bits;
    r[n++] = vec(NPU_EXP, NPU_DT_F32, 0, 0, 0, ROW);
    r[n] = vec(NPU_REPEAT_SUM, NPU_DT_F32, 32768, 0, 0, ROW);
    r[n++].mode = 1;
    feed(sim, r, (size_t)n);
    bits = (uint32_t)sim_core(sim, 0)->view->accumulated;
    memcpy(&sum, &bits, 4);
    sum = 1 / sum;
    memcpy(&bits, &sum, 4);
    n = 0;
    r[n] = vec(NPU_MULS, NPU_DT_F32, 0, 0, 0, ROW);
    r[n++].scalar = bits;
    r[n++] = copy(NPU_COPY_UB_GM, gm(2, at), rec_address(NPU_UB, 0), ROW * 4);
    feed(sim, r, (size_t)n);
}

static void plain_softmax(float *z, const float *x, size_t rows)
{
    for (size_t r = 0; r < rows; r++, x += ROW, z += ROW) {
        float most = x[0], sum = 0;
        for (int i = 1; i < ROW; i++)
            most = x[i] > most ? x[i] : most;
        for (int i = 0; i < ROW; i++)
            sum += z[i] = expf(x[i] - most);
        for (int i = 0; i < ROW; i++)
            z[i] /= sum;
    }
}

static double run_softmax(float *x, float *y, float *z, bool hazards, bool cycles)
{
    Sim *sim = open_sim(x, y, z, TILE * TILES * sizeof(float));
    Hazard *hazard = hazards ? hazard_open(sim, false) : NULL;
    Cycle *cycle = cycles ? cycle_open(sim) : NULL;
    double start = now();
    for (uint64_t row = 0; row < TILE * TILES / ROW; row++)
        softmax_row(sim, row);
    double ours = now() - start;
    cycle_close(cycle);
    hazard_close(hazard);
    sim_close(sim);
    return ours;
}

static void bench_softmax(float *x, float *y, float *z)
{
    double values = run_softmax(x, y, z, false, false);
    double start = now();
    plain_softmax(z, x, TILE * TILES / ROW);
    line("softmax f32", values, now() - start, 8.0 * TILE * TILES);
    double hazards = run_softmax(x, y, z, true, false), cycles = run_softmax(x, y, z, false, true);
    printf("softmax f32            values %.3f ms, hazards +%.3f ms, cycles +%.3f ms\n",
           values * 1e3, (hazards - values) * 1e3, (cycles - values) * 1e3);
}

static void bench_records(float *x, float *y, float *z)
{
    Sim *sim = open_sim(x, y, z, TILE * TILES * sizeof(float));
    feed(sim, (Record[]){copy(NPU_COPY_GM_UB, rec_address(NPU_UB, 0), gm(0, 0), 32768)}, 1);
    Record r[64];
    for (int i = 0; i < 64; i++)
        r[i] = vec(NPU_ADD, NPU_DT_F32, 65536, 0, 256, 64);
    double start = now();
    const int rounds = 20000;
    for (int i = 0; i < rounds; i++)
        feed(sim, r, 64);
    double ours = now() - start;
    printf("records of 64 f32      %.2f M records/s\n", rounds * 64 / ours * 1e-6);
    sim_close(sim);
}

/* Times the stream without data: what a full-size shape costs to check and to time. */
static void bench_dry(bool observed)
{
    SimConfig config = {
        .chip = npu_chip_find(STR("910B2")), .kind = SIM_AIV, .blocks = 1, .no_data = true};
    Sim *sim = sim_open(&config);
    const uint64_t tiles = 200000, bytes = tiles * 32768;
    SimRegion in = {"x", BASE, bytes, NULL, NPU_DT_F32, .role = SIM_IN};
    SimRegion out = {"z", BASE + (2ull << 40), bytes, NULL, NPU_DT_F32, .role = SIM_OUT};
    sim_gm_add(sim, &in);
    sim_gm_add(sim, &out);
    Hazard *hazard = observed ? hazard_open(sim, false) : NULL;
    Cycle *cycle = observed ? cycle_open(sim) : NULL;
    double start = now();
    for (uint64_t t = 0; t < tiles; t++) {
        Record r[9] = {copy(NPU_COPY_GM_UB, rec_address(NPU_UB, 0), gm(0, t * 32768), 32768),
                       {.op = NPU_SET_FLAG, .pipe = NPU_PIPE_MTE2, .mode = NPU_PIPE_V},
                       {.op = NPU_WAIT_FLAG, .pipe = NPU_PIPE_MTE2, .mode = NPU_PIPE_V},
                       vec(NPU_EXP, NPU_DT_F32, 0, 0, 0, 8192),
                       {.op = NPU_SET_FLAG, .pipe = NPU_PIPE_V, .mode = NPU_PIPE_MTE3},
                       {.op = NPU_WAIT_FLAG, .pipe = NPU_PIPE_V, .mode = NPU_PIPE_MTE3},
                       copy(NPU_COPY_UB_GM, gm(2, t * 32768), rec_address(NPU_UB, 0), 32768),
                       {.op = NPU_SET_FLAG, .pipe = NPU_PIPE_MTE3, .mode = NPU_PIPE_MTE2},
                       {.op = NPU_WAIT_FLAG, .pipe = NPU_PIPE_MTE3, .mode = NPU_PIPE_MTE2}};
        feed(sim, r, 9);
    }
    double ours = now() - start;
    printf("no data, %-14s %.2f M records/s (%.1f GB of tensors in %.2f s)\n",
           observed ? "hazards+cycles" : "checks only", 9 * (double)tiles / ours * 1e-6,
           2 * (double)bytes * 1e-9, ours);
    cycle_close(cycle);
    hazard_close(hazard);
    sim_close(sim);
}

static void bench_mmad(void)
{
    SimConfig config = {.chip = npu_chip_find(STR("910B2")), .kind = SIM_AIC, .blocks = 1};
    Sim *sim = sim_open(&config);
    Record fill = {.op = NPU_FILL,
                   .pipe = NPU_PIPE_MTE1,
                   .dtype = {NPU_DT_F16},
                   .n = {1, 64},
                   .scalar = 0x3C00};
    fill.operand[0].address = rec_address(NPU_L0A, 0);
    feed(sim, &fill, 1);
    fill.operand[0].address = rec_address(NPU_L0B, 0);
    feed(sim, &fill, 1);
    Record mm = {.op = NPU_MMAD,
                 .pipe = NPU_PIPE_M,
                 .dtype = {NPU_DT_F32, NPU_DT_F16, NPU_DT_F16},
                 .mode = 1,
                 .n = {128, 128, 128}};
    mm.operand[0].address = rec_address(NPU_L0C, 0);
    mm.operand[1].address = rec_address(NPU_L0A, 0);
    mm.operand[2].address = rec_address(NPU_L0B, 0);
    double start = now();
    for (int i = 0; i < 20; i++)
        feed(sim, &mm, 1);
    double ours = now() - start;
    printf("Mmad 128x128x128 f16   %.2f GFLOP/s\n", 20 * 2.0 * 128 * 128 * 128 / ours * 1e-9);
    sim_close(sim);
}

int main(void)
{
    size_t bytes = (size_t)TILE * TILES * sizeof(float);
    float *x = heap_alloc(bytes), *y = heap_alloc(bytes), *z = heap_alloc(bytes);
    for (size_t i = 0; i < (size_t)TILE * TILES; i++)
        x[i] = (float)(i % 777) * 0.01f, y[i] = (float)(i % 333), z[i] = 0;
    bench_elementwise("Add f32", NPU_ADD, NPU_DT_F32, x, y, z);
    bench_elementwise("Add f16", NPU_ADD, NPU_DT_F16, x, y, z);
    bench_elementwise("Exp f32", NPU_EXP, NPU_DT_F32, x, y, z);
    bench_softmax(x, y, z);
    bench_records(x, y, z);
    bench_dry(false);
    bench_dry(true);
    bench_mmad();
    heap_free(x), heap_free(y), heap_free(z);
    return 0;
}
