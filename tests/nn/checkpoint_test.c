/* safetensors and checkpoints: round trips, hostile headers, what transformers writes. */
#include "nn/checkpoint.h"

#include "base/file.h"
#include "base/temp.h"
#include "nn/train.h"
#include "tests/nn/nn_help.h"
#include "tests/t.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file of that header and so many bytes of data; whether it is accepted. */
static bool accepts(const char *header, size_t data)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test", STR(""));
    Buf bytes = {0};
    StFile file = {0};
    buf_fill(&bytes, 0, 8);
    buf_puts(&bytes, header);
    for (int i = 0; i < 8; i++)
        bytes.at[i] = (char)(strlen(header) >> 8 * i & 0xff);
    buf_fill(&bytes, 1, data);
    bool ok = st_parse(&arena, buf_view(&bytes), &file, &diag);
    CHECK(ok == diag_ok(&diag));
    CHECK(ok || !strcmp(diag.items.at[0].code, "N002"));
    buf_free(&bytes);
    arena_drop(&arena);
    return ok;
}

T_TEST(safetensors_headers)
{
    CHECK(accepts("{}", 0));
    CHECK(accepts("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8));
    CHECK(accepts("{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4));
    CHECK(accepts("{\"a\":{\"dtype\":\"I8\",\"shape\":[0,3],\"data_offsets\":[0,0]}}", 0));
    CHECK(accepts("{\"__metadata__\":{\"k\":\"v\"},\"b\":{\"dtype\":\"BF16\",\"shape\":[1],"
                  "\"data_offsets\":[1,3]},\"a\":{\"dtype\":\"U8\",\"shape\":[1],"
                  "\"data_offsets\":[0,1]}}",
                  3));
}

T_TEST(hostile_safetensors_headers_are_refused)
{
    CHECK(!accepts("[]", 0));
    CHECK(!accepts("{", 0));
    CHECK(!accepts("{}", 1)); /* bytes of no tensor */
    CHECK(!accepts("{\"a\":3}", 0));
    CHECK(!accepts("{\"__metadata__\":{\"k\":1}}", 0));
    CHECK(!accepts("{\"__metadata__\":[]}", 0));
    CHECK(!accepts("{\"a\":{\"dtype\":\"Q4\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8));
    CHECK(!accepts("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 7));
    CHECK(!accepts("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8));
    CHECK(!accepts("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[-8,0]}}", 8));
    CHECK(!accepts("{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 8));
    CHECK(!accepts("{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8));
    CHECK(!accepts("{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", 8));
    /* 2^62 elements of 4 bytes are 0 bytes modulo 2^64 */
    CHECK(!accepts("{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],"
                   "\"data_offsets\":[0,0]}}",
                   0));
    CHECK(!accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],"
                   "\"data_offsets\":[0,0]}}",
                   0));
    CHECK(!accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],"
                   "\"data_offsets\":[0,1]}}",
                   1));
    /* the same bytes twice, a hole, the same name twice */
    CHECK(!accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                   "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
                   3));
    CHECK(!accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                   "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}",
                   3));
    CHECK(!accepts("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                   "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
                   2));
}

T_TEST(safetensors_lengths_are_checked)
{
    Arena arena = {0};
    static const unsigned char cases[][10] = {{0},
                                              {255, 255, 255, 255, 255, 255, 255, 255, '{', '}'},
                                              {3, 0, 0, 0, 0, 0, 0, 0, '{', '}'}};
    static const size_t sizes[] = {5, 10, 10};
    for (int i = 0; i < 3; i++) {
        Diag diag = diag_make(&arena, "test", STR(""));
        StFile file = {0};
        CHECK(!st_parse(&arena, (Str){(const char *)cases[i], sizes[i]}, &file, &diag));
    }
    Diag diag = diag_make(&arena, "test", STR(""));
    StFile file;
    CHECK(!st_open(&arena, "tests/nn/no-such-file.safetensors", &file, &diag));
    CHECK(!st_open(&arena, "tests/nn", &file, &diag));
    CHECK_EQ_INT(diag.errors, 2);
    arena_drop(&arena);
}

static NnModel random_model(Arena *arena, bool tied)
{
    NnConfig c = help_config();
    c.tied = tied;
    NnModel model = nn_open(arena, &c);
    nn_init(&model, 12);
    return model;
}

static void check_round_trip(StDtype dtype, uint64_t shard, double tolerance)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test", STR(""));
    TempDir dir;
    REQUIRE(temp_dir_make(&arena, "acraft-nn", &dir, &diag));
    NnModel model = random_model(&arena, shard != 0), back;
    const char *path = path_join(&arena, dir.path, "model");
    CHECK(nn_checkpoint_save(path, &model, dtype, shard, &diag));
    CHECK((shard != 0) == file_exists(path_join(&arena, path, "model.safetensors.index.json")));
    REQUIRE(nn_checkpoint_load(&arena, path, &back, &diag));
    Buf got = {0}, want = {0};
    nn_config_print(&back.table.config, &got);
    nn_config_print(&model.table.config, &want);
    CHECK_EQ_STR(got.at, want.at);
    buf_free(&got);
    buf_free(&want);
    CHECK(help_distance(back.weights, model.weights, model.table.total) <= tolerance);
    nn_close(&model);
    nn_close(&back);
    CHECK(temp_dir_remove(&dir, &diag));
    arena_drop(&arena);
}

T_TEST(checkpoints_round_trip)
{
    check_round_trip(ST_F32, 0, 0);
    check_round_trip(ST_F32, 700, 0);
    check_round_trip(ST_F16, 0, 1e-3);
    check_round_trip(ST_BF16, 500, 8e-3);
}

/* One file with the config in its metadata, weights as I8 with scales of groups of 5 columns. */
T_TEST(int8_tensors_are_scaled)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test", STR(""));
    TempDir dir;
    REQUIRE(temp_dir_make(&arena, "acraft-nn", &dir, &diag));
    static const int8_t values[20] = {1, -2, 3, -128, 127, 0, 5, 6, 7, 8};
    static const float scales[4] = {0.5f, 2, 4, 8};
    StTensor rows[2] = {{STR("w"), ST_I8, 2, {2, 10}, 20, 20, values},
                        {STR("w.scale"), ST_F32, 2, {2, 2}, 4, 16, scales}};
    const char *path = path_join(&arena, dir.path, "one.safetensors");
    CHECK(st_write(path, rows, 2, NULL, 0, &diag));
    StSet set;
    REQUIRE(st_set_open(&arena, path, &set, &diag));
    NnTensor t = {.name = "w", .rows = 2, .cols = 10, .count = 20};
    float out[20];
    CHECK(nn_checkpoint_tensor(&set, &t, out, &diag));
    CHECK(out[0] == 0.5f && out[3] == -64 && out[4] == 63.5f && out[6] == 10 && out[9] == 16);
    NnTensor missing = {.name = "x", .rows = 2, .cols = 10, .count = 20};
    CHECK(!nn_checkpoint_tensor(&set, &missing, out, &diag));
    st_set_close(&set);
    CHECK(temp_dir_remove(&dir, &diag));
    arena_drop(&arena);
}

/* The logits that transformers computed for a checkpoint it wrote. */
static void check_expected(const char *path)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test", STR(""));
    NnModel model;
    StFile file;
    uint64_t tokens_len, count;
    Buf said = {0};
    bool ok = nn_checkpoint_load(&arena, path, &model, &diag);
    diag_print(&diag, &said);
    REQUIRE(CHECK_MSG(ok, "%s: %s", path, said.at ? said.at : ""));
    REQUIRE(st_open(&arena, path_join(&arena, path, "expected.safetensors"), &file, &diag));
    int32_t *tokens = help_load_ints(&file, "tokens", &tokens_len);
    float *logits = help_load(&file, "logits", &count);
    NnPass *pass = nn_pass_open(&model, 2, (uint32_t)tokens_len / 2, NULL, false);
    double distance = help_distance(nn_pass_forward(pass, tokens), logits, count);
    CHECK_MSG(distance < 1e-4, "%s: logits differ by %g", path, distance);
    nn_pass_close(pass);
    heap_free(tokens);
    heap_free(logits);
    nn_close(&model);
    st_close(&file);
    arena_drop(&arena);
}

T_TEST(qwen3_logits_equal_transformers)
{
    check_expected("tests/nn/golden/qwen3");
    check_expected("tests/nn/golden/qwen3_shards");
}

/* NN_CHECKPOINTS=DIR: those that tools/nn_vectors.py has written there. */
T_TEST(qwen3_checkpoints_of_a_directory)
{
    const char *dir = getenv("NN_CHECKPOINTS");
    if (!dir)
        t_skip("NN_CHECKPOINTS is not set; tools/nn_vectors.py checkpoints DIR makes them");
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test", STR(""));
    NameList names = {0};
    REQUIRE(file_list(&arena, dir, &names, &diag));
    CHECK(names.len > 0);
    for (uint32_t i = 0; i < names.len; i++)
        check_expected(path_join(&arena, dir, names.at[i]));
    arena_drop(&arena);
}

static bool parses(const char *json)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "config.json", STR(""));
    NnConfig config;
    bool ok = nn_config_parse(str_from(json), &config, &diag);
    CHECK(ok == diag_ok(&diag));
    arena_drop(&arena);
    return ok;
}

#define SIZES                                                              \
    "\"hidden_size\":16,\"intermediate_size\":24,\"num_hidden_layers\":2," \
    "\"num_attention_heads\":2,\"vocab_size\":32,\"max_position_embeddings\":64"
T_TEST(configs_that_we_cannot_run_are_refused)
{
    CHECK(parses("{\"model_type\":\"qwen3\"," SIZES "}"));
    CHECK(!parses("{" SIZES "}"));
    CHECK(!parses("{\"model_type\":\"llama\"," SIZES "}"));
    CHECK(!parses("{\"model_type\":\"qwen3\",\"attention_bias\":true," SIZES "}"));
    CHECK(!parses("{\"model_type\":\"qwen3\",\"hidden_act\":\"gelu\"," SIZES "}"));
    CHECK(!parses("{\"model_type\":\"qwen3\",\"rope_scaling\":{\"type\":\"yarn\"}," SIZES "}"));
    CHECK(!parses("{\"model_type\":\"qwen3\",\"head_dim\":0," SIZES "}"));
    CHECK(!parses("{\"model_type\":\"qwen3\",\"head_dim\":7," SIZES "}"));
    CHECK(!parses("{\"model_type\":\"qwen3\",\"rope_theta\":\"x\"," SIZES "}"));
    CHECK(!parses("{\"model_type\":\"qwen3\",\"hidden_size\":16}"));
    CHECK(!parses("[]"));
    CHECK(!parses(""));
}

/* A config that asks for more than the file has, and a shard outside the directory. */
T_TEST(checkpoints_that_do_not_fit_are_refused)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "test", STR(""));
    TempDir dir;
    REQUIRE(temp_dir_make(&arena, "acraft-nn", &dir, &diag));
    NnModel model = random_model(&arena, true), back;
    CHECK(nn_checkpoint_save(dir.path, &model, ST_F32, 0, &diag));
    Buf config = {0};
    NnConfig larger = model.table.config;
    larger.vocab = 1 << 20;
    nn_config_print(&larger, &config);
    const char *path = path_join(&arena, dir.path, "config.json");
    CHECK(file_write(path, buf_view(&config), &diag) && diag_ok(&diag));
    CHECK(!nn_checkpoint_load(&arena, dir.path, &back, &diag));
    CHECK_EQ_STR(diag.items.at[0].code, "N003");
    CHECK(file_write(path_join(&arena, dir.path, "model.safetensors.index.json"),
                     STR("{\"weight_map\":{\"a\":\"../../etc/passwd\"}}"), &diag));
    CHECK(!nn_checkpoint_load(&arena, dir.path, &back, &diag));
    CHECK_EQ_STR(diag.items.at[1].code, "N002");
    buf_free(&config);
    nn_close(&model);
    CHECK(temp_dir_remove(&dir, &diag));
    arena_drop(&arena);
}
