/* Products of matrices as CUDA text. In: a kernel of products. Out: the body of a __global__ function.
 *
 *     block      a square tile of the result, 16 x 16 threads, sums in registers
 *       slice    16 places of k: both factors are evaluated, whatever they are made of (views, masks, casts), while the
 *                slice before is multiplied; then they go to shared memory
 *     then       what each element of the tile is used for
 */
#include "gen/cuda/write_int.h"

#include <stdlib.h>

enum {
    THREADS = 256,
    SIDE = 16,  /* threads along rows and along columns */
    SLICE = 16, /* places of k at once */
    LARGE = 128,
    SMALL = 64,
    PROCESSORS = 132
};

static int64_t count_blocks(const KernelProduct *p, int64_t tile)
{
    return p->batch.count * kernel_blocks(p->m.count, tile) * kernel_blocks(p->n.count, tile);
}

void cuda_product_roles(CudaKernel *k)
{
    const KernelProduct *p = k->loops.product;
    k->tile = count_blocks(p, LARGE) >= PROCESSORS ? LARGE : SMALL;
    k->threads = THREADS;
    k->vector = k->team = k->cluster = k->tall = 1;
    k->blocks = count_blocks(p, k->tile);
}

static void bind_axes(Writer *w, const KernelAxes *g, const char *number)
{
    if (g->n)
        cuda_axes(w, number, g->count > INT32_MAX / 2, g->axis, g->n, 1, 1);
}

/* Neighbouring places of k lie side by side in what the factor reads. */
static bool lies_along_k(const Nest *nest, const KernelProduct *p, NestId factor)
{
    int64_t along = kernel_step(nest, factor, kernel_bits(&p->k));
    int64_t across = kernel_step(nest, factor, kernel_bits(factor == p->left ? &p->m : &p->n));
    return along && (!across || along < across);
}

/* What a thread fetches of a factor's slice, into registers. */
static void write_fetch(Writer *w, NestId factor, const KernelAxes *g, const char *name,
                        const char *base)
{
    const KernelProduct *p = w->k->loops.product;
    KernelText *t = &w->text;
    int64_t tile = w->k->tile;
    bool along = lies_along_k(t->nest, p, factor);
    kernel_open(t, 0, "#pragma unroll\nfor (int s = 0; s < %lld; s++) {",
                (long long)(tile * SLICE / THREADS));
    kernel_line(t, "const int e = threadIdx.x + s * %d;", THREADS);
    kernel_line(t, "const int i = %s + e %s %lld, j = k0 + e %s %lld;", base, along ? "/" : "%",
                (long long)(along ? SLICE : tile), along ? "%" : "/",
                (long long)(along ? SLICE : tile));
    kernel_line(t, "%s_next[s] = 0.0f;", name);
    kernel_open(t, kernel_bits(g) | kernel_bits(&p->k), "if (i < %lld && j < %lld) {",
                (long long)g->count, (long long)p->k.count);
    bind_axes(w, g, "i");
    bind_axes(w, &p->k, "j");
    const char *x = cuda_value(w, factor);
    kernel_line(t, "%s_next[s] = %s;", name, x);
    kernel_close(t);
    kernel_close(t);
}

static void write_keep(Writer *w, NestId factor, const char *name)
{
    const KernelProduct *p = w->k->loops.product;
    int64_t tile = w->k->tile;
    bool along = lies_along_k(w->text.nest, p, factor);
    kernel_open(&w->text, 0, "#pragma unroll\nfor (int s = 0; s < %lld; s++) {",
                (long long)(tile * SLICE / THREADS));
    kernel_line(&w->text, "const int e = threadIdx.x + s * %d;", THREADS);
    if (along)
        kernel_line(&w->text, "%s[e %% %d][e / %d] = %s_next[s];", name, SLICE, SLICE, name);
    else
        kernel_line(&w->text, "%s[e / %lld][e %% %lld] = %s_next[s];", name, (long long)tile,
                    (long long)tile, name);
    kernel_close(&w->text);
}

/* Threads take four neighbouring rows and columns of every 64. */
static void write_multiply(Writer *w)
{
    KernelText *t = &w->text;
    int64_t each = w->k->tile / SIDE;
    kernel_open(t, 0, "#pragma unroll\nfor (int j = 0; j < %d && k0 > 0; j++) {", SLICE);
    kernel_line(t, "float a[%lld][4], b[%lld][4];", (long long)each / 4, (long long)each / 4);
    for (int64_t i = 0; i < each; i += 4) {
        kernel_line(t, "load_pack(a[%lld], &left[j][%lld + row]);", (long long)i / 4,
                    (long long)(i / 4 * SMALL));
        kernel_line(t, "load_pack(b[%lld], &right[j][%lld + column]);", (long long)i / 4,
                    (long long)(i / 4 * SMALL));
    }
    kernel_open(t, 0, "#pragma unroll\nfor (int r = 0; r < %lld; r++) {", (long long)each);
    kernel_line(t, "#pragma unroll");
    kernel_line(t, "for (int c = 0; c < %lld; c++)", (long long)each);
    kernel_line(t, "    sums[r][c] = fmaf(a[r / 4][r %% 4], b[c / 4][c %% 4], sums[r][c]);");
    kernel_close(t);
    kernel_close(t);
}

static void write_stores(Writer *w)
{
    const CudaKernel *k = w->k;
    const KernelProduct *p = k->loops.product;
    KernelText *t = &w->text;
    long long each = (long long)(k->tile / SIDE);
    kernel_open(t, 0, "#pragma unroll\nfor (int r = 0; r < %lld; r++) {", each);
    kernel_line(t, "const int i = m0 + r / 4 * %d + row + r %% 4;", SMALL);
    kernel_open(t, kernel_bits(&p->m), "if (i < %lld) {", (long long)p->m.count);
    bind_axes(w, &p->m, "i");
    kernel_open(t, 0, "#pragma unroll\nfor (int c = 0; c < %lld; c++) {", each);
    kernel_line(t, "const int j = n0 + c / 4 * %d + column + c %% 4;", SMALL);
    kernel_open(t, kernel_bits(&p->n), "if (j < %lld) {", (long long)p->n.count);
    bind_axes(w, &p->n, "j");
    kernel_name(t, t->depth - 1, p->value, "sums[r][c]");
    for (uint32_t i = 0; i < k->loops.n_stores; i++) {
        const NestStore *s = &t->nest->stores.at[k->loops.store[i]];
        const char *x = cuda_value(w, s->value);
        kernel_line(t, "t%u[%s] = from_float<%s>(%s);", s->tensor,
                    cuda_index(w, s->tensor, &s->index, AT_ELEMENT),
                    cuda_type(t->nest->tensors.at[s->tensor].dtype), x);
    }
    for (int i = 0; i < 4; i++)
        kernel_close(t);
}

void cuda_write_product(Writer *w)
{
    const CudaKernel *k = w->k;
    const KernelProduct *p = k->loops.product;
    KernelText *t = &w->text;
    long long tile = (long long)k->tile, wide = (long long)kernel_blocks(p->n.count, k->tile);
    long long high = (long long)kernel_blocks(p->m.count, k->tile);
    long long fetched = tile * SLICE / THREADS;
    kernel_line(t, "__shared__ __align__(16) float left[%d][%lld], right[%d][%lld];", SLICE,
                tile + 4, SLICE, tile + 4);
    kernel_line(t, "const int n0 = (int)(blockIdx.x %% %lld) * %lld;", wide, tile);
    kernel_line(t, "const int m0 = (int)(blockIdx.x / %lld %% %lld) * %lld;", wide, high, tile);
    kernel_line(t,
                "const int row = (int)threadIdx.x / %d * 4, column = (int)threadIdx.x %% %d * 4;",
                SIDE, SIDE);
    kernel_line(t, "float sums[%lld][%lld] = {}, left_next[%lld], right_next[%lld];", tile / SIDE,
                tile / SIDE, fetched, fetched);
    kernel_open(t, kernel_bits(&p->batch), "{");
    if (p->batch.n) {
        kernel_line(t, "const int q = (int)(blockIdx.x / %lldll);", wide * high);
        bind_axes(w, &p->batch, "q");
    }
    kernel_open(t, 0, "for (int k0 = 0;; k0 += %d) {", SLICE);
    kernel_open(t, 0, "if (k0 < %lld) {", (long long)p->k.count);
    write_fetch(w, p->left, &p->m, "left", "m0");
    write_fetch(w, p->right, &p->n, "right", "n0");
    kernel_close(t);
    write_multiply(w);
    kernel_line(t, "if (k0 >= %lld)\n        break;", (long long)p->k.count);
    kernel_line(t, "__syncthreads();");
    write_keep(w, p->left, "left");
    write_keep(w, p->right, "right");
    kernel_line(t, "__syncthreads();");
    kernel_close(t);
    write_stores(w);
    kernel_close(t);
}
