/* From a task to a CUDA source file. In: a graph. Out: kernels, a launcher in plain C, the operands. */
#include "gen/cuda/cuda_int.h"
#include "gen/kernel/text.h"

/* ---- the launcher ---- */

static void put_call(Arena *arena, const KernelPart *part, const CudaKernel *k, const char *kernel,
                     Buf *out)
{
    const Nest *nest = part->kernels.nest;
    bool *used = arena_array(nest->arena, bool, nest->tensors.len);
    bool *written = arena_array(nest->arena, bool, nest->tensors.len), any = false;
    kernel_tensors(nest, &k->loops, used, written);
    if (k->cluster > 8)
        buf_printf(out,
                   "    cudaFuncSetAttribute(%s, cudaFuncAttributeNonPortableClusterSizeAllowed, "
                   "1);\n",
                   kernel);
    if (k->shared_bytes)
        buf_printf(out,
                   "    cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                   "%lld);\n",
                   kernel, (long long)k->shared_bytes);
    buf_printf(out, "    %s<<<%lld, %u, %lld, (cudaStream_t)stream>>>(", kernel,
               (long long)k->blocks, k->threads, (long long)k->shared_bytes);
    for (uint32_t i = 0; i < nest->tensors.len; i++) {
        if (!used[i] && !written[i])
            continue;
        const char *at = part->argument[i] ? part->argument[i]
                                           : str_format(arena, "((char *)workspace + %lld)",
                                                        (long long)part->place[i]);
        buf_printf(out, "%s(%s%s *)%s", any ? ", " : "", written[i] ? "" : "const ",
                   cuda_type(nest->tensors.at[i].dtype), at);
        any = true;
    }
    buf_puts(out, ");\n");
}

static void describe(const CudaKernel *k, Buf *out)
{
    const KernelProduct *p = k->loops.product;
    if (p) {
        static const char *const units[] = {[1] = ", tensor cores, factors as tf32",
                                            [3] = ", tensor cores, three products of tf32 for one"};
        buf_printf(out, "// product: %lld of %lld x %lld x %lld, blocks of %lld x %lld%s.\n",
                   (long long)p->batch.count, (long long)p->m.count, (long long)p->n.count,
                   (long long)p->k.count, (long long)k->tile, (long long)k->wide,
                   k->products ? units[k->products] : "");
        return;
    }
    buf_printf(out, "// %s: %lld point%s", kernel_role(&k->loops), (long long)k->loops.points,
               k->loops.points == 1 ? "" : "s");
    if (k->loops.row)
        buf_printf(out, ", rows of %lld, %u thread%s%s to a row", (long long)k->loops.length,
                   k->team * k->cluster, k->team * k->cluster == 1 ? "" : "s",
                   k->cluster > 1 ? " in a cluster of blocks" : "");
    buf_printf(out, ", %u element%s at once", k->vector, k->vector == 1 ? "" : "s");
    if (k->loops.shape == KERNEL_ROWS)
        buf_puts(out, k->shared  ? ", rows stay in shared memory"
                      : k->items ? ", rows stay in registers"
                                 : ", rows are read once for each pass");
    buf_puts(out, ".\n");
}

static void put_source(Arena *arena, CudaPlan *plan, const CudaKernel *kernels, Buf *out)
{
    uint32_t n = 0;
    buf_printf(out, "// %s: CUDA C++ written by acraft for the sizes of its task.\n", plan->name);
    buf_add(out, cuda_prelude, (size_t)(cuda_prelude_end - cuda_prelude));
    for (uint32_t p = 0; p < plan->task.parts.len; p++) {
        const Kernels *ks = &plan->task.parts.at[p].kernels;
        for (uint32_t i = 0; i < ks->at.len; i++, n++) {
            buf_char(out, '\n');
            describe(&kernels[n], out);
            cuda_write_kernel(ks->nest, &kernels[n], str_format(arena, "%s_%u", plan->name, n),
                              out);
        }
    }
    buf_printf(out, "\nextern \"C\" int %s_launch(", plan->name);
    kernel_parameters(&plan->task, "void *workspace, void *stream", out);
    buf_puts(out, ")\n{\n    (void)workspace;\n");
    n = 0;
    for (uint32_t p = 0; p < plan->task.parts.len; p++)
        for (uint32_t i = 0; i < plan->task.parts.at[p].kernels.at.len; i++, n++)
            put_call(arena, &plan->task.parts.at[p], &kernels[n],
                     str_format(arena, "%s_%u", plan->name, n), out);
    buf_puts(out, "    return (int)cudaGetLastError();\n}\n");
}

static void put_header(Arena *arena, const CudaPlan *plan, const Graph *graph, Buf *out)
{
    const char *about = str_format(
        arena,
        "/* Launches %s on a stream. All pointers are to device memory, at multiples of 16\n"
        " * bytes; the workspace has %s_WORKSPACE bytes. Returns a cudaError_t; it does not "
        "wait. */\n",
        plan->name, plan->name);
    kernel_header(&plan->task, graph, plan->name, about, "void *workspace, void *stream", out);
}

static bool has_type(DType dtype) { return cuda_type(dtype); }

bool cuda_plan(Arena *arena, const Graph *graph, const char *name, CudaOptions options,
               CudaPlan *plan, Diag *diag)
{
    static const KernelLimits limits = {.platform = "CUDA",
                                        .products = true,
                                        .meets = true,
                                        .again = true,
                                        .serial_most = 4096,
                                        .serial_again = 64,
                                        .few_threads = 64 * 1024,
                                        .few_rows = 264,
                                        .team_row = 400 * 1024, /* what blocks of a cluster hold */
                                        .long_row = 16 * 1024,
                                        .chunk = 16 * 1024,
                                        .least_chunk = 2048,
                                        .enough_chunks = 256};
    *plan = (CudaPlan){.name = name};
    KernelTask *task = &plan->task;
    if (!kernel_task(arena, graph, &limits, has_type, task, diag))
        return false;
    CudaKernel *kernels = arena_array(arena, CudaKernel, kernel_total(task) + 1), *k = kernels;
    for (uint32_t p = 0; p < task->parts.len; p++) {
        const Kernels *ks = &task->parts.at[p].kernels;
        for (uint32_t i = 0; i < ks->at.len; i++, k++) {
            k->loops = ks->at.at[i];
            k->tf32 = options.tf32;
            cuda_roles(ks->nest, k);
            if (k->blocks > INT32_MAX ||
                (k->loops.shape != KERNEL_MAP && k->loops.shape != KERNEL_PRODUCT &&
                 k->loops.points > INT32_MAX / 2)) {
                diag_error(diag, "G002", (Span){0},
                           "CUDA: the task cannot be planned yet: it has more rows than a launch "
                           "has blocks");
                return false;
            }
            CudaStage stage = {kernel_role(&k->loops), k->blocks, k->threads, k->cluster, k->vector,
                               k->items * k->vector};
            vec_push(arena, &plan->stages, stage);
        }
    }
    Buf source = {0}, header = {0};
    put_source(arena, plan, kernels, &source);
    put_header(arena, plan, graph, &header);
    plan->source = kernel_text(arena, &source);
    plan->header = kernel_text(arena, &header);
    return true;
}
