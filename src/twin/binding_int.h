/* Inside the binding: the program, its wire, its text. */
#ifndef TWIN_BINDING_INT_H
#define TWIN_BINDING_INT_H

#include "twin/binding.h"
#include "twin/twin_int.h"

struct TwinBinding {
    int exe;
};

/* binding_wire.c */
Str twin_bind_request(Arena *arena, const TwinBindCall *call, const NpuChip *chip);
bool twin_bind_events(Arena *arena, Str bytes, TwinBindDone *done);

/* Rewrites host text, line by line: launches become calls that report themselves, main gets
 * another name, headers that a build makes for each kernel are removed (binding_text.c). */
Str twin_bind_text(Arena *arena, Str text);

#endif
