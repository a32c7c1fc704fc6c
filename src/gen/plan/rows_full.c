/* Rows first, then their results over everything: losses that compare row by row and end in a
 * mean. A core adds up the results of its rows; the cores' sums are combined in their order. */
#include "gen/plan/strategy.h"

static bool takes(const Space *s) { return !s->scanned && s->outer && s->axis[s->len - 1].reduced; }

static bool is_outer(const Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    return p->op == PRIM_REDUCE && p->uses && p->over == w->s->outer;
}

static void add_rows(Writer *w)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        if (!is_outer(w, i))
            continue;
        const Prim *p = &w->g->prims.at[i];
        write_needs(w, p->arg[0]);
        const char *row = write_expr(w, p->arg[0]);
        write_line(w, "%s = %s", w->name[i],
                   reduce_format(w, reduce_steps[p->reduce], w->name[i], row));
    }
}

static void write_rows_full(Writer *w, Buf *cores, Buf *workspace)
{
    uint32_t passes = reduce_passes(w), slot = 0;
    buf_puts(cores, "chip.cores");
    full_buffers(w);
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        if (!is_outer(w, i))
            continue;
        w->name[i] = str_format(w->arena, "g%u", w->next++);
        write_line(w, "%s = %s", w->name[i], reduce_starts[w->g->prims.at[i].reduce]);
    }
    rows_open(w, false);
    write_scalar_leaves(w);
    for (uint32_t pass = 0; pass <= passes; pass++)
        reduce_pass(w, pass, false, rows_open_pass);
    add_rows(w);
    w->depth = 1;
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (is_outer(w, i))
            full_combine(w, i, slot++, workspace);
    full_store_scalars(w);
}

const Strategy strategy_rows_full = {
    "rows_full", takes, write_rows_full,
    "Each core takes rows and adds up their results; the cores' sums are combined in the order of "
    "the cores, so the result does not depend on timing."};
