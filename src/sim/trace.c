/* Writes the trace while the run goes on; see trace.h. Times are microseconds of the chip, in steps of
 * a tenth of a nanosecond, so that a bar ends where the next may begin.
 *
 * Viewers hang the tail of an arrow on the bar around it and its head on the next bar of its row: a tail
 * is drawn just before the end of the last bar of the pipe that set the flag. */
#include "sim/trace.h"

#include "sim/sim_int.h"

enum { TICKS = 10000 }; /* of a microsecond */

typedef struct TraceBar {
    int64_t from, to;
} TraceBar;
enum { BARS = 64 }; /* of a pipe that an arrow may come from: more than a pipe's queue holds */

typedef struct TraceCore {
    uint64_t seen; /* pipes that have a row */
    TraceBar bar[NPU_PIPE_ALL][BARS];
    uint32_t bars[NPU_PIPE_ALL];
} TraceCore;

struct Trace {
    Sim *sim;
    Buf json;
    uint32_t events, arrows;
    uint64_t left_out;
    TraceCore *core;
};

static int64_t ticks(const Trace *t, double cycles)
{
    return (int64_t)(cycles / t->sim->config.chip->mhz * TICKS + 0.5);
}

static void begin_event(Trace *t) { buf_puts(&t->json, t->events++ ? ",\n" : "\n"); }

static void add_text(Trace *t, const char *text)
{
    bool valid = text && str_utf8_valid(str_from(text)); /* names are the kernel's own */
    buf_char(&t->json, '"');
    for (; text && *text; text++) {
        unsigned char ch = (unsigned char)*text;
        if (ch >= 0x80 && !valid)
            ch = '?';
        if (ch == '"' || ch == '\\')
            buf_char(&t->json, '\\');
        if (ch < 0x20)
            buf_printf(&t->json, "\\u%04x", ch);
        else
            buf_char(&t->json, (char)ch);
    }
    buf_char(&t->json, '"');
}

/* Names of a row, when it is first used. */
static void name_row(Trace *t, uint32_t core, enum NpuPipe pipe)
{
    uint64_t bit = UINT64_C(1) << pipe;
    if (t->core[core].seen & bit)
        return;
    if (!t->core[core].seen) {
        begin_event(t);
        buf_printf(
            &t->json,
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":\"core %u "
            "(%s)\"}}",
            core, core, t->sim->core[core].pub.aic ? "AIC" : "AIV");
    }
    t->core[core].seen |= bit;
    begin_event(t);
    buf_printf(
        &t->json,
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"%s\"}}",
        core, (unsigned)pipe, npu_pipe_name(pipe));
}

static const char *call_name(const Trace *t, const CycleEvent *e)
{
    const char *api = sim_name(&t->sim->core[e->core], e->r->api);
    const NpuIsa *row = npu_isa(e->r->op);
    if (api && *api)
        return api;
    return row && *row->api ? row->api : row ? row->instruction : "?";
}

static void put_time(Trace *t, const char *key, int64_t at)
{
    buf_printf(&t->json, ",\"%s\":%lld.%04lld", key, (long long)(at / TICKS),
               (long long)(at % TICKS));
}

static void add_run(Trace *t, const CycleEvent *e)
{
    TraceCore *core = &t->core[e->core];
    int64_t from = ticks(t, e->start), to = ticks(t, e->end);
    uint32_t n = core->bars[e->pipe];
    int64_t before = n ? core->bar[e->pipe][(n - 1) % BARS].to : 0;
    from = from > before ? from : before;
    if (to <= from)
        return;
    core->bar[e->pipe][core->bars[e->pipe]++ % BARS] = (TraceBar){from, to};
    name_row(t, e->core, e->pipe);
    begin_event(t);
    buf_printf(&t->json, "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u", e->core, (unsigned)e->pipe);
    put_time(t, "ts", from);
    put_time(t, "dur", to - from);
    buf_puts(&t->json, ",\"name\":");
    add_text(t, call_name(t, e));
    buf_puts(&t->json, ",\"args\":{\"line\":");
    const char *file = sim_name(&t->sim->core[e->core], e->r->file);
    Arena arena = {0};
    add_text(t, str_format(&arena, "%s:%u", file ? file : "", e->r->line));
    arena_drop(&arena);
    if (e->done > e->end)
        put_time(t, "result_us", ticks(t, e->done));
    if (e->waited > 0) {
        put_time(t, "waited_us", ticks(t, e->waited));
        buf_printf(&t->json, ",\"for\":\"%s%s%s\"", cycle_wait_name(e->why),
                   e->why == CYCLE_WAIT_FLAG ? " of " : "",
                   e->why == CYCLE_WAIT_FLAG ? npu_pipe_name(e->on) : "");
    }
    buf_puts(&t->json, "}}");
}

static void add_arrow_end(Trace *t, const CycleEvent *e, const char *end, enum NpuPipe row,
                          int64_t at)
{
    begin_event(t);
    buf_printf(&t->json,
               "{\"ph\":\"%s\",\"id\":%u,\"cat\":\"flag\",\"name\":\"%s_%s %u\",\"pid\":%u,"
               "\"tid\":%u",
               end, t->arrows, npu_pipe_name(e->r->pipe), npu_pipe_name(e->r->mode), e->r->n[0],
               e->core, (unsigned)row);
    put_time(t, "ts", at);
    buf_char(&t->json, '}');
}

/* The bar that was the last of the pipe when a flag was set; NULL: it had done nothing yet. */
static const TraceBar *bar_before(const TraceCore *core, enum NpuPipe pipe, int64_t set)
{
    uint32_t n = core->bars[pipe];
    for (uint32_t i = 1; i <= n && i <= BARS; i++) {
        const TraceBar *bar = &core->bar[pipe][(n - i) % BARS];
        if (bar->from < set)
            return bar;
    }
    return NULL;
}

static void add_arrow(Trace *t, const CycleEvent *e)
{
    int64_t set = ticks(t, e->start), head = ticks(t, e->end);
    const TraceBar *bar = bar_before(&t->core[e->core], e->pipe, set);
    if (!bar)
        return;
    int64_t tail = set < bar->to - 1 ? set : bar->to - 1;
    t->arrows++;
    name_row(t, e->core, (enum NpuPipe)e->r->mode);
    add_arrow_end(t, e, "s", e->pipe, tail);
    add_arrow_end(t, e, "f", (enum NpuPipe)e->r->mode, head > tail ? head : tail);
}

static void note(void *context, const CycleEvent *e)
{
    Trace *t = context;
    if (t->events >= TRACE_MOST_EVENTS) {
        t->left_out++;
        return;
    }
    if (e->r->op == NPU_WAIT_FLAG)
        add_arrow(t, e);
    else if (e->end > e->start)
        add_run(t, e);
}

Trace *trace_open(Cycle *cycle, Sim *sim)
{
    Trace *t = heap_alloc(sizeof *t);
    t->sim = sim;
    t->core = heap_alloc(sim->cores * sizeof *t->core);
    buf_puts(&t->json, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    cycle_trace(cycle, note, t);
    return t;
}

void trace_close(Trace *t, Buf *json)
{
    if (!t)
        return;
    if (t->left_out) {
        begin_event(t);
        buf_printf(&t->json,
                   "{\"ph\":\"i\",\"s\":\"g\",\"pid\":0,\"tid\":0,\"ts\":0,\"name\":\"%llu later "
                   "events are "
                   "left out\"}",
                   (unsigned long long)t->left_out);
    }
    buf_printf(&t->json, "\n],\"otherData\":{\"chip\":\"%s\",\"times\":\"predicted\"}}\n",
               t->sim->config.chip->name);
    if (json)
        buf_str(json, buf_view(&t->json));
    buf_free(&t->json);
    heap_free(t->core);
    heap_free(t);
}
