/* Choosing a strategy and putting the program together. In: a graph. Out: a Craft program. */
#include "gen/plan/plan.h"

#include "gen/plan/fit.h"
#include "gen/plan/planners.h"
#include "gen/plan/strategy.h"

enum { UB_SPARE = 4 * 1024, MAX_SCRATCH = 96, MIN_TILE = 64, LINE = 128, MAX_TILE = 8192 };

static const Strategy *const strategies[] = {&strategy_across, &strategy_scan,      &strategy_map,
                                             &strategy_full,   &strategy_rows_full, &strategy_rows};

/* ---- what the strategies build from ---- */

const char *job_axes(Job *job, bool reduced)
{
    Buf out = {0};
    for (uint32_t i = 0; i < job->s->len; i++)
        if (job->s->axis[i].reduced == reduced)
            buf_printf(&out, "%s%s", out.len ? " * " : "", job->s->axis[i].name);
    char *text = buf_take(&out, job->arena);
    buf_free(&out);
    return text;
}

Part *job_part(Job *job, const char *suffix, bool paired)
{
    Part part = {.suffix = suffix, .cores = "chip.cores"};
    part.w = writer_new(job->g, job->s, paired, job->diag);
    part.w->load_depth = job->single >> job->parts.len & 1 ? 1 : 2;
    part.w->store_depth = job->bare >> job->parts.len & 1 ? 1 : 2;
    vec_push(job->arena, &job->parts, part);
    part_scalar(&job->parts.at[job->parts.len - 1], "tile", "tile");
    return &job->parts.at[job->parts.len - 1];
}

void part_scalar(Part *part, const char *name, const char *value)
{
    part->scalar[part->scalars].name = name;
    part->scalar[part->scalars++].value = value;
}

void part_workspace(Job *job, Part *part, const char *name, const char *shape)
{
    PartWorkspace ws = {name, shape};
    vec_push(job->arena, &part->workspaces, ws);
}

static int64_t round_tile(const Job *job, int64_t tile)
{
    int64_t unit = job->tile_unit && tile >= job->tile_unit ? job->tile_unit : LINE;
    return tile / unit ? tile / unit * unit : MIN_TILE;
}

int64_t job_tile(const Job *job, uint32_t bytes, bool two)
{
    int64_t tile = ((int64_t)job->chip->ub - UB_SPARE) / (bytes + job->scratch[two]);
    tile = tile > MAX_TILE ? MAX_TILE : tile;
    if (job->tile_limit && tile > job->tile_limit)
        tile = job->tile_limit;
    return round_tile(job, tile);
}

/* ---- the program ---- */

static void put_parameters(const Writer *w, Buf *out)
{
    for (uint32_t i = 0; i < w->operands.len; i++) {
        const PlanOperand *o = &w->operands.at[i];
        PrimId prim = w->operand_prims.at[i];
        uint32_t first = w->operands.len - w->g->outputs.len;
        uint64_t axes = prim ? w->g->prims.at[prim].axes
                             : w->g->prims.at[w->g->outputs.at[i - first].is.prim].axes;
        bool any = false;
        buf_printf(out, "%s%s: %s[%s", i ? ", " : "", o->name, o->output ? "out" : "gm",
                   dtype_name(o->dtype));
        for (uint32_t a = 0; a < w->s->len; a++) {
            if (!(w->s->axis[a].members & axes))
                continue;
            buf_printf(out, ", %s", w->s->axis[a].name);
            any = true;
        }
        buf_puts(out, any ? "]" : ", 1]");
    }
}

static double task_bytes(const Writer *w)
{
    double bytes = 0;
    for (uint32_t i = 0; i < w->operands.len; i++) {
        int64_t n = 0;
        shape_bytes(w->operands.at[i].shape, w->operands.at[i].dtype, &n);
        bytes += (double)n;
    }
    return bytes;
}

static long long buffer_bytes(const Writer *w, long long rows, long long wide)
{
    long long sum = 0;
    for (uint32_t i = 0; i < w->pool.len; i++) {
        const WriteBuffer *b = &w->pool.at[i];
        long long high = w->two && b->kind != KIND_TILE && b->kind != KIND_PER_ROW ? 1 : rows;
        long long across = w->two && b->kind == KIND_PER_ROW ? 1 : wide;
        sum += high * across * (long long)dtype_bytes(b->dtype) * b->depth;
    }
    return sum;
}

/* "If n1 <= 384: tiles of ..." */
static void put_part_reason(const Job *job, const Part *part, int64_t tile, Buf *out)
{
    const Writer *w = part->w;
    long long rows = w->two ? w->block : 1, wide = w->wide ? w->wide : tile;
    uint32_t passes = w->s->reduced && !w->s->scanned ? reduce_passes(w) + 1 : 1;
    if (part->when)
        buf_printf(out, "# If %s: tiles of ", part->when);
    else
        buf_printf(out, "# %s of ", job->parts.len > 1 ? "Otherwise: tiles" : "Tiles");
    if (rows > 1)
        buf_printf(out, "%lld rows by ", rows);
    buf_printf(out, "%lld elements, %lld of the %u bytes of UB;\n", wide,
               buffer_bytes(w, rows, wide), job->chip->ub);
    if (w->wide || passes == 1) /* rows stay on chip between the passes */
        buf_puts(out, "#   memory is read once.\n");
    else
        buf_printf(out, "#   %u passes over the inputs.\n", passes);
}

static void put_reasons(const Job *job, const Strategy *s, int64_t tile, Buf *out)
{
    const Writer *w = job->parts.at[job->parts.len - 1].w;
    buf_printf(out, "# Planned by acraft for %s, strategy %s.\n", job->chip->name, s->name);
    buf_printf(out, "# %s\n", s->reason);
    buf_printf(out, "# Least traffic at this task's sizes: %s, each operand once.\n",
               plan_bytes(job->arena, task_bytes(w)));
    for (uint32_t i = 0; i < job->parts.len; i++)
        put_part_reason(job, &job->parts.at[i], tile, out);
}

static int64_t choose_tile(const Job *job)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < job->parts.len; i++) {
        const Writer *w = job->parts.at[i].w;
        bytes = !w->wide && w->bytes > bytes ? w->bytes : bytes;
    }
    return bytes ? job_tile(job, bytes, false) : 0;
}

/* Lines of the host function, as deep as the launch. */
static void put_setup(const char *setup, int depth, Buf *out)
{
    Str rest = str_from(setup), line;
    while (str_next(&rest, '\n', &line)) {
        buf_fill(out, ' ', (size_t)depth * 4);
        buf_printf(out, "%.*s\n", STR_ARG(str_trim(line)));
    }
}

static void put_launch(const Part *part, const char *name, int depth, Buf *out)
{
    const Writer *w = part->w;
    if (part->setup)
        put_setup(part->setup, depth, out);
    for (uint32_t i = 0; i < part->workspaces.len; i++) {
        const PartWorkspace *ws = &part->workspaces.at[i];
        bool cores = str_starts(str_from(ws->shape), "nc, ");
        buf_fill(out, ' ', (size_t)depth * 4);
        buf_printf(out, "%s = workspace(f32, %s%s)\n", ws->name, cores ? part->cores : "",
                   cores ? ws->shape + 2 : ws->shape);
    }
    buf_fill(out, ' ', (size_t)depth * 4);
    buf_printf(out, "%s%s[%s](", name, part->suffix, part->cores);
    for (uint32_t i = 0; i < w->operands.len; i++)
        buf_printf(out, "%s%s", i ? ", " : "", w->operands.at[i].name);
    for (uint32_t i = 0; i < part->scalars; i++)
        buf_printf(out, ", %s", part->scalar[i].value);
    for (uint32_t i = 0; i < part->workspaces.len; i++)
        buf_printf(out, ", %s", part->workspaces.at[i].name);
    buf_puts(out, ")\n");
}

/* Offsets have 64 bits; with a single axis nothing else grows with it. */
static int64_t axis_most(const Job *job, uint32_t axis)
{
    if (job->last_most && axis + 1 == job->s->len)
        return job->last_most;
    bool huge = job->s->len == 1 || job->s->axis[axis].size > PLAN_DIM_MOST;
    return huge ? PLAN_DIM_HUGE : PLAN_DIM_MOST;
}

static void put_host(const Job *job, const char *name, int64_t tile, Buf *out)
{
    buf_puts(out, "craft = 1\n\n");
    for (uint32_t i = 0; i < job->s->len; i++)
        buf_printf(out, "%s = dim(1, %lld)\n", job->s->axis[i].name, (long long)axis_most(job, i));
    buf_printf(out, "\n@host\ndef %s(", name);
    put_parameters(job->parts.at[0].w, out);
    buf_puts(out, "):\n");
    if (tile)
        buf_printf(out, "    tile = choose(\"tile\", [%lld", (long long)tile);
    for (int64_t t = round_tile(job, tile / 2); t >= 512; t = round_tile(job, t / 2))
        buf_printf(out, ", %lld", (long long)t);
    buf_puts(out, tile ? "])\n" : "");
    for (uint32_t i = 0; i < job->parts.len; i++) {
        const Part *part = &job->parts.at[i];
        bool one = job->parts.len == 1;
        if (!one && part->when)
            buf_printf(out, "    %s %s:\n", i ? "elif" : "if", part->when);
        else if (!one)
            buf_puts(out, "    else:\n");
        put_launch(part, name, one ? 1 : 2, out);
    }
}

static void put_kernel(const Part *part, const char *name, Buf *out)
{
    const Writer *w = part->w;
    buf_printf(out, "\n@kernel\ndef %s%s(", name, part->suffix);
    put_parameters(w, out);
    for (uint32_t i = 0; i < part->scalars; i++)
        buf_printf(out, ", %s: i32", part->scalar[i].name);
    for (uint32_t i = 0; i < part->workspaces.len; i++)
        buf_printf(out, ", %s: ws[f32, %s]", part->workspaces.at[i].name,
                   part->workspaces.at[i].shape);
    buf_puts(out, "):\n");
    buf_str(out, buf_view(&w->buffers));
    buf_str(out, buf_view(&w->body));
}

void job_drop(Job *job, uint32_t from)
{
    for (uint32_t i = from; i < job->parts.len; i++) {
        buf_free(&job->parts.at[i].w->buffers);
        buf_free(&job->parts.at[i].w->body);
    }
    job->parts.len = from;
}

static Str write_program(Job *job, const Strategy *strategy, const char *name, int64_t *tile)
{
    Buf out = {0};
    strategy->write(job);
    *tile = choose_tile(job);
    put_reasons(job, strategy, *tile, &out);
    put_host(job, name, *tile, &out);
    for (uint32_t i = 0; i < job->parts.len; i++)
        put_kernel(&job->parts.at[i], name, &out);
    Str text = str_from(buf_take(&out, job->arena));
    buf_free(&out);
    return text;
}

/* More room for the compiler's scratch, where it was too little; one slot for a load, then for a store.
 * False: nothing is left to give, or nothing was wrong. */
static bool widen(Job *job, Fit fit)
{
    bool wider[2] = {false, false};
    uint64_t still = fit.crowded & job->single & ~job->bare;
    uint64_t crowded = still | (fit.crowded & ~job->single);
    job->single |= crowded;
    job->bare |= still;
    for (uint32_t i = 0; i < job->parts.len && i < 64; i++)
        if (fit.exceeds >> i & 1)
            wider[job->parts.at[i].w->wide != 0] = true;
    for (int k = 0; k < 2; k++)
        job->scratch[k] += wider[k] ? SCRATCH_STEP : 0;
    return (fit.exceeds || crowded) && job->scratch[0] <= MAX_SCRATCH &&
           job->scratch[1] <= MAX_SCRATCH;
}

/* Tiles as large as fit: written, lowered, and written again smaller until they do. */
static bool finish_plan(Job *job, const Strategy *strategy, const char *name, Plan *plan)
{
    int64_t tile = 0;
    Str text = write_program(job, strategy, name, &tile);
    Fit fit = fit_program(text, job->chip);
    while (widen(job, fit)) {
        job_drop(job, 0);
        text = write_program(job, strategy, name, &tile);
        fit = fit_program(text, job->chip);
    }
    bool ok = !fit.exceeds && !fit.crowded;
    if (!ok)
        diag_error(job->diag, "G002", (Span){0}, "the planner cannot plan this task yet: %s",
                   fit.crowded ? "one kernel would read or write more than 8 tensors at once"
                               : "what one kernel holds at once does not fit on chip");
    const Writer *w = job->parts.at[0].w;
    *plan = (Plan){.strategy = strategy->name,
                   .reason = strategy->reason,
                   .name = name,
                   .tile = tile,
                   .craft = text};
    for (uint32_t i = 0; i < w->operands.len; i++)
        vec_push(job->arena, &plan->operands, w->operands.at[i]);
    for (uint32_t i = 0; i < job->parts.len; i++)
        ok = ok && !job->parts.at[i].w->failed;
    job_drop(job, 0);
    return ok;
}

/* Outputs that lack an axis of the loops that all of them share would be written again and again;
 * where rows' results end in totals, totals alone are written. */
static bool outputs_agree(const PrimGraph *g, const Space *space)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->outputs.len && space->outer; i++)
        if (g->prims.at[g->outputs.at[i].is.prim].axes)
            return false;
    if (space->outer)
        return true;
    for (uint32_t i = 0; i < space->len; i++)
        kept |= space->axis[i].reduced ? 0 : 1u << i;
    for (uint32_t i = 0; i < g->outputs.len; i++) {
        uint32_t axes = space_axes(space, g->prims.at[g->outputs.at[i].is.prim].axes);
        if (kept & ~axes && !(space->across && !(kept & axes)))
            return false;
    }
    return true;
}

bool plan_prims(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                const char *name, Plan *plan, Diag *diag)
{
    if (graph->nodes.len == 1 && graph->nodes.at[0].op == OP_POOL)
        return plan_pool(arena, graph, chip, tile_limit, name, plan, diag);
    Space space;
    PrimGraph *g = prim_graph(arena, graph, diag);
    if (!g || !space_make(g, &space))
        return false;
    const Strategy *strategy = NULL;
    for (uint32_t i = 0; i < sizeof strategies / sizeof *strategies && !strategy; i++)
        if (strategies[i]->takes(&space) && !(space.across && i))
            strategy = strategies[i];
    if (!strategy) {
        diag_error(diag, "G002", (Span){0}, "no strategy takes this pattern of reductions yet");
        return false;
    }
    if (g->outputs.len > 1 && !outputs_agree(g, &space)) {
        diag_error(diag, "G002", (Span){0},
                   "the planner cannot plan this task yet: its outputs vary along different axes");
        return false;
    }
    Job job = {
        .arena = arena, .g = g, .s = &space, .chip = chip, .tile_limit = tile_limit, .diag = diag};
    return finish_plan(&job, strategy, name, plan);
}
