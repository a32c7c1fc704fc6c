/* Reductions, scans, sorting, compaction. Sums and products accumulate in double in the order of
 * the elements and are rounded once; wider integers wrap. In: resolved operands. Out: a scalar
 * or the destination. */
#include "ir/run_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum Fold { FOLD_SUM, FOLD_MAX, FOLD_MIN, FOLD_PROD, FOLD_LSE } Fold;

typedef struct Acc {
    double f;
    int64_t i;
} Acc;

static Fold fold_of(IrTileOp op)
{
    switch (op) {
    case IR_T_RSUM:
    case IR_T_ROWSUM:
    case IR_T_COLSUM:
    case IR_T_CUMSUM: return FOLD_SUM;
    case IR_T_RMAX:
    case IR_T_ROWMAX:
    case IR_T_COLMAX:
    case IR_T_CUMMAX: return FOLD_MAX;
    case IR_T_RMIN:
    case IR_T_ROWMIN:
    case IR_T_COLMIN:
    case IR_T_CUMMIN: return FOLD_MIN;
    case IR_T_LOGCUMSUMEXP: return FOLD_LSE;
    default: return FOLD_PROD;
    }
}

static int64_t int_lowest(DType d)
{
    return dtype_rows[d].kind == DTC_U ? 0 : -(INT64_C(1) << (dtype_bytes(d) * 8 - 2)) * 2;
}

static int64_t int_highest(DType d)
{
    size_t bits = dtype_bytes(d) * 8 - (dtype_rows[d].kind != DTC_U);
    return bits >= 63 ? INT64_MAX : (INT64_C(1) << bits) - 1;
}

static Acc acc_start(Fold fold, DType d)
{
    bool wide = tile_is_wide(d);
    switch (fold) {
    case FOLD_SUM: return (Acc){0, 0};
    case FOLD_PROD: return (Acc){1, 1};
    case FOLD_MAX: return (Acc){-INFINITY, wide ? int_lowest(d) : 0};
    case FOLD_MIN: return (Acc){INFINITY, wide ? int_highest(d) : 0};
    case FOLD_LSE: return (Acc){-INFINITY, 0};
    }
    return (Acc){0};
}

/* log(exp(a) + exp(b)); equal infinities stay what they are */
static double log_add_exp(double a, double b)
{
    if (a != a || b != b || (isinf(a) && a == b))
        return a + b;
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

static void add_float(Acc *a, Fold fold, double x)
{
    switch (fold) {
    case FOLD_SUM: a->f += x; return;
    case FOLD_PROD: a->f *= x; return;
    case FOLD_MAX: a->f = a->f != a->f || x != x ? NAN : x > a->f ? x : a->f; return;
    case FOLD_MIN: a->f = a->f != a->f || x != x ? NAN : x < a->f ? x : a->f; return;
    case FOLD_LSE: a->f = log_add_exp(a->f, x); return;
    }
}

static void add_int(Acc *a, Fold fold, int64_t x)
{
    switch (fold) {
    case FOLD_SUM: a->i = (int64_t)((uint64_t)a->i + (uint64_t)x); return;
    case FOLD_PROD: a->i = (int64_t)((uint64_t)a->i * (uint64_t)x); return;
    case FOLD_MAX: a->i = x > a->i ? x : a->i; return;
    case FOLD_MIN: a->i = x < a->i ? x : a->i; return;
    case FOLD_LSE: return; /* floats only (verify_op.c) */
    }
}

/* Part of a row, one after the other. */
static void fold_chunk(const Tile *t, int64_t row, int64_t from, int64_t n, Fold fold, Acc *acc)
{
    if (tile_is_wide(t->dtype)) {
        int64_t v[CHUNK];
        tile_fetch_int(t, row, from, n, v);
        for (int64_t i = 0; i < n; i++)
            add_int(acc, fold, v[i]);
    } else {
        double v[CHUNK];
        tile_fetch(t, row, from, n, v);
        for (int64_t i = 0; i < n; i++)
            add_float(acc, fold, v[i]);
    }
}

static void fold_row(const Tile *t, int64_t row, Fold fold, Acc *acc)
{
    for (int64_t c = 0; c < t->cols; c += CHUNK)
        fold_chunk(t, row, c, t->cols - c < CHUNK ? t->cols - c : CHUNK, fold, acc);
}

static void put_acc(const Tile *t, int64_t row, int64_t col, const Acc *acc)
{
    if (tile_is_wide(t->dtype))
        tile_put_int(t, row, col, 1, &acc->i);
    else
        tile_put(t, row, col, 1, &acc->f);
}

/* The accumulator as an element, then as a scalar. */
static Scalar acc_scalar(const Acc *acc, DType d)
{
    uint8_t element[8];
    Tile one = {.data = element, .dtype = d, .width = dtype_bytes(d)};
    put_acc(&one, 0, 0, acc);
    return run_get(d, element);
}

/* ---- whole tiles ---- */

static Scalar reduce_mask(const OpArgs *o)
{
    bool all = o->s->op == IR_T_RALL, r = all;
    for (int64_t i = 0; i < o->src[0].rows; i++)
        for (int64_t k = 0; k < o->src[0].cols; k++) {
            bool bit = o->src[0].data[i * o->src[0].pitch + k] != 0;
            r = all ? r && bit : r || bit;
        }
    return (Scalar){.i = r, .set = true, .data = true};
}

/* Is x further than the best so far? NaN is the furthest. */
static bool further(double x, double best, bool largest)
{
    if (best != best || x != x)
        return x != x && best == best;
    return largest ? x > best : x < best;
}

static Scalar position(const OpArgs *o)
{
    const Tile *a = &o->src[0];
    bool largest = o->s->op == IR_T_ARGMAX, wide = tile_is_wide(a->dtype);
    double best = 0;
    int64_t best_int = 0, at = 0;
    if (a->cols == 0)
        run_fault(&o->t->scope, IR_FAULT_INDEX, o->s->at, "%s: %s of nothing",
                  run_who(&o->t->scope), ir_tile_ops[o->s->op].name);
    for (int64_t i = 0; i < a->cols; i++) {
        double x = 0;
        int64_t n = 0;
        if (wide)
            tile_fetch_int(a, 0, i, 1, &n);
        else
            tile_fetch(a, 0, i, 1, &x);
        bool better = wide ? (largest ? n > best_int : n < best_int) : further(x, best, largest);
        if (i == 0 || better)
            best = x, best_int = n, at = i;
    }
    return (Scalar){.i = at, .set = true, .data = true};
}

void run_op_reduce(const OpArgs *o)
{
    const Tile *a = &o->src[0];
    Scalar value;
    switch (o->s->op) {
    case IR_T_RANY:
    case IR_T_RALL: value = reduce_mask(o); break;
    case IR_T_ARGMAX:
    case IR_T_ARGMIN: value = position(o); break;
    case IR_T_EXTRACT:
        value = run_get(a->dtype, a->data + o->scalar[0].i * (int64_t)a->width);
        break;
    default: {
        Fold fold = fold_of(o->s->op);
        Acc acc = acc_start(fold, a->dtype);
        for (int64_t r = 0; r < a->rows; r++)
            fold_row(a, r, fold, &acc);
        value = acc_scalar(&acc, a->dtype);
    }
    }
    run_assign(o->t, o->s->var, value);
}

/* ---- rows, columns, scans ---- */

static void fold_column(const OpArgs *o, Fold fold, int64_t c)
{
    Acc acc = acc_start(fold, o->dst.dtype);
    for (int64_t r = 0; r < o->src[0].rows; r++)
        fold_chunk(&o->src[0], r, c, 1, fold, &acc);
    put_acc(&o->dst, 0, c, &acc);
}

void run_op_rows(const OpArgs *o)
{
    Fold fold = fold_of(o->s->op);
    if (ir_tile_ops[o->s->op].kind == IR_CLASS_COLS) {
        for (int64_t c = 0; c < o->dst.cols; c++)
            fold_column(o, fold, c);
        return;
    }
    for (int64_t r = 0; r < o->src[0].rows; r++) {
        Acc acc = acc_start(fold, o->dst.dtype);
        fold_row(&o->src[0], r, fold, &acc);
        put_acc(&o->dst, 0, r, &acc);
    }
}

void run_op_scan(const OpArgs *o)
{
    Fold fold = fold_of(o->s->op);
    for (int64_t r = 0; r < o->dst.rows; r++) {
        Acc acc = acc_start(fold, o->dst.dtype);
        for (int64_t c = 0; c < o->dst.cols; c++) {
            fold_chunk(&o->src[0], r, c, 1, fold, &acc);
            put_acc(&o->dst, r, c, &acc);
        }
    }
}

/* ---- sorting ---- */

typedef struct Key {
    double f;
    int64_t i, at;
} Key;

/* Descending, NaN first, equal ones in order. */
static int compare_keys(const void *x, const void *y)
{
    const Key *a = x, *b = y;
    bool a_nan = a->f != a->f, b_nan = b->f != b->f;
    if (a_nan != b_nan)
        return a_nan ? -1 : 1;
    if (!a_nan && a->f != b->f)
        return a->f > b->f ? -1 : 1;
    if (a->i != b->i)
        return a->i > b->i ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static void sort_tile(const OpArgs *o)
{
    const Tile *a = &o->src[0];
    bool wide = tile_is_wide(a->dtype);
    Key *keys = heap_alloc((size_t)a->cols * sizeof(Key) + 1);
    for (int64_t i = 0; i < a->cols; i++) {
        keys[i].at = i;
        if (wide)
            tile_fetch_int(a, 0, i, 1, &keys[i].i);
        else
            tile_fetch(a, 0, i, 1, &keys[i].f);
    }
    if (a->cols)
        qsort(keys, (size_t)a->cols, sizeof *keys, compare_keys);
    for (int64_t i = 0; i < o->dst.cols; i++) {
        memcpy(o->dst.data + i * (int64_t)a->width, a->data + keys[i].at * (int64_t)a->width,
               a->width);
        tile_put_int(&o->dst2, 0, i, 1, &keys[i].at);
    }
    heap_free(keys);
}

static void compact(const OpArgs *o)
{
    const Tile *a = &o->src[0];
    int64_t n = 0;
    for (int64_t i = 0; i < a->cols; i++)
        if (o->src[1].data[i])
            memcpy(o->dst.data + n++ * (int64_t)a->width, a->data + i * (int64_t)a->width,
                   a->width);
    Tile part = o->dst;
    part.cols = n;
    run_wrote(&part);
    run_assign(o->t, o->s->var, (Scalar){.i = n, .set = true, .data = true});
}

void run_op_sort(const OpArgs *o)
{
    if (o->s->op == IR_T_COMPACT)
        compact(o);
    else
        sort_tile(o);
}
