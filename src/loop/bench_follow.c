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
                         .place = judge_place(j),
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

/* Whether it goes at these sizes, without values, wherever it goes at full size. */
static bool goes_alike(Judging *j, const CaseSpec *c, const struct TwinSeen *full)
{
    Diag said = diag_make(j->arena, j->task->path, j->task->source);
    TorchOptions options;
    Verdict v = verdict_make();
    struct TwinSeen *seen = eval_seen_make(j->arena);
    TorchTask *read = case_read(j->arena, j->task, c, j->cases, &options, &said);
    if (read)
        run_full(j, read, &options, seen, &v, &said);
    return read && v.status == VERDICT_OK && eval_seen_in(full, seen);
}

static bool judge_like_full(Judging *j, CaseSpec c)
{
    c.seed = j->spec->seed;
    c.name = str_format(j->arena, "%s%u", c.name, j->done.len);
    judge_case(j, &c);
    return j->judged->status == VERDICT_OK;
}

/* Looks for a case that goes as full size does, and judges it. At most so many are looked at. */
static bool judge_alike(Judging *j, const TorchTask *full, int64_t bytes,
                        const struct TwinSeen *seen)
{
    enum { SIZES = 6, MOST = 24 };
    static const double part[SIZES] = {1, 0.25, 4, 0.0625, 10, 16};
    uint32_t looked = 0, n = full->knobs.len, from[2] = {0, n}, to[2] = {n, sizes_variants(full)};
    for (int more = 0; more < 2; more++)
        for (int i = 0; i < SIZES; i++)
            for (uint32_t v = from[more]; v < to[more] && looked < MOST; v++) {
                CaseSpec c;
                if (!sizes_within(j->arena, j->task, full, (int64_t)(part[i] * (double)bytes), v,
                                  &c))
                    continue;
                looked++;
                if (!goes_alike(j, &c, seen))
                    continue;
                if (!judge_like_full(j, c))
                    return false;
                if (was_seen(j, seen))
                    return true;
            }
    return false;
}

typedef struct CodeSample {
    Judging *j;
    const TorchTask *full;
    const TorchOptions *options;
} CodeSample;

static bool run_code_sample(void *context, struct EvalSample *sample)
{
    CodeSample *s = context;
    Judging *j = s->j;
    EvalConfig config = {.chip = j->spec->chip,
                         .engine = EVAL_TWIN,
                         .seed = j->spec->seed,
                         .place = judge_place(j),
                         .trust = j->spec->trust,
                         .no_values = true,
                         .sample = sample};
    EvalReference ref = {.graph = s->full->graph};
    Verdict v = verdict_make();
    Diag said = diag_make(j->arena, j->judged->candidate.name, STR(""));
    eval_reference_model(j->arena, j->task->path, j->task->source, s->full, s->options, &ref);
    return eval_candidate(j->arena, &j->judged->candidate, &ref, &config, &v, &said);
}

bool follow_full(Judging *j, const TorchTask *full, const TorchOptions *options, int64_t bytes,
                 Verdict *v, Diag *said)
{
    CaseSpec c;
    struct TwinSeen *seen = eval_seen_make(j->arena);
    run_full(j, full, options, seen, v, said);
    bool followed = v->status == VERDICT_OK;
    if (sizes_within(j->arena, j->task, full, bytes, 0, &c) && !judge_like_full(j, c))
        return false;
    bool alike = followed && (was_seen(j, seen) || judge_alike(j, full, bytes, seen));
    CodeSample sample = {j, full, options};
    if (alike && j->judged->status == VERDICT_OK)
        judge_sample(j, full, run_code_sample, &sample);
    if (followed && !alike && j->judged->status == VERDICT_OK)
        verdict_fail(v, VERDICT_NO_TIME, STAGE_RUN,
                     "its code goes at full size where it goes in no case with values");
    return alike;
}
