/* Work that falls into pieces, done by several processes:
 *
 *     caller                          worker 0          worker 1
 *     fork ────────────────────────▶  do(0) do(3)       do(1) do(2)
 *     take(0), take(2), take(1) ...  ◀─ answers, as they end
 *
 * A worker is a fork of the caller, so `do` finds everything as it stood when pieces_do was called;
 * what it leaves in memory stays with that worker. Only the answer comes back. With one job all of
 * it happens in the caller's own process, so the answers must not depend on what was done before. */
#ifndef LOOP_PIECES_H
#define LOOP_PIECES_H

#include "base/buf.h"

typedef struct Pieces {
    uint32_t count;
    uint32_t jobs; /* processes; 0 and 1: this one */
    /* Whether a piece is still needed; called just before it begins. They begin in order. */
    bool (*wanted)(void *context, uint32_t piece);
    void (*work)(void *context, uint32_t piece, Buf *answer);
    /* died: the worker did, there is no answer, and this says how; else NULL. */
    void (*take)(void *context, uint32_t piece, Str answer, const char *died);
    void *context;
} Pieces;

void pieces_do(const Pieces *pieces);

#endif
