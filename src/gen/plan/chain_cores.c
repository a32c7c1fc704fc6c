/* Launches of one chain share a grid, so that a kernel that waits for all cores must be on all of them
 * (E096), however few its rows are worth alone. In: a stage's text and the branches through its host
 * function. Out: the branches, such launches and what is counted by their cores on chip.cores. */
#include "gen/plan/chain_stage.h"

#define ALL_CORES "chip.cores"

/* Whether the kernel calls sync_all. */
static bool waits(Arena *arena, Str craft, Str kernel)
{
    Str line, head = str_from(str_format(arena, "def %.*s(", STR_ARG(kernel)));
    bool inside = false;
    while (str_next(&craft, '\n', &line)) {
        if (line.len && line.at[0] != ' ')
            inside = str_find(line, head) == 0;
        if (inside && str_is(str_trim(line), "sync_all()"))
            return true;
    }
    return false;
}

/* kernel[cores](...): true, and its parts. */
static bool is_launch(Str line, Str *kernel, Str *cores)
{
    Str s = str_trim(line);
    ptrdiff_t open = str_find(s, STR("[")), close = str_find(s, STR("]("));
    if (open <= 0 || close < open)
        return false;
    *kernel = str_slice(s, 0, (size_t)open);
    *cores = str_slice(s, (size_t)open + 1, (size_t)close);
    for (size_t i = 0; i < kernel->len; i++)
        if (!text_in_name(kernel->at[i]))
            return false;
    return true;
}

static bool is_name(Str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!text_in_name(s.at[i]))
            return false;
    return s.len > 0;
}

static Str on_all(Arena *arena, Str line, Str cores)
{
    Buf out = {0};
    Renames names = {0};
    if (is_name(cores)) {
        text_add_name(arena, &names, cores, ALL_CORES);
        text_rename(&names, line, &out);
    }
    for (ptrdiff_t at; !is_name(cores) && (at = str_find(line, cores)) >= 0;) {
        buf_str(&out, str_slice(line, 0, (size_t)at));
        buf_puts(&out, ALL_CORES);
        line = str_slice(line, (size_t)at + cores.len, line.len);
    }
    if (!is_name(cores))
        buf_str(&out, line);
    Str text = str_from(buf_take(&out, arena));
    buf_free(&out);
    return text;
}

/* In every line; the one that works the number out goes. */
static void replace(Arena *arena, StageLines *lines, Str cores)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lines->len; i++)
        if (!str_equal(text_assigned(lines->at[i]), cores))
            lines->at[kept++] = on_all(arena, lines->at[i], cores);
    lines->len = kept;
}

void stage_on_all_cores(Arena *arena, Str craft, StageText *t)
{
    Str kernel, cores;
    for (uint32_t w = 0; w < t->branches.len; w++)
        for (uint32_t i = 0; i < t->branches.at[w].lines.len; i++) {
            if (!is_launch(t->branches.at[w].lines.at[i], &kernel, &cores) ||
                str_is(cores, ALL_CORES) || !waits(arena, craft, kernel))
                continue;
            replace(arena, &t->branches.at[w].lines, cores);
            replace(arena, &t->common, cores);
            i = UINT32_MAX; /* lines have moved */
        }
}
