/* Operations that move elements: rows and columns spread, gather, transpose, reverse; and the
 * matrix product. In: resolved operands. Out: the destination. */
#include "ir/run_int.h"

#include <string.h>

static uint8_t *element(const Tile *t, int64_t row, int64_t col)
{
    return t->data + row * t->pitch + col * (int64_t)t->width;
}

/* The element at a position that counts from the first of the view: rows follow each other at the pitch of
 * the buffer. NULL: the view has none there. */
static const uint8_t *element_at(const Tile *a, int64_t at)
{
    int64_t byte, first = a->byte0;
    if (at < 0 || __builtin_mul_overflow(at, (int64_t)a->width, &byte) ||
        __builtin_add_overflow(byte, first, &byte))
        return NULL;
    int64_t row = byte / a->pitch, col = byte % a->pitch - first;
    bool inside = row < a->rows && col >= 0 && col < a->cols * (int64_t)a->width;
    return inside ? a->data + row * a->pitch + col : NULL;
}

/* The source element of dst[r, c]. */
static const uint8_t *source(const OpArgs *o, int64_t r, int64_t c)
{
    const Tile *a = &o->src[0];
    switch (o->s->op) {
    case IR_T_ROW: return element(a, 0, c);
    case IR_T_COL: return element(a, 0, r);
    case IR_T_TRANSPOSE: return element(a, c, r);
    case IR_T_REVERSE: return element(a, 0, a->cols - 1 - c);
    default: break;
    }
    int64_t at;
    tile_fetch_int(&o->src[1], r, c, 1, &at);
    const uint8_t *found = element_at(a, at);
    if (found)
        return found;
    run_fault(&o->t->scope, IR_FAULT_INDEX, o->s->at,
              "%s gathers element %lld of '%s', the view has %lld (position %lld of '%s')",
              run_who(&o->t->scope), (long long)at, a->name, (long long)(a->rows * a->cols),
              (long long)c, o->src[1].name);
    return NULL;
}

void run_op_shape(const OpArgs *o)
{
    for (int64_t r = 0; r < o->dst.rows; r++) {
        for (int64_t c = 0; c < o->dst.cols; c++) {
            const uint8_t *from = source(o, r, c);
            if (!from)
                return;
            memcpy(element(&o->dst, r, c), from, o->dst.width);
        }
    }
}

static double to_hf32(double x) { return (double)hf32_round((float)x, false); }

/* One rounding to f32 for the whole sum of this mmad; i8 gives exact i32. */
void run_op_mmad(const OpArgs *o)
{
    const Tile *a = &o->src[0], *b = &o->src[1];
    bool hf32 = o->s->op == IR_T_MMAD_HF32;
    for (int64_t r = 0; r < o->dst.rows; r++) {
        for (int64_t c = 0; c < o->dst.cols; c++) {
            double sum = 0, x, y;
            if (!o->scalar[0].i)
                tile_fetch(&o->dst, r, c, 1, &sum);
            for (int64_t k = 0; k < a->cols; k++) {
                tile_fetch(a, r, k, 1, &x);
                tile_fetch(b, k, c, 1, &y);
                sum += hf32 ? to_hf32(x) * to_hf32(y) : x * y;
            }
            int64_t whole = (int64_t)sum;
            if (o->dst.dtype == DT_I32)
                tile_put_int(&o->dst, r, c, 1, &whole);
            else
                tile_put(&o->dst, r, c, 1, &sum);
        }
    }
}
