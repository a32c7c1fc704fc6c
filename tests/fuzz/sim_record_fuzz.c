/* Hostile records: bytes become record streams of up to three cores. Nothing may crash, hang or
 * touch memory outside the simulated ones.
 *
 * The first byte chooses kind and options, the rest is cut into 128-byte records. A raw random
 * record is mostly refused at once, so each is bent towards legality first: small operation
 * numbers, existing memories, addresses near their ends. */
#include "sim/cycle.h"
#include "sim/hazard.h"
#include "sim/sim.h"
#include <stdlib.h>
#include <string.h>

enum { GM_BYTES = 4096, MOST_REPEATED = 40 * REC_BYTES, ROUNDS = 60 };
#define GM_BASE 0x200000000000ull

static void bend_operand(RecordOperand *o, uint8_t bits)
{
    static const uint32_t reach[] = {256, 4096, 65536, 196608 + 64, 1u << 20};
    uint32_t space = bits % 12;
    if (space > NPU_FB)
        space = NPU_UB;
    uint64_t byte = rec_byte(o->address) % reach[bits / 12 % 5];
    if (bits & 0x80)
        byte &= ~31ull;
    if (space == NPU_GM)
        byte = GM_BASE + byte % (GM_BYTES + 64);
    o->address = rec_address(space, byte);
    if (bits & 0x40) {
        o->block_stride %= 10;
        o->repeat_stride %= 20;
    }
}

static void bend(Record *r)
{
    uint8_t how = r->flags;
    if (how & 0x80)
        return; /* as wild as it came */
    if (!(r->op & REC_TEXT))
        r->op = (uint16_t)(r->op % (NPU_OP_COUNT + 2));
    const NpuIsa *row = npu_isa(r->op);
    r->pipe = row && how & 0x40 ? (uint8_t)row->pipe : (uint8_t)(r->pipe % 9);
    for (int i = 0; i < 3; i++)
        r->dtype[i] = (uint8_t)(r->dtype[i] % (NPU_DT_COUNT + 1));
    if (how & 0x20)
        r->dtype[1] = r->dtype[2] = r->dtype[0];
    if (how & 0x10)
        r->mode = (uint8_t)(r->mode % 8);
    for (int i = 0; i < 4; i++)
        bend_operand(&r->operand[i], (uint8_t)(r->operand[i].bytes));
    for (int i = 0; i < 4; i++)
        if (r->operand[i].bytes & 0x100)
            r->operand[i].bytes = 0;
    for (int i = 0; i < 6; i++)
        if (how & 8)
            r->n[i] %= 300;
    r->flags = how & 7;
}

/* What a run says, for comparing two. */
typedef struct Said {
    uint64_t faults, records, pairs, inserted;
    double cycles;
} Said;

static void feed_records(Sim *sim, const uint8_t *data, size_t size)
{
    for (size_t at = 1; at + REC_BYTES <= size; at += REC_BYTES) {
        Record r;
        memcpy(&r, data + at, sizeof r);
        uint32_t core = r.line % sim_core_count(sim);
        bend(&r);
        size_t used;
        sim_feed(sim, core, &r, 1, &used);
    }
}

static Said run(const uint8_t *data, size_t size, bool no_memo)
{
    static uint8_t gm[GM_BYTES];
    memset(gm, 1, sizeof gm);
    SimConfig config = {.chip = npu_chip_find(STR("910B2")),
                        .kind = (SimKind)(data[0] % 4),
                        .blocks = 1 + (data[0] >> 2) % 2,
                        .keep_going = data[0] & 0x80,
                        .no_data = data[0] & 0x20,
                        .no_memo = no_memo,
                        .max_faults = 20};
    Sim *sim = sim_open(&config);
    SimRegion x = {"x", GM_BASE, GM_BYTES / 2, gm, NPU_DT_F32, .role = SIM_INOUT};
    SimRegion y = {"y",        GM_BASE + GM_BYTES / 2, GM_BYTES / 2, gm + GM_BYTES / 2,
                   NPU_DT_F16, .role = SIM_OUT};
    if (!sim_gm_add(sim, &x) || !sim_gm_add(sim, &y))
        abort();
    Hazard *hazard = hazard_open(sim, data[0] & 0x40);
    Cycle *cycle = cycle_open(sim);
    int rounds = config.no_data && size <= MOST_REPEATED ? ROUNDS : 1;
    for (int i = 0; i < rounds; i++)
        feed_records(sim, data, size);
    sim_hang(sim);
    sim_finish(sim);
    Said said = {.faults = sim_fault_count(sim)};
    CycleReport report;
    cycle_report(cycle, &report);
    said.cycles = report.cycles;
    if (!(report.us >= 0))
        abort();
    hazard_counts(hazard, &said.pairs, &said.inserted);
    for (uint32_t i = 0; i < said.faults; i++)
        said.records += sim_fault(sim, i)->count * 31 + sim_fault(sim, i)->record;
    Buf text = {0};
    for (uint32_t i = 0; i < sim_fault_count(sim); i++)
        sim_fault_text(sim, sim_fault(sim, i), &text);
    cycle_summary(cycle, &text);
    cycle_explain(cycle, &text);
    buf_free(&text);
    cycle_close(cycle);
    hazard_close(hazard);
    sim_close(sim);
    return said;
}

/* Without data the records come again and again, so that they are passed over: nothing may change. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    Said said = run(data, size, false);
    if (!(data[0] & 0x20))
        return 0;
    Said plain = run(data, size, true);
    if (said.faults != plain.faults || said.records != plain.records || said.pairs != plain.pairs ||
        said.inserted != plain.inserted || said.cycles != plain.cycles)
        abort();
    return 0;
}
