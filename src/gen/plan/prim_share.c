/* Primitives that say the same, computed once: those that composites are made of (the mean inside a
 * variance), and what the graph alone does not show. In: primitives whose axes are known. Out: users
 * of the first of each. */
#include "gen/plan/prim_int.h"

#include <string.h>

static bool same_form(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

/* Leaves are tensors of the task, and each is one of its operands. */
static bool same(const Prim *a, const Prim *b)
{
    return a->op != PRIM_LEAF && a->op == b->op && a->n_arg == b->n_arg && a->axes == b->axes &&
           a->over == b->over && !memcmp(a->arg, b->arg, sizeof a->arg) && a->mask == b->mask &&
           a->reduce == b->reduce && a->exclusive == b->exclusive && a->reverse == b->reverse &&
           !memcmp(&a->number, &b->number, sizeof a->number) && same_form(a->form, b->form);
}

void prim_share(PrimGraph *g)
{
    PrimId *as = arena_array(g->arena, PrimId, g->prims.len);
    for (PrimId i = 1; i < g->prims.len; i++) {
        Prim *p = &g->prims.at[i];
        for (uint32_t k = 0; k < p->n_arg; k++)
            p->arg[k] = as[p->arg[k]];
        as[i] = 1;
        while (as[i] < i && !same(&g->prims.at[as[i]], p))
            as[i]++;
    }
    for (uint32_t i = 0; i < g->outputs.len; i++)
        g->outputs.at[i].is.prim = as[g->outputs.at[i].is.prim];
}
