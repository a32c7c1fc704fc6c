/* acraft plan: candidates for people and for programs, a schedule of one's own, and what is refused. */
#include "cmd/cmd.h"
#include "tests/t.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char model[] = "import torch\n"
                            "import torch.nn as nn\n"
                            "class Model(nn.Module):\n"
                            "    def forward(self, x):\n"
                            "        return x - x.amax(-1, keepdim=True)\n"
                            "def get_inputs():\n"
                            "    return [torch.randn(96, 200)]\n"
                            "def get_init_inputs():\n"
                            "    return []\n";

typedef struct Place {
    Arena arena;
    char dir[32];
    const char *model, *schedule;
} Place;

static void put_file(const char *path, const char *text)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, (Str){0});
    REQUIRE(file_write(path, str_from(text), &diag));
    arena_drop(&arena);
}

static void open_place(Place *p)
{
    *p = (Place){.dir = "/tmp/acraft-plan-XXXXXX"};
    REQUIRE(mkdtemp(p->dir) != NULL);
    p->model = path_join(&p->arena, p->dir, "shifted.py");
    p->schedule = path_join(&p->arena, p->dir, "own.schedule");
    put_file(p->model, model);
}

static void close_place(Place *p)
{
    unlink(p->model);
    unlink(p->schedule);
    rmdir(p->dir);
    arena_drop(&p->arena);
}

/* The status of a command; both outputs go to `text`. */
static int run_command(Place *p, CmdFunction *command, const char *const *words, Str *text)
{
    char path[] = "/tmp/acraft-plan-out-XXXXXX";
    char *argv[12] = {"plan"};
    int argc = 1, file = mkstemp(path), out = dup(1), err = dup(2);
    for (; words[argc - 1] && argc < 11; argc++)
        argv[argc] = (char *)words[argc - 1];
    REQUIRE(file >= 0);
    fflush(stdout);
    dup2(file, 1);
    dup2(file, 2);
    int status = command(argc, argv);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    Diag diag = diag_make(&p->arena, path, (Str){0});
    REQUIRE(file_read(&p->arena, path, 1 << 20, text, &diag));
    unlink(path);
    close(file), close(out), close(err);
    return status;
}

static bool has(Str text, const char *part) { return str_find(text, str_from(part)) >= 0; }

T_TEST(plan_shows_candidates_and_takes_one_back)
{
    Place p;
    Str text, again;
    open_place(&p);
    const char *first[] = {p.model, "--most", "2", "--nest", "-o", p.schedule, NULL};
    CHECK_EQ_INT(run_command(&p, cmd_plan, first, &text), CMD_OK);
    CHECK(has(text, "attainable ") && has(text, "bound ") && has(text, ", taken: ") &&
          has(text, "from L2 "));
    CHECK(has(text, "reduce max over a2") && has(text, "why: ") && has(text, "band y0: "));
    CHECK(has(text, "  x0: x f32[96,200]; a1 is axis 0, a2 is axis 1\n"));
    CHECK(has(text, "  y0: what forward returns f32[96,200]; a1 is axis 0, a2 is axis 1\n"));
    const char *own[] = {p.model, "--most", "2", "--json", "--schedule", p.schedule, NULL};
    CHECK_EQ_INT(run_command(&p, cmd_plan, own, &text), CMD_OK);
    CHECK(has(text, "\"own\": {\"by\": \"nest\"") && has(text, "\"low_us\": "));
    CHECK(has(text, "\"ub_bytes\": ") && has(text, "\"candidates\": [{"));
    CHECK(has(text, "\"within_error\": ") && !has(text, "\"within_error\": 0"));
    const char *brief[] = {p.model, "--brief", NULL};
    CHECK_EQ_INT(run_command(&p, cmd_plan, brief, &text), CMD_OK);
    CHECK_EQ_INT(run_command(&p, cmd_plan, brief, &again), CMD_OK);
    CHECK(str_equal(text, again) && has(text, "taken by ") && has(text, "axes a1=96 a2=200\n"));
    close_place(&p);
}

T_TEST(plan_and_make_refuse_an_illegal_schedule)
{
    Place p;
    Str text;
    open_place(&p);
    const char *plan[] = {p.model, "--schedule", p.schedule, NULL};
    const char *make[] = {p.model, "--plan", "--schedule", p.schedule, NULL};
    CHECK_EQ_INT(run_command(&p, cmd_plan, plan, &text), CMD_USAGE);
    put_file(p.schedule, "kernel\nband y0: cores a2; rows a1 by 4\n");
    CHECK_EQ_INT(run_command(&p, cmd_plan, plan, &text), CMD_USAGE);
    CHECK(has(text, "own.schedule:2:16: error: a2: it is reduced"));
    CHECK_EQ_INT(run_command(&p, cmd_make, make, &text), CMD_USAGE);
    CHECK(has(text, "own.schedule:2:16: error: a2: it is reduced"));
    put_file(p.schedule, "kernel\nband y0: rows a1 by 3; lanes a2 whole, at most 200\n");
    CHECK_EQ_INT(run_command(&p, cmd_make, make, &text), CMD_OK);
    CHECK(has(text, "# band y0: cores; rows a1 by 3; lanes a2 whole, at most 200\n"));
    close_place(&p);
}
