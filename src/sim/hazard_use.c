/* Uses that clocks say nothing about: scalar stores to GM that stay in a core's data cache, and
 * tensors used after FreeTensor. In: records of all cores, as hazard.c sees them. Out: findings.
 *
 * A scalar store goes to the core's data cache, a line of 64 bytes at a time; others see it only
 * after DataCacheCleanAndInvalid (asc-devkit 缓存控制/DataCacheCleanAndInvalid.md), and a line that two
 * cores hold is written back whole by both. */
#include "sim/hazard_int.h"

enum { LINE_BYTES = 64, FIRST_CAP = 1024, SYSTEM_BYTES = 16 << 20 };

/* A line that a core's scalar unit has stored to. Stored `cleans` ago: see HazardCache.cleans. */
typedef struct CacheLine {
    uint64_t number; /* 1 + address / LINE_BYTES; 0: free place */
    uint32_t core, cleans, source_line;
    bool cleaned;
} CacheLine;

struct HazardCache {
    CacheLine *at;
    uint64_t cap, len;
    uint64_t from, to; /* bytes that lines lie in */
    uint32_t *cleans;  /* by core: how often it cleaned the whole cache */
};

static CacheLine *place_of(const HazardCache *c, uint64_t number)
{
    uint64_t at = number * 0x9E3779B97F4A7C15ull >> 20;
    for (;; at++) {
        CacheLine *line = &c->at[at & (c->cap - 1)];
        if (line->number == number || line->number == 0)
            return line;
    }
}

static void grow_lines(HazardCache *c)
{
    HazardCache old = *c;
    c->cap = c->cap ? 2 * c->cap : FIRST_CAP;
    c->at = heap_alloc(c->cap * sizeof *c->at);
    for (uint64_t i = 0; i < old.cap; i++)
        if (old.at[i].number)
            *place_of(c, old.at[i].number) = old.at[i];
    heap_free(old.at);
}

static HazardCache *cache_of(Hazard *h)
{
    if (!h->cache) {
        h->cache = heap_alloc(sizeof *h->cache);
        h->cache->from = UINT64_MAX;
        h->cache->cleans = heap_alloc(h->cores * sizeof *h->cache->cleans);
    }
    return h->cache;
}

void hazard_use_close(Hazard *h)
{
    if (!h->cache)
        return;
    heap_free(h->cache->at);
    heap_free(h->cache->cleans);
    heap_free(h->cache);
}

static bool is_dirty(const HazardCache *c, const CacheLine *line)
{
    return line->number && !line->cleaned && line->cleans == c->cleans[line->core];
}

static Step step_of(Hazard *h, uint32_t core, const Record *r)
{
    return (Step){.sim = h->sim, .core = &h->sim->core[core], .r = r, .core_index = core};
}

/* Messages of the system's own part of the workspace pass the cache by. */
static bool is_system(const Hazard *h, uint64_t at)
{
    for (uint32_t i = 0; i < h->sim->gm.len; i++) {
        const SimRegion *region = &h->sim->gm.at[i]->region;
        if (region->role == SIM_WORKSPACE && at - region->base < SYSTEM_BYTES)
            return true;
    }
    return false;
}

static void store_line(Hazard *h, uint32_t core, const Record *r, uint64_t address)
{
    HazardCache *c = cache_of(h);
    if (4 * c->len >= 3 * c->cap)
        grow_lines(c);
    CacheLine *line = place_of(c, 1 + address / LINE_BYTES);
    if (line->core != core && is_dirty(c, line)) {
        Step s = step_of(h, core, r);
        sim_report_range(&s, SIM_FAULT_SHARED_LINE, (SimRange){NPU_GM, true, address, address + 1},
                         "core %u has stored to the same 64 bytes (line %u)", line->core,
                         line->source_line);
    }
    c->len += line->number == 0;
    *line = (CacheLine){.number = 1 + address / LINE_BYTES,
                        .core = core,
                        .cleans = c->cleans[core],
                        .source_line = r->line};
    c->from = address < c->from ? address : c->from;
    c->to = address + LINE_BYTES > c->to ? address + LINE_BYTES : c->to;
}

static void clean_cache(Hazard *h, uint32_t core, const Record *r)
{
    HazardCache *c = h->cache;
    if (!c)
        return;
    if (r->mode) {
        c->cleans[core]++;
        return;
    }
    CacheLine *line = place_of(c, 1 + rec_byte(r->operand[0].address) / LINE_BYTES);
    if (line->number && line->core == core)
        line->cleaned = true;
}

/* Another core's bytes that are still in its cache. True: one was found, which is enough. */
static bool look_at_run(Hazard *h, uint32_t core, const Record *r, uint64_t from, uint64_t to,
                        bool write)
{
    HazardCache *c = h->cache;
    from = from > c->from ? from : c->from;
    to = to < c->to ? to : c->to;
    for (uint64_t at = from / LINE_BYTES * LINE_BYTES; at < to; at += LINE_BYTES) {
        const CacheLine *line = place_of(c, 1 + at / LINE_BYTES);
        if (line->core == core || !is_dirty(c, line))
            continue;
        Step s = step_of(h, core, r);
        sim_report_range(&s, write ? SIM_FAULT_SHARED_LINE : SIM_FAULT_NOT_CLEANED,
                         (SimRange){NPU_GM, write, at > from ? at : from, at + LINE_BYTES},
                         "core %u stored there (line %u) and has not cleaned its cache since",
                         line->core, line->source_line);
        return true;
    }
    return false;
}

static void look_at_gm(Hazard *h, uint32_t core, const Record *r, const SimAccess *a)
{
    for (uint32_t o = 0; o < a->outer; o++)
        for (uint32_t i = 0; i < a->inner; i++) {
            uint64_t from = a->at + o * a->outer_step + i * a->inner_step;
            if (from < h->cache->to && from + a->run > h->cache->from &&
                look_at_run(h, core, r, from, from + a->run, a->write))
                return;
        }
}

/* --- tensors that were freed --- */

static const SimSlot *freed_slot(const CoreState *core, const SimAccess *a)
{
    for (uint32_t i = 0; i < core->buffers.len; i++) {
        const SimBuffer *b = &core->buffers.at[i];
        uint64_t from = rec_byte(b->address);
        if (!b->queue || !b->bytes || rec_space(b->address) != a->space || a->at < from ||
            a->at - from >= (uint64_t)b->bytes * b->slots)
            continue;
        const SimSlot *slot = &b->slot[(a->at - from) / b->bytes];
        return slot->state == SLOT_FREE && slot->line ? slot : NULL;
    }
    return NULL;
}

static void look_at_tensor(Hazard *h, uint32_t core, const Record *r, const SimAccess *a)
{
    const SimSlot *slot = freed_slot(&h->sim->core[core], a);
    if (!slot)
        return;
    Step s = step_of(h, core, r);
    sim_report_range(&s, SIM_FAULT_USED_AFTER_FREE,
                     (SimRange){a->space, a->write, a->at, a->at + a->run},
                     "FreeTensor gave it back at line %u", slot->line);
}

/* --- both --- */

static bool stores_by_scalar(const Record *r)
{
    return (r->op == NPU_GLOBAL_SET || r->op == NPU_RAW_STORE) && !(r->flags & REC_UNCACHED) &&
           rec_space(r->operand[0].address) == NPU_GM;
}

void hazard_look_at_use(Hazard *h, uint32_t core, const Record *r)
{
    if (r->op == NPU_CACHE_CLEAN) {
        clean_cache(h, core, r);
        return;
    }
    const SimTouched *t = sim_touched(h->sim, &h->sim->core[core], r);
    bool scalar = stores_by_scalar(r);
    for (uint32_t i = 0; i < t->n; i++) {
        const SimAccess *a = &t->access[i];
        if (a->space == NPU_UB)
            look_at_tensor(h, core, r, a);
        else if (a->space == NPU_GM && h->cache && !scalar && !(r->flags & REC_UNCACHED))
            look_at_gm(h, core, r, a);
    }
    uint64_t at = rec_byte(r->operand[0].address);
    if (scalar && h->cores > 1 && !is_system(h, at))
        store_line(h, core, r, at);
}
