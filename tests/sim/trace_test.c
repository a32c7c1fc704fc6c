/* The trace: rows, instructions, arrows, hostile names. */
#include "sim/trace.h"

#include "tests/sim/rig.h"
#include <stdlib.h>
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

/* --- the rules of the Trace Event Format, on a run of two cores --- */

enum { MOST = 4096, ROWS = 16 };

typedef struct Bar {
    unsigned row;
    double from, to;
} Bar;

typedef struct Arrow {
    unsigned row[2];
    double at[2];
    int seen[2];
} Arrow;

typedef struct Seen {
    Bar bar[MOST];
    Arrow arrow[MOST];
    bool named[ROWS], process[2];
    uint32_t bars, arrows, metadata;
} Seen;

static double number(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    CHECK_MSG(at, "no %s in %s", key, line);
    return at ? strtod(at + strlen(key), NULL) : -1;
}

static unsigned row_of(const char *line)
{
    return (unsigned)(number(line, "\"pid\":") * 8 + number(line, "\"tid\":"));
}

static void read_arrow(Seen *seen, const char *line, int end)
{
    unsigned id = (unsigned)number(line, "\"id\":");
    REQUIRE(id < MOST && strstr(line, "\"cat\":\"flag\"") && strstr(line, "\"name\":\""));
    Arrow *a = &seen->arrow[id];
    a->row[end] = row_of(line);
    a->at[end] = number(line, "\"ts\":");
    a->seen[end]++;
    seen->arrows = id > seen->arrows ? id : seen->arrows;
}

/* Every event stands on a line of its own. */
static void read_event(Seen *seen, const char *line)
{
    if (strstr(line, "\"ph\":\"X\"")) {
        REQUIRE(seen->bars < MOST && row_of(line) < ROWS && strstr(line, "\"name\":\""));
        double from = number(line, "\"ts\":"), dur = number(line, "\"dur\":");
        CHECK(dur > 0 && seen->named[row_of(line)]);
        seen->bar[seen->bars++] = (Bar){row_of(line), from, from + dur};
    } else if (strstr(line, "\"ph\":\"s\"")) {
        read_arrow(seen, line, 0);
    } else if (strstr(line, "\"ph\":\"f\"")) {
        read_arrow(seen, line, 1);
    } else if (strstr(line, "\"ph\":\"M\"")) {
        CHECK(strstr(line, "\"args\":{\"name\":\""));
        if (strstr(line, "thread_name"))
            seen->named[row_of(line)] = true;
        else
            seen->process[(unsigned)number(line, "\"pid\":")] = true;
    } else {
        CHECK_MSG(false, "unknown event %s", line);
    }
}

/* Bars of a row neither overlap nor go back; an arrow leaves a bar and has a bar to arrive at. */
static void check_rules(const Seen *seen)
{
    double last[ROWS] = {0};
    for (uint32_t i = 0; i < seen->bars; i++) {
        const Bar *b = &seen->bar[i];
        CHECK_MSG(b->from > last[b->row] - 1e-6, "row %u: %.4f before %.4f", b->row, b->from,
                  last[b->row]);
        last[b->row] = b->to;
    }
    for (uint32_t id = 1; id <= seen->arrows; id++) {
        const Arrow *a = &seen->arrow[id];
        bool leaves = false, arrives = false;
        for (uint32_t i = 0; i < seen->bars; i++) {
            const Bar *b = &seen->bar[i];
            leaves |= b->row == a->row[0] && b->from <= a->at[0] + 1e-6 && a->at[0] < b->to - 5e-5;
            arrives |= b->row == a->row[1] && b->from > a->at[1] - 1e-4;
        }
        CHECK_MSG(a->seen[0] == 1 && a->seen[1] == 1 && a->at[0] <= a->at[1] && leaves && arrives,
                  "arrow %u: %d tails, %d heads, %.4f to %.4f, leaves %d, arrives %d", id,
                  a->seen[0], a->seen[1], a->at[0], a->at[1], leaves, arrives);
    }
}

/* Tiles through two buffers: the next copy is issued before the flag of this one is waited for. */
static void run_tiles(Rig *rig)
{
    static const uint8_t from[] = {NPU_PIPE_V, NPU_PIPE_MTE3};
    static const uint8_t to[] = {NPU_PIPE_MTE2, NPU_PIPE_V};
    for (uint32_t i = 0; i < 24; i++) {
        uint32_t id = i % 2;
        Record flag = {.op = NPU_WAIT_FLAG, .n = {id}};
        Record in = {.op = NPU_COPY_GM_UB, .pipe = NPU_PIPE_MTE2, .n = {1, 8192}, .line = 7};
        in.operand[0].address = UB(8192 * id);
        in.operand[1].address = GM(8192 * i);
        for (int k = 0; i > 1 && k < 2; k++) {
            flag.pipe = from[k], flag.mode = to[k];
            rig_run(rig, flag);
        }
        rig_run(rig, in);
        flag.pipe = NPU_PIPE_MTE2, flag.mode = NPU_PIPE_V, flag.op = NPU_SET_FLAG;
        rig_run(rig, flag);
        flag.op = NPU_WAIT_FLAG;
        rig_run(rig, flag);
        rig_run(rig, rig_vec(NPU_EXP, NPU_DT_F32, 32768 + 8192 * id, 8192 * id, ~0ull, 2048));
        flag.pipe = NPU_PIPE_V, flag.mode = NPU_PIPE_MTE3, flag.op = NPU_SET_FLAG;
        rig_run(rig, flag);
        flag.mode = NPU_PIPE_MTE2;
        rig_run(rig, flag);
        flag.mode = NPU_PIPE_MTE3, flag.op = NPU_WAIT_FLAG;
        rig_run(rig, flag);
        Record out = {.op = NPU_COPY_UB_GM, .pipe = NPU_PIPE_MTE3, .n = {1, 8192}, .line = 9};
        out.operand[0].address = GM(262144 + 8192 * i);
        out.operand[1].address = UB(32768 + 8192 * id);
        rig_run(rig, out);
        flag.pipe = NPU_PIPE_MTE3, flag.mode = NPU_PIPE_V, flag.op = NPU_SET_FLAG;
        rig_run(rig, flag);
        rig_run(rig, (Record){.op = NPU_SCALAR_WORK, .n = {20}, .line = 3});
    }
}

T_TEST(trace_keeps_the_rules_of_its_format)
{
    Rig rig = rig_open_kind(SIM_AIV, 2);
    Cycle *cycle = cycle_open(rig.sim);
    Trace *trace = trace_open(cycle, rig.sim);
    Seen *seen = heap_alloc(sizeof *seen);
    Buf json = {0};
    for (rig.core = 0; rig.core < 2; rig.core++)
        run_tiles(&rig);
    trace_close(trace, &json);
    CHECK(strncmp(json.at, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", 40) == 0);
    for (char *line = strchr(json.at, '\n'); line && line[1] == '{';) {
        char *end = strchr(line + 1, '\n');
        REQUIRE(end && (end[-1] == ',' || end[1] == ']'));
        *end = 0;
        read_event(seen, line + 1);
        *end = '\n';
        line = end;
    }
    CHECK(seen->process[0] && seen->process[1]);
    CHECK_EQ_INT(seen->bars, 2 * 24 * 4);
    CHECK_MSG(seen->arrows > 2 * 24 * 3, "%u arrows", seen->arrows);
    check_rules(seen);
    buf_free(&json);
    heap_free(seen);
    cycle_close(cycle);
    rig_close(&rig);
}
