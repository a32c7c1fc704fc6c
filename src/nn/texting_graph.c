/* Texts as lists of word numbers, and the graph of a text. */
#include "nn/texting.h"

#include "base/rng.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

uint32_t text_word_add(Arena *arena, TextWords *words, Str word)
{
    uint32_t number;
    if (map_get(&words->numbers, word, &number))
        return number;
    Str copy = str_copy(arena, word);
    number = words->words.len;
    vec_push(arena, &words->words, copy);
    map_put(arena, &words->numbers, copy, number);
    return number;
}

bool text_word_find(const TextWords *words, Str word, uint32_t *number)
{
    return map_get(&words->numbers, word, number);
}

/* ---- order ---- */

void text_shuffle(uint32_t *order, uint32_t count, uint64_t seed, uint64_t stream)
{
    for (uint32_t i = count; i-- > 1;) {
        uint32_t other = (uint32_t)rng_range(seed, stream, i, 0, (int64_t)i + 1), was = order[i];
        order[i] = order[other];
        order[other] = was;
    }
}

TextSplit text_split(Arena *arena, uint32_t count, uint32_t held, uint64_t seed)
{
    TextSplit s = {arena_array(arena, uint32_t, count + 1), count,
                   count - (held ? count / held : 0)};
    for (uint32_t i = 0; i < count; i++)
        s.order[i] = i;
    text_shuffle(s.order, count, seed, 0);
    return s;
}

/* ---- the graph ---- */

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void find_nodes(Arena *arena, const TextDoc *doc, TextGraph *g)
{
    g->words = arena_array(arena, uint32_t, doc->count + 1);
    memcpy(g->words, doc->words, doc->count * sizeof *g->words);
    qsort(g->words, doc->count, sizeof *g->words, compare_u32);
    for (uint32_t i = 0; i < doc->count; i++)
        if (!g->nodes || g->words[g->nodes - 1] != g->words[i])
            g->words[g->nodes++] = g->words[i];
}

static uint32_t node_of(const TextGraph *g, uint32_t word)
{
    const uint32_t *at = bsearch(&word, g->words, g->nodes, sizeof word, compare_u32);
    return (uint32_t)(at - g->words);
}

/* Pairs of different words in one window, both ways, each once, in ascending order. */
static uint32_t find_pairs(const TextDoc *doc, const TextGraph *g, uint64_t *pairs)
{
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < doc->count; i++)
        for (uint32_t k = 1; k < TEXTING_WINDOW && i + k < doc->count; k++) {
            uint64_t a = node_of(g, doc->words[i]), b = node_of(g, doc->words[i + k]);
            if (a == b)
                continue;
            pairs[count++] = a << 32 | b;
            pairs[count++] = b << 32 | a;
        }
    qsort(pairs, count, sizeof *pairs, compare_u64);
    for (uint32_t i = 0; i < count; i++)
        if (!kept || pairs[kept - 1] != pairs[i])
            pairs[kept++] = pairs[i];
    return kept;
}

TextGraph text_graph(Arena *arena, const TextDoc *doc)
{
    TextGraph g = {.label = doc->label};
    uint64_t *pairs = heap_alloc(((size_t)doc->count * 2 * TEXTING_WINDOW + 1) * sizeof *pairs);
    find_nodes(arena, doc, &g);
    uint32_t edges = find_pairs(doc, &g, pairs);
    g.first = arena_array(arena, uint32_t, g.nodes + 1);
    g.to = arena_array(arena, uint32_t, edges + 1);
    g.weights = arena_array(arena, float, edges + 1);
    for (uint32_t i = 0; i < edges; i++) {
        g.first[(pairs[i] >> 32) + 1]++;
        g.to[i] = (uint32_t)pairs[i];
    }
    for (uint32_t i = 0; i < g.nodes; i++)
        g.first[i + 1] += g.first[i];
    for (uint32_t i = 0; i < g.nodes; i++)
        for (uint32_t e = g.first[i]; e < g.first[i + 1]; e++) {
            uint32_t j = g.to[e];
            double degrees = (double)(g.first[i + 1] - g.first[i]) *
                             (double)(g.first[j + 1] - g.first[j]);
            g.weights[e] = (float)(1 / sqrt(degrees));
        }
    heap_free(pairs);
    return g;
}
