/* From text to values: a small kernel compiled and run, and what a launch may get wrong. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include <string.h>

static const char add_text[] =
    "#include \"kernel_operator.h\"\n"
    "using namespace AscendC;\n"
    "constexpr int32_t TILE = 256;\n"
    "class KernelAdd {\n"
    "public:\n"
    "    __aicore__ inline KernelAdd() {}\n"
    "    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total) {\n"
    "        uint32_t per = total / GetBlockNum();\n"
    "        tiles = per / TILE;\n"
    "        xGm.SetGlobalBuffer((__gm__ float *)x + per * GetBlockIdx(), per);\n"
    "        yGm.SetGlobalBuffer((__gm__ float *)y + per * GetBlockIdx(), per);\n"
    "        zGm.SetGlobalBuffer((__gm__ float *)z + per * GetBlockIdx(), per);\n"
    "        pipe.InitBuffer(inX, 2, TILE * sizeof(float));\n"
    "        pipe.InitBuffer(inY, 2, TILE * sizeof(float));\n"
    "        pipe.InitBuffer(outZ, 2, TILE * sizeof(float));\n"
    "    }\n"
    "    __aicore__ inline void Process() {\n"
    "        for (int32_t i = 0; i < tiles; i++) {\n"
    "            LocalTensor<float> a = inX.AllocTensor<float>();\n"
    "            LocalTensor<float> b = inY.AllocTensor<float>();\n"
    "            DataCopy(a, xGm[i * TILE], TILE);\n"
    "            DataCopy(b, yGm[i * TILE], TILE);\n"
    "            inX.EnQue(a);\n"
    "            inY.EnQue(b);\n"
    "            a = inX.DeQue<float>();\n"
    "            b = inY.DeQue<float>();\n"
    "            LocalTensor<float> c = outZ.AllocTensor<float>();\n"
    "            Add(c, a, b, TILE);\n"
    "            outZ.EnQue<float>(c);\n"
    "            inX.FreeTensor(a);\n"
    "            inY.FreeTensor(b);\n"
    "            c = outZ.DeQue<float>();\n"
    "            DataCopy(zGm[i * TILE], c, TILE);\n"
    "            outZ.FreeTensor(c);\n"
    "        }\n"
    "    }\n"
    "private:\n"
    "    TPipe pipe;\n"
    "    TQue<QuePosition::VECIN, 2> inX, inY;\n"
    "    TQue<QuePosition::VECOUT, 2> outZ;\n"
    "    GlobalTensor<float> xGm, yGm, zGm;\n"
    "    int32_t tiles;\n"
    "};\n"
    "extern \"C\" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, "
    "uint32_t total) {\n"
    "    KernelAdd op;\n"
    "    op.Init(x, y, z, total);\n"
    "    op.Process();\n"
    "}\n";

enum { COUNT = 8192 };

static void run_add(uint32_t blocks, uint64_t seed, float *z)
{
    static float x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
        y[i] = 0.5f * (float)i;
    }
    uint32_t total = COUNT;
    TwinTensor tensors[] = {
        {.name = "x",
         .dtype = DT_F32,
         .rank = 1,
         .shape = {COUNT},
         .role = SIM_IN,
         .data = x,
         .bytes = sizeof x},
        {.name = "y",
         .dtype = DT_F32,
         .rank = 1,
         .shape = {COUNT},
         .role = SIM_IN,
         .data = y,
         .bytes = sizeof y},
        {.name = "z",
         .dtype = DT_F32,
         .rank = 1,
         .shape = {COUNT},
         .role = SIM_OUT,
         .data = z,
         .bytes = sizeof x},
    };
    TwinArg args[] = {{.kind = TWIN_ARG_TENSOR, .index = 0},
                      {.kind = TWIN_ARG_TENSOR, .index = 1},
                      {.kind = TWIN_ARG_TENSOR, .index = 2},
                      {.kind = TWIN_ARG_VALUE, .bytes = {(const char *)&total, sizeof total}}};
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 3, .args = args, .arg_count = 4, .blocks = blocks};
    Trial t = {.text = add_text, .launch = &launch, .options.seed = seed};
    trial_run(&t);
    CHECK_MSG(t.verdict.status == VERDICT_OK, "%s: %s\n%s",
              verdict_status_row(t.verdict.status)->text, t.verdict.reason, t.messages.at);
    CHECK(t.ran);
    CHECK_EQ_INT(t.run.cores, blocks);
    trial_drop(&t);
}

T_TEST(vector_add_has_the_right_values)
{
    static float z[COUNT];
    run_add(8, 0, z);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += z[i] != 1.5f * (float)i;
    CHECK_EQ_INT(wrong, 0);
}

T_TEST(order_of_cores_changes_nothing)
{
    static float a[COUNT], b[COUNT];
    run_add(32, 0, a);
    run_add(32, 12345, b);
    CHECK(memcmp(a, b, sizeof a) == 0);
}

/* Core 1 reads through a plain pointer what core 1 itself wrote by DataCopy before. */
static const char raw_load_text[] =
    "#include \"kernel_operator.h\"\n"
    "using namespace AscendC;\n"
    "extern \"C\" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y)\n"
    "{\n"
    "    TPipe pipe;\n"
    "    TQue<QuePosition::VECOUT, 1> out;\n"
    "    GlobalTensor<int32_t> yGm;\n"
    "    yGm.SetGlobalBuffer((__gm__ int32_t *)y, 128);\n"
    "    pipe.InitBuffer(out, 1, 256);\n"
    "    int32_t value = *(__gm__ int32_t *)x;\n"
    "    for (int i = 0; i < 2; i++) {\n"
    "        LocalTensor<int32_t> t = out.AllocTensor<int32_t>();\n"
    "        Duplicate(t, value, 64);\n"
    "        out.EnQue(t);\n"
    "        t = out.DeQue<int32_t>();\n"
    "        DataCopy(yGm[i * 64], t, 64);\n"
    "        out.FreeTensor(t);\n"
    "        value = ((__gm__ int32_t *)y)[i * 64 + 5] + 100;\n"
    "    }\n"
    "}\n";

static const char raw_store_text[] =
    "#include \"kernel_operator.h\"\n"
    "#include <iostream>\n"
    "using namespace AscendC;\n"
    "extern \"C\" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y)\n"
    "{\n"
    "    __gm__ int32_t *to = (__gm__ int32_t *)y;\n"
    "    for (int i = 0; i < 128; i++)\n"
    "        to[i] = *(__gm__ int32_t *)x + i;\n"
    "    GlobalTensor<int32_t> g;\n"
    "    g.SetGlobalBuffer(to, 128);\n"
    "    to[3] = g.GetValue(2) * 10;\n"
    "    to[4] += 1;\n"
    "}\n";

T_TEST(plain_pointers_see_what_was_written_before)
{
    static int32_t x[8] = {7}, y[128];
    TwinTensor tensors[] = {
        {.name = "x",
         .dtype = DT_I32,
         .rank = 1,
         .shape = {8},
         .role = SIM_IN,
         .data = x,
         .bytes = sizeof x},
        {.name = "y",
         .dtype = DT_I32,
         .rank = 1,
         .shape = {128},
         .role = SIM_OUT,
         .data = y,
         .bytes = sizeof y},
    };
    TwinArg args[] = {{.kind = TWIN_ARG_TENSOR, .index = 0}, {.kind = TWIN_ARG_TENSOR, .index = 1}};
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 2, .args = args, .arg_count = 2, .blocks = 1};
    Trial t = {.text = raw_load_text, .launch = &launch};
    trial_run(&t);
    CHECK_MSG(t.verdict.status == VERDICT_OK, "%s", t.verdict.reason);
    CHECK_EQ_INT(y[63], 7);
    CHECK_EQ_INT(y[64], 107);
    trial_drop(&t);
}

T_TEST(stores_through_plain_pointers_arrive)
{
    static int32_t x[8] = {7}, y[128];
    TwinTensor tensors[] = {
        {.name = "x",
         .dtype = DT_I32,
         .rank = 1,
         .shape = {8},
         .role = SIM_IN,
         .data = x,
         .bytes = sizeof x},
        {.name = "y",
         .dtype = DT_I32,
         .rank = 1,
         .shape = {128},
         .role = SIM_OUT,
         .data = y,
         .bytes = sizeof y},
    };
    TwinArg args[] = {{.kind = TWIN_ARG_TENSOR, .index = 0}, {.kind = TWIN_ARG_TENSOR, .index = 1}};
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 2, .args = args, .arg_count = 2, .blocks = 1};
    Trial t = {.text = raw_store_text, .launch = &launch};
    trial_run(&t);
    CHECK_MSG(t.verdict.status == VERDICT_OK, "%s", t.verdict.reason);
    CHECK_EQ_INT(y[2], 9);
    CHECK_EQ_INT(y[3], 90);
    CHECK_EQ_INT(y[4], 12);
    CHECK_EQ_INT(y[127], 134);
    trial_drop(&t);
}

/* The scalar unit reads an element of UB that nobody wrote; USE says what becomes of it. */
static const char stray_text[] = "#include \"kernel_operator.h\"\n"
                                 "using namespace AscendC;\n"
                                 "extern \"C\" __global__ __aicore__ void k(GM_ADDR y)\n{\n"
                                 "    TPipe pipe;\n"
                                 "    TBuf<> buf;\n"
                                 "    pipe.InitBuffer(buf, 64);\n"
                                 "    LocalTensor<int32_t> t = buf.Get<int32_t>();\n"
                                 "    Duplicate(t, (int32_t)5, 8);\n"
                                 "    int32_t stray = t.GetValue(9);\n"
                                 "    t.SetValue(USE, stray);\n"
                                 "    PipeBarrier<PIPE_ALL>();\n"
                                 "    GlobalTensor<int32_t> g;\n"
                                 "    g.SetGlobalBuffer((__gm__ int32_t *)y, 8);\n"
                                 "    DataCopy(g, t, 8);\n"
                                 "}\n";

static Trial run_stray(const char *use, int32_t y[8])
{
    TwinTensor tensors[] = {{.name = "y",
                             .dtype = DT_I32,
                             .rank = 1,
                             .shape = {8},
                             .role = SIM_OUT,
                             .data = y,
                             .bytes = 32}};
    TwinArg args[] = {{.kind = TWIN_ARG_TENSOR, .index = 0}};
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 1, .args = args, .arg_count = 1, .blocks = 1};
    const char *const defines[] = {use, NULL};
    Trial t = {
        .text = stray_text, .launch = &launch, .options = {.keep_going = true}, .defines = defines};
    trial_run(&t);
    return t;
}

T_TEST(run_tells_stray_reads_that_matter)
{
    int32_t y[8] = {0};
    Trial t = run_stray("USE=3", y);
    REQUIRE(t.verdict.hazards.len == 1);
    CHECK_EQ_INT(t.verdict.status, VERDICT_HAZARD);
    CHECK_EQ_STR(t.verdict.hazards.at[0].code, "S017");
    trial_drop(&t);
    t = run_stray("USE=10", y);
    REQUIRE(t.verdict.hazards.len == 1);
    CHECK_EQ_INT(t.verdict.status, VERDICT_OK);
    CHECK_EQ_STR(t.verdict.hazards.at[0].code, "S063");
    CHECK_EQ_INT(y[3], 5);
    trial_drop(&t);
}

/* What each core takes counts together: no launch takes the machine's memory. */
T_TEST(cores_share_one_account_of_memory)
{
    static float y[64];
    TwinTensor tensor = {.name = "y",
                         .dtype = DT_F32,
                         .rank = 1,
                         .shape = {64},
                         .role = SIM_OUT,
                         .data = y,
                         .bytes = sizeof y};
    TwinArg arg = {.index = 0};
    TwinLaunch launch = {
        .tensors = &tensor, .tensor_count = 1, .args = &arg, .arg_count = 1, .blocks = 48};
    Trial t = {
        .text = "#include \"kernel_operator.h\"\n"
                "static char room[200 << 20];\n"
                "extern \"C\" __global__ __aicore__ void k(GM_ADDR y)\n{\n"
                "    for (long i = 0; i < sizeof room; i += 4096) room[i] = 1;\n"
                "    AscendC::GlobalTensor<float> g;\n"
                "    g.SetGlobalBuffer((__gm__ float *)y, 64);\n"
                "    g.SetValue(AscendC::GetBlockIdx(), room[AscendC::GetBlockIdx() << 12]);\n"
                "}\n",
        .launch = &launch};
    trial_run(&t);
    CHECK_MSG(t.verdict.status == VERDICT_MEMORY || t.verdict.status == VERDICT_CRASHED, "%s: %s",
              verdict_status_row(t.verdict.status)->text, t.verdict.reason);
    trial_drop(&t);
}
