/* Programs with their own main, without a task: files, headers, templates, prints, exit status. */
#include "eval/program.h"
#include "base/file.h"
#include "base/temp.h"
#include "eval/candidate_int.h"
#include "tests/t.h"
#include <string.h>

enum { COUNT = 1024 };

typedef struct Ran {
    Arena arena;
    TempDir dir;
    EvalProgram program;
    Verdict verdict;
    Diag diag;
} Ran;

static void begin(Ran *r)
{
    *r = (Ran){.verdict = verdict_make()};
    r->diag = diag_make(&r->arena, "program", (Str){0});
    REQUIRE(temp_dir_make(&r->arena, "acraft-program-test", &r->dir, &r->diag));
}

static void run_program_at(Ran *r, const char *path, uint32_t texts, const char *input,
                           const char *wanted, int noise)
{
    float x[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i;
    REQUIRE(file_write(path_join(&r->arena, r->dir.path, "x.bin"), (Str){(char *)x, sizeof x},
                       &r->diag));
    NameList defines = {0};
    vec_push(&r->arena, &defines, str_format(&r->arena, "INPUT=\"%s\"", input));
    vec_push(&r->arena, &defines, str_format(&r->arena, "WANTED=%s", wanted));
    vec_push(&r->arena, &defines, str_format(&r->arena, "NOISE=%d", noise));
    NameList args = {0};
    vec_push(&r->arena, &args, "word");
    r->program.args = &args;
    EvalCandidate c;
    EvalConfig config = {.chip = npu_chip_find(STR("910B2"))};
    REQUIRE(eval_program_read(&r->arena, path, &defines, NULL, &c, &r->diag));
    CHECK_EQ_INT(c.texts.len, texts);
    CHECK(eval_is_program(&c));
    r->program.files = r->dir.path;
    eval_program(&r->arena, &c, &config, &r->program, &r->verdict, &r->diag);
}

static void run_program(Ran *r, const char *input, const char *wanted, int noise)
{
    begin(r);
    run_program_at(r, "tests/eval/program_scale.asc", 3, input, wanted, noise);
}

static void done(Ran *r)
{
    temp_dir_remove(&r->dir, &r->diag);
    arena_drop(&r->arena);
}

T_TEST(program_reads_launches_and_writes)
{
    Ran r;
    Str y;
    run_program(&r, "./x.bin", "3.0f", 0);
    CHECK_MSG(r.verdict.status == VERDICT_OK, "%s", r.verdict.reason);
    CHECK_EQ_SLICE(r.program.by_main, "test pass!\n");
    CHECK_EQ_INT(r.program.launches, 1);
    CHECK(r.verdict.predicted_us > 0);
    REQUIRE(r.program.written.len == 1);
    REQUIRE(file_read(&r.arena, r.program.written.at[0], 0, &y, &r.diag));
    REQUIRE(y.len == COUNT * sizeof(float));
    for (int i = 0; i < COUNT; i++) {
        float got;
        memcpy(&got, y.at + (size_t)i * sizeof got, sizeof got);
        CHECK(got == 3.0f * (float)i);
    }
    done(&r);
}

/* The vendor's samples bring a data_utils.h that opens files, which the box has not: the tool's two functions stand in. */
T_TEST(program_with_a_data_utils_of_its_own)
{
    static const char *const files[] = {"program_scale.asc", "program_scale.h",
                                        "program_scale_3510.h"};
    static const char own[] =
        "#include <fstream>\n#include <string>\n"
        "bool ReadFile(const std::string &path, size_t &size, void *buffer, size_t most)\n"
        "{\n    std::ifstream file(path);\n    return false;\n}\n"
        "bool WriteFile(const std::string &path, const void *buffer, size_t size)\n"
        "{\n    return false;\n}\n";
    Ran r;
    Str text;
    begin(&r);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        REQUIRE(file_read(&r.arena, str_format(&r.arena, "tests/eval/%s", files[i]), 0, &text,
                          &r.diag));
        REQUIRE(file_write(path_join(&r.arena, r.dir.path, files[i]), text, &r.diag));
    }
    REQUIRE(file_write(path_join(&r.arena, r.dir.path, "data_utils.h"), str_from(own), &r.diag));
    run_program_at(&r, path_join(&r.arena, r.dir.path, "program_scale.asc"), 4, "./x.bin", "3.0f",
                   0);
    CHECK_MSG(r.verdict.status == VERDICT_OK, "%s", r.verdict.reason);
    CHECK_EQ_SLICE(r.program.by_main, "test pass!\n");
    done(&r);
}

/* Headers come from -I too; of two with one name the one is taken that the path names. */
T_TEST(program_headers_by_include_directories)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    TempDir dir;
    REQUIRE(temp_dir_make(&arena, "acraft-include", &dir, &diag));
    static const char *const files[][2] = {
        {"main.asc",
         "#include \"a/copy.h\"\n#include \"b/copy.h\"\nint main() { k<<<1, 0, 0>>>(); }\n"},
        {"lib/a/copy.h", "#include \"size.h\"\nint in_a;\n"},
        {"lib/b/copy.h", "#include \"size.h\"\nint in_b;\n"},
        {"lib/a/size.h", "int size_a;\n"},
        {"lib/b/size.h", "int size_b;\n"}};
    REQUIRE(file_make_dirs(path_join(&arena, dir.path, "lib/a"), &diag) &&
            file_make_dirs(path_join(&arena, dir.path, "lib/b"), &diag));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        REQUIRE(file_write(path_join(&arena, dir.path, files[i][0]), str_from(files[i][1]), &diag));
    NameList defines = {0}, dirs = {0};
    EvalCandidate c;
    vec_push(&arena, &dirs, path_join(&arena, dir.path, "lib"));
    REQUIRE(eval_program_read(&arena, path_join(&arena, dir.path, "main.asc"), &defines, &dirs, &c,
                              &diag));
    CHECK_EQ_INT(c.texts.len, 5);
    CHECK(eval_is_program(&c));
    Str text = eval_include(&arena, &c, &c.texts.at[0]);
    ptrdiff_t at[4] = {str_find(text, STR("int size_a;")), str_find(text, STR("int in_a;")),
                       str_find(text, STR("int size_b;")), str_find(text, STR("int in_b;"))};
    CHECK(at[0] >= 0 && at[0] < at[1] && at[1] < at[2] && at[2] < at[3]);
    temp_dir_remove(&dir, &diag);
    arena_drop(&arena);
}

T_TEST(program_draws_the_same_each_time)
{
    Ran r;
    run_program(&r, "x.bin", "3.0f", 1);
    CHECK_MSG(r.verdict.status == VERDICT_OK, "%s", r.verdict.reason);
    done(&r);
}

T_TEST(program_that_finds_itself_wrong)
{
    Ran r;
    run_program(&r, "x.bin", "4.0f", 0);
    CHECK_EQ_INT(r.verdict.status, VERDICT_WRONG);
    CHECK_EQ_STR(r.verdict.reason, "the program ends with 1, not 0");
    CHECK_EQ_SLICE(r.program.by_main, "y[1] is 3\n");
    CHECK_EQ_INT(r.program.written.len, 0);
    done(&r);
}

T_TEST(program_errors_stand_on_their_line)
{
    Ran r;
    run_program(&r, "x.bin", "nowhere", 0);
    CHECK_EQ_INT(r.verdict.status, VERDICT_NOT_COMPILED);
    CHECK_MSG(strstr(r.verdict.reason, "program_scale.asc:66:"), "%s", r.verdict.reason);
    done(&r);
}

T_TEST(program_files_stay_below_their_directory)
{
    static const char *const outside[] = {"../x.bin", "/etc/hostname", "a/../../x.bin"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        Ran r;
        run_program(&r, outside[i], "3.0f", 0);
        CHECK_EQ_INT(r.verdict.status, VERDICT_CRASHED);
        CHECK(strstr(r.verdict.reason, "only files below the directory"));
        done(&r);
    }
    Ran r;
    run_program(&r, "y.bin", "3.0f", 0);
    CHECK_EQ_INT(r.verdict.status, VERDICT_CRASHED);
    CHECK(strstr(r.verdict.reason, "No such file"));
    done(&r);
}

/* Kernels, host tiling and the ACL runtime in one file; main checks the values itself. */
T_TEST(program_with_matmul_and_its_tiling)
{
    Ran r = {.verdict = verdict_make()};
    r.diag = diag_make(&r.arena, "program", (Str){0});
    EvalCandidate c;
    EvalConfig config = {.chip = npu_chip_find(STR("910B2"))};
    NameList defines = {0};
    REQUIRE(
        eval_program_read(&r.arena, "tests/eval/program_matmul.asc", &defines, NULL, &c, &r.diag));
    eval_program(&r.arena, &c, &config, &r.program, &r.verdict, &r.diag);
    CHECK_MSG(r.verdict.status == VERDICT_OK, "%s", r.verdict.reason);
    CHECK_EQ_SLICE(r.program.by_main, "test pass!\n");
    CHECK_EQ_INT(r.program.launches, 2);
    arena_drop(&r.arena);
}

static void run_sizes(Ran *r, const char *define)
{
    *r = (Ran){.verdict = verdict_make()};
    r->diag = diag_make(&r->arena, "program", (Str){0});
    REQUIRE(temp_dir_make(&r->arena, "acraft-program-test", &r->dir, &r->diag));
    NameList defines = {0};
    if (define)
        vec_push(&r->arena, &defines, define);
    EvalCandidate c;
    EvalConfig config = {.chip = npu_chip_find(STR("910B2"))};
    REQUIRE(
        eval_program_read(&r->arena, "tests/eval/program_sizes.asc", &defines, NULL, &c, &r->diag));
    r->program.files = r->dir.path;
    eval_program(&r->arena, &c, &config, &r->program, &r->verdict, &r->diag);
}

T_TEST(program_asks_for_scratch_and_tilings)
{
    Ran r;
    run_sizes(&r, NULL);
    CHECK_MSG(r.verdict.status == VERDICT_OK, "%s", r.verdict.reason);
    CHECK_EQ_SLICE(r.program.by_main, "45 45, 0 differ, alike\n");
    done(&r);
}

T_TEST(program_whose_kernel_uses_what_a_constructor_sets)
{
    Ran r;
    run_sizes(&r, "READS");
    CHECK_EQ_INT(r.verdict.status, VERDICT_NOT_COMPILED);
    CHECK(strstr(r.verdict.reason, "which does not exist on the device"));
    done(&r);
}
