/* The text form: what is printed reads back to the same text; what is read verifies. */
#include "tests/t.h"

#include "base/file.h"
#include "craft/craft.h"
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

static void check_example(const char *path)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, (Str){0});
    Str text;
    REQUIRE(file_read(&arena, path, 0, &text, &diag));
    CraftFile *file = craft_read(&arena, path, text, &diag);
    for (uint32_t v = 0; file && v < craft_variant_count(file); v++) {
        IrProgram *p = craft_program(&arena, file, v, &diag);
        CHECK_MSG(p && ir_verify(p, &diag), "%s, variant %u, is not valid", path, v);
        if (!p)
            break;
        const char *printed = print(&arena, p);
        Diag again = diag_make(&arena, path, str_from(printed));
        const IrProgram *read = ir_parse(&arena, path, str_from(printed), &again);
        say(&again);
        CHECK_MSG(read && ir_verify(read, &again), "%s does not read back", path);
        if (read)
            CHECK_EQ_STR(print(&arena, read), printed);
    }
    arena_drop(&arena);
}

T_TEST(every_example_reads_back_to_its_text)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "examples", (Str){0});
    NameList names = {0};
    REQUIRE(file_list(&arena, "examples", &names, &diag));
    for (uint32_t i = 0; i < names.len; i++)
        if (str_ends(str_from(names.at[i]), ".craft"))
            check_example(path_join(&arena, "examples", names.at[i]));
    arena_drop(&arena);
}

/* Names that appear again, a share and a loop of one name, names that are words of the form. */
T_TEST(numbered_names_read_back)
{
    static const char text[] = "tile_ir 1\n"
                               "program names\n"
                               "dim load i64 1..9\n"
                               "value end i64\n"
                               "tensor min out i64 [load]\n"
                               "host\n"
                               "  end = (load - 1)\n"
                               "  launch first [1] (min, end)\n"
                               "  launch second [1] (min)\n"
                               "end\n"
                               "kernel first vector\n"
                               "  tensor min inout i64 [load]\n"
                               "  param by i64\n"
                               "  local t'2 i64\n"
                               "  local size i64\n"
                               "  share part of load align 4\n"
                               "  for tiles part'2 in part.start..(part.start + part.size) by by\n"
                               "    t'2 = (part.index + part.size'2)\n"
                               "    for range t in t'2..by step by\n"
                               "      size = min(t, t'2)\n"
                               "    end\n"
                               "  end\n"
                               "end\n"
                               "kernel second vector\n"
                               "  tensor min inout i64 [load]\n"
                               "  local size'2 i64\n"
                               "  for mine t'3 in 0..load, part'3 in 0..load by 4\n"
                               "    size'2 = ((part.start'3 + part.index'2) + t'3)\n"
                               "    copyout\n"
                               "      write min[t'3] <- size'2\n"
                               "    end\n"
                               "  end\n"
                               "end\n";
    Arena arena = {0};
    Diag diag = diag_make(&arena, "names", STR(text));
    IrProgram *p = ir_parse(&arena, "names", STR(text), &diag);
    CHECK(p && ir_verify(p, &diag));
    say(&diag);
    REQUIRE(p != NULL);
    CHECK_EQ_STR(print(&arena, p), text);
    arena_drop(&arena);
}

static void expect_error(const char *text, const char *want, uint32_t line)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "bad", str_from(text));
    CHECK(ir_parse(&arena, "bad", str_from(text), &diag) == NULL);
    REQUIRE(diag.items.len == 1);
    CHECK_EQ_STR(diag.items.at[0].text, want);
    CHECK_EQ_INT(diag.items.at[0].at.line, line);
    arena_drop(&arena);
}

#define HEAD "tile_ir 1\nprogram bad\ndim n i64 1..9\nhost\n"

T_TEST(bad_text_is_refused_at_its_place)
{
    expect_error("tile_ir 2\n", "expected version 1", 1);
    expect_error("tile_ir 1\nprogram p$\n", "no token starts here", 2);
    expect_error(HEAD "launch k [1] ()\nend\n", "there is no kernel 'k'", 5);
    expect_error(HEAD "x = 3\nend\n", "expected a variable that is known here, before this", 5);
    expect_error(HEAD "if (n < )\nend\nend\n", "expected a name", 5);
    expect_error(HEAD "assert (n < 3) text\nend\n", "expected a text in quotes", 5);
    expect_error(HEAD "if (n ? 3)\nend\nend\n", "no token starts here", 5);
    expect_error(HEAD, "expected 'end'", 5);
    expect_error("tile_ir 1\nprogram p\ndim n'3 i64 1..9\nhost\nend\n", "expected a variable n'2",
                 6);
}
