/* Reductions as passes. A reduction whose operand needs nothing reduced belongs to pass 0; one
 * that needs the results of pass 0 to pass 1, and so on, but for pairs that units.c computes
 * together; what is cheap is computed again in each pass rather than stored. Results of the last
 * axis reduced are scalars, else tiles. */
#include "gen/plan/strategy.h"

bool reduce_is_full(const Writer *w, uint32_t output)
{
    return !write_is_fixed(w, w->g->outputs.at[output].is.prim);
}

bool reduce_is_spread(const Writer *w, PrimId id)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *p = &w->g->prims.at[i];
        for (uint32_t k = 0; k < p->n_arg && p->uses && !write_is_fixed(w, i); k++)
            if (p->arg[k] == id)
                return true;
    }
    return false;
}

static bool in_pass(const Writer *w, PrimId id, uint32_t pass)
{
    const Prim *p = &w->g->prims.at[id];
    return p->op == PRIM_REDUCE && p->uses && p->over != w->s->outer && w->level[id] == pass + 1;
}

uint32_t reduce_passes(const Writer *w)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (w->g->prims.at[i].op == PRIM_REDUCE && w->g->prims.at[i].uses &&
            w->g->prims.at[i].over != w->s->outer && !across_is(w, i))
            last = w->level[i] - 1 > last ? w->level[i] - 1 : last;
    for (uint32_t i = 0; i < w->g->outputs.len; i++) {
        uint32_t level = w->level[w->g->outputs.at[i].is.prim];
        if (reduce_is_full(w, i))
            last = level > last ? level : last;
    }
    return last;
}

void reduce_mark(const Writer *w, uint32_t pass, bool final, bool *wanted)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (in_pass(w, i, pass) && !w->pair[i])
            write_mark(w, w->g->prims.at[i].arg[0], wanted);
    for (uint32_t i = 0; i < w->g->outputs.len && final; i++)
        if (reduce_is_full(w, i))
            write_mark(w, w->g->outputs.at[i].is.prim, wanted);
}

void reduce_hoist(Writer *w, uint32_t pass, bool final)
{
    size_t before = w->body.len;
    write_line(w, "with compute():");
    size_t opened = w->body.len;
    w->depth++;
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (in_pass(w, i, pass) && !w->pair[i])
            write_hoist(w, w->g->prims.at[i].arg[0]);
    for (uint32_t i = 0; i < w->g->outputs.len && final; i++)
        if (reduce_is_full(w, i))
            write_hoist(w, w->g->outputs.at[i].is.prim);
    w->depth--;
    if (w->body.len == opened)
        w->body.at[w->body.len = before] = 0;
}

void reduce_forget(Writer *w)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (!write_is_fixed(w, i))
            w->name[i] = w->recip[i] = NULL;
    write_free_buffers(w);
}

static void steps(Writer *w, UnitList *units)
{
    if (units->len == 0)
        return;
    write_line(w, "with compute():");
    w->depth++;
    for (uint32_t i = 0; i < units->len; i++)
        unit_step(w, &units->at[i], w->first);
    w->depth--;
}

static void finish(Writer *w, UnitList *units)
{
    size_t before = w->body.len;
    write_line(w, "with compute():");
    size_t opened = w->body.len;
    w->depth++;
    for (uint32_t i = 0; i < units->len; i++)
        unit_finish(w, &units->at[i]);
    w->depth--;
    if (w->body.len == opened)
        w->body.at[w->body.len = before] = 0;
}

void reduce_pass(Writer *w, uint32_t pass, bool final, void (*open)(Writer *w))
{
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    int depth = w->depth;
    UnitList units = units_of(w, pass);
    reduce_hoist(w, pass, final);
    for (uint32_t i = 0; i < units.len; i++)
        unit_start(w, &units.at[i]);
    reduce_mark(w, pass, final, wanted);
    w->wanted = wanted;
    open(w);
    write_scalar_leaves(w);
    w->wanted = NULL;
    write_loads(w, wanted);
    steps(w, &units);
    for (uint32_t i = 0; i < w->g->outputs.len && final; i++)
        if (reduce_is_full(w, i))
            write_store(w, &w->g->outputs.at[i], write_output_name(w, i));
    w->depth = depth;
    finish(w, &units);
    reduce_forget(w);
}

void reduce_store_scalars(Writer *w)
{
    for (uint32_t i = 0; i < w->g->outputs.len; i++) {
        if (reduce_is_full(w, i))
            continue;
        const PrimOutput *out = &w->g->outputs.at[i];
        write_line(w, "with compute():");
        w->depth++;
        write_needs(w, out->is.prim);
        const char *name = str_format(w->arena, "s%u", w->next++);
        write_line(w, "%s = %s", name, write_expr(w, out->is.prim));
        w->depth--;
        write_line(w, "with copyout():");
        write_line(w, "    %s = %s",
                   write_access(w, write_output_name(w, i), w->g->prims.at[out->is.prim].axes),
                   name);
    }
}
