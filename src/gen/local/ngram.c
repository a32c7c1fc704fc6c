/* A 5-gram model. In: training rows. Out: answers drawn token by token.
 *
 * All rows lie in one array of tokens. Places are chained by the hash of the 1 to 4 tokens before them; a
 * token is drawn from the places whose tokens before are those of the answer so far. */
#include "gen/local/local_int.h"

#include "base/rng.h"
#include "gen/local/guide.h"
#include "gen/prompt/prompt.h"
#include "nn/bpe.h"
#include <math.h>
#include <string.h>

enum { ORDER = 4, BUCKETS = 1 << 22, MOST_PLACES = 4096, MOST_TOKENS = 1536, AGAIN = 9 };

typedef struct Ngram {
    Bpe *bpe;
    TokenList tokens;
    uint32_t *head[ORDER], *next[ORDER]; /* by length of the context, less one; 0 ends a chain */
    uint32_t end;
    uint64_t seed;
    LocalDecode decode;
    const NpuChip *chip;
    Guide *guide; /* NULL: answers are drawn freely */
    float *logits;
} Ngram;

static uint32_t bucket_of(const uint32_t *before, uint32_t n)
{
    uint64_t h = n;
    for (uint32_t i = 1; i <= n; i++)
        h = (h ^ before[-(int64_t)i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 40) & (BUCKETS - 1);
}

static void chain_places(Arena *arena, Ngram *g)
{
    for (uint32_t n = 0; n < ORDER; n++) {
        g->head[n] = arena_array(arena, uint32_t, BUCKETS);
        g->next[n] = arena_array(arena, uint32_t, g->tokens.len + 1);
        for (uint32_t i = n + 1; i < g->tokens.len; i++) {
            uint32_t b = bucket_of(g->tokens.at + i, n + 1);
            g->next[n][i] = g->head[n][b];
            g->head[n][b] = i;
        }
    }
}

/* Places that follow the last n tokens; the latest ones where there are very many. */
static uint32_t find_places(const Ngram *g, const uint32_t *before, uint32_t n, uint32_t *places)
{
    uint32_t count = 0;
    for (uint32_t i = g->head[n - 1][bucket_of(before, n)]; i && count < MOST_PLACES;
         i = g->next[n - 1][i])
        if (!memcmp(g->tokens.at + i - n, before - n, n * sizeof *before))
            places[count++] = i;
    return count;
}

static Str draw_answer(const Ngram *g, Arena *arena, const TokenList *prompt, uint64_t stream,
                       bool *cut)
{
    uint32_t *all = arena_array(arena, uint32_t, prompt->len + MOST_TOKENS + 1);
    uint32_t *places = arena_array(arena, uint32_t, MOST_PLACES), made = 0;
    memcpy(all, prompt->at, prompt->len * sizeof *all);
    for (*cut = true; made < MOST_TOKENS; made++) {
        uint32_t length = prompt->len + made, found = 0;
        for (uint32_t n = ORDER; n > 0 && !found; n--)
            found = n <= length ? find_places(g, all + length, n, places) : 0;
        uint32_t token = g->end;
        if (found)
            token = g->tokens.at[places[rng_range(g->seed, stream, made, 0, found)]];
        *cut = token != g->end;
        if (!*cut)
            break;
        all[length] = token;
    }
    Buf text = {0};
    bpe_decode(g->bpe, all + prompt->len, made, false, &text);
    Str copy = str_copy(arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

/* Logarithms of how often each token follows: the longest context first, those of shorter ones far below. */
static void weigh(const Ngram *g, const uint32_t *all, uint32_t length, uint32_t *places)
{
    const float below = 25;
    for (uint32_t t = 0; t < bpe_size(g->bpe); t++)
        g->logits[t] = -below * (ORDER + 1);
    for (uint32_t n = 1; n <= ORDER && n <= length; n++) {
        uint32_t found = find_places(g, all + length, n, places);
        for (uint32_t i = 0; i < found; i++) { /* counts are added as exponentials */
            float *at = &g->logits[g->tokens.at[places[i]]], level = -below * (float)(ORDER - n);
            *at = *at < level ? level : level + logf(expf(*at - level) + 1);
        }
    }
}

static Str draw_guided(Ngram *g, Arena *arena, const TokenList *prompt, uint64_t stream, bool *cut)
{
    GuideJob job = {.level = g->decode >= LOCAL_LINES ? GUIDE_LINES : GUIDE_MASK,
                    .sampling = {.temperature = 1},
                    .seed = g->seed + 7919 * stream};
    const NnGuide *nn = guide_begin(g->guide, &job);
    uint32_t *all = arena_array(arena, uint32_t, prompt->len + MOST_TOKENS + 1);
    uint32_t *places = arena_array(arena, uint32_t, MOST_PLACES);
    NnSample sample = {.tokens = all + prompt->len};
    memcpy(all, prompt->at, prompt->len * sizeof *all);
    *cut = true;
    for (uint32_t step = 0; step < 3 * MOST_TOKENS && sample.count < MOST_TOKENS; step++) {
        weigh(g, all, prompt->len + sample.count, places);
        NnNext next = nn->next(nn->context, 0, &sample, g->logits);
        sample.count = next.keep;
        *cut = !next.stop;
        if (next.stop)
            break;
        sample.tokens[sample.count++] = next.token;
    }
    Buf text = {0};
    bpe_decode(g->bpe, sample.tokens, sample.count, false, &text);
    Str copy = str_copy(arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

/* Draws a few further answers, as a model would, and takes the first one that passes. */
static Str draw_like_a_model(Ngram *g, Arena *arena, const TokenList *prompt, uint64_t stream,
                             bool *cut)
{
    Str first = draw_guided(g, arena, prompt, stream, cut);
    for (uint32_t i = 0; i < AGAIN && g->decode >= LOCAL_AGAIN; i++) {
        bool again_cut;
        Str again = i ? draw_guided(g, arena, prompt, stream + 500000 * i, &again_cut) : first;
        if (local_passes(g->chip, again))
            return again;
    }
    return first;
}

static bool ask(void *self, Arena *arena, const ChatAsk *asks, uint32_t count, ChatReply *replies,
                Diag *diag)
{
    Ngram *g = self;
    (void)diag;
    if (g->decode > LOCAL_FREE && !g->guide) {
        g->guide = guide_open(&(GuideSpec){g->bpe, bpe_size(g->bpe), g->end, 1});
        g->logits = nn_floats_new(bpe_size(g->bpe));
    }
    for (uint32_t i = 0; i < count; i++) {
        TokenList ids = {0};
        bool cut;
        bpe_encode(g->bpe, arena, prompt_rows_of(arena, &asks[i].messages), false, &ids);
        uint64_t stream = 1 + asks[i].sample + 1000 * (uint64_t)asks[i].turn;
        Str text = g->guide ? draw_like_a_model(g, arena, &ids, stream, &cut)
                            : draw_answer(g, arena, &ids, stream, &cut);
        replies[i] = example_reply(arena, text, cut);
    }
    return true;
}

static void close_ngram(void *self)
{
    Ngram *g = self;
    guide_close(g->guide);
    nn_floats_free(g->logits);
    bpe_close(g->bpe);
}

bool ngram_open(Arena *arena, const BaselineSpec *spec, Generator *out, Diag *diag)
{
    Ngram *g = arena_new(arena, Ngram);
    ExampleList rows = {0};
    *g = (Ngram){.seed = spec->seed, .decode = spec->decode, .chip = spec->chip};
    if (!examples_read(arena, spec->rows, &rows, diag))
        return false;
    g->bpe = bpe_open(spec->tokenizer, diag);
    if (!g->bpe || !bpe_special(g->bpe, STR("<|endoftext|>"), &g->end))
        return false;
    for (uint32_t i = 0; i < rows.len; i++) {
        bpe_encode(g->bpe, arena, rows.at[i].prompt, false, &g->tokens);
        bpe_encode(g->bpe, arena, rows.at[i].answer, false, &g->tokens);
        vec_push(arena, &g->tokens, g->end);
    }
    chain_places(arena, g);
    *out = (Generator){.name = "5-gram", .self = g, .ask = ask, .close = close_ngram};
    return true;
}
