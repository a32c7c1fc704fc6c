/* Timing a Craft program again and again without values; see time.h. */
#include "eval/time.h"

#include "eval/eval_int.h"
#include "eval/sample.h"
#include "graph/inputs.h"

struct EvalTimer {
    Arena *arena;
    EvalCraft candidate;
    EvalReference ref; /* the graph only */
    EvalConfig config;
    IrProgram *program;
    EvalKernel kernel;      /* compiled when first needed */
    EvalStraight *straight; /* NULL: every launch goes through the text */
    Tensor **indices; /* by operand: integers of the task, where they decide what a kernel does */
    bool asked;       /* for the indices */
};

/* More than that is not made up for the sake of a time. Where values that are not there may decide how
 * often a loop turns, it is not waited for long. */
enum { MOST_INDEX_BYTES = 64 << 20, UNSTEADY_SECONDS = 10 };

static EvalRun run_of(Arena *arena, const EvalTimer *t, Verdict *verdict, Diag *diag)
{
    return (EvalRun){.arena = arena,
                     .candidate = &t->candidate,
                     .ref = &t->ref,
                     .config = &t->config,
                     .program = t->program,
                     .verdict = verdict,
                     .diag = diag};
}

EvalTimer *eval_timer_open(Arena *arena, const EvalCraft *candidate, const Graph *graph,
                           const EvalConfig *config, Verdict *verdict, Diag *diag)
{
    EvalTimer *t = arena_new(arena, EvalTimer);
    *t = (EvalTimer){
        .arena = arena, .candidate = *candidate, .ref = {.graph = graph}, .config = *config};
    EvalRun run = run_of(arena, t, verdict, diag);
    if (!eval_read_craft(&run))
        return NULL;
    t->program = run.program;
    t->straight = eval_straight_open(&run);
    return t->straight || eval_twin_open(&run, &t->kernel) ? t : NULL;
}

void eval_timer_close(EvalTimer *timer)
{
    if (!timer)
        return;
    eval_straight_close(timer->straight);
    eval_twin_close(&timer->kernel);
    for (uint32_t i = 0; timer->indices && i < timer->program->operand_count; i++)
        tensor_free(timer->indices[i]);
}

/* The task's own integers for the inputs that have them. False: there are none. */
static bool make_indices(Arena *arena, EvalTimer *t)
{
    const EvalCraft *c = &t->candidate;
    bool any = false;
    t->indices = arena_array(arena, Tensor *, c->operand_count + 1);
    for (uint32_t i = 0; i < c->operand_count; i++) {
        const IrTensor *declared = &t->program->tensors.at[i];
        const Value *v = graph_value(t->ref.graph, c->operands[i].value);
        Diag said = diag_make(arena, c->file, c->text);
        int64_t count = 0;
        if (declared->role != IR_ROLE_IN || dtype_is_float(v->dtype) ||
            !shape_count(v->shape, &count) ||
            (size_t)count > MOST_INDEX_BYTES / dtype_bytes(v->dtype))
            continue;
        t->indices[i] = graph_input(t->ref.graph, t->config.seed, c->operands[i].value, &said);
        any |= t->indices[i] != NULL;
    }
    return any;
}

static bool indices_fit(const EvalTimer *t, const EvalOperand *operands)
{
    for (uint32_t i = 0; i < t->candidate.operand_count; i++) {
        int64_t count = 0;
        if (t->indices[i] &&
            (!shape_count(operands[i].shape, &count) || count != t->indices[i]->count))
            return false;
    }
    return true;
}

/* Compiled, where that was not needed before. */
static bool open_text(EvalTimer *timer, Verdict *verdict)
{
    if (timer->kernel.kernel)
        return true;
    Diag diag = diag_make(timer->arena, timer->candidate.file, timer->candidate.text);
    EvalRun run = run_of(timer->arena, timer, verdict, &diag);
    return eval_twin_open(&run, &timer->kernel);
}

/* One launch; `indices` NULL: without any data. */
static void time_once(Arena *arena, EvalTimer *timer, EvalCraft *candidate, Tensor **indices,
                      Verdict *verdict)
{
    EvalTimer t = *timer;
    Diag diag = diag_make(arena, t.candidate.file, t.candidate.text);
    t.candidate = *candidate;
    EvalRun run = run_of(arena, &t, verdict, &diag);
    run.indices = indices;
    run.need = eval_needed_bytes(arena, t.ref.graph, candidate);
    verdict->bound_us = eval_bound_us(&run, candidate->operands);
    if (t.straight && !indices && eval_straight_launch(&run, t.straight)) {
        if (verdict->status == VERDICT_OK)
            verdict->stage = STAGE_DONE;
        return;
    }
    if (!open_text(timer, verdict))
        return;
    t.kernel = timer->kernel;
    verdict->compiled = VERDICT_YES;
    if (eval_twin_launch(&run, &t.kernel) && verdict->status == VERDICT_OK)
        verdict->stage = STAGE_DONE;
}

/* Where missing values may decide, a run that does not end soon counts as waiting for them. */
static bool time_soon(Arena *arena, EvalTimer *timer, EvalCraft *candidate, Tensor **indices,
                      Verdict *verdict)
{
    if (!open_text(timer, verdict))
        return true;
    EvalTimer t = *timer;
    if (t.config.seconds <= 0 || t.config.seconds > UNSTEADY_SECONDS)
        t.config.seconds = UNSTEADY_SECONDS;
    Verdict fresh = *verdict;
    time_once(arena, &t, candidate, indices, verdict);
    if (verdict->status != VERDICT_TIMEOUT)
        return true;
    *verdict = fresh;
    verdict_fail(verdict, VERDICT_NEEDS_DATA, STAGE_RUN,
                 "how long it runs seems to depend on values");
    return false;
}

bool eval_timer_run(Arena *arena, EvalTimer *timer, const EvalOperand *operands,
                    const EvalSetting *settings, uint32_t setting_count, Verdict *verdict)
{
    EvalCraft candidate = timer->candidate;
    Verdict fresh = *verdict;
    bool soon = true;
    candidate.operands = operands;
    candidate.settings = settings;
    candidate.setting_count = setting_count;
    if (eval_is_steady(timer->program))
        time_once(arena, timer, &candidate, NULL, verdict);
    else
        soon = time_soon(arena, timer, &candidate, NULL, verdict);
    if (verdict->status != VERDICT_NEEDS_DATA)
        return verdict->status == VERDICT_OK;
    if (!timer->asked && !make_indices(timer->arena, timer))
        timer->indices = NULL;
    timer->asked = true;
    if (timer->indices && indices_fit(timer, operands)) {
        Verdict first = *verdict;
        *verdict = fresh;
        if (soon)
            time_once(arena, timer, &candidate, timer->indices, verdict);
        else
            time_soon(arena, timer, &candidate, timer->indices, verdict);
        if (verdict->status == VERDICT_TIMEOUT)
            *verdict = first;
    }
    return verdict->status == VERDICT_OK;
}

bool eval_timer_decide(Arena *arena, const EvalTimer *timer, const EvalOperand *operands,
                       uint64_t seed, IrDecisions **decisions, Diag *diag)
{
    const IrProgram *p = timer->program;
    IrShape *shapes = arena_array(arena, IrShape, p->operand_count + 1);
    IrHostInput input = {.operands = shapes};
    for (uint32_t i = 0; i < p->operand_count; i++) {
        shapes[i].rank = (uint32_t)operands[i].shape.rank;
        for (int d = 0; d < operands[i].shape.rank; d++)
            shapes[i].dim[d] = operands[i].shape.dim[d];
    }
    return ir_decide(arena, p, timer->config.chip, &input, seed, decisions, diag);
}

bool eval_timer_sample(Arena *arena, EvalTimer *timer, const EvalOperand *operands,
                       const EvalSample *sample)
{
    Verdict own = verdict_make();
    Diag diag = diag_make(arena, timer->candidate.file, timer->candidate.text);
    if (!open_text(timer, &own))
        return false;
    EvalTimer t = *timer;
    t.candidate.operands = operands;
    EvalRun run = run_of(arena, &t, &own, &diag);
    run.sample = sample;
    return eval_twin_sample(&run, &timer->kernel);
}

const IrProgram *eval_timer_program(const EvalTimer *timer) { return timer->program; }

bool eval_timer_kernels(Arena *arena, EvalTimer *timer, const EvalOperand *operands,
                        EvalShares *kernels)
{
    EvalTimer t = *timer;
    Verdict verdict = verdict_make();
    Diag quiet = diag_make(arena, timer->candidate.file, timer->candidate.text);
    t.candidate.operands = operands;
    EvalRun run = run_of(arena, &t, &verdict, &quiet);
    run.program = timer->program;
    return t.straight && eval_straight_kernels(&run, t.straight, kernels);
}
