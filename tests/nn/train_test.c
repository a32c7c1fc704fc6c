/* Forward, loss, gradients and AdamW: against PyTorch's numbers, against finite differences, and
 * that the number of threads changes no bit. */
#include "nn/lora.h"

#include "base/rng.h"
#include "tests/nn/nn_help.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

/* A model, a batch and what a step needs. */
typedef struct Bench {
    Arena arena;
    NnModel model;
    NnPass *pass;
    int32_t tokens[64], targets[64];
    float *grads, *m, *v;
} Bench;

static void bench_open(Bench *b, NnConfig c, uint32_t batch, uint32_t seq, NnPool *pool)
{
    *b = (Bench){0};
    b->model = nn_open(&b->arena, &c);
    nn_init(&b->model, 3);
    for (uint32_t i = 0; i < b->model.table.count; i++) /* norms away from 1 */
        if (!nn_tensor_is_matrix(&b->model.table.tensors[i]))
            for (uint64_t k = 0; k < b->model.table.tensors[i].count; k++)
                b->model.weights[b->model.table.tensors[i].at + k] += (float)(0.3 *
                                                                              rng_normal(4, i, k));
    b->pass = nn_pass_open(&b->model, batch, seq, pool, true);
    b->grads = nn_floats_new(b->model.table.total);
    b->m = nn_floats_new(b->model.table.total);
    b->v = nn_floats_new(b->model.table.total);
    for (uint32_t i = 0; i < batch * seq; i++) {
        b->tokens[i] = (int32_t)rng_range(1, 0, i, 0, c.vocab);
        b->targets[i] = (int32_t)rng_range(1, 1, i, 0, c.vocab);
        if (i % 4 == 1)
            b->targets[i] = -1;
    }
}

static void bench_close(Bench *b)
{
    nn_pass_close(b->pass);
    nn_close(&b->model);
    nn_floats_free(b->grads);
    nn_floats_free(b->m);
    nn_floats_free(b->v);
    arena_drop(&b->arena);
}

static double loss_of(Bench *b, float weight)
{
    nn_pass_forward(b->pass, b->tokens);
    return (double)weight * nn_pass_loss(b->pass, b->targets, weight);
}

/* (loss(w + h) - loss(w - h)) / 2h of one weight. */
static double slope(Bench *b, uint64_t at, float h, float weight)
{
    float was = b->model.weights[at];
    b->model.weights[at] = was + h;
    double up = loss_of(b, weight);
    b->model.weights[at] = was - h;
    double down = loss_of(b, weight);
    b->model.weights[at] = was;
    return (up - down) / (2 * (double)h);
}

static void check_slopes(NnConfig c)
{
    Bench b;
    bench_open(&b, c, 2, 5, NULL);
    float weight = 1.0f / (float)nn_target_count(b.targets, 10);
    loss_of(&b, weight);
    nn_pass_backward(b.pass, b.tokens, b.grads);
    for (uint32_t i = 0; i < b.model.table.count; i++) {
        const NnTensor *t = &b.model.table.tensors[i];
        for (uint32_t k = 0; k < 6; k++) {
            uint64_t at = t->at + (uint64_t)rng_range(9, i, k, 0, (int64_t)t->count);
            double want = slope(&b, at, 4e-3f, weight), got = (double)b.grads[at];
            CHECK_MSG(fabs(got - want) < 2e-4 + 2e-3 * fabs(want), "%s [%llu]: %g, slope %g",
                      t->name, (unsigned long long)(at - t->at), got, want);
        }
    }
    bench_close(&b);
}

T_TEST(gradients_are_slopes)
{
    NnConfig c = help_config();
    check_slopes(c);
    c.tied = false;
    check_slopes(c);
    c.kv_heads = 1; /* one key head for all */
    check_slopes(c);
    c.kv_heads = c.heads;
    c.layers = 1;
    check_slopes(c);
}

T_TEST(training_equals_pytorch)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    StFile file;
    uint64_t count;
    REQUIRE(st_open(&arena, "tests/nn/golden/training.safetensors", &file, &diag));
    Bench b;
    bench_open(&b, help_golden_config(), 3, 11, NULL);
    uint64_t total = b.model.table.total;
    int32_t *tokens = help_load_ints(&file, "tokens", &count);
    int32_t *targets = help_load_ints(&file, "targets", &count);
    float *want = nn_floats_new(total), *logits = help_load(&file, "logits", &count);
    help_load_block(&file, "weight", &b.model.table, b.model.weights);
    CHECK(help_distance(nn_pass_forward(b.pass, tokens), logits, count) < 1e-5);
    float *losses = help_load(&file, "losses", &count), *norms = help_load(&file, "norms", &count);
    NnAdam adam = nn_adam_default();
    adam.rate = 1e-2;
    uint32_t learnt = nn_target_count(targets, 33);
    for (uint32_t step = 0; step < count; step++) {
        memset(b.grads, 0, total * sizeof(float));
        nn_pass_forward(b.pass, tokens);
        double sum = nn_pass_loss(b.pass, targets, 1.0f / (float)learnt);
        nn_pass_backward(b.pass, tokens, b.grads);
        help_load_block(&file, "grad", &b.model.table, want);
        if (step == 0)
            CHECK(help_distance(b.grads, want, total) < 1e-5);
        CHECK_NEAR(sum / learnt, (double)losses[step], 1e-5 * (double)losses[step]);
        CHECK_NEAR(nn_clip(b.grads, total, 1.0), (double)norms[step], 2e-5 * (double)norms[step]);
        nn_adam_step(&adam, &b.model.table, b.model.weights, b.grads, b.m, b.v, step + 1);
    }
    help_load_block(&file, "final", &b.model.table, want);
    CHECK(help_distance(b.model.weights, want, total) < 1e-5);
    heap_free(tokens);
    heap_free(targets);
    heap_free(logits);
    heap_free(losses);
    heap_free(norms);
    nn_floats_free(want);
    bench_close(&b);
    st_close(&file);
    arena_drop(&arena);
}

T_TEST(threads_change_no_bit)
{
    Bench one, many;
    NnPool *pool = nn_pool_open(3);
    bench_open(&one, help_golden_config(), 3, 11, NULL);
    bench_open(&many, help_golden_config(), 3, 11, pool);
    CHECK(loss_of(&one, 0.1f) == loss_of(&many, 0.1f));
    nn_pass_backward(one.pass, one.tokens, one.grads);
    nn_pass_backward(many.pass, many.tokens, many.grads);
    CHECK(!memcmp(one.grads, many.grads, one.model.table.total * sizeof(float)));
    bench_close(&one);
    bench_close(&many);
    nn_pool_close(pool);
}

/* Nothing learnt from: no loss, no gradient. Later positions do not reach earlier ones. */
T_TEST(masked_targets_and_causality)
{
    Bench b;
    bench_open(&b, help_config(), 1, 6, NULL);
    for (int i = 0; i < 6; i++)
        b.targets[i] = i == 2 ? 1 : -1;
    double before = loss_of(&b, 1);
    b.tokens[4] = (b.tokens[4] + 1) % 13;
    CHECK(loss_of(&b, 1) == before);
    b.tokens[1] = (b.tokens[1] + 1) % 13;
    CHECK(loss_of(&b, 1) != before);
    b.targets[2] = -1;
    CHECK(loss_of(&b, 1) == 0);
    nn_pass_backward(b.pass, b.tokens, b.grads);
    CHECK(nn_clip(b.grads, b.model.table.total, 0) == 0);
    bench_close(&b);
}

T_TEST(clipping_keeps_the_direction)
{
    float g[4] = {3, 0, 4, 0};
    CHECK_NEAR(nn_clip(g, 4, 1), 5, 1e-12);
    CHECK_NEAR(g[0], 0.6, 1e-6);
    CHECK_NEAR(g[2], 0.8, 1e-6);
    CHECK_NEAR(nn_clip(g, 4, 2), 1, 1e-6);
    CHECK_NEAR(g[0], 0.6, 1e-6);
}

/* The gradients of adapters are the slopes of the loss of the merged weights. */
T_TEST(lora_gradients_are_slopes)
{
    Bench b;
    bench_open(&b, help_config(), 2, 5, NULL);
    const NnTable *table = &b.model.table;
    float *base = nn_floats_new(table->total);
    memcpy(base, b.model.weights, table->total * sizeof(float));
    NnLora lora = nn_lora_open(table, 2, 0.5f, 1);
    nn_lora_merge(&lora, table, b.model.weights, base);
    CHECK(!memcmp(base, b.model.weights, table->total * sizeof(float)));
    for (uint64_t i = 0; i < lora.total; i++)
        lora.weights[i] += (float)(0.2 * rng_normal(5, 5, i));
    float *grads = nn_floats_new(lora.total);
    nn_lora_merge(&lora, table, b.model.weights, base);
    loss_of(&b, 0.1f);
    nn_pass_backward(b.pass, b.tokens, b.grads);
    nn_lora_grads(&lora, table, grads, b.grads);
    for (uint32_t k = 0; k < 60; k++) {
        uint64_t at = (uint64_t)rng_range(11, 0, k, 0, (int64_t)lora.total);
        double loss[2];
        float was = lora.weights[at];
        for (int side = 0; side < 2; side++) {
            lora.weights[at] = was + (side ? 4e-3f : -4e-3f);
            nn_lora_merge(&lora, table, b.model.weights, base);
            loss[side] = loss_of(&b, 0.1f);
        }
        lora.weights[at] = was;
        CHECK_NEAR(grads[at], (loss[1] - loss[0]) / 8e-3, 2e-4);
    }
    nn_floats_free(grads);
    nn_floats_free(base);
    nn_lora_close(&lora);
    bench_close(&b);
}

T_TEST(lora_learns)
{
    Bench b;
    bench_open(&b, help_config(), 2, 5, NULL);
    const NnTable *table = &b.model.table;
    float *base = nn_floats_new(table->total);
    memcpy(base, b.model.weights, table->total * sizeof(float));
    NnLora lora = nn_lora_open(table, 2, 1, 1);
    float *grads = nn_floats_new(lora.total), *m = nn_floats_new(lora.total);
    float *v = nn_floats_new(lora.total);
    NnAdam adam = nn_adam_default();
    adam.rate = 2e-2;
    double first = loss_of(&b, 0.1f), last = first;
    for (uint64_t step = 1; step <= 40; step++) {
        memset(b.grads, 0, table->total * sizeof(float));
        memset(grads, 0, lora.total * sizeof(float));
        nn_lora_merge(&lora, table, b.model.weights, base);
        last = loss_of(&b, 0.1f);
        nn_pass_backward(b.pass, b.tokens, b.grads);
        nn_lora_grads(&lora, table, grads, b.grads);
        nn_lora_step(&lora, &adam, grads, m, v, step);
    }
    CHECK_MSG(last < 0.5 * first, "loss %g after 40 steps, %g before", last, first);
    nn_floats_free(grads);
    nn_floats_free(m);
    nn_floats_free(v);
    nn_floats_free(base);
    nn_lora_close(&lora);
    bench_close(&b);
}
