/* Scans down the columns. In: a scan along a dimension that is not the last. Out: a program in which
 * columns run side by side, so that each step is one vector instruction. */
#include "gen/plan/lanes.h"

#include "gen/plan/script.h"

static const char program[] = "\n@host\ndef $F($P):\n"
                              "    $F_columns[chip.cores](x, y)\n"
                              "\n@kernel\ndef $F_columns($P):\n"
                              "    a = ub($T, $R, $W, depth=2)\n"
                              "    b = ub($O, $R, $W, depth=2)\n"
                              "    so_far = ub($C, $W)\n"
                              "    here = ub($C, $W)\n"
                              "$B"
                              "    for o, t in mine(outer, tiles(inner, $W)):\n"
                              "        with compute():\n"
                              "            so_far[:t.size] = $N\n"
                              "        for j in tiles(n, $R):\n"
                              "            with copyin():\n"
                              "                load(a[:j.size, :t.size], x[o, j, t])\n"
                              "            with compute():\n"
                              "                for k in range(j.size):\n"
                              "                    here[:t.size] = cast(a[k, :t.size], $C)\n"
                              "$S"
                              "                    b[k, :t.size] = cast(so_far[:t.size], $O)\n"
                              "            with copyout():\n"
                              "                store(y[o, j, t], b[:j.size, :t.size])\n";

static const char *const starts[SCAN_COUNT][2] = {
    [SCAN_sum] = {"0.0", "0"},
    [SCAN_prod] = {"1.0", "1"},
    [SCAN_max] = {"-inf", "-2147483648"},
    [SCAN_min] = {"inf", "2147483647"},
    [SCAN_logsumexp] = {"-inf", NULL},
};

static const char add_exponents[] = "so_far[:t.size] = log(exp(so_far[:t.size] - most[:t.size]) + "
                                    "exp(here[:t.size] - most[:t.size])) + most[:t.size]";

static const char *const steps[SCAN_COUNT] = {
    [SCAN_sum] = "so_far[:t.size] = so_far[:t.size] + here[:t.size]",
    [SCAN_prod] = "so_far[:t.size] = so_far[:t.size] * here[:t.size]",
    [SCAN_max] = "so_far[:t.size] = max(so_far[:t.size], here[:t.size])",
    [SCAN_min] = "so_far[:t.size] = min(so_far[:t.size], here[:t.size])",
    [SCAN_logsumexp] = add_exponents,
};

static const char *lines_of(Script *s, uint16_t kind)
{
    const char *before = "";
    if (kind == SCAN_logsumexp)
        before = "                    most[:t.size] = max(so_far[:t.size], here[:t.size], -3e38)\n";
    return str_format(s->arena, "%s                    %s\n", before, steps[kind]);
}

bool plan_column(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                 const char *name, Plan *plan, Diag *diag)
{
    Script s = {.arena = arena, .g = graph, .name = name};
    const Node *node = &graph->nodes.at[0];
    int dim = 0;
    (void)tile_limit, (void)diag;
    if (graph->nodes.len != 1 || node->op != OP_SCAN)
        return false;
    const Value *x = graph_value(graph, node->in[0]), *y = graph_value(graph, node->out);
    bool ints = dtype_is_int(x->dtype);
    if (x->dtype == DT_BOOL || x->dtype == DT_F64 || x->dtype == DT_C64 || x->shape.rank == 0 ||
        !shape_dim(x->shape, node_int(node, AT_DIM, 0), &dim) || !starts[node->kind][ints])
        return false;
    Shape seen = script_shape3(script_product(x->shape, 0, dim), x->shape.dim[dim],
                               script_product(x->shape, dim + 1, x->shape.rank));
    script_add(&s, node->in[0], false, "x", "outer, n, inner", seen);
    script_add(&s, node->out, true, "y", "outer, n, inner", seen);
    script_set(&s, 'T', dtype_name(x->dtype));
    script_set(&s, 'O', dtype_name(y->dtype));
    script_set(&s, 'C', ints ? "i32" : "f32");
    script_set(&s, 'N', starts[node->kind][ints]);
    script_set(&s, 'S', lines_of(&s, node->kind));
    bool wide = dtype_bytes(x->dtype) == 8 || dtype_bytes(y->dtype) == 8;
    script_number(&s, 'R', wide ? 8 : 16);
    script_number(&s, 'W', wide ? 256 : 512);
    if (node->kind == SCAN_logsumexp)
        script_set(&s, 'B', "    most = ub(f32, 512)\n");
    Buf out = {0};
    buf_printf(&out, "# Planned by acraft for %s, strategy column.\n", chip->name);
    buf_puts(&out, "# Columns side by side: what has been so far is one tile, rows come 16 (of 8 "
                   "bytes: 8) in one copy,\n# memory is read and written once.\n");
    if (ints)
        buf_puts(&out, "# Integers are computed in 32 bits: values beyond them wrap.\n");
    buf_puts(&out, "craft = 1\n\nouter = dim(1, 16777216)\nn = dim(1, 16777216)\n"
                   "inner = dim(1, 16777216)\n");
    script_put(&s, program, &out);
    script_finish(&s, "column", wide ? 256 : 512, &out, plan);
    return true;
}
