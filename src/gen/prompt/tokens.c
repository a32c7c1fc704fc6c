/* Token estimate. Checked against the vocabulary of Qwen (the same for Qwen3) on the reference of
 * Craft, its examples and the shipped tasks: between 0.94 and 1.03 of the true count on each. */
#include "gen/prompt/tokens.h"

#include <ctype.h>
#include <string.h>

static bool is_letter(char c) { return isalpha((unsigned char)c) || (unsigned char)c >= 0x80; }

static bool is_space(char c) { return c == ' ' || c == '\t'; }

static bool is_break(char c) { return c == '\n' || c == '\r'; }

static bool is_mark(char c)
{
    return !is_letter(c) && !isdigit((unsigned char)c) && !is_space(c) && !is_break(c);
}

static size_t run(Str t, size_t from, bool (*is)(char))
{
    size_t to = from;
    while (to < t.len && is(t.at[to]))
        to++;
    return to - from;
}

/* Letters, with the one mark or space before them. Characters beyond ASCII: one token each. */
static double word_cost(Str word, char before)
{
    double cost = before && !strchr(" _.(\t\"[/-'`", before) ? 0.3 : 0;
    size_t foreign = 0;
    for (size_t i = 0; i < word.len; i++)
        foreign += ((unsigned char)word.at[i] & 0xC0) == 0xC0;
    if (foreign)
        return cost + (double)foreign;
    return cost + (word.len <= 8 ? 1 : word.len <= 13 ? 2 : 3);
}

static double marks_cost(size_t count)
{
    return count <= 2 ? 1 : count < 12 ? (double)((count + 1) / 2) : (double)(count / 6);
}

static size_t take_word(Str t, size_t at, double *sum)
{
    char before = is_letter(t.at[at]) ? 0 : t.at[at];
    size_t from = at + (before != 0);
    size_t length = run(t, from, is_letter);
    *sum += word_cost(str_slice(t, from, from + length), before);
    return from + length;
}

/* Blanks before a word join it, all but the last of several are one token. */
static size_t take_blanks(Str t, size_t at, double *sum)
{
    size_t to = at + run(t, at, is_space);
    if (to < t.len && is_break(t.at[to]))
        return to;
    if (to - at > 1) {
        *sum += 1;
        return to - 1;
    }
    *sum += to == t.len || !is_mark(t.at[to]);
    return to;
}

int64_t tokens_estimate(Str t)
{
    double sum = 0;
    for (size_t at = 0; at < t.len;) {
        char c = t.at[at];
        bool leads = !is_break(c) && !isdigit((unsigned char)c) && at + 1 < t.len &&
                     is_letter(t.at[at + 1]);
        if (is_letter(c) || leads) {
            at = take_word(t, at, &sum);
        } else if (isdigit((unsigned char)c)) {
            sum += 1;
            at++;
        } else if (is_break(c)) {
            sum += 1;
            at += run(t, at, is_break);
        } else if (is_space(c)) {
            at = take_blanks(t, at, &sum);
        } else {
            size_t marks = run(t, at, is_mark);
            sum += marks_cost(marks);
            at += marks + run(t, at + marks, is_break);
        }
    }
    return (int64_t)(sum + 0.5);
}
