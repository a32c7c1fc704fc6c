/* Without data: the same cycles and races as with data, bounds and coverage at any size. */
#include "sim/cycle.h"
#include "sim/hazard.h"
#include "tests/sim/rig.h"

enum { TILE = 16384 };

static Record copy(uint16_t op, uint64_t d, uint64_t s, uint32_t bytes)
{
    Record r = {.op = op, .pipe = (uint8_t)npu_isa(op)->pipe, .n = {1, bytes}, .line = op};
    r.operand[0].address = d;
    r.operand[1].address = s;
    return r;
}

static void feed(Sim *sim, Record r)
{
    size_t used;
    sim_feed(sim, 0, &r, 1, &used);
}

static void flags(Sim *sim, uint8_t from, uint8_t to)
{
    feed(sim, (Record){.op = NPU_SET_FLAG, .pipe = from, .mode = to});
    feed(sim, (Record){.op = NPU_WAIT_FLAG, .pipe = from, .mode = to});
}

/* y = exp(x) over `tiles` tiles of one core; the last `missing` are left out. */
static Sim *run(bool no_data, uint64_t tiles, uint64_t missing, void *x, void *y,
                CycleReport *report)
{
    SimConfig config = {
        .chip = npu_chip_find(STR("910B2")), .kind = SIM_AIV, .blocks = 1, .no_data = no_data};
    Sim *sim = sim_open(&config);
    REQUIRE(sim != NULL);
    SimRegion in = {"x", RIG_GM, tiles * TILE, x, NPU_DT_F32, .role = SIM_IN};
    SimRegion out = {"y", RIG_GM + (1ull << 40), tiles * TILE, y, NPU_DT_F32, .role = SIM_OUT};
    REQUIRE(sim_gm_add(sim, &in) && sim_gm_add(sim, &out));
    Hazard *hazard = hazard_open(sim, false);
    Cycle *cycle = cycle_open(sim);
    for (uint64_t t = 0; t < tiles - missing; t++) {
        feed(sim, copy(NPU_COPY_GM_UB, UB(0), GM(t * TILE), TILE));
        flags(sim, NPU_PIPE_MTE2, NPU_PIPE_V);
        feed(sim, rig_vec(NPU_EXP, NPU_DT_F32, TILE, 0, ~0ull, TILE / 4));
        flags(sim, NPU_PIPE_V, NPU_PIPE_MTE3);
        feed(sim, copy(NPU_COPY_UB_GM, GM((1ull << 40) + t * TILE), UB(TILE), TILE));
        flags(sim, NPU_PIPE_MTE3, NPU_PIPE_MTE2);
    }
    cycle_report(cycle, report);
    feed(sim, (Record){.op = NPU_CORE_END});
    sim_finish(sim);
    cycle_close(cycle);
    hazard_close(hazard);
    return sim;
}

T_TEST(dry_gives_the_cycles_of_the_run_with_data)
{
    void *x = heap_alloc(20 * TILE), *y = heap_alloc(20 * TILE);
    CycleReport wet, dry;
    Sim *a = run(false, 20, 0, x, y, &wet), *b = run(true, 20, 0, NULL, NULL, &dry);
    CHECK(wet.cycles == dry.cycles && wet.gm_read == dry.gm_read);
    CHECK_EQ_INT(sim_fault_count(a), 0);
    CHECK_EQ_INT(sim_fault_count(b), 0);
    sim_close(a);
    sim_close(b);
    heap_free(x);
    heap_free(y);
}

T_TEST(dry_covers_an_output_of_gigabytes)
{
    CycleReport report;
    Sim *sim = run(true, 200000, 3, NULL, NULL, &report); /* 3.3 GB, three tiles short */
    REQUIRE(sim_fault_count(sim) == 1);
    CHECK_EQ_STR(sim_fault_row(sim_fault(sim, 0)->code)->code, "S019");
    uint64_t first;
    CHECK_EQ_INT(sim_unwritten(sim, 1, &first), 3 * TILE);
    CHECK_EQ_INT(first, 199997ull * TILE);
    sim_close(sim);
}

T_TEST(dry_still_sees_bounds)
{
    SimConfig config = {.chip = npu_chip_find(STR("910B2")),
                        .kind = SIM_AIV,
                        .blocks = 1,
                        .no_data = true,
                        .keep_going = true};
    Sim *sim = sim_open(&config);
    SimRegion in = {"x", RIG_GM, TILE, NULL, NPU_DT_F32, .role = SIM_IN};
    REQUIRE(sim_gm_add(sim, &in));
    feed(sim, copy(NPU_COPY_GM_UB, UB(0), GM(TILE - 32), 1024));
    feed(sim, rig_vec(NPU_EXP, NPU_DT_F32, 190000 & ~31, 0, ~0ull, 4096));
    REQUIRE(sim_fault_count(sim) == 2);
    CHECK_EQ_STR(sim_fault_row(sim_fault(sim, 0)->code)->code, "S007");
    CHECK_EQ_STR(sim_fault_row(sim_fault(sim, 1)->code)->code, "S005");
    sim_close(sim);
}

static const char *first_fault(Record r)
{
    SimConfig config = {
        .chip = npu_chip_find(STR("910B2")), .kind = SIM_AIV, .blocks = 1, .no_data = true};
    Sim *sim = sim_open(&config);
    SimRegion in = {"x", RIG_GM, 1ull << 30, NULL, NPU_DT_F32, .role = SIM_IN};
    REQUIRE(sim && sim_gm_add(sim, &in));
    feed(sim, r);
    const char *code = sim_fault_count(sim) ? sim_fault_row(sim_fault(sim, 0)->code)->code : "";
    sim_close(sim);
    return code;
}

/* Copy parameters that only a large shape makes too large, and places that only its tiles have. */
T_TEST(dry_sees_copy_parameters)
{
    Record r = copy(NPU_PAD_GM_UB, UB(0), GM(0), 32);
    CHECK_EQ_STR(first_fault(r), "");
    r.n[0] = 5000;
    CHECK_EQ_STR(first_fault(r), "S014");
    CHECK_EQ_STR(first_fault(copy(NPU_COPY_GM_UB, UB(0), GM(0), 100)), "S049");
    CHECK_EQ_STR(first_fault(copy(NPU_COPY_GM_UB, UB(40), GM(0), 64)), "S009");
}

/* Warnings never crowd out what fails a kernel. */
T_TEST(dry_keeps_faults_before_warnings)
{
    SimConfig config = {.chip = npu_chip_find(STR("910B2")),
                        .kind = SIM_AIV,
                        .blocks = 1,
                        .no_data = true,
                        .keep_going = true,
                        .max_faults = 4};
    Sim *sim = sim_open(&config);
    SimRegion in = {"x", RIG_GM, 1000, NULL, NPU_DT_F32, .role = SIM_IN};
    REQUIRE(sim && sim_gm_add(sim, &in));
    for (uint32_t line = 1; line <= 6;
         line++) { /* reads past the end, inside the allocator's room */
        Record r = copy(NPU_COPY_GM_UB, UB(0), GM(0), 1024);
        r.line = line;
        feed(sim, r);
    }
    CHECK_EQ_INT(sim_fault_count(sim), 4);
    CHECK_EQ_INT(sim_faults_left_out(sim), 2);
    feed(sim, copy(NPU_COPY_GM_UB, UB(0), GM(1 << 20), 1024));
    CHECK_EQ_INT(sim_fault_count(sim), 4);
    CHECK(sim_fault_row(sim_fault(sim, 3)->code)->kind == SIM_KIND_FAULT);
    sim_close(sim);
}
