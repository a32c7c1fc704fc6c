/* Races found from the records alone, whatever the order of this run. */
#include "sim/hazard.h"
#include "tests/sim/rig.h"

static Record copy_in(uint64_t ub, uint64_t gm, uint32_t bytes, uint32_t line)
{
    Record r = {.op = NPU_COPY_GM_UB, .pipe = NPU_PIPE_MTE2, .n = {1, bytes}, .line = line};
    r.operand[0].address = UB(ub);
    r.operand[1].address = GM(gm);
    return r;
}

static Record copy_out(uint64_t gm, uint64_t ub, uint32_t bytes, uint32_t line)
{
    Record r = {.op = NPU_COPY_UB_GM, .pipe = NPU_PIPE_MTE3, .n = {1, bytes}, .line = line};
    r.operand[0].address = GM(gm);
    r.operand[1].address = UB(ub);
    return r;
}

static Record add_record(uint64_t d, uint64_t a, uint64_t b, uint32_t n, uint32_t line)
{
    Record r = rig_vec(NPU_ADD, NPU_DT_F32, d, a, b, n);
    r.line = line;
    return r;
}

static Record flag(uint16_t op, uint8_t from, uint8_t to, uint32_t id)
{
    return (Record){.op = op, .pipe = from, .mode = to, .n = {id}};
}
static void set_wait(Rig *rig, uint8_t from, uint8_t to, uint32_t id)
{
    rig_run(rig, flag(NPU_SET_FLAG, from, to, id));
    rig_run(rig, flag(NPU_WAIT_FLAG, from, to, id));
}
static void barrier(Rig *rig, uint8_t pipe)
{
    rig_run(rig, (Record){.op = NPU_BARRIER, .mode = pipe});
}

typedef struct Watched {
    Rig rig;
    Hazard *hazard;
} Watched;

static Watched open_watched(SimKind kind, uint32_t blocks, bool strict)
{
    Watched w = {.rig = rig_open_kind(kind, blocks)};
    w.hazard = hazard_open(w.rig.sim, strict);
    return w;
}
static void close_watched(Watched *w)
{
    hazard_close(w->hazard);
    rig_close(&w->rig);
}

/* Two tiles through one buffer; `missing` names the wait left out. */
static const char *pipeline(const char *missing, bool strict, uint32_t *line, uint32_t *other)
{
    Watched w = open_watched(SIM_AIV, 1, strict);
    Rig *rig = &w.rig;
    for (uint32_t t = 0; t < 2; t++) {
        if (t && strcmp(missing, "V_MTE2"))
            rig_run(rig, flag(NPU_WAIT_FLAG, NPU_PIPE_V, NPU_PIPE_MTE2, 0));
        rig_run(rig, copy_in(0, 4096 * t, 256, 10));
        rig_run(rig, copy_in(256, 8192 + 4096 * t, 256, 11));
        if (strcmp(missing, "MTE2_V"))
            set_wait(rig, NPU_PIPE_MTE2, NPU_PIPE_V, 0);
        if (t && strcmp(missing, "MTE3_V"))
            rig_run(rig, flag(NPU_WAIT_FLAG, NPU_PIPE_MTE3, NPU_PIPE_V, 0));
        rig_run(rig, add_record(512, 0, 256, 64, 12));
        if (strcmp(missing, "V_MTE2"))
            rig_run(rig, flag(NPU_SET_FLAG, NPU_PIPE_V, NPU_PIPE_MTE2, 0));
        if (strcmp(missing, "V_MTE3"))
            set_wait(rig, NPU_PIPE_V, NPU_PIPE_MTE3, 0);
        rig_run(rig, copy_out(16384 + 4096 * t, 512, 256, 13));
        if (strcmp(missing, "MTE3_V"))
            rig_run(rig, flag(NPU_SET_FLAG, NPU_PIPE_MTE3, NPU_PIPE_V, 0));
    }
    const char *code = rig_fault(rig);
    *line = *code ? sim_fault(rig->sim, 0)->seen_line : 0;
    if (*code) /* neither flag is set: something is to be added behind the earlier access */
        CHECK_EQ_INT(sim_fault(rig->sim, 0)->line, sim_fault(rig->sim, 0)->other_line);
    *other = *code ? sim_fault(rig->sim, 0)->other_line : 0;
    close_watched(&w);
    return code;
}

T_TEST(hazard_a_full_pipeline_is_clean)
{
    uint32_t line, other;
    CHECK_EQ_STR(pipeline("nothing", false, &line, &other), "");
    CHECK_EQ_STR(pipeline("nothing", true, &line, &other), "");
}

T_TEST(hazard_every_missing_wait_is_found)
{
    uint32_t line, other;
    for (int strict = 0; strict < 2; strict++) {
        CHECK_EQ_STR(pipeline("MTE2_V", strict, &line, &other), "S050");
        CHECK_EQ_INT(line, 12);
        CHECK_EQ_STR(pipeline("V_MTE3", strict, &line, &other), "S050");
        CHECK_EQ_INT(line, 13);
        CHECK_EQ_INT(other, 12);
        CHECK_EQ_STR(pipeline("V_MTE2", strict, &line, &other), "S051");
        CHECK_EQ_INT(line, 10);
        CHECK_EQ_STR(pipeline("MTE3_V", strict, &line, &other), "S051");
        CHECK_EQ_INT(line, 12);
        CHECK_EQ_INT(other, 13);
    }
}

T_TEST(hazard_message_names_both_sides)
{
    Watched w = open_watched(SIM_AIV, 1, false);
    rig_run(&w.rig, copy_in(0, 0, 256, 10));
    rig_run(&w.rig, add_record(512, 0, 0, 64, 12));
    const SimFault *f = sim_fault(w.rig.sim, 0);
    REQUIRE(f != NULL);
    CHECK_EQ_INT(sim_fault_row(f->code)->kind, SIM_KIND_RACE);
    CHECK(strstr(f->message, "UB bytes 0 to 255") && strstr(f->message, "line 10"));
    CHECK(strstr(f->message, "let V wait for MTE2 (MTE2_V)"));
    CHECK_EQ_INT(f->range[1].write, true);
    close_watched(&w);
}

T_TEST(hazard_inside_a_pipe)
{
    for (int strict = 0; strict < 2; strict++) {
        Watched w = open_watched(SIM_AIV, 1, strict);
        rig_run(&w.rig, copy_in(0, 0, 256, 1));
        set_wait(&w.rig, NPU_PIPE_MTE2, NPU_PIPE_V, 0);
        rig_run(&w.rig, add_record(512, 0, 0, 64, 2));
        rig_run(&w.rig, add_record(1024, 512, 512, 64, 3)); /* the compiler puts a barrier here */
        CHECK_EQ_STR(rig_fault(&w.rig), strict ? "S053" : "");
        CHECK(!strict || sim_fault(w.rig.sim, 0)->inserted);
        barrier(&w.rig, NPU_PIPE_V);
        rig_run(&w.rig, add_record(2048, 1024, 1024, 64, 4));
        CHECK_EQ_STR(rig_fault(&w.rig), "");
        rig_run(&w.rig,
                add_record(0, 2048 + 256, 2048 + 256, 64, 5)); /* a write after a read is safe */
        CHECK_EQ_STR(rig_fault(&w.rig), "");
        rig_run(&w.rig, copy_in(8192, 0, 64, 6));
        rig_run(&w.rig, copy_in(8192 + 32, 64, 64, 7)); /* overlapping copies: by hand, always */
        CHECK_EQ_STR(rig_fault(&w.rig), "S053");
        CHECK(!sim_fault(w.rig.sim, w.rig.seen - 1)->inserted);
        barrier(&w.rig, NPU_PIPE_MTE2);
        rig_run(&w.rig, copy_in(8192, 0, 64, 8));
        CHECK_EQ_STR(rig_fault(&w.rig), "");
        close_watched(&w);
    }
}

/* A read that did not wait for a write says nothing about when that write ends: without a barrier the
 * next write meets it. */
T_TEST(hazard_a_loose_read_hides_no_write)
{
    for (int strict = 0; strict < 2; strict++)
        for (int with = 0; with < 2; with++) {
            Watched w = open_watched(SIM_AIV, 1, strict);
            rig_run(&w.rig, copy_in(0, 0, 256, 1));
            set_wait(&w.rig, NPU_PIPE_MTE2, NPU_PIPE_V, 0);
            rig_run(&w.rig, add_record(512, 0, 0, 64, 2));
            rig_run(&w.rig, add_record(1024, 512, 512, 64, 3));
            CHECK_EQ_STR(rig_fault(&w.rig), strict ? "S053" : "");
            if (with)
                barrier(&w.rig, NPU_PIPE_V);
            rig_run(&w.rig, add_record(512, 0, 0, 64, 4));
            CHECK_EQ_STR(rig_fault(&w.rig), strict && !with ? "S053" : "");
            if (strict && !with)
                CHECK_EQ_INT(sim_fault(w.rig.sim, w.rig.seen - 1)->other_line, 2);
            close_watched(&w);
        }
}

T_TEST(hazard_scalar_reads_are_the_compilers_business)
{
    for (int strict = 0; strict < 2; strict++) {
        Watched w = open_watched(SIM_AIV, 1, strict);
        Record dup = rig_vec(NPU_DUPLICATE, NPU_DT_F32, 0, ~0ull, ~0ull, 64);
        rig_run(&w.rig, dup);
        Record get = {.op = NPU_LOCAL_GET, .dtype = {0, NPU_DT_F32}, .line = 3};
        get.operand[1].address = UB(0);
        rig_run(&w.rig, get);
        CHECK_EQ_STR(rig_fault(&w.rig), strict ? "S050" : "");
        Record set = {.op = NPU_LOCAL_SET, .dtype = {NPU_DT_F32}, .line = 4};
        set.operand[0].address = UB(1024);
        rig_run(&w.rig, set);
        rig_run(&w.rig, add_record(2048, 1024, 1024, 1, 5));
        CHECK_EQ_STR(rig_fault(&w.rig), strict ? "S050" : "");
        close_watched(&w);
    }
}

/* One id set twice: the first wait covers the first copy only. */
T_TEST(hazard_flags_come_in_order)
{
    Watched w = open_watched(SIM_AIV, 1, true);
    rig_run(&w.rig, copy_in(0, 0, 256, 1));
    rig_run(&w.rig, flag(NPU_SET_FLAG, NPU_PIPE_MTE2, NPU_PIPE_V, 0));
    rig_run(&w.rig, copy_in(256, 0, 256, 2));
    rig_run(&w.rig, flag(NPU_SET_FLAG, NPU_PIPE_MTE2, NPU_PIPE_V, 0));
    CHECK_EQ_STR(rig_fault(&w.rig), "S033");
    rig_run(&w.rig, flag(NPU_WAIT_FLAG, NPU_PIPE_MTE2, NPU_PIPE_V, 0));
    rig_run(&w.rig, add_record(512, 0, 0, 64, 3));
    CHECK_EQ_STR(rig_fault(&w.rig), "");
    rig_run(&w.rig, add_record(1024, 256, 256, 64, 4));
    CHECK_EQ_STR(rig_fault(&w.rig), "S050");
    rig_run(&w.rig, flag(NPU_WAIT_FLAG, NPU_PIPE_MTE2, NPU_PIPE_V, 0));
    rig_run(&w.rig, add_record(2048, 256, 256, 64, 5));
    CHECK_EQ_STR(rig_fault(&w.rig), "");
    close_watched(&w);
}

T_TEST(hazard_barrier_all_orders_everything)
{
    Watched w = open_watched(SIM_AIV, 1, true);
    rig_run(&w.rig, copy_in(0, 0, 256, 1));
    barrier(&w.rig, NPU_PIPE_ALL);
    rig_run(&w.rig, add_record(512, 0, 0, 64, 2));
    barrier(&w.rig, NPU_PIPE_ALL);
    rig_run(&w.rig, copy_out(0, 512, 256, 3));
    RIG_CLEAN(&w.rig);
    close_watched(&w);
}

T_TEST(hazard_in_core_through_gm)
{
    Watched w = open_watched(SIM_AIV, 1, false);
    rig_run(&w.rig, copy_in(0, 0, 256, 1));
    set_wait(&w.rig, NPU_PIPE_MTE2, NPU_PIPE_MTE3, 0);
    rig_run(&w.rig, copy_out(4096, 0, 256, 2));
    rig_run(&w.rig, copy_in(1024, 4096, 256, 3)); /* reads back without waiting */
    CHECK_EQ_STR(rig_fault(&w.rig), "S050");
    set_wait(&w.rig, NPU_PIPE_MTE3, NPU_PIPE_MTE2, 1);
    rig_run(&w.rig, copy_in(2048, 4096, 256, 4));
    CHECK_EQ_STR(rig_fault(&w.rig), "");
    close_watched(&w);
}

static void on(Rig *rig, uint32_t core, Record r)
{
    size_t used;
    sim_feed(rig->sim, core, &r, 1, &used);
}

/* Core 0 writes a workspace, core 1 reads it. */
static const char *exchange(const char *how)
{
    Watched w = open_watched(SIM_AIV, 2, false);
    Rig *rig = &w.rig;
    Record all = {.op = NPU_SYNC_ALL},
           dup = rig_vec(NPU_DUPLICATE, NPU_DT_F32, 0, ~0ull, ~0ull, 64);
    on(rig, 0, dup);
    on(rig, 0, flag(NPU_SET_FLAG, NPU_PIPE_V, NPU_PIPE_MTE3, 0));
    on(rig, 0, flag(NPU_WAIT_FLAG, NPU_PIPE_V, NPU_PIPE_MTE3, 0));
    on(rig, 0, copy_out(4096, 0, 256, 5));
    if (strcmp(how, "sync") == 0) {
        on(rig, 0, all);
        on(rig, 1, all);
        on(rig, 0, all);
    }
    if (strcmp(how, "flag") == 0) {
        Record set = {.op = NPU_CROSS_SET, .pipe = NPU_PIPE_MTE3, .mode = 0, .n = {2}};
        on(rig, 0, set);
        on(rig, 1, set);
        on(rig, 1, (Record){.op = NPU_CROSS_WAIT, .mode = 0, .n = {2}});
    }
    if (strcmp(how, "early flag") == 0) { /* set on a pipe that does not wait for the copy */
        Record set = {.op = NPU_CROSS_SET, .pipe = NPU_PIPE_S, .mode = 0, .n = {2}};
        on(rig, 0, set);
        on(rig, 1, set);
        on(rig, 1, (Record){.op = NPU_CROSS_WAIT, .mode = 0, .n = {2}});
    }
    on(rig, 1, copy_in(0, 4096, 256, 6));
    const char *code = rig_fault(rig);
    close_watched(&w);
    return code;
}

T_TEST(hazard_between_cores)
{
    CHECK_EQ_STR(exchange("nothing"), "S054");
    CHECK_EQ_STR(exchange("sync"), "");
    CHECK_EQ_STR(exchange("flag"), "");
    CHECK_EQ_STR(exchange("early flag"), "S054");
}

/* atomic 0: different values, 1: added up, 2: the same values from both */
T_TEST(hazard_two_cores_on_one_output)
{
    for (int atomic = 0; atomic < 3; atomic++) {
        Watched w = open_watched(SIM_AIV, 2, false);
        for (uint32_t core = 0; core < 2; core++) {
            Record dup = rig_vec(NPU_DUPLICATE, NPU_DT_F32, 0, ~0ull, ~0ull, 64);
            dup.scalar = atomic == 2 ? 0 : rig_bits((float)core + 1);
            on(&w.rig, core, dup);
            on(&w.rig, core, flag(NPU_SET_FLAG, NPU_PIPE_V, NPU_PIPE_MTE3, 0));
            on(&w.rig, core, flag(NPU_WAIT_FLAG, NPU_PIPE_V, NPU_PIPE_MTE3, 0));
            if (atomic == 1)
                on(&w.rig, core, rig_register(REC_REG_ATOMIC, REC_ATOMIC_ADD | NPU_DT_F32 << 8));
            on(&w.rig, core, copy_out(core * 128, 0, 256, 5)); /* half of it shared */
        }
        CHECK_EQ_STR(rig_fault(&w.rig), atomic == 2 ? "S061" : atomic ? "" : "S054");
        if (!atomic)
            CHECK_EQ_INT(
                sim_fault(w.rig.sim, 0)->range[0].to - sim_fault(w.rig.sim, 0)->range[0].from, 128);
        close_watched(&w);
    }
}

/* Core 0 clears the sums and adds its part; core 1 adds too, and must know that they are clear. */
T_TEST(hazard_atomic_before_the_sums_are_cleared)
{
    for (int sync = 0; sync < 2; sync++) {
        Watched w = open_watched(SIM_AIV, 2, false);
        Record all = {.op = NPU_SYNC_ALL};
        on(&w.rig, 0, rig_vec(NPU_DUPLICATE, NPU_DT_F32, 0, ~0ull, ~0ull, 64));
        Record dup = rig_vec(NPU_DUPLICATE, NPU_DT_F32, 256, ~0ull, ~0ull, 64);
        dup.scalar = rig_bits(3);
        for (uint32_t core = 0; core < 2; core++) {
            on(&w.rig, core, dup);
            on(&w.rig, core, flag(NPU_SET_FLAG, NPU_PIPE_V, NPU_PIPE_MTE3, 0));
            on(&w.rig, core, flag(NPU_WAIT_FLAG, NPU_PIPE_V, NPU_PIPE_MTE3, 0));
        }
        on(&w.rig, 0, copy_out(0, 0, 256, 4));
        on(&w.rig, 0, (Record){.op = NPU_BARRIER, .mode = NPU_PIPE_MTE3});
        if (sync) {
            on(&w.rig, 0, all);
            on(&w.rig, 1, all);
            on(&w.rig, 0, all);
        }
        for (uint32_t core = 0; core < 2; core++) {
            on(&w.rig, core, rig_register(REC_REG_ATOMIC, REC_ATOMIC_ADD | NPU_DT_F32 << 8));
            on(&w.rig, core, copy_out(0, 256, 256, 5));
        }
        CHECK_EQ_STR(rig_fault(&w.rig), sync ? "" : "S054");
        if (!sync)
            CHECK_EQ_INT(sim_fault(w.rig.sim, 0)->other_line, 4);
        close_watched(&w);
    }
}

T_TEST(hazard_neighbouring_bytes_do_not_race)
{
    Watched w = open_watched(SIM_AIV, 2, true);
    for (uint32_t core = 0; core < 2; core++) {
        on(&w.rig, core, rig_vec(NPU_DUPLICATE, NPU_DT_F32, 0, ~0ull, ~0ull, 64));
        on(&w.rig, core, flag(NPU_SET_FLAG, NPU_PIPE_V, NPU_PIPE_MTE3, 0));
        on(&w.rig, core, flag(NPU_WAIT_FLAG, NPU_PIPE_V, NPU_PIPE_MTE3, 0));
        Record r = {.op = NPU_PAD_UB_GM,
                    .pipe = NPU_PIPE_MTE3,
                    .n = {1, 13},
                    .dtype = {NPU_DT_U8, NPU_DT_U8}};
        r.operand[0].address = GM(13 * core);
        r.operand[1].address = UB(0);
        on(&w.rig, core, r);
    }
    RIG_CLEAN(&w.rig);
    uint64_t pairs, inserted;
    hazard_counts(w.hazard, &pairs, &inserted);
    CHECK(pairs > 0 && inserted == 0);
    close_watched(&w);
}

T_TEST(hazard_small_products_need_a_barrier)
{
    for (uint32_t m = 16; m <= 160; m += 144) {
        Watched w = open_watched(SIM_AIC, 1, false);
        Record fill = {.op = NPU_FILL, .pipe = NPU_PIPE_MTE1, .dtype = {NPU_DT_F16}, .n = {1, 20}};
        fill.operand[0].address = rec_address(NPU_L0A, 0);
        rig_run(&w.rig, fill);
        fill.operand[0].address = rec_address(NPU_L0B, 0);
        rig_run(&w.rig, fill);
        set_wait(&w.rig, NPU_PIPE_MTE1, NPU_PIPE_M, 0);
        Record mm = {.op = NPU_MMAD,
                     .pipe = NPU_PIPE_M,
                     .dtype = {NPU_DT_F32, NPU_DT_F16, NPU_DT_F16},
                     .n = {m, 16, 16},
                     .mode = 1};
        mm.operand[0].address = rec_address(NPU_L0C, 0);
        mm.operand[1].address = rec_address(NPU_L0A, 0);
        mm.operand[2].address = rec_address(NPU_L0B, 0);
        rig_run(&w.rig, mm);
        mm.mode = 0;
        rig_run(&w.rig, mm);
        CHECK_EQ_STR(rig_fault(&w.rig), m == 16 ? "S053" : "");
        for (uint32_t unit = 0; unit < 4; unit += 3) { /* unit flags order Mmad and Fixpipe */
            mm.n[3] = unit;
            mm.mode = 1;
            barrier(&w.rig, NPU_PIPE_ALL);
            rig_run(&w.rig, mm);
            Record fix = {.op = NPU_FIXPIPE_GM,
                          .pipe = NPU_PIPE_FIX,
                          .mode = 1,
                          .line = 90 + unit,
                          .dtype = {NPU_DT_F32, NPU_DT_F32},
                          .n = {16, 16, m, 16, 1}};
            fix.operand[0].address = GM(0);
            fix.operand[1].address = rec_address(NPU_L0C, 0);
            (void)rig_fault(&w.rig);
            rig_run(&w.rig, fix);
            CHECK_EQ_STR(rig_fault(&w.rig), unit ? "" : "S050");
        }
        close_watched(&w);
    }
}

/* The next product must not start in L0C before Fixpipe has taken the last one. */
static const char *product_after_store(bool waits)
{
    Watched w = open_watched(SIM_AIC, 1, true);
    Record mm = {.op = NPU_MMAD,
                 .pipe = NPU_PIPE_M,
                 .dtype = {NPU_DT_F32, NPU_DT_F16, NPU_DT_F16},
                 .n = {64, 64, 16},
                 .mode = 1};
    Record fix = {.op = NPU_FIXPIPE_GM,
                  .pipe = NPU_PIPE_FIX,
                  .mode = 1,
                  .dtype = {NPU_DT_F32, NPU_DT_F32},
                  .n = {64, 64, 64, 64, 1}};
    mm.operand[0].address = fix.operand[1].address = rec_address(NPU_L0C, 0);
    mm.operand[1].address = rec_address(NPU_L0A, 0);
    mm.operand[2].address = rec_address(NPU_L0B, 0);
    fix.operand[0].address = GM(0);
    rig_run(&w.rig, mm);
    set_wait(&w.rig, NPU_PIPE_M, NPU_PIPE_FIX, 0);
    rig_run(&w.rig, fix);
    while (*rig_fault(&w.rig)) /* the operands were never loaded */
        continue;
    if (waits)
        set_wait(&w.rig, NPU_PIPE_FIX, NPU_PIPE_M, 0);
    rig_run(&w.rig, mm);
    const char *code = rig_fault(&w.rig);
    close_watched(&w);
    return code;
}

T_TEST(hazard_a_product_waits_until_the_last_has_left)
{
    CHECK_EQ_STR(product_after_store(true), "");
    CHECK_EQ_STR(product_after_store(false), "S051");
}

T_TEST(hazard_two_atomic_stores_may_read_one_buffer)
{
    Watched w = open_watched(SIM_AIV, 1, true);
    rig_run(&w.rig, rig_vec(NPU_DUPLICATE, NPU_DT_F32, 0, ~0ull, ~0ull, 64));
    set_wait(&w.rig, NPU_PIPE_V, NPU_PIPE_MTE3, 0);
    rig_run(&w.rig, rig_register(REC_REG_ATOMIC, REC_ATOMIC_ADD | NPU_DT_F32 << 8));
    rig_run(&w.rig, copy_out(0, 0, 256, 5));
    rig_run(&w.rig, copy_out(4096, 0, 256, 6));
    CHECK_EQ_STR(rig_fault(&w.rig), "");
    close_watched(&w);
}

/* MTE3 stores the first element of each block while V gathers into the blocks: element `from` of
 * its own block to all eight places. */
T_TEST(hazard_bytes_gathered_onto_themselves_are_a_warning)
{
    for (uint32_t from = 0; from < 2; from++) {
        Watched w = open_watched(SIM_AIV, 1, false);
        float values[64];
        uint32_t offsets[64];
        for (uint32_t i = 0; i < 64; i++) {
            values[i] = (float)i;
            offsets[i] = (i / 8 * 8 + from) * 4;
        }
        rig_put(&w.rig, 0, values, sizeof values);
        rig_put(&w.rig, 1024, offsets, sizeof offsets);
        barrier(&w.rig, NPU_PIPE_ALL);
        Record out = copy_out(0, 0, 4, 5);
        out.op = NPU_PAD_UB_GM;
        out.n[0] = 8;
        rig_run(&w.rig, out);
        Record gather = rig_vec(NPU_GATHER, NPU_DT_F32, 0, 0, 1024, 64);
        rig_run(&w.rig, gather);
        CHECK_EQ_STR(rig_fault(&w.rig), from ? "S051" : "S061");
        close_watched(&w);
    }
}

/* Eight offsets are 32 bytes, whatever is copied behind them. */
T_TEST(hazard_a_short_gather_reads_no_more_offsets_than_it_has)
{
    for (uint32_t behind = 0; behind < 2; behind++) {
        Watched w = open_watched(SIM_AIV, 1, false);
        float values[8] = {0};
        uint32_t offsets[8] = {0};
        rig_put(&w.rig, 0, values, sizeof values);
        rig_put(&w.rig, 1024, offsets, sizeof offsets);
        barrier(&w.rig, NPU_PIPE_ALL);
        rig_run(&w.rig, copy_in(1024 + (behind ? 32 : 0), 0, 32, 5));
        rig_run(&w.rig, rig_vec(NPU_GATHER, NPU_DT_F32, 2048, 0, 1024, 8));
        CHECK_EQ_STR(rig_fault(&w.rig), behind ? "" : "S050");
        close_watched(&w);
    }
}

/* MTE3 stores a buffer of zeros, V fills it with `next` while that may still be going on. */
T_TEST(hazard_same_bytes_are_a_warning)
{
    for (int next = 0; next < 2; next++) {
        Watched w = open_watched(SIM_AIV, 1, false);
        Record dup = rig_vec(NPU_DUPLICATE, NPU_DT_F32, 0, ~0ull, ~0ull, 64);
        rig_run(&w.rig, dup);
        set_wait(&w.rig, NPU_PIPE_V, NPU_PIPE_MTE3, 0);
        rig_run(&w.rig, copy_out(0, 0, 256, 5));
        dup.scalar = rig_bits((float)next);
        rig_run(&w.rig, dup);
        CHECK_EQ_STR(rig_fault(&w.rig), next ? "S051" : "S061");
        /* The store is as unordered for what comes after, whatever lay between. */
        dup.scalar = rig_bits(7);
        dup.line = 9;
        rig_run(&w.rig, dup);
        CHECK_EQ_STR(rig_fault(&w.rig), next ? "" : "S051");
        close_watched(&w);
    }
}

/* The second fill is longer than the first: the bytes MTE3 may still read are as they were. */
T_TEST(hazard_a_longer_fill_of_the_same_bytes_is_a_warning)
{
    Watched w = open_watched(SIM_AIV, 1, false);
    Record dup = rig_vec(NPU_DUPLICATE, NPU_DT_F32, 0, ~0ull, ~0ull, 64);
    rig_run(&w.rig, dup);
    set_wait(&w.rig, NPU_PIPE_V, NPU_PIPE_MTE3, 0);
    rig_run(&w.rig, copy_out(0, 0, 256, 5));
    dup.mask[0] = 128;
    rig_run(&w.rig, dup);
    CHECK_EQ_STR(rig_fault(&w.rig), "S061");
    close_watched(&w);
}

static Record word(uint16_t op, uint64_t gm)
{
    Record r = {.op = op, .pipe = NPU_PIPE_S, .line = 50, .dtype = {NPU_DT_U32, NPU_DT_U32}};
    r.operand[op == NPU_GLOBAL_SET ? 0 : 1].address = GM(gm);
    return r;
}

/* Ten cores read the same bytes; all but `silent` tell the last one, which then overwrites them. */
static const char *overwrite_after_readers(uint32_t silent)
{
    enum { READERS = 10 };
    Watched w = open_watched(SIM_AIV, READERS + 1, false);
    Rig *rig = &w.rig;
    for (rig->core = 0; rig->core < READERS; rig->core++) {
        rig_run(rig, copy_in(0, 8192, 256, 40));
        set_wait(rig, NPU_PIPE_MTE2, NPU_PIPE_S, 0);
        if (rig->core != silent)
            rig_run(rig, word(NPU_GLOBAL_SET, 64 * rig->core));
    }
    rig->core = READERS;
    for (uint32_t i = 0; i < READERS; i++)
        if (i != silent)
            rig_run(rig, word(NPU_GLOBAL_GET, 64 * i));
    Record ones = rig_vec(NPU_DUPLICATE, NPU_DT_F32, 0, ~0ull, ~0ull, 64);
    ones.scalar = 0x3F800000;
    rig_run(rig, ones);
    set_wait(rig, NPU_PIPE_V, NPU_PIPE_MTE3, 0);
    (void)rig_fault(rig);
    rig_run(rig, copy_out(8192, 0, 256, 60));
    const char *code = rig_fault(rig);
    close_watched(&w);
    return code;
}

T_TEST(hazard_no_reader_is_forgotten)
{
    CHECK_EQ_STR(overwrite_after_readers(UINT32_MAX), "");
    for (uint32_t silent = 0; silent < 10; silent++)
        CHECK_EQ_STR(overwrite_after_readers(silent), "S054");
}

/* Core 0 stores; a word goes from core 0 to `hops` others in turn; the last of them loads. `late`: the
 * store comes behind the word. */
static const char *load_after_words(uint32_t hops, bool late)
{
    Watched w = open_watched(SIM_AIV, hops + 1, false);
    Rig *rig = &w.rig;
    rig->core = 0;
    rig_run(rig, rig_vec(NPU_DUPLICATE, NPU_DT_F32, 0, ~0ull, ~0ull, 64));
    set_wait(rig, NPU_PIPE_V, NPU_PIPE_MTE3, 0);
    if (!late)
        rig_run(rig, copy_out(8192, 0, 256, 60));
    rig_run(rig, word(NPU_GLOBAL_SET, 0));
    if (late)
        rig_run(rig, copy_out(8192, 0, 256, 60));
    for (rig->core = 1; rig->core <= hops; rig->core++) {
        rig_run(rig, word(NPU_GLOBAL_GET, 64 * (rig->core - 1)));
        if (rig->core < hops)
            rig_run(rig, word(NPU_GLOBAL_SET, 64 * rig->core));
    }
    rig->core = hops;
    (void)rig_fault(rig);
    rig_run(rig, copy_in(0, 8192, 256, 70));
    const char *code = rig_fault(rig);
    close_watched(&w);
    return code;
}

T_TEST(hazard_a_word_tells_of_what_came_before_it)
{
    for (uint32_t hops = 1; hops < 5; hops++) {
        CHECK_EQ_STR(load_after_words(hops, false), "");
        CHECK_EQ_STR(load_after_words(hops, true), "S054");
    }
}

/* A cube core stores and tells the vector cores of its block; those of another block learn it where all
 * vector cores meet. */
static const char *load_after_meeting(bool told)
{
    Watched w = open_watched(SIM_MIX_1_2, 2, false);
    Rig *rig = &w.rig;
    static const uint32_t vector[] = {1, 2, 4, 5};
    Record fix = {.op = NPU_FIXPIPE_GM,
                  .pipe = NPU_PIPE_FIX,
                  .mode = 1,
                  .line = 80,
                  .dtype = {NPU_DT_F32, NPU_DT_F32},
                  .n = {16, 16, 16, 16, 1}};
    fix.operand[0].address = GM(4096);
    fix.operand[1].address = rec_address(NPU_L0C, 0);
    on(rig, 0, fix);
    on(rig, 0, (Record){.op = NPU_CROSS_SET, .pipe = NPU_PIPE_FIX, .mode = 2, .n = {1}});
    for (uint32_t i = 0; told && i < 2; i++)
        on(rig, vector[i], (Record){.op = NPU_CROSS_WAIT, .mode = 2, .n = {1}});
    for (uint32_t again = 0; again < 2; again++)
        for (uint32_t i = 0; i < 4 - again; i++)
            on(rig, vector[i], (Record){.op = NPU_SYNC_ALL});
    while (*rig_fault(rig)) /* the product itself was never computed */
        continue;
    on(rig, 4, copy_in(0, 4096, 256, 81));
    const char *code = rig_fault(rig);
    close_watched(&w);
    return code;
}

T_TEST(hazard_a_meeting_tells_of_third_cores)
{
    CHECK_EQ_STR(load_after_meeting(true), "");
    CHECK_EQ_STR(load_after_meeting(false), "S054");
}

/* Two results in NZ beside each other: `wide` columns of 32 rows, the next right behind them. */
static const char *beside(uint8_t dtype, uint64_t quant, uint32_t wide, uint32_t size, uint32_t gap)
{
    Watched w = open_watched(SIM_AIC, 1, false);
    for (uint32_t i = 0; i < 2; i++) {
        Record fix = {.op = NPU_FIXPIPE_GM,
                      .pipe = NPU_PIPE_FIX,
                      .mode = wide == 8 ? 4 : 0,
                      .line = 90 + i,
                      .dtype = {dtype, NPU_DT_F32},
                      .n = {2 * wide, 32, 32, wide * size, 1}};
        fix.operand[0].address = GM(i * (2 * 32 * wide * size - gap));
        fix.operand[1].address = rec_address(NPU_L0C, 0);
        fix.mask[0] = quant;
        rig_run(&w.rig, fix);
    }
    const char *code;
    do
        code = rig_fault(&w.rig);
    while (*code && strcmp(code, "S052") != 0 && strcmp(code, "S053") != 0);
    close_watched(&w);
    return code;
}

T_TEST(hazard_fractals_of_8_16_and_32_columns)
{
    static const struct {
        uint8_t dtype;
        uint64_t quant;
        uint32_t wide, size;
    } rows[] = {{NPU_DT_F32, REC_QUANT_NONE, 8, 4},
                {NPU_DT_F16, REC_QUANT_F32_F16, 16, 2},
                {NPU_DT_I8, REC_QUANT_QF32_B8, 32, 1}};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ_STR(beside(rows[i].dtype, rows[i].quant, rows[i].wide, rows[i].size, 0), "");
        CHECK(*beside(rows[i].dtype, rows[i].quant, rows[i].wide, rows[i].size, 32));
    }
}
