/* Puts one error into a right program. In: Craft text, dice. Out: the broken text, where, and why. */
#include "rows/rows_int.h"

#include <regex.h>
#include <string.h>

typedef struct BreakRow {
    const char *class, *code, *find, *with, *cause;
    bool all;
    const char *find2, *with2; /* a second line; NULL: none */
} BreakRow;

static const BreakRow rows[] = {
#define BREAK(class, code, find, with, cause) {#class, code, find, with, cause, false, NULL, NULL},
#define BREAK_ALL(class, code, find, with, cause) \
    {#class, code, find, with, cause, true, NULL, NULL},
#define BREAK2(class, code, find, with, find2, with2, cause) \
    {#class, code, find, with, cause, false, find2, with2},
#include "rows/break.def"
#undef BREAK
#undef BREAK_ALL
#undef BREAK2
};

enum { ROWS = sizeof rows / sizeof *rows, GROUPS = 10, MOST_SITES = 128 };

uint32_t rows_break_count(void) { return ROWS; }
const char *rows_break_code(uint32_t row) { return rows[row].code; }

/* A match in a line. */
typedef struct Site {
    uint32_t line; /* from 1 */
    Str text;      /* the line */
    regmatch_t at[GROUPS];
} Site;

typedef struct Sites {
    uint32_t n;
    Site at[MOST_SITES];
} Sites;

static void find_sites(Arena *arena, Str text, const char *find, Sites *sites)
{
    regex_t regex;
    uint32_t number = 0;
    Str rest = text, line;
    sites->n = 0;
    if (regcomp(&regex, find, REG_EXTENDED))
        return;
    while (str_next(&rest, '\n', &line) && sites->n < MOST_SITES) {
        Site *s = &sites->at[sites->n];
        number++;
        *s = (Site){.line = number, .text = str_copy(arena, line)};
        sites->n += regexec(&regex, s->text.at, GROUPS, s->at, 0) == 0;
    }
    regfree(&regex);
}

static Str group(const Site *s, int k)
{
    if (k >= GROUPS || s->at[k].rm_so < 0)
        return (Str){0};
    return str_slice(s->text, (size_t)s->at[k].rm_so, (size_t)s->at[k].rm_eo);
}

/* `with` with its groups put in. */
static void put_filled(const Site *s, const char *with, Buf *out)
{
    size_t depth = 0;
    while (depth < s->text.len && s->text.at[depth] == ' ')
        depth++;
    for (const char *c = with; *c; c++) {
        if (*c != '\\') {
            buf_char(out, *c);
            continue;
        }
        c++;
        if (*c >= '0' && *c <= '9')
            buf_str(out, group(s, *c - '0'));
        else if (*c == 'n' || *c == 'i')
            buf_char(out, '\n');
        if (*c == 'i')
            buf_fill(out, ' ', depth);
    }
}

static void put_line(const Site *s, const char *with, Buf *out)
{
    if (!*with)
        return;
    buf_str(out, str_slice(s->text, 0, (size_t)s->at[0].rm_so));
    put_filled(s, with, out);
    buf_str(out, str_slice(s->text, (size_t)s->at[0].rm_eo, s->text.len));
    buf_char(out, '\n');
}

/* The text with the match of `s` replaced; with `all` those of the other lines, too. */
static Str replaced(Arena *arena, Str text, const Sites *sites, const Site *s, const char *with,
                    bool all)
{
    Buf out = {0};
    Str rest = text, line;
    uint32_t next = 0;
    for (uint32_t number = 1; rest.len && str_next(&rest, '\n', &line); number++) {
        while (next < sites->n && sites->at[next].line < number)
            next++;
        bool here = number == s->line || (all && next < sites->n && sites->at[next].line == number);
        if (here)
            put_line(all ? &sites->at[next] : s, with, &out);
        else
            buf_printf(&out, "%.*s\n", STR_ARG(line));
    }
    Str made = str_from(buf_take(&out, arena));
    buf_free(&out);
    return made;
}

bool rows_break(Arena *arena, Str craft, uint32_t row, Dice *dice, RowsBreak *broken)
{
    Sites *sites = arena_new(arena, Sites), *second = arena_new(arena, Sites);
    const BreakRow *r = &rows[row];
    Buf cause = {0};
    find_sites(arena, craft, r->find, sites);
    if (!sites->n)
        return false;
    const Site *s = &sites->at[dice_below(dice, sites->n)];
    Str text = replaced(arena, craft, sites, s, r->with, r->all);
    if (r->find2) {
        find_sites(arena, text, r->find2, second);
        if (!second->n)
            return false;
        text = replaced(arena, text, second, &second->at[0], r->with2, false);
    }
    put_filled(s, r->cause, &cause);
    *broken = (RowsBreak){.class = r->class,
                          .code = r->code,
                          .line = s->line,
                          .right = s->text,
                          .all = r->all || r->find2,
                          .craft = text,
                          .cause = buf_take(&cause, arena)};
    buf_free(&cause);
    return !str_equal(broken->craft, craft);
}
