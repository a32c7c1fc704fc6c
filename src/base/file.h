/* Files and directories. Failures become one error in `diag` that names the path and the
 * system's reason, and `false`: F001 reading, F002 writing, F003 directories. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/diag.h"

/* Whole file into the arena, zero-terminated; refuses more than `most` bytes (0: 1 GiB). */
bool file_read(Arena *arena, const char *path, size_t most, Str *text, Diag *diag);
/* Through a temporary file beside it and a rename, so that a reader never sees half of it. */
bool file_write(const char *path, Str text, Diag *diag);
bool file_exists(const char *path);
bool file_is_dir(const char *path);
bool file_is_link(const char *path);
bool file_is_plain(const char *path); /* no directory, pipe, device: reading it comes to an end */
bool file_make_dirs(const char *path, Diag *diag); /* as mkdir -p */
/* The names in a directory, sorted by bytes, without "." and "..". */
typedef VEC(const char *) NameList;
bool file_list(Arena *arena, const char *path, NameList *names, Diag *diag);
bool file_remove_tree(const char *path, Diag *diag);
/* A new private directory under $TMPDIR or /tmp. */
bool file_temp_dir(Arena *arena, const char *prefix, const char **path, Diag *diag);
const char *path_join(Arena *arena, const char *dir, const char *name);
const char *path_dir(Arena *arena, const char *path);
Str path_base(const char *path); /* "a/b.c" -> "b.c" */
Str path_stem(const char *path); /* "a/b.c" -> "b" */

#endif
