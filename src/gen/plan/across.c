/* Rows and columns in one pass: beside what rows give, some results are sums over all rows, as the
 * gradients of a norm's weights are. Rows are taken whole (resident.c); a core adds what its rows give
 * to a row of its own, puts that into its line of a workspace, and after all cores have met the columns
 * are dealt out and the lines added up in the order of the cores. In: a space with `across`. Out: parts. */
#include "gen/plan/strategy.h"

enum { COLUMNS = 64, CORES = 64 };

static const char *const column_words[] = {[PRIM_SUM] = "col_sum",
                                           [PRIM_MAX] = "col_max",
                                           [PRIM_MIN] = "col_min",
                                           [PRIM_PROD] = "col_prod"};

bool across_is(const Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    return w->s->across && p->op == PRIM_REDUCE && p->uses && p->over == w->s->across;
}

bool across_is_output(const Writer *w, uint32_t output)
{
    return w->s->across && !(w->g->prims.at[w->g->outputs.at[output].is.prim].axes & w->s->across);
}

const char **across_start(Writer *w)
{
    const char **lanes = arena_array(w->arena, const char *, w->g->prims.len);
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        if (!across_is(w, i))
            continue;
        lanes[i] = write_buffer(w, 'g', KIND_PER_COLUMN, DT_F32, 1, i);
        write_line(w, "with compute():");
        write_line(w, "    %s = %s", write_view(w, KIND_PER_COLUMN, lanes[i]),
                   unit_starts[w->g->prims.at[i].reduce]);
    }
    return lanes;
}

void across_add(Writer *w, const char **lanes)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        if (!lanes[i])
            continue;
        const Prim *p = &w->g->prims.at[i];
        const char *view = write_view(w, KIND_PER_COLUMN, lanes[i]);
        write_needs(w, p->arg[0]);
        const char *fold = str_format(w->arena, "%s(%s)", column_words[p->reduce],
                                      write_expr(w, p->arg[0]));
        write_line(w, "%s = %s", view, unit_format(w, unit_steps[p->reduce], view, fold));
    }
}

/* What has been stored may be used again: each buffer that is stored has a queue of its own. */
static void free_stored(Writer *w)
{
    for (uint32_t i = 0; i < w->pool.len; i++)
        w->pool.at[i].busy = w->pool.at[i].busy && w->pool.at[i].stem != 'o';
}

static void put_line(Job *job, Part *part, const char *lane, uint32_t slot)
{
    Writer *w = part->w;
    free_stored(w);
    const char *out = write_view(w, KIND_PER_COLUMN,
                                 write_buffer(w, 'o', KIND_PER_COLUMN, DT_F32, w->store_depth, 0));
    part_workspace(job, part, str_format(w->arena, "ws%u", slot),
                   str_format(w->arena, "nc, %s", w->count));
    write_line(w, "with compute():");
    write_line(w, "    %s = %s", out, write_view(w, KIND_PER_COLUMN, lane));
    write_line(w, "with copyout():");
    write_line(w, "    store(ws%u[core_id(), 0:%s], %s)", slot, w->count, out);
}

/* The columns' results take the name of what was reduced. */
static void get_lines(Writer *w, PrimId id, uint32_t slot)
{
    const char *name = str_format(w->arena, "whole%u", slot);
    buf_printf(&w->buffers, "    %s = ub(f32, %d)\n", name, COLUMNS);
    write_line(w, "with copyin():");
    write_line(w, "    load(lines[:nc, :t.size], ws%u[0:nc, t])", slot);
    write_line(w, "with compute():");
    write_line(w, "    %s[:t.size] = %s(lines[:nc, :t.size])", name,
               column_words[w->g->prims.at[id].reduce]);
    w->name[id] = str_format(w->arena, "%s[:t.size]", name);
}

void across_finish(Job *job, Part *part, const char **lanes)
{
    Writer *w = part->w;
    uint32_t slots = 0;
    part_scalar(part, "nc", part->cores);
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (lanes[i])
            put_line(job, part, lanes[i], slots++);
    write_line(w, "sync_all()");
    buf_printf(&w->buffers, "    lines = ub(f32, %d, %d)\n", CORES, COLUMNS);
    write_line(w, "for t in mine(tiles(%s, %d)):", w->s->axis[w->last].name, COLUMNS);
    w->index[w->last] = "t";
    w->count = "t.size";
    w->depth++;
    slots = 0;
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (lanes[i])
            get_lines(w, i, slots++);
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        if (across_is_output(w, i)) {
            free_stored(w);
            write_store(w, &w->g->outputs.at[i], write_output_name(w, i));
        }
    w->depth--;
}

/* ---- the strategy ---- */

static bool takes(const Space *s) { return s->across && resident_takes(s); }

/* Rows that are too long for one core's memory are left to several kernels. */
static void write_across(Job *job)
{
    int64_t most = resident_parts(job);
    job->last_most = most;
    job->parts.at[job->parts.len - 1].when = NULL;
    if (job->s->axis[job->s->len - 1].size > most) {
        job->parts.at[0].w->failed = true;
        diag_error(job->diag, "G002", (Span){0},
                   "the planner cannot plan this task yet: sums over rows beside rows of more than "
                   "%lld elements",
                   (long long)most);
    }
}

const Strategy strategy_across = {
    "across", takes, write_across,
    "Rows are taken whole; each core adds up what its rows give to the columns, and when all have "
    "met "
    "the cores' sums are combined in one order, so the result does not depend on timing."};
