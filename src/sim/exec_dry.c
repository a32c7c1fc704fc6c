/* Records without data, for shapes too large to hold: every access lies inside its memory or tensor,
 * every byte of an output is written. Values, definedness and offsets read from memory are not
 * seen. */
#include "sim/sim_int.h"

static uint64_t reach(const SimAccess *a)
{
    return (uint64_t)(a->outer - 1) * a->outer_step + (uint64_t)(a->inner - 1) * a->inner_step +
           a->run;
}

static bool is_empty(const SimAccess *a) { return !a->run || !a->outer || !a->inner; }

/* A result that is not computed: what it covers is not known any more. */
static void forget(Step *s, const SimAccess *a)
{
    for (uint32_t o = 0; o < a->outer; o++)
        for (uint32_t i = 0; i < a->inner; i++)
            sim_forget(s->sim, &s->core->memory[a->space],
                       a->at + o * a->outer_step + i * a->inner_step, a->run);
}

static bool dry_local(Step *s, const SimAccess *a)
{
    const SimMemory *m = &s->core->memory[a->space];
    uint64_t end = a->at + reach(a);
    if (m->bytes == 0) {
        sim_report(s, SIM_FAULT_NO_MEMORY_HERE, "%s is not on this %s core",
                   npu_space_name(a->space), s->core->pub.aic ? "cube" : "vector");
        return false;
    }
    if (end <= m->bytes) {
        if (a->write && m->known)
            forget(s, a);
        return true;
    }
    sim_report_range(s, SIM_FAULT_OVERFLOW, (SimRange){a->space, a->write, a->at, end},
                     "touches %s bytes %llu to %llu; the memory has %llu", npu_space_name(a->space),
                     (unsigned long long)a->at, (unsigned long long)end,
                     (unsigned long long)m->bytes);
    return false;
}

static void cover(SimGm *gm, uint64_t offset, const SimAccess *a)
{
    if (!gm->cover.pages || a->write != (gm->region.role == SIM_OUT))
        return;
    for (uint32_t o = 0; o < a->outer; o++)
        for (uint32_t i = 0; i < a->inner; i++) {
            uint64_t from = offset + o * a->outer_step + i * a->inner_step;
            cover_add(&gm->cover, from, from + a->run);
        }
}

void exec_note_reads(Step *s)
{
    const SimTouched *t = sim_touched(s->sim, s->core, s->r);
    for (uint32_t i = 0; i < t->n; i++) {
        const SimAccess *a = &t->access[i];
        SimGm *gm = a->space == NPU_GM && !a->write && !is_empty(a) ? sim_gm_find(s->sim, a->at)
                                                                    : NULL;
        if (gm)
            cover(gm, a->at - gm->region.base, a);
    }
}

static bool dry_gm(Step *s, const SimAccess *a)
{
    uint64_t offset, inside;
    if (s->sim->again)
        return true;
    SimGm *gm = sim_gm_range(s, rec_address(NPU_GM, a->at), reach(a), a->write, &offset, &inside);
    if (!gm)
        return false;
    cover(gm, offset, a);
    return true;
}

bool exec_dry(Step *s)
{
    const SimTouched *touched = sim_touched(s->sim, s->core, s->r);
    uint64_t read = 0, written = 0;
    if (!exec_copy_check(s))
        return false;
    for (uint32_t i = 0; i < touched->n; i++) {
        const SimAccess *a = &touched->access[i];
        if (is_empty(a))
            continue;
        if (a->space == NPU_NOWHERE || a->space >= NPU_SPACE_COUNT ||
            (uint64_t)a->outer * a->inner > 1u << 24) {
            sim_report(s, SIM_FAULT_BAD_RECORD, "an operand names no memory");
            return false;
        }
        if (!(a->space == NPU_GM ? dry_gm(s, a) : dry_local(s, a)))
            return false;
        *(a->write ? &written : &read) += sim_access_bytes(a);
    }
    sim_count(s, 0, read, written);
    return true;
}

/* Nothing to say about it. */
static bool is_clean(Sim *sim, const SimAccess *a)
{
    const SimGm *gm = sim_gm_find(sim, a->at);
    return gm && reach(a) <= gm->region.bytes - (a->at - gm->region.base) &&
           !(a->write && (gm->region.role == SIM_IN || gm->region.role == SIM_TILING));
}

bool exec_dry_gm(Step *s)
{
    const SimTouched *t = sim_touched(s->sim, s->core, s->r);
    for (int now = 0; now < 2; now++)
        for (uint32_t i = 0; i < t->n; i++) {
            const SimAccess *a = &t->access[i];
            if (a->space == NPU_GM && !is_empty(a) && !(now ? dry_gm(s, a) : is_clean(s->sim, a)))
                return false;
        }
    return true;
}

/* --- some regions have data --- */

static bool all_known(const Step *s, const SimAccess *a)
{
    const SimMemory *m = &s->core->memory[a->space];
    if (a->space == NPU_GM) {
        const SimGm *gm = sim_gm_find(s->sim, a->at);
        return gm && gm->memory.at;
    }
    if (a->space != NPU_UB || !m->known || a->at + reach(a) > m->bytes)
        return false;
    for (uint32_t o = 0; o < a->outer; o++)
        for (uint32_t i = 0; i < a->inner; i++)
            if (!memory_known(m, a->at + o * a->outer_step + i * a->inner_step, a->run))
                return false;
    return true;
}

bool dry_can_compute(Step *s, enum NpuForm form)
{
    bool can = form == NPU_F_BINARY || form == NPU_F_UNARY || form == NPU_F_SCALAR ||
               form == NPU_F_CAST || form == NPU_F_COPY || form == NPU_F_DUP ||
               s->r->op == NPU_LOCAL_SET;
    if (!s->sim->config.image || !can)
        return false;
    const SimTouched *t = sim_touched(s->sim, s->core, s->r);
    for (uint32_t i = 0; i < t->n; i++) {
        const SimAccess *a = &t->access[i];
        if (is_empty(a) || (a->write ? a->space != NPU_UB : !all_known(s, a)))
            return false;
    }
    return t->n > 0;
}
