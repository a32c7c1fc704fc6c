/* Axes of a kernel in the order in which they lie in memory. In: a kernel with its stores and its row. */
#include "gen/kernel/kernel_int.h"

#include <stdlib.h>

/* Larger steps first. */
static void order_axes(const Nest *nest, const Affine *index, uint64_t axes, uint32_t *order,
                       uint32_t *n)
{
    *n = 0;
    for (uint32_t i = 1; i < nest->axes.len; i++) {
        if (!(axes >> i & 1))
            continue;
        uint32_t at = (*n)++;
        while (at > 0 && llabs(affine_by(index, order[at - 1])) < llabs(affine_by(index, i))) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

/* The access that says how rows lie in memory: that of most elements. */
static const Affine *row_access(const Nest *nest, const Kernel *k, const bool *reached)
{
    const Affine *best = NULL;
    int64_t most = 0;
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        int64_t n = v->axes & k->row ? kernel_count(nest, v->axes & (k->kept | k->row)) : 0;
        if (reached[i] && v->op == NEST_LOAD && n > most) {
            most = n;
            best = &v->index;
        }
    }
    return best;
}

void kernel_order(const Nest *nest, Kernel *k)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    const Affine *stored = &nest->stores.at[k->store[0]].index;
    kernel_reach(nest, k, reached);
    const Affine *access = row_access(nest, k, reached);
    order_axes(nest, stored, k->kept & ~k->row, k->point, &k->n_point);
    order_axes(nest, access ? access : stored, k->row, k->along, &k->n_row);
    k->points = kernel_count(nest, k->kept & ~k->row);
    k->length = kernel_count(nest, k->row);
    if (k->shape == KERNEL_SCAN)
        k->columns = !access || llabs(affine_by(access, k->along[0])) != 1;
}

uint32_t kernel_level(const Nest *nest, const Kernel *k, NestId id, uint32_t *memo)
{
    const NestValue *v = &nest->values.at[id];
    uint32_t level = 0;
    if (memo[id])
        return memo[id] - 1;
    for (uint32_t i = 0; i < v->n_arg; i++) {
        uint32_t l = kernel_level(nest, k, v->arg[i], memo);
        level = l > level ? l : level;
    }
    level += kernel_is_team(k, v);
    memo[id] = level + 1;
    return level;
}

void kernel_tensors(const Nest *nest, const Kernel *k, bool *read, bool *written)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    kernel_reach(nest, k, reached);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] &&
            (nest->values.at[i].op == NEST_LOAD || nest->values.at[i].op == NEST_PICK))
            read[nest->values.at[i].tensor] = true;
    for (uint32_t i = 0; i < k->n_stores; i++)
        written[nest->stores.at[k->store[i]].tensor] = true;
}

const char *kernel_role(const Kernel *k)
{
    return k->shape == KERNEL_SCAN  ? "scan"
           : k->shape == KERNEL_MAP ? "stream"
           : k->columns             ? "columns"
                                    : "rows";
}
