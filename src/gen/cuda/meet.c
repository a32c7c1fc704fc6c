/* Index writes as CUDA text. In: a kernel whose results writes meet. Out: the body of a __global__ function.
 *
 *     block      a range of a row of results, in shared memory
 *       warp     a part of the range: looks at all writes, 32 at once, in their order, and joins those that meet its part
 *     then       what each result is used for
 *
 * A result belongs to one warp and the order of writes is theirs, so two runs give the same bits. */
#include "gen/cuda/write_int.h"

enum { THREADS = 1024, WARPS = 32, MOST_PLACES = 4096, LEAST_PLACES = 1024, ROUNDS = 8 };

void cuda_meet_roles(CudaKernel *k)
{
    k->threads = THREADS;
    k->vector = k->team = k->cluster = k->tall = 1;
    for (k->tile = LEAST_PLACES; k->tile < MOST_PLACES && k->tile < k->loops.length;)
        k->tile *= 2;
    k->blocks = k->loops.points * kernel_blocks(k->loops.length, k->tile);
}

static long long writes_of(const Writer *w, const KernelMeet *meet)
{
    return (long long)w->text.nest->axes.at[meet->writes].size;
}

/* Opens the scope of the thread's own write of these 32. */
static void open_own(Writer *w, const KernelMeet *meet)
{
    kernel_open(&w->text, UINT64_C(1) << meet->writes,
                "if (base + (int)threadIdx.x %% 32 < %lld) {", writes_of(w, meet));
    kernel_line(&w->text, "const int a%u = base + threadIdx.x %% 32;", meet->writes);
}

void cuda_meet_beside(Writer *w, const KernelMeet *meet, bool lanes)
{
    const char *join = cuda_join(w->text.nest->values.at[meet->value].reduce);
    const char *sum = str_format(w->text.arena, lanes ? "v%u[v]" : "v%u", meet->value);
    kernel_open(&w->text, 0, "#pragma unroll 4\nfor (int base = 0; base < %lld; base += 32) {",
                writes_of(w, meet));
    kernel_line(&w->text, "bool met = false;");
    open_own(w, meet);
    const char *mask = cuda_value(w, meet->mask);
    kernel_line(&w->text, "met = %s;", mask);
    kernel_close(&w->text);
    kernel_open(&w->text, UINT64_C(1) << meet->writes,
                "for (unsigned left = __ballot_sync(0xffffffffu, met); left; left &= left - 1) {");
    kernel_line(&w->text, "const int a%u = base + __ffs(left) - 1;", meet->writes);
    if (lanes)
        cuda_open_lanes(w);
    const char *x = cuda_value(w, meet->of);
    kernel_line(&w->text, "%s = %s::join(%s, %s);", sum, join, sum, x);
    if (lanes)
        cuda_close_lanes(w);
    kernel_close(&w->text);
    kernel_close(&w->text);
}

/* One reduction over all writes: results of the warp's part of the range. Several rounds of 32 are read at once. */
static void write_joins(Writer *w, const KernelMeet *meet)
{
    const CudaKernel *k = w->k;
    KernelText *t = &w->text;
    const char *join = cuda_join(t->nest->values.at[meet->value].reduce);
    long long part = (long long)k->tile / WARPS;
    kernel_open(t, 0, "for (int from = 0; from < %lld; from += %d) {", writes_of(w, meet),
                32 * ROUNDS);
    kernel_line(t, "int at[%d];", ROUNDS);
    kernel_line(t, "float x[%d];", ROUNDS);
    kernel_open(t, 0, "#pragma unroll\nfor (int i = 0; i < %d; i++) {", ROUNDS);
    kernel_line(t, "const int base = from + i * 32;");
    kernel_line(t, "at[i] = -1;");
    kernel_line(t, "x[i] = 0.0f;");
    open_own(w, meet);
    const char *place = cuda_value(w, meet->place), *x = cuda_value(w, meet->of);
    kernel_line(t, "at[i] = (int)%s - first;", place);
    kernel_line(t, "x[i] = %s;", x);
    kernel_close(t);
    kernel_close(t);
    kernel_open(t, 0, "#pragma unroll\nfor (int i = 0; i < %d; i++) {", ROUNDS);
    kernel_line(t, "const bool met = at[i] >= low && at[i] < low + %lld;", part);
    kernel_open(t, 0,
                "for (unsigned left = __ballot_sync(0xffffffffu, met); left; left &= left - 1) {");
    kernel_line(t, "const int lane = __ffs(left) - 1;");
    kernel_line(t, "const int here = __shfl_sync(0xffffffffu, at[i], lane);");
    kernel_line(t, "const float y = __shfl_sync(0xffffffffu, x[i], lane);");
    kernel_line(t, "if (threadIdx.x %% 32 == 0)");
    kernel_line(t, "    met%u[here] = %s::join(met%u[here], y);", meet->value, join, meet->value);
    kernel_close(t);
    kernel_close(t);
    kernel_close(t);
}

/* The kernel's reductions of writes. */
static uint32_t find_meets(const Writer *w, KernelMeet *meets, uint32_t most)
{
    const Nest *nest = w->text.nest;
    const Kernel *k = &w->k->loops;
    bool *reached = arena_array(w->text.arena, bool, nest->values.len);
    uint32_t n = 0;
    kernel_reach(nest, k, reached);
    for (uint32_t i = 1; i < nest->values.len && n < most; i++)
        n += reached[i] && kernel_meet(nest, i, &meets[n]) && nest->values.at[i].axes == k->kept &&
             k->row == UINT64_C(1) << meets[n].axis;
    return n;
}

void cuda_write_meet(Writer *w)
{
    enum { MOST = 2 };
    const CudaKernel *k = w->k;
    KernelText *t = &w->text;
    KernelMeet meets[MOST];
    uint32_t n = find_meets(w, meets, MOST), axis = k->loops.along[0];
    long long ranges = (long long)kernel_blocks(k->loops.length, k->tile),
              tile = (long long)k->tile;
    for (uint32_t i = 0; i < n; i++)
        kernel_line(t, "__shared__ float met%u[%lld];", meets[i].value, tile);
    kernel_line(t, "const int p = blockIdx.x / %lld, first = (int)(blockIdx.x %% %lld) * %lld;",
                ranges, ranges, tile);
    kernel_line(t, "const int low = (int)threadIdx.x / 32 * %lld;", tile / WARPS);
    cuda_axes(w, "p", false, k->loops.point, k->loops.n_point, 1, 1);
    kernel_open(t, 0, "for (int e = threadIdx.x; e < %lld; e += %d) {", tile, THREADS);
    for (uint32_t i = 0; i < n; i++)
        kernel_line(t, "met%u[e] = %s;", meets[i].value, cuda_value(w, meets[i].none));
    kernel_close(t);
    kernel_line(t, "__syncthreads();");
    for (uint32_t i = 0; i < n; i++)
        write_joins(w, &meets[i]);
    kernel_line(t, "__syncthreads();");
    kernel_open(t, 0, "for (int e = threadIdx.x; e < %lld; e += %d) {", tile, THREADS);
    kernel_open(t, k->loops.row, "if (first + e < %lld) {", (long long)k->loops.length);
    kernel_line(t, "const int a%u = first + e;", axis);
    for (uint32_t i = 0; i < n; i++)
        kernel_name(t, t->depth - 1, meets[i].value,
                    str_format(t->arena, "met%u[e]", meets[i].value));
    cuda_write_results(w);
    kernel_close(t);
    kernel_close(t);
}
