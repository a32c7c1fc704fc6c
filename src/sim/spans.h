/* A map from byte ranges to what last touched them: sorted spans that split on access and join
 * again when neighbours are alike.
 *
 *     0            256            512                       the whole memory
 *     |  state A   |   state B    |       state A           |
 *
 * GM is cut into pages so that a span is found quickly. */
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
    SPAN_SAME = 8   /* a store that changed nothing, kept beside the readers */
};

enum { SPAN_READERS = 3 };
typedef struct SpanState {
    SpanAccess writer, reader[SPAN_READERS];
} SpanState;

typedef struct Span {
    uint64_t from; /* ends where the next begins */
    SpanState state;
} Span;

typedef struct Spans {
    Span *at;
    uint32_t len, cap;
    uint64_t end;
} Spans;

void spans_open(Spans *s, uint64_t from, uint64_t end);
void spans_close(Spans *s);
/* Calls `visit` for every span inside [from, to), cut to fit; it may change the state. */
typedef void SpanVisit(void *context, uint64_t from, uint64_t to, SpanState *state);
void spans_visit(Spans *s, uint64_t from, uint64_t to, SpanVisit *visit, void *context);

#endif
