/* The hangs the vendor's documents warn of, each as a kernel: named, at its line, in no time. */
#include "tests/t.h"

#include "tests/twin/twin_helper.h"
#include <string.h>

#define HEAD                                                                                  \
    "#include \"kernel_operator.h\"\nusing namespace AscendC;\n"                              \
    "extern \"C\" __global__ __aicore__ void k(GM_ADDR w)\n{\n"                               \
    "    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);\n"                                \
    "    TPipe pipe;\n    TBuf<TPosition::VECCALC> room;\n    pipe.InitBuffer(room, 4096);\n" \
    "    LocalTensor<int32_t> ub = room.Get<int32_t>();\n"                                    \
    "    GlobalTensor<int32_t> gm;\n    gm.SetGlobalBuffer((__gm__ int32_t *)w, 16384);\n"
enum { FIRST_LINE = 12 };

typedef struct Hang {
    const char *what, *body;
    uint32_t blocks, line;
    const char *code;
} Hang;

static const Hang hangs[] = {
    {"two flags, then a full barrier",
     "SetFlag<HardEvent::V_MTE3>(0);\nSetFlag<HardEvent::V_MTE3>(0);\nPipeBarrier<PIPE_ALL>();\n"
     "WaitFlag<HardEvent::V_MTE3>(0);\nWaitFlag<HardEvent::V_MTE3>(0);\n",
     1, FIRST_LINE + 2, "S056"},
    {"SyncAll for cube cores the kernel does not have", "SyncAll<false>();\n", 4, FIRST_LINE,
     "S036"},
    {"more blocks than cores", "SyncAll();\n", 49, FIRST_LINE, "S036"},
    {"IBWait for another event than IBSet sets",
     "if (GetBlockIdx() == 0) IBSet(gm, ub, 0, 0);\nelse IBWait(gm, ub, 0, 1);\n", 2,
     FIRST_LINE + 1, "S036"},
    {"more WaitPreBlock than NotifyNextBlock",
     "InitDetermineComputeWorkspace(gm, ub);\nWaitPreBlock(gm, ub);\n", 2, FIRST_LINE + 1, "S036"},
    {"two TPipe objects", "TPipe second;\n", 1, 0, "S022"},
    {"more than eight tensors on one position",
     "TQue<QuePosition::VECIN, 1> q[9];\nfor (int i = 0; i < 9; i++) pipe.InitBuffer(q[i], 1, "
     "256);\n"
     "LocalTensor<half> t[9];\nfor (int i = 0; i < 9; i++)\nt[i] = q[i].AllocTensor<half>();\n"
     "for (int i = 0; i < 9; i++) q[i].FreeTensor(t[i]);\n",
     1, FIRST_LINE + 4, "S030"},
};

static void run_hang(const Hang *h)
{
    static int32_t words[16384];
    memset(words, 0, sizeof words);
    TwinTensor w = {.name = "w",
                    .dtype = DT_I32,
                    .rank = 1,
                    .shape = {16384},
                    .role = SIM_INOUT,
                    .data = words,
                    .bytes = sizeof words};
    TwinArg arg = {.index = 0};
    TwinLaunch launch = {
        .tensors = &w, .tensor_count = 1, .args = &arg, .arg_count = 1, .blocks = h->blocks};
    Arena arena = {0};
    Trial t = {.text = str_format(&arena, HEAD "%s}\n", h->body), .launch = &launch};
    t.options.keep_going = true;
    trial_run(&t);
    bool named = false;
    for (uint32_t i = 0; i < t.verdict.hazards.len; i++) {
        const VerdictFinding *f = &t.verdict.hazards.at[i];
        named |= f->kind == FINDING_HANG && strcmp(f->code, h->code) == 0 &&
                 (!h->line || f->line == h->line);
    }
    CHECK_MSG(named, "%s: %s: %s, at line %u", h->what, verdict_status_row(t.verdict.status)->text,
              t.verdict.reason, t.verdict.hazards.len ? t.verdict.hazards.at[0].line : 0);
    CHECK_EQ_INT(t.verdict.status, VERDICT_HANG);
    trial_drop(&t);
    arena_drop(&arena);
}

T_TEST(hangs_of_the_documents_are_named)
{
    for (uint32_t i = 0; i < sizeof hangs / sizeof *hangs; i++)
        run_hang(&hangs[i]);
}

/* --- the name of a finding --- */

static void run_body(Trial *t, Arena *arena, const char *body, uint32_t blocks)
{
    static int32_t words[16384];
    static TwinArg arg = {.index = 0};
    static TwinTensor w;
    static TwinLaunch launch;
    w = (TwinTensor){.name = "w",
                     .dtype = DT_I32,
                     .rank = 1,
                     .shape = {16384},
                     .role = SIM_INOUT,
                     .data = words,
                     .bytes = sizeof words};
    launch = (TwinLaunch){
        .tensors = &w, .tensor_count = 1, .args = &arg, .arg_count = 1, .blocks = blocks};
    *t = (Trial){.text = str_format(arena, HEAD "%s}\n", body), .launch = &launch};
    t->options.keep_going = true;
    trial_run(t);
}

/* A leak that is met before a hang does not hide it. */
T_TEST(the_gravest_finding_gives_the_status)
{
    Arena arena = {0};
    Trial t;
    run_body(&t, &arena,
             "TQue<QuePosition::VECIN, 1> q;\npipe.InitBuffer(q, 1, 256);\n"
             "LocalTensor<half> lost = q.AllocTensor<half>();\n"
             "if (GetBlockIdx() == 0) IBSet(gm, ub, 0, 0);\nelse IBWait(gm, ub, 0, 1);\n",
             2);
    CHECK_MSG(t.verdict.status == VERDICT_HANG && t.verdict.hazards.len > 1, "%s: %s",
              verdict_status_row(t.verdict.status)->text, t.verdict.reason);
    trial_drop(&t);
    arena_drop(&arena);
}

/* A flag that is set and never waited for is a fault, but nobody waits. */
T_TEST(a_flag_left_set_is_no_hang)
{
    Arena arena = {0};
    Trial t;
    run_body(&t, &arena, "SetFlag<HardEvent::V_MTE3>(0);\n", 1);
    CHECK_MSG(t.verdict.status == VERDICT_HAZARD, "%s: %s",
              verdict_status_row(t.verdict.status)->text, t.verdict.reason);
    for (uint32_t i = 0; i < t.verdict.hazards.len; i++)
        CHECK(t.verdict.hazards.at[i].kind != FINDING_HANG);
    trial_drop(&t);
    arena_drop(&arena);
}
