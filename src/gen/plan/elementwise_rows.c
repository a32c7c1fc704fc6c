/* Short rows of tensors that are read or written in part: several at once. In: jobs with their axes. Out:
 * how long the rows are, where a copy may take many of them and every job allows it.
 *
 *     x[i0, t]            one row of at most a tile:     a copy of 512 bytes for rows of 256 halves
 *     x[r, 256:512]       as many rows as fit a tile:    one copy */
#include "gen/plan/elementwise_int.h"

enum { ROWS = 4 /* at least, that are worth it */, UNIT = 32 };

static bool by_position(Op op)
{
    return op == OP_TRI || op == OP_EYE || op == OP_ARANGE || op == OP_ONE_HOT;
}

/* A region of a tensor lies along both axes of the tile, or along neither. */
static bool lies_well(const EachAxes *axes, const EachUse *use, const EachTensor *t)
{
    bool row = false, column = false;
    for (int i = 0; i < t->n_kept; i++) {
        int axis = use->dim[t->kept[i]].axis;
        row = row || (axis >= 0 && axes->group_of[axis] == axes->groups - 2);
        column = column || (axis >= 0 && axes->group_of[axis] == axes->groups - 1);
        if (column && axis >= 0 && axes->group_of[axis] < axes->groups - 1)
            return false;
    }
    return row == column;
}

static bool takes_use(const EachPlan *p, const EachAxes *axes, const EachUse *use)
{
    const Value *v = graph_value(p->e->g, use->value);
    if (elementwise_class(v->dtype) == EACH_MASK)
        return false;
    if (v->kind == VALUE_NODE)
        return !by_position(p->e->g->nodes.at[v->node].op);
    const EachTensor *t = elementwise_tensor(p, use->value, false);
    return !t || lies_well(axes, use, t);
}

static bool takes_job(const EachPlan *p, uint32_t number, int64_t row)
{
    const EachJob *job = &p->e->jobs.at[number];
    const EachAxes *axes = &p->axes[number];
    if (axes->groups < 2 || axes->size[axes->groups - 1] != row ||
        axes->size[axes->groups - 2] < ROWS)
        return false;
    for (uint32_t i = 0; i < job->uses.len; i++)
        if (!takes_use(p, axes, &job->uses.at[i]))
            return false;
    for (uint32_t i = 0; i < job->outputs.len; i++) {
        EachUse use = elementwise_region(p, job, i);
        if (!lies_well(axes, &use, elementwise_tensor(p, use.value, true)))
            return false;
    }
    return true;
}

void elementwise_rows(EachPlan *p)
{
    const EachAxes *first = &p->axes[0];
    int64_t row = first->size[first->groups - 1];
    bool all = p->e->fixed && !p->wide && row * ROWS <= p->tile;
    for (uint32_t i = 0; i < p->e->jobs.len; i++)
        all = all && takes_job(p, i, row);
    p->row = all ? row : 0;
    p->pitch = (row + UNIT - 1) / UNIT * UNIT;
}
