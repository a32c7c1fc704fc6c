/* Choosing a strategy and putting the program together. In: a graph. Out: a Craft program. */
#include "gen/plan/plan.h"

#include "gen/plan/pool.h"
#include "gen/plan/strategy.h"

enum { UB_SPARE = 24 * 1024, TMP_BYTES = 24, MIN_TILE = 64, MAX_TILE = 8192 };

static const Strategy *const strategies[] = {&strategy_scan,      &strategy_map,  &strategy_full,
                                             &strategy_rows_full, &strategy_rows, &strategy_middle};

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

static void put_reasons(const Writer *w, const Strategy *s, int64_t tile, const NpuChip *chip,
                        Buf *out)
{
    double bytes = 0;
    for (uint32_t i = 0; i < w->operands.len; i++) {
        int64_t n = 0;
        shape_bytes(w->operands.at[i].shape, w->operands.at[i].dtype, &n);
        bytes += (double)n;
    }
    buf_printf(out, "# Planned by acraft for %s, strategy %s.\n", chip->name, s->name);
    buf_printf(out, "# %s\n", s->reason);
    buf_printf(out, "# Least traffic at this task's sizes: %.4g MB, each operand once;",
               bytes / 1e6);
    buf_printf(out, " %u pass%s over the inputs.\n", w->s->reduced ? reduce_passes(w) + 1 : 1,
               !w->s->reduced || reduce_passes(w) == 0 ? "" : "es");
    buf_printf(out,
               "# Declared buffers take %u bytes per element of the tile: a tile of %lld needs\n"
               "# %lld of the %u bytes of UB; the rest is for temporaries.\n",
               w->bytes, (long long)tile, (long long)tile * w->bytes, chip->ub);
}

static int64_t choose_tile(const Writer *w, const NpuChip *chip, int64_t limit)
{
    int64_t tile = ((int64_t)chip->ub - UB_SPARE) / (w->bytes + TMP_BYTES) / MIN_TILE * MIN_TILE;
    tile = tile > MAX_TILE ? MAX_TILE : tile;
    if (limit && tile > limit)
        tile = limit / MIN_TILE * MIN_TILE;
    return tile < MIN_TILE ? MIN_TILE : tile;
}

static void put_head(const Writer *w, const char *name, const char *cores, Str workspaces,
                     int64_t tile, Buf *out)
{
    buf_puts(out, "craft = 1\n\n");
    for (uint32_t i = 0; i < w->s->len; i++)
        buf_printf(out, "%s = dim(1, 1073741824)\n", w->s->axis[i].name);
    buf_printf(out, "\n@host\ndef %s(", name);
    put_parameters(w, out);
    buf_printf(out, "):\n    tile = choose(\"tile\", [%lld", (long long)tile);
    for (int64_t t = tile / 2 / MIN_TILE * MIN_TILE; t >= 512; t = t / 2 / MIN_TILE * MIN_TILE)
        buf_printf(out, ", %lld", (long long)t);
    buf_puts(out, "])\n");
    Str rest = workspaces, piece;
    while (str_next(&rest, ' ', &piece))
        if (piece.len)
            buf_printf(out, "    %.*s = workspace(f32, chip.cores, 8)\n", STR_ARG(piece));
    buf_printf(out, "    %s_kernel[%s](", name, cores);
    for (uint32_t i = 0; i < w->operands.len; i++)
        buf_printf(out, "%s, ", w->operands.at[i].name);
    buf_puts(out, "tile");
    rest = workspaces;
    if (workspaces.len)
        buf_puts(out, ", chip.cores");
    while (str_next(&rest, ' ', &piece))
        if (piece.len)
            buf_printf(out, ", %.*s", STR_ARG(piece));
    buf_puts(out, ")\n");
}

static void put_kernel(const Writer *w, const char *name, Str workspaces, Buf *out)
{
    Str rest = workspaces, piece;
    buf_printf(out, "\n@kernel\ndef %s_kernel(", name);
    put_parameters(w, out);
    buf_puts(out, ", tile: i32");
    if (workspaces.len)
        buf_puts(out, ", nc: i32");
    while (str_next(&rest, ' ', &piece))
        if (piece.len)
            buf_printf(out, ", %.*s: ws[f32, nc, 8]", STR_ARG(piece));
    buf_puts(out, "):\n");
    buf_str(out, buf_view(&w->buffers));
    buf_str(out, buf_view(&w->body));
}

static bool name_ok(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!(*c == '_' || (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9' && c != name)))
            return false;
    return *name != 0;
}

bool plan_make(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               Plan *plan, Diag *diag)
{
    const char *name = graph->name && name_ok(graph->name) ? graph->name : "op";
    if (graph->nodes.len == 1 && graph->nodes.at[0].op == OP_POOL)
        return plan_pool(arena, graph, chip, tile_limit, name, plan, diag);
    Space space;
    PrimGraph *g = prim_graph(arena, graph, diag);
    if (!g || !space_make(g, &space))
        return false;
    const Strategy *strategy = NULL;
    for (uint32_t i = 0; i < sizeof strategies / sizeof *strategies && !strategy; i++)
        if (strategies[i]->takes(&space))
            strategy = strategies[i];
    if (!strategy) {
        diag_error(diag, "G002", (Span){0}, "no strategy takes this pattern of reductions yet");
        return false;
    }
    Writer *w = writer_new(g, &space, diag);
    Buf cores = {0}, workspaces = {0}, out = {0};
    strategy->write(w, &cores, &workspaces);
    int64_t tile = choose_tile(w, chip, tile_limit);
    put_reasons(w, strategy, tile, chip, &out);
    put_head(w, name, cores.at, buf_view(&workspaces), tile, &out);
    put_kernel(w, name, buf_view(&workspaces), &out);
    *plan = (Plan){.strategy = strategy->name, .name = name, .tile = tile};
    plan->craft = str_from(buf_take(&out, arena));
    for (uint32_t i = 0; i < w->operands.len; i++)
        vec_push(arena, &plan->operands, w->operands.at[i]);
    buf_free(&cores);
    buf_free(&workspaces);
    buf_free(&out);
    buf_free(&w->buffers);
    buf_free(&w->body);
    return !w->failed;
}
