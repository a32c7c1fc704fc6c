/* Rows first, then their results over everything: losses that compare row by row and end in a
 * mean. A core adds up the results of its rows; the cores' sums are combined in one order. Rows
 * that fit are taken whole (resident.c), long ones are streamed here. */
#include "gen/plan/strategy.h"

static bool takes(const Space *s) { return !s->scanned && s->outer && s->axis[s->len - 1].reduced; }

static void write_streamed(Job *job)
{
    Part *part = job_part(job, "_rows", true);
    Writer *w = part->w;
    uint32_t passes = reduce_passes(w);
    rows_two(w);
    const char **lanes = resident_start(w);
    rows_open(w);
    write_scalar_leaves(w);
    for (uint32_t pass = 0; pass <= passes; pass++)
        reduce_pass(w, pass, false, rows_open_pass);
    write_line(w, "with compute():");
    w->depth++;
    resident_add(w, lanes);
    w->depth = 1;
    resident_finish(job, part, lanes);
}

static void write_rows_full(Job *job)
{
    if (resident_takes(job->s))
        resident_parts(job);
    write_streamed(job);
}

const Strategy strategy_rows_full = {
    "rows_full", takes, write_rows_full,
    "Each core takes rows and adds up their results; the cores' sums are combined in one order, so "
    "the result does not depend on timing."};
