/* The bound: what no kernel can beat on a chip. In: what a task cannot do without. Out: microseconds.
 *
 * Inputs come from GM at its peak. Stores end in L2, at its rate; what L2 cannot hold of all that
 * was brought in must go to GM as well. Units of all cores work all the time. */
#include "npu/npu.h"

static void take(NpuBound *bound, double amount, double per_us, const char *by)
{
    double us = per_us > 0 ? amount / per_us : 0;
    if (us > bound->us)
        *bound = (NpuBound){us, by};
}

NpuBound npu_bound(const NpuChip *chip, const NpuWork *w)
{
    NpuBound bound = {0, "nothing"};
    double gm = chip->gm_tbps * 1e6, mhz = chip->mhz, l2 = (double)chip->l2_mib * 1024 * 1024;
    if (gm <= 0)
        return bound;
    take(&bound, w->read, gm, "reading the inputs");
    take(&bound, w->read + w->written - l2, gm, "reading, and storing what L2 cannot hold");
    take(&bound, w->written, mhz * chip->aic * chip->l2_write_rate, "storing into L2");
    take(&bound, w->special, mhz * chip->aiv * chip->vector_rate, "exponentials and the like");
    take(&bound, w->products, mhz * chip->aic * chip->cube_rate * (w->narrow ? 2 : 1),
         "matrix products");
    return bound;
}
