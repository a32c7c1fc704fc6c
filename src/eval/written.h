/* What is handed over: every form of a Craft program that leaves acraft, with the task's own tensors,
 * and the judgement of these forms from the files as they were written.
 *
 *     Craft text, task ─forms─▶ files by form ─write─▶ directory ─read back─▶ a verdict for each form
 */
#ifndef EVAL_WRITTEN_H
#define EVAL_WRITTEN_H

#include "emit/emit.h"
#include "eval/candidate.h"

typedef struct EvalWrittenForm {
    EvalForm form;
    const char *path;   /* below the directory: "" is the directory itself, or a file */
    const char *lacks;  /* why it is not written; NULL: it is */
    const char *module; /* FORM_TORCH: the class that takes the model's place */
    const char *model;  /* FORM_TORCH: the task's class */
} EvalWrittenForm;

typedef struct EvalWritten {
    EmitFiles files; /* of all forms */
    VEC(EvalWrittenForm) forms;
} EvalWritten;

/* The forms of the program: the operator project with its torch extension, the direct launch in direct/, MultiKernelBench's
 * answers mkb/NAME.py and mkb/NAME.json. The names of the program's operands must be those of the
 * task (graph/operand.h). False with a diagnostic: there is not even a project. */
bool eval_forms(Arena *arena, const char *name, Str craft, const TorchTask *task, Str source,
                const NpuChip *chip, EvalWritten *written, Diag *diag);

/* The model that the program takes the place of; NULL with a diagnostic: its text does not say. */
const EmitModel *eval_model_text(Arena *arena, const IrProgram *program, const Graph *graph,
                                 Str source, Diag *diag);

/* Reads one form back from below `dir` and judges it on a case. */
bool eval_written_form(Arena *arena, const char *dir, const EvalWrittenForm *form,
                       const EvalReference *ref, const EvalConfig *config, Verdict *verdict,
                       Diag *diag);

#endif
