/* Functions of a kernel's text and where they are called, so that a finding inside a helper can name the line
 * that handed it what is wrong. */
#ifndef TWIN_CALLERS_H
#define TWIN_CALLERS_H

#include "base/str.h"
#include "base/vec.h"

typedef struct TwinFunction {
    Str name;
    uint32_t first, last; /* lines */
    VEC(Str) parameters;
} TwinFunction;
typedef struct TwinCall {
    Str name;
    uint32_t line, in; /* in: index of the function it stands in */
} TwinCall;
typedef struct TwinFunctions {
    VEC(TwinFunction) functions;
    VEC(TwinCall) calls;
} TwinFunctions;

TwinFunctions twin_functions(Arena *arena, Str text);
/* NULL: the line is outside every function. */
const TwinFunction *twin_function_at(const TwinFunctions *all, uint32_t line);
/* The line from which the function around `line` is called; 0: from nowhere, or from several. */
uint32_t twin_caller_of(const TwinFunctions *all, uint32_t line);
/* The line from which it is called in the function around `near`: the first after `near`, else the last before
 * it. 0: that function does not call it, or is the same one. */
uint32_t twin_caller_near(const TwinFunctions *all, uint32_t line, uint32_t near);
/* Moves two lines up to where one function calls both. False: there is no such function. */
bool twin_common_caller(const TwinFunctions *all, uint32_t *a, uint32_t *b);
/* Whether the first index in brackets on a line is a bare parameter of its function, so that the caller
 * decides where the access lies. */
bool twin_offset_is_parameter(const TwinFunctions *all, Str text, uint32_t line);
/* Whether the third argument of the call on a line, a copy's count, is made of parameters of its function, or of a local that a line before it
 * makes of them. */
bool twin_count_is_parameter(const TwinFunctions *all, Str text, uint32_t line);
/* The first line where a word stands; 0: none. */
uint32_t twin_word_line(Str text, Str word);

#endif
