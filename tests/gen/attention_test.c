/* Attention in one kernel: which graphs are it, and their values on the interpreter. */
#include "tests/gen/nest_run.h"

typedef struct AttentionModel {
    const char *name, *forward, *inputs;
} AttentionModel;

#define QKV(b, h, l, s, d)                                                                 \
    "torch.randn(" #b ", " #h ", " #l ", " #d "), torch.randn(" #b ", " #h ", " #s ", " #d \
    "), torch.randn(" #b ", " #h ", " #s ", " #d ")"

static const AttentionModel models[] = {
    {"sdpa", "self, q, k, v):\n        return F.scaled_dot_product_attention(q, k, v)",
     QKV(2, 2, 70, 70, 64)},
    {"causal",
     "self, q, k, v):\n        return F.scaled_dot_product_attention(q, k, v, is_causal=True)",
     QKV(1, 3, 90, 90, 32)},
    {"a triangle of ones, one place before",
     "self, q, k, v):\n"
     "        seen = torch.tril(torch.ones(80, 70), -1).bool()\n"
     "        s = (q @ k.mT * 0.2).masked_fill(~seen, float('-inf'))\n"
     "        return torch.softmax(s, dim=-1) @ v",
     QKV(1, 3, 80, 70, 32)},
    {"odd lengths, the batch a broadcast",
     "self, q, k, v):\n        return torch.softmax(q @ k.mT * 0.2, dim=-1) @ v",
     "torch.randn(2, 3, 31, 40), torch.randn(2, 1, 257, 40), torch.randn(2, 1, 257, 48)"},
    {"bias, rows of a mask, a residual",
     "self, q, k, v, bias, mask):\n"
     "        s = (q @ k.transpose(-2, -1) * 0.1 + bias).masked_fill(mask < 0, float('-inf'))\n"
     "        return torch.relu(torch.softmax(s, dim=-1) @ v + q)",
     QKV(2, 2, 33, 70, 32) ", torch.randn(2, 33, 70), torch.randn(2, 1, 1, 70)"},
    {"heads inside one tensor, results beside each other",
     "self, x):\n"
     "        q, k, v = x.view(2, 50, 3, 4, 32).permute(2, 0, 3, 1, 4)\n"
     "        y = torch.softmax(q @ k.transpose(-2, -1) / 5.6, dim=-1) @ v\n"
     "        return y.transpose(1, 2).reshape(2, 50, 128)",
     "torch.randn(2, 50, 384)"},
    {"f16, several tiles and turns",
     "self, q, k, v):\n        return F.scaled_dot_product_attention(q, k, v)",
     "torch.randn(1, 2, 150, 64).half(), torch.randn(1, 2, 300, 64).half(), "
     "torch.randn(1, 2, 300, 64).half()"},
    {"groups of heads",
     "self, q, k, v):\n"
     "        k = k.repeat_interleave(2, dim=1)\n        v = v.repeat_interleave(2, dim=1)\n"
     "        return torch.softmax(q @ k.transpose(-2, -1) / 8, dim=-1) @ v",
     "torch.randn(1, 4, 40, 64), torch.randn(1, 2, 60, 64), torch.randn(1, 2, 60, 64)"},
    {"sizes that are all the same",
     "self, q, k, v):\n        return torch.softmax(torch.tanh(q @ k.mT), dim=-1) @ v",
     QKV(16, 16, 16, 16, 16)},
};

/* The same, and nothing is timed: sizes decide. */
static const Graph *untimed(Arena *arena, const Graph *g)
{
    Graph *copy = arena_new(arena, Graph);
    *copy = *g;
    vec_push(arena, &copy->notes, plan_untimed);
    return copy;
}

/* A chip on which small scores are not kept between kernels, so that they are one. */
static NpuChip without_l2(void)
{
    NpuChip chip = *npu_chip_find(STR("910B2"));
    chip.l2_mib = 0;
    return chip;
}

T_TEST(attention_is_one_kernel)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        Arena arena = {0};
        Diag diag;
        Plan plan = {0};
        const Graph *g = read_model(&arena, models[i].forward, models[i].inputs, &diag);
        NpuChip chip = without_l2();
        bool ok = plan_make(&arena, untimed(&arena, g), &chip, 0, &plan, &diag);
        CHECK_MSG(ok && !strcmp(plan.strategy, "attention"), "%s: %s", models[i].name,
                  ok ? plan.strategy : "no plan");
        if (ok)
            CHECK_MSG(run_plan(&arena, g, &plan), "%s", models[i].name);
        arena_drop(&arena);
    }
}

/* Keys that no query of a tile sees are not multiplied. */
T_TEST(attention_skips_keys_by_places_alone)
{
    static const struct {
        const char *mask;
        bool skips;
    } rows[] = {{"torch.tril(torch.ones(64, 64)) == 0", true},
                {"torch.triu(torch.ones(64, 64), 1).bool()", true},
                {"torch.arange(64)[None] > torch.arange(64)[:, None]", true},
                {"torch.triu(torch.ones(64, 64)) == 0", false},
                {"m > 0", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena arena = {0};
        Diag diag;
        Plan plan = {0};
        const char *forward = str_format(
            &arena,
            "self, q, k, v, m):\n        s = (q @ k.mT + m).masked_fill(%s, float('-inf'))\n"
            "        return torch.softmax(s, dim=-1) @ v",
            rows[i].mask);
        const Graph *g = read_model(&arena, forward, QKV(1, 2, 64, 64, 32) ", torch.randn(64, 64)",
                                    &diag);
        NpuChip chip = without_l2();
        bool ok = plan_make(&arena, untimed(&arena, g), &chip, 0, &plan, &diag);
        CHECK_MSG(ok && !strcmp(plan.strategy, "attention"), "%s", rows[i].mask);
        if (ok)
            CHECK_MSG((str_find(plan.craft, STR("c.stop)")) > 0) == rows[i].skips, "%s",
                      rows[i].mask);
        arena_drop(&arena);
    }
}

/* By predicted times; where the work is too large to be timed, by whether L2 holds the scores. */
T_TEST(attention_is_one_kernel_where_that_is_faster)
{
    static const struct {
        const char *inputs, *scores;
        bool one;
    } rows[] = {{QKV(1, 8, 512, 512, 64), "q @ k.mT", true},
                {QKV(1, 32, 2048, 2048, 64), "q @ k.mT", true},
                {QKV(16, 16, 16, 16, 16), "q @ k.mT", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena arena = {0};
        Diag diag;
        Plan plan = {0};
        const char *forward = str_format(
            &arena, "self, q, k, v):\n        return torch.softmax(%s, dim=-1) @ v",
            rows[i].scores);
        const Graph *g = read_model(&arena, forward, rows[i].inputs, &diag);
        CHECK(plan_make(&arena, g, npu_chip_find(STR("910B2")), 0, &plan, &diag));
        CHECK_MSG(!strcmp(plan.strategy, "attention") == rows[i].one, "%s", rows[i].inputs);
        arena_drop(&arena);
    }
}

/* The cube multiplies the scores of the next turns while the vector role is at those of this one. */
T_TEST(attention_has_two_turns_under_way)
{
    Arena arena = {0};
    Diag diag;
    Plan plan = {0};
    NpuChip chip = without_l2();
    const Graph *g = read_model(&arena,
                                "self, q, k, v):\n"
                                "        return torch.softmax(q @ k.mT, dim=-1) @ v",
                                QKV(1, 2, 2048, 2048, 64), &diag);
    REQUIRE(plan_make(&arena, untimed(&arena, g), &chip, 0, &plan, &diag));
    CHECK_MSG(str_find(plan.craft, STR("two turns ahead")) > 0, "%.*s", STR_ARG(plan.craft));
    arena_drop(&arena);
}

/* Weights that something else reads are wanted in memory: products and a softmax. */
T_TEST(attention_whose_weights_are_a_result_is_several_kernels)
{
    Arena arena = {0};
    Diag diag;
    Plan plan = {0};
    const Graph *g = read_model(&arena,
                                "self, q, k, v):\n"
                                "        w = torch.softmax(q @ k.mT, dim=-1)\n"
                                "        return w @ v, w",
                                QKV(1, 2, 32, 48, 32), &diag);
    CHECK(plan_make(&arena, g, npu_chip_find(STR("910B2")), 0, &plan, &diag));
    CHECK(strcmp(plan.strategy, "attention") != 0);
    arena_drop(&arena);
}
