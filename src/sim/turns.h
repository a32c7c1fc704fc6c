/* Whose records are executed next: cores take short turns, so that they go along together as
 * their time and L2 expect. The order decides what shared memories look like, so everybody who
 * feeds a simulator takes it from here.
 *
 *     while some core has not ended:
 *         n = sim_turns_round(&turns, order, count, most, done)     places of this round's cores
 *         for each that sim_can_run: int64_t left = SIM_TURN;
 *             until left <= 0 or the core is blocked:
 *                 ready = sim_turn_ready(records, n, &left); sim_feed(... ready ...)
 * */
#ifndef SIM_TURNS_H
#define SIM_TURNS_H

#include "sim/record.h"
#include <stdbool.h>

enum { SIM_TURN = 128 }; /* records of a turn; a copy counts for more */

typedef struct SimTurns {
    uint32_t *live; /* room for as many as there are cores */
    uint64_t rounds;
} SimTurns;

/* Chooses from the cores order[0..count) the first `most` that have not ended, and gives their
 * places in the order. They are shuffled anew each round, so that no core is always the first to
 * touch what they share. */
uint32_t sim_turns_round(SimTurns *turns, const uint32_t *order, uint32_t count, uint32_t most,
                         const bool *done);
/* How many of the records may run before the turn is over. A core takes the value behind a read
 * of GM when the record is done; so no turn ends there, or another core might change the word in
 * between. */
uint32_t sim_turn_ready(const Record *records, uint32_t n, int64_t *left);

#endif
