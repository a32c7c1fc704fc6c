/* Puts one error into a right program. In: Craft text, dice. Out: the broken text, where, and why. */
#include "rows/rows_int.h"

#include "craft/craft.h"
#include <regex.h>
#include <string.h>

enum { EDITS = 4 };

typedef struct BreakEdit {
    const char *find, *with; /* find NULL: none */
} BreakEdit;

typedef struct BreakRow {
    const char *class, *code, *cause;
    bool all;
    BreakEdit
        edit[EDITS]; /* the first has the site that is named, the others take their first one */
} BreakRow;

static const BreakRow rows[] = {
#define BREAK(class, code, find, with, cause) {#class, code, cause, false, {{find, with}}},
#define BREAK_ALL(class, code, find, with, cause) {#class, code, cause, true, {{find, with}}},
#define BREAK2(class, code, find, with, find2, with2, cause) \
    {#class, code, cause, false, {{find, with}, {find2, with2}}},
#define BREAK4(class, code, find, with, find2, with2, find3, with3, find4, with4, cause) \
    {#class, code, cause, false, {{find, with}, {find2, with2}, {find3, with3}, {find4, with4}}},
#include "rows/break.def"
#undef BREAK
#undef BREAK_ALL
#undef BREAK2
#undef BREAK4
};

static const BreakRow twin_rows[] = {
#define BREAK(class, code, find, with, cause) {#class, code, cause, false, {{find, with}}},
#define BREAK2(class, code, find, with, find2, with2, cause) \
    {#class, code, cause, false, {{find, with}, {find2, with2}}},
#include "rows/twin_break.def"
#undef BREAK
#undef BREAK2
};

enum { ROWS = sizeof rows / sizeof *rows, GROUPS = 10, MOST_SITES = 128 };
enum { TWIN_ROWS = sizeof twin_rows / sizeof *twin_rows };
_Static_assert((int)ROWS + (int)TWIN_ROWS <= (int)ROWS_WANTS, "ROWS_WANTS is too small");

uint32_t rows_break_count(void) { return ROWS; }
const char *rows_break_code(uint32_t row) { return rows[row].code; }

/* A match in a line. */
typedef struct Site {
    uint32_t line; /* from 1 */
    Str text;      /* the line */
    int64_t room;  /* f32 elements that the program leaves of UB */
    regmatch_t at[GROUPS];
} Site;

typedef struct Sites {
    uint32_t n;
    Site at[MOST_SITES];
} Sites;

static void find_sites(Arena *arena, Str text, const char *find, int64_t room, Sites *sites)
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
        *s = (Site){.line = number, .text = str_copy(arena, line), .room = room};
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

/* Prints the replacement `with`, with the groups of the match filled in. */
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
        else if (*c == 'u')
            buf_printf(out, "%lld", (long long)s->room);
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

/* What the program leaves of UB, in elements of 4 bytes; at least 8. */
static int64_t room_of(Arena *arena, Str craft, const NpuChip *chip)
{
    Diag quiet = diag_make(arena, "kernel.craft", craft);
    CraftFile *file = craft_read(arena, "kernel.craft", craft, &quiet);
    const IrProgram *p = file && diag_ok(&quiet) ? craft_program(arena, file, 0, &quiet) : NULL;
    int64_t bytes = p ? rows_ub_bytes(p, true) : -1, room = ((int64_t)chip->ub - bytes) / 32 * 8;
    return bytes < 0 || room < 8 ? 8 : room;
}

static bool break_by(Arena *arena, Str craft, const BreakRow *r, int64_t room, Dice *dice,
                     RowsBreak *broken)
{
    Sites *sites = arena_new(arena, Sites), *second = arena_new(arena, Sites);
    Buf cause = {0};
    find_sites(arena, craft, r->edit[0].find, room, sites);
    if (!sites->n)
        return false;
    const Site *s = &sites->at[dice_below(dice, sites->n)];
    Str text = replaced(arena, craft, sites, s, r->edit[0].with, r->all);
    for (int i = 1; i < EDITS && r->edit[i].find; i++) {
        find_sites(arena, text, r->edit[i].find, room, second);
        if (!second->n)
            return false;
        text = replaced(arena, text, second, &second->at[0], r->edit[i].with, false);
    }
    put_filled(s, r->cause, &cause);
    *broken = (RowsBreak){.class = r->class,
                          .code = r->code,
                          .line = s->line,
                          .right = s->text,
                          .all = r->all || r->edit[1].find,
                          .craft = text,
                          .cause = buf_take(&cause, arena)};
    buf_free(&cause);
    return !str_equal(broken->craft, craft);
}

bool rows_break(Arena *arena, Str craft, uint32_t row, const NpuChip *chip, Dice *dice,
                RowsBreak *broken)
{
    const BreakRow *r = &rows[row];
    int64_t room = strstr(r->edit[0].with, "\\u") ? room_of(arena, craft, chip) : 0;
    return break_by(arena, craft, r, room, dice, broken);
}

const char *rows_break_class(uint32_t row) { return rows[row].class; }

uint32_t rows_twin_break_count(void) { return TWIN_ROWS; }

const char *rows_twin_break_code(uint32_t row) { return twin_rows[row].code; }
const char *rows_twin_break_class(uint32_t row) { return twin_rows[row].class; }

bool rows_twin_break(Arena *arena, Str text, uint32_t row, Dice *dice, RowsBreak *broken)
{
    return break_by(arena, text, &twin_rows[row], 0, dice, broken);
}
