/* Everything is reduced: each core reduces its share, puts the result in its slot of a
 * workspace, and after all cores have met every core combines the slots. Deterministic: the slots
 * are combined in an order that does not depend on timing. */
#include "gen/plan/strategy.h"

static bool takes(const Space *s) { return !s->scanned && s->reduced && s->kept == 0 && !s->outer; }

static void open_pass(Writer *w)
{
    Buf vars = {0}, axes = {0};
    if (shared_takes(w)) {
        shared_open(w);
        return;
    }
    w->index[w->last] = "t";
    w->count = "t.size";
    if (w->s->len == 1) {
        write_line(w, "for t in tiles(part, tile):");
        w->depth++;
        return;
    }
    for (uint32_t i = 0; i < w->last; i++) {
        w->index[i] = str_format(w->arena, "i%u", i);
        buf_printf(&vars, "i%u, ", i);
        buf_printf(&axes, "n%u, ", i);
    }
    write_line(w, "for %st in mine(%stiles(n%u, tile)):", vars.at, axes.at, w->last);
    w->depth++;
    buf_free(&vars);
    buf_free(&axes);
}

static const char *const column_words[] = {[PRIM_SUM] = "col_sum",
                                           [PRIM_MAX] = "col_max",
                                           [PRIM_MIN] = "col_min",
                                           [PRIM_PROD] = "col_prod"};

/* The results of a pass that a core tells the others of: eight lanes each, a workspace each. */
static void put_slots(Job *job, Part *part, const PrimIds *ids, uint32_t slot)
{
    Writer *w = part->w;
    if (!slot)
        part_scalar(part, "nc", part->cores);
    write_line(w, "with compute():");
    for (uint32_t i = 0; i < ids->len; i++) {
        const char *name = w->name[ids->at[i]];
        bool sum = w->g->prims.at[ids->at[i]].reduce == PRIM_SUM;
        part_workspace(job, part, str_format(w->arena, "ws%u", slot + i), "nc, 8");
        buf_printf(&w->buffers, "    mine%u = ub(f32, 8)\n", slot + i);
        write_line(w, "    mine%u[:8] = %s", slot + i, sum ? "0.0" : name);
        if (sum)
            write_line(w, "    mine%u[:1] = %s", slot + i, name);
    }
    write_line(w, "with copyout():");
    for (uint32_t i = slot; i < slot + ids->len; i++)
        write_line(w, "    store(ws%u[core_id(), 0:8], mine%u[:8])", i, i);
}

static void get_slot(Writer *w, PrimId id, uint32_t slot)
{
    PrimReduce kind = w->g->prims.at[id].reduce;
    if (kind == PRIM_SUM) { /* lanes beside the first are 0 */
        write_line(w, "    %s = reduce_sum(all%u[:nc, :8])", w->name[id], slot);
        return;
    }
    buf_printf(&w->buffers, "    one%u = ub(f32, 8)\n", slot);
    write_line(w, "    one%u[:8] = %s(all%u[:nc, :8])", slot, column_words[kind], slot);
    write_line(w, "    %s = one%u[0]", w->name[id], slot);
}

static void get_slots(Writer *w, const PrimIds *ids, uint32_t slot)
{
    write_line(w, "with copyin():");
    for (uint32_t i = slot; i < slot + ids->len; i++) {
        buf_printf(&w->buffers, "    all%u = ub(f32, 64, 8)\n", i);
        write_line(w, "    load(all%u[:nc, :8], ws%u[0:nc, 0:8])", i, i);
    }
    write_line(w, "with compute():");
    for (uint32_t i = 0; i < ids->len; i++)
        get_slot(w, ids->at[i], slot + i);
}

void full_combine(Job *job, Part *part, const PrimIds *ids)
{
    uint32_t slot = part->workspaces.len;
    if (!ids->len)
        return;
    put_slots(job, part, ids, slot);
    write_line(part->w, "sync_all()");
    get_slots(part->w, ids, slot);
}

void full_store_scalars(Writer *w)
{
    for (uint32_t i = 0; i < w->g->outputs.len; i++) {
        if (reduce_is_full(w, i))
            continue;
        const PrimOutput *out = &w->g->outputs.at[i];
        DType dtype = graph_value(w->g->graph, out->value)->dtype;
        write_line(w, "if core_id() == 0:");
        w->depth++;
        write_needs(w, out->is.prim);
        const char *name = str_format(w->arena, "p%u", w->next++), *raw = name;
        buf_printf(&w->buffers, "    %s = ub(f32, 8)\n", name);
        write_line(w, "with compute():");
        write_line(w, "    %s[:8] = %s", name, write_expr(w, out->is.prim));
        if (dtype != DT_F32) {
            raw = str_format(w->arena, "p%u", w->next++);
            buf_printf(&w->buffers, "    %s = ub(%s, 16)\n", raw, dtype_name(dtype));
            write_line(w, "    %s[:8] = cast(%s[:8], %s)", raw, name, dtype_name(dtype));
        }
        write_line(w, "with copyout():");
        write_line(w, "    store(%s[0:1], %s[:1])", write_output_name(w, i), raw);
        w->depth--;
    }
}

/* Only results of one element: what all cores save is little, their launch is not. */
static bool only_scalars(const Writer *w)
{
    for (uint32_t i = 0; i < w->g->outputs.len; i++)
        if (reduce_is_full(w, i))
            return false;
    return true;
}

static void write_full(Job *job)
{
    Part *part = job_part(job, "_kernel", false);
    Writer *w = part->w;
    uint32_t passes = reduce_passes(w);
    if (shared_takes(w))
        shared_setup(job, part);
    if (w->s->len == 1) {
        write_line(w, "part = share(n0, 128)");
        if (only_scalars(w))
            few_cores(job, part);
        else
            even_pieces(job, part);
    }
    write_scalar_leaves(w);
    for (uint32_t pass = 0; pass <= passes; pass++) {
        PrimIds ids = {0};
        reduce_pass(w, pass, pass == passes, open_pass);
        for (uint32_t i = 1; i < w->g->prims.len; i++)
            if (w->g->prims.at[i].op == PRIM_REDUCE && w->g->prims.at[i].uses &&
                w->level[i] == pass + 1)
                vec_push(w->arena, &ids, i);
        full_combine(job, part, &ids);
    }
    full_store_scalars(w);
}

const Strategy strategy_full = {
    "full", takes, write_full,
    "Two stages: each core reduces its share, then all cores combine the partial results in one "
    "order, so the result does not depend on timing."};
