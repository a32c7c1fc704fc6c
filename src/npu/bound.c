/* The bound: what no kernel can beat on a chip; and the attainable time: what none can beat in the cycle model.
 * In: what a task cannot do without. Out: microseconds.
 *
 * Inputs come from GM at its peak. Stores end in L2, at its rate; what L2 cannot hold of all that
 * was brought in must go to GM as well. What is needed again after all of it, and no memory on the chip
 * can hold, comes from GM twice. Units of all cores work all the time. */
#include "npu/npu.h"

static void raise_bound(NpuBound *bound, double amount, double per_us, const char *by)
{
    double us = per_us > 0 ? amount / per_us : 0;
    if (us > bound->us)
        *bound = (NpuBound){us, by};
}

static double on_chip(const NpuChip *c)
{
    double cube = (double)c->l1 + c->l0a + c->l0b + c->l0c;
    return c->l2_mib * 1048576.0 + c->aiv * (double)c->ub + c->aic * cube;
}

NpuBound npu_bound(const NpuChip *chip, const NpuWork *w)
{
    NpuBound bound = {0, "nothing"};
    double gm = chip->gm_tbps * 1e6, mhz = chip->mhz, l2 = (double)chip->l2_mib * 1024 * 1024;
    if (gm <= 0)
        return bound;
    double again = w->again > on_chip(chip) ? w->again - on_chip(chip) : 0;
    raise_bound(&bound, w->read, gm, "reading the inputs");
    raise_bound(&bound, w->read + w->written - l2, gm, "reading, and storing what L2 cannot hold");
    if (again > 0)
        raise_bound(&bound, w->read + again + w->written - l2, gm, "reading twice, and storing");
    raise_bound(&bound, w->written, mhz * chip->aic * chip->l2_write_rate, "storing into L2");
    raise_bound(&bound, w->special, mhz * chip->aiv * chip->vector_rate,
                "exponentials and the like");
    raise_bound(&bound, w->products, mhz * chip->aic * chip->cube_rate * (w->narrow ? 2 : 1),
                "matrix products");
    return bound;
}

/* ---- the attainable time ---- */

static double model(enum NpuConstant which) { return npu_constants[which].value; }

/* With so many vector cores, the two of an AI core sharing its port to GM. Where there are products, the cube core
 * reads through a port of its own. */
static NpuBound attainable_with(const NpuChip *c, const NpuWork *w, uint32_t cores)
{
    NpuBound least = {0, "nothing"};
    double ports = cores < c->aic ? cores : c->aic, gm = c->gm_tbps * 1e6, mhz = c->mhz;
    double keeps = c->l2_mib * 1048576.0 * model(NPU_C_L2_USED),
           held = keeps + c->aiv * (double)c->ub;
    double again = w->again > held ? w->again - held : 0, read = w->read + again;
    double ai_core = model(NPU_C_GM_PORT) + (w->products > 0 ? model(NPU_C_GM_PORT_AIC) : 0);
    double port = ports * mhz * ai_core, peak = gm * model(NPU_C_GM_REACHED);
    double rate = port < peak ? port : peak, mixed = gm * model(NPU_C_GM_MIXED);
    double spilt = w->written > keeps ? 1 - keeps / w->written : 0; /* once L2 is full */
    raise_bound(&least, read, rate, "reading");
    if (spilt > 0)
        raise_bound(&least, read * (1 - spilt) * mixed / rate + (read + w->written) * spilt, mixed,
                    "reading, and storing what L2 does not keep");
    raise_bound(&least, w->written, cores * mhz * model(NPU_C_MTE3_RATE), "storing");
    raise_bound(&least, w->special, cores * mhz * c->vector_rate, "exponentials and the like");
    raise_bound(&least, w->products, mhz * c->aic * c->cube_rate * (w->narrow ? 2 : 1),
                "matrix products");
    least.us += model(NPU_C_TASK_LEAST_US) + cores * model(NPU_C_CORE_LEAST_US) +
                model(NPU_C_MTE2_LATENCY) / mhz;
    return least;
}

NpuBound npu_attainable(const NpuChip *chip, const NpuWork *work)
{
    NpuBound best = {0, "nothing"};
    for (uint32_t cores = 1; chip->gm_tbps > 0 && cores <= chip->aiv; cores++) {
        NpuBound with = attainable_with(chip, work, cores);
        if (cores == 1 || with.us < best.us)
            best = with;
    }
    return best;
}
