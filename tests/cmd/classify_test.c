/* acraft classify, and prompts for what has no graph. */
#include "cmd/cmd.h"
#include "tests/t.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* The command's status; what it prints goes nowhere. */
static int run(CmdFunction *command, char **argv, int argc)
{
    int nowhere = open("/dev/null", O_WRONLY), out = dup(1), err = dup(2);
    fflush(stdout);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    int status = command(argc, argv);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    close(nowhere);
    close(out);
    close(err);
    return status;
}

static int run_on(CmdFunction *command, const char *path, const char *option, const char *value)
{
    char *argv[] = {"command", (char *)path, (char *)option, (char *)value, NULL};
    return run(command, argv, option ? 4 : 2);
}

T_TEST(classify_says_none_by_its_status)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test", STR(""));
    const char *dir;
    REQUIRE(file_temp_dir(&arena, "acraft-test", &dir, &diag));
    const char *text = path_join(&arena, dir, "a.md"), *other = path_join(&arena, dir, "b.md");
    REQUIRE(file_write(text, STR("max pooling over windows"), &diag));
    REQUIRE(file_write(other, STR("\x01\xff 1 2 3"), &diag));
    CHECK_EQ_INT(run_on(cmd_classify, text, NULL, NULL), CMD_OK);
    CHECK_EQ_INT(run_on(cmd_classify, text, "--method", "bag"), CMD_OK);
    CHECK_EQ_INT(run_on(cmd_classify, other, NULL, NULL), CMD_NO);
    CHECK_EQ_INT(run_on(cmd_classify, text, "--method", "guess"), CMD_USAGE);
    CHECK_EQ_INT(run_on(cmd_classify, dir, NULL, NULL), CMD_USAGE);
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&arena);
}

T_TEST(prompt_shows_what_the_reader_refuses)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test", STR(""));
    const char *dir;
    REQUIRE(file_temp_dir(&arena, "acraft-test", &dir, &diag));
    const char *text = path_join(&arena, dir, "a.md"), *bad = path_join(&arena, dir, "b.py");
    REQUIRE(file_write(text, STR("max pooling over windows"), &diag));
    REQUIRE(file_write(bad, STR("class Model(: pool"), &diag));
    CHECK_EQ_INT(run_on(cmd_prompt, text, NULL, NULL), CMD_OK);
    CHECK_EQ_INT(run_on(cmd_prompt, bad, NULL, NULL), CMD_OK);
    CHECK_EQ_INT(run_on(cmd_prompt, bad, "--strategy", "rows"), CMD_USAGE);
    CHECK_EQ_INT(run_on(cmd_prompt, text, "--strategy", "npukb-kernel"), CMD_USAGE);
    CHECK_EQ_INT(run_on(cmd_prompt, text, "--case", "3"), CMD_USAGE);
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&arena);
}
