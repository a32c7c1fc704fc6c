/* The last axis is kept: a core takes pieces of it (and of the other kept axes) and walks the
 * reduced axes over them; nothing is transposed. Where the reduced axis stands before the last, a
 * tile is many of its rows at once, so that one copy moves many short pieces; pieces are as wide as
 * still gives every core enough of them. */
#include "gen/plan/strategy.h"

enum { WIDE = 512, ROWS = 16, MOST_WIDE = 1 << 28 /* rows stand less than 4 GiB apart */ };

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
        bool rows = w->two && i == w->row_axis;
        w->index[i] = rows ? "j" : str_format(w->arena, "j%u", i);
        if (rows)
            write_line(w, "for j in tiles(n%u, %lld):", i, (long long)w->block);
        else
            write_line(w, "for j%u in range(n%u):", i, i);
        buf_printf(&first, rows ? "%sj.index == 0" : "%sj%u == 0", first.len ? " and " : "", i);
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
    write_line(w, "for %st in mine(%stiles(n%u, %s)):", vars.len ? vars.at : "",
               axes.len ? axes.at : "", w->last, w->two ? "wide" : "tile");
    w->index[w->last] = "t";
    w->count = "t.size";
    w->depth++;
    buf_free(&vars);
    buf_free(&axes);
}

/* "512 if n0 * ceildiv(n2, 512) >= 8 * chip.cores else ...": as narrow as gives every core enough, but
 * not where one vector core of every second AI core or more has the port of both for itself: that
 * moves as much as two and costs half the launch (npu/cost.def GM_PORT, CORE_US). */
static const char *width_rule(Job *job, uint32_t last)
{
    Buf items = {0};
    for (uint32_t i = 0; i < last; i++)
        if (!job->s->axis[i].reduced)
            buf_printf(&items, "%s * ", job->s->axis[i].name);
    const char *of = items.len ? items.at : "";
    const char *rule = str_format(
        job->arena,
        "half = %sceildiv(n%u, %d)\n"
        "    wide = %d if %sceildiv(n%u, %d) >= 8 * chip.cores else %d if "
        "half >= 4 * chip.cores or (half <= chip.cube_cores and half * 2 "
        "> chip.cube_cores) else %d",
        of, last, WIDE / 2, WIDE, of, last, WIDE, WIDE / 2, WIDE / 4);
    buf_free(&items);
    return rule;
}

static void rows_at_once(Job *job, Part *part)
{
    Writer *w = part->w;
    if (w->last == 0 || !w->s->axis[w->last - 1].reduced)
        return;
    w->two = w->columns = true;
    w->row_axis = w->last - 1;
    w->rows = "j.size";
    w->block = ROWS >> job->scratch[true] / SCRATCH_STEP;
    w->block = w->block ? w->block : 1;
    w->wide = WIDE;
    job->last_most = MOST_WIDE;
    part->setup = width_rule(job, w->last);
    part->scalars = 0;
    part_scalar(part, "wide", "wide");
    item_cores(job, part, w->last, "wide");
}

static void write_middle(Job *job)
{
    Part *part = job_part(job, "_kernel", true);
    Writer *w = part->w;
    rows_at_once(job, part);
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
