/* Where the code of a candidate's programs went; see TwinSeen in twin.h. In: the slots of a run, as its
 * processes filled them (twin/rt/watch_code.h). Out: a set for each program, which sets of other runs can be
 * held against. */
#include "twin/run_int.h"
#include "twin/include/acraft/core.h"

#include "base/hash.h"
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

void twin_seen_add(TwinSeen *seen, uint64_t program, const uint8_t *slots)
{
    TwinSeenProgram *has = find_program(seen, program);
    if (!has) {
        TwinSeenProgram fresh = {.program = program,
                                 .slots = arena_array(seen->arena, uint8_t, WATCH_SLOTS)};
        vec_push(seen->arena, &seen->programs, fresh);
        has = &vec_last(&seen->programs);
    }
    for (uint32_t i = 0; i < WATCH_SLOTS; i++)
        has->slots[i] |= slots[i];
}

int twin_seen_slots(void)
{
    int fd = memfd_create("acraft-seen", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, WATCH_SLOTS) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void twin_seen_add_file(TwinSeen *seen, int exe, int slots)
{
    uint8_t *bytes = seen ? heap_alloc(WATCH_SLOTS) : NULL;
    if (bytes && pread(slots, bytes, WATCH_SLOTS, 0) == (ssize_t)WATCH_SLOTS)
        twin_seen_add(seen, twin_seen_program(exe), bytes);
    heap_free(bytes);
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

/* ---- a launch ---- */

/* Core processes wrote this and have ended; nothing of it is believed but bits. */
static void add_cores(const LaunchMemory *memory, uint32_t cores, bool cube, uint8_t *slots)
{
    for (uint32_t core = 0; core < cores; core++) {
        const ShareRing *ring = shared_ring(memory, core);
        uint32_t from = ring->seen_from, to = ring->seen_to;
        if (to > WATCH_SLOTS || (shared_core(memory, core)->role == ACRAFT_ROLE_AIC) != cube)
            continue;
        for (uint32_t i = from; i < to; i++)
            slots[i] |= ring->seen[i];
    }
}

void twin_seen_launch(TwinSeen *seen, const Launched *l)
{
    uint8_t *slots = heap_alloc(WATCH_SLOTS);
    for (int role = 0; role < 2; role++) {
        if (!shared_launch(&l->memory)->order_count[role])
            continue;
        memset(slots, 0, WATCH_SLOTS);
        add_cores(&l->memory, l->answer.cores, role == 1, slots);
        twin_seen_add(seen, twin_seen_program(l->kernel->exe[role]), slots);
    }
    heap_free(slots);
}
