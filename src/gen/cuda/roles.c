/* Roles of a kernel's axes. In: a kernel with its stores and its row. Out: the order in which points and
 * rows are walked, how many elements a thread takes at once, the team that shares a row, the block. */
#include "gen/cuda/cuda_int.h"

#include <stdlib.h>

enum {
    BLOCK = 256,
    WARP = 32,
    MOST_THREADS = 1024,
    REGISTER_THREADS = 512,    /* of a block whose threads keep as much */
    MOST_CLUSTER = 8,          /* larger ones find no place on many processors */
    SHARED_ALONE = 200 * 1024, /* bytes: one block has the processor */
    SHARED_MOST = 100 * 1024,  /* bytes: two such blocks share a processor */
    FLOATS = 32,               /* of a row that a thread keeps */
    SCAN_ITEMS = 8,            /* of a piece of a row whose elements shared memory turns around */
    COLUMN_FLOATS = 96         /* most floats of a row that a thread takes alone */
};

static bool packs(const Affine *index, uint32_t axis, int64_t v)
{
    bool ok = affine_by(index, axis) == 1 && index->at % v == 0;
    for (uint32_t i = 0; i < index->n; i++)
        ok = ok && (index->term[i].axis == axis || index->term[i].by % v == 0);
    return ok;
}

/* A thread with a long loop of its own computes one result only, so that neighbouring threads read neighbouring elements. */
static bool has_long_loop(const Nest *nest, const CudaKernel *k, const bool *reached)
{
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (reached[i] && v->op == NEST_REDUCE && !kernel_is_team(&k->loops, v) &&
            kernel_count(nest, v->over) > 64 && !kernel_meets_beside(nest, &k->loops, i))
            return true;
    }
    return false;
}

/* Elements of 16 bytes that every store along the axis can take; 1: none. */
static uint32_t vector_of(const Nest *nest, const CudaKernel *k, uint32_t axis, const bool *reached)
{
    int64_t size = nest->axes.at[axis].size;
    uint32_t bytes = 1;
    bool any = false, stored = k->loops.kept >> axis & 1;
    for (uint32_t i = 0; i < k->loops.n_stores; i++) {
        const NestStore *s = &nest->stores.at[k->loops.store[i]];
        uint32_t b = (uint32_t)dtype_bytes(nest->tensors.at[s->tensor].dtype);
        bytes = stored && b > bytes ? b : bytes;
    }
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (!reached[i] || v->op != NEST_LOAD || affine_by(&v->index, axis) != 1)
            continue;
        uint32_t b = (uint32_t)dtype_bytes(nest->tensors.at[v->tensor].dtype);
        bytes = b > bytes ? b : bytes;
        any = true;
    }
    if ((!any && !stored) || has_long_loop(nest, k, reached))
        return 1;
    for (uint32_t v = bytes >= 4 ? 4 : 16 / bytes; v > 1; v /= 2) {
        bool ok = size % v == 0;
        for (uint32_t i = 0; i < k->loops.n_stores && stored; i++)
            ok = ok && packs(&nest->stores.at[k->loops.store[i]].index, axis, v);
        if (ok)
            return v;
    }
    return 1;
}

static uint32_t row_loads(const Nest *nest, const CudaKernel *k, const bool *reached)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        n += reached[i] && v->op == NEST_LOAD && v->axes & k->loops.row &&
             !(v->axes & ~(k->loops.kept | k->loops.row));
    }
    return n ? n : 1;
}

/* Passes over a row: one for the reductions of each level, one for the stores. */
static uint32_t passes(const Nest *nest, const CudaKernel *k, const bool *reached)
{
    uint32_t *memo = arena_array(nest->arena, uint32_t, nest->values.len), most = 0;
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] && kernel_is_team(&k->loops, &nest->values.at[i])) {
            uint32_t level = kernel_level(nest, &k->loops, cuda_pass_of(nest, i), memo);
            most = level > most ? level : most;
        }
    return most + (k->loops.kept & k->loops.row ? 1 : 0);
}

/* Bytes of a row in memory, of all tensors that it is read from. */
static int64_t row_bytes(const Nest *nest, const CudaKernel *k, const bool *reached)
{
    int64_t bytes = 0;
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (reached[i] && v->op == NEST_LOAD && v->axes & k->loops.row &&
            !(v->axes & ~(k->loops.kept | k->loops.row)))
            bytes += k->loops.length * (int64_t)dtype_bytes(nest->tensors.at[v->tensor].dtype);
    }
    return bytes;
}

static uint32_t round_up(int64_t n, uint32_t by) { return (uint32_t)((n + by - 1) / by * by); }

/* The team of a row that lies in memory one element after the other. */
static void row_team(const Nest *nest, CudaKernel *k, const bool *reached)
{
    int64_t n = k->loops.length / k->vector;
    uint32_t keep = FLOATS / k->vector / row_loads(nest, k, reached);
    bool once = passes(nest, k, reached) < 2;
    keep = keep ? keep : 1;
    k->threads = BLOCK;
    if (n <= WARP * 4) {
        for (k->team = 1; k->team * 4 < n && k->team < WARP; k->team *= 2) {
        }
        k->items = (uint32_t)((n + k->team - 1) / k->team);
        return;
    }
    if (once) {
        k->threads = k->team = n / 4 >= BLOCK ? BLOCK : round_up((n + 3) / 4, WARP);
        return;
    }
    uint32_t few = keep < 4 ? keep : 4;
    if (round_up((n + few - 1) / few, WARP) <= BLOCK * 2)
        keep = few;
    if (round_up((n + keep - 1) / keep, WARP) <= REGISTER_THREADS) {
        k->threads = k->team = round_up((n + keep - 1) / keep, WARP);
        k->items = keep;
        return;
    }
    int64_t bytes = row_bytes(nest, k, reached);
    while (k->cluster < MOST_CLUSTER && bytes / k->cluster > SHARED_MOST)
        k->cluster *= 2;
    k->threads = k->team = bytes / k->cluster > SHARED_MOST ? MOST_THREADS : REGISTER_THREADS;
    if (bytes / k->cluster > SHARED_ALONE) {
        k->cluster = 1;
        k->threads = k->team = MOST_THREADS;
        return;
    }
    int64_t all = (int64_t)k->team * k->cluster;
    k->shared = true;
    k->items = (uint32_t)((n + all - 1) / all);
    k->shared_bytes = bytes / k->loops.length * k->items * k->team * k->vector;
}

/* Something that is read of a row does not vary along the axis: walking it last, a thread reads that once. */
static bool is_read_again(const Nest *nest, const CudaKernel *k, const bool *reached, uint32_t axis)
{
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        if (reached[i] && v->op == NEST_LOAD && v->axes & k->loops.row && !(v->axes >> axis & 1))
            return true;
    }
    return false;
}

static void walk_again(const Nest *nest, CudaKernel *k, const bool *reached)
{
    enum { MOST_AGAIN = 32 };
    uint32_t axis = k->loops.along[0];
    int64_t size = nest->axes.at[axis].size;
    if (k->loops.n_row > 1 && !k->items && size <= MOST_AGAIN &&
        k->loops.length / size / k->vector >= k->team && is_read_again(nest, k, reached, axis))
        k->again = axis;
}

static void rows_roles(const Nest *nest, CudaKernel *k, const bool *reached)
{
    k->team = k->cluster = k->vector = 1;
    if (k->loops.columns) {
        k->threads = 128;
        if (k->loops.length * row_loads(nest, k, reached) <= COLUMN_FLOATS)
            k->items = (uint32_t)k->loops.length;
    } else {
        k->vector = vector_of(nest, k, k->loops.along[k->loops.n_row - 1], reached);
        row_team(nest, k, reached);
        walk_again(nest, k, reached);
    }
    int64_t each = k->threads / k->team;
    k->blocks = (k->loops.points + each - 1) / each * k->cluster;
}

static void scan_roles(const Nest *nest, CudaKernel *k, const bool *reached)
{
    bool near = !k->loops.columns;
    k->cluster = 1;
    k->vector = near ? vector_of(nest, k, k->loops.along[0], reached) : 1;
    k->threads = near ? BLOCK : 128;
    k->team = near ? BLOCK : 1;
    k->items = near && k->vector == 1 ? SCAN_ITEMS : 0;
    int64_t each = k->threads / k->team;
    k->blocks = (k->loops.points + each - 1) / each;
}

/* Neighbours along the axis share most of what they read: their windows overlap. */
static bool windows_overlap(const Nest *nest, const CudaKernel *k, const bool *reached,
                            uint32_t axis)
{
    for (uint32_t i = 1; i < nest->values.len; i++) {
        const NestValue *v = &nest->values.at[i];
        int64_t step = reached[i] && v->op == NEST_LOAD ? affine_by(&v->index, axis) : 0;
        for (uint32_t t = 0; t < v->index.n && step > 0; t++) {
            AffineTerm term = v->index.term[t];
            if (!(k->loops.kept >> term.axis & 1) && term.by > 0 && step >= term.by &&
                step < term.by * nest->axes.at[term.axis].size)
                return true;
        }
    }
    return false;
}

/* A thread takes several results above each other: where their windows overlap it reads what they share once, elsewhere
 * it finds the place along the row once for all. Side by side it takes one: neighbouring threads then read
 * neighbouring elements. */
static void widen_windows(const Nest *nest, CudaKernel *k, const bool *reached)
{
    enum { TALL = 8, LESS_TALL = 4, ENOUGH = 1 << 18 };
    if (k->loops.n_point < 2 || has_long_loop(nest, k, reached) || k->loops.points < ENOUGH)
        return;
    int64_t rows = nest->axes.at[k->loops.point[k->loops.n_point - 2]].size;
    bool beside = windows_overlap(nest, k, reached, k->loops.point[k->loops.n_point - 1]);
    if (beside)
        k->vector = 1;
    if (rows < 2 * LESS_TALL ||
        (!beside && !windows_overlap(nest, k, reached, k->loops.point[k->loops.n_point - 2])))
        return;
    k->tall = rows < 4 * TALL ? LESS_TALL : TALL;
    k->ragged = rows % k->tall;
    k->loops.edges = k->loops.edges || k->ragged;
}

static int64_t units_of(const Nest *nest, const CudaKernel *k)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < k->loops.n_point; i++) {
        int64_t each = i + 1 == k->loops.n_point   ? k->vector
                       : i + 2 == k->loops.n_point ? k->tall
                                                   : 1;
        n *= (nest->axes.at[k->loops.point[i]].size + each - 1) / each;
    }
    return n;
}

void cuda_roles(const Nest *nest, CudaKernel *k)
{
    bool *reached = arena_array(nest->arena, bool, nest->values.len);
    kernel_reach(nest, &k->loops, reached);
    if (k->loops.shape == KERNEL_MAP) {
        k->vector = k->loops.n_point
                        ? vector_of(nest, k, k->loops.point[k->loops.n_point - 1], reached)
                        : 1;
        k->threads = BLOCK;
        k->team = k->cluster = 1;
        k->tall = 1;
        widen_windows(nest, k, reached);
        k->units = units_of(nest, k);
        k->blocks = (k->units + k->threads - 1) / k->threads;
        return;
    }
    if (k->loops.shape == KERNEL_PRODUCT)
        cuda_product_roles(nest, k);
    else if (k->loops.shape == KERNEL_MEET)
        cuda_meet_roles(k);
    else if (k->loops.shape == KERNEL_ROWS)
        rows_roles(nest, k, reached);
    else
        scan_roles(nest, k, reached);
}
