/* Elementwise tasks with any broadcast pattern. Operands that lack the last axis are scalars;
 * operands that lack others are simply not indexed by them. */
#include "gen/plan/strategy.h"

static bool takes(const Space *s) { return s->reduced == 0 && s->scanned == 0; }

static void open_loops(Job *job, Part *part)
{
    Writer *w = part->w;
    const Space *s = w->s;
    if (shared_takes(w)) {
        shared_setup(job, part);
        shared_open(w);
        return;
    }
    if (s->len == 1) {
        write_line(w, "part = share(n0, 128)");
        write_line(w, "for t in tiles(part, tile):");
        few_cores(job, part);
    } else {
        Buf vars = {0}, axes = {0};
        for (uint32_t i = 0; i + 1 < s->len; i++) {
            w->index[i] = str_format(w->arena, "i%u", i);
            buf_printf(&vars, "i%u, ", i);
            buf_printf(&axes, "n%u, ", i);
        }
        write_line(w, "for %st in mine(%stiles(n%u, tile)):", vars.at, axes.at, w->last);
        buf_free(&vars);
        buf_free(&axes);
    }
    w->index[w->last] = "t";
    w->count = "t.size";
    w->depth++;
}

static void write_map(Job *job)
{
    Part *part = job_part(job, "_kernel", false);
    Writer *w = part->w;
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    open_loops(job, part);
    write_scalar_leaves(w);
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        write_mark(w, w->g->outputs.at[i].is.prim, wanted);
    write_loads(w, wanted);
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        write_store(w, &w->g->outputs.at[i], write_output_name(w, i));
    w->depth--;
}

const Strategy strategy_map = {"map", takes, write_map,
                               "One pass: every input is read once, every output written once."};
