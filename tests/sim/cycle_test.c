/* The cycle model: single instructions against measured figures, pipes that overlap, cores. */
#include "sim/cycle.h"
#include "sim/cycle_cache.h"
#include "tests/sim/rig.h"

typedef struct Timed {
    Rig rig;
    Cycle *cycle;
} Timed;

static Timed open_timed(SimKind kind, uint32_t blocks)
{
    Timed t = {.rig = rig_open_kind(kind, blocks)};
    t.cycle = cycle_open(t.rig.sim);
    return t;
}
static CycleReport close_timed(Timed *t)
{
    CycleReport report;
    cycle_report(t->cycle, &report);
    cycle_close(t->cycle);
    rig_close(&t->rig);
    return report;
}

static Record copy(uint16_t op, uint64_t d, uint64_t s, uint32_t bytes)
{
    Record r = {.op = op, .pipe = (uint8_t)npu_isa(op)->pipe, .n = {1, bytes}, .line = op};
    r.operand[0].address = d;
    r.operand[1].address = s;
    return r;
}

static double add_cycles(uint64_t a, uint64_t b, uint64_t d, uint32_t repeats)
{
    Timed t = open_timed(SIM_AIV, 1);
    rig_run(&t.rig, rig_repeat(rig_vec(NPU_ADD, NPU_DT_F16, d, a, b, 0), ~0ull, ~0ull, repeats));
    return close_timed(&t).cycles - npu_constants[NPU_C_VECTOR_CALL].value;
}

/* asc-devkit add_high_performance, aiv_vec_time at 1.85 GHz: 86, 278.5 and 149.6 cycles. */
T_TEST(cycle_add_as_measured)
{
    CHECK_NEAR(add_cycles(0, 8192, 16384, 32), 86.0, 1.0);
    CHECK_NEAR(add_cycles(0, 32768, 65536, 128), 278.5, 1.0);
    CHECK_NEAR(add_cycles(0, 32768 + 256, 65536, 127), 149.6, 1.0);
}

/* Eight blocks stored into one bank group take eight cycles a repeat. */
T_TEST(cycle_strided_store_conflicts)
{
    Timed t = open_timed(SIM_AIV, 1);
    Record r = rig_repeat(rig_vec(NPU_ADDS, NPU_DT_F32, 65536, 0, ~0ull, 0), ~0ull, 0, 16);
    r.operand[0].block_stride = 16;
    r.operand[0].repeat_stride = 1;
    rig_run(&t.rig, r);
    CycleReport report = close_timed(&t);
    CHECK_EQ_INT(report.conflict_cycles, 16 * 7);
}

/* One AIV, two 8 KiB copies then a wait: 700 cycles; 8 KiB out: 295. */
T_TEST(cycle_copies_as_measured)
{
    Timed t = open_timed(SIM_AIV, 1);
    rig_run(&t.rig, copy(NPU_COPY_GM_UB, UB(0), GM(0), 8192));
    rig_run(&t.rig, copy(NPU_COPY_GM_UB, UB(8192), GM(65536), 8192));
    CycleReport in = close_timed(&t);
    CHECK_NEAR(in.cycles + npu_constants[NPU_C_FLAG].value, 700, 30);
    t = open_timed(SIM_AIV, 1);
    rig_run(&t.rig, copy(NPU_COPY_UB_GM, GM(0), UB(0), 8192));
    CycleReport out = close_timed(&t);
    CHECK_NEAR(out.cycles, 295, 15);
    CHECK_EQ_INT(out.gm_written, 8192);
}

static double tiles(uint32_t buffers, uint32_t blocks)
{
    Timed t = open_timed(SIM_AIV, blocks);
    Rig *rig = &t.rig;
    for (uint32_t i = 0; i < 16; i++) {
        uint64_t ub = i % buffers * 16384;
        uint32_t id = i % buffers;
        if (i >= buffers)
            rig_run(rig, (Record){.op = NPU_WAIT_FLAG,
                                  .pipe = NPU_PIPE_MTE3,
                                  .mode = NPU_PIPE_MTE2,
                                  .n = {id}});
        rig_run(rig, copy(NPU_COPY_GM_UB, UB(ub), GM(i * 16384), 16384));
        rig_run(rig,
                (Record){.op = NPU_SET_FLAG, .pipe = NPU_PIPE_MTE2, .mode = NPU_PIPE_V, .n = {id}});
        rig_run(
            rig,
            (Record){.op = NPU_WAIT_FLAG, .pipe = NPU_PIPE_MTE2, .mode = NPU_PIPE_V, .n = {id}});
        Record e = rig_vec(NPU_EXP, NPU_DT_F32, ub, ub, ~0ull, 4096);
        rig_run(rig, e);
        rig_run(rig,
                (Record){.op = NPU_SET_FLAG, .pipe = NPU_PIPE_V, .mode = NPU_PIPE_MTE3, .n = {id}});
        rig_run(
            rig,
            (Record){.op = NPU_WAIT_FLAG, .pipe = NPU_PIPE_V, .mode = NPU_PIPE_MTE3, .n = {id}});
        rig_run(rig, copy(NPU_COPY_UB_GM, GM(i * 16384), UB(ub), 16384));
        rig_run(
            rig,
            (Record){.op = NPU_SET_FLAG, .pipe = NPU_PIPE_MTE3, .mode = NPU_PIPE_MTE2, .n = {id}});
    }
    RIG_CLEAN(rig);
    return close_timed(&t).cycles;
}

T_TEST(cycle_double_buffering_pays)
{
    double one = tiles(1, 1), two = tiles(2, 1), crowded = tiles(2, 48);
    CHECK_MSG(two < 0.7 * one, "%g against %g", two, one);
    CHECK_MSG(crowded == two, "cores that do nothing take no bandwidth: %g, %g", crowded, two);
}

static void count_events(void *context, const CycleEvent *e)
{
    uint32_t *n = context;
    CHECK(e->core == 0 && e->pipe == (enum NpuPipe)e->r->pipe && e->end >= e->start);
    ++*n;
}

T_TEST(cycle_traces_and_lines)
{
    Timed t = open_timed(SIM_AIV, 1);
    uint32_t events = 0;
    cycle_trace(t.cycle, count_events, &events);
    rig_run(&t.rig, copy(NPU_COPY_GM_UB, UB(0), GM(0), 8192));
    rig_run(&t.rig, rig_vec(NPU_EXP, NPU_DT_F32, 0, 0, ~0ull, 64));
    Record work = {.op = NPU_SCALAR_WORK, .n = {50}, .line = 3};
    rig_run(&t.rig, work);
    CHECK_EQ_INT(events, 3);
    CycleLine lines[2];
    CHECK_EQ_INT(cycle_lines(t.cycle, lines, 2), 2);
    CHECK_EQ_INT(lines[0].line, NPU_COPY_GM_UB);
    CycleReport report = close_timed(&t);
    CHECK_EQ_INT(report.bound, NPU_PIPE_MTE2);
    CHECK(report.us > report.launch_us && report.cores == 1);
}

T_TEST(cycle_dependent_vector_instructions_drain)
{
    double cycles[2];
    for (int dependent = 0; dependent < 2; dependent++) {
        Timed t = open_timed(SIM_AIV, 1);
        for (int i = 0; i < 8; i++)
            rig_run(&t.rig, rig_vec(NPU_ADDS, NPU_DT_F32, dependent ? 0 : 8192 * (uint64_t)i,
                                    dependent ? 0 : 8192 * (uint64_t)i, ~0ull, 2048));
        cycles[dependent] = close_timed(&t).cycles;
    }
    double tail = npu_isa(NPU_ADDS)->tail; /* the head of one that waits passes meanwhile */
    CHECK_NEAR(cycles[1] - cycles[0], 7 * tail, 1);
}

T_TEST(cycle_cores_meet)
{
    Timed t = open_timed(SIM_AIV, 2);
    size_t used;
    Record slow = copy(NPU_COPY_GM_UB, UB(0), GM(0), 131072), all = {.op = NPU_SYNC_ALL};
    sim_feed(t.rig.sim, 0, &slow, 1, &used);
    sim_feed(t.rig.sim, 0, &all, 1, &used);
    sim_feed(t.rig.sim, 1, &all, 1, &used);
    sim_feed(t.rig.sim, 0, &all, 1, &used);
    Record quick = rig_vec(NPU_DUPLICATE, NPU_DT_F32, 0, ~0ull, ~0ull, 64);
    sim_feed(t.rig.sim, 1, &quick, 1, &used);
    CycleReport report = close_timed(&t);
    CHECK(report.cycles > 131072 / 33.6 + npu_constants[NPU_C_SYNC_ALL].value);
    CHECK(report.busy_us[NPU_PIPE_V] > 0);
}

/* Cycles of the matrix unit for one product of 128 x 128 x 128. */
static double product_cycles(uint8_t dtype, bool hf32)
{
    Timed t = open_timed(SIM_AIC, 1);
    Record fill = {.op = NPU_FILL, .pipe = NPU_PIPE_MTE1, .dtype = {dtype}, .n = {1, 128}};
    fill.operand[0].address = rec_address(NPU_L0A, 0);
    rig_run(&t.rig, fill);
    fill.operand[0].address = rec_address(NPU_L0B, 0);
    rig_run(&t.rig, fill);
    rig_run(&t.rig, (Record){.op = NPU_BARRIER, .mode = NPU_PIPE_ALL});
    rig_run(&t.rig, rig_register(REC_REG_HF32, hf32));
    Record mm = {.op = NPU_MMAD,
                 .pipe = NPU_PIPE_M,
                 .dtype = {NPU_DT_F32, dtype, dtype},
                 .n = {128, 128, 128},
                 .mode = 1};
    mm.operand[0].address = rec_address(NPU_L0C, 0);
    mm.operand[1].address = rec_address(NPU_L0A, 0);
    mm.operand[2].address = rec_address(NPU_L0B, 0);
    rig_run(&t.rig, mm);
    CycleReport report = close_timed(&t);
    return report.busy_us[NPU_PIPE_M] * 1800;
}

/* Exact f32 takes four times as long as halves, HF32 twice. */
T_TEST(cycle_matrix_unit)
{
    CHECK_NEAR(product_cycles(NPU_DT_F16, false), 6 + 512, 1);
    CHECK_NEAR(product_cycles(NPU_DT_F32, false), 6 + 2048, 1);
    CHECK_NEAR(product_cycles(NPU_DT_F32, true), 6 + 1024, 1);
    CHECK_NEAR(product_cycles(NPU_DT_F16, true), 6 + 512, 1);
}

/* asc-devkit bank_conflict_nd2nz: Copy of 144 repeats whose eight blocks fall into one bank group, and
 * 145 blocks apart: 47.79 and 7.13 us for 76 calls on average, at 1.85 GHz. */
T_TEST(cycle_copy_inside_ub_conflicts)
{
    static const double measured[] = {1163, 173.6};
    for (uint16_t apart = 144; apart <= 145; apart++) {
        Timed t = open_timed(SIM_AIV, 1);
        Record r = rig_repeat(rig_vec(NPU_COPY, NPU_DT_F16, 65536, 0, ~0ull, 0), ~0ull, ~0ull, 144);
        r.operand[0].block_stride = apart;
        r.operand[0].repeat_stride = 1;
        rig_run(&t.rig, r);
        double cycles = close_timed(&t).cycles - npu_constants[NPU_C_VECTOR_CALL].value;
        CHECK_NEAR(cycles, measured[apart - 144], 0.04 * measured[apart - 144]);
    }
}

/* 64 bursts of 128 bytes, one core of 48 that ask for the same place, or for places of their own. */
static double read_bursts(bool bypass, bool together, uint32_t ended)
{
    enum { CORES = 48 };
    Timed t = open_timed(SIM_AIV, CORES);
    for (uint32_t i = 0; i < ended; i++) {
        t.rig.core = CORES - 1 - i;
        rig_run(&t.rig, (Record){.op = NPU_CORE_END});
    }
    for (uint32_t round = 0; round < 120; round++)
        for (t.rig.core = 0; t.rig.core < CORES - ended; t.rig.core++) {
            uint64_t at = together ? 0 : t.rig.core * 8192;
            Record r = copy(NPU_PAD_GM_UB, UB(0), GM(at + round % 8 * 128), 128);
            r.n[0] = 8;
            r.n[2] = 1024 - 128;
            r.flags = bypass ? REC_L2_BYPASS : 0;
            rig_run(&t.rig, r);
        }
    return close_timed(&t).cycles;
}

T_TEST(cycle_bursts_past_l2_and_crowds)
{
    double apart = read_bursts(true, false, 0), through = read_bursts(false, false, 0);
    double together = read_bursts(true, true, 0);
    CHECK_MSG(apart > 1.2 * through, "past L2 %.0f, through it %.0f cycles", apart, through);
    CHECK_MSG(together > 1.3 * apart && together < 1.7 * apart, "together %.0f, apart %.0f cycles",
              together, apart);
}

/* All cores read the same 48 places past L2, each many in its turn, so that their clocks differ by the time of turns; in the
 * same order, or `shift` places apart. */
static double read_in_turns(uint32_t shift)
{
    enum { CORES = 48, READS = 14, TURNS = 24, PLACES = 48 };
    Timed t = open_timed(SIM_AIV, CORES);
    for (uint32_t turn = 0; turn < TURNS; turn++)
        for (t.rig.core = 0; t.rig.core < CORES; t.rig.core++)
            for (uint32_t i = 0; i < READS; i++) {
                uint32_t place = (turn * READS + i + t.rig.core * shift) % PLACES;
                Record r = copy(NPU_PAD_GM_UB, UB(0), GM(place * 8192), 128);
                r.n[0] = 64;
                r.flags = REC_L2_BYPASS;
                rig_run(&t.rig, r);
            }
    return close_timed(&t).cycles;
}

/* asc-devkit data_copy scenarios 7 and 8 into UB: 539 us in the same order, 329 us with neighbours 8 reads apart. */
T_TEST(cycle_cores_in_the_same_order_are_a_crowd)
{
    double same = read_in_turns(0), shifted = read_in_turns(8);
    CHECK_MSG(same > 1.35 * shifted && same < 1.7 * shifted, "%.0f and %.0f cycles", same, shifted);
}

/* Cores that have ended leave the others their share: written lines on their way out cost less. */
T_TEST(cycle_few_cores_have_more_of_gm)
{
    double all = read_bursts(true, false, 0), few = read_bursts(true, false, 40);
    CHECK(few <= all);
}

static Record name(uint16_t id, const char *text)
{
    RecordText t = {.op = REC_TEXT, .kind = REC_TEXT_NAME, .id = id};
    Record r;
    t.length = (uint16_t)strlen(text);
    memcpy(t.text, text, t.length);
    memcpy(&r, &t, sizeof r);
    return r;
}

/* Cores number names in the order they meet them. */
T_TEST(cycle_lines_are_of_their_files)
{
    static const char *const files[] = {"a.cpp", "b.cpp"};
    Timed t = open_timed(SIM_AIV, 2);
    for (uint32_t core = 0; core < 2; core++) {
        t.rig.core = core;
        for (uint16_t id = 1; id <= 2; id++)
            rig_run(&t.rig, name(id, files[(id + core) % 2]));
        Record work = {.op = NPU_SCALAR_WORK, .n = {50}, .line = 3, .file = (uint16_t)(2 - core)};
        rig_run(&t.rig, work); /* of a.cpp on both */
    }
    CycleLine lines[4];
    CHECK_EQ_INT(cycle_lines(t.cycle, lines, 4), 1);
    CHECK_EQ_STR(lines[0].file, "a.cpp");
    CHECK_EQ_INT(lines[0].instructions, 2);
    close_timed(&t);
}

/* Rows of 8 bytes: every burst is a request of its own; rows of a block are not. */
T_TEST(cycle_narrow_bursts)
{
    double cycles[2];
    for (uint32_t wide = 0; wide < 2; wide++) {
        Timed t = open_timed(SIM_AIV, 1);
        Record r = copy(NPU_PAD_GM_UB, UB(0), GM(0), wide ? 32 : 8);
        r.n[0] = 64;
        rig_run(&t.rig, r);
        cycles[wide] = close_timed(&t).cycles;
    }
    double narrow = 64 * npu_constants[NPU_C_NARROW_BURST].value;
    CHECK_MSG(cycles[0] > narrow && cycles[1] < 0.2 * narrow, "%g, %g", cycles[0], cycles[1]);
}

/* The launch of a kernel with tiling data takes longer by the time a core needs to read it. */
T_TEST(cycle_tiling_data_is_read_before_the_first_instruction)
{
    static uint8_t memory[2048];
    double us[2];
    for (uint32_t with = 0; with < 2; with++) {
        Timed t = open_timed(SIM_AIV, 1);
        SimRegion tiling = {.name = "tiling",
                            .base = RIG_GM << 1,
                            .bytes = sizeof memory,
                            .memory = memory,
                            .dtype = NPU_DT_U8,
                            .role = SIM_TILING};
        CHECK(!with || sim_gm_add(t.rig.sim, &tiling));
        us[with] = close_timed(&t).launch_us;
    }
    double want = sizeof memory / 64.0 * npu_constants[NPU_C_GM_LINE].value / 1800;
    CHECK_NEAR(us[1] - us[0], want, 0.01);
}

/* Scalar reads of GM wait for each line of 64 bytes once; what is stored is there, and what is dropped is fetched again. */
T_TEST(cycle_scalar_reads_of_gm_wait_for_lines)
{
    static const struct {
        uint16_t op;
        uint32_t at;
        uint32_t misses; /* so far */
    } steps[] = {{NPU_GLOBAL_GET, 0, 1},   {NPU_GLOBAL_GET, 60, 1},  {NPU_GLOBAL_GET, 64, 2},
                 {NPU_GLOBAL_SET, 128, 2}, {NPU_GLOBAL_GET, 132, 2}, {NPU_GLOBAL_GET, 4096, 3},
                 {NPU_GLOBAL_GET, 0, 3},   {NPU_CACHE_CLEAN, 64, 3}, {NPU_GLOBAL_GET, 0, 3},
                 {NPU_GLOBAL_GET, 68, 4}};
    Timed t = open_timed(SIM_AIV, 1);
    double plain = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        Record r = {.op = steps[i].op, .pipe = NPU_PIPE_S, .dtype = {NPU_DT_F32, NPU_DT_F32}};
        r.operand[r.op == NPU_GLOBAL_GET ? 1 : 0] = (RecordOperand){GM(steps[i].at), 4, 0, 0};
        rig_run(&t.rig, r);
        plain += npu_isa(r.op)->per_repeat;
        CycleReport now;
        cycle_report(t.cycle, &now);
        CHECK_NEAR(now.cycles, plain + steps[i].misses * npu_constants[NPU_C_GM_LINE].value, 1e-6);
    }
    close_timed(&t);
}

/* More lines than the cache holds: those used longest ago are gone. */
T_TEST(cycle_data_cache_holds_32_kib)
{
    DataCache cache = {0};
    CHECK_EQ_INT(data_cache_touch(&cache, 0, 16384), 256);
    CHECK_EQ_INT(data_cache_touch(&cache, 0, 16384), 0);
    CHECK_EQ_INT(data_cache_touch(&cache, 60, 8), 0);
    CHECK_EQ_INT(data_cache_touch(&cache, 1 << 20, 65536), 1024);
    CHECK(data_cache_touch(&cache, 0, 16384) > 200);
    data_cache_drop(&cache, 0, true);
    CHECK_EQ_INT(data_cache_touch(&cache, 16380, 8), 2);
}

/* What waits for a flag starts later than the pipe that sets it is done. */
T_TEST(cycle_a_flag_takes_time)
{
    double cycles[2];
    for (uint32_t how = 0; how < 2; how++) {
        Timed t = open_timed(SIM_AIV, 1);
        rig_run(&t.rig, rig_vec(NPU_EXP, NPU_DT_F32, 0, 0, ~0ull, 64));
        if (how == 1) {
            Record flag = {.op = NPU_SET_FLAG, .pipe = NPU_PIPE_V, .mode = NPU_PIPE_MTE3};
            rig_run(&t.rig, flag);
            flag.op = NPU_WAIT_FLAG;
            rig_run(&t.rig, flag);
        }
        rig_run(&t.rig, copy(NPU_COPY_UB_GM, GM(0), UB(4096), 8192));
        cycles[how] = close_timed(&t).cycles;
    }
    double exp = npu_isa(NPU_EXP)->head + npu_isa(NPU_EXP)->per_repeat + npu_isa(NPU_EXP)->tail;
    CHECK_NEAR(cycles[1] - cycles[0], exp + npu_constants[NPU_C_FLAG].value - 4, 4);
}

/* The clock is the nominal one, however busy the cubes are and whatever vector cores do beside them. */
T_TEST(cycle_clock_of_a_mixed_kernel)
{
    double factor[2];
    for (uint32_t mixed = 0; mixed < 2; mixed++) {
        Timed t = open_timed(mixed ? SIM_MIX_1_2 : SIM_AIC, 24);
        uint32_t per = mixed ? 3 : 1;
        for (uint32_t block = 0; block < 24; block++) {
            Record m = {.op = NPU_MMAD,
                        .pipe = NPU_PIPE_M,
                        .dtype = {NPU_DT_F32, NPU_DT_F16, NPU_DT_F16},
                        .n = {128, 256, 64}};
            m.operand[0].address = rec_address(NPU_L0C, 0);
            m.operand[1].address = rec_address(NPU_L0A, 0);
            m.operand[2].address = rec_address(NPU_L0B, 0);
            t.rig.core = block * per;
            for (int i = 0; i < 12; i++)
                rig_run(&t.rig, m);
            t.rig.core = block * per + 1;
            for (int i = 0; mixed && i < 24; i++) /* the vector core ends last */
                rig_run(&t.rig,
                        rig_repeat(rig_vec(NPU_ADD, NPU_DT_F16, 0, 0, 0, 0), ~0ull, ~0ull, 128));
        }
        CycleReport r = close_timed(&t);
        factor[mixed] = (r.us - r.launch_us) * 1800 / r.cycles;
    }
    CHECK_NEAR(factor[0], 1, 1e-9);
    CHECK_NEAR(factor[1], 1, 1e-9);
}

/* A block that all lanes of a repeat read is asked more than once. */
T_TEST(cycle_one_block_for_all_lanes)
{
    Timed t = open_timed(SIM_AIV, 1);
    Record r = rig_repeat(rig_vec(NPU_COPY, NPU_DT_F32, 65536, 0, ~0ull, 0), ~0ull, 0, 10);
    r.operand[1].block_stride = 0;
    rig_run(&t.rig, r);
    uint64_t once = (uint64_t)npu_constants[NPU_C_ONE_BLOCK].value;
    CHECK_EQ_INT(close_timed(&t).conflict_cycles, 10 * (once - 1));
}

/* In counter mode GatherMask's mask counts the elements of one of its repeats. */
T_TEST(cycle_every_repeat_of_gather_mask_counts)
{
    double cycles[2];
    for (uint32_t many = 0; many < 2; many++) {
        Timed t = open_timed(SIM_AIV, 1);
        Record r = {.op = NPU_GATHER_MASK,
                    .pipe = NPU_PIPE_V,
                    .mode = 1,
                    .flags = REC_COUNTER,
                    .mask = {64},
                    .dtype = {NPU_DT_F32, NPU_DT_F32, NPU_DT_U32},
                    .n = {many ? 20 : 1}};
        r.operand[0] = (RecordOperand){.address = UB(65536), .block_stride = 1, .repeat_stride = 8};
        r.operand[1] = (RecordOperand){.address = UB(0), .block_stride = 1, .repeat_stride = 8};
        rig_run(&t.rig, r);
        cycles[many] = close_timed(&t).cycles;
    }
    CHECK_NEAR(cycles[1] - cycles[0], 19 * npu_isa(NPU_GATHER_MASK)->per_repeat, 0.01);
}
