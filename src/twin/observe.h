/* The two observers of a run: hazards and cycles. They see every record and change nothing.
 *
 *     TwinObserver o = {.strict = false};
 *     twin_observe(&options, &o);          before twin_run; races become findings of the verdict
 *     ... twin_run ...
 *     twin_observed(arena, chip, &o, &verdict);   predicted time, busy share of the pipes
 */
#ifndef TWIN_OBSERVE_H
#define TWIN_OBSERVE_H

#include "sim/cycle.h"
#include "sim/hazard.h"
#include "sim/trace.h"
#include "twin/twin.h"

typedef struct TwinObserver {
    bool strict;           /* only synchronisation that is written counts */
    bool only_time;        /* races are not looked for */
    bool trace;            /* keep a picture of the run in `json` */
    bool explain;          /* say in `text` where the time goes and what to change first */
    bool costs;            /* keep in `lines` what every source line cost (cycle_costs) */
    Buf json, text, lines; /* out; freed by twin_observer_free */
    Buf reads;             /* out: a SimReadOf for every region, in their order (twin_read_of) */
    CycleReport report;
    bool done;
    /* in the simulator's process only */
    Trace *tracing;
    Hazard *hazard;
    Cycle *cycle;
} TwinObserver;

void twin_observe(TwinOptions *options, TwinObserver *observer);
void twin_observer_free(TwinObserver *observer);
/* Does nothing when the run never came to its end. */
void twin_observed(Arena *arena, const NpuChip *chip, const TwinObserver *observer,
                   Verdict *verdict);

/* How much the launch read of its tensor `index`; not known with data, or of outputs. */
SimReadOf twin_read_of(const TwinObserver *observer, const TwinTensor *tensors, uint32_t index);

#endif
