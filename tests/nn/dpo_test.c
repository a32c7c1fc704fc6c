/* Preferences: gradients are the slopes of the loss, a run makes the chosen answers likelier and goes on where
 * it stopped, rows of both kinds are read. */
#include "nn/dpo.h"

#include "base/file.h"
#include "base/rng.h"
#include "base/temp.h"
#include "nn/trainer.h"
#include "tests/nn/nn_help.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

enum { SEQ = 7, COUNT = 3 };

/* Pairs of random tokens that share a question. */
static NnPairs random_pairs(Arena *arena, uint32_t vocab)
{
    NnPairs pairs = {.seq = SEQ, .beta = 0.7, .nll = 0.3};
    for (uint32_t i = 0; i < COUNT; i++) {
        NnPair pair = {0};
        NnSequence *both[2] = {&pair.chosen, &pair.rejected};
        for (uint32_t k = 0; k < 2; k++) {
            both[k]->tokens = arena_array(arena, int32_t, SEQ);
            both[k]->targets = arena_array(arena, int32_t, SEQ);
            for (uint32_t n = 0; n < SEQ; n++) {
                uint64_t stream = n < 3 ? i
                                        : 10 * i + k + 100; /* the first three are the question */
                both[k]->tokens[n] = (int32_t)rng_range(5, stream, n, 0, vocab);
            }
            for (uint32_t n = 0; n < SEQ; n++) {
                both[k]->targets[n] = n >= 2 && n + 1 < SEQ - k ? both[k]->tokens[n + 1] : -1;
                both[k]->learnt += both[k]->targets[n] >= 0;
            }
            both[k]->reference = 9 + 0.4 * (double)i - (double)k;
        }
        vec_push(arena, &pairs.all, pair);
    }
    return pairs;
}

typedef struct Learner {
    Arena arena;
    NnModel model;
    const NnDevice *device;
    void *at;
    NnPairs pairs;
} Learner;

static void open_learner(Learner *l)
{
    NnConfig c = help_config();
    char why[200] = "";
    *l = (Learner){.device = nn_device_cpu()};
    l->model = nn_open(&l->arena, &c);
    nn_init(&l->model, 3);
    NnDeviceModel shape = nn_device_model(&l->arena, &l->model.table);
    l->at = l->device->open(&shape, 1, SEQ, why, sizeof why);
    REQUIRE(l->at);
    l->device->put(l->at, NN_WEIGHTS, l->model.weights);
    l->pairs = random_pairs(&l->arena, c.vocab);
}

static void close_learner(Learner *l)
{
    l->device->close(l->at);
    nn_close(&l->model);
    arena_drop(&l->arena);
}

static double mean_loss(Learner *l)
{
    double sum = 0, up, down;
    l->device->put(l->at, NN_WEIGHTS, l->model.weights);
    for (uint32_t i = 0; i < COUNT; i++) {
        const NnPair *p = &l->pairs.all.at[i];
        double chosen = l->device->evaluate(l->at, p->chosen.tokens, p->chosen.targets);
        double rejected = l->device->evaluate(l->at, p->rejected.tokens, p->rejected.targets);
        sum += nn_pair_loss(&l->pairs, p, chosen, rejected, &up, &down).loss / COUNT;
    }
    return sum;
}

T_TEST(dpo_gradients_are_slopes)
{
    Learner l;
    open_learner(&l);
    const NnTable *table = &l.model.table;
    float *grads = nn_floats_new(table->total);
    double learnt = 0;
    NnLessons lessons = nn_pairs_lessons(&l.pairs);
    for (uint32_t i = 0; i < COUNT; i++)
        learnt += lessons.learn(lessons.self, i, l.device, l.at, 1.0 / COUNT).loss;
    l.device->get(l.at, NN_GRADS, grads);
    CHECK_NEAR(learnt / COUNT, mean_loss(&l), 1e-6);
    for (uint32_t i = 0; i < table->count; i++)
        for (uint32_t k = 0; k < 4; k++) {
            const NnTensor *t = &table->tensors[i];
            uint64_t at = t->at + (uint64_t)rng_range(9, i, k, 0, (int64_t)t->count);
            float was = l.model.weights[at], h = 4e-3f;
            l.model.weights[at] = was + h;
            double up = mean_loss(&l);
            l.model.weights[at] = was - h;
            double down = mean_loss(&l), want = (up - down) / (2 * (double)h);
            l.model.weights[at] = was;
            CHECK_MSG(fabs((double)grads[at] - want) < 3e-4 + 3e-3 * fabs(want), "%s: %g, slope %g",
                      t->name, (double)grads[at], want);
        }
    nn_floats_free(grads);
    close_learner(&l);
}

/* Values by hand: beta 0.5, chosen 1 nat better than at the start, rejected 1 worse: z = 1. */
T_TEST(dpo_loss_is_that_of_the_formula)
{
    NnPairs pairs = {.seq = 4, .beta = 0.5, .nll = 2};
    NnPair pair = {.chosen = {.learnt = 4, .reference = 3}, .rejected = {.reference = 5}};
    double up, down;
    NnPairLoss loss = nn_pair_loss(&pairs, &pair, 2, 6, &up, &down);
    CHECK_NEAR(loss.margin, 1, 1e-12);
    CHECK_NEAR(loss.loss, 0.31326168751822286 + 2 * 2.0 / 4, 1e-12);
    CHECK_NEAR(up, 0.5 * 0.2689414213699951 + 2.0 / 4, 1e-12);
    CHECK_NEAR(down, -0.5 * 0.2689414213699951, 1e-12);
}

static void run_dpo(Learner *l, const char *dir, uint64_t steps, NnModel *model)
{
    Diag diag = diag_make(&l->arena, "dpo", STR(""));
    NnLessons lessons = nn_pairs_lessons(&l->pairs);
    NnTraining t = {.device = l->device,
                    .lessons = &lessons,
                    .dir = dir,
                    .batch = 2,
                    .seq = SEQ,
                    .accumulate = 1,
                    .steps = steps,
                    .warmup = 1,
                    .save_every = 4,
                    .adam = nn_adam_default(),
                    .clip = 1,
                    .last_rate = 1,
                    .seed = 2};
    t.adam.rate = 1e-3;
    memcpy(model->weights, l->model.weights, model->table.total * sizeof(float));
    REQUIRE(nn_train(&t, model, &diag));
}

T_TEST(dpo_run_prefers_the_chosen_and_goes_on_where_it_stopped)
{
    Learner l;
    TempDir dir;
    open_learner(&l);
    Diag diag = diag_make(&l.arena, "dpo", STR(""));
    REQUIRE(temp_dir_make(&l.arena, "acraft-dpo", &dir, &diag));
    NnConfig c = help_config();
    NnModel whole = nn_open(&l.arena, &c), parts = nn_open(&l.arena, &c);
    run_dpo(&l, path_join(&l.arena, dir.path, "whole"), 40, &whole);
    run_dpo(&l, path_join(&l.arena, dir.path, "parts"), 12, &parts);
    run_dpo(&l, path_join(&l.arena, dir.path, "parts"), 40, &parts);
    CHECK(!memcmp(whole.weights, parts.weights, whole.table.total * sizeof(float)));
    Str curve, line, last = {0};
    REQUIRE(
        file_read(&l.arena, path_join(&l.arena, dir.path, "whole/curve.jsonl"), 0, &curve, &diag));
    while (str_next(&curve, '\n', &line))
        last = line.len ? line : last;
    CHECK_MSG(str_find(last, STR("\"preferred\": 1")) > 0, "%.*s", STR_ARG(last));
    nn_close(&whole);
    nn_close(&parts);
    CHECK(temp_dir_remove(&dir, &diag));
    close_learner(&l);
}

static const char rows[] =
    "{\"prompt\": [{\"role\": \"user\", \"content\": \"a question\"}], \"chosen\": \"good\", "
    "\"rejected\": \"bad\"}\n"
    "{\"mark\": \"wrong\", \"messages\": [{\"content\": \"b\"}, {\"content\": \"w1\"}]}\n"
    "{\"mark\": \"right\", \"messages\": [{\"content\": \"b\"}, {\"content\": \"r1\"}]}\n"
    "{\"mark\": \"right\", \"messages\": [{\"content\": \"b\"}, {\"content\": \"r1\"}]}\n"
    "{\"mark\": \"refused\", \"messages\": [{\"content\": \"b\"}, {\"content\": \"x1\"}]}\n"
    "{\"mark\": \"right\", \"messages\": [{\"content\": \"alone\"}, {\"content\": \"r\"}]}\n";

T_TEST(dpo_rows_and_samples_become_pairs)
{
    Arena arena = {0};
    TempDir dir;
    NnPairs pairs;
    Diag diag = diag_make(&arena, "rows", STR(""));
    REQUIRE(temp_dir_make(&arena, "acraft-dpo", &dir, &diag));
    const char *path = path_join(&arena, dir.path, "rows.jsonl");
    Bpe *bpe = bpe_open("weights/tokenizer.json", &diag);
    REQUIRE(bpe && file_write(path, str_from(rows), &diag));
    REQUIRE(nn_pairs_read(&arena, path, bpe, 16, &pairs, &diag));
    CHECK_EQ_INT(pairs.all.len,
                 4); /* the row; right to wrong, right to refused, wrong to refused */
    CHECK_EQ_INT((int)pairs.dropped, 0);
    const NnSequence *s = &pairs.all.at[1].chosen;
    uint32_t learnt = 0;
    for (uint32_t i = 0; i < 16; i++)
        learnt += s->targets[i] >= 0;
    CHECK_EQ_INT(learnt, s->learnt);
    REQUIRE(file_write(path, STR("{\"prompt\": \"a\"}\n"), &diag));
    CHECK(!nn_pairs_read(&arena, path, bpe, 16, &pairs, &diag));
    bpe_close(bpe);
    CHECK(temp_dir_remove(&dir, &diag));
    arena_drop(&arena);
}
