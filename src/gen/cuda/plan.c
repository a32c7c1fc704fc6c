/* From a task to a CUDA source file. In: a graph. Out: kernels, a launcher in plain C, the operands. */
#include "gen/cuda/cuda_int.h"
#include "gen/kernel/text.h"

/* ---- the launcher ---- */

static void put_call(const Nest *nest, const CudaKernel *k, const char *kernel,
                     const char *const *arg, Buf *out)
{
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
        buf_printf(out, "%s(%s%s *)%s", any ? ", " : "", written[i] ? "" : "const ",
                   cuda_type(nest->tensors.at[i].dtype), arg[i]);
        any = true;
    }
    buf_puts(out, ");\n");
}

static void describe(const CudaKernel *k, Buf *out)
{
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

static void put_source(const CudaKernels *ks, CudaPlan *plan, const char *const *arg, Buf *out)
{
    Arena *arena = ks->arena;
    buf_printf(out, "// %s: CUDA C++ written by acraft for the sizes of its task.\n", plan->name);
    buf_add(out, cuda_prelude, (size_t)(cuda_prelude_end - cuda_prelude));
    for (uint32_t i = 0; i < ks->at.len; i++) {
        buf_char(out, '\n');
        describe(&ks->at.at[i], out);
        cuda_write_kernel(ks->nest, &ks->at.at[i], str_format(arena, "%s_%u", plan->name, i), out);
    }
    buf_printf(out, "\nextern \"C\" int %s_launch(", plan->name);
    kernel_parameters(&plan->task, "void *workspace, void *stream", out);
    buf_puts(out, ")\n{\n    (void)workspace;\n");
    for (uint32_t i = 0; i < ks->at.len; i++)
        put_call(ks->nest, &ks->at.at[i], str_format(arena, "%s_%u", plan->name, i), arg, out);
    buf_puts(out, "    return (int)cudaGetLastError();\n}\n");
}

static void put_header(const CudaPlan *plan, const Graph *graph, Buf *out)
{
    const char *about = str_format(
        plan->task.kernels.arena,
        "/* Launches %s on a stream. All pointers are to device memory, at multiples of 16\n"
        " * bytes; the workspace has %s_WORKSPACE bytes. Returns a cudaError_t; it does not "
        "wait. */\n",
        plan->name, plan->name);
    kernel_header(&plan->task, graph, plan->name, about, "void *workspace, void *stream", out);
}

static bool has_type(DType dtype) { return cuda_type(dtype); }

bool cuda_plan(Arena *arena, const Graph *graph, const char *name, CudaPlan *plan, Diag *diag)
{
    static const KernelLimits limits = {.platform = "CUDA",
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
    const Nest *nest = task->kernels.nest;
    CudaKernels ks = {.arena = arena, .nest = nest};
    const char **arg = arena_array(arena, const char *, nest->tensors.len + 1);
    for (uint32_t i = 0; i < nest->tensors.len; i++)
        arg[i] = task->argument[i]
                     ? task->argument[i]
                     : str_format(arena, "((char *)workspace + %lld)", (long long)task->place[i]);
    for (uint32_t i = 0; i < task->kernels.at.len; i++) {
        CudaKernel made = {.loops = task->kernels.at.at[i]}, *k = &made;
        cuda_roles(nest, k);
        if (k->blocks > INT32_MAX ||
            (k->loops.shape != KERNEL_MAP && k->loops.points > INT32_MAX / 2)) {
            diag_error(
                diag, "G002", (Span){0},
                "CUDA: the task cannot be planned yet: it has more rows than a launch has blocks");
            return false;
        }
        vec_push(arena, &ks.at, made);
        CudaStage stage = {kernel_role(&k->loops), k->blocks, k->threads, k->cluster, k->vector,
                           k->items * k->vector};
        vec_push(arena, &plan->stages, stage);
    }
    Buf source = {0}, header = {0};
    put_source(&ks, plan, arg, &source);
    put_header(plan, graph, &header);
    plan->source = kernel_text(arena, &source);
    plan->header = kernel_text(arena, &header);
    return true;
}
