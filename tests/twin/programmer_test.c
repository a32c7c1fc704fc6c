/* As a programmer meets it: a kernel with an ordinary mistake, and whether the findings name the
 * line, the device's behaviour and the repair. Also launches that cannot be. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include <string.h>

/* One tile in, doubled, out; the mistakes are made in the marked places. Line 12 is InitBuffer of
 * the input, 15 the copy in, 20 the free of the input, 23 the copy out. */
#define KERNEL(tile, init, copy, free)                                      \
    "#include \"kernel_operator.h\"\n"                                      \
    "using namespace AscendC;\n"                                            \
    "extern \"C\" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR y)\n" \
    "{\n"                                                                   \
    "    constexpr uint32_t TILE = " tile ";\n"                             \
    "    TPipe pipe;\n"                                                     \
    "    TQue<QuePosition::VECIN, 1> in;\n"                                 \
    "    TQue<QuePosition::VECOUT, 1> out;\n"                               \
    "    GlobalTensor<float> xGm, yGm;\n"                                   \
    "    xGm.SetGlobalBuffer((__gm__ float *)x, 1000);\n"                   \
    "    yGm.SetGlobalBuffer((__gm__ float *)y, 1000);\n"                   \
    "    pipe.InitBuffer(in, 1, " init ");\n"                               \
    "    pipe.InitBuffer(out, 1, TILE * sizeof(float) + 32);\n"             \
    "    LocalTensor<float> a = in.AllocTensor<float>();\n"                 \
    "    " copy ";\n"                                                       \
    "    in.EnQue(a);\n"                                                    \
    "    a = in.DeQue<float>();\n"                                          \
    "    LocalTensor<float> b = out.AllocTensor<float>();\n"                \
    "    Add(b, a, a, TILE);\n"                                             \
    "    " free ";\n"                                                       \
    "    out.EnQue(b);\n"                                                   \
    "    b = out.DeQue<float>();\n"                                         \
    "    DataCopyPad(yGm, b, {1, TILE * sizeof(float), 0, 0, 0});\n"        \
    "    out.FreeTensor(b);\n"                                              \
    "}\n"

static float x[1000], y[1000];

static Trial run_twice(const char *text, uint32_t blocks, uint32_t arg_count)
{
    for (int i = 0; i < 1000; i++)
        x[i] = (float)i;
    TwinTensor tensors[] = {
        {.name = "x",
         .dtype = DT_F32,
         .rank = 1,
         .shape = {1000},
         .role = SIM_IN,
         .data = x,
         .bytes = sizeof x},
        {.name = "y",
         .dtype = DT_F32,
         .rank = 1,
         .shape = {1000},
         .role = SIM_OUT,
         .data = y,
         .bytes = sizeof y},
    };
    TwinArg args[] = {{.kind = TWIN_ARG_TENSOR, .index = 0}, {.kind = TWIN_ARG_TENSOR, .index = 1}};
    TwinLaunch launch = {.tensors = tensors,
                         .tensor_count = 2,
                         .args = args,
                         .arg_count = arg_count,
                         .blocks = blocks};
    Trial t = {.text = text, .launch = &launch, .options.keep_going = true};
    trial_run(&t);
    return t;
}

static void check_found(const char *text, const char *code, uint32_t line)
{
    Trial t = run_twice(text, 1, 2);
    bool found = false;
    Buf out = {0};
    for (uint32_t i = 0; i < t.verdict.hazards.len; i++) {
        const VerdictFinding *f = &t.verdict.hazards.at[i];
        found = found || (strcmp(f->code, code) == 0 && f->line == line && f->repair[0]);
    }
    verdict_to_text(&t.verdict, &out);
    CHECK_MSG(found, "no %s at line %u in:\n%s%s", code, line, out.at, t.messages.at);
    buf_free(&out);
    trial_drop(&t);
}

#define GOOD_COPY "DataCopyPad(a, xGm, {1, TILE * sizeof(float), 0, 0, 0}, {false, 0, 0, 0})"
#define GOOD_INIT "TILE * sizeof(float) + 32"

T_TEST(the_sound_kernel_is_sound)
{
    Trial t = run_twice(KERNEL("1000", GOOD_INIT, GOOD_COPY, "in.FreeTensor(a)"), 1, 2);
    Buf out = {0};
    verdict_to_text(&t.verdict, &out);
    CHECK_MSG(t.verdict.status == VERDICT_OK, "%s%s", out.at, t.messages.at);
    CHECK_EQ_INT(y[999], 1998);
    buf_free(&out);
    trial_drop(&t);
}

T_TEST(an_unaligned_tail_is_found_at_its_copy)
{
    check_found(KERNEL("1000 - 3", GOOD_INIT, "DataCopy(a, xGm, TILE)", "in.FreeTensor(a)"), "S049",
                15);
}

T_TEST(a_buffer_too_large_is_found_at_its_line)
{
    check_found(KERNEL("1000", "200 * 1024", GOOD_COPY, "in.FreeTensor(a)"), "S020", 12);
}

T_TEST(a_leaked_tensor_is_found_where_it_was_last_touched)
{
    check_found(KERNEL("1000", GOOD_INIT, GOOD_COPY, ""), "S028", 19);
}

/* A leak becomes a hang as soon as the tiles outnumber the buffers, on every core. */
T_TEST(a_queue_without_a_free_buffer_is_a_hang)
{
    Trial t = run_twice(KERNEL("8", GOOD_INIT, GOOD_COPY, "a = in.AllocTensor<float>()"), 2, 2);
    CHECK_EQ_INT(t.verdict.status, VERDICT_HANG);
    CHECK_MSG(strstr(t.verdict.reason, "AllocTensor with no buffer free"), "%s", t.verdict.reason);
    REQUIRE(t.verdict.hazards.len > 0);
    CHECK_EQ_STR(t.verdict.hazards.at[0].code, "S024");
    CHECK_EQ_INT(t.verdict.hazards.at[0].line, 19); /* the last use of what is to be freed */
    CHECK_EQ_INT(t.verdict.hazards.at[0].count, 2);
    trial_drop(&t);
}

T_TEST(launches_that_cannot_be_are_refused)
{
    const char *text = KERNEL("1000", GOOD_INIT, GOOD_COPY, "in.FreeTensor(a)");
    Trial none = run_twice(text, 0, 2);
    CHECK_EQ_INT(none.verdict.status, VERDICT_BAD_TILING);
    trial_drop(&none);
    Trial many = run_twice(text, 100000, 2);
    CHECK_EQ_INT(many.verdict.status, VERDICT_BAD_TILING);
    trial_drop(&many);
    Trial few = run_twice(text, 1, 1);
    CHECK_EQ_STR(few.verdict.reason, "the kernel has 2 parameters, the launch gives 1");
    trial_drop(&few);
}
