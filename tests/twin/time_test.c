/* Timing without data: the same records, the same cycles, any size; and what it must refuse. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include "twin/observe.h"
#include <math.h>
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
    twin_observer_free(&t->observer);
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

/* Rows taken by number: HOW turns the numbers in UB into what is read. */
#define TAKE(HOW)                                                                               \
    HEAD "extern \"C\" __global__ __aicore__ void take(GM_ADDR x, GM_ADDR numbers, GM_ADDR y, " \
         "uint32_t rows)\n"                                                                     \
         "{\n"                                                                                  \
         "    constexpr uint32_t N = 16384;\n"                                                  \
         "    TPipe pipe;\n"                                                                    \
         "    TBuf<TPosition::VECCALC> line, list;\n"                                           \
         "    GlobalTensor<half> xGm, yGm;\n"                                                   \
         "    GlobalTensor<int32_t> nGm;\n"                                                     \
         "    xGm.SetGlobalBuffer((__gm__ half *)x);\n"                                         \
         "    yGm.SetGlobalBuffer((__gm__ half *)y);\n"                                         \
         "    nGm.SetGlobalBuffer((__gm__ int32_t *)numbers);\n"                                \
         "    pipe.InitBuffer(line, N * sizeof(half));\n"                                       \
         "    pipe.InitBuffer(list, 256);\n"                                                    \
         "    LocalTensor<half> a = line.Get<half>();\n"                                        \
         "    LocalTensor<int32_t> k = list.Get<int32_t>();\n"                                  \
         "    DataCopyPad(k, nGm, {1, (uint16_t)(rows * 4), 0, 0}, {false, 0, 0, 0});\n"        \
         "    PipeBarrier<PIPE_ALL>();\n"                                                       \
         "    for (uint32_t r = GetBlockIdx(); r < rows; r += GetBlockNum()) {\n"               \
         "        " HOW "\n"                                                                    \
         "        DataCopy(a, xGm[(uint64_t)row * N], N);\n"                                    \
         "        PipeBarrier<PIPE_ALL>();\n"                                                   \
         "        DataCopy(yGm[(uint64_t)r * N], a, N);\n"                                      \
         "        PipeBarrier<PIPE_ALL>();\n"                                                   \
         "    }\n"                                                                              \
         "}\n"
#define AS_READ "int32_t row = k.GetValue(r);"
#define COMPUTED                                                                               \
    "LocalTensor<int32_t> m = k[32]; Muls(m, k, 2, 16); PipeBarrier<PIPE_ALL>(); int32_t row " \
    "= m.GetValue(r) / 2;"
#define FAR_AWAY "int32_t row = k.GetValue((uint32_t)k.GetValue(r) * 64);"

enum { TAKEN = 16 };

static void time_take(Timing *t, const char *text, bool data, bool numbers)
{
    uint32_t rows = TAKEN;
    TwinTensor tensors[] = {tensor("x", TAKEN, SIM_IN, data),
                            {.name = "numbers", .dtype = DT_I32, .rank = 1, .shape = {TAKEN}},
                            tensor("y", TAKEN, SIM_OUT, data)};
    tensors[1].bytes = TAKEN * 4;
    if (numbers)
        REQUIRE(twin_tensor_alloc(&tensors[1]));
    for (int i = 0; numbers && i < TAKEN; i++)
        ((int32_t *)tensors[1].data)[i] = (i * 7 + 3) % 5;
    TwinArg args[] = {{.kind = TWIN_ARG_TENSOR, .index = 0},
                      {.kind = TWIN_ARG_TENSOR, .index = 1},
                      {.kind = TWIN_ARG_TENSOR, .index = 2},
                      {.kind = TWIN_ARG_VALUE, .bytes = {(const char *)&rows, 4}}};
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 3, .args = args, .arg_count = 4, .blocks = 3};
    *t = (Timing){.trial = {.text = text, .launch = &launch}};
    t->trial.options.time_only = !data;
    t->trial.options.keep_going = true;
    twin_observe(&t->trial.options, &t->observer);
    trial_run(&t->trial);
    twin_observer_free(&t->observer);
    for (int i = 0; i < 3; i++)
        twin_tensor_free(&tensors[i]);
}

static void check_take(const char *text)
{
    Timing with, without;
    time_take(&with, text, true, true);
    time_take(&without, text, false, true);
    CHECK_EQ_STR(verdict_status_row(with.trial.verdict.status)->text, "ok");
    CHECK_MSG(without.trial.verdict.status == VERDICT_OK, "%s", without.trial.verdict.reason);
    CHECK(with.observer.report.cycles > 0);
    CHECK(with.observer.report.cycles == without.observer.report.cycles);
    CHECK(with.observer.report.l2_hits == without.observer.report.l2_hits);
    trial_drop(&with.trial);
    trial_drop(&without.trial);
}

/* Indices keep their values, also through what the vector unit makes of them. */
T_TEST(time_with_indices_alone)
{
    check_take(TAKE(AS_READ));
    check_take(TAKE(COMPUTED));
}

T_TEST(time_needs_data_where_an_index_leads_astray)
{
    static const char *const how[] = {TAKE(AS_READ), TAKE(FAR_AWAY)};
    for (int i = 0; i < 2; i++) {
        Timing t;
        time_take(&t, how[i], false, false);
        CHECK_EQ_STR(verdict_status_row(t.trial.verdict.status)->text, "needs-data");
        CHECK_MSG(strstr(t.trial.verdict.reason, "kernel.cpp:2"), "%s", t.trial.verdict.reason);
        trial_drop(&t.trial);
    }
}

/* Positions counted on chip are no data. */
T_TEST(time_of_positions_counted_on_chip)
{
    check_take(
        TAKE("LocalTensor<int32_t> m = k[32]; Duplicate(m, 2, 16); PipeBarrier<PIPE_ALL>(); "
             "Adds(m, m, 1, 16); PipeBarrier<PIPE_ALL>(); int32_t row = m.GetValue(r % 16);"));
    Timing t;
    time_take(&t,
              TAKE("LocalTensor<int32_t> m = k[32]; Duplicate(m, 2, 16); PipeBarrier<PIPE_ALL>(); "
                   "int32_t row = m.GetValue(r % 16);"),
              false, false);
    CHECK_MSG(t.trial.verdict.status == VERDICT_OK, "%s", t.trial.verdict.reason);
    trial_drop(&t.trial);
}

/* A product on the Matmul class: with two buffers in L1, copies run beside loads and products. CALLS compute it. */
#define STAGES(CALLS)                                                                      \
    "#define ASCENDC_CUBE_ONLY\n" HEAD "#include \"lib/matmul_intf.h\"\n"                  \
    "constexpr MatmulConfig CONFIG = GetMDLConfig();\n"                                    \
    "using T = MatmulType<TPosition::GM, CubeFormat::ND, half>;\n"                         \
    "extern \"C\" __global__ __aicore__ void rows(GM_ADDR x, GM_ADDR y, uint32_t depth)\n" \
    "{\n"                                                                                  \
    "    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);\n"                                \
    "    TPipe pipe;\n"                                                                    \
    "    TCubeTiling t = {};\n"                                                            \
    "    t.M = t.N = t.singleCoreM = t.singleCoreN = 256;\n"                               \
    "    t.Ka = t.Kb = t.singleCoreK = 1024;\n"                                            \
    "    t.baseM = t.baseN = 128, t.baseK = 64;\n"                                         \
    "    t.stepM = t.stepN = t.stepKa = t.stepKb = 1;\n"                                   \
    "    t.depthA1 = t.depthB1 = depth;\n"                                                 \
    "    Matmul<T, T, T, T, CONFIG> mm;\n"                                                 \
    "    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t);\n"                        \
    "    GlobalTensor<half> xGm, yGm;\n"                                                   \
    "    xGm.SetGlobalBuffer((__gm__ half *)x);\n"                                         \
    "    yGm.SetGlobalBuffer((__gm__ half *)y);\n"                                         \
    "    mm.SetTensorA(xGm);\n"                                                            \
    "    mm.SetTensorB(xGm[256 * 1024]);\n"                                                \
    "    " CALLS "\n"                                                                      \
    "    mm.End();\n"                                                                      \
    "}\n"

/* `y` receives the result where it is not NULL; x then has numbers that a half can hold. */
static double product_cycles(const char *text, uint32_t depth, TwinTensor *y)
{
    TwinTensor tensors[] = {tensor("x", 32, SIM_IN, y), tensor("y", 4, SIM_OUT, y)};
    for (size_t i = 0; y && i < tensors[0].bytes / 2; i++)
        ((uint16_t *)tensors[0].data)[i] = (uint16_t)(0x3800 + i * 37 % 1024);
    TwinArg args[] = {{.kind = TWIN_ARG_TENSOR, .index = 0},
                      {.kind = TWIN_ARG_TENSOR, .index = 1},
                      {.kind = TWIN_ARG_VALUE, .bytes = {(const char *)&depth, 4}}};
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 2, .args = args, .arg_count = 3, .blocks = 1};
    Timing t = {.trial = {.text = text, .launch = &launch}};
    t.trial.options.time_only = !y;
    t.trial.options.keep_going = true;
    twin_observe(&t.trial.options, &t.observer);
    trial_run(&t.trial);
    CHECK_EQ_STR(verdict_status_row(t.trial.verdict.status)->text, "ok");
    double cycles = t.observer.report.cycles;
    twin_observer_free(&t.observer);
    trial_drop(&t.trial);
    if (y) {
        *y = tensors[1];
        twin_tensor_free(&tensors[0]);
    }
    return cycles;
}

T_TEST(time_of_matmul_follows_its_buffers)
{
    static const char text[] = STAGES("mm.IterateAll(yGm);");
    double one = product_cycles(text, 1, NULL), two = product_cycles(text, 2, NULL);
    CHECK_MSG(two > 0 && two < 0.85 * one, "%g cycles with one buffer, %g with two", one, two);
}

/* Block by block on a cube core: buffers stay filled from one to the next, so that it takes no longer than all at once,
 * and gives the same. */
T_TEST(time_of_matmul_block_by_block)
{
    TwinTensor whole, parts;
    double all = product_cycles(STAGES("mm.IterateAll(yGm);"), 2, &whole);
    double each = product_cycles(STAGES("while (mm.Iterate()) mm.GetTensorC(yGm);"), 2, &parts);
    CHECK_MSG(fabs(each - all) < 0.05 * all, "%g cycles at once, %g block by block", all, each);
    CHECK(memcmp(whole.data, parts.data, whole.bytes) == 0);
    CHECK(((uint16_t *)whole.data)[0] != 0);
    twin_tensor_free(&whole);
    twin_tensor_free(&parts);
}
