/* Moves results by a few units in the last place. In: a kernel. Out: its results, nudged. */
#include "sim/nudge.h"

#include "base/rng.h"

bool nudge_plan(const VecPlan *p, VecKernel *kernel, const void *args, Nudge *nudge)
{
    const Step *s = p->step;
    const NpuIsa *isa = npu_isa(s->r->op);
    uint32_t size = p->o[0].size;
    if (!s->sim->config.nudge || isa->ulp <= 0 || (size != 2 && size != 4))
        return false;
    uint64_t place = rng_u64(s->core_index, p->o[0].base, s->r->line);
    *nudge = (Nudge){.kernel = kernel,
                     .args = args,
                     .bytes = size,
                     .most = (uint32_t)isa->ulp,
                     .seed = rng_u64(s->sim->config.nudge, place, 0)};
    return true;
}

/* The bits of a finite number that is not zero, `step` units away; others stay. */
static uint32_t moved(uint32_t bits, uint32_t infinity, uint32_t magnitude, int32_t step)
{
    uint32_t size = bits & magnitude, other = size + (uint32_t)step;
    bool stays = size == 0 || size >= infinity || other == 0 || other >= infinity;
    return stays ? bits : (bits & ~magnitude) | other;
}

void nudge_kernel(void *d, const void *a, const void *b, uint32_t count, const void *arguments)
{
    Nudge *n = (Nudge *)arguments;
    n->kernel(d, a, b, count, n->args);
    for (uint32_t i = 0; i < count; i++) {
        int32_t step = (int32_t)rng_range(n->seed, 0, n->index++, -(int64_t)n->most,
                                          (int64_t)n->most + 1);
        if (n->bytes == 4)
            ((uint32_t *)d)[i] = moved(((uint32_t *)d)[i], 0x7F800000, 0x7FFFFFFF, step);
        else
            ((uint16_t *)d)[i] = (uint16_t)moved(((uint16_t *)d)[i], 0x7C00, 0x7FFF, step);
    }
}
