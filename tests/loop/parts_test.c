/* Parts of planned programs that small sizes do not reach: rows so long that all cores work on one,
 * columns that stay on chip. In: tasks of a few lines at sizes that take them, with tiny
 * tiles where rows would have to be long otherwise. Values on the interpreter, one task on the twin. */
#include "eval/eval.h"
#include "gen/plan/planners.h"
#include "gen/plan/plan.h"
#include "loop/make.h"
#include "tests/t.h"
#include "torch/torch.h"

typedef struct Row {
    const char *sizes, *forward; /* of x, "3, 7001"; of Model */
    const char *part;            /* the kernel that must be there */
    int64_t tile;                /* most elements of a tile; 0: as many as fit */
} Row;

static const Row rows[] = {
    {"3, 7001", "torch.softmax(x, dim=1)", "_together", 64},
    {"3, 7001", "torch.log_softmax(x, dim=1)", "_together", 64},
    {"5, 6500", "F.layer_norm(x, (6500,))", "_together", 64},
    {"2, 3, 4001",
     "(x - x.mean((0, 2), keepdim=True)) / torch.sqrt(x.var((0, 2), keepdim=True, "
     "unbiased=False) + 1e-5)",
     "_together", 64},
    {"2, 3, 2, 3203", "x / x.abs().sum((2, 3), keepdim=True)", "_together", 64},
    {"3, 7001", "x / x.amax(1, keepdim=True)", "_together", 64},
    {"3, 61, 300", "x / torch.sqrt((x * x).mean(1, keepdim=True) + 1e-5)", "_whole", 0},
    {"3, 7, 1000", "torch.softmax(x, dim=1)", "_whole", 0},
    {"2, 19, 300", "x - x.mean(1, keepdim=True)", "_whole", 0},
    {"97, 5, 2100", "x.sum(1)", "_kernel", 0},
    {"40, 9, 5000", "x.amax(1)", "_kernel", 0},
};

static const char *task_text(Arena *arena, const Row *row)
{
    return str_format(arena,
                      "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
                      "class Model(nn.Module):\n    def forward(self, x):\n        return %s\n"
                      "def get_inputs():\n    return [torch.rand(%s) + 0.5]\n"
                      "def get_init_inputs():\n    return []\n",
                      row->forward, row->sizes);
}

static void judge(const Row *row, EvalEngine engine)
{
    Arena arena = {0};
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    Str source = str_from(task_text(&arena, row));
    Diag diag = diag_make(&arena, "sizes.py", source);
    TorchOptions options = {0};
    EvalReference ref = {0};
    EvalConfig config = {.chip = chip, .engine = engine, .trust = true};
    Verdict v = verdict_make();
    Plan plan = {0};
    TorchTask *task = torch_read_scaled(&arena, "sizes.py", source, &options, SCALE_FULL, &diag);
    CHECK_MSG(task, "%s", diag.items.len ? diag.items.at[0].text : "");
    REQUIRE(task);
    /* With a limit on tiles what is looked at is the primitives' way to plan, whatever is faster. */
    REQUIRE(row->tile ? plan_prims(&arena, task->graph, chip, row->tile, "sizes", &plan, &diag)
                      : plan_make(&arena, task->graph, chip, 0, &plan, &diag));
    CHECK_MSG(
        str_find(plan.craft, str_from(str_format(&arena, "def %s%s(", plan.name, row->part))) > 0,
        "%s: no kernel %s", row->forward, row->part);
    REQUIRE(eval_reference(&arena, task->graph, 1, RULE_ACRAFT, &ref, &diag));
    EvalCraft c = {.file = "plan.craft",
                   .text = plan.craft,
                   .operands = make_operands(&arena, &plan),
                   .operand_count = plan.operands.len};
    Diag said = diag_make(&arena, c.file, c.text);
    eval_craft(&arena, &c, &ref, &config, &v, &said);
    CHECK_MSG(v.status == VERDICT_OK, "%s: %s", row->forward, v.reason ? v.reason : "");
    eval_reference_free(&ref);
    arena_drop(&arena);
}

T_TEST(parts_that_small_sizes_do_not_reach)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        judge(&rows[i], EVAL_INTERP);
}

T_TEST(parts_on_the_twin)
{
    judge(&rows[2], EVAL_TWIN);
    judge(&rows[6], EVAL_TWIN);
}
