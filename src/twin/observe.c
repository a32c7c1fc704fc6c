/* Hooking hazards and cycles to a run. In: options of a run. Out: findings and times. */
#include "twin/observe.h"

static void watch(void *context, Sim *sim)
{
    TwinObserver *o = context;
    o->hazard = hazard_open(sim, o->strict);
    o->cycle = cycle_open(sim);
}

static void collect(void *context, Sim *sim)
{
    TwinObserver *o = context;
    (void)sim;
    if (!o->hazard)
        return;
    hazard_close(o->hazard);
    cycle_report(o->cycle, &o->report);
    cycle_close(o->cycle);
    o->hazard = NULL;
    o->cycle = NULL;
    o->done = true;
}

void twin_observe(TwinOptions *options, TwinObserver *observer)
{
    options->prepare = watch;
    options->inspect = collect;
    options->context = observer;
}

/* As msprof names the pipes of a vector core. */
static const struct {
    enum NpuPipe pipe;
    const char *name;
} pipe_names[] = {{NPU_PIPE_V, "aiv_vec"},
                  {NPU_PIPE_S, "aiv_scalar"},
                  {NPU_PIPE_MTE2, "aiv_mte2"},
                  {NPU_PIPE_MTE3, "aiv_mte3"}};

void twin_observed(Arena *arena, const NpuChip *chip, const TwinObserver *observer,
                   Verdict *verdict)
{
    const CycleReport *r = &observer->report;
    if (!observer->done)
        return;
    verdict->cycles = (uint64_t)r->cycles;
    verdict->predicted_us = r->us;
    for (uint32_t i = 0; i < sizeof pipe_names / sizeof *pipe_names; i++) {
        enum NpuPipe pipe = pipe_names[i].pipe;
        VerdictPipe p = {pipe_names[i].name, r->busy_us[pipe] * (double)chip->mhz, r->share[pipe]};
        vec_push(arena, &verdict->pipes, p);
    }
}
