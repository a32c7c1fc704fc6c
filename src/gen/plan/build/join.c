/* Copies that lie beside each other in memory. In: loads and stores of whole lanes that differ by a number of
 * lanes: the halves of a row, its quarters. Out: one copy for all of them, of which each is some columns. */
#include "gen/plan/build/build_int.h"

enum { MOST_JOINED = 8, MOST_WIDE = 2048 /* elements */ };

/* The lanes of every turn, as a number; 0: not whole, or of any size. */
static int64_t whole_lanes(const Build *b)
{
    const BandTile *lanes = &b->band->lanes;
    return lanes->whole && !b->layout->free[lanes->axis] ? b->nest->axes.at[lanes->axis].size : 0;
}

static bool is_joinable(DType dtype, int64_t lanes)
{
    return lanes && lanes * (int64_t)dtype_bytes(dtype) % 32 == 0;
}

/* The last dimension has that many elements from where the access begins. */
static bool has_room(const Build *b, uint32_t tensor, const Affine *index, int64_t elements)
{
    const LayoutTensor *t = &b->layout->tensors[tensor];
    LayoutIndex at[LAYOUT_RANK];
    layout_index(b->nest, t, index, at);
    const LayoutIndex *last = &at[t->rank - 1];
    return last->axis == b->band->lanes.axis && !last->inner &&
           last->at + elements <= t->dim[t->rank - 1].size;
}

static const char *columns(Build *b, BuildKind kind, const char *buffer, int64_t from, int64_t n)
{
    const char *rows = kind == BUILD_TILE ? str_format(b->arena, ":%s, ", build_rows(b)) : "";
    return str_format(b->arena, "%s[%s%lld : %lld]", buffer, rows, (long long)from,
                      (long long)(from + n));
}

static const char *joined_buffer(Build *b, char stem, BuildKind kind, DType dtype, int depth,
                                 int64_t lanes, NestId owner)
{
    BuildBuffer want = {.kind = kind,
                        .dtype = dtype,
                        .depth = depth,
                        .stem = stem,
                        .rows = b->band->rows.tile,
                        .lanes = lanes,
                        .times = 1,
                        .owner = owner};
    return build_take(b, want);
}

/* ---- loads ---- */

/* The load that lies `lanes` behind the first, still to be made. 0: there is none. */
static NestId load_behind(const Build *b, NestId first, const bool *now, int64_t lanes)
{
    const NestValue *v = &b->nest->values.at[first];
    int64_t apart;
    for (NestId i = 1; i < b->nest->values.len; i++) {
        const NestValue *w = &b->nest->values.at[i];
        if (now[i] && w->op == NEST_LOAD && !b->name[i] && w->tensor == v->tensor &&
            w->axes == v->axes && schedule_beside(b->band, &v->index, &w->index, &apart) &&
            apart == lanes)
            return i;
    }
    return 0;
}

bool build_load_joined(Build *b, NestId id, const bool *now, bool *open)
{
    const NestValue *v = &b->nest->values.at[id];
    DType dtype = b->nest->tensors.at[v->tensor].dtype;
    int64_t lanes = whole_lanes(b), n = 1;
    BuildKind kind = build_kind(b, v->axes);
    NestId first = id, before;
    if (!is_joinable(dtype, lanes) || (kind != BUILD_TILE && kind != BUILD_LANES))
        return false;
    while ((before = load_behind(b, first, now, -lanes)) != 0)
        first = before;
    while (n < MOST_JOINED && (n + 1) * lanes <= MOST_WIDE && load_behind(b, first, now, n * lanes))
        n++;
    const Affine from = b->nest->values.at[first].index;
    if (n == 1 || !has_room(b, v->tensor, &from, n * lanes))
        return false;
    const char *buffer = joined_buffer(b, 'a', kind, dtype, b->load_depth, n * lanes, first);
    if (!*open)
        build_line(b, "with copyin():");
    *open = true;
    build_line(b, "    load(%s, %s)", columns(b, kind, buffer, 0, n * lanes),
               build_access_more(b, v->tensor, &from, 0, (n - 1) * lanes));
    for (int64_t i = n; i-- > 0;) {
        NestId one = i ? load_behind(b, first, now, i * lanes) : first;
        b->name[one] = columns(b, kind, buffer, i * lanes, lanes);
    }
    return b->name[id] != NULL;
}

/* ---- stores ---- */

static const NestStore *store_behind(const Build *b, const NestStore *store, int64_t lanes)
{
    int64_t apart;
    for (uint32_t i = 0; i < b->band->stores.len; i++) {
        const NestStore *s = &b->nest->stores.at[b->band->stores.at[i]];
        if (s->tensor == store->tensor &&
            schedule_beside(b->band, &store->index, &s->index, &apart) && apart == lanes)
            return s;
    }
    return NULL;
}

/* The first of the stores that are one copy with this one; how many they are. 1: it is a copy of its own. */
static int64_t joined_run(const Build *b, const NestStore *store, const NestStore **first)
{
    DType dtype = b->nest->tensors.at[store->tensor].dtype;
    int64_t lanes = whole_lanes(b), n = 1;
    uint64_t axes = 0;
    const NestStore *other;
    *first = store;
    for (uint32_t i = 0; i < store->index.n; i++)
        axes |= UINT64_C(1) << store->index.term[i].axis;
    if (!is_joinable(dtype, lanes) || !is_joinable(DT_F32, lanes) ||
        build_kind(b, axes) == BUILD_ROWS || b->nest->values.at[store->value].mask)
        return 1;
    while ((other = store_behind(b, *first, -lanes)) != NULL)
        *first = other;
    while (n < MOST_JOINED && (n + 1) * lanes <= MOST_WIDE && store_behind(b, *first, n * lanes))
        n++;
    return store_behind(b, *first, n * lanes) ||
                   !has_room(b, store->tensor, &(*first)->index, n * lanes)
               ? 1
               : n;
}

bool build_store_joins(const Build *b, const NestStore *store)
{
    const NestStore *first;
    return joined_run(b, store, &first) > 1;
}

bool build_store_joined(Build *b, const NestStore *store)
{
    DType dtype = b->nest->tensors.at[store->tensor].dtype;
    const NestStore *first;
    int64_t lanes = whole_lanes(b), n = joined_run(b, store, &first);
    uint64_t axes = 0;
    for (uint32_t i = 0; i < store->index.n; i++)
        axes |= UINT64_C(1) << store->index.term[i].axis;
    BuildKind kind = build_kind(b, axes);
    if (n == 1)
        return false;
    if (store != first)
        return true; /* written with the first */
    const char *out = joined_buffer(b, 'o', kind, dtype, b->store_depth, n * lanes, 0);
    const char *wide = dtype == DT_F32 ? out : joined_buffer(b, 'w', kind, DT_F32, 1, n * lanes, 0);
    build_line(b, "with compute():");
    b->depth++;
    for (int64_t i = 0; i < n; i++) {
        const NestStore *s = i ? store_behind(b, first, i * lanes) : first;
        BuildKind of = build_kind(b, b->nest->values.at[s->value].axes);
        bool spread = kind == BUILD_TILE && (of == BUILD_ROWS || of == BUILD_LANES);
        const char *expr = spread ? str_format(b->arena, "%s(%s)", of == BUILD_ROWS ? "col" : "row",
                                               build_named(b, s->value))
                                  : build_expr(b, s->value);
        build_line(b, "%s = %s", columns(b, kind, wide, i * lanes, lanes), expr);
    }
    if (wide != out)
        build_line(b, "%s = cast(%s, %s)", columns(b, kind, out, 0, n * lanes),
                   columns(b, kind, wide, 0, n * lanes), dtype_name(dtype));
    b->depth--;
    build_line(b, "with copyout():");
    b->core = "core_id()";
    build_line(b, "    store(%s, %s)",
               build_access_more(b, store->tensor, &first->index, 0, (n - 1) * lanes),
               columns(b, kind, out, 0, n * lanes));
    return true;
}
