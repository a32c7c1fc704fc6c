/* The cycle model against published measurements of kernels whose source is public: predicted and
 * measured time, total and per pipe; the mean error of each group, then over the groups; whether
 * the steps of a tuning come out in the right order.
 *
 * The kernels stand in bench/cycles/, rewritten from the public description. Measured figures: Atlas
 * A2 (48 AIV at 1.85 GHz, which is 910B1), cannmirror/asc-devkit 0da921b, the READMEs of
 * examples/01_simd_cpp_api/05_best_practices/{00_vector_compute/add_high_performance,
 * 04_memory_access/data_copy,01_matrix_compute/matmul_high_performance}; instruction cycles:
 * hw-native-sys/pto-isa 3186c38. Rows marked * gave constants of the model (docs/cycle-model.md). */
#include "base/file.h"
#include "twin/observe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_DEFINES = 6, PIPES = 6 };

typedef struct Row {
    const char *group, *name, *file;
    const char *defines[MOST_DEFINES + 1];
    uint32_t blocks;
    uint64_t columns; /* of the tensors */
    bool fitted;
    double us;          /* measured, whole task; 0: a pair of its group is known only */
    double pipe[PIPES]; /* measured busy time, by shown[]; 0: not given */
} Row;

static const struct {
    enum NpuPipe pipe;
    const char *name;
} shown[PIPES] = {{NPU_PIPE_V, "vec"},  {NPU_PIPE_MTE2, "mte2"}, {NPU_PIPE_MTE3, "mte3"},
                  {NPU_PIPE_M, "cube"}, {NPU_PIPE_MTE1, "mte1"}, {NPU_PIPE_FIX, "fix"}};

#define ADD(n, blocks, fitted, us, vec, mte2, mte3, ...)                                           \
    {                                                                                              \
        "add", "case " #n, "add.cpp", {__VA_ARGS__}, blocks, 8192, fitted, us, { vec, mte2, mte3 } \
    }
#define COPY(source, group, n, blocks, columns, fitted, us, mte2, ...)                         \
    {                                                                                          \
        group, "scenario " #n, source, {__VA_ARGS__}, blocks, columns, fitted, us, { 0, mte2 } \
    }

/* In the order of the public tuning: within a group every row should be faster than the one before,
 * except where `us` says otherwise. */
static const Row rows[] = {
    ADD(1, 1, true, 6909.6, 761.65, 6208.76, 2613.2, "TILE=4096"),
    ADD(2, 48, false, 306.58, 15.885, 215.485, 54.33, "TILE=4096"),
    ADD(3, 48, false, 268.5, 12.845, 184.369, 57.354, "TILE=16384"),
    ADD(4, 48, true, 264.02, 12.846, 250.528, 84.988, "TILE=16384", "DOUBLE"),
    ADD(5, 48, true, 187.68, 12.846, 175.997, 160.291, "TILE=16384", "DOUBLE", "BYPASS"),
    ADD(6, 48, false, 184.52, 6.954, 171.611, 121.442, "TILE=16256", "DOUBLE", "BYPASS", "APART"),
    COPY("copy.cpp", "copy to UB", 1, 48, 12288, true, 564.84, 548.161, "TILE_M=1", "TILE_N=64"),
    COPY("copy.cpp", "copy to UB", 2, 48, 12288, true, 233.54, 220.772, "TILE_M=64", "TILE_N=64"),
    COPY("copy.cpp", "copy to UB", 3, 48, 12288, true, 215.82, 202.657, "TILE_M=64", "TILE_N=1024"),
    COPY("copy.cpp", "copy to UB", 4, 48, 12287, false, 275.3, 259.047, "TILE_M=64", "TILE_N=1024",
         "COLUMNS=12287"),
    COPY("copy.cpp", "copy to UB", 5, 48, 12288, false, 828.06, 0, "TILE_M=64", "TILE_N=1024",
         "TIMES=4"),
    COPY("copy.cpp", "copy to UB", 6, 48, 12288, true, 365.74, 0, "TILE_M=64", "TILE_N=1024",
         "PARTS=4", "TIMES=4"),
    COPY("copy.cpp", "copy to UB", 7, 48, 512, true, 539.42, 474.717, "TILE_M=128", "TILE_N=64",
         "COLUMNS=512", "ROWS=6144", "EVERYTHING"),
    COPY("copy.cpp", "copy to UB", 8, 48, 512, true, 328.88, 307.38, "TILE_M=128", "TILE_N=64",
         "COLUMNS=512", "ROWS=6144", "EVERYTHING", "SHIFTED"),
    COPY("copy_l1.cpp", "copy to L1", 1, 24, 12288, true, 300.7, 283.508, "TILE_M=64", "TILE_N=64"),
    COPY("copy_l1.cpp", "copy to L1", 2, 24, 12288, false, 230.24, 214.519, "TILE_M=64",
         "TILE_N=256"),
    COPY("copy_l1.cpp", "copy to L1", 3, 24, 12287, false, 438.76, 422.515, "TILE_M=64",
         "TILE_N=256", "COLUMNS=12287"),
    COPY("copy_l1.cpp", "copy to L1", 4, 24, 12288, false, 899.34, 0, "TILE_M=64", "TILE_N=1024",
         "TIMES=4"),
    COPY("copy_l1.cpp", "copy to L1", 5, 24, 12288, false, 414.96, 0, "TILE_M=64", "TILE_N=1024",
         "PARTS=4", "TIMES=4"),
    COPY("copy_l1.cpp", "copy to L1", 6, 24, 512, true, 278.56, 240.198, "TILE_M=256", "TILE_N=64",
         "COLUMNS=512", "ROWS=6144", "EVERYTHING"),
    COPY("copy_l1.cpp", "copy to L1", 7, 24, 512, true, 221.34, 209.8, "TILE_M=256", "TILE_N=64",
         "COLUMNS=512", "ROWS=6144", "EVERYTHING", "SHIFTED"),
    {"nd2nz", "case 1", "nd2nz.cpp", {0}, 48, 8192, false, 151.42, {47.79, 113.856, 76.76}},
    {"nd2nz", "case 2", "nd2nz.cpp", {"APART"}, 48, 8192, false, 144, {7.133, 115.405, 76.532}},
    {"matmul",
     "case 4",
     "matmul.cpp",
     {"STEP_A=2", "STEP_B=2"},
     24,
     8192,
     true,
     5039.86,
     {0, 4051.46, 0, 3116.472, 2332.914, 44.749}},
    {"matmul",
     "case 5",
     "matmul.cpp",
     {"STEP_A=8", "STEP_B=4"},
     24,
     8192,
     false,
     4156.76,
     {0, 3778.555, 0, 0, 0, 0}},
    {"matmul",
     "case 8",
     "matmul.cpp",
     {"STEP_A=8", "STEP_B=4", "HALVES=2", "UNIT"},
     24,
     8192,
     true,
     4012.44,
     {0, 3435.58, 0, 3076.396, 2533.512, 272.576}},
};
enum { ROWS = sizeof rows / sizeof *rows };

static TwinTensor tensor(const char *name, const Row *r, SimRole role)
{
    uint64_t height = r->columns >= 12287 ? 12288 : r->columns == 512 ? 6144 : 8192;
    return (TwinTensor){.name = name,
                        .dtype = DT_F16,
                        .rank = 2,
                        .shape = {height, r->columns},
                        .role = role,
                        .bytes = height * r->columns * 2};
}

static bool predict(Arena *arena, const Row *r, CycleReport *report)
{
    const NpuChip *chip = npu_chip_find(STR("910B1"));
    TwinSource source = {.path = str_format(arena, "bench/cycles/%s", r->file),
                         .dir = "bench/cycles",
                         .defines = r->defines};
    TwinOptions options = {.chip = chip, .time_only = true, .keep_going = true, .run_seconds = 300};
    TwinObserver observer = {0};
    Verdict verdict = verdict_make();
    Diag diag = diag_make(arena, source.path, (Str){0});
    if (!file_read(arena, source.path, 1 << 20, &source.text, &diag))
        return false;
    twin_observe(&options, &observer);
    TwinKernel *kernel = twin_compile(arena, &source, &options, &verdict, &diag);
    if (kernel) {
        uint32_t n = twin_kernel_params(kernel)->len;
        TwinTensor tensors[3] = {tensor("x", r, SIM_IN), tensor("y", r, SIM_IN),
                                 tensor("z", r, SIM_OUT)};
        TwinArg args[3] = {{.index = 0}, {.index = 1}, {.index = 2}};
        TwinLaunch launch = {.tensors = tensors,
                             .tensor_count = n,
                             .args = args,
                             .arg_count = n,
                             .blocks = r->blocks};
        TwinRun run;
        twin_run(arena, kernel, &launch, &options, &run, &verdict);
        twin_release(kernel);
    }
    *report = observer.report;
    if (!observer.done) {
        Buf text = {0};
        diag_print(&diag, &text);
        printf("%s %s: %s %s\n", r->group, r->name, verdict.reason, text.at ? text.at : "");
        buf_free(&text);
    }
    return observer.done;
}

static double error_of(double predicted, double measured)
{
    return fabs(predicted - measured) / measured;
}

typedef struct Mean {
    double sum;
    uint32_t n;
} Mean;

static void add_to(Mean *m, double value)
{
    m->sum += value;
    m->n++;
}

static void print_row(const Row *r, const CycleReport *report, Mean *total, Mean *pipes, Mean *held)
{
    add_to(total, error_of(report->us, r->us));
    if (!r->fitted)
        add_to(held, error_of(report->us, r->us));
    printf("%-11s %-11s%c %9.1f %9.1f %+6.1f%%", r->group, r->name, r->fitted ? '*' : ' ',
           report->us, r->us, 100 * (report->us / r->us - 1));
    for (int p = 0; p < PIPES; p++) {
        if (r->pipe[p] <= 0)
            continue;
        double busy = report->busy_us[shown[p].pipe];
        add_to(pipes, error_of(busy, r->pipe[p]));
        printf("  %s %.0f/%.0f", shown[p].name, busy, r->pipe[p]);
    }
    printf("\n");
}

static bool same_group(uint32_t a, uint32_t b)
{
    return str_is(str_from(rows[a].group), rows[b].group);
}

/* Every pair of a group: does the model order it as the measurement does? */
static void count_pairs(const CycleReport *reports, uint32_t *right, uint32_t *pairs)
{
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t k = i + 1; k < ROWS && same_group(i, k); k++) {
            bool ordered = (reports[i].us < reports[k].us) == (rows[i].us < rows[k].us);
            ++*pairs;
            *right += ordered;
            if (!ordered)
                printf("order wrong: %s %s against %s\n", rows[i].group, rows[i].name,
                       rows[k].name);
        }
}

/* --- single vector instructions --- */

/* Dense tiles; pto-isa's tests, rows marked as measured there. */
static const struct {
    const char *name;
    uint16_t op;
    uint8_t dtype;
    uint32_t elements;
    double cycles;
} instructions[] = {
    {"Add f32 64x64", NPU_ADD, NPU_DT_F32, 4096, 160},
    {"Add i32 64x64", NPU_ADD, NPU_DT_I32, 4096, 151},
    {"Add f16 16x256", NPU_ADD, NPU_DT_F16, 4096, 92},
    {"Sub f32 64x64", NPU_SUB, NPU_DT_F32, 4096, 153},
    {"Sub f16 16x256", NPU_SUB, NPU_DT_F16, 4096, 68},
    {"Mul f32 64x64", NPU_MUL, NPU_DT_F32, 4096, 168},
    {"Mul f16 16x256", NPU_MUL, NPU_DT_F16, 4096, 96},
    {"Div f32 64x64", NPU_DIV, NPU_DT_F32, 4096, 288},
    {"Abs f32 64x64", NPU_ABS, NPU_DT_F32, 4096, 68},
    {"Abs f16 16x256", NPU_ABS, NPU_DT_F16, 4096, 36},
    {"Exp f32 64x64", NPU_EXP, NPU_DT_F32, 4096, 159},
    {"Exp f16 64x64", NPU_EXP, NPU_DT_F16, 4096, 95},
    {"Exp f32 32x32", NPU_EXP, NPU_DT_F32, 1024, 63},
    {"Exp f16 32x32", NPU_EXP, NPU_DT_F16, 1024, 47},
    {"Mins f32 64x64", NPU_MINS, NPU_DT_F32, 4096, 87},
    {"Mins f16 16x256", NPU_MINS, NPU_DT_F16, 4096, 40},
    {"Rsqrt f16 64x64", NPU_RSQRT, NPU_DT_F16, 4096, 58},
    {"Sqrt f32 64x64", NPU_SQRT, NPU_DT_F32, 4096, 160},
    {"Sqrt f16 64x64", NPU_SQRT, NPU_DT_F16, 4096, 102},
};
enum { INSTRUCTIONS = sizeof instructions / sizeof *instructions };

static double instruction_cycles(uint32_t i)
{
    SimConfig config = {
        .chip = npu_chip_find(STR("910B1")), .kind = SIM_AIV, .blocks = 1, .no_data = true};
    Sim *sim = sim_open(&config);
    Cycle *cycle = cycle_open(sim);
    uint8_t dtype = instructions[i].dtype;
    Record r = {.op = instructions[i].op,
                .pipe = NPU_PIPE_V,
                .flags = REC_COUNTER,
                .dtype = {dtype, dtype, dtype},
                .mask = {instructions[i].elements}};
    for (uint64_t k = 0; k < 3; k++)
        r.operand[k] = (RecordOperand){rec_address(NPU_UB, k * 16384), 0, 1, 8};
    size_t used;
    CycleReport report;
    sim_feed(sim, 0, &r, 1, &used);
    cycle_report(cycle, &report);
    cycle_close(cycle);
    sim_close(sim);
    return report.cycles - npu_constants[NPU_C_ISSUE].value;
}

static double mean(const Mean *m) { return m->n ? 100 * m->sum / m->n : 0; }

static void print_instructions(Mean *groups)
{
    Mean total = {0};
    for (uint32_t i = 0; i < INSTRUCTIONS; i++) {
        double cycles = instruction_cycles(i), measured = instructions[i].cycles;
        add_to(&total, error_of(cycles, measured));
        printf("%-24s %9.1f %9.1f %+6.1f%%  cycles\n", instructions[i].name, cycles, measured,
               100 * (cycles / measured - 1));
    }
    printf("%-24s mean error %.1f %%\n\n", "instructions", mean(&total));
    add_to(groups, mean(&total) / 100);
}

int main(int argc, char **argv)
{
    Arena arena = {0};
    CycleReport reports[ROWS] = {0};
    Mean groups = {0}, pipe_groups = {0}, total = {0}, pipes = {0}, held = {0};
    (void)argc, (void)argv;
    printf("%-24s %9s %9s  %s\n", "", "predicted", "measured", "us; per pipe predicted/measured");
    for (uint32_t i = 0; i < ROWS; i++) {
        if (!predict(&arena, &rows[i], &reports[i]))
            return 3;
        print_row(&rows[i], &reports[i], &total, &pipes, &held);
        if (i + 1 < ROWS && same_group(i, i + 1))
            continue;
        printf("%-24s mean error %.1f %%, of the pipes %.1f %%\n\n", rows[i].group, mean(&total),
               mean(&pipes));
        add_to(&groups, mean(&total) / 100);
        add_to(&pipe_groups, mean(&pipes) / 100);
        total = pipes = (Mean){0};
    }
    print_instructions(&groups);
    uint32_t right = 0, pairs = 0;
    count_pairs(reports, &right, &pairs);
    printf("over the groups: %.1f %% total, %.1f %% per pipe; %u of %u pairs in the right order\n",
           mean(&groups), mean(&pipe_groups), right, pairs);
    printf("kernels that gave no constant: %.1f %% over %u rows\n", mean(&held), held.n);
    arena_drop(&arena);
    return 0;
}
