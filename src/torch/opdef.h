/* The op definition a suite keeps beside a reference: C++ text that names the operands of the
 * kernel and their element types, one column for each combination.
 *
 *     this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT});
 *     this->Output("y").ParamType(REQUIRED).DataType(types);      types is a list above it
 *
 * A reference says what is computed, the definition which results there are and in which types. */
#ifndef TORCH_OPDEF_H
#define TORCH_OPDEF_H

#include "torch/torch.h"

/* Roles in, opt, list, out and outs; no types where the text computes them. */
typedef VEC(TorchOperand) TorchOpdef;

/* The definition that belongs to T/validation/module.py: T/question/op_host/NAME.cpp. False when
 * there is none. */
bool torch_opdef_beside(Arena *arena, const char *module_path, TorchOpdef *def);
void torch_opdef_parse(Arena *arena, Str source, TorchOpdef *def);

/* Whether the task's own table of operands is this definition (mut results have no argument of
 * their own there); else why not. */
bool torch_opdef_agrees(Arena *arena, const TorchTask *task, const TorchOpdef *def,
                        const char **why);
/* Whether each result has the type that the table declares for the types of this case's inputs; for
 * a combination it does not list, one of the types it has at all. */
bool torch_opdef_typed(const TorchTask *task, const char **why);

#endif
