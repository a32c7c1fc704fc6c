/* Hazards: would the same records race on the chip? An observer over a simulation.
 *
 *     Hazard *h = hazard_open(sim, false);     before the first record
 *     ... sim_feed ...
 *     hazard_close(h);                         findings are in sim_fault, kind SIM_KIND_RACE
 *
 * Happens-before by clocks: an instruction that is issued knows what its pipe was told to wait
 * for; a flag carries what its source pipe had finished. Two overlapping accesses, one of them a
 * write, with no path from the first's end to the second's start are a race, whatever the timing of
 * this run. Without `strict`, what the documents say the compiler inserts counts as present. */
#ifndef SIM_HAZARD_H
#define SIM_HAZARD_H

#include "sim/sim.h"

typedef struct Hazard Hazard;

Hazard *hazard_open(Sim *sim, bool strict);
void hazard_close(Hazard *hazard);
/* Conflicting pairs looked at, and of those the ones ordered only by inserted synchronisation. */
void hazard_counts(const Hazard *hazard, uint64_t *pairs, uint64_t *inserted);

#endif
