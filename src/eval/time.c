/* Timing a Craft program again and again without values; see time.h. */
#include "eval/time.h"

#include "eval/eval_int.h"

struct EvalTimer {
    EvalCraft candidate;
    EvalReference ref; /* the graph only */
    EvalConfig config;
    IrProgram *program;
    EvalKernel kernel;
};

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
    *t = (EvalTimer){.candidate = *candidate, .ref = {.graph = graph}, .config = *config};
    EvalRun run = run_of(arena, t, verdict, diag);
    if (!eval_read_craft(&run) || !eval_twin_open(&run, &t->kernel))
        return NULL;
    t->program = run.program;
    return t;
}

void eval_timer_close(EvalTimer *timer)
{
    if (timer)
        eval_twin_close(&timer->kernel);
}

bool eval_timer_run(Arena *arena, const EvalTimer *timer, const EvalOperand *operands,
                    const EvalSetting *settings, uint32_t setting_count, Verdict *verdict)
{
    EvalTimer t = *timer;
    Diag diag = diag_make(arena, t.candidate.file, t.candidate.text);
    t.candidate.operands = operands;
    t.candidate.settings = settings;
    t.candidate.setting_count = setting_count;
    EvalRun run = run_of(arena, &t, verdict, &diag);
    verdict->compiled = VERDICT_YES;
    verdict->bound_us = eval_bound_us(&run, operands);
    if (eval_twin_launch(&run, &t.kernel) && verdict->status == VERDICT_OK)
        verdict->stage = STAGE_DONE;
    return verdict->status == VERDICT_OK;
}

bool eval_timer_turns(Arena *arena, const EvalTimer *timer, const EvalOperand *operands,
                      IrTurns *turns)
{
    const IrProgram *p = timer->program;
    Diag diag = diag_make(arena, timer->candidate.file, timer->candidate.text);
    IrShape *shapes = arena_array(arena, IrShape, p->operand_count + 1);
    IrHostInput input = {.operands = shapes};
    IrHostRun run;
    for (uint32_t i = 0; i < p->operand_count; i++) {
        shapes[i].rank = (uint32_t)operands[i].shape.rank;
        for (int d = 0; d < operands[i].shape.rank; d++)
            shapes[i].dim[d] = operands[i].shape.dim[d];
    }
    if (!ir_host_run(arena, p, timer->config.chip, &input, &run, &diag))
        return false;
    ir_host_turns(arena, &run, turns);
    return true;
}

const char *eval_timer_line(Arena *arena, const EvalTimer *timer, IrTurn turn)
{
    return str_format(arena, "line %u", timer->program->stmts.at[turn.stmt].at.line);
}
