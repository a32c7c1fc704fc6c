/* The launch after a launch: variables of a kernel's text keep their values on the device. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include <string.h>

enum { MOST = 512, BLOCKS = 2 };
static float x[MOST], y[MOST];

/* y = 2 x, a part for each core, with text before the class's function and at its start. */
static const char *kernel_with(Arena *arena, const char *outside, const char *inside)
{
    return str_format(
        arena,
        "#include \"kernel_operator.h\"\n"
        "using namespace AscendC;\n"
        "%s\n"
        "extern \"C\" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y, uint32_t n) {\n"
        "    TPipe pipe; TQue<QuePosition::VECIN, 1> in; TQue<QuePosition::VECOUT, 1> out;\n"
        "    GlobalTensor<float> from, to;\n"
        "    uint32_t part = n / GetBlockNum(), at = part * GetBlockIdx();\n"
        "    float factor = 2;\n"
        "    %s\n"
        "    from.SetGlobalBuffer((__gm__ float *)x, n); to.SetGlobalBuffer((__gm__ float *)y, "
        "n);\n"
        "    pipe.InitBuffer(in, 1, part * 4); pipe.InitBuffer(out, 1, part * 4);\n"
        "    auto a = in.AllocTensor<float>(); DataCopy(a, from[at], part); in.EnQue(a);\n"
        "    a = in.DeQue<float>(); auto b = out.AllocTensor<float>();\n"
        "    Muls(b, a, factor, part); out.EnQue(b); in.FreeTensor(a);\n"
        "    b = out.DeQue<float>(); DataCopy(to[at], b, part); out.FreeTensor(b);\n"
        "}\n",
        outside, inside);
}

static void launch_twice(Trial *t, TwinKept *kept, uint32_t n)
{
    TwinTensor tensors[] = {
        {.name = "x", .rank = 1, .shape = {n}, .role = SIM_IN, .data = x, .bytes = 4 * n},
        {.name = "y", .rank = 1, .shape = {n}, .role = SIM_OUT, .data = y, .bytes = 4 * n},
    };
    tensors[0].dtype = tensors[1].dtype = DT_F32;
    TwinArg args[] = {{.index = 0},
                      {.index = 1},
                      {.kind = TWIN_ARG_VALUE, .bytes = {(const char *)&n, sizeof n}}};
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 2, .args = args, .arg_count = 3, .blocks = BLOCKS};
    for (uint32_t i = 0; i < MOST; i++)
        x[i] = (float)(i % 61) - 30;
    memset(y, 0, sizeof y);
    t->launch = &launch;
    t->options.kept = kept;
    trial_run(t);
    for (uint32_t i = 0; t->verdict.status == VERDICT_OK && i < n; i++)
        CHECK(y[i] == 2 * x[i]);
}

static void expect(const char *what, const char *outside, const char *inside, VerdictStatus status,
                   bool leaves)
{
    Trial t = {0};
    t.text = kernel_with(&t.arena, outside, inside);
    launch_twice(&t, NULL, 256);
    CHECK_MSG(t.verdict.status == status, "%s: %s (%s) %s", what,
              verdict_status_row(t.verdict.status)->text, t.verdict.reason, t.messages.at);
    CHECK_MSG((t.run.left > 0) == leaves, "%s: %u pieces left", what, t.run.left);
    trial_drop(&t);
}

T_TEST(second_launch_starts_where_the_first_ended)
{
    expect("no variables", "", "", VERDICT_OK, false);
    expect("only read", "static float g = 2; volatile float h = 2;", "factor = g * h / 2;",
           VERDICT_OK, false);
    expect("set in every launch", "float g;", "g = 2; factor = g;", VERDICT_OK, true);
    expect(
        "filled once", "float table[4]; int filled;",
        "if (!filled) { for (int i = 0; i < 4; i++) table[i] = i; filled = 1; } factor = table[2];",
        VERDICT_OK, true);
    expect("a counter", "", "static int calls = 0; if (calls++ > 0) return;", VERDICT_NOT_COMPUTED,
           true);
    expect("a patient counter", "", "static int calls = 0; if (calls++ > 100) return;",
           VERDICT_NOT_COMPUTED, true);
    expect("scratch of one core, made of inputs", "float g = 1;",
           "if (GetBlockIdx() == 0) { g = ((__gm__ float *)x)[3]; factor = g - g + 2; }",
           VERDICT_OK, true);
    expect("another number for each core", "int64_t g;", "g = GetBlockIdx() + 5;", VERDICT_OK,
           true);
    expect("a switch", "", "static bool odd; odd = !odd;", VERDICT_NOT_COMPUTED, true);
    expect("a counter that goes back", "int depth;", "depth++; depth--;", VERDICT_OK, false);
    expect("a counter that changes a value", "namespace AscendC { int calls; }",
           "if (AscendC::calls++ > 0) factor = 3;", VERDICT_NOT_COMPUTED, true);
    expect("told by another core", "int seen;",
           "if (GetBlockIdx() == 0) seen = 1; else if (seen) factor = 3;", VERDICT_NOT_COMPUTED,
           true);
    expect("kept from the first input", "float first; int had;",
           "if (!had) { first = ((__gm__ float *)x)[at]; had = 1; }"
           " if (((__gm__ float *)x)[at] != first) factor = 3;",
           VERDICT_NOT_COMPUTED, true);
}

T_TEST(second_launch_has_no_other_memory)
{
    expect("thread_local", "thread_local int calls;", "if (calls++ > 0) return;",
           VERDICT_NOT_COMPILED, false);
    expect("the device's clock", "", "if (GetSystemCycle() > 1000000) return;", VERDICT_HAZARD,
           false);
}

/* A size kept from one case is wrong in the next. */
T_TEST(second_launch_of_another_size)
{
    Arena arena = {0};
    TwinKept kept = {.arena = &arena};
    const char *text = kernel_with(&arena, "uint32_t length;",
                                   "if (!length) length = n; if (length != n) factor = 3;");
    Trial small = {.text = text}, large = {.text = text};
    launch_twice(&small, &kept, 256);
    CHECK_MSG(small.verdict.status == VERDICT_OK, "%s", small.verdict.reason);
    launch_twice(&large, &kept, 512);
    CHECK_MSG(large.verdict.status == VERDICT_NOT_COMPUTED &&
                  strstr(large.verdict.reason, "'length'"),
              "%s", large.verdict.reason);
    trial_drop(&small);
    trial_drop(&large);
    arena_drop(&arena);
}
