/* A checked candidate on the reference interpreter: what the program means, without AscendC. */
#include "eval/eval_int.h"
#include "ir/run.h"

static IrData data_of(const Tensor *t)
{
    IrData d = {.rank = (uint32_t)t->shape.rank, .data = t->at};
    for (int i = 0; i < t->shape.rank; i++)
        d.dims[i] = t->shape.dim[i];
    return d;
}

static const int64_t *choices_of(EvalRun *run)
{
    const IrProgram *p = run->program;
    int64_t *choices = arena_array(run->arena, int64_t, p->vars.len);
    uint32_t n = 0;
    for (uint32_t i = 1; i < p->vars.len; i++) {
        if (p->vars.at[i].kind != IR_VAR_CHOICE)
            continue;
        choices[n] = p->vars.at[i].choices.at[0];
        for (uint32_t k = 0; k < run->candidate->setting_count; k++)
            if (str_is(str_from(p->vars.at[i].name), run->candidate->settings[k].name))
                choices[n] = (int64_t)run->candidate->settings[k].value;
        n++;
    }
    return choices;
}

bool eval_run_interp(EvalRun *run)
{
    uint32_t n = run->candidate->operand_count;
    IrOperand *operands = arena_array(run->arena, IrOperand, n + 1);
    IrData *data = arena_array(run->arena, IrData, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        data[i] = data_of(run->operands[i]);
        operands[i] = (IrOperand){1, &data[i]};
    }
    IrRun r = {.p = run->program,
               .chip = run->config->chip,
               .operands = operands,
               .choices = choices_of(run),
               .max_steps = run->config->steps,
               .seed = run->config->seed};
    if (ir_run(run->arena, &r))
        return true;
    if (r.status == IR_RUN_REFUSED) {
        verdict_fail(run->verdict, VERDICT_BAD_TILING, STAGE_TILING, r.text);
        return false;
    }
    for (uint32_t i = 0; i < r.faults.len; i++) {
        const IrFault *f = &r.faults.at[i];
        const IrFaultRow *row = &ir_fault_rows[f->kind];
        VerdictFinding finding = {.kind = FINDING_FAULT,
                                  .code = row->code,
                                  .message = f->text,
                                  .file = run->candidate->file,
                                  .line = f->at.line,
                                  .core = (uint32_t)f->core,
                                  .count = 1,
                                  .api = "",
                                  .device = "",
                                  .repair = row->repair};
        vec_push(run->arena, &run->verdict->hazards, finding);
        diag_error(run->diag, row->code, f->at, "%s", f->text);
    }
    verdict_fail(run->verdict, VERDICT_HAZARD, STAGE_RUN,
                 r.faults.len ? r.faults.at[0].text : "the program failed");
    return false;
}
