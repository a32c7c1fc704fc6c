/* Tiles of which memory holds every k-th element. In: accesses that walk their lanes in steps. Out: copies of
 * all elements; what is wanted is gathered on chip, and results that are written in turns are woven. */
#include "gen/plan/build/build_int.h"

bool build_is_transposed(const Build *b, const Affine *index)
{
    return schedule_is_transposed(b->band, index);
}

int64_t build_step(const Build *b, const Affine *index)
{
    int64_t by = affine_by(index, b->band->lanes.axis);
    return by > 1 && !build_is_transposed(b, index) ? by : 1;
}

/* Results of one value a row that are put together by turns. */
static int64_t row_step(const Build *b, const Affine *index)
{
    int64_t by = b->band->rows.axis ? affine_by(index, b->band->rows.axis) : 0;
    return !affine_by(index, b->band->lanes.axis) && by > 1 ? by : 1;
}

bool build_is_woven(const Build *b, const Affine *index)
{
    return build_step(b, index) > 1 || row_step(b, index) > 1;
}

/* ---- places ---- */

static void keep_buffer(Build *b, const char *name)
{
    for (uint32_t i = 0; i < b->pool->len; i++)
        b->pool->at[i].kept = b->pool->at[i].kept || b->pool->at[i].name == name;
}

static void add_picks(Build *b, int64_t step)
{
    if (step < 2 || b->picks[step])
        return;
    b->picks[step] = build_wide(b, 'e', BUILD_LANES, DT_I32, 1, 1, 0);
    keep_buffer(b, b->picks[step]);
    build_line(b, "with compute():");
    build_line(b, "    %s = iota(0, %lld)", b->picks[step], (long long)step);
}

static int64_t aligned(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

static void free_places(Build *b)
{
    for (uint32_t i = 0; i < b->pool->len; i++)
        b->pool->at[i].owner = b->pool->at[i].stem == 'u' ? 0 : b->pool->at[i].owner;
}

/* Begins of rows that lie so far apart. */
static const char *row_places(Build *b, int64_t by)
{
    const char *rows = build_wide(b, 'u', BUILD_ROWS, DT_I32, 1, 1, 1);
    build_line(b, "    %s = iota(0, %lld)", rows, (long long)by);
    return rows;
}

/* All elements of a tile; lanes that are not whole in any number up to a tile. */
static const char *tile_size(Build *b)
{
    return b->band->lanes.whole ? build_lanes(b)
                                : str_format(b->arena, "%lld", (long long)b->band->lanes.tile);
}

static const char *find_table(const Build *b, int64_t by_row, int64_t by_lane)
{
    for (uint32_t i = 0; i < b->tables.len; i++)
        if (b->tables.at[i].by_row == by_row && b->tables.at[i].by_lane == by_lane)
            return b->tables.at[i].places;
    return NULL;
}

static void add_table(Build *b, int64_t by_row, int64_t by_lane)
{
    if (find_table(b, by_row, by_lane))
        return;
    const char *size = tile_size(b);
    const char *lanes = build_wide(b, 'u', BUILD_LANES, DT_I32, 1, 1, 1);
    BuildTable t = {by_row, by_lane, build_wide(b, 'e', BUILD_TILE, DT_I32, 1, 1, 0)};
    keep_buffer(b, t.places);
    build_line(b, "with compute():");
    const char *rows = row_places(b, by_row);
    build_line(b, "    %s[:%s] = iota(0, %lld)", lanes, size, (long long)by_lane);
    build_line(b, "    %s[:%lld, :%s] = row(%s[:%s]) + col(%s[:%lld])", t.places,
               (long long)b->band->rows.tile, size, lanes, size, rows,
               (long long)b->band->rows.tile);
    vec_push(b->arena, &b->tables, t);
    free_places(b);
}

/* How far apart the rows of a copy lie of which every step-th element is used. */
static int64_t strided_pitch(const Build *b, const NestValue *v)
{
    int64_t unit = 32 / (int64_t)dtype_bytes(b->nest->tensors.at[v->tensor].dtype);
    return aligned(build_step(b, &v->index) * b->band->lanes.tile, unit);
}

/* ... of a copy with rows and lanes exchanged. */
static int64_t transposed_pitch(const Build *b) { return aligned(b->band->rows.tile, 16); }

static void add_load_places(Build *b, const NestValue *v)
{
    int64_t step = build_step(b, &v->index);
    if (build_is_transposed(b, &v->index))
        add_table(b, 1, transposed_pitch(b));
    else if (step > 1 && build_kind(b, v->axes) == BUILD_TILE)
        add_table(b, strided_pitch(b, v), step);
    else
        add_picks(b, step);
}

/* Elements from the begin of one run to that of the next: a multiple of 32 bytes. */
static int64_t run_begin(const Build *b, BuildKind kind)
{
    return kind == BUILD_ROWS ? (b->band->rows.tile + 7) / 8 * 8 : b->band->lanes.tile;
}

/* Room for `step` runs. */
static const char *woven_buffer(Build *b, char stem, BuildKind kind, DType dtype, int depth,
                                int64_t step, NestId owner)
{
    BuildBuffer want = {.kind = kind,
                        .dtype = dtype,
                        .depth = depth,
                        .stem = stem,
                        .rows = kind == BUILD_ROWS ? run_begin(b, kind) : b->band->rows.tile,
                        .lanes = b->band->lanes.tile,
                        .times = step,
                        .owner = owner};
    return build_take(b, want);
}

/* Place i of what is woven is element i / step of run i % step, and run r begins at r * tile. The runs are
 * lanes of a tile, or its rows where each has one value. */
static void add_weave(Build *b, BuildWeave *w, int64_t step, BuildKind kind)
{
    bool rows = kind == BUILD_ROWS;
    long long tile = run_begin(b, kind), k = step;
    if (step < 2 || w->places)
        return;
    const char *place = woven_buffer(b, 'u', kind, DT_F32, 1, step, 1);
    const char *run = woven_buffer(b, 'u', kind, DT_F32, 1, step, 2);
    w->places = woven_buffer(b, 'e', kind, DT_I32, 1, step, 0);
    keep_buffer(b, w->places);
    build_line(b, "with compute():");
    build_line(b, "    %s = iota(0.0, 1.0, f32)", place);
    build_line(b, "    %s = floor((%s + 0.5) * %.9g)", run, place, 1.0 / (double)k);
    build_line(b, "    %s = cast(%s + (%s - %s * %lld.0) * %lld.0, i32)", w->places, run, place,
               run, k, tile);
    build_line(b, "    %s = min(max(%s, 0), %lld)", w->places, w->places, k * tile - 1);
    w->runs = woven_buffer(b, 'c', !rows && b->band->rows.axis ? BUILD_TILE : kind, DT_F32, 1, step,
                           0);
    keep_buffer(b, w->runs);
    build_line(b, "    %s = 0.0", w->runs); /* short runs leave a gap behind them */
    if (!rows && b->band->rows.axis) {
        const char *size = str_format(b->arena, "%lld * %s", k, tile_size(b));
        const char *begins = row_places(b, k * tile);
        w->tile = woven_buffer(b, 'e', BUILD_TILE, DT_I32, 1, step, 0);
        keep_buffer(b, w->tile);
        build_line(b, "    %s[:%lld, :%s] = row(%s[:%s]) + col(%s[:%lld])", w->tile,
                   (long long)b->band->rows.tile, size, w->places, size, begins,
                   (long long)b->band->rows.tile);
    }
    free_places(b);
}

void build_places(Build *b)
{
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (b->wanted[i] && build_is_boxed(b, &b->nest->values.at[i]))
            build_box_places(b, i);
        else if (b->wanted[i] && b->nest->values.at[i].op == NEST_LOAD)
            add_load_places(b, &b->nest->values.at[i]);
    for (uint32_t i = 0; i < b->band->stores.len; i++) {
        const Affine *index = &b->nest->stores.at[b->band->stores.at[i]].index;
        int64_t lanes = build_step(b, index), rows = row_step(b, index);
        if (lanes >= BUILD_STEPS || rows >= BUILD_STEPS)
            b->failed = "single elements of a result are written";
        if (b->failed)
            return;
        add_weave(b, &b->weaves[lanes], lanes, BUILD_LANES);
        add_weave(b, &b->row_weaves[rows], rows, BUILD_ROWS);
    }
}

/* ---- loads ---- */

/* How many elements a run has: lanes of a tile, or rows of one value. */
static const char *run_size(Build *b, BuildKind kind)
{
    return kind == BUILD_ROWS ? build_rows(b) : build_lanes(b);
}

/* The view of a buffer that has `step` elements for each lane, or for each row. */
static const char *wide_view(Build *b, BuildKind kind, const char *buffer, int64_t step)
{
    const char *rows = kind == BUILD_TILE ? str_format(b->arena, ":%s, ", build_rows(b)) : "";
    return str_format(b->arena, "%s[%s:%lld * %s]", buffer, rows, (long long)step,
                      run_size(b, kind));
}

/* The axis that says which element of a step is wanted; 0: the index's number does. */
static uint32_t inner_axis(const Build *b, const NestValue *v)
{
    const LayoutTensor *t = &b->layout->tensors[v->tensor];
    LayoutIndex at[LAYOUT_RANK];
    layout_index(b->nest, t, &v->index, at);
    return at[t->rank - 1].inner;
}

void build_strided_load(Build *b, NestId id, bool *open)
{
    const NestValue *v = &b->nest->values.at[id];
    int64_t step = build_step(b, &v->index);
    BuildStrided s = {v->tensor, v->index, NULL};
    uint32_t inner = inner_axis(b, v);
    Affine walk = affine_axis(inner, -1);
    if (inner)
        affine_add(&s.from, &walk, 1);
    s.from.at -= s.from.at % step;
    for (uint32_t i = 0; i < b->strided.len; i++)
        if (b->strided.at[i].tensor == s.tensor && affine_equal(&b->strided.at[i].from, &s.from))
            s.buffer = b->strided.at[i].buffer;
    const LayoutTensor *t = &b->layout->tensors[v->tensor];
    const LayoutDim *last = &t->dim[t->rank - 1];
    LayoutIndex at[LAYOUT_RANK];
    layout_index(b->nest, t, &v->index, at);
    const LayoutIndex *in = &at[t->rank - 1];
    if (in->axis != b->band->lanes.axis || in->by != step ||
        in->at / step * step + step * b->nest->axes.at[in->axis].size > last->size)
        b->failed = "a tensor is read in steps and element by element";
    if (!s.buffer) {
        BuildKind kind = build_kind(b, v->axes);
        s.buffer = build_wide(b, 'a', kind, b->nest->tensors.at[v->tensor].dtype, b->load_depth,
                              step, id);
        if (!*open)
            build_line(b, "with copyin():");
        *open = true;
        build_line(b, "    load(%s, %s)", wide_view(b, kind, s.buffer, step),
                   build_access(b, v->tensor, &v->index));
        vec_push(b->arena, &b->strided, s);
    }
    b->picked_from[id] = s.buffer;
}

const char *build_picked(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    DType dtype = b->nest->tensors.at[v->tensor].dtype;
    long long step = build_step(b, &v->index), place = v->index.at % step;
    uint32_t inner = inner_axis(b, v);
    BuildKind kind = build_kind(b, v->axes);
    const char *buffer = build_result(b, dtype == DT_F32 ? 'v' : 'h', kind, dtype, id);
    const char *lanes = build_lanes(b), *from = b->picked_from[id], *places = b->picks[step];
    if (dtype_bytes(dtype) != 4 && dtype_bytes(dtype) != 2)
        b->failed = "single bytes are picked";
    if (kind == BUILD_TILE) {
        const char *first = inner ? str_format(b->arena, "j%u + %lld", inner, place)
                                  : str_format(b->arena, "%lld", place);
        places = find_table(b, strided_pitch(b, v), step);
        build_line(b, "%s = gather(%s[:%s, %s : %lld * %s], %s)", build_view(b, kind, buffer), from,
                   build_rows(b), first, step, lanes, build_view(b, kind, places));
        return build_view(b, kind, buffer);
    }
    if (inner || place) {
        places = build_wide(b, 'p', BUILD_LANES, DT_I32, 1, 1, id);
        if (inner)
            build_line(b, "%s[:%s] = %s[:%s] + (j%u + %lld)", places, lanes, b->picks[step], lanes,
                       inner, place);
        else
            build_line(b, "%s[:%s] = %s[:%s] + %lld", places, lanes, b->picks[step], lanes, place);
    }
    build_line(b, "%s[:%s] = gather(%s[:%lld * %s], %s[:%s])", buffer, lanes, from, step, lanes,
               places, lanes);
    return build_view(b, kind, buffer);
}

/* ---- rows and lanes exchanged ---- */

/* Both are walked one by one along dimensions of their own. */
static bool is_exchanged(const Build *b, const NestValue *v)
{
    const LayoutTensor *t = &b->layout->tensors[v->tensor];
    LayoutIndex at[LAYOUT_RANK];
    uint32_t found = 0;
    layout_index(b->nest, t, &v->index, at);
    for (uint32_t i = 0; i < t->rank; i++)
        found += band_is_tiled(b->band, at[i].axis) && at[i].axis && at[i].by == 1 && !at[i].inner;
    return found == 2 && at[t->rank - 1].axis == b->band->rows.axis;
}

void build_transposed_load(Build *b, NestId id, bool *open)
{
    const NestValue *v = &b->nest->values.at[id];
    BuildBuffer want = {.kind = BUILD_TILE,
                        .dtype = b->nest->tensors.at[v->tensor].dtype,
                        .depth = b->load_depth,
                        .stem = 'a',
                        .rows = b->band->lanes.tile,
                        .lanes = transposed_pitch(b),
                        .times = 1,
                        .owner = id};
    if (!is_exchanged(b, v))
        b->failed = "a tensor is read in steps and element by element";
    const char *buffer = build_take(b, want);
    if (!*open)
        build_line(b, "with copyin():");
    *open = true;
    build_line(b, "    load(%s[:%s, :%s], %s)", buffer, build_lanes(b), build_rows(b),
               build_access(b, v->tensor, &v->index));
    b->picked_from[id] = buffer;
}

const char *build_transposed(Build *b, NestId id)
{
    DType dtype = b->nest->tensors.at[b->nest->values.at[id].tensor].dtype;
    const char *buffer = build_result(b, dtype == DT_F32 ? 'v' : 'h', BUILD_TILE, dtype, id);
    const char *places = find_table(b, 1, transposed_pitch(b)), *view;
    if (dtype_bytes(dtype) != 4 && dtype_bytes(dtype) != 2)
        b->failed = "single bytes are picked";
    view = build_view(b, BUILD_TILE, buffer);
    build_line(b, "%s = gather(%s[:%s, :%s], %s)", view, b->picked_from[id], build_lanes(b),
               build_rows(b), build_view(b, BUILD_TILE, places));
    return view;
}

bool build_is_turned(const Build *b, const Affine *index)
{
    return b->band->rows.axis && affine_by(index, b->band->rows.axis) < 0;
}

const char *build_turned(Build *b, NestId id)
{
    DType dtype = b->nest->tensors.at[b->nest->values.at[id].tensor].dtype;
    const char *buffer = build_result(b, dtype == DT_F32 ? 'v' : 'h', BUILD_TILE, dtype, id);
    const char *lanes = build_lanes(b), *rows = build_rows(b), *from = b->name[id];
    int stem = 0;
    while (from[stem] && from[stem] != '[')
        stem++;
    build_line(b, "for k_ in range(%s):", rows);
    build_line(b, "    %s[k_, :%s] = %.*s[%s - 1 - k_, :%s]", buffer, lanes, stem, from, rows,
               lanes);
    return build_view(b, BUILD_TILE, buffer);
}

/* ---- stores ---- */

/* The store of the same results that writes element `at` of each step. */
static const NestStore *store_at(const Build *b, const NestStore *store, int64_t step, int64_t at)
{
    for (uint32_t i = 0; i < b->band->stores.len; i++) {
        const NestStore *s = &b->nest->stores.at[b->band->stores.at[i]];
        Affine apart = s->index;
        if (s->tensor == store->tensor && affine_add(&apart, &store->index, -1) && !apart.n &&
            s->index.at / step == store->index.at / step && s->index.at % step == at)
            return s;
    }
    return NULL;
}

/* Whether the tensor's last dimension is walked in steps, all elements of which lie in it. */
static bool is_flat(const Build *b, const NestStore *store, uint32_t axis, int64_t step)
{
    const LayoutTensor *t = &b->layout->tensors[store->tensor];
    LayoutIndex at[LAYOUT_RANK];
    layout_index(b->nest, t, &store->index, at);
    return at[t->rank - 1].axis == axis && at[t->rank - 1].by == step;
}

void build_strided_store(Build *b, const NestStore *store)
{
    uint64_t axes = 0;
    for (uint32_t i = 0; i < store->index.n; i++)
        axes |= UINT64_C(1) << store->index.term[i].axis;
    BuildKind kind = build_kind(b, axes);
    bool by_rows = kind == BUILD_ROWS, rows = kind == BUILD_TILE;
    int64_t step = by_rows ? row_step(b, &store->index) : build_step(b, &store->index);
    const BandTile *run = by_rows ? &b->band->rows : &b->band->lanes;
    const BuildWeave *w = by_rows ? &b->row_weaves[step] : &b->weaves[step];
    long long tile = run_begin(b, kind), k = step;
    DType dtype = b->nest->tensors.at[store->tensor].dtype;
    if (store->index.at % step)
        return; /* written with the first */
    if (!is_flat(b, store, run->axis, step))
        b->failed = "single elements of a result are written";
    const char *size = run_size(b, kind);
    const char *out = woven_buffer(b, 'o', kind, dtype, b->store_depth, step, 0);
    const char *all_rows = rows ? str_format(b->arena, ":%s, ", build_rows(b)) : "";
    build_line(b, "with compute():");
    b->depth++;
    for (int64_t i = 0; i < step; i++) {
        const NestStore *s = store_at(b, store, step, i);
        if (!s || build_kind(b, b->nest->values.at[s->value].axes) != kind) {
            b->failed = "single elements of a result are written";
            continue;
        }
        const char *expr = build_expr(b, s->value);
        build_line(b, "%s[%s%lld : %lld + %s] = %s", w->runs, all_rows, (long long)i * tile,
                   (long long)i * tile, size, expr);
    }
    const char *wide = dtype == DT_F32 ? out : woven_buffer(b, 'w', kind, DT_F32, 1, step, 0);
    if (rows) {
        build_line(b, "%s = gather(%s[:%s, :%lld], %s)", wide_view(b, kind, wide, k), w->runs,
                   build_rows(b), k * tile, wide_view(b, kind, w->tile, k));
    } else {
        build_line(b, "%s[:%lld * %s] = gather(%s, %s[:%lld * %s])", wide, k, size, w->runs,
                   w->places, k, size);
    }
    if (dtype != DT_F32)
        build_line(b, "%s = cast(%s, %s)", wide_view(b, kind, out, step),
                   wide_view(b, kind, wide, step), dtype_name(dtype));
    b->depth--;
    build_line(b, "with copyout():");
    build_line(b, "    store(%s, %s)", build_access(b, store->tensor, &store->index),
               wide_view(b, kind, out, step));
}
