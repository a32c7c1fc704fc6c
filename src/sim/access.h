/* What bytes a record touches, without executing it: the one description that hazards and cycles
 * share. An access is `outer` times `inner` runs of `run` bytes:
 *
 *     at                 at + inner_step                at + outer_step
 *     [run]..............[run]..........................[run].............[run]
 */
#ifndef SIM_ACCESS_H
#define SIM_ACCESS_H

#include "sim/record.h"
#include <stdbool.h>

typedef struct SimAccess {
    uint8_t space;
    bool write;
    uint64_t at;  /* byte, without the memory's tag */
    uint64_t run; /* bytes of one run */
    uint32_t inner, outer;
    uint64_t inner_step, outer_step;
} SimAccess;

enum { SIM_ACCESS_MOST = 32 };

/* Fills `out` (SIM_ACCESS_MOST entries) and returns how many. `va` is the core's address list
 * (32 addresses, for TO_5HD), may be NULL. A record that touches nothing gives 0. */
uint32_t sim_accesses(const Record *r, const uint64_t *va, SimAccess *out);
/* Repeats a vector record has, and the elements of its last and its other repeats. */
typedef struct SimRepeats {
    uint32_t repeats, elements, last, widest; /* widest: bytes of the widest element */
} SimRepeats;
SimRepeats sim_repeats(const Record *r);
/* All bytes of an access, counted over its runs. */
uint64_t sim_access_bytes(const SimAccess *a);

#endif
