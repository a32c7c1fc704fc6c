/* Pooling windows in one to three dimensions, with padding and dilation. In: a graph that is one
 * pool node. Out: a Craft program: a tile is a block of output rows.
 *
 *     a     the input rows under it, as they lie in memory: two slots, loaded a turn ahead
 *     c     the same with a neutral border, planes of the window folded; where two windows share a
 *           plane it stays for the next one, and a core walks along the depth
 *     acc   rows of the window folded, one line of `wide` elements per output row
 *     o     columns of the window folded: neighbouring windows by doubling (a window of 8 from two
 *           of 4 from two of 2), windows further apart by one gather for each of their columns;
 *           either way for all rows of the tile at once
 *
 * One kernel per class of widths, so that a tile is full whether rows are short or long. */
#include "gen/plan/pool_int.h"

#include "gen/plan/fit.h"
#include <stdio.h>

enum { REPEAT = 64, CLASSES = 4, MOST_COLUMNS = 256, MOST_PLANES = 3, MOST_DOWN = 64 };
enum {
    ITEMS =
        8 /* items that a core has at least where windows of several planes share instructions */
};

static int64_t attr_at(const Node *node, AttrKey key, int i, int64_t fallback)
{
    const Attr *a = node_attr(node, key);
    return a && (uint32_t)i < a->ints.len ? a->ints.at[i] : fallback;
}

static Shape merge_front(Shape s, int keep)
{
    Shape out = {.rank = keep + 1, .dim = {1}};
    for (int i = 0; i < s.rank; i++) {
        if (i < s.rank - keep)
            out.dim[0] *= s.dim[i];
        else
            out.dim[i - (s.rank - keep) + 1] = s.dim[i];
    }
    return out;
}

/* Rows of one dimension are the height of a plane whose windows are one row high. */
static void add_height(Pool *p)
{
    p->kernel[1] = p->kernel[0], p->stride[1] = p->stride[0];
    p->pad[1] = p->pad[0], p->dilation[1] = p->dilation[0];
    p->kernel[0] = p->stride[0] = p->dilation[0] = 1;
    p->pad[0] = 0;
    p->rank = 2;
    p->in = (Shape){.rank = 3, .dim = {1, p->in.dim[0], p->in.dim[1]}};
    p->out = (Shape){.rank = 3, .dim = {1, p->out.dim[0], p->out.dim[1]}};
}

static const char *read_pool(const Graph *g, const Node *node, Pool *p)
{
    const Attr *kernel = node_attr(node, AT_KERNEL);
    if (g->nodes.len != 1 || node->n_out != 1)
        return "a pool beside other operators is not planned";
    if (!kernel || kernel->ints.len < 1 || kernel->ints.len > MAX_SPATIAL)
        return "only one to three dimensions are planned";
    DType dtype = graph_value(g, node->in[0])->dtype;
    if (dtype != DT_F32 && dtype != DT_F16 && dtype != DT_BF16)
        return "only floats are planned";
    *p = (Pool){
        .dtype = dtype, .max = node->kind == POOL_max, .rank = (int)kernel->ints.len, .divisor = 1};
    if (!p->max && node->kind != POOL_avg)
        return "this kind of pool is not planned";
    for (int i = 0; i < p->rank; i++) {
        p->kernel[i] = kernel->ints.at[i];
        p->stride[i] = attr_at(node, AT_STRIDE, i, p->kernel[i]);
        p->pad[i] = attr_at(node, AT_PADDING, i, 0);
        p->dilation[i] = attr_at(node, AT_DILATION, i, 1);
        p->divisor *= p->kernel[i];
    }
    if (p->kernel[p->rank - 1] > MOST_COLUMNS)
        return "only windows of up to 256 columns are planned";
    p->ceil = node_bool(node, AT_CEIL);
    bool padded = p->pad[0] || p->pad[p->rank - 1];
    if (!p->max && padded && !node_bool(node, AT_COUNT_PAD))
        return "a mean that leaves padding out is not planned";
    if (!p->max && p->ceil)
        return "a mean with ceil mode is not planned";
    p->divisor = node_int(node, AT_DIVISOR, 0) ? node_int(node, AT_DIVISOR, 0) : p->divisor;
    p->in = merge_front(graph_value(g, node->in[0])->shape, p->rank);
    p->out = merge_front(graph_value(g, node->out)->shape, p->rank);
    if (p->rank == 1)
        add_height(p);
    return NULL;
}

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* "h0, h1, ..." and the like, for the first `count` spatial dimensions */
static void put_names(Buf *out, char letter, int count)
{
    for (int i = 0; i < count; i++)
        buf_printf(out, "%s%c%d", i ? ", " : "", letter, i);
}

/* Reach of the window along an axis. */
static int64_t reach(const Pool *p, int axis)
{
    return (p->kernel[axis] - 1) * p->dilation[axis] + 1;
}

/* Elements before the first column of the input: the padding, in whole blocks. */
static int64_t front_of(const Pool *p) { return round_up(p->pad[p->rank - 1], BLOCK); }

int64_t pool_skip(const Pool *p) { return front_of(p) - p->pad[p->rank - 1]; }

/* Columns of a tile of one output. */
static int64_t least_wide(const Pool *p) { return pool_skip(p) + reach(p, p->rank - 1); }

static const char *neutral(const Pool *p) { return p->max ? "-inf" : "0.0"; }

bool pool_is_near(const Pool *p) { return p->stride[p->rank - 1] == 1; }

bool pool_needs_total(const Pool *p)
{
    int64_t k = p->kernel[p->rank - 1];
    return !pool_is_near(p) || (!p->max && (k & (k - 1)));
}

/* Neighbouring windows of planes share some, and none is in three: a core walks the depth of its block
 * and loads each plane once. */
static bool is_walk(const Pool *p)
{
    return p->rank == 3 && p->dilation[0] == 1 && p->kernel[0] > p->stride[0] &&
           p->kernel[0] <= 2 * p->stride[0] && p->stride[0] <= MOST_PLANES &&
           p->pad[0] <= p->stride[0];
}

static int64_t shared_planes(const Pool *p) { return p->kernel[0] - p->stride[0]; }

/* Planes of the window that are loaded together; more than that one after the other. */
static int planes_of(const Pool *p)
{
    if (is_walk(p))
        return (int)p->stride[0];
    return p->rank == 3 && p->kernel[0] <= MOST_PLANES ? (int)p->kernel[0] : 1;
}

static bool one_by_one(const Pool *p)
{
    return p->rank == 3 && p->kernel[0] > MOST_PLANES && !is_walk(p);
}

/* How many windows fit along an axis. */
static void put_windows(const Pool *p, int axis, Buf *out)
{
    int64_t spare = 2 * p->pad[axis] - reach(p, axis);
    if (p->kernel[axis] == 1 && p->stride[axis] == 1 && !p->pad[axis])
        buf_printf(out, "h%d", axis); /* a size itself: it may be several axes of the task */
    else if (p->ceil)                 /* the last window starts inside the input or before it */
        buf_printf(out, "min(ceildiv(h%d + %lld, %lld) + 1, ceildiv(h%d + %lld, %lld))", axis,
                   (long long)spare, (long long)p->stride[axis], axis, (long long)p->pad[axis],
                   (long long)p->stride[axis]);
    else
        buf_printf(out, "(h%d + %lld) // %lld + 1", axis, (long long)spare,
                   (long long)p->stride[axis]);
}

/* ---- sizes of tiles ---- */

/* Outputs of a row come in whole blocks of the dtype they are stored in. */
static int64_t block_of(const Pool *p) { return 32 / (int64_t)dtype_bytes(p->dtype); }

static PoolTile tile_with(const Pool *p, int64_t across, int64_t down)
{
    int last = p->rank - 1, up = p->rank - 2;
    PoolTile t = {.across = across, .down = down};
    t.wide = round_up((across - 1) * p->stride[last] + least_wide(p), REPEAT);
    t.high = (down - 1) * p->stride[up] + reach(p, up);
    return t;
}

/* Elements behind the last line that shifted views reach into. */
static int64_t spare_of(const Pool *p) { return round_up(least_wide(p), REPEAT); }

static int64_t bytes_of(const Pool *p, const PoolTile *t)
{
    int64_t line = pool_is_near(p) ? t->wide : t->across;
    int64_t in = (2 * planes_of(p) + 1) * t->high * t->wide;
    int64_t lines = t->down * (t->wide + (2 + pool_needs_total(p)) * line + 2 * t->across);
    return (in + lines + 2 * spare_of(p)) * (int64_t)sizeof(float);
}

/* Takes as many rows as fit, and fewer columns where not even one row fits. */
static PoolTile tile_of(const Pool *p, int64_t across)
{
    int64_t down = p->most ? 2 : MOST_DOWN;
    PoolTile t = tile_with(p, across, down);
    while (bytes_of(p, &t) > p->room && (t.down > 1 || t.across > block_of(p)))
        t = t.down > 1 ? tile_with(p, t.across, t.down - 1)
                       : tile_with(p, t.across - block_of(p), 1);
    return t;
}

/* Row widths that fit one tile whole; wider rows are cut into pieces of the largest. */
static uint32_t tiles_of(const Pool *p, PoolTile *tiles)
{
    static const int64_t wide[CLASSES] = {192, 320, 576, 2304};
    uint32_t n = 0;
    for (int i = 0; i < CLASSES; i++) {
        int64_t block = block_of(p);
        int64_t across = (wide[i] - least_wide(p)) / p->stride[p->rank - 1] / block * block;
        across = p->most && across > p->most ? p->most : across;
        PoolTile t = tile_of(p, across < block ? block : across);
        if (n == 0 || t.across > tiles[n - 1].across)
            tiles[n++] = t;
    }
    return n;
}

/* ---- the host function ---- */

/* How many outputs of the depth a core walks at a time: all, unless there are few blocks. */
static void put_chunk(const Pool *p, const PoolTile *t, Buf *out)
{
    buf_puts(out, ", ceildiv(");
    put_windows(p, 0, out);
    buf_printf(out, ", ceildiv(%d * chip.cores, rows * ceildiv(", ITEMS);
    put_windows(p, 1, out);
    buf_printf(out, ", %lld) * ceildiv(", (long long)t->down);
    put_windows(p, 2, out);
    buf_printf(out, ", %lld)))", (long long)t->across);
}

/* Rows of a block, so that the last one has as many. */
static void put_even(const Pool *p, const PoolTile *t, Buf *out)
{
    buf_printf(out, ", min(%lld, ceildiv(", (long long)t->down);
    put_windows(p, 1, out);
    buf_puts(out, ", ceildiv(");
    put_windows(p, 1, out);
    buf_printf(out, ", %lld)))", (long long)t->down);
}

static void put_launch(const Pool *p, const char *name, const PoolTile *t, int depth, Buf *out)
{
    buf_fill(out, ' ', (size_t)depth * 4);
    buf_printf(out, "%s_%lld[chip.cores](x", name, (long long)t->across);
    for (int i = 0; i < p->rank; i++) {
        buf_puts(out, ", ");
        put_windows(p, i, out);
    }
    if (is_walk(p)) {
        put_chunk(p, t, out);
        put_even(p, t, out);
    }
    buf_puts(out, ", y)\n");
}

static void put_host(const Pool *p, const char *name, const PoolTile *tiles, uint32_t n, Buf *out)
{
    int last = p->rank - 1;
    buf_printf(out, "\n@host\ndef %s(x: gm[%s, rows, ", name, dtype_name(p->dtype));
    put_names(out, 'h', p->rank);
    buf_printf(out, "], y: out[%s, rows", dtype_name(p->dtype));
    for (int i = 0; i < p->rank; i++) {
        buf_puts(out, ", ");
        put_windows(p, i, out);
    }
    buf_puts(out, "]):\n");
    for (int i = 0; i < p->rank; i++) {
        int64_t least = reach(p, i) - 2 * p->pad[i];
        if (least > 1)
            buf_printf(out, "    assert h%d >= %lld, \"axis %d is shorter than the window\"\n", i,
                       (long long)least, i);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (i + 1 < n)
            buf_printf(out, "    %s h%d <= %lld:\n", i ? "elif" : "if", last,
                       (long long)((tiles[i].across - 1) * p->stride[last] + 1));
        else
            buf_puts(out, n > 1 ? "    else:\n" : "");
        put_launch(p, name, &tiles[i], n > 1 ? 2 : 1, out);
    }
}

/* ---- the kernels ---- */

void pool_put(PoolText *k, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_fill(k->out, ' ', (size_t)k->depth * 4);
    buf_vprintf(k->out, format, args);
    buf_char(k->out, '\n');
    va_end(args);
}

const char *pool_folded(const Pool *p, char *text, size_t size, const char *a, const char *b)
{
    snprintf(text, size, p->max ? "max(%s, %s)" : "%s + %s", a, b);
    return text;
}

const char *pool_wide(const Pool *p, char *text, size_t size, const char *values)
{
    snprintf(text, size, p->dtype == DT_F32 ? "%s" : "cast(%s, f32)", values);
    return text;
}

const char *pool_narrow(const Pool *p, char *text, size_t size, const char *values)
{
    if (p->dtype == DT_F32)
        snprintf(text, size, "%s", values);
    else
        snprintf(text, size, "cast(%s, %s)", values, dtype_name(p->dtype));
    return text;
}

static void put_buffers(PoolText *k)
{
    const Pool *p = k->p;
    long long down = k->t->down, wide = k->t->wide, high = k->t->high, across = k->t->across;
    long long line = down * (pool_is_near(p) ? wide : across);
    const char *own = dtype_name(p->dtype);
    for (int i = 0; i < planes_of(p); i++)
        pool_put(k, "a%d = ub(%s, %lld, %lld, depth=2)", i, own, high,
                 (long long)round_up(wide, block_of(p)));
    pool_put(k, "c = ub(f32, %lld, %lld)", high, wide);
    pool_put(k, "acc = ub(f32, %lld)", down * wide + (long long)spare_of(p));
    if (pool_needs_total(p))
        pool_put(k, "total = ub(f32, %lld)", line + (long long)spare_of(p));
    pool_put(k, "far = ub(f32, %lld)", line);
    pool_put(k, "o = ub(%s, %lld, %lld, depth=2)", own, down, across);
    pool_put(k, "at = ub(i32, %lld)", line);
}

/* Positions of the windows' first columns, of all rows; and a border that is neutral. */
static void put_start(PoolText *k)
{
    const Pool *p = k->p;
    long long across = k->t->across, stride = p->stride[p->rank - 1];
    pool_put(k, "with compute():");
    k->depth++;
    pool_put(k, "c = %s", neutral(p));
    pool_put(k, "acc = %s", neutral(p));
    if (pool_needs_total(p) && pool_is_near(p))
        pool_put(k, "total = %s", neutral(p));
    if (pool_is_near(p)) {
        pool_put(k, "at = iota(0, 1)");
    } else {
        pool_put(k, "for q in range(%lld):", (long long)k->t->down);
        pool_put(k, "    at[q * %lld:q * %lld + %lld] = iota(q * %lld, %lld)", across, across,
                 across, (long long)k->t->wide, stride);
    }
    k->depth--;
}

/* Where the tile lies in the input, and what of that exists. */
static void put_place(PoolText *k)
{
    const Pool *p = k->p;
    int last = p->rank - 1, up = p->rank - 2;
    pool_put(k, "base = t.start * %lld - %lld", (long long)p->stride[last], (long long)front_of(p));
    pool_put(k, "lo = max(base, 0)");
    pool_put(k, "hi = max(lo, min(base + %lld, h%d))", (long long)k->t->wide, last);
    pool_put(k, "top = b.start * %lld - %lld", (long long)p->stride[up], (long long)p->pad[up]);
    pool_put(k, "u = max(top, 0)");
    pool_put(k, "deep = (b.size - 1) * %lld + %lld", (long long)p->stride[up],
             (long long)reach(p, up));
    pool_put(k, "n = min(max(min(top + deep, h%d) - u, 0), %lld)", up, (long long)k->t->high);
}

/* "i0 * 2 + 1 - 1": plane `plane` of the window */
static const char *plane_at(const Pool *p, const char *plane, char *text, size_t size)
{
    snprintf(text, size, "i0 * %lld + %s * %lld - %lld", (long long)p->stride[0], plane,
             (long long)p->dilation[0], (long long)p->pad[0]);
    return text;
}

static const char *const placed = "c[u - top:u - top + n, lo - base:hi - base]";

static const char *loaded(const PoolText *k, int64_t buffer, char *text, size_t size)
{
    char rows[48];
    snprintf(rows, sizeof rows, "a%lld[:n, :hi - lo]", (long long)buffer);
    return pool_wide(k->p, text, size, rows);
}

static void put_fold_plane(PoolText *k, int buffer)
{
    char from[80], text[200];
    loaded(k, buffer, from, sizeof from);
    pool_put(k, "%s = %s", placed, pool_folded(k->p, text, sizeof text, placed, from));
}

/* Planes of the window: each that exists is folded into c. */
static void put_planes(PoolText *k)
{
    const Pool *p = k->p;
    char at[96], number[16];
    pool_put(k, "with copyin():");
    for (int i = 0; i < planes_of(p); i++) {
        snprintf(number, sizeof number, "%d", i);
        pool_put(k, "    load(a%d[:n, :hi - lo], x[r, min(max(%s, 0), h0 - 1), u:u + n, lo:hi])", i,
                 plane_at(p, number, at, sizeof at));
    }
    pool_put(k, "with compute():");
    k->depth++;
    pool_put(k, "c[:deep, :] = %s", neutral(p));
    for (int i = 0; i < planes_of(p); i++) {
        snprintf(number, sizeof number, "%d", i);
        plane_at(p, number, at, sizeof at);
        pool_put(k, "if %s >= 0 and %s < h0:", at, at);
        k->depth++;
        put_fold_plane(k, i);
        k->depth--;
    }
    k->depth--;
}

/* "d.start * 2 + 0 - 1": plane `plane` of those that windows share, or "i0 * 2 + 1": of the window's own */
static const char *walk_at(const Pool *p, int64_t plane, bool own, char *text, size_t size)
{
    int64_t at = plane - p->pad[0] + (own ? shared_planes(p) : 0);
    snprintf(text, size, "%s * %lld + %lld", own ? "i0" : "d.start", (long long)p->stride[0],
             (long long)at);
    return text;
}

static void put_walk_loads(PoolText *k, int64_t count, bool own)
{
    char at[96];
    pool_put(k, "with copyin():");
    for (int64_t i = 0; i < count; i++)
        pool_put(k, "    load(a%lld[:n, :hi - lo], x[r, min(max(%s, 0), h0 - 1), u:u + n, lo:hi])",
                 (long long)i, walk_at(k->p, i, own, at, sizeof at));
}

/* Loaded planes from the one numbered `first` on: into c, the first of them in its place if `anew`. */
static void put_walk_folds(PoolText *k, int64_t first, int64_t count, bool own, bool anew)
{
    char at[96], from[80];
    for (int64_t i = first; i < count; i++) {
        walk_at(k->p, i, own, at, sizeof at);
        pool_put(k, "if %s >= 0 and %s < h0:", at, at);
        k->depth++;
        if (anew && i == first)
            pool_put(k, "%s = %s", placed, loaded(k, i, from, sizeof from));
        else
            put_fold_plane(k, (int)i);
        k->depth--;
    }
}

/* Before the walk: what its first window shares with the one before it. */
static void put_walk_start(PoolText *k)
{
    put_walk_loads(k, shared_planes(k->p), false);
    pool_put(k, "with compute():");
    k->depth++;
    pool_put(k, "c[:deep, :] = %s", neutral(k->p));
    put_walk_folds(k, 0, shared_planes(k->p), false, false);
    k->depth--;
}

static void put_walk_planes(PoolText *k)
{
    put_walk_loads(k, k->p->stride[0], true);
    pool_put(k, "with compute():");
    k->depth++;
    put_walk_folds(k, 0, k->p->stride[0], true, false);
    k->depth--;
}

/* Behind the rows: c begins the next window. */
static void put_walk_on(PoolText *k)
{
    int64_t stride = k->p->stride[0];
    put_walk_folds(k, stride - shared_planes(k->p), stride, true, true);
}

static void put_planes_in_turn(PoolText *k)
{
    const Pool *p = k->p;
    char at[96];
    pool_put(k, "with compute():");
    pool_put(k, "    c[:deep, :] = %s", neutral(p));
    pool_put(k, "for k in range(%lld):", (long long)p->kernel[0]);
    k->depth++;
    pool_put(k, "p = %s", plane_at(p, "k", at, sizeof at));
    pool_put(k, "if p >= 0 and p < h0:");
    k->depth++;
    pool_put(k, "with copyin():");
    pool_put(k, "    load(a0[:n, :hi - lo], x[r, p, u:u + n, lo:hi])");
    pool_put(k, "with compute():");
    k->depth++;
    put_fold_plane(k, 0);
    k->depth -= 3;
}

/* The border of c stays as it is while tiles are as wide as the rows and no row is missing. */
static void put_plane(PoolText *k)
{
    const Pool *p = k->p;
    char from[80];
    pool_put(k, "with copyin():");
    pool_put(k, "    load(a0[:n, :hi - lo], x[r, u:u + n, lo:hi])");
    pool_put(k, "with compute():");
    k->depth++;
    pool_put(k, "if n < deep or t.size < o%d:", p->rank - 1);
    pool_put(k, "    c[:deep, :] = %s", neutral(p));
    pool_put(k, "%s = %s", placed, loaded(k, 0, from, sizeof from));
    k->depth--;
}

/* Rows of the window: a line per output row. */
static void put_rows(PoolText *k)
{
    const Pool *p = k->p;
    int up = p->rank - 2;
    long long wide = k->t->wide, stride = p->stride[up], dilation = p->dilation[up];
    char line[64], first[64], next[64], text[160];
    snprintf(line, sizeof line, "acc[q * %lld:q * %lld + %lld]", wide, wide, wide);
    snprintf(first, sizeof first, "c[q * %lld, :]", stride);
    snprintf(next, sizeof next, "c[q * %lld + %lld, :]", stride, dilation);
    pool_put(k, "for q in range(b.size):");
    pool_put(k, "    %s = %s", line,
             p->kernel[up] == 1 ? first : pool_folded(p, text, sizeof text, first, next));
    if (p->kernel[up] < 3)
        return;
    pool_put(k, "for k in range(2, %lld):", (long long)p->kernel[up]);
    pool_put(k, "    for q in range(b.size):");
    snprintf(next, sizeof next, "c[q * %lld + k * %lld, :]", stride, dilation);
    pool_put(k, "        %s = %s", line, pool_folded(p, text, sizeof text, line, next));
}

static void put_tile(PoolText *k)
{
    if (k->p->rank == 2)
        put_plane(k);
    else if (is_walk(k->p))
        put_walk_planes(k);
    else if (one_by_one(k->p))
        put_planes_in_turn(k);
    else
        put_planes(k);
    pool_put(k, "with compute():");
    k->depth++;
    put_rows(k);
    if (is_walk(k->p))
        put_walk_on(k);
    pool_put_columns(k);
    k->depth--;
}

static void put_kernel(const Pool *p, const char *name, const PoolTile *t, Buf *out)
{
    int last = p->rank - 1, up = p->rank - 2;
    PoolText k = {.p = p, .t = t, .out = out, .depth = 1};
    const char *plane = up ? "i0, " : "", *planes = up ? "o0, " : "";
    buf_printf(out, "\n@kernel\ndef %s_%lld(x: gm[%s, rows, ", name, (long long)t->across,
               dtype_name(p->dtype));
    put_names(out, 'h', p->rank);
    buf_char(out, ']');
    for (int i = 0; i < p->rank; i++)
        buf_printf(out, ", o%d: i32", i);
    buf_puts(out, is_walk(p) ? ", chunk: i32, even: i32" : "");
    buf_printf(out, ", y: out[%s, rows, ", dtype_name(p->dtype));
    put_names(out, 'o', p->rank);
    buf_puts(out, "]):\n");
    put_buffers(&k);
    put_start(&k);
    if (is_walk(p))
        pool_put(
            &k, "for r, d, b, t in mine(rows, tiles(o0, chunk), tiles(o1, even), tiles(o2, %lld)):",
            (long long)t->across);
    else
        pool_put(&k, "for r, %sb, t in mine(rows, %stiles(o%d, %lld), tiles(o%d, %lld)):", plane,
                 planes, up, (long long)t->down, last, (long long)t->across);
    k.depth++;
    put_place(&k);
    if (is_walk(p)) {
        put_walk_start(&k);
        pool_put(&k, "for i0 in range(d.start, d.stop):");
        k.depth++;
    }
    put_tile(&k);
    pool_put(&k, "with copyout():");
    pool_put(&k, "    store(y[r, %sb, t], o[:b.size, :t.size])", plane);
}

static void put_reasons(const Pool *p, const NpuChip *chip, const PoolTile *tiles, uint32_t n,
                        Buf *out)
{
    int up = p->rank - 2;
    buf_printf(out, "# Planned by acraft for %s, strategy pool.\n", chip->name);
    buf_printf(out,
               "# The input rows under a block of output rows are loaded while the last block is "
               "computed.\n# The %lld rows of a window are folded first, its %lld columns after "
               "that, %s,\n# for all rows of the block at once.\n",
               (long long)p->kernel[up], (long long)p->kernel[p->rank - 1],
               pool_is_near(p) ? "by doubling" : "one gather each");
    if (is_walk(p))
        buf_printf(out,
                   "# A core walks the depth of its block: of the %lld planes of a window %lld are "
                   "loaded, the rest stays from the last one.\n",
                   (long long)p->kernel[0], (long long)p->stride[0]);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out,
                   "# Up to %lld outputs a row: %lld rows of them from %lld input rows, %lld bytes "
                   "a copy, %lld of the %u of UB.\n",
                   (long long)tiles[i].across, (long long)tiles[i].down, (long long)tiles[i].high,
                   (long long)(tiles[i].high * tiles[i].wide * (int64_t)dtype_bytes(p->dtype)),
                   (long long)bytes_of(p, &tiles[i]), chip->ub);
}

static Str write_pool(Arena *arena, const Pool *p, const NpuChip *chip, const char *name)
{
    PoolTile tiles[CLASSES];
    uint32_t n = tiles_of(p, tiles);
    Buf out = {0};
    put_reasons(p, chip, tiles, n, &out);
    buf_puts(&out, "craft = 1\n\nrows = dim(1, 16777216)\n");
    for (int i = 0; i < p->rank; i++)
        buf_printf(&out, "h%d = dim(1, 16777216)\n", i);
    put_host(p, name, tiles, n, &out);
    for (uint32_t i = 0; i < n; i++)
        put_kernel(p, name, &tiles[i], &out);
    Str text = str_from(buf_take(&out, arena));
    buf_free(&out);
    return text;
}

/* Elements of the largest input tile. */
static int64_t largest_tile(const Pool *p)
{
    PoolTile tiles[CLASSES];
    int64_t most = 0;
    for (uint32_t i = 0, n = tiles_of(p, tiles); i < n; i++)
        most = tiles[i].high * tiles[i].wide > most ? tiles[i].high * tiles[i].wide : most;
    return most;
}

bool plan_pool(Arena *arena, const Graph *g, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag)
{
    const Node *node = &g->nodes.at[0];
    Pool p;
    const char *why = read_pool(g, node, &p);
    if (why) {
        diag_error(diag, "G001", node->at, "the planner cannot plan pool.%s yet: %s",
                   node_kind_name(node), why);
        return false;
    }
    p.most = tile_limit ? 2 * BLOCK : 0;
    p.room = (int64_t)chip->ub - 8192;
    *plan = (Plan){.strategy = "pool", .name = name};
    do
        plan->craft = write_pool(arena, &p, chip, name);
    while (fit_program(plan->craft, chip).exceeds && (p.room = p.room * 7 / 8) > 4096);
    plan->tile = largest_tile(&p);
    PlanOperand x = {.value = node->in[0], .name = "x", .dtype = p.dtype, .shape = p.in};
    PlanOperand y = {
        .value = node->out, .output = true, .name = "y", .dtype = p.dtype, .shape = p.out};
    vec_push(arena, &plan->operands, x);
    vec_push(arena, &plan->operands, y);
    return true;
}
