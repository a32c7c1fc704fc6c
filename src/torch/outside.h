/* Inside src/torch: a model that leaves its work to functions outside PyTorch (torch.h). */
#ifndef TORCH_OUTSIDE_H
#define TORCH_OUTSIDE_H

#include "torch/interp.h"

/* Runs the module level of the candidate's file and gives its class. */
PyVal outside_class(Interp *it);
/* A call of a library function that nobody here knows. */
PyVal outside_call(Interp *it, Span at, Str path, const CallArgs *args);

#endif
