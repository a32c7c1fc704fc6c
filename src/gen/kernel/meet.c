/* Index writes: reductions over all writes of which those that go elsewhere leave no trace. In: a value. Out: its
 * parts, for kernels that walk the writes once instead of once for each result. */
#include "gen/kernel/kernel_int.h"

bool kernel_meet(const Nest *nest, NestId id, KernelMeet *meet)
{
    const NestValue *v = &nest->values.at[id];
    if (v->op != NEST_REDUCE || v->reduce == PRIM_LOGSUMEXP || __builtin_popcountll(v->over) != 1)
        return false;
    const NestValue *choice = &nest->values.at[v->arg[0]];
    if (!nest_is_map(choice, "where($0, $1, $2)") ||
        nest->values.at[choice->arg[2]].op != NEST_NUMBER)
        return false;
    const NestValue *met = &nest->values.at[choice->arg[0]];
    if (!nest_is_map(met, "$0 == $1") || nest->values.at[met->arg[1]].op != NEST_PLACE)
        return false;
    const NestValue *here = &nest->values.at[met->arg[1]];
    *meet = (KernelMeet){.value = id,
                         .place = met->arg[0],
                         .mask = choice->arg[0],
                         .of = choice->arg[1],
                         .none = choice->arg[2],
                         .axis = (uint32_t)__builtin_ctzll(here->axes),
                         .writes = (uint32_t)__builtin_ctzll(v->over)};
    uint64_t to = here->axes, place = nest->values.at[meet->place].axes;
    return !(to & v->over) && v->axes & to && !(place & to) && place & v->over &&
           !(nest->values.at[meet->of].axes & to);
}

uint64_t kernel_meet_beside(const Nest *nest, const KernelMeet *meet)
{
    uint64_t own = nest->values.at[meet->place].axes | UINT64_C(1) << meet->axis;
    return nest->values.at[meet->value].axes & ~own;
}

bool kernel_meets_beside(const Nest *nest, const Kernel *k, NestId id)
{
    enum { TOGETHER = 32 * 16 }; /* threads of a warp, most elements at once */
    KernelMeet meet;
    if (k->shape != KERNEL_MAP || k->edges)
        return false; /* threads of a warp would not walk the writes together */
    return kernel_meet(nest, id, &meet) && nest->values.at[id].axes == k->kept &&
           kernel_count(nest, kernel_meet_beside(nest, &meet)) % TOGETHER == 0;
}
