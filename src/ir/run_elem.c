/* Elementwise operations, in chunks of a row: floats and bytes as double, wider integers as
 * int64. In: resolved operands. Out: the destination's elements. */
#include "ir/run_int.h"

#include <math.h>
#include <string.h>

bool tile_is_wide(DType d) { return dtype_is_int(d) && dtype_bytes(d) > 1; }

static uint8_t *element(const Tile *t, int64_t row, int64_t col)
{
    return t->data + row * t->pitch + col * (int64_t)t->width;
}

/* ---- chunks in and out ---- */

#define FETCH(type, value)                                             \
    for (int64_t i = 0; i < n; i++) {                                  \
        type x;                                                        \
        memcpy(&x, from_at + i * (int64_t)sizeof(type), sizeof(type)); \
        out[i] = (value);                                              \
    }                                                                  \
    return

void tile_fetch(const Tile *t, int64_t row, int64_t from, int64_t n, double *out)
{
    const uint8_t *from_at = element(t, row, from);
    switch (t->dtype) {
    case DT_F32: FETCH(float, x);
    case DT_F16: FETCH(uint16_t, half_to_float(x));
    case DT_BF16: FETCH(uint16_t, bf16_to_float(x));
    case DT_I8: FETCH(int8_t, x);
    case DT_U8: FETCH(uint8_t, x);
    case DT_BOOL: FETCH(uint8_t, x != 0);
    case DT_I16: FETCH(int16_t, x);
    case DT_U16: FETCH(uint16_t, x);
    case DT_I32: FETCH(int32_t, x);
    case DT_U32: FETCH(uint32_t, x);
    case DT_I64: FETCH(int64_t, (double)x);
    default: panic("no tiles of %s", dtype_name(t->dtype));
    }
}

void tile_fetch_int(const Tile *t, int64_t row, int64_t from, int64_t n, int64_t *out)
{
    const uint8_t *from_at = element(t, row, from);
    switch (t->dtype) {
    case DT_I8: FETCH(int8_t, x);
    case DT_U8: FETCH(uint8_t, x);
    case DT_BOOL: FETCH(uint8_t, x != 0);
    case DT_I16: FETCH(int16_t, x);
    case DT_U16: FETCH(uint16_t, x);
    case DT_I32: FETCH(int32_t, x);
    case DT_U32: FETCH(uint32_t, x);
    case DT_I64: FETCH(int64_t, x);
    default: panic("no integers in tiles of %s", dtype_name(t->dtype));
    }
}

/* A byte as the chip makes it: the result in f16, to nearest even, saturated. */
static double byte_of(double x, double lo, double hi)
{
    double h = half_to_float(half_from_double(x));
    double r = rint(h);
    return h != h ? 0 : r < lo ? lo : r > hi ? hi : r;
}

#define PUT(type, value)                                          \
    for (int64_t i = 0; i < n; i++) {                             \
        type x = (type)(value);                                   \
        memcpy(to + i * (int64_t)sizeof(type), &x, sizeof(type)); \
    }                                                             \
    return

void tile_put(const Tile *t, int64_t row, int64_t from, int64_t n, const double *in)
{
    uint8_t *to = element(t, row, from);
    switch (t->dtype) {
    case DT_F32: PUT(float, in[i]);
    case DT_F16: PUT(uint16_t, half_from_double(in[i]));
    case DT_BF16: PUT(uint16_t, bf16_from_double(in[i]));
    case DT_I8: PUT(int8_t, byte_of(in[i], -128, 127));
    case DT_U8: PUT(uint8_t, byte_of(in[i], 0, 255));
    case DT_BOOL: PUT(uint8_t, in[i] != 0);
    default: panic("%s is not computed in floats", dtype_name(t->dtype));
    }
}

void tile_put_int(const Tile *t, int64_t row, int64_t from, int64_t n, const int64_t *in)
{
    uint8_t *to = element(t, row, from);
    switch (t->dtype) {
    case DT_I8: PUT(int8_t, in[i]);
    case DT_U8: PUT(uint8_t, in[i]);
    case DT_BOOL: PUT(uint8_t, in[i] != 0);
    case DT_I16: PUT(int16_t, in[i]);
    case DT_U16: PUT(uint16_t, in[i]);
    case DT_I32: PUT(int32_t, in[i]);
    case DT_U32: PUT(uint32_t, in[i]);
    case DT_I64: PUT(int64_t, in[i]);
    default: panic("%s is not computed in integers", dtype_name(t->dtype));
    }
}

double scalar_for_tile(const Scalar *s, DType d)
{
    if (d == DT_F32 || d == DT_BF16)
        return s->f;
    double v = d == DT_F16 ? s->f : (double)s->i;
    return half_to_float(half_from_double(v));
}

/* ---- arithmetic on chunks ---- */

#define EACH(expr)                    \
    for (int64_t i = 0; i < n; i++) { \
        double x = a[i];              \
        d[i] = (expr);                \
    }                                 \
    return

static double nan_min(double a, double b) { return a != a || b != b ? NAN : a < b ? a : b; }
static double nan_max(double a, double b) { return a != a || b != b ? NAN : a > b ? a : b; }
static double softplus(double x) { return (x > 0 ? x : 0) + log1p(exp(-fabs(x))); }

static void unary(IrTileOp op, const double *a, double *d, int64_t n)
{
    switch (op) {
    case IR_T_COPY: EACH(x);
    case IR_T_NEG: EACH(-x);
    case IR_T_ABS: EACH(fabs(x));
    case IR_T_EXP: EACH(exp(x));
    case IR_T_LOG: EACH(log(x));
    case IR_T_LOG2: EACH(log2(x));
    case IR_T_LOG10: EACH(log10(x));
    case IR_T_SQRT: EACH(sqrt(x));
    case IR_T_RSQRT: EACH(1 / sqrt(x));
    case IR_T_RECIP: EACH(1 / x);
    case IR_T_RELU: EACH(x > 0 || x != x ? x : 0);
    case IR_T_SIGMOID: EACH(1 / (1 + exp(-x)));
    case IR_T_TANH: EACH(tanh(x));
    case IR_T_ERF: EACH(erf(x));
    case IR_T_SIN: EACH(sin(x));
    case IR_T_COS: EACH(cos(x));
    case IR_T_TAN: EACH(tan(x));
    case IR_T_ASIN: EACH(asin(x));
    case IR_T_ACOS: EACH(acos(x));
    case IR_T_ATAN: EACH(atan(x));
    case IR_T_SINH: EACH(sinh(x));
    case IR_T_COSH: EACH(cosh(x));
    case IR_T_FLOOR: EACH(floor(x));
    case IR_T_CEIL: EACH(ceil(x));
    case IR_T_ROUND: EACH(rint(x));
    case IR_T_TRUNC: EACH(trunc(x));
    case IR_T_SIGN: EACH(x > 0 ? 1 : x < 0 ? -1 : x);
    case IR_T_SOFTPLUS: EACH(softplus(x));
    case IR_T_SILU: EACH(x / (1 + exp(-x)));
    case IR_T_GELU: EACH(0.5 * x * erfc(-x * 0.70710678118654752440));
    case IR_T_MISH: EACH(x * tanh(softplus(x)));
    default: panic("no unary operation: %s", ir_tile_ops[op].name);
    }
}

static void binary(IrTileOp op, const double *a, const double *b, double *d, int64_t n)
{
    switch (op) {
    case IR_T_ADD:
    case IR_T_ADDS: EACH(x + b[i]);
    case IR_T_SUB:
    case IR_T_SUBS: EACH(x - b[i]);
    case IR_T_RSUBS: EACH(b[i] - x);
    case IR_T_MUL:
    case IR_T_MULS: EACH(x * b[i]);
    case IR_T_DIV:
    case IR_T_DIVS: EACH(x / b[i]);
    case IR_T_RDIVS: EACH(b[i] / x);
    case IR_T_MIN:
    case IR_T_MINS: EACH(nan_min(x, b[i]));
    case IR_T_MAX:
    case IR_T_MAXS: EACH(nan_max(x, b[i]));
    case IR_T_POW:
    case IR_T_POWS: EACH(pow(x, b[i]));
    default: panic("no binary operation: %s", ir_tile_ops[op].name);
    }
}

/* x * y + z with one rounding to f32; the narrower types are exact enough in double. */
static void fused(DType dtype, const double *a, const double *b, const double *c, double *d,
                  int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        d[i] = dtype == DT_F32 ? (double)fmaf((float)a[i], (float)b[i], (float)c[i])
                               : a[i] * b[i] + c[i];
}

static void elem_floats(const OpArgs *o, int64_t row, int64_t from, int64_t n)
{
    double v[3][CHUNK], d[CHUNK];
    IrTileOp op = o->s->op;
    for (uint32_t k = 0; k < o->s->src_count; k++)
        tile_fetch(&o->src[k], row, from, n, v[k]);
    if (o->s->scalar_count) {
        double s = op == IR_T_POWS ? (double)o->scalar[0].f
                                   : scalar_for_tile(&o->scalar[0], o->dst.dtype);
        for (int64_t i = 0; i < n; i++)
            v[o->s->src_count][i] = s;
    }
    if (op == IR_T_FMA)
        fused(o->dst.dtype, v[0], v[1], v[2], d, n);
    else if (op == IR_T_AXPY)
        fused(o->dst.dtype, v[1], v[2], v[0], d, n);
    else if (o->s->src_count + o->s->scalar_count == 2)
        binary(op, v[0], v[1], d, n);
    else
        unary(op, v[0], d, n);
    tile_put(&o->dst, row, from, n, d);
}

static int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static int64_t wrap_neg(int64_t a) { return (int64_t)(0 - (uint64_t)a); }

#undef EACH
#define EACH(expr)                                     \
    for (int64_t i = 0; i < n; i++) {                  \
        int64_t x = v[0][i], y = v[1][i], z = v[2][i]; \
        (void)y, (void)z;                              \
        d[i] = (expr);                                 \
    }                                                  \
    return

static void int_arithmetic(IrTileOp op, int64_t v[3][CHUNK], int64_t *d, int64_t n)
{
    switch (op) {
    case IR_T_COPY: EACH(x);
    case IR_T_ADD:
    case IR_T_ADDS: EACH(wrap_add(x, y));
    case IR_T_SUB:
    case IR_T_SUBS: EACH(wrap_add(x, wrap_neg(y)));
    case IR_T_RSUBS: EACH(wrap_add(y, wrap_neg(x)));
    case IR_T_MUL:
    case IR_T_MULS: EACH(wrap_mul(x, y));
    case IR_T_MIN:
    case IR_T_MINS: EACH(x < y ? x : y);
    case IR_T_MAX:
    case IR_T_MAXS: EACH(x > y ? x : y);
    case IR_T_NEG: EACH(wrap_neg(x));
    case IR_T_ABS: EACH(x < 0 ? wrap_neg(x) : x);
    case IR_T_SIGN: EACH((x > 0) - (x < 0));
    case IR_T_RELU: EACH(x > 0 ? x : 0);
    case IR_T_FMA: EACH(wrap_add(wrap_mul(x, y), z));
    case IR_T_AXPY: EACH(wrap_add(x, wrap_mul(y, z)));
    case IR_T_AND: EACH(x & y);
    case IR_T_OR: EACH(x | y);
    case IR_T_XOR: EACH(x ^ y);
    case IR_T_NOT: EACH(~x);
    case IR_T_SHL: EACH((int64_t)((uint64_t)x << y));
    case IR_T_SHR: EACH(x >> y);
    default: panic("no integer operation: %s", ir_tile_ops[op].name);
    }
}

static void elem_ints(const OpArgs *o, int64_t row, int64_t from, int64_t n)
{
    int64_t v[3][CHUNK], d[CHUNK];
    memset(v, 0, sizeof v);
    for (uint32_t k = 0; k < o->s->src_count; k++)
        tile_fetch_int(&o->src[k], row, from, n, v[k]);
    for (int64_t i = 0; i < n && o->s->scalar_count; i++)
        v[o->s->src_count][i] = o->scalar[0].i;
    if (o->dst.mask && o->s->op == IR_T_NOT)
        for (int64_t i = 0; i < n; i++)
            d[i] = !v[0][i];
    else
        int_arithmetic(o->s->op, v, d, n);
    tile_put_int(&o->dst, row, from, n, d);
}

typedef void ChunkFunction(const OpArgs *o, int64_t row, int64_t from, int64_t n);

static void each_chunk(const OpArgs *o, ChunkFunction *f)
{
    for (int64_t r = 0; r < o->dst.rows; r++)
        for (int64_t i = 0; i < o->dst.cols; i += CHUNK)
            f(o, r, i, o->dst.cols - i < CHUNK ? o->dst.cols - i : CHUNK);
}

void run_op_elem(const OpArgs *o)
{
    if (o->s->op == IR_T_COPY) {
        for (int64_t r = 0; r < o->dst.rows; r++)
            memmove(element(&o->dst, r, 0), element(&o->src[0], r, 0),
                    (size_t)o->dst.cols * o->dst.width);
        return;
    }
    each_chunk(o, tile_is_wide(o->dst.dtype) ? elem_ints : elem_floats);
}

void run_op_bits(const OpArgs *o)
{
    bool shift = o->s->op == IR_T_SHL || o->s->op == IR_T_SHR;
    int64_t by = o->scalar[0].i, bits = (int64_t)o->dst.width * 8;
    if (shift && (by < 0 || by >= bits)) {
        run_fault(&o->t->scope, IR_FAULT_INDEX, o->s->at, "%s shifts %lld-bit elements by %lld",
                  run_who(&o->t->scope), (long long)bits, (long long)by);
        return;
    }
    each_chunk(o, elem_ints);
}

/* ---- comparison ---- */

/* eq ne lt le gt ge, as their scalar forms */
static int compare_kind(IrTileOp op)
{
    return op >= IR_T_EQS ? (int)(op - IR_T_EQS) : (int)(op - IR_T_EQ);
}

#define COMPARE(a, b)                                      \
    for (int64_t i = 0; i < n; i++) {                      \
        bool lt = (a)[i] < (b)[i], eq = (a)[i] == (b)[i];  \
        bool gt = (a)[i] > (b)[i];                         \
        bool r[6] = {eq, !eq, lt, lt || eq, gt, gt || eq}; \
        d[i] = r[kind];                                    \
    }

static void compare_chunk(const OpArgs *o, int64_t row, int64_t from, int64_t n)
{
    int kind = compare_kind(o->s->op);
    uint8_t *d = element(&o->dst, row, from);
    if (tile_is_wide(o->src[0].dtype)) {
        int64_t a[CHUNK], b[CHUNK];
        tile_fetch_int(&o->src[0], row, from, n, a);
        if (o->s->src_count == 2)
            tile_fetch_int(&o->src[1], row, from, n, b);
        for (int64_t i = 0; i < n && o->s->scalar_count; i++)
            b[i] = o->scalar[0].i;
        COMPARE(a, b);
    } else {
        double a[CHUNK], b[CHUNK], s = 0;
        tile_fetch(&o->src[0], row, from, n, a);
        if (o->s->src_count == 2)
            tile_fetch(&o->src[1], row, from, n, b);
        else
            s = scalar_for_tile(&o->scalar[0], o->src[0].dtype);
        for (int64_t i = 0; i < n && o->s->scalar_count; i++)
            b[i] = s;
        COMPARE(a, b);
    }
}

void run_op_compare(const OpArgs *o) { each_chunk(o, compare_chunk); }

/* ---- selection and filling ---- */

/* A scalar operand as an element of the destination. */
static void scalar_element(const OpArgs *o, uint32_t i, uint8_t out[8])
{
    DType d = o->dst.dtype;
    if (tile_is_wide(d)) {
        Tile one = {.data = out, .dtype = d, .width = o->dst.width};
        tile_put_int(&one, 0, 0, 1, &o->scalar[i].i);
        return;
    }
    Tile one = {.data = out, .dtype = d, .width = o->dst.width};
    double v = scalar_for_tile(&o->scalar[i], d);
    tile_put(&one, 0, 0, 1, &v);
}

void run_op_select(const OpArgs *o)
{
    uint8_t s[2][8] = {0};
    uint32_t tiles = o->s->src_count - 1;
    size_t w = o->dst.width;
    for (uint32_t i = 0; i < o->s->scalar_count; i++)
        scalar_element(o, i, s[i]);
    for (int64_t r = 0; r < o->dst.rows; r++) {
        for (int64_t c = 0; c < o->dst.cols; c++) {
            uint32_t pick = *element(&o->src[0], r, c) ? 0 : 1;
            const uint8_t *from = pick < tiles ? element(&o->src[1 + pick], r, c) : s[pick - tiles];
            memcpy(element(&o->dst, r, c), from, w);
        }
    }
}

static void iota(const OpArgs *o)
{
    for (int64_t r = 0; r < o->dst.rows; r++) {
        for (int64_t c = 0; c < o->dst.cols; c++) {
            int64_t at = r * o->dst.cols + c;
            if (tile_is_wide(o->dst.dtype)) {
                int64_t v = wrap_add(o->scalar[0].i, wrap_mul(o->scalar[1].i, at));
                tile_put_int(&o->dst, r, c, 1, &v);
            } else if (dtype_is_float(o->dst.dtype)) {
                double v = (double)o->scalar[0].f + (double)o->scalar[1].f * (double)at;
                tile_put(&o->dst, r, c, 1, &v);
            } else {
                double v = (double)wrap_add(o->scalar[0].i, wrap_mul(o->scalar[1].i, at));
                tile_put(&o->dst, r, c, 1, &v);
            }
        }
    }
}

void run_op_fill(const OpArgs *o)
{
    uint8_t s[8] = {0};
    if (o->s->op == IR_T_IOTA) {
        iota(o);
        return;
    }
    bool insert = o->s->op == IR_T_INSERT;
    scalar_element(o, insert, s);
    if (o->dst.mask)
        s[0] = o->scalar[insert].i != 0;
    if (insert) {
        memcpy(element(&o->dst, 0, o->scalar[0].i), s, o->dst.width);
        return;
    }
    for (int64_t r = 0; r < o->dst.rows; r++)
        for (int64_t c = 0; c < o->dst.cols; c++)
            memcpy(element(&o->dst, r, c), s, o->dst.width);
}
