/* The trace: rows, instructions, arrows, hostile names. */
#include "sim/trace.h"

#include "tests/sim/rig.h"
#include <string.h>

static Record name(uint16_t id, const char *text)
{
    RecordText t = {.op = REC_TEXT, .kind = REC_TEXT_NAME, .id = id};
    Record r;
    t.length = (uint16_t)strlen(text);
    memcpy(t.text, text, t.length);
    memcpy(&r, &t, sizeof r);
    return r;
}

static uint32_t count(const char *in, const char *what)
{
    uint32_t n = 0;
    for (const char *at = in; (at = strstr(at, what)); at++)
        n++;
    return n;
}

T_TEST(trace_has_rows_instructions_and_arrows)
{
    Rig rig = rig_open_kind(SIM_AIV, 1);
    Cycle *cycle = cycle_open(rig.sim);
    Trace *trace = trace_open(cycle, rig.sim);
    rig_run(&rig, name(1, "a\"b\xff.cpp"));
    Record in = {.op = NPU_COPY_GM_UB, .pipe = NPU_PIPE_MTE2, .n = {1, 256}, .file = 1, .line = 7};
    in.operand[0].address = UB(0);
    in.operand[1].address = GM(0);
    rig_run(&rig, in);
    Record flag = {.op = NPU_SET_FLAG, .pipe = NPU_PIPE_MTE2, .mode = NPU_PIPE_V};
    rig_run(&rig, flag);
    flag.op = NPU_WAIT_FLAG;
    rig_run(&rig, flag);
    rig_run(&rig, rig_vec(NPU_EXP, NPU_DT_F32, 1024, 0, ~0ull, 64));
    Buf json = {0};
    trace_close(trace, &json);
    CHECK_EQ_INT(count(json.at, "\"ph\":\"X\""), 2);
    CHECK_EQ_INT(count(json.at, "\"ph\":\"s\""), 1);
    CHECK_EQ_INT(count(json.at, "\"ph\":\"f\""), 1);
    CHECK_EQ_INT(count(json.at, "thread_name"), 2);
    CHECK(strstr(json.at, "\"line\":\"a\\\"b?.cpp:7\""));
    CHECK(strstr(json.at, "\"for\":\"flag of MTE2\""));
    buf_free(&json);
    cycle_close(cycle);
    rig_close(&rig);
}
