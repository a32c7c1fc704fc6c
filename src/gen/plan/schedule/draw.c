/* Random schedule texts. In: a nest and a seed. Out: a text of the grammar in text.c.
 *
 * It shares nothing with the search: roles, tiles and what is shared are drawn from the nest's axes alone, so
 * that what comes out may well be illegal. Who uses it parses the text and drops what is refused. */
#include "gen/plan/schedule/schedule.h"

#include "base/rng.h"

enum { DRAWN_FOLDS = 4 };

typedef struct Draw {
    const Nest *nest;
    uint64_t seed, stream, next;
    Buf *out;
} Draw;

static uint64_t bit(uint32_t axis) { return axis ? UINT64_C(1) << axis : 0; }

static int64_t draw_below(Draw *d, int64_t n)
{
    return rng_range(d->seed, d->stream, d->next++, 0, n);
}

static bool one_in(Draw *d, int64_t n) { return draw_below(d, n) == 0; }

/* One of the axes; 0: there are none. */
static uint32_t draw_axis(Draw *d, uint64_t axes)
{
    uint32_t found[NEST_MAX_AXES], n = 0;
    for (uint32_t a = 1; a < d->nest->axes.len; a++)
        if (axes & bit(a))
            found[n++] = a;
    return n ? found[draw_below(d, n)] : 0;
}

static void draw_tile(Draw *d, const char *role, uint32_t axis, bool reduced)
{
    static const int64_t round[] = {1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};
    int64_t size = d->nest->axes.at[axis].size, tile = 1 + draw_below(d, size);
    if (!one_in(d, 3))
        tile = round[draw_below(d, 13)];
    bool folded = d->nest->axes.at[axis].fold.n;
    if ((reduced || folded) && one_in(d, 2))
        buf_printf(d->out, "; %s a%u whole, at most %lld", role, axis, (long long)size);
    else
        buf_printf(d->out, "; %s a%u by %lld", role, axis,
                   (long long)(tile < size + 7 ? tile : size));
}

static void draw_band(Draw *d, const char *stores, const Band *band)
{
    uint64_t all = band->kept | band->reduced;
    uint32_t lanes = draw_axis(d, all), rows = one_in(d, 4) ? 0 : draw_axis(d, all & ~bit(lanes));
    uint64_t left = all & ~(bit(lanes) | bit(rows) | bit(band->split));
    uint64_t loops = left & (band->split ? all : band->reduced), cores = left & ~loops;
    buf_printf(d->out, "band%s: cores", stores);
    if (band->split)
        buf_printf(d->out, " share a%u", band->split);
    for (uint32_t a = 1; a < d->nest->axes.len; a++)
        if (cores & bit(a))
            buf_printf(d->out, " a%u", a);
    if (rows)
        draw_tile(d, "rows", rows, band->reduced & bit(rows));
    if (rows && band->kept & bit(rows) && !band->split && one_in(d, 2))
        buf_puts(d->out, " in chunks");
    if (lanes)
        draw_tile(d, "lanes", lanes, band->reduced & bit(lanes));
    buf_puts(d->out, loops ? "; loops" : "");
    for (uint32_t a = 1; a < d->nest->axes.len; a++)
        if (loops & bit(a))
            buf_printf(d->out, " a%u", a);
    buf_char(d->out, '\n');
}

/* Results of a phase in bands: each joins those before it where it can, or not. */
static void draw_phase(Draw *d, uint32_t phase)
{
    bool *done = arena_array(d->nest->arena, bool, d->nest->stores.len + 1);
    for (uint32_t i = 0; i < d->nest->stores.len; i++) {
        Band band = {0};
        Buf names = {0};
        for (uint32_t k = i; k < d->nest->stores.len && !done[i]; k++) {
            Band more = band;
            if (d->nest->stores.at[k].phase != phase || done[k] || (k > i && one_in(d, 8)))
                continue;
            more.stores.at = NULL;
            more.stores.len = more.stores.cap = 0;
            for (uint32_t m = 0; m < band.stores.len; m++)
                vec_push(d->nest->arena, &more.stores, band.stores.at[m]);
            vec_push(d->nest->arena, &more.stores, k);
            if (!schedule_own_axes(d->nest, &more).why)
                band = more;
        }
        for (uint32_t m = 0; m < band.stores.len; m++) {
            done[band.stores.at[m]] = true;
            buf_printf(&names, " %s", schedule_store_name(d->nest, band.stores.at[m]));
        }
        if (band.stores.len)
            draw_band(d, buf_take(&names, d->nest->arena), &band);
        buf_free(&names);
    }
}

void schedule_draw(const Nest *base, uint64_t seed, uint64_t number, Buf *out)
{
    Draw d = {base, seed, number, 0, out};
    Schedule schedule = {0};
    NestFold folds[DRAWN_FOLDS];
    uint32_t n_folds = nest_folds(base, folds, DRAWN_FOLDS);
    if (n_folds && !one_in(&d, 4)) {
        schedule.fold = folds[draw_below(&d, n_folds)];
        buf_printf(out, "fold a%u of", base->axes.len);
        for (uint32_t i = 0; i < schedule.fold.n; i++)
            buf_printf(out, " a%u", schedule.fold.axis[i]);
        buf_char(out, '\n');
    }
    const Nest *derived = base;
    base = d.nest = schedule_nest(base, &schedule);
    bool shares = one_in(&d, 2);
    for (NestId i = 1; i < base->values.len && shares; i++) {
        ScheduleShare share = {i, draw_axis(&d, base->values.at[i].over)};
        if (base->values.at[i].op != NEST_REDUCE || one_in(&d, 2) ||
            schedule_share_fault(base, &share).why || schedule.shares.len == SCHEDULE_SHARES)
            continue;
        buf_printf(out, "share v%u over a%u\n", i, share.axis);
        vec_push(base->arena, &schedule.shares, share);
    }
    buf_printf(out, "parts %lld\n", (long long)(INT64_C(1) << draw_below(&d, 4)));
    if (one_in(&d, 4))
        buf_printf(out, "worth %lld\n", (long long)(INT64_C(64) << draw_below(&d, 12)));
    if (one_in(&d, 4))
        buf_printf(out, "buffers %lld in %lld out\n", (long long)(1 + draw_below(&d, 2)),
                   (long long)(1 + draw_below(&d, 2)));
    if (one_in(&d, 4))
        buf_puts(out, "steps inside\n");
    buf_puts(out, "kernel\n");
    d.nest = schedule_nest(derived, &schedule);
    uint32_t last = 0;
    for (uint32_t i = 0; i < d.nest->stores.len; i++)
        last = d.nest->stores.at[i].phase > last ? d.nest->stores.at[i].phase : last;
    for (uint32_t phase = 0; phase <= last; phase++) {
        buf_puts(out, phase ? "all cores wait\n" : "");
        draw_phase(&d, phase);
    }
}
