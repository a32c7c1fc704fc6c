/* TextING and the bag of words: graphs, gradients against finite differences, training. */
#include "nn/texting.h"

#include "base/rng.h"
#include "nn/nn.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

/* ---- the graph ---- */

T_TEST(a_text_is_a_graph_of_its_words)
{
    Arena arena = {0};
    /* b a b c d: windows bab abc bcd; a-b, a-c, b-c, b-d, c-d */
    const uint32_t words[] = {7, 3, 7, 9, 20};
    TextGraph g = text_graph(&arena, &(TextDoc){words, 5, 1});
    REQUIRE(g.nodes == 4 && g.label == 1);
    CHECK(g.words[0] == 3 && g.words[1] == 7 && g.words[2] == 9 && g.words[3] == 20);
    REQUIRE(g.first[4] == 10);
    CHECK_EQ_INT(g.first[1] - g.first[0], 2);
    CHECK_EQ_INT(g.first[2] - g.first[1], 3);
    CHECK_EQ_INT(g.to[0], 1);
    CHECK_EQ_INT(g.to[1], 2);
    CHECK_NEAR(g.weights[0], 1 / sqrt(6), 1e-7);
    arena_drop(&arena);
}

T_TEST(texts_of_no_or_one_word_have_no_edges)
{
    Arena arena = {0};
    const uint32_t words[] = {5, 5, 5};
    TextGraph none = text_graph(&arena, &(TextDoc){words, 0, 0});
    TextGraph one = text_graph(&arena, &(TextDoc){words, 3, 0});
    CHECK(none.nodes == 0 && none.first[0] == 0);
    CHECK(one.nodes == 1 && one.first[1] == 0);
    arena_drop(&arena);
}

/* ---- gradients ---- */

enum { WORDS = 11, DOCS = 4 };

static double loss_of(TextingPass *pass, const TextGraph *const *graphs, TextingDropout dropout,
                      float *grads)
{
    texting_forward(pass, graphs, DOCS, dropout);
    return texting_backward(pass, grads);
}

static void check_slopes(double rate, uint32_t steps)
{
    Arena arena = {0};
    Texting model = texting_new(&(TextingConfig){WORDS, 5, 7, 3, steps}, 2);
    TextingPass *pass = texting_pass_open(&model, NULL);
    TextGraph graphs[DOCS];
    const TextGraph *all[DOCS];
    uint32_t words[DOCS][9];
    float *grads = nn_floats_new(model.total), *unused = nn_floats_new(model.total);
    TextingDropout dropout = {rate, 5, 3};
    for (uint64_t i = 0; i < model.total; i++)
        model.weights[i] += (float)(0.3 * rng_normal(8, 0, i));
    for (uint32_t d = 0; d < DOCS; d++) {
        for (uint32_t i = 0; i < 9; i++)
            words[d][i] = (uint32_t)rng_range(1, d, i, 0, WORDS);
        graphs[d] = text_graph(&arena, &(TextDoc){words[d], d == 3 ? 0 : 9 - 3 * d, d % 3});
        all[d] = &graphs[d];
    }
    loss_of(pass, all, dropout, grads);
    for (int i = 0; i < TEXTING_TENSOR_COUNT; i++)
        for (uint64_t k = 0; k < model.tensors[i].count; k++) {
            float *w = &model.weights[model.tensors[i].at + k], was = *w;
            double got = (double)grads[model.tensors[i].at + k],
                   h = 5e-4; /* small: the maximum over words has kinks */
            *w = was + (float)h;
            double up = loss_of(pass, all, dropout, unused);
            *w = was - (float)h;
            double want = (up - loss_of(pass, all, dropout, unused)) / (2 * h);
            *w = was;
            CHECK_MSG(fabs(got - want) < 4e-4 + 4e-3 * fabs(want), "%s [%llu]: %g, slope %g",
                      model.tensors[i].name, (unsigned long long)k, got, want);
        }
    nn_floats_free(grads);
    nn_floats_free(unused);
    texting_pass_close(pass);
    texting_close(&model);
    arena_drop(&arena);
}

T_TEST(texting_gradients_are_slopes)
{
    check_slopes(0, 2);
    check_slopes(0, 0);
    check_slopes(0.5, 2);
}

/* ---- training ---- */

/* Label 1: words 3 and 4 are neighbours; label 0: both are there, apart. Only the order tells. */
static uint32_t order_matters(Arena *arena, TextDoc *docs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *words = arena_array(arena, uint32_t, 10);
        for (uint32_t k = 0; k < 10; k++)
            words[k] = 5 + (uint32_t)rng_range(4, i, k, 0, 20);
        uint32_t at = (uint32_t)rng_range(5, i, 0, 0, 4);
        words[at] = 3;
        words[i % 2 ? at + 1 : at + 5] = 4;
        docs[i] = (TextDoc){words, 10, i % 2};
    }
    return count;
}

T_TEST(texting_learns_what_a_bag_cannot)
{
    Arena arena = {0};
    TextDoc docs[600];
    uint32_t count = order_matters(&arena, docs, 600), right = 0, bag_right = 0;
    Texting model = texting_new(&(TextingConfig){25, 12, 16, 2, 2}, 1);
    TextBag bag = text_bag_new(&arena, 25, 2);
    texting_train(
        &arena, &model, docs, 400,
        &(TextTrain){.epochs = 40, .batch = 8, .rate = 0.01, .dropout = 0.1, .held = 10, .seed = 3},
        NULL);
    text_bag_train(&arena, &bag, docs, 400,
                   &(TextTrain){.epochs = 40, .rate = 0.5, .held = 10, .seed = 3});
    TextingPass *pass = texting_pass_open(&model, NULL);
    for (uint32_t i = 400; i < count; i++) {
        float p[2];
        TextGraph g = text_graph(&arena, &docs[i]);
        texting_classify(pass, &g, p);
        right += (p[1] > p[0]) == docs[i].label;
        text_bag_classify(&bag, &docs[i], p);
        bag_right += (p[1] > p[0]) == docs[i].label;
    }
    CHECK_MSG(right > 180, "TextING is right on %u of 200", right);
    CHECK_MSG(bag_right < 130, "the bag is right on %u of 200", bag_right);
    texting_pass_close(pass);
    texting_close(&model);
    arena_drop(&arena);
}

T_TEST(texting_is_the_same_for_a_seed_and_any_threads)
{
    Arena arena = {0};
    TextDoc docs[60];
    order_matters(&arena, docs, 60);
    Texting a[3];
    NnPool *pool = nn_pool_open(3);
    for (uint32_t i = 0; i < 3; i++) {
        TextTrain train = {
            .epochs = 3, .batch = 7, .rate = 0.01, .dropout = 0.5, .held = 10, .seed = i == 2};
        a[i] = texting_new(&(TextingConfig){25, 12, 16, 2, 2}, 1);
        texting_train(&arena, &a[i], docs, 60, &train, i == 1 ? pool : NULL);
    }
    CHECK(!memcmp(a[0].weights, a[1].weights, a[0].total * sizeof(float)));
    CHECK(memcmp(a[0].weights, a[2].weights, a[0].total * sizeof(float)));
    for (int i = 0; i < 3; i++)
        texting_close(&a[i]);
    nn_pool_close(pool);
    arena_drop(&arena);
}
