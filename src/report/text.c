/* Foreign text as it is put into a page; see report_int.h. */
#include "report/report_int.h"

#include <math.h>
#include <string.h>

/* U+202A to U+202E and U+2066 to U+2069 make text look other than it is. */
static bool turns_direction(Str c)
{
    const unsigned char *b = (const unsigned char *)c.at;
    return c.len == 3 && b[0] == 0xe2 &&
           ((b[1] == 0x80 && b[2] >= 0xaa && b[2] <= 0xae) ||
            (b[1] == 0x81 && b[2] >= 0xa6 && b[2] <= 0xa9));
}

static void put_character(Buf *out, Str c)
{
    unsigned char first = (unsigned char)c.at[0];
    switch (first) {
    case '&': buf_puts(out, "&amp;"); return;
    case '<': buf_puts(out, "&lt;"); return;
    case '>': buf_puts(out, "&gt;"); return;
    case '"': buf_puts(out, "&quot;"); return;
    case '\'': buf_puts(out, "&#39;"); return;
    default: break;
    }
    bool control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f;
    if (control || turns_direction(c))
        buf_puts(out, "\xef\xbf\xbd");
    else
        buf_str(out, c);
}

void report_text(Buf *out, Str s)
{
    while (s.len) {
        size_t step = str_utf8_step(s);
        if (step)
            put_character(out, str_slice(s, 0, step));
        else
            buf_puts(out, "\xef\xbf\xbd");
        s = str_slice(s, step ? step : 1, s.len);
    }
}

void report_puts(Buf *out, const char *zero_terminated)
{
    report_text(out, str_from(zero_terminated));
}

/* In JSON a '<' stands only inside strings, where it may be written as an escape. */
void report_script_json(Buf *out, const char *id, Str json)
{
    buf_printf(out, "<script type=\"application/json\" id=\"%s\">", id);
    while (json.len) {
        const char *at = memchr(json.at, '<', json.len);
        size_t plain = at ? (size_t)(at - json.at) : json.len;
        buf_add(out, json.at, plain);
        if (at)
            buf_puts(out, "\\u003c");
        json = str_slice(json, plain + (at != NULL), json.len);
    }
    buf_puts(out, "</script>\n");
}

void report_base64(Buf *out, const void *bytes, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *at = bytes;
    for (size_t i = 0; i < len; i += 3) {
        uint32_t left = (uint32_t)(len - i), three = (uint32_t)at[i] << 16;
        if (left > 1)
            three |= (uint32_t)at[i + 1] << 8;
        if (left > 2)
            three |= at[i + 2];
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
                        left > 1 ? digits[three >> 6 & 63] : '=',
                        left > 2 ? digits[three & 63] : '='};
        buf_add(out, four, 4);
    }
}

void report_json_number(Buf *out, double value)
{
    if (isfinite(value))
        buf_printf(out, "%.4g", value);
    else
        buf_puts(out, "null");
}

void report_time(Buf *out, double us)
{
    if (!isfinite(us))
        buf_puts(out, "-");
    else if (us >= 1e6)
        buf_printf(out, "%.3g s", us / 1e6);
    else if (us >= 1e3)
        buf_printf(out, "%.3g ms", us / 1e3);
    else if (us >= 1 || us <= 0)
        buf_printf(out, "%.3g us", us);
    else
        buf_printf(out, "%.3g ns", us * 1e3);
}

void report_percent(Buf *out, double share)
{
    if (isfinite(share))
        buf_printf(out, "%.1f", 100 * share);
    else
        buf_puts(out, "-");
}

static bool inside_character(Str s, size_t at)
{
    return at < s.len && ((unsigned char)s.at[at] & 0xc0) == 0x80;
}

Str report_cut(Arena *arena, Str s, size_t most)
{
    if (s.len <= most)
        return s;
    size_t head = most / 4 * 3, tail = s.len - most / 4;
    while (head && inside_character(s, head))
        head--;
    while (tail < s.len && inside_character(s, tail))
        tail++;
    Buf out = {0};
    buf_str(&out, str_slice(s, 0, head));
    buf_printf(&out, "\n... %zu bytes are left out here ...\n", tail - head);
    buf_str(&out, str_slice(s, tail, s.len));
    Str cut = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return cut;
}
