/* CUDA text: what each kind of task becomes, and, with T_NVCC=1 and nvcc, that it compiles (6 s). */
#include "gen/cuda/cuda.h"

#include "base/proc.h"
#include "base/temp.h"
#include "tests/t.h"
#include "torch/torch.h"
#include <stdlib.h>
#include <string.h>

static bool plan_with(Arena *arena, const char *body, const char *inputs, CudaOptions wish,
                      CudaPlan *plan, Diag *diag)
{
    const char *text = str_format(arena,
                                  "import torch\nimport torch.nn as nn\n"
                                  "import torch.nn.functional as F\n\n"
                                  "class Model(nn.Module):\n    def forward(%s\n\n"
                                  "def get_inputs():\n    return [%s]\n",
                                  body, inputs);
    TorchOptions options = {0};
    *diag = diag_make(arena, "model.py", str_from(text));
    TorchTask *task = torch_read_scaled(arena, "model.py", str_from(text), &options, SCALE_FULL,
                                        diag);
    CHECK_MSG(task, "%s", diag->items.len ? diag->items.at[0].text : "");
    REQUIRE(task != NULL);
    return cuda_plan(arena, task->graph, "k", wish, plan, diag);
}

static bool plan_text(Arena *arena, const char *body, const char *inputs, CudaPlan *plan,
                      Diag *diag)
{
    return plan_with(arena, body, inputs, (CudaOptions){0}, plan, diag);
}

static CudaPlan plan_of(Arena *arena, const char *body, const char *inputs)
{
    CudaPlan plan;
    Diag diag;
    bool ok = plan_text(arena, body, inputs, &plan, &diag);
    CHECK_MSG(ok, "%s: %s", body, diag.items.len ? diag.items.at[0].text : "");
    REQUIRE(ok);
    return plan;
}

static const char *body_of(const CudaPlan *plan)
{
    return strstr(plan->source.at, "} // namespace");
}

/* In the kernels, not in what stands before them. */
static bool has(const CudaPlan *plan, const char *text) { return strstr(body_of(plan), text); }

static uint32_t count_of(const CudaPlan *plan, const char *text)
{
    uint32_t n = 0;
    for (const char *p = body_of(plan); (p = strstr(p, text)); p++)
        n++;
    return n;
}

static const char *roles_of(Arena *arena, const CudaPlan *plan)
{
    const char *all = "";
    for (uint32_t i = 0; i < plan->stages.len; i++)
        all = str_format(arena, "%s%s%s", all, i ? " " : "", plan->stages.at[i].role);
    return all;
}

T_TEST(cuda_stream_takes_16_bytes_at_once)
{
    Arena arena = {0};
    CudaPlan p = plan_of(&arena, "self, x, y):\n        return torch.relu(x) * y",
                         "torch.rand(64, 1000), torch.rand(64, 1000)");
    CHECK_EQ_STR(roles_of(&arena, &p), "stream");
    CHECK_EQ_INT(p.stages.at[0].vector, 4);
    CHECK(has(&p, "load_pack(x"));
    CHECK(has(&p, "store_pack(t2"));
    CHECK_EQ_INT(p.task.workspace, 0);
    p = plan_of(&arena, "self, x):\n        return torch.relu(x)", "torch.rand(7, 11, 13)");
    CHECK_EQ_INT(p.stages.at[0].vector, 1);
    CHECK(has(&p, "if (p >= 1001)"));
    arena_drop(&arena);
}

/* The whole row stays in registers; one read, one write, two exchanges. */
T_TEST(cuda_softmax_reads_its_row_once)
{
    Arena arena = {0};
    CudaPlan p = plan_of(&arena, "self, x):\n        return torch.softmax(x, 1)",
                         "torch.rand(512, 4096)");
    CHECK_EQ_STR(roles_of(&arena, &p), "rows");
    CHECK(p.stages.at[0].items > 0);
    CHECK(has(&p, "join_team<Max, "));
    CHECK(has(&p, "join_team<Sum, "));
    const char *load = strstr(p.source.at, "[i], t0 + (");
    CHECK(load && !strstr(load + 8, "t0 + ("));
    /* longer than a block holds: blocks of a cluster share it */
    p = plan_of(&arena, "self, x):\n        return torch.softmax(x, 1)", "torch.rand(512, 131072)");
    CHECK(p.stages.at[0].cluster > 1 && has(&p, "__cluster_dims__"));
    /* an odd row that no two elements are read of at once */
    p = plan_of(&arena, "self, x):\n        return torch.softmax(x, 1)", "torch.rand(5, 37)");
    CHECK_EQ_INT(p.stages.at[0].vector, 1);
    arena_drop(&arena);
}

/* Along channels: a thread takes a row alone, neighbours read side by side. */
T_TEST(cuda_norm_along_a_middle_axis_goes_by_columns)
{
    Arena arena = {0};
    CudaPlan p = plan_of(&arena,
                         "self, x):\n        return x / torch.sqrt((x * x).mean(1, keepdim=True))",
                         "torch.rand(4, 64, 32, 32)");
    CHECK_EQ_STR(roles_of(&arena, &p), "columns");
    CHECK_EQ_INT(p.stages.at[0].items, 64);
    arena_drop(&arena);
}

/* Few long rows are shared by many blocks; the reductions of one row stay in one kernel. */
T_TEST(cuda_long_reductions_go_through_memory)
{
    Arena arena = {0};
    CudaPlan p = plan_of(&arena, "self, x, y):\n        return F.mse_loss(x, y)",
                         "torch.rand(1024, 4096), torch.rand(1024, 4096)");
    CHECK_EQ_STR(roles_of(&arena, &p), "rows rows");
    CHECK(p.stages.at[0].blocks >= 128 && p.task.workspace > 0);
    p = plan_of(&arena, "self, x, t):\n        return F.cross_entropy(x, t)",
                "torch.rand(1024, 512), torch.randint(0, 512, (1024,))");
    CHECK(has(&p, "join_team<Max, ") && has(&p, "join_team<Sum, "));
    CHECK(!strncmp(roles_of(&arena, &p), "rows", 4));
    arena_drop(&arena);
}

T_TEST(cuda_windows_test_bounds_only_at_edges)
{
    Arena arena = {0};
    CudaPlan p = plan_of(&arena, "self, x):\n        return F.max_pool2d(x, 3, 2, 1)",
                         "torch.rand(2, 8, 32, 32)");
    CHECK_EQ_STR(roles_of(&arena, &p), "stream");
    CHECK(has(&p, "template <bool EDGE>") && has(&p, "!EDGE || "));
    p = plan_of(&arena, "self, x):\n        return F.avg_pool2d(x, 2)", "torch.rand(2, 8, 32, 32)");
    CHECK(!has(&p, "EDGE"));
    p = plan_of(&arena, "self, x):\n        return F.pad(x, (1, 2), value=3.0)",
                "torch.rand(4, 32)");
    CHECK(has(&p, "op_where("));
    arena_drop(&arena);
}

T_TEST(cuda_scans_and_picked_elements)
{
    Arena arena = {0};
    CudaPlan p = plan_of(&arena, "self, x):\n        return torch.cumsum(x * 2, 1)",
                         "torch.rand(64, 4096)");
    CHECK_EQ_STR(roles_of(&arena, &p), "scan");
    CHECK(has(&p, "scan_team<Sum, "));
    p = plan_of(&arena, "self, x):\n        return torch.cumsum(x, 0)", "torch.rand(64, 4096)");
    CHECK(has(&p, "for (int i = 0; i <= 63; i++)"));
    p = plan_of(&arena, "self, x):\n        return x.flip(1).cumsum(1).flip(1)",
                "torch.rand(8, 4096)");
    CHECK(has(&p, "- r;"));
    p = plan_of(&arena, "self, x):\n        return torch.cumsum(x, 1), torch.cumsum(x, 0)",
                "torch.rand(64, 4096)");
    CHECK_EQ_STR(roles_of(&arena, &p), "scan scan");
    p = plan_of(&arena, "self, x, i):\n        return torch.gather(x, 1, i)",
                "torch.rand(64, 512), torch.randint(0, 512, (64, 100))");
    CHECK(has(&p, "(int64_t)t0["));
    arena_drop(&arena);
}

/* The largest value and where it stands are found in one pass over memory. */
T_TEST(cuda_argmax_reads_its_row_once)
{
    Arena arena = {0};
    CudaPlan p = plan_of(&arena, "self, x):\n        return torch.argmax(x, 1)",
                         "torch.rand(256, 512, 300)");
    CHECK(has(&p, "place") && !has(&p, "Min::none"));
    CHECK_EQ_INT(count_of(&p, "to_float(t0["), 1);
    p = plan_of(&arena, "self, x):\n        return torch.argmin(x, 1)", "torch.rand(4000, 9001)");
    CHECK_EQ_STR(roles_of(&arena, &p), "rows");
    CHECK(has(&p, "join_place<Min>(") && has(&p, "own"));
    CHECK_EQ_INT(count_of(&p, "to_float(t0["), 1);
    arena_drop(&arena);
}

/* Results that begin between 16-byte bounds: a piece of the row is turned around in shared memory. */
T_TEST(cuda_scan_turns_odd_rows_in_shared_memory)
{
    Arena arena = {0};
    CudaPlan p = plan_of(&arena, "self, x):\n        return torch.cumsum(x, 1)",
                         "torch.rand(64, 4097)");
    CHECK_EQ_STR(roles_of(&arena, &p), "scan");
    CHECK(has(&p, "turn") && has(&p, "base += 2048"));
    arena_drop(&arena);
}

/* An operand of one row stays in registers while a thread walks several rows. */
T_TEST(cuda_row_that_is_read_again_is_walked_last)
{
    Arena arena = {0};
    CudaPlan p = plan_of(&arena, "self, x, y):\n        return torch.mean(torch.relu(x * y))",
                         "torch.rand(8192, 8192), torch.rand(8192)");
    CHECK(has(&p, "#pragma unroll 8\n"));
    CHECK(p.stages.at[0].blocks >= 256);
    arena_drop(&arena);
}

/* Every write is looked at by the warp that its result belongs to, or by one whose results lie beside each other. */
T_TEST(cuda_index_writes_are_walked_once)
{
    Arena arena = {0};
    CudaPlan p = plan_of(
        &arena, "self, x, at, v):\n        return x.scatter_add(1, at, v)",
        "torch.rand(8, 5000), torch.randint(0, 5000, (8, 300)), torch.rand(8, 300)");
    CHECK_EQ_STR(roles_of(&arena, &p), "writes");
    CHECK(has(&p, "__ballot_sync"));
    p = plan_of(&arena, "self, x, at, v):\n        return x.index_add(0, at, v)",
                "torch.rand(100, 512), torch.randint(0, 100, (900,)), torch.rand(900, 512)");
    CHECK_EQ_STR(roles_of(&arena, &p), "stream");
    CHECK(has(&p, "__ballot_sync"));
    arena_drop(&arena);
}

/* Neighbouring windows of one row overlap: a thread takes several rows and finds its place along them once. */
T_TEST(cuda_row_windows_take_several_rows)
{
    Arena arena = {0};
    CudaPlan p = plan_of(&arena, "self, x):\n        return F.avg_pool1d(x, 8, 1, 4)",
                         "torch.rand(16, 64, 1024)");
    CHECK(has(&p, "for (int u = 0; u < 8; u++)"));
    arena_drop(&arena);
}

/* Tensor cores: f32 as three products of tf32, 16 bits as one, which is exact; f32 as one only where that is wanted. */
T_TEST(cuda_products_use_tensor_cores)
{
    Arena arena = {0};
    CudaPlan p;
    Diag diag;
    const char *body = "self, x, y):\n        return x @ y";
    const char *half = "torch.rand(512, 256).half(), torch.rand(256, 512).half()";
    CHECK(plan_text(&arena, body, "torch.rand(512, 256), torch.rand(256, 512)", &p, &diag));
    CHECK(has(&p, "multiply_tiles<3>"));
    CHECK(plan_with(&arena, body, "torch.rand(512, 256), torch.rand(256, 512)",
                    (CudaOptions){.tf32 = true}, &p, &diag));
    CHECK(has(&p, "multiply_tiles<1>"));
    CHECK(plan_text(&arena, body, half, &p, &diag));
    CHECK(has(&p, "multiply_tiles<1>"));
    arena_drop(&arena);
}

/* Tiles of the product, with what is done with it; a convolution's padding is a mask of the same kernel. */
T_TEST(cuda_products_and_convolutions_are_tiles)
{
    Arena arena = {0};
    CudaPlan p = plan_of(&arena,
                         "self, x, w, b):\n        return torch.relu(F.linear(x, w, b)) * 2",
                         "torch.rand(2000, 300), torch.rand(1700, 300), torch.rand(1700)");
    CHECK_EQ_STR(roles_of(&arena, &p), "product");
    CHECK(has(&p, "blocks of 128 x 128"));
    CHECK_EQ_INT(p.task.workspace, 0);
    p = plan_of(&arena, "self, x, w):\n        return F.conv2d(x, w, padding=1).amax((2, 3))",
                "torch.rand(4, 16, 20, 20), torch.rand(32, 16, 3, 3)");
    CHECK_EQ_STR(roles_of(&arena, &p), "product rows");
    CHECK(has(&p, "copy_element(&left[next]") && has(&p, "(unsigned)("));
    arena_drop(&arena);
}

T_TEST(cuda_refuses_by_name)
{
    Arena arena = {0};
    CudaPlan plan;
    Diag diag;
    CHECK(!plan_text(&arena, "self, x):\n        return torch.sort(x, 1)[0]", "torch.rand(8, 512)",
                     &plan, &diag));
    CHECK(!diag_ok(&diag) && diag.items.len && strstr(diag.items.at[0].text, "sort"));
    arena_drop(&arena);
}

static void compile(const char *body, const char *inputs)
{
    Arena arena = {0};
    CudaPlan plan = plan_of(&arena, body, inputs);
    Diag diag = diag_make(&arena, "k", STR(""));
    TempDir dir;
    REQUIRE(temp_dir_make(&arena, "cuda", &dir, &diag));
    EmitFiles files = {0};
    EmitFile file = {.path = "k.cu", .text = plan.source};
    vec_push(&arena, &files, file);
    REQUIRE(emit_write(&arena, dir.path, &files, &diag));
    const char *argv[] = {"nvcc",    "-std=c++17",   "-O1", "-arch=sm_90", "-cubin",
                          "-Werror", "all-warnings", "-o",  "k.cubin",     "k.cu",
                          NULL};
    ProcResult result = {0};
    ProcSpec spec = {.argv = argv, .dir = dir.path, .seconds = 120};
    REQUIRE(proc_run(&arena, &spec, &result, &diag));
    CHECK_MSG(result.status == 0, "%s: %.*s", body, STR_ARG(result.err));
    temp_dir_remove(&dir, &diag);
    arena_drop(&arena);
}

T_TEST(cuda_text_compiles)
{
    Arena arena = {0};
    bool here = proc_find(&arena, "nvcc") != NULL;
    arena_drop(&arena);
    if (!getenv("T_NVCC") || !here)
        t_skip(here ? "it takes long: T_NVCC=1 runs it" : "nvcc is not installed");
    compile("self, x, t):\n        return F.cross_entropy(x, t), torch.cumsum(x, 1)",
            "torch.rand(1024, 512), torch.randint(0, 512, (1024,))");
}
