/* Inside src/torch: the case in hand, before a file runs. */
#ifndef TORCH_CASE_H
#define TORCH_CASE_H

#include "torch/interp.h"
#include "torch/torch.h"

/* Sets what open() reads or the row that get_inputs gets, and parses the companion file. */
bool case_prepare(Interp *it, const TorchOptions *options, const Py **companion);

#endif
