/* The tokenizer: ids equal those of the tokenizers package, any bytes survive, training is
 * deterministic, damaged files are refused. */
#include "nn/bpe.h"

#include "base/file.h"
#include "base/rng.h"
#include "nn/unicode.h"
#include "tests/t.h"
#include <stdlib.h>
#include <string.h>

static Bpe *open_golden(Arena *arena)
{
    Diag diag = diag_make(arena, "", STR(""));
    Bpe *bpe = bpe_open("tests/nn/golden/tokenizer.json", &diag);
    REQUIRE(bpe != NULL);
    return bpe;
}

static Str from_hex(Arena *arena, Str hex)
{
    char *out = arena_alloc(arena, hex.len / 2 + 1);
    for (size_t i = 0; i + 1 < hex.len; i += 2) {
        char two[3] = {hex.at[i], hex.at[i + 1], 0};
        out[i / 2] = (char)strtoul(two, NULL, 16);
    }
    return (Str){out, hex.len / 2};
}

/* One line of tokens.txt: hexadecimal text, tab, ids. */
static bool line_holds(const Bpe *bpe, Str line)
{
    Arena arena = {0};
    Str hex, id;
    TokenList ids = {0};
    Buf want = {0}, got = {0}, back = {0}, composed = {0};
    REQUIRE(str_next(&line, '\t', &hex));
    Str text = from_hex(&arena, hex);
    bpe_encode(bpe, &arena, text, true, &ids);
    while (str_next(&line, ' ', &id))
        if (id.len)
            buf_printf(&want, "%.*s ", STR_ARG(id));
    for (uint32_t i = 0; i < ids.len; i++)
        buf_printf(&got, "%u ", ids.at[i]);
    bool ok = str_equal(buf_view(&want), buf_view(&got));
    CHECK_MSG(ok, "%.*s: ids %s, not %s", STR_ARG(hex), got.at ? got.at : "",
              want.at ? want.at : "");
    bpe_decode(bpe, ids.at, ids.len, true, &back);
    uni_compose(text, &composed);
    ok = CHECK(str_equal(buf_view(&back), buf_view(&composed))) && ok;
    buf_free(&want);
    buf_free(&got);
    buf_free(&back);
    buf_free(&composed);
    arena_drop(&arena);
    return ok;
}

static void check_lines(const Bpe *bpe, const char *path, uint32_t least)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    Str text, line;
    uint32_t lines = 0, bad = 0;
    REQUIRE(file_read(&arena, path, 0, &text, &diag));
    while (str_next(&text, '\n', &line) && bad < 5)
        if (line.len) {
            lines++;
            bad += !line_holds(bpe, line);
        }
    CHECK(lines >= least);
    arena_drop(&arena);
}

T_TEST(tokens_equal_the_reference)
{
    Arena arena = {0};
    Bpe *bpe = open_golden(&arena);
    check_lines(bpe, "tests/nn/golden/tokens.txt", 30);
    bpe_close(bpe);
    arena_drop(&arena);
}

/* NN_TOKENS=DIR: a tokenizer and 10,000 strings that tools/nn_tokens.py has written there. */
T_TEST(tokens_of_a_directory)
{
    const char *dir = getenv("NN_TOKENS");
    if (!dir)
        t_skip("NN_TOKENS is not set; tools/nn_tokens.py compare DIR makes the strings");
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    Bpe *bpe = bpe_open(path_join(&arena, dir, "tokenizer.json"), &diag);
    REQUIRE(bpe != NULL);
    check_lines(bpe, path_join(&arena, dir, "tokens.txt"), 10000);
    bpe_close(bpe);
    arena_drop(&arena);
}

T_TEST(any_bytes_come_back)
{
    Arena arena = {0};
    Bpe *bpe = open_golden(&arena);
    for (uint32_t round = 0; round < 500; round++) {
        char bytes[64];
        size_t len = (size_t)rng_range(3, round, 99, 0, 64);
        for (size_t i = 0; i < len; i++) /* above 0x7F, but no UTF-8 mark that composes */
            bytes[i] = (char)rng_range(3, round, i, round % 2 ? 1 : 0x80, round % 2 ? 128 : 0xC0);
        TokenList ids = {0};
        Buf back = {0};
        bpe_encode(bpe, &arena, (Str){bytes, len}, false, &ids);
        bpe_decode(bpe, ids.at, ids.len, true, &back);
        CHECK(str_equal(buf_view(&back), (Str){bytes, len}));
        buf_free(&back);
    }
    bpe_close(bpe);
    arena_drop(&arena);
}

T_TEST(special_tokens_only_on_request)
{
    Arena arena = {0};
    Bpe *bpe = open_golden(&arena);
    uint32_t start;
    TokenList with = {0}, without = {0};
    Buf text = {0};
    REQUIRE(bpe_special(bpe, STR("<|im_start|>"), &start));
    bpe_encode(bpe, &arena, STR("<|im_start|>a"), true, &with);
    bpe_encode(bpe, &arena, STR("<|im_start|>a"), false, &without);
    CHECK(with.len == 2 && with.at[0] == start);
    CHECK(without.len > 4);
    bpe_decode(bpe, with.at, with.len, false, &text);
    CHECK_EQ_STR(text.at, "a");
    buf_free(&text);
    bpe_close(bpe);
    arena_drop(&arena);
}

/* A word of a million bytes, and a million marks on one letter, take no time to speak of. */
T_TEST(long_words_are_quick)
{
    Arena arena = {0};
    Bpe *bpe = open_golden(&arena);
    enum { LONG = 1 << 20 };
    char *text = arena_alloc(&arena, LONG);
    memset(text, 'e', LONG);
    TokenList ids = {0};
    bpe_encode(bpe, &arena, (Str){text, LONG}, true, &ids);
    CHECK(ids.len > 0);
    for (int i = 0; i + 1 < LONG; i += 2)
        memcpy(text + i, i < LONG / 2 ? "\xCC\x81" : "\xCC\xA3", 2);
    ids.len = 0;
    bpe_encode(bpe, &arena, (Str){text, LONG}, true, &ids);
    CHECK(ids.len > 0);
    bpe_close(bpe);
    arena_drop(&arena);
}

static Bpe *train(Arena *arena, uint32_t size)
{
    static const Str texts[] = {{"the cat the hat the mat\n", 24}, {"load(x[t]) load(y[t])", 21}};
    static const char *const specials[] = {"<|end|>", "<|task|>"};
    Diag diag = diag_make(arena, "", STR(""));
    BpeTraining training = {texts, 2, specials, 2, size};
    return bpe_train(&training, &diag);
}

T_TEST(training_is_deterministic_and_prints)
{
    Arena arena = {0};
    Buf first = {0}, second = {0}, third = {0};
    Bpe *a = train(&arena, 266), *b = train(&arena, 266);
    REQUIRE(a && b);
    bpe_print(a, &first);
    bpe_print(b, &second);
    CHECK_EQ_STR(first.at, second.at);
    CHECK_EQ_INT(bpe_size(a), 266);
    Diag diag = diag_make(&arena, "", STR(""));
    Bpe *back = bpe_parse(buf_view(&first), &diag);
    REQUIRE(back != NULL);
    bpe_print(back, &third);
    CHECK_EQ_STR(third.at, first.at);
    TokenList ids = {0};
    bpe_encode(back, &arena, STR("the cat<|end|>"), true, &ids);
    CHECK(ids.len >= 2 && vec_last(&ids) == 264);
    buf_free(&first);
    buf_free(&second);
    buf_free(&third);
    bpe_close(a);
    bpe_close(b);
    bpe_close(back);
    arena_drop(&arena);
}

/* Fewer pairs than asked for: a smaller vocabulary, no endless loop. Too small: refused. */
T_TEST(training_at_its_limits)
{
    Arena arena = {0};
    Bpe *bpe = train(&arena, 5000);
    REQUIRE(bpe != NULL);
    CHECK(bpe_size(bpe) < 400);
    bpe_close(bpe);
    CHECK(train(&arena, 257) == NULL);
    arena_drop(&arena);
}

static bool accepts(const char *from, const char *to)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    Buf text = {0}, changed = {0};
    Bpe *bpe = train(&arena, 266);
    bpe_print(bpe, &text);
    bpe_close(bpe);
    ptrdiff_t at = str_find(buf_view(&text), str_from(from));
    REQUIRE(at >= 0);
    buf_add(&changed, text.at, (size_t)at);
    buf_puts(&changed, to);
    buf_puts(&changed, text.at + (size_t)at + strlen(from));
    bpe = bpe_parse(buf_view(&changed), &diag);
    CHECK((bpe != NULL) == diag_ok(&diag));
    bool ok = bpe != NULL;
    bpe_close(bpe);
    buf_free(&text);
    buf_free(&changed);
    arena_drop(&arena);
    return ok;
}

T_TEST(other_tokenizers_are_refused)
{
    CHECK(accepts("\"NFC\"", "\"NFC\""));
    CHECK(!accepts("\"NFC\"", "\"NFKC\""));
    CHECK(!accepts("\"BPE\"", "\"WordPiece\""));
    CHECK(!accepts("Isolated", "Removed"));
    CHECK(!accepts("(?!\\\\S)", "(?!\\\\s)"));
    CHECK(!accepts("\"use_regex\": false", "\"use_regex\": true"));
    CHECK(!accepts("\"lstrip\": false", "\"lstrip\": true"));
    CHECK(!accepts("\"ignore_merges\": false", "\"ignore_merges\": true"));
    CHECK(!accepts("\"!\": 33", "\"!\": 34"));
    CHECK(!accepts("\"!\": 33", "\"!\": -1"));
    CHECK(!accepts("\"!\": 33", "\"!\": 99999999"));
    CHECK(!accepts("\"!\": 33", "\"!?\": 33"));
    CHECK(!accepts("\"id\": 264", "\"id\": 4"));
    CHECK(!accepts("\"merges\": [", "\"merges\": [[\"q\", \"q\"],"));
    CHECK(!accepts("\"merges\": [", "\"merges\": [\"q\","));
    CHECK(!accepts("{\"version\"", "[\"version\""));
}
