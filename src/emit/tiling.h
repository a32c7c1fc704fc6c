/* The tiling of one launch, computed here instead of by the emitted tiling function: the struct
 * as the kernel sees it, its bytes, the key, the number of blocks, the workspace. For the judge
 * and the tuner, which need no C++ compiler for the host side then. */
#ifndef EMIT_TILING_H
#define EMIT_TILING_H

#include "ir/host.h"
#include "lower/lower.h"

typedef struct EmitTiling {
    Str bytes;
    const IrScalar *values; /* of the program's fields */
    uint32_t key, blocks;
    uint64_t workspace;
} EmitTiling;

/* False with a diagnostic when the host function refuses the shapes. */
bool emit_tiling(Arena *arena, const AscProgram *p, const IrHostInput *input, EmitTiling *tiling,
                 Diag *diag);
/* The struct as C++; its name is *name. */
Str emit_tiling_struct(Arena *arena, const AscProgram *p, const char **name);

#endif
