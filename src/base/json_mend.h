/* Repairs JSON of foreign programs so that a strict reader accepts it. */
#ifndef BASE_JSON_MEND_H
#define BASE_JSON_MEND_H

#include "base/arena.h"
#include "base/str.h"

/* Halves of a surrogate pair that stand alone, as an escape, and bytes that are no UTF-8 become U+FFFD; all
 * else stays. The text itself where nothing is to be mended. */
Str json_mend(Arena *arena, Str text);

#endif
