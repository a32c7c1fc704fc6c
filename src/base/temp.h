/* A private directory that does not outlive its owner for long. The owner holds a lock on it; who
 * makes the next directory of the same prefix removes those whose lock nobody holds any more, so
 * what a killed run left behind goes with the following one.
 *
 *     TempDir dir;
 *     if (!temp_dir_make(arena, "acraft-build", &dir, diag))
 *         return false;
 *     ... dir.path ...
 *     temp_dir_remove(&dir, diag);
 */
#ifndef BASE_TEMP_H
#define BASE_TEMP_H

#include "base/diag.h"

typedef struct TempDir {
    const char *path;
    int lock; /* descriptor of the directory, closed on exec */
} TempDir;

/* Under $TMPDIR or /tmp, named PREFIX-xxxxxx, readable by its owner alone. */
bool temp_dir_make(Arena *arena, const char *prefix, TempDir *dir, Diag *diag);
bool temp_dir_remove(TempDir *dir, Diag *diag);

#endif
