/* A growing text buffer on the heap: what printers write into.
 *
 *     Buf out = {0};
 *     buf_printf(&out, "%d tiles\n", n);
 *     fwrite(out.at, 1, out.len, stdout);
 *     buf_free(&out);
 *
 * `at` is always zero-terminated once something was added.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/str.h"

typedef struct Buf {
    char *at;
    size_t len, cap;
} Buf;

void buf_free(Buf *buf);
void buf_clear(Buf *buf); /* keeps the memory */
void buf_add(Buf *buf, const void *bytes, size_t len);
void buf_str(Buf *buf, Str s);
void buf_puts(Buf *buf, const char *zero_terminated);
void buf_char(Buf *buf, char c);
void buf_fill(Buf *buf, char c, size_t count);
void buf_printf(Buf *buf, const char *format, ...) ATTR_PRINTF(2, 3);
void buf_vprintf(Buf *buf, const char *format, va_list args);
/* The shortest text that reads back as the same double; inf, -inf, nan by name. */
void buf_double(Buf *buf, double value);
/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void buf_json_str(Buf *buf, Str s);
/* A JSON number; JSON has no inf and nan, so those become strings. */
void buf_json_double(Buf *buf, double value);
Str buf_view(const Buf *buf);
char *buf_take(const Buf *buf, Arena *arena); /* a copy in the arena */

#endif
