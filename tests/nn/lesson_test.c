/* Lessons: preferences (nn/dpo.h) and groups of judged answers (nn/group.h). Gradients are the slopes of the loss,
 * losses are those of the formulas by hand, runs go on where they stopped, rows of all kinds are read. */
#include "nn/dpo.h"
#include "nn/group.h"

#include "base/file.h"
#include "base/rng.h"
#include "base/temp.h"
#include "nn/trainer.h"
#include "tests/nn/nn_help.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

enum { SEQ = 7, PAIRS = 3, ANSWERS = 4 };

/* ---- a model that learns lessons ---- */

typedef struct Learner {
    Arena arena;
    NnModel model;
    const NnDevice *device;
    void *at;
    NnPairs pairs;
    NnGroups groups;
    NnLessons lessons; /* of one of them */
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
}

static void close_learner(Learner *l)
{
    l->device->close(l->at);
    nn_close(&l->model);
    arena_drop(&l->arena);
}

/* Random tokens: the first three are the question; the last `less` are not learnt. */
static NnSequence random_sequence(Arena *arena, uint64_t question, uint64_t answer, uint32_t less)
{
    uint32_t vocab = help_config().vocab;
    NnSequence s = {arena_array(arena, int32_t, SEQ), arena_array(arena, int32_t, SEQ), 0, 0};
    for (uint32_t n = 0; n < SEQ; n++)
        s.tokens[n] = (int32_t)rng_range(5, n < 3 ? question : answer, n, 0, vocab);
    for (uint32_t n = 0; n < SEQ; n++) {
        s.targets[n] = n >= 2 && n + 1 < SEQ - less ? s.tokens[n + 1] : -1;
        s.learnt += s.targets[n] >= 0;
    }
    return s;
}

static double evaluate(Learner *l, const NnSequence *s)
{
    return l->device->evaluate(l->at, s->tokens, s->targets);
}

/* The gradients of all lessons are the slopes of `mean`, their mean loss with the model's weights. */
static void check_slopes(Learner *l, double (*mean)(Learner *))
{
    const NnTable *table = &l->model.table;
    float *grads = nn_floats_new(table->total);
    double learnt = 0;
    for (uint32_t i = 0; i < l->lessons.count; i++)
        learnt +=
            l->lessons.learn(l->lessons.self, i, l->device, l->at, 1.0 / l->lessons.count).loss;
    l->device->get(l->at, NN_GRADS, grads);
    CHECK_NEAR(learnt / l->lessons.count, mean(l), 1e-6);
    for (uint32_t i = 0; i < table->count; i++)
        for (uint32_t k = 0; k < 4; k++) {
            const NnTensor *t = &table->tensors[i];
            uint64_t at = t->at + (uint64_t)rng_range(9, i, k, 0, (int64_t)t->count);
            float was = l->model.weights[at], h = 4e-3f;
            double loss[2];
            for (int side = 0; side < 2; side++) {
                l->model.weights[at] = side ? was + h : was - h;
                l->device->put(l->at, NN_WEIGHTS, l->model.weights);
                loss[side] = mean(l);
            }
            double want = (loss[1] - loss[0]) / (2 * (double)h);
            l->model.weights[at] = was;
            CHECK_MSG(fabs((double)grads[at] - want) < 3e-4 + 3e-3 * fabs(want), "%s: %g, slope %g",
                      t->name, (double)grads[at], want);
        }
    nn_floats_free(grads);
}

static void run_lessons(Learner *l, const char *dir, uint64_t steps, NnModel *model)
{
    Diag diag = diag_make(&l->arena, "run", STR(""));
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
    t.adam.rate = 1e-3;
    memcpy(model->weights, l->model.weights, model->table.total * sizeof(float));
    REQUIRE(nn_train(&t, model, &diag));
}

/* A run of `steps`, which ends with the same bits as one that was stopped after 12; the last line of its curve. */
static Str check_run(Learner *l, uint64_t steps, NnModel *whole)
{
    TempDir dir;
    Str curve, line, last = {0};
    Diag diag = diag_make(&l->arena, "run", STR(""));
    REQUIRE(temp_dir_make(&l->arena, "acraft-lessons", &dir, &diag));
    NnConfig c = help_config();
    NnModel parts = nn_open(&l->arena, &c);
    *whole = nn_open(&l->arena, &c);
    run_lessons(l, path_join(&l->arena, dir.path, "whole"), steps, whole);
    run_lessons(l, path_join(&l->arena, dir.path, "parts"), 12, &parts);
    run_lessons(l, path_join(&l->arena, dir.path, "parts"), steps, &parts);
    CHECK(!memcmp(whole->weights, parts.weights, parts.table.total * sizeof(float)));
    REQUIRE(file_read(&l->arena, path_join(&l->arena, dir.path, "whole/curve.jsonl"), 0, &curve,
                      &diag));
    while (str_next(&curve, '\n', &line))
        last = line.len ? line : last;
    nn_close(&parts);
    CHECK(temp_dir_remove(&dir, &diag));
    return last;
}

/* ---- PyTorch's numbers (tools/nn_vectors.py lessons) ---- */

enum { GOLDEN_SEQ = 9, GOLDEN_STEPS = 3 };

/* A learner with the golden file's weights, and its sequences. */
static NnSequence *open_golden(Learner *l, const StFile *file, uint64_t *count)
{
    NnConfig c = help_golden_config();
    char why[200] = "";
    uint64_t n;
    *l = (Learner){.device = nn_device_cpu()};
    l->model = nn_open(&l->arena, &c);
    help_load_block(file, "weight", &l->model.table, l->model.weights);
    NnDeviceModel shape = nn_device_model(&l->arena, &l->model.table);
    l->at = l->device->open(&shape, 1, GOLDEN_SEQ, why, sizeof why);
    REQUIRE(l->at);
    l->device->put(l->at, NN_WEIGHTS, l->model.weights);
    float *reference = help_load(file, "reference", count);
    int32_t *tokens = help_load_ints(file, "tokens", &n);
    int32_t *targets = help_load_ints(file, "targets", &n);
    NnSequence *all = arena_array(&l->arena, NnSequence, *count);
    for (uint64_t i = 0; i < *count; i++) {
        all[i] = (NnSequence){arena_array(&l->arena, int32_t, GOLDEN_SEQ),
                              arena_array(&l->arena, int32_t, GOLDEN_SEQ), 0, (double)reference[i]};
        memcpy(all[i].tokens, tokens + i * GOLDEN_SEQ, GOLDEN_SEQ * sizeof *tokens);
        memcpy(all[i].targets, targets + i * GOLDEN_SEQ, GOLDEN_SEQ * sizeof *targets);
        all[i].learnt = nn_target_count(all[i].targets, GOLDEN_SEQ);
    }
    heap_free(reference);
    heap_free(tokens);
    heap_free(targets);
    return all;
}

static void check_block(Learner *l, const StFile *file, const char *name, NnBlock block)
{
    uint64_t total = l->model.table.total;
    float *got = nn_floats_new(total), *want = nn_floats_new(total);
    l->device->get(l->at, block, got);
    help_load_block(file, name, &l->model.table, want);
    double off = help_distance(got, want, total);
    CHECK_MSG(off < 1e-5, "%s: %g", name, off);
    nn_floats_free(got);
    nn_floats_free(want);
}

/* Losses, gradients and three clipped steps of AdamW are PyTorch's. */
static void check_golden(Learner *l, const StFile *file, const char *name)
{
    uint64_t count;
    float *losses = help_load(file, str_format(&l->arena, "%s/losses", name), &count);
    REQUIRE(count == GOLDEN_STEPS);
    for (uint64_t step = 1; step <= count; step++) {
        NnAdam adam = nn_adam_default();
        NnDeviceStep s = {1e-3, adam.beta1, adam.beta2, adam.eps, adam.decay, 1, step};
        NnDeviceResult result;
        double loss = 0, share = 1.0 / l->lessons.count;
        for (uint32_t i = 0; i < l->lessons.count; i++)
            loss += share * l->lessons.learn(l->lessons.self, i, l->device, l->at, share).loss;
        CHECK_NEAR(loss, (double)losses[step - 1], 2e-5 * fabs((double)losses[step - 1]));
        if (step == 1)
            check_block(l, file, str_format(&l->arena, "%s/grad", name), NN_GRADS);
        REQUIRE(l->device->update(l->at, &s, &result));
    }
    check_block(l, file, str_format(&l->arena, "%s/final", name), NN_WEIGHTS);
    heap_free(losses);
}

T_TEST(dpo_equals_pytorch)
{
    Learner l;
    StFile file;
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    uint64_t count;
    REQUIRE(st_open(&arena, "tests/nn/golden/lessons.safetensors", &file, &diag));
    NnSequence *all = open_golden(&l, &file, &count);
    float *limits = help_load(&file, "limits", &(uint64_t){0});
    l.pairs = (NnPairs){.seq = GOLDEN_SEQ, .beta = (double)limits[0], .nll = (double)limits[1]};
    for (uint64_t i = 0; i < count; i += 2)
        vec_push(&l.arena, &l.pairs.all, ((NnPair){all[i], all[i + 1]}));
    l.lessons = nn_pairs_lessons(&l.pairs);
    check_golden(&l, &file, "pairs");
    heap_free(limits);
    close_learner(&l);
    st_close(&file);
    arena_drop(&arena);
}

T_TEST(group_loss_equals_pytorch)
{
    Learner l;
    StFile file;
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    uint64_t count;
    REQUIRE(st_open(&arena, "tests/nn/golden/lessons.safetensors", &file, &diag));
    NnSequence *all = open_golden(&l, &file, &count);
    float *limits = help_load(&file, "limits", &(uint64_t){0});
    float *advantage = help_load(&file, "advantage", &count);
    l.groups = (NnGroups){.low = (double)limits[2], .high = (double)limits[3]};
    for (uint64_t i = 0; i < count; i++)
        vec_push(&l.arena, &l.groups.all, ((NnGraded){all[i], (double)advantage[i]}));
    l.lessons = nn_groups_lessons(&l.groups);
    check_golden(&l, &file, "groups");
    heap_free(limits);
    heap_free(advantage);
    close_learner(&l);
    st_close(&file);
    arena_drop(&arena);
}

/* ---- preferences ---- */

static void open_pairs(Learner *l)
{
    open_learner(l);
    l->pairs = (NnPairs){.seq = SEQ, .beta = 0.7, .nll = 0.3};
    for (uint32_t i = 0; i < PAIRS; i++) {
        NnPair pair = {random_sequence(&l->arena, i, 10 * i + 100, 0),
                       random_sequence(&l->arena, i, 10 * i + 101, 1)};
        pair.chosen.reference = 9 + 0.4 * (double)i;
        pair.rejected.reference = 8 + 0.4 * (double)i;
        vec_push(&l->arena, &l->pairs.all, pair);
    }
    l->lessons = nn_pairs_lessons(&l->pairs);
}

static double mean_pair_loss(Learner *l)
{
    double sum = 0, up, down;
    for (uint32_t i = 0; i < PAIRS; i++) {
        const NnPair *p = &l->pairs.all.at[i];
        sum += nn_pair_loss(&l->pairs, p, evaluate(l, &p->chosen), evaluate(l, &p->rejected), &up,
                            &down)
                   .loss /
               PAIRS;
    }
    return sum;
}

T_TEST(dpo_gradients_are_slopes)
{
    Learner l;
    open_pairs(&l);
    check_slopes(&l, mean_pair_loss);
    close_learner(&l);
}

T_TEST(dpo_run_prefers_the_chosen_and_goes_on_where_it_stopped)
{
    Learner l;
    NnModel model;
    open_pairs(&l);
    Str last = check_run(&l, 40, &model);
    CHECK_MSG(str_find(last, STR("\"preferred\": 1")) > 0, "%.*s", STR_ARG(last));
    nn_close(&model);
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

static const char pair_rows[] =
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
    REQUIRE(bpe && file_write(path, str_from(pair_rows), &diag));
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

/* ---- groups ---- */

static void open_groups(Learner *l)
{
    open_learner(l);
    l->groups = (NnGroups){.low = 0.3, .high = 0.4};
    for (uint32_t i = 0; i < ANSWERS; i++)
        vec_push(&l->arena, &l->groups.all,
                 ((NnGraded){random_sequence(&l->arena, 1, 10 + i, 0), i % 2 ? -0.8 : 1.1}));
    l->lessons = nn_groups_lessons(&l->groups);
    l->lessons.refer(l->lessons.self, l->device, l->at);
}

static double mean_graded_loss(Learner *l)
{
    double sum = 0;
    for (uint32_t i = 0; i < ANSWERS; i++) {
        const NnGraded *g = &l->groups.all.at[i];
        sum += nn_graded_loss(&l->groups, g, evaluate(l, &g->sequence)).loss / ANSWERS;
    }
    return sum;
}

T_TEST(group_gradients_are_slopes)
{
    Learner l;
    open_groups(&l);
    for (uint32_t i = 0; i < ANSWERS; i++)
        l.groups.all.at[i].sequence.reference -= 0.3; /* the answers have become less likely */
    check_slopes(&l, mean_graded_loss);
    close_learner(&l);
}

T_TEST(group_run_makes_better_answers_likelier_and_goes_on)
{
    Learner l;
    NnModel model;
    open_groups(&l);
    Str last = check_run(&l, 30, &model);
    CHECK_MSG(str_find(last, STR("\"clipped\": ")) > 0, "%.*s", STR_ARG(last));
    l.device->put(l.at, NN_WEIGHTS, model.weights);
    for (uint32_t i = 0; i < ANSWERS; i++) {
        const NnGraded *g = &l.groups.all.at[i];
        CHECK((evaluate(&l, &g->sequence) < g->sequence.reference) == (g->advantage > 0));
    }
    nn_close(&model);
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

static const char graded_rows[] =
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
    REQUIRE(bpe && file_write(path, str_from(graded_rows), &diag));
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
