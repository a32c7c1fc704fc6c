/* The guide of the decoder: answers of the rows' form pass, its mask is what trying each token says, a line
 * that the front end refuses is drawn again. */
#include "gen/local/guide.h"

#include "base/file.h"
#include "base/temp.h"
#include "gen/local/local.h"
#include "tests/t.h"
#include <stdlib.h>
#include <string.h>

typedef struct Guided {
    Arena arena;
    Bpe *bpe;
    Guide *guide;
    uint32_t end;
} Guided;

static void open_guided(Guided *g)
{
    Diag diag = diag_make(&g->arena, "tokenizer", STR(""));
    g->bpe = bpe_open("weights/tokenizer.json", &diag);
    REQUIRE(g->bpe && bpe_special(g->bpe, STR("<|endoftext|>"), &g->end));
    GuideSpec spec = {.bpe = g->bpe, .vocab = 2048, .end = g->end, .slots = 1};
    g->guide = guide_open(&spec);
}

static void close_guided(Guided *g)
{
    guide_close(g->guide);
    bpe_close(g->bpe);
    arena_drop(&g->arena);
}

static const char answer[] =
    "axes a1=1440 a2=3\nparts 4\nbuffers 2 in 2 out\nkernel\n"
    "band y0: cores; rows a2 by 8 in chunks; lanes a1 by 1024; loops a2\nall cores wait\n"
    "band y0.1 w2: cores share a1; lanes a2 whole, at most 4\n\n```python\ncraft = 1\n\n"
    "n1 = dim(1, 64)\n\n@host\ndef op(features: gm[f32, n1], output0: out[f32, n1]):\n"
    "    parts = choose(\"parts\", [4, 2])\n    op_kernel[min(chip.cores, n1)](features, "
    "output0)\n\n"
    "@kernel\ndef op_kernel(x0: gm[f32, n1], y0: out[f32, n1]):\n"
    "    a0_ = ub(f32, 64, depth=2)\n    for t in mine(tiles(n1, 64)):\n        with copyin():\n"
    "            load(a0_[:t.size], x0[t])\n        with compute():\n"
    "            a0_[:t.size] = exp(a0_[:t.size] + 1.0)\n        with copyout():\n"
    "            store(y0[t], a0_[:t.size])\n```\n";

static bool bit_of(const uint64_t *mask, uint32_t token)
{
    return mask[token / 64] >> token % 64 & 1;
}

T_TEST(guide_lets_an_answer_pass_and_its_mask_is_what_trying_says)
{
    Guided g = {0};
    open_guided(&g);
    TokenList ids = {0};
    GuideJob job = {.level = GUIDE_MASK};
    bpe_encode(g.bpe, &g.arena, str_from(answer), false, &ids);
    vec_push(&g.arena, &ids, g.end);
    guide_begin(g.guide, &job);
    for (uint32_t i = 0; i < ids.len; i++) {
        const uint64_t *mask = guide_mask(g.guide, 0);
        uint32_t differ = 0;
        for (uint32_t t = 0; t < bpe_size(g.bpe); t++) {
            differ += bit_of(mask, t) != guide_allows(g.guide, 0, t);
        }
        CHECK_EQ_INT(differ, 0);
        Str text = bpe_token(g.bpe, ids.at[i]);
        CHECK_MSG(bit_of(mask, ids.at[i]), "token %u '%.*s' may not come", i, STR_ARG(text));
        REQUIRE(guide_take(g.guide, 0, ids.at[i]));
    }
    close_guided(&g);
}

/* A model that wants to write `script`, but is not sure at one place, from which `other` goes on instead. */
typedef struct Wish {
    const TokenList *script, *other;
    uint32_t end, unsure_at; /* UINT32_MAX: it is sure */
} Wish;

static void wish(const Wish *w, const NnSample *sample, float *logits)
{
    uint32_t at = sample->count, place = w->unsure_at;
    memset(logits, 0, 2048 * sizeof *logits);
    bool changed = at > place && sample->tokens[place] == w->other->at[place];
    const TokenList *script = changed ? w->other : w->script;
    logits[at < script->len ? script->at[at] : w->end] = 10;
    if (at == place)
        logits[w->other->at[at]] = 9;
}

/* What a guided model writes that has such wishes. */
static Str write_out(Guided *g, const Wish *w, GuideLevel level)
{
    GuideJob job = {.level = level};
    const NnGuide *nn = guide_begin(g->guide, &job);
    uint32_t *tokens = arena_array(&g->arena, uint32_t, 4096);
    float *logits = arena_array(&g->arena, float, 2048);
    NnSample sample = {.tokens = tokens};
    for (uint32_t step = 0; step < 3000; step++) {
        wish(w, &sample, logits);
        NnNext next = nn->next(nn->context, 0, &sample, logits);
        REQUIRE(next.keep <= sample.count);
        sample.count = next.keep;
        if (next.stop)
            break;
        tokens[sample.count++] = next.token;
    }
    Buf text = {0};
    bpe_decode(g->bpe, tokens, sample.count, false, &text);
    Str copy = str_copy(&g->arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

static Str replaced(Arena *arena, const char *what, const char *with)
{
    const char *at = strstr(answer, what);
    REQUIRE(at);
    return str_from(
        str_format(arena, "%.*s%s%s", (int)(at - answer), answer, with, at + strlen(what)));
}

/* Where both lists of tokens part. */
static uint32_t parting(const TokenList *a, const TokenList *b)
{
    uint32_t i = 0;
    while (i < a->len && i < b->len && a->at[i] == b->at[i])
        i++;
    return i;
}

T_TEST(guide_draws_a_line_again_that_the_front_end_refuses)
{
    Guided g = {0};
    open_guided(&g);
    TokenList right = {0}, wrong = {0};
    Str bad = replaced(&g.arena, "y0: out[f32, n1]):\n    a0_", "y0: out[f16, n1]):\n    a0_");
    bpe_encode(g.bpe, &g.arena, str_from(answer), false, &right);
    bpe_encode(g.bpe, &g.arena, bad, false, &wrong);
    uint32_t at = parting(&right, &wrong);
    Wish w = {&wrong, &right, g.end, at};
    CHECK_EQ_SLICE(write_out(&g, &w, GUIDE_MASK), str_dup(&g.arena, bad));
    CHECK_EQ_SLICE(write_out(&g, &w, GUIDE_LINES), answer);
    w.unsure_at = UINT32_MAX; /* no other token is better than chance: the line stays as it was */
    Str kept = write_out(&g, &w, GUIDE_LINES);
    CHECK(str_find(kept, STR("```\n")) > 0);
    close_guided(&g);
}

T_TEST(guide_draws_a_line_again_that_does_not_end)
{
    Guided g = {0};
    open_guided(&g);
    TokenList right = {0}, wrong = {0};
    char digits[900] = "1.";
    memset(digits + 2, '0', 800);
    Str bad = replaced(&g.arena, "1.0", digits);
    bpe_encode(g.bpe, &g.arena, str_from(answer), false, &right);
    bpe_encode(g.bpe, &g.arena, bad, false, &wrong);
    Wish w = {&wrong, &right, g.end, parting(&right, &wrong)};
    CHECK_EQ_SLICE(write_out(&g, &w, GUIDE_LINES), answer);
    close_guided(&g);
}

T_TEST(guide_keeps_to_the_form_whatever_the_model_wants)
{
    Guided g = {0};
    open_guided(&g);
    TokenList ids = {0};
    float *logits = arena_array(&g.arena, float, 2048);
    GuideJob job = {.level = GUIDE_MASK, .sampling = {.temperature = 1}, .seed = 3};
    const NnGuide *nn = guide_begin(g.guide, &job);
    NnSample sample = {.tokens = arena_array(&g.arena, uint32_t, 1200)};
    for (uint32_t step = 0; step < 1000; step++) { /* every token as likely as any other */
        NnNext next = nn->next(nn->context, 0, &sample, logits);
        if (next.stop)
            break;
        sample.tokens[sample.count++] = next.token;
    }
    Buf text = {0};
    bpe_decode(g.bpe, sample.tokens, sample.count, false, &text);
    bpe_encode(g.bpe, &g.arena, buf_view(&text), false, &ids);
    guide_begin(g.guide, &job);
    for (uint32_t i = 0; i < sample.count; i++)
        CHECK(guide_take(g.guide, 0, sample.tokens[i]));
    CHECK(sample.count > 100);
    buf_free(&text);
    close_guided(&g);
}

/* ---- the baselines see the same masks ---- */

static Str first_answer(Arena *arena, Generator *g)
{
    ChatAsk ask = {.task = "t"};
    ChatReply reply = {0};
    Diag diag = diag_make(arena, "ask", STR(""));
    vec_push(arena, &ask.messages, ((ChatMessage){CHAT_USER, STR("Write a kernel: exp of x.")}));
    REQUIRE(g->ask(g->self, arena, &ask, 1, &reply, &diag));
    REQUIRE(reply.choices.len == 1);
    return reply.choices.at[0].text;
}

T_TEST(guide_masks_the_5_gram_model_and_the_untrained_one)
{
    Arena arena = {0};
    TempDir dir;
    Buf row = {0};
    Generator g;
    Diag diag = diag_make(&arena, "baseline", STR(""));
    REQUIRE(temp_dir_make(&arena, "acraft-guide", &dir, &diag));
    const char *rows = path_join(&arena, dir.path, "rows.jsonl");
    buf_puts(&row, "{\"kind\": \"write\", \"messages\": [{\"role\": \"user\", \"content\": "
                   "\"Write a kernel: exp of x.\"}, {\"role\": \"assistant\", \"content\": ");
    buf_json_str(&row, str_from(answer));
    buf_puts(&row, "}]}\n");
    REQUIRE(file_write(rows, buf_view(&row), &diag));
    BaselineSpec spec = {
        .rows = rows, .tokenizer = "weights/tokenizer.json", .seed = 3, .decode = LOCAL_MASK};
    REQUIRE(ngram_open(&arena, &spec, &g, &diag));
    CHECK(str_starts(first_answer(&arena, &g), "axes a1=1440"));
    g.close(g.self);
    LocalSpec local = {.weights = "weights/model.safetensors",
                       .decode = LOCAL_MASK,
                       .untrained = true,
                       .most = 40,
                       .temperature = 1,
                       .threads = 1,
                       .seed = 1};
    static const char *const begins[] = {"axes",  "fold",    "share",   "keep",  "parts",
                                         "worth", "buffers", "windows", "steps", "kernel",
                                         "all",   "band",    "```",     "\n"};
    REQUIRE(local_open(&arena, &local, &g, &diag));
    Str text = first_answer(&arena, &g);
    uint32_t found = 0;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        found += str_starts(text, begins[i]);
    CHECK_MSG(found == 1, "%.*s", STR_ARG(text));
    g.close(g.self);
    buf_free(&row);
    CHECK(temp_dir_remove(&dir, &diag));
    arena_drop(&arena);
}
