/* Inside src/torch: sparse tensors in coordinate form, as an object that holds its parts. */
#ifndef TORCH_SPARSE_H
#define TORCH_SPARSE_H

#include "torch/builtin.h"

/* A method of what torch.sparse_coo_tensor made. */
PyVal sparse_method(Interp *it, Span at, PyObject *self, Str name, const CallArgs *args);

#endif
