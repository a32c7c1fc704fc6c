/* Functions that the vector unit has no instruction for are right where their results are far below 1, too:
 * what is emitted for them, on the simulated chip, against the reference. */
#include "eval/eval.h"

#include "gen/plan/plan.h"
#include "tests/t.h"
#include "torch/torch.h"

static void judge_forward(const char *forward)
{
    Arena arena = {0};
    Str source = str_from(str_format(&arena,
                                     "import torch\nimport torch.nn as nn\n"
                                     "import torch.nn.functional as F\n"
                                     "class Model(nn.Module):\n"
                                     "    def forward(self, x):\n        return %s\n"
                                     "def get_inputs():\n    return [torch.randn(40, 99)]\n",
                                     forward));
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    Diag diag = diag_make(&arena, "m.py", source);
    TorchOptions options = {0};
    Plan plan = {0};
    EvalReference ref = {0};
    TorchTask *task = torch_read(&arena, "m.py", source, &options, &diag);
    REQUIRE(task && eval_reference(&arena, task->graph, 3, RULE_ACRAFT, &ref, &diag));
    REQUIRE(plan_make(&arena, task->graph, chip, 0, &plan, &diag));
    EvalOperand *operands = arena_array(&arena, EvalOperand, plan.operands.len + 1);
    for (uint32_t i = 0; i < plan.operands.len; i++)
        operands[i] = (EvalOperand){.value = plan.operands.at[i].value,
                                    .shape = plan.operands.at[i].shape};
    EvalCraft c = {.file = "m.craft",
                   .text = plan.craft,
                   .operands = operands,
                   .operand_count = plan.operands.len};
    EvalConfig config = {.chip = chip, .engine = EVAL_TWIN, .trust = true};
    Verdict v = verdict_make();
    eval_craft(&arena, &c, &ref, &config, &v, &diag);
    CHECK_MSG(v.status == VERDICT_OK, "%s: %s, %g of the tolerance", forward,
              verdict_status_row(v.status)->text, v.tolerance_used);
    eval_reference_free(&ref);
    arena_drop(&arena);
}

T_TEST(functions_are_right_far_below_one)
{
    judge_forward("torch.tanh(x * 1e-5), F.softplus(x - 18), F.logsigmoid(x + 15), "
                  "torch.sinh(x * 1e-4)");
}

T_TEST(functions_are_right_over_their_range)
{
    judge_forward("torch.tanh(x * 6), F.softplus(x * 30), torch.sinh(x * 0.7), "
                  "torch.sinh(x * 20), torch.tanh(x * 1000)");
}
