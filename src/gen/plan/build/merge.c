/* Partial results: of the turns of a loop, and of all cores. In: reductions and workspaces. Out: lines. */
#include "gen/plan/build/build_int.h"

enum {
    ONE = 8 /* elements of a row of a workspace for one value: 32 bytes */,
    MERGED = 8192,
    FEW_ROWS = 16,
    LEAST_CORES = 8
};

const char *build_start(PrimReduce reduce)
{
    static const char *const starts[] = {
        [PRIM_SUM] = "0.0", [PRIM_MAX] = "-inf", [PRIM_MIN] = "inf", [PRIM_PROD] = "1.0"};
    return starts[reduce];
}

const char *build_combine(Build *b, PrimReduce reduce, const char *x, const char *y)
{
    switch (reduce) {
    case PRIM_MAX: return str_format(b->arena, "max(%s, %s)", x, y);
    case PRIM_MIN: return str_format(b->arena, "min(%s, %s)", x, y);
    case PRIM_PROD: return str_format(b->arena, "%s * %s", x, y);
    default: return str_format(b->arena, "%s + %s", x, y);
    }
}

const char *build_fold(Build *b, PrimReduce reduce, bool rows, bool lanes, const char *view)
{
    static const char *const words[] = {
        [PRIM_SUM] = "sum", [PRIM_MAX] = "max", [PRIM_MIN] = "min", [PRIM_PROD] = "prod"};
    const char *what = rows && lanes ? "reduce" : rows ? "col" : "row";
    return str_format(b->arena, "%s_%s(%s)", what, words[reduce], view);
}

/* The name of what is merged, with the neutral element in it. */
static const char *start_merge(Build *b, NestId id, BuildKind kind)
{
    const char *start = build_start(b->nest->values.at[id].reduce);
    if (kind == BUILD_SCALAR) {
        const char *name = build_scalar(b);
        build_line(b, "%s = %s", name, start);
        return name;
    }
    const char *view = build_view(b, kind, build_buffer(b, 'v', kind, DT_F32, 1, id));
    build_line(b, "with compute():");
    build_line(b, "    %s = %s", view, start);
    return view;
}

/* Row by row of the tile, each of many cores at once. */
static void merge_rows(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    int64_t lanes = b->band->lanes.tile, cores = MERGED / lanes;
    BuildBuffer want = {.kind = BUILD_TILE,
                        .dtype = DT_F32,
                        .depth = 2,
                        .stem = 'm',
                        .rows = cores > b->chip->aiv ? b->chip->aiv : cores,
                        .lanes = lanes,
                        .times = 1};
    const char *buffer = build_buffer(b, 'v', BUILD_TILE, DT_F32, 1, id);
    const char *part = build_take(b, want), *width = build_lanes(b);
    const char *row = str_format(b->arena, "%s[i, :%s]", buffer, width);
    const char *view = str_format(b->arena, "%s[:q.size, :%s]", part, width);
    b->core = "q";
    b->row = "i";
    build_line(b, "with compute():");
    build_line(b, "    %s = %s", build_view(b, BUILD_TILE, buffer), build_start(v->reduce));
    build_line(b, "for i in range(%s):", build_rows(b));
    build_line(b, "    for q in tiles(nc, %lld):", (long long)want.rows);
    build_line(b, "        with copyin():");
    build_line(b, "            load(%s, %s)", view, build_access(b, v->tensor, &v->index));
    build_line(b, "        with compute():");
    build_line(b, "            %s = %s", row,
               build_combine(b, v->reduce, row, build_fold(b, v->reduce, true, false, view)));
    b->row = NULL;
    b->name[id] = build_view(b, BUILD_TILE, buffer);
}

/* A tile of one core after the other. */
static void merge_tiles(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    if (b->band->rows.tile < FEW_ROWS && b->band->lanes.tile * LEAST_CORES < MERGED) {
        merge_rows(b, id);
        return;
    }
    const char *name = start_merge(b, id, BUILD_TILE);
    const char *view = build_view(b, BUILD_TILE, build_buffer(b, 'm', BUILD_TILE, DT_F32, 2, 0));
    b->core = "q";
    build_line(b, "for q in range(nc):");
    build_line(b, "    with copyin():");
    build_line(b, "        load(%s, %s)", view, build_access(b, v->tensor, &v->index));
    build_line(b, "    with compute():");
    build_line(b, "        %s = %s", name, build_combine(b, v->reduce, name, view));
    b->name[id] = name;
}

void build_merge(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    BuildKind kind = build_kind(b, v->axes);
    if (kind == BUILD_TILE) {
        merge_tiles(b, id);
        return;
    }
    bool one = kind == BUILD_SCALAR;
    int64_t lanes = one                  ? ONE
                    : kind == BUILD_ROWS ? (b->band->rows.tile + 7) / 8 * 8
                                         : b->band->lanes.tile;
    int64_t rows = MERGED / lanes < 1 ? 1 : MERGED / lanes;
    rows = rows > b->chip->aiv ? b->chip->aiv : rows;
    BuildBuffer want = {.kind = BUILD_TILE,
                        .dtype = DT_F32,
                        .depth = 1,
                        .stem = 'm',
                        .rows = rows,
                        .lanes = lanes,
                        .times = 1};
    const char *buffer = build_take(b, want), *name = start_merge(b, id, kind);
    const char *width = one ? "8" : kind == BUILD_ROWS ? build_rows(b) : build_lanes(b);
    const char *view = str_format(b->arena, "%s[:q.size, :%s]", buffer, width);
    b->core = "q";
    const char *from = one ? str_format(b->arena, "%s[q, 0:8]",
                                        nest_tensor_name(b->nest, v->tensor))
                           : build_access(b, v->tensor, &v->index);
    build_line(b, "for q in tiles(nc, %lld):", (long long)rows);
    build_line(b, "    with copyin():");
    build_line(b, "        load(%s, %s)", view, from);
    build_line(b, "    with compute():");
    build_line(b, "        %s = %s", name,
               build_combine(b, v->reduce, name, build_fold(b, v->reduce, true, one, view)));
    b->name[id] = name;
}

/* "y0[2, 0 : 1]": the one element that a store without axes writes. */
static const char *one_element(Build *b, const NestStore *store)
{
    const LayoutTensor *t = &b->layout->tensors[store->tensor];
    LayoutIndex at[LAYOUT_RANK];
    Buf out = {0};
    layout_index(b->nest, t, &store->index, at);
    buf_printf(&out, "%s[", nest_tensor_name(b->nest, store->tensor));
    for (uint32_t i = 0; i + 1 < t->rank; i++)
        buf_printf(&out, "%lld, ", (long long)at[i].at);
    long long last = at[t->rank - 1].at;
    buf_printf(&out, "%lld : %lld]", last, last + 1);
    char *text = buf_take(&out, b->arena);
    buf_free(&out);
    return text;
}

void build_store_one(Build *b, const NestStore *store)
{
    const NestValue *v = &b->nest->values.at[store->value];
    DType dtype = b->nest->tensors.at[store->tensor].dtype;
    BuildBuffer want = {
        .kind = BUILD_LANES, .dtype = DT_F32, .depth = 1, .stem = 'z', .lanes = ONE, .times = 1};
    const char *buffer = build_take(b, want), *stored = buffer;
    const char *value = build_named(b, store->value);
    build_line(b, "with compute():");
    b->depth++;
    build_line(b, "%s[:8] = %s", buffer, store->split ? build_start(v->reduce) : value);
    if (store->split)
        build_line(b, "%s[:1] = %s", buffer, value);
    if (dtype != DT_F32) {
        want.dtype = dtype;
        stored = build_take(b, want);
        build_line(b, "%s[:8] = cast(%s[:8], %s)", stored, buffer, dtype_name(dtype));
    }
    b->depth--;
    build_line(b, "with copyout():");
    if (store->split)
        build_line(b, "    store(%s[core_id(), 0:8], %s[:8])",
                   nest_tensor_name(b->nest, store->tensor), stored);
    else
        build_line(b, "    store(%s, %s[:1])", one_element(b, store), stored);
}
