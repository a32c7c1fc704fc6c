/* Inside src/torch: the operands of an op definition, as a file's docstring lists them. */
#ifndef TORCH_OPERAND_H
#define TORCH_OPERAND_H

#include "torch/interp.h"

/* Reads the table of the module's docstring into it->operands; none: leaves them empty. */
void operand_table(Interp *it, const Py *module);
/* Gives each operand its tensors or its attribute's value from forward's arguments. */
void operand_bind_inputs(Interp *it, const Py *forward, const CallArgs *args);
/* Gives each result its tensors among the graph's outputs. */
void operand_bind_outputs(Interp *it, Span at, PyVal result);

/* Arguments of a function that are no tensors, as attributes of their names: those given by place and
 * by name. With it->narrow floats among them are rounded to f32, in place. */
/* Gives arguments that are floats the values that TorchOptions names. */
void operand_set_numbers(Interp *it, const Py *function, const CallArgs *args);
void operand_take_numbers(Interp *it, const Py *function, const CallArgs *args);

#endif
