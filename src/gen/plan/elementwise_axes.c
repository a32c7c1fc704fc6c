/* Axes of the jobs, and the shapes their tensors are declared with. In: jobs. Out: neighbouring
 * axes merged where every tensor of every job allows it, so that loops are few and long. */
#include "gen/plan/elementwise_int.h"

/* Elements of a row of which several could be one copy. */
enum { SHORT = 2048 };

static int active_axes(const EachJob *job, int *axis)
{
    int n = 0;
    for (int i = 0; i < job->shape.rank; i++)
        if (job->shape.dim[i] != 1)
            axis[n++] = i;
    return n;
}

EachTensor *elementwise_tensor(const EachPlan *p, ValueId id, bool output)
{
    for (uint32_t i = 0; i < p->tensors.len; i++)
        if (p->tensors.at[i].value == id && p->tensors.at[i].output == output)
            return &p->tensors.at[i];
    return NULL;
}

static EachTensor *add_tensor(EachPlan *p, ValueId id, bool output)
{
    EachTensor *old = elementwise_tensor(p, id, output);
    if (old)
        return old;
    EachTensor t = {.value = id, .output = output};
    const Shape *seen = &p->e->seen[id];
    for (int i = 0; i < seen->rank; i++)
        if (seen->dim[i] != 1)
            t.kept[t.n_kept++] = i;
    vec_push(p->e->arena, &p->tensors, t);
    return &p->tensors.at[p->tensors.len - 1];
}

EachUse elementwise_region(const EachPlan *p, const EachJob *job, uint32_t result)
{
    ValueId id = job->outputs.at[result];
    EachUse use = {.value = id, .shape = p->e->seen[id], .rank = p->e->seen[id].rank};
    for (int i = 0; i < use.rank; i++) {
        int64_t place = i == job->along ? job->places.at[result] : 0;
        use.dim[i] = (EachDim){job->shape.dim[i] == 1 ? -1 : i, place};
    }
    return use;
}

/* One round: what this use does not allow is taken back. True when something was. */
static bool restrict_use(const EachJob *job, EachAxes *axes, const EachUse *use, EachTensor *t)
{
    bool changed = false;
    for (int k = 0; k + 1 < axes->n_active; k++) {
        int at[2] = {-1, -1};
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < t->n_kept; i++)
                if (use->dim[t->kept[i]].axis == axes->active[k + side])
                    at[side] = i;
        if (at[0] < 0 && at[1] < 0)
            continue;
        bool fits = at[0] >= 0 && at[1] == at[0] + 1 && !t->apart[at[0]];
        for (int side = 0; fits && side < 2; side++) {
            const EachDim *d = &use->dim[t->kept[at[side]]];
            fits = d->offset == 0 && use->shape.dim[t->kept[at[side]]] == job->shape.dim[d->axis];
        }
        changed = changed || (!fits && !axes->apart[k]);
        axes->apart[k] = axes->apart[k] || !fits;
    }
    for (int i = 0; i + 1 < t->n_kept; i++) {
        int a = use->dim[t->kept[i]].axis, b = use->dim[t->kept[i + 1]].axis;
        bool together = false;
        for (int k = 0; k + 1 < axes->n_active; k++)
            together = together ||
                       (axes->active[k] == a && axes->active[k + 1] == b && !axes->apart[k]);
        changed = changed || (!together && !t->apart[i]);
        t->apart[i] = t->apart[i] || !together;
    }
    return changed;
}

static bool is_leaf(const Graph *g, ValueId id)
{
    const Value *v = graph_value(g, id);
    int64_t count = 0;
    return v->kind != VALUE_NODE &&
           !(v->kind == VALUE_CONST && shape_count(v->shape, &count) && count == 1);
}

static bool restrict_job(EachPlan *p, uint32_t number)
{
    const EachJob *job = &p->e->jobs.at[number];
    EachAxes *axes = &p->axes[number];
    bool changed = false;
    for (uint32_t i = 0; i < job->uses.len; i++)
        if (is_leaf(p->e->g, job->uses.at[i].value))
            changed |= restrict_use(job, axes, &job->uses.at[i],
                                    elementwise_tensor(p, job->uses.at[i].value, false));
    for (uint32_t i = 0; i < job->outputs.len; i++) {
        EachUse use = elementwise_region(p, job, i);
        changed |= restrict_use(job, axes, &use, elementwise_tensor(p, use.value, true));
    }
    return changed;
}

static void start_job(EachPlan *p, uint32_t number)
{
    const EachJob *job = &p->e->jobs.at[number];
    EachAxes *axes = &p->axes[number];
    axes->n_active = active_axes(job, axes->active);
    for (int k = 0; k + 1 < axes->n_active; k++)
        axes->apart[k] = job->apart[axes->active[k]];
    for (uint32_t i = 0; i < job->outputs.len; i++)
        add_tensor(p, job->outputs.at[i], true)->jobs++;
    for (uint32_t i = 0; i < job->uses.len; i++)
        if (is_leaf(p->e->g, job->uses.at[i].value))
            elementwise_tensor(p, job->uses.at[i].value, false)->jobs++;
}

/* Whether an axis of the group is read as a whole dimension, from its first element on. */
static bool reads_whole(const EachJob *job, const EachAxes *axes, const EachUse *use, int group)
{
    for (int d = 0; d < use->rank; d++) {
        int axis = use->dim[d].axis;
        if (axis >= 0 && axes->group_of[axis] == group &&
            (use->dim[d].offset || use->shape.dim[d] != job->shape.dim[axis]))
            return false;
    }
    return true;
}

/* Parts are read in place, but none of the outermost axis: it may have any size. */
static bool is_free(const EachPlan *p, uint32_t number, int group)
{
    const EachJob *job = &p->e->jobs.at[number];
    const EachAxes *axes = &p->axes[number];
    if (!p->e->fixed)
        return true;
    /* Short rows are counted: many go in one copy (elementwise_rows.c). */
    if (p->e->jobs.len > 1 || group || axes->groups < 2 ||
        (axes->groups == 2 && axes->size[1] <= SHORT))
        return false;
    for (uint32_t i = 0; i < job->uses.len; i++)
        if (is_leaf(p->e->g, job->uses.at[i].value) &&
            !reads_whole(job, axes, &job->uses.at[i], group))
            return false;
    for (uint32_t i = 0; i < job->outputs.len; i++) {
        EachUse use = elementwise_region(p, job, i);
        if (!reads_whole(job, axes, &use, group))
            return false;
    }
    return true;
}

/* Names of axes: a size of its own where some input has it, else the number. */
static const char *axis_name(EachPlan *p, uint32_t number, int group)
{
    const EachJob *job = &p->e->jobs.at[number];
    EachAxes *axes = &p->axes[number];
    bool read = false;
    for (uint32_t i = 0; i < job->uses.len && !read; i++) {
        const EachUse *use = &job->uses.at[i];
        if (!is_leaf(p->e->g, use->value))
            continue;
        read = axes->n_active == 0 && elementwise_tensor(p, use->value, false)->n_kept == 0;
        for (int d = 0; d < use->rank && axes->n_active; d++)
            read = read || use->dim[d].axis == axes->active[axes->first[group]];
    }
    if (!is_free(p, number, group) || !read)
        return str_format(p->e->arena, "d%lld", (long long)axes->size[group]);
    return str_format(p->e->arena, "n%u_%d", number, group);
}

static void group_axes(EachPlan *p, uint32_t number)
{
    const EachJob *job = &p->e->jobs.at[number];
    EachAxes *axes = &p->axes[number];
    for (int k = 0; k < axes->n_active; k++) {
        if (k == 0 || axes->apart[k - 1]) {
            axes->size[axes->groups] = 1;
            axes->first[axes->groups++] = k;
        }
        axes->size[axes->groups - 1] *= job->shape.dim[axes->active[k]];
        axes->group_of[axes->active[k]] = axes->groups - 1;
    }
    if (axes->n_active == 0) {
        axes->groups = 1;
        axes->size[0] = 1;
    }
    for (int i = 0; i < axes->groups; i++)
        axes->name[i] = axis_name(p, number, i);
}

bool elementwise_axes(EachPlan *p)
{
    for (uint32_t i = 0; i < p->e->leaves.len; i++)
        add_tensor(p, p->e->leaves.at[i], false);
    for (uint32_t i = 0; i < p->e->jobs.len; i++)
        start_job(p, i);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < p->e->jobs.len; i++)
            changed |= restrict_job(p, i);
    }
    for (uint32_t i = 0; i < p->tensors.len; i++)
        p->e->fixed = p->e->fixed || (p->tensors.at[i].jobs > 1 && p->tensors.at[i].n_kept);
    for (uint32_t i = 0; i < p->e->jobs.len; i++) {
        group_axes(p, i);
        if (p->axes[i].groups > 6)
            return false;
    }
    return true;
}
