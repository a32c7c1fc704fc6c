/* Hazards that flags say nothing about: hardware SyncAll where no scheduler runs, scalar stores that
 * stay in a data cache, tensors used after FreeTensor. */
#include "tests/t.h"

#include "sim/hazard.h"
#include "tests/twin/twin_helper.h"
#include <string.h>

#define HEAD(type)                                                                            \
    "#include \"kernel_operator.h\"\nusing namespace AscendC;\n"                              \
    "extern \"C\" __global__ __aicore__ void k(GM_ADDR w)\n{\n"                               \
    "    KERNEL_TASK_TYPE_DEFAULT(" type ");\n"                                               \
    "    TPipe pipe;\n    TBuf<TPosition::VECCALC> room;\n    pipe.InitBuffer(room, 4096);\n" \
    "    TQue<QuePosition::VECIN, 1> in;\n    pipe.InitBuffer(in, 1, 1024);\n"                \
    "    LocalTensor<int32_t> ub = room.Get<int32_t>();\n"                                    \
    "    GlobalTensor<int32_t> gm;\n    gm.SetGlobalBuffer((__gm__ int32_t *)w, 16384);\n"    \
    "    int32_t me = GetBlockIdx();\n"
#define MIX "KERNEL_TYPE_MIX_AIV_1_0"
#define CLEAN(at) "DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE>(gm[" at "]);\n"

typedef struct Use {
    const char *what, *type, *body, *code; /* code NULL: nothing is found */
} Use;

static const Use uses[] = {
    {"hardware SyncAll on vector cores alone", "KERNEL_TYPE_AIV_ONLY", "SyncAll();\n", "S066"},
    {"SyncAll with a workspace", "KERNEL_TYPE_AIV_ONLY", "SyncAll(gm, ub);\n", NULL},
    {"SyncAll where it is declared", MIX, "SyncAll();\n", NULL},
    {"a store that another core reads", MIX,
     "gm.SetValue(me * 16, me);\nSyncAll();\nub.SetValue(0, gm.GetValue((me + 1) % 4 * 16));\n",
     "S067"},
    {"the same by a copy", MIX,
     "gm.SetValue(me * 16, me);\nSyncAll();\nDataCopy(ub, gm[(me + 1) % 4 * 16], 8);\n", "S067"},
    {"cleaned before", MIX,
     "gm.SetValue(me * 16, me);\n" CLEAN(
         "me * 16") "SyncAll();\nub.SetValue(0, gm.GetValue((me + 1) % 4 * 16));\n",
     NULL},
    {"the whole cache cleaned before", MIX,
     "gm.SetValue(me * 16, me);\n"
     "DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE>(gm);\n"
     "SyncAll();\nub.SetValue(0, gm.GetValue((me + 1) % 4 * 16));\n",
     NULL},
    {"two cores in one line", MIX, "gm.SetValue(me, me);\n", "S068"},
    {"each in its own line", MIX, "gm.SetValue(me * 16, me);\n", NULL},
    {"words of IBSet are no stores of the kernel", MIX,
     "if (me == 0) IBSet(gm, ub, 0, 0);\nelse if (me == 1) IBWait(gm, ub, 0, 0);\n", NULL},
    {"used after FreeTensor", MIX,
     "LocalTensor<int32_t> t = in.AllocTensor<int32_t>();\nDataCopy(t, gm, 64);\nin.EnQue(t);\n"
     "t = in.DeQue<int32_t>();\nin.FreeTensor(t);\nAdds(ub, t, 1, 64);\n",
     "S069"},
    {"freed after its last use", MIX,
     "LocalTensor<int32_t> t = in.AllocTensor<int32_t>();\nDataCopy(t, gm, 64);\nin.EnQue(t);\n"
     "t = in.DeQue<int32_t>();\nAdds(ub, t, 1, 64);\nin.FreeTensor(t);\n",
     NULL},
};

static void prepare(void *context, Sim *sim) { *(Hazard **)context = hazard_open(sim, false); }

static void check_use(const Use *u)
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
        .tensors = &w, .tensor_count = 1, .args = &arg, .arg_count = 1, .blocks = 4};
    Arena arena = {0};
    Hazard *hazard = NULL;
    Trial t = {.text = str_format(&arena,
                                  strcmp(u->type, MIX) ? HEAD("KERNEL_TYPE_AIV_ONLY") "%s}\n"
                                                       : HEAD(MIX) "%s}\n",
                                  u->body),
               .launch = &launch,
               .options = {.keep_going = true, .prepare = prepare, .context = &hazard}};
    trial_run(&t);
    const char *first = t.verdict.hazards.len ? t.verdict.hazards.at[0].code : NULL;
    CHECK_MSG(u->code ? first && strcmp(first, u->code) == 0 : !first, "%s: %s, %s: %s\n%s",
              u->what, first ? first : "nothing", verdict_status_row(t.verdict.status)->text,
              t.verdict.reason, t.messages.at);
    trial_drop(&t);
    arena_drop(&arena);
}

T_TEST(uses_that_flags_say_nothing_about)
{
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        check_use(&uses[i]);
}
