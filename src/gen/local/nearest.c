/* The nearest training row. In: training rows, a question. Out: the answers to the most similar questions,
 * with the sizes and the element type of the question asked.
 *
 * Similarity: of the runs of three words of both questions, the share that they have in common; numbers
 * count as one word. Sizes: where both questions have as many numbers, each number of the answer that is
 * the i-th of its own question becomes the i-th of the question asked. */
#include "gen/local/local_int.h"

#include "base/hash.h"
#include "gen/prompt/prompt.h"
#include <stdlib.h>
#include <string.h>

typedef VEC(uint64_t) GramList;

typedef struct Nearest {
    ExampleList rows;
    GramList *grams; /* of each row, in order, without repetitions */
} Nearest;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The next word: letters with digits behind them, a whole number, or one sign. */
static bool next_word(Str *rest, Str *word)
{
    while (rest->len && (rest->at[0] == ' ' || rest->at[0] == '\n'))
        *rest = str_slice(*rest, 1, rest->len);
    if (!rest->len)
        return false;
    size_t n = 1;
    bool name = is_letter(rest->at[0]), number = is_digit(rest->at[0]);
    while (n < rest->len && ((name && (is_letter(rest->at[n]) || is_digit(rest->at[n]))) ||
                             (number && (is_digit(rest->at[n]) || rest->at[n] == '.'))))
        n++;
    *word = str_slice(*rest, 0, n);
    *rest = str_slice(*rest, n, rest->len);
    return true;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static GramList grams_of(Arena *arena, Str text)
{
    GramList grams = {0};
    Str word;
    uint64_t last[2] = {0, 0};
    while (next_word(&text, &word)) {
        uint64_t h = is_digit(word.at[0]) ? 1 : hash64(word.at, word.len);
        vec_push(arena, &grams, last[0] * 31 + last[1] * 17 + h);
        last[0] = last[1];
        last[1] = h;
    }
    if (grams.len)
        qsort(grams.at, grams.len, sizeof *grams.at, by_value);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < grams.len; i++)
        if (!i || grams.at[i] != grams.at[i - 1])
            grams.at[kept++] = grams.at[i];
    grams.len = kept;
    return grams;
}

static double similarity(const GramList *a, const GramList *b)
{
    uint32_t i = 0, k = 0, common = 0;
    while (i < a->len && k < b->len) {
        common += a->at[i] == b->at[k];
        uint64_t x = a->at[i], y = b->at[k];
        i += x <= y;
        k += y <= x;
    }
    return (double)common / (double)(a->len + b->len - common + 1);
}

/* The row of rank `rank`, the most similar first; of equals the earlier one. */
static uint32_t find_row(const Nearest *n, Arena *arena, const GramList *grams, uint32_t rank)
{
    double *score = arena_array(arena, double, n->rows.len + 1);
    uint32_t best = 0;
    for (uint32_t i = 0; i < n->rows.len; i++)
        score[i] = similarity(grams, &n->grams[i]);
    for (uint32_t r = 0; r <= rank; r++) {
        best = 0;
        for (uint32_t i = 1; i < n->rows.len; i++)
            best = score[i] > score[best] ? i : best;
        if (r < rank)
            score[best] = -1;
    }
    return best;
}

typedef VEC(Str) WordList;

static bool is_dtype(Str word)
{
    return str_is(word, "f32") || str_is(word, "f16") || str_is(word, "bf16");
}

/* Whole numbers, and as the first word the element type. */
static WordList names_of(Arena *arena, Str text)
{
    WordList names = {0};
    Str word, dtype = STR("f32");
    bool found = false;
    vec_push(arena, &names, dtype);
    while (next_word(&text, &word)) {
        if (is_digit(word.at[0]))
            vec_push(arena, &names, word);
        Str of = str_is(word, "float16")    ? STR("f16")
                 : str_is(word, "bfloat16") ? STR("bf16")
                                            : word;
        if (!found && is_dtype(of)) {
            names.at[0] = of;
            found = true;
        }
    }
    return names;
}

static Str renamed(Arena *arena, Str answer, const WordList *from, const WordList *to)
{
    Buf out = {0};
    bool same = from->len == to->len;
    const char *end = answer.at;
    for (Str rest = answer, word; next_word(&rest, &word);) {
        Str put = is_dtype(word) && str_equal(word, from->at[0]) ? to->at[0] : word;
        for (uint32_t i = 1; same && is_digit(word.at[0]) && i < from->len; i++)
            if (str_equal(word, from->at[i])) {
                put = to->at[i];
                break;
            }
        buf_str(&out, (Str){end, (size_t)(word.at - end)});
        buf_str(&out, put);
        end = word.at + word.len;
    }
    buf_str(&out, (Str){end, (size_t)(answer.at + answer.len - end)});
    Str text = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return text;
}

static bool ask(void *self, Arena *arena, const ChatAsk *asks, uint32_t count, ChatReply *replies,
                Diag *diag)
{
    const Nearest *n = self;
    (void)diag;
    for (uint32_t i = 0; i < count; i++) {
        Str prompt = prompt_rows_of(arena, &asks[i].messages);
        GramList grams = grams_of(arena, prompt);
        const Example *row = &n->rows.at[find_row(n, arena, &grams, asks[i].sample)];
        WordList from = names_of(arena, row->prompt), to = names_of(arena, prompt);
        replies[i] = example_reply(arena, renamed(arena, row->answer, &from, &to), false);
    }
    return true;
}

bool nearest_open(Arena *arena, const BaselineSpec *spec, Generator *out, Diag *diag)
{
    Nearest *n = arena_new(arena, Nearest);
    *n = (Nearest){0};
    if (!examples_read(arena, spec->rows, &n->rows, diag))
        return false;
    n->grams = arena_array(arena, GramList, n->rows.len);
    for (uint32_t i = 0; i < n->rows.len; i++)
        n->grams[i] = grams_of(arena, n->rows.at[i].prompt);
    *out = (Generator){.name = "nearest row", .self = n, .ask = ask};
    return true;
}
