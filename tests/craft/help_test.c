/* The helpers themselves; they are a test file so that the Makefile finds them. */
#include "tests/craft/help.h"

#include "tests/t.h"
#include <stdio.h>
#include <string.h>

Str help_read(Arena *arena, const char *path)
{
    Str text = {0};
    Diag diag = diag_make(arena, path, text);
    REQUIRE(file_read(arena, path, 0, &text, &diag));
    return text;
}

static void complain(const char *name, const Diag *diag)
{
    Buf out = {0};
    diag_print(diag, &out);
    CHECK_MSG(false, "%s:\n%s", name, out.at ? out.at : "refused without a word");
    buf_free(&out);
}

bool help_builds(Arena *arena, const char *name, Str text)
{
    Diag diag = diag_make(arena, name, text);
    CraftFile *file = craft_read(arena, name, text, &diag);
    for (uint32_t v = 0; file && diag_ok(&diag) && v < craft_variant_count(file); v++) {
        IrProgram *p = craft_program(arena, file, v, &diag);
        if (!p || !ir_verify(p, &diag))
            break;
    }
    if (!file || !diag_ok(&diag))
        complain(name, &diag);
    return file && diag_ok(&diag);
}

Str help_format(Arena *arena, Str text)
{
    Diag diag = diag_make(arena, "text", text);
    CraftFile *file = craft_read(arena, "text", text, &diag);
    Buf out = {0};
    if (file)
        craft_format(file, &out);
    Str copy = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return copy;
}

const char *help_codes(Arena *arena, Str text)
{
    Diag diag = diag_make(arena, "text", text);
    CraftFile *file = craft_read(arena, "text", text, &diag);
    if (file && diag_ok(&diag))
        craft_program(arena, file, 0, &diag);
    const char *codes = "";
    for (uint32_t i = 0; i < diag.items.len; i++)
        codes = str_format(arena, "%s%s%s", codes, *codes ? " " : "", diag.items.at[i].code);
    return codes;
}

T_TEST(help_names_codes)
{
    Arena arena = {0};
    CHECK_EQ_STR(help_codes(&arena, STR("craft = 1\nwhile 1:\n    pass\n")), "E006");
    arena_drop(&arena);
}
