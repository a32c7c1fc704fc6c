/* The memory side of the cycle model; see cycle_memory.h. */
#include "sim/cycle_memory.h"

#include "sim/cycle_cost.h"

/* SETS * WAYS pages are more than twice what the largest L2 holds. */
enum { SECTOR = 128, LINE = 512, SETS = 4096, WAYS = 7, WHEN_UNIT = 4096 };

/* 64 sectors of GM that L2 has seen. */
struct MemoryPage {
    uint64_t sectors;     /* touched ones */
    uint32_t when;        /* what all had brought in when it was last touched, in units */
    float time;           /* of that touch, on the clock of its core */
    uint16_t core, crowd; /* crowd: cores that came for it at about the same time */
};

/* Pages whose numbers hash alike. */
struct MemorySet {
    uint64_t key[WAYS]; /* 1 + number of the page; 0: none */
    uint32_t next;      /* the one to give way */
};

void cycle_memory_open(CycleMemory *m, const NpuChip *chip, uint32_t cores, uint32_t per_ai)
{
    uint32_t most = chip->aic * per_ai, running = cores < most ? cores : most;
    double whole = chip->gm_tbps * 1e6 * cost_constant(NPU_C_GM_REACHED) / chip->mhz;
    *m = (CycleMemory){
        .chip = chip,
        .cores = running,
        .per_ai = per_ai,
        .share = whole / running,
        .l2_bytes = (uint64_t)(chip->l2_mib * 1048576.0 * cost_constant(NPU_C_L2_USED)),
        .debt = heap_alloc(cores * sizeof(double)),
        .sets = heap_alloc(SETS * sizeof(MemorySet)),
        .pages = heap_alloc(SETS * WAYS * sizeof(MemoryPage)),
    };
}

void cycle_memory_close(CycleMemory *m)
{
    heap_free(m->pages);
    heap_free(m->sets);
    heap_free(m->debt);
    *m = (CycleMemory){0};
}

/* --- pages --- */

/* The page, or a new one in the place of the first that came into its set. */
static MemoryPage *page_of(CycleMemory *m, uint64_t number)
{
    uint64_t key = number + 1;
    uint32_t at = (uint32_t)(key ^ key >> 12 ^ key >> 24) % SETS; /* neighbours side by side */
    MemorySet *set = &m->sets[at];
    for (uint32_t way = 0; way < WAYS; way++)
        if (set->key[way] == key)
            return &m->pages[at * WAYS + way];
    uint32_t way = set->next++ % WAYS;
    set->key[way] = key;
    MemoryPage *page = &m->pages[at * WAYS + way];
    *page = (MemoryPage){.when = (uint32_t)(m->brought / WHEN_UNIT)};
    return page;
}

/* --- L2 --- */

typedef struct Touched {
    uint64_t missing; /* sectors that were not there */
    uint32_t crowd;   /* other cores that ask for the same at the same time */
} Touched;

static void touch_page(CycleMemory *m, uint32_t core, double now, MemoryPage *page, uint64_t mask,
                       Touched *t)
{
    double apart = page->time > now ? page->time - now : now - page->time;
    if (m->brought - (uint64_t)page->when * WHEN_UNIT > m->l2_bytes + WHEN_UNIT)
        page->sectors = 0;
    if (!page->sectors && !~mask)
        t->missing += 64;
    else if (mask & ~page->sectors)
        t->missing += (uint64_t)__builtin_popcountll(mask & ~page->sectors);
    if (apart >= cost_constant(NPU_C_SAME_TIME) || !page->sectors)
        page->crowd = 0;
    else if (page->core != core)
        page->crowd++;
    t->crowd = page->crowd > t->crowd ? page->crowd : t->crowd;
    page->sectors |= mask;
    page->core = (uint16_t)core;
    page->time = (float)now;
    page->when = (uint32_t)(m->brought / WHEN_UNIT);
}

static void touch(CycleMemory *m, uint32_t core, double now, uint64_t from, uint64_t to, Touched *t)
{
    for (uint64_t at = from / SECTOR; at <= (to - 1) / SECTOR;) {
        uint64_t first = at % 64, left = (to - 1) / SECTOR - at + 1;
        uint64_t count = left < 64 - first ? left : 64 - first;
        uint64_t mask = (count == 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1) << first;
        touch_page(m, core, now, page_of(m, at / 64), mask, t);
        at += count;
    }
}

/* A core brings `bytes` into L2: once it is full older bytes leave, the written ones to GM. */
static void bring(CycleMemory *m, uint32_t core, double bytes, bool write)
{
    if (m->brought > m->l2_bytes) {
        double leaving = bytes * (double)m->dirty / (double)m->brought;
        m->debt[core] += leaving;
        m->returned += (uint64_t)leaving;
    }
    m->brought += (uint64_t)bytes;
    m->dirty += write ? (uint64_t)bytes : 0;
}

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

static Taken take(CycleMemory *m, uint32_t core, const SimAccess *a, MemoryHow how)
{
    Taken t = {.runs = (double)a->outer * a->inner, .asked = (double)sim_access_bytes(a)};
    Touched touched = {0};
    uint64_t sectors = 0, bytes = 0;
    for (uint32_t o = 0; a->run && o < a->outer; o++)
        for (uint32_t i = 0; i < a->inner; i++) {
            uint64_t from = a->at + o * a->outer_step + i * a->inner_step;
            bytes += run_bytes(from, a->run);
            sectors += (from + a->run - 1) / SECTOR - from / SECTOR + 1;
            if (!how.bypass)
                touch(m, core, how.now, from, from + a->run, &touched);
        }
    t.bytes = (double)bytes;
    t.missing = how.bypass ? 1 : sectors ? (double)touched.missing / (double)sectors : 0;
    t.crowd = touched.crowd;
    m->wasted += t.bytes > t.asked ? (uint64_t)(t.bytes - t.asked) : 0;
    return t;
}

/* --- reading and writing --- */

static double larger(double a, double b) { return a > b ? a : b; }

static double l2_rate(const CycleMemory *m, const Taken *t, bool aic)
{
    double rate = aic ? m->chip->l2_read_rate : cost_constant(NPU_C_L2_READ_AIV);
    double slower = cost_constant(aic ? NPU_C_SAME_LINE_AIC : NPU_C_SAME_LINE_AIV);
    double crowd = 2.0 * t->crowd / m->cores; /* seen from the middle of it */
    return rate / (1 + (slower - 1) * (crowd < 1 ? crowd : 1));
}

double cycle_memory_read(CycleMemory *m, uint32_t core, const SimAccess *a, MemoryHow how)
{
    Taken t = take(m, core, a, how);
    double wasted = t.missing > 0.5 ? t.bytes - t.asked : 0; /* lines cut in two */
    double from_gm = t.asked * t.missing + wasted, from_l2 = t.bytes - from_gm;
    m->read += (uint64_t)t.asked;
    m->hits += (uint64_t)(t.asked * (1 - t.missing));
    if (!how.bypass)
        bring(m, core, t.asked * t.missing, false);
    double port = cost_constant(how.aic ? NPU_C_GM_PORT_AIC : NPU_C_GM_PORT) / m->per_ai;
    double cycles = larger(from_gm / port, (from_gm + m->debt[core]) / m->share);
    m->debt[core] = 0;
    cycles += from_l2 / l2_rate(m, &t, how.aic);
    if (how.rows)
        return cycles + cost_constant(NPU_C_ND2NZ_START);
    return cycles + (t.runs > 1 ? t.runs * cost_constant(NPU_C_BURST) : 0);
}

double cycle_memory_write(CycleMemory *m, uint32_t core, const SimAccess *a, MemoryHow how)
{
    Taken t = take(m, core, a, how);
    double rate = how.aic ? cost_constant(NPU_C_FIX_GM) : cost_constant(NPU_C_MTE3_RATE);
    double queue = cost_constant(NPU_C_WRITE_QUEUE), cycles = t.bytes / rate;
    m->written += (uint64_t)t.asked;
    if (!how.bypass)
        bring(m, core, t.asked * t.missing, true);
    else
        m->debt[core] += t.asked;
    if (m->debt[core] > queue) {
        cycles = larger(cycles, (m->debt[core] - queue) / m->share);
        m->debt[core] = queue;
    }
    return cycles;
}
