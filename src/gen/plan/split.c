/* Few long rows: the pieces of all rows are spread over the cores, pass by pass.
 *
 *     each piece is reduced by one core, its results stand in the piece's slot of a workspace
 *     all cores synchronise; each row's slots are combined by one core, in their order
 *     all cores synchronise; each piece is read again, with the results of its row
 *
 * In: a space whose last axis is reduced. Out: a part. */
#include "gen/plan/strategy.h"

enum { SLOTS = 64, PIECES = 8 };

/* The pieces of a row: "n0 * ceildiv(n2, chunk)". */
static const char *slots_of(Job *job)
{
    Buf out = {0};
    for (uint32_t i = 0; i + 1 < job->s->len; i++)
        if (job->s->axis[i].reduced)
            buf_printf(&out, "%s * ", job->s->axis[i].name);
    buf_printf(&out, "ceildiv(%s, chunk)", job->s->axis[job->s->len - 1].name);
    char *text = buf_take(&out, job->arena);
    buf_free(&out);
    return text;
}

/* "n0 * n1": what there is of rows and reduced axes before the last */
static const char *lines_of(Job *job)
{
    Buf out = {0};
    for (uint32_t i = 0; i + 1 < job->s->len; i++)
        buf_printf(&out, "%s%s", out.len ? " * " : "", job->s->axis[i].name);
    char *text = buf_take(&out, job->arena);
    buf_free(&out);
    return text;
}

/* "n1, " of the kept axes, or "i1, " of their indices */
static const char *kept_of(Job *job, const char *letter)
{
    Buf out = {0};
    for (uint32_t i = 0; i < job->s->len; i++)
        if (!job->s->axis[i].reduced)
            buf_printf(&out, "%s%u, ", letter, i);
    char *text = buf_take(&out, job->arena);
    buf_free(&out);
    return text;
}

/* "i0, r.start, " */
static const char *kept_index(Job *job, uint32_t row_axis)
{
    Buf out = {0};
    for (uint32_t i = 0; i < job->s->len; i++)
        if (!job->s->axis[i].reduced)
            buf_printf(&out, i == row_axis ? "r.start, " : "i%u, ", i);
    char *text = buf_take(&out, job->arena);
    buf_free(&out);
    return text;
}

/* Which slot of its row a piece has: "j0 * ceildiv(n2, chunk) + c.index". */
static const char *slot_of(Job *job)
{
    const Space *s = job->s;
    const char *at = NULL;
    for (uint32_t i = 0; i + 1 < s->len; i++)
        if (s->axis[i].reduced)
            at = at ? str_format(job->arena, "(%s) * %s + j%u", at, s->axis[i].name, i)
                    : str_format(job->arena, "j%u", i);
    const char *last = s->axis[s->len - 1].name;
    return at ? str_format(job->arena, "(%s) * ceildiv(%s, chunk) + c.index", at, last) : "c.index";
}

/* for j0, r, c in mine(n0, tiles(n1, 1), tiles(n2, chunk)) */
static void open_pieces(Writer *w)
{
    Buf vars = {0}, axes = {0};
    for (uint32_t i = 0; i < w->last; i++) {
        bool row = i == w->row_axis;
        w->index[i] = row ? "r"
                          : str_format(w->arena, "%c%u", w->s->axis[i].reduced ? 'j' : 'i', i);
        buf_printf(&vars, "%s, ", w->index[i]);
        buf_printf(&axes, row ? "tiles(n%u, 1), " : "n%u, ", i);
    }
    write_line(w, "for %sc in mine(%stiles(n%u, chunk)):", vars.at, axes.at, w->last);
    if (w->flat)
        w->index[w->row_axis] = "r.start";
    w->depth++;
    buf_free(&vars);
    buf_free(&axes);
}

static void open_tiles(Writer *w)
{
    write_line(w, "for t in tiles(c, tile):");
    w->index[w->last] = "t";
    w->count = "t.size";
    w->first = "t.index == 0";
    w->depth++;
}

typedef struct Split {
    Job *job;
    Part *part;
    Writer *w;
    const char *slots, *slot;
    const char *kept, *kept_index, *row_index; /* "n0, n1, ", "i0, r.start, ", "i0, i1, " */
    uint32_t made;
} Split;

static const char *workspace_of(Split *p, bool slots)
{
    const char *name = str_format(p->w->arena, "ws%u", p->made++);
    const char *shape = slots ? str_format(p->w->arena, "%s%s, 24", p->kept, p->slots)
                              : str_format(p->w->arena, "%s24", p->kept);
    part_workspace(p->job, p->part, name, shape);
    return name;
}

/* Where a unit's results stand: of the pieces, and of the rows. Up to three, eight times each. */
typedef struct Places {
    const char *piece, *row;
} Places;

static int result_count(const Unit *u) { return u->kind == UNIT_MOMENTS ? 3 : u->second ? 2 : 1; }

/* A piece's own results; moments as mean, squares about it, and how many there were. */
static void store_piece(Split *p, const Unit *u, Places *at)
{
    Writer *w = p->w;
    const char *end = u->kind == UNIT_MOMENTS ? " / f32(c.size)" : "";
    at->piece = workspace_of(p, true);
    write_line(w, "with compute():");
    w->depth++;
    for (int i = 0; i < result_count(u) && i < 2; i++) {
        const char *value = str_format(w->arena, "s%u", w->next++);
        write_line(w, "%s = %s[0]", value, u->lane[i]);
        write_line(w, "mine24[%d:%d] = %s%s", i * 8, i * 8 + 8, value, i ? "" : end);
    }
    if (u->kind == UNIT_MOMENTS)
        write_line(w, "mine24[16:24] = f32(c.size)");
    w->depth--;
    write_line(w, "with copyout():");
    write_line(w, "    store(%s[%s%s, 0:%d], mine24[:%d])", at->piece, p->kept_index, p->slot,
               result_count(u) * 8, result_count(u) * 8);
}

static void load_slots(Split *p, const Unit *u, const Places *at)
{
    Writer *w = p->w;
    int n = result_count(u) * 8;
    write_line(w, "for b in tiles(%s, %d):", p->slots, SLOTS);
    w->depth++;
    write_line(w, "with copyin():");
    write_line(w, "    load(all24[:b.size, :%d], %s[%sb, 0:%d])", n, at->piece, p->row_index, n);
    write_line(w, "with compute():");
    w->depth++;
}

static const char *const column_words[] = {[PRIM_SUM] = "col_sum",
                                           [PRIM_MAX] = "col_max",
                                           [PRIM_MIN] = "col_min",
                                           [PRIM_PROD] = "col_prod"};

static void fold_slots(Split *p, const Unit *u, const Places *at, int which, PrimReduce kind,
                       const char *expr)
{
    Writer *w = p->w;
    const char *acc = str_format(w->arena, "sum24[%d:%d]", which * 8, which * 8 + 8);
    const char *folded = str_format(w->arena, "%s(%s)", column_words[kind], expr);
    write_line(w, "with compute():");
    write_line(w, "    %s = %s", acc, unit_starts[kind]);
    load_slots(p, u, at);
    write_line(w, "%s = %s", acc, unit_format(w, unit_steps[kind], acc, folded));
    w->depth -= 2;
}

/* The rows' results from those of their pieces. */
static void combine(Split *p, const Unit *u, Places *at)
{
    Writer *w = p->w;
    PrimReduce kind = w->g->prims.at[u->first].reduce;
    Buf n = {0};
    write_count(w, &n, w->g->prims.at[u->first].over);
    switch (u->kind) {
    case UNIT_PLAIN: fold_slots(p, u, at, 0, kind, "all24[:b.size, 0:8]"); break;
    case UNIT_ONLINE:
        fold_slots(p, u, at, 0, PRIM_MAX, "all24[:b.size, 0:8]");
        fold_slots(p, u, at, 1, PRIM_SUM,
                   "all24[:b.size, 8:16] * exp(all24[:b.size, 0:8] - row(sum24[0:8]))");
        break;
    case UNIT_MOMENTS:
        fold_slots(p, u, at, 0, PRIM_SUM, "all24[:b.size, 0:8] * all24[:b.size, 16:24]");
        write_line(w, "with compute():");
        write_line(w, "    sum24[16:24] = sum24[0:8] * (1.0 / %s)", n.at);
        fold_slots(p, u, at, 1, PRIM_SUM,
                   "(all24[:b.size, 0:8] - row(sum24[16:24])) * (all24[:b.size, 0:8] - "
                   "row(sum24[16:24])) * all24[:b.size, 16:24] + all24[:b.size, 8:16]");
        break;
    }
    buf_free(&n);
    at->row = workspace_of(p, false);
    int count = u->second ? 16 : 8;
    write_line(w, "with compute():");
    write_line(w, "    mine24[:%d] = sum24[:%d]", count, count);
    write_line(w, "with copyout():");
    write_line(w, "    store(%s[%s0:%d], mine24[:%d])", at->row, p->row_index, count, count);
}

static void open_kept(Writer *w)
{
    Buf vars = {0}, axes = {0};
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (w->s->axis[i].reduced)
            continue;
        w->index[i] = str_format(w->arena, "i%u", i);
        buf_printf(&vars, "%si%u", vars.len ? ", " : "", i);
        buf_printf(&axes, "%sn%u", axes.len ? ", " : "", i);
    }
    write_line(w, "for %s in mine(%s):", vars.at, axes.at);
    w->depth++;
    buf_free(&vars);
    buf_free(&axes);
}

static void combine_rows(Split *p, UnitList *units, Places *places)
{
    open_kept(p->w);
    for (uint32_t i = 0; i < units->len; i++)
        combine(p, &units->at[i], &places[i]);
    p->w->depth--;
}

/* A piece counts its own elements, not those of the row. */
static void finish_piece(Writer *w, Unit *u)
{
    w->piece = "f32(c.size)";
    unit_finish(w, u);
    w->piece = NULL;
}

static void reduce_pieces(Split *p, uint32_t pass, UnitList *units, Places *places)
{
    Writer *w = p->w;
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    open_pieces(w);
    write_scalar_leaves(w);
    reduce_hoist(w, pass, false);
    reduce_mark(w, pass, false, wanted);
    for (uint32_t i = 0; i < units->len; i++)
        unit_start(w, &units->at[i]);
    open_tiles(w);
    write_loads(w, wanted);
    write_line(w, "with compute():");
    w->depth++;
    for (uint32_t i = 0; i < units->len; i++)
        unit_step(w, &units->at[i], w->first);
    w->depth -= 2;
    size_t before = w->body.len;
    write_line(w, "with compute():");
    size_t opened = w->body.len;
    w->depth++;
    for (uint32_t i = 0; i < units->len; i++)
        finish_piece(w, &units->at[i]);
    w->depth--;
    if (w->body.len == opened)
        w->body.at[w->body.len = before] = 0;
    for (uint32_t i = 0; i < units->len; i++)
        store_piece(p, &units->at[i], &places[i]);
    w->depth--;
}

/* The results of a row, as scalars. */
static void read_rows(Split *p, UnitList *units, const Places *places, const char *index)
{
    Writer *w = p->w;
    for (uint32_t i = 0; i < units->len; i++)
        for (int k = 0; k < (units->at[i].second ? 2 : 1); k++) {
            PrimId id = k ? units->at[i].second : units->at[i].first;
            w->name[id] = str_format(w->arena, "r%u", w->next++);
            write_line(w, "%s = %s[%s%d]", w->name[id], places[i].row, index, k * 8);
        }
}

static void store_outputs(Writer *w, const bool *wanted)
{
    write_loads(w, wanted);
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        if (reduce_is_full(w, i))
            write_store(w, &w->g->outputs.at[i], write_output_name(w, i));
}

static void write_outputs(Split *p, uint32_t passes)
{
    Writer *w = p->w;
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    write_scalar_leaves(w);
    reduce_hoist(w, passes, true);
    reduce_mark(w, passes, true, wanted);
    open_tiles(w);
    store_outputs(w, wanted);
}

/* Leaves that all rows share, such as weights; false: there are none. */
static bool mark_shared(const Writer *w, bool *wanted)
{
    bool any = false;
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        const Prim *leaf = &w->g->prims.at[w->g->leaves.at[i].prim];
        bool shared = leaf->uses && leaf->axes && !(leaf->axes & ~w->s->axis[w->last].members);
        wanted[w->g->leaves.at[i].prim] = shared;
        any = any || shared;
    }
    return any && w->s->reduced == 1;
}

/* What all rows share is loaded once a tile, and the rows are walked under it. */
static void write_outputs_by_tiles(Split *p, uint32_t passes, UnitList *units, const Places *places,
                                   const bool *shared)
{
    Writer *w = p->w;
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    write_line(w, "for t in mine(tiles(n%u, tile)):", w->last);
    w->index[w->last] = "t";
    w->count = "t.size";
    w->depth++;
    write_loads(w, shared);
    for (uint32_t i = 0; i < w->last; i++) {
        w->index[i] = str_format(w->arena, "i%u", i);
        write_line(w, "for i%u in range(n%u):", i, i);
        w->depth++;
    }
    reduce_mark(w, passes, true, wanted);
    write_loads(w, wanted); /* first, so that the next row's are not held up by its scalars */
    read_rows(p, units, places, p->row_index);
    write_scalar_leaves(w);
    reduce_hoist(w, passes, true);
    store_outputs(w, wanted);
}

static bool any_output(const Writer *w, bool full)
{
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        if (reduce_is_full(w, i) == full)
            return true;
    return false;
}

static void split_buffers(Writer *w)
{
    buf_printf(&w->buffers,
               "    mine24 = ub(f32, 24, depth=2)\n    all24 = ub(f32, %d, 24, depth=2)\n"
               "    sum24 = ub(f32, 24)\n",
               SLOTS);
}

static void split_passes(Split *p)
{
    Writer *w = p->w;
    uint32_t passes = reduce_passes(w);
    UnitList units = units_of(w, 0);
    Places *places = arena_array(w->arena, Places, units.len + 1);
    reduce_pieces(p, 0, &units, places);
    write_forget(w);
    write_line(w, "sync_all()");
    combine_rows(p, &units, places);
    write_forget(w);
    write_line(w, "sync_all()");
    w->flat = true;
    bool *shared = arena_array(w->arena, bool, w->g->prims.len);
    if (any_output(w, true)) {
        if (mark_shared(w, shared)) {
            write_outputs_by_tiles(p, passes, &units, places, shared);
        } else {
            open_pieces(w);
            read_rows(p, &units, places, p->kept_index);
            write_outputs(p, passes);
        }
        w->depth = 1;
        write_forget(w);
    }
    if (any_output(w, false)) {
        open_kept(w);
        read_rows(p, &units, places, p->row_index);
        write_scalar_leaves(w);
        reduce_store_scalars(w);
        w->depth = 1;
    }
}

/* All reductions in one pass over memory, pairs as one. */
bool split_takes(Job *job)
{
    const Writer *w = writer_new(job->g, job->s, true, job->diag);
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *p = &w->g->prims.at[i];
        if ((p->op == PRIM_REDUCE && p->uses && w->level[i] > 1) || (p->op == PRIM_PICK && p->uses))
            return false;
    }
    return true;
}

void split_part(Job *job)
{
    Part *part = job_part(job, "_split", true);
    const char *last = job->s->axis[job->s->len - 1].name;
    Split p = {.job = job,
               .part = part,
               .w = part->w,
               .slots = slots_of(job),
               .kept = kept_of(job, "n"),
               .row_index = kept_of(job, "i"),
               .slot = slot_of(job)};
    part->setup = str_format(job->arena,
                             "chunk = align_up(ceildiv(%s, ceildiv(chip.cores * %d, min(%s, "
                             "chip.cores * %d))), tile)",
                             last, PIECES, lines_of(job), PIECES);
    part_scalar(part, "chunk", "chunk");
    split_buffers(part->w);
    rows_two(part->w);
    p.kept_index = kept_index(job, part->w->row_axis);
    split_passes(&p);
}
