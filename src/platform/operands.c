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

static bool fail(Verdict *verdict, VerdictStatus status, const char *reason)
{
    verdict_fail(verdict, status, STAGE_RUN, reason);
    return false;
}

bool platform_write_inputs(Arena *arena, const char *dir, const KernelTask *task,
                           const EvalReference *ref, Verdict *verdict)
{
    Diag said = diag_make(arena, dir, STR(""));
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const KernelOperand *o = &task->operands.at[i];
        const char *path = path_join(arena, dir, str_format(arena, "%s.bin", o->name));
        const Tensor *t = o->output ? NULL : operand_tensor(ref, o->value);
        if (!o->output && (!t || t->count != o->count || t->dtype != o->dtype))
            return fail(verdict, VERDICT_INTERNAL,
                        str_format(arena,
                                   "operand %s: the task has no tensor of %lld elements of %s "
                                   "for it",
                                   o->name, (long long)o->count, dtype_name(o->dtype)));
        if (t && !file_write(path, (Str){t->at, (size_t)bytes_of(o)}, &said))
            return fail(verdict, VERDICT_TOO_LARGE, said.items.at[0].text);
    }
    return true;
}

/* NULL: the program wrote no such result. */
static Tensor *read_result(Arena *arena, const char *dir, const KernelOperand *o, Shape shape)
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
    return NULL;
}

void platform_compare_results(Arena *arena, const char *dir, const KernelTask *task,
                              const EvalReference *ref, Verdict *verdict)
{
    uint32_t output = 0;
    verdict->stage = STAGE_COMPARE;
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const KernelOperand *o = &task->operands.at[i];
        if (!o->output)
            continue;
        Tensor *got = read_result(arena, dir, o, ref->want[output]->shape);
        eval_compare(arena, ref, output++, got, false, verdict);
        tensor_free(got);
    }
    verdict_settle(verdict);
}
