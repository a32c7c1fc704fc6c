/* Mending JSON; see json_mend.h. In: bytes. Out: the same without what no Unicode text holds. */
#include "base/json_mend.h"

#include "base/buf.h"

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The number of an escape at the start of the text; -1: none is there. */
static int unit_at(Str s)
{
    int unit = 0;
    if (s.len < 6 || s.at[0] != '\\' || s.at[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        if (digit(s.at[i]) < 0)
            return -1;
        unit = unit * 16 + digit(s.at[i]);
    }
    return unit;
}

static bool is_high(int unit) { return unit >= 0xd800 && unit < 0xdc00; }
static bool is_low(int unit) { return unit >= 0xdc00 && unit < 0xe000; }

/* Bytes at the start that stay together, and whether they are as they should be. */
static size_t step_of(Str s, bool *good)
{
    size_t step = str_utf8_step(s);
    int unit = unit_at(s);
    *good = step > 0;
    if (unit < 0)
        return step == 0 ? 1 : s.at[0] == '\\' && s.len > 1 ? 2 : step;
    if (is_high(unit) && is_low(unit_at(str_slice(s, 6, s.len))))
        return 12;
    *good = !is_high(unit) && !is_low(unit);
    return 6;
}

static bool is_good(Str text)
{
    bool good = true;
    while (text.len && good)
        text = str_slice(text, step_of(text, &good), text.len);
    return good;
}

Str json_mend(Arena *arena, Str text)
{
    Buf out = {0};
    if (is_good(text))
        return text;
    while (text.len) {
        bool good;
        size_t step = step_of(text, &good);
        if (good)
            buf_add(&out, text.at, step);
        else
            buf_puts(&out, "\xEF\xBF\xBD");
        text = str_slice(text, step, text.len);
    }
    Str mended = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return mended;
}
