/* acraft train: dpo, rft and grpo by command, on a model that is too small to write anything. */
#include "cmd/cmd.h"

#include "base/file.h"
#include "base/temp.h"
#include "tests/t.h"
#include <string.h>

static TempDir dir;

static const char *in_dir(Arena *arena, const char *name)
{
    return path_join(arena, dir.path, name);
}

static const char *write_file(Arena *arena, const char *name, const char *text)
{
    Diag diag = diag_make(arena, name, STR(""));
    REQUIRE(file_make_dirs(path_dir(arena, in_dir(arena, name)), &diag));
    REQUIRE(file_write(in_dir(arena, name), str_from(text), &diag));
    return in_dir(arena, name);
}

static int run_train(char **argv)
{
    int argc = 0;
    while (argv[argc])
        argc++;
    return cmd_train(argc, argv);
}

#define TRAIN(...) run_train((char *[]){"train", __VA_ARGS__, NULL})
#define TINY                                                                                \
    "--layers", "1", "--width", "16", "--heads", "2", "--kv-heads", "1", "--head-dim", "8", \
        "--ffn", "16", "--context", "64", "--warmup", "0", "--batch", "1"

static char *text(const char *s) { return (char *)(uintptr_t)s; }

static const char rows[] =
    "{\"prompt\": \"one two three four five six seven\", \"chosen\": \"a good "
    "answer\", \"rejected\": \"another\"}\n";
static const char samples[] =
    "{\"mark\": \"right\", \"messages\": [{\"role\": \"user\", \"content\": \"one two three four "
    "five "
    "six\"}, {\"role\": \"assistant\", \"content\": \"a good answer\"}]}\n"
    "{\"mark\": \"wrong\", \"messages\": [{\"role\": \"user\", \"content\": \"one two three four "
    "five "
    "six\"}, {\"role\": \"assistant\", \"content\": \"another\"}]}\n"
    "{\"mark\": \"right\", \"messages\": [{\"role\": \"user\", \"content\": \"one two three four "
    "five "
    "six\"}, {\"role\": \"assistant\", \"content\": \"a good answer\"}]}\n";

T_TEST(train_dpo_rft_and_grpo_by_command)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "train", STR(""));
    Str curve, kept;
    REQUIRE(temp_dir_make(&arena, "acraft-train", &dir, &diag));
    char *pairs = text(write_file(&arena, "pairs.jsonl", rows)), *bpe = "weights/tokenizer.json";
    char *sft = text(in_dir(&arena, "sft")), *dpo = text(in_dir(&arena, "dpo"));
    char *learnt = text(write_file(
        &arena, "text.jsonl",
        "{\"text\": \"one two three four five six seven a good answer another one two three\"}\n"));
    REQUIRE(TRAIN("sft", learnt, "-o", sft, "--tokenizer", bpe, "--seq", "8", "--steps", "2",
                  TINY) == CMD_OK);
    CHECK_EQ_INT(TRAIN("dpo", pairs, "-o", dpo, "--tokenizer", bpe), CMD_USAGE);
    CHECK_EQ_INT(TRAIN("dpo", pairs, "-o", dpo, "--tokenizer", bpe, "--start", sft, "--beta", "-1"),
                 CMD_USAGE);
    CHECK_EQ_INT(TRAIN("dpo", pairs, "-o", dpo, "--tokenizer", bpe, "--start", sft, "--seq", "40",
                       "--steps", "3", "--batch", "1", "--warmup", "0"),
                 CMD_OK);
    REQUIRE(file_read(&arena, in_dir(&arena, "dpo/curve.jsonl"), 0, &curve, &diag));
    CHECK(str_find(curve, STR("\"margin\"")) > 0);
    /* A round whose answers are judged already goes on from there. */
    char *rft = text(in_dir(&arena, "rft"));
    write_file(&arena, "rft/round-1/samples.jsonl", samples);
    CHECK_EQ_INT(TRAIN("rft", pairs, "-o", rft, "--tokenizer", bpe), CMD_USAGE);
    CHECK_EQ_INT(TRAIN("rft", pairs, "-o", rft, "--tokenizer", bpe, "--start", sft, "--seq", "8",
                       "--steps", "2", "--batch", "1", "--warmup", "0"),
                 CMD_OK);
    REQUIRE(file_read(&arena, in_dir(&arena, "rft/round-1/rows.jsonl"), 0, &kept, &diag));
    Str line;
    uint32_t lines = 0;
    while (str_next(&kept, '\n', &line))
        lines += line.len > 0;
    CHECK_EQ_INT(lines, 1); /* the right answer once, the wrong one not */
    CHECK(file_exists(in_dir(&arena, "rft/round-1/run/model.safetensors")));
    /* The same answers by what they are worth: one pass is two steps, whose weights stand in the round's run. */
    char *grpo = text(in_dir(&arena, "grpo"));
    write_file(&arena, "grpo/round-1/samples.jsonl", samples);
    CHECK_EQ_INT(TRAIN("grpo", pairs, "-o", grpo, "--tokenizer", bpe, "--start", sft, "-n", "1"),
                 CMD_USAGE);
    CHECK_EQ_INT(TRAIN("grpo", pairs, "-o", grpo, "--tokenizer", bpe, "--start", sft, "--seq", "40",
                       "--batch", "2", "--lora", "2"),
                 CMD_OK);
    REQUIRE(file_read(&arena, in_dir(&arena, "grpo/round-1/run/curve.jsonl"), 0, &curve, &diag));
    CHECK(str_find(curve, STR("\"step\": 2")) > 0 && str_find(curve, STR("\"step\": 3")) < 0);
    CHECK(str_find(curve, STR("\"ratio\": 1")) > 0);
    CHECK(file_exists(in_dir(&arena, "grpo/round-1/run/adapter_model.safetensors")));
    CHECK(temp_dir_remove(&dir, &diag));
    arena_drop(&arena);
}
