/* Products of matrices as CUDA text. In: a kernel of products. Out: the body of a __global__ function.
 *
 *     block      a tile of the result, sums in registers
 *       slice    16 places of k: both factors are evaluated, whatever they are made of (views, masks, casts), and go to
 *                shared memory, half a slice after the other, while the slice before is multiplied
 *     then       what each element of the tile is used for
 *
 * Factors that are loads, masked or not, are copied into shared memory without passing through registers, three slices
 * ahead.
 *
 * Tensor cores multiply tf32, which has 10 bits after the point. Factors of 16 bits and fewer are exact in it. Factors of
 * f32 are taken apart into two parts, and three of the four products of parts are summed: what is left out is as small as
 * the rounding of f32. Sums of a slice are added to those before in f32. Small products are left to the other units:
 * 16 x 16 threads, each with every fourth row and column. */
#include "gen/cuda/write_int.h"

#include <math.h>
#include <stdlib.h>

enum {
    THREADS = 256, /* of a block that does without tensor cores */
    WARP = 32,
    WARP_TILE = 32, /* rows and columns of a warp's part of a tile, for tensor cores */
    SIDE = 16,      /* threads along rows and along columns */
    SLICE = 16,     /* places of k at once */
    HALF = 8,
    TENSOR_PAD = 8, /* floats behind a row of shared memory, for tensor cores */
    STAGES = 4,     /* slices in shared memory, where factors are copied there */
    TILE_ROWS = 16, /* of one instruction of tensor cores */
    TILE_COLUMNS = 8,
    ROWS = WARP_TILE / TILE_ROWS, /* instructions of a warp along rows, and along columns */
    COLUMNS = WARP_TILE / TILE_COLUMNS,
    LARGE = 128,
    SMALL = 64,
    PROCESSORS = 132
};

/* ---- roles ---- */

static int64_t count_blocks(const KernelProduct *p, int64_t high, int64_t wide)
{
    return p->batch.count * kernel_blocks(p->m.count, high) * kernel_blocks(p->n.count, wide);
}

static bool number_is_exact(double number)
{
    int exponent;
    double digits = frexp(number, &exponent) * 2048; /* 11 bits with the leading one */
    return number == 0 || digits == trunc(digits);
}

/* Whether rounding the value to tf32 changes nothing. */
static bool is_exact(const Nest *nest, NestId id)
{
    const NestValue *v = &nest->values.at[id];
    if (v->op == NEST_NUMBER)
        return number_is_exact(v->number);
    if (nest_is_map(v, "where($0, $1, $2)"))
        return is_exact(nest, v->arg[1]) && is_exact(nest, v->arg[2]);
    if (v->op != NEST_LOAD && v->op != NEST_PICK)
        return false;
    switch (nest->tensors.at[v->tensor].dtype) {
    case DT_F16:
    case DT_BF16:
    case DT_I8:
    case DT_U8:
    case DT_BOOL: return true;
    default: return false;
    }
}

/* An element of f32 that is copied as it is, or is 0 where the mask is false (0: nowhere). */
typedef struct Copy {
    NestId load, mask;
} Copy;

static bool find_copy(const Nest *nest, NestId id, Copy *copy)
{
    const NestValue *v = &nest->values.at[id];
    if (v->op == NEST_LOAD && nest->tensors.at[v->tensor].dtype == DT_F32) {
        *copy = (Copy){id, v->n_arg ? v->arg[0] : 0};
        return true;
    }
    if (!nest_is_map(v, "where($0, $1, $2)") || !find_copy(nest, v->arg[1], copy) ||
        (copy->mask && copy->mask != v->arg[0]))
        return false;
    const NestValue *other = &nest->values.at[v->arg[2]];
    copy->mask = v->arg[0];
    return other->op == NEST_NUMBER && other->number == 0 && !signbit(other->number);
}

/* Rows or columns of a tile: no more than twice what there is. */
static int64_t fit_tile(int64_t count, int64_t least)
{
    int64_t tile = LARGE;
    while (tile > least && tile / 2 >= count)
        tile /= 2;
    return tile;
}

/* Places of k in an order in which a whole slice has the same place along all axes but one, where there is such an
 * axis: its size is a multiple of a slice. */
static void order_slices(const Nest *nest, CudaKernel *k)
{
    KernelProduct *p = arena_new(nest->arena, KernelProduct);
    *p = *k->loops.product;
    k->loops.product = p;
    for (uint32_t i = p->k.n; i-- > 0;) {
        uint32_t axis = p->k.axis[i];
        if (nest->axes.at[axis].size % SLICE)
            continue;
        for (; i + 1 < p->k.n; i++)
            p->k.axis[i] = p->k.axis[i + 1];
        p->k.axis[i] = axis;
        k->even = true;
        return;
    }
}

void cuda_product_roles(const Nest *nest, CudaKernel *k)
{
    const KernelProduct *p = k->loops.product;
    k->threads = THREADS;
    k->vector = k->team = k->cluster = k->tall = 1;
    k->tile = k->wide = count_blocks(p, LARGE, LARGE) >= PROCESSORS ? LARGE : SMALL;
    if (p->k.count >= SLICE && p->m.count >= SLICE && p->n.count >= SLICE) {
        bool exact = is_exact(nest, p->left) && is_exact(nest, p->right);
        k->products = k->tf32 || exact ? 1 : 3;
        k->promoted = exact || !k->tf32;
        k->tile = fit_tile(p->m.count, WARP_TILE);
        k->wide = k->tile < SMALL ? LARGE : fit_tile(p->n.count, SMALL);
        if (count_blocks(p, k->tile, k->wide) < PROCESSORS && k->tile >= SMALL)
            k->wide = SMALL;
        if (count_blocks(p, k->tile, k->wide) < PROCESSORS && k->tile > SMALL)
            k->tile = SMALL;
        Copy left, right;
        k->shared = find_copy(nest, p->left, &left) && find_copy(nest, p->right, &right);
        k->shared_bytes = k->shared ? STAGES * SLICE * (k->tile + k->wide + 2 * TENSOR_PAD) *
                                          (int64_t)sizeof(float)
                                    : 0;
        k->threads = (uint32_t)(k->tile / WARP_TILE * (k->wide / WARP_TILE) * WARP);
    }
    order_slices(nest, k);
    k->blocks = count_blocks(p, k->tile, k->wide);
}

/* ---- factors ---- */

/* A factor of a slice: its rows (or columns) and the name of its tile. */
typedef struct Side {
    NestId factor;
    const KernelAxes *axes;
    const char *name, *base;
    long long tile;
    bool along; /* neighbouring places of k lie side by side in what it reads */
} Side;

static bool lies_along_k(const Nest *nest, const CudaKernel *k, NestId factor)
{
    const KernelProduct *p = k->loops.product;
    uint64_t walked = k->even ? UINT64_C(1) << p->k.axis[p->k.n - 1] : kernel_bits(&p->k);
    int64_t along = kernel_step(nest, factor, walked);
    int64_t across = kernel_step(nest, factor, kernel_bits(factor == p->left ? &p->m : &p->n));
    return along && (!across || along < across);
}

static Side side_of(const Writer *w, bool left)
{
    const KernelProduct *p = w->k->loops.product;
    NestId factor = left ? p->left : p->right;
    return (Side){.factor = factor,
                  .axes = left ? &p->m : &p->n,
                  .name = left ? "left" : "right",
                  .base = left ? "m0" : "n0",
                  .tile = (long long)(left ? w->k->tile : w->k->wide),
                  .along = lies_along_k(w->text.nest, w->k, factor)};
}

/* Elements that a thread fetches of half a slice. */
static long long fetched_of(const Writer *w, const Side *s)
{
    return s->tile * HALF / w->k->threads;
}

static void bind_axes(Writer *w, const KernelAxes *g, const char *number)
{
    if (g->n)
        cuda_axes(w, number, g->count > INT32_MAX / 2, g->axis, g->n, 1, 1);
}

/* Where an element that a thread fetches stands: x of the tile, y of the slice. Neighbouring threads take 8 places of
 * k, or neighbouring rows: either way they meet different banks. */
static void put_place(Writer *w, const Side *s)
{
    kernel_line(&w->text, "const int e = threadIdx.x + s * %u;", w->k->threads);
    const char *from = w->k->shared ? "" : "half + ";
    if (!s->along)
        kernel_line(&w->text, "const int x = e %% %lld, y = %se / %lld;", s->tile, from, s->tile);
    else if (w->k->shared)
        kernel_line(&w->text, "const int x = e / 8 %% %lld, y = e %% 8 + e / %lld * 8;", s->tile,
                    s->tile * 8);
    else
        kernel_line(&w->text, "const int x = e / 8, y = half + e %% 8;");
}

/* The scope in which a slice is fetched. Where it has one place along all axes of k but the last, those are bound here. */
static void open_slice(Writer *w)
{
    const KernelProduct *p = w->k->loops.product;
    KernelText *t = &w->text;
    uint64_t outer = 0;
    for (uint32_t i = 0; i + 1 < p->k.n && w->k->even; i++)
        outer |= UINT64_C(1) << p->k.axis[i];
    kernel_open(t, outer, "if (k1 < %lld) {", (long long)p->k.count);
    if (!w->k->even)
        return;
    int64_t last = t->nest->axes.at[p->k.axis[p->k.n - 1]].size;
    if (p->k.n > 1) {
        kernel_line(t, "const int slice = k1 / %lld;", (long long)last);
        cuda_axes(w, "slice", false, p->k.axis, p->k.n - 1, 1, 1);
        kernel_line(t, "const int first = k1 - slice * %lld;", (long long)last);
    } else {
        kernel_line(t, "const int first = k1;");
    }
}

/* What a thread fetches of a factor's slice, into registers. */
static void write_fetch(Writer *w, const Side *s)
{
    const KernelProduct *p = w->k->loops.product;
    KernelText *t = &w->text;
    bool rest = p->k.count % SLICE != 0, edge = s->axes->count % s->tile != 0;
    uint64_t bits = kernel_bits(s->axes);
    bits |= w->k->even ? UINT64_C(1) << p->k.axis[p->k.n - 1] : kernel_bits(&p->k);
    kernel_open(t, 0, "#pragma unroll\nfor (int s = 0; s < %lld; s++) {", fetched_of(w, s));
    put_place(w, s);
    kernel_line(t, "const int i = %s + x;", s->base);
    kernel_line(t, "%s_next[s] = 0.0f;", s->name);
    if (edge && rest)
        kernel_open(t, bits, "if (i < %lld && k1 + y < %lld) {", (long long)s->axes->count,
                    (long long)p->k.count);
    else if (edge)
        kernel_open(t, bits, "if (i < %lld) {", (long long)s->axes->count);
    else if (rest)
        kernel_open(t, bits, "if (k1 + y < %lld) {", (long long)p->k.count);
    else
        kernel_open(t, bits, "{");
    bind_axes(w, s->axes, "i");
    if (w->k->even) {
        kernel_line(t, "const int a%u = first + y;", p->k.axis[p->k.n - 1]);
    } else {
        kernel_line(t, "const int j = k1 + y;");
        bind_axes(w, &p->k, "j");
    }
    const char *x = cuda_value(w, s->factor);
    kernel_line(t, "%s_next[s] = %s;", s->name, x);
    kernel_close(t);
    kernel_close(t);
}

/* A thread's part of a factor's slice, copied to shared memory. */
static void write_copy(Writer *w, const Side *s)
{
    const KernelProduct *p = w->k->loops.product;
    KernelText *t = &w->text;
    uint64_t bits = kernel_bits(s->axes);
    Copy copy;
    find_copy(t->nest, s->factor, &copy);
    const NestValue *load = &t->nest->values.at[copy.load];
    bits |= w->k->even ? UINT64_C(1) << p->k.axis[p->k.n - 1] : kernel_bits(&p->k);
    kernel_open(t, bits, "#pragma unroll\nfor (int s = 0; s < %lld; s++) {", 2 * fetched_of(w, s));
    put_place(w, s);
    kernel_line(t, "const int i = %s + x;", s->base);
    bind_axes(w, s->axes, "i");
    if (w->k->even) {
        kernel_line(t, "const int a%u = first + y;", p->k.axis[p->k.n - 1]);
    } else {
        kernel_line(t, "const int j = k1 + y;");
        bind_axes(w, &p->k, "j");
    }
    const char *in = copy.mask ? cuda_value(w, copy.mask) : "true";
    if (s->axes->count % s->tile)
        in = str_format(t->arena, "i < %lld && %s", (long long)s->axes->count, in);
    if (p->k.count % SLICE)
        in = str_format(t->arena, "k1 + y < %lld && %s", (long long)p->k.count, in);
    kernel_line(t, "copy_element(&%s[next][y][x], t%u + (%s), %s);", s->name, load->tensor,
                cuda_index(w, load->tensor, &load->index, AT_ELEMENT), in);
    kernel_close(t);
}

static void write_keep(Writer *w, const Side *s)
{
    kernel_open(&w->text, 0, "#pragma unroll\nfor (int s = 0; s < %lld; s++) {", fetched_of(w, s));
    put_place(w, s);
    kernel_line(&w->text, "%s[now ^ 1][y][x] = %s_next[s];", s->name, s->name);
    kernel_close(&w->text);
}

/* ---- sums ---- */

static void declare_sums(Writer *w)
{
    const CudaKernel *k = w->k;
    KernelText *t = &w->text;
    if (k->products) {
        long long warps = (long long)k->wide / WARP_TILE;
        kernel_line(t, "const int lane = threadIdx.x %% 32, warp = threadIdx.x / 32;");
        kernel_line(t, "const int row = warp / %lld * %d + lane / 4;", warps, WARP_TILE);
        kernel_line(t, "const int column = warp %% %lld * %d;", warps, WARP_TILE);
        kernel_line(t, "float sums[%d][%d][4] = {};", ROWS, COLUMNS);
        return;
    }
    kernel_line(t,
                "const int row = (int)threadIdx.x / %d * 4, column = (int)threadIdx.x %% %d * 4;",
                SIDE, SIDE);
    kernel_line(t, "float sums[%lld][%lld] = {};", (long long)k->tile / SIDE,
                (long long)k->tile / SIDE);
}

/* Threads take four neighbouring rows and columns of every 64. */
static void write_multiply(Writer *w)
{
    KernelText *t = &w->text;
    int64_t each = w->k->tile / SIDE;
    kernel_open(t, 0, "#pragma unroll\nfor (int j = half; j < half + %d && k0 >= 0; j++) {", HALF);
    kernel_line(t, "float a[%lld][4], b[%lld][4];", (long long)each / 4, (long long)each / 4);
    for (int64_t i = 0; i < each; i += 4) {
        kernel_line(t, "load_pack(a[%lld], &left[now][j][%lld + row]);", (long long)i / 4,
                    (long long)(i / 4 * SMALL));
        kernel_line(t, "load_pack(b[%lld], &right[now][j][%lld + column]);", (long long)i / 4,
                    (long long)(i / 4 * SMALL));
    }
    kernel_open(t, 0, "#pragma unroll\nfor (int r = 0; r < %lld; r++) {", (long long)each);
    kernel_line(t, "#pragma unroll");
    kernel_line(t, "for (int c = 0; c < %lld; c++)", (long long)each);
    kernel_line(t, "    sums[r][c] = fmaf(a[r / 4][r %% 4], b[c / 4][c %% 4], sums[r][c]);");
    kernel_close(t);
    kernel_close(t);
}

static void write_tensor_multiply(Writer *w)
{
    KernelText *t = &w->text;
    kernel_open(t, 0, "if (k0 >= 0) {");
    kernel_line(t, "float a[%d][4], b[%d][2];", ROWS, COLUMNS);
    kernel_line(t, "#pragma unroll");
    kernel_line(t, "for (int r = 0; r < %d; r++)", ROWS);
    kernel_line(t, "    load_rows(a[r], &left[now][half + lane %% 4][row + r * %d], %lld);",
                TILE_ROWS, (long long)w->k->tile + TENSOR_PAD);
    kernel_line(t, "#pragma unroll");
    kernel_line(t, "for (int c = 0; c < %d; c++)", COLUMNS);
    kernel_line(
        t,
        "    load_columns(b[c], &right[now][half + lane %% 4][column + c * %d + lane / 4], %lld);",
        TILE_COLUMNS, (long long)w->k->wide + TENSOR_PAD);
    kernel_line(t, "multiply_tiles<%u>(%s, a, b);", w->k->products,
                w->k->promoted ? "part" : "sums");
    kernel_close(t);
}

/* ---- results ---- */

static void write_results(Writer *w, const char *sum)
{
    const CudaKernel *k = w->k;
    KernelText *t = &w->text;
    kernel_name(t, t->depth - 1, k->loops.product->value, sum);
    for (uint32_t i = 0; i < k->loops.n_stores; i++) {
        const NestStore *s = &t->nest->stores.at[k->loops.store[i]];
        const char *x = cuda_value(w, s->value);
        kernel_line(t, "t%u[%s] = from_float<%s>(%s);", s->tensor,
                    cuda_index(w, s->tensor, &s->index, AT_ELEMENT),
                    cuda_type(t->nest->tensors.at[s->tensor].dtype), x);
    }
}

static void write_stores(Writer *w)
{
    const CudaKernel *k = w->k;
    const KernelProduct *p = k->loops.product;
    KernelText *t = &w->text;
    long long high = k->products ? ROWS * 2 : k->tile / SIDE;
    long long wide = k->products ? COLUMNS * 2 : k->tile / SIDE;
    kernel_open(t, 0, "#pragma unroll\nfor (int r = 0; r < %lld; r++) {", high);
    if (k->products)
        kernel_line(t, "const int i = m0 + row + r * 8;");
    else
        kernel_line(t, "const int i = m0 + r / 4 * %d + row + r %% 4;", SMALL);
    kernel_open(t, kernel_bits(&p->m), "if (i < %lld) {", (long long)p->m.count);
    bind_axes(w, &p->m, "i");
    kernel_open(t, 0, "#pragma unroll\nfor (int c = 0; c < %lld; c++) {", wide);
    if (k->products)
        kernel_line(t, "const int j = n0 + column + c / 2 * %d + lane %% 4 * 2 + c %% 2;",
                    TILE_COLUMNS);
    else
        kernel_line(t, "const int j = n0 + c / 4 * %d + column + c %% 4;", SMALL);
    kernel_open(t, kernel_bits(&p->n), "if (j < %lld) {", (long long)p->n.count);
    bind_axes(w, &p->n, "j");
    write_results(w, k->products ? "sums[r / 2][c / 2][r % 2 * 2 + c % 2]" : "sums[r][c]");
    for (int i = 0; i < 4; i++)
        kernel_close(t);
}

static void declare_tiles(Writer *w, const Side *left, const Side *right)
{
    const CudaKernel *k = w->k;
    long long pad = k->products ? TENSOR_PAD : 4, high = left->tile + pad, wide = right->tile + pad;
    if (!k->shared) {
        kernel_line(&w->text,
                    "__shared__ __align__(16) float left[2][%d][%lld], right[2][%d][%lld];", SLICE,
                    high, SLICE, wide);
        return;
    }
    kernel_line(&w->text, "extern __shared__ __align__(16) unsigned char held[];");
    kernel_line(&w->text, "float (*left)[%d][%lld] = reinterpret_cast<float (*)[%d][%lld]>(held);",
                SLICE, high, SLICE, high);
    kernel_line(&w->text,
                "float (*right)[%d][%lld] = reinterpret_cast<float (*)[%d][%lld]>(held + %lld);",
                SLICE, wide, SLICE, wide, STAGES * SLICE * high * (long long)sizeof(float));
}

static void multiply_slice(Writer *w)
{
    const CudaKernel *k = w->k;
    KernelText *t = &w->text;
    kernel_open(t, 0, "#pragma unroll\nfor (int half = 0; half < %d; half += %d) {", SLICE, HALF);
    (k->products ? write_tensor_multiply : write_multiply)(w);
    kernel_close(t);
}

/* Slices are copied to shared memory while those before are multiplied. */
static void walk_copies(Writer *w, const Side *left, const Side *right)
{
    enum { AHEAD = STAGES - 1 };
    KernelText *t = &w->text;
    long long count = (long long)w->k->loops.product->k.count;
    kernel_open(t, 0, "for (int k0 = -%d; k0 < %lld; k0 += %d) {", AHEAD * SLICE, count, SLICE);
    kernel_line(t, "const int k1 = k0 + %d, now = k0 / %d & %d, next = k1 / %d & %d;",
                AHEAD * SLICE, SLICE, STAGES - 1, SLICE, STAGES - 1);
    kernel_line(t, "wait_copies_but<%d>();", AHEAD - 1);
    kernel_line(t, "__syncthreads();");
    open_slice(w);
    write_copy(w, left);
    write_copy(w, right);
    kernel_close(t);
    kernel_line(t, "end_copies();");
    if (w->k->promoted)
        kernel_line(t, "float part[%d][%d][4] = {};", ROWS, COLUMNS);
    multiply_slice(w);
    if (w->k->promoted)
        kernel_line(t, "add_tiles(sums, part);");
    kernel_close(t);
}

/* Factors are evaluated into registers, half a slice at once, and kept while the slice before is multiplied. */
static void walk_halves(Writer *w, const Side *left, const Side *right)
{
    const CudaKernel *k = w->k;
    const KernelProduct *p = k->loops.product;
    KernelText *t = &w->text;
    kernel_open(t, 0, "for (int k0 = -%d; k0 < %lld; k0 += %d) {", SLICE, (long long)p->k.count,
                SLICE);
    kernel_line(t, "const int now = k0 / %d & 1, k1 = k0 + %d;", SLICE, SLICE);
    if (k->promoted)
        kernel_line(t, "float part[%d][%d][4] = {};", ROWS, COLUMNS);
    kernel_open(t, 0, "#pragma unroll\nfor (int half = 0; half < %d; half += %d) {", SLICE, HALF);
    kernel_line(t, "float left_next[%lld], right_next[%lld];", fetched_of(w, left),
                fetched_of(w, right));
    open_slice(w);
    write_fetch(w, left);
    write_fetch(w, right);
    kernel_close(t);
    (k->products ? write_tensor_multiply : write_multiply)(w);
    kernel_open(t, 0, "if (k1 < %lld) {", (long long)p->k.count);
    write_keep(w, left);
    write_keep(w, right);
    kernel_close(t);
    kernel_close(t);
    if (k->promoted)
        kernel_line(t, "add_tiles(sums, part);");
    kernel_line(t, "__syncthreads();");
    kernel_close(t);
}

void cuda_write_product(Writer *w)
{
    const CudaKernel *k = w->k;
    const KernelProduct *p = k->loops.product;
    KernelText *t = &w->text;
    Side left = side_of(w, true), right = side_of(w, false);
    long long wide = (long long)kernel_blocks(p->n.count, k->wide);
    long long high = (long long)kernel_blocks(p->m.count, k->tile);
    declare_tiles(w, &left, &right);
    kernel_line(t, "const int n0 = (int)(blockIdx.x %% %lld) * %lld;", wide, right.tile);
    kernel_line(t, "const int m0 = (int)(blockIdx.x / %lld %% %lld) * %lld;", wide, high,
                left.tile);
    declare_sums(w);
    kernel_open(t, kernel_bits(&p->batch), "{");
    if (p->batch.n) {
        kernel_line(t, "const int q = (int)(blockIdx.x / %lldll);", wide * high);
        bind_axes(w, &p->batch, "q");
    }
    (k->shared ? walk_copies : walk_halves)(w, &left, &right);
    write_stores(w);
    kernel_close(t);
}
