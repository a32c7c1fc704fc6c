/* The last axis is reduced and others are kept. Rows that fit are taken whole, several at once
 * (resident.c); long rows are streamed in tiles, once per pass, by the core they belong to; few
 * long rows, and such as L2 would not hold one of for each core, are split (split.c), or taken by all
 * cores together in groups that L2 holds (rows_all_cores.c). */
#include "gen/plan/strategy.h"

/* Rows up to FEW_LONG elements are not worth two meetings of the cores: streaming 4 FEW_LONG bytes in and out
 * of a core takes 3 to 5 us, a split 3 us more than its copies (npu/cost.def SYNC_ALL, CORE_US). */
enum { MANY_ROWS = 8, ROW_BYTES = 4 * 3 / 2, FEW_LONG = 32768 };

static bool takes(const Space *s)
{
    return !s->scanned && s->reduced && s->kept && !s->outer && s->axis[s->len - 1].reduced;
}

void rows_open_pass(Writer *w)
{
    Buf first = {0};
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (!w->s->axis[i].reduced)
            continue;
        if (i == w->last) {
            write_line(w, "for t in tiles(n%u, tile):", i);
            w->index[i] = "t";
            buf_puts(&first, "t.index == 0");
        } else {
            buf_printf(&first, "j%u == 0 and ", i);
            w->index[i] = str_format(w->arena, "j%u", i);
            write_line(w, "for j%u in range(n%u):", i, i);
        }
        w->depth++;
        write_scalar_leaves(w);
    }
    w->count = "t.size";
    w->first = buf_take(&first, w->arena);
    buf_free(&first);
}

bool rows_is_outer(const Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    return p->op == PRIM_REDUCE && p->uses && w->s->outer && p->over == w->s->outer;
}

uint32_t rows_axis(const Space *s)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < s->len; i++)
        if (!s->axis[i].reduced)
            last = i;
    return last;
}

/* for i0, r in mine(n0, tiles(n1, 1)): */
void rows_open(Writer *w)
{
    Buf vars = {0}, axes = {0};
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (w->s->axis[i].reduced || i == w->row_axis)
            continue;
        w->index[i] = str_format(w->arena, "i%u", i);
        buf_printf(&vars, "i%u, ", i);
        buf_printf(&axes, "n%u, ", i);
    }
    write_line(w, "for %sr in mine(%stiles(n%u, %lld)):", vars.len ? vars.at : "",
               axes.len ? axes.at : "", w->row_axis, (long long)w->block);
    w->index[w->row_axis] = "r";
    w->depth++;
    buf_free(&vars);
    buf_free(&axes);
}

void rows_two(Writer *w)
{
    w->two = true;
    w->one_row = true;
    w->block = 1;
    w->row_axis = rows_axis(w->s);
    w->rows = "r.size";
}

static void write_streamed(Job *job, const char *when)
{
    Part *part = job_part(job, "_rows", true);
    Writer *w = part->w;
    uint32_t passes = reduce_passes(w);
    const char *last = job->s->axis[w->last].name, *rows = job_axes(job, false);
    part->when = when;
    part->setup = str_format(
        job->arena, "even = min(tile, align_up(ceildiv(%s, ceildiv(%s, tile)), 128))", last, last);
    part->scalar[0].value = "even";
    part->cores = str_format(job->arena, "min(%s, chip.cores)", rows);
    rows_two(w);
    rows_open(w);
    write_scalar_leaves(w);
    for (uint32_t pass = 0; pass <= passes; pass++)
        reduce_pass(w, pass, pass == passes, rows_open_pass);
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        if (!reduce_is_full(w, i))
            write_store(w, &w->g->outputs.at[i], write_output_name(w, i));
}

static void write_rows(Job *job)
{
    if (resident_takes(job->s))
        resident_parts(job);
    const char *when = NULL;
    bool split = split_takes(job);
    const char *rows = job_axes(job, false), *length = job_axes(job, true);
    if (split) /* the rows of all cores stay in L2 between the passes: two thirds of it count */
        when = str_format(job->arena,
                          "%s >= %d * chip.cores and %s * %d * chip.cores <= chip.l2 or %s <= "
                          "chip.cores and %s <= %d",
                          rows, MANY_ROWS, length, ROW_BYTES, rows, length, FEW_LONG);
    if (groups_takes(job))
        groups_part(job, when);
    else
        write_streamed(job, when);
    if (split) {
        rows_all_cores_part(job);
        split_part(job);
    }
}

const Strategy strategy_rows = {
    "rows", takes, write_rows,
    "Short rows are taken whole, several at once; long rows are streamed in tiles, as many between "
    "two passes as L2 holds; few long rows, or rows that L2 does not hold between two passes, are "
    "split over the cores, the longest in groups that L2 holds."};
