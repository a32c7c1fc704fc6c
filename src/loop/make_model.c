/* Best of several conversations; see make_model.h. */
#include "loop/make_model.h"

#include "loop/bench_model.h"
#include <math.h>

typedef struct Making {
    const MakeModelSpec *spec;
    MakeModelResult *result;
    uint32_t *turns; /* by sample: turns judged so far */
} Making;

/* Right, then predicted fastest; an unknown time is the slowest. */
static bool better(const MakeModelResult *r, const Judged *judged)
{
    if (judged->status != VERDICT_OK)
        return false;
    return !r->found ||
           (isfinite(judged->predicted_us) && !(judged->predicted_us >= r->judged.predicted_us));
}

static void judge_turn(void *context, uint32_t index, const EvalCandidate *candidate, Arena *arena,
                       Verdict *verdict, Diag *diag)
{
    Making *m = context;
    Judged judged;
    judge_candidate(arena, &m->spec->judge, &m->spec->task, candidate, &judged);
    if (better(m->result, &judged)) {
        m->result->found = true;
        m->result->judged = judged;
        m->result->sample = index;
        m->result->turn = m->turns[index];
    }
    if (judged.status == VERDICT_OK)
        return;
    *verdict = judged.worst;
    if (judged.said.arena)
        *diag = judged.said;
}

static void turned(void *context, uint32_t index, const RepairJob *job, uint32_t turn,
                   const ChatMessages *messages, const RepairTurn *of)
{
    Making *m = context;
    (void)job, (void)messages;
    m->turns[index] = turn + 1;
    if (m->spec->turned)
        m->spec->turned(m->spec->context, index, turn, of);
}

static void say_failure(const MakeModelResult *r, uint32_t samples, Diag *diag)
{
    const RepairTurn *last = NULL;
    for (uint32_t i = 0; i < samples && !last; i++)
        if (r->samples[i].turns.len)
            last = &vec_last(&r->samples[i].turns);
    if (!last)
        return;
    diag_error(diag, "M012", (Span){0}, "no answer of the model passed; the first sample ended: %s",
               last->reply.error[0] ? last->reply.error : last->verdict.reason);
    diag_hint(diag, "more samples (-n), more repairs (--turns), or --or-plan to fall back to the "
                    "planner");
}

bool make_model(Arena *arena, const MakeModelSpec *spec, MakeModelResult *r, Diag *diag)
{
    *r = (MakeModelResult){0};
    if (!bench_model_prompt(arena, spec->model, &spec->judge, spec->category, &spec->task,
                            &r->prompt, diag))
        return false;
    Making m = {spec, r, arena_array(arena, uint32_t, spec->samples + 1)};
    RepairJob *jobs = arena_array(arena, RepairJob, spec->samples + 1);
    r->samples = arena_array(arena, RepairResult, spec->samples + 1);
    for (uint32_t i = 0; i < spec->samples; i++) {
        jobs[i] = (RepairJob){spec->task.name, spec->task.source, r->prompt.messages, FORM_ANY, i};
        eval_form_from_text(str_from(r->prompt.form), &jobs[i].form);
    }
    RepairSpec repair = {.generator = spec->model->generator,
                         .turns = spec->model->turns,
                         .judge = judge_turn,
                         .turned = turned,
                         .context = &m};
    repair_run(arena, &repair, jobs, spec->samples, r->samples, diag);
    if (!r->found)
        say_failure(r, spec->samples, diag);
    return r->found;
}
