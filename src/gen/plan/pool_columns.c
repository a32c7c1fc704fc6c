/* Columns of pooling windows: neighbouring windows by doubling, others by one gather for each column; see
 * pool.c. In: lines of folded rows in `acc`. Out: statements that fill `o`. */
#include "gen/plan/pool_int.h"

#include <stdio.h>

enum { MOST_STEPS = 128 };

/* How columns are folded: results of `acc` at a distance are added to those of `into`. */
typedef struct PoolStep {
    const char *into;
    int64_t distance;
} PoolStep;

/* Windows that overlap: of 1, 2, 4, ... columns, put together; a maximum may count twice. */
static uint32_t steps_of(const Pool *p, PoolStep *steps)
{
    int64_t k = p->kernel[p->rank - 1], d = p->dilation[p->rank - 1], size = 1, covered = 0;
    uint32_t n = 0;
    if (!pool_needs_total(p)) {
        for (; size * 2 <= k; size *= 2)
            steps[n++] = (PoolStep){"acc", size * d};
        if (size < k)
            steps[n++] = (PoolStep){"acc", (k - size) * d};
        return n;
    }
    for (; k; k >>= 1, size *= 2) {
        if (k & 1) {
            steps[n++] = (PoolStep){"total", covered * d};
            covered += size;
        }
        if (k > 1)
            steps[n++] = (PoolStep){"acc", size * d};
    }
    return n;
}

/* "far[:b.size * 576] = gather(acc[2:b.size * 576 + 2], at[:b.size * 576])": whole repeats, though
 * what comes from behind the last line is nobody's. */
static void put_shift(PoolText *k, const char *from, int64_t by)
{
    long long wide = k->t->wide, far = by;
    pool_put(k, "far[:b.size * %lld] = gather(%s[%lld:b.size * %lld + %lld], at[:b.size * %lld])",
             wide, from, far, wide, far, wide);
}

static void put_step(PoolText *k, const PoolStep *s, bool first)
{
    char a[64], b[64], text[160];
    const char *from = s->distance ? "far" : "acc";
    if (s->distance)
        put_shift(k, "acc", s->distance);
    snprintf(a, sizeof a, "%s[:b.size * %lld]", s->into, (long long)k->t->wide);
    snprintf(b, sizeof b, "%s[:b.size * %lld]", from, (long long)k->t->wide);
    pool_put(k, "%s = %s", a, first ? b : pool_folded(k->p, text, sizeof text, a, b));
}

/* "acc[q * 576 + 8:q * 576 + 568]": what row q of the result is made of */
static const char *row_of(const PoolText *k, char *text, size_t size, const char *from,
                          int64_t line, int64_t skip)
{
    snprintf(text, size, "%s[q * %lld + %lld:q * %lld + %lld]", from, (long long)line,
             (long long)skip, (long long)line, (long long)(skip + k->t->across));
    return text;
}

static void put_result(PoolText *k, const char *row)
{
    char mean[256], own[288];
    snprintf(mean, sizeof mean, "(%s) * (1.0 / %lld.0)", row, (long long)k->p->divisor);
    pool_put(k, "for q in range(b.size):");
    pool_put(k, "    o[q, :] = %s", pool_narrow(k->p, own, sizeof own, k->p->max ? row : mean));
}

/* The last step and the border that is dropped in one: only one of its operands is shifted. */
static void put_last_step(PoolText *k, int64_t distance)
{
    int64_t skip = pool_skip(k->p), wide = k->t->wide, other = skip + distance;
    bool aligned = skip % BLOCK == 0;
    char a[64], b[64], text[160];
    put_shift(k, "acc", aligned ? other : skip);
    row_of(k, a, sizeof a, "far", wide, 0);
    row_of(k, b, sizeof b, "acc", wide, aligned ? skip : other);
    put_result(k, pool_folded(k->p, text, sizeof text, a, b));
}

/* Which step may be the last in that way; `n`: none. Their order does not matter. */
static uint32_t last_step(const Pool *p, const PoolStep *steps, uint32_t n)
{
    int64_t skip = pool_skip(p);
    for (uint32_t i = 0; i < n && !pool_needs_total(p); i++)
        if (skip % BLOCK == 0 || (skip + steps[i].distance) % BLOCK == 0)
            return i;
    return n;
}

/* Neighbouring windows: by doubling; a gather drops the border. */
static void put_doubling(PoolText *k)
{
    PoolStep steps[MOST_STEPS];
    uint32_t n = steps_of(k->p, steps), last = last_step(k->p, steps, n);
    const char *whole = pool_needs_total(k->p) ? "total" : "acc";
    int64_t skip = pool_skip(k->p);
    bool started = false;
    char row[64];
    for (uint32_t i = 0; i < n; i++) {
        bool first = !started && steps[i].into[0] == 't';
        if (i != last)
            put_step(k, &steps[i], first);
        started = started || first;
    }
    if (last < n) {
        put_last_step(k, steps[last].distance);
        return;
    }
    if (skip % BLOCK) {
        put_shift(k, whole, skip);
        whole = "far";
        skip = 0;
    }
    put_result(k, row_of(k, row, sizeof row, whole, k->t->wide, skip));
}

/* Windows further apart: one gather per column, of as many elements as there are outputs. */
static void put_gathers(PoolText *k)
{
    const Pool *p = k->p;
    long long wide = k->t->wide, across = k->t->across;
    char a[64], b[64], text[160];
    snprintf(a, sizeof a, "total[:b.size * %lld]", across);
    snprintf(b, sizeof b, "far[:b.size * %lld]", across);
    for (int64_t i = 0; i < p->kernel[p->rank - 1]; i++) {
        pool_put(k, "%s = gather(acc[%lld:b.size * %lld], at[:b.size * %lld])", i ? b : a,
                 (long long)(pool_skip(p) + i * p->dilation[p->rank - 1]), wide, across);
        if (i)
            pool_put(k, "%s = %s", a, pool_folded(p, text, sizeof text, a, b));
    }
    put_result(k, row_of(k, text, sizeof text, "total", across, 0));
}

void pool_put_columns(PoolText *k)
{
    if (pool_is_near(k->p))
        put_doubling(k);
    else
        put_gathers(k);
}
