/* `make` for tasks with listed cases; see make_cases.c. */
#ifndef LOOP_MAKE_CASES_H
#define LOOP_MAKE_CASES_H

#include "loop/make_int.h"

/* False: some case of up to a million elements is not ok; the verdicts and `diag` say which. */
bool make_cases(Arena *arena, MakeJob *job, Diag *diag);

#endif
