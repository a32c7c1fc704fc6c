/* Hooking hazards and cycles to a run. In: options of a run. Out: findings and times. */
#include "twin/observe.h"

#include "twin/row.h"
#include <string.h>

static void watch(void *context, Sim *sim)
{
    TwinObserver *o = context;
    o->hazard = o->only_time ? NULL : hazard_open(sim, o->strict);
    o->cycle = cycle_open(sim);
    if (o->trace)
        o->tracing = trace_open(o->cycle, sim);
}

/* In the simulator's process: all that was found, as a row of bytes. */
static void collect(void *context, Sim *sim, Buf *seen)
{
    TwinObserver *o = context;
    CycleReport report;
    Buf json = {0}, text = {0}, lines = {0}, reads = {0};
    hazard_close(o->hazard);
    cycle_report(o->cycle, &report);
    trace_close(o->tracing, &json);
    if (o->explain) {
        cycle_summary(o->cycle, &text);
        cycle_explain(o->cycle, &text);
    }
    if (o->costs)
        cycle_costs(o->cycle, &lines);
    cycle_close(o->cycle);
    buf_add(seen, &report, sizeof report);
    row_put_block(seen, json.at, json.len);
    row_put_block(seen, text.at, text.len);
    row_put_block(seen, lines.at, lines.len);
    SimReadOf of;
    for (uint32_t i = 0; sim_read_of(sim, i, &of); i++)
        buf_add(&reads, &of, sizeof of);
    row_put_block(seen, reads.at, reads.len);
    buf_free(&reads);
    buf_free(&json);
    buf_free(&text);
    buf_free(&lines);
}

static void take_text(Row *row, Buf *into)
{
    Str text = row_block(row);
    buf_clear(into);
    if (text.len)
        buf_str(into, text);
}

static void receive(void *context, Str seen)
{
    TwinObserver *o = context;
    Row row = {.rest = seen};
    row_take(&row, &o->report, sizeof o->report);
    take_text(&row, &o->json);
    take_text(&row, &o->text);
    take_text(&row, &o->lines);
    take_text(&row, &o->reads);
    o->done = !row.bad && o->report.bound < NPU_PIPE_ALL;
}

void twin_observe(TwinOptions *options, TwinObserver *observer)
{
    options->prepare = watch;
    options->inspect = collect;
    options->receive = receive;
    options->context = observer;
}

void twin_observer_free(TwinObserver *observer)
{
    buf_free(&observer->json);
    buf_free(&observer->text);
    buf_free(&observer->lines);
    buf_free(&observer->reads);
}

SimReadOf twin_read_of(const TwinObserver *observer, const TwinTensor *tensors, uint32_t index)
{
    SimReadOf of = {0};
    size_t number = 0; /* tensors without elements have no region */
    for (uint32_t i = 0; i < index; i++)
        number += tensors[i].bytes > 0;
    if (tensors[index].bytes && observer->done && (number + 1) * sizeof of <= observer->reads.len)
        memcpy(&of, observer->reads.at + number * sizeof of, sizeof of);
    return of;
}

/* msprof's names of the pipes, on vector cores and on cube cores. */
static const struct {
    enum NpuPipe pipe;
    const char *name;
} pipe_names[] = {{NPU_PIPE_V, "aiv_vec"},      {NPU_PIPE_M, "aic_mac"},
                  {NPU_PIPE_S, "scalar"},       {NPU_PIPE_MTE1, "aic_mte1"},
                  {NPU_PIPE_MTE2, "mte2"},      {NPU_PIPE_MTE3, "aiv_mte3"},
                  {NPU_PIPE_FIX, "aic_fixpipe"}};

void twin_observed(Arena *arena, const NpuChip *chip, const TwinObserver *observer,
                   Verdict *verdict)
{
    const CycleReport *r = &observer->report;
    if (!observer->done || verdict->status == VERDICT_NEEDS_DATA)
        return;
    bool cube = r->busy_us[NPU_PIPE_M] > 0;
    verdict->cycles = (uint64_t)r->cycles;
    verdict->predicted_us = r->us;
    for (uint32_t i = 0; i < sizeof pipe_names / sizeof *pipe_names; i++) {
        enum NpuPipe pipe = pipe_names[i].pipe;
        const char *name = pipe_names[i].name;
        if (name[0] != 'a')
            name = str_format(arena, "%s_%s", cube ? "aic" : "aiv", name);
        else if (r->busy_us[pipe] <= 0)
            continue;
        VerdictPipe p = {name, r->busy_us[pipe] * (double)chip->mhz, r->share[pipe]};
        vec_push(arena, &verdict->pipes, p);
    }
}
