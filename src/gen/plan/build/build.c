/* A scheduled nest as a Craft program: sizes, the host function, its kernels. In: a nest and a schedule. Out: a
 * plan. */
#include "gen/plan/build/build.h"

#include "gen/plan/build/build_int.h"
#include "gen/plan/fit.h"
#include <string.h>

enum { SHRINKS = 12, LEAST_TILE = 64, F32_COUNTS = 1 << 24, SMALL_SHARE = 32 };
enum { ONLY_LONGER = 1 << 1 }; /* of Fit.exceeds: the second kernel alone */

/* One kernel: all bands, one after the other. */
typedef struct Variant {
    Bands bands;
    const char *suffix;
    const char *when; /* the host's condition; NULL: always */
    uint32_t first;   /* number of its first band: sizes of pieces have names of their own */
} Variant;

typedef VEC(Variant) Variants;

typedef struct Program {
    Arena *arena;
    Nest *nest;
    Layout layout;
    const NpuChip *chip;
    const char *name;
    Variants variants;
    const Schedule *schedule;
    bool comments;
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
        if (!band_deals(band, a))
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
    if (!out.len && tiles)
        buf_char(&out, '1');
    char *text = buf_take(&out, p->arena);
    buf_free(&out);
    return text;
}

/* "max(parts, ceildiv(n1, cores * 3648))": pieces for each core, as many as tiles of that size make, so that all
 * cores get as much. */
static const char *even_parts(const Program *p, const char *elements, int64_t tile)
{
    return str_format(p->arena, "cores * max(parts, ceildiv(%s, cores * %lld))", elements,
                      (long long)tile);
}

/* How large the pieces of a band are: as large as a tile, but several for each core. */
static void put_pieces(const Program *p, const Variant *v, int depth, Buf *out)
{
    for (uint32_t i = 0; i < v->bands.len; i++) {
        const Band *band = &v->bands.at[i];
        uint32_t number = v->first + i;
        if (band->split)
            continue;
        const char *others = band_items(p, band, number, false), *times = *others ? " * " : "";
        bool rows = band_deals(band, band->rows.axis), lanes = band_deals(band, band->lanes.axis);
        if (lanes) {
            const char *all = str_format(p->arena, "%s%s%s%s%s", p->layout.size[band->lanes.axis],
                                         times, others, rows ? " * " : "",
                                         rows ? p->layout.size[band->rows.axis] : "");
            bool even = !rows && !*others;
            buf_fill(out, ' ', (size_t)depth * 4);
            buf_printf(out, "piece%u = min(%lld, align_up(ceildiv(%s, %s), 64))\n", number,
                       (long long)band->lanes.tile, all,
                       even ? even_parts(p, all, band->lanes.tile) : "cores * parts");
        }
        if (rows) {
            buf_fill(out, ' ', (size_t)depth * 4);
            buf_printf(out, "block%u = ", number);
            const char *all = str_format(p->arena, "%s%s%s", p->layout.size[band->rows.axis], times,
                                         others);
            if (lanes)
                all = str_format(p->arena, "%s * ceildiv(%s, piece%u)", all,
                                 p->layout.size[band->lanes.axis], number);
            if (band->chunked)
                buf_printf(out, "ceildiv(%s, cores * parts)\n", all);
            else
                buf_printf(out, "min(%lld, ceildiv(%s, cores * parts))\n",
                           (long long)band->rows.tile, all);
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
                   product.at, SCHEDULE_ROW_GAP);
    if (line.len && str_find(buf_view(out), buf_view(&line)) < 0)
        buf_str(out, buf_view(&line));
    buf_free(&product);
    buf_free(&line);
}

/* Rows of a workspace, one for each core, are copied many at once. */
static void put_workspace_bounds(const Program *p, Buf *out)
{
    for (uint32_t i = 0; i < p->nest->tensors.len; i++) {
        const LayoutTensor *t = &p->layout.tensors[i];
        Buf product = {0};
        bool varies = false;
        if (p->nest->tensors.at[i].role != NEST_WORKSPACE || t->rank < 2)
            continue;
        for (uint32_t d = 0; d < t->rank; d++) {
            uint32_t axis = t->dim[d].axis;
            buf_puts(&product, d ? " * " : "");
            if (axis)
                buf_puts(&product, p->layout.size[axis]);
            else
                buf_printf(&product, "%lld", (long long)t->dim[d].size);
            varies = varies || (axis && p->layout.free[axis]);
        }
        if (varies)
            buf_printf(out, "    assert %.*s <= %d, \"too many values for each core\"\n",
                       (int)product.len, product.at, SCHEDULE_ROW_GAP);
        buf_free(&product);
    }
}

static void put_row_bounds(const Program *p, Buf *out)
{
    for (uint32_t v = 0; v < p->variants.len; v++)
        for (uint32_t i = 0; i < p->variants.at[v].bands.len; i++) {
            const Band *band = &p->variants.at[v].bands.at[i];
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
    return nest->tensors.at[nest->tensors.len - 1].role >= NEST_WORKSPACE;
}

/* Inputs and results, as the host function has them. */
static void put_tensors(const Program *p, Buf *out)
{
    for (uint32_t i = 0; i < p->nest->tensors.len; i++) {
        const NestTensor *t = &p->nest->tensors.at[i];
        if (t->role < NEST_WORKSPACE)
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
        if (p->nest->tensors.at[i].role >= NEST_WORKSPACE)
            buf_printf(out, "    %s = workspace(f32, %s%s)\n", nest_tensor_name(p->nest, i),
                       p->nest->tensors.at[i].role == NEST_WORKSPACE ? "cores, " : "",
                       workspace_row(p, i));
}

/* ... and the kernel's own parameters for them. */
static void put_workspace_parameters(const Program *p, Buf *out)
{
    if (has_workspace(p->nest))
        buf_puts(out, ", nc: i32");
    for (uint32_t i = 0; i < p->nest->tensors.len; i++)
        if (p->nest->tensors.at[i].role >= NEST_WORKSPACE)
            buf_printf(out, ", %s: ws[f32, %s%s]", nest_tensor_name(p->nest, i),
                       p->nest->tensors.at[i].role == NEST_WORKSPACE ? "nc, " : "",
                       workspace_row(p, i));
}

/* The pieces' names, as parameters or arguments. */
static void put_scalars(const Variant *v, const char *type, Buf *out)
{
    for (uint32_t i = 0; i < v->bands.len; i++) {
        const Band *band = &v->bands.at[i];
        if (!band->split && band_deals(band, band->lanes.axis))
            buf_printf(out, ", piece%u%s", v->first + i, type);
        if (!band->split && band_deals(band, band->rows.axis))
            buf_printf(out, ", block%u%s", v->first + i, type);
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
        for (uint32_t i = 0; i < v->bands.len; i++)
            buf_printf(out, "%s%s", i ? " + " : "",
                       band_items(p, &v->bands.at[i], v->first + i, true));
        buf_char(out, ')');
    }
    buf_puts(out, "](");
    for (uint32_t i = 0; i < p->nest->tensors.len; i++)
        if (p->nest->tensors.at[i].role < NEST_WORKSPACE)
            buf_printf(out, "%s%s", i ? ", " : "", nest_tensor_name(p->nest, i));
    put_scalars(v, "", out);
    if (has_workspace(p->nest))
        buf_puts(out, ", cores");
    for (uint32_t i = 0; i < p->nest->tensors.len; i++)
        if (p->nest->tensors.at[i].role >= NEST_WORKSPACE)
            buf_printf(out, ", %s", nest_tensor_name(p->nest, i));
    buf_puts(out, ")\n");
}

/* Larger where an axis is the only one that varies, or the task's own is larger. */
static int64_t most_free(const Program *p, uint32_t axis)
{
    uint32_t n = 0;
    int64_t size = p->nest->axes.at[axis].size;
    for (uint32_t a = 1; a < p->nest->axes.len; a++)
        n += p->layout.free[a] && p->layout.same[a] == a && p->nest->axes.at[a].size > 1;
    return n == 1 || size > PLAN_DIM_MOST ? PLAN_DIM_HUGE : PLAN_DIM_MOST;
}

/* The most elements of an axis that the last kernel, which is for all sizes, holds whole. */
static int64_t most_whole(const Program *p, uint32_t axis)
{
    const Bands *bands = &vec_last(&p->variants).bands;
    int64_t most = most_free(p, axis);
    for (uint32_t i = 0; i < bands->len; i++) {
        const BandTile *tiles[] = {&bands->at[i].rows, &bands->at[i].lanes};
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

static void put_choices(const Program *p, Buf *out)
{
    static const int64_t parts[] = {4, 2, 1, 8};
    buf_printf(out, "    parts = choose(\"parts\", [%lld", (long long)p->schedule->parts);
    for (int i = 0; i < 4; i++)
        if (parts[i] != p->schedule->parts)
            buf_printf(out, ", %lld", (long long)parts[i]);
    buf_puts(out, "])\n    cores = ");
    if (p->schedule->each) {
        const Band *band = schedule_largest(p->nest, p->schedule);
        const char *times = "min(chip.cores, ceildiv(";
        for (uint32_t a = 1; a < p->nest->axes.len; a++)
            if ((band->kept | band->reduced) & bit(a) && p->nest->axes.at[a].size > 1) {
                buf_printf(out, "%s%s", times, p->layout.size[a]);
                times = " * ";
            }
        buf_printf(out, ", %lld))\n", (long long)p->schedule->each);
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
    put_workspace_bounds(p, out);
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

/* Beside bands of so much more work a band needs no second buffers; there are few of them in a kernel. */
static bool is_small(const Program *p, const Band *band)
{
    const Band *most = schedule_largest(p->nest, p->schedule);
    return schedule_elements(p->nest, band) * SMALL_SHARE < schedule_elements(p->nest, most);
}

static void put_band(Program *p, const Band *band, uint32_t number, BuildPool *pool, uint32_t *next,
                     Buf *body)
{
    bool small = is_small(p, band);
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
               .load_depth = small ? 1 : p->schedule->load_depth,
               .store_depth = small ? 1 : p->schedule->store_depth};
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
    for (uint32_t i = 0; i < v->bands.len; i++) {
        if (i && v->bands.at[i].phase != v->bands.at[i - 1].phase)
            buf_puts(&body, "    sync_all()\n");
        put_band(p, &v->bands.at[i], v->first + i, &pool, &next, &body);
    }
    build_declare(&pool, out);
    buf_str(out, buf_view(&body));
    buf_free(&body);
}

/* Limits and the schedule, as comments. */
static void put_reasons(const Program *p, Buf *out)
{
    Buf text = {0};
    const char *limit = nest_limit(p->nest);
    buf_printf(out, "# Planned by acraft for %s from loop nests.\n", p->chip->name);
    if (limit)
        buf_printf(out, "# %s\n", limit);
    schedule_print(p->nest, p->schedule, &text);
    Str rest = buf_view(&text), line;
    while (str_next(&rest, '\n', &line))
        if (line.len)
            buf_printf(out, "# %.*s\n", STR_ARG(line));
    buf_free(&text);
}

static Str put_program(Program *p)
{
    Buf out = {0};
    p->failed = NULL;
    if (p->comments)
        put_reasons(p, &out);
    put_host(p, &out);
    for (uint32_t i = 0; i < p->variants.len; i++)
        put_kernel(p, &p->variants.at[i], &out);
    Str text = str_from(buf_take(&out, p->arena));
    buf_free(&out);
    return text;
}

/* ---- kernels of a schedule ---- */

/* "n3 <= 4096": the sizes for which what is whole is whole; NULL: for all. */
static const char *whole_sizes(const Program *p, const Bands *bands)
{
    Buf out = {0};
    for (uint32_t i = 0; i < bands->len; i++) {
        const BandTile *tiles[] = {&bands->at[i].rows, &bands->at[i].lanes};
        for (int k = 0; k < 2; k++)
            if (tiles[k]->axis && tiles[k]->whole && p->layout.free[tiles[k]->axis])
                buf_printf(&out, "%s%s <= %lld", out.len ? " and " : "",
                           p->layout.size[tiles[k]->axis], (long long)tiles[k]->tile);
    }
    const char *text = out.len ? buf_take(&out, p->arena) : NULL;
    buf_free(&out);
    return text;
}

static int64_t tile_elements(const Band *band)
{
    return band->lanes.tile * (band->rows.axis ? band->rows.tile : 1);
}

/* The bands with the same roles, but tiled where an axis may be longer than a tile. */
static Bands longer_bands(Program *p, const Bands *of)
{
    Bands longer = {0};
    for (uint32_t i = 0; i < of->len; i++) {
        Band band = of->at[i];
        bool lanes = band.lanes.whole && p->layout.free[band.lanes.axis];
        bool rows = band.rows.whole && p->layout.free[band.rows.axis];
        band.lanes.whole = band.lanes.whole && !lanes;
        band.rows.whole = band.rows.whole && !rows;
        int64_t area = tile_elements(&band);
        if (lanes && area > 4096) { /* two to four rows, never more than were held */
            band.lanes.tile = 2048;
            band.rows.tile = !band.rows.axis ? 1 : area < 4 * 2048 ? area / 2048 : 4;
        }
        vec_push(p->arena, &longer, band);
    }
    return longer;
}

static bool is_legal(const Program *p, const Bands *bands)
{
    bool legal = true;
    for (uint32_t i = 0; i < bands->len; i++)
        legal = legal && schedule_nests(p->nest, &bands->at[i]);
    return legal;
}

static void add_variants(Program *p)
{
    const char *when = whole_sizes(p, &p->schedule->bands);
    bool two = p->schedule->longer.len > 0;
    p->variants.len = 0;
    vec_push(p->arena, &p->variants,
             ((Variant){p->schedule->bands, two ? "_whole" : "_kernel", two ? when : NULL, 0}));
    if (two)
        vec_push(p->arena, &p->variants,
                 ((Variant){p->schedule->longer, "_walked", NULL, p->schedule->bands.len}));
}

/* Rows first, then lanes. False: both are whole, or as small as can be. */
static bool shrink_tile(Band *band)
{
    if (band->rows.axis && !band->rows.whole && band->rows.tile > 1) {
        band->rows.tile = band->rows.tile * 3 / 4;
        return true;
    }
    if (band->lanes.tile <= LEAST_TILE || band->lanes.whole)
        return false;
    band->lanes.tile = band->lanes.tile * 3 / 4 / 64 * 64;
    band->lanes.tile = band->lanes.tile ? band->lanes.tile : LEAST_TILE;
    return true;
}

/* Fewer rows, then fewer lanes of the largest tiles. False: what is not whole is as small as can be. */
static bool shrink_tiles(Bands *bands)
{
    bool any = false;
    int64_t most = 0;
    for (uint32_t i = 0; i < bands->len; i++)
        most = tile_elements(&bands->at[i]) > most ? tile_elements(&bands->at[i]) : most;
    for (uint32_t i = 0; i < bands->len; i++) /* the largest, and those about as large */
        if (tile_elements(&bands->at[i]) * 2 > most)
            any = shrink_tile(&bands->at[i]) || any;
    for (uint32_t i = 0; i < bands->len && !any; i++)
        any = shrink_tile(&bands->at[i]);
    return any;
}

static bool walk_whole(Schedule *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->bands.len && !any; i++) {
        Band *band = &s->bands.at[i];
        any = band->lanes.whole || band->rows.whole;
        band->lanes.whole = band->rows.whole = false;
    }
    return any;
}

bool build_shrink(Schedule *s) { return shrink_tiles(&s->bands) || walk_whole(s); }

/* Gives up memory on chip: size of tiles, then the second buffers of copies in, then that memory is read once. */
static bool give_room(Schedule *s)
{
    if (shrink_tiles(&s->bands))
        return true;
    if (s->load_depth > 1) {
        s->load_depth = 1;
        return true;
    }
    s->load_depth = BUILD_DEPTH;
    return walk_whole(s);
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
        if (t->role >= NEST_WORKSPACE)
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

static Program open_program(const BuildTask *task, const Schedule *schedule)
{
    return (Program){.arena = task->arena,
                     .nest = task->nest,
                     .chip = task->chip,
                     .name = task->name,
                     .schedule = schedule,
                     .comments = !task->bare};
}

static void finish_program(const Program *p, Str text, Plan *plan)
{
    Buf schedule = {0};
    schedule_print(p->nest, p->schedule, &schedule);
    *plan = (Plan){.strategy = "nest",
                   .schedule = buf_take(&schedule, p->arena),
                   .reason = nest_limit(p->nest),
                   .name = p->name,
                   .craft = text};
    buf_free(&schedule);
    add_operands(p, plan);
}

static bool refuse_schedule(Diag *diag, const char *why)
{
    diag_error(diag, "G008", (Span){0}, "the schedule cannot be built: %s", why);
    return false;
}

/* The axes of the largest tile: what to make smaller. */
static void hint_smaller(const Schedule *s, Diag *diag)
{
    const Band *most = &s->bands.at[0];
    const Bands *kernels[] = {&s->bands, &s->longer};
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < kernels[k]->len; i++) {
            const Band *band = &kernels[k]->at[i];
            if (band->rows.tile * band->lanes.tile > most->rows.tile * most->lanes.tile)
                most = band;
        }
    if (most->rows.axis)
        diag_hint(diag, "the largest tile has %lld of a%u by %lld of a%u",
                  (long long)most->rows.tile, most->rows.axis, (long long)most->lanes.tile,
                  most->lanes.axis);
    else
        diag_hint(diag, "the largest tile has %lld of a%u", (long long)most->lanes.tile,
                  most->lanes.axis);
}

bool build_plan(const BuildTask *task, const Schedule *schedule, Plan *plan, Diag *diag)
{
    Program p = open_program(task, schedule);
    Diag own = diag_make(task->arena, diag->file, diag->source);
    if (!layout_make(p.nest, schedule->inside, &p.layout, &own))
        return refuse_schedule(diag, own.items.at[0].text);
    if (schedule->longer.len && !whole_sizes(&p, &schedule->bands))
        return refuse_schedule(diag,
                               "the first kernel takes all sizes, the second is never launched");
    add_variants(&p);
    Str text = put_program(&p);
    if (p.failed)
        return refuse_schedule(diag, p.failed);
    const char *why = fit_reason(p.arena, text, p.chip);
    if (why) {
        refuse_schedule(diag, why);
        hint_smaller(schedule, diag);
        return false;
    }
    finish_program(&p, text, plan);
    return true;
}

/* Programs with smaller and smaller tiles until one fits on chip; with one buffer for each copy in, then out,
 * where there are too many of them. */
bool build_fit(const BuildTask *task, Schedule *schedule, Plan *plan, Diag *diag)
{
    Program p = open_program(task, schedule);
    int less = 0; /* times that the tiles of the kernel of longer rows are made smaller */
    schedule->load_depth = schedule->store_depth = BUILD_DEPTH;
    if (!layout_make(p.nest, schedule->inside, &p.layout, diag))
        return false;
    for (int i = 0; i < SHRINKS; i++) {
        schedule->longer = (Bands){0};
        if (!task->bare && whole_sizes(&p, &schedule->bands))
            schedule->longer = longer_bands(&p, &schedule->bands);
        for (int k = 0; k < less; k++)
            shrink_tiles(&schedule->longer);
        if (!is_legal(&p, &schedule->longer))
            schedule->longer = (Bands){0};
        add_variants(&p);
        Str text = put_program(&p);
        if (p.failed)
            return refuse_nest(diag, p.failed);
        Fit fit = fit_program(text, p.chip);
        if (!fit.exceeds && !fit.crowded) {
            finish_program(&p, text, plan);
            return true;
        }
        if (fit.crowded && schedule->store_depth == 1)
            return refuse_nest(diag, "it reads or writes more than 8 tensors at once");
        if (fit.crowded && schedule->load_depth == 1)
            schedule->store_depth = 1;
        else if (fit.crowded)
            schedule->load_depth = 1;
        if (fit.exceeds == ONLY_LONGER && shrink_tiles(&schedule->longer))
            less++;
        else if (fit.exceeds && !(give_room(schedule) && is_legal(&p, &schedule->bands)))
            break;
    }
    return refuse_nest(diag, "what it holds at once does not fit on chip");
}
