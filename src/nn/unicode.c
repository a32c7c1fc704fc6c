/* Unicode classes and canonical composition, from the tables of unicode.def. */
#include "nn/unicode.h"

#include "base/vec.h"
#include <stdlib.h>

typedef struct Range {
    uint32_t from, to;
} Range;
typedef struct Mark {
    uint32_t from, to, order;
} Mark;
typedef struct Decomposition {
    uint32_t whole, part[4];
} Decomposition;
typedef struct Composition {
    uint32_t first, second, whole;
} Composition;

#define UNI_LETTER(from, to)
#define UNI_NUMBER(from, to)
#define UNI_MARK(from, to, order)
#define UNI_DECOMPOSE(whole, a, b, c, d)
#define UNI_COMPOSE(first, second, whole)

#undef UNI_LETTER
#define UNI_LETTER(from, to) {from, to},
static const Range letters[] = {
#include "nn/unicode.def"
};
#undef UNI_LETTER
#define UNI_LETTER(from, to)
#undef UNI_NUMBER
#define UNI_NUMBER(from, to) {from, to},
static const Range numbers[] = {
#include "nn/unicode.def"
};
#undef UNI_NUMBER
#define UNI_NUMBER(from, to)
#undef UNI_MARK
#define UNI_MARK(from, to, order) {from, to, order},
static const Mark marks[] = {
#include "nn/unicode.def"
};
#undef UNI_MARK
#define UNI_MARK(from, to, order)
#undef UNI_DECOMPOSE
#define UNI_DECOMPOSE(whole, a, b, c, d) {whole, {a, b, c, d}},
static const Decomposition decompositions[] = {
#include "nn/unicode.def"
};
#undef UNI_DECOMPOSE
#define UNI_DECOMPOSE(whole, a, b, c, d)
#undef UNI_COMPOSE
#define UNI_COMPOSE(first, second, whole) {first, second, whole},
static const Composition compositions[] = {
#include "nn/unicode.def"
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool in_ranges(const Range *ranges, size_t count, uint32_t c)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (c > ranges[mid].to)
            low = mid + 1;
        else
            high = mid;
    }
    return low < count && c >= ranges[low].from;
}

bool uni_is_letter(uint32_t c)
{
    if (c < 128)
        return (c | 32) >= 'a' && (c | 32) <= 'z';
    return in_ranges(letters, COUNT(letters), c);
}

bool uni_is_number(uint32_t c)
{
    if (c < 128)
        return c >= '0' && c <= '9';
    return in_ranges(numbers, COUNT(numbers), c);
}

bool uni_is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

uint32_t uni_decode(Str s, size_t *bytes)
{
    const uint8_t *at = (const uint8_t *)s.at;
    if (at[0] < 0x80) {
        *bytes = 1;
        return at[0];
    }
    *bytes = str_utf8_step(s);
    if (*bytes < 2) {
        *bytes = 1;
        return UNI_BROKEN;
    }
    uint32_t c = at[0] & (0x7Fu >> *bytes);
    for (size_t i = 1; i < *bytes; i++)
        c = c << 6 | (at[i] & 0x3Fu);
    return c;
}

void uni_encode(Buf *out, uint32_t c)
{
    char text[4];
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = len; i-- > 1; c >>= 6)
        text[i] = (char)(0x80 | (c & 0x3F));
    text[0] = (char)(lead[len] | c);
    buf_add(out, text, len);
}

/* Combining class: marks of different classes on one character are sorted by it; 0: no mark. */
static uint32_t mark_order(uint32_t c)
{
    size_t low = 0, high = COUNT(marks);
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (c > marks[mid].to)
            low = mid + 1;
        else
            high = mid;
    }
    return low < COUNT(marks) && c >= marks[low].from ? marks[low].order : 0;
}

static const Decomposition *find_decomposition(uint32_t c)
{
    size_t low = 0, high = COUNT(decompositions);
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (c > decompositions[mid].whole)
            low = mid + 1;
        else
            high = mid;
    }
    return low < COUNT(decompositions) && decompositions[low].whole == c ? &decompositions[low]
                                                                         : NULL;
}

/* Hangul syllables are computed: L, V and T parts (Unicode, section 3.12). */
enum { S_BASE = 0xAC00, L_BASE = 0x1100, V_BASE = 0x1161, T_BASE = 0x11A7 };
enum { L_COUNT = 19, V_COUNT = 21, T_COUNT = 28, S_COUNT = L_COUNT * V_COUNT * T_COUNT };

static uint32_t compose_hangul(uint32_t a, uint32_t b)
{
    if (a - L_BASE < L_COUNT && b - V_BASE < V_COUNT)
        return S_BASE + ((a - L_BASE) * V_COUNT + (b - V_BASE)) * T_COUNT;
    if (a - S_BASE < S_COUNT && (a - S_BASE) % T_COUNT == 0 && b - T_BASE - 1 < T_COUNT - 1)
        return a + (b - T_BASE);
    return 0;
}

/* The character that two compose to; 0: none. */
static uint32_t compose_pair(uint32_t a, uint32_t b)
{
    size_t low = 0, high = COUNT(compositions);
    while (low < high) {
        size_t mid = (low + high) / 2;
        const Composition *p = &compositions[mid];
        if (a > p->first || (a == p->first && b > p->second))
            low = mid + 1;
        else
            high = mid;
    }
    if (low < COUNT(compositions) && compositions[low].first == a && compositions[low].second == b)
        return compositions[low].whole;
    return compose_hangul(a, b);
}

/* Decomposed characters. A mark is packed with its class and its place, so that sorting keeps the
 * order within a class. */
typedef struct Part {
    uint64_t key; /* class << 32 | place */
    uint32_t c;
} Part;

typedef struct Run {
    Arena arena;
    VEC(Part) at;
} Run;

static void push_part(Run *run, uint32_t c)
{
    Part part = {(uint64_t)mark_order(c) << 32 | run->at.len, c};
    vec_push(&run->arena, &run->at, part);
}

static uint32_t part_order(const Part *part) { return (uint32_t)(part->key >> 32); }

static int by_key(const void *a, const void *b)
{
    const Part *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Marks that follow each other are sorted by class. */
static void sort_marks(Run *run)
{
    for (uint32_t from = 0, to; from < run->at.len; from = to + 1) {
        for (to = from; to < run->at.len && part_order(&run->at.at[to]); to++) {
        }
        if (to - from > 1)
            qsort(run->at.at + from, to - from, sizeof(Part), by_key);
    }
}

static void push_decomposed(Run *run, uint32_t c)
{
    const Decomposition *d = find_decomposition(c);
    if (c - S_BASE < S_COUNT) {
        uint32_t s = c - S_BASE;
        push_part(run, L_BASE + s / (V_COUNT * T_COUNT));
        push_part(run, V_BASE + s % (V_COUNT * T_COUNT) / T_COUNT);
        if (s % T_COUNT)
            push_part(run, T_BASE + s % T_COUNT);
    } else if (d) {
        for (int i = 0; i < 4 && d->part[i]; i++)
            push_part(run, d->part[i]);
    } else {
        push_part(run, c);
    }
}

/* Every character joins the last starter unless something between them blocks it. */
static void compose_run(Run *run)
{
    uint32_t out = 0, starter = UINT32_MAX, last = 0;
    for (uint32_t i = 0; i < run->at.len; i++) {
        Part part = run->at.at[i];
        uint32_t order = part_order(&part);
        bool blocked = starter == UINT32_MAX || (out > starter + 1 && (last >= order || last == 0));
        uint32_t whole = blocked ? 0 : compose_pair(run->at.at[starter].c, part.c);
        if (whole) {
            run->at.at[starter].c = whole;
            continue;
        }
        if (!order)
            starter = out;
        last = order;
        run->at.at[out++] = part;
    }
    run->at.len = out;
}

static void flush_run(Run *run, Buf *out)
{
    sort_marks(run);
    compose_run(run);
    for (uint32_t i = 0; i < run->at.len; i++)
        uni_encode(out, run->at.at[i].c);
    run->at.len = 0;
}

void uni_compose(Str text, Buf *out)
{
    Run run = {0};
    while (text.len) {
        size_t bytes;
        uint32_t c = uni_decode(text, &bytes);
        /* Below U+0300 nothing composes with what stands before it. */
        if (c < 0x300 || c == UNI_BROKEN)
            flush_run(&run, out);
        if (c == UNI_BROKEN)
            buf_add(out, text.at, bytes);
        else
            push_decomposed(&run, c);
        text = str_slice(text, bytes, text.len);
    }
    flush_run(&run, out);
    arena_drop(&run.arena);
}
