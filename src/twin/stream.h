/* The record streams of a run, kept as hashes, so that a second run can be held against them.
 *
 *     Stream s = {.cores = n, .core = ...};        stream_note while the first run feeds
 *     s.compare = true; stream_rewind(&s)          stream_note again: false at the first difference
 *
 * Values that only travel through a record (the factor of a Muls, a stored word, printed text)
 * do not count: they change neither time nor addresses. */
#ifndef TWIN_STREAM_H
#define TWIN_STREAM_H

#include "sim/record.h"
#include "twin/row.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct StreamCore {
    uint16_t *mark; /* of every record, a short hash */
    uint64_t len, cap, at;
    uint64_t whole, again; /* over all records: of the first and of the second run */
    uint64_t kind;         /* over all records, wherever in GM they read and write */
    bool ended;            /* the first run saw the core's end */
    bool leads;            /* no core before it is of the same kind */
} StreamCore;

typedef struct Stream {
    StreamCore *core;
    uint32_t cores;
    bool compare;
    /* The first difference: where, and the scalar read before it. */
    bool differs;
    uint32_t in_core, line, read_line;
    uint16_t file, read_file;
} Stream;

void stream_open(Stream *stream, uint32_t cores);
void stream_close(Stream *stream);
/* For the second run, which needs only the cores that lead. */
void stream_rewind(Stream *stream);
/* Notes or compares the next records of a core; false: they differ. */
bool stream_note(Stream *stream, uint32_t core, const Record *records, size_t n);
/* The core has ended: also false when the other run was longer. Where the first run was cut short
 * (a fault stopped the core), what comes after is not compared. */
bool stream_end(Stream *stream, uint32_t core);
/* From one process to another: what the first run left. One that was closed stays so. */
void stream_put(const Stream *stream, Buf *out);
Stream stream_take(Row *row, uint32_t most_cores);

#endif
