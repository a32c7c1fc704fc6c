/* acraft make: the same files twice and with any number of processes, one line of JSON for each case that was judged, and plain words
 * for a case that is not there. */
#include "cmd/cmd.h"
#include "tests/t.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 12 };

/* The command's status; what it prints on standard output goes to `text`. */
static int make(Arena *arena, const char *const *words, Str *text)
{
    char path[] = "/tmp/acraft-make-XXXXXX";
    char *argv[MOST_WORDS + 1] = {"make"};
    int argc = 1, file = mkstemp(path), out = dup(1), err = dup(2);
    int nowhere = open("/dev/null", O_WRONLY);
    for (; words[argc - 1] && argc < MOST_WORDS; argc++)
        argv[argc] = (char *)words[argc - 1];
    REQUIRE(file >= 0);
    fflush(stdout);
    dup2(file, 1);
    dup2(nowhere, 2);
    int status = cmd_make(argc, argv);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    Diag diag = diag_make(arena, path, (Str){0});
    REQUIRE(file_read(arena, path, 1 << 20, text, &diag));
    unlink(path);
    close(file), close(out), close(err), close(nowhere);
    return status;
}

static void check_same_trees(Arena *arena, const char *a, const char *b, uint32_t *files)
{
    Diag diag = diag_make(arena, a, (Str){0});
    NameList left, right;
    REQUIRE(file_list(arena, a, &left, &diag) && file_list(arena, b, &right, &diag));
    CHECK_EQ_INT(left.len, right.len);
    for (uint32_t i = 0; i < left.len && i < right.len; i++) {
        const char *from = path_join(arena, a, left.at[i]), *to = path_join(arena, b, right.at[i]);
        Str x, y;
        CHECK_EQ_STR(left.at[i], right.at[i]);
        if (file_is_dir(from)) {
            check_same_trees(arena, from, to, files);
            continue;
        }
        REQUIRE(file_read(arena, from, 0, &x, &diag) && file_read(arena, to, 0, &y, &diag));
        CHECK_MSG(str_equal(x, y), "%s differs", left.at[i]);
        ++*files;
    }
}

static bool holds(Arena *arena, const char *dir, const char *path, const char *part)
{
    Diag diag = diag_make(arena, path, (Str){0});
    Str text;
    return file_read(arena, path_join(arena, dir, path), 0, &text, &diag) &&
           str_find(text, str_from(part)) >= 0;
}

/* Everything that whoever gets the project needs: scripts, cases with results, a caller in C++, a
 * module, and what to do next. A file that is called like a type keeps it. */
T_TEST(make_hands_over_what_can_be_built)
{
    static const char model[] =
        "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
        "    def __init__(self, n):\n        super().__init__()\n"
        "        self.scale = nn.Parameter(torch.ones(n))\n"
        "    def forward(self, x):\n        return torch.relu(x) * self.scale\n"
        "N = 48\ndef get_inputs():\n    return [torch.randn(64, N)]\n"
        "def get_init_inputs():\n    return [N]\n";
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", (Str){0});
    const char *dir;
    Str said;
    REQUIRE(file_temp_dir(&arena, "acraft-make-test", &dir, &diag));
    const char *path = path_join(&arena, dir, "ReluScaleV2.py"), *out = path_join(&arena, dir, "o");
    REQUIRE(file_write(path, str_from(model), &diag));
    const char *words[] = {path, "-o", out, "--fuzz", "1", "--interp", "--trust", NULL};
    CHECK_EQ_INT(make(&arena, words, &said), CMD_OK);
    CHECK(holds(&arena, out, "op_host/relu_scale_v2.cpp", "OP_ADD(ReluScaleV2)"));
    CHECK(holds(&arena, out, "op_kernel/relu_scale_v2.cpp", "void relu_scale_v2("));
    CHECK(holds(&arena, out, "build.sh", "msopgen gen -i \"$here/relu_scale_v2.json\""));
    CHECK(holds(&arena, out, "board.sh", "$here/cases"));
    CHECK(holds(&arena, out, "example/main.cpp", "aclnnReluScaleV2GetWorkspaceSize("));
    CHECK(holds(&arena, out, "torch/module.py", "self.model.scale"));
    CHECK(holds(&arena, out, "README.md", "CANN 9.0.0"));
    CHECK(holds(&arena, out, "README.md", " is axis 0 of x (64), "));
    NameList stored = {0};
    REQUIRE(file_list(&arena, path_join(&arena, out, "cases/tiny"), &stored, &diag));
    CHECK_EQ_INT(stored.len, 3);
    for (uint32_t i = 0; i < stored.len; i++)
        CHECK(holds(&arena, path_join(&arena, out, "cases/tiny"), stored.at[i], "NUMPY"));
    const char *no_dir[] = {path, "--fuzz", "1", "--interp", "--trust", NULL};
    CHECK_EQ_INT(make(&arena, no_dir, &said), CMD_OK);
    CHECK(str_find(said, STR("written   nothing: -o DIR")) > 0);
    CHECK(str_find(said, STR("of what the tolerance allows")) > 0);
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
}

T_TEST(make_writes_the_same_files_twice)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", (Str){0});
    const char *dir, *made[2];
    uint32_t files = 0;
    Str said[2];
    REQUIRE(file_temp_dir(&arena, "acraft-make-test", &dir, &diag));
    for (int i = 0; i < 2; i++) {
        made[i] = path_join(&arena, dir, i ? "two" : "one");
        const char *words[] = {"tests/newcomer/operators/middle_rms.py",
                               "-o",
                               made[i],
                               "--fuzz",
                               "2",
                               "--trust",
                               "--seed",
                               "7",
                               NULL};
        CHECK_EQ_INT(make(&arena, words, &said[i]), CMD_OK);
    }
    check_same_trees(&arena, made[0], made[1], &files);
    CHECK_MSG(files > 10, "%u files", files);
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
}

T_TEST(make_takes_one_listed_case)
{
    Arena arena = {0};
    Str text;
    const char *file = "tasks/npukernelbench/level1/Math/Sqrt.py";
    const char *words[] = {file,     "--listed", "tiny",    "--case", "3",
                           "--json", "--strict", "--trust", NULL};
    CHECK_EQ_INT(make(&arena, words, &text), CMD_OK);
    CHECK_MSG(str_find(text, STR("\"case\": \"listed2\", \"status\": \"ok\"")) >= 0, "%.*s",
              STR_ARG(text));
    CHECK_EQ_INT(str_find(text, STR("\n")), (ptrdiff_t)text.len - 1);
    words[4] = "300000";
    CHECK_EQ_INT(make(&arena, words, &text), CMD_USAGE);
    arena_drop(&arena);
}

/* Lines of JSON without what differs from run to run. */
static const char *timeless(Arena *arena, Str text)
{
    Buf out = {0};
    Str line;
    while (str_next(&text, '\n', &line)) {
        ptrdiff_t at = str_find(line, STR(", \"seconds\""));
        buf_str(&out, str_slice(line, 0, at < 0 ? line.len : (size_t)at));
        buf_char(&out, '\n');
    }
    const char *copy = buf_take(&out, arena);
    buf_free(&out);
    return copy;
}

T_TEST(make_judges_a_list_alike_with_any_number_of_processes)
{
    Arena arena = {0};
    Str text[2];
    const char *words[] = {"tasks/npukernelbench/level1/Math/Sqrt.py",
                           "--listed",
                           "tiny",
                           "--interp",
                           "--json",
                           "-j",
                           "1",
                           NULL};
    CHECK_EQ_INT(make(&arena, words, &text[0]), CMD_OK);
    words[6] = "3";
    CHECK_EQ_INT(make(&arena, words, &text[1]), CMD_OK);
    CHECK(str_find(text[0], STR("\"inputs\": \"")) > 0);
    CHECK(str_find(text[0], STR("\"case\": \"listed1\"")) > 0);
    CHECK_EQ_STR(timeless(&arena, text[0]), timeless(&arena, text[1]));
    arena_drop(&arena);
}

static const char far_sine[] =
    "import torch\nimport torch.nn as nn\nROWS = 64\nCOLS = 100\nclass Model(nn.Module):\n"
    "    def forward(self, x, w):\n        return torch.sin(x * 3e8) * w\n"
    "def get_inputs():\n    return [torch.rand(ROWS, COLS), torch.rand(COLS)]\n"
    "def get_init_inputs():\n    return []\n";

/* The line that follows `head`. */
static Str rest_of(Str text, Str head)
{
    ptrdiff_t at = str_find(text, head);
    Str rest = str_slice(text, at < 0 ? text.len : (size_t)at + head.len, text.len), line = {0};
    str_next(&rest, '\n', &line);
    return line;
}

/* Angles that f32 does not resolve: every case is wrong. */
T_TEST(make_says_of_a_failing_case_its_sizes_and_how_to_repeat_it)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", (Str){0});
    const char *dir;
    Str all, one;
    REQUIRE(file_temp_dir(&arena, "acraft-make-test", &dir, &diag));
    const char *file = path_join(&arena, dir, "far sine.py");
    REQUIRE(file_write(file, str_from(far_sine), &diag));
    const char *words[] = {file, "--trust", "--fuzz", "2", NULL, NULL};
    CHECK_EQ_INT(make(&arena, words, &all), CMD_NO);
    Str again = rest_of(all, STR("\n            again: "));
    CHECK_MSG(str_find(again, STR(" --trust --case small")) > 0, "%.*s", STR_ARG(again));
    CHECK(str_find(again, STR("'")) > 0);
    CHECK_EQ_INT(str_find(rest_of(all, STR("inputs: ")), STR("x f32[64,100], w f32[100]")), 0);
    Str said = rest_of(all, STR("\n  fuzz1     "));
    CHECK_MSG(str_find(said, STR(" first [")) > 0 && str_find(said, STR(" got ")) > 0, "%.*s",
              STR_ARG(said));
    words[2] = "--case", words[3] = "fuzz1";
    CHECK_EQ_INT(make(&arena, words, &one), CMD_NO);
    CHECK(str_equal(rest_of(one, STR("\n  fuzz1     ")), said));
    CHECK(str_find(one, STR("--case small")) < 0);
    words[3] = "fuzz", words[4] = NULL;
    CHECK_EQ_INT(make(&arena, words, &one), CMD_USAGE);
    words[2] = "--listed", words[3] = "own";
    CHECK_EQ_INT(make(&arena, words, &one), CMD_USAGE);
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
}

/* A model may answer in AscendC: its text is kept as it came, with the report and the verdicts beside it. */
T_TEST(make_reports_on_an_answer_that_is_no_craft)
{
    static const char model[] = "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
                                "    def forward(self, x):\n        return torch.abs(x)\n"
                                "def get_inputs():\n    return [torch.randn(1024)]\n"
                                "def get_init_inputs():\n    return []\n";
    static const char answer[] =
        "#include \"kernel_operator.h\"\nusing namespace AscendC;\n"
        "extern \"C\" __global__ __aicore__ void absolute(GM_ADDR x, GM_ADDR y)\n{\n"
        "    GlobalTensor<float> from, to;\n"
        "    from.SetGlobalBuffer((__gm__ float *)x, 1024);\n"
        "    to.SetGlobalBuffer((__gm__ float *)y, 1024);\n"
        "    LocalTensor<float> a(TPosition::VECCALC, 0, 1024);\n"
        "    DataCopy(a, from, 1024);\n"
        "    PipeBarrier<PIPE_ALL>();\n    Abs(a, a, 1024);\n    PipeBarrier<PIPE_ALL>();\n"
        "    DataCopy(to, a, 1024);\n}\n";
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", (Str){0});
    const char *dir;
    Str said;
    REQUIRE(file_temp_dir(&arena, "acraft-make-test", &dir, &diag));
    const char *file = path_join(&arena, dir, "absolute.py"), *out = path_join(&arena, dir, "out");
    const char *text = path_join(&arena, dir, "answer.cpp");
    REQUIRE(file_write(file, str_from(model), &diag) && file_write(text, str_from(answer), &diag));
    const char *words[] = {file,       "--gen", str_format(&arena, "exec cat %s", text),
                           "--direct", "-n",    "1",
                           "-o",       out,     "--trust",
                           NULL};
    CHECK_EQ_INT(make(&arena, words, &said), CMD_OK);
    CHECK(holds(&arena, out, "report.html", "Right in all "));
    CHECK(holds(&arena, out, "verdicts.jsonl", "\"status\": \"ok\""));
    CHECK(str_find(said, STR("report.html, verdicts.jsonl")) >= 0);
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
}

/* The dtype in the summary and on the page is that of the inputs, which the file may choose itself. */
T_TEST(make_names_the_dtype_of_the_inputs)
{
    static const char model[] = "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
                                "    def forward(self, x):\n        return torch.abs(x)\n"
                                "def get_inputs():\n    return [torch.randn(64, 48)%s]\n"
                                "def get_init_inputs():\n    return []\n";
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", (Str){0});
    const char *dir;
    Str said;
    REQUIRE(file_temp_dir(&arena, "acraft-make-test", &dir, &diag));
    const char *file = path_join(&arena, dir, "absolute.py"), *out = path_join(&arena, dir, "out");
    const char *words[] = {file, "-o", out, "--fuzz", "1", "--interp", "--trust", NULL};
    REQUIRE(file_write(file, str_from(str_format(&arena, model, ".half()")), &diag));
    CHECK_EQ_INT(make(&arena, words, &said), CMD_OK);
    CHECK(str_starts(said, "absolute, f16: "));
    CHECK(holds(&arena, out, "report.html", "910B2 \302\267 f16 \302\267 "));
    const char *both[] = {file,     "-o", out,        "--dtype", "f32,f16",
                          "--fuzz", "1",  "--interp", "--trust", NULL};
    REQUIRE(file_write(file, str_from(str_format(&arena, model, "")), &diag));
    CHECK_EQ_INT(make(&arena, both, &said), CMD_OK);
    CHECK(str_starts(said, "absolute, f32: ") && str_find(said, STR("absolute, f16: ")) > 0);
    CHECK(holds(&arena, out, "report.html", ", those of f32 and f16 together"));
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
}
