/* A bench for the simulator's tests: one launch with a GM region, helpers to put values on chip,
 * build records and look at results. GM holds 1 MiB at RIG_GM. */
#ifndef TESTS_SIM_RIG_H
#define TESTS_SIM_RIG_H

#include "base/dtype.h"
#include "sim/sim.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

#define RIG_GM 0x120000000000ull
#define RIG_BYTES (1u << 20)
#define UB(at) rec_address(NPU_UB, (at))
#define GM(at) rec_address(NPU_GM, RIG_GM + (at))

typedef struct Rig {
    Sim *sim;
    uint8_t *gm;
    uint32_t core, seen; /* faults looked at so far */
} Rig;

ATTR_UNUSED static Rig rig_open_kind(SimKind kind, uint32_t blocks)
{
    SimConfig config = {
        .chip = npu_chip_find(STR("910B2")), .kind = kind, .blocks = blocks, .keep_going = true};
    Rig rig = {.sim = sim_open(&config), .gm = heap_alloc(RIG_BYTES)};
    SimRegion region = {"gm", RIG_GM, RIG_BYTES, rig.gm, NPU_DT_F32, .role = SIM_INOUT};
    REQUIRE(rig.sim != NULL);
    REQUIRE(sim_gm_add(rig.sim, &region));
    return rig;
}
ATTR_UNUSED static Rig rig_open(void) { return rig_open_kind(SIM_AIV, 1); }

ATTR_UNUSED static void rig_close(Rig *rig)
{
    sim_close(rig->sim);
    heap_free(rig->gm);
}

/* Runs one record on the rig's core. */
ATTR_UNUSED static SimState rig_run(Rig *rig, Record r)
{
    size_t used;
    return sim_feed(rig->sim, rig->core, &r, 1, &used);
}

/* The code of the first fault since the last call, "" when there was none. */
ATTR_UNUSED static const char *rig_fault(Rig *rig)
{
    uint32_t now = sim_fault_count(rig->sim), first = rig->seen;
    rig->seen = now;
    return now > first ? sim_fault_row(sim_fault(rig->sim, first)->code)->code : "";
}
#define RIG_CLEAN(rig)                                                            \
    do {                                                                          \
        const char *code_ = rig_fault(rig);                                       \
        CHECK_MSG(*code_ == 0, "fault %s: %s", code_,                             \
                  *code_ ? sim_fault((rig)->sim, (rig)->seen - 1)->message : ""); \
    } while (0)
/* The record must report exactly this fault first. */
#define RIG_FAULT(rig, record, code)        \
    do {                                    \
        (void)rig_fault(rig);               \
        (void)rig_run(rig, record);         \
        CHECK_EQ_STR(rig_fault(rig), code); \
    } while (0)

ATTR_UNUSED static void *rig_memory(Rig *rig, uint32_t space, uint64_t at)
{
    return (uint8_t *)sim_core(rig->sim, rig->core)->memory[space] + at;
}
ATTR_UNUSED static void *rig_ub(Rig *rig, uint64_t at) { return rig_memory(rig, NPU_UB, at); }

/* Bytes through GM into UB or L1, as the device would get them. Uses the last half MiB of GM. */
ATTR_UNUSED static void rig_put_in(Rig *rig, uint32_t space, uint64_t at, const void *from,
                                   uint32_t bytes)
{
    memcpy(rig->gm + RIG_BYTES / 2, from, bytes);
    Record r = {.op = NPU_PAD_GM_UB, .pipe = NPU_PIPE_MTE2, .dtype = {NPU_DT_U8, NPU_DT_U8}};
    r.operand[0].address = rec_address(space, at);
    r.operand[1].address = GM(RIG_BYTES / 2);
    r.n[0] = 1;
    r.n[1] = bytes;
    (void)rig_run(rig, r);
}
ATTR_UNUSED static void rig_put(Rig *rig, uint64_t at, const void *from, uint32_t bytes)
{
    rig_put_in(rig, NPU_UB, at, from, bytes);
}

/* A vector record in the count form, all operands dense; b ~0: no second source. */
ATTR_UNUSED static Record rig_vec(uint16_t op, uint8_t dtype, uint64_t d, uint64_t a, uint64_t b,
                                  uint32_t count)
{
    Record r = {.op = op,
                .pipe = NPU_PIPE_V,
                .flags = REC_COUNTER,
                .mask = {count},
                .dtype = {dtype, dtype, dtype},
                .file = 0,
                .line = 7};
    const uint64_t at[3] = {d, a, b};
    for (int i = 0; i < 3; i++)
        if (at[i] != ~0ull)
            r.operand[i] = (RecordOperand){UB(at[i]), 0, 1, 8};
    r.n[0] = 1;
    return r;
}

/* Changes a record to the repeat form. */
ATTR_UNUSED static Record rig_repeat(Record r, uint64_t low, uint64_t high, uint32_t repeats)
{
    r.flags &= (uint8_t)~REC_COUNTER;
    r.mask[0] = low;
    r.mask[1] = high;
    r.n[0] = repeats;
    return r;
}

ATTR_UNUSED static Record rig_register(uint8_t which, uint64_t scalar)
{
    return (Record){.op = NPU_SET_REGISTER, .mode = which, .scalar = scalar};
}

ATTR_UNUSED static uint32_t rig_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}
/* Same value: NaN equals NaN, +0 differs from -0. */
ATTR_UNUSED static bool rig_same(float a, float b)
{
    return (a != a && b != b) || rig_bits(a) == rig_bits(b);
}

#endif
