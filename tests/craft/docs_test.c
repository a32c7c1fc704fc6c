/* docs/craft.md and docs/craft-cube.md: every snippet compiles and is spelled canonically, the
 * grammar section is docs/craft.grammar, the table of codes is that of the program. */
#include "tests/craft/help.h"

#include "ir/prove.h"
#include "ir/run.h"
#include "tests/t.h"
#include <stdio.h>
#include <string.h>

/* The text between a line `from` and the next line "```"; moves *rest behind it. */
static bool next_block(Str *rest, Str from, Str *block)
{
    ptrdiff_t at = str_find(*rest, from);
    if (at < 0)
        return false;
    *rest = str_slice(*rest, (size_t)at + from.len, rest->len);
    ptrdiff_t end = str_find(*rest, STR("\n```"));
    *block = str_slice(*rest, 0, (size_t)end + 1);
    *rest = str_slice(*rest, (size_t)end, rest->len);
    return end >= 0;
}

static uint32_t check_snippets(const char *path)
{
    Arena arena = {0};
    Str rest = help_read(&arena, path), snippet;
    uint32_t n = 0;
    while (next_block(&rest, STR("\n```craft\n"), &snippet)) {
        const char *name = str_format(&arena, "%s snippet %u", path, ++n);
        help_builds(&arena, name, snippet);
        CHECK_EQ_STR(str_dup(&arena, help_format(&arena, snippet)), str_dup(&arena, snippet));
    }
    arena_drop(&arena);
    return n;
}

T_TEST(docs_snippets_compile)
{
    CHECK(check_snippets("docs/craft.md") >= 9);
    CHECK(check_snippets("docs/craft-cube.md") == 5);
}

T_TEST(docs_grammar_is_the_grammar_file)
{
    Arena arena = {0};
    Str rest = help_read(&arena, "docs/craft.md"), shown, line;
    REQUIRE(next_block(&rest, STR("\n```grammar\n"), &shown));
    Str file = help_read(&arena, "docs/craft.grammar");
    Buf rules = {0};
    while (str_next(&file, '\n', &line))
        if (line.len && line.at[0] != '#')
            buf_printf(&rules, "%.*s\n", STR_ARG(line));
    CHECK_EQ_STR(str_dup(&arena, shown), rules.at);
    buf_free(&rules);
    arena_drop(&arena);
}

T_TEST(docs_codes_are_the_program_s)
{
    Arena arena = {0};
    Str text = help_read(&arena, "docs/craft.md");
    for (const CraftCode *row = craft_codes; row->code; row++) {
        const char *line = str_format(&arena, "| %s | %s |\n", row->code, row->brief);
        CHECK_MSG(str_find(text, str_from(line)) >= 0, "section 15 lacks: %s", line);
    }
    for (int i = 0; i < IR_PROOF_COUNT; i++) {
        const char *codes = str_format(&arena, "| %s, %s |", ir_proof_rows[i].watch,
                                       ir_proof_rows[i].refuse);
        CHECK_MSG(str_find(text, str_from(codes)) >= 0, "section 15 lacks %s", codes);
    }
    for (int i = IR_PROOF_COUNT; i < IR_FAULT_COUNT; i++) {
        const char *code = str_format(&arena, "| %s |", ir_fault_rows[i].code);
        CHECK_MSG(str_find(text, str_from(code)) >= 0, "section 15 lacks %s", code);
    }
    arena_drop(&arena);
}

T_TEST(codes_are_unique_and_explained)
{
    for (const CraftCode *row = craft_codes; row->code; row++) {
        CHECK(craft_explain(str_from(row->code)) == row);
        CHECK_MSG(*row->text && *row->brief, "%s has no text", row->code);
    }
    CHECK(craft_explain(STR("E999")) == NULL);
}

/* ---- every code has a golden text ---- */

/* Codes that no file of tests/craft can show, and why. */
static const char *const not_golden[][2] = {
    {"E097", "sema refuses such a size first (E051)"},
    {"E098", "speaks of a directory: tests/emit"},
    {"E099", "speaks of the machine"},
    {"W105", "more combinations of choices than are tried"},
    {"W109", "always decided"},
    {"E113", "positions are data: E125 when it runs"},
    {"E114", "always watched: E122 when it runs"},
    {"E121", "sema goes through scratch: tests/ir"},
    {"E124", "sema refuses it first (E023): tests/ir"},
    {"E125", "needs data: tests/ir"},
    {"E127", "speaks of a run's limits: tests/ir"},
};

static void add_goldens(Arena *arena, const char *folder, Buf *all)
{
    static const char *const suffixes[] = {".err", ".host", ".init", ".compute", ".align"};
    NameList names = {0};
    Diag diag = diag_make(arena, folder, (Str){0});
    REQUIRE(file_list(arena, folder, &names, &diag));
    for (uint32_t i = 0; i < names.len; i++)
        for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; k++)
            if (str_ends(str_from(names.at[i]), suffixes[k]))
                buf_str(all, help_read(arena, path_join(arena, folder, names.at[i])));
}

static void check_golden(Str all, const char *code)
{
    char tag[16];
    snprintf(tag, sizeof tag, "[%s]", code);
    bool exempt = false, shown = str_find(all, str_from(tag)) >= 0;
    for (size_t i = 0; i < sizeof not_golden / sizeof *not_golden; i++)
        exempt |= strcmp(not_golden[i][0], code) == 0;
    CHECK_MSG(shown != exempt, "%s %s", code,
              exempt ? "has a golden text: take it off the list" : "has no golden text");
}

T_TEST(every_code_has_a_golden_text)
{
    Arena arena = {0};
    Buf all = {0};
    add_goldens(&arena, "tests/craft", &all);
    add_goldens(&arena, "tests/craft/err", &all);
    add_goldens(&arena, "tests/craft/proof", &all);
    add_goldens(&arena, "tests/craft/lower", &all);
    for (const CraftCode *row = craft_codes; row->code; row++)
        check_golden(buf_view(&all), row->code);
    for (int i = 0; i < IR_PROOF_COUNT; i++) {
        check_golden(buf_view(&all), ir_proof_rows[i].watch);
        check_golden(buf_view(&all), ir_proof_rows[i].refuse);
    }
    for (int i = IR_PROOF_COUNT; i < IR_FAULT_COUNT; i++)
        check_golden(buf_view(&all), ir_fault_rows[i].code);
    buf_free(&all);
    arena_drop(&arena);
}
