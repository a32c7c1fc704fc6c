/* The last records of each core, kept for the moment something is wrong: who touched these bytes last,
 * who wrote them, what did this pipe do before. Nothing is kept where records are passed over (memo.h). */
#include "sim/sim_int.h"

enum { REMEMBERED = 2048, MOST_RUNS = 1 << 16 };

typedef struct History {
    uint64_t seen;
    Record record[REMEMBERED];
} History;

void history_open(CoreState *core)
{
    if (!core->history)
        core->history = heap_alloc(sizeof *core->history);
}

void history_close(CoreState *core)
{
    heap_free(core->history);
    core->history = NULL;
}

void history_add(CoreState *core, const Record *r)
{
    if (core->history)
        core->history->record[core->history->seen++ % REMEMBERED] = *r;
}

uint32_t history_len(const CoreState *core)
{
    const History *h = core->history;
    return !h ? 0 : h->seen < REMEMBERED ? (uint32_t)h->seen : REMEMBERED;
}

const Record *history_at(const CoreState *core, uint32_t back)
{
    return &core->history->record[(core->history->seen - 1 - back) % REMEMBERED];
}

bool history_touches(const SimAccess *a, uint64_t from, uint64_t to)
{
    uint64_t runs = 0;
    for (uint32_t o = 0; o < a->outer; o++)
        for (uint32_t i = 0; i < a->inner && runs++ < MOST_RUNS; i++) {
            uint64_t at = a->at + o * a->outer_step + i * a->inner_step;
            if (at < to && at + a->run > from)
                return true;
        }
    return false;
}

const Record *history_last_use(const CoreState *core, uint64_t address, uint64_t bytes)
{
    uint64_t from = rec_byte(address);
    SimAccess access[SIM_ACCESS_MOST];
    for (uint32_t back = 0; back < history_len(core); back++) {
        const Record *r = history_at(core, back);
        uint32_t n = sim_accesses(r, core->va, access);
        for (uint32_t i = 0; i < n; i++)
            if (access[i].space == rec_space(address) &&
                history_touches(&access[i], from, from + bytes))
                return r;
    }
    return NULL;
}
