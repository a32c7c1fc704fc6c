/* The files that make hands over, judged as they were written: every form is read back and run at a
 * small, an odd and, where it is not too large, the task's own size, and once with other attributes. */
#ifndef LOOP_MAKE_WRITTEN_H
#define LOOP_MAKE_WRITTEN_H

#include "eval/written.h"
#include "loop/make_attrs.h"

typedef struct MakeWritten {
    EvalWritten forms;
    VEC(Verdict) verdicts;   /* for each form and case; `candidate` is the form */
    VEC(const char *) cases; /* "small: x f32[4,16]" */
} MakeWritten;

/* Writes all forms of the program to a directory of its own and judges what stands there. False with a
 * diagnostic: a form is not right, and nothing should be handed over. */
bool make_written(Arena *arena, const MakeSpec *spec, const MakeResult *result,
                  const MakeProgram *program, MakeWritten *written, Diag *diag);

#endif
