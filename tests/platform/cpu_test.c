/* The CPU as a platform: C text that is compiled and run here must have the reference's values. */
#include "platform/platform.h"

#include "base/file.h"
#include "base/temp.h"
#include "gen/cpu/cpu.h"
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

/* Plans, compiles, runs and compares; the plan, for further questions. */
static CpuPlan judge(Arena *arena, const char *body, const char *inputs, DType dtype)
{
    const Platform *cpu = platform_find(STR("cpu"));
    TorchTask *task = read_task(arena, body, inputs, dtype);
    Diag diag = diag_make(arena, "model.py", STR(""));
    PlatformMade made = {0};
    Verdict verdict = verdict_make();
    double seconds = 0;
    EvalReference ref = {0};
    TempDir dir;
    Str said;
    bool lacks;
    REQUIRE(temp_dir_make(arena, "acraft-test", &dir, &diag));
    const char *at = path_join(arena, dir.path, "k");
    bool ok = cpu->write(arena, task->graph, "k", STR(""), (PlatformWish){0}, &made, &diag) &&
              emit_write(arena, at, &made.files, &diag) &&
              cpu->compile(arena, at, &made, &said, &lacks) &&
              eval_reference(arena, task->graph, 1, RULE_ACRAFT, &ref, &diag);
    CHECK_MSG(ok, "%s: %s", body, diag.items.len ? diag.items.at[0].text : "not compiled");
    if (ok)
        cpu->judge(arena, at, &made, &ref, 2, &seconds, &verdict);
    CHECK_MSG(verdict.status == VERDICT_OK, "%s: %s", body, verdict.reason);
    CHECK_EQ_INT(verdict.correct, VERDICT_YES);
    CHECK(seconds > 0);
    eval_reference_free(&ref);
    temp_dir_remove(&dir, &diag);
    CpuPlan plan;
    REQUIRE(cpu_plan(arena, task->graph, "k", &plan, &diag));
    return plan;
}

static bool has(const CpuPlan *plan, const char *text) { return strstr(plan->source.at, text); }

/* Masks, functions of our own, two results, 16-bit elements. */
T_TEST(cpu_stream_has_the_values_of_the_reference)
{
    Arena arena = {0};
    judge(&arena,
          "self, x, y):\n        a = torch.where(x > y, F.gelu(x), torch.tanh(y) * torch.exp(-x * "
          "x))\n"
          "        return a + torch.log(y * y + 1.0), x > 0.5",
          "torch.randn(37, 1001), torch.randn(37, 1001)", DT_F32);
    judge(&arena, "self, x):\n        return F.silu(x) * 3.0", "torch.randn(5, 700)", DT_F16);
    arena_drop(&arena);
}

/* What two passes need of a row is computed once; rows longer than the lanes, and shorter. */
T_TEST(cpu_rows_keep_what_two_passes_need)
{
    Arena arena = {0};
    CpuPlan p = judge(&arena, "self, x):\n        return torch.softmax(x, 1)",
                      "torch.randn(9, 1300)", DT_F32);
    CHECK_EQ_INT(p.kernels.len, 1);
    CHECK(has(&p, "op_exp(") && has(&p, "fold_max(") && has(&p, "k4[i + v]"));
    judge(&arena,
          "self, x):\n        return F.layer_norm(x, (7, 11)) + x.amax((1, 2), keepdim=True)",
          "torch.randn(5, 7, 11)", DT_F32);
    arena_drop(&arena);
}

/* Along channels and over windows: lanes are neighbouring results, and reductions arrays beside the loop. */
T_TEST(cpu_lanes_are_points_where_rows_are_columns)
{
    Arena arena = {0};
    CpuPlan p = judge(
        &arena,
        "self, x):\n        n = x / torch.sqrt((x * x).mean(1, keepdim=True) + 1e-5)\n"
        "        return F.max_pool2d(n, 3, 2, 1)",
        "torch.randn(3, 65, 17, 19)", DT_F32);
    CHECK(has(&p, "lanes of the points"));
    arena_drop(&arena);
}

static uint32_t count(const CpuPlan *plan, const char *text)
{
    uint32_t n = 0;
    for (const char *at = plan->source.at; (at = strstr(at, text)); at++)
        n++;
    return n;
}

/* A reduction of a column that a second one reads is computed before it, not once for each of its elements. */
T_TEST(cpu_columns_are_reduced_once)
{
    Arena arena = {0};
    CpuPlan p = judge(&arena, "self, x):\n        return torch.argmax(x, 1)",
                      "torch.randn(5, 70, 33)", DT_F32);
    CHECK(has(&p, "lanes of the points"));
    CHECK_EQ_INT(count(&p, "[v] = join_max("), 1);
    p = judge(&arena,
              "self, x):\n        return torch.softmax(x - x.mean(1, keepdim=True), 1).amax(1)",
              "torch.randn(5, 70, 33)", DT_F32);
    CHECK_EQ_INT(count(&p, "[v] = join_sum("), 2);
    arena_drop(&arena);
}

T_TEST(cpu_scans_and_picked_elements)
{
    Arena arena = {0};
    judge(&arena,
          "self, x, i):\n        return torch.cumsum(x, 1), torch.cumsum(x * 2, 0), "
          "x.flip(1).cumsum(1).flip(1), torch.gather(x, 1, i)",
          "torch.randn(33, 700), torch.randint(0, 700, (33, 100))", DT_F32);
    arena_drop(&arena);
}

/* Few long rows are cut between kernels; nothing is left of what was in the workspace before. */
T_TEST(cpu_long_reductions_are_shared_by_threads)
{
    Arena arena = {0};
    CpuPlan p = judge(&arena, "self, x, y):\n        return F.mse_loss(x, y)",
                      "torch.randn(512, 1024), torch.randn(512, 1024)", DT_F32);
    CHECK_EQ_INT(p.kernels.len, 2);
    CHECK(p.task.workspace > 0);
    p = judge(&arena, "self, x, t):\n        return F.cross_entropy(x, t)",
              "torch.randn(2000, 90), torch.randint(0, 90, (2000,))", DT_F32);
    CHECK_EQ_INT(p.kernels.len, 2);
    CHECK(has(&p, "90 lanes of the row"));
    arena_drop(&arena);
}

/* What follows a product is in its kernel; what a product reads is in memory, once. */
T_TEST(cpu_products_have_their_epilogue_with_them)
{
    Arena arena = {0};
    CpuPlan p = judge(&arena,
                      "self, x, w, b, v):\n        h = F.gelu(F.linear(x, w, b))\n"
                      "        return torch.softmax(h @ v, -1) + x[..., :45]",
                      "torch.randn(3, 37, 50), torch.randn(70, 50), torch.randn(70), "
                      "torch.randn(70, 45)",
                      DT_F32);
    CHECK_EQ_INT(p.kernels.len, 3);
    CHECK(has(&p, "product: 1 of 111 x 70 x 50") && has(&p, "product: 1 of 111 x 45 x 70"));
    p = judge(&arena,
              "self, q, k, v):\n        return F.scaled_dot_product_attention(q, k, v, "
              "is_causal=True)",
              "torch.randn(2, 3, 33, 24), torch.randn(2, 3, 33, 24), torch.randn(2, 3, 33, 24)",
              DT_F32);
    CHECK(has(&p, "product: 6 of 33 x 33 x 24"));
    judge(&arena,
          "self, a, b):\n        return torch.einsum('bik,bjk->bji', a, b) * 0.5, a[0] @ b[1].T",
          "torch.randn(2, 19, 300), torch.randn(2, 40, 300)", DT_F32);
    judge(&arena, "self, x, w):\n        return torch.tril(x) @ w",
          "torch.randn(30, 30), torch.randn(30, 20)", DT_F16);
    arena_drop(&arena);
}

/* Taps outside are zero; groups; strides; results that a transposed convolution does not reach. */
T_TEST(cpu_convolutions_are_products_over_windows)
{
    Arena arena = {0};
    CpuPlan p = judge(&arena,
                      "self, x, w, b):\n        return F.max_pool2d(F.relu(F.conv2d(x, w, b, "
                      "stride=(2, 1), padding=(1, 2), dilation=(1, 2))), 2)",
                      "torch.randn(2, 6, 13, 15), torch.randn(9, 6, 3, 3), torch.randn(9)", DT_F32);
    CHECK(has(&p, "product: 1 of 9 x 210 x 54"));
    judge(&arena, "self, x, w):\n        return F.conv1d(x, w, groups=3, padding=2)",
          "torch.randn(2, 24, 31), torch.randn(27, 8, 5)", DT_F32);
    judge(&arena,
          "self, x, w, b):\n        return F.conv_transpose2d(torch.tanh(x), w, b, stride=2, "
          "padding=1, output_padding=1)",
          "torch.randn(2, 9, 6, 7), torch.randn(9, 10, 3, 3), torch.randn(10)", DT_F32);
    judge(&arena, "self, x, w):\n        return F.conv_transpose3d(x, w, padding=1)",
          "torch.randn(1, 8, 3, 4, 5), torch.randn(8, 8, 3, 2, 3)", DT_F32);
    judge(&arena, "self, x, w):\n        return F.conv2d(x, w, groups=12, padding=1)",
          "torch.randn(2, 12, 8, 9), torch.randn(12, 1, 3, 3)", DT_F32);
    arena_drop(&arena);
}

/* A value that two products read is computed once; a join of many results, a view between two products. */
T_TEST(cpu_networks_are_parts_in_order)
{
    Arena arena = {0};
    CpuPlan p = judge(&arena,
                      "self, x, a, b, c):\n        n = F.layer_norm(x, (40,))\n"
                      "        q, k = (n @ a).view(2, 21, 4, 10).transpose(1, 2), n @ b\n"
                      "        k = k.view(2, 21, 4, 10).transpose(1, 2)\n"
                      "        s = torch.softmax(q @ k.transpose(-1, -2), -1) @ k\n"
                      "        y = x + s.transpose(1, 2).reshape(2, 21, 40) @ c\n"
                      "        return torch.cat([y, x + y, y * 2], 1), y.mean()",
                      "torch.randn(2, 21, 40), torch.randn(40, 40) / 6, torch.randn(40, 40) / 6, "
                      "torch.randn(40, 40) / 6",
                      DT_F32);
    uint32_t norms = 0;
    for (uint32_t i = 0; i < p.kernels.len; i++)
        norms += strstr(p.kernels.at[i], "rows: 42 points of 40") != NULL;
    CHECK_EQ_INT(norms, 1);
    arena_drop(&arena);
}

T_TEST(cpu_refuses_by_name)
{
    Arena arena = {0};
    TorchTask *task = read_task(&arena, "self, x):\n        return torch.sort(x, 1)[0]",
                                "torch.randn(4, 8)", DT_F32);
    CpuPlan plan;
    Diag diag = diag_make(&arena, "model.py", STR(""));
    CHECK(!cpu_plan(&arena, task->graph, "k", &plan, &diag));
    REQUIRE(diag.items.len > 0);
    CHECK_MSG(strstr(diag.items.at[0].text, "sort") != NULL, "%s", diag.items.at[0].text);
    arena_drop(&arena);
}

/* Elements picked by places that are computed: exact at sizes that do not divide each other. */
T_TEST(cpu_resamples)
{
    Arena arena = {0};
    judge(&arena,
          "self, x):\n"
          "        a = F.interpolate(x, (11, 30), mode='bilinear', align_corners=True)\n"
          "        b = F.interpolate(x, scale_factor=2.5, mode='nearest')\n"
          "        c = F.interpolate(x, (29, 7), mode='bicubic', align_corners=False)\n"
          "        e = F.interpolate(x, (5, 6), mode='area')\n"
          "        return a, b, c, e, F.interpolate(x, (9, 40), mode='bilinear', antialias=True)",
          "torch.randn(2, 3, 13, 17)", DT_F32);
    judge(&arena,
          "self, x, t, g):\n"
          "        a = F.affine_grid(t, x.shape, align_corners=False)\n"
          "        b = F.grid_sample(x, g, mode='bicubic', padding_mode='border')\n"
          "        c = F.grid_sample(x, g, padding_mode='reflection', align_corners=True)\n"
          "        return F.grid_sample(F.interpolate(x, (20, 9), mode='bilinear'), a), b, c",
          "torch.randn(2, 3, 10, 12), torch.rand(2, 2, 3) * 0.2, torch.randn(2, 7, 5, 2)", DT_F32);
    arena_drop(&arena);
}

/* Which writes meet a result: sums of them, or the last one. Products with a short side. */
T_TEST(cpu_writes_by_index)
{
    Arena arena = {0};
    judge(&arena,
          "self, x, i, y, j, z):\n"
          "        a = x.index_add(0, i, y, alpha=0.5)\n"
          "        b = x.index_copy(0, i, y)\n"
          "        return a, b, x.scatter(1, j, z), x.scatter_add(1, j, z)",
          "torch.randn(9, 21), torch.randint(0, 9, (14,)), torch.randn(14, 21), "
          "torch.randint(0, 21, (9, 40)), torch.randn(9, 40)",
          DT_F32);
    judge(&arena, "self, x, y):\n        return torch.einsum('tkm,tmd->tkd', x, y), x @ y * 2.0",
          "torch.randn(6, 4, 5), torch.randn(6, 5, 33)", DT_F32);
    arena_drop(&arena);
}
