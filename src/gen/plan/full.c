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

static void put_slot(Job *job, Part *part, PrimId id, uint32_t slot)
{
    Writer *w = part->w;
    if (!part->workspaces.len)
        part_scalar(part, "nc", part->cores);
    part_workspace(job, part, str_format(w->arena, "ws%u", slot), "nc, 8");
    bool sum = w->g->prims.at[id].reduce == PRIM_SUM;
    write_line(w, "with compute():");
    write_line(w, "    mine8[:8] = %s", sum ? "0.0" : w->name[id]);
    if (sum)
        write_line(w, "    mine8[:1] = %s", w->name[id]);
    write_line(w, "with copyout():");
    write_line(w, "    store(ws%u[core_id(), 0:8], mine8[:8])", slot);
}

static void get_slots(Part *part, PrimId id, uint32_t slot)
{
    Writer *w = part->w;
    write_line(w, "with copyin():");
    write_line(w, "    load(all8[:nc, :8], ws%u[0:nc, 0:8])", slot);
    write_line(w, "with compute():");
    if (w->g->prims.at[id].reduce == PRIM_SUM) { /* lanes beside the first are 0 */
        write_line(w, "    %s = reduce_sum(all8[:nc, :8])", w->name[id]);
        return;
    }
    write_line(w, "    sum8[:8] = %s(all8[:nc, :8])", column_words[w->g->prims.at[id].reduce]);
    write_line(w, "    %s = sum8[0]", w->name[id]);
}

void full_combine(Job *job, Part *part, const PrimIds *ids)
{
    uint32_t slot = part->workspaces.len;
    if (!ids->len)
        return;
    for (uint32_t i = 0; i < ids->len; i++)
        put_slot(job, part, ids->at[i], slot + i);
    write_line(part->w, "sync_all()");
    for (uint32_t i = 0; i < ids->len; i++)
        get_slots(part, ids->at[i], slot + i);
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

void full_buffers(Writer *w)
{
    buf_puts(&w->buffers, "    mine8 = ub(f32, 8)\n    all8 = ub(f32, 64, 8)\n"
                          "    sum8 = ub(f32, 8)\n");
}

static void write_full(Job *job)
{
    Part *part = job_part(job, "_kernel", false);
    Writer *w = part->w;
    uint32_t passes = reduce_passes(w);
    full_buffers(w);
    if (shared_takes(w))
        shared_setup(job, part);
    if (w->s->len == 1)
        write_line(w, "part = share(n0, 128)");
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
