/* The twin against a plain C loop: bytes per second of a large f32 Add and of a row-wise Softmax,
 * records per second, and how long a kernel takes to compile cold and warm; what hazards and cycles
 * cost on top of the values, and how long launches of any size take without data.
 *
 * Both sides run on one thread of this machine and print their figures and the ratio. */
#include "twin/observe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { COUNT = 16 << 20, ROWS = 4096, COLUMNS = 4096, BLOCKS = 48 };

static const char add_text[] =
    "#include \"kernel_operator.h\"\n"
    "using namespace AscendC;\n"
    "extern \"C\" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total)\n"
    "{\n"
    "    constexpr uint32_t TILE = 8192;\n"
    "    TPipe pipe;\n"
    "    TQue<QuePosition::VECIN, 2> inX, inY;\n"
    "    TQue<QuePosition::VECOUT, 2> outZ;\n"
    "    GlobalTensor<float> xGm, yGm, zGm;\n"
    "    xGm.SetGlobalBuffer((__gm__ float *)x, total);\n"
    "    yGm.SetGlobalBuffer((__gm__ float *)y, total);\n"
    "    zGm.SetGlobalBuffer((__gm__ float *)z, total);\n"
    "    pipe.InitBuffer(inX, 2, TILE * sizeof(float));\n"
    "    pipe.InitBuffer(inY, 2, TILE * sizeof(float));\n"
    "    pipe.InitBuffer(outZ, 2, TILE * sizeof(float));\n"
    "    for (uint32_t i = GetBlockIdx(); i < total / TILE; i += GetBlockNum()) {\n"
    "        LocalTensor<float> a = inX.AllocTensor<float>(), b = inY.AllocTensor<float>();\n"
    "        DataCopy(a, xGm[i * TILE], TILE);\n"
    "        DataCopy(b, yGm[i * TILE], TILE);\n"
    "        inX.EnQue(a);\n"
    "        inY.EnQue(b);\n"
    "        a = inX.DeQue<float>();\n"
    "        b = inY.DeQue<float>();\n"
    "        LocalTensor<float> c = outZ.AllocTensor<float>();\n"
    "        Add(c, a, b, TILE);\n"
    "        outZ.EnQue(c);\n"
    "        inX.FreeTensor(a);\n"
    "        inY.FreeTensor(b);\n"
    "        c = outZ.DeQue<float>();\n"
    "        DataCopy(zGm[i * TILE], c, TILE);\n"
    "        outZ.FreeTensor(c);\n"
    "    }\n"
    "}\n";

static const char softmax_text[] =
    "#include \"kernel_operator.h\"\n"
    "using namespace AscendC;\n"
    "extern \"C\" __global__ __aicore__ void softmax(GM_ADDR x, GM_ADDR y, uint32_t rows)\n"
    "{\n"
    "    constexpr uint32_t N = 4096;\n"
    "    TPipe pipe;\n"
    "    TQue<QuePosition::VECIN, 2> in;\n"
    "    TQue<QuePosition::VECOUT, 2> out;\n"
    "    TBuf<TPosition::VECCALC> scratch, result;\n"
    "    GlobalTensor<float> xGm, yGm;\n"
    "    xGm.SetGlobalBuffer((__gm__ float *)x, rows * N);\n"
    "    yGm.SetGlobalBuffer((__gm__ float *)y, rows * N);\n"
    "    pipe.InitBuffer(in, 2, N * sizeof(float));\n"
    "    pipe.InitBuffer(out, 2, N * sizeof(float));\n"
    "    pipe.InitBuffer(scratch, N * sizeof(float));\n"
    "    pipe.InitBuffer(result, 256);\n"
    "    for (uint32_t r = GetBlockIdx(); r < rows; r += GetBlockNum()) {\n"
    "        LocalTensor<float> a = in.AllocTensor<float>();\n"
    "        DataCopy(a, xGm[r * N], N);\n"
    "        in.EnQue(a);\n"
    "        a = in.DeQue<float>();\n"
    "        LocalTensor<float> c = out.AllocTensor<float>(), s = scratch.Get<float>();\n"
    "        LocalTensor<float> one = result.Get<float>();\n"
    "        ReduceMax(one, a, s, N);\n"
    "        float most = one.GetValue(0);\n"
    "        Adds(a, a, -most, N);\n"
    "        Exp(c, a, N);\n"
    "        ReduceSum(one, c, s, N);\n"
    "        float sum = one.GetValue(0);\n"
    "        Muls(c, c, 1.0f / sum, N);\n"
    "        out.EnQue(c);\n"
    "        in.FreeTensor(a);\n"
    "        c = out.DeQue<float>();\n"
    "        DataCopy(yGm[r * N], c, N);\n"
    "        out.FreeTensor(c);\n"
    "    }\n"
    "}\n";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of processor time: a busy machine does not matter much. What this process spends on a run
 * is counted with the simulator's. */
typedef struct Spent {
    double simulator, cores;
} Spent;
typedef struct Usage {
    double tool, children;
} Usage;

static double of_usage(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static Usage usage(void) { return (Usage){of_usage(RUSAGE_SELF), of_usage(RUSAGE_CHILDREN)}; }

static TwinKernel *compile(Arena *arena, const char *text, const TwinOptions *options)
{
    TwinSource source = {.path = "bench.cpp", .text = str_from(text)};
    Verdict verdict = verdict_make();
    Diag diag = diag_make(arena, "bench.cpp", source.text);
    TwinKernel *kernel = twin_compile(arena, &source, options, &verdict, &diag);
    if (!kernel) {
        printf("%s: %s\n", verdict_status_row(verdict.status)->text, verdict.reason);
        exit(1);
    }
    return kernel;
}

static TwinTensor tensor_of(const char *name, SimRole role)
{
    TwinTensor tensor = {.name = name,
                         .dtype = DT_F32,
                         .rank = 1,
                         .shape = {COUNT},
                         .role = role,
                         .bytes = COUNT * sizeof(float)};
    if (!twin_tensor_alloc(&tensor))
        exit(3);
    memset(tensor.data, 0, tensor.bytes);
    return tensor;
}

/* Which observers a run has. */
typedef struct Watch {
    bool hazards, cycles, time_only, no_memo;
    Hazard *hazard;
    Cycle *cycle;
    struct {
        double us;
        uint64_t passed; /* records that only repeated */
        double spent;    /* seconds of the simulator's own process */
    } seen;
    Spent spent;
} Watch;

static void open_watch(void *context, Sim *sim)
{
    Watch *w = context;
    w->hazard = w->hazards ? hazard_open(sim, false) : NULL;
    w->cycle = w->cycles ? cycle_open(sim) : NULL;
}

static double process_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void close_watch(void *context, Sim *sim, Buf *seen)
{
    Watch *w = context;
    CycleReport report = {0};
    w->seen.passed = sim_passed_over(sim);
    if (w->cycle)
        cycle_report(w->cycle, &report);
    w->seen.us = report.us;
    cycle_close(w->cycle);
    hazard_close(w->hazard);
    w->seen.spent = process_seconds();
    buf_add(seen, &w->seen, sizeof w->seen);
}

static void receive_watch(void *context, Str seen)
{
    Watch *w = context;
    if (seen.len == sizeof w->seen)
        memcpy(&w->seen, seen.at, sizeof w->seen);
}

static double launch_watched(Arena *arena, const char *text, TwinTensor *tensors, uint32_t count,
                             uint32_t number, TwinRun *run, Watch *watch)
{
    TwinOptions options = {.run_seconds = 300,
                           .time_only = watch->time_only,
                           .no_memo = watch->no_memo,
                           .prepare = open_watch,
                           .inspect = close_watch,
                           .receive = receive_watch,
                           .context = watch};
    TwinKernel *kernel = compile(arena, text, &options);
    TwinArg args[4] = {{0}};
    for (uint32_t i = 0; i < count; i++)
        args[i] = (TwinArg){.kind = TWIN_ARG_TENSOR, .index = i};
    args[count] = (TwinArg){.kind = TWIN_ARG_VALUE, .bytes = {(const char *)&number, 4}};
    TwinLaunch l = {.tensors = tensors,
                    .tensor_count = count,
                    .args = args,
                    .arg_count = count + 1,
                    .blocks = BLOCKS};
    Verdict verdict = verdict_make();
    Usage before = usage();
    double started = now();
    twin_run(arena, kernel, &l, &options, run, &verdict);
    double seconds = now() - started;
    Usage after = usage();
    watch->spent = (Spent){watch->seen.spent + after.tool - before.tool,
                           after.children - before.children - watch->seen.spent};
    twin_release(kernel);
    if (verdict.status != VERDICT_OK)
        printf("%s: %s\n", verdict_status_row(verdict.status)->text, verdict.reason);
    return seconds;
}

static double launch(Arena *arena, const char *text, TwinTensor *tensors, uint32_t count,
                     uint32_t number, TwinRun *run)
{
    return launch_watched(arena, text, tensors, count, number, run, &(Watch){0});
}

/* Values alone, then with each observer: what the simulator's own process spends. */
static void bench_observers(Arena *arena, TwinTensor *tensors)
{
    TwinRun run;
    Watch values = {0}, hazards = {.hazards = true}, cycles = {.cycles = true};
    launch_watched(arena, softmax_text, tensors, 2, ROWS, &run, &values);
    launch_watched(arena, softmax_text, tensors, 2, ROWS, &run, &hazards);
    launch_watched(arena, softmax_text, tensors, 2, ROWS, &run, &cycles);
    double alone = values.spent.simulator;
    printf("softmax    values %.3f s, hazards %+.3f s, cycles %+.3f s of processor time\n", alone,
           hazards.spent.simulator - alone, cycles.spent.simulator - alone);
}

static void bench_dry(Arena *arena, const char *what, const char *text, TwinTensor *tensors,
                      uint32_t count, uint32_t number, bool no_memo)
{
    TwinRun run;
    Watch dry = {.hazards = true, .cycles = true, .time_only = true, .no_memo = no_memo};
    double seconds = launch_watched(arena, text, tensors, count, number, &run, &dry);
    printf("time only  %s%s: %.3f s; processor time: simulator %.3f s, %.2f M records/s (%.0f %% "
           "passed over), cores %.3f s; predicted %.1f us\n",
           what, no_memo ? ", no memo" : "", seconds, dry.spent.simulator,
           (double)run.records / dry.spent.simulator * 1e-6,
           100.0 * (double)dry.seen.passed / (double)run.records, dry.spent.cores, dry.seen.us);
}

/* No data: softmax of 256 MiB, add of 9 GiB. */
static void bench_time_only(Arena *arena)
{
    enum { LARGE_ROWS = 16384 };
    TwinTensor x = {.name = "x", .dtype = DT_F32, .rank = 1, .role = SIM_IN};
    x.bytes = (size_t)LARGE_ROWS * COLUMNS * 4;
    TwinTensor y = x, z = x;
    y.name = "y";
    y.role = SIM_OUT;
    TwinTensor soft[] = {x, y};
    for (int no_memo = 0; no_memo < 2; no_memo++)
        bench_dry(arena, "softmax 256 MiB", softmax_text, soft, 2, LARGE_ROWS, no_memo);
    x.bytes = y.bytes = z.bytes = 3ull << 30;
    y.role = SIM_IN;
    z.name = "z";
    z.role = SIM_OUT;
    TwinTensor add[] = {x, y, z};
    for (int no_memo = 0; no_memo < 2; no_memo++)
        bench_dry(arena, "add, 9 GiB of tensors", add_text, add, 3, 3u << 28, no_memo);
}

/* Not inlined and not vectorised across calls, so that it really happens. */
static double plain_add(const float *x, const float *y, float *z)
{
    double started = now();
    for (size_t i = 0; i < COUNT; i++)
        z[i] = x[i] + y[i];
    return now() - started;
}

static double plain_softmax(const float *x, float *y)
{
    double started = now();
    for (size_t r = 0; r < ROWS; r++) {
        const float *row = x + r * COLUMNS;
        float *to = y + r * COLUMNS, most = row[0], sum = 0;
        for (size_t i = 1; i < COLUMNS; i++)
            most = row[i] > most ? row[i] : most;
        for (size_t i = 0; i < COLUMNS; i++)
            sum += to[i] = expf(row[i] - most);
        for (size_t i = 0; i < COLUMNS; i++)
            to[i] *= 1.0f / sum;
    }
    return now() - started;
}

static void compare(const char *what, double bytes, double ours, double plain, const TwinRun *run)
{
    printf("%-10s twin %6.2f GB/s  plain C %6.2f GB/s  ratio %.1f  (%.3f s, %.2f M records/s)\n",
           what, bytes / ours * 1e-9, bytes / plain * 1e-9, ours / plain, ours,
           (double)run->records / ours * 1e-6);
}

static void bench_compile(Arena *arena)
{
    TwinOptions cold = {.no_cache = true}, warm = {0};
    char *fresh = str_format(arena, "// %.9f\n%s", now(), add_text);
    double t0 = now();
    twin_release(compile(arena, fresh, &cold));
    double t1 = now();
    twin_release(compile(arena, add_text, &warm)); /* makes sure the header is there */
    double t2 = now();
    twin_release(compile(arena, fresh, &warm));
    double t3 = now();
    twin_release(compile(arena, fresh, &warm));
    printf(
        "compile    no cache %.2f s, new text with precompiled header %.2f s, same text %.3f s\n",
        t1 - t0, t3 - t2, now() - t3);
}

int main(void)
{
    Arena arena = {0};
    TwinRun run;
    TwinTensor t[] = {tensor_of("x", SIM_IN), tensor_of("y", SIM_IN), tensor_of("z", SIM_OUT)};
    float *x = t[0].data, *y = t[1].data, *z = t[2].data, *want = calloc(COUNT, sizeof *want);
    if (!want)
        return 3;
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = (float)(i % 1000) * 0.001f;
        y[i] = (float)(i % 77) * 0.01f;
        want[i] = 1;
    }
    bench_compile(&arena);
    double ours = launch(&arena, add_text, t, 3, COUNT, &run);
    compare("add", 3.0 * COUNT * 4, ours, plain_add(x, y, want), &run);
    printf("           %s\n", memcmp(z, want, COUNT * sizeof *z) ? "VALUES DIFFER" : "same values");
    TwinTensor soft[] = {t[0], t[2]};
    ours = launch(&arena, softmax_text, soft, 2, ROWS, &run);
    compare("softmax", 2.0 * COUNT * 4, ours, plain_softmax(x, want), &run);
    bench_observers(&arena, soft);
    bench_time_only(&arena);
    for (int i = 0; i < 3; i++)
        twin_tensor_free(&t[i]);
    arena_drop(&arena);
    free(want);
    return 0;
}
