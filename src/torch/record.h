/* Inside src/torch: classes Python writes the constructor of (dataclass, NamedTuple), Enum, and
 * functions with arguments already given (functools.partial). */
#ifndef TORCH_RECORD_H
#define TORCH_RECORD_H

#include "torch/builtin.h"

/* A class under a decorator of a library. */
void record_decorate(Interp *it, Str decorator, PyClass *cls);
/* What a library base makes of a class whose body was just run; `body` is its block. */
void record_finish(Interp *it, PyClass *cls, const Py *body);
/* Fills the fields of a new object; false: the class has none. */
bool record_init(Interp *it, Span at, PyVal self, const CallArgs *args);
/* Enum(value): the member. False: not an Enum. */
bool record_member(Interp *it, Span at, PyClass *cls, const CallArgs *args, PyVal *value);
/* The fields of a dataclass or named tuple, in order; false: it is neither. */
bool record_fields(Interp *it, const PyObject *object, PyVal *items);
/* The items of a named tuple, in order; false: it is none. */
bool record_items(Interp *it, const PyObject *object, PyVal *items);
/* Calls what functools.partial made; false: it is something else. */
bool partial_call(Interp *it, Span at, const PyObject *object, const CallArgs *args, PyVal *result);

#endif
