/* Pallas as a platform: text that Python parses, and that JAX's interpreter gives the reference's values for where JAX
 * is installed. */
#include "platform/platform.h"

#include "base/file.h"
#include "base/proc.h"
#include "base/temp.h"
#include "gen/pallas/pallas.h"
#include "tests/t.h"
#include <string.h>

static TorchTask *read_task(Arena *arena, const char *body, const char *inputs, DType dtype)
{
    const char *text = str_format(arena,
                                  "import torch\nimport torch.nn as nn\n"
                                  "import torch.nn.functional as F\n\n"
                                  "class Model(nn.Module):\n    def forward(%s\n\n"
                                  "def get_inputs():\n    return [%s]\n",
                                  body, inputs);
    TorchOptions options = {.float_type = dtype};
    Diag diag = diag_make(arena, "model.py", str_from(text));
    TorchTask *task = torch_read_scaled(arena, "model.py", str_from(text), &options, SCALE_FULL,
                                        &diag);
    CHECK_MSG(task, "%s", diag.items.len ? diag.items.at[0].text : "");
    REQUIRE(task != NULL);
    return task;
}

static PallasPlan plan_of(Arena *arena, const char *body, const char *inputs, DType dtype)
{
    TorchTask *task = read_task(arena, body, inputs, dtype);
    Diag diag = diag_make(arena, "model.py", STR(""));
    PallasPlan plan;
    bool ok = pallas_plan(arena, task->graph, "k", &plan, &diag);
    CHECK_MSG(ok, "%s: %s", body, diag.items.len ? diag.items.at[0].text : "");
    REQUIRE(ok);
    return plan;
}

static bool has(const PallasPlan *plan, const char *text) { return strstr(plan->source.at, text); }

static void compare_case(Arena *arena, const Platform *p, const char *dir, const PlatformMade *made,
                         const TorchTask *task, const char *body)
{
    Diag diag = diag_make(arena, "model.py", STR(""));
    Verdict verdict = verdict_make();
    double seconds;
    EvalReference ref = {0};
    bool ok = eval_reference(arena, task->graph, 1, RULE_ACRAFT, &ref, &diag);
    CHECK_MSG(ok, "%s: %s", body, diag.items.len ? diag.items.at[0].text : "");
    p->judge(arena, dir, made, &ref, 0, &seconds, &verdict);
    CHECK_MSG(verdict.status == VERDICT_OK, "%s: %s", body, verdict.reason);
    eval_reference_free(&ref);
}

/* Writes, parses where there is Python, compares where there is JAX. */
static void judge(Arena *arena, const char *body, const char *inputs, DType dtype, bool ready)
{
    const Platform *p = platform_find(STR("pallas"));
    TorchTask *task = read_task(arena, body, inputs, dtype);
    Diag diag = diag_make(arena, "model.py", STR(""));
    PlatformMade made = {0};
    TempDir dir;
    Str said = STR("");
    bool lacks = false;
    REQUIRE(temp_dir_make(arena, "acraft-test", &dir, &diag));
    const char *at = path_join(arena, dir.path, "k");
    bool ok = p->write(arena, task->graph, "k", STR(""), (PlatformWish){0}, &made, &diag) &&
              emit_write(arena, at, &made.files, &diag);
    CHECK_MSG(ok, "%s: %s", body, diag.items.len ? diag.items.at[0].text : "");
    CHECK_MSG(!ok || p->compile(arena, at, &made, &said, &lacks) || lacks, "%s: %.*s", body,
              STR_ARG(said));
    if (ok && ready)
        compare_case(arena, p, at, &made, task, body);
    temp_dir_remove(&dir, &diag);
}

T_TEST(pallas_text_parses_and_has_the_values_of_the_reference)
{
    Arena arena = {0};
    bool ready = platform_find(STR("pallas"))->ready(&arena);
    judge(&arena, "self, x, y):\n        return torch.where(x > y, F.gelu(x), y), x > 0.5",
          "torch.randn(37, 301), torch.randn(37, 301)", DT_F32, ready);
    judge(&arena, "self, x):\n        return F.silu(x.transpose(0, 1)) * 3.0",
          "torch.randn(9, 130)", DT_BF16, ready);
    judge(&arena, "self, x):\n        return torch.softmax(x, 1), x.sum(0)", "torch.randn(11, 300)",
          DT_F32, ready);
    judge(&arena, "self, x):\n        return F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2)",
          "torch.randn(2, 3, 19, 22)", DT_F32, ready);
    judge(&arena, "self, x):\n        return torch.cumsum(x, 1), torch.cat([x, x[:, 3:9]], 1)",
          "torch.randn(5, 77)", DT_F32, ready);
    judge(&arena,
          "self, x, i):\n        return torch.index_select(x, 0, i), torch.gather(x, 1, i.view(4, "
          "1))",
          "torch.randn(6, 40), torch.randint(0, 6, (4,))", DT_F32, ready);
    judge(&arena, "self, x):\n        return F.interpolate(x, (9, 30), mode='bilinear')",
          "torch.randn(2, 3, 7, 12)", DT_F32, ready);
    arena_drop(&arena);
}

/* Rows that VMEM holds are one block; longer ones are walked once for each pass, with results in scratch memory. */
T_TEST(pallas_rows_are_kept_or_walked)
{
    Arena arena = {0};
    const char *body = "self, x):\n        return torch.softmax(x, 1)";
    PallasPlan near = plan_of(&arena, body, "torch.randn(64, 4096)", DT_F32);
    PallasPlan far = plan_of(&arena, body, "torch.randn(64, 1000003)", DT_F32);
    CHECK(!has(&near, "scratch_shapes"));
    CHECK(has(&near, "pl.BlockSpec((16, 4096), lambda g1: (g1, 0))"));
    CHECK(has(&far, "scratch_shapes"));
    CHECK(has(&far, "@pl.when((s == 2))"));
    CHECK(has(&far, "jnp.where(s == 2, g2, 0)"));
    CHECK(has(&far, "< 1000003")); /* the last block is masked */
    arena_drop(&arena);
}

/* Windows of a plane that VMEM does not hold come in blocks that overlap. */
T_TEST(pallas_windows_of_large_planes_overlap)
{
    Arena arena = {0};
    PallasPlan plan = plan_of(&arena, "self, x):\n        return F.max_pool2d(x, 3, 1, 1)",
                              "torch.randn(1, 1, 4096, 4096)", DT_F32);
    CHECK(has(&plan, "pl.Element("));
    arena_drop(&arena);
}

T_TEST(pallas_refuses_dtypes_without_a_type)
{
    Arena arena = {0};
    TorchTask *task = read_task(&arena, "self, x):\n        return x + 1.0", "torch.randn(8)",
                                DT_F16);
    Diag diag = diag_make(&arena, "model.py", STR(""));
    PallasPlan plan;
    CHECK(!pallas_plan(&arena, task->graph, "k", &plan, &diag));
    CHECK(diag.items.len && strstr(diag.items.at[0].text, "f16"));
    arena_drop(&arena);
}
