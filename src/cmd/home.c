/* Where acraft's own files are: docs/, examples/, tasks/. */
#include "cmd/cmd.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_home(Arena *arena, const char *dir)
{
    return file_exists(path_join(arena, dir, "docs/craft.md"));
}

const char *cmd_home(Arena *arena)
{
    const char *given = getenv("ACRAFT_HOME");
    if (given && given[0])
        return is_home(arena, given) ? given : NULL;
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0)
        return NULL;
    exe[n] = 0;
    const char *dir = path_dir(arena, exe);
    for (int up = 0; up < 8; up++, dir = path_dir(arena, dir))
        if (is_home(arena, dir))
            return dir;
    return NULL;
}
