/* Numbers and texts in a row of bytes, from one process to another on the same machine.
 *
 * Writing goes into a Buf. Reading never goes past the end: a row that is too short turns `bad` and
 * gives zeros from then on. */
#ifndef TWIN_ROW_H
#define TWIN_ROW_H

#include "base/buf.h"

typedef struct Row {
    Str rest;
    bool bad;
} Row;

void row_put_u32(Buf *out, uint32_t value);
void row_put_u64(Buf *out, uint64_t value);
/* Up to 4 GiB. */
void row_put_text(Buf *out, Str text);
void row_put_block(Buf *out, const void *bytes, uint64_t len);

void row_take(Row *row, void *to, size_t bytes);
uint8_t row_u8(Row *row);
uint32_t row_u32(Row *row);
uint64_t row_u64(Row *row);
double row_f64(Row *row);
/* These point into the row. */
Str row_text(Row *row);
Str row_block(Row *row);

#endif
