/* What the two halves of --check-with share: kernels (check.c) and host (check_host.c). */
#ifndef EMIT_CHECK_INT_H
#define EMIT_CHECK_INT_H

#include "base/file.h"
#include "emit/check.h"

typedef struct Check {
    Arena *arena;
    const EmitInput *in;
    const EmitFiles *project;
    Diag *diag;
    NameList roots; /* of --check-with */
    const char *devkit, *tools, *temp;
    NameList argv;
    Buf said; /* what the compiler printed */
} Check;

/* The first of `places` below a root that has `header`. NULL: none. */
const char *check_root(const Check *c, const char *const *places, const char *header);
bool check_put(Check *c, const char *path, Str text); /* below the temporary directory */
void check_arg(Check *c, const char *text);
void check_include(Check *c, const char *dir, const char *below);
bool check_compile(Check *c, bool *accepted); /* false: it could not be run */

bool check_host(Check *c, EmitCheck *answer);

#endif
