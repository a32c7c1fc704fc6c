/* Results that are stored from where they are: what was only copied in, and what the last statement computes into the
 * buffer that is copied out. In: values of a band. Out: whether one goes straight, its buffer, its store. */
#include "gen/plan/build/build_int.h"

enum {
    FEW = 2 /* results that are held at once, each in a buffer of its own: queues have few slots */
};

static const NestStore *band_store(const Build *b, uint32_t i)
{
    return &b->nest->stores.at[b->band->stores.at[i]];
}

static bool is_read(const Build *b, NestId id)
{
    for (uint32_t i = id + 1; i < b->nest->values.len; i++)
        for (uint32_t k = 0; k < b->nest->values.at[i].n_arg && b->wanted[i]; k++)
            if (b->nest->values.at[i].arg[k] == id)
                return true;
    return false;
}

/* The store writes the value as it is: its elements, in its dtype, in a copy of its own. */
static bool takes_all(const Build *b, const NestStore *store, const NestValue *v, DType dtype)
{
    uint64_t axes = 0;
    for (uint32_t k = 0; k < store->index.n; k++)
        axes |= UINT64_C(1) << store->index.term[k].axis;
    return b->nest->tensors.at[store->tensor].dtype == dtype &&
           build_kind(b, axes) == build_kind(b, v->axes) && build_kind(b, axes) != BUILD_SCALAR &&
           !build_is_woven(b, &store->index) && !build_store_joins(b, store);
}

bool build_goes_straight(const Build *b, NestId id, DType dtype, uint32_t most)
{
    const NestValue *v = &b->nest->values.at[id];
    uint32_t stores = 0;
    if (v->mask || dtype == DT_BOOL || b->fed || nest_roots(b->nest, v->axes) != v->axes ||
        is_read(b, id))
        return false;
    for (uint32_t i = 0; i < b->band->stores.len; i++)
        if (band_store(b, i)->value == id) {
            stores++;
            if (!takes_all(b, band_store(b, i), v, dtype))
                return false;
        }
    return stores > 0 && stores <= most;
}

const char *build_result(Build *b, char stem, BuildKind kind, DType dtype, NestId id)
{
    b->straight[id] = b->band->stores.len <= FEW && build_goes_straight(b, id, dtype, 1);
    return b->straight[id] ? build_buffer(b, 'o', kind, dtype, b->store_depth, id)
                           : build_buffer(b, stem, kind, dtype, 1, id);
}

bool build_store_straight(Build *b, const NestStore *store)
{
    NestId id = store->value;
    if (!b->straight[id] || !b->name[id])
        return false;
    build_line(b, "with copyout():");
    b->core = "core_id()";
    build_line(b, "    store(%s, %s)", build_access(b, store->tensor, &store->index), b->name[id]);
    for (uint32_t i = 0; i < b->pool->len; i++)
        if (b->pool->at[i].owner == id && b->pool->at[i].stem == 'o')
            b->pool->at[i].owner = 0;
    return true;
}
