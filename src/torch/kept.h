/* Results that a model keeps for its next call. In: the tensors a model holds before and after one call of
 * forward. Out: where it holds a new one that depends on what forward was given: a second call could give
 * that back instead of working. A buffer that was there before and is written again is no such thing. */
#ifndef TORCH_KEPT_H
#define TORCH_KEPT_H

#include "torch/interp.h"

typedef struct KeptTensor {
    const TVar *tensor;
    const char *where; /* the attribute or variable it hangs on */
} KeptTensor;
typedef VEC(KeptTensor) KeptTensors;

/* All tensors that attributes of the model, its class and variables of its file lead to. */
void kept_tensors(Interp *it, PyVal model, KeptTensors *all);
/* A hash of all numbers and texts that they lead to. */
uint64_t kept_numbers(Interp *it, PyVal model);
/* Whether forward goes by what it left for its next call: numbers that a model holds may change from call to call (a size
 * that is kept, a step that is counted), but from the second call on it compares the same numbers, and calls as many
 * functions outside each time. */
bool kept_decides(Interp *it, Span at, PyVal model, const CallArgs *args, uint32_t calls);
/* The name of the attribute or variable; NULL: nothing is kept. */
const char *kept_result(Interp *it, PyVal model, const KeptTensors *before);

#endif
