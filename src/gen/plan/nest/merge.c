/* Axes that every access walks as one become one. In: a nest. Out: the same with fewer axes. */
#include "gen/plan/nest/nest.h"

/* Element u of the one and v of the other stand at u * size + v everywhere, or neither occurs. */
static bool walks_together(const Nest *nest, uint32_t outer, uint32_t inner)
{
    int64_t size = nest->axes.at[inner].size;
    uint64_t both = UINT64_C(1) << outer | UINT64_C(1) << inner;
    bool any = false;
    if (nest_has_window(nest, outer) || nest_has_window(nest, inner))
        return false;
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (!v->uses)
            continue;
        if ((v->over & both) && (v->over & both) != both)
            return false;
        if (v->op == NEST_PLACE && (v->axes & both))
            return false;
        bool walks = v->op == NEST_LOAD || v->op == NEST_INSIDE || v->op == NEST_PICK;
        any = any || (walks && affine_by(&v->index, inner));
        if (walks && affine_by(&v->index, outer) != affine_by(&v->index, inner) * size)
            return false;
    }
    for (uint32_t i = 0; i < nest->stores.len; i++) {
        const Affine *index = &nest->stores.at[i].index;
        any = any || affine_by(index, inner);
        if (affine_by(index, outer) != affine_by(index, inner) * size)
            return false;
    }
    return any;
}

/* The outer axis takes the place of the inner one. */
static void merge_index(Affine *index, uint32_t outer, uint32_t inner)
{
    Affine gone = affine_axis(inner, -affine_by(index, inner));
    Affine walk = affine_axis(outer, affine_by(index, inner) - affine_by(index, outer));
    affine_add(index, &gone, 1);
    affine_add(index, &walk, 1);
}

static void merge_axes(Nest *nest, uint32_t outer, uint32_t inner)
{
    uint64_t gone = UINT64_C(1) << inner;
    for (uint32_t i = 1; i < nest->values.len; i++) {
        NestValue *v = &nest->values.at[i];
        if (v->op == NEST_LOAD || v->op == NEST_INSIDE || v->op == NEST_PICK)
            merge_index(&v->index, outer, inner);
        v->axes &= ~gone;
        v->over &= ~gone;
    }
    for (uint32_t i = 0; i < nest->stores.len; i++)
        merge_index(&nest->stores.at[i].index, outer, inner);
    NestAxis *a = &nest->axes.at[outer];
    if (a->part && nest->axes.at[inner].part)
        a->part = nest->axes.at[inner].part;
    else if (nest->axes.at[inner].part > a->part && a->whole == nest->axes.at[inner].whole)
        a->part = 0; /* all of a dimension again */
    a->size *= nest->axes.at[inner].size;
    nest->axes.at[inner].size = 1;
}

void nest_merge(Nest *nest) { nest_merge_groups(nest, NULL); }

void nest_merge_groups(Nest *nest, const uint32_t *group)
{
    for (uint32_t a = 1; a < nest->axes.len; a++)
        for (uint32_t b = 1; b < nest->axes.len; b++)
            if (a != b && nest->axes.at[a].size > 1 && nest->axes.at[b].size > 1 &&
                (!group || group[a] == group[b]) && walks_together(nest, a, b)) {
                merge_axes(nest, a, b);
                a = b = 1;
            }
}
