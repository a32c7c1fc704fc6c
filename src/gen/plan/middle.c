/* The last axis is kept: a core takes tiles of it (and of the other kept axes) and walks the
 * reduced axes, accumulating whole tiles; nothing is transposed. */
#include "gen/plan/strategy.h"

static bool takes(const Space *s)
{
    return !s->scanned && s->reduced && !s->outer && !s->axis[s->len - 1].reduced;
}

static void open_pass(Writer *w)
{
    Buf first = {0};
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (!w->s->axis[i].reduced)
            continue;
        w->index[i] = str_format(w->arena, "j%u", i);
        write_line(w, "for j%u in range(n%u):", i, i);
        buf_printf(&first, "%sj%u == 0", first.len ? " and " : "", i);
        w->depth++;
    }
    w->first = buf_take(&first, w->arena);
    buf_free(&first);
}

static void open_kept(Writer *w)
{
    Buf vars = {0}, axes = {0};
    for (uint32_t i = 0; i < w->last; i++) {
        if (w->s->axis[i].reduced)
            continue;
        w->index[i] = str_format(w->arena, "i%u", i);
        buf_printf(&vars, "i%u, ", i);
        buf_printf(&axes, "n%u, ", i);
    }
    write_line(w, "for %st in mine(%stiles(n%u, tile)):", vars.len ? vars.at : "",
               axes.len ? axes.at : "", w->last);
    w->index[w->last] = "t";
    w->count = "t.size";
    w->depth++;
    buf_free(&vars);
    buf_free(&axes);
}

static void write_middle(Job *job)
{
    Writer *w = job_part(job, "_kernel", true)->w;
    uint32_t passes = reduce_passes(w);
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    open_kept(w);
    write_scalar_leaves(w);
    /* tiles that do not vary along the reduced axes are loaded once */
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        const Prim *p = &w->g->prims.at[w->g->leaves.at[i].prim];
        uint32_t axes = space_axes(w->s, p->axes), reduced = 0;
        for (uint32_t a = 0; a < w->s->len; a++)
            reduced |= (uint32_t)w->s->axis[a].reduced << a;
        wanted[w->g->leaves.at[i].prim] = p->uses && !(axes & reduced);
    }
    write_loads(w, wanted);
    for (uint32_t pass = 0; pass <= passes; pass++)
        reduce_pass(w, pass, pass == passes, open_pass);
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        if (!reduce_is_full(w, i))
            write_store(w, &w->g->outputs.at[i], write_output_name(w, i));
    w->depth--;
}

const Strategy strategy_middle = {
    "middle", takes, write_middle,
    "Each core takes tiles of the contiguous axis and walks the reduced axes over them, so that "
    "every load is contiguous and nothing is transposed."};
