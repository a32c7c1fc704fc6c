/* Training: count words, then merge the most frequent pair again and again. Only the words that
 * hold the pair are looked at; an index from pairs to words says which. */
#include "nn/bpe_int.h"

#include "nn/unicode.h"
#include <string.h>

typedef struct TrainWord {
    uint32_t *ids;
    uint32_t len, count; /* tokens; occurrences */
} TrainWord;

typedef struct TrainPair {
    uint32_t left, right;
    int64_t count;
    VEC(uint32_t) words; /* where it stands or once stood; a word may stand twice */
} TrainPair;

typedef struct Training {
    Arena arena;
    Bpe *bpe;
    VEC(TrainWord) words;
    VEC(TrainPair) pairs;
    PairMap index; /* in pairs */
} Training;

static void count_words(Training *t, Str text, Map *known)
{
    for (size_t bytes; (bytes = bpe_split(text)); text = str_slice(text, bytes, text.len)) {
        Str word = str_slice(text, 0, bytes);
        uint32_t at;
        if (!map_get(known, word, &at)) {
            TrainWord w = {.len = (uint32_t)bytes};
            w.ids = arena_array(&t->arena, uint32_t, bytes);
            for (size_t i = 0; i < bytes; i++)
                w.ids[i] = t->bpe->byte_id[(uint8_t)word.at[i]];
            at = t->words.len;
            vec_push(&t->arena, &t->words, w);
            map_put(&t->arena, known, str_copy(&t->arena, word), at);
        }
        t->words.at[at].count++;
    }
}

static void count_text(Training *t, Str text, Map *known)
{
    Buf composed = {0};
    uni_compose(text, &composed);
    count_words(t, buf_view(&composed), known);
    buf_free(&composed);
}

static void count_pair(Training *t, uint32_t left, uint32_t right, uint32_t word, int64_t change)
{
    uint32_t at;
    if (!pair_get(&t->index, left, right, &at)) {
        at = t->pairs.len;
        vec_push(&t->arena, &t->pairs, ((TrainPair){.left = left, .right = right}));
        pair_put(&t->arena, &t->index, left, right, at);
    }
    TrainPair *pair = &t->pairs.at[at];
    pair->count += change;
    if (change > 0 && (!pair->words.len || vec_last(&pair->words) != word))
        vec_push(&t->arena, &pair->words, word);
}

static void count_pairs_of(Training *t, uint32_t word, int64_t sign)
{
    TrainWord w = t->words.at[word];
    for (uint32_t i = 0; i + 1 < w.len; i++)
        count_pair(t, w.ids[i], w.ids[i + 1], word, sign * (int64_t)w.count);
}

static const TrainPair *most_frequent(const Training *t)
{
    const TrainPair *best = NULL;
    for (uint32_t i = 0; i < t->pairs.len; i++) {
        const TrainPair *p = &t->pairs.at[i];
        if (p->count < 2 || (best && p->count < best->count))
            continue;
        if (!best || p->count > best->count || p->left < best->left ||
            (p->left == best->left && p->right < best->right))
            best = p;
    }
    return best;
}

static void merge_in_word(Training *t, uint32_t word, uint32_t left, uint32_t right, uint32_t id)
{
    TrainWord *w = &t->words.at[word];
    uint32_t out = 0;
    bool there = false;
    for (uint32_t i = 0; i + 1 < w->len; i++)
        there = there || (w->ids[i] == left && w->ids[i + 1] == right);
    if (!there)
        return;
    count_pairs_of(t, word, -1);
    for (uint32_t i = 0; i < w->len; i++) {
        bool pair = i + 1 < w->len && w->ids[i] == left && w->ids[i + 1] == right;
        w->ids[out++] = pair ? id : w->ids[i];
        i += pair;
    }
    w->len = out;
    count_pairs_of(t, word, 1);
}

static Str join_tokens(Bpe *bpe, uint32_t left, uint32_t right)
{
    Str a = bpe->tokens.at[left], b = bpe->tokens.at[right];
    char *out = arena_alloc(&bpe->arena, a.len + b.len + 1);
    memcpy(out, a.at, a.len);
    memcpy(out + a.len, b.at, b.len);
    return (Str){out, a.len + b.len};
}

/* Two merges may give the same bytes; a token has one id. */
static void merge_pair(Training *t, TrainPair pair, Map *spelt)
{
    Bpe *bpe = t->bpe;
    BpeMerge m = {pair.left, pair.right, bpe->tokens.len};
    Str bytes = join_tokens(bpe, pair.left, pair.right);
    if (!map_get(spelt, bytes, &m.id)) {
        vec_push(&bpe->arena, &bpe->tokens, bytes);
        map_put(&t->arena, spelt, bytes, m.id);
    }
    pair_put(&bpe->arena, &bpe->ranks, m.left, m.right, bpe->merges.len);
    vec_push(&bpe->arena, &bpe->merges, m);
    for (uint32_t i = 0; i < pair.words.len; i++)
        merge_in_word(t, pair.words.at[i], m.left, m.right, m.id);
}

static Bpe *byte_tokens(void)
{
    Bpe *bpe = heap_alloc(sizeof *bpe);
    bpe->compose = true;
    for (uint32_t b = 0; b < 256; b++) {
        char byte = (char)b;
        bpe->byte_id[b] = b;
        vec_push(&bpe->arena, &bpe->tokens, str_copy(&bpe->arena, (Str){&byte, 1}));
    }
    return bpe;
}

static void add_specials(Bpe *bpe, const BpeTraining *training)
{
    for (uint32_t i = 0; i < training->special_count; i++) {
        Str text = str_copy(&bpe->arena, str_from(training->specials[i]));
        vec_push(&bpe->arena, &bpe->specials, ((BpeSpecial){text, bpe->tokens.len, true}));
        vec_push(&bpe->arena, &bpe->tokens, text);
    }
}

Bpe *bpe_train(const BpeTraining *training, Diag *diag)
{
    if (training->size < 256 + training->special_count || training->size > 1 << 20) {
        diag_error(diag, "N004", (Span){0},
                   "a tokenizer has 256 tokens and its special ones to "
                   "1,048,576, not %u",
                   training->size);
        return NULL;
    }
    Training t = {.bpe = byte_tokens()};
    Map known = {0}, spelt = {0};
    for (uint32_t i = 0; i < training->text_count; i++)
        count_text(&t, training->texts[i], &known);
    for (uint32_t i = 0; i < t.words.len; i++)
        count_pairs_of(&t, i, 1);
    const TrainPair *best;
    while (t.bpe->tokens.len + training->special_count < training->size &&
           (best = most_frequent(&t)))
        merge_pair(&t, *best, &spelt);
    add_specials(t.bpe, training);
    arena_drop(&t.arena);
    return t.bpe;
}
