/* acraft run --task: which sizes a program is run at where none are asked for. */
#include "cmd/cmd.h"
#include "tests/t.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command's status; what it prints on standard output goes to `text`. */
static int run_quietly(Arena *arena, int argc, char **argv, Str *text)
{
    char path[] = "/tmp/acraft-run-XXXXXX";
    int file = mkstemp(path), out = dup(1), err = dup(2), nowhere = open("/dev/null", O_WRONLY);
    REQUIRE(file >= 0);
    fflush(stdout);
    dup2(file, 1);
    dup2(nowhere, 2);
    int status = cmd_run(argc, argv);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    Diag diag = diag_make(arena, path, (Str){0});
    REQUIRE(file_read(arena, path, 1 << 20, text, &diag));
    unlink(path);
    close(file), close(out), close(err), close(nowhere);
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
