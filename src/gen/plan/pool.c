/* Pooling windows in one to three dimensions, with padding and dilation. In: a graph that is one
 * pool node. Out: a Craft program: a tile is a block of output rows. The input rows under it are
 * loaded once; rows of the window are folded first, by whole vectors; columns last, when there
 * are fewer: neighbouring windows by doubling (a window of 8 from two of 4 from two of 2), windows
 * further apart by one gather for each of their columns. One kernel per class of widths, so that a
 * tile is full whether rows are short or long. */
#include "gen/plan/pool.h"

#include "gen/plan/fit.h"

enum { MAX_SPATIAL = 3, BLOCK = 8 /* f32 in 32 bytes */, CLASSES = 3 };
enum { MOST_STEPS = 128, MOST_COLUMNS = 256 };

typedef struct Pool {
    bool max, ceil;
    int rank; /* spatial */
    int64_t kernel[MAX_SPATIAL], stride[MAX_SPATIAL], pad[MAX_SPATIAL], dilation[MAX_SPATIAL];
    int64_t divisor;
    Shape in, out; /* [rows, spatial...] */
    int64_t room;  /* elements of an input tile */
} Pool;

/* One kernel: tiles of `down` output rows by `across` outputs, from `high` rows of `wide`. */
typedef struct PoolTile {
    int64_t across, down, high, wide;
} PoolTile;

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
    if (graph_value(g, node->in[0])->dtype != DT_F32)
        return "only f32 is planned";
    *p = (Pool){.max = node->kind == POOL_max, .rank = (int)kernel->ints.len, .divisor = 1};
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

/* Columns of a tile of one output. */
static int64_t least_wide(const Pool *p)
{
    return front_of(p) - p->pad[p->rank - 1] + reach(p, p->rank - 1);
}

static const char *neutral(const Pool *p) { return p->max ? "-inf" : "0.0"; }

/* How many windows fit along an axis. */
static void put_windows(const Pool *p, int axis, Buf *out)
{
    int64_t spare = 2 * p->pad[axis] - reach(p, axis);
    if (p->ceil)
        buf_printf(out, "ceildiv(h%d + %lld, %lld) + 1", axis, (long long)spare,
                   (long long)p->stride[axis]);
    else
        buf_printf(out, "(h%d + %lld) // %lld + 1", axis, (long long)spare,
                   (long long)p->stride[axis]);
}

/* ---- sizes of tiles ---- */

static PoolTile tile_of(const Pool *p, int64_t across)
{
    int last = p->rank - 1, up = p->rank - 2;
    PoolTile t = {.across = across};
    t.wide = round_up((across - 1) * p->stride[last] + least_wide(p), BLOCK);
    int64_t high = p->room / t.wide;
    t.down = high > reach(p, up) ? (high - reach(p, up)) / p->stride[up] + 1 : 1;
    t.high = (t.down - 1) * p->stride[up] + reach(p, up);
    return t;
}

/* Widths that are taken whole, and the largest, which is also a piece of wider rows. */
static uint32_t tiles_of(const Pool *p, PoolTile *tiles)
{
    int64_t stride = p->stride[p->rank - 1], wide[CLASSES] = {160, 640, 2304};
    uint32_t n = 0;
    for (int i = 0; i < CLASSES; i++) {
        int64_t limit = wide[i] < p->room / 2 ? wide[i] : p->room / 2;
        int64_t across = (limit - least_wide(p)) / stride / BLOCK * BLOCK;
        across = across < BLOCK ? BLOCK : across;
        if (n == 0 || across > tiles[n - 1].across)
            tiles[n++] = tile_of(p, across);
    }
    return n;
}

/* ---- the host function ---- */

static void put_launch(const Pool *p, const char *name, const PoolTile *t, int depth, Buf *out)
{
    buf_fill(out, ' ', (size_t)depth * 4);
    buf_printf(out, "%s_%lld[chip.cores](x", name, (long long)t->across);
    for (int i = 0; i < p->rank; i++) {
        buf_puts(out, ", ");
        put_windows(p, i, out);
    }
    buf_puts(out, ", y)\n");
}

static void put_host(const Pool *p, const char *name, const PoolTile *tiles, uint32_t n, Buf *out)
{
    int last = p->rank - 1;
    buf_printf(out, "\n@host\ndef %s(x: gm[f32, rows, ", name);
    put_names(out, 'h', p->rank);
    buf_puts(out, "], y: out[f32, rows");
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

static void put_line(Buf *out, int depth, const char *format, ...) ATTR_PRINTF(3, 4);
static void put_line(Buf *out, int depth, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_fill(out, ' ', (size_t)depth * 4);
    buf_vprintf(out, format, args);
    buf_char(out, '\n');
    va_end(args);
}

/* How columns are folded: results of `from` at a distance are added to those of `into`. */
typedef struct PoolStep {
    const char *into, *from;
    int64_t distance;
} PoolStep;

/* Windows that overlap: sums of 1, 2, 4, ... columns, put together; a maximum may count twice. */
static uint32_t steps_of(const Pool *p, PoolStep *steps)
{
    int64_t k = p->kernel[p->rank - 1], d = p->dilation[p->rank - 1], size = 1, covered = 0;
    uint32_t n = 0;
    if (p->max) {
        for (; size * 2 <= k; size *= 2)
            steps[n++] = (PoolStep){"acc", "acc", size * d};
        if (size < k)
            steps[n++] = (PoolStep){"acc", "acc", (k - size) * d};
        return n;
    }
    for (; k; k >>= 1, size *= 2) {
        if (k & 1) {
            steps[n++] = (PoolStep){"total", "acc", covered * d};
            covered += size;
        }
        if (k > 1)
            steps[n++] = (PoolStep){"acc", "acc", size * d};
    }
    return n;
}

/* Statements for all output rows of the tile, one after the other: none waits for the last. */
static void put_for_rows(Buf *out, int depth, const char *format, ...) ATTR_PRINTF(3, 4);
static void put_for_rows(Buf *out, int depth, const char *format, ...)
{
    va_list args;
    put_line(out, depth, "for q in range(b.size):");
    va_start(args, format);
    buf_fill(out, ' ', (size_t)(depth + 1) * 4);
    buf_vprintf(out, format, args);
    buf_char(out, '\n');
    va_end(args);
}

static void put_step(const Pool *p, const PoolStep *s, int depth, Buf *out)
{
    const char *into = s->into, *from = s->from;
    long long far = s->distance;
    if (far == 0) {
        put_for_rows(out, depth, "%s[q, :need] = %s[q, :need] + %s[q, :need]", into, into, from);
        return;
    }
    put_for_rows(out, depth, "far[q, :need - %lld] = gather(%s[q, :need], at%lld[:need - %lld])",
                 far, from, far, far);
    put_for_rows(out, depth,
                 p->max ? "%s[q, :need - %lld] = max(%s[q, :need - %lld], far[q, :need - %lld])"
                        : "%s[q, :need - %lld] = %s[q, :need - %lld] + far[q, :need - %lld]",
                 into, far, into, far, far);
}

static void put_result(const Pool *p, const char *from, int depth, Buf *out)
{
    if (p->max)
        put_for_rows(out, depth, "o[q, :t.size] = %s[q, :t.size]", from);
    else
        put_for_rows(out, depth, "o[q, :t.size] = %s[q, :t.size] * (1.0 / %lld.0)", from,
                     (long long)p->divisor);
}

/* Neighbouring windows: by doubling, then one gather that drops the border. */
static void put_doubling(const Pool *p, int depth, Buf *out)
{
    PoolStep steps[MOST_STEPS];
    uint32_t n = steps_of(p, steps);
    long long skip = front_of(p) - p->pad[p->rank - 1];
    const char *whole = p->max ? "acc" : "total";
    if (!p->max)
        put_for_rows(out, depth, "total[q, :need] = 0.0");
    for (uint32_t i = 0; i < n; i++)
        put_step(p, &steps[i], depth, out);
    if (skip == 0) {
        put_result(p, whole, depth, out);
        return;
    }
    put_for_rows(out, depth, "far[q, :t.size] = gather(%s[q, :need], at%lld[:t.size])", whole,
                 skip);
    put_result(p, "far", depth, out);
}

/* Windows further apart: one gather per column, of as many elements as there are outputs. */
static void put_gathers(const Pool *p, int depth, Buf *out)
{
    int last = p->rank - 1;
    for (int64_t k = 0; k < p->kernel[last]; k++) {
        long long at = front_of(p) - p->pad[last] + k * p->dilation[last];
        put_for_rows(out, depth, "%s[q, :t.size] = gather(acc[q, :need], at%lld[:t.size])",
                     k ? "far" : "total", at);
        if (k)
            put_for_rows(out, depth,
                         p->max ? "total[q, :t.size] = max(total[q, :t.size], far[q, :t.size])"
                                : "total[q, :t.size] = total[q, :t.size] + far[q, :t.size]");
    }
    put_result(p, "total", depth, out);
}

static void put_buffers(const Pool *p, const PoolTile *t, Buf *out)
{
    bool near = p->stride[p->rank - 1] == 1;
    long long down = t->down, wide = t->wide, across = round_up(t->across, BLOCK);
    put_line(out, 1, "a = ub(f32, %lld, %lld, depth=2)", (long long)t->high, wide);
    put_line(out, 1, "acc = ub(f32, %lld, %lld)", down, wide);
    if (!near || !p->max)
        put_line(out, 1, "total = ub(f32, %lld, %lld)", down, near ? wide : across);
    put_line(out, 1, "far = ub(f32, %lld, %lld)", down, near ? wide : across);
    put_line(out, 1, "o = ub(f32, %lld, %lld, depth=2)", down, across);
}

/* Positions for the gathers: they start at different places, and are made once. */
static uint32_t starts_of(const Pool *p, int64_t *starts)
{
    int last = p->rank - 1;
    int64_t skip = front_of(p) - p->pad[last];
    uint32_t n = 0;
    if (p->stride[last] > 1) {
        for (int64_t k = 0; k < p->kernel[last]; k++)
            starts[n++] = skip + k * p->dilation[last];
        return n;
    }
    PoolStep steps[MOST_STEPS];
    uint32_t count = steps_of(p, steps);
    for (uint32_t i = 0; i <= count; i++) {
        int64_t at = i < count ? steps[i].distance : skip;
        bool known = at == 0;
        for (uint32_t k = 0; k < n; k++)
            known = known || starts[k] == at;
        if (!known)
            starts[n++] = at;
    }
    return n;
}

static void put_positions(const Pool *p, const PoolTile *t, Buf *out)
{
    int64_t starts[MOST_COLUMNS], stride = p->stride[p->rank - 1];
    uint32_t n = starts_of(p, starts);
    for (uint32_t i = 0; i < n; i++)
        put_line(out, 1, "at%lld = ub(i32, %lld)", (long long)starts[i],
                 (long long)(stride > 1 ? round_up(t->across, BLOCK) : t->wide));
    if (n)
        put_line(out, 1, "with compute():");
    for (uint32_t i = 0; i < n; i++)
        put_line(out, 2, "at%lld = iota(%lld, %lld)", (long long)starts[i], (long long)starts[i],
                 (long long)stride);
}

/* The rows of the window that lie inside the input are folded into each output's line. */
static void put_rows(const Pool *p, int depth, Buf *out)
{
    int up = p->rank - 2;
    if (front_of(p)) {
        put_line(out, depth, "if base < 0:");
        put_line(out, depth + 1, "for q in range(u - top, u - top + n):");
        put_line(out, depth + 2, "a[q, :%lld] = %s", (long long)front_of(p), neutral(p));
    }
    put_line(out, depth, "for k in range(%lld):", (long long)p->kernel[up]);
    put_line(out, depth + 1, "for q in range(b.size):");
    put_line(out, depth + 2, "p = q * %lld + k * %lld", (long long)p->stride[up],
             (long long)p->dilation[up]);
    put_line(out, depth + 2, "if top + p >= 0 and top + p < h%d:", up);
    put_line(out, depth + 3,
             p->max ? "acc[q, :need] = max(acc[q, :need], a[p, :need])"
                    : "acc[q, :need] = acc[q, :need] + a[p, :need]");
}

static void put_load(const Pool *p, int depth, Buf *out)
{
    buf_fill(out, ' ', (size_t)depth * 4);
    buf_puts(out, "load(a[u - top:u - top + n, lo - base:need], x[r, ");
    for (int i = 0; i < p->rank - 2; i++)
        buf_printf(out, "p%d, ", i);
    buf_printf(out, "u:u + n, lo:hi], pad=%s)\n", neutral(p));
}

static void put_tile(const Pool *p, const PoolTile *t, int depth, Buf *out)
{
    int last = p->rank - 1, up = p->rank - 2;
    put_line(out, depth, "need = (t.size - 1) * %lld + %lld", (long long)p->stride[last],
             (long long)least_wide(p));
    put_line(out, depth, "base = t.start * %lld - %lld", (long long)p->stride[last],
             (long long)front_of(p));
    put_line(out, depth, "lo = max(base, 0)");
    put_line(out, depth, "hi = max(lo, min(base + need, h%d))", last);
    put_line(out, depth, "top = b.start * %lld - %lld", (long long)p->stride[up],
             (long long)p->pad[up]);
    put_line(out, depth, "u = max(top, 0)");
    put_line(out, depth, "n = min(max(min(top + (b.size - 1) * %lld + %lld, h%d) - u, 0), %lld)",
             (long long)p->stride[up], (long long)reach(p, up), up, (long long)t->high);
    put_line(out, depth, "with compute():");
    put_line(out, depth + 1, "for q in range(b.size):");
    put_line(out, depth + 2, "acc[q, :need] = %s", neutral(p));
    int inner = depth;
    for (int i = 0; i < up; i++) {
        put_line(out, inner++, "for k%d in range(%lld):", i, (long long)p->kernel[i]);
        put_line(out, inner, "p%d = i%d * %lld + k%d * %lld - %lld", i, i, (long long)p->stride[i],
                 i, (long long)p->dilation[i], (long long)p->pad[i]);
        put_line(out, inner++, "if p%d >= 0 and p%d < h%d:", i, i, i);
    }
    put_line(out, inner, "with copyin():");
    put_load(p, inner + 1, out);
    put_line(out, inner, "with compute():");
    put_rows(p, inner + 1, out);
    put_line(out, depth, "with compute():");
    if (p->stride[last] == 1)
        put_doubling(p, depth + 1, out);
    else
        put_gathers(p, depth + 1, out);
}

static void put_kernel(const Pool *p, const char *name, const PoolTile *t, Buf *out)
{
    int last = p->rank - 1, up = p->rank - 2;
    Buf vars = {0}, axes = {0};
    buf_printf(out, "\n@kernel\ndef %s_%lld(x: gm[f32, rows, ", name, (long long)t->across);
    put_names(out, 'h', p->rank);
    buf_char(out, ']');
    for (int i = 0; i < p->rank; i++)
        buf_printf(out, ", o%d: i32", i);
    buf_puts(out, ", y: out[f32, rows, ");
    put_names(out, 'o', p->rank);
    buf_puts(out, "]):\n");
    put_buffers(p, t, out);
    put_positions(p, t, out);
    put_names(&vars, 'i', up);
    put_names(&axes, 'o', up);
    const char *comma = up ? ", " : "";
    put_line(out, 1, "for r, %s%sb, t in mine(rows, %s%stiles(o%d, %lld), tiles(o%d, %lld)):",
             up ? vars.at : "", comma, up ? axes.at : "", comma, up, (long long)t->down, last,
             (long long)t->across);
    put_tile(p, t, 2, out);
    put_line(out, 2, "with copyout():");
    put_line(out, 3, "store(y[r, %s%sb, t], o[:b.size, :t.size])", up ? vars.at : "", comma);
    buf_free(&vars);
    buf_free(&axes);
}

static void put_reasons(const Pool *p, const NpuChip *chip, const PoolTile *tiles, uint32_t n,
                        Buf *out)
{
    int up = p->rank - 2;
    buf_printf(out, "# Planned by acraft for %s, strategy pool.\n", chip->name);
    buf_printf(out,
               "# The input rows under a block of output rows are loaded once; the %lld rows of a "
               "window are\n# folded first, its %lld columns after that, %s.\n",
               (long long)p->kernel[up], (long long)p->kernel[p->rank - 1],
               p->stride[p->rank - 1] == 1 ? "by doubling" : "one gather each");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out,
                   "# Up to %lld outputs a row: %lld rows of them from %lld input rows, %lld bytes "
                   "a copy.\n",
                   (long long)tiles[i].across, (long long)tiles[i].down, (long long)tiles[i].high,
                   (long long)(tiles[i].high * tiles[i].wide * 4));
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
    p.room = tile_limit ? tile_limit * 8 : 8192;
    *plan = (Plan){.strategy = "pool", .name = name};
    do
        plan->craft = write_pool(arena, &p, chip, name);
    while (fit_exceeds(plan->craft, chip) && (p.room = p.room * 7 / 8) > 256);
    plan->tile = p.room;
    PlanOperand x = {.value = node->in[0], .name = "x", .dtype = DT_F32, .shape = p.in};
    PlanOperand y = {
        .value = node->out, .output = true, .name = "y", .dtype = DT_F32, .shape = p.out};
    vec_push(arena, &plan->operands, x);
    vec_push(arena, &plan->operands, y);
    return true;
}
