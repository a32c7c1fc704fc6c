/* What is shipped is what was judged: sizes that a program fixes are named, ranges it cannot have are
 * refused, and each launch of its host function is run with values, at sizes that really take it. */
#include "loop/make.h"

#include "tests/t.h"
#include <string.h>

static const char resize_task[] =
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nH = 32\n"
    "class Model(nn.Module):\n    def forward(self, x):\n"
    "        return F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=False)\n"
    "def get_inputs():\n    return [torch.rand(4, 3, H, 48)]\n"
    "def get_init_inputs():\n    return []\n";

/* Sizes as numbers, which have to agree between two inputs. */
static const char masked_task[] =
    "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
    "    def forward(self, x, mask):\n"
    "        return torch.softmax(x.masked_fill(mask, float('-inf')), dim=-1)\n"
    "def get_inputs():\n"
    "    return [torch.randn(8, 128, 256), torch.rand(8, 128, 256) > 0.7]\n"
    "def get_init_inputs():\n    return []\n";

static MakeSpec spec_of(const char *source)
{
    return (MakeSpec){.path = "shipped.py",
                      .source = str_from(source),
                      .chip = npu_chip_find(STR("910B2")),
                      .engine = EVAL_INTERP};
}

T_TEST(make_names_fixed_sizes)
{
    Arena arena = {0};
    MakeSpec spec = spec_of(resize_task);
    Diag diag = diag_make(&arena, spec.path, spec.source);
    MakeResult made;
    spec.plan_only = true;
    REQUIRE(make_kernel(&arena, &spec, &made, &diag));
    CHECK_MSG(strstr(made.fixed, "x[") && strstr(made.fixed, "32, 48]"), "%s", made.fixed);
    CHECK_EQ_STR(made.free, "--range H=16..16");
    spec = spec_of(masked_task);
    spec.plan_only = true;
    REQUIRE(make_kernel(&arena, &spec, &made, &diag));
    CHECK_EQ_STR(made.fixed, "");
    arena_drop(&arena);
}

T_TEST(make_refuses_a_range_of_a_fixed_size)
{
    Arena arena = {0};
    MakeRange range = {"H", 16, 64};
    MakeSpec spec = spec_of(resize_task);
    Diag diag = diag_make(&arena, spec.path, spec.source);
    MakeResult made;
    spec.plan_only = true;
    spec.ranges = (MakeRanges){&range, 1};
    CHECK(!make_kernel(&arena, &spec, &made, &diag));
    REQUIRE(diag.items.len == 1);
    CHECK_EQ_STR(diag.items.at[0].code, "M019");
    /* one value is the way to another size */
    range = (MakeRange){"H", 16, 16};
    diag = diag_make(&arena, spec.path, spec.source);
    CHECK(make_kernel(&arena, &spec, &made, &diag));
    CHECK_MSG(strstr(made.fixed, "16, 48]"), "%s", made.fixed);
    arena_drop(&arena);
}

T_TEST(make_runs_each_launch_with_values)
{
    Arena arena = {0};
    MakeSpec spec = spec_of(masked_task);
    Diag diag = diag_make(&arena, spec.path, spec.source);
    MakeResult made;
    uint32_t own = 0, ran = 0;
    spec.branches = true;
    spec.fuzz = 2;
    CHECK(make_kernel(&arena, &spec, &made, &diag));
    CHECK(made.branches.len >= 2);
    for (uint32_t i = 0; i < made.branches.len; i++) {
        const MakeBranch *b = &made.branches.at[i];
        own += b->own;
        ran += b->ran;
        CHECK_MSG(b->ran || !b->own, "line %u: %s", b->line, b->text);
    }
    CHECK_EQ_INT(own, 1);
    CHECK_MSG(ran + 2 >= made.branches.len, "%u of %u", ran, made.branches.len); /* two are large */
    for (uint32_t i = 0; i < made.verdicts.len; i++)
        CHECK(made.verdicts.at[i].tolerance_used <= 1);
    arena_drop(&arena);
}

/* Cases of a file that writes its sizes as numbers have other sizes than 1, 8 and the file's. */
T_TEST(make_varies_literal_sizes)
{
    Arena arena = {0};
    uint32_t odd = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        Diag diag = diag_make(&arena, "shipped.py", str_from(masked_task));
        TorchOptions options = {.seed = seed};
        TorchTask *task = torch_read_scaled(&arena, "shipped.py", str_from(masked_task), &options,
                                            SCALE_FUZZ, &diag);
        REQUIRE(task);
        Shape shape = graph_value(task->graph, task->graph->inputs.at[0])->shape;
        odd += shape.dim[2] % 8 != 0 && shape.dim[2] > 1;
    }
    CHECK_MSG(odd >= 3, "%u of 6", odd);
    arena_drop(&arena);
}

/* A quotient that is rounded to a code is a quotient: a product with the reciprocal may land on the
 * other side of a tie. One that is only summed may be a product. */
T_TEST(make_divides_exactly_before_a_cast)
{
    static const char head[] = "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
                               "    def forward(self, x):\n"
                               "        scale = x.abs().amax(-1, keepdim=True) / 127\n";
    static const char tail[] = "def get_inputs():\n    return [torch.randn(64, 256)]\n"
                               "def get_init_inputs():\n    return []\n";
    static const char *const body[] = {
        "        return torch.round(x / scale).clamp(-128, 127).to(torch.int8)\n",
        "        return x / scale\n"};
    Arena arena = {0};
    for (int i = 0; i < 2; i++) {
        MakeSpec spec = spec_of(str_format(&arena, "%s%s%s", head, body[i], tail));
        Diag diag = diag_make(&arena, spec.path, spec.source);
        MakeResult made;
        spec.plan_only = true;
        REQUIRE(make_kernel(&arena, &spec, &made, &diag));
        CHECK((str_find(made.plan.craft, STR("= 1.0 / ")) >= 0) == (i == 1));
    }
    arena_drop(&arena);
}
