/* Schedules as text: what is printed reads back and builds the same program; what is illegal is refused by name;
 * what is drawn at random and accepted computes the right values. */
#include "gen/plan/schedule/search.h"

#include "gen/plan/candidates.h"
#include "tests/gen/nest_run.h"

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

typedef struct Model {
    const char *forward, *inputs;
} Model;

static const Model models[] = {
    {"self, x):\n        return torch.softmax(x, dim=-1)\n", "torch.randn(37, 70)"},
    {"self, x, w):\n"
     "        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w, x + 1\n",
     "torch.randn(5, 9, 33), torch.rand(33)"},
    {"self, x):\n        return torch.softmax(x, dim=1)\n", "torch.randn(3, 11, 10)"},
    {"self, x):\n        return x / x.sum(0) - x.amax(1, keepdim=True)\n",
     "torch.rand(40, 24) + 1"},
    {"self, x):\n        return (x - x.mean()) / x.std()\n", "torch.randn(6, 65)"},
    {"self, x, y):\n        return torch.cat([x, y * 2], dim=1) + 1\n",
     "torch.randn(4, 3, 9), torch.randn(4, 5, 9)"},
    {"self, x, r):\n        return x[:, 0::2] * x[:, 1::2] + r\n",
     "torch.randn(9, 60, dtype=torch.float16), torch.randn(9, 30, dtype=torch.float16)"},
    {"self, x, w):\n"
     "        p = x.reshape(2, 3, 5, 4, 7, 2).permute(0, 2, 4, 1, 3, 5).reshape(2, 35, 24)\n"
     "        return (p - p.mean(-1, keepdim=True)) * w\n",
     "torch.randn(2, 3, 20, 14), torch.rand(24)"},
    {"self, x, b):\n        return F.pixel_shuffle(x + b, 3) * 2\n",
     "torch.randn(2, 18, 5, 6, dtype=torch.float16), torch.rand(18, 1, 1, dtype=torch.float16)"},
    {"self, x):\n        return x.reshape(3, 4, 5, 3, 6, 4).amax((3, 5))\n",
     "torch.randn(3, 4, 15, 24)"},
    {"self, x, y):\n        a, b = x.sum(-1), y.sum(-1)\n"
     "        return 1 - ((x * y).sum(-1) / (a + b + 1)).mean(1)\n",
     "torch.rand(2, 3, 70), torch.rand(2, 3, 70)"},
};
enum { MODELS = sizeof models / sizeof *models };

static Nest *nest_of(Arena *arena, const Graph *g)
{
    Diag diag = diag_make(arena, "model.py", STR(""));
    Nest *nest = nest_derive(arena, g, &diag);
    REQUIRE(nest != NULL);
    nest_merge(nest);
    return nest;
}

static const char *text_of(Arena *arena, const Nest *nest, const Schedule *s)
{
    Buf out = {0};
    schedule_print(nest, s, &out);
    const char *text = buf_take(&out, arena);
    buf_free(&out);
    return text;
}

/* Every candidate of the search: text, schedule, the same text and the same program. */
T_TEST(schedule_text_reads_back)
{
    for (int m = 0; m < MODELS; m++) {
        Arena arena = {0};
        Diag diag;
        Graph *g = read_model(&arena, models[m].forward, models[m].inputs, &diag);
        PlanTried tried = {0};
        uint32_t best;
        bool planned = plan_nest_tried(&arena, g, chip(), "k", 3, &tried, &best, &diag);
        CHECK_MSG(planned, "model %d: %s", m, diag.items.len ? diag.items.at[0].text : "");
        for (uint32_t i = 0; i < tried.len; i++) {
            const char *text = text_of(&arena, tried.at[i].nest, &tried.at[i].schedule);
            PlanBuilt built;
            diag = diag_make(&arena, "s", str_from(text));
            bool ok = plan_nest_text(&arena, g, chip(), "s", str_from(text), "k", &built, &diag);
            CHECK_MSG(ok, "%s\n%s", text, diag.items.len ? diag.items.at[0].text : "");
            if (!ok)
                continue;
            CHECK_EQ_STR(text_of(&arena, built.nest, &built.schedule), text);
            CHECK(str_equal(built.plan.craft, tried.at[i].plan.craft));
        }
        arena_drop(&arena);
    }
}

/* Random texts: those that are accepted compute what the graph computes. */
T_TEST(schedule_drawn_at_random_is_right_or_refused)
{
    enum { DRAWS = 60, RUNS = 4 };
    uint32_t accepted = 0;
    for (int m = 0; m < MODELS; m++) {
        Arena arena = {0};
        Diag diag;
        Graph *g = read_model(&arena, models[m].forward, models[m].inputs, &diag);
        const Nest *base = nest_of(&arena, g);
        for (uint32_t i = 0, runs = 0; i < DRAWS && runs < RUNS; i++) {
            Buf text = {0};
            PlanBuilt built;
            schedule_draw(base, (uint64_t)m + 1, i, &text);
            diag = diag_make(&arena, "s", buf_view(&text));
            bool ok = plan_nest_text(&arena, g, chip(), "s", buf_view(&text), "k", &built, &diag);
            CHECK(ok == diag_ok(&diag));
            if (ok && clock_is_sound(&built.plan, chip())) {
                CHECK_MSG(run_plan(&arena, g, &built.plan), "model %d, %s\n%.*s", m, text.at,
                          STR_ARG(built.plan.craft));
                runs++;
                accepted++;
            }
            buf_free(&text);
        }
        arena_drop(&arena);
    }
    CHECK_MSG(accepted >= 2 * MODELS, "only %u were accepted", accepted);
}

typedef struct Refused {
    const char *text, *says;
    uint32_t line;
} Refused;

/* Softmax of [37, 70]: a1 are rows, a2 is reduced; v2 is the maximum. */
T_TEST(schedule_refuses_by_axis)
{
    static const Refused rows[] = {
        {"", "no kernel", 1},
        {"kernel\n", "stores y0", 2},
        {"band y0: cores\n", "needs a line 'kernel' before it", 1},
        {"axes a1=36\n", "a1: the task has 37", 1},
        {"axes a9=4\n", "an axis, a1 to a2", 1},
        {"parts 0\n", "pieces for each core, 1 to 64, not '0'", 1},
        {"parts 99999999999999999999\n", "pieces for each core", 1},
        {"share v1 over a2\n", "only a reduction", 1},
        {"share v99 over a2\n", "a value, v1 to", 1},
        {"share v2 over a1\n", "a1: the value is not reduced over this axis", 1},
        {"buffers 3 in 2 out\n", "1 to 2, not '3'", 1},
        {"kernel\nband y7: cores a1\n", "a result such as y0, not 'y7'", 2},
        {"kernel\nband y0: cores a1; lanes a2 by 64\n", "a2: a tile of one row is reduced", 2},
        {"kernel\nband y0: cores a2; rows a1 by 4; lanes a2 by 64\n", "a2: it has two roles", 2},
        {"kernel\nband y0: rows a1 by 4\n", "a2: it has no role in this band", 2},
        {"kernel\nband y0: cores a2; rows a1 by 4\n", "a2: it is reduced", 2},
        {"kernel\nband y0: loops a1; rows a2 by 4\n", "a1: it is not reduced", 2},
        {"kernel\nband y0: rows a1 by 4; lanes a2 whole, at most 69\n",
         "a2: a whole axis is longer", 2},
        {"kernel\nband y0: rows a1 whole, at most 37; lanes a2 by 8\n",
         "a1: only lanes and what is reduced", 2},
        {"kernel\nband y0: rows a2 by 4; lanes a1 by 8\n", "a1: lanes are not next to each other",
         2},
        {"kernel\nband y0: cores share a2; rows a1 by 4; lanes a2 by 8\n",
         "a2: no result of this band is shared", 2},
        {"kernel\nband y0: rows a1 by 4000000; lanes a2 by 8\n", "elements of a tile", 2},
        {"kernel\nband y0: rows a1 by 4; lanes a2 by 64 64\n", "the end of the line", 2},
        {"kernel\nband y0: rows a1 by 4; lanes a2 by\n", "the line ends", 2},
        {"kernel\nall cores wait\n", "between two bands", 2},
        {"kernel\nband y0: rows a1 by 4; lanes a2 by 64\nall cores wait\n",
         "a band must follow 'all cores wait'", 4},
        {"kernel\nband y0: rows a1 by 4; lanes a2 by 64\nband y0: rows a1 by 4; lanes a2 by 64\n",
         "stores this result already", 3},
        {"share v2 over a2\nkernel\nband w0: cores share a2; rows a1 by 4; lanes a2 by 64\n"
         "band y0: rows a1 by 4; lanes a2 by 64\n",
         "'all cores wait' before it", 4},
        {"kernel\nband y0: rows a1 by 37; lanes a2 by 8192\nkernel\nband y0: rows a1 by 4; lanes "
         "a2 "
         "by 64\n",
         "never launched", 0},
        {"kernel\nband y0: rows a1 by 37; lanes a2 by 8192\n", "UB", 0},
    };
    Arena arena = {0};
    Diag diag;
    Graph *g = read_model(&arena, models[0].forward, models[0].inputs, &diag);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PlanBuilt built;
        diag = diag_make(&arena, "s", str_from(rows[i].text));
        CHECK_MSG(
            !plan_nest_text(&arena, g, chip(), "s", str_from(rows[i].text), "k", &built, &diag),
            "accepted: %s", rows[i].text);
        if (!diag.items.len)
            continue;
        CHECK_MSG(strstr(diag.items.at[0].text, rows[i].says), "%s: %s", rows[i].text,
                  diag.items.at[0].text);
        CHECK_MSG(diag.items.at[0].at.line == rows[i].line, "%s: line %u", rows[i].text,
                  diag.items.at[0].at.line);
    }
    arena_drop(&arena);
}

/* Operators without loop nests of their own are defined by others, and then have schedules, too. */
T_TEST(schedule_of_what_is_rewritten)
{
    static const Model rewritten[] = {
        {"self, x, y):\n        return F.smooth_l1_loss(x, y)\n",
         "torch.randn(37, 70), torch.randn(37, 70)"},
        {"self, x, y):\n        return F.cosine_similarity(x, y, dim=1)\n",
         "torch.randn(37, 70), torch.randn(37, 70)"},
        {"self, x, y):\n        return F.kl_div(x, y, reduction='sum') * 2\n",
         "torch.randn(9, 40), torch.rand(9, 40) + 0.1"},
    };
    for (size_t m = 0; m < sizeof rewritten / sizeof *rewritten; m++) {
        Arena arena = {0};
        Diag diag;
        Graph *g = read_model(&arena, rewritten[m].forward, rewritten[m].inputs, &diag);
        PlanCandidates found;
        const char *text = NULL;
        Plan plan;
        REQUIRE(plan_candidates(&arena, g, chip(), 0, &found, &diag));
        for (uint32_t i = 0; i < found.rows.len; i++)
            text = found.rows.at[i].plan.schedule ? found.rows.at[i].plan.schedule : text;
        CHECK_MSG(text != NULL, "%s", found.no_nest ? found.no_nest : "");
        bool ok = text && plan_by_schedule(&arena, g, chip(), "s", str_from(text), &plan, &diag);
        CHECK_MSG(ok, "%s", diag.items.len ? diag.items.at[0].text : "");
        if (ok)
            CHECK(run_plan(&arena, g, &plan));
        arena_drop(&arena);
    }
}
