/* What a message lists when a name is none of those there are: "acraft, mkb, npukb". */
#ifndef CMD_NAMES_H
#define CMD_NAMES_H

#include "base/arena.h"

const char *names_of_rules(Arena *arena); /* how values are compared */
const char *names_of_forms(Arena *arena); /* in which an answer may come */

#endif
