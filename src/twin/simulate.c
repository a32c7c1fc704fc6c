/* The simulator's own process. In: the memories of a launch, laid out by the tool. Out: the answer
 * (answer.c); output bytes are in the memories, which both processes see.
 *
 *     tool                           simulator                     cores
 *     memories ---- fork ----------> opens, describes the launch
 *     starts the cores <-- ready --- watches
 *     watches both                   executes  <---- records ----- kernel code
 *     verdict      <---- answer ---- ends
 */
#include "twin/run_int.h"

static Sim *open_sim(const Simulation *s)
{
    SimConfig config = {.chip = s->spec->chip,
                        .kind = s->spec->kind,
                        .blocks = s->spec->launch->blocks,
                        .no_scheduler = s->spec->no_scheduler,
                        .map = twin_memory_for_sim,
                        .context = s->memory,
                        .keep_going = s->options->keep_going,
                        .no_data = s->spec->time_only,
                        .no_memo = s->options->no_memo,
                        .image = twin_memory_image(s->memory),
                        .littered = s->spec->littered,
                        .nudge = s->options->nudge};
    return sim_open(&config);
}

static bool has_read_data(const LaunchMemory *memory, const Sim *sim)
{
    for (uint32_t i = 0; i < sim_core_count(sim); i++)
        if (shared_ring(memory, i)->reads)
            return true;
    return false;
}

static void end_sim(Sim *sim, FeedEnd end)
{
    if (end == FEED_DONE)
        sim_finish(sim);
    else if (end == FEED_HANG)
        sim_hang(sim);
}

bool twin_simulate(void *context, const BoxWorker *self, Buf *answer)
{
    Simulation *s = context;
    const TwinOptions *options = s->options;
    Stream notes = {0};
    Buf seen = {0};
    Sim *sim = open_sim(s);
    if (!sim || !twin_memory_add_regions(s->memory, s->spec->launch, sim) ||
        !twin_memory_describe(s->arena, s->memory, options, s->core_filter, sim))
        return false;
    if (s->note)
        stream_open(&notes, sim_core_count(sim));
    if (s->watched && options->prepare)
        options->prepare(options->context, sim);
    box_worker_say_ready(self);
    Stream *stream = s->against ? s->against : s->note ? &notes : NULL;
    FeedResult feed = twin_feed_all(s->arena, s->memory, sim, stream);
    if (!s->spec->sample.blocks)
        end_sim(sim, feed.end);
    if (s->watched && options->inspect)
        options->inspect(options->context, sim, &seen);
    if (!has_read_data(s->memory, sim))
        stream_close(&notes);
    twin_answer_put(answer, sim, &feed, buf_view(&seen), &notes);
    return true;
}
