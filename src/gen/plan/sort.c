/* Rows in order. In: sort (descending) or topk (largest) along the last dimension. Out: a program in
 * which a row is sorted on chip by the sorting instructions. */
#include "gen/plan/lanes.h"

#include "gen/plan/fit.h"
#include "gen/plan/sort_int.h"

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

void sort_head(const NpuChip *chip, const char *reason, Buf *out)
{
    buf_printf(out, "# Planned by acraft for %s, strategy order.\n%s\n", chip->name, reason);
    buf_puts(out, "craft = 1\n\nouter = dim(1, 16777216)\n");
}

static Script script_for(Arena *arena, const Graph *graph, const char *name, const SortRows *rows)
{
    Script s = {.arena = arena, .g = graph, .name = name};
    const Node *node = &graph->nodes.at[0];
    const char *from = str_format(arena, "outer, %lld", (long long)rows->n);
    const char *to = str_format(arena, "outer, %lld", (long long)rows->k);
    script_add(&s, node->in[0], false, "x", from, script_shape2(rows->outer, rows->n));
    if (rows->values)
        script_add(&s, node->out, true, "values", to, script_shape2(rows->outer, rows->k));
    if (rows->places)
        script_add(&s, node->out + 1, true, "places", to, script_shape2(rows->outer, rows->k));
    script_set(&s, 'T', dtype_name(graph_value(graph, node->in[0])->dtype));
    script_set(&s, 'S', node->op == OP_SORT || rows->k == rows->n ? "sort" : "topk");
    script_number(&s, 'N', rows->n);
    script_number(&s, 'K', rows->k);
    script_number(&s, 'M', (rows->k + 31) / 32 * 32);
    return s;
}

/* So many rows at a time; false: they do not fit on chip. */
static bool order_rows(const Script *task, const SortRows *rows, int64_t count, const NpuChip *chip,
                       Plan *plan)
{
    Script s = *task;
    Buf out = {0};
    script_number(&s, 'R', count);
    sort_head(chip,
              "# A row is sorted on chip, 32 at a time and then merged; positions travel with the "
              "values.",
              &out);
    script_put(&s, head, &out);
    script_put(&s, rows->values ? "            store(values[r, :], best[:r.size, :$K])\n" : "",
               &out);
    script_put(&s, rows->places ? "            store(places[r, :], long[:r.size, :$K])\n" : "",
               &out);
    script_finish(&s, "sort", rows->n, &out, plan);
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
    int64_t n = x->shape.dim[dim];
    SortRows rows = {.outer = script_product(x->shape, 0, dim),
                     .n = n,
                     .k = node->op == OP_SORT ? n : node_int(node, AT_K, 1),
                     .values = graph_is_output(graph, node->out),
                     .places = graph_is_output(graph, node->out + 1)};
    Script s = script_for(arena, graph, name, &rows);
    int64_t count = MOST_ROWS;
    while (tile_limit && count > 1 && count * n > tile_limit)
        count /= 2;
    for (; count >= 1; count /= 2)
        if (order_rows(&s, &rows, count, chip, plan))
            return true;
    if (sort_long_rows(&s, &rows, chip, tile_limit, plan))
        return true;
    diag_error(diag, "G001", node->at,
               "the planner cannot plan %s yet: rows of %lld elements take too many turns",
               op_rows[node->op].name, (long long)n);
    return false;
}
