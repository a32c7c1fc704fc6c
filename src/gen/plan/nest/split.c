/* Reductions that all cores compute together. In: a nest, reductions of it and for each the axis whose parts
 * the cores take. Out: a nest in which their readers merge what the cores stored. */
#include "gen/plan/nest/nest.h"

enum { MANY_VALUES = 512 }; /* the cores' rows of them are more than one core reads quickly */

/* A value's number in the new nest: where it is computed, and for those who read it. */
typedef struct Renamed {
    NestId made, read;
} Renamed;

/* Row-major over the axes of the value; a value without axes has one element. */
static Affine own_index(const Nest *nest, uint64_t axes, int64_t *count)
{
    Affine index = affine_number(0);
    *count = 1;
    for (uint32_t a = nest->axes.len; a-- > 1;)
        if (axes >> a & 1) {
            Affine term = affine_axis(a, *count);
            affine_add(&index, &term, 1);
            *count *= nest->axes.at[a].size;
        }
    return index;
}

static NestId copy_value(Nest *nest, NestValue v, const Renamed *names)
{
    for (uint32_t i = 0; i < v.n_arg; i++)
        v.arg[i] = names[v.arg[i]].read;
    if (v.follows) { /* what all cores find is known before: nothing follows it */
        v.follows = names[v.follows].read;
        v.follows = nest->values.at[v.follows].op == NEST_REDUCE ? v.follows : 0;
    }
    vec_push(nest->arena, &nest->values, v);
    return nest->values.len - 1;
}

/* Whether it is many values, and some are read by more than one element of what is made of them. */
static bool is_read_often(const Nest *nest, NestId id)
{
    bool *made_of = arena_array(nest->arena, bool, nest->values.len);
    int64_t count;
    own_index(nest, nest->values.at[id].axes, &count);
    made_of[id] = count >= MANY_VALUES;
    for (NestId i = id + 1; i < nest->values.len && count >= MANY_VALUES; i++) {
        const NestValue *v = &nest->values.at[i];
        for (uint32_t k = 0; k < v->n_arg; k++)
            made_of[i] = made_of[i] || made_of[v->arg[k]];
        if (made_of[i] && v->uses && (v->over || v->axes & ~nest->values.at[id].axes))
            return true;
    }
    return false;
}

/* A value that the cores compute or merge part by part is stored, and read from there. */
static NestId add_kept(Nest *nest, NestId made)
{
    const NestValue v = nest->values.at[made];
    NestTensor t = {.value = VALUE_NONE, .role = NEST_MERGED, .dtype = DT_F32};
    Affine index = own_index(nest, v.axes, &t.count);
    vec_push(nest->arena, &nest->tensors, t);
    NestStore store = {.tensor = nest->tensors.len - 1, .index = index, .value = made};
    NestValue load = {.op = NEST_LOAD, .axes = v.axes, .tensor = store.tensor, .index = index};
    vec_push(nest->arena, &nest->stores, store);
    vec_push(nest->arena, &nest->values, load);
    return nest->values.len - 1;
}

/* The workspace of a reduction, its store and what its readers see. */
static NestId add_merge(Nest *nest, NestId made, uint32_t split)
{
    const NestValue v = nest->values.at[made];
    NestTensor t = {.value = VALUE_NONE, .role = NEST_WORKSPACE, .dtype = DT_F32};
    Affine index = own_index(nest, v.axes, &t.count);
    vec_push(nest->arena, &nest->tensors, t);
    NestStore store = {nest->tensors.len - 1, index, made, split, 0};
    NestValue merge = {.op = NEST_MERGE,
                       .reduce = v.reduce,
                       .axes = v.axes,
                       .tensor = store.tensor,
                       .index = index};
    vec_push(nest->arena, &nest->stores, store);
    vec_push(nest->arena, &nest->values, merge);
    return nest->values.len - 1;
}

static NestId share_value(Nest *nest, NestId made, uint32_t split, bool often)
{
    NestId found = split ? add_merge(nest, made, split) : made;
    return often || !split ? add_kept(nest, found) : found;
}

/* The phase in which everything that each value merges is there; arguments come before what they are
 * arguments of. */
static void find_phases(const Nest *nest, uint32_t *phases)
{
    for (NestId id = 1; id < nest->values.len; id++) {
        const NestValue *v = &nest->values.at[id];
        phases[id] = 0;
        for (uint32_t i = 0; i < nest->stores.len && v->tensor; i++)
            if (nest->stores.at[i].tensor == v->tensor)
                phases[id] = nest->stores.at[i].phase + 1;
        for (uint32_t i = 0; i < v->n_arg; i++)
            if (phases[v->arg[i]] > phases[id])
                phases[id] = phases[v->arg[i]];
    }
}

/* Every store in the first phase in which it can be: as many turns as there are phases, at most. */
static void set_phases(Nest *nest)
{
    uint32_t *phases = arena_array(nest->arena, uint32_t, nest->values.len + 1);
    bool again = true;
    for (uint32_t turn = 0; turn < nest->stores.len && again; turn++) {
        again = false;
        find_phases(nest, phases);
        for (uint32_t i = 0; i < nest->stores.len; i++) {
            uint32_t phase = phases[nest->stores.at[i].value];
            again = again || phase != nest->stores.at[i].phase;
            nest->stores.at[i].phase = phase;
        }
    }
}

static void count_uses(Nest *nest)
{
    for (uint32_t i = 1; i < nest->values.len; i++)
        nest->values.at[i].uses = 0;
    for (uint32_t i = 0; i < nest->stores.len; i++)
        nest->values.at[nest->stores.at[i].value].uses++;
    for (uint32_t i = nest->values.len; i-- > 1;)
        for (uint32_t k = 0; k < nest->values.at[i].n_arg && nest->values.at[i].uses; k++)
            nest->values.at[nest->values.at[i].arg[k]].uses++;
}

Nest *nest_split(const Nest *nest, uint32_t n, const NestId *reductions, const uint32_t *split)
{
    Nest *out = arena_new(nest->arena, Nest);
    Renamed *names = arena_array(nest->arena, Renamed, nest->values.len);
    *out = (Nest){.arena = nest->arena, .graph = nest->graph};
    for (uint32_t i = 0; i < nest->axes.len; i++)
        vec_push(out->arena, &out->axes, nest->axes.at[i]);
    for (uint32_t i = 0; i < nest->tensors.len; i++)
        vec_push(out->arena, &out->tensors, nest->tensors.at[i]);
    vec_push(out->arena, &out->values, (NestValue){0});
    for (NestId i = 1; i < nest->values.len; i++) {
        names[i].made = names[i].read = copy_value(out, nest->values.at[i], names);
        if (!n) /* a copy of the nest, with the same numbers */
            out->values.at[i].follows = nest->values.at[i].follows;
        for (uint32_t k = 0; k < n; k++)
            if (reductions[k] == i)
                names[i].read = share_value(out, names[i].made, split[k], is_read_often(nest, i));
    }
    for (uint32_t i = 0; i < nest->stores.len; i++) {
        NestStore s = nest->stores.at[i];
        s.value = s.split || nest->tensors.at[s.tensor].role == NEST_MERGED ? names[s.value].made
                                                                            : names[s.value].read;
        vec_push(out->arena, &out->stores, s);
    }
    set_phases(out);
    count_uses(out);
    return out;
}
