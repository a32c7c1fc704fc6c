/* Inside src/torch: the comparison element by element. */
#ifndef TORCH_SAME_INT_H
#define TORCH_SAME_INT_H

#include "torch/same.h"

/* Sets answer->same (up to TORCH_PART, or leaves DIFFERENT), by_element, at_values, too_large. */
void same_by_element(Arena *arena, const TorchTask *ours, const TorchTask *theirs,
                     const TorchSameHow *how, TorchSameAnswer *answer);

#endif
