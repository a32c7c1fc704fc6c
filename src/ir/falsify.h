/* What the checker could not prove, tried: a few dozen small shapes inside the stated ranges, every
 * choice, run without data (run.h). A violated rule becomes an error at its line with the
 * numbers that show it:
 *
 *     with rows = 33, cols = 7: element y[32, 0] is never written
 *
 * Finding nothing proves nothing: the obligation stays one of run time. */
#ifndef IR_FALSIFY_H
#define IR_FALSIFY_H

#include "ir/prove.h"

/* After ir_prove, on a verified program. Tries only when something is left to run time, or
 * when cores may meet in a workspace or a tensor updated in place. What it found is refused in `report`. True when it found nothing. */
bool ir_falsify(Arena *arena, IrProgram *p, const NpuChip *chip, IrReport *report, Diag *diag);

#endif
