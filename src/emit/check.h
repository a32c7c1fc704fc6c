/* Type-checking emitted text against the vendor's own headers, where the user has them. */
#ifndef EMIT_CHECK_H
#define EMIT_CHECK_H

#include "emit/emit.h"

typedef struct EmitCheck {
    uint32_t kernels;       /* kernel texts checked, one for each dtype variant */
    uint32_t hosts;         /* host texts checked */
    uint32_t refused;       /* of both */
    const char *host_lacks; /* why host text was not checked: "no metadef"; NULL: it was */
    Str output;             /* the compiler's messages */
} EmitCheck;

/* `dirs` are clones of the public header repositories, or an installed toolkit, with ':' between;
 * `project` is what emit_project made of `in`. False: it cannot be done here (no clang++, no such
 * headers); diag says which. */
bool emit_check_with(Arena *arena, const EmitInput *in, const EmitFiles *project, const char *dirs,
                     EmitCheck *answer, Diag *diag);

#endif
