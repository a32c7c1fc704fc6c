/* Spans over a memory; see spans.h. */
#include "sim/spans.h"
#include <string.h>

void spans_open(Spans *s, uint64_t from, uint64_t end)
{
    *s = (Spans){.at = heap_alloc(2 * sizeof(Span)), .len = 1, .cap = 2, .end = end};
    s->at[0] = (Span){.from = from};
}

void spans_close(Spans *s)
{
    heap_free(s->at);
    *s = (Spans){0};
}

/* The span that holds `byte`. */
static uint32_t find(const Spans *s, uint64_t byte)
{
    uint32_t low = 0, high = s->len;
    while (high - low > 1) {
        uint32_t mid = (low + high) / 2;
        if (s->at[mid].from <= byte)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Makes a span begin at `byte` and returns its number; s->len when byte is the end. */
static uint32_t cut(Spans *s, uint64_t byte)
{
    if (byte >= s->end)
        return s->len;
    uint32_t i = find(s, byte);
    if (s->at[i].from == byte)
        return i;
    if (s->len == s->cap) {
        s->at = heap_grow(s->at, s->cap * sizeof *s->at, 2ull * s->cap * sizeof *s->at);
        s->cap *= 2;
    }
    memmove(&s->at[i + 2], &s->at[i + 1], (s->len - i - 1) * sizeof *s->at);
    s->at[i + 1] = s->at[i];
    s->at[i + 1].from = byte;
    s->len++;
    return i + 1;
}

static bool alike(const Span *a, const Span *b)
{
    return a->state.writer.when == b->state.writer.when &&
           memcmp(&a->state, &b->state, sizeof a->state) == 0;
}

/* Joins equal neighbours among first-1 .. last. */
static void join(Spans *s, uint32_t first, uint32_t last)
{
    uint32_t keep = first ? first - 1 : 0, end = last < s->len ? last + 1 : s->len;
    uint32_t to = keep + 1;
    for (uint32_t i = keep + 1; i < end; i++)
        if (!alike(&s->at[to - 1], &s->at[i])) {
            if (to != i)
                s->at[to] = s->at[i];
            to++;
        }
    if (to == end)
        return;
    memmove(&s->at[to], &s->at[end], (s->len - end) * sizeof *s->at);
    s->len -= end - to;
}

static uint64_t end_of(const Spans *s, uint32_t i)
{
    return i + 1 < s->len ? s->at[i + 1].from : s->end;
}

void spans_visit(Spans *s, uint64_t from, uint64_t to, SpanVisit *visit, void *context)
{
    to = to > s->end ? s->end : to;
    if (from < s->at[0].from || from >= to)
        return;
    uint32_t first = find(s, from), last;
    if (s->at[first].from == from && end_of(s, first) == to) { /* the same bytes as last time */
        last = first + 1;
    } else {
        first = cut(s, from);
        last = cut(s, to);
    }
    for (uint32_t i = first; i < last; i++)
        visit(context, s->at[i].from, end_of(s, i), &s->at[i].state);
    join(s, first, last);
}
