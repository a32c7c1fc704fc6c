/* Kernels of a nest. In: a nest. Out: kernels, each a set of stores over the same axes; reductions and
 * scans that the stores do not share a row with have become tensors of the workspace, stored by kernels
 * that come before. */
#include "gen/kernel/kernel_int.h"

#include <stdlib.h>

enum {
    MOST_CHUNKS = 2048,
    NEAR = 16, /* elements between what neighbouring threads read */
    MOST_KERNELS = 64
};

int64_t kernel_count(const Nest *nest, uint64_t axes)
{
    int64_t n = 1;
    for (uint32_t i = 1; i < nest->axes.len; i++)
        if (axes >> i & 1)
            n *= nest->axes.at[i].size;
    return n;
}

static uint64_t affine_axes(const Affine *index)
{
    uint64_t axes = 0;
    for (uint32_t i = 0; i < index->n; i++)
        axes |= UINT64_C(1) << index->term[i].axis;
    return axes;
}

void kernel_reach_value(const Nest *nest, NestId id, bool *reached)
{
    const NestValue *v = &nest->values.at[id];
    if (reached[id])
        return;
    reached[id] = true;
    for (uint32_t i = 0; i < v->n_arg; i++)
        kernel_reach_value(nest, v->arg[i], reached);
}

void kernel_reach(const Nest *nest, const Kernel *k, bool *reached)
{
    for (uint32_t i = 0; i < k->n_stores; i++)
        kernel_reach_value(nest, nest->stores.at[k->store[i]].value, reached);
}

bool kernel_is_team(const Kernel *k, const NestValue *v)
{
    return v->op == NEST_REDUCE && k->shape == KERNEL_ROWS && v->over == k->row &&
           v->axes == (k->kept & ~k->row);
}

/* Its elements need elements of other places: a kernel is built around it. */
static bool exchanges(const NestValue *v)
{
    return v->op == NEST_REDUCE || v->op == NEST_SCAN || v->op == NEST_PRODUCT;
}

/* ---- tensors of the workspace ---- */

/* The smallest step in memory that one of the axes takes in what the value rests on; 0: none is taken. */
int64_t kernel_step(const Nest *nest, NestId id, uint64_t axes)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    int64_t least = 0;
    kernel_reach_value(nest, id, reached);
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        for (uint32_t t = 0; reached[i] && v->op == NEST_LOAD && t < v->index.n; t++) {
            int64_t by = llabs(v->index.term[t].by);
            if (axes >> v->index.term[t].axis & 1 && (!least || by < least))
                least = by;
        }
    }
    return least;
}

/* The axis of the smallest step; the first where none is taken. */
static uint32_t nearest_axis(const Nest *nest, NestId id, uint64_t axes)
{
    uint32_t best = (uint32_t)__builtin_ctzll(axes);
    int64_t least = 0;
    for (uint32_t i = 1; i < nest->axes.len; i++) {
        int64_t step = axes >> i & 1 ? kernel_step(nest, id, UINT64_C(1) << i) : 0;
        if (step && (!least || step < least)) {
            least = step;
            best = i;
        }
    }
    return best;
}

/* The value becomes an element of a new tensor, which a new store fills. */
static void put_in_memory(Nest *nest, NestId id)
{
    NestValue v = nest->values.at[id], load = {.op = NEST_LOAD, .axes = v.axes, .uses = v.uses};
    NestTensor t = {.value = VALUE_NONE,
                    .role = NEST_WORKSPACE,
                    .dtype = DT_F32,
                    .count = kernel_count(nest, v.axes)};
    int64_t stride = 1;
    for (uint64_t left = v.axes; left;) {
        uint32_t axis = nearest_axis(nest, id, left);
        Affine term = affine_axis(axis, stride);
        affine_add(&load.index, &term, 1);
        stride *= nest->axes.at[axis].size;
        left &= ~(UINT64_C(1) << axis);
    }
    load.tensor = nest->tensors.len;
    vec_push(nest->arena, &nest->tensors, t);
    vec_push(nest->arena, &nest->values, v);
    NestStore store = {.tensor = load.tensor, .index = load.index, .value = nest->values.len - 1};
    vec_push(nest->arena, &nest->stores, store);
    nest->values.at[id] = load;
}

/* ---- long rows ---- */

static bool axis_is_counted(const Nest *nest, uint32_t axis)
{
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if ((v->op == NEST_PLACE && v->axes >> axis & 1) ||
            (v->op == NEST_SCAN && v->over >> axis & 1))
            return true;
    }
    return false;
}

static bool split_index(Affine *index, uint32_t axis, uint32_t outer, int64_t inner)
{
    Affine term = affine_axis(outer, affine_by(index, axis) * inner);
    return affine_add(index, &term, 1);
}

/* The axis gets `inner` elements, a new one the rest. 0: it cannot be. */
static uint32_t split_axis(Kernels *ks, uint32_t axis, int64_t inner)
{
    Nest *nest = ks->nest;
    uint32_t outer = nest->axes.len;
    if (outer >= NEST_MAX_AXES || axis_is_counted(nest, axis))
        return 0;
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (affine_by(&nest->values.at[i].index, axis) &&
            nest->values.at[i].index.n == AFFINE_TERMS)
            return 0;
    for (uint32_t i = 0; i < nest->stores.len; i++)
        if (nest->stores.at[i].index.n == AFFINE_TERMS)
            return 0;
    NestAxis a = {.size = nest->axes.at[axis].size / inner, .whole = nest->axes.at[axis].whole};
    vec_push(nest->arena, &nest->axes, a);
    nest->axes.at[axis].size = inner;
    for (uint32_t i = 1; i < nest->values.len; i++) {
        NestValue *v = &nest->values.at[i];
        v->axes |= v->axes >> axis & 1 ? UINT64_C(1) << outer : 0;
        v->over |= v->over >> axis & 1 ? UINT64_C(1) << outer : 0;
        split_index(&v->index, axis, outer, inner);
    }
    for (uint32_t i = 0; i < nest->stores.len; i++)
        split_index(&nest->stores.at[i].index, axis, outer, inner);
    for (uint32_t i = 0; i < ks->at.len; i++) {
        Kernel *k = &ks->at.at[i];
        k->kept |= k->kept >> axis & 1 ? UINT64_C(1) << outer : 0;
        k->row |= k->row >> axis & 1 ? UINT64_C(1) << outer : 0;
    }
    return outer;
}

/* A divisor of the size that leaves about `want` parts; 1: none is near. */
static int64_t parts_of(int64_t size, int64_t want)
{
    int64_t best = 1;
    for (int64_t p = 2; p <= MOST_CHUNKS && p <= size; p++)
        if (size % p == 0 && (best == 1 || llabs(p - want) < llabs(best - want)))
            best = p;
    return best;
}

/* Something that the value reads of a row stays the same along this axis. */
static bool is_read_again(const Nest *nest, NestId id, uint64_t row, uint32_t axis)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    kernel_reach_value(nest, id, reached);
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (reached[i] && v->op == NEST_LOAD && v->axes & row && !(v->axes >> axis & 1))
            return true;
    }
    return false;
}

/* An axis along which an operand of the row is read again: parts of it have several places each, so that a thread reads
 * that operand once for all of them. 0: there is none. */
static uint32_t shared_again(Kernels *ks, NestId id, uint64_t row, int64_t want)
{
    enum { PLACES = 16 };
    Nest *nest = ks->nest;
    for (uint32_t i = 1; i < nest->axes.len; i++) {
        int64_t size = nest->axes.at[i].size;
        if (row >> i & 1 && size >= want / 4 * PLACES && size <= want * 4 * PLACES &&
            size % PLACES == 0 && size / PLACES <= MOST_CHUNKS && is_read_again(nest, id, row, i))
            return split_axis(ks, i, PLACES);
    }
    return 0;
}

/* An axis whose elements are shared out: one of the row as it is, or the outer part of its longest. */
static uint32_t shared_axis(Kernels *ks, NestId id, uint64_t row, int64_t want)
{
    Nest *nest = ks->nest;
    uint32_t longest = 0, nearest = nearest_axis(nest, id, row), again;
    again = ks->limits->again ? shared_again(ks, id, row, want) : 0;
    if (again)
        return again;
    for (uint32_t i = nest->axes.len; i-- > 1;) {
        int64_t size = nest->axes.at[i].size;
        if (!(row >> i & 1))
            continue;
        if (i != nearest && size >= want / 4 && size <= want * 4 && size <= MOST_CHUNKS)
            return i;
        longest = !longest || size > nest->axes.at[longest].size ? i : longest;
    }
    int64_t parts = parts_of(nest->axes.at[longest].size, want);
    return parts > 1 ? split_axis(ks, longest, nest->axes.at[longest].size / parts) : 0;
}

static NestId add_value(Nest *nest, NestValue v)
{
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *o = &nest->values.at[i];
        if (v.op == NEST_REDUCE && o->op == v.op && o->reduce == v.reduce && o->over == v.over &&
            o->arg[0] == v.arg[0])
            return i;
    }
    vec_push(nest->arena, &nest->values, v);
    return nest->values.len - 1;
}

static NestId add_map(Nest *nest, const char *form, NestId a, NestId b, NestId c)
{
    NestValue v = {.op = NEST_MAP, .form = form, .n_arg = c ? 3 : b ? 2 : 1, .arg = {a, b, c}};
    for (uint32_t i = 0; i < v.n_arg; i++)
        v.axes |= nest->values.at[v.arg[i]].axes;
    return add_value(nest, v);
}

static NestId add_number(Nest *nest, double number)
{
    return add_value(nest, (NestValue){.op = NEST_NUMBER, .number = number});
}

/* A sum of (x - m)^2 where m is the same along the row, as a variance has it: *x, *m. */
static bool is_sum_of_squares(const Nest *nest, const NestValue *v, NestId *x, NestId *m)
{
    if (v->reduce != PRIM_SUM || !nest_is_map(&nest->values.at[v->arg[0]], "$0 * $0"))
        return false;
    NestId gap = nest->values.at[v->arg[0]].arg[0];
    if (!nest_is_map(&nest->values.at[gap], "$0 - $1"))
        return false;
    *x = nest->values.at[gap].arg[0];
    *m = nest->values.at[gap].arg[1];
    return !(nest->values.at[*m].axes & v->over) && !(v->over & ~nest->values.at[*x].axes);
}

/* Part by part: the squares around the part's own mean c, and how far that is off: n (c - m)^2. So a part
 * is read once, before m is known. */
static NestId part_of_squares(Nest *nest, NestValue v, uint64_t shared, NestId x, NestId m)
{
    uint64_t over = v.over & ~shared;
    double n = (double)kernel_count(nest, over);
    NestValue sum = {.op = NEST_REDUCE,
                     .reduce = PRIM_SUM,
                     .n_arg = 1,
                     .arg = {x},
                     .over = over,
                     .axes = nest->values.at[x].axes & ~over};
    NestId total = add_value(nest, sum);
    NestId mean = add_map(nest, "$0 * $1", total, add_number(nest, 1 / n), 0);
    NestId gap = add_map(nest, "$0 - $1", x, mean, 0);
    sum.arg[0] = add_map(nest, "$0 * $0", gap, 0, 0);
    NestId squares = add_value(nest, sum);
    NestId off = add_map(nest, "$0 - $1", mean, m, 0);
    return add_map(nest, "$0 + $1 * ($2 * $2)", squares, add_number(nest, n), off);
}

/* A reduction of a long row becomes one of the results of its parts. False: it is left as it is. `again`:
 * the kernel goes over the row once more afterwards. */
static bool share_row(Kernels *ks, NestId id, bool again)
{
    Nest *nest = ks->nest;
    const KernelLimits *l = ks->limits;
    NestValue v = nest->values.at[id];
    int64_t rows = kernel_count(nest, v.axes), length = kernel_count(nest, v.over);
    int64_t want = length / l->chunk;
    if (want < l->enough_chunks)
        want = length / l->least_chunk < l->enough_chunks ? length / l->least_chunk
                                                          : l->enough_chunks;
    if (want > MOST_CHUNKS)
        want = MOST_CHUNKS;
    if ((rows >= l->few_rows && (!again || length <= l->team_row)) || length < l->long_row * 2 ||
        v.reduce == PRIM_LOGSUMEXP)
        return false;
    uint32_t axis = shared_axis(ks, id, v.over, want);
    if (!axis)
        return false;
    uint64_t bit = UINT64_C(1) << axis;
    v = nest->values.at[id];
    NestValue part = v;
    NestId x, m, is;
    part.over &= ~bit;
    part.axes |= bit;
    is = is_sum_of_squares(nest, &v, &x, &m) ? part_of_squares(nest, v, bit, x, m)
                                             : add_value(nest, part);
    nest->values.at[id].arg[0] = is;
    nest->values.at[id].over = bit;
    return true;
}

/* A product with few tiles and many places to sum over becomes the sum of products over parts of them. */
static bool share_product(Kernels *ks, NestId id)
{
    enum { TILE = 128 * 128, LEAST_PART = 512 };
    Nest *nest = ks->nest;
    int64_t tiles = (kernel_count(nest, nest->values.at[id].axes) + TILE - 1) / TILE;
    int64_t length = kernel_count(nest, nest->values.at[id].over);
    int64_t want = ks->limits->few_rows / tiles;
    want = length / LEAST_PART < want ? length / LEAST_PART : want;
    uint32_t axis = want > 1 ? shared_axis(ks, id, nest->values.at[id].over, want) : 0;
    if (!axis)
        return false;
    NestValue part = nest->values.at[id];
    uint64_t bit = UINT64_C(1) << axis;
    part.over &= ~bit;
    part.axes |= bit;
    if (!part.over)
        return false;
    NestId of = add_value(nest, part);
    nest->values.at[id] = (NestValue){.op = NEST_REDUCE,
                                      .reduce = PRIM_SUM,
                                      .n_arg = 1,
                                      .arg = {of},
                                      .over = bit,
                                      .axes = part.axes & ~bit,
                                      .uses = part.uses};
    return true;
}

/* ---- what a kernel can hold ---- */

/* One thread takes all of it, for each of its results. */
static bool is_serial(const Kernels *ks, const Kernel *k, NestId id)
{
    const Nest *nest = ks->nest;
    const KernelLimits *limits = ks->limits;
    const NestValue *v = &nest->values.at[id];
    int64_t length = kernel_count(nest, v->over), threads = kernel_count(nest, k->kept);
    bool again = v->axes != k->kept;
    if (v->over & (k->kept | k->row))
        return false;
    if (length <= 16 || (limits->meets && kernel_meets_beside(nest, k, id)))
        return true;
    return again ? length <= limits->serial_again && v->axes & ~k->kept
                 : length <= limits->serial_most && threads >= limits->few_threads &&
                       kernel_step(nest, id, v->axes) <= NEAR;
}

/* Depends on it through other values. */
static bool rests_on(const Nest *nest, NestId id, NestId on)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    kernel_reach_value(nest, id, reached);
    return id != on && reached[on];
}

/* It lies below another value that exchanges, inside that value's own axes. */
static bool is_inside_other(const Nest *nest, const bool *reached, NestId id)
{
    const NestValue *v = &nest->values.at[id];
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *o = &nest->values.at[i];
        if (reached[i] && exchanges(o) && o->over & v->axes && rests_on(nest, i, id))
            return true;
    }
    return false;
}

static bool is_workspace(const Nest *nest, uint32_t store)
{
    return nest->tensors.at[nest->stores.at[store].tensor].role == NEST_WORKSPACE;
}

/* ---- reductions of the same rows in one kernel ---- */

/* The store that fills a tensor of the workspace. */
static uint32_t filler(const Nest *nest, uint32_t tensor)
{
    uint32_t i = 0;
    while (i < nest->stores.len && nest->stores.at[i].tensor != tensor)
        i++;
    return i;
}

/* Whether a value rests on a tensor of the workspace, through others of them or, with `direct`, because it
 * reads it itself. */
static bool find_tensor(const Nest *nest, NestId id, uint32_t tensor, bool direct, bool *seen)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    kernel_reach_value(nest, id, reached);
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (!reached[i] || v->op != NEST_LOAD || nest->tensors.at[v->tensor].role != NEST_WORKSPACE)
            continue;
        if (v->tensor == tensor) {
            if (direct)
                return true;
        } else if (!seen[v->tensor]) {
            NestId of = nest->stores.at[filler(nest, v->tensor)].value;
            seen[v->tensor] = true;
            if (find_tensor(nest, of, tensor, true, seen))
                return true;
        }
    }
    return false;
}

static bool rests_on_tensor(const Nest *nest, NestId id, uint32_t tensor, bool direct)
{
    return find_tensor(nest, id, tensor, direct, arena_array(nest->arena, bool, nest->tensors.len));
}

/* Whether a tensor of the workspace that no kernel fills yet rests on this one. */
static bool is_wanted_later(const Nest *nest, const bool *done, uint32_t store)
{
    for (uint32_t i = 0; i < nest->stores.len; i++)
        if (!done[i] && i != store &&
            rests_on_tensor(nest, nest->stores.at[i].value, nest->stores.at[store].tensor, true))
            return true;
    return false;
}

/* The first result that no kernel has, and all others over its axes; without one a tensor of the workspace
 * that none of the others rests on. */
static bool next_group(const Nest *nest, const bool *done, Kernel *k)
{
    *k = (Kernel){0};
    for (uint32_t i = 0; i < nest->stores.len && k->n_stores < KERNEL_STORES; i++) {
        uint64_t axes = affine_axes(&nest->stores.at[i].index);
        if (done[i] || is_workspace(nest, i) || (k->n_stores && axes != k->kept))
            continue;
        k->kept = axes;
        k->store[k->n_stores++] = i;
    }
    for (uint32_t i = nest->stores.len; i-- > 0 && !k->n_stores;)
        if (!done[i] && !is_wanted_later(nest, done, i)) {
            k->kept = affine_axes(&nest->stores.at[i].index);
            k->store[k->n_stores++] = i;
        }
    return k->n_stores > 0;
}

/* A copy of the value in which what fills the tensor stands in the place of what reads it. */
static NestId read_directly(Nest *nest, NestId id, uint32_t tensor, NestId is, NestId *memo)
{
    NestValue v = nest->values.at[id];
    if (memo[id])
        return memo[id];
    bool changed = false;
    if (v.op == NEST_LOAD && v.tensor == tensor)
        return memo[id] = is;
    for (uint32_t i = 0; i < v.n_arg; i++) {
        NestId arg = read_directly(nest, v.arg[i], tensor, is, memo);
        changed = changed || arg != v.arg[i];
        v.arg[i] = arg;
    }
    if (!changed)
        return memo[id] = id;
    vec_push(nest->arena, &nest->values, v);
    return memo[id] = nest->values.len - 1;
}

static bool same_rows(const Nest *nest, const NestStore *a, const NestStore *b)
{
    const NestValue *x = &nest->values.at[a->value], *y = &nest->values.at[b->value];
    return x->op == NEST_REDUCE && y->op == NEST_REDUCE && x->axes == y->axes && x->over == y->over;
}

/* Other reductions of the kernel's rows that are put into memory come along. */
static void join_rows(Nest *nest, const bool *done, Kernel *k)
{
    for (uint32_t i = nest->stores.len; i-- > 0;) {
        const NestStore *s = &nest->stores.at[i];
        bool fits = !done[i] && is_workspace(nest, i) && k->n_stores < KERNEL_STORES &&
                    same_rows(nest, &nest->stores.at[k->store[0]], s);
        for (uint32_t m = 0; m < k->n_stores && fits; m++) {
            const NestStore *own = &nest->stores.at[k->store[m]];
            fits = k->store[m] != i && !rests_on_tensor(nest, s->value, own->tensor, true) &&
                   !rests_on_tensor(nest, own->value, s->tensor, false);
        }
        if (!fits)
            continue;
        for (uint32_t m = 0; m < k->n_stores; m++) {
            NestId *memo = arena_array(nest->arena, NestId, nest->values.len);
            NestStore *own = &nest->stores.at[k->store[m]];
            own->value = read_directly(nest, own->value, s->tensor, s->value, memo);
        }
        k->store[k->n_stores++] = i;
    }
}

/* The product that a kernel's tiles are of: one with the axes of its stores that no reduction rests on. */
static NestId choose_product(const Nest *nest, const bool *reached, const Kernel *k)
{
    for (uint32_t i = nest->values.len; i-- > 1;) {
        const NestValue *v = &nest->values.at[i];
        bool own = reached[i] && v->op == NEST_PRODUCT && v->axes == k->kept;
        for (uint32_t o = 1; o < nest->values.len && own; o++)
            own = !(o != i && reached[o] && exchanges(&nest->values.at[o]) && rests_on(nest, o, i));
        if (own)
            return i;
    }
    return 0;
}

/* Writes meet the results of the kernel: all that do are reductions over the same axis of places. */
static bool choose_meet(const Kernels *ks, const bool *reached, Kernel *k)
{
    const Nest *nest = ks->nest;
    KernelMeet meet;
    for (uint32_t i = nest->values.len; i-- > 1 && ks->limits->meets;)
        if (reached[i] && kernel_meet(nest, i, &meet) && nest->values.at[i].axes == k->kept &&
            !kernel_meet_beside(nest, &meet) && !is_serial(ks, k, i) &&
            !is_inside_other(nest, reached, i)) {
            k->shape = KERNEL_MEET;
            k->row = UINT64_C(1) << meet.axis;
            return true;
        }
    return false;
}

/* The row of a kernel: that of the last reduction whose rows together are what the kernel stores. */
static void choose_row(const Kernels *ks, const bool *reached, Kernel *k)
{
    const Nest *nest = ks->nest;
    k->tiles = choose_product(nest, reached, k);
    if (k->tiles) {
        k->shape = KERNEL_PRODUCT;
        return;
    }
    if (choose_meet(ks, reached, k))
        return;
    for (uint32_t i = nest->values.len; i-- > 1;) {
        const NestValue *v = &nest->values.at[i];
        if (reached[i] && v->op == NEST_SCAN && v->over & k->kept && v->axes == k->kept &&
            !is_inside_other(nest, reached, i)) {
            k->shape = KERNEL_SCAN;
            k->row = v->over;
            k->reverse = v->reverse;
            return;
        }
    }
    for (uint32_t i = nest->values.len; i-- > 1;) {
        const NestValue *v = &nest->values.at[i];
        if (!reached[i] || v->op != NEST_REDUCE || is_serial(ks, k, i))
            continue;
        if (!(v->axes & ~k->kept) && !(k->kept & ~(v->axes | v->over)) &&
            (k->kept & v->over ? (k->kept & v->over) == v->over : true)) {
            k->shape = KERNEL_ROWS;
            k->row = v->over;
            return;
        }
    }
}

static bool fits(const Kernels *ks, const Kernel *k, const NestValue *v, const bool *reached,
                 NestId id)
{
    if (v->op == NEST_SCAN)
        return k->shape == KERNEL_SCAN && v->over == k->row && v->axes == k->kept &&
               v->reverse == k->reverse && !is_inside_other(ks->nest, reached, id);
    if (v->op == NEST_PRODUCT)
        return k->tiles == id;
    KernelMeet meet;
    if (k->shape == KERNEL_MEET && kernel_meet(ks->nest, id, &meet) && v->axes == k->kept &&
        k->row == UINT64_C(1) << meet.axis && !kernel_meet_beside(ks->nest, &meet) &&
        !is_inside_other(ks->nest, reached, id))
        return true;
    return kernel_is_team(k, v) || is_serial(ks, k, id);
}

/* The value rests on products, but not on the one that the kernel's tiles are of. */
static bool rests_on_others(const Nest *nest, const Kernel *k, NestId id)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len), any = false;
    kernel_reach_value(nest, id, reached);
    for (uint32_t i = 1; i < nest->values.len; i++)
        any = any || (reached[i] && nest->values.at[i].op == NEST_PRODUCT);
    return any && !reached[k->tiles];
}

/* Results that are scans of other rows, or from the other end, or other products are left to kernels of their own. */
static void drop_stores(const Kernels *ks, const bool *reached, Kernel *k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->n_stores; i++) {
        NestId id = ks->nest->stores.at[k->store[i]].value;
        const NestValue *v = &ks->nest->values.at[id];
        bool other = k->shape == KERNEL_PRODUCT && rests_on_others(ks->nest, k, id);
        if (!other && (v->op != NEST_SCAN || fits(ks, k, v, reached, id)))
            k->store[n++] = k->store[i];
    }
    k->n_stores = n;
}

/* Puts into memory what the kernel cannot hold, the values furthest down first. False: nothing was. */
static bool cut_group(const Kernels *ks, const Kernel *k)
{
    Nest *nest = ks->nest;
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    kernel_reach(nest, k, reached);
    uint32_t count = nest->values.len;
    for (uint32_t i = 1; i < count; i++) {
        const NestValue *v = &nest->values.at[i];
        if (!reached[i] || !exchanges(v) || fits(ks, k, v, reached, i))
            continue;
        bool own = false;
        for (uint32_t m = 0; m < k->n_stores; m++)
            own = own || nest->stores.at[k->store[m]].value == i;
        if (own)
            continue;
        put_in_memory(nest, i);
        return true;
    }
    return false;
}

/* Rows that are few and long are shared between kernels. */
static bool share_rows(Kernels *ks, const Kernel *k)
{
    Nest *nest = ks->nest;
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    uint32_t count = nest->values.len;
    bool shared = false;
    kernel_reach(nest, k, reached);
    for (uint32_t i = 1; i < count; i++) {
        const NestValue *v = &nest->values.at[i];
        KernelMeet meet;
        if (ks->limits->meets && kernel_meet(nest, i, &meet))
            continue;
        if (reached[i] && v->op == NEST_REDUCE && !is_serial(ks, k, i))
            shared = share_row(ks, i, k->kept & v->over) || shared;
        else if (reached[i] && v->op == NEST_PRODUCT)
            shared = share_product(ks, i) || shared;
    }
    return shared;
}

static bool has_masks(const Nest *nest, const Kernel *k)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len), any = false;
    kernel_reach(nest, k, reached);
    for (uint32_t i = 1; i < nest->values.len; i++)
        any = any || (reached[i] && nest->values.at[i].op == NEST_INSIDE);
    return any;
}

static bool reads_result(const Nest *nest, const NestValue *v, const Kernel *of)
{
    bool reads = false;
    for (uint32_t i = 0; i < of->n_stores && v->op == NEST_LOAD; i++)
        reads = reads || (is_workspace(nest, of->store[i]) &&
                          nest->stores.at[of->store[i]].tensor == v->tensor);
    return reads;
}

/* Workspace stores come to the front, those that others read first. */
static void order_kernels(Kernels *ks)
{
    Nest *nest = ks->nest;
    for (uint32_t i = 0; i < ks->at.len; i++)
        for (uint32_t j = i + 1; j < ks->at.len; j++) {
            bool *reached = arena_array(nest->arena, bool, nest->values.len), reads = false;
            kernel_reach(nest, &ks->at.at[i], reached);
            for (uint32_t v = 1; v < nest->values.len; v++)
                reads = reads ||
                        (reached[v] && reads_result(nest, &nest->values.at[v], &ks->at.at[j]));
            if (reads) {
                Kernel moved = ks->at.at[j];
                for (uint32_t m = j; m > i; m--)
                    ks->at.at[m] = ks->at.at[m - 1];
                ks->at.at[i] = moved;
                j = i;
            }
        }
}

bool kernel_cut(Arena *arena, Nest *nest, const KernelLimits *limits, Kernels *ks, Diag *diag)
{
    enum { MOST_STORES = 4 * MOST_KERNELS };
    bool done[MOST_STORES] = {false};
    Kernel k;
    *ks = (Kernels){.arena = arena, .nest = nest, .limits = limits};
    while (next_group(nest, done, &k)) {
        bool *reached;
        while (share_rows(ks, &k))
            next_group(nest, done, &k);
        do {
            next_group(nest, done, &k); /* a split changed its axes */
            reached = arena_array(arena, bool, nest->values.len);
            kernel_reach(nest, &k, reached);
            choose_row(ks, reached, &k);
            drop_stores(ks, reached, &k);
        } while (nest->stores.len < MOST_STORES && cut_group(ks, &k));
        if (ks->at.len == MOST_KERNELS || nest->stores.len >= MOST_STORES) {
            diag_error(diag, "G002", (Span){0}, "%s: the task needs more than %d kernels",
                       limits->platform, MOST_KERNELS);
            return false;
        }
        if (k.shape == KERNEL_ROWS && is_workspace(nest, k.store[0]))
            for (uint32_t before = 0; before != k.n_stores;) {
                before = k.n_stores;
                join_rows(nest, done, &k);
                while (nest->stores.len < MOST_STORES && cut_group(ks, &k)) {
                }
            }
        reached = arena_array(arena, bool, nest->values.len);
        kernel_reach(nest, &k, reached);
        if (k.shape == KERNEL_ROWS)
            for (uint32_t i = 1; i < nest->values.len; i++)
                if (reached[i] && kernel_is_team(&k, &nest->values.at[i]))
                    k.columns = kernel_step(nest, i, k.row) > NEAR &&
                                kernel_step(nest, i, k.kept & ~k.row) <= NEAR;
        k.edges = has_masks(nest, &k);
        for (uint32_t i = 0; i < k.n_stores; i++)
            done[k.store[i]] = true;
        vec_push(arena, &ks->at, k);
    }
    order_kernels(ks);
    for (uint32_t i = 0; i < ks->at.len; i++) {
        Kernel *own = &ks->at.at[i];
        if (own->tiles && nest->values.at[own->tiles].op != NEST_PRODUCT)
            own->shape = KERNEL_MAP; /* a later kernel wanted the product in memory, too */
        kernel_order(nest, own);
    }
    return true;
}
