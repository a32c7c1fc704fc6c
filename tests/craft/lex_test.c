/* The lexer: layout tokens, joined lines, numbers, strings, exact places. */
#include "craft/lex.h"

#include "tests/t.h"

/* The tokens of a text by name, a blank between; layout as > < ; and $ for the end. */
static const char *tokens_of(Arena *arena, const char *text)
{
    Diag diag = diag_make(arena, "text", str_from(text));
    CraftFile file = {.arena = arena};
    TokenList list = craft_lex(arena, str_from(text), &file, &diag);
    const char *out = "";
    for (uint32_t i = 0; i < list.len; i++) {
        const Token *t = &list.at[i];
        const char *word = t->kind == TOK_INDENT    ? ">"
                           : t->kind == TOK_DEDENT  ? "<"
                           : t->kind == TOK_NEWLINE ? ";"
                           : t->kind == TOK_END     ? "$"
                                                    : str_dup(arena, t->text);
        out = str_format(arena, "%s%s%s", out, *out ? " " : "", word);
    }
    return str_format(arena, "%s%s", out, diag.errors ? " !" : "");
}

T_TEST(lex_layout)
{
    Arena a = {0};
    CHECK_EQ_STR(tokens_of(&a, ""), "$");
    CHECK_EQ_STR(tokens_of(&a, "\n\n  \n# c\n"), "$");
    CHECK_EQ_STR(tokens_of(&a, "a"), "a ; $");
    CHECK_EQ_STR(tokens_of(&a, "if a:\n  b\n\n  # c\n  c\nd\n"), "if a : ; > b ; c ; < d ; $");
    CHECK_EQ_STR(tokens_of(&a, "a:\n  b:\n    c"), "a : ; > b : ; > c ; < < $");
    CHECK_EQ_STR(tokens_of(&a, "a:\n    b\n  c\n"), "a : ; > b ; < c ; $ !");
    CHECK_EQ_STR(tokens_of(&a, "f(a,\n  b)\nc"), "f ( a , b ) ; c ; $");
    CHECK_EQ_STR(tokens_of(&a, "a = 1 + \\\n  2\n"), "a = 1 + 2 ; $");
    CHECK_EQ_STR(tokens_of(&a, "a\r\nb\r\n"), "a ; b ; $");
    arena_drop(&a);
}

T_TEST(lex_operators_take_the_longest)
{
    Arena a = {0};
    CHECK_EQ_STR(tokens_of(&a, "a**=b//=c<<=d>=e!=f->g:=h"),
                 "a **= b //= c <<= d >= e != f -> g := h ; $");
    CHECK_EQ_STR(tokens_of(&a, "x[...]"), "x [ ... ] ; $");
    arena_drop(&a);
}

static Token first_of(Arena *arena, const char *text)
{
    Diag diag = diag_make(arena, "text", str_from(text));
    CraftFile file = {.arena = arena};
    TokenList list = craft_lex(arena, str_from(text), &file, &diag);
    CHECK_EQ_INT(diag.errors, 0);
    return list.at[0];
}

T_TEST(lex_numbers)
{
    Arena a = {0};
    CHECK_EQ_INT(first_of(&a, "0").i, 0);
    CHECK_EQ_INT(first_of(&a, "00").i, 0);
    CHECK_EQ_INT(first_of(&a, "1_000").i, 1000);
    CHECK_EQ_INT(first_of(&a, "0x1F").i, 31);
    CHECK_EQ_INT(first_of(&a, "0b101").i, 5);
    CHECK_EQ_INT(first_of(&a, "0o17").i, 15);
    CHECK_EQ_INT(first_of(&a, "9223372036854775807").i, INT64_MAX);
    CHECK_NEAR(first_of(&a, "1e-6").f, 1e-6, 0);
    CHECK_NEAR(first_of(&a, ".5").f, 0.5, 0);
    CHECK_NEAR(first_of(&a, "3.").f, 3, 0);
    CHECK_NEAR(first_of(&a, "1E+2").f, 100, 0);
    arena_drop(&a);
}

T_TEST(lex_strings)
{
    Arena a = {0};
    CHECK_EQ_SLICE(first_of(&a, "'a\\n\\'b'").string, "a\n'b");
    CHECK_EQ_SLICE(first_of(&a, "\"\"\"x\ny\"\"\"").string, "x\ny");
    CHECK_EQ_SLICE(first_of(&a, "\"\"").string, "");
    CHECK_EQ_SLICE(first_of(&a, "\"\\q\"").string, "\\q");
    arena_drop(&a);
}

T_TEST(lex_places_count_from_one)
{
    Arena a = {0};
    Diag diag = diag_make(&a, "text", (Str){0});
    CraftFile file = {.arena = &a};
    TokenList list = craft_lex(&a, STR("a\n  bcd = 'é' + e # f\n"), &file, &diag);
    CHECK_EQ_INT(list.at[3].at.line, 2); /* a ; > bcd */
    CHECK_EQ_INT(list.at[3].at.col, 3);
    CHECK_EQ_INT(list.at[3].at.width, 3);
    CHECK_EQ_INT(list.at[5].at.width, 4); /* columns count bytes */
    CHECK_EQ_INT(list.at[7].at.col, 16);
    REQUIRE(file.comments.len == 1);
    CHECK_EQ_INT(file.comments.at[0].line, 2);
    CHECK(!file.comments.at[0].own_line);
    arena_drop(&a);
}
