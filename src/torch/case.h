/* Inside src/torch: the case in hand, before a file runs. */
#ifndef TORCH_CASE_H
#define TORCH_CASE_H

#include "torch/interp.h"
#include "torch/torch.h"

typedef struct CaseField {
    Str name;
    const Py *value; /* a literal */
} CaseField;

typedef VEC(CaseField) CaseRow;

/* The row of a NAME.csv in hand, parsed; empty for cases of another form. */
bool case_row(Arena *arena, const TorchOptions *options, CaseRow *row, Diag *diag);
/* That row as a dict, with the knobs of `it` applied. */
PyVal case_row_dict(Interp *it, const CaseRow *row);
/* Sets what open() reads or the row that get_inputs gets, and parses the companion file. */
bool case_prepare(Interp *it, const TorchOptions *options, const Py **companion);

#endif
