/* Integers of rows. In: sum, product, max or min over the last of two dimensions, or a running one
 * that needs 64 bits. Out: a program by rows; a row's result is a scalar of 64 bits. */
#include "gen/plan/lanes.h"

#include "gen/plan/script.h"
#include "gen/plan/int64.h"

static const char program[] = "\n@host\ndef $F($P):\n"
                              "    $F_rows[chip.cores](x, y)\n"
                              "\n@kernel\ndef $F_rows($P):\n"
                              "    a = ub($T, 4096, depth=2)\n"
                              "$B"
                              "    found = ub($K, 64)\n"
                              "    o = ub($O, 64, depth=2)\n"
                              "    for b in mine(tiles(outer, $R)):\n"
                              "        for r in range(b.start, b.stop):\n"
                              "            all = $N\n"
                              "            for t in tiles(n, 4096):\n"
                              "                with copyin():\n"
                              "                    load(a[:t.size], x[r, t])\n"
                              "                with compute():\n"
                              "$S"
                              "            with compute():\n"
                              "                found[r - b.start] = all\n"
                              "        with compute():\n"
                              "            o[:b.size] = cast(found[:b.size], $O)\n"
                              "        with copyout():\n"
                              "            store(y[b], o[:b.size])\n";

static const char *start_of(uint16_t kind)
{
    switch (kind) {
    case REDUCE_sum: return "0";
    case REDUCE_prod: return "1";
    case REDUCE_max: return "-2147483648";
    case REDUCE_min: return "2147483647";
    default: return NULL;
    }
}

static const char narrow[] = "                    f[:t.size] = cast(a[:t.size], i32)\n";

/* Elements of 64 bits, one after the other. */
static const char *int64_step_of(uint16_t kind)
{
    switch (kind) {
    case REDUCE_sum: return "all + a[k]";
    case REDUCE_max: return "max(all, a[k])";
    case REDUCE_min: return "min(all, a[k])";
    default: return "all * a[k]";
    }
}

static const char *int64_start_of(uint16_t kind)
{
    return kind == REDUCE_max   ? "-9223372036854775807"
           : kind == REDUCE_min ? "9223372036854775807"
                                : start_of(kind);
}

static const char *step_of(uint16_t kind)
{
    switch (kind) {
    case REDUCE_sum: return "                    all = all + reduce_sum(f[:t.size])\n";
    case REDUCE_max: return "                    all = max(all, reduce_max(f[:t.size]))\n";
    case REDUCE_min: return "                    all = min(all, reduce_min(f[:t.size]))\n";
    default:
        return "                    for k in range(t.size):\n"
               "                        all = all * f[k]\n";
    }
}

static const char running[] = "\n@host\ndef $F($P):\n"
                              "    $F_rows[chip.cores](x, y)\n"
                              "\n@kernel\ndef $F_rows($P):\n"
                              "    a = ub($T, 4096, depth=2)\n"
                              "    o = ub(i64, 4096, depth=2)\n"
                              "    for r in mine(outer):\n"
                              "        all = $N\n"
                              "        for t in tiles(n, 4096):\n"
                              "            with copyin():\n"
                              "                load(a[:t.size], x[r, t])\n"
                              "            with compute():\n"
                              "                for k in range(t.size):\n"
                              "                    all = $S\n"
                              "                    o[k] = all\n"
                              "            with copyout():\n"
                              "                store(y[r, t], o[:t.size])\n";

/* A running sum or extreme along the last dimension, one number after the other. */
static bool plan_running(Script *s, const NpuChip *chip, Plan *plan)
{
    const Node *node = &s->g->nodes.at[0];
    const Value *x = graph_value(s->g, node->in[0]), *y = graph_value(s->g, node->out);
    int dim = 0, last = x->shape.rank - 1;
    bool sum = node->kind == SCAN_sum, max = node->kind == SCAN_max;
    if ((!sum && !max && node->kind != SCAN_min) || x->shape.rank == 0 || y->dtype != DT_I64 ||
        !shape_dim(x->shape, node_int(node, AT_DIM, -1), &dim) || dim != last ||
        !dtype_is_int(x->dtype) || !int64_node(s->arena, s->g))
        return false;
    uint16_t like = sum ? REDUCE_sum : max ? REDUCE_max : REDUCE_min;
    Shape rows = script_shape2(script_product(x->shape, 0, last), x->shape.dim[last]);
    script_add(s, node->in[0], false, "x", "outer, n", rows);
    script_add(s, node->out, true, "y", "outer, n", rows);
    script_set(s, 'T', dtype_name(x->dtype));
    script_set(s, 'N', int64_start_of(like));
    script_set(s, 'S', int64_step_of(like));
    Buf out = {0};
    buf_printf(&out, "# Planned by acraft for %s, strategy tally.\n", chip->name);
    buf_puts(&out,
             "# A row after the other on each core. Numbers need 64 bits here, which tiles do "
             "not compute: the scalar\n# unit takes one after the other.\n");
    buf_puts(&out, "craft = 1\n\nouter = dim(1, 16777216)\nn = dim(1, 1073741824)\n");
    script_put(s, running, &out);
    script_finish(s, "int_reduce", 4096, &out, plan);
    return true;
}

bool plan_int_reduce(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                     const char *name, Plan *plan, Diag *diag)
{
    Script s = {.arena = arena, .g = graph, .name = name};
    const Node *node = &graph->nodes.at[0];
    const Attr *dims = node_attr(node, AT_DIMS);
    (void)tile_limit, (void)diag;
    if (graph->nodes.len == 1 && node->op == OP_SCAN)
        return plan_running(&s, chip, plan);
    if (graph->nodes.len != 1 || node->op != OP_REDUCE || !start_of(node->kind))
        return false;
    const Value *x = graph_value(graph, node->in[0]), *y = graph_value(graph, node->out);
    bool last = x->shape.rank == 2 && dims && dims->ints.len == 1 &&
                (dims->ints.at[0] == 1 || dims->ints.at[0] == -1);
    if (!last || !dtype_is_int(x->dtype) || !dtype_is_int(y->dtype))
        return false;
    script_add(&s, node->in[0], false, "x", "outer, n", x->shape);
    script_add(&s, node->out, true, "y", "outer", (Shape){1, {x->shape.dim[0]}});
    script_set(&s, 'T', dtype_name(x->dtype));
    script_set(&s, 'O', dtype_name(y->dtype));
    script_set(&s, 'K', y->dtype == DT_I64 ? "i64" : "i32");
    bool wide = int64_node(arena, graph) != NULL;
    const char *step = wide ? str_format(arena,
                                         "                    for k in range(t.size):\n"
                                         "                        all = %s\n",
                                         int64_step_of(node->kind))
                            : str_format(arena, "%s%s", narrow, step_of(node->kind));
    script_set(&s, 'N', wide ? int64_start_of(node->kind) : start_of(node->kind));
    script_set(&s, 'B', wide ? "" : "    f = ub(i32, 4096)\n");
    script_set(&s, 'S', step);
    script_number(&s, 'R', x->shape.dim[0] >= 64 * 40 ? 64 : 8);
    Buf out = {0};
    buf_printf(&out, "# Planned by acraft for %s, strategy tally.\n", chip->name);
    buf_puts(&out, "# Each row is read once, 4096 integers at a time; what a tile gives is put to "
                   "the row's as a scalar of\n# 64 bits. ");
    buf_puts(&out, wide ? "Numbers need 64 bits here, which tiles do not compute: the scalar unit "
                          "takes one after the other.\n"
                        : "Elements of 64 bits are read as 32: those beyond them saturate.\n");
    buf_puts(&out, "craft = 1\n\nouter = dim(1, 16777216)\nn = dim(1, 1073741824)\n");
    script_put(&s, program, &out);
    script_finish(&s, "int_reduce", 4096, &out, plan);
    return true;
}
