/* The copies of a band: what a tile reads, what it stores. In: a band, the values that are needed now. Out: lines of its
 * kernel, with the stages that copy. */
#include "gen/plan/build/build_int.h"

/* What is only copied in and out has one buffer for both, and as many of them. */
enum { STRAIGHT = 2 };

static uint64_t bit(uint32_t axis) { return axis ? UINT64_C(1) << axis : 0; }

/* Whether the rows from `first` to `last` behind those of the access lie in the same dimension of the tensor. */
static bool rows_inside(const Build *b, const NestValue *v, int64_t first, int64_t last)
{
    const LayoutTensor *t = &b->layout->tensors[v->tensor];
    LayoutIndex at[LAYOUT_RANK];
    layout_index(b->nest, t, &v->index, at);
    for (uint32_t i = 0; i < t->rank; i++)
        if (at[i].axis == b->band->rows.axis)
            return at[i].at + first >= 0 &&
                   at[i].at + last + b->nest->axes.at[at[i].axis].size <= t->dim[i].size;
    return false;
}

/* Loads that differ by whole rows alone are one copy of all their rows, and each is a view of it. */
static bool load_shifted(Build *b, NestId id, const bool *now, bool *open)
{
    const NestValue *v = &b->nest->values.at[id];
    int64_t by = affine_by(&v->index, b->band->rows.axis), first = 0, last = 0;
    for (NestId i = 1; i < b->nest->values.len; i++) {
        int64_t rows;
        if (!now[i] || b->name[i] || !schedule_shifted(b->nest, b->band, id, i, &rows))
            continue;
        first = rows < first ? rows : first;
        last = rows > last ? rows : last;
    }
    if (first == last || b->band->rows.whole || !rows_inside(b, v, first, last))
        return false;
    BuildBuffer want = {.kind = BUILD_TILE,
                        .dtype = b->nest->tensors.at[v->tensor].dtype,
                        .depth = b->load_depth,
                        .stem = 'a',
                        .rows = b->band->rows.tile + last - first,
                        .lanes = b->band->lanes.tile,
                        .times = 1,
                        .owner = id};
    const char *buffer = build_take(b, want), *lanes = build_lanes(b);
    Affine from = v->index;
    from.at += first * by;
    if (!*open)
        build_line(b, "with copyin():");
    *open = true;
    build_line(b, "    load(%s[:r.size + %lld, :%s], %s)", buffer, (long long)(last - first), lanes,
               build_access_rows(b, v->tensor, &from, last - first));
    for (NestId i = 1; i < b->nest->values.len; i++) {
        int64_t rows;
        if (!now[i] || b->name[i] || !schedule_shifted(b->nest, b->band, id, i, &rows))
            continue;
        rows -= first;
        b->name[i] = rows ? str_format(b->arena, "%s[%lld : %lld + r.size, :%s]", buffer,
                                       (long long)rows, (long long)rows, lanes)
                          : build_view(b, BUILD_TILE, buffer);
    }
    return true;
}

static void open_copyin(Build *b, bool *open)
{
    if (!*open)
        build_line(b, "with copyin():");
    *open = true;
}

/* Loads of a kind of their own; false: it is a plain copy. */
static bool load_special(Build *b, NestId id, const bool *now, bool *open)
{
    const NestValue *v = &b->nest->values.at[id];
    if (build_is_boxed(b, v)) {
        build_box_load(b, id, open);
        return true;
    }
    if (build_is_transposed(b, &v->index)) {
        build_transposed_load(b, id, open);
        return true;
    }
    if (build_step(b, &v->index) > 1) {
        build_strided_load(b, id, open);
        return true;
    }
    return (build_kind(b, v->axes) == BUILD_TILE && load_shifted(b, id, now, open)) ||
           build_load_joined(b, id, now, open);
}

/* It is stored from where it was loaded. */
static bool passes_through(const Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    return build_goes_straight(b, id, b->nest->tensors.at[v->tensor].dtype, UINT32_MAX);
}

static void load_plain(Build *b, NestId id, const char *view)
{
    const NestValue *v = &b->nest->values.at[id];
    b->frame = v->axes;
    b->depth++;
    build_line(b, "load(%s, %s)", view, build_access(b, v->tensor, &v->index));
    b->depth--;
    b->name[id] = view;
    b->straight[id] = passes_through(b, id);
    b->frame = 0;
}

static void load_alone(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    BuildKind kind = build_kind(b, v->axes);
    DType dtype = b->nest->tensors.at[v->tensor].dtype;
    b->frame = v->axes;
    int depth = passes_through(b, id) ? STRAIGHT * b->load_depth : b->load_depth;
    const char *buffer = build_buffer(b, 'a', kind, dtype, depth, id);
    load_plain(b, id, build_view(b, kind, buffer));
}

/* Whether two plain copies may be parts of one buffer: then they take one place in the queue, and its bookkeeping is
 * done once. */
static bool packs(const Build *b, NestId id, NestId with)
{
    const NestValue *v = &b->nest->values.at[id], *w = &b->nest->values.at[with];
    return nest_roots(b->nest, v->axes) == v->axes && nest_roots(b->nest, w->axes) == w->axes &&
           build_kind(b, v->axes) == build_kind(b, w->axes) &&
           build_kind(b, v->axes) != BUILD_ROWS &&
           b->nest->tensors.at[v->tensor].dtype == b->nest->tensors.at[w->tensor].dtype &&
           passes_through(b, id) == passes_through(b, with);
}

/* All plain copies that pack with the first of them, one behind the other. */
static void load_packed(Build *b, NestId *plain, uint32_t n)
{
    const NestValue *v = &b->nest->values.at[plain[0]];
    bool tile = build_kind(b, v->axes) == BUILD_TILE;
    NestId first = plain[0];
    uint32_t parts = 0;
    for (uint32_t i = 0; i < n; i++)
        parts += plain[i] && packs(b, first, plain[i]);
    if (parts < 2) {
        load_alone(b, first);
        return;
    }
    int64_t rows = tile ? b->band->rows.tile : 1;
    int more = passes_through(b, first) ? STRAIGHT : 1;
    BuildBuffer want = {.kind = BUILD_TILE,
                        .dtype = b->nest->tensors.at[v->tensor].dtype,
                        .depth = more * b->load_depth,
                        .stem = 'a',
                        .rows = rows * parts,
                        .lanes = b->band->lanes.tile,
                        .times = 1,
                        .owner = first};
    const char *buffer = build_take(b, want), *lanes = build_lanes(b);
    for (uint32_t i = 0, part = 0; i < n; i++) {
        long long from = rows * part;
        if (!plain[i] || !packs(b, first, plain[i]))
            continue;
        load_plain(b, plain[i],
                   !tile  ? str_format(b->arena, "%s[%lld, :%s]", buffer, from, lanes)
                   : from ? str_format(b->arena, "%s[%lld : %lld + %s, :%s]", buffer, from, from,
                                       build_rows(b), lanes)
                          : build_view(b, BUILD_TILE, buffer));
        plain[i] = 0;
        part++;
    }
}

static void load_values(Build *b, const bool *now, bool *open)
{
    NestId *plain = arena_array(b->arena, NestId, b->nest->values.len);
    uint32_t n = 0;
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (now[i] && b->nest->values.at[i].op == NEST_LOAD && !b->name[i] &&
            !load_special(b, i, now, open))
            plain[n++] = i;
    if (n)
        open_copyin(b, open);
    for (uint32_t i = 0; i < n; i++)
        if (plain[i])
            load_packed(b, plain + i, n - i);
}

/* A scalar is read from memory itself. */
static void read_scalar(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    DType dtype = b->nest->tensors.at[v->tensor].dtype;
    const char *access = build_access(b, v->tensor, &v->index);
    if (dtype == DT_BOOL)
        b->failed = "one boolean is read as a number";
    b->name[id] = build_scalar(b);
    build_line(b, dtype_is_int(dtype) ? "%s = f32(%s)" : "%s = %s", b->name[id], access);
}

/* What was loaded in another dtype is computed with in f32. */
void build_cast_loads(Build *b, const bool *now)
{
    for (uint32_t i = 1; i < b->nest->values.len; i++) {
        const NestValue *v = &b->nest->values.at[i];
        BuildKind kind = build_kind(b, v->axes);
        if (!now[i] || v->op != NEST_LOAD || kind == BUILD_SCALAR)
            continue;
        if (build_is_boxed(b, v))
            b->name[i] = build_boxed(b, i);
        else if (build_step(b, &v->index) > 1)
            b->name[i] = build_picked(b, i);
        else if (build_is_transposed(b, &v->index))
            b->name[i] = build_transposed(b, i);
        else if (kind == BUILD_TILE && build_is_turned(b, &v->index))
            b->name[i] = build_turned(b, i);
        if (b->nest->tensors.at[v->tensor].dtype == DT_F32 || b->straight[i])
            continue;
        b->frame = v->axes;
        const char *wide = build_view(b, kind, build_buffer(b, 'v', kind, DT_F32, 1, i));
        build_line(b, "%s = cast(%s, f32)", wide, b->name[i]);
        b->name[i] = wide;
        b->frame = 0;
    }
}

void build_load_all(Build *b, const bool *now)
{
    bool open = false;
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (now[i] && b->nest->values.at[i].op == NEST_MERGE && !b->name[i])
            build_merge(b, i);
    for (uint32_t i = 1; i < b->nest->values.len; i++)
        if (now[i] && b->nest->values.at[i].op == NEST_LOAD &&
            build_kind(b, b->nest->values.at[i].axes) == BUILD_SCALAR)
            read_scalar(b, i);
    load_values(b, now, &open);
    b->strided.len = 0;
}

void build_store_value(Build *b, const NestStore *store)
{
    const NestValue *v = &b->nest->values.at[store->value];
    DType dtype = b->nest->tensors.at[store->tensor].dtype;
    uint64_t axes = 0;
    for (uint32_t i = 0; i < store->index.n; i++)
        axes |= bit(store->index.term[i].axis);
    BuildKind kind = build_kind(b, axes), of = build_kind(b, v->axes);
    if (v->mask && (kind == BUILD_SCALAR || build_is_woven(b, &store->index)))
        b->failed = "single booleans, or some in turns, are stored";
    else if (kind == BUILD_SCALAR && !store->index.n)
        build_store_one(b, store);
    else if (kind == BUILD_SCALAR)
        b->failed = "a result would be stored one element at a time";
    if (b->failed)
        return;
    if (build_is_woven(b, &store->index))
        build_strided_store(b, store);
    if (kind == BUILD_SCALAR || build_is_woven(b, &store->index) || build_store_joined(b, store) ||
        build_store_straight(b, store))
        return;
    const char *buffer = build_buffer(b, 'o', kind, dtype, b->store_depth, 0);
    const char *view = build_view(b, kind, buffer);
    build_line(b, "with compute():");
    b->depth++;
    bool spread = kind == BUILD_TILE && (of == BUILD_ROWS || of == BUILD_LANES);
    const char *expr = v->mask  ? NULL
                       : spread ? str_format(b->arena, "%s(%s)", of == BUILD_ROWS ? "col" : "row",
                                             build_named(b, store->value))
                                : build_expr(b, store->value);
    if (dtype == DT_F32) {
        build_line(b, "%s = %s", view, expr);
    } else if (v->mask) {
        build_line(b, "%s = cast(%s, bool)", view, build_expr_at(b, store->value, kind));
    } else {
        const char *wide = b->name[store->value] && of == kind
                               ? b->name[store->value]
                               : build_view(b, kind, build_buffer(b, 'w', kind, DT_F32, 1, 0));
        if (wide != b->name[store->value])
            build_line(b, "%s = %s", wide, expr);
        build_line(b, "%s = cast(%s, %s)", view, wide, dtype_name(dtype));
    }
    b->depth--;
    build_line(b, "with copyout():");
    b->depth++;
    b->core = "core_id()";
    build_line(b, "store(%s, %s)", build_access(b, store->tensor, &store->index), view);
    b->depth--;
}
