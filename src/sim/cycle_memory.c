/* The memory side of the cycle model; see cycle_memory.h. */
#include "sim/cycle_memory.h"

#include "sim/cycle_cost.h"
#include <string.h>

/* SETS * WAYS pages are four times what the largest L2 holds, as pages may be used in part. */
enum {
    SECTOR = 128,
    LINE = 512,
    SETS = 4096,
    WAYS = 16,
    WHEN_UNIT = 4096,
    STARTS = 1 << 14,
    OF_LATE = 4096,
    AGE = 1 << 19, /* a multiple of WHEN_UNIT */
    AGES = 512     /* more of AGE than the largest L2 holds */
};

/* 64 sectors of GM that L2 has seen. */
struct MemoryPage {
    uint64_t sectors, dirty; /* touched ones; of these, written and not written back */
    uint32_t when;           /* what all had brought in when it was last touched, in units */
};

/* Pages whose numbers hash alike. */
struct MemorySet {
    uint64_t key[WAYS]; /* 1 + number of the page; 0: none */
    uint32_t next;      /* the one to be evicted */
};

/* Where reads began of late: cores that ask for the same lines in the same order begin alike. */
struct MemoryStart {
    uint64_t sector;
    uint32_t read; /* how many reads its core had made */
    uint16_t core, crowd;
};

/* Two cores of one port know of each other. */
static void pair_cores(CycleMemory *m, uint32_t cores, uint32_t ports, uint32_t waves)
{
    uint32_t *first = heap_alloc(((size_t)ports * waves + 1) * sizeof *first);
    for (uint32_t i = 0; i < cores; i++) {
        uint32_t *seen = &first[m->place[i].wave * ports + m->place[i].port];
        if (*seen) {
            m->place[i].beside = *seen;
            m->place[*seen - 1].beside = i + 1;
        }
        *seen = i + 1;
    }
    heap_free(first);
}

void cycle_memory_open(CycleMemory *m, const NpuChip *chip, const MemoryPlace *place,
                       uint32_t cores, uint32_t running, uint32_t waves)
{
    GmRates rates = {.ports = 2 * chip->aic,
                     .waves = waves,
                     .vector_port = cost_constant(NPU_C_GM_PORT),
                     .cube_port = cost_constant(NPU_C_GM_PORT_AIC),
                     .chip = chip->gm_tbps * 1e6 / chip->mhz * cost_constant(NPU_C_GM_REACHED)};
    *m = (CycleMemory){
        .chip = chip,
        .cores = running,
        .gm = gm_time_open(&rates),
        .place = heap_alloc((cores + 1) * sizeof(MemoryPlace)),
        .l2_bytes = (uint64_t)(chip->l2_mib * 1048576.0 * cost_constant(NPU_C_L2_USED)),
        .debt = heap_alloc((cores + 1) * sizeof(double)),
        .dirty = heap_alloc(AGES * sizeof(double)),
        .sets = heap_alloc(SETS * sizeof(MemorySet)),
        .pages = heap_alloc(SETS * WAYS * sizeof(MemoryPage)),
        .starts = heap_alloc(STARTS * sizeof(MemoryStart)),
    };
    memcpy(m->place, place, cores * sizeof *place);
    pair_cores(m, cores, rates.ports, waves);
}

void cycle_memory_close(CycleMemory *m)
{
    heap_free(m->starts);
    heap_free(m->pages);
    heap_free(m->sets);
    heap_free(m->dirty);
    heap_free(m->debt);
    heap_free(m->place);
    gm_time_close(m->gm);
    *m = (CycleMemory){0};
}

/* --- pages --- */

/* Neighbours lie side by side, sixteen at a time. */
static uint32_t set_of(uint64_t key)
{
    return ((uint32_t)((key >> 4) * 0x9E3779B97F4A7C15ull >> 40) << 4 | (key & 15)) % SETS;
}

static bool is_gone(const CycleMemory *m, const MemoryPage *page)
{
    return m->brought - (uint64_t)page->when * WHEN_UNIT > m->l2_bytes + WHEN_UNIT;
}

/* The way to replace: round robin, preferring ways whose page has left L2. */
static uint32_t way_to_give(const CycleMemory *m, uint32_t at)
{
    MemorySet *set = &m->sets[at];
    for (uint32_t tries = 0; tries < WAYS; tries++) {
        uint32_t way = set->next++ % WAYS;
        if (!set->key[way] || is_gone(m, &m->pages[at * WAYS + way]))
            return way;
    }
    return set->next++ % WAYS;
}

/* The page, or a new one in the place of another of its set. */
static MemoryPage *page_of(CycleMemory *m, uint64_t number)
{
    uint64_t key = number + 1;
    uint32_t at = set_of(key);
    MemorySet *set = &m->sets[at];
    for (uint32_t way = 0; way < WAYS; way++)
        if (set->key[way] == key)
            return &m->pages[at * WAYS + way];
    uint32_t way = way_to_give(m, at);
    set->key[way] = key;
    MemoryPage *page = &m->pages[at * WAYS + way];
    *page = (MemoryPage){.when = (uint32_t)(m->brought / WHEN_UNIT)};
    return page;
}

/* --- L2 --- */

static double *dirty_of_age(const CycleMemory *m, uint64_t when)
{
    return &m->dirty[when / AGE % AGES];
}

static double sectors_bytes(uint64_t mask) { return SECTOR * (double)__builtin_popcountll(mask); }

/* What is written of a page counts where the page was last touched. */
static void mark_dirty(CycleMemory *m, MemoryPage *page, uint64_t written)
{
    double *then = dirty_of_age(m, (uint64_t)page->when * WHEN_UNIT);
    double moves = sectors_bytes(page->dirty);
    *then -= moves < *then ? moves : *then;
    page->dirty |= written;
    *dirty_of_age(m, m->brought) += sectors_bytes(page->dirty);
}

/* Gives the sectors that were not there. */
static uint64_t touch_page(CycleMemory *m, MemoryPage *page, uint64_t mask, bool write)
{
    uint64_t missing = 0;
    if (is_gone(m, page))
        page->sectors = page->dirty = 0;
    if (!page->sectors && !~mask)
        missing = 64;
    else if (mask & ~page->sectors)
        missing = (uint64_t)__builtin_popcountll(mask & ~page->sectors);
    page->sectors |= mask;
    if (write || page->dirty)
        mark_dirty(m, page, write ? mask : 0);
    page->when = (uint32_t)(m->brought / WHEN_UNIT);
    return missing;
}

static uint64_t touch(CycleMemory *m, uint64_t from, uint64_t to, bool write)
{
    uint64_t missing = 0;
    for (uint64_t at = from / SECTOR; at <= (to - 1) / SECTOR;) {
        uint64_t first = at % 64, left = (to - 1) / SECTOR - at + 1;
        uint64_t count = left < 64 - first ? left : 64 - first;
        uint64_t mask = (count == 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1) << first;
        missing += touch_page(m, page_of(m, at / 64), mask, write);
        at += count;
    }
    return missing;
}

/* Other cores that began to read there when they had come about as far. Clocks say less: those of cores that share GM
 * drift apart within a turn, whose requests are served one core after the other. */
static uint32_t crowd_at(CycleMemory *m, uint32_t core, uint64_t at)
{
    uint64_t sector = at / SECTOR;
    uint32_t read = m->place[core].reads++;
    MemoryStart *s = &m->starts[(sector * 0x9E3779B97F4A7C15ull >> 40) % STARTS];
    uint32_t apart = s->read > read ? s->read - read : read - s->read;
    if (s->sector != sector || apart > cost_constant(NPU_C_SAME_STEP))
        s->crowd = 0;
    else if (s->core != core)
        s->crowd++;
    s->sector = sector;
    s->core = (uint16_t)core;
    s->read = read;
    return s->crowd;
}

/* What leaves L2 while `bytes` of one age's oldest are pushed out: its written bytes come evenly, and
 * no more than what is brought in. */
static double leaving(CycleMemory *m, uint64_t oldest, double bytes)
{
    double *dirty = dirty_of_age(m, oldest), left = AGE - (double)(oldest % AGE);
    double leaves = *dirty * bytes / left;
    leaves = leaves < bytes ? leaves : bytes;
    *dirty -= leaves;
    if (bytes >= left) { /* the age ends; what is too much goes with the next */
        double rest = *dirty;
        *dirty = 0;
        *dirty_of_age(m, oldest + AGE) += rest;
    }
    return leaves;
}

/* A core brings `bytes` into L2: once it is full the oldest leave, the written ones to GM. */
static void bring(CycleMemory *m, uint32_t core, uint64_t bytes)
{
    uint64_t to = m->brought + bytes, full = m->l2_bytes;
    for (uint64_t at = m->brought > full ? m->brought : full; at < to;) {
        uint64_t oldest = at - full, ends = (oldest / AGE + 1) * AGE + full;
        uint64_t until = ends < to ? ends : to;
        double leaves = leaving(m, oldest, (double)(until - at));
        m->debt[core] += leaves;
        m->returned += (uint64_t)leaves;
        at = until;
    }
    m->brought = to;
}

void cycle_memory_end(CycleMemory *m, uint32_t core) { m->place[core].ended = true; }

/* --- what an access takes of the bus --- */

/* Whole 128-byte units; a run that begins inside one takes whole 512-byte lines. */
static uint64_t run_bytes(uint64_t at, uint64_t run)
{
    uint64_t unit = at % SECTOR ? LINE : SECTOR;
    return (at + run + unit - 1) / unit * unit - at / unit * unit;
}

typedef struct Taken {
    double asked, bytes; /* what the kernel wants; what the bus moves */
    double missing;      /* share that L2 does not have */
    double runs;
    uint32_t crowd;
} Taken;

static Taken access_cost(CycleMemory *m, uint32_t core, const SimAccess *a, MemoryHow how)
{
    Taken t = {.runs = (double)a->outer * a->inner, .asked = (double)sim_access_bytes(a)};
    uint64_t sectors = 0, missing = 0, bytes = 0;
    for (uint32_t o = 0; a->run && o < a->outer; o++)
        for (uint32_t i = 0; i < a->inner; i++) {
            uint64_t from = a->at + o * a->outer_step + i * a->inner_step;
            bytes += run_bytes(from, a->run);
            sectors += (from + a->run - 1) / SECTOR - from / SECTOR + 1;
            missing += how.bypass ? 0 : touch(m, from, from + a->run, a->write);
        }
    t.bytes = (double)bytes;
    t.missing = how.bypass ? 1 : sectors ? (double)missing / (double)sectors : 0;
    t.crowd = a->write ? 0 : crowd_at(m, core, a->at);
    m->wasted += t.bytes > t.asked ? (uint64_t)(t.bytes - t.asked) : 0;
    return t;
}

/* --- reading and writing --- */

static double larger(double a, double b) { return a > b ? a : b; }

/* How much longer it takes when others ask for the same lines: who comes first waits as long as the
 * last, so that what counts is the mean of late, seen from the middle of it. */
static double crowded(CycleMemory *m, const Taken *t, bool aic)
{
    double slower = cost_constant(aic ? NPU_C_SAME_LINE_AIC : NPU_C_SAME_LINE_AIV);
    m->crowd += (t->crowd - m->crowd) / OF_LATE;
    double crowd = 2.0 * m->crowd / m->cores;
    return 1 + (slower - 1) * (crowd < 1 ? crowd : 1);
}

/* Bytes of its port's time that the bursts of a read from GM take beyond what they bring. */
static double burst_bytes(const Taken *t, MemoryHow how)
{
    double past = cost_constant(how.aic ? NPU_C_BURST_PAST_L2_AIC : NPU_C_BURST_PAST_L2);
    double one = how.bypass ? past : cost_constant(NPU_C_BURST);
    return (how.rows && !how.bypass) || t->runs <= 1 ? 0 : t->runs * one;
}

/* Takes `read` bytes from GM, and sends out what the core has pushed out of L2 but for `left` bytes. Written
 * lines that leave take more of GM than reads do. */
static double move_gm(CycleMemory *m, uint32_t core, MemoryHow how, double read, double left)
{
    MemoryPlace *place = &m->place[core];
    GmRequest request = {.wave = place->wave,
                         .port = place->port,
                         .start = how.now,
                         .bytes = read,
                         .back = (m->debt[core] - left) * cost_constant(NPU_C_WRITE_BACK)};
    const MemoryPlace *other = place->beside ? &m->place[place->beside - 1] : NULL;
    if (other && !other->ended && other->upto > 0) {
        double mean = other->moved / other->upto, half = cost_constant(NPU_C_GM_PORT) / 2;
        request.held = mean < half ? mean : half;
        request.held_from = other->upto;
    }
    m->debt[core] = left;
    double cycles = gm_time_take(m->gm, &request);
    place->moved += read;
    place->upto = larger(place->upto, how.now + cycles);
    return cycles;
}

double cycle_memory_read(CycleMemory *m, uint32_t core, const SimAccess *a, MemoryHow how)
{
    Taken t = access_cost(m, core, a, how);
    bool cut = t.missing > 0.5 && t.bytes > t.asked; /* lines cut in two are fetched for both */
    double from_gm = cut ? t.bytes : t.asked * t.missing, from_l2 = t.bytes - from_gm;
    m->read += (uint64_t)t.asked;
    m->hits += (uint64_t)(t.asked * (1 - t.missing));
    m->past += how.bypass ? (uint64_t)t.asked : 0;
    if (!how.bypass)
        bring(m, core, (uint64_t)(t.asked * t.missing));
    /* Each row of an ND2NZ copy is laid out anew. */
    double slower = crowded(m, &t, how.aic),
           start = how.rows ? t.runs * cost_constant(NPU_C_ND2NZ_ROW) : 0;
    double l2 = how.aic ? m->chip->l2_read_rate : cost_constant(NPU_C_L2_READ_AIV);
    double port = cost_constant(how.aic ? NPU_C_GM_PORT_AIC : NPU_C_GM_PORT);
    if (from_gm > 0)
        from_gm += burst_bytes(&t, how) * t.missing;
    double gm = move_gm(m, core, how, how.bypass ? from_gm * slower : from_gm, 0);
    if (how.bypass)
        return gm + start;
    return larger(from_gm / port + from_l2 / l2 * slower, gm) + start;
}

double cycle_memory_write(CycleMemory *m, uint32_t core, const SimAccess *a, MemoryHow how)
{
    Taken t = access_cost(m, core, a, how);
    double rate = how.aic ? cost_constant(NPU_C_FIX_GM) : cost_constant(NPU_C_MTE3_RATE);
    double queue = cost_constant(NPU_C_WRITE_QUEUE), cycles = t.bytes / rate;
    m->written += (uint64_t)t.asked;
    if (!how.bypass)
        bring(m, core, (uint64_t)(t.asked * t.missing));
    else
        m->debt[core] += t.asked;
    if (m->debt[core] > queue)
        cycles = larger(cycles, move_gm(m, core, how, 0, queue));
    return cycles;
}
