/* Lowering: tile IR in, Ascend program out, in four passes.
 *
 *     AscProgram *asc = lower_program(&arena, ir, chip, LOWER_ALIGN, &diag);
 *
 * `ir` is one dtype variant and is not changed. NULL when something cannot be lowered; what and
 * where is in `diag` (E090 to E099). Ending after an earlier pass leaves what later ones add
 * empty: this is what `acraft build --slice` prints. Deterministic: equal programs give equal
 * results, whatever came before.
 */
#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H

#include "lower/ascend.h"

typedef enum LowerPass { LOWER_HOST, LOWER_INIT, LOWER_COMPUTE, LOWER_ALIGN } LowerPass;

AscProgram *lower_program(Arena *arena, const IrProgram *ir, const NpuChip *chip, LowerPass last,
                          Diag *diag);
/* "host", "init", "compute", "align". */
bool lower_pass_from_name(Str name, LowerPass *pass);

#endif
