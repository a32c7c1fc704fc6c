/* Groups of judged answers: gradients are the slopes of the loss, the limit of the ratio, rows become answers with
 * their advantage, a run makes better answers likelier. */
#include "nn/group.h"

#include "base/file.h"
#include "base/rng.h"
#include "base/temp.h"
#include "nn/trainer.h"
#include "tests/nn/nn_help.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

enum { SEQ = 7, COUNT = 4 };

static NnGroups random_groups(Arena *arena, uint32_t vocab)
{
    NnGroups groups = {.low = 0.3, .high = 0.4};
    for (uint32_t i = 0; i < COUNT; i++) {
        NnGraded g = {.advantage = i % 2 ? -0.8 : 1.1};
        g.sequence.tokens = arena_array(arena, int32_t, SEQ);
        g.sequence.targets = arena_array(arena, int32_t, SEQ);
        for (uint32_t n = 0; n < SEQ; n++)
            g.sequence.tokens[n] = (int32_t)rng_range(5, n < 3 ? 1 : 10 + i, n, 0, vocab);
        for (uint32_t n = 0; n < SEQ; n++) {
            g.sequence.targets[n] = n >= 2 && n + 1 < SEQ ? g.sequence.tokens[n + 1] : -1;
            g.sequence.learnt += g.sequence.targets[n] >= 0;
        }
        vec_push(arena, &groups.all, g);
    }
    return groups;
}

typedef struct Learner {
    Arena arena;
    NnModel model;
    const NnDevice *device;
    void *at;
    NnGroups groups;
    NnLessons lessons;
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
    l->groups = random_groups(&l->arena, c.vocab);
    l->lessons = nn_groups_lessons(&l->groups);
    l->lessons.refer(l->lessons.self, l->device, l->at);
}

static void close_learner(Learner *l)
{
    l->device->close(l->at);
    nn_close(&l->model);
    arena_drop(&l->arena);
}

static double mean_loss(Learner *l)
{
    double sum = 0;
    l->device->put(l->at, NN_WEIGHTS, l->model.weights);
    for (uint32_t i = 0; i < COUNT; i++) {
        const NnGraded *g = &l->groups.all.at[i];
        double now = l->device->evaluate(l->at, g->sequence.tokens, g->sequence.targets);
        sum += nn_graded_loss(&l->groups, g, now).loss / COUNT;
    }
    return sum;
}

T_TEST(group_gradients_are_slopes)
{
    Learner l;
    open_learner(&l);
    const NnTable *table = &l.model.table;
    float *grads = nn_floats_new(table->total);
    for (uint32_t i = 0; i < COUNT; i++)
        l.groups.all.at[i].sequence.reference -= 0.3; /* the answers have become less likely */
    double learnt = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        NnLesson one = l.lessons.learn(l.lessons.self, i, l.device, l.at, 1.0 / COUNT);
        CHECK(one.ratio < 1 && one.clipped == 0 && isnan(one.margin));
        learnt += one.loss / COUNT;
    }
    l.device->get(l.at, NN_GRADS, grads);
    CHECK_NEAR(learnt, mean_loss(&l), 1e-6);
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

/* By hand: four tokens, twice as likely as at the start by each token: the ratio is 2. */
T_TEST(group_ratio_has_a_limit_in_its_direction)
{
    NnGroups groups = {.low = 0.2, .high = 0.3};
    NnGraded g = {.sequence = {.learnt = 4, .reference = 4 * log(2) + 5}, .advantage = 0.5};
    NnGradedLoss up = nn_graded_loss(&groups, &g, 5);
    CHECK_NEAR(up.ratio, 2, 1e-12);
    CHECK(up.clipped && up.weight == 0);
    CHECK_NEAR(up.loss, -0.5 * 1.3, 1e-12);
    g.advantage = -0.5; /* a bad answer that became likelier: learnt, whatever the ratio */
    NnGradedLoss down = nn_graded_loss(&groups, &g, 5);
    CHECK(!down.clipped);
    CHECK_NEAR(down.loss, 0.5 * 2, 1e-12);
    CHECK_NEAR(down.weight, -0.5 * 2 / 4, 1e-12);
    g.sequence.reference = 5 - 4 * log(2);
    CHECK(nn_graded_loss(&groups, &g, 5).clipped);
}

static void run_groups(Learner *l, const char *dir, uint64_t steps, NnModel *model)
{
    Diag diag = diag_make(&l->arena, "grpo", STR(""));
    NnTraining t = {.device = l->device,
                    .lessons = &l->lessons,
                    .dir = dir,
                    .batch = 2,
                    .seq = SEQ,
                    .accumulate = 1,
                    .steps = steps,
                    .save_every = 4,
                    .adam = nn_adam_default(),
                    .clip = 1,
                    .last_rate = 1,
                    .seed = 2};
    t.adam.rate = 2e-3;
    memcpy(model->weights, l->model.weights, model->table.total * sizeof(float));
    REQUIRE(nn_train(&t, model, &diag));
}

T_TEST(group_run_makes_better_answers_likelier_and_goes_on)
{
    Learner l;
    TempDir dir;
    open_learner(&l);
    Diag diag = diag_make(&l.arena, "grpo", STR(""));
    REQUIRE(temp_dir_make(&l.arena, "acraft-grpo", &dir, &diag));
    NnConfig c = help_config();
    NnModel whole = nn_open(&l.arena, &c), parts = nn_open(&l.arena, &c);
    run_groups(&l, path_join(&l.arena, dir.path, "whole"), 20, &whole);
    run_groups(&l, path_join(&l.arena, dir.path, "parts"), 12, &parts);
    run_groups(&l, path_join(&l.arena, dir.path, "parts"), 20, &parts);
    CHECK(!memcmp(whole.weights, parts.weights, whole.table.total * sizeof(float)));
    l.device->put(l.at, NN_WEIGHTS, whole.weights);
    for (uint32_t i = 0; i < COUNT; i++) {
        const NnGraded *g = &l.groups.all.at[i];
        double now = l.device->evaluate(l.at, g->sequence.tokens, g->sequence.targets);
        CHECK((now < g->sequence.reference) == (g->advantage > 0));
    }
    nn_close(&whole);
    nn_close(&parts);
    CHECK(temp_dir_remove(&dir, &diag));
    close_learner(&l);
}

static const char rows[] =
    "{\"mark\": \"right\", \"messages\": [{\"content\": \"b\"}, {\"content\": \"r1\"}]}\n"
    "{\"mark\": \"wrong\", \"messages\": [{\"content\": \"b\"}, {\"content\": \"w1\"}]}\n"
    "{\"mark\": \"right\", \"messages\": [{\"content\": \"b\"}, {\"content\": \"r1\"}]}\n"
    "{\"mark\": \"refused\", \"messages\": [{\"content\": \"b\"}, {\"content\": \"x1\"}]}\n"
    "{\"mark\": \"right\", \"messages\": [{\"content\": \"even\"}, {\"content\": \"r\"}]}\n"
    "{\"mark\": \"right\", \"reward\": 0.5, \"messages\": [{\"content\": \"c\"}, {\"content\": "
    "\"s\"}]}\n"
    "{\"mark\": \"right\", \"reward\": 1, \"messages\": [{\"content\": \"c\"}, {\"content\": "
    "\"f\"}]}\n";

T_TEST(group_rows_become_answers_with_their_advantage)
{
    Arena arena = {0};
    TempDir dir;
    NnGroups groups;
    Diag diag = diag_make(&arena, "rows", STR(""));
    REQUIRE(temp_dir_make(&arena, "acraft-grpo", &dir, &diag));
    const char *path = path_join(&arena, dir.path, "rows.jsonl");
    Bpe *bpe = bpe_open("weights/tokenizer.json", &diag);
    REQUIRE(bpe && file_write(path, str_from(rows), &diag));
    REQUIRE(nn_groups_read(&arena, path, bpe, 16, &groups, &diag));
    CHECK(groups.groups == 2 && groups.even == 1 && groups.dropped == 0);
    REQUIRE(groups.all.len == 6);
    static const double want[] = {1, -1, 1, -1, -1, 1}; /* two of four right; half and whole */
    for (uint32_t i = 0; i < 6; i++)
        CHECK_NEAR(groups.all.at[i].advantage, want[i], 1e-12);
    REQUIRE(file_write(path, STR("{\"mark\": \"right\", \"reward\": \"much\", \"messages\": []}\n"),
                       &diag));
    CHECK(!nn_groups_read(&arena, path, bpe, 16, &groups, &diag));
    bpe_close(bpe);
    CHECK(temp_dir_remove(&dir, &diag));
    arena_drop(&arena);
}
