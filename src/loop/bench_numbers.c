/* Numbers that a candidate's text names. In: text of any form. Out: its literals, products and shifts of them worked out
 * ("64 * 1024", "1 << 16", "2**16"), each once. What a text compares with stands among them. */
#include "loop/bench_judge_int.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

typedef struct Scanner {
    const char *at, *end;
} Scanner;

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static void skip_spaces(Scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

/* A literal at s->at, with its suffix. */
static bool literal(Scanner *s, double *value)
{
    enum { LONGEST = 40 };
    char copy[LONGEST + 1];
    int n = 0;
    const char *from = s->at;
    if (from >= s->end || !(isdigit((unsigned char)*from) ||
                            (*from == '.' && from + 1 < s->end && isdigit((unsigned char)from[1]))))
        return false;
    for (; n < LONGEST && from + n < s->end; n++) {
        bool sign = (from[n] == '-' || from[n] == '+') && n && tolower(from[n - 1]) == 'e';
        if (!in_word(from[n]) && from[n] != '.' && !sign)
            break;
        copy[n] = from[n];
    }
    copy[n] = 0;
    char *stop;
    *value = strtod(copy, &stop);
    s->at = from + n;
    return stop != copy;
}

static bool folded(Scanner *s, double *value)
{
    if (!literal(s, value))
        return false;
    for (;;) {
        Scanner ahead = *s;
        double next;
        skip_spaces(&ahead);
        bool shift = ahead.at + 1 < ahead.end && ahead.at[0] == '<' && ahead.at[1] == '<';
        bool power = ahead.at + 1 < ahead.end && ahead.at[0] == '*' && ahead.at[1] == '*';
        bool times = ahead.at < ahead.end && ahead.at[0] == '*' && !power;
        ahead.at += shift || power ? 2 : 1;
        if (!shift && !power && !times)
            return true;
        skip_spaces(&ahead);
        if (!literal(&ahead, &next))
            return true;
        *value = shift   ? ldexp(*value, next < 64 ? (int)next : 64)
                 : power ? pow(*value, next)
                         : *value * next;
        *s = ahead;
    }
}

static uint32_t add_number(double x, double *numbers, uint32_t n, uint32_t most)
{
    for (uint32_t i = 0; i < n; i++)
        if (numbers[i] == x)
            return n;
    if (n < most && isfinite(x))
        numbers[n++] = x;
    return n;
}

uint32_t text_numbers(Str text, double *numbers, uint32_t n, uint32_t most)
{
    Scanner s = {text.at, text.at + text.len};
    while (s.at < s.end && n < most) {
        double value;
        bool inside = s.at > text.at && (in_word(s.at[-1]) || s.at[-1] == '.');
        if (!inside && folded(&s, &value))
            n = add_number(value, numbers, n, most);
        else
            s.at++;
    }
    return n;
}
