/* A map from byte ranges to what last touched them: sorted spans that split on access and join
 * again when neighbours are alike.
 *
 *     0            256            512                       the whole memory
 *     |  writer A  |   writer B   |       writer A          |
 *     |  readers   |   readers    |       readers           |
 *
 * Every span has room for the same number of readers; the room grows when one more is to be kept,
 * so that none is ever forgotten. GM is cut into pages so that a span is found quickly. */
#ifndef SIM_SPANS_H
#define SIM_SPANS_H

#include "base/arena.h"
#include "base/vec.h"
#include <stdbool.h>

/* One access: who, when, where in the source. All zero: nobody. */
typedef struct SpanAccess {
    uint32_t when; /* 1 + number of the instruction in its pipe */
    uint32_t line;
    uint16_t file, op, core;
    uint8_t pipe, flags; /* flags: SPAN_ATOMIC and so on */
} SpanAccess;
enum {
    SPAN_ATOMIC = 1,
    SPAN_UNIT = 2,  /* ordered fractal by fractal */
    SPAN_LARGE = 4, /* ten fractals or more */
    SPAN_SAME = 8,  /* a store that changed nothing, kept beside the readers */
    SPAN_LOOSE = 16 /* a read that does not wait for the write before it */
};

typedef struct Span {
    uint64_t from; /* ends where the next begins */
    SpanAccess writer;
    SpanAccess reader[]; /* as many as the Spans have room for; those in use first */
} Span;

typedef struct Spans {
    uint8_t *at; /* NULL: closed */
    uint32_t len, cap;
    uint32_t readers; /* room in every span */
    uint32_t next;    /* where to look first */
    uint64_t end;
} Spans;

static inline size_t spans_stride(uint32_t readers)
{
    return sizeof(Span) + readers * sizeof(SpanAccess);
}
static inline Span *spans_get(const Spans *s, uint32_t i)
{
    return (Span *)(void *)(s->at + i * spans_stride(s->readers));
}

void spans_open(Spans *s, uint64_t from, uint64_t end);
void spans_close(Spans *s);
/* Calls `visit` for every span inside [from, to), cut to fit; it may change who touched it. False:
 * nothing was done yet, it needs room for one more reader and is called again. */
typedef bool SpanVisit(void *context, uint64_t from, uint64_t to, Span *span, uint32_t readers);
void spans_visit(Spans *s, uint64_t from, uint64_t to, SpanVisit *visit, void *context);

#endif
