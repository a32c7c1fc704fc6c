/* Writes the trace while the run goes on; see trace.h. Times are microseconds of the chip. */
#include "sim/trace.h"

#include "sim/sim_int.h"

struct Trace {
    Sim *sim;
    Buf json;
    uint32_t events, arrows;
    uint64_t left_out;
    uint64_t *seen; /* by core: pipes that have a row */
};

static double us(const Trace *t, double cycles) { return cycles / t->sim->config.chip->mhz; }

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
    if (t->seen[core] & bit)
        return;
    if (!t->seen[core]) {
        begin_event(t);
        buf_printf(
            &t->json,
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":\"core %u "
            "(%s)\"}}",
            core, core, t->sim->core[core].pub.aic ? "AIC" : "AIV");
    }
    t->seen[core] |= bit;
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

static void add_run(Trace *t, const CycleEvent *e)
{
    name_row(t, e->core, e->pipe);
    begin_event(t);
    buf_printf(&t->json,
               "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.4f,\"dur\":%.4f,\"name\":", e->core,
               (unsigned)e->pipe, us(t, e->start), us(t, e->end - e->start));
    add_text(t, call_name(t, e));
    buf_puts(&t->json, ",\"args\":{\"line\":");
    const char *file = sim_name(&t->sim->core[e->core], e->r->file);
    Arena arena = {0};
    add_text(t, str_format(&arena, "%s:%u", file ? file : "", e->r->line));
    arena_drop(&arena);
    if (e->waited > 0)
        buf_printf(&t->json, ",\"waited_us\":%.4f,\"for\":\"%s%s%s\"", us(t, e->waited),
                   cycle_wait_name(e->why), e->why == CYCLE_WAIT_FLAG ? " of " : "",
                   e->why == CYCLE_WAIT_FLAG ? npu_pipe_name(e->on) : "");
    buf_puts(&t->json, "}}");
}

static void add_arrow(Trace *t, const CycleEvent *e)
{
    uint32_t id = ++t->arrows;
    name_row(t, e->core, (enum NpuPipe)e->r->mode);
    for (int end = 0; end < 2; end++) {
        begin_event(t);
        buf_printf(&t->json,
                   "{\"ph\":\"%s\",\"id\":%u,\"cat\":\"flag\",\"name\":\"%s_%s %u\",\"pid\":%u,"
                   "\"tid\":%u,\"ts\":%.4f%s}",
                   end ? "f" : "s", id, npu_pipe_name(e->r->pipe), npu_pipe_name(e->r->mode),
                   e->r->n[0], e->core, end ? (unsigned)e->r->mode : (unsigned)e->pipe,
                   us(t, end ? e->end : e->start), end ? ",\"bp\":\"e\"" : "");
    }
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
    t->seen = heap_alloc(sim->cores * sizeof *t->seen);
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
    heap_free(t->seen);
    heap_free(t);
}
