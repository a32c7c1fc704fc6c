/* Decoding: int8 products in every version, logits against the reference pass, independence of
 * batches and threads, sampling, generation. */
#include "nn/infer.h"

#include "base/file.h"
#include "base/rng.h"
#include "base/temp.h"
#include "nn/checkpoint.h"
#include "nn/int8.h"
#include "nn/train.h"
#include "tests/nn/nn_help.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

static NnConfig infer_config(void)
{
    NnConfig c = help_config();
    c.width = 64;
    c.ffn = 128;
    c.head_dim = 16;
    return c;
}

static float *random_floats(uint64_t stream, uint64_t count)
{
    float *x = nn_floats_new(count);
    for (uint64_t i = 0; i < count; i++)
        x[i] = (float)rng_normal(1, stream, i);
    return x;
}

/* Every version against a sum in double, for odd numbers of rows and outputs. */
static void check_multiply(uint32_t rows, uint32_t cols, int version)
{
    NnInt8 m = {rows, cols, nn_int8_group(cols), NULL, NULL};
    float *w = random_floats(1, (uint64_t)rows * cols), *x = random_floats(2, 7 * cols);
    float *y = nn_floats_new(7 * rows), *row = nn_floats_new(cols);
    m.q = heap_alloc((size_t)rows * cols);
    m.scale = heap_alloc(rows * (cols / m.group) * sizeof(float));
    nn_int8_round(&m, 0, w, rows);
    REQUIRE(nn_int8_force(version));
    nn_int8_multiply(NULL, &m, y, x, 7);
    for (uint32_t o = 0; o < rows; o++) {
        nn_int8_row(&m, o, row);
        CHECK(help_distance(row, w + (size_t)o * cols, cols) < 0.02);
        for (uint32_t n = 0; n < 7; n++) {
            double want = 0;
            for (uint32_t i = 0; i < cols; i++)
                want += (double)row[i] * (double)x[n * cols + i];
            CHECK_NEAR(y[n * rows + o], want, 0.06 * sqrt((double)cols));
        }
    }
    nn_floats_free(w);
    nn_floats_free(x);
    nn_floats_free(y);
    nn_floats_free(row);
    heap_free(m.q);
    heap_free(m.scale);
}

T_TEST(int8_products_of_every_version)
{
    for (int version = 0; version < 3; version++) {
        if (!nn_int8_force(version))
            continue;
        check_multiply(3, 10, version);
        check_multiply(9, 64, version);
        check_multiply(14, 192, version);
    }
}

/* Integers add up exactly, so that every version and every batch gives the same bits. */
T_TEST(int8_versions_give_the_same_bits)
{
    NnInt8 m = {10, 256, 64, NULL, NULL};
    float *w = random_floats(1, 2560), *x = random_floats(2, 5 * 256), want[50], y[50];
    m.q = heap_alloc(2560);
    m.scale = heap_alloc(40 * sizeof(float));
    nn_int8_round(&m, 0, w, 10);
    nn_int8_force(2);
    nn_int8_multiply(NULL, &m, want, x, 5);
    for (int version = 0; version < 2; version++) {
        if (!nn_int8_force(version))
            continue;
        nn_int8_multiply(NULL, &m, y, x, 5);
        CHECK(!memcmp(y, want, sizeof y));
        for (uint32_t n = 0; n < 5; n++)
            nn_int8_multiply(NULL, &m, y + 10 * n, x + 256 * n, 1);
        CHECK(!memcmp(y, want, sizeof y));
    }
    nn_floats_free(w);
    nn_floats_free(x);
    heap_free(m.q);
    heap_free(m.scale);
}

/* A model whose weights int8 holds almost exactly, and its reference logits of 12 tokens. */
typedef struct Twin {
    Arena arena;
    NnModel model;
    NnInfer *infer;
    uint32_t tokens[12];
    float *want;
} Twin;

static void twin_open(Twin *t, NnConfig c)
{
    *t = (Twin){0};
    t->model = nn_open(&t->arena, &c);
    nn_init(&t->model, 8);
    t->infer = nn_infer_make(&t->model);
    int32_t tokens[12];
    for (int i = 0; i < 12; i++) {
        t->tokens[i] = (uint32_t)rng_range(5, 5, (uint64_t)i, 0, c.vocab);
        tokens[i] = (int32_t)t->tokens[i];
    }
    NnPass *pass = nn_pass_open(&t->model, 1, 12, NULL, false);
    t->want = nn_floats_new(12 * c.vocab);
    memcpy(t->want, nn_pass_forward(pass, tokens), 12 * c.vocab * sizeof(float));
    nn_pass_close(pass);
}

static void twin_close(Twin *t)
{
    nn_infer_close(t->infer);
    nn_close(&t->model);
    nn_floats_free(t->want);
    arena_drop(&t->arena);
}

/* Fed at once, one by one, and in two pieces: the same bits, near the float reference. */
static void check_logits(NnConfig c)
{
    Twin t;
    twin_open(&t, c);
    NnSession *s = nn_session_open(t.infer, NULL, 3, 16);
    float *got = nn_floats_new(3 * c.vocab);
    CHECK(nn_session_feed(s, 0, t.tokens, 12, got));
    for (uint32_t i = 0; i < 12; i++)
        CHECK(nn_session_feed(s, 1, t.tokens + i, 1, got + c.vocab));
    CHECK(nn_session_feed(s, 2, t.tokens, 5, got + 2 * c.vocab));
    CHECK(nn_session_feed(s, 2, t.tokens + 5, 7, got + 2 * c.vocab));
    double distance = help_distance(got, t.want + 11 * c.vocab, c.vocab);
    CHECK_MSG(distance < 0.06, "logits differ by %g", distance);
    CHECK(!memcmp(got, got + c.vocab, c.vocab * sizeof(float)));
    CHECK(!memcmp(got, got + 2 * c.vocab, c.vocab * sizeof(float)));
    nn_floats_free(got);
    nn_session_close(s);
    twin_close(&t);
}

T_TEST(decoding_equals_the_reference)
{
    NnConfig c = infer_config();
    check_logits(c);
    c.tied = false;
    check_logits(c);
    check_logits(help_config()); /* sizes that are no multiple of a lane */
}

/* Sequences decoded together, on several threads, give what each gives alone. */
T_TEST(batches_and_threads_change_nothing)
{
    Twin t;
    NnConfig c = infer_config();
    twin_open(&t, c);
    NnPool *pool = nn_pool_open(3);
    NnSession *alone = nn_session_open(t.infer, NULL, 5, 16);
    NnSession *together = nn_session_open(t.infer, pool, 5, 16);
    float *a = nn_floats_new(5 * c.vocab), *b = nn_floats_new(5 * c.vocab);
    for (uint32_t step = 0; step < 6; step++) {
        NnRow rows[5];
        for (uint32_t i = 0; i < 5; i++) {
            rows[i] = (NnRow){i, t.tokens[(step + i) % 12], true};
            CHECK(nn_session_run(alone, &rows[i], 1, a + i * c.vocab));
        }
        CHECK(nn_session_run(together, rows, 5, b));
        CHECK(!memcmp(a, b, 5 * c.vocab * sizeof(float)));
    }
    nn_session_close(alone);
    nn_session_close(together);
    nn_pool_close(pool);
    nn_floats_free(a);
    nn_floats_free(b);
    twin_close(&t);
}

T_TEST(sessions_refuse_what_does_not_fit)
{
    Twin t;
    NnConfig c = infer_config();
    twin_open(&t, c);
    NnSession *s = nn_session_open(t.infer, NULL, 2, 8);
    float *logits = nn_floats_new(c.vocab);
    uint32_t bad = c.vocab;
    CHECK(!nn_session_feed(s, 0, t.tokens, 9, logits));
    CHECK_EQ_INT(nn_session_length(s, 0), 0);
    CHECK(!nn_session_feed(s, 2, t.tokens, 1, logits));
    CHECK(!nn_session_feed(s, 0, &bad, 1, logits));
    CHECK(nn_session_feed(s, 0, t.tokens, 8, logits));
    CHECK(!nn_session_feed(s, 0, t.tokens, 1, logits));
    nn_session_rewind(s, 0, 7);
    CHECK(nn_session_feed(s, 0, t.tokens, 1, logits));
    nn_session_close(s);
    nn_floats_free(logits);
    twin_close(&t);
}

T_TEST(int8_models_round_trip)
{
    Twin t;
    twin_open(&t, infer_config());
    Diag diag = diag_make(&t.arena, "", STR(""));
    TempDir dir;
    REQUIRE(temp_dir_make(&t.arena, "acraft-nn", &dir, &diag));
    const char *path = path_join(&t.arena, dir.path, "int8.safetensors");
    CHECK(nn_infer_save(t.infer, path, &diag));
    NnInfer *back = nn_infer_open(path, &diag);
    REQUIRE(back != NULL);
    float *a = nn_floats_new(13), *b = nn_floats_new(13);
    NnSession *first = nn_session_open(t.infer, NULL, 1, 16);
    NnSession *second = nn_session_open(back, NULL, 1, 16);
    CHECK(nn_session_feed(first, 0, t.tokens, 12, a) &&
          nn_session_feed(second, 0, t.tokens, 12, b));
    CHECK(help_distance(b, a, 13) < 1e-6);
    CHECK(file_write(path, STR("damaged"), &diag));
    CHECK(nn_infer_open(path, &diag) == NULL && diag.errors == 1);
    nn_session_close(first);
    nn_session_close(second);
    nn_floats_free(a);
    nn_floats_free(b);
    nn_infer_close(back);
    CHECK(temp_dir_remove(&dir, &diag));
    twin_close(&t);
}

T_TEST(sampling_follows_its_settings)
{
    const float logits[5] = {1, 3, 3, -INFINITY, 2};
    NnSampling greedy = {0}, hot = {.temperature = 1}, two = {.temperature = 5, .top_k = 2};
    NnSampling narrow = {.temperature = 1, .top_p = 0.3};
    uint64_t only_four = 1 << 4, none = 0, infinite = 1 << 3;
    uint32_t seen[5] = {0};
    CHECK_EQ_INT(nn_sample(logits, 5, &greedy, NULL, 0, 0, 0), 1);
    CHECK_EQ_INT(nn_sample(logits, 5, &hot, &only_four, 0, 0, 0), 4);
    CHECK(nn_sample(logits, 5, &hot, &none, 0, 0, 0) == UINT32_MAX);
    CHECK(nn_sample(logits, 5, &greedy, &infinite, 0, 0, 0) == UINT32_MAX);
    for (uint64_t i = 0; i < 20000; i++) {
        uint32_t token = nn_sample(logits, 5, &hot, NULL, 1, 2, i);
        REQUIRE(token < 5 && token != 3);
        CHECK(nn_sample(logits, 5, &hot, NULL, 1, 2, i) == token);
        seen[token]++;
        token = nn_sample(logits, 5, &two, NULL, 1, 2, i);
        CHECK(token == 1 || token == 2);
        CHECK(nn_sample(logits, 5, &narrow, NULL, 1, 2, i) == 1);
    }
    double all = exp(1) + 2 * exp(3) + exp(2);
    CHECK_NEAR(seen[0] / 20000.0, exp(1) / all, 0.01);
    CHECK_NEAR(seen[1] / 20000.0, exp(3) / all, 0.015);
    CHECK_NEAR(seen[4] / 20000.0, exp(2) / all, 0.01);
}

T_TEST(generation_stops_and_repeats)
{
    Twin t;
    NnConfig c = infer_config();
    twin_open(&t, c);
    NnGenerate job = {.prompt = t.tokens,
                      .prompt_count = 4,
                      .samples = 3,
                      .most = 9,
                      .sampling = {.temperature = 1.5},
                      .seed = 4};
    NnSample first[3], second[3];
    NnSession *s = nn_session_open(t.infer, NULL, 3, 16);
    CHECK(nn_generate(&t.arena, s, &job, first));
    for (uint32_t i = 0; i < 3; i++)
        nn_session_rewind(s, i, 0);
    CHECK(nn_generate(&t.arena, s, &job, second));
    for (int i = 0; i < 3; i++) {
        CHECK(first[i].count == 9 && !first[i].stopped);
        CHECK(!memcmp(first[i].tokens, second[i].tokens, 9 * sizeof(uint32_t)));
    }
    CHECK(memcmp(first[0].tokens, first[1].tokens, 9 * sizeof(uint32_t)) != 0);
    job.stop = &first[0].tokens[3];
    job.stop_count = 1;
    for (uint32_t i = 0; i < 3; i++)
        nn_session_rewind(s, i, 0);
    CHECK(nn_generate(&t.arena, s, &job, second));
    CHECK(second[0].stopped && second[0].count <= 3);
    nn_session_close(s);
    twin_close(&t);
}
