/* Predicted time of a planned program at the sizes of its task, without a compiler: the lowered program
 * drives the cycle model directly (emit/sim.h). */
#ifndef GEN_PLAN_CLOCK_H
#define GEN_PLAN_CLOCK_H

#include "gen/plan/plan.h"
#include "ir/ir.h"

/* The launch of a plan's program at the sizes of its task, without values. False: the program takes other
 * operands than the plan says. */
struct EmitSimLaunch;
bool clock_launch(Arena *arena, const Plan *plan, const IrProgram *p, struct EmitSimLaunch *launch);

/* With the first value of every choice. False: values decide what the program does, or it does not run at
 * these sizes. */
bool clock_plan(const Plan *plan, const NpuChip *chip, double *us);

/* What the cycle model says of the same launch. */
typedef struct ClockCost {
    const char *why; /* it is not timed; NULL: it is */
    bool by_values;  /* ... because values decide what it does */
    double us;
    double launch_us; /* of it until the cores begin */
    uint64_t records; /* instructions, flags and waits of all cores */
    uint32_t cores;
    const char *bound; /* the busiest pipe of the slowest core */
    uint64_t gm_read, gm_written,
        l2_read; /* bytes of all cores; l2_read: of those that were read */
    int64_t ub;  /* bytes of the largest kernel, scratch included */
} ClockCost;
bool clock_cost(const Plan *plan, const NpuChip *chip, ClockCost *cost);
/* As clock_cost, but a program of more than `most` records is not timed (0: no limit). */
bool clock_cost_within(const Plan *plan, const NpuChip *chip, uint64_t most, ClockCost *cost);

/* The fastest program so far for one task. The first one offered stands until another is timed
 * as faster; it is not timed where no other program is offered. */
typedef struct ClockBest {
    Plan plan, first;
    bool found;
    double us;     /* 0: not timed */
    uint32_t left; /* programs that may still be timed */
    uint64_t records;
} ClockBest;
ClockBest clock_best(const Graph *graph);
bool clock_wants(const ClockBest *best); /* another program is worth writing */
void clock_offer(ClockBest *best, const Plan *plan, const NpuChip *chip);
/* Gives the fastest program, or the first one where the checker refuses the fastest. False when
 * both are refused or none was offered. */
bool clock_take(const ClockBest *best, const NpuChip *chip, Plan *plan);

/* What the checker or lowering refuses of it; NULL: nothing. */
const char *clock_fault(Arena *arena, const Plan *plan, const NpuChip *chip);
bool clock_is_sound(const Plan *plan, const NpuChip *chip);

/* What few kernels for the task's operands stay below: each of them once at the rate that all cores together
 * reach, and a launch. */
double clock_least(const Graph *graph, const NpuChip *chip);
/* Up to so many times the least no further candidates are looked at. */
#define CLOCK_NEAR 1.15
/* What a program counts as that cannot be timed, because values decide what it does: times the least. */
#define CLOCK_UNTIMED 3.0

/* How many programs may be timed for a task: a launch takes the longer to simulate the more it moves. 1: only
 * to say how far it is from the least. */
enum { CLOCK_MOST = 24 };
uint32_t clock_budget(const Graph *graph);
double clock_bytes(const Graph *graph); /* of inputs and results */

/* A candidate that is not simpler has to be faster by more than 3 %. */
#define CLOCK_GAIN 0.97

#endif
