/* --check-with. In: emitted kernel text, a directory with the vendor's headers. Out: what clang
 * says of them. */
#include "emit/check.h"

bool emit_check_with(Arena *arena, const EmitInput *in, const char *dir, EmitCheck *answer,
                     Diag *diag)
{
    (void)arena, (void)in, (void)answer;
    diag_error(diag, "E099", (Span){0}, "--check-with %s: not written yet", dir);
    return false;
}
