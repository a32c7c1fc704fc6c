/* Pooling windows in one to three dimensions, with padding and dilation. In: a graph that is one
 * pool node. Out: a Craft program: each core takes rows of the output; for every row of the
 * window one stretch of the input row is loaded between borders of the neutral value, and the
 * columns of the window are gathered from it. */
#include "gen/plan/pool.h"

enum { MAX_SPATIAL = 3, BLOCK = 8 /* f32 in 32 bytes */ };

typedef struct Pool {
    bool max, ceil;
    int rank; /* spatial */
    int64_t kernel[MAX_SPATIAL], stride[MAX_SPATIAL], pad[MAX_SPATIAL], dilation[MAX_SPATIAL];
    int64_t divisor;
    Shape in, out; /* [rows, spatial...] */
} Pool;

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
    p->ceil = node_bool(node, AT_CEIL);
    bool padded = p->pad[0] || p->pad[p->rank - 1];
    if (!p->max && padded && !node_bool(node, AT_COUNT_PAD))
        return "a mean that leaves padding out is not planned";
    if (!p->max && p->ceil)
        return "a mean with ceil mode is not planned";
    p->divisor = node_int(node, AT_DIVISOR, 0) ? node_int(node, AT_DIVISOR, 0) : p->divisor;
    p->in = merge_front(graph_value(g, node->in[0])->shape, p->rank);
    p->out = merge_front(graph_value(g, node->out)->shape, p->rank);
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

static void put_host(const Pool *p, const char *name, Buf *out)
{
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
    buf_printf(out, "    %s_kernel[chip.cores](x", name);
    for (int i = 0; i < p->rank; i++) {
        buf_puts(out, ", ");
        put_windows(p, i, out);
    }
    buf_puts(out, ", y)\n");
}

static void put_head(const Pool *p, const char *name, int64_t tile, Buf *out)
{
    buf_puts(out, "craft = 1\n\nrows = dim(1, 16777216)\n");
    for (int i = 0; i < p->rank; i++)
        buf_printf(out, "h%d = dim(1, 16777216)\n", i);
    put_host(p, name, out);
    buf_printf(out, "\n@kernel\ndef %s_kernel(x: gm[f32, rows, ", name);
    put_names(out, 'h', p->rank);
    buf_char(out, ']');
    for (int i = 0; i < p->rank; i++)
        buf_printf(out, ", o%d: i32", i);
    buf_puts(out, ", y: out[f32, rows, ");
    put_names(out, 'o', p->rank);
    buf_puts(out, "]):\n");
    int last = p->rank - 1;
    int64_t front = round_up(p->pad[last], BLOCK);
    int64_t length = round_up(front + (tile - 1) * p->stride[last] + reach(p, last), BLOCK);
    buf_printf(out,
               "    a = ub(f32, %lld, depth=2)   # a stretch of an input row, borders included\n"
               "    g = ub(f32, %lld)\n    acc = ub(f32, %lld)\n    idx = ub(i32, %lld)\n"
               "    o = ub(f32, %lld, depth=2)\n",
               (long long)length, (long long)tile, (long long)tile, (long long)tile,
               (long long)tile);
}

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

/* Loops over the window's rows; those outside the input are skipped. */
static int put_window_rows(const Pool *p, Buf *out, int depth)
{
    for (int i = 0; i + 1 < p->rank; i++) {
        put_line(out, depth++, "for k%d in range(%lld):", i, (long long)p->kernel[i]);
        put_line(out, depth, "p%d = i%d * %lld + k%d * %lld - %lld", i, i, (long long)p->stride[i],
                 i, (long long)p->dilation[i], (long long)p->pad[i]);
        put_line(out, depth++, "if p%d >= 0 and p%d < h%d:", i, i, i);
    }
    return depth;
}

static void put_columns(const Pool *p, Buf *out, int depth)
{
    int last = p->rank - 1;
    int64_t front = round_up(p->pad[last], BLOCK) - p->pad[last];
    for (int64_t k = 0; k < p->kernel[last]; k++) {
        put_line(out, depth, "idx[:t.size] = iota(%lld, %lld)",
                 (long long)(front + k * p->dilation[last]), (long long)p->stride[last]);
        put_line(out, depth, "g[:t.size] = gather(a, idx[:t.size])");
        put_line(out, depth,
                 p->max ? "acc[:t.size] = max(acc[:t.size], g[:t.size])"
                        : "acc[:t.size] = acc[:t.size] + g[:t.size]");
    }
}

static void put_body(const Pool *p, int64_t tile, Buf *out)
{
    int last = p->rank - 1, depth = 1;
    const char *neutral = p->max ? "-inf" : "0.0";
    int64_t front = round_up(p->pad[last], BLOCK);
    int64_t length = round_up(front + (tile - 1) * p->stride[last] + reach(p, last), BLOCK);
    Buf vars = {0}, axes = {0};
    put_names(&vars, 'i', last);
    put_names(&axes, 'o', last);
    put_line(
        out, depth++, "for r, %s%st in mine(rows, %s%stiles(o%d, %lld)):", vars.len ? vars.at : "",
        vars.len ? ", " : "", axes.len ? axes.at : "", axes.len ? ", " : "", last, (long long)tile);
    put_line(out, depth, "base = t.start * %lld - %lld", (long long)p->stride[last],
             (long long)front);
    put_line(out, depth, "lo = max(base, 0)");
    put_line(out, depth, "hi = max(lo, min(base + %lld, h%d))", (long long)length, last);
    put_line(out, depth, "with compute():");
    put_line(out, depth + 1, "acc[:t.size] = %s", neutral);
    depth = put_window_rows(p, out, depth);
    if (front) {
        put_line(out, depth, "with compute():");
        put_line(out, depth + 1, "a[:%lld] = %s", (long long)front, neutral);
    }
    put_line(out, depth, "with copyin():");
    buf_fill(out, ' ', (size_t)(depth + 1) * 4);
    buf_printf(out, "load(a[lo - base:%lld], x[r, ", (long long)length);
    for (int i = 0; i < last; i++)
        buf_printf(out, "p%d, ", i);
    buf_printf(out, "lo:hi], pad=%s)\n", neutral);
    put_line(out, depth, "with compute():");
    put_columns(p, out, depth + 1);
    put_line(out, 2, "with compute():");
    if (p->max)
        put_line(out, 3, "o[:t.size] = acc[:t.size]");
    else
        put_line(out, 3, "o[:t.size] = acc[:t.size] / %lld.0", (long long)p->divisor);
    put_line(out, 2, "with copyout():");
    put_line(out, 3, "store(y[r, %s%st], o[:t.size])", vars.len ? vars.at : "",
             vars.len ? ", " : "");
    buf_free(&vars);
    buf_free(&axes);
}

bool plan_pool(Arena *arena, const Graph *g, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag)
{
    const Node *node = &g->nodes.at[0];
    Pool p;
    Buf out = {0};
    const char *why = read_pool(g, node, &p);
    if (why) {
        diag_error(diag, "G001", node->at, "the planner cannot plan pool.%s yet: %s",
                   node_kind_name(node), why);
        return false;
    }
    int64_t tile = 4096 / p.stride[p.rank - 1] / 64 * 64;
    if (tile_limit && tile > tile_limit)
        tile = tile_limit / 64 * 64;
    tile = tile < 64 ? 64 : tile;
    buf_printf(
        &out,
        "# Planned by acraft for %s, strategy pool.\n"
        "# Each core takes rows of the output; for each row of the window one stretch of the\n"
        "# input is loaded once and its %lld columns are gathered from it on chip.\n",
        chip->name, (long long)p.kernel[p.rank - 1]);
    put_head(&p, name, tile, &out);
    put_body(&p, tile, &out);
    *plan = (Plan){.strategy = "pool", .name = name, .tile = tile};
    plan->craft = str_from(buf_take(&out, arena));
    buf_free(&out);
    PlanOperand x = {.value = node->in[0], .name = "x", .dtype = DT_F32, .shape = p.in};
    PlanOperand y = {
        .value = node->out, .output = true, .name = "y", .dtype = DT_F32, .shape = p.out};
    vec_push(arena, &plan->operands, x);
    vec_push(arena, &plan->operands, y);
    return true;
}
