/* Kernels of the cube at full size: predicted time of what the planner makes, beside what is asked and
 * what was measured of others.
 *
 *     bench-cube [--kernels] [--hf32] [WORD...|FILE.py...]
 *
 * Without arguments a table: products, matrix-vector, convolutions, attention. A word takes
 * the rows whose names hold it; a file is timed at its own sizes. `share` is what the cube (at the peak of the
 * dtype: a quarter for exact f32, half for convolutions with --hf32; keys that a causal mask hides are not counted) or memory need, over the
 * predicted time. All kernels of a task are counted, repacking too.
 * Predicted: no board has run these. Records come straight from the lowered program (emit/sim.h), which is
 * the same stream as through the twin. */
#include "eval/bound.h"
#include "eval/time.h"
#include "loop/make.h"
#include "torch/torch.h"

#include "base/file.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MODEL                               \
    "import torch\nimport torch.nn as nn\n" \
    "import torch.nn.functional as F\n\n\n" \
    "class Model(nn.Module):\n"             \
    "    def __init__(self):\n"             \
    "        super().__init__()\n\n"
#define PRODUCT(m, n, k)                                                                    \
    MODEL "    def forward(self, a, b):\n        return torch.matmul(a, b)\n\n\n"           \
          "def get_inputs():\n    return [torch.randn(" m ", " k ", dtype=torch.float16), " \
          "torch.randn(" k ", " n ", dtype=torch.float16)]\n\n\n"                           \
          "def get_init_inputs():\n    return []\n"
#define CONVOLUTION(type, batch, in, out, size, kernel, padding)                          \
    MODEL "    def forward(self, x, w):\n"                                                \
          "        return F.conv2d(x, w, padding=" padding ")\n\n\n"                      \
          "def get_inputs():\n    return [torch.randn(" batch ", " in ", " size ", " size \
          ", dtype=torch." type "), torch.randn(" out ", " in ", " kernel ", " kernel     \
          ", dtype=torch." type ")]\n\n\n"                                                \
          "def get_init_inputs():\n    return []\n"
#define ATTENTION(heads, length, causal)                                                       \
    MODEL "    def forward(self, q, k, v):\n"                                                  \
          "        return F.scaled_dot_product_attention(q, k, v, is_causal=" causal ")\n\n\n" \
          "def get_inputs():\n    return [torch.randn(1, " heads ", " length                   \
          ", 128, dtype=torch.float16) for _ in range(3)]\n\n\n"                               \
          "def get_init_inputs():\n    return []\n"

/* What is found of a task beside its verdict. */
typedef struct Found {
    Plan plan;
    EvalShares kernels;
    double cube_us; /* of its arithmetic at the cube's peak */
    double planning;
} Found;

typedef struct Row {
    const char *name, *source;
    double asked;     /* least share */
    const char *seen; /* measured of others; facts, not of this kernel */
} Row;

static const Row rows[] = {
    {"product f16 4096x4096x4096", PRODUCT("4096", "4096", "4096"), 0.72, "vendor 526 us, L2 cold"},
    {"product f16 8192x8192x8192", PRODUCT("8192", "8192", "8192"), 0.72, "torch 3630 us"},
    {"product f16 1024x1024x1024", PRODUCT("1024", "1024", "1024"), 0.45, "vendor 15.7 us"},
    {"product f16 128x4096x4096", PRODUCT("128", "4096", "4096"), 0, "vendor 34.6 us"},
    {"product f16 64x64x16384", PRODUCT("64", "64", "16384"), 1 / 1.3, ""},
    {"product f16 256x256x16384", PRODUCT("256", "256", "16384"), 1 / 1.3, ""},
    {"product f16 256x256x131072", PRODUCT("256", "256", "131072"), 1 / 1.3, ""},
    {"vector f16 1x4096x8192", PRODUCT("1", "4096", "8192"), 1.2 / 1.8, "vendor 56.6 us"},
    {"vector f16 8192x1x4096", PRODUCT("8192", "1", "4096"), 1.2 / 1.8, ""},
    {"convolution f16 8x64->64 56x56 3x3", CONVOLUTION("float16", "8", "64", "64", "56", "3", "1"),
     0.6, ""},
    {"convolution f16 8x256->256 56x56 3x3",
     CONVOLUTION("float16", "8", "256", "256", "56", "3", "1"), 0.6, ""},
    {"convolution f16 8x256->64 56x56 1x1",
     CONVOLUTION("float16", "8", "256", "64", "56", "1", "0"), 0.6, ""},
    {"convolution f32 8x128->128 28x28 3x3",
     CONVOLUTION("float32", "8", "128", "128", "28", "3", "1"), 0.6, ""},
    {"attention f16 head 4096x128", ATTENTION("1", "4096", "False"), 0.25,
     "pto-isa 88.9 us, torch 118"},
    {"attention f16 16 heads 4096x128", ATTENTION("16", "4096", "False"), 0.25, ""},
    {"attention f16 16 heads 4096x128 causal", ATTENTION("16", "4096", "True"), 0.25, ""},
    {"attention f16 head 16384x128", ATTENTION("1", "16384", "False"), 0.40,
     "pto-isa 909 us, torch 1118"},
};

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t count_launches(Str text)
{
    uint32_t n = 0;
    Str line;
    while (str_next(&text, '\n', &line)) /* "    name[cores](operands)" */
        n += line.len > 4 && line.at[0] == ' ' && str_find(line, STR("](")) > 0 &&
             str_find(line, STR(" = ")) < 0;
    return n;
}

static bool show_kernels, in_hf32;

/* Microseconds of the arithmetic at the peak of the first result's dtype. */
static double cube_us(const Graph *g)
{
    DType dtype = graph_value(g, g->outputs.at[0])->dtype;
    double rate = 2.0 * chip()->aic * chip()->cube_rate * chip()->mhz;
    bool hf32 = false;
    for (uint32_t i = 0; i < g->nodes.len; i++)
        hf32 = hf32 || node_bool(&g->nodes.at[i], AT_HF32);
    return graph_cost(g).flops / (dtype != DT_F32 ? rate : hf32 ? rate / 2 : rate / 4);
}

static bool time_text(Arena *arena, const char *path, Str source, Found *found, Verdict *v,
                      const char **why)
{
    TorchOptions options = {.hf32 = in_hf32};
    Diag diag = diag_make(arena, path, source);
    double from = seconds();
    TorchTask *task = torch_read_scaled(arena, path, source, &options, SCALE_FULL, &diag);
    bool ok = task && plan_make(arena, task->graph, chip(), 0, &found->plan, &diag);
    found->planning = seconds() - from;
    *why = diag.items.len ? diag.items.at[0].text : "not read";
    if (!ok)
        return false;
    found->cube_us = cube_us(task->graph);
    EvalCraft c = {.file = "plan.craft",
                   .text = found->plan.craft,
                   .operands = make_operands(arena, &found->plan),
                   .operand_count = found->plan.operands.len};
    EvalConfig config = {.chip = chip(), .trust = true, .seconds = 600, .straight = true};
    Diag said = diag_make(arena, c.file, c.text);
    EvalTimer *timer = eval_timer_open(arena, &c, task->graph, &config, v, &said);
    ok = timer && eval_timer_run(arena, timer, c.operands, NULL, 0, v);
    if (ok && show_kernels && eval_timer_kernels(arena, timer, c.operands, &found->kernels))
        found->kernels.us = v->predicted_us;
    eval_timer_close(timer);
    *why = v->reason;
    return ok;
}

static void print_kernels(const EvalShares *all)
{
    for (uint32_t i = 0; i < all->len; i++) {
        const EvalShare *k = &all->at[i];
        printf("    %-44s %4u launches %9.1f us  %5.1f %%  %2u cores, %s busy %.0f %%\n", k->name,
               k->launches, k->us, 100 * k->us / all->us, k->cores, k->pipe, 100 * k->busy);
    }
    if (all->len)
        printf("    %.1f MB of workspace\n", (double)all->workspace / 1e6);
}

/* 1: timed and as asked; 0: below; -1: not timed. */
static int bench_text(const char *name, const char *path, Str source, const Row *row)
{
    Arena arena = {0};
    Found found = {0};
    Verdict v = verdict_make();
    const char *why = "";
    int result = -1;
    if (time_text(&arena, path, source, &found, &v, &why)) {
        double part = str_find(str_from(name), STR("causal")) >= 0 ? 0.5 : 1;
        double cube = part * found.cube_us, least = cube > v.bound_us ? cube : v.bound_us;
        double share = least / v.predicted_us;
        result = !row || share >= row->asked;
        printf("%-44s %10.1f us  least %9.1f  share %.3f", name, v.predicted_us, least, share);
        if (row && row->asked > 0)
            printf(" (asked %.2f: %s)", row->asked, result ? "reached" : "below");
        printf("  %s, %u launches, planned in %.1f s%s%s\n", found.plan.strategy,
               count_launches(found.plan.craft), found.planning,
               row && *row->seen ? "  seen: " : "", row ? row->seen : "");
        print_kernels(&found.kernels);
    } else {
        printf("%-44s not timed: %s\n", name, why ? why : "?");
    }
    fflush(stdout);
    arena_drop(&arena);
    return result;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    int words = 0;
    for (int i = 1; i < argc; i++) {
        if (str_find(str_from(name), str_from(argv[i])) >= 0)
            return true;
        words += argv[i][0] != '-';
    }
    return !words;
}

int main(int argc, char **argv)
{
    uint32_t asked = 0, reached = 0;
    for (int i = 1; i < argc; i++)
        show_kernels = show_kernels || !strcmp(argv[i], "--kernels");
    for (int i = 1; i < argc; i++)
        in_hf32 = in_hf32 || !strcmp(argv[i], "--hf32");
    for (int i = 1; i < argc; i++) {
        Arena arena = {0};
        Str source;
        Diag diag = diag_make(&arena, argv[i], STR(""));
        if (str_ends(str_from(argv[i]), ".py") && file_read(&arena, argv[i], 0, &source, &diag))
            bench_text(argv[i], argv[i], source, NULL);
        arena_drop(&arena);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!is_wanted(rows[i].name, argc, argv))
            continue;
        int result = bench_text(rows[i].name, "model.py", str_from(rows[i].source), &rows[i]);
        asked += rows[i].asked > 0;
        reached += rows[i].asked > 0 && result > 0;
    }
    if (asked)
        printf("%u of %u as asked (predicted, not measured)\n", reached, asked);
    return 0;
}
