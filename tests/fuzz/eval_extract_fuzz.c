/* Fuzzes the way from a raw answer to a candidate: any bytes end in texts or a reason. */
#include "eval/candidate.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Arena arena = {.limit = 256 << 20};
    EvalCandidate c;
    const char *reason = "";
    bool cut;
    if (size == 0)
        return 0;
    EvalForm form = (EvalForm)(bytes[0] % EVAL_FORM_COUNT);
    Str answer = {(const char *)bytes + 1, size - 1};
    bool ok = eval_candidate_extract(&arena, answer, form, &c, &reason, &cut);
    if (ok ? c.texts.len == 0 : reason[0] == 0)
        __builtin_trap();
    arena_drop(&arena);
    return 0;
}
