/* Which roles the axes of a band may have. In: a nest and a band of it. Out: what stands in the way, and the
 * axis. */
#include "gen/plan/schedule/schedule.h"

enum {
    MOST_STEP = 4,  /* every 4th element of what is copied is used */
    MOST_WOVEN = 8, /* results of one value a row that are put together by turns */
    MOST_DEALT = 6  /* axes that the cores are dealt out */
};
#define MOST_TILE (1 << 20) /* elements: more than any memory on chip holds */

static const ScheduleFault none = {0};

static uint64_t bit(uint32_t axis) { return axis ? UINT64_C(1) << axis : 0; }

static uint64_t index_axes(const Affine *index)
{
    uint64_t axes = 0;
    for (uint32_t i = 0; i < index->n; i++)
        axes |= bit(index->term[i].axis);
    return axes;
}

static uint32_t first_of(uint64_t axes)
{
    for (uint32_t a = 1; a < NEST_MAX_AXES; a++)
        if (axes & bit(a))
            return a;
    return 0;
}

static ScheduleFault fault(const char *why, uint32_t axis) { return (ScheduleFault){why, axis}; }

/* ---- loops ---- */

static uint64_t reduced_axes(const Nest *nest, const bool *wanted)
{
    uint64_t axes = 0;
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (wanted[i] &&
            (nest->values.at[i].op == NEST_REDUCE || nest->values.at[i].op == NEST_SCAN))
            axes |= nest->values.at[i].over;
    return axes;
}

/* What a result is stored along and nothing of the band reduces. */
static uint64_t kept_axes(const Nest *nest, const Band *band, uint32_t store)
{
    return index_axes(&nest->stores.at[band->stores.at[store]].index) & ~band->reduced;
}

/* Whether the cores share the band's axis for this result, or store it along that axis. */
static bool takes_part(const Nest *nest, const Band *band, uint32_t store)
{
    const NestStore *s = &nest->stores.at[store];
    Band one = {0};
    if (s->split == band->split)
        return true;
    vec_push(nest->arena, &one.stores, store);
    return !s->split && index_axes(&s->index) & bit(band->split) &&
           !(reduced_axes(nest, schedule_values(nest, &one)) & bit(band->split));
}

ScheduleFault schedule_own_axes(const Nest *nest, Band *band)
{
    bool *wanted = schedule_values(nest, band);
    const NestStore *first = &nest->stores.at[band->stores.at[0]];
    band->reduced = reduced_axes(nest, wanted);
    band->kept = kept_axes(nest, band, 0);
    band->split = 0;
    for (uint32_t i = 0; i < band->stores.len && !band->split; i++)
        band->split = nest->stores.at[band->stores.at[i]].split;
    band->phase = first->phase;
    for (uint32_t i = 0; i < band->stores.len; i++) {
        const NestStore *s = &nest->stores.at[band->stores.at[i]];
        uint64_t other = kept_axes(nest, band, i) ^ band->kept;
        if (s->phase != band->phase)
            return fault("its results are known in different phases", 0);
        if (!takes_part(nest, band, band->stores.at[i]))
            return fault("the cores share different axes for its results",
                         s->split ? s->split : band->split);
        if (other)
            return fault("its results are not all stored along this axis", first_of(other));
    }
    for (uint32_t i = 1; i < nest->values.len; i++) {
        uint64_t axes = nest_roots(nest, nest->values.at[i].axes);
        uint64_t other = wanted[i] ? axes & ~(band->kept | band->reduced) : 0;
        if (other)
            return fault("results vary along different dimensions", first_of(other));
    }
    return none;
}

/* What is scanned is whole in the tile, or walked tile by tile and nothing beside it; from the end only whole
 * rows of lanes are. */
static bool holds_scan(const Band *band, const NestValue *v, uint64_t walked)
{
    bool lanes = v->over == bit(band->lanes.axis);
    bool rows = band->rows.axis && v->over == bit(band->rows.axis);
    bool steps = rows && v->axes & bit(band->lanes.axis); /* many rows at once */
    if (!lanes && !rows)
        return false;
    if (v->over & walked)
        return walked == v->over && !v->reverse && v->reduce != PRIM_LOGSUMEXP;
    return steps ? v->reduce != PRIM_LOGSUMEXP : !v->reverse;
}

/* What windows lie along is in every turn of the walks. */
static bool walks_windows(const Nest *nest, const Band *band, uint64_t walked)
{
    uint64_t tiled = bit(band->lanes.axis) | bit(band->rows.axis);
    for (uint32_t a = 1; a < nest->axes.len; a++)
        if (nest->axes.at[a].halo.root && bit(nest->axes.at[a].halo.root) & walked & tiled)
            return true;
    return false;
}

bool schedule_nests(const Nest *nest, const Band *band)
{
    bool *wanted = schedule_values(nest, band);
    uint64_t walked = band->reduced & ~(band->lanes.whole ? bit(band->lanes.axis) : 0) &
                      ~(band->rows.whole ? bit(band->rows.axis) : 0);
    if (walks_windows(nest, band, walked))
        return false;
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (wanted[i] && v->op == NEST_REDUCE && v->over & walked && v->axes & walked)
            return false;
        if (wanted[i] && v->op == NEST_SCAN && !holds_scan(band, v, walked))
            return false;
    }
    return true;
}

/* ---- accesses ---- */

bool schedule_is_transposed(const Band *band, const Affine *index)
{
    return band->rows.axis && affine_by(index, band->rows.axis) == 1 &&
           affine_by(index, band->lanes.axis) > 1;
}

/* A copy between memory and a tile: lanes next to each other or in small steps, rows at any distance. Rows
 * that are read backwards are turned on chip. */
static ScheduleFault access_fault(const Band *band, const Affine *index, bool store)
{
    int64_t lanes = affine_by(index, band->lanes.axis);
    int64_t rows = band->rows.axis ? affine_by(index, band->rows.axis) : 0;
    if (!store && schedule_is_transposed(band, index))
        return none;
    if (lanes < 0 || lanes > MOST_STEP)
        return fault("lanes are not next to each other in memory", band->lanes.axis);
    if (rows < 0 && (store || lanes != 1))
        return fault("rows are walked backwards", band->rows.axis);
    if (rows && !lanes && rows != 1 && (!store || rows > MOST_WOVEN))
        return fault("one value a row, and rows are not next to each other in memory",
                     band->rows.axis);
    if (rows > SCHEDULE_ROW_GAP)
        return fault("rows are too far apart for one copy", band->rows.axis);
    return none;
}

/* A box is copied for whole lanes; rows are one of its dimensions, or it is the same for all. */
static ScheduleFault box_fault(const Nest *nest, const Band *band, const Affine *index)
{
    uint32_t folded = nest_boxed(nest, index), other;
    if (band->lanes.axis != folded)
        return fault("what stands for several axes is read as lanes alone", folded);
    if (nest_box_run(nest, index, &other) < 2)
        return fault("no elements of a box lie next to each other", folded);
    if (band->rows.axis && affine_by(index, band->rows.axis) > SCHEDULE_ROW_GAP)
        return fault("rows are too far apart for one copy", band->rows.axis);
    return none;
}

/* Rows of all cores are merged for a tile, for a row of lanes, for a row of rows, or for one value. */
static ScheduleFault merge_fault(const Band *band, const Affine *index)
{
    int64_t lanes = affine_by(index, band->lanes.axis);
    int64_t rows = band->rows.axis ? affine_by(index, band->rows.axis) : 0;
    if (lanes > 1 || (rows > 1 && !lanes))
        return fault("what the cores found does not lie side by side",
                     lanes > 1 ? band->lanes.axis : band->rows.axis);
    if (!lanes && !rows && index->n)
        return fault("what the cores found is read one value at a time", index->term[0].axis);
    return none;
}

/* Windows lie along rows or lanes of a tile whose axes are dealt out or whole. */
static ScheduleFault window_fault(const Nest *nest, const Band *band, const NestValue *v)
{
    uint64_t roots = nest_roots(nest, nest->values.at[v->arg[0]].axes);
    uint32_t root = first_of(nest_roots(nest, v->over));
    bool rows = band->rows.axis == root;
    if (band->split || (!rows && band->lanes.axis != root))
        return fault("windows lie along rows or lanes of a tile", root);
    if (!(roots & bit(band->lanes.axis)))
        return fault("windows over one value a row", root);
    return none;
}

/* From one element that the store writes to the next: along lanes, or along rows of one value. */
static int64_t store_step(const Band *band, const NestStore *store)
{
    int64_t lanes = affine_by(&store->index, band->lanes.axis);
    return lanes || !band->rows.axis ? lanes : affine_by(&store->index, band->rows.axis);
}

/* Results of which single elements are written: all of them together make whole copies. */
static bool is_interleaved(const Nest *nest, const Band *band, const NestStore *store)
{
    int64_t step = store_step(band, store), found = 0;
    for (uint32_t i = 0; i < band->stores.len; i++) {
        const NestStore *s = &nest->stores.at[band->stores.at[i]];
        Affine apart = s->index;
        if (s->tensor == store->tensor && affine_add(&apart, &store->index, -1) && !apart.n &&
            s->index.at / step == store->index.at / step)
            found++;
    }
    return found == step;
}

static ScheduleFault store_fault(const Nest *nest, const Band *band, const NestStore *s)
{
    uint64_t tiled = bit(band->lanes.axis) | bit(band->rows.axis);
    ScheduleFault found = access_fault(band, &s->index, true);
    if (found.why)
        return found;
    if (store_step(band, s) > 1 && !is_interleaved(nest, band, s))
        return fault("single elements of a result are written", band->lanes.axis);
    if (!(index_axes(&s->index) & tiled) && (s->index.n || band->kept & tiled))
        return fault("a result would be stored one element at a time",
                     s->index.n ? s->index.term[0].axis : first_of(band->kept & tiled));
    return none;
}

ScheduleFault schedule_fault(const Nest *nest, const Band *band, const bool *wanted)
{
    uint64_t tiled = bit(band->lanes.axis) | bit(band->rows.axis);
    ScheduleFault found = none;
    uint32_t dealt = 0, last = 0;
    for (uint32_t a = 1; a < nest->axes.len; a++)
        if (band->kept & bit(a)) {
            dealt++;
            last = a;
        }
    if (dealt > MOST_DEALT)
        return fault("more than six axes are dealt out", last);
    if (!dealt && !band->split && !band->phase)
        return fault("all of it is reduced to one value", first_of(band->reduced));
    if (band->kept & band->reduced)
        return fault("a result is reduced over what another is dealt out by",
                     first_of(band->kept & band->reduced));
    for (uint32_t i = 1; i < nest->values.len && !found.why; i++) {
        const NestValue *v = &nest->values.at[i];
        if (wanted[i] && v->op == NEST_LOAD && nest_boxed(nest, &v->index))
            found = box_fault(nest, band, &v->index);
        else if (wanted[i] && v->op == NEST_LOAD) {
            Affine index = nest_root_index(nest, &v->index);
            int64_t lanes = affine_by(&index, band->lanes.axis);
            found = access_fault(band, &index, false);
            if (lanes > 1 && !affine_equal(&index, &v->index))
                found = fault("lanes under windows are not next to each other in memory",
                              band->lanes.axis);
        }
        if (wanted[i] && v->op == NEST_WINDOW)
            found = window_fault(nest, band, v);
        if (wanted[i] && v->op == NEST_MERGE)
            found = merge_fault(band, &v->index);
        if (wanted[i] && v->op == NEST_REDUCE && !band->rows.axis && (v->over & tiled) &&
            !band->split && band->kept)
            found = fault("a tile of one row is reduced", first_of(v->over & tiled));
    }
    for (uint32_t i = 0; i < band->stores.len && !found.why; i++)
        found = store_fault(nest, band, &nest->stores.at[band->stores.at[i]]);
    return found;
}

/* ---- numbers ---- */

static ScheduleFault tile_fault(const Nest *nest, const Band *band, const BandTile *t)
{
    if (!t->axis)
        return none;
    if (t->tile < 1 || t->tile > MOST_TILE)
        return fault("a tile has 1 to 1048576 elements of an axis", t->axis);
    if (t->whole && !(band->reduced & bit(t->axis)) && (t != &band->lanes || band->split))
        return fault("only lanes and what is reduced are whole: other axes are dealt out in pieces",
                     t->axis);
    if (t->whole && t->axis == band->split)
        return fault("an axis that the cores share is not whole in any of them", t->axis);
    if (!t->whole && nest->axes.at[t->axis].fold.n && t == &band->lanes)
        return fault("lanes that stand for several axes are whole", t->axis);
    if (t->whole && t->tile < nest->axes.at[t->axis].size)
        return fault("a whole axis is longer than its tile", t->axis);
    return none;
}

ScheduleFault schedule_tile_fault(const Nest *nest, const Band *band)
{
    bool rows_dealt = band->kept & bit(band->rows.axis) && !band->split;
    ScheduleFault found = tile_fault(nest, band, &band->rows);
    if (!found.why)
        found = tile_fault(nest, band, &band->lanes);
    if (!found.why && band->rows.tile * band->lanes.tile > MOST_TILE)
        found = fault("a tile has more elements than any memory on chip", band->lanes.axis);
    if (!found.why && band->chunked && !rows_dealt)
        found = fault("only rows that are dealt out come in chunks", band->rows.axis);
    if (!found.why && !schedule_nests(nest, band))
        found = fault("a reduction would be walked inside the walk of another one, or what is "
                      "scanned is no axis of the tile; hold it whole",
                      first_of(band->reduced));
    return found;
}

ScheduleFault schedule_share_fault(const Nest *base, const ScheduleShare *share)
{
    const NestValue *v = &base->values.at[share->reduction];
    bool *below = arena_array(base->arena, bool, base->values.len);
    if (v->op != NEST_REDUCE || !v->uses)
        return fault("only a reduction is shared by all cores", 0);
    if (!share->axis)
        return v->axes ? none : fault("what is kept has no axis that could be dealt out", 0);
    if (!(v->over & bit(share->axis)))
        return fault("the value is not reduced over this axis", share->axis);
    below[v->arg[0]] = true;
    for (uint32_t i = share->reduction; i-- > 1;)
        for (uint32_t k = 0; k < base->values.at[i].n_arg && below[i]; k++)
            below[base->values.at[i].arg[k]] = true;
    if (reduced_axes(base, below) & bit(share->axis))
        return fault("what is reduced is itself reduced over this axis", share->axis);
    return none;
}
