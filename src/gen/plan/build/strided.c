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
    b->picks[step] = build_wide(b, 'e', DT_I32, 1, 1, 0);
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
    const char *place = build_wide(b, 'u', DT_F32, 1, step, 1);
    const char *run = build_wide(b, 'u', DT_F32, 1, step, 2);
    b->weaves[step] = build_wide(b, 'e', DT_I32, 1, step, 0);
    keep_buffer(b, b->weaves[step]);
    build_line(b, "with compute():");
    build_line(b, "    %s = iota(0.0, 1.0, f32)", place);
    build_line(b, "    %s = floor((%s + 0.5) * %.9g)", run, place, 1.0 / (double)k);
    build_line(b, "    %s = cast(%s + (%s - %s * %lld.0) * %lld.0, i32)", b->weaves[step], run,
               place, run, k, tile);
    build_line(b, "    %s = min(max(%s, 0), %lld)", b->weaves[step], b->weaves[step], k * tile - 1);
    b->runs[step] = build_wide(b, 'c', DT_F32, 1, step, 0);
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

void build_strided_load(Build *b, NestId id, bool *open)
{
    const NestValue *v = &b->nest->values.at[id];
    int64_t step = build_step(b, &v->index);
    BuildStrided s = {v->tensor, v->index, NULL};
    s.from.at -= s.from.at % step;
    for (uint32_t i = 0; i < b->strided.len; i++)
        if (b->strided.at[i].tensor == s.tensor && affine_equal(&b->strided.at[i].from, &s.from))
            s.buffer = b->strided.at[i].buffer;
    const LayoutTensor *t = &b->layout->tensors[v->tensor];
    if (t->dim[t->rank - 1].stride != step)
        b->failed = "a tensor is read in steps and element by element";
    if (!s.buffer) {
        s.buffer = build_wide(b, 'a', b->nest->tensors.at[v->tensor].dtype, b->load_depth, step,
                              id);
        if (!*open)
            build_line(b, "with copyin():");
        *open = true;
        build_line(b, "    load(%s[:%lld * t.size], %s)", s.buffer, (long long)step,
                   build_access(b, v->tensor, &v->index));
        vec_push(b->arena, &b->strided, s);
    }
    b->picked_from[id] = s.buffer;
}

const char *build_picked(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    DType dtype = b->nest->tensors.at[v->tensor].dtype;
    long long step = build_step(b, &v->index), at = v->index.at % step;
    const char *view = build_view(
        b, BUILD_LANES, build_buffer(b, dtype == DT_F32 ? 'v' : 'h', BUILD_LANES, dtype, 1, id));
    const char *places = str_format(b->arena, "%s[:t.size]", b->picks[step]);
    if (at)
        places = str_format(b->arena, "%s + %lld", places, at);
    if (dtype_bytes(dtype) != 4 && dtype_bytes(dtype) != 2)
        b->failed = "single bytes are picked";
    build_line(b, "%s = gather(%s[:%lld * t.size], %s)", view, b->picked_from[id], step, places);
    return view;
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
    const char *runs = b->runs[step];
    const char *out = build_wide(b, 'o', dtype, b->store_depth, step, 0);
    build_line(b, "with compute():");
    b->depth++;
    for (int64_t i = 0; i < step; i++) {
        const NestStore *s = store_at(b, store, step, i);
        if (!s) {
            b->failed = "single elements of a result are written";
            continue;
        }
        const char *expr = build_expr(b, s->value);
        build_line(b, "%s[%lld : %lld + t.size] = %s", runs, (long long)i * tile,
                   (long long)i * tile, expr);
    }
    const char *woven = str_format(b->arena, "gather(%s, %s[:%lld * t.size])", runs,
                                   b->weaves[step], k);
    if (dtype == DT_F32) {
        build_line(b, "%s[:%lld * t.size] = %s", out, k, woven);
    } else {
        const char *wide = build_wide(b, 'w', DT_F32, 1, step, 0);
        build_line(b, "%s[:%lld * t.size] = %s", wide, k, woven);
        build_line(b, "%s[:%lld * t.size] = cast(%s[:%lld * t.size], %s)", out, k, wide, k,
                   dtype_name(dtype));
    }
    b->depth--;
    build_line(b, "with copyout():");
    build_line(b, "    store(%s, %s[:%lld * t.size])",
               build_access(b, store->tensor, &store->index), out, k);
}
