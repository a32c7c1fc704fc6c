/* Inside the hazard checker: clocks of the pipes, what is sent between them, who touched what
 * last. */
#ifndef SIM_HAZARD_INT_H
#define SIM_HAZARD_INT_H

#include "sim/hazard.h"
#include "sim/sim_int.h"
#include "sim/spans.h"

enum { PIPES = NPU_PIPE_ALL, EVENTS = 8, PAGE = 1 << 16, PENDING = 16 };

typedef struct Clock {
    uint32_t done[PIPES];
} Clock;

/* Snapshots in flight for one cross-core flag, oldest first. */
typedef struct Parcel {
    Clock *sent[PENDING];
    uint32_t len;
} Parcel;

/* What a core knew when its scalar unit wrote to GM, from that instruction on until the next note. */
typedef struct Told {
    uint32_t when;
    Clock issued;
    const Clock *others; /* by core; NULL: nothing of them */
} Told;

typedef struct HazardRepeat HazardRepeat;
typedef struct HazardCache HazardCache;

typedef struct HazardCore {
    Clock issued; /* instructions given to each pipe */
    Clock pipe[PIPES];
    Clock flag[PIPES][PIPES][EVENTS][2]; /* the oldest set first */
    uint8_t flags[PIPES][PIPES][EVENTS];
    uint64_t pairs, inserted; /* looked at on chip */
    Clock *others;            /* by core; NULL until something was learnt */
    VEC(Told) told;
    bool learnt; /* it learnt of other cores since the last note */
    Spans spans[NPU_SPACE_COUNT];
    Parcel sent[3][16], ready[16];
    uint64_t sync_calls[2];
    bool atomic, opened;
    bool scalar_gm;       /* the scalar unit has touched GM that is written */
    HazardRepeat *repeat; /* NULL: no repetition was looked at yet */
} HazardCore;

/* A region of GM in pages of its own; made when it is first touched. */
typedef struct HazardRegion {
    Spans *pages;
    uint64_t base, count;
} HazardRegion;

struct Hazard {
    Sim *sim;
    bool strict;
    Arena arena;
    uint32_t cores;
    HazardCore *core;
    HazardRegion *regions; /* by number */
    uint32_t region_count;
    Clock *sync_snapshot[2];
    uint64_t sync_epoch[2];
    uint64_t pairs, inserted; /* in GM */
    HazardCache *cache;       /* NULL: no core has stored to GM by its scalar unit */
};

static inline void learn(Clock *to, const Clock *from)
{
    for (int p = 0; p < PIPES; p++)
        to->done[p] = from->done[p] > to->done[p] ? from->done[p] : to->done[p];
}

/* Looks at what an instruction touches in GM; its pipe's clock stands as it was before. */
void hazard_look_gm(Hazard *h, uint32_t index, const Record *r, uint32_t when);

/* Checks data caches, and the use of tensors after FreeTensor (hazard_use.c). */
void hazard_look_at_use(Hazard *h, uint32_t core, const Record *r);
void hazard_use_close(Hazard *h);

/* hazard_repeat.c */
extern const SimRepeat hazard_repeat;
void hazard_repeat_close(Hazard *h);
/* The instruction being observed is about to touch GM. */
void hazard_repeat_note(HazardCore *core, uint8_t pipe, uint32_t when);

#endif
