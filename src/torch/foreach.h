/* torch._foreach_NAME over lists of tensors. */
#ifndef TORCH_FOREACH_H
#define TORCH_FOREACH_H

#include "torch/interp.h"

/* False: the path names no function of that kind. */
bool foreach_call(Interp *it, Span at, Str path, const CallArgs *args, PyVal *result);

#endif
