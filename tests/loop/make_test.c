/* acraft make on every shipped task: planned, proved, and right on the reference interpreter at
 * small and odd sizes; a few of them as AscendC on the twin. */
#include "loop/make.h"

#include "base/file.h"
#include "tests/t.h"

static void make_task(const char *path, EvalEngine engine, uint32_t fuzz)
{
    Arena arena = {0};
    MakeSpec spec = {.path = path,
                     .chip = npu_chip_find(STR("910B2")),
                     .seed = 7,
                     .fuzz = fuzz,
                     .listed = true,
                     .tiny = true,
                     .engine = engine};
    Diag diag = diag_make(&arena, path, STR(""));
    MakeResult result = {0};
    REQUIRE(file_read(&arena, path, 0, &spec.source, &diag));
    bool ok = make_kernel(&arena, &spec, &result, &diag);
    CHECK_MSG(ok, "%s: %s", path, diag.items.len ? diag.items.at[0].text : "not good");
    for (uint32_t i = 0; i < result.verdicts.len; i++) {
        const Verdict *v = &result.verdicts.at[i];
        CHECK_MSG(v->status == VERDICT_OK, "%s, %s: %s: %s", path, v->kase,
                  verdict_status_row(v->status)->text, v->reason);
        CHECK_MSG(v->proved > 0, "%s: nothing was proved", path);
    }
    arena_drop(&arena);
}

static void make_category(const char *category)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, category, STR(""));
    const char *dir = path_join(&arena, "tasks", category);
    NameList names = {0};
    REQUIRE(file_list(&arena, dir, &names, &diag));
    CHECK(names.len > 0);
    for (uint32_t i = 0; i < names.len; i++)
        make_task(path_join(&arena, dir, names.at[i]), EVAL_INTERP, 1);
    arena_drop(&arena);
}

T_TEST(make_activation) { make_category("activation"); }
T_TEST(make_loss) { make_category("loss"); }
T_TEST(make_math) { make_category("math"); }
T_TEST(make_normalization) { make_category("normalization"); }
T_TEST(make_optimizer) { make_category("optimizer"); }
T_TEST(make_pooling) { make_category("pooling"); }
T_TEST(make_reduce) { make_category("reduce"); }

T_TEST(make_broadcast) { make_category("broadcast"); }

static void make_tasks(const char *const *paths, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        make_task(paths[i], EVAL_INTERP, 1);
}

/* Some of each kind; all of them: bench. */
T_TEST(make_index)
{
    static const char *const paths[] = {"tasks/index/argmax_over_a_dimension.py",
                                        "tasks/index/embedding.py",
                                        "tasks/index/index_add.py",
                                        "tasks/index/index_copy.py",
                                        "tasks/index/scatter.py",
                                        "tasks/index/take_along_dim.py"};
    make_tasks(paths, sizeof paths / sizeof *paths);
}

T_TEST(make_resize)
{
    static const char *const paths[] = {"tasks/resize/bicubic_upsample.py",
                                        "tasks/resize/grid_sample_random_warp.py",
                                        "tasks/resize/resize_with_antialias.py"};
    make_tasks(paths, sizeof paths / sizeof *paths);
}

T_TEST(make_mhc) { make_category("mhc"); }

/* Listed cases, shrunk: every dtype, lists of tensors, single elements. */
T_TEST(make_listed_cases)
{
    static const char *const paths[] = {
        "tasks/npukernelbench/level1/Comparison/Less.py",
        "tasks/npukernelbench/level1/Math/CastMath.py",
        "tasks/npukernelbench/level1/TensorCreation/Eye.py",
        "tasks/npukernelbench/level2/Activation/SwiGlu.py",
        "tasks/npukernelbench/level2/Foreach/ForeachAddcdivScalarList.py",
        "tasks/npukernelbench/level2/Mask/Tril.py"};
    make_tasks(paths, sizeof paths / sizeof *paths);
}

T_TEST(make_relu_on_the_twin) { make_task("tasks/activation/relu.py", EVAL_TWIN, 1); }
T_TEST(make_softmax_on_the_twin) { make_task("tasks/activation/softmax.py", EVAL_TWIN, 1); }
T_TEST(make_mse_on_the_twin) { make_task("tasks/loss/mse_loss.py", EVAL_TWIN, 1); }

/* forward's body over x and a mask of it is refused with this code, which speaks of `part`. */
static void refused(const char *body, const char *code, const char *part)
{
    Arena arena = {0};
    Str source = str_from(
        str_format(&arena,
                   "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
                   "    def forward(self, x, mask):\n        %s\n"
                   "def get_inputs():\n    return [torch.rand(64, 64), torch.rand(64, 64) > 0.5]\n",
                   body));
    MakeSpec spec = {.path = "m.py",
                     .source = source,
                     .chip = npu_chip_find(STR("910B2")),
                     .engine = EVAL_INTERP};
    Diag diag = diag_make(&arena, "m.py", source);
    MakeResult result;
    CHECK(!make_kernel(&arena, &spec, &result, &diag));
    REQUIRE(diag.items.len > 0);
    CHECK_EQ_STR(diag.items.at[0].code, code);
    CHECK_EQ_INT(diag.items.at[0].at.line, 5);
    CHECK_MSG(str_find(str_from(diag.items.at[0].text), str_from(part)) >= 0, "%s",
              diag.items.at[0].text);
    arena_drop(&arena);
}

T_TEST(make_refuses_what_it_cannot_plan)
{
    refused("return x.long() @ x.long()", "G001", "matrix work");
    refused("y = x.long(); return torch.conv1d(y[None], y[:, :, None].repeat(1, 1, 64)) + 1",
            "G001", "conv");
}

T_TEST(make_refuses_what_holds_for_the_values_drawn)
{
    refused("return x.repeat(int(x.sum()), 1)", "G005", "right for these alone");
    refused("return torch.sort(x[mask])[0][:2]", "G005", "depends on values");
    refused("import random; return x * random.uniform(0.5, 1.5)", "G005", "get_inputs");
    refused("return torch.rand_like(x) + x", "G001", "get_inputs");
    refused("return torch.bincount((x * 3).long().view(-1))", "G005", "minlength");
}
