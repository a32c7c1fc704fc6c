/* Running sums and products. Along the last axis a row is walked in tiles and what came before
 * is carried as a scalar; along another axis a tile of the last one is carried whole. From the
 * end, the tiles are the mirror images of those from the start. */
#include "gen/plan/strategy.h"

static bool takes(const Space *s) { return s->scanned == 1 && s->reduced == 0; }

static PrimId the_scan(const Writer *w)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (w->g->prims.at[i].op == PRIM_SCAN && w->g->prims.at[i].uses)
            return i;
    panic("a scan strategy without a scan");
}

/* for i0, t in mine(n0, tiles(n2, tile)), all axes but the scanned one */
static void open_others(Writer *w, uint32_t scanned)
{
    Buf vars = {0}, axes = {0};
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (i == scanned)
            continue;
        const char *comma = vars.len ? ", " : "";
        bool tiled = i == w->last;
        w->index[i] = tiled ? "t" : str_format(w->arena, "i%u", i);
        buf_printf(&vars, "%s%s", comma, w->index[i]);
        buf_printf(&axes, tiled ? "%stiles(n%u, tile)" : "%sn%u", comma, i);
    }
    if (vars.len)
        write_line(w, "for %s in mine(%s):", vars.at, axes.at);
    else
        write_line(w, "if core_id() == 0:");
    w->depth++;
    buf_free(&vars);
    buf_free(&axes);
}

static void load_for(Writer *w)
{
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    write_scalar_leaves(w);
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        write_mark(w, w->g->outputs.at[i].is.prim, wanted);
    write_loads(w, wanted);
}

static void store_all(Writer *w)
{
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        write_store(w, &w->g->outputs.at[i], write_output_name(w, i));
}

/* One tile of a row: its own running sum, plus what came before. */
static void scan_tile(Writer *w, PrimId id, const char *carry)
{
    const Prim *p = &w->g->prims.at[id];
    const char *times = p->reduce == PRIM_SUM ? "+" : "*";
    const char *word = p->reduce == PRIM_SUM ? "cumsum" : "cumprod";
    write_line(w, "with compute():");
    w->depth++;
    write_needs(w, p->arg[0]);
    const char *x = write_named(w, p->arg[0]);
    const char *c = write_view(w, KIND_TILE, write_buffer(w, 'c', KIND_TILE, DT_F32, 1, id)),
               *from = x;
    if (p->reverse) {
        from = write_view(w, KIND_TILE, write_buffer(w, 'b', KIND_TILE, DT_F32, 1, id));
        write_line(w, "%s = reverse(%s)", from, x);
    }
    write_line(w, "%s = %s(%s)", c, word, from);
    write_line(w, "%s = %s %s %s", c, c, times, carry);
    Str buffer = str_from(c);
    buffer.len = (size_t)str_find(buffer, STR("["));
    const char *whole = str_dup(w->arena, buffer);
    write_line(w, "%s = %s[%s - 1]", carry, whole, w->count);
    if (p->exclusive)
        write_line(w, "%s = %s - %s", c, c, x);
    if (p->reverse) {
        write_line(w, "%s = reverse(%s)", from, c);
        c = from;
    }
    w->name[id] = c;
    w->depth--;
}

static void write_last(Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    const char *carry = str_format(w->arena, "r%u", w->next++);
    open_others(w, w->last);
    write_line(w, "%s = %s", carry, p->reduce == PRIM_SUM ? "0.0" : "1.0");
    write_line(w, "for t in tiles(n%u, tile):", w->last);
    w->depth++;
    w->index[w->last] = p->reverse
                            ? str_format(w->arena, "n%u - t.stop:n%u - t.start", w->last, w->last)
                            : "t";
    w->count = "t.size";
    load_for(w);
    scan_tile(w, id, carry);
    store_all(w);
}

/* Along another axis: the carried tile is the running sum itself. */
static void write_other(Writer *w, PrimId id, uint32_t axis)
{
    const Prim *p = &w->g->prims.at[id];
    w->count = "t.size";
    open_others(w, axis);
    const char *carry = write_view(w, KIND_TILE, write_buffer(w, 'r', KIND_TILE, DT_F32, 1, id));
    write_line(w, "with compute():");
    write_line(w, "    %s = %s", carry, p->reduce == PRIM_SUM ? "0.0" : "1.0");
    write_line(w, "for j%u in range(n%u):", axis, axis);
    w->depth++;
    w->index[axis] = p->reverse ? str_format(w->arena, "n%u - 1 - j%u", axis, axis)
                                : str_format(w->arena, "j%u", axis);
    load_for(w);
    w->name[id] = carry;
    if (p->exclusive)
        store_all(w);
    write_line(w, "with compute():");
    w->depth++;
    write_needs(w, p->arg[0]);
    write_line(w, "%s = %s", carry,
               unit_format(w, unit_steps[p->reduce], carry, write_expr(w, p->arg[0])));
    w->depth--;
    if (!p->exclusive)
        store_all(w);
}

static void write_scan(Job *job)
{
    Writer *w = job_part(job, "_kernel", false)->w;
    PrimId id = the_scan(w);
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (!w->s->axis[i].scanned)
            continue;
        if (i == w->last)
            write_last(w, id);
        else
            write_other(w, id, i);
    }
}

const Strategy strategy_scan = {
    "scan", takes, write_scan,
    "One pass: a row is walked in tiles, each tile is scanned on chip, and the total so far is "
    "carried to the next."};
