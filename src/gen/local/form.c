/* The form of an answer before its program: schedule lines, then a fence. One pattern, followed byte by byte
 * with the set of places that it may stand at.
 *
 * In the pattern # is a number, ( | ) any alternatives any number of times, and every other byte itself. */
#include "gen/local/guide_int.h"

#include <string.h>

#define AXES "( a#)"
#define TILE " a# by #( in chunks)| a# whole, at most #( in chunks)"

/* The grammar of gen/plan/schedule/text.c, without comments; what stands there once may stand here often. */
static const char pattern[] =
    "(axes( a#=#)\n|fold a# of" AXES "\n|share v# over a#\n|keep v#\n|parts #\n|worth #\n|"
    "buffers # in # out\n|windows\n|steps inside\n|kernel\n|all cores wait\n|"
    "band( y#(.#)| w#(.#)): cores( a#| share a#)(; rows" TILE "|; loops" AXES "|; lanes a# by #|"
    "; lanes a# whole, at most #|; rows a# whole, at most #( in chunks))\n|\n)```python\n";

enum { PATTERN = sizeof pattern - 1 };
_Static_assert(PATTERN < 64 * FORM_WORDS, "a bit for every place of the pattern");

static uint32_t closing(uint32_t open)
{
    uint32_t at = open + 1;
    for (uint32_t depth = 1;; at++) {
        depth += pattern[at] == '(';
        depth -= pattern[at] == ')';
        if (!depth)
            return at;
    }
}

static uint32_t opening(uint32_t inside)
{
    uint32_t at = inside - 1;
    for (uint32_t depth = 1;; at--) {
        depth += pattern[at] == ')';
        depth -= pattern[at] == '(';
        if (!depth)
            return at;
    }
}

static void add_place(FormSet *set, uint32_t at)
{
    uint64_t bit = UINT64_C(1) << at % 64;
    if (set->at[at / 64] & bit)
        return;
    set->at[at / 64] |= bit;
    if (pattern[at] == ')' || pattern[at] == '|') {
        add_place(set, opening(at));
        return;
    }
    if (pattern[at] != '(')
        return;
    uint32_t close = closing(at), depth = 0;
    add_place(set, at + 1);
    add_place(set, close + 1);
    for (uint32_t i = at + 1; i < close; i++) {
        depth += pattern[i] == '(';
        depth -= pattern[i] == ')';
        if (!depth && pattern[i] == '|')
            add_place(set, i + 1);
    }
}

FormSet form_start(void)
{
    FormSet set = {0};
    add_place(&set, 0);
    return set;
}

bool form_step(FormSet *set, char c)
{
    FormSet next = {0};
    bool digit = c >= '0' && c <= '9';
    for (uint32_t w = 0; w < FORM_WORDS; w++)
        for (uint64_t left = set->at[w]; left; left &= left - 1) {
            uint32_t at = 64 * w + (uint32_t)__builtin_ctzll(left);
            if (pattern[at] == '#' && digit) {
                add_place(&next, at);
                add_place(&next, at + 1);
            } else if (pattern[at] == c && !strchr("(|)#", c)) {
                add_place(&next, at + 1);
            }
        }
    *set = next;
    for (uint32_t w = 0; w < FORM_WORDS; w++)
        if (next.at[w])
            return true;
    return false;
}

bool form_is_over(const FormSet *set) { return set->at[PATTERN / 64] >> PATTERN % 64 & 1; }
