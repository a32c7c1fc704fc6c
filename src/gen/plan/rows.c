/* The last axis is reduced and others are kept: a core takes rows, each row is streamed in
 * tiles, once per pass. Results of a row are scalars; outputs of one value per row are gathered
 * in a small buffer and stored 64 at a time. */
#include "gen/plan/strategy.h"

enum { ROW_BLOCK = 64 };

static bool takes(const Space *s)
{
    return !s->scanned && s->reduced && s->kept && !s->outer && s->axis[s->len - 1].reduced;
}

void rows_open_pass(Writer *w)
{
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (!w->s->axis[i].reduced)
            continue;
        if (i == w->last) {
            write_line(w, "for t in tiles(n%u, tile):", i);
            w->index[i] = "t";
        } else {
            w->index[i] = str_format(w->arena, "j%u", i);
            write_line(w, "for j%u in range(n%u):", i, i);
        }
        w->depth++;
    }
    w->count = "t.size";
}

static bool has_row_outputs(const Writer *w)
{
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        if (!reduce_is_full(w, i))
            return true;
    return false;
}

static uint32_t last_kept(const Space *s)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < s->len; i++)
        if (!s->axis[i].reduced)
            last = i;
    return last;
}

/* for i0, rows in mine(n0, tiles(n1, 64)):
 *     for i1 in range(rows.start, rows.stop): */
void rows_open(Writer *w, bool blocks)
{
    Buf vars = {0}, axes = {0};
    uint32_t last = last_kept(w->s);
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (w->s->axis[i].reduced)
            continue;
        const char *comma = vars.len ? ", " : "";
        w->index[i] = str_format(w->arena, "i%u", i);
        if (blocks && i == last) {
            buf_printf(&vars, "%srows", comma);
            buf_printf(&axes, "%stiles(n%u, %d)", comma, i, ROW_BLOCK);
        } else {
            buf_printf(&vars, "%si%u", comma, i);
            buf_printf(&axes, "%sn%u", comma, i);
        }
    }
    write_line(w, "for %s in mine(%s):", vars.at, axes.at);
    w->depth++;
    if (blocks) {
        write_line(w, "for i%u in range(rows.start, rows.stop):", last);
        w->depth++;
    }
    buf_free(&vars);
    buf_free(&axes);
}

static const char *small_buffer(Writer *w, DType dtype)
{
    const char *name = str_format(w->arena, "p%u", w->next++);
    buf_printf(&w->buffers, "    %s = ub(%s, %d)\n", name, dtype_name(dtype), ROW_BLOCK);
    return name;
}

static void keep_row_outputs(Writer *w, const char **buffers)
{
    uint32_t last = last_kept(w->s);
    for (uint32_t i = 0; i < w->g->outputs.len; i++) {
        if (reduce_is_full(w, i))
            continue;
        PrimId id = w->g->outputs.at[i].is.prim;
        buffers[i] = small_buffer(w, DT_F32);
        write_needs(w, id);
        write_line(w, "with compute():");
        w->depth++;
        write_line(w, "%s[i%u - rows.start] = %s", buffers[i], last, write_expr(w, id));
        w->depth--;
    }
}

static void store_row_outputs(Writer *w, const char **buffers)
{
    w->index[last_kept(w->s)] = "rows";
    for (uint32_t i = 0; i < w->g->outputs.len; i++) {
        if (reduce_is_full(w, i))
            continue;
        const PrimOutput *out = &w->g->outputs.at[i];
        DType dtype = graph_value(w->g->graph, out->value)->dtype;
        const char *from = buffers[i];
        if (dtype != DT_F32) {
            from = small_buffer(w, dtype);
            write_line(w, "with compute():");
            w->depth++;
            write_line(w, "%s[:rows.size] = cast(%s[:rows.size], %s)", from, buffers[i],
                       dtype_name(dtype));
            w->depth--;
        }
        write_line(w, "with copyout():");
        w->depth++;
        write_line(w, "store(%s, %s[:rows.size])",
                   write_access(w, write_output_name(w, i), w->g->prims.at[out->is.prim].axes),
                   from);
        w->depth--;
    }
}

static void write_rows(Writer *w, Buf *cores, Buf *workspace)
{
    bool blocks = has_row_outputs(w);
    uint32_t passes = reduce_passes(w);
    const char **buffers = arena_array(w->arena, const char *, w->g->outputs.len);
    (void)workspace;
    buf_puts(cores, "chip.cores");
    rows_open(w, blocks);
    write_scalar_leaves(w);
    for (uint32_t pass = 0; pass <= passes; pass++)
        reduce_pass(w, pass, pass == passes, rows_open_pass);
    if (blocks) {
        keep_row_outputs(w, buffers);
        w->depth--;
        store_row_outputs(w, buffers);
    }
    w->depth--;
}

const Strategy strategy_rows = {
    "rows", takes, write_rows,
    "Each core takes rows; a row is streamed in tiles, once per pass, and its reductions are "
    "carried as scalars."};
