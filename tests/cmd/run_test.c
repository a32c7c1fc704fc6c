/* acraft run: which sizes a program is run at where none are asked for, tensors updated in place. */
#include "cmd/cmd.h"
#include "tests/t.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command's status; what it prints goes to `text`. */
static int run_quietly(Arena *arena, int argc, char **argv, Str *text)
{
    char path[] = "/tmp/acraft-run-XXXXXX";
    int file = mkstemp(path), out = dup(1), err = dup(2);
    REQUIRE(file >= 0);
    fflush(stdout);
    dup2(file, 1);
    dup2(file, 2);
    int status = cmd_run(argc, argv);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    Diag diag = diag_make(arena, path, (Str){0});
    REQUIRE(file_read(arena, path, 1 << 20, text, &diag));
    unlink(path);
    close(file), close(out), close(err);
    return status;
}

T_TEST(run_takes_the_tasks_own_size_where_the_program_takes_no_other)
{
    Arena arena = {0};
    Str text;
    char *argv[] = {"run",     "tests/cmd/run/own_size.craft",
                    "--task",  "tests/cmd/run/own_size.py",
                    "--scale", "small",
                    NULL};
    CHECK_EQ_INT(run_quietly(&arena, 4, argv, &text), CMD_OK);
    CHECK_MSG(str_find(text, STR("full: x f32[4,1500000]")) >= 0, "%.*s", STR_ARG(text));
    CHECK_EQ_INT(run_quietly(&arena, 6, argv, &text), CMD_NO);
    CHECK_MSG(str_find(text, STR("bad-tiling")) >= 0, "%.*s", STR_ARG(text));
    arena_drop(&arena);
}

/* A finding comes with its source line; a line of a file outside the candidate's directory, which `#line` can
 * name, does not. */
T_TEST(run_shows_the_source_lines_of_findings)
{
    static const char kernel[] = "#include \"kernel_operator.h\"\n"
                                 "using namespace AscendC;\n"
                                 "extern \"C\" __global__ __aicore__ void k(GM_ADDR x)\n"
                                 "{\n"
                                 "    TPipe pipe;\n"
                                 "    TBuf<TPosition::VECCALC> room;\n"
                                 "    pipe.InitBuffer(room, 256);\n"
                                 "    LocalTensor<float> a = room.Get<float>();\n"
                                 "    GlobalTensor<float> g;\n"
                                 "    g.SetGlobalBuffer((__gm__ float *)x, 64);\n"
                                 "%s"
                                 "    Adds(a, a, 1.0f, 64);\n"
                                 "    DataCopy(g, a, 64);\n"
                                 "}\n";
    Arena arena = {0};
    Str text;
    char dir[] = "/tmp/acraft-run-XXXXXX";
    REQUIRE(mkdtemp(dir) != NULL);
    Diag diag = diag_make(&arena, dir, (Str){0});
    char *path = str_dup(&arena, str_from(str_format(&arena, "%s/k.cpp", dir)));
    char *argv[] = {"run", path, "--inout", "x=f32[64]", NULL};
    REQUIRE(file_write(path, str_from(str_format(&arena, kernel, "")), &diag));
    CHECK_EQ_INT(run_quietly(&arena, 4, argv, &text), CMD_NO);
    CHECK_MSG(str_find(text, STR("   11 |     Adds(a, a, 1.0f, 64);\n      |     ^~~~")) >= 0,
              "%.*s", STR_ARG(text));
    REQUIRE(
        file_write(path, str_from(str_format(&arena, kernel, "#line 1 \"/etc/passwd\"\n")), &diag));
    CHECK_EQ_INT(run_quietly(&arena, 4, argv, &text), CMD_NO);
    CHECK_MSG(str_find(text, STR("root:")) < 0, "%.*s", STR_ARG(text));
    unlink(path), rmdir(dir);
    arena_drop(&arena);
}

T_TEST(run_writes_what_is_updated_in_place_where_out_says)
{
    Arena arena = {0};
    Str text, before, after;
    char dir[] = "/tmp/acraft-run-XXXXXX";
    float values[64], got[64];
    REQUIRE(mkdtemp(dir) != NULL);
    Diag diag = diag_make(&arena, dir, (Str){0});
    for (int i = 0; i < 64; i++)
        values[i] = (float)i - 20;
    Str bytes = {.at = (const char *)values, .len = sizeof values};
    char *from = str_dup(&arena, str_from(str_format(&arena, "%s/x.bin", dir)));
    char *to = str_dup(&arena, str_from(str_format(&arena, "%s/y.bin", dir)));
    char *inout = str_dup(&arena, str_from(str_format(&arena, "x=f32[64]@%s", from)));
    char *out = str_dup(&arena, str_from(str_format(&arena, "x=@%s", to)));
    REQUIRE(file_write(from, bytes, &diag));
    char *argv[] = {
        "run", "tests/cmd/run/scale_in_place.cpp", "--inout", inout, "--out", out, "-D", "FACTOR=3",
        NULL};
    CHECK_EQ_INT(run_quietly(&arena, 8, argv, &text), CMD_OK);
    CHECK(file_read(&arena, from, 4096, &before, &diag) && str_equal(before, bytes));
    REQUIRE(file_read(&arena, to, 4096, &after, &diag) && after.len == sizeof got);
    memcpy(got, after.at, sizeof got);
    for (int i = 0; i < 64; i++)
        CHECK_MSG(got[i] == 3 * values[i], "element %d is %g", i, (double)got[i]);
    unlink(from), unlink(to), rmdir(dir);
    arena_drop(&arena);
}

/* A kernel that has the file's sizes written in fails at smaller ones: what would tell is named. */
T_TEST(run_names_the_full_size_where_a_small_one_fails)
{
    Arena arena = {0};
    Str text;
    char *argv[] = {"run",     "examples/ascendc/axpy_faster.cpp",
                    "--task",  "examples/ascendc/axpy.py",
                    "--trust", "--scale",
                    "full",    NULL};
    CHECK_EQ_INT(run_quietly(&arena, 5, argv, &text), CMD_NO);
    CHECK(str_find(text, STR("[S007]")) >= 0 && str_find(text, STR(": --scale full")) >= 0);
    CHECK_EQ_INT(run_quietly(&arena, 7, argv, &text), CMD_OK);
    CHECK(str_find(text, STR(": --scale full")) < 0);
    arena_drop(&arena);
}

/* A tensor whose name is none of the kernel's is not bound in silence. */
T_TEST(run_warns_of_a_misspelt_tensor)
{
    static const char kernel[] =
        "#include \"kernel_operator.h\"\nusing namespace AscendC;\n"
        "extern \"C\" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR bias, GM_ADDR z)\n{\n"
        "    GlobalTensor<float> from, to;\n"
        "    from.SetGlobalBuffer((__gm__ float *)bias, 64);\n"
        "    to.SetGlobalBuffer((__gm__ float *)z, 64);\n"
        "    LocalTensor<float> a(TPosition::VECCALC, 0, 64);\n"
        "    DataCopy(a, from, 64);\n    PipeBarrier<PIPE_ALL>();\n    DataCopy(to, a, 64);\n}\n";
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", (Str){0});
    const char *dir;
    Str text;
    REQUIRE(file_temp_dir(&arena, "acraft-run-test", &dir, &diag));
    const char *path = path_join(&arena, dir, "k.cpp");
    REQUIRE(file_write(path, str_from(kernel), &diag));
    char *argv[] = {"run",          (char *)path, "--in",      "x=f32[64]", "--in",
                    "bais=f32[64]", "--out",      "z=f32[64]", "--trust",   NULL};
    CHECK_EQ_INT(run_quietly(&arena, 9, argv, &text), CMD_OK);
    CHECK(str_find(text, STR("no parameter 'bais': it is taken for 'bias', by its place [C014]")) >=
          0);
    argv[5] = "bias=f32[64]";
    CHECK_EQ_INT(run_quietly(&arena, 9, argv, &text), CMD_OK);
    CHECK(str_find(text, STR("C014")) < 0);
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
}

/* A kernel that computes is not said to compute nothing, outputs are named once, and without --blocks a task's kernel is
 * launched on every core, as the help says; a number by value comes with --attr. */
T_TEST(run_says_what_is_wrong_with_a_tasks_result)
{
    static const struct {
        const char *kernel, *blocks, *said;
    } golden[] = {
        {"scale_to_nothing", "48",
         "scale, full: x f32[6144] -> output0 f32[6144]\n"
         "first wrong value: output 0[0] is 0, should be 2.086469888687134\n"
         "not-computed (compare): output 0 is all zeros; the reference is not\n"},
        {"scale_too_far", "48",
         "scale, full: x f32[6144] -> output0 f32[6144]\n"
         "first wrong value: output 0[0] is 2.6080873012542725, should be 2.086469888687134\n"
         "wrong (compare): output 0: wrong: 6144 of 6144 elements, first [0] got 2.6080873 want "
         "2.08646989 (allowed 4.38e-06); max abs error 2.14, max rel error 0.25; looks like: too "
         "large by a factor of 1.25\n"},
        {"scale_by_cores", NULL, "scale, full: x f32[6144] -> output0 f32[6144]\nok"},
        {"scale_by_cores", "24",
         "scale, full: x f32[6144] -> output0 f32[6144]\n"
         "first wrong value: output 0[0] is 1.043234944343567, should be 2.086469888687134\n"
         "not-computed (compare): output 0 equals input 0; the reference does not\n"},
    };
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        Arena arena = {0};
        Str text;
        char *kernel = str_format(&arena, "tests/cmd/run/%s.cpp", golden[i].kernel);
        char *argv[] = {"run",
                        kernel,
                        "--task",
                        "tests/cmd/run/scale.py",
                        "--trust",
                        "--attr",
                        "n=6144",
                        "--scale",
                        "full",
                        golden[i].blocks ? "--blocks" : NULL,
                        (char *)golden[i].blocks,
                        NULL};
        run_quietly(&arena, golden[i].blocks ? 11 : 9, argv, &text);
        CHECK_MSG(str_find(text, str_from(golden[i].said)) >= 0, "%s: %.*s", kernel, STR_ARG(text));
        arena_drop(&arena);
    }
}
