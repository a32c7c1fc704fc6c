/* Encoding and decoding: special tokens, the split into words, merges by rank. */
#include "nn/bpe_int.h"

#include "nn/unicode.h"
#include <string.h>

void bpe_close(Bpe *bpe)
{
    if (!bpe)
        return;
    arena_drop(&bpe->arena);
    heap_free(bpe);
}

uint32_t bpe_size(const Bpe *bpe) { return bpe->tokens.len; }

Str bpe_token(const Bpe *bpe, uint32_t id)
{
    return id < bpe->tokens.len ? bpe->tokens.at[id] : STR("");
}

bool bpe_special(const Bpe *bpe, Str name, uint32_t *id)
{
    for (uint32_t i = 0; i < bpe->specials.len; i++)
        if (str_equal(bpe->specials.at[i].text, name)) {
            *id = bpe->specials.at[i].id;
            return true;
        }
    return false;
}

static uint32_t pair_slot(const PairMap *map, uint64_t key)
{
    uint64_t hash = key * 0x9E3779B97F4A7C15u;
    uint32_t at = (uint32_t)(hash >> 32) & (map->cap - 1);
    while (map->keys[at] && map->keys[at] != key)
        at = (at + 1) & (map->cap - 1);
    return at;
}

bool pair_get(const PairMap *map, uint32_t left, uint32_t right, uint32_t *value)
{
    if (!map->cap)
        return false;
    uint64_t key = ((uint64_t)left << 32 | right) + 1;
    uint32_t at = pair_slot(map, key);
    if (map->keys[at] != key)
        return false;
    *value = map->values[at];
    return true;
}

static void pair_grow(Arena *arena, PairMap *map)
{
    PairMap bigger = {.cap = map->cap ? map->cap * 2 : 1024, .len = map->len};
    bigger.keys = arena_array(arena, uint64_t, bigger.cap);
    bigger.values = arena_array(arena, uint32_t, bigger.cap);
    for (uint32_t i = 0; i < map->cap; i++)
        if (map->keys[i]) {
            uint32_t at = pair_slot(&bigger, map->keys[i]);
            bigger.keys[at] = map->keys[i];
            bigger.values[at] = map->values[i];
        }
    *map = bigger;
}

void pair_put(Arena *arena, PairMap *map, uint32_t left, uint32_t right, uint32_t value)
{
    if (map->len >= map->cap / 2)
        pair_grow(arena, map);
    uint64_t key = ((uint64_t)left << 32 | right) + 1;
    uint32_t at = pair_slot(map, key);
    map->len += map->keys[at] == 0;
    map->keys[at] = key;
    map->values[at] = value;
}

/* --- the split ------------------------------------------------------------------------------- */

typedef enum CharClass { END, LETTER, NUMBER, LINE_END, SPACE, SIGN } CharClass;

/* What kind of character stands at the front of s, and its bytes. */
static CharClass classify(Str s, size_t *bytes)
{
    *bytes = 0;
    if (!s.len)
        return END;
    uint32_t c = uni_decode(s, bytes);
    if (c == '\n' || c == '\r')
        return LINE_END;
    if (uni_is_letter(c))
        return LETTER;
    if (uni_is_number(c))
        return NUMBER;
    return uni_is_space(c) ? SPACE : SIGN;
}

static size_t skip_class(Str s, size_t at, CharClass wanted)
{
    size_t bytes;
    while (classify(str_slice(s, at, s.len), &bytes) == wanted)
        at += bytes;
    return at;
}

/* (?i:'s|'t|'re|'ve|'m|'ll|'d); the long s folds to s. */
static size_t match_contraction(Str s)
{
    if (s.len < 2 || s.at[0] != '\'')
        return 0;
    if (str_starts(str_slice(s, 1, s.len), "\xC5\xBF"))
        return 3;
    char a = (char)(s.at[1] | 32), b = s.len > 2 ? (char)(s.at[2] | 32) : 0;
    if (a == 's' || a == 't' || a == 'm' || a == 'd')
        return 2;
    return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
}

/* ' ?[^\s\p{L}\p{N}]+[\r\n]*' */
static size_t match_signs(Str s)
{
    size_t at = s.at[0] == ' ', end = skip_class(s, at, SIGN);
    return end == at ? 0 : skip_class(s, end, LINE_END);
}

/* '\s*[\r\n]+|\s+(?!\S)|\s+' at white space */
static size_t match_blanks(Str s)
{
    size_t at = 0, bytes, line_end = 0, last = 0;
    for (;;) {
        CharClass class = classify(str_slice(s, at, s.len), &bytes);
        if (class != SPACE && class != LINE_END)
            break;
        last = at;
        at += bytes;
        if (class == LINE_END)
            line_end = at;
    }
    if (line_end)
        return line_end;
    return at == s.len || last == 0 ? at : last;
}

size_t bpe_split(Str s)
{
    size_t first, second, contraction;
    CharClass class = classify(s, &first);
    if (class == END)
        return 0;
    if ((contraction = match_contraction(s)))
        return contraction;
    if (class == LETTER)
        return skip_class(s, first, LETTER);
    if (class == NUMBER)
        return first;
    if (class != LINE_END && classify(str_slice(s, first, s.len), &second) == LETTER)
        return skip_class(s, first, LETTER);
    size_t signs = match_signs(s);
    return signs ? signs : match_blanks(s);
}

/* --- merges ---------------------------------------------------------------------------------- */

/* A word as a list of tokens, and a heap of the pairs that may be merged, lowest rank first, then
 * leftmost. An entry is out of date when its tokens are no longer there. */
typedef struct WordPair {
    uint32_t rank, at;
    uint32_t left, right;
} WordPair;

typedef struct Word {
    const Bpe *bpe;
    Arena *arena;
    uint32_t *id, *next, *previous; /* UINT32_MAX: no token, no neighbour */
    VEC(WordPair) heap;
} Word;

static bool before(const WordPair *a, const WordPair *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void push_pair(Word *w, uint32_t at)
{
    uint32_t rank, next = at == UINT32_MAX ? at : w->next[at];
    if (next == UINT32_MAX || !pair_get(&w->bpe->ranks, w->id[at], w->id[next], &rank))
        return;
    WordPair pair = {rank, at, w->id[at], w->id[next]};
    vec_push(w->arena, &w->heap, pair);
    for (uint32_t i = w->heap.len - 1; i && before(&w->heap.at[i], &w->heap.at[(i - 1) / 2]);
         i = (i - 1) / 2) {
        WordPair other = w->heap.at[i];
        w->heap.at[i] = w->heap.at[(i - 1) / 2];
        w->heap.at[(i - 1) / 2] = other;
    }
}

static WordPair pop_pair(Word *w)
{
    WordPair top = w->heap.at[0], moved = w->heap.at[--w->heap.len];
    uint32_t i = 0;
    for (uint32_t child = 1; child < w->heap.len; child = 2 * i + 1) {
        if (child + 1 < w->heap.len && before(&w->heap.at[child + 1], &w->heap.at[child]))
            child++;
        if (!before(&w->heap.at[child], &moved))
            break;
        w->heap.at[i] = w->heap.at[child];
        i = child;
    }
    w->heap.at[i] = moved;
    return top;
}

static void merge_at(Word *w, const WordPair *pair)
{
    uint32_t next = w->next[pair->at];
    if (w->id[pair->at] != pair->left || next == UINT32_MAX || w->id[next] != pair->right)
        return;
    w->id[pair->at] = w->bpe->merges.at[pair->rank].id;
    w->id[next] = UINT32_MAX;
    w->next[pair->at] = w->next[next];
    if (w->next[next] != UINT32_MAX)
        w->previous[w->next[next]] = pair->at;
    push_pair(w, pair->at);
    push_pair(w, w->previous[pair->at]);
}

static void encode_word(const Bpe *bpe, Arena *arena, Str text, TokenList *ids)
{
    Arena scratch = {0};
    uint32_t n = (uint32_t)text.len;
    Word w = {.bpe = bpe, .arena = &scratch};
    w.id = arena_array(&scratch, uint32_t, 3 * (size_t)n);
    w.next = w.id + n;
    w.previous = w.next + n;
    for (uint32_t i = 0; i < n; i++) {
        w.id[i] = bpe->byte_id[(uint8_t)text.at[i]];
        w.next[i] = i + 1 < n ? i + 1 : UINT32_MAX;
        w.previous[i] = i ? i - 1 : UINT32_MAX;
    }
    for (uint32_t i = 0; i < n; i++)
        push_pair(&w, i);
    while (w.heap.len) {
        WordPair pair = pop_pair(&w);
        merge_at(&w, &pair);
    }
    for (uint32_t i = 0; i != UINT32_MAX; i = w.next[i])
        vec_push(arena, ids, w.id[i]);
    arena_drop(&scratch);
}

static void encode_words(const Bpe *bpe, Arena *arena, Str text, TokenList *ids)
{
    for (size_t bytes; (bytes = bpe_split(text)); text = str_slice(text, bytes, text.len))
        encode_word(bpe, arena, str_slice(text, 0, bytes), ids);
}

static void encode_piece(const Bpe *bpe, Arena *arena, Str text, TokenList *ids)
{
    Buf composed = {0};
    if (bpe->compose) {
        uni_compose(text, &composed);
        text = buf_view(&composed);
    }
    encode_words(bpe, arena, text, ids);
    buf_free(&composed);
}

/* The longest special token at the front of the text. */
static const BpeSpecial *match_special(const Bpe *bpe, Str text)
{
    const BpeSpecial *best = NULL;
    for (uint32_t i = 0; i < bpe->specials.len; i++) {
        const BpeSpecial *s = &bpe->specials.at[i];
        if (str_equal(s->text, str_slice(text, 0, s->text.len)) &&
            (!best || s->text.len > best->text.len))
            best = s;
    }
    return best;
}

void bpe_encode(const Bpe *bpe, Arena *arena, Str text, bool specials, TokenList *ids)
{
    bool starts[256] = {false};
    for (uint32_t i = 0; specials && i < bpe->specials.len; i++)
        starts[(uint8_t)bpe->specials.at[i].text.at[0]] = true;
    size_t from = 0, at = 0;
    while (at < text.len) {
        const BpeSpecial *s = NULL;
        if (starts[(uint8_t)text.at[at]])
            s = match_special(bpe, str_slice(text, at, text.len));
        if (!s) {
            at++;
            continue;
        }
        encode_piece(bpe, arena, str_slice(text, from, at), ids);
        vec_push(arena, ids, s->id);
        from = at += s->text.len;
    }
    encode_piece(bpe, arena, str_slice(text, from, text.len), ids);
}

void bpe_decode(const Bpe *bpe, const uint32_t *ids, size_t count, bool specials, Buf *out)
{
    for (size_t i = 0; i < count; i++) {
        bool hidden = false;
        for (uint32_t k = 0; !specials && k < bpe->specials.len; k++)
            hidden = hidden || (bpe->specials.at[k].id == ids[i] && bpe->specials.at[k].special);
        if (!hidden)
            buf_str(out, bpe_token(bpe, ids[i]));
    }
}
