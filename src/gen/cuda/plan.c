/* From a task to a CUDA source file. In: a graph. Out: kernels, a launcher in plain C, the operands. */
#include "gen/cuda/cuda_int.h"

#include "gen/plan/rewrite.h"

enum { ALIGN = 256 };

static bool refuse_cuda(Diag *diag, const char *why)
{
    diag_error(diag, "G002", (Span){0}, "CUDA: the task cannot be planned yet: %s", why);
    return false;
}

/* Derived as it is, or with operators said by others. */
static Nest *derive_task(Arena *arena, const Graph *graph, const ValueId **outer, Diag *diag)
{
    Diag first = diag_make(arena, diag->file, diag->source), second = first;
    *outer = NULL;
    Nest *nest = nest_derive_kind(arena, graph, NEST_GENERAL, &first);
    if (nest)
        return nest;
    const Graph *other = rewrite_composites(arena, graph, outer, &second);
    nest = other ? nest_derive_kind(arena, other, NEST_GENERAL, &second) : NULL;
    const Diag *said = second.items.len ? &second : &first;
    for (uint32_t i = 0; i < said->items.len && !nest; i++) {
        vec_push(diag->arena, &diag->items, said->items.at[i]);
        diag->errors += said->items.at[i].level == DIAG_ERROR;
    }
    return nest;
}

/* ---- operands ---- */

static void add_operand(Arena *arena, CudaPlan *plan, const NestTensor *t, ValueId value)
{
    CudaOperand o = {
        .value = value, .output = t->role == NEST_OUTPUT, .dtype = t->dtype, .count = t->count};
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan->operands.len; i++)
        n += plan->operands.at[i].output == (t->role == NEST_OUTPUT);
    o.name = str_format(arena, "%c%u", t->role == NEST_OUTPUT ? 'y' : 'x', n);
    plan->bytes += t->count * (int64_t)dtype_bytes(t->dtype);
    vec_push(arena, &plan->operands, o);
}

/* Inputs and parameters in the order of the task, then results. arg[i]: the operand of tensor i. */
static bool name_operands(Arena *arena, const Nest *nest, const Graph *graph, const ValueId *outer,
                          CudaPlan *plan, const char **arg, Diag *diag)
{
    uint32_t results = 0;
    for (int output = 0; output < 2; output++)
        for (;;) {
            uint32_t best = nest->tensors.len, place = 0;
            for (uint32_t i = 0; i < nest->tensors.len; i++) {
                const NestTensor *t = &nest->tensors.at[i];
                if (t->role != (output ? NEST_OUTPUT : NEST_INPUT) || arg[i])
                    continue;
                ValueId v = !output && outer ? outer[t->value] : t->value;
                if (v == VALUE_NONE || (!output && graph_value(graph, v)->kind == VALUE_CONST))
                    return refuse_cuda(diag, "a tensor of numbers that the file itself holds");
                uint32_t p = output ? i : graph_place(graph, v);
                if (best == nest->tensors.len || p < place) {
                    best = i;
                    place = p;
                }
            }
            if (best == nest->tensors.len)
                break;
            const NestTensor *t = &nest->tensors.at[best];
            if (!cuda_type(t->dtype))
                return refuse_cuda(diag, str_format(arena, "a tensor of %s", dtype_name(t->dtype)));
            add_operand(arena, plan, t,
                        output  ? graph->outputs.at[results++]
                        : outer ? outer[t->value]
                                : t->value);
            arg[best] = vec_last(&plan->operands).name;
        }
    return true;
}

/* ---- the launcher ---- */

static void put_arguments(const CudaPlan *plan, Buf *out)
{
    for (uint32_t i = 0; i < plan->operands.len; i++)
        buf_printf(out, "%svoid *%s, ", plan->operands.at[i].output ? "" : "const ",
                   plan->operands.at[i].name);
    buf_puts(out, "void *workspace, void *stream");
}

static void put_call(const Nest *nest, const CudaKernel *k, const char *kernel,
                     const char *const *arg, Buf *out)
{
    bool *used = arena_array(nest->arena, bool, nest->tensors.len);
    bool *written = arena_array(nest->arena, bool, nest->tensors.len);
    bool *reached = arena_array(nest->arena, bool, nest->values.len), any = false;
    cuda_reach(nest, k, reached);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (reached[i] &&
            (nest->values.at[i].op == NEST_LOAD || nest->values.at[i].op == NEST_PICK))
            used[nest->values.at[i].tensor] = true;
    for (uint32_t i = 0; i < k->n_stores; i++)
        used[nest->stores.at[k->store[i]].tensor] = written[nest->stores.at[k->store[i]].tensor] =
            true;
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
        if (!used[i])
            continue;
        buf_printf(out, "%s(%s%s *)%s", any ? ", " : "", written[i] ? "" : "const ",
                   cuda_type(nest->tensors.at[i].dtype), arg[i]);
        any = true;
    }
    buf_puts(out, ");\n");
}

static const char *role_of(const CudaKernel *k)
{
    return k->shape == CUDA_SCAN  ? "scan"
           : k->shape == CUDA_MAP ? "stream"
           : k->columns           ? "columns"
                                  : "rows";
}

static void describe(const CudaKernel *k, Buf *out)
{
    buf_printf(out, "// %s: %lld point%s", role_of(k), (long long)k->points,
               k->points == 1 ? "" : "s");
    if (k->row)
        buf_printf(out, ", rows of %lld, %u thread%s%s to a row", (long long)k->length,
                   k->team * k->cluster, k->team * k->cluster == 1 ? "" : "s",
                   k->cluster > 1 ? " in a cluster of blocks" : "");
    buf_printf(out, ", %u element%s at once", k->vector, k->vector == 1 ? "" : "s");
    if (k->shape == CUDA_ROWS)
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
    put_arguments(plan, out);
    buf_puts(out, ")\n{\n    (void)workspace;\n");
    for (uint32_t i = 0; i < ks->at.len; i++)
        put_call(ks->nest, &ks->at.at[i], str_format(arena, "%s_%u", plan->name, i), arg, out);
    buf_puts(out, "    return (int)cudaGetLastError();\n}\n");
}

static void put_header(const CudaPlan *plan, const Graph *graph, Buf *out)
{
    buf_printf(out,
               "/* Launches %s on a stream. All pointers are to device memory, at multiples of 16\n"
               " * bytes; the workspace has %s_WORKSPACE bytes. Returns a cudaError_t; it does not "
               "wait. */\n"
               "#ifndef ACRAFT_%s_H\n#define ACRAFT_%s_H\n\n",
               plan->name, plan->name, plan->name, plan->name);
    for (uint32_t i = 0; i < plan->operands.len; i++) {
        const CudaOperand *o = &plan->operands.at[i];
        buf_printf(out, "/* %s: %s", o->name, o->output ? "result" : "input");
        const char *name = o->output ? NULL : graph_value(graph, o->value)->name;
        if (name)
            buf_printf(out, " \"%s\"", name);
        buf_printf(out, ", %s, %lld elements */\n", dtype_name(o->dtype), (long long)o->count);
    }
    buf_printf(
        out,
        "#define %s_WORKSPACE %lldLL\n\n#ifdef __cplusplus\nextern \"C\"\n#endif\nint %s_launch(",
        plan->name, (long long)plan->workspace, plan->name);
    put_arguments(plan, out);
    buf_puts(out, ");\n\n#endif\n");
}

static Str take_text(Arena *arena, Buf *text)
{
    Str s = str_from(buf_take(text, arena));
    buf_free(text);
    return s;
}

bool cuda_plan(Arena *arena, const Graph *graph, const char *name, CudaPlan *plan, Diag *diag)
{
    const ValueId *outer;
    CudaKernels ks;
    *plan = (CudaPlan){.name = name};
    if (graph_any_empty(graph))
        return refuse_cuda(diag, "a tensor has no elements, nothing would be launched");
    Nest *nest = derive_task(arena, graph, &outer, diag);
    if (!nest)
        return false;
    nest_merge(nest);
    if (!cuda_cut(arena, nest, &ks, diag))
        return false;
    const char **arg = arena_array(arena, const char *, nest->tensors.len + 1);
    if (!name_operands(arena, nest, graph, outer, plan, arg, diag))
        return false;
    for (uint32_t i = 0; i < nest->tensors.len; i++) {
        if (nest->tensors.at[i].role != NEST_WORKSPACE)
            continue;
        arg[i] = str_format(arena, "((char *)workspace + %lld)", (long long)plan->workspace);
        plan->workspace += (nest->tensors.at[i].count * 4 + ALIGN - 1) / ALIGN * ALIGN;
    }
    for (uint32_t i = 0; i < ks.at.len; i++) {
        const CudaKernel *k = &ks.at.at[i];
        if (k->blocks > INT32_MAX || (k->shape != CUDA_MAP && k->points > INT32_MAX / 2))
            return refuse_cuda(diag, "it has more rows than a launch has blocks");
        CudaStage stage = {role_of(k), k->blocks, k->threads,
                           k->cluster, k->vector, k->items * k->vector};
        vec_push(arena, &plan->stages, stage);
    }
    Buf source = {0}, header = {0};
    put_source(&ks, plan, arg, &source);
    put_header(plan, graph, &header);
    plan->source = take_text(arena, &source);
    plan->header = take_text(arena, &header);
    return true;
}
