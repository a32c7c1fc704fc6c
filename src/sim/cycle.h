/* Cycles: how long would the same records take on the chip? An observer over a simulation.
 *
 *     Cycle *c = cycle_open(sim);            before the first record
 *     cycle_trace(c, sink, context);         optional: every instruction with start and end
 *     ... sim_feed ...
 *     CycleReport report;
 *     cycle_report(c, &report);
 *     cycle_summary(c, &text);  cycle_explain(c, &text);
 *     cycle_close(c);
 *
 * In-order pipes per core, fed by the scalar unit, with flags and barriers as edges; costs from
 * isa.def, chip.def, cost.def. It observes and never changes a value. docs/cycle-model.md says
 * what is modelled. */
#ifndef SIM_CYCLE_H
#define SIM_CYCLE_H

#include "sim/sim.h"

typedef struct Cycle Cycle;

/* What a pipe that could have worked waited for. */
typedef enum CycleWait {
    CYCLE_WAIT_NONE,
    CYCLE_WAIT_ISSUE,   /* the scalar unit had not issued the instruction yet */
    CYCLE_WAIT_FLAG,    /* another pipe */
    CYCLE_WAIT_BARRIER, /* itself or all pipes, to drain */
    CYCLE_WAIT_CORES,   /* another core */
    CYCLE_WAIT_COUNT
} CycleWait;
const char *cycle_wait_name(CycleWait wait);

typedef struct CycleReport {
    double us;     /* predicted, launch included */
    double cycles; /* of the slowest core */
    double launch_us;
    uint32_t cores, chip_cores;            /* that ran; that the chip has of this kind */
    double mean_cycles;                    /* of the cores that ran */
    double busy_us[NPU_PIPE_ALL];          /* per pipe, mean over the cores that used it */
    double share[NPU_PIPE_ALL];            /* of the slowest core's time */
    enum NpuPipe bound;                    /* the busiest pipe of the slowest core */
    uint64_t gm_read, gm_written, l2_hits; /* bytes */
    uint64_t past_l2;                      /* of those read */
    uint64_t gm_wasted, gm_returned;       /* moved beyond what was requested; written back */
    uint64_t conflict_cycles;              /* lost to bank conflicts, all cores */
    /* waits of the slowest core, in microseconds */
    double wait_us[NPU_PIPE_ALL][CYCLE_WAIT_COUNT];
    double flag_us[NPU_PIPE_ALL][NPU_PIPE_ALL]; /* [waits][for] */
    double small_us[NPU_PIPE_ALL];              /* copies that take longer to start than to move */
    double conflict_us;
    uint64_t copies, copied; /* GM copies of all cores, their bytes */
} CycleReport;

/* start and end in cycles of that core's clock: the pipe is busy, its next instruction starts no
 * earlier; what it makes is there at `done`. A WAIT_FLAG record is an edge: from `pipe` at `start` to the
 * pipe in its mode at `end`. */
typedef struct CycleEvent {
    uint32_t core;
    enum NpuPipe pipe;
    double start, end, done;
    const Record *r;
    double waited; /* cycles before start in which the pipe stood still */
    CycleWait why;
    enum NpuPipe on; /* CYCLE_WAIT_FLAG: the pipe waited for */
} CycleEvent;
typedef void CycleSink(void *context, const CycleEvent *event);

/* Source lines by the cycles their instructions occupied a pipe, over all cores. */
typedef struct CycleLine {
    const char *file; /* "": not known */
    uint32_t line;
    double cycles;
    uint64_t instructions;
    uint64_t bytes; /* of GM copies */
    double conflict, waited;
    double stood; /* the scalar unit, for a value to read */
} CycleLine;

Cycle *cycle_open(Sim *sim);
void cycle_close(Cycle *cycle);
void cycle_trace(Cycle *cycle, CycleSink *sink, void *context);
void cycle_report(const Cycle *cycle, CycleReport *report);
/* The costliest lines first; returns how many were written. */
uint32_t cycle_lines(const Cycle *cycle, CycleLine *lines, uint32_t most);
/* Every line, the costliest first: "FILE<tab>LINE<tab>US<tab>INSTRUCTIONS<tab>BYTES", microseconds of
 * pipes as the mean of the cores, bytes of GM copies. */
void cycle_costs(const Cycle *cycle, Buf *out);
/* Busy share of the pipes, what bounds it, bytes moved against the least, the costliest lines. */
void cycle_summary(const Cycle *cycle, Buf *out);
/* What to change first, in a few sentences with numbers. */
void cycle_explain(const Cycle *cycle, Buf *out);

#endif
