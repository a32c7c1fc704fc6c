/* Cores that wait for each other: SyncAll, cross-core flags between cube and vector cores, polling,
 * and what happens when nobody comes. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include <string.h>

#define HEAD "#include \"kernel_operator.h\"\nusing namespace AscendC;\n"

/* Puts 64 copies of a value into y at an offset, through UB. */
#define PUT                                                                               \
    "__aicore__ inline void put(TPipe &pipe, GM_ADDR y, uint32_t at, int32_t value)\n{\n" \
    "    TQue<QuePosition::VECOUT, 1> out;\n"                                             \
    "    GlobalTensor<int32_t> g;\n"                                                      \
    "    g.SetGlobalBuffer((__gm__ int32_t *)y + at, 64);\n"                              \
    "    pipe.InitBuffer(out, 1, 256);\n"                                                 \
    "    LocalTensor<int32_t> t = out.AllocTensor<int32_t>();\n"                          \
    "    Duplicate(t, value, 64);\n"                                                      \
    "    out.EnQue(t);\n"                                                                 \
    "    t = out.DeQue<int32_t>();\n"                                                     \
    "    DataCopy(g, t, 64);\n"                                                           \
    "    out.FreeTensor(t);\n"                                                            \
    "    pipe.Reset();\n"                                                                 \
    "}\n"

enum { CELLS = 64 * 64 };
static int32_t y[CELLS];

static Trial run_text(const char *text, uint32_t blocks, uint64_t seed, double seconds)
{
    memset(y, 0, sizeof y);
    TwinTensor tensors[] = {{.name = "y",
                             .dtype = DT_I32,
                             .rank = 1,
                             .shape = {CELLS},
                             .role = SIM_INOUT,
                             .data = y,
                             .bytes = sizeof y}};
    TwinArg args[] = {{.kind = TWIN_ARG_TENSOR, .index = 0}};
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 1, .args = args, .arg_count = 1, .blocks = blocks};
    Trial t = {.text = text,
               .launch = &launch,
               .options = {.seed = seed, .run_seconds = seconds, .keep_going = true}};
    trial_run(&t);
    return t;
}

static void check_ok(Trial *t)
{
    CHECK_MSG(t->verdict.status == VERDICT_OK, "%s: %s\n%s",
              verdict_status_row(t->verdict.status)->text, t->verdict.reason, t->messages.at);
}

T_TEST(sync_all_orders_the_blocks)
{
    static const char text[] = HEAD PUT
        "extern \"C\" __global__ __aicore__ void k(GM_ADDR y)\n{\n"
        "    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);\n"
        "    TPipe pipe;\n"
        "    uint32_t me = GetBlockIdx(), next = (me + 1) % GetBlockNum();\n"
        "    put(pipe, y, me * 64, 100 + me);\n"
        "    SyncAll();\n"
        "    GlobalTensor<int32_t> g;\n"
        "    g.SetGlobalBuffer((__gm__ int32_t *)y, 4096);\n"
        "    int32_t seen = g.GetValue(next * 64);\n"
        "    SyncAll();\n"
        "    put(pipe, y, me * 64, seen);\n"
        "}\n";
    for (uint64_t seed = 0; seed < 3; seed++) {
        Trial t = run_text(text, 20, seed, 20);
        check_ok(&t);
        for (int i = 0; i < 20; i++)
            CHECK_EQ_INT(y[i * 64 + 7], 100 + (i + 1) % 20);
        trial_drop(&t);
    }
}

/* Both vector cores of each cube core tell it that they have stored, and go on when it answers. */
#define TALK(SET, WAIT)                                                                 \
    HEAD PUT "extern \"C\" __global__ __aicore__ void k(GM_ADDR y)\n{\n"                \
             "    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);\n"                 \
             "    TPipe pipe;\n"                                                        \
             "    if ASCEND_IS_AIV {\n"                                                 \
             "        put(pipe, y, GetBlockIdx() * 64, 10 + GetBlockIdx());\n"          \
             "        " SET "PIPE_MTE3>(3);\n"                                          \
             "        " WAIT "4);\n"                                                    \
             "        put(pipe, y, 1024 + GetBlockIdx() * 64, GetSubBlockIdx() + 5);\n" \
             "    }\n"                                                                  \
             "    if ASCEND_IS_AIC {\n"                                                 \
             "        " WAIT "3);\n"                                                    \
             "        " SET "PIPE_FIX>(4);\n"                                           \
             "    }\n"                                                                  \
             "}\n"

T_TEST(cube_and_vector_cores_talk_by_flags)
{
    static const char *const texts[] = {TALK("CrossCoreSetFlag<2, ", "CrossCoreWaitFlag("),
                                        TALK("NotifyEvent<", "WaitEvent(")};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        Trial t = run_text(texts[k], 3, 0, 20);
        check_ok(&t);
        CHECK_EQ_INT(t.run.cores, 9);
        for (int i = 0; i < 6; i++) {
            CHECK_EQ_INT(y[i * 64], 10 + i);
            CHECK_EQ_INT(y[1024 + i * 64 + 63], 5 + i % 2);
        }
        trial_drop(&t);
    }
}

T_TEST(a_core_that_polls_lets_the_others_on)
{
    static const char text[] = HEAD PUT
        "extern \"C\" __global__ __aicore__ void k(GM_ADDR y)\n{\n"
        "    TPipe pipe;\n"
        "    uint32_t me = GetBlockIdx();\n"
        "    GlobalTensor<int32_t> g;\n"
        "    g.SetGlobalBuffer((__gm__ int32_t *)y, 4096);\n"
        "    if (me + 1 < GetBlockNum())\n"
        "        while (g.GetValue((me + 1) * 64) == 0) ;\n"
        "    put(pipe, y, me * 64, 1 + (me + 1 < GetBlockNum() ? g.GetValue((me + 1) * 64) : 0));\n"
        "}\n";
    Trial t = run_text(text, 3, 0, 20);
    CHECK_MSG(t.ran, "%s", t.verdict.reason);
    CHECK_EQ_INT(y[0], 3);
    CHECK_EQ_INT(y[64], 2);
    trial_drop(&t);
}

T_TEST(a_core_that_never_comes_is_a_hang)
{
    static const char text[] = HEAD "extern \"C\" __global__ __aicore__ void k(GM_ADDR y)\n{\n"
                                    "    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);\n"
                                    "    if (GetBlockIdx() != 2)\n"
                                    "        SyncAll();\n"
                                    "}\n";
    Trial t = run_text(text, 4, 0, 20);
    CHECK_EQ_INT(t.verdict.status, VERDICT_HANG);
    CHECK(t.verdict.hazards.len >= 1);
    CHECK(t.run.seconds < 10);
    trial_drop(&t);
}

T_TEST(many_blocks_run)
{
    static const char text[] = HEAD PUT "extern \"C\" __global__ __aicore__ void k(GM_ADDR y)\n{\n"
                                        "    TPipe pipe;\n"
                                        "    put(pipe, y, GetBlockIdx() % 64 * 64, 9);\n"
                                        "}\n";
    Trial t = run_text(text, 200, 0, 30);
    CHECK_MSG(t.ran, "%s", t.verdict.reason);
    CHECK_EQ_INT(t.run.cores, 200);
    CHECK_EQ_INT(y[4095], 9);
    trial_drop(&t);
}
