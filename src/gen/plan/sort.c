/* Rows in order. In: sort (descending) or topk (largest) along the last dimension. Out: a program in
 * which a row is sorted on chip by the sorting instructions. */
#include "gen/plan/lanes.h"

#include "gen/plan/fit.h"
#include "gen/plan/script.h"

static const char head[] = "\n@host\ndef $F($P):\n"
                           "    block = min($R, ceildiv(outer, chip.cores))\n"
                           "    $F_rows[chip.cores]($A, block)\n"
                           "\n@kernel\ndef $F_rows($P, block: i32):\n"
                           "    a = ub($T, $R, $N, depth=2)\n"
                           "    best = ub($T, $R, $M, depth=2)\n"
                           "    place = ub(i32, $R, $M)\n"
                           "    long = ub(i64, $R, $M, depth=2)\n"
                           "    for r in mine(tiles(outer, block)):\n"
                           "        with copyin():\n"
                           "            load(a[:r.size, :$N], x[r, :])\n"
                           "        with compute():\n"
                           "            for i in range(r.size):\n"
                           "                $S(best[i, :$K], place[i, :$K], a[i, :$N])\n"
                           "            for i in range(r.size):\n"
                           "                long[i, :$K] = cast(place[i, :$K], i64)\n"
                           "        with copyout():\n";

static bool largest_first(const Node *node)
{
    if (node->op == OP_SORT)
        return node_bool(node, AT_DESCENDING);
    return node_bool(node, AT_LARGEST);
}

static void put_operands(Script *s, const Node *node, int64_t outer, int64_t n, int64_t k, Buf *out)
{
    const char *from = str_format(s->arena, "outer, %lld", (long long)n);
    const char *to = str_format(s->arena, "outer, %lld", (long long)k);
    script_add(s, node->in[0], false, "x", from, script_shape2(outer, n));
    if (graph_is_output(s->g, node->out))
        script_add(s, node->out, true, "values", to, script_shape2(outer, k));
    if (graph_is_output(s->g, node->out + 1))
        script_add(s, node->out + 1, true, "places", to, script_shape2(outer, k));
    script_put(s, head, out);
    if (graph_is_output(s->g, node->out))
        script_put(s, "            store(values[r, :], best[:r.size, :$K])\n", out);
    if (graph_is_output(s->g, node->out + 1))
        script_put(s, "            store(places[r, :], long[:r.size, :$K])\n", out);
}

/* So many rows at a time; false: they do not fit on chip. */
static bool order_rows(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t rows,
                       const char *name, Plan *plan)
{
    Script s = {.arena = arena, .g = graph, .name = name};
    const Node *node = &graph->nodes.at[0];
    const Value *x = graph_value(graph, node->in[0]);
    int last = x->shape.rank - 1;
    int64_t n = x->shape.dim[last], k = node->op == OP_SORT ? n : node_int(node, AT_K, 1);
    script_set(&s, 'T', dtype_name(x->dtype));
    script_set(&s, 'S', node->op == OP_SORT || k == n ? "sort" : "topk");
    script_number(&s, 'R', rows);
    script_number(&s, 'N', n);
    script_number(&s, 'K', k);
    script_number(&s, 'M', (k + 31) / 32 * 32);
    Buf out = {0};
    buf_printf(&out, "# Planned by acraft for %s, strategy order.\n", chip->name);
    buf_puts(&out, "# A row is sorted on chip, 32 at a time and then merged; positions travel with "
                   "the values.\ncraft = 1\n\nouter = dim(1, 16777216)\n");
    put_operands(&s, node, script_product(x->shape, 0, last), n, k, &out);
    script_finish(&s, "sort", n, &out, plan);
    return !fit_program(plan->craft, chip).exceeds;
}

bool plan_sort(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag)
{
    enum { MOST_ROWS = 32 };
    const Node *node = &graph->nodes.at[0];
    int dim = 0;
    if (graph->nodes.len != 1 || (node->op != OP_SORT && node->op != OP_TOPK))
        return false;
    const Value *x = graph_value(graph, node->in[0]);
    bool fits = (x->dtype == DT_F32 || x->dtype == DT_F16) && x->shape.rank > 0 &&
                shape_dim(x->shape, node_int(node, AT_DIM, -1), &dim) && dim == x->shape.rank - 1 &&
                largest_first(node);
    if (!fits)
        return false;
    int64_t n = x->shape.dim[dim], rows = MOST_ROWS;
    while (tile_limit && rows > 1 && rows * n > tile_limit)
        rows /= 2;
    for (; rows >= 1; rows /= 2)
        if (order_rows(arena, graph, chip, rows, name, plan))
            return true;
    diag_error(diag, "G001", node->at,
               "the planner cannot plan %s yet: rows of %lld elements do not fit on chip",
               op_rows[node->op].name, (long long)n);
    return false;
}
