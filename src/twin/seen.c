/* Where the code of a candidate's programs went; see TwinSeen in twin.h. In: the slots of a run, as its
 * processes filled them (twin/rt/watch_code.h). Out: a set for each program, which sets of other runs can be
 * held against. */
#include "twin/run_int.h"
#include "twin/include/acraft/core.h"

#include "base/hash.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t twin_seen_program(int exe)
{
    uint64_t hash = 0;
    char part[1 << 14];
    off_t at = 0;
    for (ssize_t n; exe >= 0 && (n = pread(exe, part, sizeof part, at)) > 0; at += n)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) ^ hash64(part, (size_t)n);
    return hash;
}

static TwinSeenProgram *find_program(const TwinSeen *seen, uint64_t program)
{
    for (uint32_t i = 0; i < seen->programs.len; i++)
        if (seen->programs.at[i].program == program)
            return &seen->programs.at[i];
    return NULL;
}

static void keep_least(int32_t *least, int32_t gap)
{
    if (gap >> 1 && (!*least || abs(gap >> 1) < abs(*least >> 1)))
        *least = gap;
}

void twin_seen_add(TwinSeen *seen, uint64_t program, const uint8_t *slots, const int32_t *gaps)
{
    TwinSeenProgram *has = find_program(seen, program);
    if (!has) {
        TwinSeenProgram fresh = {.program = program,
                                 .slots = arena_array(seen->arena, uint8_t, WATCH_SLOTS),
                                 .gaps = arena_array(seen->arena, int32_t, WATCH_SLOTS)};
        vec_push(seen->arena, &seen->programs, fresh);
        has = &vec_last(&seen->programs);
    }
    for (uint32_t i = 0; i < WATCH_SLOTS; i++) {
        has->slots[i] |= slots[i];
        if (slots[i])
            keep_least(&has->gaps[i], gaps[i]);
    }
}

int twin_seen_slots(void)
{
    int fd = memfd_create("acraft-seen", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, WATCH_BYTES) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void twin_seen_add_file(TwinSeen *seen, int exe, int slots)
{
    uint8_t *bytes = seen ? heap_alloc(WATCH_BYTES) : NULL;
    if (bytes && pread(slots, bytes, WATCH_BYTES, 0) == (ssize_t)WATCH_BYTES)
        twin_seen_add(seen, twin_seen_program(exe), bytes,
                      (const int32_t *)(const void *)(bytes + WATCH_SLOTS));
    heap_free(bytes);
}

bool twin_seen_fill(const TwinScan *scan, int exe, int slots)
{
    uint64_t program = twin_seen_program(exe);
    uint8_t *bytes = heap_alloc(WATCH_SLOTS);
    memset(bytes, 0, WATCH_SLOTS);
    for (uint32_t i = 0; i < scan->count; i++) {
        const TwinSeenProgram *of = find_program(scan->seen[i], program);
        for (uint32_t k = 0; of && k < WATCH_SLOTS; k++)
            bytes[k] |= of->slots[k];
    }
    bool ok = pwrite(slots, bytes, WATCH_SLOTS, 0) == (ssize_t)WATCH_SLOTS;
    heap_free(bytes);
    return ok;
}

bool twin_seen_in(const TwinSeen *full, const TwinSeen *seen)
{
    for (uint32_t i = 0; i < full->programs.len; i++) {
        const TwinSeenProgram *of = find_program(seen, full->programs.at[i].program);
        if (!of)
            return false;
        for (uint32_t k = 0; k < WATCH_SLOTS; k++)
            if (full->programs.at[i].slots[k] & ~of->slots[k])
                return false;
    }
    return true;
}

/* ---- what no run had ---- */

enum { LESS = 2, EQUAL = 4, MORE = 8 }; /* bits of twin/rt/watch_code.h */

static uint8_t bits_in(TwinSeen *const *seen, uint32_t n, uint64_t program, uint32_t slot)
{
    uint8_t bits = 0;
    for (uint32_t i = 0; i < n; i++) {
        const TwinSeenProgram *of = find_program(seen[i], program);
        bits |= of ? of->slots[slot] : 0;
    }
    return bits;
}

uint32_t twin_seen_new(const TwinSeen *one, TwinSeen *const *seen, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < one->programs.len; i++)
        for (uint32_t k = 0; k < WATCH_SLOTS; k++) {
            uint8_t bits = one->programs.at[i].slots[k];
            count += bits && (bits & ~bits_in(seen, n, one->programs.at[i].program, k)) != 0;
        }
    return count;
}

/* A value that does not change with the sizes cannot be set by them. */
static bool changes(TwinSeen *const *seen, uint32_t n, uint64_t program, uint32_t slot, int32_t gap)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < n; i++) {
        const TwinSeenProgram *of = find_program(seen[i], program);
        if (!of || !of->slots[slot])
            continue;
        others++;
        if (of->gaps[slot] != gap)
            return true;
    }
    return others < 2;
}

static uint32_t add_gaps(const TwinSeenProgram *p, const TwinRuns *runs, bool constant,
                         TwinGap *gaps, uint32_t count, uint32_t most)
{
    for (uint32_t k = 0; k < WATCH_SLOTS && count < most; k++) {
        if (!p->gaps[k] || (p->gaps[k] & 1) != constant)
            continue;
        uint8_t bits = bits_in(runs->had, runs->had_count, p->program, k);
        if (!(bits & EQUAL) && changes(runs->all, runs->count, p->program, k, p->gaps[k]))
            gaps[count++] = (TwinGap){.place = p->program ^ k * UINT64_C(0x9e3779b97f4a7c15),
                                      .gap = p->gaps[k] >> 1,
                                      .constant = constant,
                                      .beyond = !(bits & LESS) || !(bits & MORE)};
    }
    return count;
}

uint32_t twin_seen_gaps(const TwinSeen *one, const TwinRuns *runs, TwinGap *gaps, uint32_t most)
{
    uint32_t count = 0;
    for (int constant = 1; constant >= 0; constant--)
        for (uint32_t i = 0; i < one->programs.len; i++)
            count = add_gaps(&one->programs.at[i], runs, constant, gaps, count, most);
    return count;
}

/* ---- a launch ---- */

/* Core processes wrote this and have ended; nothing of it is believed but bits. */
static void add_cores(const LaunchMemory *memory, uint32_t cores, bool cube, uint8_t *slots,
                      int32_t *gaps)
{
    for (uint32_t core = 0; core < cores; core++) {
        const ShareRing *ring = shared_ring(memory, core);
        uint32_t from = ring->seen_from, to = ring->seen_to;
        if (to > WATCH_SLOTS || (shared_core(memory, core)->role == ACRAFT_ROLE_AIC) != cube)
            continue;
        for (uint32_t i = from; i < to; i++) {
            slots[i] |= ring->seen[i];
            if (ring->seen[i])
                keep_least(&gaps[i], ring->gap[i]);
        }
    }
}

void twin_seen_launch(TwinSeen *seen, const Launched *l)
{
    uint8_t *slots = heap_alloc(WATCH_SLOTS);
    int32_t *gaps = heap_alloc(WATCH_SLOTS * sizeof *gaps);
    for (int role = 0; role < 2; role++) {
        if (!shared_launch(&l->memory)->order_count[role])
            continue;
        memset(slots, 0, WATCH_SLOTS);
        memset(gaps, 0, WATCH_SLOTS * sizeof *gaps);
        add_cores(&l->memory, l->answer.cores, role == 1, slots, gaps);
        twin_seen_add(seen, twin_seen_program(l->kernel->exe[role]), slots, gaps);
    }
    heap_free(slots);
    heap_free(gaps);
}
