/* Elements under a mask, one after the other. In: masked_select of a tensor. Out: a program in which
 * each core puts its share together in a workspace and counts it; when all cores have met, it copies
 * its part behind those of the cores before it. */
#include "gen/plan/lanes.h"

#include "gen/plan/script.h"

static const char program[] =
    "\n@host\ndef $F($P):\n"
    "    found = workspace($T, n)\n"
    "    counts = workspace(i64, chip.cores, 8)\n"
    "    $F_share[chip.cores](x, keep, found, counts, y)\n"
    "\n@kernel\ndef $F_share(x: gm[$T, n], keep: gm[bool, n], found: ws[$T, n], "
    "counts: ws[i64, chip.cores, 8], y: out[$T, $M]):\n"
    "    a = ub($T, 4096, depth=2)\n"
    "    k = ub(bool, 4096, depth=2)\n"
    "    d = ub($T, 4096)\n"
    "    part = share(n, 64)\n"
    "    total = 0\n"
    "    for t in tiles(part, 4096):\n"
    "        with copyin():\n"
    "            load(a[:t.size], x[t])\n"
    "            load(k[:t.size], keep[t])\n"
    "        with compute():\n"
    "            here = compact(d[:t.size], a[:t.size], k[:t.size] != 0)\n"
    "        if here > 0:\n"
    "            with copyout():\n"
    "                store(found[part.start + total:part.start + total + here], d[:here])\n"
    "        total += here\n"
    "    with copyout():\n"
    "        counts[core_id(), 0] = total\n"
    "    sync_all()\n"
    "    before = 0\n"
    "    for c in range(core_id()):\n"
    "        before += counts[c, 0]\n"
    "    for t in tiles(min(total, max($M - before, 0)), 4096):\n"
    "        with copyin():\n"
    "            load(a[:t.size], found[part.start + t.start:part.start + t.stop])\n"
    "        with copyout():\n"
    "            store(y[before + t.start:before + t.stop], a[:t.size])\n";

static bool has_compact(DType d)
{
    return d == DT_F32 || d == DT_F16 || d == DT_BF16 || d == DT_I16 || d == DT_I32;
}

bool plan_select(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                 const char *name, Plan *plan, Diag *diag)
{
    Script s = {.arena = arena, .g = graph, .name = name};
    const Node *node = &graph->nodes.at[0];
    (void)tile_limit, (void)diag;
    if (graph->nodes.len != 1 || node->op != OP_MASKED_SELECT)
        return false;
    const Value *x = graph_value(graph, node->in[0]), *keep = graph_value(graph, node->in[1]);
    int64_t n = script_product(x->shape, 0, x->shape.rank);
    int64_t m = graph_value(graph, node->out)->shape.dim[0];
    if (!shape_equal(x->shape, keep->shape) || !has_compact(x->dtype) || m < 1 ||
        keep->dtype != DT_BOOL)
        return false;
    script_add(&s, node->in[0], false, "x", "n", (Shape){1, {n}});
    script_add(&s, node->in[1], false, "keep", "n", (Shape){1, {n}});
    script_set(&s, 'T', dtype_name(x->dtype));
    script_number(&s, 'M', m);
    script_add(&s, node->out, true, "y", s.hole['M' - 'A'], (Shape){1, {m}});
    Buf out = {0};
    buf_printf(&out, "# Planned by acraft for %s, strategy select.\n", chip->name);
    buf_puts(&out,
             "# Each core puts its share together in a workspace and counts; when all have met, "
             "it copies its part\n# behind those before it. The length of the result is that of "
             "this task's data.\n");
    buf_puts(&out, "craft = 1\n\nn = dim(1, 1073741824)\n");
    script_put(&s, program, &out);
    script_finish(&s, "select", 4096, &out, plan);
    return true;
}
