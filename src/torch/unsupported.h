/* The message for a library name that acraft does not read. */
#ifndef TORCH_UNSUPPORTED_H
#define TORCH_UNSUPPORTED_H

#include "torch/interp.h"

/* Ends the run: "torch.unique is not supported: ...", or with the nearest name that is read. */
ATTR_NORETURN void unsupported_name(Interp *it, Span at, Str path);
/* "an object of class Model has no attribute 'nrm'; it has 'norm'". */
ATTR_NORETURN void unsupported_attribute(Interp *it, Span at, const PyObject *object, Str name);

#endif
