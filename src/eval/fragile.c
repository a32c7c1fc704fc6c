/* Judging again under other last bits and another order. */
#include "eval/fragile.h"

bool eval_fragile(Arena *arena, const EvalCandidate *candidate, const EvalReference *ref,
                  const EvalConfig *config, uint32_t rounds, Verdict *verdict, Diag *diag)
{
    bool ok = eval_candidate(arena, candidate, ref, config, verdict, diag);
    for (uint32_t i = 1; ok && i <= rounds; i++) {
        EvalConfig other = *config;
        Verdict again = verdict_make();
        Diag quiet = diag_make(arena, candidate->name, (Str){0});
        other.seed = config->seed + i;
        other.nudge = config->seed + i;
        if (eval_candidate(arena, candidate, ref, &other, &again, &quiet))
            continue;
        verdict->correct = VERDICT_NO;
        verdict->first_bad.any = again.first_bad.any;
        verdict->first_bad.tensor = again.first_bad.tensor;
        verdict->first_bad.index = again.first_bad.index;
        verdict->first_bad.got = again.first_bad.got;
        verdict->first_bad.want = again.first_bad.want;
        verdict_fail(verdict, VERDICT_FRAGILE, STAGE_COMPARE,
                     str_format(arena, "with other last bits and core order (round %u of %u): %s",
                                i, rounds, again.reason));
        ok = false;
    }
    return ok;
}
