/* Tolerances follow the task's own conditioning: what f32 does to a result of one element is drawn
 * several times. */
#include "eval/eval.h"

#include "tests/t.h"
#include "torch/torch.h"
#include <math.h>

/* What the only result may be off, as a share of its value. */
static double allowed_share(const char *forward, uint64_t seed)
{
    Arena arena = {0};
    Str source = str_from(str_format(&arena,
                                     "import torch\nimport torch.nn as nn\n"
                                     "import torch.nn.functional as F\n"
                                     "class Model(nn.Module):\n"
                                     "    def forward(self, x):\n        return %s\n"
                                     "def get_inputs():\n    return [torch.randn(32, 32)]\n",
                                     forward));
    Diag diag = diag_make(&arena, "m.py", source);
    TorchOptions options = {0};
    TorchTask *task = torch_read(&arena, "m.py", source, &options, &diag);
    EvalReference ref = {0};
    REQUIRE(task && eval_reference(&arena, task->graph, seed, RULE_ACRAFT, &ref, &diag));
    CompareSpec spec = eval_spec(&ref, 0);
    double want = fabs(tensor_get(ref.want[0], 0));
    double share = compare_allowed(&spec, DT_F32, want, want) / want;
    eval_reference_free(&ref);
    arena_drop(&arena);
    return share;
}

/* The loss of pairs that are told apart is far smaller than 1, of which f32 holds 2^-24: sums of
 * exponentials beside 1 lose it, and so does PyTorch. */
T_TEST(noise_of_a_sharp_contrastive_loss)
{
    static const char sharp[] = "F.cross_entropy(16 * torch.eye(32) + 0.1 * x, torch.arange(32))";
    for (uint64_t seed = 1; seed < 5; seed++) {
        double share = allowed_share(sharp, seed);
        CHECK_MSG(share > 1e-3, "seed %d: %g", (int)seed, share);
    }
}

T_TEST(noise_of_a_plain_mean)
{
    for (uint64_t seed = 1; seed < 3; seed++) {
        double share = allowed_share("(x * x).mean()", seed);
        CHECK_MSG(share < 1e-4, "seed %d: %g", (int)seed, share);
    }
}
