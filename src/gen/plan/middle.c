/* The last axis is kept: a core takes pieces of it (and of the other kept axes) and walks the
 * reduced axes over them; nothing is transposed. Where the reduced axis stands before the last, a
 * tile is many of its rows at once, so that one copy moves many short pieces; pieces are as wide as
 * still gives every core enough of them. Large tensors that are read once go in wider pieces, so many
 * that all cores have as many; few rows that are needed twice stay on chip, all of them. */
#include "gen/plan/strategy.h"

enum {
    WIDE = 512,
    ROWS = 16,
    MOST_WIDE = 1 << 28, /* rows stand less than 4 GiB apart */
    LONG_WIDE = 1536,
    LONG_ROWS = 8,
    MANY = 8,      /* pieces of a core that make the last round's rest small */
    FEW = 4,       /* pieces of a core that keep its copies going */
    WHOLE = 16384, /* elements of whole columns on chip, of one f32 operand */
    WHOLE_ROWS = 8,
    LEAST_SPARE = 6 * 1024
};

static bool takes(const Space *s)
{
    return !s->scanned && s->reduced && !s->outer && !s->axis[s->len - 1].reduced;
}

static void open_pass(Writer *w)
{
    Buf first = {0};
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (!w->s->axis[i].reduced)
            continue;
        bool rows = w->two && i == w->row_axis;
        w->index[i] = rows ? "j" : str_format(w->arena, "j%u", i);
        if (rows)
            write_line(w, "for j in tiles(n%u, %lld):", i, (long long)w->block);
        else
            write_line(w, "for j%u in range(n%u):", i, i);
        buf_printf(&first, rows ? "%sj.index == 0" : "%sj%u == 0", first.len ? " and " : "", i);
        w->depth++;
    }
    w->first = buf_take(&first, w->arena);
    buf_free(&first);
}

static void open_kept(Writer *w)
{
    Buf vars = {0}, axes = {0};
    for (uint32_t i = 0; i < w->last; i++) {
        if (w->s->axis[i].reduced)
            continue;
        w->index[i] = str_format(w->arena, "i%u", i);
        buf_printf(&vars, "i%u, ", i);
        buf_printf(&axes, "n%u, ", i);
    }
    write_line(w, "for %st in mine(%stiles(n%u, %s)):", vars.len ? vars.at : "",
               axes.len ? axes.at : "", w->last, w->two ? "wide" : "tile");
    w->index[w->last] = "t";
    w->count = "t.size";
    w->depth++;
    buf_free(&vars);
    buf_free(&axes);
}

/* "512 if n0 * ceildiv(n2, 512) >= 8 * chip.cores else ...": as narrow as gives every core enough, but
 * not where one vector core of every second AI core or more has the port of both for itself: that
 * moves as much as two and costs half the launch (npu/cost.def GM_PORT, CORE_US). */
static const char *width_rule(Job *job, uint32_t last)
{
    Buf items = {0};
    for (uint32_t i = 0; i < last; i++)
        if (!job->s->axis[i].reduced)
            buf_printf(&items, "%s * ", job->s->axis[i].name);
    const char *of = items.len ? items.at : "";
    const char *rule = str_format(job->arena,
                                  "half = %sceildiv(n%u, %d)\n"
                                  "wide = %d if %sceildiv(n%u, %d) >= 8 * chip.cores else %d if "
                                  "half >= 4 * chip.cores or (half <= chip.cube_cores and half * 2 "
                                  "> chip.cube_cores) else %d",
                                  of, last, WIDE / 2, WIDE, of, last, WIDE, WIDE / 2, WIDE / 4);
    buf_free(&items);
    return rule;
}

/* "n0 * n1": the kept axes before the last; "1" where there is none */
static const char *kept_count(Job *job, uint32_t last)
{
    Buf out = {0};
    for (uint32_t i = 0; i < last; i++)
        if (!job->s->axis[i].reduced)
            buf_printf(&out, "%s%s", out.len ? " * " : "", job->s->axis[i].name);
    const char *text = out.len ? str_format(job->arena, out.len > 3 ? "(%s)" : "%s", out.at) : "1";
    buf_free(&out);
    return text;
}

static bool has_rows(const Writer *w) { return w->last && w->s->axis[w->last - 1].reduced; }

/* Tiles of `rows` rows by at most `wide` elements; how many is the host's scalar `host`. */
static void take_rows(Job *job, Part *part, int64_t rows, int64_t wide, const char *host)
{
    Writer *w = part->w;
    w->two = w->columns = true;
    w->row_axis = w->last - 1;
    w->rows = "j.size";
    w->block = rows;
    w->wide = wide;
    job->last_most = MOST_WIDE;
    part->scalars = 0;
    part_scalar(part, "wide", host);
    item_cores(job, part, w->last, host);
}

static int64_t fitting_rows(const Job *job, int64_t rows)
{
    rows >>= job->scratch[true] / SCRATCH_STEP;
    return rows ? rows : 1;
}

/* Tiles that do not vary along the reduced axes are loaded once. */
static void load_fixed(Writer *w)
{
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        PrimId id = w->g->leaves.at[i].prim;
        wanted[id] = w->g->prims.at[id].uses && write_is_fixed(w, id);
    }
    write_loads(w, wanted);
}

static void write_passes(Writer *w, void (*open)(Writer *w))
{
    uint32_t passes = reduce_passes(w);
    for (uint32_t pass = 0; pass <= passes; pass++)
        reduce_pass(w, pass, pass == passes, open);
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        if (!reduce_is_full(w, i))
            write_store(w, &w->g->outputs.at[i], write_output_name(w, i));
    w->depth--;
}

static void write_body(Writer *w)
{
    open_kept(w);
    write_scalar_leaves(w);
    load_fixed(w);
    write_passes(w, open_pass);
}

/* ---- large tensors, read once ---- */

/* Pieces of at most LONG_WIDE, as many more as fill the last round of the cores. */
static void write_long(Job *job)
{
    Part *part = job_part(job, "_long", true);
    Writer *w = part->w;
    const char *kept = kept_count(job, w->last);
    part->when = str_format(job->arena, "%s * ceildiv(n%u, %d) >= %d * chip.cores", kept, w->last,
                            WIDE, MANY);
    part->setup = str_format(job->arena,
                             "pieces = ceildiv(align_up(%s * ceildiv(n%u, %d), chip.cores), %s)\n"
                             "broad = min(%d, align_up(ceildiv(n%u, pieces), 128))",
                             kept, w->last, LONG_WIDE, kept, LONG_WIDE, w->last);
    take_rows(job, part, fitting_rows(job, LONG_ROWS), LONG_WIDE, "broad");
    write_body(w);
}

/* ---- few rows that are needed twice ---- */

static bool is_whole(const Writer *w, PrimId id)
{
    return w->g->prims.at[id].uses && write_kind(w, id) == KIND_TILE;
}

/* Bytes of an element of all operands that vary along both axes. */
static uint32_t whole_bytes(const Writer *w)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        PrimId id = w->g->leaves.at[i].prim;
        bytes += is_whole(w, id) ? (uint32_t)dtype_bytes(w->g->prims.at[id].dtype) : 0;
    }
    return bytes;
}

static void load_whole(Writer *w)
{
    w->index[w->row_axis] = ":";
    write_line(w, "with copyin():");
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        PrimId id = w->g->leaves.at[i].prim;
        if (!is_whole(w, id))
            continue;
        const Prim *p = &w->g->prims.at[id];
        buf_printf(&w->buffers, "    all%u = ub(%s, %lld, %lld, depth=2)\n", id,
                   dtype_name(p->dtype), (long long)w->whole, (long long)w->wide);
        write_line(w, "    load(all%u[:n%u, :t.size], %s)", id, w->row_axis,
                   write_access(w, write_leaf_name(w, id), p->axes));
    }
}

/* Rows of what is on chip stand for the operands. */
static void open_whole(Writer *w)
{
    open_pass(w);
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        PrimId id = w->g->leaves.at[i].prim;
        const Prim *p = &w->g->prims.at[id];
        if (!is_whole(w, id) || !w->wanted[id])
            continue;
        const char *rows = str_format(w->arena, "all%u[j, :t.size]", id);
        w->name[id] = rows;
        if (dtype_is_int(p->dtype) || p->dtype == DT_F32)
            continue;
        w->name[id] = write_view(w, KIND_TILE, write_buffer(w, 'f', KIND_TILE, DT_F32, 1, id));
        write_line(w, "with compute():");
        write_line(w, "    %s = cast(%s, f32)", w->name[id], rows);
    }
}

static bool write_whole(Job *job, int64_t rows, int64_t block)
{
    uint32_t mark = job->parts.len;
    Part *part = job_part(job, str_format(job->arena, "_%lld", (long long)rows), true);
    Writer *w = part->w;
    part->when = str_format(job->arena, "n%u <= %lld", w->last - 1, (long long)rows);
    take_rows(job, part, block, 0, str_format(job->arena, "wide%lld", (long long)rows));
    uint32_t bytes = whole_bytes(w);
    w->wide = WHOLE * 4 / (bytes ? bytes : 1) / rows / 128 * 128;
    w->whole = rows;
    part->setup = str_format(
        job->arena,
        "wide%lld = min(%lld, align_up(ceildiv(n%u, ceildiv(%d * chip.cores, %s)), 128))",
        (long long)rows, (long long)w->wide, w->last, FEW, kept_count(job, w->last));
    open_kept(w);
    write_scalar_leaves(w);
    load_fixed(w);
    load_whole(w);
    write_passes(w, open_whole);
    int64_t room = (int64_t)job->chip->ub - LEAST_SPARE - 2 * bytes * rows * w->wide;
    int64_t each = w->bytes + SCRATCH_STEP + job->scratch[true];
    int64_t needs = w->wide * (block * each + w->column_bytes);
    bool fits = w->wide && needs <= room;
    if (!fits)
        job_drop(job, mark);
    return fits;
}

/* Takes as many rows a step as fit beside the other buffers. */
static void whole_part(Job *job, int64_t rows)
{
    for (int64_t block = WHOLE_ROWS; block > 1 && !write_whole(job, rows, block); block /= 2)
        ;
}

static void write_middle(Job *job)
{
    Part *part = job_part(job, "_kernel", true);
    bool rows = has_rows(part->w), again = reduce_passes(part->w) > 0;
    job_drop(job, 0);
    if (rows && again && job->s->reduced == 1) {
        whole_part(job, WHOLE / 1024);
        whole_part(job, WHOLE / 256);
    } else if (rows && !again) {
        write_long(job);
    }
    part = job_part(job, "_kernel", true);
    if (rows) {
        part->setup = width_rule(job, part->w->last);
        take_rows(job, part, fitting_rows(job, ROWS), WIDE, "wide");
    }
    write_body(part->w);
}

const Strategy strategy_middle = {
    "middle", takes, write_middle,
    "Each core takes tiles of the contiguous axis and walks the reduced axes over them, so that "
    "every load is contiguous and nothing is transposed."};
