/* Tiles whose lanes stand for several axes that memory has apart. In: a load that keeps these axes in its index.
 * Out: a copy of all that a tile reads, in the order of memory, and the elements picked from it by a table of
 * places that is made once.
 *
 *     x [.., 3, 4, 208]  ─▶  12 runs of 4 * rows elements  ─▶  rows of 48
 */
#include "gen/plan/build/build_int.h"

enum { MOST_BOX = 1 << 15 /* elements */ };

/* One axis of the tile, as the copy has it. */
typedef struct BoxAxis {
    uint32_t axis;
    uint32_t dim;   /* of the tensor */
    int64_t size;   /* at most */
    int64_t weight; /* elements on chip from one to the next */
} BoxAxis;

/* A copy on chip: runs in dimensions of their own, and what is inside a run. */
typedef struct Box {
    uint32_t n, n_run;
    BoxAxis axis[LAYOUT_RANK]; /* outside the runs; the last one is a range of each copy */
    BoxAxis in_run[LAYOUT_RANK];
    int64_t runs, pitch; /* on chip: how many, and how far apart */
} Box;

static uint64_t bit(uint32_t axis) { return axis ? UINT64_C(1) << axis : 0; }

static bool is_part(const Build *b, const Affine *index, uint32_t axis)
{
    const NestFold *fold = &b->nest->axes.at[nest_boxed(b->nest, index)].fold;
    bool part = false;
    for (uint32_t i = 0; i < fold->n; i++)
        part = part || fold->axis[i] == axis;
    return part;
}

static uint32_t dim_of(const LayoutTensor *t, int64_t by)
{
    uint32_t i = 0;
    while (i + 1 < t->rank && (by < t->dim[i].unit || by % t->dim[i].unit))
        i++;
    return i;
}

static int64_t up_to(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

/* The axes of the tile that the copy has outside its runs: rows, of which there may be fewer, then the parts of
 * the lanes, the outermost first. */
static void add_box_axis(const Build *b, Box *box, BoxAxis a)
{
    uint32_t at = box->n++;
    bool rows = a.axis == b->band->rows.axis;
    for (; at > 0 && box->axis[at - 1].axis != b->band->rows.axis &&
           (rows || box->axis[at - 1].dim > a.dim);
         at--)
        box->axis[at] = box->axis[at - 1];
    box->axis[at] = a;
}

static Box box_of(const Build *b, const NestValue *v)
{
    const LayoutTensor *t = &b->layout->tensors[v->tensor];
    int64_t unit = 32 / (int64_t)dtype_bytes(b->nest->tensors.at[v->tensor].dtype), length = 1;
    Box box = {.runs = 1};
    for (uint32_t i = 0; i < v->index.n; i++) {
        uint32_t axis = v->index.term[i].axis;
        bool rows = axis == b->band->rows.axis;
        if (!rows && !is_part(b, &v->index, axis))
            continue;
        BoxAxis a = {.axis = axis,
                     .dim = dim_of(t, v->index.term[i].by),
                     .size = rows ? b->band->rows.tile : b->nest->axes.at[axis].size,
                     .weight = v->index.term[i].by};
        if (a.dim + 1 < t->rank) {
            add_box_axis(b, &box, a);
        } else {
            box.in_run[box.n_run++] = a;
            length += a.weight * (a.size - 1);
        }
    }
    box.pitch = up_to(length, unit);
    for (uint32_t i = box.n; i-- > 0;) {
        box.axis[i].weight = box.pitch * box.runs;
        box.runs *= box.axis[i].size;
    }
    return box;
}

/* How far apart on chip two elements are that differ by one along the axis. */
static int64_t box_weight(const Box *box, uint32_t axis)
{
    for (uint32_t i = 0; i < box->n; i++)
        if (box->axis[i].axis == axis)
            return box->axis[i].weight;
    for (uint32_t i = 0; i < box->n_run; i++)
        if (box->in_run[i].axis == axis)
            return box->in_run[i].weight;
    return 0;
}

/* ---- places ---- */

static const BuildBoxTable *find_box_table(const Build *b, const BuildBoxTable *want)
{
    for (uint32_t i = 0; i < b->box_tables.len; i++) {
        const BuildBoxTable *t = &b->box_tables.at[i];
        bool same = t->by_row == want->by_row && t->lanes_only == want->lanes_only;
        for (uint32_t k = 0; k < NEST_DIGITS; k++)
            same = same && t->by_part[k] == want->by_part[k];
        if (same)
            return t;
    }
    return NULL;
}

static BuildBoxTable table_of(const Build *b, const NestValue *v, const Box *box)
{
    const NestFold *fold = &b->nest->axes.at[nest_boxed(b->nest, &v->index)].fold;
    BuildBoxTable t = {.lanes_only = build_kind(b, v->axes) != BUILD_TILE,
                       .by_row = b->band->rows.axis ? box_weight(box, b->band->rows.axis) : 0};
    for (uint32_t i = 0; i < fold->n; i++)
        t.by_part[i] = box_weight(box, fold->axis[i]);
    return t;
}

/* Places of one row: what each lane's place along the parts says, the innermost part first. */
static void put_lane_places(Build *b, const BuildBoxTable *t, const NestFold *fold,
                            const char *places, int64_t most)
{
    const char *size = build_lanes(b);
    const char *left = build_wide(b, 'u', BUILD_LANES, DT_F32, 1, 1, 1);
    const char *next = build_wide(b, 'u', BUILD_LANES, DT_F32, 1, 1, 2);
    const char *sum = build_wide(b, 'u', BUILD_LANES, DT_F32, 1, 1, 3);
    build_line(b, "%s = iota(0.0, 1.0, f32)", left);
    build_line(b, "%s = 0.0", sum);
    for (uint32_t i = fold->n; i-- > 0;) {
        long long n = b->nest->axes.at[fold->axis[i]].size;
        build_line(b, "%s = floor((%s + 0.5) * %.9g)", next, left, 1.0 / (double)n);
        if (t->by_part[i])
            build_line(b, "%s = %s + (%s - %s * %lld.0) * %lld.0", sum, sum, left, next, n,
                       (long long)t->by_part[i]);
        const char *swap = left;
        left = next;
        next = swap;
    }
    build_line(b, "%s[:%s] = cast(%s[:%s], i32)", places, size, sum, size);
    build_line(b, "%s[:%s] = min(max(%s[:%s], 0), %lld)", places, size, places, size,
               (long long)most);
}

void build_box_places(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    const NestFold *fold = &b->nest->axes.at[nest_boxed(b->nest, &v->index)].fold;
    Box box = box_of(b, v);
    BuildBoxTable t = table_of(b, v, &box);
    const char *size = build_lanes(b);
    if (!b->band->lanes.whole || box.runs * box.pitch > MOST_BOX)
        b->failed = "a box of memory does not fit on chip";
    if (b->failed || find_box_table(b, &t))
        return;
    int64_t lanes_most = 0;
    for (uint32_t i = 0; i < fold->n; i++)
        lanes_most += t.by_part[i] * (b->nest->axes.at[fold->axis[i]].size - 1);
    build_line(b, "with compute():");
    b->depth++;
    t.places = build_wide(b, t.lanes_only ? 'e' : 'u', BUILD_LANES, DT_I32, 1, 1, 4);
    put_lane_places(b, &t, fold, t.places, lanes_most);
    if (!t.lanes_only) {
        const char *lanes = t.places, *rows = build_wide(b, 'u', BUILD_ROWS, DT_I32, 1, 1, 5);
        long long n = b->band->rows.tile;
        t.places = build_wide(b, 'e', BUILD_TILE, DT_I32, 1, 1, 0);
        build_line(b, "%s = iota(0, %lld)", rows, (long long)t.by_row);
        build_line(b, "%s[:%lld, :%s] = row(%s[:%s]) + col(%s[:%lld])", t.places, n, size, lanes,
                   size, rows, n);
    }
    b->depth--;
    for (uint32_t i = 0; i < b->pool->len; i++) {
        BuildBuffer *f = &b->pool->at[i];
        f->kept = f->kept || f->name == t.places;
        f->owner = f->stem == 'u' || f->name == t.places ? 0 : f->owner;
    }
    vec_push(b->arena, &b->box_tables, t);
}

/* ---- loads ---- */

static const BoxAxis *range_axis(const Box *box) { return box->n ? &box->axis[box->n - 1] : NULL; }

/* One index of the access: the axes that are walked outside the tile, the loops over runs, the range. */
static void put_box_place(Build *b, const NestValue *v, const Box *box, uint32_t dim, int64_t at,
                          Buf *out)
{
    const LayoutTensor *t = &b->layout->tensors[v->tensor];
    const BoxAxis *range = range_axis(box);
    Buf start = {0};
    bool last = dim + 1 == t->rank, rows = false;
    long long by_row = 0, length = 1;
    buf_printf(&start, "%lld", (long long)at);
    for (uint32_t i = 0; i < v->index.n; i++) {
        const AffineTerm *term = &v->index.term[i];
        long long by = term->by / t->dim[dim].unit;
        if (dim_of(t, term->by) != dim)
            continue;
        if (term->axis == b->band->rows.axis) {
            rows = true;
            by_row = by;
        } else if (!is_part(b, &v->index, term->axis)) {
            buf_printf(&start, " + %lld * j%u", by, term->axis);
        } else if (last) {
            length += by * (b->nest->axes.at[term->axis].size - 1);
        } else if (range && range->axis == term->axis) {
            length = b->nest->axes.at[term->axis].size;
        } else {
            buf_printf(&start, " + k%u_", term->axis);
        }
    }
    const char *from = str_format(b->arena, "%.*s", (int)start.len, start.at);
    buf_free(&start);
    bool ranged = last || (range && range->dim == dim);
    if (rows && !ranged)
        buf_printf(out, b->band->rows.whole ? "%s + k%u_" : "%s + r.start + k%u_", from,
                   b->band->rows.axis);
    else if (rows && b->band->rows.whole)
        buf_printf(out, "%s : %s + %lld * %s", from, from, by_row, build_rows(b));
    else if (rows)
        buf_printf(out, "%lld * r.start + %s : %lld * r.stop + %s", by_row, from, by_row, from);
    else if (ranged)
        buf_printf(out, "%s : %s + %lld", from, from, length);
    else
        buf_puts(out, from);
}

static const char *box_access(Build *b, const NestValue *v, const Box *box)
{
    const LayoutTensor *t = &b->layout->tensors[v->tensor];
    int64_t rest = v->index.at;
    Buf out = {0};
    buf_printf(&out, "%s[", nest_tensor_name(b->nest, v->tensor));
    for (uint32_t i = 0; i < t->rank; i++) {
        int64_t at = rest / t->dim[i].unit;
        rest -= at * t->dim[i].unit;
        buf_puts(&out, i ? ", " : "");
        put_box_place(b, v, box, i, at, &out);
    }
    buf_char(&out, ']');
    char *text = buf_take(&out, b->arena);
    buf_free(&out);
    return text;
}

/* How many elements of a run are copied. */
static const char *run_length(Build *b, const Box *box)
{
    long long length = 1;
    for (uint32_t i = 0; i < box->n_run; i++) {
        if (box->in_run[i].axis == b->band->rows.axis)
            return str_format(b->arena, "%lld * %s", (long long)box->in_run[i].weight,
                              build_rows(b));
        length += box->in_run[i].weight * (box->in_run[i].size - 1);
    }
    return str_format(b->arena, "%lld", length);
}

/* How many runs a tile has. */
static const char *run_count(Build *b, const Box *box)
{
    if (!box->n || box->axis[0].axis != b->band->rows.axis)
        return str_format(b->arena, "%lld", (long long)box->runs);
    return str_format(b->arena, "%lld * %s", (long long)(box->runs / box->axis[0].size),
                      build_rows(b));
}

static const char *box_size(Build *b, const BoxAxis *a)
{
    return a->axis == b->band->rows.axis ? build_rows(b)
                                         : str_format(b->arena, "%lld", (long long)a->size);
}

void build_box_load(Build *b, NestId id, bool *open)
{
    const NestValue *v = &b->nest->values.at[id];
    Box box = box_of(b, v);
    const BoxAxis *range = range_axis(&box);
    BuildBuffer want = {.kind = BUILD_TILE,
                        .dtype = b->nest->tensors.at[v->tensor].dtype,
                        .depth = b->load_depth,
                        .stem = 'a',
                        .rows = box.runs,
                        .lanes = box.pitch,
                        .times = 1,
                        .owner = id};
    const char *buffer = build_take(b, want), *first = "0";
    int deep = b->depth;
    if (!*open)
        build_line(b, "with copyin():");
    *open = true;
    b->depth++;
    for (uint32_t i = 0; i + 1 < box.n; i++) {
        build_line(b, "for k%u_ in range(%s):", box.axis[i].axis, box_size(b, &box.axis[i]));
        b->depth++;
        first = str_format(b->arena, i ? "%s + k%u_ * %lld" : "%.0sk%u_ * %lld", first,
                           box.axis[i].axis, (long long)(box.axis[i].weight / box.pitch));
    }
    const char *length = run_length(b, &box), *access = box_access(b, v, &box);
    const char *n = range ? box_size(b, range) : NULL;
    if (n)
        build_line(b, "load(%s[%s : %s + %s, :%s], %s)", buffer, first, first, n, length, access);
    else
        build_line(b, "load(%s[0, :%s], %s)", buffer, length, access);
    b->depth = deep;
    b->picked_from[id] = buffer;
}

const char *build_boxed(Build *b, NestId id)
{
    const NestValue *v = &b->nest->values.at[id];
    DType dtype = b->nest->tensors.at[v->tensor].dtype;
    BuildKind kind = build_kind(b, v->axes);
    Box box = box_of(b, v);
    BuildBoxTable want = table_of(b, v, &box);
    const BuildBoxTable *t = find_box_table(b, &want);
    if (!t || (dtype_bytes(dtype) != 4 && dtype_bytes(dtype) != 2) || kind == BUILD_ROWS) {
        b->failed = "single bytes are picked";
        return "";
    }
    const char *buffer = build_result(b, dtype == DT_F32 ? 'v' : 'h', kind, dtype, id);
    const char *view = build_view(b, kind, buffer);
    build_line(b, "%s = gather(%s[:%s, :%s], %s)", view, b->picked_from[id], run_count(b, &box),
               run_length(b, &box), build_view(b, kind, t->places));
    return view;
}

bool build_is_boxed(const Build *b, const NestValue *v)
{
    return v->op == NEST_LOAD && nest_boxed(b->nest, &v->index) &&
           v->axes & bit(b->band->lanes.axis);
}
