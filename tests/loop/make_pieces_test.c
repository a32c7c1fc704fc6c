/* Work in pieces over processes: every piece once, the caller's memory untouched, a worker that dies
 * costs its piece only; and a kernel made by one process is the one made by two. */
#include "loop/pieces.h"

#include "base/file.h"
#include "loop/make.h"
#include "tests/t.h"
#include <math.h>
#include <signal.h>
#include <unistd.h>

enum { PIECES = 23, SPOILT = 7, LAST = 15 };

typedef struct Sum {
    uint32_t done;          /* by this process */
    uint32_t taken[PIECES]; /* how often, and */
    int answer[PIECES];
    uint32_t died, end; /* end: none is wanted from there on */
    bool spoil;
} Sum;

static bool wanted(void *context, uint32_t piece) { return piece < ((Sum *)context)->end; }

static void work(void *context, uint32_t piece, Buf *answer)
{
    Sum *s = context;
    s->done++;
    if (s->spoil && piece == SPOILT)
        kill(getpid(), SIGKILL);
    buf_printf(answer, "%u", piece * piece);
}

static void take_piece(void *context, uint32_t piece, Str answer, const char *died)
{
    Sum *s = context;
    int64_t value = -1;
    s->taken[piece]++;
    s->died += died != NULL;
    s->answer[piece] = str_to_i64(answer, &value) ? (int)value : -1;
}

static Sum summed(uint32_t jobs, uint32_t end, bool spoil)
{
    Sum s = {.end = end, .spoil = spoil};
    pieces_do(&(Pieces){PIECES, jobs, wanted, work, take_piece, &s});
    return s;
}

T_TEST(pieces_are_done_once_each)
{
    for (uint32_t jobs = 0; jobs <= 4; jobs++) {
        Sum s = summed(jobs, PIECES, false);
        for (uint32_t i = 0; i < PIECES; i++) {
            CHECK_EQ_INT(s.taken[i], 1);
            CHECK_EQ_INT(s.answer[i], (int)(i * i));
        }
        CHECK_EQ_INT(s.done, jobs > 1 ? 0 : PIECES);
        CHECK_EQ_INT(s.died, 0);
    }
}

T_TEST(pieces_not_wanted_are_left_out)
{
    for (uint32_t jobs = 1; jobs <= 2; jobs++) {
        Sum s = summed(jobs, LAST, false);
        for (uint32_t i = 0; i < PIECES; i++)
            CHECK_EQ_INT(s.taken[i], i < LAST);
    }
}

T_TEST(pieces_outlive_a_worker)
{
    Sum s = summed(2, PIECES, true);
    CHECK_EQ_INT(s.died, 1);
    for (uint32_t i = 0; i < PIECES; i++)
        CHECK_EQ_INT(s.answer[i], i == SPOILT ? -1 : (int)(i * i));
}

/* ---- make ---- */

static void print_made(const char *source, EvalEngine engine, uint32_t jobs, Buf *out)
{
    Arena arena = {0};
    Buf trace = {0};
    MakeSpec spec = {.path = "twice.py",
                     .source = str_from(source),
                     .chip = npu_chip_find(STR("910B2")),
                     .fuzz = 3,
                     .full = engine == EVAL_TWIN,
                     .engine = engine,
                     .trace = engine == EVAL_TWIN ? &trace : NULL,
                     .jobs = jobs};
    Diag diag = diag_make(&arena, spec.path, spec.source);
    MakeResult made;
    bool ok = make_kernel(&arena, &spec, &made, &diag);
    buf_printf(out, "ok %d of %u, %u other plans, %u with small tiles, %u errors\n%s\n", ok,
               made.ok, made.other_plans, made.small_tiles, diag.items.len, made.rule_text);
    buf_str(out, made.plan.craft);
    for (uint32_t i = 0; i < made.verdicts.len; i++) {
        made.verdicts.at[i].seconds = (double)NAN;
        buf_char(out, '\n');
        verdict_to_json(&made.verdicts.at[i], out);
    }
    diag_print(&diag, out);
    buf_str(out, buf_view(&trace));
    buf_free(&trace);
    arena_drop(&arena);
}

static void compare_jobs(const char *source, EvalEngine engine, const char *must_say)
{
    Buf one = {0}, two = {0};
    print_made(source, engine, 1, &one);
    print_made(source, engine, 2, &two);
    CHECK(str_equal(buf_view(&one), buf_view(&two)));
    CHECK_MSG(str_find(buf_view(&one), str_from(must_say)) >= 0, "%s", one.at);
    buf_free(&one);
    buf_free(&two);
}

T_TEST(make_is_the_same_with_two_processes)
{
    compare_jobs("import torch\nimport torch.nn as nn\nROWS = 512\nCOLS = 9000\n"
                 "class Model(nn.Module):\n"
                 "    def forward(self, x):\n        return torch.softmax(x * 2, dim=1)\n"
                 "def get_inputs():\n    return [torch.rand(ROWS, COLS)]\n"
                 "def get_init_inputs():\n    return []\n",
                 EVAL_TWIN, "ok 1 of 5");
}

/* What the caller's own evaluation leaves behind (threads) must not stop a worker's. */
T_TEST(make_is_the_same_on_the_interpreter)
{
    compare_jobs("import torch\nimport torch.nn as nn\nROWS = 4096\nCOLS = 3000\n"
                 "class Model(nn.Module):\n"
                 "    def forward(self, x, y):\n        return torch.cumsum(x, dim=1) + y\n"
                 "def get_inputs():\n    return [torch.rand(ROWS, COLS), torch.rand(COLS)]\n"
                 "def get_init_inputs():\n    return []\n",
                 EVAL_INTERP, "ok 1 of 4");
}
