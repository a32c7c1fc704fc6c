/* Tuning: the curve over a program's choices, and the program with the best ones first. */
#include "loop/tune.h"

#include "tests/t.h"
#include "torch/torch.h"

static const char program[] = "craft = 1\n\nn = dim(1, 1048576)\n\n@host\n"
                              "def twice(x: gm[f32, n], y: out[f32, n]):\n"
                              "    tile = choose(\"tile\", [256, 4096, 1024])\n"
                              "    double[chip.cores](x, y, tile)\n\n@kernel\n"
                              "def double(x: gm[f32, n], y: out[f32, n], tile: i32):\n"
                              "    a = ub(f32, tile, depth=2)\n"
                              "    for t in tiles(share(n, 128), tile):\n"
                              "        with copyin():\n            load(a[:t.size], x[t])\n"
                              "        with compute():\n"
                              "            a[:t.size] = a[:t.size] * 2.0\n"
                              "        with copyout():\n            store(y[t], a[:t.size])\n";

static const char model[] = "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
                            "    def forward(self, x):\n        return x * 2.0\n"
                            "def get_inputs():\n    return [torch.rand(1048576)]\n"
                            "def get_init_inputs():\n    return []\n";

static bool tuned_by(Arena *arena, uint32_t jobs, uint32_t budget, TuneResult *result)
{
    Diag diag = diag_make(arena, "twice.py", str_from(model));
    TorchOptions options = {0};
    TorchTask *task = torch_read(arena, "twice.py", str_from(model), &options, &diag);
    REQUIRE(task);
    const Graph *g = task->graph;
    const Shape flat = {.rank = 1, .dim = {1048576}};
    EvalOperand operands[] = {{.value = g->inputs.at[0], .shape = flat},
                              {.value = g->outputs.at[0], .shape = flat}};
    EvalCraft c = {
        .file = "twice.craft", .text = str_from(program), .operands = operands, .operand_count = 2};
    EvalConfig config = {.chip = npu_chip_find(STR("910B2")), .trust = true};
    TuneSpec spec = {
        .candidate = &c, .graph = g, .config = &config, .budget = budget, .jobs = jobs};
    Diag said = diag_make(arena, c.file, c.text);
    return tune_program(arena, &spec, result, &said);
}

static bool tuned(Arena *arena, uint32_t budget, TuneResult *result)
{
    return tuned_by(arena, 1, budget, result);
}

T_TEST(tune_finds_that_larger_copies_are_faster)
{
    Arena arena = {0};
    TuneResult r;
    REQUIRE(tuned(&arena, 0, &r));
    CHECK_EQ_INT(r.rows.len, 3);
    CHECK_EQ_INT(r.all, 3);
    CHECK(r.rows.at[0].us > r.rows.at[1].us);
    CHECK(r.best != 0);
    CHECK_EQ_STR(tune_text(&arena, &r.rows.at[1]), "tile = 4096");
    Str text = tune_apply(&arena, str_from(program), &r.rows.at[1]);
    CHECK(str_find(text, STR("choose(\"tile\", [4096, 256, 1024])")) > 0);
    CHECK_EQ_INT(text.len, sizeof program - 1);
    arena_drop(&arena);
}

T_TEST(tune_is_deterministic_and_keeps_its_budget)
{
    Arena arena = {0};
    TuneResult a, b;
    REQUIRE(tuned(&arena, 2, &a) && tuned(&arena, 2, &b));
    CHECK_EQ_INT(a.rows.len, 2);
    CHECK_EQ_INT(a.all, 3);
    CHECK(a.rows.at[0].us == b.rows.at[0].us && a.rows.at[1].us == b.rows.at[1].us);
    arena_drop(&arena);
}

T_TEST(tune_finds_the_same_with_any_number_of_processes)
{
    Arena arena = {0};
    TuneResult a, b;
    REQUIRE(tuned_by(&arena, 1, 0, &a) && tuned_by(&arena, 3, 0, &b));
    REQUIRE(a.rows.len == b.rows.len);
    for (uint32_t i = 0; i < a.rows.len; i++)
        CHECK(a.rows.at[i].us == b.rows.at[i].us);
    CHECK_EQ_INT(a.best, b.best);
    CHECK(a.verdict.cycles == b.verdict.cycles && a.verdict.cycles > 0);
    arena_drop(&arena);
}
