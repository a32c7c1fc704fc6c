/* acraft run of a directory that make wrote for another platform: its own texts at its own sizes. */
#include "cmd/cmd.h"
#include "tests/t.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int Command(int argc, char **argv);

/* The exit status; what is printed on both outputs goes to `text`. */
static int call(Arena *arena, Command *command, char **argv, Str *text)
{
    char path[] = "/tmp/acraft-platform-test-XXXXXX";
    int file = mkstemp(path), out = dup(1), err = dup(2), argc = 0;
    REQUIRE(file >= 0);
    while (argv[argc])
        argc++;
    fflush(stdout);
    dup2(file, 1);
    dup2(file, 2);
    int status = command(argc, argv);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    Diag diag = diag_make(arena, path, (Str){0});
    REQUIRE(file_read(arena, path, 1 << 20, text, &diag));
    unlink(path);
    close(file), close(out), close(err);
    return status;
}

static bool says(Str text, const char *what) { return str_find(text, str_from(what)) >= 0; }

T_TEST(run_takes_directories_of_other_platforms)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    const char *dir;
    Str text;
    REQUIRE(file_temp_dir(&arena, "acraft-platform-test", &dir, &diag));
    char *to = str_format(&arena, "%s/relu_cpu", dir);
    char model[] = "tasks/activation/relu.py";
    char *make[] = {"make",    model,  "--platform", "cpu", "-o", to,
                    "--scale", "tiny", "--dtype",    "f16", NULL};
    char *run[] = {"run", to, NULL}, *wrong[] = {"run", to, "--platform", "pallas", NULL};
    char *task[] = {"run", to, "--task", model, NULL};
    char *nowhere[] = {"run", (char *)(uintptr_t)dir, "--platform", "cpu", NULL};
    CHECK_EQ_INT(call(&arena, cmd_make, make, &text), CMD_OK);
    CHECK_EQ_INT(call(&arena, cmd_run, run, &text), CMD_OK);
    CHECK_MSG(says(text, "1 of 1 cases ok (own size)") && says(text, "measured"), "%.*s",
              STR_ARG(text));
    CHECK(call(&arena, cmd_run, wrong, &text) != CMD_OK);
    CHECK_EQ_INT(call(&arena, cmd_run, task, &text), CMD_USAGE);
    CHECK_EQ_INT(call(&arena, cmd_run, nowhere, &text), CMD_USAGE);
    CHECK_MSG(says(text, "acraft make MODEL.py --platform cpu -o DIR"), "%.*s", STR_ARG(text));
    REQUIRE(file_write(path_join(&arena, to, "platform.json"), STR("{}"), &diag));
    CHECK_EQ_INT(call(&arena, cmd_run, run, &text), CMD_USAGE);
    CHECK_MSG(says(text, "P101"), "%.*s", STR_ARG(text));
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&arena);
}
