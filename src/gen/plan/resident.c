/* Whole rows on chip: a tile is `block` rows of at most `wide` elements, loaded once; reductions
 * give one value per row, all of them by vector instructions; one store. One kernel per class of
 * row lengths, so that a tile is full whether rows are short or long. In: a space whose only
 * reduced axis is the last. Out: parts. */
#include "gen/plan/strategy.h"
#include <string.h>

enum { CLASSES = 4, STEP = 4, LEAST_WIDE = 64, MOST_ROWS = 192 };

static const char *const row_words[] = {[PRIM_SUM] = "row_sum",
                                        [PRIM_MAX] = "row_max",
                                        [PRIM_MIN] = "row_min",
                                        [PRIM_PROD] = "row_prod"};

bool resident_takes(const Space *s)
{
    return s->reduced == 1 && s->kept > 0 && !s->scanned && s->axis[s->len - 1].reduced;
}

/* Rows of weights: the same for all tiles, loaded once. */
static void load_constants(Writer *w)
{
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        PrimId id = w->g->leaves.at[i].prim;
        const Prim *p = &w->g->prims.at[id];
        wanted[id] = p->uses && p->axes && !(p->axes & ~w->s->axis[w->last].members);
    }
    int depth = w->load_depth;
    w->load_depth = 1;
    write_loads(w, wanted);
    w->load_depth = depth;
}

static const char *per_row(Writer *w, char stem, PrimId owner)
{
    const char *buffer = write_buffer(w, stem, KIND_PER_ROW, DT_F32, 1, owner);
    return write_view(w, KIND_PER_ROW, buffer);
}

/* One element of each row, at the position that another leaf says. */
static void write_pick(Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    Str rows = str_from(w->name[p->arg[0]]), at = str_from(w->name[p->arg[1]]);
    rows.len = (size_t)str_find(rows, STR("["));
    at.len = (size_t)str_find(at, STR("["));
    const char *buffer = write_buffer(w, 'p', KIND_PER_ROW, DT_F32, 1, id);
    const char *k = str_format(w->arena, "k%u", w->next++);
    if (w->block == 1) { /* by the vector unit: no scalar holds up the next load */
        bool wide = w->g->prims.at[p->arg[1]].dtype == DT_I64;
        if (wide) {
            buf_printf(&w->buffers, "    %s = ub(i32, 64)\n", k);
            write_line(w, "%s[:1] = cast(%.*s[:1], i32)", k, STR_ARG(at));
        }
        write_line(w, "%s[:1] = gather(%.*s[0, :%s], %.*s[:1])", buffer, STR_ARG(rows), w->count,
                   wide ? (int)strlen(k) : (int)at.len, wide ? k : at.at);
        w->name[id] = str_format(w->arena, "%s[:%s]", buffer, w->rows);
        return;
    }
    write_line(w, "for q in range(r.size):");
    write_line(w, "    %s = %.*s[q]", k, STR_ARG(at));
    write_line(w, "    %s[q] = %.*s[q, %s]", buffer, STR_ARG(rows), k);
    w->name[id] = write_view(w, KIND_PER_ROW, buffer);
}

static void write_reductions(Writer *w)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *p = &w->g->prims.at[i];
        if (!p->uses)
            continue;
        if (p->op == PRIM_PICK) {
            write_pick(w, i);
        } else if (p->op == PRIM_REDUCE && !rows_is_outer(w, i) && !across_is(w, i)) {
            write_needs(w, p->arg[0]);
            bool again = w->g->prims.at[p->arg[0]].uses > 1;
            const char *x = again ? write_named(w, p->arg[0]) : write_expr(w, p->arg[0]);
            const char *view = per_row(w, 'r', i);
            write_line(w, "%s = %s(%s)", view, row_words[p->reduce], x);
            w->name[i] = view;
        }
    }
}

/* Results of rows are added up row by row of the tile; folded behind the loop. */
void resident_add(Writer *w, const char **lanes)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        if (!lanes[i])
            continue;
        const Prim *p = &w->g->prims.at[i];
        const char *view = write_view(w, KIND_PER_ROW, lanes[i]);
        write_needs(w, p->arg[0]);
        write_line(w, "%s = %s", view,
                   unit_format(w, unit_steps[p->reduce], view, write_expr(w, p->arg[0])));
    }
}

const char **resident_start(Writer *w)
{
    const char **lanes = arena_array(w->arena, const char *, w->g->prims.len);
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        if (!rows_is_outer(w, i))
            continue;
        lanes[i] = write_buffer(w, 'g', KIND_PER_ROW, DT_F32, 1, i);
        write_line(w, "with compute():");
        write_line(w, "    %s = %s", lanes[i], unit_starts[w->g->prims.at[i].reduce]);
    }
    return lanes;
}

void resident_finish(Job *job, Part *part, const char **lanes)
{
    Writer *w = part->w;
    PrimIds ids = {0};
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        if (!lanes[i])
            continue;
        w->name[i] = str_format(w->arena, "g%u", w->next++);
        write_line(w, "with compute():");
        write_line(w, "    %s = %s(%s)", w->name[i], unit_folds[w->g->prims.at[i].reduce],
                   lanes[i]);
        vec_push(w->arena, &ids, i);
    }
    full_combine(job, part, &ids);
    full_store_scalars(w);
}

static void write_tile(Writer *w, const char **lanes, const char **columns)
{
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    for (uint32_t i = 0; i < w->g->leaves.len; i++)
        wanted[w->g->leaves.at[i].prim] = w->g->prims.at[w->g->leaves.at[i].prim].uses;
    if (!w->one_row)
        write_scalar_leaves(w);
    write_loads(w, wanted); /* first, so that the next row's are not held up by its scalars */
    if (w->one_row)
        write_scalar_leaves(w);
    write_line(w, "with compute():");
    w->depth++;
    write_reductions(w);
    resident_add(w, lanes);
    across_add(w, columns);
    w->depth--;
    for (uint32_t i = 0; i < w->g->outputs.len && !w->s->outer; i++)
        if (!across_is_output(w, i))
            write_store(w, &w->g->outputs.at[i], write_output_name(w, i));
}

static Part *write_class(Job *job, int64_t block, int64_t wide)
{
    Part *part = job_part(job, str_format(job->arena, "_%lld", (long long)wide), false);
    Writer *w = part->w;
    w->two = true;
    w->row_axis = w->last - 1;
    w->rows = "r.size";
    w->count = job->s->axis[w->last].name;
    w->index[w->last] = ":";
    w->block = block;
    w->wide = wide;
    w->one_row = block == 1 && job->s->across; /* a value a row takes no queue */
    part->scalars = 0;                         /* no tile */
    part->when = str_format(job->arena, "%s <= %lld", w->count, (long long)wide);
    const char *rows = str_format(job->arena, "%lld", (long long)block);
    if (job->s->outer)
        row_cores(job, part, w->row_axis, rows);
    else
        item_cores(job, part, w->row_axis, rows);
    load_constants(w);
    const char **lanes = resident_start(w);
    const char **columns = across_start(w);
    rows_open(w);
    write_tile(w, lanes, columns);
    w->depth = 1;
    if (job->s->outer)
        resident_finish(job, part, lanes);
    if (job->s->across)
        across_finish(job, part, columns);
    return part;
}

/* Elements are picked by the vector unit only where a tile is one row. */
static bool picks(const PrimGraph *g)
{
    for (uint32_t i = 1; i < g->prims.len; i++)
        if (g->prims.at[i].op == PRIM_PICK && g->prims.at[i].uses)
            return true;
    return false;
}

int64_t resident_parts(Job *job)
{
    uint32_t mark = job->parts.len;
    int64_t most = job_tile(job, write_class(job, 8, LEAST_WIDE)->w->bytes, true), wide = most;
    job_drop(job, mark);
    for (int i = 1; i < CLASSES && wide / STEP >= LEAST_WIDE; i++)
        wide /= STEP;
    for (; wide <= most; wide *= STEP) {
        int64_t exact = wide * STEP > most ? most : wide / 64 * 64, rows = most / exact;
        if (exact == most && most / 2 > LEAST_WIDE && !picks(job->g)) /* two while they fit */
            write_class(job, 2, most / 2 / 64 * 64);
        write_class(job, rows < MOST_ROWS ? rows : MOST_ROWS, exact);
    }
    return most;
}
