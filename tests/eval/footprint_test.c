/* What a task needs of its inputs: all of them, unless masks, triangles or positions say otherwise. */
#include "eval/footprint.h"

#include "tests/t.h"
#include "torch/torch.h"

/* Elements of the first input of 16 x 16 that must be read. */
static double needed(const char *forward, const char *input)
{
    Arena arena = {0};
    Str source = str_from(str_format(&arena,
                                     "import torch\nimport torch.nn as nn\n"
                                     "import torch.nn.functional as F\n"
                                     "class Model(nn.Module):\n"
                                     "    def forward(self, x, y):\n        return %s\n"
                                     "def get_inputs():\n    return [%s, torch.randn(16, 16)]\n",
                                     forward, input));
    Diag diag = diag_make(&arena, "m.py", source);
    TorchOptions options = {0};
    TorchTask *task = torch_read(&arena, "m.py", source, &options, &diag);
    REQUIRE(task != NULL);
    double need = eval_footprint(&arena, task->graph)[task->graph->inputs.at[0]];
    arena_drop(&arena);
    return need;
}

static const char dense[] = "torch.randn(16, 16)";

T_TEST(footprint_is_all_of_a_dense_input)
{
    CHECK_EQ_INT((int)needed("x + y", dense), 256);
    CHECK_EQ_INT((int)needed("x @ y", dense), 256);
    CHECK_EQ_INT((int)needed("torch.softmax(x, dim=1) * y", dense), 256);
    CHECK_EQ_INT((int)needed("x.sum() + y", dense), 256);
    CHECK_EQ_INT((int)needed("x[4:] + y[4:]", dense), 192);
    CHECK_EQ_INT((int)needed("x @ y", "torch.rand(16, 16) * 2 - 1"), 256);
}

/* Zeros whose places are known may be passed over. */
T_TEST(footprint_leaves_out_what_is_known_to_be_zero)
{
    CHECK_EQ_INT((int)needed("x @ y", "torch.rand(16, 16).tril()"), 0);
    CHECK_EQ_INT((int)needed("x * torch.ones(16, 16).tril() + y", dense), 0);
    CHECK_EQ_INT((int)needed("torch.tril(x @ y)", dense), 0);
    CHECK_EQ_INT((int)needed("torch.where(y > 0, x, y)", dense), 0);
}
