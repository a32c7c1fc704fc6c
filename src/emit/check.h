/* Type-checking emitted text against the vendor's own headers, where the user has them. */
#ifndef EMIT_CHECK_H
#define EMIT_CHECK_H

#include "emit/emit.h"

typedef struct EmitCheck {
    uint32_t checked, refused; /* kernel texts, one for each dtype variant */
    Str output;                /* what the compiler said */
} EmitCheck;

/* `dir` is an installed toolkit or a clone of the public header repository. False: it cannot be
 * done here (no clang++, no such headers); said in diag. */
bool emit_check_with(Arena *arena, const EmitInput *in, const char *dir, EmitCheck *answer,
                     Diag *diag);

#endif
