/* Rows of which a tile holds one, whose results end in totals: what a row gives is kept, and for 64 rows at
 * once taken on from there, so that a row pays for its own instructions only. In: a space of one kept axis
 * whose last axis is reduced. Out: the body of a part.
 *
 *     64 rows of a core's share    values of a row are loaded for all of them
 *     each row                     reductions and picked elements go to its block of 32 bytes
 *     all of them                  these blocks become vectors of 64, and what comes of them is added up */
#include "gen/plan/strategy.h"

enum { ROWS = 64, LANES = 8 };

static const char *const row_words[] = {[PRIM_SUM] = "row_sum",
                                        [PRIM_MAX] = "row_max",
                                        [PRIM_MIN] = "row_min",
                                        [PRIM_PROD] = "row_prod"};

static bool is_row_leaf(const Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    return p->op == PRIM_LEAF && p->uses && p->axes && !write_is_tile(w, id);
}

static bool is_position(const Writer *w, PrimId id)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (w->g->prims.at[i].op == PRIM_PICK && w->g->prims.at[i].uses &&
            w->g->prims.at[i].arg[1] == id)
            return true;
    return false;
}

bool gathered_takes(const Job *job)
{
    const Writer *w = writer_new(job->g, job->s, false, job->diag);
    if (!job->s->outer || job->s->kept != 1 || job->s->reduced != 1 || job->s->across)
        return false;
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *p = &w->g->prims.at[i];
        for (uint32_t k = 0; k < p->n_arg && p->uses && write_is_tile(w, i); k++)
            if (is_row_leaf(w, p->arg[k]))
                return false;
        if (p->op == PRIM_PICK && p->uses && w->g->prims.at[p->arg[0]].op != PRIM_LEAF)
            return false;
    }
    return true;
}

/* Does something take it that has one value a row? */
static bool goes_on(const Writer *w, PrimId id)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *p = &w->g->prims.at[i];
        for (uint32_t k = 0; k < p->n_arg && p->uses && !write_is_tile(w, i); k++)
            if (p->arg[k] == id)
                return true;
    }
    return false;
}

static bool is_kept(const Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    bool reduced = p->op == PRIM_REDUCE && !rows_is_outer(w, id) && goes_on(w, id);
    return p->uses && (reduced || p->op == PRIM_PICK);
}

static void start_blocks(Writer *w)
{
    write_line(w, "with compute():");
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        if (is_kept(w, i)) {
            buf_printf(&w->buffers, "    keep%u = ub(f32, %d, %d)\n", i, ROWS, LANES);
            write_line(w, "    keep%u = 0.0", i);
        } else if (is_position(w, i)) {
            buf_printf(&w->buffers, "    at%u = ub(i32, %d)\n    place%u = ub(i32, %d, %d)\n", i,
                       ROWS, i, ROWS, LANES);
            write_line(w, "    place%u = 0", i);
        }
    }
}

/* What rows have one value of: for all rows of the group; positions also each in a block of its own. */
static void load_values(Writer *w)
{
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        wanted[i] = is_row_leaf(w, i);
    write_loads(w, wanted);
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        if (!is_position(w, i))
            continue;
        bool wide = w->g->prims.at[i].dtype == DT_I64;
        write_line(w, "with compute():");
        write_line(w, wide ? "    at%u[:g.size] = cast(%s, i32)" : "    at%u[:g.size] = %s", i,
                   w->name[i]);
        write_line(w, "    place%u[:g.size, :] = col(at%u[:g.size])", i, i);
    }
}

static const char *row_value(Writer *w, PrimId id)
{
    return write_view(w, KIND_PER_ROW, write_buffer(w, 'r', KIND_PER_ROW, DT_F32, 1, id));
}

static const char *block_of(Writer *w, PrimId id)
{
    return str_format(w->arena, "keep%u[r.index, :r.size]", id);
}

/* What only the group needs goes to its block at once. */
static void write_reduction(Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    write_needs(w, p->arg[0]);
    bool again = w->g->prims.at[p->arg[0]].uses > 1;
    const char *x = again ? write_named(w, p->arg[0]) : write_expr(w, p->arg[0]);
    w->name[id] = reduce_is_spread(w, id) ? row_value(w, id) : block_of(w, id);
    write_line(w, "%s = %s(%s)", w->name[id], row_words[p->reduce], x);
}

/* Last, so that nothing of the row waits for it. */
static void keep_values(Writer *w)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *p = &w->g->prims.at[i];
        if (!is_kept(w, i))
            continue;
        if (p->op == PRIM_PICK) {
            Str rows = str_from(w->name[p->arg[0]]);
            rows.len = (size_t)str_find(rows, STR("["));
            write_line(w, "keep%u[r.index, :1] = gather(%.*s[0, :%s], place%u[r.index, :1])", i,
                       STR_ARG(rows), w->count, p->arg[1]);
        } else if (reduce_is_spread(w, i)) {
            write_line(w, "%s = %s", block_of(w, i), w->name[i]);
        }
    }
}

static void write_row(Writer *w)
{
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        wanted[i] = w->g->prims.at[i].op == PRIM_LEAF && w->g->prims.at[i].uses;
    write_loads(w, wanted);
    write_line(w, "with compute():");
    w->depth++;
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (w->g->prims.at[i].op == PRIM_REDUCE && w->g->prims.at[i].uses && !rows_is_outer(w, i))
            write_reduction(w, i);
    keep_values(w);
    w->depth--;
}

/* Names and buffers of a row are none of the group's, which are longer. */
static void leave_row(Writer *w)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (!is_row_leaf(w, i) && !rows_is_outer(w, i))
            w->name[i] = w->recip[i] = NULL;
    for (uint32_t i = 0; i < w->pool.len; i++)
        w->pool.at[i].busy = true;
}

static void add_rows(Writer *w, const char **lanes)
{
    write_line(w, "with compute():");
    w->depth++;
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        if (!is_kept(w, i))
            continue;
        w->name[i] = row_value(w, i);
        write_line(w, "%s = row_sum(keep%u[:g.size, :])", w->name[i], i);
    }
    resident_add(w, lanes);
    w->depth--;
}

static void of_group(Writer *w, bool group)
{
    w->block = group ? ROWS : 1;
    w->rows = group ? "g.size" : "r.size";
    w->index[w->row_axis] = group ? "g" : "r";
}

const char **gathered_rows(Writer *w)
{
    of_group(w, true);
    const char **lanes = resident_start(w);
    start_blocks(w);
    write_line(w, "part = share(n%u, 1)", w->row_axis);
    write_line(w, "for g in tiles(part, %d):", ROWS);
    w->depth++;
    load_values(w);
    of_group(w, false);
    write_line(w, "for r in tiles(g, 1):");
    w->depth++;
    write_row(w);
    w->depth--;
    leave_row(w);
    of_group(w, true);
    add_rows(w, lanes);
    return lanes;
}
