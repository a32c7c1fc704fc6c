/* From a task to a C source file. In: a graph. Out: kernels, a launcher that shares them between threads. */
#include "gen/cpu/cpu_int.h"

enum { SERIAL_WORK = 32 * 1024 }; /* elements below which threads cost more than they save */

static bool has_type(DType dtype) { return cpu_type(dtype); }

static const char *describe(Arena *arena, const CpuKernel *k)
{
    const KernelProduct *p = k->loops.product;
    if (p)
        return str_format(arena, "product: %lld of %lld x %lld x %lld, blocks of %lld x %lld",
                          (long long)p->batch.count, (long long)p->m.count, (long long)p->n.count,
                          (long long)p->k.count, (long long)k->rows, (long long)k->columns);
    const char *row = k->loops.row ? str_format(arena, " of %lld", (long long)k->loops.length) : "";
    return str_format(arena, "%s: %lld point%s%s, %lld lane%s of the %s", kernel_role(&k->loops),
                      (long long)k->loops.points, k->loops.points == 1 ? "" : "s", row,
                      (long long)k->lanes, k->lanes == 1 ? "" : "s", k->inside ? "row" : "points");
}

static void put_call(const KernelPart *part, const CpuKernel *k, const char *kernel, Buf *out)
{
    const Nest *nest = part->kernels.nest;
    bool *used = arena_array(nest->arena, bool, nest->tensors.len);
    kernel_tensors(nest, &k->loops, used, used);
    int64_t each = k->loops.product ? k->loops.product->k.count : k->loops.length;
    bool alone = k->units == 1 || k->loops.points * each < SERIAL_WORK;
    buf_printf(out, "    %s {\n        const int64_t i = %s, n = %s;\n        %s(",
               alone ? "" : "_Pragma(\"omp parallel\")", alone ? "0" : "omp_get_thread_num()",
               alone ? "1" : "omp_get_num_threads()", kernel);
    for (uint32_t i = 0; i < nest->tensors.len; i++) {
        if (!used[i])
            continue;
        if (part->argument[i])
            buf_printf(out, "%s, ", part->argument[i]);
        else
            buf_printf(out, "(void *)((char *)workspace + %lld), ", (long long)part->place[i]);
    }
    buf_printf(out, "%lld * i / n, %lld * (i + 1) / n);\n    }\n", (long long)k->units,
               (long long)k->units);
}

static void put_source(Arena *arena, CpuPlan *plan, const CpuKernel *kernels, Buf *out)
{
    uint32_t n = 0;
    buf_printf(out,
               "/* %s: C written by acraft for the sizes of its task. */\n#include \"%s.h\"\n\n",
               plan->name, plan->name);
    buf_puts(out, "#ifdef _OPENMP\n#include <omp.h>\n#else\n"
                  "static int omp_get_thread_num(void) { return 0; }\n"
                  "static int omp_get_num_threads(void) { return 1; }\n#endif\n");
    buf_add(out, cpu_prelude, (size_t)(cpu_prelude_end - cpu_prelude));
    for (uint32_t p = 0; p < plan->task.parts.len; p++) {
        const Kernels *ks = &plan->task.parts.at[p].kernels;
        for (uint32_t i = 0; i < ks->at.len; i++, n++) {
            buf_printf(out, "\n/* %s */\n", describe(arena, &kernels[n]));
            cpu_write_kernel(ks->nest, &kernels[n], str_format(arena, "%s_%u", plan->name, n), out);
        }
    }
    buf_printf(out, "\nint %s_launch(", plan->name);
    kernel_parameters(&plan->task, "void *workspace", out);
    buf_puts(out, ")\n{\n    (void)workspace;\n");
    n = 0;
    for (uint32_t p = 0; p < plan->task.parts.len; p++)
        for (uint32_t i = 0; i < plan->task.parts.at[p].kernels.at.len; i++, n++)
            put_call(&plan->task.parts.at[p], &kernels[n],
                     str_format(arena, "%s_%u", plan->name, n), out);
    buf_puts(out, "    return 0;\n}\n");
}

static void put_header(Arena *arena, const CpuPlan *plan, const Graph *graph, Buf *out)
{
    const char *about = str_format(
        arena,
        "/* Runs %s on the threads of OpenMP. Tensors are contiguous; the workspace has\n"
        " * %s_WORKSPACE bytes, aligned to 64. Returns 0. */\n",
        plan->name, plan->name);
    kernel_header(&plan->task, graph, plan->name, about, "void *workspace", out);
}

bool cpu_plan(Arena *arena, const Graph *graph, const char *name, CpuPlan *plan, Diag *diag)
{
    static const KernelLimits limits = {.platform = "C",
                                        .products = true,
                                        .serial_most = 64, /* windows */
                                        .serial_again = 16,
                                        .few_threads = 4096,
                                        .few_rows = 64,
                                        .team_row = 1 << 20,
                                        .long_row = 32 * 1024,
                                        .chunk = 64 * 1024,
                                        .least_chunk = 16 * 1024,
                                        .enough_chunks = 64};
    *plan = (CpuPlan){.name = name};
    if (!kernel_task(arena, graph, &limits, has_type, &plan->task, diag))
        return false;
    CpuKernel *kernels = arena_array(arena, CpuKernel, kernel_total(&plan->task) + 1), *k = kernels;
    for (uint32_t p = 0; p < plan->task.parts.len; p++) {
        const Kernels *ks = &plan->task.parts.at[p].kernels;
        for (uint32_t i = 0; i < ks->at.len; i++, k++) {
            k->loops = ks->at.at[i];
            cpu_roles(ks->nest, k);
            vec_push(arena, &plan->kernels, describe(arena, k));
        }
    }
    Buf source = {0}, header = {0};
    put_source(arena, plan, kernels, &source);
    put_header(arena, plan, graph, &header);
    plan->source = kernel_text(arena, &source);
    plan->header = kernel_text(arena, &header);
    return true;
}
