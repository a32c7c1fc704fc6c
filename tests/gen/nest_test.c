/* Loop nests: what a graph becomes, and that the planned kernel computes the same as the graph. */
#include "gen/plan/build/build.h"
#include "gen/plan/nest/nest.h"

#include "craft/craft.h"
#include "graph/inputs.h"
#include "ir/run.h"
#include "lower/lower.h"
#include "tests/t.h"
#include "torch/torch.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static Graph *read_model(Arena *arena, const char *forward, const char *inputs, Diag *diag)
{
    const char *text = str_format(arena,
                                  "import torch\nimport torch.nn as nn\n"
                                  "import torch.nn.functional as F\n\n"
                                  "class Model(nn.Module):\n    def forward(%s\n\n"
                                  "def get_inputs():\n    return [%s]\n",
                                  forward, inputs);
    TorchOptions options = {0};
    *diag = diag_make(arena, "model.py", str_from(text));
    TorchTask *task = torch_read_scaled(arena, "model.py", str_from(text), &options, SCALE_FULL,
                                        diag);
    if (!task)
        CHECK_MSG(false, "%s", diag->items.len ? diag->items.at[0].text : "");
    REQUIRE(task != NULL);
    return graph_share(arena, task->graph);
}

static Plan plan_model(Arena *arena, const Graph *g, int64_t tile_limit)
{
    Diag diag = diag_make(arena, "model.py", STR(""));
    Plan plan = {0};
    bool ok = plan_nest(arena, g, npu_chip_find(STR("910B2")), tile_limit, "k", &plan, &diag);
    if (!ok)
        CHECK_MSG(false, "%s", diag.items.len ? diag.items.at[0].text : "");
    REQUIRE(ok);
    return plan;
}

/* ---- values ---- */

static const Tensor *input_of(const Graph *g, const TaskInputs *in, ValueId id)
{
    for (uint32_t i = 0; i < g->inputs.len; i++)
        if (g->inputs.at[i] == id)
            return in->inputs[i];
    for (uint32_t i = 0; i < g->params.len; i++)
        if (g->params.at[i] == id)
            return in->params[i];
    return NULL;
}

static IrOperand operand_of(Arena *arena, const Graph *g, const TaskInputs *in,
                            const PlanOperand *o)
{
    IrData *data = arena_new(arena, IrData);
    data->rank = (uint32_t)o->shape.rank;
    memcpy(data->dims, o->shape.dim, sizeof data->dims);
    if (!o->output)
        data->data = (void *)input_of(g, in, o->value)->at;
    return (IrOperand){1, data};
}

static void check_result(const Graph *g, const TaskInputs *in, const Plan *plan,
                         const IrOperand *operands, Diag *diag)
{
    Tensor **want = calloc(g->outputs.len, sizeof *want);
    EvalOptions options = {0};
    REQUIRE(graph_eval(g, in->inputs, in->params, &options, want, diag));
    for (uint32_t i = 0, next = 0; i < plan->operands.len; i++) {
        const PlanOperand *o = &plan->operands.at[i];
        int64_t n = 0;
        if (!o->output)
            continue;
        const Tensor *w = want[next++];
        REQUIRE(shape_count(w->shape, &n));
        for (int64_t k = 0; k < n; k++) {
            double a = dtype_load(w->dtype, w->at, (size_t)k);
            double b = dtype_load(o->dtype, operands[i].items[0].data, (size_t)k);
            double most = (o->dtype == DT_F32 ? 2e-5 : 4e-3) * (fabs(a) + 1);
            CHECK_MSG(fabs(a - b) <= most || (isnan(a) && isnan(b)),
                      "result %u, element %lld: want %g, got %g", next - 1, (long long)k, a, b);
        }
    }
    for (uint32_t i = 0; i < g->outputs.len; i++)
        tensor_free(want[i]);
    free(want);
}

static void run_plan(Arena *arena, const Graph *g, const Plan *plan)
{
    Diag diag = diag_make(arena, "k.craft", plan->craft);
    CraftFile *file = craft_read(arena, "k.craft", plan->craft, &diag);
    IrProgram *p = file && diag_ok(&diag) ? craft_program(arena, file, 0, &diag) : NULL;
    IrOperand *operands = arena_array(arena, IrOperand, plan->operands.len);
    TaskInputs in = {0};
    if (!p)
        CHECK_MSG(false, "%s", diag.items.len ? diag.items.at[0].text : "");
    REQUIRE(p != NULL);
    REQUIRE(graph_inputs(g, 1, LAW_GIVEN, &in, &diag));
    for (uint32_t i = 0; i < plan->operands.len; i++)
        operands[i] = operand_of(arena, g, &in, &plan->operands.at[i]);
    IrRun run = {.p = p, .chip = npu_chip_find(STR("910B2")), .operands = operands};
    ir_run(arena, &run);
    for (uint32_t i = 0; i < run.faults.len; i++)
        CHECK_MSG(false, "%s", run.faults.at[i].text);
    CHECK_MSG(run.status == IR_RUN_OK, "%s", run.text ? run.text : "");
    if (run.status == IR_RUN_OK)
        check_result(g, &in, plan, operands, &diag);
    graph_inputs_free(&in);
}

/* In one kernel, with tiles as large as fit and with tiny ones, so that every loop turns. */
static void check_model(const char *forward, const char *inputs)
{
    Arena arena = {0};
    Diag diag;
    Graph *g = read_model(&arena, forward, inputs, &diag);
    static const int64_t limits[] = {0, 64};
    for (int i = 0; i < 2; i++) {
        Plan plan = plan_model(&arena, g, limits[i]);
        run_plan(&arena, g, &plan);
    }
    arena_drop(&arena);
}

T_TEST(nest_views_are_accesses)
{
    check_model("self, x, y):\n"
                "        b, h, t, d = x.shape\n"
                "        return x.transpose(1, 2).reshape(b, t, h * d) + y\n",
                "torch.randn(2, 3, 5, 8), torch.randn(2, 5, 24)");
    check_model("self, x):\n        return F.relu(x.view(2, 4, 3, 5, 7).transpose(1, 2).reshape(2, "
                "12, 5, 7))\n",
                "torch.randn(2, 12, 5, 7)");
    check_model("self, x):\n        return torch.flip(x, [0])[1:, 3:9] * 2\n",
                "torch.randn(6, 17)");
    check_model("self, x, s):\n        return x.repeat_interleave(3, dim=1) * s[None, :, None]\n",
                "torch.randn(2, 4, 9), torch.rand(12)");
    check_model("self, x):\n        return x.repeat(1, 3, 1) + 1\n", "torch.randn(2, 4, 9)");
}

T_TEST(nest_joins_and_pads_write_in_parts)
{
    check_model("self, x, c, s):\n"
                "        a, b = x.chunk(2, dim=-1)\n"
                "        return x * c + torch.cat([-b, a], dim=-1) * s\n",
                "torch.randn(3, 5, 2, 16), torch.rand(5, 1, 16), torch.rand(5, 1, 16)");
    check_model("self, x, m):\n"
                "        prev = F.pad(x, (0, 0, 1, -1))\n"
                "        return x * m + prev * (1 - m)\n",
                "torch.randn(2, 7, 20), torch.rand(20)");
    check_model("self, x):\n        return torch.roll(x, 2, 1) - x\n", "torch.randn(3, 7, 12)");
    check_model("self, x, y):\n        return torch.cat([x, y * 2], dim=1) + 1\n",
                "torch.randn(4, 3, 9), torch.randn(4, 5, 9)");
}

T_TEST(nest_reductions_share_what_they_read)
{
    check_model(
        "self, x):\n"
        "        g = x.view(x.shape[0], -1, 16)\n"
        "        s = g.abs().amax(-1, keepdim=True) / 127.0\n"
        "        return (torch.round(g / s)).to(torch.int8).view(x.shape[0], -1), s.squeeze(-1)\n",
        "torch.randn(5, 64)");
    check_model("self, x):\n        return torch.softmax(x, dim=1)\n", "torch.randn(3, 11, 10)");
    check_model("self, x):\n        return F.group_norm(x, 3) * 2\n", "torch.randn(2, 12, 5, 3)");
    check_model("self, x, r):\n"
                "        h = x + r\n"
                "        return h, h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)\n",
                "torch.randn(7, 33), torch.randn(7, 33)");
    check_model("self, x):\n        return x.float().std(dim=(1, 2)), (x.float() - "
                "x.float().mean(dim=(1, 2), keepdim=True)).half()\n",
                "torch.randn(6, 4, 12, dtype=torch.float16)");
}

/* Reductions over different axes are walked one after the other. */
T_TEST(nest_walks_each_reduction_by_itself)
{
    check_model(
        "self, x, a, b, c):\n"
        "        return x * (a.sum(-1, keepdim=True) + b.sum(-1, keepdim=True) + c.sum(-1, "
        "keepdim=True))\n",
        "torch.randn(40, 100), torch.randn(40, 20), torch.randn(40, 30), torch.randn(40, 44)");
}

T_TEST(nest_places_are_numbers)
{
    check_model("self, s, k):\n"
                "        n = s.shape[-1]\n"
                "        p = torch.arange(n)\n"
                "        d = (p[None, :] - p[:, None]).float()\n"
                "        x = (s + k[:, None, None] * d).masked_fill(d > 0, float('-inf'))\n"
                "        return torch.softmax(x, dim=-1)\n",
                "torch.randn(3, 9, 9), torch.rand(3)");
    check_model("self, x):\n        return torch.tril(x) + 1\n", "torch.randn(3, 9, 13)");
}

T_TEST(nest_picks_by_places)
{
    check_model("self, x, t):\n"
                "        p = torch.log_softmax(x, dim=-1)\n"
                "        return -p.gather(1, t.unsqueeze(1)).squeeze(1), p.mean(dim=1)\n",
                "torch.randn(6, 70), torch.randint(0, 70, (6,))");
    check_model("self, x):\n        return torch.argmax(x, dim=-1), torch.argmin(x, dim=-1)\n",
                "torch.randn(5, 130).round()");
    check_model("self, x):\n        return F.one_hot(torch.argmax(x, dim=-1), 9).float() * "
                "x.amax(-1, keepdim=True)\n",
                "torch.randn(5, 9)");
}

/* A result that is written in two halves, and a norm over both: each half is read once. */
T_TEST(nest_reduces_in_the_parts_that_results_have)
{
    check_model(
        "self, q, c, s):\n"
        "        f = q.float()\n"
        "        f = f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + 1e-6)\n"
        "        a, b = f[..., :8], f[..., 8:]\n"
        "        return torch.cat((a * c - b * s, b * c + a * s), dim=-1).half()\n",
        "torch.randn(4, 3, 16, dtype=torch.float16), torch.rand(4, 1, 8), torch.rand(4, 1, 8)");
}

T_TEST(nest_takes_elements_apart_and_puts_them_together)
{
    check_model(
        "self, x, r):\n        return F.gelu(x[:, 0::2], approximate='tanh') * x[:, 1::2] + r\n",
        "torch.randn(9, 60), torch.randn(9, 30)");
    check_model(
        "self, x, g):\n"
        "        a, b = x[..., 0::2], x[..., 1::2]\n"
        "        c, s = torch.cos(g), torch.sin(g)\n"
        "        return torch.stack((a * c - b * s, b * c + a * s), dim=-1).reshape(x.shape)\n",
        "torch.randn(2, 7, 40), torch.rand(7, 20)");
    check_model("self, x, w):\n        return x.float().sum(-1) * w\n",
                "torch.randn(6, 21, 2, dtype=torch.float16), torch.rand(6, 21)");
}

/* A reshape splits an axis, and a reduction over what is split takes the part. */
T_TEST(nest_of_a_grouped_norm)
{
    Arena arena = {0};
    Diag diag;
    Buf out = {0};
    Graph *g = read_model(&arena,
                          "self, x):\n        g = x.view(4, 2, 8)\n"
                          "        return (g - g.amax(-1, keepdim=True)).view(4, 16)\n",
                          "torch.randn(4, 16)", &diag);
    Nest *nest = nest_derive(&arena, g, &diag);
    REQUIRE(nest != NULL);
    nest_merge(nest);
    nest_print(nest, &out);
    CHECK_EQ_SLICE(buf_view(&out), "nest\n"
                                   "  axis a1 8\n"
                                   "  axis a2 1\n"
                                   "  axis a3 8\n"
                                   "  tensor t0 f32 64\n"
                                   "  tensor t1 f32 64 output\n"
                                   "  v1 = load t0 [8 a1 + a3]\n"
                                   "  v2 = reduce max over a3 of v1\n"
                                   "  v3 = map $0 - $1 of v1 v2\n"
                                   "  store t1 [8 a1 + a3] = v3\n");
    buf_free(&out);
    arena_drop(&arena);
}

/* Reductions over what results are dealt out by: all cores compute them together, a phase earlier. */
T_TEST(nest_cores_share_reductions)
{
    check_model("self, x):\n        return x / x.sum(0) - x.amax(1, keepdim=True)\n",
                "torch.rand(40, 24) + 1");
    check_model("self, x, y):\n        return x.amin() + x.amax() * y\n",
                "torch.randn(9, 33), torch.randn(7, 20)");
    check_model("self, x):\n        return (x * x).mean()\n",
                "torch.randn(5, 70, dtype=torch.float16)");
    check_model("self, x, y):\n"
                "        a, b = x.sum(-1), y.sum(-1)\n"
                "        return 1 - ((x * y).sum(-1) / (a + b + 1)).mean(1)\n",
                "torch.rand(2, 3, 70), torch.rand(2, 3, 70)");
    check_model("self, x, y):\n        return torch.stack([x.mean(), y.amax(), (x * x).sum()])\n",
                "torch.rand(9, 30), torch.randn(41)");
}

/* One phase after the other, where reductions depend on each other; a reduction of rows inside. */
T_TEST(nest_phases_follow_each_other)
{
    check_model("self, x):\n        return torch.softmax(x.reshape(-1), 0)\n",
                "torch.randn(13, 50)");
    check_model("self, x):\n        return (x - x.mean()) / x.std()\n", "torch.randn(6, 65)");
    check_model("self, x):\n"
                "        p = torch.softmax(x, dim=-1)\n"
                "        share = F.one_hot(torch.argmax(x, dim=-1), 16).float().mean(dim=0)\n"
                "        return 16 * (share * p.mean(dim=0)).sum()\n",
                "torch.randn(37, 16)");
}

/* What no single kernel can do is refused, with the operator's name. */
T_TEST(nest_refuses_by_name)
{
    Arena arena = {0};
    Diag diag;
    Graph *g = read_model(&arena, "self, x):\n        return torch.sort(x)[0]\n",
                          "torch.randn(4, 16)", &diag);
    Plan plan = {0};
    CHECK(!plan_nest(&arena, g, npu_chip_find(STR("910B2")), 0, "k", &plan, &diag));
    REQUIRE(diag.items.len > 0);
    CHECK(strstr(diag.items.at[0].text, "sort") != NULL);
    arena_drop(&arena);
}

/* ---- copies that several accesses share ---- */

static uint32_t count_of(Str text, Str part)
{
    uint32_t n = 0;
    for (ptrdiff_t at = str_find(text, part); at >= 0; at = str_find(text, part)) {
        n++;
        text.at += (size_t)at + part.len;
        text.len -= (size_t)at + part.len;
    }
    return n;
}

/* Rows at distances of one are one copy, which keeps its two buffers. */
T_TEST(nest_shifted_rows_are_one_copy)
{
    static const char forward[] = "self, x, w):\n"
                                  "        t = x.shape[1]\n"
                                  "        p = F.pad(x, (0, 0, 3, 0))\n"
                                  "        y = 0\n"
                                  "        for k in range(4):\n"
                                  "            y = y + p[:, k:k + t] * w[k]\n"
                                  "        return y\n";
    check_model(forward, "torch.randn(2, 9, 24), torch.rand(4, 24)");
    Arena arena = {0};
    Diag diag;
    Graph *g = read_model(&arena, forward, "torch.randn(2, 500, 256), torch.rand(4, 256)", &diag);
    Plan plan = plan_model(&arena, g, 0);
    CHECK_EQ_INT(count_of(plan.craft, STR("r.size + 3")), 1);
    diag = diag_make(&arena, "k.craft", plan.craft);
    CraftFile *file = craft_read(&arena, "k.craft", plan.craft, &diag);
    IrProgram *p = file ? craft_program(&arena, file, 0, &diag) : NULL;
    REQUIRE(p != NULL);
    lower_program(&arena, p, npu_chip_find(STR("910B2")), LOWER_COMPUTE, &diag);
    for (uint32_t i = 0; i < diag.items.len; i++)
        CHECK_MSG(strcmp(diag.items.at[i].code, "W093"), "%s", diag.items.at[i].text);
    arena_drop(&arena);
}

T_TEST(nest_rows_are_turned_on_chip)
{
    check_model("self, x, v):\n"
                "        g = torch.flip(v, [1]) * x\n"
                "        return g / (g.abs().mean(dim=1, keepdim=True) + 1e-5)\n",
                "torch.randn(3, 7, 20), torch.randn(3, 7, 20)");
}

T_TEST(nest_rows_are_read_in_steps)
{
    check_model("self, p, q, w):\n"
                "        return ((p - q).abs().sum(-1) * w).mean(dim=1)\n",
                "torch.randn(7, 11, 2), torch.randn(7, 11, 2), torch.rand(7, 11)");
    check_model("self, x, c, s):\n"
                "        r, rest = x[..., :16], x[..., 16:]\n"
                "        a = r[..., 0::2] * c - r[..., 1::2] * s\n"
                "        b = r[..., 0::2] * s + r[..., 1::2] * c\n"
                "        return torch.cat([torch.stack([a, b], dim=-1).flatten(-2), rest], -1)\n",
                "torch.randn(2, 3, 5, 24), torch.rand(5, 8), torch.rand(5, 8)");
    check_model("self, x):\n"
                "        d = F.pixel_unshuffle(x, 2)\n"
                "        return d / torch.sqrt((d * d).mean(dim=1, keepdim=True) + 1e-6)\n",
                "torch.randn(2, 3, 8, 16)");
}

/* A border between the steps of an access: the result is cut at the next one, or in the step itself. */
T_TEST(nest_cuts_between_steps)
{
    check_model("self, x):\n"
                "        y = torch.roll(x, shifts=(-3, -3), dims=(1, 2))\n"
                "        b, h, w, c = y.shape\n"
                "        y = y.view(b, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5)\n"
                "        return y.reshape(-1, 16, c) + 1\n",
                "torch.randn(2, 8, 8, 9)");
    check_model("self, x):\n"
                "        p = F.pad(x, (0, 0, 1, 1))\n"
                "        return (p[:, :-2] + p[:, 2:])[:, ::2]\n",
                "torch.randn(2, 9, 12)");
}

/* The minimum over channels is there only behind its own loop: the sum of it is no expression of one tile. */
T_TEST(nest_reductions_of_reductions_over_other_axes)
{
    Arena arena = {0};
    Diag diag;
    Graph *g = read_model(
        &arena,
        "self, x, y):\n"
        "        s = x.permute(0, 2, 3, 1).reshape(2, 12, 8, 6)[:, 1:11, 1:7] + y\n"
        "        return s.min(dim=1, keepdim=True)[0].sum(dim=2, keepdim=True)\n",
        "torch.randn(2, 6, 12, 8), torch.randn(6)", &diag);
    Plan plan = {0};
    diag = diag_make(&arena, "model.py", STR(""));
    if (plan_make(&arena, g, npu_chip_find(STR("910B2")), 0, &plan, &diag))
        CHECK(plan.craft.len > 0);
    else
        CHECK(diag.items.len > 0);
    arena_drop(&arena);
}
