/* Timing without data: the same records, the same cycles, any size; and what it must refuse. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include "twin/observe.h"
#include <string.h>

#define HEAD "#include \"kernel_operator.h\"\nusing namespace AscendC;\n"

/* Rows scaled by their own sum: scalar values travel into records, addresses do not depend on
 * them. OFFSET is the type offsets are computed in. */
#define ROWS(OFFSET, BODY)                                                                     \
    HEAD "extern \"C\" __global__ __aicore__ void rows(GM_ADDR x, GM_ADDR y, uint32_t rows)\n" \
         "{\n"                                                                                 \
         "    constexpr uint32_t N = 16384;\n"                                                 \
         "    TPipe pipe;\n"                                                                   \
         "    TQue<QuePosition::VECIN, 2> in;\n"                                               \
         "    TQue<QuePosition::VECOUT, 2> out;\n"                                             \
         "    TBuf<TPosition::VECCALC> result;\n"                                              \
         "    GlobalTensor<half> xGm, yGm;\n"                                                  \
         "    xGm.SetGlobalBuffer((__gm__ half *)x);\n"                                        \
         "    yGm.SetGlobalBuffer((__gm__ half *)y);\n"                                        \
         "    pipe.InitBuffer(in, 2, N * sizeof(half));\n"                                     \
         "    pipe.InitBuffer(out, 2, N * sizeof(half));\n"                                    \
         "    pipe.InitBuffer(result, 4096);\n"                                                \
         "    for (uint32_t r = GetBlockIdx(); r < rows; r += GetBlockNum()) {\n"              \
         "        LocalTensor<half> a = in.AllocTensor<half>();\n"                             \
         "        DataCopy(a, xGm[(" OFFSET ")r * N], N);\n"                                   \
         "        in.EnQue(a);\n"                                                              \
         "        a = in.DeQue<half>();\n"                                                     \
         "        LocalTensor<half> c = out.AllocTensor<half>(), s = result.Get<half>();\n"    \
         "        ReduceSum(s, a, s, N);\n"                                                    \
         "        half sum = s.GetValue(0);\n"                                                 \
         "        " BODY "\n"                                                                  \
         "        in.FreeTensor(a);\n"                                                         \
         "        out.EnQue(c);\n"                                                             \
         "        c = out.DeQue<half>();\n"                                                    \
         "        DataCopy(yGm[(" OFFSET ")r * N], c, N);\n"                                   \
         "        out.FreeTensor(c);\n"                                                        \
         "    }\n"                                                                             \
         "}\n"
#define SCALE "Muls(c, a, sum, N);"

enum { WIDTH = 16384 };

typedef struct Timing {
    Trial trial;
    TwinObserver observer;
} Timing;

static TwinTensor tensor(const char *name, uint32_t rows, SimRole role, bool data)
{
    TwinTensor t = {.name = name,
                    .dtype = DT_F16,
                    .rank = 2,
                    .shape = {rows, WIDTH},
                    .role = role,
                    .bytes = (size_t)rows * WIDTH * 2};
    if (data)
        REQUIRE(twin_tensor_alloc(&t));
    return t;
}

static void time_rows(Timing *t, const char *text, uint32_t rows, bool data)
{
    TwinTensor tensors[] = {tensor("x", rows, SIM_IN, data), tensor("y", rows, SIM_OUT, data)};
    TwinArg args[] = {{.kind = TWIN_ARG_TENSOR, .index = 0},
                      {.kind = TWIN_ARG_TENSOR, .index = 1},
                      {.kind = TWIN_ARG_VALUE, .bytes = {(const char *)&rows, 4}}};
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 2, .args = args, .arg_count = 3, .blocks = 20};
    *t = (Timing){.trial = {.text = text, .launch = &launch}};
    t->trial.options.time_only = !data;
    t->trial.options.keep_going = true;
    twin_observe(&t->trial.options, &t->observer);
    trial_run(&t->trial);
    for (int i = 0; i < 2; i++)
        twin_tensor_free(&tensors[i]);
}

T_TEST(time_is_the_same_without_data)
{
    Timing with, without;
    time_rows(&with, ROWS("uint64_t", SCALE), 50, true);
    time_rows(&without, ROWS("uint64_t", SCALE), 50, false);
    CHECK_EQ_STR(verdict_status_row(with.trial.verdict.status)->text, "ok");
    CHECK_EQ_STR(verdict_status_row(without.trial.verdict.status)->text, "ok");
    CHECK_EQ_INT(with.trial.run.records, without.trial.run.records);
    CHECK(with.observer.report.cycles > 0);
    CHECK(with.observer.report.cycles == without.observer.report.cycles);
    trial_drop(&with.trial);
    trial_drop(&without.trial);
}

/* 2 x 6 GiB of tensors. */
T_TEST(time_of_a_launch_too_large_to_hold)
{
    Timing t;
    time_rows(&t, ROWS("uint64_t", SCALE), 196608, false);
    CHECK_EQ_STR(t.trial.verdict.reason, "");
    CHECK(t.observer.report.gm_read == 6ull << 30);
    trial_drop(&t.trial);
}

/* Offsets of 32 bits are right while a tensor has fewer than 2^32 elements. */
T_TEST(time_finds_offsets_that_wrap)
{
    Timing t;
    time_rows(&t, ROWS("uint32_t", SCALE), 262144 + 40, false);
    CHECK_EQ_STR(verdict_status_row(t.trial.verdict.status)->text, "hazard");
    bool unwritten = false;
    for (uint32_t i = 0; i < t.trial.verdict.hazards.len; i++)
        unwritten |= strcmp(t.trial.verdict.hazards.at[i].code, "S019") == 0;
    CHECK(unwritten);
    trial_drop(&t.trial);
}

T_TEST(time_needs_data_where_values_decide)
{
    Timing t;
    time_rows(&t, ROWS("uint64_t", "if ((float)sum > 0) " SCALE " else Exp(c, a, N);"), 50, false);
    CHECK_EQ_STR(verdict_status_row(t.trial.verdict.status)->text, "needs-data");
    CHECK_MSG(strstr(t.trial.verdict.reason, "kernel.cpp:24") &&
                  strstr(t.trial.verdict.reason, "kernel.cpp:23"),
              "%s", t.trial.verdict.reason);
    CHECK(!t.trial.ran);
    trial_drop(&t.trial);
}
