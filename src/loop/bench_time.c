/* Predicted time at full size, without values. In: a candidate that was judged. Out: the case
 * "full", and the times it is scored by. */
#include "eval/time.h"

#include "craft/craft.h"
#include "loop/bench_judge_int.h"
#include <string.h>

/* ---- the task at the sizes to be timed ---- */

/* The first row of this task: it says the sizes. */
static const TorchEager *baseline_of(Arena *arena, const JudgeSpec *spec, const JudgeTask *task)
{
    const char *key = str_format(arena, "%s/%s", task->category, task->name);
    for (uint32_t i = 0; spec->baseline && i < spec->baseline->len; i++)
        if (!strcmp(spec->baseline->at[i].task, key))
            return &spec->baseline->at[i];
    return NULL;
}

static TorchTask *read_full(Arena *arena, const JudgeSpec *spec, const JudgeTask *task,
                            Judged *judged, Diag *diag)
{
    const TorchEager *row = baseline_of(arena, spec, task);
    TorchOptions options = {.seed = spec->seed};
    if (row) {
        options.sets = row->sets;
        options.n_sets = row->n_sets;
    }
    TorchTask *read = torch_read(arena, task->path, task->source, &options, diag);
    if (read)
        judged->unfused_us = time_unfused_us(read->graph, spec->chip);
    if (read && row)
        judged->baseline_us = row->us;
    return read;
}

/* ---- timing a Craft text ---- */

/* Operands of the cases that were judged. */
typedef VEC(const EvalOperand *) Ways;

/* What the sizes decide at full size they have decided in some judged case too: else the text may
 * know a small size from a large one, and the time be that of code whose values nobody saw. */
static bool way_is_judged(Arena *arena, const EvalTimer *timer, const EvalOperand *full,
                          const Ways *ways, Verdict *v)
{
    IrTurns seen = {0}, taken = {0};
    for (uint32_t i = 0; i < ways->len; i++)
        eval_timer_turns(arena, timer, ways->at[i], &seen);
    if (!eval_timer_turns(arena, timer, full, &taken))
        return true; /* refused: the run says so */
    for (uint32_t i = 0; i < taken.len; i++)
        if (!ir_turns_have(&seen, taken.at[i])) {
            verdict_fail(v, VERDICT_UNSUPPORTED, STAGE_TILING,
                         str_format(arena,
                                    "%s goes a way that no judged size goes: no time is given",
                                    eval_timer_line(arena, timer, taken.at[i])));
            return false;
        }
    return true;
}

/* ways NULL: a text of ours. */
static void time_craft(Arena *arena, const JudgeSpec *spec, const EvalCraft *craft,
                       const Graph *graph, const Ways *ways, Judged *judged, Buf *log)
{
    EvalConfig config = {.chip = spec->chip,
                         .engine = EVAL_TWIN,
                         .seed = spec->seed,
                         .trust = spec->trust,
                         .strict = spec->strict};
    CaseSpec full = {"full", SCALE_FULL, spec->seed, -1};
    Diag said = diag_make(arena, craft->file, craft->text);
    Verdict v = verdict_make();
    EvalTimer *timer = eval_timer_open(arena, craft, graph, &config, &v, &said);
    bool ok = timer && (!ways || way_is_judged(arena, timer, craft->operands, ways, &v)) &&
              eval_timer_run(arena, timer, craft->operands, NULL, 0, &v);
    eval_timer_close(timer);
    if (ok) {
        judged->predicted_us = v.predicted_us;
        judged->bound_us = v.bound_us;
    }
    judge_add_case(arena, judged, &full, case_shapes(arena, graph), &v, &said, log);
}

static void no_time(Arena *arena, const JudgeSpec *spec, Judged *judged, const Diag *said, Buf *log)
{
    CaseSpec full = {"full", SCALE_FULL, spec->seed, -1};
    Verdict v = verdict_make();
    verdict_fail(&v, VERDICT_UNSUPPORTED, STAGE_EXTRACT,
                 said->items.len ? said->items.at[0].text : "the task cannot be read at full size");
    judge_add_case(arena, judged, &full, "", &v, said, log);
}

void time_plan(Arena *arena, const JudgeSpec *spec, const JudgeTask *task, Judged *judged, Buf *log)
{
    Diag said = diag_make(arena, task->path, task->source);
    TorchTask *full = read_full(arena, spec, task, judged, &said);
    Plan plan;
    if (!full || !plan_make(arena, full->graph, spec->chip, 0, &plan, &said)) {
        no_time(arena, spec, judged, &said, log);
        return;
    }
    EvalOperand *operands = arena_array(arena, EvalOperand, plan.operands.len + 1);
    for (uint32_t i = 0; i < plan.operands.len; i++)
        operands[i] = (EvalOperand){.value = plan.operands.at[i].value,
                                    .shape = plan.operands.at[i].shape};
    EvalCraft craft = {.file = str_format(arena, "%s.craft", plan.name),
                       .text = plan.craft,
                       .operands = operands,
                       .operand_count = plan.operands.len};
    time_craft(arena, spec, &craft, full->graph, NULL, judged, log);
}

static bool bind_craft(Arena *arena, const EvalText *text, const Graph *graph, EvalCraft *craft,
                       Diag *diag)
{
    EvalOperand *operands;
    CraftFile *file = craft_read(arena, text->path, text->text, diag);
    IrProgram *p = file && diag_ok(diag) ? craft_program(arena, file, 0, diag) : NULL;
    if (!p || !eval_bind(arena, p, graph, &operands, diag))
        return false;
    *craft = (EvalCraft){.file = text->path,
                         .text = text->text,
                         .operands = operands,
                         .operand_count = p->operand_count};
    return true;
}

static void judged_ways(Arena *arena, const JudgeTask *task, const TorchCases *cases,
                        const CaseSpecs *list, const EvalText *text, Ways *ways)
{
    for (uint32_t i = 0; i < list->len; i++) {
        Diag said = diag_make(arena, task->path, task->source);
        TorchOptions options;
        EvalCraft craft;
        TorchTask *read = case_read(arena, task, &list->at[i], cases, &options, &said);
        if (read && bind_craft(arena, text, read->graph, &craft, &said))
            vec_push(arena, ways, craft.operands);
    }
}

void time_candidate(Arena *arena, const JudgeSpec *spec, const JudgeTask *task,
                    const TorchCases *cases, const CaseSpecs *list, Judged *judged, Buf *log)
{
    Diag said = diag_make(arena, task->path, task->source);
    TorchTask *full = read_full(arena, spec, task, judged, &said);
    EvalCraft craft;
    Ways ways = {0};
    if (judged->candidate.form != FORM_CRAFT || judged->candidate.texts.len != 1)
        return;
    const EvalText *text = &judged->candidate.texts.at[0];
    judged_ways(arena, task, cases, list, text, &ways);
    if (full && bind_craft(arena, text, full->graph, &craft, &said))
        time_craft(arena, spec, &craft, full->graph, &ways, judged, log);
    else
        no_time(arena, spec, judged, &said, log);
}
