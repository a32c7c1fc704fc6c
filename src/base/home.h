/* Where the files that belong to the program are. */
#ifndef BASE_HOME_H
#define BASE_HOME_H

#include "base/file.h"

/* The directory that holds `mark`: `given`, or $ACRAFT_HOME where that is NULL or empty; without
 * either share/acraft beside the program's own directory, or one above it (a source tree). NULL:
 * there is none. */
const char *home_find(Arena *arena, const char *given, const char *mark);

#endif
