/* Tiles of which memory holds every k-th element. In: accesses that walk their lanes in steps. Out: copies of
 * all elements; what is wanted is gathered on chip, and results that are written in turns are woven. */
#include "gen/plan/build/build_int.h"

int64_t build_step(const Build *b, const Affine *index)
{
    int64_t by = affine_by(index, b->band->lanes.axis);
    return by > 1 ? by : 1;
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

/* Place i of what is woven is element i / step of run i % step, and run r begins at r * tile. */
static void add_weave(Build *b, int64_t step)
{
    long long tile = b->band->lanes.tile, k = step;
    if (step < 2 || b->weaves[step])
        return;
    const char *place = build_wide(b, 'u', BUILD_LANES, DT_F32, 1, step, 1);
    const char *run = build_wide(b, 'u', BUILD_LANES, DT_F32, 1, step, 2);
    b->weaves[step] = build_wide(b, 'e', BUILD_LANES, DT_I32, 1, step, 0);
    keep_buffer(b, b->weaves[step]);
    build_line(b, "with compute():");
    build_line(b, "    %s = iota(0.0, 1.0, f32)", place);
    build_line(b, "    %s = floor((%s + 0.5) * %.9g)", run, place, 1.0 / (double)k);
    build_line(b, "    %s = cast(%s + (%s - %s * %lld.0) * %lld.0, i32)", b->weaves[step], run,
               place, run, k, tile);
    build_line(b, "    %s = min(max(%s, 0), %lld)", b->weaves[step], b->weaves[step], k * tile - 1);
    b->runs[step] = build_wide(b, 'c', b->band->rows.axis ? BUILD_TILE : BUILD_LANES, DT_F32, 1,
                               step, 0);
    keep_buffer(b, b->runs[step]);
    build_line(b, "    %s = 0.0", b->runs[step]); /* short runs leave a gap behind them */
    for (uint32_t i = 0; i < b->pool->len; i++)
        b->pool->at[i].owner = b->pool->at[i].stem == 'u' ? 0 : b->pool->at[i].owner;
}

void build_places(Build *b)
{
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (b->wanted[i] && b->nest->values.at[i].op == NEST_LOAD)
            add_picks(b, build_step(b, &b->nest->values.at[i].index));
    for (uint32_t i = 0; i < b->band->stores.len; i++)
        add_weave(b, build_step(b, &b->nest->stores.at[b->band->stores.at[i]].index));
}

/* ---- loads ---- */

/* The view of a buffer that has `step` elements for each lane. */
static const char *wide_view(Build *b, BuildKind kind, const char *buffer, int64_t step)
{
    const char *rows = kind == BUILD_TILE ? str_format(b->arena, ":%s, ", build_rows(b)) : "";
    return str_format(b->arena, "%s[%s:%lld * %s]", buffer, rows, (long long)step, build_lanes(b));
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
    const char *buffer = build_buffer(b, dtype == DT_F32 ? 'v' : 'h', kind, dtype, 1, id);
    const char *lanes = build_lanes(b), *from = b->picked_from[id], *places = b->picks[step];
    if (dtype_bytes(dtype) != 4 && dtype_bytes(dtype) != 2)
        b->failed = "single bytes are picked";
    if (inner || place) {
        places = build_wide(b, 'p', BUILD_LANES, DT_I32, 1, 1, id);
        if (inner)
            build_line(b, "%s[:%s] = %s[:%s] + (j%u + %lld)", places, lanes, b->picks[step], lanes,
                       inner, place);
        else
            build_line(b, "%s[:%s] = %s[:%s] + %lld", places, lanes, b->picks[step], lanes, place);
    }
    if (kind == BUILD_TILE) {
        build_line(b, "for k_ in range(%s):", build_rows(b));
        build_line(b, "    %s[k_, :%s] = gather(%s[k_, :%lld * %s], %s[:%s])", buffer, lanes, from,
                   step, lanes, places, lanes);
    } else {
        build_line(b, "%s[:%s] = gather(%s[:%lld * %s], %s[:%s])", buffer, lanes, from, step, lanes,
                   places, lanes);
    }
    return build_view(b, kind, buffer);
}

bool build_is_turned(const Build *b, const Affine *index)
{
    return b->band->rows.axis && affine_by(index, b->band->rows.axis) < 0;
}

const char *build_turned(Build *b, NestId id)
{
    DType dtype = b->nest->tensors.at[b->nest->values.at[id].tensor].dtype;
    const char *buffer = build_buffer(b, dtype == DT_F32 ? 'v' : 'h', BUILD_TILE, dtype, 1, id);
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

void build_strided_store(Build *b, const NestStore *store)
{
    int64_t step = build_step(b, &store->index);
    long long tile = b->band->lanes.tile, k = step;
    DType dtype = b->nest->tensors.at[store->tensor].dtype;
    if (store->index.at % step)
        return; /* written with the first */
    uint64_t axes = 0;
    for (uint32_t i = 0; i < store->index.n; i++)
        axes |= UINT64_C(1) << store->index.term[i].axis;
    BuildKind kind = build_kind(b, axes);
    bool rows = kind == BUILD_TILE;
    const char *lanes = build_lanes(b), *runs = b->runs[step];
    const char *out = build_wide(b, 'o', kind, dtype, b->store_depth, step, 0);
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
        build_line(b, "%s[%s%lld : %lld + %s] = %s", runs, all_rows, (long long)i * tile,
                   (long long)i * tile, lanes, expr);
    }
    const char *wide = dtype == DT_F32 ? out : build_wide(b, 'w', kind, DT_F32, 1, step, 0);
    if (rows) {
        build_line(b, "for k_ in range(%s):", build_rows(b));
        build_line(b, "    %s[k_, :%lld * %s] = gather(%s[k_, :%lld], %s[:%lld * %s])", wide, k,
                   lanes, runs, k * tile, b->weaves[step], k, lanes);
    } else {
        build_line(b, "%s[:%lld * %s] = gather(%s, %s[:%lld * %s])", wide, k, lanes, runs,
                   b->weaves[step], k, lanes);
    }
    if (dtype != DT_F32)
        build_line(b, "%s = cast(%s, %s)", wide_view(b, kind, out, step),
                   wide_view(b, kind, wide, step), dtype_name(dtype));
    b->depth--;
    build_line(b, "with copyout():");
    build_line(b, "    store(%s, %s)", build_access(b, store->tensor, &store->index),
               wide_view(b, kind, out, step));
}
