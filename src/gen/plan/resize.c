/* Interpolation. In: a graph of one interpolate node. Out: a program that folds the rows an output
 * row needs, then gathers its columns. */
#include "gen/plan/resize.h"

#include "gen/plan/prim_int.h"

enum { MOST_TAPS = 16, MOST_UNROLLED = 64, TABLE_BYTES = 96 * 1024, MOST_WIDTH = 8192, BLOCK = 8 };
/* Planes at once: as many as fit on chip and leave every core a few pieces. */
enum { ROOM = 168 * 1024, MOST_PLANES = 64, PIECES = 200 };

typedef enum TapMode { TAP_NEAREST, TAP_EXACT, TAP_LINEAR, TAP_CUBIC, TAP_AREA } TapMode;

typedef struct Axis {
    int64_t in, out, taps;
    double a, b, c; /* place of output o: (a o + b) / c */
    double scale;   /* input elements per output */
} Axis;

typedef struct Resize {
    Arena *arena;
    TapMode mode;
    bool align, smooth; /* smooth: antialiased */
    DType dtype;
    int64_t planes, block; /* block: planes at once */
    Axis axis[3];          /* depth, height, width; missing ones have size 1 */
} Resize;

static const char letter[] = "dhw";

/* ---- reading ---- */

static TapMode mode_of(Str m)
{
    return str_is(m, "nearest")         ? TAP_NEAREST
           : str_is(m, "nearest-exact") ? TAP_EXACT
           : str_is(m, "bicubic")       ? TAP_CUBIC
           : str_is(m, "area")          ? TAP_AREA
                                        : TAP_LINEAR;
}

static int64_t taps_of(const Resize *r, const Axis *x)
{
    double wide = x->scale > 1 ? x->scale : 1;
    if (r->smooth)
        return (int64_t)((r->mode == TAP_CUBIC ? 4 : 2) * wide) + 2;
    switch (r->mode) {
    case TAP_LINEAR: return 2;
    case TAP_CUBIC: return 4;
    case TAP_AREA: return x->in % x->out ? x->in / x->out + 2 : x->in / x->out;
    default: return 1;
    }
}

static void place_axis(const Resize *r, Axis *x, double factor)
{
    if (r->align) {
        x->a = x->out > 1 ? (double)(x->in - 1) : 0;
        x->c = x->out > 1 ? (double)(x->out - 1) : 1;
        x->scale = x->a / x->c;
    } else if (factor > 0) {
        x->a = 2;
        x->b = 1 - factor;
        x->c = 2 * factor;
        x->scale = 1 / factor;
    } else {
        x->a = 2 * (double)x->in;
        x->b = (double)(x->in - x->out);
        x->c = 2 * (double)x->out;
        x->scale = (double)x->in / (double)x->out;
    }
    x->taps = x->in == 1 && x->out == 1 ? 1 : taps_of(r, x);
}

static int64_t padded(int64_t n) { return (n + BLOCK - 1) / BLOCK * BLOCK; }

static bool is_trivial(const Axis *x) { return x->in == 1 && x->out == 1; }

/* How many vectors the tables need beside themselves. */
static int work_vectors(const Resize *r)
{
    return r->smooth ? (r->mode == TAP_CUBIC ? 7 : 6) : r->mode == TAP_AREA ? 5 : 3;
}

static int64_t longest_axis(const Resize *r)
{
    int64_t longest = 0;
    for (int i = 0; i < 3; i++)
        longest = r->axis[i].out > longest ? r->axis[i].out : longest;
    return padded(longest);
}

/* Scalars of a row are read once for all planes of a block. */
static int64_t block_of(const Resize *r)
{
    int64_t held = (work_vectors(r) + 2) * longest_axis(r) * 4;
    for (int i = 0; i < 3; i++)
        held += r->axis[i].taps * padded(r->axis[i].out) * 8;
    int64_t bytes = (int64_t)dtype_bytes(r->dtype), whole = r->dtype == DT_F32 ? 0 : 4;
    int64_t in = padded(r->axis[2].in) * (4 + 2 * bytes + 4 + whole);
    int64_t out = padded(r->axis[2].out) * (4 + 2 * bytes + 4 + whole);
    int64_t block = held < ROOM ? (ROOM - held) / (in + out) : 1;
    int64_t rows = r->axis[0].out * r->axis[1].out;
    block = block < MOST_PLANES ? block : MOST_PLANES;
    block = block < r->planes ? block : r->planes;
    while (block > 1 && rows * ((r->planes + block - 1) / block) < PIECES)
        block = (block + 1) / 2 < block ? (block + 1) / 2 : 1;
    return block > 1 ? block : 1;
}

static const char *read_resize(const Graph *g, const Node *node, Resize *r)
{
    const Value *x = graph_value(g, node->in[0]), *y = graph_value(g, node->out);
    int dims = x->shape.rank - 2;
    Str scales = node_text(node, AT_SCALES), word;
    int64_t bytes = 0, unrolled = 1;
    r->mode = mode_of(node_text(node, AT_MODE));
    bool curved = r->mode == TAP_LINEAR || r->mode == TAP_CUBIC;
    r->align = curved && node_bool(node, AT_ALIGN);
    r->smooth = curved && node_bool(node, AT_ANTIALIAS);
    r->dtype = x->dtype;
    if (dims < 1 || dims > 3 || (x->dtype != DT_F32 && x->dtype != DT_F16 && x->dtype != DT_BF16))
        return "one to three dimensions of floats";
    r->planes = x->shape.dim[0] * x->shape.dim[1];
    for (int i = 0; i < 3; i++)
        r->axis[i] = (Axis){.in = 1, .out = 1, .taps = 1, .c = 1};
    for (int i = 0; i < dims; i++) {
        Axis *a = &r->axis[3 - dims + i];
        double factor = 0;
        a->in = x->shape.dim[2 + i];
        a->out = y->shape.dim[2 + i];
        if (str_next(&scales, ',', &word))
            str_to_double(str_trim(word), &factor);
        place_axis(r, a, factor);
        bytes += a->taps * a->out * 8;
        unrolled *= i + 1 < dims ? a->taps : 1;
        if (a->taps > MOST_TAPS)
            return "more than 16 places under one output";
    }
    r->block = block_of(r);
    if (bytes > TABLE_BYTES || r->axis[2].in > MOST_WIDTH || r->axis[2].out > MOST_WIDTH)
        return "its tables do not fit on chip";
    return unrolled > MOST_UNROLLED ? "too many rows under one output" : NULL;
}

/* ---- tables ---- */

static void put(Buf *out, int depth, const char *format, ...) ATTR_PRINTF(3, 4);
static void put(Buf *out, int depth, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_fill(out, ' ', (size_t)depth * 4);
    buf_vprintf(out, format, args);
    buf_char(out, '\n');
    va_end(args);
}

static const char *number(const Resize *r, double value)
{
    Buf out = {0};
    prim_literal(&out, value);
    char *text = buf_take(&out, r->arena);
    buf_free(&out);
    return text;
}

/* Places are kept as fractions (a o + b) / c: numerators are whole numbers of f32, so the part
 * behind the point has no cancellation. pos: the numerator, then the part; low: the floor. */
static void put_weights_cubic(const Resize *r, const char *v, char d, Buf *out)
{
    const double a = -0.75;
    put(out, 2, "tap%s = 1.0 - pos%s", v, v);
    for (int k = 0; k < 4; k++) {
        const char *f = k < 2 ? "pos" : "tap", *g = k < 2 ? "tap" : "pos";
        if (k == 0 || k == 3)
            put(out, 2, "w%c%d%s = %s%s * %s%s * %s%s * %s", d, k, v, f, v, g, v, g, v,
                number(r, a));
        else
            put(out, 2, "w%c%d%s = ((%s%s * %s - %s) * %s%s) * %s%s + 1.0", d, k, v, f, v,
                number(r, a + 2), number(r, a + 3), f, v, f, v);
    }
}

static void put_at(const Axis *x, char d, int64_t k, int64_t shift, const char *v, Buf *out)
{
    put(out, 2, "at%c%lld%s = min(max(cast(low%s, i32, \"floor\") + %lld, 0), %lld)", d,
        (long long)k, v, v, (long long)(k + shift), (long long)x->in - 1);
}

static void put_linear(const Resize *r, const Axis *x, char d, const char *v, Buf *out)
{
    const char *c = number(r, x->c);
    put(out, 2, "pos%s = max(pos%s, 0.0)", v, v);
    put(out, 2, "low%s = min(floor(pos%s / %s), %lld.0)", v, v, c, (long long)x->in - 1);
    put(out, 2, "w%c1%s = min(max((pos%s - low%s * %s) / %s, 0.0), 1.0)", d, v, v, v, c, c);
    put(out, 2, "w%c0%s = 1.0 - w%c1%s", d, v, d, v);
    put_at(x, d, 0, 0, v, out);
    put_at(x, d, 1, 0, v, out);
}

/* Windows whose ends vary: place k counts while it lies before the end. */
static void put_window(const Resize *r, const Axis *x, char d, const char *v, Buf *out)
{
    double wide = x->scale > 1 ? x->scale : 1, reach = (r->mode == TAP_CUBIC ? 2 : 1) * wide;
    if (r->smooth) {
        put(out, 2, "num%s = tap%s * %s + %s", v, v, number(r, x->a), number(r, x->b + x->c / 2));
        put(out, 2, "pos%s = num%s / %s", v, v, number(r, x->c));
        put(out, 2, "low%s = floor(max(pos%s - %s, 0.0))", v, v, number(r, reach - 0.5));
        put(out, 2, "end%s = floor(min(pos%s + %s, %s))", v, v, number(r, reach + 0.5),
            number(r, (double)x->in));
    } else {
        put(out, 2, "low%s = floor(tap%s * %lld.0 / %lld.0)", v, v, (long long)x->in,
            (long long)x->out);
        put(out, 2, "end%s = ceil((tap%s + 1.0) * %lld.0 / %lld.0)", v, v, (long long)x->in,
            (long long)x->out);
    }
    put(out, 2, "sum%s = 0.0", v);
    for (int64_t k = 0; k < x->taps; k++) {
        const char *w = str_format(r->arena, "w%c%lld%s", d, (long long)k, v);
        if (r->smooth)
            put(out, 2, "tap%s = abs((low%s + %lld.5) * %s - num%s) * %s", v, v, (long long)k,
                number(r, x->c), v, number(r, 1 / (wide * x->c)));
        if (r->smooth && r->mode == TAP_CUBIC) {
            put(out, 2, "far%s = min(tap%s, 2.0)", v, v);
            put(out, 2, "far%s = (((far%s - 5.0) * far%s + 8.0) * far%s - 4.0) * -0.5", v, v, v, v);
            put(out, 2,
                "tap%s = where(tap%s < 1.0, ((tap%s * 1.5 - 2.5) * tap%s) * tap%s + 1.0, "
                "far%s)",
                v, v, v, v, v, v);
        } else if (r->smooth) {
            put(out, 2, "tap%s = max(1.0 - tap%s, 0.0)", v, v);
        } else {
            put(out, 2, "tap%s = 1.0", v);
        }
        put(out, 2, "%s = where(low%s + %lld.0 < end%s, tap%s, 0.0)", w, v, (long long)k, v, v);
        put(out, 2, "sum%s = sum%s + %s", v, v, w);
        put_at(x, d, k, 0, v, out);
    }
    for (int64_t k = 0; k < x->taps; k++)
        put(out, 2, "w%c%lld%s = w%c%lld%s / sum%s", d, (long long)k, v, d, (long long)k, v, v);
}

static void put_table(const Resize *r, int i, Buf *out)
{
    const Axis *x = &r->axis[i];
    char d = letter[i];
    const char *v = str_format(r->arena, "[:%lld]", (long long)x->out);
    put(out, 2, "tap%s = iota(0.0, 1.0, f32)", v);
    if (r->mode == TAP_NEAREST || r->mode == TAP_EXACT) {
        put(out, 2, "low%s = floor((tap%s + %s) * %s)", v, v, r->mode == TAP_EXACT ? "0.5" : "0.0",
            number(r, (double)(float)x->scale));
        put(out, 2, "w%c0%s = 1.0", d, v);
        put_at(x, d, 0, 0, v, out);
        return;
    }
    if (r->smooth || r->mode == TAP_AREA) {
        put_window(r, x, d, v, out);
        return;
    }
    put(out, 2, "pos%s = tap%s * %s + %s", v, v, number(r, x->a), number(r, x->b));
    if (r->mode == TAP_LINEAR) {
        put_linear(r, x, d, v, out);
        return;
    }
    put(out, 2, "low%s = floor(pos%s / %s)", v, v, number(r, x->c));
    put(out, 2, "pos%s = (pos%s - low%s * %s) / %s", v, v, v, number(r, x->c), number(r, x->c));
    put_weights_cubic(r, v, d, out);
    for (int64_t k = 0; k < 4; k++)
        put_at(x, d, k, -1, v, out);
}

static void put_buffers(const Resize *r, Buf *out)
{
    const char *t = dtype_name(r->dtype),
               *work[] = {"tap", "pos", "low", "end", "sum", "num", "far"};
    long long in = (long long)r->axis[2].in, n = (long long)r->axis[2].out;
    long long block = (long long)r->block;
    for (int i = 0; i < 3; i++) {
        const Axis *x = &r->axis[i];
        long long size = (long long)padded(x->out);
        for (int64_t k = 0; k < x->taps && (!is_trivial(x) || i == 2); k++) {
            put(out, 1, "at%c%lld = ub(i32, %lld)", letter[i], (long long)k, size);
            put(out, 1, "w%c%lld = ub(f32, %lld)", letter[i], (long long)k, size);
        }
    }
    for (int i = 0; i < work_vectors(r); i++)
        put(out, 1, "%s = ub(f32, %lld)", work[i], (long long)longest_axis(r));
    put(out, 1, "rows = ub(%s, %lld, %lld, depth=2)", t, block, in);
    put(out, 1, "acc = ub(f32, %lld, %lld)", block, in);
    put(out, 1, "part = ub(f32, %lld, %lld)", block, n);
    if (r->dtype != DT_F32)
        put(out, 1, "fine = ub(f32, %lld, %lld)", block, n);
    put(out, 1, "o = ub(%s, %lld, %lld, depth=2)", t, block, n);
}

/* ---- rows and columns ---- */

/* Which rows lie under the output row, and what they weigh. */
static void put_scalars(const Resize *r, Buf *out)
{
    static const char at[] = "zr", weight[] = "uv", index[] = "ij";
    if (is_trivial(&r->axis[0]) && is_trivial(&r->axis[1]))
        return;
    put(out, 2, "with compute():");
    for (int d = 0; d < 2; d++)
        for (int64_t k = 0; k < r->axis[d].taps && !is_trivial(&r->axis[d]); k++) {
            put(out, 3, "%c%lld = at%c%lld[%c]", at[d], (long long)k, letter[d], (long long)k,
                index[d]);
            put(out, 3, "%c%lld = w%c%lld[%c]", weight[d], (long long)k, letter[d], (long long)k,
                index[d]);
        }
}

static const char *scalar(const Resize *r, int d, char stem, int64_t k, const char *otherwise)
{
    return is_trivial(&r->axis[d]) ? otherwise : str_format(r->arena, "%c%lld", stem, (long long)k);
}

/* One input row of every plane, times its weight, into the fold. */
static void put_row(const Resize *r, int64_t a, int64_t b, Buf *out)
{
    const char *v = str_format(r->arena, "[:t.size, :%lld]", (long long)r->axis[2].in);
    const char *row = str_format(r->arena, r->dtype == DT_F32 ? "rows%s" : "cast(rows%s, f32)", v);
    const char *deep = scalar(r, 0, 'u', a, "1.0"), *high = scalar(r, 1, 'v', b, "1.0");
    const char *times = is_trivial(&r->axis[0])   ? high
                        : is_trivial(&r->axis[1]) ? deep
                                                  : str_format(r->arena, "(%s * %s)", deep, high);
    put(out, 2, "with copyin():");
    put(out, 3, "load(rows%s, x[t, %s, %s, :])", v, scalar(r, 0, 'z', a, "0"),
        scalar(r, 1, 'r', b, "0"));
    put(out, 2, "with compute():");
    if (a + b == 0)
        put(out, 3, "acc%s = %s * %s", v, row, times);
    else
        put(out, 3, "acc%s = acc%s + %s * %s", v, v, row, times);
}

static void put_columns(const Resize *r, Buf *out)
{
    long long w = (long long)r->axis[2].in, n = (long long)r->axis[2].out;
    const char *to = r->dtype == DT_F32 ? "o" : "fine";
    const char *v = str_format(r->arena, "[:t.size, :%lld]", n);
    put(out, 2, "with compute():");
    for (int64_t k = 0; k < r->axis[2].taps; k++) {
        put(out, 3, "for q in range(t.size):");
        put(out, 4, "part[q, :%lld] = gather(acc[q, :%lld], atw%lld[:%lld])", n, w, (long long)k,
            n);
        if (k == 0)
            put(out, 3, "%s%s = part%s * row(ww0[:%lld])", to, v, v, n);
        else
            put(out, 3, "%s%s = %s%s + part%s * row(ww%lld[:%lld])", to, v, to, v, v, (long long)k,
                n);
    }
    if (r->dtype != DT_F32)
        put(out, 3, "o%s = cast(fine%s, %s)", v, v, dtype_name(r->dtype));
    put(out, 2, "with copyout():");
    put(out, 3, "store(y[t, i, j, :], o%s)", v);
}

static const char *dims_of(const Resize *r, bool result)
{
    const Axis *x = r->axis;
    return str_format(
        r->arena, "planes, %lld, %lld, %lld", (long long)(result ? x[0].out : x[0].in),
        (long long)(result ? x[1].out : x[1].in), (long long)(result ? x[2].out : x[2].in));
}

static void put_kernel(const Resize *r, const char *name, const char *role, Buf *out)
{
    const Axis *x = r->axis;
    put(out, 0, "\n@kernel\ndef %s_resize(x: gm[%s, %s], y: %s[%s, %s]):", name,
        dtype_name(r->dtype), dims_of(r, false), role, dtype_name(r->dtype), dims_of(r, true));
    put_buffers(r, out);
    put(out, 1, "with compute():");
    for (int i = 0; i < 3; i++)
        if (!is_trivial(&x[i]) || i == 2)
            put_table(r, i, out);
    put(out, 1, "for i, j, t in mine(%lld, %lld, tiles(planes, %lld)):", (long long)x[0].out,
        (long long)x[1].out, (long long)r->block);
    put_scalars(r, out);
    for (int64_t a = 0; a < x[0].taps; a++)
        for (int64_t b = 0; b < x[1].taps; b++)
            put_row(r, a, b, out);
    put_columns(r, out);
}

const char *resize_kernel(Arena *arena, const Graph *g, const Node *node, const char *name,
                          const char *role, Buf *out)
{
    Resize r = {.arena = arena};
    const char *why = read_resize(g, node, &r);
    if (!why)
        put_kernel(&r, name, role, out);
    return why;
}

static Shape shape_of(const Resize *r, bool result)
{
    Shape s = {4, {r->planes}};
    for (int i = 0; i < 3; i++)
        s.dim[1 + i] = result ? r->axis[i].out : r->axis[i].in;
    return s;
}

static void put_program(const Resize *r, const Script *s, const NpuChip *chip, Buf *out)
{
    buf_printf(out, "# Planned by acraft for %s, strategy resize.\n", chip->name);
    buf_printf(out,
               "# An output row is the weighted sum of %lld input rows, then of %lld gathered "
               "columns. Places and\n# weights are the same for all planes: tables, made once per "
               "core, read once for %lld planes. Sizes are those of this task.\n",
               (long long)(r->axis[0].taps * r->axis[1].taps), (long long)r->axis[2].taps,
               (long long)r->block);
    buf_puts(out, "craft = 1\n\nplanes = dim(1, 16777216)\n");
    script_put(s, "\n@host\ndef $F($P):\n    $F_resize[chip.cores](x, y)\n", out);
    put_kernel(r, s->name, "out", out);
}

bool plan_resize(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                 const char *name, Plan *plan, Diag *diag)
{
    const Node *node = &graph->nodes.at[0];
    Resize r = {.arena = arena};
    (void)tile_limit;
    if (graph->nodes.len != 1 || node->op != OP_INTERPOLATE)
        return false;
    const char *why = read_resize(graph, node, &r);
    if (why) {
        diag_error(diag, "G001", node->at, "the planner cannot plan interpolate yet: %s", why);
        return false;
    }
    Script s = {.arena = arena, .g = graph, .name = name};
    script_add(&s, node->in[0], false, "x", dims_of(&r, false), shape_of(&r, false));
    script_add(&s, node->out, true, "y", dims_of(&r, true), shape_of(&r, true));
    Buf out = {0};
    put_program(&r, &s, chip, &out);
    script_finish(&s, "resize", r.axis[2].out, &out, plan);
    return true;
}
