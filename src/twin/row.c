/* A row of bytes, written and read; see row.h. */
#include "twin/row.h"

#include <string.h>

void row_put_u32(Buf *out, uint32_t value) { buf_add(out, &value, sizeof value); }
void row_put_u64(Buf *out, uint64_t value) { buf_add(out, &value, sizeof value); }

void row_put_text(Buf *out, Str text)
{
    row_put_u32(out, (uint32_t)text.len);
    buf_add(out, text.at, (uint32_t)text.len);
}

void row_put_block(Buf *out, const void *bytes, uint64_t len)
{
    row_put_u64(out, len);
    buf_add(out, bytes, len);
}

void row_take(Row *row, void *to, size_t bytes)
{
    if (row->bad || row->rest.len < bytes) {
        row->bad = true;
        memset(to, 0, bytes);
        return;
    }
    memcpy(to, row->rest.at, bytes);
    row->rest = str_slice(row->rest, bytes, row->rest.len);
}

uint8_t row_u8(Row *row)
{
    uint8_t value;
    row_take(row, &value, sizeof value);
    return value;
}

uint32_t row_u32(Row *row)
{
    uint32_t value;
    row_take(row, &value, sizeof value);
    return value;
}

uint64_t row_u64(Row *row)
{
    uint64_t value;
    row_take(row, &value, sizeof value);
    return value;
}

double row_f64(Row *row)
{
    double value;
    row_take(row, &value, sizeof value);
    return value;
}

static Str take_slice(Row *row, uint64_t len)
{
    if (row->bad || row->rest.len < len) {
        row->bad = true;
        return (Str){0};
    }
    Str slice = str_slice(row->rest, 0, len);
    row->rest = str_slice(row->rest, len, row->rest.len);
    return slice;
}

Str row_text(Row *row) { return take_slice(row, row_u32(row)); }
Str row_block(Row *row) { return take_slice(row, row_u64(row)); }
