/* Inputs with what no draw contains: where a task takes them, and what they tell apart. */
#include "eval/eval.h"

#include "tests/t.h"
#include "torch/torch.h"
#include <math.h>

typedef struct Strewing {
    Arena arena;
    EvalReference ref;
    bool taken;
} Strewing;

static void strew(Strewing *s, const char *forward, EvalStrewn strewn)
{
    *s = (Strewing){0};
    Str source = str_from(str_format(&s->arena,
                                     "import torch\nimport torch.nn as nn\n"
                                     "import torch.nn.functional as F\n"
                                     "class Model(nn.Module):\n"
                                     "    def forward(self, x):\n        return %s\n"
                                     "def get_inputs():\n    return [torch.randn(32, 48)]\n",
                                     forward));
    Diag diag = diag_make(&s->arena, "m.py", source);
    TorchOptions options = {0};
    TorchTask *task = torch_read(&s->arena, "m.py", source, &options, &diag);
    REQUIRE(task);
    s->taken = eval_reference_strewn(&s->arena, task->graph, 7, RULE_ACRAFT, strewn, &s->ref,
                                     &diag);
}

static void drop(Strewing *s)
{
    eval_reference_free(&s->ref);
    arena_drop(&s->arena);
}

static bool takes(const char *forward, EvalStrewn strewn)
{
    Strewing s;
    strew(&s, forward, strewn);
    bool taken = s.taken;
    drop(&s);
    return taken;
}

T_TEST(strewn_inputs_have_flat_lines)
{
    Strewing s;
    strew(&s, "F.layer_norm(x, (48,))", STREWN_BOTH);
    REQUIRE(s.taken);
    const Tensor *x = s.ref.in.inputs[0], *y = s.ref.want[0];
    int zeros = 0;
    for (int64_t i = 0; i < 48; i++) {
        CHECK(tensor_get(x, 48 + i) == 0 && tensor_get(y, 48 + i) == 0);
        CHECK(tensor_get(x, 5 * 48 + i) == tensor_get(x, 5 * 48));
        CHECK(fabs(tensor_get(y, 5 * 48 + i)) < 1e-6);
        zeros += tensor_get(x, i) == 0;
    }
    CHECK(tensor_get(x, 5 * 48) != 0 && zeros > 0 && zeros < 16);
    drop(&s);
}

T_TEST(strewn_inputs_only_where_the_task_takes_them)
{
    CHECK(takes("torch.softmax(x, -1)", STREWN_BOTH));
    CHECK(takes("torch.sign(x)", STREWN_BOTH));
    CHECK(!takes("x / x.norm(dim=-1, keepdim=True)", STREWN_FLAT));
    CHECK(takes("x / x.norm(dim=-1, keepdim=True)", STREWN_LARGE));
    CHECK(!takes("torch.exp(x)", STREWN_LARGE));
    CHECK(takes("torch.exp(x)", STREWN_FLAT));
    CHECK(!takes("torch.argmax(x, -1)", STREWN_FLAT));
    CHECK(!takes("torch.round(x * 10).to(torch.int8)", STREWN_FLAT));
}
