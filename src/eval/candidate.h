/* A candidate in any of the forms the field writes, judged against a task.
 *
 *     raw answer ─extract─▶ candidate ─┐
 *     file, directory ──────read──────▶┴─judge (per case)─▶ verdict
 *
 * A candidate is plain texts: nothing of it is executed here, only in the twin's boxes. */
#ifndef EVAL_CANDIDATE_H
#define EVAL_CANDIDATE_H

#include "eval/eval.h"
#include "twin/project.h"

typedef enum EvalForm {
#define FORM(name, text, meaning) FORM_##name,
#include "eval/form.def"
#undef FORM
    EVAL_FORM_COUNT
} EvalForm;

const char *eval_form_text(EvalForm form);
/* Whether candidates of this form have a tiling function. */
bool eval_form_tiles(EvalForm form);
bool eval_form_from_text(Str text, EvalForm *form);

typedef struct EvalText {
    const char *path; /* relative to the candidate's root: "op_kernel/add_custom.cpp" */
    Str text;
} EvalText;

typedef struct EvalCandidate {
    EvalForm form;
    const char *name; /* for messages and the verdict: a path, or "answer" */
    VEC(EvalText) texts;
    const char *entry;     /* kernel function, or "file::class" of the model; "": the only one */
    NameList defines;      /* "M=V": macros of all its texts */
    const char *extracted; /* how it was found in an answer: "first fenced block"; "": a file */
} EvalCandidate;

/* From disk: FILE.craft, FILE.cpp, a project directory, an answer of either benchmark. The form is
 * recognised from the content. False with a diagnostic when it is none of these. */
bool eval_candidate_read(Arena *arena, const char *path, EvalCandidate *candidate, Diag *diag);

/* From a model's raw answer, by the rules of the benchmark whose form is asked for; FORM_ANY takes
 * the first form that fits. False: nothing to judge; *reason says what is missing, and *cut whether
 * the answer breaks off in the middle. */
bool eval_candidate_extract(Arena *arena, Str answer, EvalForm wanted, EvalCandidate *candidate,
                            const char **reason, bool *cut);

/* The Python text whose class `entry` names; NULL: the form has none of its own. */
const EvalText *eval_candidate_model(const EvalCandidate *candidate);

/* What the candidate's Python model compares at the sizes of `given`, up to its first call of a
 * binding (walk.c). Nothing runs. `gap`: what the first number lacks to be the second. */
typedef struct EvalCompared {
    uint64_t place;
    double gap;
} EvalCompared;
typedef VEC(EvalCompared) EvalComparisons;
void eval_model_walk(Arena *arena, const EvalCandidate *c, const char *task, Str source,
                     const TorchOptions *given, EvalComparisons *list);

/* Its op_host and op_kernel texts, each with the candidate's own headers put in. */
void eval_candidate_project(Arena *arena, const EvalCandidate *candidate, TwinProject *project);

/* Judges one case, through the same stages always; several launches of one candidate are summed in
 * the predicted time. `diag` gets what checkers and compilers say, ours first, shortened. True
 * when it is ok. */
bool eval_candidate(Arena *arena, const EvalCandidate *candidate, const EvalReference *ref,
                    const EvalConfig *config, Verdict *verdict, Diag *diag);

#endif
