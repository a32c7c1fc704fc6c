/* acraft task --check compares every output; --same pairs files. */
#include "cmd/cmd.h"
#include "base/file.h"
#include "tests/t.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char model[] = "import torch\n"
                            "class Model(torch.nn.Module):\n"
                            "    def forward(self, x):\n"
                            "        return x + 1, x * 2\n"
                            "def get_inputs():\n"
                            "    return [torch.rand(4, 5)]\n";

/* The command's status; what it prints goes nowhere. */
static int task(const char *path, const char *option, const char *value)
{
    char *argv[] = {"task", (char *)path, "--run", (char *)option, (char *)value, NULL};
    int nowhere = open("/dev/null", O_WRONLY), out = dup(1), err = dup(2);
    fflush(stdout);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    int status = cmd_task(5, argv);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    close(nowhere);
    close(out);
    close(err);
    return status;
}

T_TEST(check_compares_every_output)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test", (Str){0});
    const char *dir;
    REQUIRE(file_temp_dir(&arena, "acraft-test", &dir, &diag));
    const char *path = path_join(&arena, dir, "pair.py"), *out = path_join(&arena, dir, "out"),
               *one = path_join(&arena, dir, "y.npy");
    REQUIRE(file_write(path, str_from(model), &diag));
    CHECK_EQ_INT(task(path, "-o", out), CMD_OK);
    CHECK_EQ_INT(task(path, "-o", one), CMD_OK);
    CHECK_EQ_INT(task(path, "--check", out), CMD_OK);
    CHECK_EQ_INT(task(path, "--check", one), CMD_OK);
    Str first;
    REQUIRE(file_read(&arena, path_join(&arena, out, "outputs/0.npy"), 1 << 20, &first, &diag));
    REQUIRE(file_write(path_join(&arena, out, "outputs/1.npy"), first, &diag));
    CHECK_EQ_INT(task(path, "--check", out), CMD_NO);
    REQUIRE(remove(path_join(&arena, dir, "y.1.npy")) == 0);
    CHECK_EQ_INT(task(path, "--check", one), CMD_USAGE);
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&arena);
}

/* One side of a branch that values decide is no task. */
T_TEST(task_refuses_a_branch_on_values)
{
    static const char branch[] = "import torch\n"
                                 "class Model(torch.nn.Module):\n"
                                 "    def forward(self, x):\n"
                                 "        if x.sum() > 0:\n"
                                 "            return x * 2\n"
                                 "        return x * 3\n"
                                 "def get_inputs():\n"
                                 "    return [torch.rand(4, 5)]\n";
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test", (Str){0});
    const char *dir;
    REQUIRE(file_temp_dir(&arena, "acraft-test", &dir, &diag));
    const char *path = path_join(&arena, dir, "branch.py");
    REQUIRE(file_write(path, str_from(branch), &diag));
    CHECK_EQ_INT(task(path, "--scale", "full"), CMD_NO);
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&arena);
}

T_TEST(same_pairs_a_validation_module_by_its_directory)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test", (Str){0});
    const char *dir, *other;
    REQUIRE(file_temp_dir(&arena, "acraft-test", &dir, &diag));
    REQUIRE(file_temp_dir(&arena, "acraft-test", &other, &diag));
    const char *inside = path_join(&arena, other, "Pair/validation"),
               *module = path_join(&arena, inside, "module.py");
    REQUIRE(file_make_dirs(inside, &diag));
    REQUIRE(file_write(path_join(&arena, dir, "Pair.py"), str_from(model), &diag));
    REQUIRE(file_write(module, str_from(model), &diag));
    CHECK_EQ_INT(task(dir, "--same", other), CMD_OK);
    Str drawn = str_from(
        str_format(&arena, "%.*srandn(4, 5)]\n", (int)(strstr(model, "rand") - model), model));
    REQUIRE(file_write(module, drawn, &diag));
    CHECK_EQ_INT(task(dir, "--same", other), CMD_OK);
    CHECK(file_remove_tree(dir, &diag) && file_remove_tree(other, &diag));
    arena_drop(&arena);
}

/* The status of --same for forward(x, y, w, a) and another forward. */
static int same(const char *ours, const char *arguments, const char *theirs)
{
    static const char before[] = "import torch\nclass Model(torch.nn.Module):\n"
                                 "    def __init__(self):\n        super().__init__()\n"
                                 "        self.w = torch.nn.Parameter(torch.ones(5))\n"
                                 "    def forward(self, ";
    static const char draw[] = "def get_inputs():\n"
                               "    x, y, w = torch.rand(4, 5), torch.rand(4, 5), torch.rand(5)\n"
                               "    a, b = torch.rand(1), torch.tensor(2.0)\n";
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test", (Str){0});
    const char *dir;
    if (!file_temp_dir(&arena, "acraft-test", &dir, &diag))
        return -1;
    const char *a = path_join(&arena, dir, "a.py"), *b = path_join(&arena, dir, "b.py"),
               *form = "%s%s):\n        return %s\n%s    return [%s]\n";
    bool wrote =
        file_write(
            a, str_from(str_format(&arena, form, before, "x, y, w, a", ours, draw, "x, y, w, a")),
            &diag) &&
        file_write(b,
                   str_from(str_format(&arena, form, before, arguments, theirs, draw, arguments)),
                   &diag);
    int status = wrote ? task(a, "--same", b) : -1;
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
    return status;
}

T_TEST(same_looks_through_how_operands_are_held)
{
    CHECK_EQ_INT(same("x - y", "y, x", "x - y"), CMD_OK);
    CHECK_EQ_INT(same("x - y", "x, y", "y - x"), CMD_NO);
    CHECK_EQ_INT(same("x * w", "x", "x * self.w"), CMD_OK);
    CHECK_EQ_INT(same("x * w", "x", "x + self.w"), CMD_NO);
    CHECK_EQ_INT(same("x * a", "x, b", "x * b"), CMD_OK);
    CHECK_EQ_INT(same("(x * a).half()", "x, b", "x * b"), CMD_NO);
    CHECK_EQ_INT(same("x.half() * a", "x, b", "x.half() * b"), CMD_NO);
    CHECK_EQ_INT(same("x * 0.1", "x", "x * torch.tensor(0.1)"), CMD_OK);
    CHECK_EQ_INT(same("x * 0.1", "x", "x * torch.tensor(0.2)"), CMD_NO);
}

T_TEST(same_rewrites_what_is_exact)
{
    CHECK_EQ_INT(same("x - 2", "x", "x + -2.0"), CMD_OK);
    CHECK_EQ_INT(same("2 - x", "x", "x + -2.0"), CMD_NO);
    CHECK_EQ_INT(same("x", "x", "x * torch.ones(4, 1)"), CMD_OK);
    CHECK_EQ_INT(same("w", "x, w", "w * torch.ones(4, 1)"), CMD_NO);
    CHECK_EQ_INT(same("x.half().view(20)", "x", "x.view(20).half()"), CMD_OK);
    CHECK_EQ_INT(same("w", "x, w", "w[torch.arange(5)]"), CMD_OK);
    CHECK_EQ_INT(same("w", "x, w", "w[torch.arange(5) * 0]"), CMD_NO);
    CHECK_EQ_INT(same("x + (y + w)", "x, y, w", "(x + y) + w"), CMD_NO);
    CHECK_EQ_INT(same("torch.rsqrt(x)", "x", "1 / torch.sqrt(x)"), CMD_NO);
}
