/* GM and L2 as the cycle model sees them; inside src/sim only.
 *
 *     core ─ port ─┬─ L2 ─┐
 *     core ─ port ─┤      ├─ GM      requests in flight share the ports and the chip: cycle_gm.h
 *     ...          └──────┘
 *
 * Cores come in short turns, so that what they bring into L2 mixes much as it would: a sector of 128
 * bytes is still there when less than L2 holds has been brought in since it was last touched. What
 * is brought in beyond that pushes out what was touched longest ago, and what is written of it goes
 * to GM. */
#ifndef SIM_CYCLE_MEMORY_H
#define SIM_CYCLE_MEMORY_H

#include "npu/npu.h"
#include "sim/access.h"
#include "sim/cycle_gm.h"

typedef struct MemoryPage MemoryPage;
typedef struct MemorySet MemorySet;
typedef struct MemoryStart MemoryStart;
typedef struct MemoryPlace MemoryPlace;

typedef struct CycleMemory {
    const NpuChip *chip;
    uint32_t cores; /* that run at a time */
    GmTime *gm;
    MemoryPlace *place; /* by core */
    uint64_t l2_bytes;
    uint64_t brought; /* into L2 by all cores */
    double *dirty;    /* by age: written bytes of what was last touched then */
    double *debt;     /* by core: written bytes that were evicted and are not yet sent to GM */
    MemorySet *sets;
    MemoryPage *pages; /* by set */
    MemoryStart *starts;
    double crowd;                 /* cores at one place at one time, the mean of late */
    uint64_t read, written, hits; /* requested bytes */
    uint64_t past;                /* of those read, past L2 */
    uint64_t wasted, returned;    /* bytes moved beyond that; written back */
} CycleMemory;

/* Where a core stands: its port, and the wave of blocks it belongs to (0: those that start at once). */
typedef struct MemoryPlace {
    uint32_t wave, port;
    uint32_t beside;    /* 1 + the other core of the port; 0: none. Set by cycle_memory_open */
    double moved, upto; /* bytes it has brought from GM, until when */
    bool ended;
    uint32_t reads; /* so far */
} MemoryPlace;
/* `place` of each of the `cores` is copied; `running` of them work at a time, in so many waves. */
void cycle_memory_open(CycleMemory *m, const NpuChip *chip, const MemoryPlace *place,
                       uint32_t cores, uint32_t running, uint32_t waves);
void cycle_memory_close(CycleMemory *m);
/* The core asks for nothing more. */
void cycle_memory_end(CycleMemory *m, uint32_t core);
typedef struct MemoryHow {
    double now;  /* when the access starts */
    bool aic;    /* a cube core asks */
    bool bypass; /* past L2 */
    bool rows;   /* cut into rows by the copy: ND2NZ */
} MemoryHow;
/* Cycles an access keeps its pipe. */
double cycle_memory_read(CycleMemory *m, uint32_t core, const SimAccess *a, MemoryHow how);
double cycle_memory_write(CycleMemory *m, uint32_t core, const SimAccess *a, MemoryHow how);

#endif
