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
    CHECK_EQ_INT(task(dir, "--same", other), CMD_NO);
    CHECK(file_remove_tree(dir, &diag) && file_remove_tree(other, &diag));
    arena_drop(&arena);
}
