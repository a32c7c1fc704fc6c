/* Positions of extremes. In: argmax or argmin of an input, perhaps of its absolute values, perhaps
 * scaled and shifted after that. Out: a program by rows, or by columns for other axes than the last.
 * Of equals the first counts, and NaN beats all. */
#include "gen/plan/arg.h"

#include "gen/plan/script.h"

typedef struct Arg {
    Script s;
    const Node *arg;
    ValueId x;
    bool max, abs;
    int64_t outer, n, inner; /* the axis between */
    int64_t times, plus;     /* the result is times * position + plus */
} Arg;

/* ---- reading ---- */

static bool whole_number(const Graph *g, ValueId id, int64_t *number)
{
    const Value *v = graph_value(g, id);
    if (v->kind != VALUE_CONST || v->shape.rank != 0)
        return false;
    *number = (int64_t)dtype_load(v->dtype, v->data, 0);
    return true;
}

/* From the output down to the argmax: casts, sums and products with numbers. */
static const Node *read_after(const Graph *g, Arg *a)
{
    const Node *node = graph_maker(g, g->outputs.at[0]);
    a->times = 1;
    while (node && node->op != OP_REDUCE) {
        int64_t k = 0;
        bool known = node->op == OP_CAST || node->op == OP_RESHAPE;
        if (node->op == OP_BINARY && whole_number(g, node->in[1], &k)) {
            known = node->kind == BINARY_add || node->kind == BINARY_mul;
            a->plus += node->kind == BINARY_add ? k * a->times : 0;
            a->times *= node->kind == BINARY_mul ? k : 1;
        }
        if (!known)
            return NULL;
        node = graph_maker(g, node->in[0]);
    }
    return node;
}

static const Node *skip_views(const Graph *g, ValueId *id)
{
    const Node *node = graph_maker(g, *id);
    while (node && node->op == OP_RESHAPE) {
        *id = node->in[0];
        node = graph_maker(g, *id);
    }
    return node;
}

static bool read_before(const Graph *g, Arg *a)
{
    a->x = a->arg->in[0];
    const Node *node = skip_views(g, &a->x);
    if (node && node->op == OP_UNARY && node->kind == UNARY_abs) {
        a->abs = true;
        a->x = node->in[0];
        node = skip_views(g, &a->x);
    }
    return !node;
}

static const char *read_arg(const Graph *g, Arg *a)
{
    const Value *in = graph_value(g, a->arg->in[0]), *x = graph_value(g, a->x);
    const Attr *dims = node_attr(a->arg, AT_DIMS);
    int dim = 0;
    a->max = a->arg->kind == REDUCE_argmax;
    a->outer = a->inner = 1;
    a->n = script_product(in->shape, 0, in->shape.rank);
    if (dims && dims->ints.len == 1 && shape_dim(in->shape, dims->ints.at[0], &dim)) {
        a->outer = script_product(in->shape, 0, dim);
        a->n = in->shape.dim[dim];
        a->inner = script_product(in->shape, dim + 1, in->shape.rank);
    }
    if (x->dtype != DT_F32 && x->dtype != DT_F16 && x->dtype != DT_BF16)
        return "only floats";
    return a->n >= 1 << 30 ? "positions beyond 32 bits" : NULL;
}

/* ---- programs ---- */

static const char by_rows[] =
    "\n@host\ndef $F($P):\n"
    "    $F_rows[chip.cores](x, y)\n"
    "\n@kernel\ndef $F_rows(x: gm[$T, $X], y: out[$O, outer]):\n"
    "$B"
    "    f = ub(f32, 4096)\n"
    "    found = ub(i32, 64)\n"
    "    o = ub($O, 64, depth=2)\n"
    "    for b in mine(tiles(outer, $R)):\n"
    "        for r in range(b.start, b.stop):\n"
    "            best = $N\n"
    "            place = 0\n"
    "            for t in tiles(n, 4096):\n"
    "                with copyin():\n"
    "                    $L\n"
    "                with compute():\n"
    "                    f[:t.size] = $V\n"
    "                    m = reduce_$M(f[:t.size])\n"
    "                    k = arg$M(f[:t.size])\n"
    "                    if t.start == 0 or m $C best or m != m and best == best:\n"
    "                        best = m\n"
    "                        place = t.start + k\n"
    "            with compute():\n"
    "                found[r - b.start] = place$E\n"
    "        with compute():\n"
    "            o[:b.size] = cast(found[:b.size], $O)\n"
    "        with copyout():\n"
    "            store(y[b], o[:b.size])\n";

static const char by_columns[] =
    "\n@host\ndef $F($P):\n"
    "    $F_columns[chip.cores](x, y)\n"
    "\n@kernel\ndef $F_columns(x: gm[$T, $X], y: out[$O, outer, inner]):\n"
    "    a = ub($T, 16, 512, depth=2)\n"
    "    f = ub(f32, 512)\n"
    "    best = ub(f32, 512)\n"
    "    found = ub(i32, 512)\n"
    "    better = mask(512)\n"
    "    o = ub($O, 512, depth=2)\n"
    "    for i, t in mine(outer, tiles(inner, 512)):\n"
    "        with compute():\n"
    "            best[:t.size] = $N\n"
    "            found[:t.size] = 0\n"
    "        for b in tiles(n, 16):\n"
    "            with copyin():\n"
    "                load(a[:b.size, :t.size], x[i, b, t])\n"
    "            with compute():\n"
    "                for k in range(b.size):\n"
    "                    f[:t.size] = $V\n"
    "                    better[:t.size] = (f[:t.size] $C best[:t.size]) | "
    "((f[:t.size] != f[:t.size]) & (best[:t.size] == best[:t.size]))\n"
    "                    best[:t.size] = where(better[:t.size], f[:t.size], best[:t.size])\n"
    "                    found[:t.size] = where(better[:t.size], b.start + k, found[:t.size])\n"
    "        with compute():\n"
    "$G"
    "            o[:t.size] = cast(found[:t.size], $O)\n"
    "        with copyout():\n"
    "            store(y[i, t], o[:t.size])\n";

static void set_holes(Arg *a, bool rows)
{
    Script *s = &a->s;
    const Value *x = graph_value(s->g, a->x);
    const char *part = rows ? "a[:t.size]" : "a[k, :t.size]";
    const char *wide = x->dtype == DT_F32 ? part : str_format(s->arena, "cast(%s, f32)", part);
    script_set(s, 'T', dtype_name(x->dtype));
    script_set(s, 'O', dtype_name(graph_value(s->g, s->g->outputs.at[0])->dtype));
    script_set(s, 'X', rows ? "outer, n" : "outer, n, inner");
    script_set(s, 'N', a->max ? "-inf" : "inf");
    script_set(s, 'M', a->max ? "max" : "min");
    script_set(s, 'C', a->max ? ">" : "<");
    script_set(s, 'V', a->abs ? str_format(s->arena, "abs(%s)", wide) : wide);
    script_number(s, 'R', a->outer >= 64 * 40 ? 64 : 8);
    script_set(s, 'B',
               str_format(s->arena, "    a = ub(%s, 4096, depth=2)\n", dtype_name(x->dtype)));
    script_set(s, 'L', "load(a[:t.size], x[r, t])");
    if (a->times != 1 || a->plus != 0) {
        script_set(s, 'E',
                   str_format(s->arena, " * %lld + %lld", (long long)a->times, (long long)a->plus));
        script_set(s, 'G',
                   str_format(s->arena,
                              "            found[:t.size] = found[:t.size] * %lld + %lld\n",
                              (long long)a->times, (long long)a->plus));
    }
}

static void write_arg(Arg *a, const NpuChip *chip, Plan *plan)
{
    Script *s = &a->s;
    Buf out = {0};
    bool rows = a->inner == 1;
    set_holes(a, rows);
    if (rows) {
        script_add(s, a->x, false, "x", "outer, n", script_shape2(a->outer, a->n));
        script_add(s, s->g->outputs.at[0], true, "y", "outer", (Shape){1, {a->outer}});
    } else {
        script_add(s, a->x, false, "x", "outer, n, inner", script_shape3(a->outer, a->n, a->inner));
        script_add(s, s->g->outputs.at[0], true, "y", "outer, inner",
                   script_shape2(a->outer, a->inner));
    }
    buf_printf(&out, "# Planned by acraft for %s, strategy arg.\n", chip->name);
    buf_puts(&out, rows
                       ? "# Each row is read once; the best of a tile is compared as a scalar.\n"
                       : "# Columns side by side: the best so far and its place are tiles, 16 rows "
                         "are loaded in one copy,\n# memory is read once.\n");
    buf_puts(&out, "craft = 1\n\nouter = dim(1, 16777216)\nn = dim(1, 1073741824)\n");
    buf_puts(&out, rows ? "" : "inner = dim(1, 16777216)\n");
    script_put(s, rows ? by_rows : by_columns, &out);
    script_finish(s, "arg", rows ? 4096 : 512, &out, plan);
}

bool plan_arg(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
              const char *name, Plan *plan, Diag *diag)
{
    Arg a = {.s = {.arena = arena, .g = graph, .name = name}};
    (void)tile_limit;
    if (graph->outputs.len != 1)
        return false;
    a.arg = read_after(graph, &a);
    if (!a.arg || (a.arg->kind != REDUCE_argmax && a.arg->kind != REDUCE_argmin) ||
        !read_before(graph, &a))
        return false;
    const char *why = read_arg(graph, &a);
    if (why) {
        diag_error(diag, "G001", a.arg->at, "the planner cannot plan reduce.%s yet: %s",
                   node_kind_name(a.arg), why);
        return false;
    }
    write_arg(&a, chip, plan);
    return true;
}
