/* Records that repeat, without data: found, shown to move a core's state alike, passed over.
 *
 *     looking ──a record is like the one a period before, for a whole period──▶ trying
 *     trying  ──two periods moved everything alike, no finding────────────────▶ passing over
 *     passing over ──a record that is not the next of the period──▶ state made good ──▶ looking
 *
 * While it passes over, a record is compared with its place in the period; what lies on chip was
 * checked there. What differs from period to period is done every time: GM (bounds, coverage, races,
 * L2) and the clocks of the cycle model. So findings and cycles are those of the run without it.
 * Inside src/sim only. */
#ifndef SIM_MEMO_H
#define SIM_MEMO_H

#include "sim/sim.h"

typedef struct Memo Memo;

Memo *memo_open(Sim *sim);
void memo_close(Memo *memo);
/* True: the record is the next of a period and done with. */
bool memo_skip(Memo *memo, uint32_t core, const Record *r);
/* A record that was executed. */
void memo_note(Memo *memo, uint32_t core, const Record *r);
/* What comes next must find the core as if nothing had been passed over. */
void memo_leave(Memo *memo, uint32_t core);
/* No more records come; its memory goes back, as there may be many thousands of blocks. */
void memo_end(Memo *memo, uint32_t core);
uint64_t memo_passed(const Memo *memo); /* records passed over so far */

#endif
