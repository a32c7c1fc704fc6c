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

static KernelAxes group_axes(const Nest *nest, const Affine *index, uint64_t axes)
{
    KernelAxes g = {.count = kernel_count(nest, axes)};
    order_axes(nest, index, axes, g.axis, &g.n);
    return g;
}

/* The access of most elements below a value. */
static const Affine *main_access(const Nest *nest, NestId id, const Affine *fallback)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    const Affine *best = fallback;
    int64_t most = 0;
    kernel_reach_value(nest, id, reached);
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        int64_t n = reached[i] && v->op == NEST_LOAD ? kernel_count(nest, v->axes) : 0;
        if (n > most) {
            most = n;
            best = &v->index;
        }
    }
    return best;
}

/* Rows, columns and what is summed over; columns are on the side that lies side by side in the result. */
static const KernelProduct *order_product(const Nest *nest, const Affine *stored, NestId id)
{
    KernelProduct *p = arena_new(nest->arena, KernelProduct);
    const NestValue *v = &nest->values.at[id];
    uint64_t a = nest->values.at[v->arg[0]].axes, b = nest->values.at[v->arg[1]].axes, near = 0;
    int64_t least = 0;
    for (uint32_t i = 0; i < stored->n; i++) {
        int64_t by = llabs(stored->term[i].by);
        uint64_t bit = UINT64_C(1) << stored->term[i].axis;
        if (bit & (a ^ b) && (!least || by < least)) {
            least = by;
            near = bit;
        }
    }
    bool turned = near & a;
    *p = (KernelProduct){.value = id, .left = v->arg[turned], .right = v->arg[!turned]};
    uint64_t left = turned ? b : a, right = turned ? a : b;
    p->batch = group_axes(nest, stored, left & right & ~v->over);
    p->m = group_axes(nest, stored, left & ~right & ~v->over);
    p->n = group_axes(nest, stored, right & ~left & ~v->over);
    p->k = group_axes(nest, main_access(nest, p->left, stored), v->over);
    return p;
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
    if (k->shape == KERNEL_PRODUCT)
        k->product = order_product(nest, stored, k->tiles);
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

uint64_t kernel_bits(const KernelAxes *g)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < g->n; i++)
        bits |= UINT64_C(1) << g->axis[i];
    return bits;
}

int64_t kernel_blocks(int64_t count, int64_t each) { return (count + each - 1) / each; }

const char *kernel_role(const Kernel *k)
{
    return k->shape == KERNEL_SCAN      ? "scan"
           : k->shape == KERNEL_PRODUCT ? "product"
           : k->shape == KERNEL_MAP     ? "stream"
           : k->shape == KERNEL_MEET    ? "writes"
           : k->columns                 ? "columns"
                                        : "rows";
}
