/* Kernels that are right and slow: what --explain says first leads to the fix, and the fix shows in
 * the predicted time. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include "twin/observe.h"
#include <string.h>

/* z = x + y, CHAIN times over, SETS sets of buffers, tiles of TILE, GAP bytes before y. */
static const char text[] =
    "#include \"kernel_operator.h\"\n"
    "using namespace AscendC;\n"
    "extern \"C\" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total)\n"
    "{\n"
    "    constexpr uint32_t ROOM = (TILE * 2 + 511) / 512 * 512;\n"
    "    uint32_t share = total / GetBlockNum(), first = share * GetBlockIdx(), turn = 0;\n"
    "    GlobalTensor<half> gx, gy, gz;\n"
    "    gx.SetGlobalBuffer((__gm__ half *)x + first, share);\n"
    "    gy.SetGlobalBuffer((__gm__ half *)y + first, share);\n"
    "    gz.SetGlobalBuffer((__gm__ half *)z + first, share);\n"
    "    for (int i = 0; i < SETS; i++) {\n"
    "        SetFlag<HardEvent::V_MTE2>(i);\n"
    "        SetFlag<HardEvent::MTE3_V>(i);\n"
    "    }\n"
    "    for (uint32_t at = 0; at < share; at += TILE, turn = (turn + 1) % SETS) {\n"
    "        uint32_t base = turn * (3 * ROOM + GAP);\n"
    "        LocalTensor<half> a(TPosition::VECCALC, base, TILE);\n"
    "        LocalTensor<half> b(TPosition::VECCALC, base + ROOM + GAP, TILE);\n"
    "        LocalTensor<half> c(TPosition::VECCALC, base + 2 * ROOM + GAP, TILE);\n"
    "        WaitFlag<HardEvent::V_MTE2>(turn);\n"
    "        DataCopy(a, gx[at], TILE);\n"
    "        DataCopy(b, gy[at], TILE);\n"
    "        for (int i = 0; i < AGAIN; i++) {\n"
    "            PipeBarrier<PIPE_MTE2>();\n"
    "            DataCopy(b, gy[at], TILE);\n"
    "        }\n"
    "        SetFlag<HardEvent::MTE2_V>(turn);\n"
    "        WaitFlag<HardEvent::MTE2_V>(turn);\n"
    "        WaitFlag<HardEvent::MTE3_V>(turn);\n"
    "        for (int i = 0; i < CHAIN; i++)\n"
    "            Add(c, a, b, TILE);\n"
    "        SetFlag<HardEvent::V_MTE2>(turn);\n"
    "        SetFlag<HardEvent::V_MTE3>(turn);\n"
    "        WaitFlag<HardEvent::V_MTE3>(turn);\n"
    "        DataCopy(gz[at], c, TILE);\n"
    "        SetFlag<HardEvent::MTE3_V>(turn);\n"
    "    }\n"
    "    for (int i = 0; i < SETS; i++) {\n"
    "        WaitFlag<HardEvent::V_MTE2>(i);\n"
    "        WaitFlag<HardEvent::MTE3_V>(i);\n"
    "    }\n"
    "}\n";

typedef struct Kernel {
    const char *sets, *tile, *gap, *chain;
    uint32_t blocks;
    int again; /* further copies of y */
} Kernel;

enum { TOTAL = 3 << 20 };

/* Predicted microseconds; the words in *said, to be freed. */
static double explain(Kernel k, Buf *said)
{
    Trial t = {.text = text};
    const char *defines[] = {
        str_format(&t.arena, "SETS=%s", k.sets),   str_format(&t.arena, "TILE=%s", k.tile),
        str_format(&t.arena, "GAP=%s", k.gap),     str_format(&t.arena, "CHAIN=%s", k.chain),
        str_format(&t.arena, "AGAIN=%d", k.again), NULL};
    TwinTensor tensors[3];
    uint32_t total = TOTAL;
    for (int i = 0; i < 3; i++)
        tensors[i] = (TwinTensor){.name = i == 0   ? "x"
                                          : i == 1 ? "y"
                                                   : "z",
                                  .dtype = DT_F16,
                                  .rank = 1,
                                  .shape = {TOTAL},
                                  .role = i == 2 ? SIM_OUT : SIM_IN,
                                  .bytes = TOTAL * 2};
    TwinArg args[] = {{.index = 0},
                      {.index = 1},
                      {.index = 2},
                      {.kind = TWIN_ARG_VALUE, .bytes = {(const char *)&total, 4}}};
    TwinLaunch launch = {
        .tensors = tensors, .tensor_count = 3, .args = args, .arg_count = 4, .blocks = k.blocks};
    TwinObserver observer = {.explain = true};
    t.launch = &launch;
    t.defines = defines;
    t.options.time_only = true;
    twin_observe(&t.options, &observer);
    trial_run(&t);
    CHECK_MSG(t.ran && t.verdict.status == VERDICT_OK, "%s", t.verdict.reason);
    buf_str(said, buf_view(&observer.text));
    double us = observer.report.us;
    twin_observer_free(&observer);
    trial_drop(&t);
    return us;
}

static void leads(Kernel slow, Kernel fixed, const char *first)
{
    Buf before = {0}, after = {0}, want = {0};
    buf_printf(&want, "1. %s", first);
    double slow_us = explain(slow, &before), fixed_us = explain(fixed, &after);
    CHECK_MSG(strstr(before.at, want.at), "%s", before.at);
    CHECK_MSG(!strstr(after.at, want.at), "%s", after.at);
    CHECK_MSG(fixed_us < 0.9 * slow_us, "%g us, then %g us", slow_us, fixed_us);
    buf_free(&before);
    buf_free(&after);
    buf_free(&want);
}

T_TEST(explain_single_buffer)
{
    leads((Kernel){"1", "8192", "256", "8", 48, 0}, (Kernel){"2", "8192", "256", "8", 48, 0},
          "Single buffer: copying in waits");
}

T_TEST(explain_bank_conflicts)
{
    leads((Kernel){"2", "8192", "0", "40", 48, 0}, (Kernel){"2", "8192", "256", "40", 48, 0},
          "Bank conflicts: ");
}

T_TEST(explain_small_copies)
{
    leads((Kernel){"2", "64", "256", "1", 48, 0}, (Kernel){"2", "4096", "256", "1", 48, 0},
          "Small copies: ");
}

T_TEST(explain_idle_cores)
{
    leads((Kernel){"2", "8192", "256", "1", 4, 0}, (Kernel){"2", "8192", "256", "1", 48, 0},
          "Idle cores: 4 of the 48 cores work.");
}

/* A kernel many times over its bound is told which lines compute too much. */
T_TEST(explain_vector_work)
{
    leads((Kernel){"2", "8192", "256", "60", 48, 0}, (Kernel){"2", "8192", "256", "1", 48, 0},
          "Vector work: the vector unit is busy");
}

T_TEST(explain_bytes_moved_again)
{
    leads((Kernel){"2", "8192", "256", "1", 48, 8}, (Kernel){"2", "8192", "256", "1", 48, 0},
          "Bytes moved again: ");
}

/* Not about time, but from the same run: a race names both accesses at their own lines. */
T_TEST(explain_race_with_both_lines)
{
    static const char race[] =
        "#include \"kernel_operator.h\"\n"
        "using namespace AscendC;\n"
        "extern \"C\" __global__ __aicore__ void k(GM_ADDR x)\n"
        "{\n"
        "    GlobalTensor<half> g;\n"
        "    g.SetGlobalBuffer((__gm__ half *)x, 1024);\n"
        "    LocalTensor<half> a(TPosition::VECCALC, 0, 1024), b(TPosition::VECCALC, 4096, 1024);\n"
        "    DataCopy(a, g, 1024);\n"
        "    Add(b, a, a, 1024);\n"
        "}\n";
    static uint16_t data[1024];
    TwinTensor x = {.name = "x",
                    .dtype = DT_F16,
                    .rank = 1,
                    .shape = {1024},
                    .data = data,
                    .bytes = sizeof data};
    TwinArg arg = {.index = 0};
    TwinLaunch launch = {
        .tensors = &x, .tensor_count = 1, .args = &arg, .arg_count = 1, .blocks = 1};
    TwinObserver observer = {0};
    Trial t = {.text = race, .launch = &launch};
    twin_observe(&t.options, &observer);
    trial_run(&t);
    twin_observer_free(&observer);
    REQUIRE(t.verdict.hazards.len == 1);
    const VerdictFinding *f = &t.verdict.hazards.at[0];
    CHECK_EQ_INT(f->line, 8); /* behind the copy something is missing */
    REQUIRE(f->accesses.len == 2);
    CHECK_EQ_INT(f->accesses.at[0].line, 9);
    CHECK_EQ_INT(f->accesses.at[1].line, 8);
    CHECK_EQ_STR(f->accesses.at[1].file, "kernel.cpp");
    CHECK(f->accesses.at[1].write && !f->accesses.at[0].write);
    CHECK(strstr(f->message, "put EnQue and DeQue between them, or let V wait for MTE2 (MTE2_V)"));
    trial_drop(&t);
}
