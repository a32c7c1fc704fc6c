/* Loop nests: what a graph becomes, and that the planned kernel computes the same as the graph. */
#include "gen/plan/nest/nest.h"
#include "gen/plan/schedule/search.h"

#include "lower/lower.h"
#include "tests/gen/nest_run.h"

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
/* What a walk gathers as it is stays on chip while others that read it, too, are computed. */
T_TEST(nest_walks_keep_what_a_reduction_reads_as_it_is)
{
    check_model("self, x, m):\n        a = torch.exp(x)\n        d = a - m\n"
                "        return (d * d).sum(dim=-1), a.sum(dim=-1)\n",
                "torch.randn(3, 20000), torch.randn(3, 1)");
    check_model("self, x, m):\n        d = x.float() - m\n"
                "        return (d * d).mean(dim=-1), x.float().mean(dim=-1)\n",
                "torch.randn(3, 20000, dtype=torch.float16), torch.randn(3, 1)");
    check_model("self, x, m):\n        a = torch.exp(x)\n        d = a - m\n"
                "        return (d * d).sum(dim=0), a.amax(dim=0), (d + a).amin(dim=0)\n",
                "torch.randn(40, 60), torch.randn(60)");
}

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

/* The largest of what is left, a few times: fused with what reads it, along any dimension, ties in order. */
T_TEST(nest_takes_the_largest_by_turns)
{
    check_model("self, x):\n"
                "        v, i = torch.topk(x, 2, dim=-1)\n"
                "        return torch.softmax(v, dim=-1), i\n",
                "torch.randn(130, 24)");
    check_model("self, x):\n"
                "        v, i = torch.topk(x, 3, dim=-1, largest=False)\n"
                "        return v, i, x.sum(-1)\n",
                "torch.randn(9, 70).round()");
    check_model("self, x):\n"
                "        v, i = torch.topk(x + 1.0, 3, dim=-1)\n        return v.sum(-1)\n",
                "torch.randn(11, 70)");
}

/* Softmax of rows that do not fit: the largest and the sum of exponentials in one walk, rows of -inf too. */
T_TEST(nest_sums_follow_the_largest_so_far)
{
    check_model("self, x):\n        return torch.softmax(x * 3.0, dim=-1) + 1.0\n",
                "torch.randn(3, 21000)");
    check_model("self, x):\n        return torch.logsumexp(x, dim=1) * x.amax(dim=1)\n",
                "torch.randn(2, 900, 70)");
    check_model("self, x, n):\n"
                "        return torch.logsumexp(x.masked_fill(n > 20000, float('-inf')), dim=-1)\n",
                "torch.randn(2, 30000), torch.arange(30000).float().flip(0).expand(2, 30000)");
}

/* An element that is picked of what maps give is picked of what these read. */
T_TEST(nest_picks_before_it_maps)
{
    check_model("self, x, t):\n"
                "        p = torch.log_softmax(x, dim=-1)\n"
                "        return 0.9 * -p.gather(1, t.unsqueeze(1)).squeeze(1) - 0.1 * p.mean(1)\n",
                "torch.randn(6, 300), torch.randint(0, 300, (6,))");
}

/* Single values that only the vector unit computes: once, not for every element. */
T_TEST(nest_single_values_are_computed_once)
{
    check_model("self, p, m, step):\n"
                "        return p - m / (1 - torch.pow(0.9, step)), m * torch.tanh(step)\n",
                "torch.randn(700), torch.randn(700), torch.full((1,), 7.0)");
}

/* Running results, along lanes and along rows, whole and handed on from tile to tile, beside reductions. */
T_TEST(nest_scans_are_values)
{
    check_model("self, x):\n"
                "        n = torch.arange(1, x.shape[1] + 1).float()\n"
                "        return torch.cumsum(x, dim=1) / n\n",
                "torch.randn(5, 300)");
    check_model("self, x):\n"
                "        top = torch.cummax(x, dim=1).values\n"
                "        return ((top - x) / top).amax(dim=1)\n",
                "torch.rand(3, 9000) + 1.0");
    check_model("self, x, w):\n        return torch.cumsum(x * w, dim=1) * 0.5 + x\n",
                "torch.randn(3, 21, 40), torch.rand(1, 21, 1)");
    check_model("self, x):\n        return torch.cumsum(x, dim=0) * 2.0\n",
                "torch.randn(300, 130)");
    check_model("self, x):\n        return torch.flip(torch.cumsum(torch.flip(x, [1]), 1), [1])\n",
                "torch.randn(4, 12, 50)");
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

/* A mask of rows, of lanes or of one turn is compared with all elements of a tile. */
T_TEST(nest_masks_are_values)
{
    check_model("self, x, n):\n        return x.masked_fill(n[:, None] > 0.5, 0.0)\n",
                "torch.randn(9, 40), torch.rand(9)");
    check_model("self, x, n):\n"
                "        return torch.where((x > 0) & (n[None, :] > 0.5) | (x < -1), x, x * 0.1)\n",
                "torch.randn(9, 40), torch.rand(40)");
    check_model("self, x, m):\n"
                "        return x.masked_fill(~m, 0.0).sum(-1) / m.sum(-1).clamp(min=1)\n",
                "torch.randn(9, 40), torch.rand(9, 40) > 0.5");
    check_model("self, x, m, n):\n"
                "        keep = m[:, None, None, :] & ~(n[:, None, None, None] > 0.5)\n"
                "        return torch.softmax(x.masked_fill(~keep, -1e4), dim=-1)\n",
                "torch.randn(3, 2, 5, 40), torch.rand(3, 40) > 0.5, torch.rand(3)");
    check_model("self, x, y):\n        return (x > y) | torch.isnan(x)\n",
                "torch.randn(9, 40), torch.randn(40)");
    check_model("self, x, y):\n"
                "        n = (x > 0).sum()\n"
                "        return torch.where(n > 0, (x * y).sum() / n.clamp(min=1), y.sum() * 0)\n",
                "torch.randn(9, 40), torch.randn(9, 40)");
    check_model("self, x, y):\n        return y * (x.sum() > 0).float()\n",
                "torch.randn(9, 40), torch.randn(9, 40)");
    check_model("self, x, t):\n"
                "        valid = t >= 0\n"
                "        lp = F.log_softmax(x, dim=-1).gather(1, t.clamp(min=0)[:, None])[:, 0]\n"
                "        return -torch.where(valid, lp, torch.zeros_like(lp)).sum() / "
                "valid.float().sum()\n",
                "torch.randn(9, 1500), torch.randint(-1, 1500, (9,))");
}

/* Results of rows are stored in the walk that sums the columns, sums of different depth share a walk, and many
 * values that every row reads are merged once. */
T_TEST(nest_cores_share_walks)
{
    check_model("self, g, r, c):\n"
                "        sq = g * g + 1e-30\n"
                "        r2 = 0.99 * r + 0.01 * sq.mean(dim=1)\n"
                "        c2 = 0.99 * c + 0.01 * sq.mean(dim=0)\n"
                "        u = g * torch.rsqrt(r2 / r2.mean()).unsqueeze(1) * torch.rsqrt(c2)\n"
                "        return u, r2, c2\n",
                "torch.randn(300, 700), torch.rand(300) + 0.1, torch.rand(700) + 0.1");
    check_model("self, x, y):\n"
                "        p = torch.softmax(x, dim=1)\n"
                "        inter = (p * y).sum(dim=(2, 3))\n"
                "        union = p.sum(dim=(2, 3)) + y.sum(dim=(2, 3))\n"
                "        return 1 - ((2 * inter + 1.0) / (union + 1.0)).mean(dim=1)\n",
                "torch.randn(3, 5, 40, 41), torch.rand(3, 5, 40, 41)");
    check_model("self, x):\n"
                "        rows = torch.sqrt((x * x).sum(1, keepdim=True)) + 1e-6\n"
                "        columns = torch.sqrt((x * x).sum(0, keepdim=True)) + 1e-6\n"
                "        return x / (rows * columns)\n",
                "torch.randn(200, 300)");
    Arena arena = {0};
    Diag diag;
    Graph *g = read_model(&arena,
                          "self, x):\n"
                          "        return x.sum(1), x.sum(0), (x * x.mean(dim=0)).amax(dim=1)\n",
                          "torch.randn(1000, 2000)", &diag);
    const char *schedule = plan_model(&arena, g, 0).schedule;
    CHECK(strstr(schedule, "band w0 y0: cores share") != NULL);
    CHECK(strstr(schedule, "band m0: cores; lanes") != NULL);
    arena_drop(&arena);
}

/* Reductions of reductions: the inner ones are stored between two phases. */
T_TEST(nest_keeps_inner_reductions)
{
    check_model("self, pred, target, tau):\n"
                "        u = target.unsqueeze(1) - pred.unsqueeze(2)\n"
                "        h = torch.where(u.abs() <= 1.0, 0.5 * u * u, u.abs() - 0.5)\n"
                "        w = (tau.unsqueeze(2) - (u < 0).float()).abs()\n"
                "        return (w * h).mean(2).sum(1)\n",
                "torch.randn(50, 32), torch.randn(50, 32), torch.rand(50, 32)");
    check_model("self, x):\n"
                "        weight = torch.softmax(x.mean(dim=(2, 3)), dim=1)\n"
                "        return x * weight[:, :, None, None] + x\n",
                "torch.randn(4, 12, 20, 30)");
}

/* Few columns are no work for all cores: where that is faster, each sums a part of the rows. */
T_TEST(nest_shares_sums_of_few_columns)
{
    const char *forward = "self, x, c):\n        return 0.9 * c + 0.1 * (x * x).mean(0)\n";
    const char *inputs = "torch.randn(9000, 130), torch.rand(130)";
    Arena arena = {0};
    Diag diag;
    const Graph *g = read_model(&arena, forward, inputs, &diag);
    CHECK(strstr(plan_model(&arena, g, 0).schedule, "share ") != NULL);
    arena_drop(&arena);
    check_model(forward, inputs);
}

/* The program's first lines say that f32 does not hold all integers. */
T_TEST(nest_names_what_it_does_not_hold)
{
    Arena arena = {0};
    Diag diag;
    const Graph *g = read_model(&arena, "self, x, p):\n        return x * p[:, None].float()\n",
                                "torch.randn(9, 40), torch.randint(0, 1000, (9,))", &diag);
    Plan plan = plan_model(&arena, g, 0);
    CHECK(plan.reason != NULL && strstr(plan.craft.at, "2^24") != NULL);
    g = read_model(&arena, "self, x):\n        return x * 2\n", "torch.randn(9, 40)", &diag);
    CHECK(plan_model(&arena, g, 0).reason == NULL);
    arena_drop(&arena);
}

/* Integers that f32 holds are computed in it, by the bounds that the file gives. */
T_TEST(nest_computes_small_integers)
{
    check_model("self, x, p):\n        return x * p[:, None].float()\n",
                "torch.randn(9, 40), torch.randint(0, 1000, (9,))");
    check_model("self, x, l):\n"
                "        same = l[:, None] == l[None, :]\n"
                "        return x.masked_fill(~same, 0.0)\n",
                "torch.randn(40, 40), torch.randint(0, 5, (40,))");
    check_model("self, x, n):\n"
                "        at = torch.arange(x.shape[-1])\n"
                "        return x.masked_fill(at[None, None, :] >= n[:, None, None], 0.0)\n",
                "torch.randn(4, 3, 40), torch.randint(1, 41, (4,))");
    check_model("self, x, p):\n"
                "        r, c = p // 8, p % 8\n"
                "        return x + torch.sin(r.float())[:, None] * c[:, None], r * 8 + c - 1\n",
                "torch.randn(9, 40), torch.randint(0, 4096, (9,))");
    check_model("self, x, m):\n        return (x * (1 - m)).sum(1), m.sum(1)\n",
                "torch.randn(9, 40), torch.randint(0, 2, (9, 40), dtype=torch.int32)");
    check_model("self, x, m):\n        return torch.where(m.bool(), x, -x), m.cumsum(1)\n",
                "torch.randn(9, 40), torch.randint(0, 3, (9, 40))");
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
    static const char forward[] = "self, p, w):\n"
                                  "        t = p.shape[1] - 3\n"
                                  "        y = 0\n"
                                  "        for k in range(4):\n"
                                  "            y = y + p[:, k:k + t] * w[k]\n"
                                  "        return y\n";
    check_model(forward, "torch.randn(2, 12, 24), torch.rand(4, 24)");
    Arena arena = {0};
    Diag diag;
    Graph *g = read_model(&arena, forward, "torch.randn(2, 503, 256), torch.rand(4, 256)", &diag);
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

/* Rows are next to each other in memory, not lanes. */
T_TEST(nest_tiles_are_transposed_on_chip)
{
    check_model("self, x, w):\n        return torch.relu(x.transpose(1, 2)) * w\n",
                "torch.randn(3, 40, 21), torch.randn(40)");
    check_model("self, x, w):\n"
                "        y = x.transpose(1, 2).float() + w\n"
                "        return y - y.mean(-1, keepdim=True)\n",
                "torch.randn(2, 24, 70, dtype=torch.float16), torch.randn(24)");
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

/* Windows that share no element, and pictures enlarged or reduced by whole factors, are accesses. */
T_TEST(nest_disjoint_windows_and_nearest_elements)
{
    check_model("self, x):\n"
                "        return F.max_pool2d(x, (3, 5)) - F.avg_pool2d(x, (3, 5))\n",
                "torch.randn(2, 3, 12, 20)");
    check_model("self, x):\n        return F.avg_pool1d(x, 7, stride=10).relu()\n",
                "torch.randn(2, 5, 70)");
    check_model("self, x, y):\n"
                "        return F.interpolate(x, scale_factor=2, mode='nearest') * y\n",
                "torch.randn(2, 3, 7, 9), torch.randn(2, 3, 14, 18)");
    check_model("self, x):\n"
                "        return F.interpolate(x, size=(12, 5), mode='nearest-exact') + 1\n",
                "torch.randn(2, 3, 4, 15)");
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

/* A task may be called as the scalars of a planned host function are: its plan is that of any other name. */
T_TEST(nest_tasks_called_as_scalars_are)
{
    static const char *const names[] = {"probability_sums", "parts", "cores"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Arena arena = {0};
        Diag diag;
        Graph *g = read_model(&arena,
                              "self, x):\n"
                              "        return torch.softmax(x, dim=1).sum(dim=0)\n",
                              "torch.randn(300, 700)", &diag);
        g->name = names[i];
        Plan plan = {0};
        diag = diag_make(&arena, "model.py", STR(""));
        REQUIRE(plan_make(&arena, g, npu_chip_find(STR("910B2")), 0, &plan, &diag));
        CHECK_EQ_STR(plan.strategy, "nest");
        arena_drop(&arena);
    }
}

/* Windows that share elements: what they read is computed once for a tile and what surrounds it. */
T_TEST(nest_windows_share_what_they_read)
{
    check_model("self, x):\n"
                "        m = F.avg_pool2d(x, 5, stride=1, padding=2)\n"
                "        v = F.avg_pool2d(x * x, 5, stride=1, padding=2) - m * m\n"
                "        return (x - m) / torch.sqrt(v.clamp(min=0) + 1e-2)\n",
                "torch.randn(2, 3, 19, 21)");
    check_model(
        "self, x):\n        return F.max_pool2d(x.exp(), (5, 3), stride=(3, 2), padding=(2, 1))\n",
        "torch.randn(2, 2, 20, 23)");
    check_model("self, x):\n"
                "        return F.avg_pool1d(x.abs().pow(3), 7, stride=3).sqrt()\n",
                "torch.randn(2, 3, 100)");
    check_model(
        "self, x):\n"
        "        a = F.avg_pool2d(x, (3, 5), stride=2, padding=(1, 2), count_include_pad=False)\n"
        "        return torch.sigmoid(a - F.max_pool2d(x, (3, 5), stride=2, padding=(1, 2)))\n",
        "torch.randn(2, 3, 17, 22)");
    check_model("self, x):\n"
                "        m = F.max_pool1d(x, 5, stride=1, padding=2)\n"
                "        return m / (m.abs().amax(dim=-1, keepdim=True) + 1e-6)\n",
                "torch.randn(2, 5, 40)");
}

T_TEST(nest_windows_of_windows_and_ceil_mode)
{
    check_model("self, x):\n"
                "        lo = -F.max_pool2d(-x, 3, stride=1, padding=1)\n"
                "        return F.max_pool2d(lo, 3, stride=2, padding=1)\n",
                "torch.randn(2, 2, 15, 18)");
    check_model("self, x):\n"
                "        m = F.avg_pool2d(x, 3, stride=2, ceil_mode=True)\n"
                "        return F.avg_pool2d(x * x, 3, stride=2, ceil_mode=True) - m * m\n",
                "torch.randn(2, 3, 16, 22)");
    check_model("self, x):\n"
                "        p = F.pad(x, (1, 0, 2, 1), value=0.5)\n"
                "        return F.gelu(F.avg_pool2d(p, (4, 2), stride=(2, 1)))\n",
                "torch.randn(2, 3, 14, 17)");
    check_model("self, x):\n"
                "        m = F.avg_pool1d(x.transpose(1, 2), 8, stride=4).transpose(1, 2)\n"
                "        return F.layer_norm(m, (24,))\n",
                "torch.randn(2, 50, 24)");
    check_model(
        "self, x):\n        return F.max_pool2d(x, 3, stride=1, padding=1, dilation=2) + 1\n",
        "torch.randn(2, 3, 14, 40, dtype=torch.float16)");
}

T_TEST(nest_pads_are_windows_of_one_element)
{
    check_model("self, x):\n"
                "        p = F.pad(x, (1, 1, 1, 1), mode='reflect')\n"
                "        r = p[:, :, :-2] + 2 * p[:, :, 1:-1] + p[:, :, 2:]\n"
                "        c = r[..., :-2] + 2 * r[..., 1:-1] + r[..., 2:]\n"
                "        return c[:, :, ::2, ::2] / 16\n",
                "torch.randn(2, 2, 14, 18)");
    check_model("self, x):\n"
                "        p = F.pad(x, (2, 1, 1, 2), mode='replicate')\n"
                "        return p[:, :, 1:-2, 2:-1] * 4 - p[:, :, :-3, 2:-1] - p[:, :, 3:, 2:-1]\n",
                "torch.randn(2, 2, 11, 13)");
    check_model("self, x, w):\n"
                "        y = x * w[3]\n"
                "        for i in range(3):\n"
                "            y = y + F.pad(x, (0, 0, 3 - i, 0))[:, :x.shape[1]] * w[i]\n"
                "        return F.silu(y)\n",
                "torch.randn(2, 37, 24), torch.randn(4, 24)");
    check_model("self, x):\n        return torch.exp(F.pad(x, (4, 3, 4, 30)))\n",
                "torch.randn(3, 20, 61)"); /* tiles that begin behind the last element */
}
