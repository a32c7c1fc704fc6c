/* Spans over a memory; see spans.h. */
#include "sim/spans.h"
#include <string.h>

enum { FIRST_SPANS = 2, FIRST_READERS = 2 };

void spans_open(Spans *s, uint64_t from, uint64_t end)
{
    *s = (Spans){.len = 1, .cap = FIRST_SPANS, .readers = FIRST_READERS, .end = end};
    s->at = heap_alloc(s->cap * spans_stride(s->readers));
    spans_get(s, 0)->from = from;
}

void spans_close(Spans *s)
{
    heap_free(s->at);
    *s = (Spans){0};
}

static void widen(Spans *s)
{
    Spans old = *s;
    s->readers++;
    s->at = heap_alloc(s->cap * spans_stride(s->readers));
    for (uint32_t i = 0; i < s->len; i++)
        memcpy(spans_get(s, i), spans_get(&old, i), spans_stride(old.readers));
    heap_free(old.at);
}

/* The span that holds `byte`, which mostly is the one behind what was visited last. */
static uint32_t find(const Spans *s, uint64_t byte)
{
    uint32_t low = 0, high = s->len;
    if (s->next < high && spans_get(s, s->next)->from <= byte) {
        low = s->next;
        if (low + 1 == high || spans_get(s, low + 1)->from > byte)
            return low;
    }
    while (high - low > 1) {
        uint32_t mid = (low + high) / 2;
        if (spans_get(s, mid)->from <= byte)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static void move(Spans *s, uint32_t to, uint32_t from, uint32_t count)
{
    memmove(spans_get(s, to), spans_get(s, from), count * spans_stride(s->readers));
}

/* Makes a span begin at `byte` and returns its number; s->len when byte is the end. */
static uint32_t cut(Spans *s, uint64_t byte)
{
    if (byte >= s->end)
        return s->len;
    uint32_t i = find(s, byte);
    if (spans_get(s, i)->from == byte)
        return i;
    if (s->len == s->cap) {
        size_t bytes = s->cap * spans_stride(s->readers);
        s->at = heap_grow(s->at, bytes, 2 * bytes);
        s->cap *= 2;
    }
    move(s, i + 1, i, s->len - i);
    spans_get(s, i + 1)->from = byte;
    s->len++;
    return i + 1;
}

static bool alike(const Span *a, const Span *b, uint32_t readers)
{
    return a->writer.when == b->writer.when &&
           memcmp(&a->writer, &b->writer, (1 + readers) * sizeof(SpanAccess)) == 0;
}

/* Joins equal neighbours among first-1 .. last. */
static void join(Spans *s, uint32_t first, uint32_t last)
{
    uint32_t keep = first ? first - 1 : 0, end = last < s->len ? last + 1 : s->len;
    uint32_t to = keep + 1;
    for (uint32_t i = keep + 1; i < end; i++)
        if (!alike(spans_get(s, to - 1), spans_get(s, i), s->readers)) {
            if (to != i)
                move(s, to, i, 1);
            to++;
        }
    if (to == end)
        return;
    move(s, to, end, s->len - end);
    s->len -= end - to;
    s->next = to - 1;
}

static uint64_t end_of(const Spans *s, uint32_t i)
{
    return i + 1 < s->len ? spans_get(s, i + 1)->from : s->end;
}

void spans_visit(Spans *s, uint64_t from, uint64_t to, SpanVisit *visit, void *context)
{
    to = to > s->end ? s->end : to;
    if (from < spans_get(s, 0)->from || from >= to)
        return;
    uint32_t first = find(s, from), last;
    if (spans_get(s, first)->from == from && end_of(s, first) == to) { /* the same as last time */
        last = first + 1;
    } else {
        first = cut(s, from);
        last = cut(s, to);
    }
    for (uint32_t i = first; i < last; i++)
        while (!visit(context, spans_get(s, i)->from, end_of(s, i), spans_get(s, i), s->readers))
            widen(s);
    s->next = last;
    join(s, first, last);
}
