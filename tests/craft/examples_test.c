/* Every program of examples/ and tests/craft: builds in every variant, is spelled canonically
 * (examples), reads back from its IR text, and is Python. */
#include "tests/craft/help.h"

#include "base/proc.h"
#include "tests/t.h"

static const char *const folders[] = {"examples", "tests/craft"};

static NameList craft_files(Arena *arena, const char *folder)
{
    NameList all = {0}, found = {0};
    Diag diag = diag_make(arena, folder, (Str){0});
    REQUIRE(file_list(arena, folder, &all, &diag));
    for (uint32_t i = 0; i < all.len; i++)
        if (str_ends(str_from(all.at[i]), ".craft"))
            vec_push(arena, &found, path_join(arena, folder, all.at[i]));
    return found;
}

T_TEST(examples_build)
{
    Arena arena = {0};
    for (int f = 0; f < 2; f++) {
        NameList files = craft_files(&arena, folders[f]);
        CHECK(files.len >= (f == 0 ? 40 : 20));
        for (uint32_t i = 0; i < files.len; i++)
            help_builds(&arena, files.at[i], help_read(&arena, files.at[i]));
    }
    arena_drop(&arena);
}

T_TEST(examples_are_canonical)
{
    Arena arena = {0};
    NameList files = craft_files(&arena, "examples");
    for (uint32_t i = 0; i < files.len; i++) {
        Str text = help_read(&arena, files.at[i]);
        CHECK_EQ_STR(str_dup(&arena, help_format(&arena, text)), str_dup(&arena, text));
    }
    arena_drop(&arena);
}

static void check_round_trip(Arena *arena, const char *path)
{
    Str text = help_read(arena, path);
    Diag diag = diag_make(arena, path, text);
    CraftFile *file = craft_read(arena, path, text, &diag);
    IrProgram *p = file ? craft_program(arena, file, 0, &diag) : NULL;
    if (!p)
        return;
    Buf first = {0}, again = {0};
    ir_print(p, &first);
    Diag reread = diag_make(arena, path, buf_view(&first));
    IrProgram *q = ir_parse(arena, path, buf_view(&first), &reread);
    CHECK_MSG(q != NULL, "%s: its IR text does not read back", path);
    if (q) {
        ir_print(q, &again);
        CHECK_EQ_STR(again.at, first.at);
    }
    buf_free(&first);
    buf_free(&again);
}

T_TEST(examples_read_back_from_ir)
{
    Arena arena = {0};
    for (int f = 0; f < 2; f++) {
        NameList files = craft_files(&arena, folders[f]);
        for (uint32_t i = 0; i < files.len; i++)
            check_round_trip(&arena, files.at[i]);
    }
    arena_drop(&arena);
}

T_TEST(examples_are_python)
{
    Arena arena = {0};
    const char *python = proc_find(&arena, "python3");
    if (!python)
        t_skip("no python3");
    VEC(const char *) argv = {0};
    vec_push(&arena, &argv, python);
    vec_push(&arena, &argv, "-c");
    vec_push(
        &arena, &argv,
        "import ast, sys\nfor f in sys.argv[1:]: ast.parse(open(f, encoding='utf-8').read(), f)");
    for (int f = 0; f < 2; f++) {
        NameList files = craft_files(&arena, folders[f]);
        for (uint32_t i = 0; i < files.len; i++)
            vec_push(&arena, &argv, files.at[i]);
    }
    vec_push(&arena, &argv, NULL);
    ProcResult result;
    Diag diag = diag_make(&arena, "python3", (Str){0});
    REQUIRE(proc_run(&arena, &(ProcSpec){.argv = argv.at, .seconds = 50}, &result, &diag));
    CHECK_MSG(result.end == PROC_EXITED && result.status == 0, "%.*s", STR_ARG(result.err));
    arena_drop(&arena);
}
