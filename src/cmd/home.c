/* Where acraft's own files are: docs/, examples/, tasks/. */
#include "cmd/cmd.h"

#include "base/home.h"

const char *cmd_home(Arena *arena) { return home_find(arena, NULL, "docs/craft.md"); }
