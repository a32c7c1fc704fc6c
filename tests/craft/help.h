/* What the tests of src/craft share: reading files, building every variant of a text. */
#ifndef TESTS_CRAFT_HELP_H
#define TESTS_CRAFT_HELP_H

#include "base/file.h"
#include "craft/craft.h"
#include "ir/ir.h"

/* The text of a file under the repository's root; ends the test when it is not there. */
Str help_read(Arena *arena, const char *path);
/* Parses, builds and verifies every variant; prints what is wrong and fails the test. */
bool help_builds(Arena *arena, const char *name, Str text);
/* The canonical spelling; empty when the text does not parse. */
Str help_format(Arena *arena, Str text);
/* The codes a text is refused with, joined by blanks, in order of place. */
const char *help_codes(Arena *arena, Str text);

#endif
