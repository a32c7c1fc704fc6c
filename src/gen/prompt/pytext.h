/* String literals of a Python file: what a benchmark's prompt is made of. Nothing is executed. */
#ifndef GEN_PROMPT_PYTEXT_H
#define GEN_PROMPT_PYTEXT_H

#include "base/vec.h"
#include "base/str.h"

typedef struct PyText {
    Str text;             /* escapes resolved */
    bool format;          /* an f-string: {names} are still in it */
    const char *name;     /* it is assigned to this name at the start of a line; "": not */
    const char *function; /* in which it stands; "": none */
} PyText;

typedef VEC(PyText) PyTexts;

void pytext_read(Arena *arena, Str source, PyTexts *texts);
/* The text assigned to a name at module level; false: none. */
bool pytext_named(const PyTexts *texts, const char *name, Str *text);

/* Fills {name} from pairs of names and texts that end with NULL; {{ and }} are braces. False when
 * a name is not among them; *missing is it then. */
typedef struct PyFill {
    const char *name;
    Str text;
} PyFill;
bool pytext_fill(Arena *arena, Str format, const PyFill *fills, Str *text, const char **missing);

#endif
