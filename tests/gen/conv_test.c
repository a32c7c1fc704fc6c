/* Convolutions on the cube: the planner's form of one means the same, its tiles fit, its programs compute it. */
#include "gen/plan/cube/conv.h"

#include "craft/craft.h"
#include "gen/plan/rewrite.h"
#include "graph/inputs.h"
#include "ir/run.h"
#include "lower/lower.h"
#include "tests/t.h"
#include "torch/torch.h"
#include <math.h>
#include <string.h>

static const NpuChip *chip_of(void) { return npu_chip_find(STR("910B2")); }

typedef struct Case {
    const char *call, *inputs; /* of forward(self, x, w) */
} Case;

static Graph *read_in(Arena *arena, const Case *c, bool hf32)
{
    const char *text = str_format(arena,
                                  "import torch\nimport torch.nn as nn\n"
                                  "import torch.nn.functional as F\n\n"
                                  "class Model(nn.Module):\n    def forward(self, x, w):\n"
                                  "        return %s\n\n"
                                  "def get_inputs():\n    return [%s]\n",
                                  c->call, c->inputs);
    TorchOptions options = {.hf32 = hf32};
    Diag diag = diag_make(arena, "model.py", str_from(text));
    TorchTask *task = torch_read_scaled(arena, "model.py", str_from(text), &options, SCALE_FULL,
                                        &diag);
    CHECK_MSG(task, "%s: %s", c->call, diag.items.len ? diag.items.at[0].text : "");
    REQUIRE(task != NULL);
    return task->graph;
}

static Graph *read_case(Arena *arena, const Case *c) { return read_in(arena, c, false); }

static Tensor *value_of(const Graph *g, const TaskInputs *in, Diag *diag)
{
    Tensor *out = NULL;
    EvalOptions options = {0};
    REQUIRE(graph_eval(g, in->inputs, in->params, &options, &out, diag));
    return out;
}

static void check_near(const Tensor *want, const void *got, DType dtype, const char *what)
{
    for (int64_t i = 0; i < want->count; i++) {
        double a = tensor_get(want, i), b = dtype_load(dtype, got, (size_t)i);
        CHECK_MSG(fabs(a - b) <= 1e-4 * (fabs(a) + 1), "%s: %lld: want %g, got %g", what,
                  (long long)i, a, b);
        if (fabs(a - b) > 1e-4 * (fabs(a) + 1))
            return;
    }
}

enum { POINTS = 17 }; /* windows of one place from there on: products of matrices */
static const Case cases[] = {
    {"F.conv2d(x, w)", "torch.randn(2, 7, 6, 9), torch.randn(8, 7, 3, 2)"},
    {"F.conv2d(x, w, padding=(2, 1), dilation=(1, 2))",
     "torch.randn(2, 5, 6, 9), torch.randn(12, 5, 3, 3)"},
    {"F.conv2d(x, w, stride=(2, 3), padding=1)",
     "torch.randn(1, 6, 9, 11), torch.randn(10, 6, 3, 5)"},
    {"F.conv2d(x, w, stride=2, dilation=4)", "torch.randn(1, 6, 12, 12), torch.randn(10, 6, 2, 3)"},
    {"F.conv2d(x, w, stride=(3, 2), padding=(0, 2), dilation=(2, 3))",
     "torch.randn(1, 6, 12, 12), torch.randn(10, 6, 3, 3)"},
    {"F.conv2d(x, w, padding=1, groups=3)", "torch.randn(2, 9, 5, 7), torch.randn(12, 3, 3, 3)"},
    {"F.conv1d(x, w, stride=3, padding=4, dilation=2)",
     "torch.randn(3, 8, 40), torch.randn(16, 8, 5)"},
    {"F.conv3d(x, w, padding=(0, 1, 2))", "torch.randn(1, 4, 4, 5, 6), torch.randn(8, 4, 2, 3, 3)"},
    {"F.conv3d(x, w, stride=(1, 2, 3))", "torch.randn(2, 4, 4, 7, 9), torch.randn(8, 4, 2, 3, 4)"},
    {"F.conv2d(x[0], w, padding=1)", "torch.randn(2, 7, 6, 9), torch.randn(8, 7, 3, 3)"},
    {"F.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1)",
     "torch.randn(2, 6, 9), torch.randn(6, 5, 4)"},
    {"F.conv_transpose2d(x, w)", "torch.randn(2, 6, 4, 5), torch.randn(6, 5, 3, 2)"},
    {"F.conv_transpose2d(x, w, stride=2, padding=3)",
     "torch.randn(2, 6, 6, 5), torch.randn(6, 5, 3, 4)"},
    {"F.conv_transpose2d(x, w, stride=(3, 2), padding=(2, 1), dilation=(2, 3), groups=2)",
     "torch.randn(2, 6, 6, 5), torch.randn(6, 4, 3, 3)"},
    {"F.conv_transpose2d(x, w, padding=3, dilation=2)",
     "torch.randn(1, 6, 5, 4), torch.randn(6, 9, 3, 4)"},
    {"F.conv_transpose3d(x, w, stride=2, padding=1, output_padding=(1, 0, 1), groups=2)",
     "torch.randn(1, 4, 3, 4, 3), torch.randn(4, 3, 3, 2, 3)"},
    {"F.conv_transpose2d(x, w, stride=4)", "torch.randn(1, 8, 3, 3), torch.randn(8, 8, 2, 1)"},
    {"F.conv2d(x, w, stride=2, padding=1)", "torch.randn(2, 8, 7, 7), torch.randn(16, 8, 1, 1)"},
    {"F.conv2d(x, w)", "torch.randn(2, 8, 7, 7), torch.randn(16, 8, 1, 1)"},
};

T_TEST(conv_in_the_cubes_form_means_the_same)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena arena = {0};
        Diag diag = diag_make(&arena, "t", STR(""));
        const ValueId *outer = NULL;
        TaskInputs in = {0};
        Graph *g = read_case(&arena, &cases[i]);
        Graph *other = rewrite_graph(&arena, g, &outer, &diag);
        REQUIRE(other != NULL && graph_inputs(g, 1, LAW_GIVEN, &in, &diag));
        bool form = false;
        for (uint32_t k = 0; k < other->nodes.len; k++) {
            CHECK_MSG(other->nodes.at[k].op != OP_CONV, "%s", cases[i].call);
            form = form || other->nodes.at[k].op == OP_CONV_TAPS;
        }
        CHECK_MSG(form || i >= POINTS, "%s", cases[i].call);
        Tensor *want = value_of(g, &in, &diag), *got = value_of(other, &in, &diag);
        CHECK(shape_equal(want->shape, got->shape));
        check_near(want, got->at, got->dtype, cases[i].call);
        tensor_free(want);
        tensor_free(got);
        graph_inputs_free(&in);
        arena_drop(&arena);
    }
}

/* Few products an element of the result are left to the vector cores. */
T_TEST(conv_of_single_channels_is_not_on_the_cube)
{
    static const Case depthwise = {"F.conv2d(x, w, padding=1, groups=4)",
                                   "torch.randn(1, 4, 6, 6), torch.randn(4, 1, 3, 3)"};
    Arena arena = {0};
    Diag diag = diag_make(&arena, "t", STR(""));
    const ValueId *outer = NULL;
    Graph *other = rewrite_graph(&arena, read_case(&arena, &depthwise), &outer, &diag);
    REQUIRE(other != NULL);
    for (uint32_t k = 0; k < other->nodes.len; k++)
        CHECK(other->nodes.at[k].op != OP_CONV && other->nodes.at[k].op != OP_CONV_TAPS);
    arena_drop(&arena);
}

/* The program of the planner, run by the interpreter. */
static void check_in(const Case *c, bool hf32)
{
    Arena arena = {0};
    Plan plan = {0};
    TaskInputs in = {0};
    Graph *g = read_in(&arena, c, hf32);
    Diag diag = diag_make(&arena, "t", STR(""));
    REQUIRE(plan_make(&arena, g, chip_of(), 0, &plan, &diag));
    CHECK_MSG((str_find(plan.craft, STR("mmad_hf32(")) >= 0) == hf32, "%s", c->call);
    diag = diag_make(&arena, "t", plan.craft);
    CraftFile *file = craft_read(&arena, "t", plan.craft, &diag);
    IrProgram *p = file ? craft_program(&arena, file, 0, &diag) : NULL;
    REQUIRE(p != NULL);
    CHECK_MSG(lower_program(&arena, p, chip_of(), LOWER_ALIGN, &diag), "%s: %s", c->call,
              diag.items.len ? diag.items.at[0].text : "");
    REQUIRE(graph_inputs(g, 1, LAW_GIVEN, &in, &diag));
    Tensor *want = value_of(g, &in, &diag);
    IrOperand *operands = arena_array(&arena, IrOperand, plan.operands.len);
    const IrData *result = NULL;
    for (uint32_t i = 0; i < plan.operands.len; i++) {
        const PlanOperand *o = &plan.operands.at[i];
        IrData *data = arena_new(&arena, IrData);
        data->rank = (uint32_t)o->shape.rank;
        memcpy(data->dims, o->shape.dim, sizeof data->dims);
        for (uint32_t k = 0; k < g->inputs.len; k++)
            if (g->inputs.at[k] == o->value)
                data->data = in.inputs[k]->at;
        operands[i] = (IrOperand){1, data};
        result = o->output ? data : result;
    }
    IrRun run = {.p = p, .chip = chip_of(), .operands = operands};
    ir_run(&arena, &run);
    CHECK_MSG(run.status == IR_RUN_OK && !run.faults.len, "%s: %s", c->call,
              run.text ? run.text : "");
    if (run.status == IR_RUN_OK && result)
        check_near(want, result->data, want->dtype, c->call);
    tensor_free(want);
    graph_inputs_free(&in);
    arena_drop(&arena);
}

static void check_program(const Case *c) { check_in(c, false); }

T_TEST(conv_programs_compute_it)
{
    check_program(&cases[1]);
    check_program(&cases[2]);
}

/* Factors rounded to HF32, on both sides: taps, a window of one place, and one with few channels, which the vector cores
 * would multiply exactly otherwise. */
T_TEST(conv_programs_compute_it_in_hf32)
{
    static const Case rounded[] = {
        {"F.conv2d(x, w, padding=1)", "torch.randn(2, 8, 7, 9), torch.randn(20, 8, 3, 3)"},
        {"F.conv2d(x, w).relu()", "torch.randn(1, 20, 6, 7), torch.randn(9, 20, 1, 1)"},
        {"F.conv_transpose2d(x, w, stride=2)", "torch.randn(1, 2, 5, 6), torch.randn(2, 3, 2, 2)"}};
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++)
        check_in(&rounded[i], true);
}

/* Few products are exact, and no other operator is marked. */
T_TEST(conv_marks_of_hf32)
{
    static const struct {
        Case of;
        bool marked;
    } rows[] = {
        {{"F.conv2d(x, w)", "torch.randn(2, 8, 7, 9), torch.randn(20, 8, 3, 3)"}, true},
        {{"F.conv2d(x, w, groups=4)", "torch.randn(1, 4, 6, 6), torch.randn(4, 1, 3, 3)"}, false},
        {{"F.conv2d(x.half(), w.half())", "torch.randn(2, 8, 7, 9), torch.randn(20, 8, 3, 3)"},
         false},
        {{"torch.matmul(x, w)", "torch.randn(64, 64), torch.randn(64, 64)"}, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int asked = 0; asked < 2; asked++) {
            Arena arena = {0};
            const Graph *g = read_in(&arena, &rows[i].of, asked);
            bool marked = false;
            for (uint32_t k = 0; k < g->nodes.len; k++)
                marked = marked || node_bool(&g->nodes.at[k], AT_HF32);
            CHECK_MSG(marked == (asked && rows[i].marked), "row %zu", i);
            arena_drop(&arena);
        }
}

T_TEST(conv_programs_of_deep_and_wide_inputs_compute_it)
{
    static const Case deep = {"F.conv2d(x, w)",
                              "torch.randn(1, 530, 3, 20), torch.randn(17, 530, 2, 1)"};
    check_program(&deep);
}

/* Bias, activation and residual are in the convolution's own kernel: rows of places, parts of one row, one output. */
T_TEST(conv_programs_compute_what_follows)
{
    static const Case follows[] = {
        {"torch.relu(F.conv2d(x, w) + 0.5) * x[:, :, 1:-1, 1:-1]",
         "torch.randn(2, 16, 8, 9), torch.randn(16, 16, 3, 3)"},
        {"torch.tanh(F.conv1d(x, w))", "torch.randn(2, 16, 300), torch.randn(17, 16, 5)"},
        {"F.silu(F.conv3d(x, w))", "torch.randn(1, 16, 4, 5, 6), torch.randn(20, 16, 2, 3, 3)"}};
    for (size_t i = 0; i < sizeof follows / sizeof *follows; i++)
        check_program(&follows[i]);
}

static Taps example(int64_t channels, int64_t outputs, int64_t size, int64_t k)
{
    return (Taps){.dtype = DT_F32,
                  .images = 8,
                  .groups = 1,
                  .channels = channels,
                  .outputs = outputs,
                  .phases = 1,
                  .in = {1, size + k - 1, (size + k + 14) / 16 * 16},
                  .out = {1, size, size},
                  .k = {1, k, k},
                  .stride = {1, 1, 1},
                  .dilation = {1, 1, 1}};
}

T_TEST(conv_tiles_fit)
{
    static const int64_t sizes[][4] = {{3, 64, 224, 7},  {64, 64, 56, 3},  {512, 512, 7, 3},
                                       {1, 1, 300, 15},  {2048, 16, 4, 1}, {16, 1000, 1, 5},
                                       {3, 7, 5000, 31}, {700, 3, 31, 2}};
    const NpuChip *chip = chip_of();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int half = 0; half < 2; half++) {
            Taps t = example(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3]);
            t.dtype = half ? DT_BF16 : DT_F32;
            ConvBlocks b = {0};
            conv_list(&t, chip, &b, 1);
            int64_t size = half ? 2 : 4, k1 = (b.k1 + 15) / 16 * 16;
            CHECK(b.m > 0 && b.k0 > 0 && b.k0 % 16 == 0 && b.n % 16 == 0);
            CHECK(2 * (b.m + b.n) * k1 * size <= (int64_t)chip->l1);
            CHECK(2 * b.m * b.k0 * size <= (int64_t)chip->l0a);
            CHECK(2 * b.n * b.k0 * size <= (int64_t)chip->l0b);
            CHECK(b.c_depth * b.m * b.n * 4 <= (int64_t)chip->l0c);
            CHECK(b.taps ? b.k1 == b.taps * t.channels : b.k1 % b.k0 == 0);
            CHECK(!b.rows || b.n == b.rows * t.in[2]);
        }
}

/* Many rows at once, whole where the input begins at 32 bytes; planes before and behind, too. */
T_TEST(pad_programs_compute_it)
{
    static const Case pads[] = {
        {"F.pad(x, (8, 5, 1, 2))", "torch.randn(2, 3, 5, 11), torch.randn(1)"},
        {"F.pad(x, (1, 6, 0, 2, 3, 1), value=-1.5)", "torch.randn(2, 2, 3, 5, 9), torch.randn(1)"},
        {"F.pad(x, (0, 8, 2, 0, 1, 0))", "torch.randn(1, 2, 3, 5, 16), torch.randn(1)"}};
    for (size_t i = 0; i < sizeof pads / sizeof *pads; i++)
        check_program(&pads[i]);
}
