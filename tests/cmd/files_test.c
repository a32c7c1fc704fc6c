/* What lies where a kernel should: pipes, links to everywhere, too few descriptors. Nothing is waited for,
 * nothing is called right or wrong for it. */
#include "cmd/cmd.h"

#include "base/file.h"
#include "tests/t.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Place {
    Arena arena;
    Diag diag;
    const char *dir;
    Str said; /* on both outputs */
} Place;

static void open_place(Place *p)
{
    *p = (Place){0};
    p->diag = diag_make(&p->arena, "", STR(""));
    REQUIRE(file_temp_dir(&p->arena, "acraft-files", &p->dir, &p->diag));
}

static void close_place(Place *p)
{
    CHECK(file_remove_tree(p->dir, &p->diag));
    arena_drop(&p->arena);
}

static const char *at(Place *p, const char *name) { return path_join(&p->arena, p->dir, name); }

static int call(Place *p, int (*command)(int, char **), char **argv)
{
    const char *path = at(p, "said.txt");
    int argc = 0, out = dup(1), err = dup(2), file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
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
    close(file), close(out), close(err);
    REQUIRE(file_read(&p->arena, path, 1 << 20, &p->said, &p->diag));
    return status;
}

static int run(Place *p, const char *path)
{
    char *argv[] = {"run", (char *)(uintptr_t)path, "--in", "x=f32[8]", "--trust", NULL};
    return call(p, cmd_run, argv);
}

T_TEST(files_pipes_are_not_read)
{
    Place p;
    open_place(&p);
    REQUIRE(mkfifo(at(&p, "pipe.cpp"), 0600) == 0);
    REQUIRE(mkfifo(at(&p, "pipe.h"), 0600) == 0);
    CHECK(run(&p, at(&p, "pipe.cpp")) != CMD_OK);
    REQUIRE(file_write(at(&p, "k.cpp"),
                       STR("#include \"kernel_operator.h\"\n#include \"pipe.h\"\n"
                           "extern \"C\" __global__ __aicore__ void k(GM_ADDR x) {}\n"),
                       &p.diag));
    CHECK_EQ_INT(run(&p, at(&p, "k.cpp")), CMD_NO);
    CHECK_MSG(str_find(p.said, STR("pipe or device")) >= 0, "%.*s", STR_ARG(p.said));
    close_place(&p);
}

/* A link to the root of the file system is none of the project's files. */
T_TEST(files_links_lead_nowhere)
{
    Place p;
    open_place(&p);
    REQUIRE(file_make_dirs(at(&p, "op_host"), &p.diag) &&
            file_make_dirs(at(&p, "op_kernel"), &p.diag));
    REQUIRE(symlink("/", at(&p, "op_kernel/root")) == 0);
    REQUIRE(symlink("/", at(&p, "op_host/root")) == 0);
    REQUIRE(symlink("/dev/zero", at(&p, "op_kernel/zero.h")) == 0);
    REQUIRE(file_write(at(&p, "op_host/k.cpp"), STR("int host_of_nothing;\n"), &p.diag) &&
            file_write(at(&p, "op_kernel/k.cpp"),
                       STR("#include \"kernel_operator.h\"\n"
                           "extern \"C\" __global__ __aicore__ void k(GM_ADDR x) {}\n"),
                       &p.diag));
    CHECK(run(&p, p.dir) != CMD_OK);
    CHECK_MSG(str_find(p.said, STR("/usr")) < 0 && p.said.len < 4096, "%.*s", STR_ARG(p.said));
    close_place(&p);
}

/* What this machine cannot do is said, with the status for that; nothing is stored as a verdict. */
T_TEST(files_few_descriptors)
{
    Place p;
    struct rlimit had, few;
    open_place(&p);
    const char *store = at(&p, "r.db");
    REQUIRE(file_write(at(&p, "square.txt"), STR("I cannot."), &p.diag));
    char *argv[] = {"bench",   "tests/bench/tasks",      "--answers", (char *)(uintptr_t)p.dir,
                    "--store", (char *)(uintptr_t)store, "--trust",   NULL};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &had) == 0);
    few = (struct rlimit){.rlim_cur = 32, .rlim_max = had.rlim_max};
    few.rlim_max = 32;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) { /* a limit that is lowered cannot be raised again by all */
        bool low = setrlimit(RLIMIT_NOFILE, &few) == 0;
        _exit(low && call(&p, cmd_bench, argv) == CMD_LACKS && !file_exists(store) ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close_place(&p);
}
