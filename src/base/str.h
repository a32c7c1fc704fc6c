/* A string slice: a pointer and a length, never owning. Text in an arena is also
 * zero-terminated, so that `at` of such a slice can go to libc. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/arena.h"
#include "base/attr.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Str {
    const char *at;
    size_t len;
} Str;

#define STR(literal) ((Str){(literal), sizeof(literal) - 1})
#define STR_ARG(s) (int)(s).len, (s).at /* for "%.*s" */

Str str_from(const char *zero_terminated); /* NULL gives the empty slice */
bool str_equal(Str a, Str b);
bool str_is(Str a, const char *b);
int str_compare(Str a, Str b);
bool str_starts(Str s, const char *prefix);
bool str_ends(Str s, const char *suffix);
/* Index of the first occurrence, or -1. */
ptrdiff_t str_find(Str s, Str what);
Str str_slice(Str s, size_t from, size_t to); /* clamped to the slice */
Str str_trim(Str s);                          /* white space off both ends */
/* Takes the text up to `separator` off the front of *rest; false when *rest is used up. */
bool str_next(Str *rest, char separator, Str *piece);
Str str_copy(Arena *arena, Str s);
char *str_dup(Arena *arena, Str s);
char *str_format(Arena *arena, const char *format, ...) ATTR_PRINTF(2, 3);
char *str_vformat(Arena *arena, const char *format, va_list args);
/* Whole-slice conversions: false when the text is not exactly one number in range. */
bool str_to_i64(Str s, int64_t *value);
bool str_to_double(Str s, double *value);
bool str_utf8_valid(Str s);
/* Bytes of the UTF-8 character at the front; 0 when there is none or it is not valid. */
size_t str_utf8_step(Str s);
/* Edits that make b of a: a byte added, dropped, replaced, or two neighbours swapped. For
 * "did you mean"; slices of more than 64 bytes are simply far apart (65). */
size_t str_distance(Str a, Str b);

#endif
