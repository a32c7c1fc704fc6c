/* A worker's result as it is sent to the store: JSON over the worker's pipe.
 *
 *     worker: Judged ─wire_judged─▶ text      parent: text ─wire_attempt─▶ StoreAttempt, blobs */
#ifndef LOOP_BENCH_WIRE_H
#define LOOP_BENCH_WIRE_H

#include "loop/bench_judge.h"
#include "store/store.h"
#include <jansson.h>

void wire_judged(const Judged *judged, Buf *out);
/* Fills what the reply knows of the attempt and puts its texts and log into the store. */
bool wire_attempt(Store *store, Arena *arena, json_t *reply, StoreAttempt *a, Diag *diag);
/* The SHA-256 over the paths and contents of all texts, in order. */
void wire_source_hash(const EvalCandidate *candidate, char hash[STORE_HASH]);

#endif
