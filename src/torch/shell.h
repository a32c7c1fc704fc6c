/* The class around a kernel: what of a model file's text a replacement of its model repeats, so that it
 * is constructed and called as the model is and holds the same parameters under the same names.
 *
 *     import torch.nn as nn                              prelude: imports, and what the constructor names
 *     class Model(nn.Module):                            bases
 *         def __init__(self, dim): ...                   constructor
 *         def forward(self, gate, x): ...                parameters: "self, gate, x" */
#ifndef TORCH_SHELL_H
#define TORCH_SHELL_H

#include "base/diag.h"

typedef struct TorchShell {
    Str name;    /* of the class: "Model" */
    Str prelude; /* whole lines; may be empty */
    Str bases;   /* "nn.Module" */
    Str constructor; /* whole lines, indented by four, of a class `name`; empty: it has none of its own */
    Str parameters; /* of forward, self included */
} TorchShell;

/* Reads the outline of the class Model, else of the last class. False, with a diagnostic: it has
 * no forward. */
bool torch_shell(Arena *arena, Str source, const char *name, TorchShell *shell, Diag *diag);

#endif
