/* Finding the program's own files; see home.h. */
#include "base/home.h"

#include <limits.h>
#include <stdlib.h>

static const char *real_path(Arena *arena, const char *path)
{
    char real[PATH_MAX];
    return realpath(path, real) ? str_dup(arena, str_from(real)) : NULL;
}

static bool has(Arena *arena, const char *dir, const char *mark)
{
    return dir && file_exists(path_join(arena, dir, mark));
}

const char *home_find(Arena *arena, const char *given, const char *mark)
{
    if (!given || !*given)
        given = getenv("ACRAFT_HOME");
    if (given && *given) {
        const char *home = real_path(arena, given);
        return has(arena, home, mark) ? home : NULL;
    }
    const char *program = real_path(arena, "/proc/self/exe");
    const char *dir = program ? path_dir(arena, program) : "";
    const char *installed = real_path(arena, path_join(arena, dir, "../share/acraft"));
    if (has(arena, installed, mark))
        return installed;
    for (; dir[0] == '/' && dir[1]; dir = path_dir(arena, dir))
        if (has(arena, dir, mark))
            return dir;
    return NULL;
}
