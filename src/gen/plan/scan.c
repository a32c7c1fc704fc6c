/* Running sums, products, extremes and log-sum-exps. Along the last axis a row is walked in tiles and what came before
 * is carried in a block of UB; along another axis a tile of the last one is carried whole. From
 * the end, the tiles are the mirror images of those from the start. */
#include "gen/plan/strategy.h"

/* Whole repeats of lanes of 8: how a running sum is computed (lower/op_scan.c) */
enum { SCAN_UNIT = 1024 };

typedef struct ScanWords {
    const char *name, *neutral;
} ScanWords;

static const ScanWords scan_words[] = {[PRIM_SUM] = {"cumsum", "0.0"},
                                       [PRIM_MAX] = {"cummax", "-inf"},
                                       [PRIM_MIN] = {"cummin", "inf"},
                                       [PRIM_PROD] = {"cumprod", "1.0"},
                                       [PRIM_LOGSUMEXP] = {"logcumsumexp", "-inf"}};

/* Two views combined. What is subtracted from the smaller exponent is finite: two equal infinities
 * give that infinity. */
static const char *combined(Writer *w, PrimReduce kind, const char *a, const char *b)
{
    static const char most[] = "3.4028234663852886e38";
    if (kind != PRIM_LOGSUMEXP)
        return unit_format(w, unit_steps[kind], a, b);
    const char *high = str_format(w->arena, "max(%s, %s)", a, b);
    return str_format(w->arena, "%s + log(1.0 + exp(min(%s, %s) - min(max(%s, -%s), %s)))", high, a,
                      b, high, most, most);
}

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

/* The output that is the running sum itself, in f32: it is made where it is stored from. */
static bool is_stored_scan(const Writer *w, PrimId id)
{
    const PrimOutput *out = &w->g->outputs.at[0];
    return w->g->outputs.len == 1 && out->is.prim == id && w->g->prims.at[id].uses == 1 &&
           graph_value(w->g->graph, out->value)->dtype == DT_F32;
}

static const char *tile_of(Writer *w, char stem, int depth, PrimId owner)
{
    return write_view(w, KIND_TILE, write_buffer(w, stem, KIND_TILE, DT_F32, depth, owner));
}

/* What is scanned, in a buffer whose first elements may change. */
static const char *scan_operand(Writer *w, const Prim *p, PrimId id)
{
    const char *x = write_named(w, p->arg[0]);
    bool again = p->exclusive || w->g->prims.at[p->arg[0]].uses > 1;
    if (!p->reverse && !again)
        return x;
    const char *own = tile_of(w, 'b', 1, id);
    write_line(w, p->reverse ? "%s = reverse(%s)" : "%s = %s", own, x);
    return own;
}

/* "a1[:t.size]" as "a1" */
static const char *buffer_of(Writer *w, const char *view)
{
    Str name = str_from(view);
    name.len = (size_t)str_find(name, STR("["));
    return str_dup(w->arena, name);
}

/* One tile of a row. What came before is one more operand of its first element, and stays on
 * chip: nothing waits for the scalar unit. */
static void scan_tile(Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    bool stored = is_stored_scan(w, id);
    write_line(w, "with compute():");
    w->depth++;
    write_needs(w, p->arg[0]);
    const char *x = scan_operand(w, p, id), *first = buffer_of(w, x);
    const char *c = stored && !p->reverse ? tile_of(w, 'o', 2, 0) : tile_of(w, 'c', 1, id);
    const char *head = str_format(w->arena, "%s[:min(%s, 8)]", first, w->count);
    const char *before = str_format(w->arena, "carry[:min(%s, 8)]", w->count);
    write_line(w, "%s = %s", head, combined(w, p->reduce, head, before));
    write_line(w, "%s = %s(%s)", c, scan_words[p->reduce].name, x);
    write_line(w, "last = %s - 1", w->count);
    write_line(w, "at[:8] = last");
    write_line(w, "carry[:1] = gather(%s, at[:1])", c);
    if (p->exclusive)
        write_line(w, "%s = %s - %s", c, c, write_named(w, p->arg[0]));
    if (p->reverse) {
        const char *back = stored ? tile_of(w, 'o', 2, 0) : x;
        write_line(w, "%s = reverse(%s)", back, c);
        c = back;
    }
    w->name[id] = c;
    w->depth--;
}

static void store_scan(Writer *w, PrimId id)
{
    if (!is_stored_scan(w, id)) {
        store_all(w);
        return;
    }
    write_line(w, "with copyout():");
    write_line(w, "    store(%s, %s)",
               write_access(w, write_output_name(w, 0), w->g->prims.at[id].axes), w->name[id]);
}

static void write_last(Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    buf_puts(&w->buffers, "    carry = ub(f32, 8)\n    at = ub(i32, 64)\n");
    open_others(w, w->last);
    write_line(w, "with compute():");
    write_line(w, "    carry[:8] = %s", scan_words[p->reduce].neutral);
    write_line(w, "for t in tiles(n%u, tile):", w->last);
    w->depth++;
    w->index[w->last] = p->reverse
                            ? str_format(w->arena, "n%u - t.stop:n%u - t.start", w->last, w->last)
                            : "t";
    w->count = "t.size";
    load_for(w);
    scan_tile(w, id);
    store_scan(w, id);
}

/* Along another axis: the carried tile is the running sum itself. */
static void write_other(Writer *w, PrimId id, uint32_t axis)
{
    const Prim *p = &w->g->prims.at[id];
    w->count = "t.size";
    open_others(w, axis);
    const char *carry = write_view(w, KIND_TILE, write_buffer(w, 'r', KIND_TILE, DT_F32, 1, id));
    write_line(w, "with compute():");
    write_line(w, "    %s = %s", carry, scan_words[p->reduce].neutral);
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
    const char *here = p->reduce == PRIM_LOGSUMEXP ? write_named(w, p->arg[0])
                                                   : write_expr(w, p->arg[0]);
    write_line(w, "%s = %s", carry, combined(w, p->reduce, carry, here));
    w->depth--;
    if (!p->exclusive)
        store_all(w);
}

/* Tiles of a row are alike, so that no short one is left at its end: with one or two more of them if
 * need be. */
static void even_tiles(Job *job, Part *part)
{
    const char *n = job->s->axis[part->w->last].name;
    Buf lines = {0};
    buf_printf(&lines, "pieces = ceildiv(%s, tile)\n", n);
    for (int more = 0; more < 3; more++)
        buf_printf(&lines, "even%d = align_up(ceildiv(%s, pieces + %d), %d)\n", more, n, more,
                   SCAN_UNIT);
    buf_puts(&lines, "even = min(tile, ");
    for (int more = 0; more < 3; more++)
        buf_printf(&lines, "even%d if even%d * (pieces + %d) < %s + %d else ", more, more, more, n,
                   2 * SCAN_UNIT);
    buf_puts(&lines, "even0)");
    part->setup = buf_take(&lines, job->arena);
    buf_free(&lines);
    part->scalar[0].value = "even";
}

static void write_scan(Job *job)
{
    job->tile_unit = SCAN_UNIT;
    Part *part = job_part(job, "_kernel", false);
    Writer *w = part->w;
    PrimId id = the_scan(w);
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (!w->s->axis[i].scanned)
            continue;
        if (i == w->last) {
            even_tiles(job, part);
            write_last(w, id);
        } else {
            write_other(w, id, i);
        }
    }
}

const Strategy strategy_scan = {
    "scan", takes, write_scan,
    "One pass: a row is walked in tiles, each tile is scanned on chip, and the total so far is "
    "carried to the next."};
