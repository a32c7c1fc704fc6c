/* A scheduled nest as a Craft program: sizes, the host function, one kernel. In: a graph. Out: a plan. */
#include "gen/plan/build/build.h"

#include "gen/plan/build/build_int.h"
#include "gen/plan/clock.h"
#include "gen/plan/fit.h"
#include <string.h>

enum { SHRINKS = 10, LEAST_TILE = 64, ROW_GAP = 1 << 28, F32_COUNTS = 1 << 24 };

/* One kernel: all bands, one after the other. */
typedef struct Variant {
    Schedule schedule;
    const char *suffix;
    const char *when; /* the host's condition; NULL: always */
} Variant;

typedef VEC(Variant) Variants;

typedef struct Program {
    Arena *arena;
    Nest *nest;
    Layout layout;
    const NpuChip *chip;
    const char *name;
    Variants variants;
    bool bounded; /* what is whole has no more elements than its tile: there is no other kernel */
    bool single, bare; /* one slot for each copy in; for each copy out */
    int64_t parts;     /* pieces of work for each core, about */
    int64_t each;      /* elements that are worth a core; 0: all cores always */
    bool fixed;        /* one schedule: what is whole bounds the sizes; no comments */
    const char *failed;
} Program;

static uint64_t bit(uint32_t axis) { return axis ? UINT64_C(1) << axis : 0; }

/* ---- host ---- */

/* "n1 * n2 * ceildiv(n3, block0)": how many pieces of work a band deals out; without `tiles` the axes
 * that are not tiled alone. */
static const char *band_items(const Program *p, const Band *band, uint32_t number, bool tiles)
{
    Buf out = {0};
    if (band->split || !band->kept)
        buf_puts(&out, tiles ? "1" : "");
    for (uint32_t a = 1; a < p->nest->axes.len && !band->split; a++) {
        if (!(band->kept & bit(a)))
            continue;
        if (!tiles && band_is_tiled(band, a))
            continue;
        buf_puts(&out, out.len ? " * " : "");
        if (tiles && a == band->rows.axis)
            buf_printf(&out, "ceildiv(%s, block%u)", p->layout.size[a], number);
        else if (tiles && a == band->lanes.axis)
            buf_printf(&out, "ceildiv(%s, piece%u)", p->layout.size[a], number);
        else
            buf_puts(&out, p->layout.size[a]);
    }
    char *text = buf_take(&out, p->arena);
    buf_free(&out);
    return text;
}

/* How large the pieces of a band are: as large as a tile, but several for each core. */
static void put_pieces(const Program *p, const Variant *v, int depth, Buf *out)
{
    for (uint32_t i = 0; i < v->schedule.bands.len; i++) {
        const Band *band = &v->schedule.bands.at[i];
        if (band->split)
            continue;
        const char *others = band_items(p, band, i, false), *times = *others ? " * " : "";
        bool rows = band->kept & bit(band->rows.axis), lanes = band->kept & bit(band->lanes.axis);
        if (lanes) {
            buf_fill(out, ' ', (size_t)depth * 4);
            buf_printf(out,
                       "piece%u = min(%lld, align_up(ceildiv(%s%s%s%s%s, cores * parts), 64))\n", i,
                       (long long)band->lanes.tile, p->layout.size[band->lanes.axis], times, others,
                       rows ? " * " : "", rows ? p->layout.size[band->rows.axis] : "");
        }
        if (rows) {
            buf_fill(out, ' ', (size_t)depth * 4);
            buf_printf(out, "block%u = ", i);
            if (!band->chunked)
                buf_printf(out, "min(%lld, ", (long long)band->rows.tile);
            buf_printf(out, "ceildiv(%s%s%s", p->layout.size[band->rows.axis], times, others);
            if (lanes)
                buf_printf(out, " * ceildiv(%s, piece%u)", p->layout.size[band->lanes.axis], i);
            buf_printf(out, ", cores * parts)%s\n", band->chunked ? "" : ")");
        }
    }
}

/* Rows of a copy lie less than 4 GiB apart: the product of the sizes behind the rows is bounded. */
static void put_row_bound(const Program *p, const Band *band, uint32_t tensor, const Affine *index,
                          Buf *out)
{
    const LayoutTensor *t = &p->layout.tensors[tensor];
    Buf product = {0}, line = {0};
    bool rows = false, varies = false;
    LayoutIndex at[LAYOUT_RANK];
    layout_index(p->nest, t, index, at);
    for (uint32_t i = 0; i < t->rank; i++) {
        uint32_t axis = t->dim[i].axis;
        if (rows) {
            buf_puts(&product, product.len ? " * " : "");
            if (axis && t->dim[i].stride != t->dim[i].unit)
                buf_printf(&product, "%lld * ", (long long)(t->dim[i].stride / t->dim[i].unit));
            if (axis)
                buf_puts(&product, p->layout.size[axis]);
            else
                buf_printf(&product, "%lld", (long long)t->dim[i].size);
            varies = varies || (axis && p->layout.free[axis]);
        }
        rows = rows || (at[i].axis && at[i].axis == band->rows.axis);
    }
    if (varies)
        buf_printf(&line, "    assert %.*s <= %d, \"rows are too far apart\"\n", (int)product.len,
                   product.at, ROW_GAP);
    if (line.len && str_find(buf_view(out), buf_view(&line)) < 0)
        buf_str(out, buf_view(&line));
    buf_free(&product);
    buf_free(&line);
}

static void put_row_bounds(const Program *p, Buf *out)
{
    for (uint32_t v = 0; v < p->variants.len; v++)
        for (uint32_t i = 0; i < p->variants.at[v].schedule.bands.len; i++) {
            const Band *band = &p->variants.at[v].schedule.bands.at[i];
            bool *wanted = schedule_values(p->nest, band);
            for (uint32_t k = 1; k < p->nest->values.len; k++)
                if (wanted[k] && p->nest->values.at[k].op == NEST_LOAD)
                    put_row_bound(p, band, p->nest->values.at[k].tensor,
                                  &p->nest->values.at[k].index, out);
            for (uint32_t k = 0; k < band->stores.len; k++) {
                const NestStore *s = &p->nest->stores.at[band->stores.at[k]];
                if (!s->split)
                    put_row_bound(p, band, s->tensor, &s->index, out);
            }
        }
}

static bool has_workspace(const Nest *nest)
{
    return nest->tensors.at[nest->tensors.len - 1].role == NEST_WORKSPACE;
}

/* Inputs and results, as the host function has them. */
static void put_tensors(const Program *p, Buf *out)
{
    for (uint32_t i = 0; i < p->nest->tensors.len; i++) {
        const NestTensor *t = &p->nest->tensors.at[i];
        if (t->role != NEST_WORKSPACE)
            buf_printf(out, "%s%s: %s[%s, %s]", i ? ", " : "", nest_tensor_name(p->nest, i),
                       t->role == NEST_OUTPUT ? "out" : "gm", dtype_name(t->dtype),
                       layout_shape(p->nest, &p->layout, i));
    }
}

/* A row of a workspace is at least 32 bytes. */
static const char *workspace_row(const Program *p, uint32_t tensor)
{
    return p->nest->tensors.at[tensor].count == 1 ? "8" : layout_shape(p->nest, &p->layout, tensor);
}

static void put_workspaces(const Program *p, Buf *out)
{
    for (uint32_t i = 0; i < p->nest->tensors.len; i++)
        if (p->nest->tensors.at[i].role == NEST_WORKSPACE)
            buf_printf(out, "    %s = workspace(f32, cores, %s)\n", nest_tensor_name(p->nest, i),
                       workspace_row(p, i));
}

/* ... and the kernel's own parameters for them. */
static void put_workspace_parameters(const Program *p, Buf *out)
{
    if (has_workspace(p->nest))
        buf_puts(out, ", nc: i32");
    for (uint32_t i = 0; i < p->nest->tensors.len; i++)
        if (p->nest->tensors.at[i].role == NEST_WORKSPACE)
            buf_printf(out, ", %s: ws[f32, nc, %s]", nest_tensor_name(p->nest, i),
                       workspace_row(p, i));
}

/* The pieces' names, as parameters or arguments. */
static void put_scalars(const Variant *v, const char *type, Buf *out)
{
    for (uint32_t i = 0; i < v->schedule.bands.len; i++) {
        const Band *band = &v->schedule.bands.at[i];
        if (!band->split && band->kept & bit(band->lanes.axis))
            buf_printf(out, ", piece%u%s", i, type);
        if (!band->split && band->kept & bit(band->rows.axis))
            buf_printf(out, ", block%u%s", i, type);
    }
}

static void put_launch(const Program *p, const Variant *v, int depth, Buf *out)
{
    put_pieces(p, v, depth, out);
    buf_fill(out, ' ', (size_t)depth * 4);
    buf_printf(out, "%s%s[", p->name, v->suffix);
    if (has_workspace(p->nest)) {
        buf_puts(out, "cores");
    } else {
        buf_puts(out, "min(cores, ");
        for (uint32_t i = 0; i < v->schedule.bands.len; i++)
            buf_printf(out, "%s%s", i ? " + " : "",
                       band_items(p, &v->schedule.bands.at[i], i, true));
        buf_char(out, ')');
    }
    buf_puts(out, "](");
    for (uint32_t i = 0; i < p->nest->tensors.len; i++)
        if (p->nest->tensors.at[i].role != NEST_WORKSPACE)
            buf_printf(out, "%s%s", i ? ", " : "", nest_tensor_name(p->nest, i));
    put_scalars(v, "", out);
    if (has_workspace(p->nest))
        buf_puts(out, ", cores");
    for (uint32_t i = 0; i < p->nest->tensors.len; i++)
        if (p->nest->tensors.at[i].role == NEST_WORKSPACE)
            buf_printf(out, ", %s", nest_tensor_name(p->nest, i));
    buf_puts(out, ")\n");
}

/* The most elements of an axis that the only schedule holds whole. */
static int64_t most_whole(const Program *p, uint32_t axis)
{
    const Schedule *s = &p->variants.at[0].schedule;
    int64_t most = PLAN_DIM_MOST;
    for (uint32_t i = 0; i < s->bands.len && p->bounded; i++) {
        const BandTile *tiles[] = {&s->bands.at[i].rows, &s->bands.at[i].lanes};
        for (int k = 0; k < 2; k++)
            if (tiles[k]->axis && tiles[k]->whole && p->layout.same[tiles[k]->axis] == axis &&
                tiles[k]->tile < most)
                most = tiles[k]->tile;
    }
    return most;
}

/* The most elements an axis may have: places along it are counted in f32 where they are numbers. */
static int64_t most_of(const Program *p, uint32_t axis)
{
    int64_t whole = most_whole(p, axis);
    for (uint32_t i = 1; i < p->nest->values.len; i++)
        for (uint32_t a = 1; a < p->nest->axes.len; a++)
            if (p->nest->values.at[i].op == NEST_PLACE && p->nest->values.at[i].uses &&
                p->nest->values.at[i].axes & bit(a) && p->layout.same[a] == axis)
                return whole < F32_COUNTS ? whole : F32_COUNTS;
    return whole;
}

static double band_elements(const Program *p, const Band *band)
{
    double n = 1;
    for (uint32_t a = 1; a < p->nest->axes.len; a++)
        n *= (band->kept | band->reduced) & bit(a) ? (double)p->nest->axes.at[a].size : 1;
    return n;
}

/* The band that walks the most elements. */
static const Band *largest_band(const Program *p)
{
    const Schedule *s = &p->variants.at[0].schedule;
    const Band *most = &s->bands.at[0];
    for (uint32_t i = 1; i < s->bands.len; i++)
        if (band_elements(p, &s->bands.at[i]) > band_elements(p, most))
            most = &s->bands.at[i];
    return most;
}

static void put_choices(const Program *p, Buf *out)
{
    static const int64_t parts[] = {4, 2, 1, 8};
    buf_printf(out, "    parts = choose(\"parts\", [%lld", (long long)p->parts);
    for (int i = 0; i < 4; i++)
        if (parts[i] != p->parts)
            buf_printf(out, ", %lld", (long long)parts[i]);
    buf_puts(out, "])\n    cores = ");
    if (p->each) {
        const Band *band = largest_band(p);
        const char *times = "min(chip.cores, ceildiv(";
        for (uint32_t a = 1; a < p->nest->axes.len; a++)
            if ((band->kept | band->reduced) & bit(a) && p->nest->axes.at[a].size > 1) {
                buf_printf(out, "%s%s", times, p->layout.size[a]);
                times = " * ";
            }
        buf_printf(out, ", %lld))\n", (long long)p->each);
    } else {
        buf_puts(out, "chip.cores\n");
    }
}

static void put_host(const Program *p, Buf *out)
{
    buf_puts(out, "craft = 1\n\n");
    for (uint32_t a = 1; a < p->nest->axes.len; a++)
        if (p->layout.free[a] && p->layout.same[a] == a && p->nest->axes.at[a].size > 1)
            buf_printf(out, "n%u = dim(1, %lld)\n", a, (long long)most_of(p, a));
    buf_printf(out, "\n@host\ndef %s(", p->name);
    put_tensors(p, out);
    buf_puts(out, "):\n");
    put_row_bounds(p, out);
    put_choices(p, out);
    put_workspaces(p, out);
    for (uint32_t i = 0; i < p->variants.len; i++) {
        const Variant *v = &p->variants.at[i];
        bool one = p->variants.len == 1;
        if (!one && v->when)
            buf_printf(out, "    %s %s:\n", i ? "elif" : "if", v->when);
        else if (!one)
            buf_puts(out, "    else:\n");
        put_launch(p, v, one ? 1 : 2, out);
    }
}

/* ---- kernels ---- */

static void put_band(Program *p, const Band *band, uint32_t number, BuildPool *pool, uint32_t *next,
                     Buf *body)
{
    Build b = {.arena = p->arena,
               .nest = p->nest,
               .layout = &p->layout,
               .chip = p->chip,
               .band = band,
               .wanted = schedule_values(p->nest, band),
               .body = body,
               .depth = 1,
               .pool = pool,
               .next = next,
               .number = number,
               .load_depth = p->single ? 1 : 2,
               .store_depth = p->bare ? 1 : 2};
    b.name = arena_array(p->arena, const char *, p->nest->values.len);
    b.left = arena_array(p->arena, uint32_t, p->nest->values.len);
    b.level = arena_array(p->arena, uint32_t, p->nest->values.len);
    b.picked_from = arena_array(p->arena, const char *, p->nest->values.len);
    build_band(&b);
    p->failed = b.failed ? b.failed : p->failed;
}

static void put_kernel(Program *p, const Variant *v, Buf *out)
{
    BuildPool pool = {0};
    Buf body = {0};
    uint32_t next = 0;
    buf_printf(out, "\n@kernel\ndef %s%s(", p->name, v->suffix);
    put_tensors(p, out);
    put_scalars(v, ": i32", out);
    put_workspace_parameters(p, out);
    buf_puts(out, "):\n");
    for (uint32_t i = 0; i < v->schedule.bands.len; i++) {
        if (i && v->schedule.bands.at[i].phase != v->schedule.bands.at[i - 1].phase)
            buf_puts(&body, "    sync_all()\n");
        put_band(p, &v->schedule.bands.at[i], i, &pool, &next, &body);
    }
    build_declare(&pool, out);
    buf_str(out, buf_view(&body));
    buf_free(&body);
}

static void put_reasons(const Program *p, Buf *out)
{
    Buf text = {0};
    buf_printf(out, "# Planned by acraft for %s from loop nests.\n", p->chip->name);
    for (uint32_t i = 0; i < p->variants.len; i++) {
        schedule_print(p->nest, &p->variants.at[i].schedule, &text);
        Str rest = buf_view(&text), line;
        while (str_next(&rest, '\n', &line))
            if (line.len)
                buf_printf(out, "# %s%s%.*s\n",
                           p->variants.at[i].when ? p->variants.at[i].when : "",
                           p->variants.at[i].when ? ": " : "", STR_ARG(line));
        text.len = 0;
    }
    buf_free(&text);
}

static Str put_program(Program *p)
{
    Buf out = {0};
    p->failed = NULL;
    if (!p->fixed)
        put_reasons(p, &out);
    put_host(p, &out);
    for (uint32_t i = 0; i < p->variants.len; i++)
        put_kernel(p, &p->variants.at[i], &out);
    Str text = str_from(buf_take(&out, p->arena));
    buf_free(&out);
    return text;
}

/* ---- variants ---- */

/* "n3 <= 4096": the sizes for which what is whole is whole; NULL: for all. */
static const char *whole_sizes(const Program *p, const Schedule *s)
{
    Buf out = {0};
    for (uint32_t i = 0; i < s->bands.len; i++) {
        const BandTile *tiles[] = {&s->bands.at[i].rows, &s->bands.at[i].lanes};
        for (int k = 0; k < 2; k++)
            if (tiles[k]->axis && tiles[k]->whole && p->layout.free[tiles[k]->axis])
                buf_printf(&out, "%s%s <= %lld", out.len ? " and " : "",
                           p->layout.size[tiles[k]->axis], (long long)tiles[k]->tile);
    }
    const char *text = out.len ? buf_take(&out, p->arena) : NULL;
    buf_free(&out);
    return text;
}

/* The same roles with nothing whole that may be longer. */
static Schedule walked_schedule(Program *p, const Schedule *of)
{
    Schedule s = {0};
    for (uint32_t i = 0; i < of->bands.len; i++) {
        Band band = of->bands.at[i];
        bool lanes = band.lanes.whole && p->layout.free[band.lanes.axis];
        bool rows = band.rows.whole && p->layout.free[band.rows.axis];
        band.lanes.whole = band.lanes.whole && !lanes;
        band.rows.whole = band.rows.whole && !rows;
        if (lanes && band.lanes.tile * band.rows.tile > 4096) {
            band.lanes.tile = 2048;
            band.rows.tile = band.rows.axis ? 4 : 1;
        }
        vec_push(p->arena, &s.bands, band);
    }
    return s;
}

static bool is_legal(const Program *p, const Schedule *schedule)
{
    bool legal = true;
    for (uint32_t i = 0; i < schedule->bands.len; i++)
        legal = legal && schedule_nests(p->nest, &schedule->bands.at[i]);
    return legal;
}

static void add_variants(Program *p, const Schedule *schedule)
{
    const char *when = whole_sizes(p, schedule);
    Schedule walked = walked_schedule(p, schedule);
    bool walks = when && !p->fixed && is_legal(p, &walked);
    p->bounded = p->fixed || !walks;
    p->variants.len = 0;
    vec_push(p->arena, &p->variants,
             ((Variant){*schedule, walks ? "_whole" : "_kernel", walks ? when : NULL}));
    if (walks)
        vec_push(p->arena, &p->variants, ((Variant){walked, "_walked", NULL}));
}

/* Smaller tiles: fewer rows, then fewer lanes. False: nothing is left to give. */
static bool shrink(Schedule *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->bands.len; i++) {
        Band *band = &s->bands.at[i];
        if (band->rows.axis && !band->rows.whole && band->rows.tile > 1) {
            band->rows.tile = band->rows.tile * 3 / 4;
            any = true;
        } else if (band->lanes.tile > LEAST_TILE && !band->lanes.whole) {
            band->lanes.tile = band->lanes.tile * 3 / 4 / 64 * 64;
            band->lanes.tile = band->lanes.tile ? band->lanes.tile : LEAST_TILE;
            any = true;
        } else if (band->lanes.whole || band->rows.whole) {
            band->lanes.whole = band->rows.whole = false;
            any = true;
        }
    }
    return any;
}

static bool refuse_nest(Diag *diag, const char *why)
{
    diag_error(diag, "G002", (Span){0}, "the planner cannot plan this task in one kernel: %s", why);
    return false;
}

static void add_operands(const Program *p, Plan *plan)
{
    for (uint32_t i = 0; i < p->nest->tensors.len; i++) {
        const NestTensor *t = &p->nest->tensors.at[i];
        const LayoutTensor *l = &p->layout.tensors[i];
        if (t->role == NEST_WORKSPACE)
            continue;
        PlanOperand o = {.value = t->value,
                         .output = t->role == NEST_OUTPUT,
                         .dtype = t->dtype,
                         .name = nest_tensor_name(p->nest, i),
                         .shape = {.rank = (int)l->rank}};
        for (uint32_t k = 0; k < l->rank; k++)
            o.shape.dim[k] = l->dim[k].size;
        vec_push(p->arena, &plan->operands, o);
    }
}

/* Programs with smaller and smaller tiles until one fits on chip. */
static bool fit_variants(Program *p, Schedule *schedule, Str *text, Diag *diag)
{
    for (int i = 0; i < SHRINKS; i++) {
        add_variants(p, schedule);
        *text = put_program(p);
        if (p->failed)
            return refuse_nest(diag, p->failed);
        Fit fit = fit_program(*text, p->chip);
        if (!fit.exceeds && !fit.crowded)
            return true;
        if (fit.crowded && p->bare)
            return refuse_nest(diag, "it reads or writes more than 8 tensors at once");
        p->bare = fit.crowded && p->single;
        p->single = p->single || fit.crowded;
        if (fit.exceeds && !(shrink(schedule) && is_legal(p, schedule)))
            break;
    }
    return refuse_nest(diag, "what it holds at once does not fit on chip");
}

/* ---- search ---- */

enum { MOST_ROLES = 4 };

/* A program and its predicted time. */
typedef struct Found {
    Program program;
    Schedule schedule;
    Plan plan;
    double us;       /* negative: not timed */
    uint32_t budget; /* programs that may still be timed */
} Found;

static Schedule copy_schedule(Arena *arena, const Schedule *of)
{
    Schedule s = {0};
    for (uint32_t i = 0; i < of->bands.len; i++)
        vec_push(arena, &s.bands, of->bands.at[i]);
    return s;
}

/* Fits the schedule of `f` on chip and writes its program. */
static bool build_found(Found *f, Diag *diag)
{
    Program *p = &f->program;
    Str text;
    p->single = p->bare = false;
    p->variants = (Variants){0};
    if (!fit_variants(p, &f->schedule, &text, diag))
        return false;
    f->plan = (Plan){.strategy = "nest", .name = p->name, .craft = text};
    add_operands(p, &f->plan);
    return true;
}

/* The first roles that can be built: with a dimension for every stride, or with small steps and what is inside
 * them as one. */
static bool build_first(Found *f, const Band roles[][MOST_ROLES], const uint32_t *n, Diag *diag)
{
    Program *p = &f->program;
    for (uint32_t k = 0; k < 2 * MOST_ROLES; k++) {
        bool inside = k % 2, other = false;
        Diag quiet = diag_make(p->arena, diag->file, diag->source);
        for (uint32_t b = 0; b < f->schedule.bands.len; b++) {
            other = other || k / 2 < n[b];
            f->schedule.bands.at[b] = roles[b][k / 2 < n[b] ? k / 2 : n[b] - 1];
        }
        if (other && layout_make(p->nest, inside, &p->layout, &quiet) && build_found(f, &quiet))
            return true;
        if (k == 0)
            *diag = quiet;
    }
    return false;
}

/* Builds and times a change of the best program so far; it is kept where it is faster. */
static void try_change(Found *best, Found *change)
{
    Diag quiet = diag_make(best->program.arena, "plan", STR(""));
    if (best->us < 0 || !best->budget || !build_found(change, &quiet))
        return;
    change->budget = --best->budget;
    if (clock_plan(&change->plan, change->program.chip, &change->us) &&
        change->us < best->us * CLOCK_GAIN)
        *best = *change;
}

static Found change_of(const Found *best)
{
    Found f = *best;
    f.schedule = copy_schedule(best->program.arena, &best->schedule);
    return f;
}

/* Other roles for one band after the other, then how much a core gets at once, then fewer cores. */
static void search_programs(Found *best, const Band roles[][MOST_ROLES], const uint32_t *n)
{
    static const int64_t parts[] = {2, 1, 8}, shares[] = {24, 12, 6};
    const Program *p = &best->program;
    best->budget = clock_budget(p->nest->graph) - 1;
    uint32_t half = best->budget / 2;
    if (!best->budget || !clock_plan(&best->plan, p->chip, &best->us) ||
        best->us < CLOCK_NEAR * clock_least(p->nest->graph, p->chip))
        return;
    for (uint32_t b = 0; b < best->schedule.bands.len; b++)
        for (uint32_t k = 1; k < n[b] && best->budget > half; k++) {
            Found f = change_of(best);
            f.schedule.bands.at[b] = roles[b][k];
            try_change(best, &f);
        }
    for (uint32_t b = 0; b < best->schedule.bands.len && best->budget > half; b++) {
        Found f = change_of(best);
        f.schedule.bands.at[b].chunked = false;
        if (best->schedule.bands.at[b].chunked)
            try_change(best, &f);
    }
    for (int i = 0; i < 3; i++) {
        Found f = change_of(best);
        f.program.parts = parts[i];
        try_change(best, &f);
    }
    for (int i = 0; i < 3; i++) {
        Found f = change_of(best);
        double all = band_elements(&best->program, largest_band(&best->program));
        f.program.each = (int64_t)(all / (double)shares[i]) + 1;
        try_change(best, &f);
    }
}

static void limit_tiles(Schedule *schedule, int64_t tile_limit)
{
    for (uint32_t i = 0; i < schedule->bands.len; i++) {
        Band *band = &schedule->bands.at[i];
        if (band->lanes.tile > tile_limit && !band->lanes.whole)
            band->lanes.tile = tile_limit;
        if (band->rows.axis && !band->rows.whole)
            band->rows.tile = 1;
    }
}

enum { MOST_SPLIT = 8, MOST_PHASES = 6, LARGE_BAND = 1 << 14 /* elements */ };

/* How many bands fill what they get of the memory on chip. */
static uint32_t large_bands(const Program *p, const Schedule *schedule)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < schedule->bands.len; i++)
        n += band_elements(p, &schedule->bands.at[i]) > LARGE_BAND;
    return n ? n : 1;
}

/* Bands and the best roles of each. Where one has none, reductions that it needs are computed by all cores
 * together, in a phase of their own before it. */
static bool schedule_nest(Program *p, Schedule *schedule, Band roles[][MOST_ROLES], uint32_t *n,
                          Diag *diag)
{
    Diag first = diag_make(p->arena, diag->file, diag->source);
    for (int turn = 0; turn < 2 * MOST_PHASES; turn++) {
        Diag quiet = diag_make(p->arena, diag->file, diag->source);
        Diag *said = turn ? &quiet : &first;
        NestId reductions[MOST_SPLIT];
        uint32_t split[MOST_SPLIT];
        const Band *failed = NULL;
        bool together = turn % 2 == 0, legal = schedule_bands(p->nest, together, schedule, said);
        if (!legal && said->items.len == 0)
            break;
        for (uint32_t i = 0; i < schedule->bands.len && !failed; i++) {
            const char *why;
            schedule->bands.at[i].beside = has_workspace(p->nest) ? large_bands(p, schedule) : 1;
            n[i] = schedule_roles(p->nest, p->chip, &schedule->bands.at[i], roles[i], MOST_ROLES,
                                  &why);
            if (!n[i])
                failed = &schedule->bands.at[i];
            else
                schedule->bands.at[i] = roles[i][0];
            if (!n[i] && legal)
                refuse_nest(said, why);
        }
        if (legal && !failed)
            return true;
        if (together)
            continue;
        uint32_t more = failed ? schedule_split(p->nest, p->chip, failed, MOST_SPLIT, reductions,
                                                split)
                               : 0;
        if (!more)
            break;
        p->nest = nest_split(p->nest, more, reductions, split);
    }
    *diag = first;
    return false;
}

bool plan_nest(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag)
{
    Found best = {.program = {.arena = arena, .chip = chip, .name = name, .parts = 4}, .us = -1};
    Program *p = &best.program;
    Band roles[SCHEDULE_BANDS][MOST_ROLES];
    uint32_t n[SCHEDULE_BANDS];
    p->nest = nest_derive(arena, graph, diag);
    if (!p->nest)
        return false;
    nest_merge(p->nest);
    if (!schedule_nest(p, &best.schedule, roles, n, diag) || !build_first(&best, roles, n, diag))
        return false;
    search_programs(&best, roles, n);
    if (tile_limit) {
        limit_tiles(&best.schedule, tile_limit);
        if (!build_found(&best, diag))
            return false;
    }
    *plan = best.plan;
    return true;
}

bool plan_nest_at(Arena *arena, const Graph *graph, const NpuChip *chip, const PlanPoint *point,
                  const char *name, PlanBuilt *built, Diag *diag)
{
    Found f = {.program = {.arena = arena, .chip = chip, .name = name, .parts = point->parts}};
    Program *p = &f.program;
    p->fixed = true;
    p->nest = nest_derive(arena, graph, diag);
    if (!p->nest)
        return false;
    nest_merge(p->nest);
    if (!schedule_bands(p->nest, true, &f.schedule, diag))
        return false;
    bool other = false;
    for (uint32_t i = 0; i < f.schedule.bands.len; i++) {
        Band roles[PLAN_POINT_ROLES];
        const char *why;
        uint32_t n = schedule_roles(p->nest, chip, &f.schedule.bands.at[i], roles, PLAN_POINT_ROLES,
                                    &why);
        if (!n)
            return refuse_nest(diag, why);
        other = other || point->roles < n;
        f.schedule.bands.at[i] = roles[point->roles < n ? point->roles : n - 1];
    }
    if (!other)
        return refuse_nest(diag, "it has no further roles");
    for (uint32_t i = 0; i < point->smaller; i++)
        shrink(&f.schedule);
    Schedule wanted = copy_schedule(arena, &f.schedule);
    for (int inside = 0; inside < 2; inside++) {
        Diag quiet = diag_make(arena, diag->file, diag->source);
        f.schedule = copy_schedule(arena, &wanted);
        if (layout_make(p->nest, inside, &p->layout, &quiet) && build_found(&f, &quiet)) {
            *built = (PlanBuilt){p->nest, f.schedule, f.plan};
            return true;
        }
        if (!inside)
            *diag = quiet;
    }
    return false;
}
