/* From a task to a Python file with Pallas kernels. In: a graph. Out: kernels, a function that calls them. */
#include "gen/pallas/pallas_int.h"

enum { START = 256 << 10 }; /* elements of the largest blocks that are tried, times 4 */

static bool has_type(DType dtype) { return pallas_type(dtype); }

static const char *describe(Arena *arena, const Nest *nest, const PallasKernel *k, int64_t bytes)
{
    Buf out = {0};
    buf_printf(&out, "%s: grid of", kernel_role(&k->loops));
    for (uint32_t i = 0; i < k->n_grid; i++)
        buf_printf(&out, "%s %lld", i ? " x" : "", (long long)pallas_blocks(nest, k, k->grid[i]));
    for (uint32_t i = 0; i < k->n_walked; i++)
        buf_printf(&out, "%s %lld", i || k->n_grid ? " x" : "",
                   (long long)pallas_blocks(nest, k, k->walked[i]));
    if (!k->n_grid && !k->n_walked)
        buf_puts(&out, " 1");
    if (k->passes > 1)
        buf_printf(&out, " in %u passes", k->passes);
    buf_puts(&out, ", blocks of");
    for (uint32_t i = 0; i < k->rank; i++)
        buf_printf(&out, "%s %lld", i ? " x" : "",
                   k->tile[i] ? (long long)k->block[k->tile[i]] : 1LL);
    buf_printf(&out, ", %.2f MiB of VMEM", (double)bytes / (1 << 20));
    return kernel_take(arena, &out);
}

/* ---- the function ---- */

static void put_docs(const PallasPlan *plan, const Graph *graph, Buf *out)
{
    buf_puts(out, "    \"\"\"Arrays as PyTorch has them; float16 and float64 have no kernel.\n\n");
    for (uint32_t i = 0; i < plan->task.operands.len; i++) {
        const KernelOperand *o = &plan->task.operands.at[i];
        const char *of = o->output ? NULL : graph_value(graph, o->value)->name;
        buf_printf(out, "    %s: %s%s%s, %s, (", o->name, o->output ? "result" : "input",
                   of ? " " : "", of ? of : "", dtype_name(o->dtype));
        kernel_shape(graph, o->value, out);
        buf_puts(out, ")\n");
    }
    buf_puts(out, "    \"\"\"\n");
}

static void put_function(const PallasPlan *plan, const Graph *graph, const PallasCall *calls,
                         Buf *out)
{
    const KernelTask *task = &plan->task;
    const Nest *nest = task->parts.at[0].kernels.nest;
    bool *begun = arena_array(nest->arena, bool, nest->tensors.len);
    buf_printf(out, "\n\n@functools.partial(jax.jit, static_argnames=\"interpret\")\ndef %s(",
               plan->name);
    for (uint32_t i = 0; i < task->operands.len; i++)
        if (!task->operands.at[i].output)
            buf_printf(out, "%s, ", task->operands.at[i].name);
    buf_puts(out, "interpret=False):\n");
    put_docs(plan, graph, out);
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const KernelOperand *o = &task->operands.at[i];
        if (!o->output)
            buf_printf(out, "    %s = jnp.asarray(%s).astype(jnp.%s)\n", o->name, o->name,
                       pallas_type(o->dtype));
    }
    for (uint32_t i = 0; i < nest->stores.len; i++) {
        const NestStore *s = &nest->stores.at[i];
        const NestTensor *t = &nest->tensors.at[s->tensor];
        if (!begun[s->tensor] && pallas_is_part(nest, s))
            buf_printf(out, "    %s = jnp.zeros(%lld, jnp.%s)\n",
                       pallas_tensor(nest, task, s->tensor), (long long)t->count,
                       pallas_type(t->dtype));
        begun[s->tensor] = begun[s->tensor] || pallas_is_part(nest, s);
    }
    for (uint32_t i = 0; i < kernel_total(task); i++)
        buf_puts(out, calls[i].call);
    buf_puts(out, "    return (\n");
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const KernelOperand *o = &task->operands.at[i];
        if (!o->output)
            continue;
        buf_printf(out, "        %s.reshape((", o->name);
        kernel_shape(graph, o->value, out);
        buf_printf(out, "))%s,\n", o->dtype == DT_BOOL ? " != 0" : "");
    }
    buf_puts(out, "    )\n");
}

static void put_source(PallasPlan *plan, const Graph *graph, const PallasCall *calls, Buf *out)
{
    buf_printf(out,
               "\"\"\"%s: Pallas kernels written by acraft for the sizes of their task. No TPU ran "
               "them.\"\"\"\n",
               plan->name);
    buf_add(out, pallas_prelude, (size_t)(pallas_prelude_end - pallas_prelude));
    for (uint32_t i = 0; i < kernel_total(&plan->task); i++)
        buf_printf(out, "\n\n# %s\n%s", plan->kernels.at[i], calls[i].function);
    put_function(plan, graph, calls, out);
}

bool pallas_plan(Arena *arena, const Graph *graph, const char *name, PallasPlan *plan, Diag *diag)
{
    static const int64_t never = INT64_MAX / 8;
    static const KernelLimits limits = {.platform = "Pallas",
                                        .keep_axes = true,
                                        .serial_most = 128, /* windows, unrolled */
                                        .serial_again = 128,
                                        .team_row = never, /* rows are walked by the grid */
                                        .long_row = never,
                                        .chunk = never,
                                        .least_chunk = never,
                                        .enough_chunks = 1};
    *plan = (PallasPlan){.name = name};
    if (!kernel_task(arena, graph, &limits, has_type, &plan->task, diag))
        return false;
    const Kernels *ks = &plan->task.parts.at[0].kernels; /* without products there is one */
    PallasCall *calls = arena_array(arena, PallasCall, ks->at.len + 1);
    for (uint32_t i = 0; i < ks->at.len; i++) {
        PallasKernel k;
        for (int64_t most = 0; most == 0 || most >= PALLAS_LEAST;
             most = (most ? most : START) / 4) {
            k = (PallasKernel){.loops = ks->at.at[i]};
            pallas_roles(ks->nest, &k, most);
            calls[i] = pallas_write_kernel(ks->nest, &k, &plan->task,
                                           str_format(arena, "%s_%u", name, i));
            if (calls[i].bytes <= PALLAS_VMEM)
                break;
        }
        if (calls[i].bytes > PALLAS_VMEM) {
            diag_error(diag, "G002", (Span){0},
                       "Pallas: the task cannot be planned yet: a kernel's blocks take %.1f MiB of "
                       "VMEM, which has 16",
                       (double)calls[i].bytes / (1 << 20));
            return false;
        }
        vec_push(arena, &plan->kernels, describe(arena, ks->nest, &k, calls[i].bytes));
    }
    Buf source = {0};
    put_source(plan, graph, calls, &source);
    plan->source = kernel_text(arena, &source);
    return true;
}
