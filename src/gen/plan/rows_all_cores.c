/* Rows so long that all cores work on one at a time. Rows are taken in groups that L2 holds:
 *
 *     each row of the group    every core reduces its tiles of it, and puts the result in its slot
 *     all cores synchronise           each row's slots are combined by one core
 *     all cores synchronise           each row of the group is read again, from L2, with its results
 *
 * so that GM is read once though the inputs are needed twice. In: a space whose last axis is reduced
 * and others are kept. Out: a part, where something is written that varies along rows. */
#include "gen/plan/strategy.h"

enum { LEAST = 2048 /* elements of a row that every core has */, LANES = 8 };

/* A value of a row that the second pass takes: a primitive, or its reciprocal. */
typedef struct Kept {
    PrimId id;
    bool recip;
} Kept;

typedef struct Together {
    Job *job;
    Part *part;
    Writer *w;
    uint32_t first; /* the kept axis that is walked in groups */
    VEC(Kept) kept;
} Together;

/* ---- words ---- */

/* "n0 * n2" of the axes that are reduced or not, without the one at `but` */
static const char *product(Job *job, bool kept, bool reduced, uint32_t but)
{
    Buf out = {0};
    for (uint32_t i = 0; i < job->s->len; i++)
        if (i != but && (job->s->axis[i].reduced ? reduced : kept))
            buf_printf(&out, "%s%s", out.len ? " * " : "", job->s->axis[i].name);
    const char *text = str_format(job->arena, "%s", out.len ? out.at : "1");
    buf_free(&out);
    return text;
}

/* "n0, n1, " */
static const char *kept_sizes(const Together *p)
{
    Buf out = {0};
    for (uint32_t i = 0; i < p->w->s->len; i++)
        if (!p->w->s->axis[i].reduced)
            buf_printf(&out, "n%u, ", i);
    char *text = buf_take(&out, p->w->arena);
    buf_free(&out);
    return text;
}

/* "i0, r.start, " as the loops around have it */
static const char *kept_index(const Together *p)
{
    Buf out = {0};
    for (uint32_t i = 0; i < p->w->s->len; i++) {
        const char *at = p->w->index[i];
        if (!p->w->s->axis[i].reduced)
            buf_printf(&out, "%s, ", str_is(str_from(at), "r") ? "r.start" : at);
    }
    char *text = buf_take(&out, p->w->arena);
    buf_free(&out);
    return text;
}

static uint32_t widest_leaf(const Writer *w)
{
    uint32_t bytes = 1;
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        uint32_t own = (uint32_t)dtype_bytes(w->g->prims.at[w->g->leaves.at[i].prim].dtype);
        bytes = own > bytes ? own : bytes;
    }
    return bytes;
}

static uint32_t narrowest_output(const Writer *w)
{
    uint32_t bytes = 8;
    for (uint32_t i = 0; i < w->g->outputs.len; i++) {
        DType dtype = graph_value(w->g->graph, w->g->outputs.at[i].value)->dtype;
        bytes = dtype_bytes(dtype) < bytes ? (uint32_t)dtype_bytes(dtype) : bytes;
    }
    return bytes;
}

/* ---- loops ---- */

/* All rows of the group, one after the other, by every core. */
static void open_rows(Together *p)
{
    Writer *w = p->w;
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (w->s->axis[i].reduced)
            continue;
        bool row = i == w->row_axis, grouped = i == p->first;
        w->index[i] = row ? (w->flat ? "r.start" : "r") : str_format(w->arena, "i%u", i);
        if (row)
            write_line(w, grouped ? "for r in tiles(g, 1):" : "for r in tiles(n%u, 1):", i);
        else if (grouped)
            write_line(w, "for i%u in range(g.start, g.stop):", i);
        else
            write_line(w, "for i%u in range(n%u):", i, i);
        w->depth++;
    }
}

/* A core's tiles of the row: for j0, t in mine(n0, tiles(n2, step)) */
static void open_tiles(Writer *w)
{
    Buf vars = {0}, axes = {0};
    for (uint32_t i = 0; i < w->last; i++) {
        if (!w->s->axis[i].reduced)
            continue;
        w->index[i] = str_format(w->arena, "j%u", i);
        buf_printf(&vars, "j%u, ", i);
        buf_printf(&axes, "n%u, ", i);
    }
    write_line(w, "for %st in mine(%stiles(n%u, tile)):", vars.len ? vars.at : "",
               axes.len ? axes.at : "", w->last);
    w->index[w->last] = "t";
    w->count = "t.size";
    w->depth++;
    buf_free(&vars);
    buf_free(&axes);
}

/* The rows of the group, each by one core. */
static void open_own_rows(Together *p)
{
    Writer *w = p->w;
    Buf vars = {0}, axes = {0};
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (w->s->axis[i].reduced)
            continue;
        const char *comma = vars.len ? ", " : "";
        bool grouped = i == p->first;
        w->index[i] = str_format(w->arena, grouped ? "p.start" : "i%u", i);
        buf_printf(&vars, grouped ? "%sp" : "%si%u", comma, i);
        buf_printf(&axes, grouped ? "%stiles(g, 1)" : "%sn%u", comma, i);
    }
    write_line(w, "for %s in mine(%s):", vars.at, axes.at);
    w->depth++;
    buf_free(&vars);
    buf_free(&axes);
}

/* ---- a core's part of a row ---- */

static int result_count(const Unit *u) { return u->kind == UNIT_MOMENTS ? 3 : u->second ? 2 : 1; }

static const char *slots_name(const Together *p, uint32_t unit)
{
    return str_format(p->w->arena, "ws%u", unit);
}

/* What the lanes beside the result hold, so that folding all of them gives it. */
static const char *neutral(const Writer *w, const Unit *u, int which)
{
    if (which)
        return "0.0";
    return u->kind == UNIT_ONLINE ? "-3.4028234663852886e38"
                                  : unit_starts[w->g->prims.at[u->first].reduce];
}

/* Moments as mean, squares about it, and how many there were. */
static void store_part(Together *p, const Unit *u, uint32_t unit)
{
    Writer *w = p->w;
    int n = result_count(u);
    write_line(w, "with compute():");
    w->depth++;
    for (int i = 0; i < n; i++) {
        write_line(w, "mine8[%d, :8] = %s", i, u->kind == UNIT_MOMENTS ? "0.0" : neutral(w, u, i));
        if (i == 2)
            write_line(w, "mine8[2, :1] = f32(done)");
        else if (i == 0 && u->kind == UNIT_MOMENTS)
            write_line(w, "mine8[0, :1] = %s[:1] * (1.0 / f32(max(done, 1)))", u->lane[0]);
        else
            write_line(w, "mine8[%d, :1] = %s[:1]", i, u->lane[i]);
    }
    w->depth--;
    write_line(w, "with copyout():");
    write_line(w, "    store(%s[%s0:%d, core_id(), 0:8], mine8[:%d, :8])", slots_name(p, unit),
               kept_index(p), n, n);
}

static void finish_parts(Writer *w, UnitList *units)
{
    size_t before = w->body.len;
    write_line(w, "with compute():");
    size_t opened = w->body.len;
    w->depth++;
    w->piece = "f32(max(done, 1))";
    for (uint32_t i = 0; i < units->len; i++)
        unit_finish(w, &units->at[i]);
    w->piece = NULL;
    w->depth--;
    if (w->body.len == opened)
        w->body.at[w->body.len = before] = 0;
}

static void reduce_parts(Together *p, UnitList *units)
{
    Writer *w = p->w;
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    int depth = w->depth;
    open_rows(p);
    reduce_mark(w, 0, false, wanted);
    w->wanted = wanted;
    write_scalar_leaves(w);
    reduce_hoist(w, 0, false);
    for (uint32_t i = 0; i < units->len; i++)
        unit_start(w, &units->at[i]);
    write_line(w, "done = 0");
    int inside = w->depth;
    open_tiles(w);
    write_scalar_leaves(w);
    w->wanted = NULL;
    write_loads(w, wanted);
    write_line(w, "with compute():");
    w->depth++;
    for (uint32_t i = 0; i < units->len; i++)
        unit_step(w, &units->at[i], "done == 0");
    w->depth--;
    write_line(w, "done = done + t.size");
    w->depth = inside;
    finish_parts(w, units);
    for (uint32_t i = 0; i < units->len; i++)
        store_part(p, &units->at[i], i);
    w->depth = depth;
}

/* ---- the row's results ---- */

static const char *fold_line(Together *p, PrimReduce kind, const char *of)
{
    const char *name = str_format(p->w->arena, "whole%u", p->w->next++);
    write_line(p->w, "%s = %s(%s)", name, unit_folds[kind], of);
    return name;
}

static const char *combine_moments(Together *p, const Unit *u)
{
    Writer *w = p->w;
    Buf n = {0};
    const char *mean = str_format(w->arena, "mean%u", w->next++);
    write_count(w, &n, w->g->prims.at[u->first].over);
    w->name[u->first] = fold_line(p, PRIM_SUM, "all0[:cores, :8] * all2[:cores, :8]");
    write_line(w, "%s = %s / %s", mean, w->name[u->first], n.at);
    write_line(w, "all0[:cores, :8] = all0[:cores, :8] - %s", mean);
    buf_free(&n);
    return fold_line(p, PRIM_SUM,
                     "all0[:cores, :8] * all0[:cores, :8] * all2[:cores, :8] + all1[:cores, :8]");
}

static const char *combine_online(Together *p, const Unit *u)
{
    Writer *w = p->w;
    w->name[u->first] = fold_line(p, PRIM_MAX, "all0[:cores, :8]");
    return fold_line(
        p, PRIM_SUM,
        str_format(w->arena, "all1[:cores, :8] * exp(all0[:cores, :8] - %s)", w->name[u->first]));
}

/* Lanes and cores are folded at once. */
static void combine(Together *p, const Unit *u, uint32_t unit)
{
    Writer *w = p->w;
    for (int i = 0; i < result_count(u); i++) { /* one slot of a queue is enough for all */
        write_line(w, "with copyin():");
        write_line(w, "    load(all8[:cores, :8], %s[%s%d, 0:cores, 0:8])", slots_name(p, unit),
                   kept_index(p), i);
        write_line(w, "with compute():");
        write_line(w, "    all%d[:cores, :8] = all8[:cores, :8]", i);
    }
    write_line(w, "with compute():");
    w->depth++;
    switch (u->kind) {
    case UNIT_PLAIN:
        w->name[u->first] = fold_line(p, w->g->prims.at[u->first].reduce, "all0[:cores, :8]");
        break;
    case UNIT_ONLINE: w->name[u->second] = combine_online(p, u); break;
    case UNIT_MOMENTS: w->name[u->second] = combine_moments(p, u); break;
    }
    w->depth--;
}

static void keep(Together *p, PrimId id, bool recip)
{
    Writer *w = p->w;
    long long at = (long long)p->kept.len * LANES;
    write_line(w, "keep[%lld:%lld] = %s", at, at + LANES, recip ? w->recip[id] : w->name[id]);
    vec_push(w->arena, &p->kept, ((Kept){id, recip}));
}

/* What the second pass takes of a row, ready to use. */
static void keep_results(Together *p)
{
    Writer *w = p->w;
    write_line(w, "with compute():");
    w->depth++;
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *prim = &w->g->prims.at[i];
        if (prim->op == PRIM_LEAF || !prim->uses || !write_is_fixed(w, i) ||
            !reduce_is_spread(w, i))
            continue;
        if (w->name[i])
            keep(p, i, false);
        if (w->recip[i])
            keep(p, i, true);
    }
    w->depth--;
    write_line(w, "with copyout():");
    write_line(w, "    store(rows[%s0:%u], keep[:%u])", kept_index(p), p->kept.len * LANES,
               p->kept.len * LANES);
    buf_printf(&w->buffers, "    keep = ub(f32, %u, depth=2)\n", p->kept.len * LANES);
    part_workspace(p->job, p->part, "rows",
                   str_format(w->arena, "%s%u", kept_sizes(p), p->kept.len * LANES));
}

static void combine_rows(Together *p, const UnitList *units, uint32_t passes)
{
    Writer *w = p->w;
    int depth = w->depth;
    open_own_rows(p);
    for (uint32_t i = 0; i < units->len; i++)
        combine(p, &units->at[i], i);
    write_scalar_leaves(w);
    reduce_hoist(w, passes, true);
    keep_results(p);
    reduce_store_scalars(w);
    w->depth = depth;
}

/* ---- outputs ---- */

static void read_rows(Together *p)
{
    Writer *w = p->w;
    for (uint32_t i = 0; i < p->kept.len; i++) {
        const Kept *k = &p->kept.at[i];
        const char *name = str_format(w->arena, "r%u", w->next++);
        write_line(w, "%s = rows[%s%u]", name, kept_index(p), i * LANES);
        *(k->recip ? &w->recip[k->id] : &w->name[k->id]) = name;
    }
}

static void load_full(Writer *w, uint32_t passes)
{
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    reduce_mark(w, passes, true, wanted);
    write_loads(w, wanted);
}

static void store_full(Writer *w)
{
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        if (reduce_is_full(w, i))
            write_store(w, &w->g->outputs.at[i], write_output_name(w, i));
}

static void write_outputs(Together *p, uint32_t passes)
{
    Writer *w = p->w;
    open_rows(p);
    read_rows(p);
    write_scalar_leaves(w);
    reduce_hoist(w, passes, true);
    open_tiles(w);
    load_full(w, passes); /* first, so that the next tile's are not held up by its scalars */
    write_scalar_leaves(w);
    store_full(w);
}

/* Leaves that all rows share, such as weights. */
static bool mark_shared(const Writer *w, bool *wanted)
{
    bool any = false;
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        PrimId id = w->g->leaves.at[i].prim;
        const Prim *leaf = &w->g->prims.at[id];
        wanted[id] = leaf->uses && leaf->axes && !(leaf->axes & ~space_reduced(w->s));
        any = any || wanted[id];
    }
    return any && w->s->reduced == 1;
}

/* What all rows share is loaded once a tile, and the rows of the group are walked under it. */
static void write_outputs_by_tiles(Together *p, uint32_t passes, const bool *shared)
{
    Writer *w = p->w;
    open_tiles(w);
    write_loads(w, shared);
    open_rows(p);
    load_full(w, passes);
    read_rows(p);
    write_scalar_leaves(w);
    reduce_hoist(w, passes, true);
    store_full(w);
}

/* ---- the part ---- */

static void write_group(Together *p)
{
    Writer *w = p->w;
    UnitList units = units_of(w, 0);
    uint32_t passes = reduce_passes(w);
    bool *shared = arena_array(w->arena, bool, w->g->prims.len);
    for (uint32_t i = 0; i < units.len; i++)
        part_workspace(
            p->job, p->part, slots_name(p, i),
            str_format(w->arena, "%s%d, cores, 8", kept_sizes(p), result_count(&units.at[i])));
    int depth = w->depth;
    reduce_parts(p, &units);
    write_forget(w);
    write_line(w, "sync_all()");
    w->flat = true;
    combine_rows(p, &units, passes);
    write_forget(w);
    write_line(w, "sync_all()");
    if (mark_shared(w, shared))
        write_outputs_by_tiles(p, passes, shared);
    else
        write_outputs(p, passes);
    w->depth = depth;
}

static bool any_full(const Writer *w)
{
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        if (reduce_is_full(w, i))
            return true;
    return false;
}

/* Lines of the host that set `group`: rows of its first axis. Where rows are walked under what they share,
 * the second pass comes to a row's last tile only after all the others: what lies between the two reads
 * of it is twice as much, unless the results are so large that they pass L2 by (lower/stream.c). */
static const char *group_lines(Together *p)
{
    Job *job = p->job;
    const Writer *w = p->w;
    bool *shared = arena_array(w->arena, bool, w->g->prims.len);
    uint32_t bytes = widest_leaf(w);
    if (!mark_shared(w, shared))
        return groups_lines(job, w, job->s->axis[p->first].name,
                            product(job, true, true, p->first));
    return str_format(
        job->arena,
        "group = max(1, chip.l2 // (%u if %s > 2 * chip.l2 // %u // %s else %u) // (%s))",
        2 * bytes, product(job, true, false, UINT32_MAX), narrowest_output(w),
        job->s->axis[w->last].name, 4 * bytes, product(job, true, true, p->first));
}

void rows_all_cores_part(Job *job)
{
    Part *part = job_part(job, "_together", true);
    Writer *w = part->w;
    if (!any_full(w)) {
        job_drop(job, job->parts.len - 1);
        return;
    }
    Together p = {.job = job, .part = part, .w = w};
    while (job->s->axis[p.first].reduced)
        p.first++;
    const char *last = job->s->axis[w->last].name;
    const char *lines = product(job, false, true, w->last);
    part->when = str_format(job->arena, "%s >= %d * chip.cores",
                            product(job, false, true, UINT32_MAX), LEAST);
    part->setup = str_format(job->arena,
                             "pieces = ceildiv(align_up(%s * ceildiv(%s, tile), chip.cores), %s)\n"
                             "step = min(tile, align_up(ceildiv(%s, pieces), 128))\n"
                             "%s\ncores = chip.cores",
                             lines, last, lines, last, group_lines(&p));
    part->scalar[0].value = "step";
    part_scalar(part, "group", "group");
    part_scalar(part, "cores", "cores");
    buf_puts(&w->buffers,
             "    mine8 = ub(f32, 3, 8, depth=2)\n"
             "    all8 = ub(f32, 64, 8)\n    all0 = ub(f32, 64, 8)\n    all1 = ub(f32, 64, 8)\n"
             "    all2 = ub(f32, 64, 8)\n");
    rows_two(w);
    write_line(w, "for g in tiles(n%u, group):", p.first);
    w->depth++;
    write_group(&p);
    w->depth--;
}
