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
    ONE_LINE = 8,        /* elements of 32 bytes */
    MOST_SHIFT = 8,      /* rows between loads that share a copy */
    GATHERED = 3,        /* times what an addition of as many elements takes */
    KEPT_ELEMENTS = 16,  /* that a value is made of, which is stored between phases */
    TURNED_ROWS = 64     /* next to each other in memory, of tiles that are turned on chip */
};
#define TURN 700.0     /* cycles of a turn in which nothing is long: latencies of copies, waits */
#define SCAN_LANE 0.3  /* cycles of an element of a row that is scanned */
#define SCAN_ROW 600.0 /* and of the row */
#define JOINED 0.95    /* of the cost is left where copies beside each other are one */
#define COPY_RATE 32.0 /* bytes a cycle of a core's port */

static uint64_t bit(uint32_t axis) { return UINT64_C(1) << axis; }

static uint64_t index_axes(const Affine *index)
{
    uint64_t axes = 0;
    for (uint32_t i = 0; i < index->n; i++)
        axes |= bit(index->term[i].axis);
    return axes;
}

/* ---- parts of a schedule ---- */

Schedule schedule_copy(Arena *arena, const Schedule *of)
{
    Schedule s = *of;
    s.bands = s.longer = (Bands){0};
    for (uint32_t i = 0; i < of->bands.len; i++)
        vec_push(arena, &s.bands, of->bands.at[i]);
    for (uint32_t i = 0; i < of->longer.len; i++)
        vec_push(arena, &s.longer, of->longer.at[i]);
    return s;
}

Nest *schedule_nest(const Nest *base, const Schedule *schedule)
{
    NestId reductions[SCHEDULE_SHARES];
    uint32_t axes[SCHEDULE_SHARES], n = 0;
    for (; n < schedule->shares.len && n < SCHEDULE_SHARES; n++) {
        reductions[n] = schedule->shares.at[n].reduction;
        axes[n] = schedule->shares.at[n].axis;
    }
    if (schedule->fold.n)
        base = nest_fold(base, &schedule->fold);
    return base ? nest_split(base, n, reductions, axes) : NULL;
}

/* Sharing adds one or two values behind each reduction that is shared. */
NestId schedule_base_value(const Nest *nest, NestId id)
{
    NestId base = id;
    for (NestId i = 1; i <= id; i++)
        base -= nest->values.at[i].op == NEST_MERGE ||
                (nest->values.at[i].op == NEST_LOAD &&
                 nest->tensors.at[nest->values.at[i].tensor].role == NEST_MERGED);
    return base;
}

double schedule_elements(const Nest *nest, const Band *band)
{
    double n = 1;
    for (uint32_t a = 1; a < nest->axes.len; a++)
        n *= (band->kept | band->reduced) & bit(a) ? (double)nest->axes.at[a].size : 1;
    return n;
}

const Band *schedule_largest(const Nest *nest, const Schedule *schedule)
{
    const Band *most = &schedule->bands.at[0];
    for (uint32_t i = 1; i < schedule->bands.len; i++)
        if (schedule_elements(nest, &schedule->bands.at[i]) > schedule_elements(nest, most))
            most = &schedule->bands.at[i];
    return most;
}

/* ---- bands ---- */

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

static uint64_t reduced_axes(const Nest *nest, const bool *wanted)
{
    uint64_t axes = 0;
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (wanted[i] &&
            (nest->values.at[i].op == NEST_REDUCE || nest->values.at[i].op == NEST_SCAN))
            axes |= nest->values.at[i].over;
    return axes;
}

static uint64_t store_reduces(const Nest *nest, uint32_t store)
{
    Band one = {0};
    vec_push(nest->arena, &one.stores, store);
    return reduced_axes(nest, schedule_values(nest, &one));
}

/* The axis whose parts the cores take in the band that computes the result. A result along an axis that they
 * share for another one of the same phase is stored part by part, too, where nothing of it is reduced over it. */
static uint32_t shared_axis(const Nest *nest, uint32_t store, bool together)
{
    const NestStore *s = &nest->stores.at[store];
    for (uint32_t i = 0; i < nest->stores.len && together && !s->split; i++) {
        uint32_t split = nest->stores.at[i].phase == s->phase ? nest->stores.at[i].split : 0;
        if (split && index_axes(&s->index) & bit(split) &&
            !(store_reduces(nest, store) & bit(split)))
            return split;
    }
    return s->split;
}

/* What the results of a phase reduce for which the cores share the axis, or no axis. */
static uint64_t phase_reduces(const Nest *nest, uint32_t phase, uint32_t split)
{
    Band all = {0};
    for (uint32_t i = 0; i < nest->stores.len; i++)
        if (nest->stores.at[i].phase == phase && shared_axis(nest, i, true) == split)
            vec_push(nest->arena, &all.stores, i);
    return reduced_axes(nest, schedule_values(nest, &all));
}

/* Axes that other results of the phase reduce and these do not are dealt out. */
static void keep_own(const Nest *nest, Band *band)
{
    uint64_t kept = index_axes(&nest->stores.at[band->stores.at[0]].index) & ~band->reduced;
    for (uint32_t i = 1; i < band->stores.len; i++)
        if ((index_axes(&nest->stores.at[band->stores.at[i]].index) & ~band->reduced) != kept)
            return;
    band->kept = kept;
}

/* What the band's values reduce, and that each varies along no other axis than the band has. */
static bool check_band(const Nest *nest, Band *band, Diag *diag)
{
    bool *wanted = schedule_values(nest, band);
    band->reduced = reduced_axes(nest, wanted);
    keep_own(nest, band);
    if (band->reduced & band->kept)
        return refuse_schedule(diag, "a result is reduced over what another is dealt out by");
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (wanted[i] && nest_roots(nest, nest->values.at[i].axes) & ~(band->kept | band->reduced))
            return refuse_schedule(diag, "results vary along different dimensions");
    return true;
}

bool schedule_bands(const Nest *nest, bool together, Schedule *schedule, Diag *diag)
{
    schedule->bands = (Bands){0};
    for (uint32_t i = 0; i < nest->stores.len; i++) {
        const NestStore *s = &nest->stores.at[i];
        uint32_t split = shared_axis(nest, i, together);
        uint64_t reduced = together ? phase_reduces(nest, s->phase, split) : store_reduces(nest, i);
        uint64_t kept = index_axes(&s->index) & ~reduced;
        uint32_t b = 0;
        while (b < schedule->bands.len &&
               (schedule->bands.at[b].kept != kept || schedule->bands.at[b].split != split ||
                schedule->bands.at[b].phase != s->phase))
            b++;
        if (b == SCHEDULE_BANDS)
            return refuse_schedule(diag, "its results have too many parts");
        if (b == schedule->bands.len)
            vec_push(nest->arena, &schedule->bands,
                     ((Band){.kept = kept, .split = split, .phase = s->phase}));
        vec_push(nest->arena, &schedule->bands.at[b].stores, i);
    }
    for (uint32_t i = 1; i < schedule->bands.len; i++) /* in the order of their phases */
        for (uint32_t b = i; b > 0 && schedule->bands.at[b - 1].phase > schedule->bands.at[b].phase;
             b--) {
            Band other = schedule->bands.at[b - 1];
            schedule->bands.at[b - 1] = schedule->bands.at[b];
            schedule->bands.at[b] = other;
        }
    bool ok = true;
    for (uint32_t b = 0; b < schedule->bands.len; b++)
        ok = check_band(nest, &schedule->bands.at[b], diag) && ok;
    return ok;
}

bool band_is_tiled(const Band *band, uint32_t axis)
{
    return axis && (band->rows.axis == axis || band->lanes.axis == axis);
}

bool band_deals(const Band *band, uint32_t axis)
{
    bool whole = (axis == band->rows.axis && band->rows.whole) ||
                 (axis == band->lanes.axis && band->lanes.whole);
    return axis && band->kept & bit(axis) && !whole;
}

bool schedule_beside(const Band *band, const Affine *x, const Affine *y, int64_t *lanes)
{
    Affine apart = *y;
    if (affine_by(x, band->lanes.axis) != 1 || !affine_add(&apart, x, -1) || apart.n)
        return false;
    *lanes = apart.at;
    return true;
}

/* ---- tiles ---- */

static int64_t at_least_one(int64_t x) { return x > 1 ? x : 1; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

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

/* How many elements of a value that windows read there are for each of a tile. */
static double halo_times(const Nest *nest, const Band *band, uint64_t axes)
{
    enum { ROWS_GUESS = 16 };
    double times = 1;
    for (uint32_t a = 1; a < nest->axes.len; a++) {
        const NestHalo *h = &nest->axes.at[a].halo;
        if (!(axes & bit(a)) || !h->root)
            continue;
        const BandTile *t = h->root == band->rows.axis ? &band->rows : &band->lanes;
        double tile = t->tile            ? (double)smaller(t->tile, nest->axes.at[t->axis].size)
                      : t == &band->rows ? ROWS_GUESS
                                         : (double)nest->axes.at[t->axis].size;
        times *= ((double)h->scale * (tile - 1) + (double)(h->high - h->low) + 1) / tile;
    }
    return times;
}

/* A window whose elements are picked: along lanes, or in steps. */
static bool is_gathered(const Band *band, const NestValue *v)
{
    return v->window.by > 1 ||
           (v->window.to == band->lanes.axis && (v->window.count > 1 || v->window.at));
}

/* Bytes on chip for each element of a tile: copies twice, what is computed from several places once. */
static double element_bytes(const Nest *nest, const Band *band, const bool *wanted)
{
    uint64_t tile = bit(band->lanes.axis) | (band->rows.axis ? bit(band->rows.axis) : 0);
    double bytes = 12; /* scratch of nested expressions */
    uint32_t held = 0;
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (!wanted[i] || (nest_roots(nest, v->axes) & tile) != tile ||
            is_brought(nest, band, wanted, i))
            continue;
        if (v->op == NEST_WINDOW) {
            bytes += 4 + 4 * halo_times(nest, band, nest->values.at[v->arg[0]].axes);
            bytes += is_gathered(band, v) ? 8 * halo_times(nest, band, v->axes) : 0;
            continue;
        }
        double halo = halo_times(nest, band, v->axes);
        double width = (double)dtype_bytes(nest->tensors.at[v->tensor].dtype);
        int64_t step = schedule_is_transposed(band, &v->index)
                           ? 1
                           : affine_by(&v->index, band->lanes.axis);
        if (v->op == NEST_LOAD && nest_boxed(nest, &v->index))
            bytes += 8; /* places, and what is picked */
        if (v->op == NEST_LOAD && schedule_is_transposed(band, &v->index))
            bytes += 8;
        if (v->op == NEST_LOAD)
            bytes += halo * (2 * width * (double)(step > 1 ? step : 1) +
                             (nest->tensors.at[v->tensor].dtype == DT_F32 && step <= 1 ? 0 : 4));
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
    for (uint32_t i = 1; i < nest->values.len && band->split; i++) { /* what is gathered */
        const NestValue *v = &nest->values.at[i];
        bytes += wanted[i] && v->op == NEST_REDUCE &&
                         (nest->values.at[v->arg[0]].axes & tile) == tile
                     ? 4
                     : 0;
    }
    return bytes + 4.0 * (held > 6 ? 6 : held);
}

/* How much of an axis a core walks: all of it, or its share. */
static int64_t core_extent(const Nest *nest, const NpuChip *chip, const Band *band, uint32_t axis)
{
    int64_t size = nest->axes.at[axis].size, share = (size + chip->aiv - 1) / chip->aiv;
    if (axis != band->split)
        return size;
    return axis == band->lanes.axis ? (share + LINE - 1) / LINE * LINE : share;
}

/* Which axis of a tile gets room first, where both are reduced. */
typedef enum TileOrder { ROWS_AND_LANES, LANES_FIRST } TileOrder;

static bool reads_transposed(const Nest *nest, const Band *band, const bool *wanted)
{
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (wanted[i] && nest->values.at[i].op == NEST_LOAD &&
            schedule_is_transposed(band, &nest->values.at[i].index))
            return true;
    return false;
}

static bool reads_merges(const Nest *nest, const bool *wanted)
{
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (wanted[i] && nest->values.at[i].op == NEST_MERGE)
            return true;
    return false;
}

static double product(const Nest *nest, uint64_t axes)
{
    double n = 1;
    for (uint32_t a = 1; a < nest->axes.len; a++)
        n *= axes & bit(a) ? (double)nest->axes.at[a].size : 1;
    return n;
}

/* Lanes of which all cores get about as many pieces, in whole lines; wider tiles would be cut there, or leave cores
 * idle at the end, and their rows are as few as if they were not. Up to half as wide again as the estimate says. */
static int64_t even_lanes(const Nest *nest, const NpuChip *chip, const Band *band)
{
    int64_t size = nest->axes.at[band->lanes.axis].size, most = band->lanes.tile * 3 / 2, best = 0;
    double others = product(nest, band->kept & ~bit(band->lanes.axis) & ~bit(band->rows.axis));
    double least = INFINITY;
    int64_t fewest = (int64_t)fmax(ceil(chip->aiv / others), ceil((double)size / (double)most));
    for (int64_t pieces = fewest; pieces <= 2 * fewest; pieces++) {
        int64_t lanes = ((size + pieces - 1) / pieces + LINE - 1) / LINE * LINE;
        double walked = ceil(others * (double)pieces / chip->aiv) * (double)lanes;
        if (walked < least * 0.98) {
            least = walked;
            best = lanes;
        }
    }
    return best;
}

/* Tiles as large as fit. A reduced axis is whole where it fits. */
static void choose_tiles(const Nest *nest, const NpuChip *chip, Band *band, const bool *wanted,
                         TileOrder order)
{
    band->rows.tile = band->lanes.tile = 0;
    double space = ((double)chip->ub - UB_SPARE) / (band->beside ? band->beside : 1);
    int64_t room = at_least_one((int64_t)(space / element_bytes(nest, band, wanted)));
    int64_t lanes = core_extent(nest, chip, band, band->lanes.axis);
    int64_t rows = band->rows.axis ? core_extent(nest, chip, band, band->rows.axis) : 1;
    bool lanes_reduced = band->reduced & bit(band->lanes.axis);
    bool rows_reduced = band->rows.axis && band->reduced & bit(band->rows.axis);
    bool both = rows_reduced && order == ROWS_AND_LANES;
    int64_t most = both ? at_least_one(room / smaller(rows, 16)) : room;
    if (reads_transposed(nest, band, wanted))
        most = smaller(most, at_least_one(room / smaller(rows, TURNED_ROWS)));
    band->lanes.tile = smaller((lanes + 7) / 8 * 8, most >= 64 ? most / 64 * 64 : most);
    if (!band->rows.axis && !lanes_reduced &&
        reads_merges(nest, wanted)) /* a piece for each core */
        band->lanes.tile = smaller(band->lanes.tile,
                                   ((lanes + chip->aiv - 1) / chip->aiv + LINE - 1) / LINE * LINE);
    if (rows_reduced && !lanes_reduced && band->lanes.axis != band->split)
        band->lanes.tile = even_lanes(nest, chip, band);
    bool folded = nest->axes.at[band->lanes.axis].fold.n;
    band->lanes.whole = (lanes_reduced || folded) && band->lanes.tile >= lanes &&
                        band->lanes.axis != band->split;
    if (nest_has_window(nest, band->lanes.axis) && band->lanes.tile >= lanes)
        band->lanes.whole = true;
    band->rows.tile = smaller(smaller(at_least_one(room / band->lanes.tile), MOST_ROWS), rows);
    band->rows.whole = rows_reduced && band->rows.tile >= rows && band->rows.axis != band->split;
    if (rows_reduced && !band->rows.whole) { /* turns of equal size */
        int64_t turns = (rows + band->rows.tile - 1) / band->rows.tile;
        band->rows.tile = (rows + turns - 1) / turns;
    }
}

/* ---- cost ---- */

typedef struct Cycles {
    double in, out, vector;
} Cycles;

int64_t schedule_box_run(const Nest *nest, const Band *band, const Affine *index)
{
    uint32_t other;
    int64_t run = nest_box_run(nest, index, &other);
    if (!other)
        return run;
    int64_t inner = run / nest->axes.at[other].size;
    return other == band->rows.axis ? inner * band->rows.tile : inner;
}

/* Cycles of copying a box in all turns. */
static double box_cycles(const Nest *nest, const Band *band, const NestValue *v)
{
    uint64_t all = band->kept | band->reduced;
    uint64_t tile = bit(band->lanes.axis) | (band->rows.axis ? bit(band->rows.axis) : 0);
    double elements = product(nest, (all & ~tile) | (v->axes & tile));
    double run = (double)schedule_box_run(nest, band, &v->index);
    double width = (double)dtype_bytes(nest->tensors.at[v->tensor].dtype);
    return elements / run * fmax(BURST, run * width / COPY_RATE);
}

/* Cycles of copying what the access reaches in all turns of the band's loops. */
static double copy_cycles(const Nest *nest, const Band *band, const Affine *index, double width)
{
    uint64_t all = band->kept | band->reduced, axes = nest_roots(nest, index_axes(index));
    uint64_t tile = bit(band->lanes.axis) | (band->rows.axis ? bit(band->rows.axis) : 0);
    double elements = product(nest, (all & ~tile) | (axes & tile)) *
                      halo_times(nest, band, index_axes(index));
    double run = axes & bit(band->lanes.axis)
                     ? (double)smaller(band->lanes.tile, nest->axes.at[band->lanes.axis].size)
                     : 1;
    if (schedule_is_transposed(band, index))
        run = (double)smaller(band->rows.tile, nest->axes.at[band->rows.axis].size);
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
    uint64_t axes = nest_roots(nest, v->axes);
    double elements = product(nest, (all & ~tile) | (axes & tile)) *
                      halo_times(nest, band, v->axes);
    double lanes = (double)smaller(band->lanes.tile, nest->axes.at[band->lanes.axis].size);
    double rows = band->rows.axis ? (double)band->rows.tile : 1;
    double turns = elements / (lanes * rows), lines = ceil(lanes / LINE) * rows;
    return (axes & tile) == tile ? turns * (STARTS + lines) : elements / LINE + turns * STARTS;
}

/* Along rows all of them at once, in as many steps as the count of rows has digits; along lanes row by row. */
static double scan_cycles(const Nest *nest, const Band *band, const NestValue *v)
{
    if (band->rows.axis && v->over == bit(band->rows.axis))
        return map_cycles(nest, band, v) * 2 * ceil(log2((double)band->rows.tile + 1));
    double elements = product(nest, band->kept | band->reduced);
    return elements * SCAN_LANE + elements / (double)band->lanes.tile * SCAN_ROW;
}

static uint32_t passes_of(const Nest *nest, const Band *band)
{
    uint64_t tile = bit(band->lanes.axis) | (band->rows.axis ? bit(band->rows.axis) : 0);
    uint64_t walked = band->reduced;
    uint32_t passes = 1;
    walked &= ~(band->lanes.whole ? bit(band->lanes.axis) : 0);
    walked &= ~(band->rows.whole ? bit(band->rows.axis) : 0);
    NestPass pass = {walked, band->split ? 0 : tile};
    for (uint32_t i = 0; i < band->stores.len && walked; i++) {
        uint32_t level = nest_level(nest, nest->stores.at[band->stores.at[i]].value, pass) + 1;
        passes = level > passes ? level : passes;
    }
    return passes;
}

/* How often the tile moves, over all cores. */
static double turns_of(const Nest *nest, const Band *band)
{
    uint64_t tile = bit(band->lanes.axis) | (band->rows.axis ? bit(band->rows.axis) : 0);
    double turns = product(nest, (band->kept | band->reduced) & ~tile);
    turns *= ceil((double)nest->axes.at[band->lanes.axis].size / (double)band->lanes.tile);
    if (band->rows.axis)
        turns *= ceil((double)nest->axes.at[band->rows.axis].size / (double)band->rows.tile);
    return turns;
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
        bool boxed = v->op == NEST_LOAD && nest_boxed(nest, &v->index);
        if (boxed)
            c.in += passes * box_cycles(nest, band, v);
        else if (v->op == NEST_LOAD && !is_brought(nest, band, wanted, i))
            c.in += passes * copy_cycles(nest, band, &v->index,
                                         (double)dtype_bytes(nest->tensors.at[v->tensor].dtype));
        if (boxed || (v->op == NEST_LOAD && schedule_is_transposed(band, &v->index)))
            c.vector += map_cycles(nest, band, v) * GATHERED;
        if (v->op == NEST_MAP || v->op == NEST_REDUCE)
            c.vector += map_cycles(nest, band, v) * (v->op == NEST_REDUCE ? 2 : 1);
        if (v->op == NEST_WINDOW)
            c.vector += map_cycles(nest, band, v) * (double)v->window.count *
                        (is_gathered(band, v) ? GATHERED : 1);
        if (v->op == NEST_SCAN)
            c.vector += scan_cycles(nest, band, v);
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
    double cores = band->split ? chip->aiv : fmin(items, chip->aiv);
    double turns = passes * turns_of(nest, band);
    return (fmax(c.in, fmax(c.out, c.vector)) + 0.2 * (c.in + c.out + c.vector) + TURN * turns) /
           cores;
}

double schedule_cost(const Nest *nest, const NpuChip *chip, const Band *band)
{
    return band_cost(nest, chip, band, schedule_values(nest, band));
}

/* Whether cores share out the rows and some load is the same for all of them. */
static bool shares_rows(const Nest *nest, const Band *band, const bool *wanted)
{
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (wanted[i] && nest->values.at[i].op == NEST_LOAD &&
            !(nest_roots(nest, nest->values.at[i].axes) & bit(band->rows.axis)))
            return band->rows.axis && band->kept & bit(band->rows.axis);
    return false;
}

/* Much work in few pieces: what is reduced is not dealt out to the cores. */
static bool leaves_cores_idle(const Nest *nest, const NpuChip *chip, const Band *band)
{
    double pieces = product(nest, band->kept & ~bit(band->lanes.axis));
    if (band->split)
        return false;
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

/* Elements are picked or put in turns on chip: with whole lanes all rows of a tile in one instruction. */
static bool picks_lanes(const Nest *nest, const Band *band, const bool *wanted)
{
    bool picks = false;
    for (uint32_t i = 1; i < nest->values.len; i++)
        picks = picks || (wanted[i] && nest->values.at[i].op == NEST_LOAD &&
                          affine_by(&nest->values.at[i].index, band->lanes.axis) > 1);
    for (uint32_t i = 0; i < band->stores.len; i++)
        picks = picks ||
                affine_by(&nest->stores.at[band->stores.at[i]].index, band->lanes.axis) > 1;
    return picks && band->rows.axis;
}

/* Lanes that are dealt out fit in a tile, and some copies lie beside each other: with whole lanes these are
 * one. */
static bool can_join(const Nest *nest, const Band *band, const bool *wanted)
{
    int64_t size = nest->axes.at[band->lanes.axis].size, apart;
    if (band->split || !(band->kept & bit(band->lanes.axis)) || band->lanes.tile < size)
        return false;
    if (picks_lanes(nest, band, wanted))
        return true;
    for (NestId i = 1; i < nest->values.len; i++)
        for (NestId k = i + 1; k < nest->values.len && wanted[i]; k++) {
            const NestValue *x = &nest->values.at[i], *y = &nest->values.at[k];
            if (wanted[k] && x->op == NEST_LOAD && y->op == NEST_LOAD && x->tensor == y->tensor &&
                schedule_beside(band, &x->index, &y->index, &apart) &&
                (apart == size || apart == -size))
                return true;
        }
    return false;
}

uint32_t schedule_roles(const Nest *nest, const NpuChip *chip, const Band *band, Band *best,
                        uint32_t most, const char **why)
{
    bool *wanted = schedule_values(nest, band);
    uint32_t n = 0, n_turned = 0;
    Band turned[1]; /* the best whose tiles are turned on chip: the last choice */
    *why = "it has no axis";
    if (!(band->kept | band->reduced) && band->phase) { /* single values */
        best[0] = *band;
        best[0].lanes.tile = ONE_LINE;
        best[0].rows.tile = 1;
        return 1;
    }
    for (uint32_t l = 1; l < nest->axes.len; l++) {
        for (uint32_t r = 0; r < nest->axes.len; r++) {
            Band b = *band;
            uint64_t axes = band->kept | band->reduced;
            if (l == r || !(axes & bit(l)) || (r && !(axes & bit(r))))
                continue;
            b.lanes.axis = l;
            b.rows.axis = r;
            const char *fails = schedule_fault(nest, &b, wanted).why;
            if (!fails) {
                choose_tiles(nest, chip, &b, wanted, ROWS_AND_LANES);
                if (!schedule_nests(
                        nest, &b)) /* a reduction over whole lanes may be nested in another one */
                    choose_tiles(nest, chip, &b, wanted, LANES_FIRST);
                b.cost = band_cost(nest, chip, &b, wanted);
                b.chunked = !b.split && shares_rows(nest, &b, wanted);
                fails = r && b.rows.tile == 1 && b.rows.axis == b.split
                            ? "its rows do not fit on chip"
                        : nest->axes.at[l].fold.n && !b.lanes.whole
                            ? "lanes that stand for several axes do not fit on chip"
                        : leaves_cores_idle(nest, chip, &b) ? "too few pieces of work for the cores"
                        : !schedule_nests(nest, &b)
                            ? "a reduction inside another, or what is scanned, does not fit"
                            : NULL;
            }
            if (fails) {
                *why = fails;
                continue;
            }
            if (reads_transposed(nest, &b, wanted)) {
                b.lanes.whole = b.lanes.whole || can_join(nest, &b, wanted);
                n_turned = add_roles(turned, n_turned, 1, &b);
                continue;
            }
            n = add_roles(best, n, most, &b);
            if (can_join(nest, &b, wanted)) {
                b.lanes.whole = true;
                b.cost *= JOINED;
                n = add_roles(best, n, most, &b);
            }
        }
    }
    if (n_turned)
        best[n < most ? n++ : most - 1] = turned[0];
    return n;
}

/* ---- reductions of all cores ---- */

static uint32_t last_workspace(const Nest *nest)
{
    uint32_t last = nest->tensors.len - 1;
    while (nest->tensors.at[last].role != NEST_WORKSPACE)
        last--;
    return last;
}

/* The band of one reduction whose axis `split` the cores share, if it has legal roles. */
static bool can_split(const Nest *nest, const NpuChip *chip, NestId id, uint32_t split)
{
    Nest *trial = nest_split(nest, 1, &id, &split);
    Schedule schedule = {0};
    Diag quiet = diag_make(nest->arena, "plan", STR(""));
    const char *why;
    Band best[1];
    (void)schedule_bands(trial, false, &schedule, &quiet);
    for (uint32_t i = 0; i < schedule.bands.len; i++) {
        Band *band = &schedule.bands.at[i];
        const NestStore *s = &trial->stores.at[band->stores.at[0]];
        if (s->tensor == last_workspace(trial))
            return schedule_roles(trial, chip, band, best, 1, &why) > 0;
    }
    return false;
}

/* The largest axis that it reduces and nothing that it is made of does. 0: none. */
static uint32_t axis_to_split(const Nest *nest, NestId id)
{
    bool *below = arena_array(nest->arena, bool, nest->values.len);
    uint32_t best = 0;
    below[nest->values.at[id].arg[0]] = true;
    for (uint32_t i = id; i-- > 1;)
        for (uint32_t k = 0; k < nest->values.at[i].n_arg && below[i]; k++)
            below[nest->values.at[i].arg[k]] = true;
    uint64_t free = nest->values.at[id].over & ~reduced_axes(nest, below);
    for (uint32_t a = 1; a < nest->axes.len; a++)
        if (free & bit(a) && (!best || nest->axes.at[a].size > nest->axes.at[best].size))
            best = a;
    return best;
}

static void mark_below(const Nest *nest, NestId id, bool *below)
{
    below[id] = true;
    for (uint32_t i = 0; i < nest->values.at[id].n_arg; i++)
        mark_below(nest, nest->values.at[id].arg[i], below);
}

/* Something that is made of it, and not of what is kept already, is reduced or scanned along one of its axes. */
static bool is_reduced_again(const Nest *nest, NestId id, const bool *kept)
{
    bool *made_of = arena_array(nest->arena, bool, nest->values.len);
    made_of[id] = true;
    for (NestId i = id + 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        for (uint32_t k = 0; k < v->n_arg; k++)
            made_of[i] = made_of[i] || (made_of[v->arg[k]] && !kept[v->arg[k]]);
        if (made_of[i] && v->uses && v->over & nest->values.at[id].axes)
            return true;
    }
    return false;
}

/* The last ones first: what they are made of is computed where they are. */
uint32_t schedule_keep(const Nest *nest, uint32_t most, NestId *reductions)
{
    bool *kept = arena_array(nest->arena, bool, nest->values.len);
    uint32_t n = 0;
    for (NestId i = nest->values.len; i-- > 1 && n < most;) {
        const NestValue *v = &nest->values.at[i];
        kept[i] = v->op == NEST_REDUCE && v->uses && v->axes && !v->follows &&
                  product(nest, v->over) >= KEPT_ELEMENTS && is_reduced_again(nest, i, kept);
        n += kept[i];
    }
    n = 0;
    for (NestId i = 1; i < nest->values.len && n < most; i++)
        if (kept[i])
            reductions[n++] = i;
    return n;
}

uint32_t schedule_split(const Nest *nest, const NpuChip *chip, const Band *band, uint32_t most,
                        NestId *reductions, uint32_t *split)
{
    bool *wanted = schedule_values(nest, band);
    bool *covered = arena_array(nest->arena, bool, nest->values.len);
    uint32_t n = 0;
    for (NestId i = nest->values.len; i-- > 1 && n < most;) {
        uint32_t axis;
        if (!wanted[i] || covered[i] || nest->values.at[i].op != NEST_REDUCE ||
            !(axis = axis_to_split(nest, i)) || !can_split(nest, chip, i, axis))
            continue;
        mark_below(nest, i, covered);
        reductions[n] = i;
        split[n++] = axis;
    }
    return n;
}
