/* Running sums, products and extremes along an axis of the tile. In: a value. Out: lines of Craft.
 *
 * Along lanes Craft's own scans do it. Along rows all rows are combined at once with those d before them,
 * for d = 1, 2, 4, ...: as many steps as the number of rows has digits, each over the whole tile. An axis that
 * is walked in tiles hands the result so far on to the next one. */
#include "gen/plan/build/build_int.h"

static const char *scan_call(PrimReduce reduce)
{
    switch (reduce) {
    case PRIM_SUM: return "cumsum";
    case PRIM_PROD: return "cumprod";
    case PRIM_MAX: return "cummax";
    case PRIM_MIN: return "cummin";
    case PRIM_LOGSUMEXP: return "logcumsumexp";
    default: return NULL;
    }
}

static const char *rows_from(Build *b, const char *buffer, int64_t from, int64_t to)
{
    return str_format(b->arena, "%s[%lld : %lld, :%s]", buffer, (long long)from, (long long)to,
                      build_lanes(b));
}

/* One step over `n` rows: those that have one d before them (behind them, where it goes back) are combined
 * with it, the others stay. */
static void put_step(Build *b, const NestValue *v, const char *to, const char *from, int64_t d,
                     int64_t n)
{
    const char *late = rows_from(b, from, d, n), *early = rows_from(b, from, 0, n - d);
    int64_t first = v->reverse ? 0 : d, left = v->reverse ? n - d : 0;
    build_line(b, "%s = %s", rows_from(b, to, left, left + d), rows_from(b, from, left, left + d));
    build_line(b, "%s = %s", rows_from(b, to, first, first + n - d),
               build_combine(b, v->reduce, late, early));
}

/* Into buffers of its own, step by step; the last of them. Rows that a short tile lacks are neutral. */
static const char *scan_rows(Build *b, NestId id, const char *x)
{
    const NestValue *v = &b->nest->values.at[id];
    uint32_t axis = b->band->rows.axis;
    bool fixed = b->band->rows.whole && !b->layout->free[axis];
    int64_t n = fixed ? b->nest->axes.at[axis].size : b->band->rows.tile;
    const char *from = build_buffer(b, 'v', BUILD_TILE, DT_F32, 1, id);
    const char *to = build_buffer(b, 's', BUILD_TILE, DT_F32, 1, id);
    if (!fixed)
        build_line(b, "%s = %s", rows_from(b, from, 0, n), build_start(v->reduce));
    build_line(b, "%s = %s", rows_from(b, to, 0, n), build_start(v->reduce));
    build_line(b, "%s = %s", build_view(b, BUILD_TILE, from), x);
    for (int64_t d = 1; d < n; d *= 2) {
        const char *other = from;
        put_step(b, v, to, from, d, n);
        from = to;
        to = other;
    }
    return from;
}

static bool along_rows(const Build *b, const NestValue *v)
{
    return b->band->rows.axis && v->over == UINT64_C(1) << b->band->rows.axis;
}

void build_open_scan(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    BuildKind kind = build_kind(b, v->axes & ~v->over);
    if (kind == BUILD_SCALAR) {
        b->carry[id] = build_scalar(b);
        build_line(b, "%s = %s", b->carry[id], build_start(v->reduce));
        return;
    }
    b->carry[id] = build_view(b, kind, build_buffer(b, 'g', kind, DT_F32, 1, id));
    build_line(b, "with compute():");
    build_line(b, "    %s = %s", b->carry[id], build_start(v->reduce));
}

/* Combines every element with the result of earlier tiles, and hands on the result of this one: its last row, or
 * what all its lanes give. */
static void carry_on(Build *b, NestId id, BuildKind kind, const char *x, const char *scanned)
{
    const NestValue *v = &b->nest->values.at[id];
    bool rows = along_rows(b, v), tile = kind == BUILD_TILE;
    const char *spread = tile ? str_format(b->arena, "%s(%s)", rows ? "row" : "col", b->carry[id])
                              : b->carry[id];
    build_line(b, "%s = %s", b->name[id], build_combine(b, v->reduce, b->name[id], spread));
    if (scanned)
        build_line(b, "%s = %s[%s - 1, :%s]", b->carry[id], scanned, build_rows(b), build_lanes(b));
    else
        build_line(
            b, "%s = %s", b->carry[id],
            build_combine(b, v->reduce, b->carry[id], build_fold(b, v->reduce, !tile, true, x)));
}

const char *build_scanned(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    BuildKind kind = build_kind(b, v->axes);
    const char *call = scan_call(v->reduce);
    bool by_steps = kind == BUILD_TILE && along_rows(b, v);
    if (kind == BUILD_SCALAR || !call || (v->reverse && (!by_steps || b->carry[id])) ||
        (v->reduce == PRIM_LOGSUMEXP && (by_steps || b->carry[id])))
        b->failed = "a scan of single values, or from the end";
    if (b->failed)
        return "";
    const char *scanned = NULL;
    const char *x = b->carry[id] && !by_steps ? build_named(b, v->arg[0])
                                              : build_expr(b, v->arg[0]);
    if (by_steps) {
        scanned = scan_rows(b, id, x);
        b->name[id] = build_view(b, BUILD_TILE, scanned);
    } else {
        const char *name = build_view(b, kind, build_result(b, 'v', kind, DT_F32, id));
        build_line(b, "%s = %s(%s)", name, call, x);
        b->name[id] = name;
    }
    if (b->carry[id])
        carry_on(b, id, kind, x, scanned);
    build_release(b, id);
    return b->name[id];
}
