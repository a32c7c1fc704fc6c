/* Training data, the learning rate, and that a stopped run goes on as if it had not stopped. */
#include "nn/trainer.h"

#include "base/file.h"
#include "base/temp.h"
#include "nn/checkpoint.h"
#include "tests/nn/nn_help.h"
#include "tests/t.h"
#include <stdlib.h>
#include <string.h>

static const char *write_file(Arena *arena, const TempDir *dir, const char *name, const char *text)
{
    Diag diag = diag_make(arena, "", STR(""));
    const char *path = path_join(arena, dir->path, name);
    REQUIRE(file_write(path, str_from(text), &diag));
    return path;
}

static void open_dir(Arena *arena, TempDir *dir)
{
    Diag diag = diag_make(arena, "", STR(""));
    REQUIRE(temp_dir_make(arena, "acraft-nn", dir, &diag));
}

static void close_dir(Arena *arena, TempDir *dir)
{
    Diag diag = diag_make(arena, "", STR(""));
    CHECK(temp_dir_remove(dir, &diag));
    arena_drop(arena);
}

static Bpe *bytes_only(Arena *arena)
{
    static const char *const specials[] = {"<|endoftext|>"};
    Diag diag = diag_make(arena, "", STR(""));
    Str none = STR("");
    BpeTraining training = {&none, 1, specials, 1, 257};
    return bpe_train(&training, &diag);
}

T_TEST(json_lines_become_tokens)
{
    Arena arena = {0};
    TempDir dir;
    open_dir(&arena, &dir);
    Diag diag = diag_make(&arena, "", STR(""));
    Bpe *bpe = bytes_only(&arena);
    const char *path = write_file(&arena, &dir, "rows.jsonl",
                                  "{\"text\": \"ab\"}\n\n{\"prompt\": \"c\", \"completion\": "
                                  "[{\"role\": \"assistant\", \"content\": \"d\"}], \"x\": 1}\n"
                                  "{\"messages\": [{\"role\": \"user\", \"content\": \"e\"}, "
                                  "{\"role\": \"assistant\", \"content\": \"f\"}]}\n");
    NnData data, back;
    static const uint32_t want[] = {'a', 'b', 256, 'c' | NN_MASKED, 'd', 256, 'e' | NN_MASKED,
                                    'f', 256};
    REQUIRE(nn_data_read(&arena, path, bpe, &data, &diag));
    CHECK(data.count == 9 && !memcmp(data.tokens, want, sizeof want));
    for (uint32_t vocab = 257; vocab < 100000; vocab += 90000) { /* 2 and 4 bytes */
        const char *packed = path_join(&arena, dir.path, "tokens.bin");
        CHECK(nn_data_write(packed, &data, vocab, &diag));
        REQUIRE(nn_data_read(&arena, packed, NULL, &back, &diag));
        CHECK(back.count == 9 && !memcmp(back.tokens, want, sizeof want));
    }
    bpe_close(bpe);
    close_dir(&arena, &dir);
}

T_TEST(bad_training_data_are_refused)
{
    Arena arena = {0};
    TempDir dir;
    open_dir(&arena, &dir);
    Bpe *bpe = bytes_only(&arena);
    static const char *const lines[] = {"{\"text\": 3}\n",
                                        "{\"prompt\": \"a\"}\n",
                                        "{\n",
                                        "[]\n",
                                        "{\"prompt\": \"a\", \"completion\": [{}]}\n",
                                        "{\"messages\": [{\"content\": \"a\"}]}\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Diag diag = diag_make(&arena, "", STR(""));
        NnData data;
        const char *path = write_file(&arena, &dir, "rows.jsonl", lines[i]);
        CHECK(!nn_data_read(&arena, path, bpe, &data, &diag));
        CHECK(diag.errors == 1 && !strcmp(diag.items.at[0].code, "N005"));
        CHECK(strstr(diag.items.at[0].text, "rows.jsonl:1:") != NULL);
    }
    static const char *const packed[] = {"", "ACTOKENS", "ACTOKENS\2...\4...", "ACTOKENSxxxxyyyy"};
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        Diag diag = diag_make(&arena, "", STR(""));
        NnData data;
        const char *path = write_file(&arena, &dir, "tokens.bin", packed[i]);
        CHECK(!nn_data_read(&arena, path, NULL, &data, &diag) && diag.errors == 1);
    }
    bpe_close(bpe);
    close_dir(&arena, &dir);
}

T_TEST(rate_rises_and_falls)
{
    NnTraining t = {.steps = 110, .warmup = 10, .last_rate = 0.1, .adam = {.rate = 2}};
    CHECK_NEAR(nn_train_rate(&t, 1), 0.2, 1e-12);
    CHECK_NEAR(nn_train_rate(&t, 10), 2, 1e-12);
    CHECK_NEAR(nn_train_rate(&t, 60), 1.1, 1e-12);
    CHECK_NEAR(nn_train_rate(&t, 110), 0.2, 1e-12);
}

/* A device that fails at its fifth update. */
static int updates_left;

static int failing_update(void *device, const NnDeviceStep *step, NnDeviceResult *result)
{
    if (updates_left-- == 0)
        return 0;
    return nn_device_cpu()->update(device, step, result);
}

static const char *failing_error(void *device)
{
    (void)device;
    return "the device fell off the bus";
}

/* A repeating text that a model of two layers learns. */
static NnData pattern(Arena *arena)
{
    NnData data = {arena_array(arena, uint32_t, 400), 400};
    for (uint32_t i = 0; i < 400; i++)
        data.tokens[i] = (i * i + i / 7) % 13 | (i % 11 == 3 ? (uint32_t)NN_MASKED : 0);
    return data;
}

static NnTraining small_training(const NnDevice *device, const NnData *data, const char *dir)
{
    NnTraining t = {.device = device, .data = data, .held_out = data, .dir = dir, .batch = 4};
    t.seq = 16;
    t.accumulate = 2;
    t.steps = 8;
    t.warmup = 2;
    t.save_every = 3;
    t.evaluate_every = 4;
    t.adam = nn_adam_default();
    t.adam.rate = 1e-2;
    t.clip = 1;
    t.last_rate = 0.1;
    t.seed = 7;
    return t;
}

static NnModel first_model(Arena *arena)
{
    NnConfig c = help_config();
    NnModel model = nn_open(arena, &c);
    nn_init(&model, 1);
    return model;
}

static uint32_t count_lines(Arena *arena, const char *path)
{
    Diag diag = diag_make(arena, "", STR(""));
    Str text, line;
    uint32_t lines = 0;
    REQUIRE(file_read(arena, path, 0, &text, &diag));
    while (str_next(&text, '\n', &line))
        lines += line.len > 0;
    return lines;
}

T_TEST(stopped_runs_go_on_bit_by_bit)
{
    Arena arena = {0};
    TempDir dir;
    open_dir(&arena, &dir);
    Diag diag = diag_make(&arena, "", STR(""));
    NnData data = pattern(&arena);
    NnModel whole = first_model(&arena), parts = first_model(&arena);
    const char *a = path_join(&arena, dir.path, "a"), *b = path_join(&arena, dir.path, "b");
    NnTraining t = small_training(nn_device_cpu(), &data, a);
    REQUIRE(nn_train(&t, &whole, &diag));
    NnDevice failing = *nn_device_cpu();
    failing.update = failing_update;
    failing.error = failing_error;
    updates_left = 5;
    t = small_training(&failing, &data, b);
    CHECK(!nn_train(&t, &parts, &diag) && diag.errors == 1);
    t.device = nn_device_cpu();
    REQUIRE(nn_train(&t, &parts, &diag));
    CHECK(!memcmp(whole.weights, parts.weights, whole.table.total * sizeof(float)));
    CHECK_EQ_INT(count_lines(&arena, path_join(&arena, b, "curve.jsonl")), 8);
    REQUIRE(nn_train(&t, &parts, &diag)); /* finished: nothing to do */
    NnModel loaded;
    REQUIRE(nn_checkpoint_load(&arena, b, &loaded, &diag));
    CHECK(!memcmp(whole.weights, loaded.weights, whole.table.total * sizeof(float)));
    nn_close(&whole);
    nn_close(&parts);
    nn_close(&loaded);
    close_dir(&arena, &dir);
}

/* Adapters of the first model: only they move, a stopped run goes on with the same bits, and DIR has them as
 * PEFT names them. */
T_TEST(adapters_are_learnt_and_go_on)
{
    Arena arena = {0};
    TempDir dir;
    open_dir(&arena, &dir);
    Diag diag = diag_make(&arena, "", STR(""));
    NnData data = pattern(&arena);
    NnModel base = first_model(&arena), whole = first_model(&arena), parts = first_model(&arena);
    const char *a = path_join(&arena, dir.path, "a"), *b = path_join(&arena, dir.path, "b");
    NnTraining t = small_training(nn_device_cpu(), &data, a);
    t.lora = 2;
    t.lora_alpha = 4;
    t.start = "the/base";
    REQUIRE(nn_train(&t, &whole, &diag));
    NnDevice failing = *nn_device_cpu();
    failing.update = failing_update;
    failing.error = failing_error;
    updates_left = 5;
    t.device = &failing;
    t.dir = b;
    CHECK(!nn_train(&t, &parts, &diag) && diag.errors == 1);
    nn_init(&parts, 1); /* as --start is read again */
    t.device = nn_device_cpu();
    REQUIRE(nn_train(&t, &parts, &diag));
    CHECK(!memcmp(whole.weights, parts.weights, whole.table.total * sizeof(float)));
    for (uint32_t i = 0; i < base.table.count; i++) {
        const NnTensor *one = &base.table.tensors[i];
        bool same = !memcmp(base.weights + one->at, whole.weights + one->at,
                            one->count * sizeof(float));
        CHECK_MSG(same == (!nn_tensor_is_matrix(one) || one->id == NN_EMBED), "%s", one->name);
    }
    StFile file;
    Str config;
    REQUIRE(st_open(&arena, path_join(&arena, a, "adapter_model.safetensors"), &file, &diag));
    CHECK_EQ_INT(file.tensors.len, 2 * 7 * base.table.config.layers);
    const StTensor *down = st_find(
        &file, STR("base_model.model.model.layers.1.mlp.down_proj.lora_A.weight"));
    REQUIRE(down != NULL);
    CHECK(down->shape[0] == 2 && down->shape[1] == base.table.config.ffn);
    st_close(&file);
    REQUIRE(file_read(&arena, path_join(&arena, a, "adapter_config.json"), 0, &config, &diag));
    CHECK(str_find(config, STR("\"target_modules\": [\"q_proj\", \"k_proj\", \"v_proj\", "
                               "\"o_proj\", \"gate_proj\", \"up_proj\", \"down_proj\"]")) > 0);
    CHECK(str_find(config, STR("\"lora_alpha\": 4")) > 0);
    t.lora = 3; /* the state is of two */
    CHECK(!nn_train(&t, &parts, &diag) && diag.errors == 2);
    nn_close(&base);
    nn_close(&whole);
    nn_close(&parts);
    close_dir(&arena, &dir);
}

static double last_loss;

static void keep_loss(void *context, Str line)
{
    (void)context;
    ptrdiff_t at = str_find(line, STR("\"loss\": "));
    last_loss = at < 0 ? 1e9 : strtod(line.at + at + 8, NULL);
}

T_TEST(training_learns_a_pattern)
{
    Arena arena = {0};
    TempDir dir;
    open_dir(&arena, &dir);
    Diag diag = diag_make(&arena, "", STR(""));
    NnData data = pattern(&arena);
    NnModel model = first_model(&arena);
    NnTraining t = small_training(nn_device_cpu(), &data, dir.path);
    t.steps = 150;
    t.save_every = 0;
    t.report = keep_loss;
    REQUIRE(nn_train(&t, &model, &diag));
    CHECK_MSG(last_loss < 1.2, "loss %g after 150 steps; log(13) is 2.56", last_loss);
    nn_close(&model);
    close_dir(&arena, &dir);
}

static uint32_t cut_prompts;

static void watch_learn(void *device, const int32_t *tokens, const int32_t *targets, float weight)
{
    for (uint32_t i = 0; i < 4; i++)
        cut_prompts += tokens[16 * i] != 1; /* 1 begins every row */
    nn_device_cpu()->learn(device, tokens, targets, weight);
}

T_TEST(windows_begin_with_a_prompt)
{
    Arena arena = {0};
    TempDir dir;
    open_dir(&arena, &dir);
    Diag diag = diag_make(&arena, "", STR(""));
    NnData data = {arena_array(&arena, uint32_t, 401), 401};
    for (uint32_t i = 0; i < 401; i++) { /* rows of five and of seven tokens, two of them asked */
        uint32_t at = i % 12 < 5 ? i % 12 : i % 12 - 5;
        data.tokens[i] = at < 2 ? (at + 1) | (uint32_t)NN_MASKED : at + 1;
    }
    NnModel model = first_model(&arena);
    NnDevice watching = *nn_device_cpu();
    watching.learn = watch_learn;
    NnTraining t = small_training(&watching, &data, dir.path);
    cut_prompts = 0;
    REQUIRE(nn_train(&t, &model, &diag));
    CHECK_EQ_INT(cut_prompts, 0);
    nn_close(&model);
    close_dir(&arena, &dir);
}

T_TEST(runs_that_cannot_be_are_refused)
{
    Arena arena = {0};
    TempDir dir;
    open_dir(&arena, &dir);
    NnData data = pattern(&arena);
    for (int i = 0; i < 4; i++) {
        Diag diag = diag_make(&arena, "", STR(""));
        NnModel model = first_model(&arena);
        NnTraining t = small_training(nn_device_cpu(), &data, dir.path);
        NnData other = data;
        if (i == 0)
            t.seq = 4000; /* over the context */
        if (i == 1)
            t.batch = 0;
        if (i == 2)
            other.count = 5;
        if (i == 3) {
            other = pattern(&arena);
            other.tokens[9] = 13; /* outside the vocabulary */
        }
        t.data = &other;
        CHECK(!nn_train(&t, &model, &diag) && diag.errors == 1);
        nn_close(&model);
    }
    Diag diag = diag_make(&arena, "", STR(""));
    CHECK(nn_device_find("tpu", &diag) == NULL && diag.errors == 1);
    close_dir(&arena, &dir);
}
