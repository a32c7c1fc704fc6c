/* Models that run in acraft itself, and the baselines: questions, missing and damaged files. */
#include "gen/local/local.h"

#include "base/file.h"
#include "base/temp.h"
#include "gen/prompt/prompt.h"
#include "nn/bpe.h"
#include "nn/infer.h"
#include "tests/t.h"
#include <string.h>

static TempDir dir;

static void open_dir(Arena *arena)
{
    Diag diag = diag_make(arena, "dir", STR(""));
    REQUIRE(temp_dir_make(arena, "acraft-local", &dir, &diag));
}

static void close_dir(Arena *arena)
{
    Diag diag = diag_make(arena, "dir", STR(""));
    CHECK(temp_dir_remove(&dir, &diag));
}

static const char *write_file(Arena *arena, const char *name, const char *text)
{
    const char *path = path_join(arena, dir.path, name);
    Diag diag = diag_make(arena, path, STR(""));
    REQUIRE(file_write(path, str_from(text), &diag));
    return path;
}

static ChatAsk ask_of(Arena *arena, const char *prompt, uint32_t sample)
{
    ChatAsk ask = {.task = "t", .sample = sample};
    vec_push(arena, &ask.messages, ((ChatMessage){CHAT_USER, str_from(prompt)}));
    return ask;
}

static const char rows[] =
    "{\"kind\": \"write\", \"messages\": [{\"role\": \"user\", \"content\": \"Write:\\n\\n%0 = "
    "input x "
    "f32[64,100]\\nexp\\n\"}, {\"role\": \"assistant\", \"content\": \"def op(x: gm[f32, n1, "
    "100]): exp 64\"}]}\n"
    "{\"kind\": \"choose\", \"messages\": [{\"role\": \"user\", \"content\": \"Which?\"}, "
    "{\"role\": "
    "\"assistant\", \"content\": \"that\"}]}\n"
    "{\"kind\": \"write\", \"messages\": [{\"role\": \"user\", \"content\": \"Write:\\n\\n%0 = "
    "input x "
    "f32[7]\\nsum of all\\n\"}, {\"role\": \"assistant\", \"content\": \"def op(x: gm[f32, 7]): "
    "sum\"}]}\n";

T_TEST(the_nearest_row_gets_sizes_and_type_of_the_question)
{
    Arena arena = {0};
    open_dir(&arena);
    Diag diag = diag_make(&arena, "rows", STR(""));
    BaselineSpec spec = {.rows = write_file(&arena, "rows.jsonl", rows), .seed = 1};
    Generator g;
    REQUIRE(nearest_open(&arena, &spec, &g, &diag));
    ChatAsk asks[] = {ask_of(&arena, "Write:\n\n%0 = input x bf16[32,640]\nexp\n", 0),
                      ask_of(&arena, "Write:\n\n%0 = input x bf16[32,640]\nexp\n", 1)};
    ChatReply replies[2];
    REQUIRE(g.ask(g.self, &arena, asks, 2, replies, &diag));
    CHECK_EQ_SLICE(replies[0].choices.at[0].text, "def op(x: gm[bf16, n1, 640]): exp 32");
    CHECK(str_find(replies[1].choices.at[0].text, STR("sum")) > 0);
    close_dir(&arena);
    arena_drop(&arena);
}

T_TEST(samples_of_a_file_are_given_in_their_order)
{
    Arena arena = {0};
    open_dir(&arena);
    Diag diag = diag_make(&arena, "rows", STR(""));
    static const char drawn[] =
        "{\"kind\": \"write\", \"messages\": [{\"role\": \"user\", \"content\": \"a\"}, "
        "{\"role\": \"assistant\", \"content\": \"1\"}]}\n"
        "{\"kind\": \"write\", \"messages\": [{\"role\": \"user\", \"content\": \"b\"}, "
        "{\"role\": \"assistant\", \"content\": \"2\"}]}\n"
        "{\"kind\": \"write\", \"messages\": [{\"role\": \"user\", \"content\": \"a\"}, "
        "{\"role\": \"assistant\", \"content\": \"3\"}]}\n";
    BaselineSpec spec = {.rows = write_file(&arena, "samples.jsonl", drawn), .seed = 1};
    Generator g;
    REQUIRE(samples_open(&arena, &spec, &g, &diag));
    ChatAsk asks[] = {ask_of(&arena, "a", 0), ask_of(&arena, "a", 1), ask_of(&arena, "a", 2)};
    ChatReply replies[3];
    REQUIRE(g.ask(g.self, &arena, asks, 3, replies, &diag));
    CHECK_EQ_SLICE(replies[0].choices.at[0].text, "1");
    CHECK_EQ_SLICE(replies[1].choices.at[0].text, "3");
    CHECK(!replies[2].choices.len && *replies[2].error);
    close_dir(&arena);
    arena_drop(&arena);
}

T_TEST(a_repair_is_asked_as_in_the_rows)
{
    Arena arena = {0};
    ChatAsk ask = ask_of(&arena, "Write a Craft kernel for this task on 910B2.\n\n%0 = input\n", 0);
    Str first = prompt_rows_of(&arena, &ask.messages);
    CHECK(str_starts(first, "Write a Craft kernel"));
    vec_push(&arena, &ask.messages,
             ((ChatMessage){CHAT_ASSISTANT, STR("because\n```python\ncraft = 1\n```\n")}));
    vec_push(&arena, &ask.messages, ((ChatMessage){CHAT_USER, STR("E040: not so\n")}));
    CHECK_EQ_SLICE(prompt_rows_of(&arena, &ask.messages),
                   "This Craft kernel fails. Say why and repair it.\n\n%0 = input\n\n"
                   "```python\ncraft = 1\n```\nE040: not so\n");
    arena_drop(&arena);
}

/* A tiny model of random weights with a tokenizer beside it. */
static const char *write_model(Arena *arena, uint32_t vocab)
{
    static const char *const specials[] = {"<|endoftext|>"};
    const char *path = path_join(arena, dir.path, "model.safetensors");
    Diag diag = diag_make(arena, path, STR(""));
    Str text = STR("def op(x: gm[f32, n1]): exp log sum of all the things that there are\n");
    BpeTraining training = {&text, 1, specials, 1, 280};
    Bpe *bpe = bpe_train(&training, &diag);
    Buf json = {0};
    bpe_print(bpe, &json);
    NnConfig config = nn_config_default();
    config.layers = 1;
    config.width = config.ffn = 64;
    config.heads = config.kv_heads = 1;
    config.context = 64;
    config.vocab = vocab;
    NnModel model = nn_open(arena, &config);
    nn_init(&model, 1);
    NnInfer *infer = nn_infer_make(&model);
    REQUIRE(nn_infer_save(infer, path, &diag));
    REQUIRE(file_write(path_join(arena, dir.path, "tokenizer.json"), buf_view(&json), &diag));
    nn_infer_close(infer);
    nn_close(&model);
    bpe_close(bpe);
    buf_free(&json);
    return path;
}

T_TEST(a_local_model_answers_and_repeats_itself)
{
    Arena arena = {0};
    open_dir(&arena);
    Diag diag = diag_make(&arena, "model", STR(""));
    LocalSpec spec = {.weights = write_model(&arena, 320), .temperature = 1, .threads = 2};
    Generator g;
    REQUIRE(local_open(&arena, &spec, &g, &diag));
    ChatAsk asks[] = {ask_of(&arena, "exp of x", 0), ask_of(&arena, "exp of x", 1)};
    ChatReply one[2], two[2];
    REQUIRE(g.ask(g.self, &arena, asks, 2, one, &diag));
    REQUIRE(g.ask(g.self, &arena, asks, 2, two, &diag));
    for (int i = 0; i < 2; i++) {
        CHECK_EQ_STR(one[i].error, "");
        CHECK(str_equal(one[i].choices.at[0].text, two[i].choices.at[0].text));
    }
    CHECK(!str_equal(one[0].choices.at[0].text, one[1].choices.at[0].text));
    ChatAsk longer = ask_of(&arena,
                            "things things things things things things things things things "
                            "log log log log log log log log log log log log log log",
                            0);
    REQUIRE(g.ask(g.self, &arena, &longer, 1, one, &diag));
    CHECK(strstr(one[0].error, "context is 64") != NULL);
    g.close(g.self);
    close_dir(&arena);
    arena_drop(&arena);
}

static const char *refused(Arena *arena, const char *path)
{
    Diag *diag = arena_new(arena, Diag);
    *diag = diag_make(arena, "model", STR(""));
    LocalSpec spec = {.weights = path};
    Generator g;
    CHECK(!local_open(arena, &spec, &g, diag));
    REQUIRE(diag->items.len > 0);
    return diag->items.at[0].code;
}

T_TEST(missing_and_damaged_weights_are_refused)
{
    Arena arena = {0};
    open_dir(&arena);
    CHECK_EQ_STR(refused(&arena, path_join(&arena, dir.path, "none.safetensors")), "N008");
    const char *path = write_model(&arena, 320);
    Diag diag = diag_make(&arena, path, STR(""));
    Str whole;
    REQUIRE(file_read(&arena, path, 0, &whole, &diag));
    REQUIRE(file_write(path, str_slice(whole, 0, whole.len / 2), &diag));
    CHECK_EQ_STR(refused(&arena, path), "N002");
    CHECK_EQ_STR(refused(&arena, write_model(&arena, 256)), "N008");
    path = write_model(&arena, 320);
    REQUIRE(file_write(path_join(&arena, dir.path, "tokenizer.json"), STR("{"), &diag));
    CHECK_EQ_STR(refused(&arena, path), "N004");
    close_dir(&arena);
    arena_drop(&arena);
}

/* The weights that are shipped: the beginning of an answer, so that the test is quick with sanitizers, too. */
T_TEST(the_shipped_weights_answer)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "weights", STR(""));
    LocalSpec spec = {.weights = "weights/model.safetensors", .most = 16, .threads = 1};
    ChatAsk ask = ask_of(&arena,
                         "Write a Craft kernel for this task on 910B2.\n\n"
                         "%0 = input \"x\" f32[64,1000] strides [1000,1] rows [64,64000]\n"
                         "%1 = unary.tanh(%0) : f32[64,1000]\nreturn %1\n"
                         "output0 strides [1000,1] rows [64,64000]\n",
                         0);
    ChatReply reply = {0};
    Generator g;
    REQUIRE(local_open(&arena, &spec, &g, &diag));
    REQUIRE(g.ask(g.self, &arena, &ask, 1, &reply, &diag));
    REQUIRE(reply.choices.len == 1);
    CHECK(str_starts(reply.choices.at[0].text, "axes a1=64000\n"));
    g.close(g.self);
    arena_drop(&arena);
}
