/* The text form: what is printed reads back to the same text; what is read verifies. */
#include "tests/t.h"

#include "base/file.h"
#include "ir/ir.h"

#define PROGRAMS "tests/ir/programs"

static char *print(Arena *arena, const IrProgram *p)
{
    Buf out = {0};
    ir_print(p, &out);
    char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

static void say(const Diag *diag)
{
    Buf out = {0};
    diag_print(diag, &out);
    CHECK_MSG(out.len == 0, "%s", out.at);
    buf_free(&out);
}

static void check_program(Arena *arena, const char *path)
{
    Diag diag = diag_make(arena, path, (Str){0});
    Str text;
    REQUIRE(file_read(arena, path, 0, &text, &diag));
    diag.source = text;
    IrProgram *p = ir_parse(arena, path, text, &diag);
    CHECK_MSG(p != NULL, "%s does not parse", path);
    if (p) {
        CHECK_MSG(ir_verify(p, &diag), "%s is not valid", path);
        CHECK_EQ_STR(print(arena, p), text.at);
    }
    say(&diag);
}

T_TEST(every_program_reads_back_to_its_text)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, PROGRAMS, (Str){0});
    NameList names = {0};
    REQUIRE(file_list(&arena, PROGRAMS, &names, &diag));
    CHECK(names.len > 0);
    for (uint32_t i = 0; i < names.len; i++)
        check_program(&arena, path_join(&arena, PROGRAMS, names.at[i]));
    arena_drop(&arena);
}
