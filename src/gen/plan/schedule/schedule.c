/* Bands of a nest and the roles of their axes. In: a nest. Out: a schedule. The cost is that of the busiest
 * pipe of a core; it ranks candidates and says nothing of microseconds. */
#include "gen/plan/schedule/schedule.h"

#include <math.h>

enum {
    UB_SPARE = 6 * 1024,
    BURST = 16,          /* cycles that the shortest burst of a copy takes */
    STARTS = 30,         /* cycles before the first element of an instruction */
    LINE = 64,           /* elements of f32 that the vector unit takes at once */
    MOST_ROWS = 512,     /* of a tile */
    MUCH_WORK = 1 << 16, /* elements */
    MOST_STEP = 4,       /* every 4th element of what is copied is used */
    MOST_SHIFT = 8       /* rows between loads that share a copy */
};
#define COPY_RATE 32.0 /* bytes a cycle of a core's port */

static uint64_t bit(uint32_t axis) { return UINT64_C(1) << axis; }

static uint64_t index_axes(const Affine *index)
{
    uint64_t axes = 0;
    for (uint32_t i = 0; i < index->n; i++)
        axes |= bit(index->term[i].axis);
    return axes;
}

/* ---- bands ---- */

static uint64_t reduced_axes(const Nest *nest)
{
    uint64_t axes = 0;
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (nest->values.at[i].op == NEST_REDUCE && nest->values.at[i].uses)
            axes |= nest->values.at[i].over;
    return axes;
}

bool *schedule_values(const Nest *nest, const Band *band)
{
    bool *wanted = arena_array(nest->arena, bool, nest->values.len);
    for (uint32_t i = 0; i < band->stores.len; i++)
        wanted[nest->stores.at[band->stores.at[i]].value] = true;
    for (uint32_t i = nest->values.len; i-- > 1;)
        for (uint32_t k = 0; k < nest->values.at[i].n_arg && wanted[i]; k++)
            wanted[nest->values.at[i].arg[k]] = true;
    return wanted;
}

static bool refuse_schedule(Diag *diag, const char *why)
{
    diag_error(diag, "G002", (Span){0}, "the planner cannot plan this task in one kernel: %s", why);
    return false;
}

/* What the band's values reduce, and that each varies along no other axis than the band has. */
static bool check_band(Nest *nest, Band *band, Diag *diag)
{
    bool *wanted = schedule_values(nest, band);
    band->reduced = 0;
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (wanted[i] && nest->values.at[i].op == NEST_REDUCE)
            band->reduced |= nest->values.at[i].over;
    if (band->reduced & band->kept)
        return refuse_schedule(diag, "a result is reduced over what another is dealt out by");
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (wanted[i] && nest->values.at[i].axes & ~(band->kept | band->reduced))
            return refuse_schedule(diag, "results vary along different dimensions");
    return true;
}

bool schedule_bands(Nest *nest, Schedule *schedule, Diag *diag)
{
    uint64_t reduced = reduced_axes(nest);
    *schedule = (Schedule){0};
    for (uint32_t i = 0; i < nest->stores.len; i++) {
        uint64_t kept = index_axes(&nest->stores.at[i].index) & ~reduced;
        uint32_t b = 0;
        while (b < schedule->bands.len && schedule->bands.at[b].kept != kept)
            b++;
        if (b == SCHEDULE_BANDS)
            return refuse_schedule(diag, "its results have too many parts");
        if (b == schedule->bands.len)
            vec_push(nest->arena, &schedule->bands, (Band){.kept = kept});
        vec_push(nest->arena, &schedule->bands.at[b].stores, i);
    }
    for (uint32_t b = 0; b < schedule->bands.len; b++)
        if (!check_band(nest, &schedule->bands.at[b], diag))
            return false;
    return true;
}

/* ---- legal roles ---- */

/* A copy between memory and a tile: lanes next to each other or in small steps, rows at any distance. Rows
 * that are read backwards are turned on chip. */
static const char *access_fails(const Band *band, const Affine *index, bool store)
{
    int64_t lanes = affine_by(index, band->lanes.axis);
    int64_t rows = band->rows.axis ? affine_by(index, band->rows.axis) : 0;
    if (lanes < 0 || lanes > MOST_STEP)
        return "lanes are not next to each other in memory";
    if (rows < 0 && (store || lanes != 1))
        return "rows are walked backwards";
    if (rows && !lanes && rows != 1)
        return "one value a row, and rows are not next to each other in memory";
    return NULL;
}

/* Results of which single elements are written: all of them together make whole copies. */
static bool is_interleaved(const Nest *nest, const Band *band, const NestStore *store)
{
    int64_t step = affine_by(&store->index, band->lanes.axis), found = 0;
    for (uint32_t i = 0; i < band->stores.len; i++) {
        const NestStore *s = &nest->stores.at[band->stores.at[i]];
        Affine apart = s->index;
        if (s->tensor == store->tensor && affine_add(&apart, &store->index, -1) && !apart.n &&
            s->index.at / step == store->index.at / step)
            found++;
    }
    return found == step;
}

static const char *roles_fail(const Nest *nest, const Band *band, const bool *wanted)
{
    const char *why = NULL;
    uint64_t tiled = bit(band->lanes.axis) | (band->rows.axis ? bit(band->rows.axis) : 0);
    uint32_t cores = 0;
    for (uint32_t a = 1; a < nest->axes.len; a++)
        cores += (band->kept & bit(a)) != 0;
    if (!cores || cores > 6)
        return cores ? "more than six axes are dealt out" : "all of it is reduced to one value";
    for (uint32_t i = 1; i < nest->values.len && !why; i++) {
        const NestValue *v = &nest->values.at[i];
        if (wanted[i] && v->op == NEST_LOAD)
            why = access_fails(band, &v->index, false);
        if (wanted[i] && v->op == NEST_REDUCE && !band->rows.axis && (v->over & tiled))
            why = "a tile of one row is reduced";
    }
    for (uint32_t i = 0; i < band->stores.len && !why; i++) {
        const Affine *index = &nest->stores.at[band->stores.at[i]].index;
        why = access_fails(band, index, true);
        if (!why && affine_by(index, band->lanes.axis) > 1 &&
            !is_interleaved(nest, band, &nest->stores.at[band->stores.at[i]]))
            why = "single elements of a result are written";
        if (!why && !(index_axes(index) & tiled) && (band->kept & tiled))
            why = "a result would be stored one element at a time";
    }
    return why;
}

bool band_is_tiled(const Band *band, uint32_t axis)
{
    return axis && (band->rows.axis == axis || band->lanes.axis == axis);
}

/* ---- tiles ---- */

bool schedule_shifted(const Nest *nest, const Band *band, NestId a, NestId b, int64_t *rows)
{
    const NestValue *x = &nest->values.at[a], *y = &nest->values.at[b];
    Affine apart = y->index;
    int64_t by = band->rows.axis ? affine_by(&x->index, band->rows.axis) : 0;
    if (x->op != NEST_LOAD || y->op != NEST_LOAD || x->tensor != y->tensor || by <= 0 ||
        affine_by(&x->index, band->lanes.axis) != 1 || !affine_add(&apart, &x->index, -1) ||
        apart.n || apart.at % by)
        return false;
    *rows = apart.at / by;
    return *rows <= MOST_SHIFT && *rows >= -MOST_SHIFT;
}

/* An earlier load brings it along. */
static bool is_brought(const Nest *nest, const Band *band, const bool *wanted, NestId id)
{
    int64_t rows;
    for (NestId i = 1; i < id; i++)
        if (wanted[i] && schedule_shifted(nest, band, i, id, &rows))
            return true;
    return false;
}

/* Bytes on chip for each element of a tile: copies twice, what is computed from several places once. */
static double element_bytes(const Nest *nest, const Band *band, const bool *wanted)
{
    uint64_t tile = bit(band->lanes.axis) | (band->rows.axis ? bit(band->rows.axis) : 0);
    double bytes = 12; /* scratch of nested expressions */
    uint32_t held = 0;
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (!wanted[i] || (v->axes & tile) != tile || is_brought(nest, band, wanted, i))
            continue;
        double width = (double)dtype_bytes(nest->tensors.at[v->tensor].dtype);
        int64_t step = affine_by(&v->index, band->lanes.axis);
        if (v->op == NEST_LOAD)
            bytes += 2 * width * (double)(step > 1 ? step : 1) +
                     (nest->tensors.at[v->tensor].dtype == DT_F32 && step <= 1 ? 0 : 4);
        bytes += v->op == NEST_LOAD && step > 1 ? 8 : 0;
        held += v->op == NEST_MAP && !v->mask && v->uses > 1;
    }
    for (uint32_t i = 0; i < band->stores.len; i++) {
        const NestStore *s = &nest->stores.at[band->stores.at[i]];
        DType d = nest->tensors.at[s->tensor].dtype;
        if ((index_axes(&s->index) & tile) == tile)
            bytes += 2 * (double)dtype_bytes(d) + (d == DT_F32 ? 0 : 4) +
                     (affine_by(&s->index, band->lanes.axis) > 1 ? 16 : 0);
    }
    return bytes + 4.0 * (held > 6 ? 6 : held);
}

static int64_t at_least_one(int64_t x) { return x > 1 ? x : 1; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Tiles as large as fit. A reduced axis is whole where it fits. */
static void choose_tiles(const Nest *nest, const NpuChip *chip, Band *band, const bool *wanted)
{
    int64_t room = (int64_t)(((double)chip->ub - UB_SPARE) / element_bytes(nest, band, wanted));
    int64_t lanes = nest->axes.at[band->lanes.axis].size;
    int64_t rows = band->rows.axis ? nest->axes.at[band->rows.axis].size : 1;
    bool lanes_reduced = band->reduced & bit(band->lanes.axis);
    bool rows_reduced = band->rows.axis && band->reduced & bit(band->rows.axis);
    int64_t most = rows_reduced ? at_least_one(room / smaller(rows, 16)) : room;
    band->lanes.tile = smaller((lanes + 7) / 8 * 8, most >= 64 ? most / 64 * 64 : most);
    band->lanes.whole = lanes_reduced && band->lanes.tile >= lanes;
    band->rows.tile = smaller(smaller(at_least_one(room / band->lanes.tile), MOST_ROWS), rows);
    band->rows.whole = rows_reduced && band->rows.tile >= rows;
}

/* ---- cost ---- */

typedef struct Cycles {
    double in, out, vector;
} Cycles;

static double product(const Nest *nest, uint64_t axes)
{
    double n = 1;
    for (uint32_t a = 1; a < nest->axes.len; a++)
        n *= axes & bit(a) ? (double)nest->axes.at[a].size : 1;
    return n;
}

/* Cycles of copying what the access reaches in all turns of the band's loops. */
static double copy_cycles(const Nest *nest, const Band *band, const Affine *index, double width)
{
    uint64_t all = band->kept | band->reduced, axes = index_axes(index);
    uint64_t tile = bit(band->lanes.axis) | (band->rows.axis ? bit(band->rows.axis) : 0);
    double elements = product(nest, (all & ~tile) | (axes & tile));
    double run = axes & bit(band->lanes.axis)
                     ? (double)smaller(band->lanes.tile, nest->axes.at[band->lanes.axis].size)
                     : 1;
    if (!(axes & tile))
        return elements * STARTS;
    if (run == 1 && band->rows.axis && affine_by(index, band->rows.axis) == 1)
        run = (double)smaller(band->rows.tile, nest->axes.at[band->rows.axis].size);
    return elements / run * fmax(BURST, run * width / COPY_RATE);
}

static double map_cycles(const Nest *nest, const Band *band, const NestValue *v)
{
    uint64_t all = band->kept | band->reduced;
    uint64_t tile = bit(band->lanes.axis) | (band->rows.axis ? bit(band->rows.axis) : 0);
    double elements = product(nest, (all & ~tile) | (v->axes & tile));
    double lanes = (double)smaller(band->lanes.tile, nest->axes.at[band->lanes.axis].size);
    double rows = band->rows.axis ? (double)band->rows.tile : 1;
    double turns = elements / (lanes * rows), lines = ceil(lanes / LINE) * rows;
    return (v->axes & tile) == tile ? turns * (STARTS + lines) : elements / LINE + turns * STARTS;
}

static uint32_t level_of(const Nest *nest, NestId id)
{
    const NestValue *v = &nest->values.at[id];
    uint32_t level = 0;
    for (uint32_t i = 0; i < v->n_arg; i++) {
        uint32_t of = level_of(nest, v->arg[i]);
        level = of > level ? of : level;
    }
    return level + (v->op == NEST_REDUCE);
}

static uint32_t passes_of(const Nest *nest, const Band *band)
{
    uint64_t walked = band->reduced;
    uint32_t passes = 1;
    walked &= ~(band->lanes.whole ? bit(band->lanes.axis) : 0);
    walked &= ~(band->rows.whole ? bit(band->rows.axis) : 0);
    for (uint32_t i = 0; i < band->stores.len && walked; i++) {
        uint32_t level = level_of(nest, nest->stores.at[band->stores.at[i]].value) + 1;
        passes = level > passes ? level : passes;
    }
    return passes;
}

static double band_cost(const Nest *nest, const NpuChip *chip, const Band *band, const bool *wanted)
{
    Cycles c = {0};
    uint64_t dealt = band->kept & ~bit(band->lanes.axis);
    double items = product(nest, dealt & ~(band->rows.axis ? bit(band->rows.axis) : 0));
    double passes = passes_of(nest, band);
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (!wanted[i])
            continue;
        if (v->op == NEST_LOAD && !is_brought(nest, band, wanted, i))
            c.in += passes * copy_cycles(nest, band, &v->index,
                                         (double)dtype_bytes(nest->tensors.at[v->tensor].dtype));
        if (v->op == NEST_MAP || v->op == NEST_REDUCE)
            c.vector += map_cycles(nest, band, v) * (v->op == NEST_REDUCE ? 2 : 1);
    }
    for (uint32_t i = 0; i < band->stores.len; i++) {
        const NestStore *s = &nest->stores.at[band->stores.at[i]];
        c.out += copy_cycles(nest, band, &s->index,
                             (double)dtype_bytes(nest->tensors.at[s->tensor].dtype));
    }
    if (band->rows.axis && band->kept & bit(band->rows.axis))
        items *= (double)nest->axes.at[band->rows.axis].size;
    if (band->kept & bit(band->lanes.axis))
        items *= ceil((double)nest->axes.at[band->lanes.axis].size / (double)band->lanes.tile);
    double cores = fmin(items, chip->aiv);
    return (fmax(c.in, fmax(c.out, c.vector)) + 0.2 * (c.in + c.out + c.vector)) / cores;
}

/* Some load is the same for all rows, and rows are dealt out. */
static bool shares_rows(const Nest *nest, const Band *band, const bool *wanted)
{
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (wanted[i] && nest->values.at[i].op == NEST_LOAD &&
            !(nest->values.at[i].axes & bit(band->rows.axis)))
            return band->rows.axis && band->kept & bit(band->rows.axis);
    return false;
}

/* Much work in few pieces: what is reduced is not dealt out to the cores. */
static bool leaves_cores_idle(const Nest *nest, const NpuChip *chip, const Band *band)
{
    double pieces = product(nest, band->kept & ~bit(band->lanes.axis));
    if (band->kept & bit(band->lanes.axis))
        pieces *= ceil((double)nest->axes.at[band->lanes.axis].size / LINE);
    return pieces < chip->aiv / 2.0 && product(nest, band->kept | band->reduced) > MUCH_WORK;
}

/* Keeps the cheapest in order; n of them are there. */
static uint32_t add_roles(Band *best, uint32_t n, uint32_t most, const Band *band)
{
    uint32_t at = n;
    while (at > 0 && best[at - 1].cost > band->cost)
        at--;
    if (at == most)
        return n;
    n = n < most ? n + 1 : n;
    for (uint32_t i = n - 1; i > at; i--)
        best[i] = best[i - 1];
    best[at] = *band;
    return n;
}

uint32_t schedule_roles(const Nest *nest, const NpuChip *chip, const Band *band, Band *best,
                        uint32_t most, const char **why)
{
    bool *wanted = schedule_values(nest, band);
    uint32_t n = 0;
    *why = "it has no axis";
    for (uint32_t l = 1; l < nest->axes.len; l++) {
        for (uint32_t r = 0; r < nest->axes.len; r++) {
            Band b = *band;
            uint64_t axes = band->kept | band->reduced;
            if (l == r || !(axes & bit(l)) || (r && !(axes & bit(r))))
                continue;
            b.lanes.axis = l;
            b.rows.axis = r;
            const char *fails = roles_fail(nest, &b, wanted);
            if (!fails) {
                choose_tiles(nest, chip, &b, wanted);
                b.cost = band_cost(nest, chip, &b, wanted);
                b.chunked = shares_rows(nest, &b, wanted);
                fails = leaves_cores_idle(nest, chip, &b) ? "too few pieces of work for the cores"
                                                          : NULL;
            }
            if (fails)
                *why = fails;
            else
                n = add_roles(best, n, most, &b);
        }
    }
    return n;
}

/* ---- text ---- */

static void put_tile(const char *role, const BandTile *t, Buf *out)
{
    if (t->axis)
        buf_printf(out, "; %s a%u %s%lld", role, t->axis, t->whole ? "whole, at most " : "by ",
                   (long long)t->tile);
}

void schedule_print(const Nest *nest, const Schedule *schedule, Buf *out)
{
    for (uint32_t b = 0; b < schedule->bands.len; b++) {
        const Band *band = &schedule->bands.at[b];
        buf_puts(out, "band: cores");
        for (uint32_t a = 1; a < nest->axes.len; a++)
            if (band->kept & bit(a) && !band_is_tiled(band, a))
                buf_printf(out, " a%u", a);
        put_tile("rows", &band->rows, out);
        put_tile("lanes", &band->lanes, out);
        for (uint32_t a = 1; a < nest->axes.len; a++)
            if (band->reduced & bit(a) && !band_is_tiled(band, a))
                buf_printf(out, "; loop a%u", a);
        buf_char(out, '\n');
    }
}
