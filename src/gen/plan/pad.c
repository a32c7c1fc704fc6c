/* Constant padding of planes. In: a graph that is one F.pad of the last one to three dimensions, nothing cut off.
 * Out: a Craft program that copies many rows at once, and the borders from a buffer that holds the number.
 *
 *     x [planes, D, H, W] ─▶ y [planes, D', H', W']     rows in blocks; borders left and right, above and below
 *
 * Where only the last dimension is padded, all rows are one plane. */
#include "gen/plan/planners.h"

#include "gen/plan/script.h"
#include <math.h>

enum { DIMS = 3, ROOM = 48 * 1024, MOST_ROWS = 1024, BORDER_ROWS = 64 };

typedef struct Pad {
    ValueId x, y;
    DType dtype;
    double value;
    int64_t planes, in[DIMS], before[DIMS], after[DIMS];
    bool whole; /* rows of the result are stored whole */
} Pad;

static int64_t out_size(const Pad *p, int i) { return p->before[i] + p->in[i] + p->after[i]; }

static bool read_pad(const Graph *g, Pad *p)
{
    const Node *node = g->nodes.len == 1 && g->outputs.len == 1 ? &g->nodes.at[0] : NULL;
    const Attr *pads = node && node->op == OP_PAD ? node_attr(node, AT_PADS) : NULL;
    if (!pads || !str_is(node_text(node, AT_MODE), "constant") ||
        graph_value(g, node->in[0])->kind == VALUE_CONST)
        return false;
    Shape s = graph_value(g, node->in[0])->shape;
    *p = (Pad){.x = node->in[0],
               .y = node->out,
               .dtype = graph_value(g, node->out)->dtype,
               .value = node_float(node, AT_VALUE, 0),
               .planes = 1};
    for (int i = 0; i < s.rank - DIMS; i++)
        p->planes *= s.dim[i];
    for (int i = 0; i < DIMS; i++)
        p->in[i] = i < DIMS - s.rank ? 1 : s.dim[s.rank - DIMS + i];
    for (uint32_t i = 0; i < pads->ints.len; i++) {
        int dim = DIMS - 1 - (int)i / 2;
        int64_t by = pads->ints.at[i];
        if (by < 0 || (by && dim < 0))
            return false;
        if (by)
            *(i % 2 ? &p->after[dim] : &p->before[dim]) = by;
    }
    bool floats = p->dtype == DT_F32 || p->dtype == DT_F16 || p->dtype == DT_BF16;
    return floats && isfinite(p->value);
}

/* Dimensions that are not padded become more planes, or more rows. */
static void merge_planes(Pad *p)
{
    if (!p->before[0] && !p->after[0]) {
        p->planes *= p->in[0];
        p->in[0] = 1;
    }
    if (p->in[0] == 1 && !p->before[0] && !p->after[0] && !p->before[1] && !p->after[1]) {
        p->in[1] *= p->planes;
        p->planes = 1;
    }
}

/* $C sizes that vary; $R rows of a tile; $D..$W sizes of x, $E $I $X of y; $F name; $Z $T $L first plane, row, column of x in y. */
static const char head_text[] = "craft = 1\n\n$C\n@host\ndef $F($P):\n    $F_pad[chip.cores]($A)\n"
                                "\n@kernel\ndef $F_pad($P):\n";
static const char apart_text[] = "    a = ub($Y, $R, $W, depth=2)\n"
                                 "    blank = ub($Y, $B, $X)\n";
static const char fill_text[] = "    with compute():\n        blank = $V\n";
static const char cast_text[] = "    number = ub(f32, $B, $X)\n    with compute():\n"
                                "        number = $V\n        blank = cast(number, $Y)\n";
static const char planes_text[] = "    for p, d, r in mine($N, $E, tiles($H, $R)):\n";
static const char copy_text[] = "$O        with copyin():\n"
                                "$O            load(a[:r.size, :$W], x[p, $J, r, :])\n"
                                "$O        with copyout():\n"
                                "$O            store(y[p, d, $K, $L : $L + $W], a[:r.size, :$W])\n";
/* Whole rows of the result, where x begins at a multiple of 32 bytes inside them. */
static const char whole_text[] = "    a = ub($Y, $R, $X, depth=2)\n"
                                 "    blank = ub($Y, $B, $X)\n";
static const char rows_text[] = "$O        with copyin():\n"
                                "$O            load(a[:r.size, $L : $G], x[p, $J, r, :]$U)\n";
static const char left_text[] = "$O        with compute():\n"
                                "$O            a[:r.size, :$L] = $V\n";
static const char right_text[] = "$O        with compute():\n"
                                 "$O            a[:r.size, $G : $X] = $V\n";
static const char row_store[] = "$O        with copyout():\n"
                                "$O            store(y[p, d, $K, :], a[:r.size, :])\n";
static const char side_text[] =
    "        for q in tiles(r.size, $B):\n"
    "            with copyout():\n"
    "                store(y[p, d, $Q, $M : $M + $S], blank[:q.size, :$S])\n";
static const char edge_text[] =
    "    for p, d, q in mine($N, $E, tiles($S, $B)):\n"
    "        with copyout():\n"
    "            store(y[p, d, $M + q.start : $M + q.stop, :], blank[:q.size, :])\n";

static void put_side(Script *s, int64_t from, int64_t wide, Buf *out)
{
    script_number(s, 'M', from);
    script_number(s, 'S', wide);
    if (wide)
        script_put(s, side_text, out);
}

static void put_edge(Script *s, int64_t from, int64_t high, Buf *out)
{
    script_number(s, 'M', from);
    script_number(s, 'S', high);
    if (high)
        script_put(s, edge_text, out);
}

static void put_rows(Script *s, const Pad *p, Buf *out)
{
    if (!p->whole) {
        script_put(s, copy_text, out);
        return;
    }
    int64_t block = 32 / (int64_t)dtype_bytes(p->dtype), end = p->before[2] + p->in[2];
    int64_t filled = (end + block - 1) / block * block; /* by the copy itself */
    script_number(s, 'G', filled);
    script_set(s, 'U', filled > end ? str_format(s->arena, ", pad=%#.9g", p->value) : "");
    script_put(s, rows_text, out);
    if (p->before[2])
        script_put(s, left_text, out);
    if (filled < out_size(p, 2))
        script_put(s, right_text, out);
    script_put(s, row_store, out);
}

/* Planes of the first dimension that x does not have. */
static void put_body(Script *s, const Pad *p, Buf *out)
{
    bool deep = p->before[0] || p->after[0];
    long long first = (long long)p->before[0], end = first + (long long)p->in[0];
    script_put(s, planes_text, out);
    if (!deep) {
        script_set(s, 'J', "d");
        put_rows(s, p, out);
        return;
    }
    buf_printf(out, "        if d >= %lld and d < %lld:\n", first, end);
    script_set(s, 'O', "    ");
    script_set(s, 'J',
               str_format(s->arena, "min(max(d - %lld, 0), %lld)", first, (long long)p->in[0] - 1));
    put_rows(s, p, out);
    script_number(s, 'M', p->whole ? 0 : p->before[2]);
    script_number(s, 'S', p->whole ? out_size(p, 2) : p->in[2]);
    script_put(s,
               "        else:\n"
               "            for q in tiles(r.size, $B):\n"
               "                with copyout():\n"
               "                    store(y[p, d, $Q, $M : $M + $S], blank[:q.size, :$S])\n",
               out);
}

/* How many planes there are may vary; of what is one plane, how many rows. */
static bool rows_vary(const Pad *p) { return p->planes == 1 && !p->before[1] && !p->after[1]; }

static const char *planes_name(const Pad *p) { return p->planes > 1 ? "planes" : "1"; }

static const char *rows_name(const Script *s, const Pad *p)
{
    return rows_vary(p) && p->in[1] > 1 ? "rows"
                                        : str_format(s->arena, "%lld", (long long)p->in[1]);
}

static void add_operands(Script *s, const Pad *p)
{
    const char *x = str_format(s->arena, "%s, %lld, %s, %lld", planes_name(p), (long long)p->in[0],
                               rows_name(s, p), (long long)p->in[2]);
    const char *y = str_format(
        s->arena, "%s, %lld, %s, %lld", planes_name(p), (long long)out_size(p, 0),
        rows_vary(p) ? rows_name(s, p) : str_format(s->arena, "%lld", (long long)out_size(p, 1)),
        (long long)out_size(p, 2));
    script_add(s, p->x, false, "x", x, (Shape){4, {p->planes, p->in[0], p->in[1], p->in[2]}});
    script_add(s, p->y, true, "y", y,
               (Shape){4, {p->planes, out_size(p, 0), out_size(p, 1), out_size(p, 2)}});
}

static void set_holes(Script *s, const Pad *p, int64_t rows, int64_t border)
{
    long long top = (long long)p->before[1];
    script_set(s, 'Y', dtype_name(p->dtype));
    script_number(s, 'R', rows);
    script_number(s, 'B', border);
    script_set(s, 'C',
               p->planes > 1                  ? "planes = dim(1, 1073741824)\n"
               : rows_vary(p) && p->in[1] > 1 ? "rows = dim(1, 1073741824)\n"
                                              : "");
    script_set(s, 'N', planes_name(p));
    script_number(s, 'E', out_size(p, 0));
    script_set(s, 'H', rows_name(s, p));
    script_number(s, 'W', p->in[2]);
    script_number(s, 'X', out_size(p, 2));
    script_number(s, 'L', p->before[2]);
    script_set(s, 'V', str_format(s->arena, "%#.9g", p->value));
    script_set(s, 'K',
               top ? str_format(s->arena, "r.start + %lld : r.stop + %lld", top, top) : "r");
    script_set(
        s, 'Q',
        str_format(s->arena, "r.start + q.start + %lld : r.start + q.stop + %lld", top, top));
}

bool plan_pad(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
              const char *name, Plan *plan, Diag *diag)
{
    Pad p;
    Script s = {.arena = arena, .g = graph, .name = name};
    (void)tile_limit, (void)diag;
    if (!read_pad(graph, &p))
        return false;
    merge_planes(&p);
    int64_t size = (int64_t)dtype_bytes(p.dtype);
    p.whole = p.before[2] * size % 32 == 0 && out_size(&p, 2) * size % 32 == 0;
    int64_t row = ((p.whole ? out_size(&p, 2) : p.in[2]) * size + 31) / 32 * 32;
    int64_t wide = (out_size(&p, 2) * 4 + 31) / 32 * 32;
    int64_t rows = ROOM / row, border = ROOM / 2 / wide;
    rows = rows > MOST_ROWS ? MOST_ROWS : rows > p.in[1] ? p.in[1] : rows;
    border = border > BORDER_ROWS ? BORDER_ROWS : border;
    if (rows < 1 || border < 1)
        return false;
    Buf out = {0};
    add_operands(&s, &p);
    set_holes(&s, &p, rows, border);
    buf_printf(&out, "# Planned by acraft for %s, strategy pad.\n", chip->name);
    buf_printf(&out,
               "# %lld rows at once; borders are stored from a buffer that holds the number.\n",
               (long long)rows);
    script_put(&s, head_text, &out);
    script_put(&s, p.whole ? whole_text : apart_text, &out);
    script_put(&s, p.dtype == DT_F32 ? fill_text : cast_text, &out);
    put_body(&s, &p, &out);
    put_side(&s, 0, p.whole ? 0 : p.before[2], &out);
    put_side(&s, p.before[2] + p.in[2], p.whole ? 0 : p.after[2], &out);
    put_edge(&s, 0, p.before[1], &out);
    put_edge(&s, p.before[1] + p.in[1], p.after[1], &out);
    script_finish(&s, "pad", rows * p.in[2], &out, plan);
    return true;
}
