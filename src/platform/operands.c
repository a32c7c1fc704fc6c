/* Operands of a launch as files: inputs before it, results after it. */
#include "platform/platform_int.h"

#include "base/file.h"
#include <stdio.h>

static Tensor *operand_tensor(const EvalReference *ref, ValueId value)
{
    const Graph *g = ref->graph;
    for (uint32_t i = 0; i < g->inputs.len; i++)
        if (g->inputs.at[i] == value)
            return ref->in.inputs[i];
    for (uint32_t i = 0; i < g->params.len; i++)
        if (g->params.at[i] == value)
            return ref->in.params[i];
    return NULL;
}

static int64_t bytes_of(const KernelOperand *o)
{
    return o->count * (int64_t)dtype_bytes(o->dtype);
}

bool platform_write_inputs(Arena *arena, const char *dir, const KernelTask *task,
                           const EvalReference *ref, Diag *diag)
{
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const KernelOperand *o = &task->operands.at[i];
        const char *path = path_join(arena, dir, str_format(arena, "%s.bin", o->name));
        const Tensor *t = o->output ? NULL : operand_tensor(ref, o->value);
        if (!o->output && (!t || t->count != o->count || t->dtype != o->dtype)) {
            diag_error(diag, "P101", (Span){0},
                       "operand %s: the task has no tensor of %lld elements of %s for it", o->name,
                       (long long)o->count, dtype_name(o->dtype));
            return false;
        }
        if (t && !file_write(path, (Str){t->at, (size_t)bytes_of(o)}, diag))
            return false;
    }
    return true;
}

static Tensor *read_result(Arena *arena, const char *dir, const KernelOperand *o, Shape shape,
                           Diag *diag)
{
    Tensor *t = tensor_new_raw(o->dtype, shape);
    const char *path = path_join(arena, dir, str_format(arena, "%s.bin", o->name));
    size_t want = (size_t)bytes_of(o);
    FILE *f = t ? fopen(path, "rb") : NULL;
    bool ok = f && fread(t->at, 1, want, f) == want;
    if (f)
        fclose(f);
    if (ok)
        return t;
    tensor_free(t);
    diag_error(diag, "P101", (Span){0}, "%s: the program wrote no such result", path);
    return NULL;
}

bool platform_compare_results(Arena *arena, const char *dir, const KernelTask *task,
                              const EvalReference *ref, PlatformRun *run, Diag *diag)
{
    run->n_outputs = 0;
    run->outputs = arena_array(arena, CompareResult, ref->graph->outputs.len + 1);
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const KernelOperand *o = &task->operands.at[i];
        if (!o->output)
            continue;
        uint32_t at = run->n_outputs++;
        CompareSpec spec = eval_spec(ref, at);
        Tensor *got = read_result(arena, dir, o, ref->want[at]->shape, diag);
        if (!got)
            return false;
        run->outputs[at] = compare_tensors(got, ref->want[at], &spec,
                                           (const Tensor *const *)ref->in.inputs, ref->in.n_inputs);
        tensor_free(got);
    }
    return true;
}
