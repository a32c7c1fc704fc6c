/* The reference interpreter: right values, and each fault with its numbers. */
#include "tests/ir/help.h"

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

static void softmax_row(const float *x, float *y, int64_t n)
{
    double m = -INFINITY, s = 0;
    for (int64_t i = 0; i < n; i++)
        m = x[i] > m ? x[i] : m;
    for (int64_t i = 0; i < n; i++)
        s += exp(x[i] - m);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)(exp(x[i] - m) / s);
}

static void check_softmax(int64_t rows, int64_t cols)
{
    Arena arena = {0};
    IrProgram *p = help_file(&arena, "tests/ir/programs/softmax.ir");
    IrOperand operands[2] = {help_tensor(&arena, DT_F32, 2, (int64_t[]){rows, cols}, 1, -8, 8),
                             help_output(&arena)};
    IrRun run = {.p = p, .chip = chip(), .operands = operands};
    help_run(&arena, &run);
    const float *x = operands[0].items[0].data, *y = operands[1].items[0].data;
    float *want = arena_array(&arena, float, (size_t)cols);
    REQUIRE(run.status == IR_RUN_OK);
    for (int64_t r = 0; r < rows; r++) {
        softmax_row(x + r * cols, want, cols);
        for (int64_t c = 0; c < cols; c++)
            if (!CHECK_NEAR(y[r * cols + c], want[c], 1e-6 * want[c]))
                return;
    }
    arena_drop(&arena);
}

T_TEST(softmax_gives_the_right_values)
{
    check_softmax(1, 1);
    check_softmax(33, 7);
    check_softmax(100, 5000);
}
