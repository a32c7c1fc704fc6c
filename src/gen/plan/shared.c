/* Operands that the rows of a tile share: a vector of weights against a matrix. In: a space whose
 * last axis is tiled. Out: loops in which such a piece is loaded once for a block of rows.
 *
 *     for b, t in mine(tiles(n0, block), tiles(n1, tile)):
 *         load the shared pieces
 *         for i0 in range(b.start, b.stop): ... */
#include "gen/plan/strategy.h"

enum { MOST_ROWS = 32, ITEMS = 4 /* pieces of work for each core, at least */ };

/* Varies along the last axis, and not along the one before. */
static bool is_shared(const Writer *w, const Prim *leaf)
{
    return leaf->uses && leaf->axes & w->s->axis[w->last].members &&
           !(leaf->axes & w->s->axis[w->last - 1].members);
}

bool shared_takes(const Writer *w)
{
    bool shared = false, own = false;
    for (uint32_t i = 0; w->last && i < w->g->leaves.len; i++) {
        const Prim *leaf = &w->g->prims.at[w->g->leaves.at[i].prim];
        shared = shared || is_shared(w, leaf);
        own = own || (leaf->uses && leaf->axes & w->s->axis[w->last].members &&
                      leaf->axes & w->s->axis[w->last - 1].members);
    }
    return shared && own;
}

void shared_setup(Job *job, Part *part)
{
    Buf lines = {0};
    for (uint32_t i = 0; i + 1 < job->s->len; i++)
        buf_printf(&lines, "%s * ", job->s->axis[i].name);
    part->setup = str_format(job->arena,
                             "block = max(1, min(%d, %sceildiv(%s, tile) // (%d * chip.cores)))",
                             MOST_ROWS, lines.at, job->s->axis[job->s->len - 1].name, ITEMS);
    part_scalar(part, "block", "block");
    buf_free(&lines);
}

static void load_shared(Writer *w)
{
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        PrimId id = w->g->leaves.at[i].prim;
        wanted[id] = is_shared(w, &w->g->prims.at[id]);
    }
    write_loads(w, wanted);
}

void shared_open(Writer *w)
{
    Buf vars = {0}, axes = {0};
    uint32_t row = w->last - 1;
    for (uint32_t i = 0; i < row; i++) {
        w->index[i] = str_format(w->arena, "i%u", i);
        buf_printf(&vars, "i%u, ", i);
        buf_printf(&axes, "n%u, ", i);
    }
    write_line(w, "for %sb, t in mine(%stiles(n%u, block), tiles(n%u, tile)):",
               vars.len ? vars.at : "", axes.len ? axes.at : "", row, w->last);
    w->index[w->last] = "t";
    w->count = "t.size";
    w->depth++;
    load_shared(w);
    w->index[row] = str_format(w->arena, "i%u", row);
    write_line(w, "for i%u in range(b.start, b.stop):", row);
    w->depth++;
    buf_free(&vars);
    buf_free(&axes);
}
