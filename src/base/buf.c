/* The growing text buffer. */
#include "base/buf.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_free(Buf *buf)
{
    heap_free(buf->at);
    *buf = (Buf){0};
}

void buf_clear(Buf *buf)
{
    buf->len = 0;
    if (buf->at)
        buf->at[0] = 0;
}

/* Room for `extra` bytes and a terminating zero. */
static void reserve(Buf *buf, size_t extra)
{
    if (buf->cap - buf->len > extra)
        return;
    size_t want = buf->len + extra + 1, cap = buf->cap ? buf->cap * 2 : 128;
    if (want < extra)
        want = SIZE_MAX;
    if (cap < want)
        cap = want;
    buf->at = heap_grow(buf->at, buf->cap, cap);
    buf->cap = cap;
}

void buf_add(Buf *buf, const void *bytes, size_t len)
{
    reserve(buf, len);
    if (len)
        memcpy(buf->at + buf->len, bytes, len);
    buf->len += len;
    buf->at[buf->len] = 0;
}

void buf_str(Buf *buf, Str s) { buf_add(buf, s.at, s.len); }

void buf_puts(Buf *buf, const char *zero_terminated) { buf_str(buf, str_from(zero_terminated)); }

void buf_char(Buf *buf, char c) { buf_add(buf, &c, 1); }

void buf_fill(Buf *buf, char c, size_t count)
{
    reserve(buf, count);
    memset(buf->at + buf->len, c, count);
    buf->len += count;
    buf->at[buf->len] = 0;
}

void buf_vprintf(Buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len >= 0) {
        reserve(buf, (size_t)len);
        vsnprintf(buf->at + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

void buf_printf(Buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vprintf(buf, format, args);
    va_end(args);
}

void buf_double(Buf *buf, double value)
{
    if (isnan(value)) {
        buf_puts(buf, "nan");
        return;
    }
    if (isinf(value)) {
        buf_puts(buf, value < 0 ? "-inf" : "inf");
        return;
    }
    /* A normal double holds any decimal of 15 digits, so fewer need not be tried. */
    char text[40];
    int digits = fabs(value) < DBL_MIN ? 1 : 15;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (digits++ < 17 && strtod(text, NULL) != value);
    buf_puts(buf, text);
}

static void json_escape(Buf *buf, unsigned char c)
{
    static const char short_form[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *at = short_form; *at; at += 2)
        if ((unsigned char)at[0] == c) {
            buf_char(buf, '\\');
            buf_char(buf, at[1]);
            return;
        }
    buf_printf(buf, "\\u%04x", c);
}

void buf_json_str(Buf *buf, Str s)
{
    buf_char(buf, '"');
    while (s.len) {
        size_t step = str_utf8_step(s);
        unsigned char c = (unsigned char)s.at[0];
        if (step == 0)
            buf_puts(buf, "\xEF\xBF\xBD");
        else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7F)
            json_escape(buf, c);
        else
            buf_add(buf, s.at, step);
        s = str_slice(s, step ? step : 1, s.len);
    }
    buf_char(buf, '"');
}

void buf_json_double(Buf *buf, double value)
{
    const char *quote = isfinite(value) ? "" : "\"";
    buf_puts(buf, quote);
    buf_double(buf, value);
    buf_puts(buf, quote);
}

Str buf_view(const Buf *buf) { return (Str){buf->at ? buf->at : "", buf->len}; }

char *buf_take(const Buf *buf, Arena *arena) { return str_dup(arena, buf_view(buf)); }
