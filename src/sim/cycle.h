/* Cycles: how long would the same records take on the chip? An observer over a simulation.
 *
 *     Cycle *c = cycle_open(sim);            before the first record
 *     cycle_trace(c, sink, context);         optional: every instruction with start and end
 *     ... sim_feed ...
 *     CycleReport report;
 *     cycle_report(c, &report);
 *     cycle_close(c);
 *
 * In-order pipes per core, fed by the scalar unit, with flags and barriers as edges; costs from
 * isa.def, chip.def, cost.def. It observes and never changes a value. docs/cycle-model.md says
 * what is modelled. */
#ifndef SIM_CYCLE_H
#define SIM_CYCLE_H

#include "sim/sim.h"

typedef struct Cycle Cycle;

typedef struct CycleReport {
    double us;     /* predicted, launch included */
    double cycles; /* of the slowest core */
    double launch_us;
    uint32_t cores;                        /* that ran */
    double busy_us[NPU_PIPE_ALL];          /* per pipe, mean over the cores that used it */
    double share[NPU_PIPE_ALL];            /* of the slowest core's time */
    enum NpuPipe bound;                    /* the busiest pipe of the slowest core */
    uint64_t gm_read, gm_written, l2_hits; /* bytes */
    uint64_t conflict_cycles;              /* lost to bank conflicts, all cores */
} CycleReport;

/* start and end in cycles of that core's clock. */
typedef void CycleSink(void *context, uint32_t core, enum NpuPipe pipe, double start, double end,
                       const Record *r);

/* Source lines by the cycles their instructions occupied a pipe, over all cores. */
typedef struct CycleLine {
    uint16_t file; /* name id of core 0 */
    uint32_t line;
    double cycles;
    uint64_t instructions;
} CycleLine;

Cycle *cycle_open(Sim *sim);
void cycle_close(Cycle *cycle);
void cycle_trace(Cycle *cycle, CycleSink *sink, void *context);
void cycle_report(const Cycle *cycle, CycleReport *report);
/* The costliest lines first; returns how many were written. */
uint32_t cycle_lines(const Cycle *cycle, CycleLine *lines, uint32_t most);

#endif
