/* Casts: one rounding by the named mode, from the exact source value to the destination's type.
 * In: resolved operands. Out: the destination. Integers saturate, NaN becomes 0. */
#include "ir/run_int.h"

#include <math.h>

/* To an integral value. */
static double to_integral(double v, IrRound mode)
{
    switch (mode) {
    case IR_ROUND_FLOOR: return floor(v);
    case IR_ROUND_CEIL: return ceil(v);
    case IR_ROUND_AWAY: return round(v);
    case IR_ROUND_TRUNC: return trunc(v);
    case IR_ROUND_NONE:
    case IR_ROUND_RINT: break;
    }
    return rint(v);
}

/* A 16-bit float next to `bits`, one step up or down in magnitude. */
static double neighbour(DType d, uint16_t bits, int step)
{
    uint16_t next = (uint16_t)(bits + step);
    return d == DT_F16 ? half_to_float(next) : bf16_to_float(next);
}

static uint16_t narrow16(double v, DType d, IrRound mode)
{
    uint16_t bits = d == DT_F16 ? half_from_double(v) : bf16_from_double(v);
    double r = d == DT_F16 ? half_to_float(bits) : bf16_to_float(bits);
    if (r == v || v != v || mode == IR_ROUND_NONE || mode == IR_ROUND_RINT || isinf(v))
        return bits;
    bool above = fabs(r) > fabs(v); /* nearest went away from zero */
    bool shrink = mode == IR_ROUND_TRUNC || (mode == IR_ROUND_FLOOR && v > 0) ||
                  (mode == IR_ROUND_CEIL && v < 0);
    if (mode == IR_ROUND_AWAY) {
        double other = above ? v : neighbour(d, bits, 1);
        bool tie = !above && fabs(other - v) == fabs(v - r);
        return tie ? (uint16_t)(bits + 1) : bits;
    }
    if (shrink && above)
        return (uint16_t)(bits - 1);
    if (!shrink && !above)
        return (uint16_t)(bits + 1);
    return bits;
}

static float narrow32(double v, IrRound mode)
{
    float r = (float)v;
    double back = r;
    if (back == v || v != v || mode == IR_ROUND_NONE || mode == IR_ROUND_RINT || isinf(v))
        return r;
    bool above = fabs(back) > fabs(v);
    bool shrink = mode == IR_ROUND_TRUNC || (mode == IR_ROUND_FLOOR && v > 0) ||
                  (mode == IR_ROUND_CEIL && v < 0);
    float away = nextafterf(r, v > 0 ? INFINITY : -INFINITY);
    if (mode == IR_ROUND_AWAY)
        return !above && fabs((double)away - v) == fabs(v - back) ? away : r;
    if (shrink && above)
        return nextafterf(r, 0);
    return !shrink && !above ? away : r;
}

static int64_t clamp(int64_t v, DType d)
{
    int bits = (int)dtype_bytes(d) * 8;
    bool is_unsigned = dtype_rows[d].kind == DTC_U;
    if (bits == 64)
        return v;
    int64_t hi = (INT64_C(1) << (is_unsigned ? bits : bits - 1)) - 1,
            lo = is_unsigned ? 0 : -hi - 1;
    return v < lo ? lo : v > hi ? hi : v;
}

static int64_t float_to_int(double v, IrRound mode)
{
    double r = to_integral(v, mode);
    return v != v ? 0 : r >= 0x1p63 ? INT64_MAX : r < -0x1p63 ? INT64_MIN : (int64_t)r;
}

static void put_float(const Tile *d, int64_t row, int64_t col, double v, IrRound mode)
{
    uint8_t *to = d->data + row * d->pitch + col * (int64_t)d->width;
    if (d->dtype == DT_F32)
        *(float *)(void *)to = narrow32(v, mode);
    else
        *(uint16_t *)(void *)to = narrow16(v, d->dtype, mode);
}

static void cast_int(const OpArgs *o, int64_t r, int64_t c, int64_t v)
{
    DType to = o->dst.dtype;
    if (dtype_is_float(to)) {
        if (to == DT_F32 && o->s->round <= IR_ROUND_RINT)
            *(float *)(void *)(o->dst.data + r * o->dst.pitch + c * 4) = (float)v;
        else
            put_float(&o->dst, r, c, (double)v, o->s->round);
        return;
    }
    int64_t n = to == DT_BOOL ? v != 0 : clamp(v, to);
    tile_put_int(&o->dst, r, c, 1, &n);
}

static void cast_float(const OpArgs *o, int64_t r, int64_t c, double v)
{
    DType to = o->dst.dtype;
    if (dtype_is_float(to)) {
        if (to == o->src[0].dtype && o->s->round != IR_ROUND_NONE)
            v = to_integral(v, o->s->round);
        put_float(&o->dst, r, c, v, o->s->round);
        return;
    }
    int64_t n = to == DT_BOOL ? v != 0 : clamp(float_to_int(v, o->s->round), to);
    tile_put_int(&o->dst, r, c, 1, &n);
}

void run_op_cast(const OpArgs *o)
{
    bool ints = !dtype_is_float(o->src[0].dtype);
    for (int64_t r = 0; r < o->dst.rows; r++) {
        for (int64_t c = 0; c < o->dst.cols; c += CHUNK) {
            int64_t n = o->dst.cols - c < CHUNK ? o->dst.cols - c : CHUNK, v[CHUNK];
            double f[CHUNK];
            if (ints)
                tile_fetch_int(&o->src[0], r, c, n, v);
            else
                tile_fetch(&o->src[0], r, c, n, f);
            for (int64_t i = 0; i < n; i++) {
                if (ints)
                    cast_int(o, r, c + i, v[i]);
                else
                    cast_float(o, r, c + i, f[i]);
            }
        }
    }
}
