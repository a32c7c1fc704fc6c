/* AscendC text at full size, where its values are too many. In: a candidate that was right in smaller cases.
 * Out: whether what it does at full size was done in a case with values.
 *
 *     full size, no values ──▶ bounds, hazards, what is read and written; edges and comparisons of kernels,
 *                              tiling functions and bindings (twin/rt/watch_code.h)
 *     cases like full size ──▶ values; the same edges and comparisons in one of them? */
#include "loop/bench_judge_int.h"

static void run_full(Judging *j, const TorchTask *full, const TorchOptions *options,
                     struct TwinSeen *seen, Verdict *v, Diag *said)
{
    EvalConfig config = {.chip = j->spec->chip,
                         .engine = EVAL_TWIN,
                         .seed = j->spec->seed,
                         .trust = j->spec->trust,
                         .strict = j->spec->strict,
                         .seen = seen,
                         .no_values = true};
    EvalReference ref = {.graph = full->graph};
    eval_reference_model(j->arena, j->task->path, j->task->source, full, options, &ref);
    v->task = j->task->name;
    eval_candidate(j->arena, &j->judged->candidate, &ref, &config, v, said);
}

static bool was_seen(const Judging *j, const struct TwinSeen *full)
{
    for (uint32_t i = 0; i < j->seen.len; i++)
        if (eval_seen_in(full, j->seen.at[i]))
            return true;
    return false;
}

/* A case of at most so many bytes, inner sizes as at full size, another size shrunk first each time. False:
 * it goes no further. */
static bool judge_like_full(Judging *j, const TorchTask *full, int64_t bytes, uint32_t first)
{
    CaseSpec c;
    if (!sizes_within(j->arena, j->task, full, bytes, first, &c))
        return false;
    c.seed = j->spec->seed;
    c.name = str_format(j->arena, "%s%u", c.name, j->done.len);
    judge_case(j, &c);
    return j->judged->status == VERDICT_OK;
}

bool follow_full(Judging *j, const TorchTask *full, const TorchOptions *options, int64_t bytes,
                 Verdict *v, Diag *said)
{
    enum { SIZES = 4, FIRSTS = 2 };
    static const double part[SIZES] = {1, 0.25, 4, 0.0625};
    struct TwinSeen *seen = eval_seen_make(j->arena);
    run_full(j, full, options, seen, v, said);
    bool followed = v->status == VERDICT_OK, alike = false;
    for (uint32_t i = 0; i < (followed ? SIZES : 1) && !alike; i++)
        for (uint32_t first = 0; first < (followed ? FIRSTS : 1) && !alike; first++)
            if (judge_like_full(j, full, (int64_t)(part[i] * (double)bytes), first))
                alike = followed && was_seen(j, seen);
            else if (j->judged->status != VERDICT_OK)
                return false;
    if (followed && !alike)
        verdict_fail(v, VERDICT_NO_TIME, STAGE_RUN,
                     "its code goes at full size where it goes in no case with values");
    return alike;
}
