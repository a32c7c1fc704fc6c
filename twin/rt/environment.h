/* The environment of host code: none. Included once by each of its runtimes.
 *
 * It is no argument: host code that goes by what every board has set (PATH, ASCEND_HOME_PATH) does something else there than
 * here. Names that only whoever wrote the text knows are unset on a board, too, and here. */
#ifndef TWIN_ENVIRONMENT_H
#define TWIN_ENVIRONMENT_H

#include <string.h>

static bool environment_always_has(const char *name)
{
    static const char *const names[] = {"PATH", "HOME", "USER", "LOGNAME", "PWD", "SHELL", "LANG", "TERM", "HOSTNAME",
                                        "LD_LIBRARY_PATH", "PYTHONPATH", "TOOLCHAIN_HOME", "_", "SHLVL"};
    for (const char *one : names)
        if (strcmp(name, one) == 0) return true;
    return strncmp(name, "ASCEND_", 7) == 0 || strncmp(name, "LC_", 3) == 0;
}

#endif
