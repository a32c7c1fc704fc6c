/* String slices: comparing, cutting, copying, reading numbers. */
#include "base/str.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Str str_from(const char *zero_terminated)
{
    if (!zero_terminated)
        return (Str){"", 0};
    return (Str){zero_terminated, strlen(zero_terminated)};
}

bool str_equal(Str a, Str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

bool str_is(Str a, const char *b)
{
    if (a.len && b && a.at[0] != b[0]) /* most words that are compared differ here */
        return false;
    return str_equal(a, str_from(b));
}

int str_compare(Str a, Str b)
{
    size_t least = a.len < b.len ? a.len : b.len;
    int order = least ? memcmp(a.at, b.at, least) : 0;
    if (order)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

bool str_starts(Str s, const char *prefix)
{
    Str p = str_from(prefix);
    return s.len >= p.len && str_equal(str_slice(s, 0, p.len), p);
}

bool str_ends(Str s, const char *suffix)
{
    Str p = str_from(suffix);
    return s.len >= p.len && str_equal(str_slice(s, s.len - p.len, s.len), p);
}

ptrdiff_t str_find(Str s, Str what)
{
    if (what.len == 0)
        return 0;
    if (s.len < what.len)
        return -1;
    const char *at = memmem(s.at, s.len, what.at, what.len);
    return at ? at - s.at : -1;
}

Str str_slice(Str s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from > to)
        from = to;
    return from ? (Str){s.at + from, to - from} : (Str){s.at, to};
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

Str str_trim(Str s)
{
    size_t from = 0, to = s.len;
    while (from < to && is_space(s.at[from]))
        from++;
    while (to > from && is_space(s.at[to - 1]))
        to--;
    return str_slice(s, from, to);
}

bool str_next(Str *rest, char separator, Str *piece)
{
    if (!rest->at)
        return false;
    const char *end = rest->len ? memchr(rest->at, separator, rest->len) : NULL;
    if (!end) {
        *piece = *rest;
        *rest = (Str){NULL, 0};
        return true;
    }
    size_t len = (size_t)(end - rest->at);
    *piece = str_slice(*rest, 0, len);
    *rest = str_slice(*rest, len + 1, rest->len);
    return true;
}

char *str_dup(Arena *arena, Str s)
{
    char *copy = arena_alloc(arena, s.len + 1);
    if (s.len)
        memcpy(copy, s.at, s.len);
    return copy;
}

Str str_copy(Arena *arena, Str s) { return (Str){str_dup(arena, s), s.len}; }

char *str_vformat(Arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    size_t size = len < 0 ? 1 : (size_t)len + 1;
    char *text = arena_alloc(arena, size);
    if (len > 0)
        vsnprintf(text, size, format, again);
    va_end(again);
    return text;
}

char *str_format(Arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = str_vformat(arena, format, args);
    va_end(args);
    return text;
}

bool str_to_i64(Str s, int64_t *value)
{
    size_t at = 0;
    bool negative = s.len && s.at[0] == '-';
    if (s.len && (s.at[0] == '-' || s.at[0] == '+'))
        at++;
    if (at == s.len)
        return false;
    int64_t sum = 0; /* kept negative: the negative range has one value more */
    for (; at < s.len; at++) {
        if (s.at[at] < '0' || s.at[at] > '9')
            return false;
        if (__builtin_mul_overflow(sum, (int64_t)10, &sum) ||
            __builtin_sub_overflow(sum, (int64_t)(s.at[at] - '0'), &sum))
            return false;
    }
    if (!negative && sum == INT64_MIN)
        return false;
    *value = negative ? sum : -sum;
    return true;
}

bool str_to_double(Str s, double *value)
{
    char text[512];
    if (s.len == 0 || s.len >= sizeof text || is_space(s.at[0]))
        return false;
    memcpy(text, s.at, s.len);
    text[s.len] = 0;
    char *end;
    errno = 0;
    double read = strtod(text, &end);
    if (end != text + s.len || (errno == ERANGE && isinf(read)))
        return false;
    *value = read;
    return true;
}

/* Whether the continuation bytes after the first are there, and their bits joined to `lead`. */
static bool utf8_tail(Str s, size_t len, uint32_t *code)
{
    for (size_t i = 1; i < len; i++) {
        if (i >= s.len || ((unsigned char)s.at[i] & 0xC0) != 0x80)
            return false;
        *code = *code << 6 | ((unsigned char)s.at[i] & 0x3F);
    }
    return true;
}

size_t str_utf8_step(Str s)
{
    if (s.len == 0)
        return 0;
    unsigned char lead = (unsigned char)s.at[0];
    if (lead < 0x80)
        return 1;
    size_t len = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    uint32_t code = lead & (0x7Fu >> len);
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (!utf8_tail(s, len, &code) || code < least[len] || code > 0x10FFFF)
        return 0;
    return code >= 0xD800 && code <= 0xDFFF ? 0 : len;
}

bool str_utf8_valid(Str s)
{
    while (s.len) {
        size_t step = str_utf8_step(s);
        if (!step)
            return false;
        s = str_slice(s, step, s.len);
    }
    return true;
}

enum { DISTANCE_MOST = 64 };

static size_t least3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

size_t str_distance(Str a, Str b)
{
    if (a.len > DISTANCE_MOST || b.len > DISTANCE_MOST)
        return DISTANCE_MOST + 1;
    size_t row[3][DISTANCE_MOST + 1]; /* of the table, for the last three bytes of a */
    for (size_t j = 0; j <= b.len; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            bool same = a.at[i - 1] == b.at[j - 1];
            now[j] = least3(last[j] + 1, now[j - 1] + 1, last[j - 1] + !same);
            bool swapped = i > 1 && j > 1 && a.at[i - 1] == b.at[j - 2] &&
                           a.at[i - 2] == b.at[j - 1];
            if (swapped && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
    }
    return row[a.len % 3][b.len];
}
