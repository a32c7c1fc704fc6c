/* Costs of a Craft program's lines. In: what the lines of the kernel made from it cost, and that kernel's text, in
 * which each Craft line stands as a comment ("// 21: load(...)") before what it became. Out: the same costs under
 * the Craft lines. */
#include "eval/eval_int.h"

#include <stdlib.h>

/* "// 21: ..." names line 21; a comment that names several ("// a.craft:20, 26: ...") begins a function. */
static bool named_line(Str line, uint32_t *craft)
{
    int64_t number;
    Str rest = str_trim(line), digits;
    if (!str_starts(rest, "// "))
        return false;
    rest = str_slice(rest, 3, rest.len);
    ptrdiff_t colon = str_find(rest, STR(":"));
    digits = str_slice(rest, 0, colon < 0 ? 0 : (size_t)colon);
    if (!digits.len || !str_to_i64(digits, &number) || number <= 0)
        return false;
    *craft = (uint32_t)number;
    return true;
}

/* The Craft line that line `number` of the kernel comes from; 0: none. */
static uint32_t craft_line_of(Str kernel, uint32_t number)
{
    uint32_t craft = 0, named;
    Str line;
    for (uint32_t n = 1; n <= number && str_next(&kernel, '\n', &line); n++) {
        if (named_line(line, &named))
            craft = named;
        else if (str_find(line, STR("__aicore__")) >= 0)
            craft = 0;
    }
    return craft;
}

void eval_craft_costs(Arena *arena, Str kernel, const char *craft_file, Str costs, Buf *out)
{
    Str line, file, number;
    while (str_next(&costs, '\n', &line)) {
        str_next(&line, '\t', &file);
        str_next(&line, '\t', &number);
        uint32_t at = (uint32_t)strtoul(str_dup(arena, number), NULL, 10);
        uint32_t craft = craft_line_of(kernel, at);
        if (craft)
            buf_printf(out, "%s\t%u\t%.*s\n", craft_file, craft, STR_ARG(line));
        else
            buf_printf(out, "%.*s\t%u\t%.*s\n", STR_ARG(file), at, STR_ARG(line));
    }
}
