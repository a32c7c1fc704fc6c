/* Long rows of two passes, each by one core: all rows of a group are reduced, then all are read again,
 * out of L2, and their results written. In: a space of one kept axis whose last axis is reduced. Out: a
 * part.
 *
 *     a core's share of the rows, in groups    first pass over each row; its results stay in UB
 *                                              second pass over each row, with its results
 *
 * Of 2/3 of L2 that count (npu/cost.def L2_USED) a group's inputs take one half and its outputs the other:
 * then a group's inputs push out the last one's, which nobody needs, and its outputs the last one's while
 * the second pass leaves GM time for them. Outputs of more than twice L2 pass it by (lower/stream.c). Where
 * L2 holds all of it, row by row: loads of one pass fill the time of the other's stores. */
#include "gen/plan/strategy.h"
#include <string.h>

enum { MOST_ROWS = 32, LANES = 8 };

/* ---- what L2 holds ---- */

/* Bytes of an element: of what both passes read, and of the results. What only the second pass reads goes
 * past L2 where there is much of it. */
typedef struct Moved {
    uint32_t in, out, least_out;
} Moved;

static Moved bytes_moved(const Writer *w)
{
    Moved m = {.least_out = 8};
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    reduce_mark(w, 0, false, wanted);
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        PrimId id = w->g->leaves.at[i].prim;
        const Prim *leaf = &w->g->prims.at[id];
        if (wanted[id] && write_is_tile(w, id) && leaf->axes & ~space_reduced(w->s))
            m.in += (uint32_t)dtype_bytes(leaf->dtype);
    }
    for (uint32_t i = 0; i < w->g->outputs.len; i++) {
        uint32_t bytes = (uint32_t)dtype_bytes(
            graph_value(w->g->graph, w->g->outputs.at[i].value)->dtype);
        m.out += reduce_is_full(w, i) ? bytes : 0;
        m.least_out = reduce_is_full(w, i) && bytes < m.least_out ? bytes : m.least_out;
    }
    m.in += !m.in;
    return m;
}

const char *groups_lines(Job *job, const Writer *w, const char *count, const char *unit)
{
    Moved m = bytes_moved(w);
    const char *rows = job_axes(job, false), *length = job_axes(job, true);
    return str_format(job->arena,
                      "held = chip.l2 // (%u if %s > 2 * chip.l2 // %u // (%s) else %u)\n"
                      "turns = max(1, (%s * %s + held // 2) // held)\n"
                      "group = max(1, min(ceildiv(%s, turns), held * 5 // 4 // (%s)))",
                      2 * m.in, rows, m.least_out, length, (m.in + m.out) * 3 / 2, rows, length,
                      count, unit);
}

/* ---- the part ---- */

bool groups_takes(const Job *job)
{
    const Writer *w = writer_new(job->g, job->s, true, job->diag);
    bool full = false;
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        full = full || reduce_is_full(w, i);
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (w->g->prims.at[i].op == PRIM_PICK && w->g->prims.at[i].uses)
            return false;
    return full && job->s->kept == 1 && reduce_passes(w) == 1;
}

/* A value of a row, or its reciprocal; it stands in its own columns of `keep`. */
typedef struct Kept {
    PrimId id;
    bool recip;
} Kept;

typedef VEC(Kept) KeptList;

static void open_rows(Writer *w)
{
    write_line(w, "for r in tiles(g, 1):");
    w->index[w->row_axis] = "r";
    w->depth++;
}

static const char *kept_view(Writer *w, uint32_t i)
{
    return str_format(w->arena, "keep[r.index, %u:%u + r.size]", i * LANES, i * LANES);
}

static void keep(Writer *w, PrimId id, bool recip, KeptList *list)
{
    const char *value = recip ? w->recip[id] : w->name[id];
    if (!value)
        return;
    write_line(w, "%s = %s", kept_view(w, list->len), value);
    vec_push(w->arena, list, ((Kept){id, recip}));
}

/* Does what varies along the row only divide by it? */
static bool only_divides(const Writer *w, PrimId id)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *p = &w->g->prims.at[i];
        bool quotient = p->op == PRIM_MAP && !strcmp(p->form, "$0 / $1") && p->arg[0] != id;
        for (uint32_t k = 0; k < p->n_arg && p->uses && !write_is_fixed(w, i); k++)
            if (p->arg[k] == id && !quotient)
                return false;
    }
    return w->recip[id];
}

/* Writes the results of a row that the second pass reads, and lists them. */
static KeptList keep_results(Writer *w)
{
    KeptList list = {0};
    write_line(w, "with compute():");
    w->depth++;
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *p = &w->g->prims.at[i];
        if (p->op == PRIM_LEAF || !p->uses || !reduce_is_spread(w, i) ||
            write_kind(w, i) != KIND_PER_ROW)
            continue;
        if (!only_divides(w, i))
            keep(w, i, false, &list);
        keep(w, i, true, &list);
    }
    w->depth--;
    buf_printf(&w->buffers, "    keep = ub(f32, %d, %u)\n", MOST_ROWS, list.len * LANES);
    return list;
}

static void take_results(Writer *w, const KeptList *list)
{
    write_line(w, "with compute():");
    w->depth++;
    for (uint32_t i = 0; i < list->len; i++) {
        const Kept *k = &list->at[i];
        const char *buffer = write_buffer(w, 'c', KIND_PER_ROW, DT_F32, 1, k->id);
        const char *view = write_view(w, KIND_PER_ROW, buffer);
        write_line(w, "%s = %s", view, kept_view(w, i));
        *(k->recip ? &w->recip[k->id] : &w->name[k->id]) = view;
        if (!w->name[k->id]) /* known, though nobody asks for it */
            w->name[k->id] = view;
    }
    w->depth--;
}

static KeptList first_pass(Writer *w)
{
    int depth = w->depth;
    open_rows(w);
    write_scalar_leaves(w);
    reduce_pass(w, 0, false, rows_open_pass);
    reduce_hoist(w, 1, true);
    KeptList list = keep_results(w);
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        if (!reduce_is_full(w, i))
            write_store(w, &w->g->outputs.at[i], write_output_name(w, i));
    w->depth = depth;
    write_forget(w);
    return list;
}

static void second_pass(Writer *w, const KeptList *list)
{
    open_rows(w);
    write_scalar_leaves(w);
    take_results(w, list);
    reduce_pass(w, 1, true, rows_open_pass);
}

void groups_part(Job *job, const char *when)
{
    Part *part = job_part(job, "_rows", true);
    Writer *w = part->w;
    const char *last = job->s->axis[w->last].name, *rows = job_axes(job, false);
    part->when = when;
    part->setup = str_format(
        job->arena, "even = min(tile, align_up(ceildiv(%s, ceildiv(%s, tile)), 128))\n%s", last,
        last,
        groups_lines(job, w, str_format(job->arena, "ceildiv(%s, chip.cores)", rows),
                     str_format(job->arena, "%s * chip.cores", job_axes(job, true))));
    part->scalar[0].value = "even";
    part_scalar(part, "group",
                str_format(job->arena, "min(%d, group) if turns > 1 else 1", MOST_ROWS));
    part->cores = str_format(job->arena, "min(%s, chip.cores)", rows);
    rows_two(w);
    write_line(w, "part = share(%s, 1)", rows);
    write_line(w, "with compute():");
    write_line(w, "    keep = 0.0");
    write_line(w, "for g in tiles(part, group):");
    w->depth++;
    KeptList list = first_pass(w);
    second_pass(w, &list);
}
