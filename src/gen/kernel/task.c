/* From a task to kernels with operands. In: a graph. Out: kernels over a nest, the launcher's arguments, the
 * places of tensors in the workspace. */
#include "gen/kernel/kernel.h"

#include "gen/plan/rewrite.h"

enum { ALIGN = 256 };

static bool refuse_task(Diag *diag, const KernelLimits *limits, const char *why)
{
    diag_error(diag, "G002", (Span){0}, "%s: the task cannot be planned yet: %s", limits->platform,
               why);
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

static void add_operand(Arena *arena, KernelTask *task, const NestTensor *t, ValueId value)
{
    KernelOperand o = {
        .value = value, .output = t->role == NEST_OUTPUT, .dtype = t->dtype, .count = t->count};
    uint32_t n = 0;
    for (uint32_t i = 0; i < task->operands.len; i++)
        n += task->operands.at[i].output == (t->role == NEST_OUTPUT);
    o.name = str_format(arena, "%c%u", t->role == NEST_OUTPUT ? 'y' : 'x', n);
    task->bytes += t->count * (int64_t)dtype_bytes(t->dtype);
    vec_push(arena, &task->operands, o);
}

/* Inputs and parameters in the order of the task, then results. arg[i]: the operand of tensor i. */
static bool name_operands(Arena *arena, const Graph *graph, const ValueId *outer,
                          bool has_type(DType dtype), KernelTask *task, Diag *diag)
{
    const Nest *nest = task->kernels.nest;
    const KernelLimits *limits = task->kernels.limits;
    const char **arg = task->argument;
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
                    return refuse_task(diag, limits,
                                       "a tensor of numbers that the file itself holds");
                uint32_t p = output ? i : graph_place(graph, v);
                if (best == nest->tensors.len || p < place) {
                    best = i;
                    place = p;
                }
            }
            if (best == nest->tensors.len)
                break;
            const NestTensor *t = &nest->tensors.at[best];
            if (!has_type(t->dtype))
                return refuse_task(diag, limits,
                                   str_format(arena, "a tensor of %s", dtype_name(t->dtype)));
            add_operand(arena, task, t,
                        output  ? graph->outputs.at[results++]
                        : outer ? outer[t->value]
                                : t->value);
            arg[best] = vec_last(&task->operands).name;
        }
    return true;
}

bool kernel_task(Arena *arena, const Graph *graph, const KernelLimits *limits,
                 bool has_type(DType dtype), KernelTask *task, Diag *diag)
{
    const ValueId *outer;
    *task = (KernelTask){0};
    if (graph_any_empty(graph))
        return refuse_task(diag, limits, "a tensor has no elements, nothing would be launched");
    Nest *nest = derive_task(arena, graph, &outer, diag);
    if (!nest)
        return false;
    if (!limits->keep_axes)
        nest_merge(nest);
    if (!kernel_cut(arena, nest, limits, &task->kernels, diag))
        return false;
    task->argument = arena_array(arena, const char *, nest->tensors.len + 1);
    task->place = arena_array(arena, int64_t, nest->tensors.len + 1);
    if (!name_operands(arena, graph, outer, has_type, task, diag))
        return false;
    for (uint32_t i = 0; i < nest->tensors.len; i++) {
        if (nest->tensors.at[i].role != NEST_WORKSPACE)
            continue;
        task->place[i] = task->workspace;
        task->workspace += (nest->tensors.at[i].count * 4 + ALIGN - 1) / ALIGN * ALIGN;
    }
    return true;
}
