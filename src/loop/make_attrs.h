/* The task's own attributes in the program that is handed over.
 *
 * A planned program has the numbers of its case as literals. Here those that are attributes of the operator get
 * a parameter of the host function: those of the file's operand table, and floats among the arguments of
 * constructor and forward.
 *
 *     plan at eps = 1e-6  ┐
 *     plan at eps = 2e-6  ┴─▶ the same program but for literals 1e-6 and 2e-6: the parameter takes their place
 *
 * Where more differs the number stays as it is. An attribute of the table is then a parameter all the same, and
 * any other value than the case's is refused by the host function. */
#ifndef LOOP_MAKE_ATTRS_H
#define LOOP_MAKE_ATTRS_H

#include "loop/make.h"

/* A program with these parameters. */
typedef struct MakeProgram {
    Str craft;
    VEC(TorchNumber) free; /* floats that became free, each with another value to judge it at */
    const char *text; /* "alpha, eps of any value; axis = -1 and no other"; NULL: there are none */
} MakeProgram;
/* `craft` is the plan of `result`, perhaps joined with those of other dtypes. */
MakeProgram make_attributes(Arena *arena, const MakeSpec *spec, const MakeResult *result,
                            Str craft);

#endif
