/* Flags, queues, cores that wait for each other, hangs, and the text of a fault. */
#include "tests/sim/rig.h"
#include <stdio.h>

static Record flag(uint16_t op, uint8_t from, uint8_t to, uint32_t id)
{
    return (Record){.op = op, .pipe = from, .mode = to, .n = {id}, .line = 20};
}

static Record name_record(uint16_t id, const char *text)
{
    RecordText t = {
        .op = REC_TEXT, .kind = REC_TEXT_NAME, .id = id, .length = (uint16_t)strlen(text)};
    memcpy(t.text, text, strlen(text));
    Record r;
    memcpy(&r, &t, sizeof r);
    return r;
}

T_TEST(sync_flags_pair_up)
{
    Rig rig = rig_open();
    rig_run(&rig, flag(NPU_SET_FLAG, NPU_PIPE_MTE2, NPU_PIPE_V, 0));
    rig_run(&rig, flag(NPU_WAIT_FLAG, NPU_PIPE_MTE2, NPU_PIPE_V, 0));
    rig_run(&rig, (Record){.op = NPU_BARRIER, .mode = NPU_PIPE_ALL});
    RIG_CLEAN(&rig);
    RIG_FAULT(&rig, flag(NPU_WAIT_FLAG, NPU_PIPE_MTE2, NPU_PIPE_V, 0), "S032");
    rig_run(&rig, flag(NPU_SET_FLAG, NPU_PIPE_V, NPU_PIPE_MTE3, 3));
    RIG_FAULT(&rig, flag(NPU_SET_FLAG, NPU_PIPE_V, NPU_PIPE_MTE3, 3), "S033");
    CHECK_EQ_INT(sim_fault_row(SIM_FAULT_SET_TWICE)->kind, SIM_KIND_WARNING);
    RIG_FAULT(&rig, ((Record){.op = NPU_BARRIER, .mode = NPU_PIPE_ALL}), "S056");
    rig_run(&rig, flag(NPU_WAIT_FLAG, NPU_PIPE_V, NPU_PIPE_MTE3, 3)); /* two waits undo two sets */
    RIG_FAULT(&rig, ((Record){.op = NPU_BARRIER, .mode = NPU_PIPE_ALL, .line = 9}), "");
    RIG_FAULT(&rig, flag(NPU_SET_FLAG, NPU_PIPE_V, NPU_PIPE_MTE3, 9), "S035");
    RIG_FAULT(&rig, flag(NPU_WAIT_FLAG, NPU_PIPE_M, NPU_PIPE_MTE1, 0), "S035"); /* no cube here */
    rig_run(&rig, (Record){.op = NPU_CORE_END});
    CHECK_EQ_STR(rig_fault(&rig), "S034");
    rig_close(&rig);
}

T_TEST(sync_queue_flags_may_stay)
{
    Rig rig = rig_open();
    Record r = flag(NPU_SET_FLAG, NPU_PIPE_V, NPU_PIPE_MTE2, 1);
    r.flags = REC_FROM_QUEUE;
    rig_run(&rig, r);
    rig_run(&rig, (Record){.op = NPU_CORE_END});
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

/* --- queues --- */

static Record queue(uint16_t op, uint32_t id, uint64_t at)
{
    Record r = {.op = op, .n = {id, NPU_POS_VECIN}, .line = 30 + op};
    r.operand[0].address = UB(at);
    return r;
}

static Record init(uint32_t id, uint64_t at, uint32_t bytes, uint32_t slots)
{
    Record r = {.op = NPU_BUFFER_INIT, .n = {id, NPU_POS_VECIN, slots, 0, 0, slots}, .line = 12};
    r.operand[0].address = UB(at);
    r.operand[0].bytes = bytes;
    return r;
}

T_TEST(queue_the_ordinary_way)
{
    Rig rig = rig_open();
    rig_run(&rig, (Record){.op = NPU_PIPE_OPEN});
    rig_run(&rig, init(1, 0, 256, 2));
    for (int i = 0; i < 5; i++) {
        uint64_t at = 256 * (uint64_t)(i % 2);
        rig_run(&rig, queue(NPU_QUEUE_ALLOC, 1, at));
        rig_run(&rig, queue(NPU_QUEUE_PUSH, 1, at));
        rig_run(&rig, queue(NPU_QUEUE_POP, 1, at));
        rig_run(&rig, queue(NPU_QUEUE_FREE, 1, at));
    }
    rig_run(&rig, (Record){.op = NPU_PIPE_CLOSE});
    rig_run(&rig, (Record){.op = NPU_CORE_END});
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(queue_misuse_has_names)
{
    Rig rig = rig_open();
    rig_run(&rig, (Record){.op = NPU_PIPE_OPEN});
    RIG_FAULT(&rig, ((Record){.op = NPU_PIPE_OPEN, .line = 2}), "S022");
    rig_run(&rig, init(1, 0, 256, 2));
    rig_run(&rig, init(2, 512, 256, 1));
    RIG_FAULT(&rig, queue(NPU_QUEUE_POP, 1, 0), "S023");
    rig_run(&rig, queue(NPU_QUEUE_ALLOC, 1, 0));
    rig_run(&rig, queue(NPU_QUEUE_ALLOC, 1, 256));
    RIG_FAULT(&rig, queue(NPU_QUEUE_ALLOC, 1, 0), "S024");
    RIG_FAULT(&rig, queue(NPU_QUEUE_PUSH, 2, 0), "S027");
    rig_run(&rig, queue(NPU_QUEUE_FREE, 1, 0));
    RIG_FAULT(&rig, queue(NPU_QUEUE_FREE, 1, 0), "S026");
    RIG_FAULT(&rig, queue(NPU_QUEUE_FREE, 7, 0), "S027");
    rig_run(&rig, queue(NPU_QUEUE_ALLOC, 1, 0));
    rig_run(&rig, queue(NPU_QUEUE_PUSH, 1, 0));
    rig_put(&rig, 256, &(uint64_t){7}, 8);
    rig_run(&rig, queue(NPU_QUEUE_ALLOC, 2, 512));
    rig_run(&rig, (Record){.op = NPU_CORE_END});
    CHECK_EQ_INT(sim_fault_count(rig.sim) - rig.seen, 3);
    CHECK_EQ_STR(rig_fault(&rig), "S029");
    CHECK_EQ_STR(sim_fault_row(sim_fault(rig.sim, rig.seen - 2)->code)->code, "S028");
    CHECK_EQ_STR(sim_fault_row(sim_fault(rig.sim, rig.seen - 1)->code)->code, "S058");
    rig_close(&rig);
}

T_TEST(conversions_may_lie_over_their_source)
{
    Rig rig = rig_open();
    float f[128];
    for (int i = 0; i < 128; i++)
        f[i] = (float)i;
    rig_put(&rig, 0, f, sizeof f);
    Record narrow = {.op = NPU_CAST, .flags = REC_COUNTER, .mask = {128}, .mode = NPU_ROUND_RINT};
    narrow.dtype[0] = NPU_DT_F16, narrow.dtype[1] = NPU_DT_F32;
    narrow.operand[0] = (RecordOperand){.address = UB(0), .block_stride = 1, .repeat_stride = 4};
    narrow.operand[1] = (RecordOperand){.address = UB(0), .block_stride = 1, .repeat_stride = 8};
    rig_run(&rig, narrow);
    RIG_CLEAN(&rig);
    CHECK_EQ_INT(((uint16_t *)rig_ub(&rig, 0))[100], 0x5640);
    Record widen = narrow;
    widen.mode = NPU_ROUND_NONE;
    widen.dtype[0] = NPU_DT_F32, widen.dtype[1] = NPU_DT_F16;
    widen.operand[0].repeat_stride = 8, widen.operand[1].repeat_stride = 4;
    RIG_FAULT(&rig, widen, "S016"); /* the first repeat overwrites the second one's source */
    widen.operand[1].address = UB(256);
    rig_put(&rig, 256, f, 256);
    rig_run(&rig, widen);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(queue_sizes_and_limits)
{
    Rig rig = rig_open();
    RIG_FAULT(&rig, init(1, 190000, 4096, 2), "S020");
    RIG_FAULT(&rig, init(1, 0, 0, 2), "S021");
    Rig cube = rig_open_kind(SIM_AIC, 1); /* a vector buffer made on a cube core hurts nobody */
    rig_run(&cube, init(1, 0, 256, 2));
    rig_run(&cube, queue(NPU_QUEUE_ALLOC, 1, 0));
    RIG_CLEAN(&cube);
    rig_close(&cube);
    Rig many = rig_open();
    for (uint32_t i = 0; i < 9; i++) {
        rig_run(&many, init(i, 64 * i, 64, 1));
        rig_run(&many, queue(NPU_QUEUE_ALLOC, i, 64 * i));
    }
    CHECK_EQ_STR(rig_fault(&many), "S030");
    RIG_FAULT(&many, init(40, 4096, 32, 60), "S031");
    rig_close(&many);
    Rig one = rig_open(); /* too many at once are no forged record */
    RIG_FAULT(&one, init(1, 0, 32, 65), "S031");
    rig_run(&one, queue(NPU_QUEUE_ALLOC, 1, 0));
    RIG_CLEAN(&one);
    rig_close(&one);
    rig_close(&rig);
}

T_TEST(queue_alloc_forgets_what_was_there)
{
    Rig rig = rig_open();
    float v[8] = {1};
    rig_run(&rig, init(1, 0, 256, 1));
    rig_run(&rig, queue(NPU_QUEUE_ALLOC, 1, 0));
    rig_put(&rig, 0, v, sizeof v);
    Record get = {.op = NPU_LOCAL_GET, .dtype = {0, NPU_DT_F32}};
    get.operand[1].address = UB(0);
    rig_run(&rig, get);
    RIG_CLEAN(&rig);
    rig_run(&rig, queue(NPU_QUEUE_FREE, 1, 0));
    rig_run(&rig, queue(NPU_QUEUE_ALLOC, 1, 0));
    RIG_FAULT(&rig, get, "S017");
    rig_close(&rig);
}

/* --- cores --- */

static SimState feed(Rig *rig, uint32_t core, Record r, size_t *used)
{
    return sim_feed(rig->sim, core, &r, 1, used);
}

T_TEST(sync_all_waits_for_everybody)
{
    Rig rig = rig_open_kind(SIM_AIV, 3);
    size_t used;
    Record all = {.op = NPU_SYNC_ALL, .line = 9}, end = {.op = NPU_CORE_END};
    CHECK_EQ_INT(feed(&rig, 0, all, &used), SIM_BLOCKED);
    CHECK_EQ_INT(used, 0);
    CHECK(!sim_can_run(rig.sim, 0) && sim_can_run(rig.sim, 1));
    CHECK_EQ_INT(feed(&rig, 0, all, &used), SIM_BLOCKED); /* asking again changes nothing */
    CHECK_EQ_INT(feed(&rig, 1, all, &used), SIM_BLOCKED);
    CHECK_EQ_INT(feed(&rig, 2, all, &used), SIM_MORE);
    CHECK(sim_can_run(rig.sim, 0));
    CHECK_EQ_INT(feed(&rig, 0, all, &used), SIM_MORE);
    CHECK_EQ_INT(feed(&rig, 1, all, &used), SIM_MORE);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_EQ_INT(feed(&rig, i, end, &used), SIM_ENDED);
    sim_finish(rig.sim);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(sync_hang_names_who_is_missing)
{
    Rig rig = rig_open_kind(SIM_AIV, 3);
    size_t used;
    Record all = {.op = NPU_SYNC_ALL, .line = 9}, end = {.op = NPU_CORE_END};
    feed(&rig, 0, all, &used);
    feed(&rig, 1, end, &used);
    feed(&rig, 2, all, &used);
    CHECK(!sim_can_run(rig.sim, 0) && !sim_can_run(rig.sim, 1) && !sim_can_run(rig.sim, 2));
    sim_hang(rig.sim);
    const SimFault *f = sim_fault(rig.sim, 0);
    CHECK_EQ_STR(rig_fault(&rig), "S036");
    CHECK(strstr(f->message, "block 1 (has ended)") != NULL);
    CHECK_EQ_INT(f->line, 9);
    rig_close(&rig);
}

T_TEST(sync_cross_core_modes)
{
    Rig rig = rig_open_kind(SIM_MIX_1_2, 2);
    size_t used;
    Record set = {.op = NPU_CROSS_SET, .mode = 2, .n = {4}};
    Record wait = {.op = NPU_CROSS_WAIT, .mode = 2, .n = {4}, .line = 8};
    const SimCore *aic = sim_core(rig.sim, 0), *aiv = sim_core(rig.sim, 2);
    CHECK(aic->aic && !aiv->aic && aiv->sub == 1);
    CHECK(aic->memory[NPU_UB] == NULL && aic->memory[NPU_L1] != NULL &&
          aiv->memory[NPU_UB] != NULL);
    feed(&rig, 1, set, &used); /* one vector core is not enough */
    CHECK_EQ_INT(feed(&rig, 0, wait, &used), SIM_BLOCKED);
    feed(&rig, 2, set, &used);
    CHECK_EQ_INT(feed(&rig, 0, wait, &used), SIM_MORE);
    feed(&rig, 0, set, &used); /* the cube core tells both */
    CHECK_EQ_INT(feed(&rig, 1, wait, &used), SIM_MORE);
    CHECK_EQ_INT(feed(&rig, 2, wait, &used), SIM_MORE);
    CHECK_EQ_INT(feed(&rig, 2, wait, &used), SIM_BLOCKED);
    set.mode = wait.mode = 0; /* all vector cores of the chip */
    for (uint32_t core = 1; core < 6; core += core == 2 ? 2 : 1)
        feed(&rig, core, set, &used);
    CHECK_EQ_INT(feed(&rig, 5, wait, &used), SIM_MORE);
    set.mode = wait.mode = 1; /* the two of one block */
    feed(&rig, 4, set, &used);
    CHECK_EQ_INT(feed(&rig, 4, (Record){.op = NPU_CROSS_WAIT, .mode = 0, .n = {4}}, &used),
                 SIM_MORE);
    CHECK_EQ_INT(feed(&rig, 4, wait, &used), SIM_BLOCKED);
    feed(&rig, 5, set, &used);
    CHECK_EQ_INT(feed(&rig, 4, wait, &used), SIM_MORE);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(sync_cross_core_misuse)
{
    Rig rig = rig_open_kind(SIM_MIX_1_1, 1);
    for (int i = 0; i < 16; i++)
        rig_run(&rig, (Record){.op = NPU_CROSS_SET, .mode = 2, .n = {1}});
    CHECK_EQ_STR(rig_fault(&rig), "S037");
    RIG_FAULT(&rig, ((Record){.op = NPU_CROSS_SET, .mode = 5, .n = {1}}), "S035");
    RIG_FAULT(&rig, ((Record){.op = NPU_CROSS_SET, .mode = 0, .n = {16}, .line = 4}), "S035");
    size_t used;
    feed(&rig, 0, (Record){.op = NPU_CORE_END}, &used);
    feed(&rig, 1, (Record){.op = NPU_CORE_END}, &used);
    sim_finish(rig.sim);
    CHECK_EQ_STR(rig_fault(&rig), "S038");
    rig_close(&rig);
}

/* --- faults in general --- */

T_TEST(fault_has_place_count_and_text)
{
    Rig rig = rig_open();
    rig_run(&rig, name_record(1, "kernel.cpp"));
    rig_run(&rig, name_record(2, "Softmax"));
    Record r = rig_vec(NPU_ADD, NPU_DT_F32, 0, 4096, 8192, 1 << 16);
    r.file = 1, r.api = 2, r.line = 41;
    for (int i = 0; i < 3; i++)
        rig_run(&rig, r);
    CHECK_EQ_INT(sim_fault_count(rig.sim), 1);
    const SimFault *f = sim_fault(rig.sim, 0);
    CHECK_EQ_INT(f->count, 3);
    CHECK_EQ_INT(f->range[0].to, 262144);
    CHECK_EQ_STR(f->file, "kernel.cpp");
    Buf out = {0};
    sim_fault_text(rig.sim, f, &out);
    CHECK(strncmp(out.at, "kernel.cpp:41: error: Softmax: ", 31) == 0);
    CHECK(strstr(out.at, "[S005]") && strstr(out.at, "repair:") && strstr(out.at, "3 times"));
    buf_free(&out);
    rig_close(&rig);
}

T_TEST(fault_codes_are_numbered_once)
{
    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        const SimFaultRow *row = sim_fault_row((enum SimFaultCode)i);
        char code[16];
        snprintf(code, sizeof code, "S%03d", i + 1);
        CHECK_EQ_STR(row->code, code);
        CHECK(*row->title && *row->repair);
    }
    CHECK(sim_fault_row(SIM_FAULT_COUNT) == NULL);
}

T_TEST(fault_of_every_vector_kind)
{
    Rig rig = rig_open();
    Record r = rig_vec(NPU_ADD, NPU_DT_F32, 0, 4096, 8192, 64);
    r.operand[0].bytes = 128;
    RIG_FAULT(&rig, r, "S006");
    r = rig_vec(NPU_ADD, NPU_DT_BF16, 0, 4096, 8192, 64);
    RIG_FAULT(&rig, r, "S010");
    r = rig_vec(NPU_ADD, NPU_DT_F32, 0, 4096, 8192, 64);
    r.dtype[2] = NPU_DT_F16;
    r.line = 70;
    RIG_FAULT(&rig, r, "S010");
    r = rig_vec(NPU_SUB, NPU_DT_F32, 16, 4096, 8192, 64);
    RIG_FAULT(&rig, r, "S009");
    r = rig_vec(NPU_SUB, NPU_DT_F32, 0, 4096, 8192, 64);
    r.operand[1].address = GM(0);
    RIG_FAULT(&rig, r, "S004");
    r = rig_repeat(rig_vec(NPU_MUL, NPU_DT_F32, 0, 4096, 8192, 64), ~0ull, 0, 256);
    RIG_FAULT(&rig, r, "S012");
    r = rig_repeat(rig_vec(NPU_MUL, NPU_DT_F32, 0, 4096, 8192, 64), ~0ull, 0, 1);
    r.operand[0].block_stride = 0;
    RIG_FAULT(&rig, r, "S013");
    r = rig_vec(NPU_DIV, NPU_DT_F32, 0, 4096, 8192, 1u << 21);
    RIG_FAULT(&rig, r, "S014");
    r = rig_vec(NPU_DIV, NPU_DT_F32, 32, 0, 8192, 64);
    RIG_FAULT(&rig, r, "S016");
    r = rig_repeat(rig_vec(NPU_EXP, NPU_DT_F32, 256, 0, ~0ull, 0), ~0ull, 0, 2);
    RIG_FAULT(&rig, r, "S016"); /* the second repeat reads what the first wrote */
    r = rig_vec(NPU_EXP, NPU_DT_F32, 0, 0, ~0ull, 64);
    rig_run(&rig, r); /* in place is fine */
    RIG_CLEAN(&rig);
    RIG_FAULT(&rig, ((Record){.op = NPU_BILINEAR, .dtype = {NPU_DT_F16, NPU_DT_F16, NPU_DT_F16}}),
              "S002");
    RIG_FAULT(&rig, ((Record){.op = NPU_MMAD, .dtype = {NPU_DT_F32}}), "S048");
    RIG_FAULT(&rig, ((Record){.op = 900}), "S001");
    RIG_FAULT(&rig, ((Record){.op = NPU_TRAP}), "S039");
    rig_close(&rig);
    Rig aic = rig_open_kind(SIM_AIC, 1);
    Record get = {.op = NPU_LOCAL_GET, .dtype = {0, NPU_DT_F32}};
    get.operand[1].address = UB(0);
    RIG_FAULT(&aic, get, "S003");
    rig_close(&aic);
}

T_TEST(fault_stops_the_core_unless_told_otherwise)
{
    SimConfig config = {.chip = npu_chip_find(STR("910B2")), .kind = SIM_AIV, .blocks = 1};
    Sim *sim = sim_open(&config);
    Record bad = {.op = 900}, records[3] = {bad, {.op = NPU_CORE_END}, {.op = NPU_CORE_END}};
    size_t used;
    CHECK_EQ_INT(sim_feed(sim, 0, records, 3, &used), SIM_STOPPED);
    CHECK_EQ_INT(used, 3);
    CHECK_EQ_INT(sim_core(sim, 0)->view->stopped, 1);
    CHECK_EQ_INT(sim_feed(sim, 0, records, 3, &used), SIM_STOPPED);
    CHECK(!sim_can_run(sim, 0));
    sim_close(sim);
    config.chip = npu_chip_find(STR("950PR_957x"));
    CHECK(sim_open(&config) == NULL);
}

T_TEST(text_records_join_and_print)
{
    Rig rig = rig_open();
    RecordText t = {.op = REC_TEXT, .kind = REC_TEXT_PRINT, .more = 1, .length = 6};
    memcpy(t.text, "hello ", 6);
    Record r;
    memcpy(&r, &t, sizeof r);
    rig_run(&rig, r);
    t.more = 0;
    t.length = 5;
    memcpy(t.text, "world", 5);
    memcpy(&r, &t, sizeof r);
    rig_run(&rig, r);
    CHECK_EQ_SLICE(sim_printed(rig.sim), "hello world");
    t.kind = REC_TEXT_ASSERT;
    memcpy(&r, &t, sizeof r);
    RIG_FAULT(&rig, r, "S040");
    t.length = 200;
    memcpy(&r, &t, sizeof r);
    RIG_FAULT(&rig, r, "S001");
    rig_close(&rig);
}

T_TEST(dump_tensor_prints_values)
{
    Rig rig = rig_open();
    float v[3] = {1.5f, -2, 0.1f};
    rig_put(&rig, 0, v, sizeof v);
    Record r = {.op = NPU_DUMP, .dtype = {0, NPU_DT_F32}, .n = {3, 42}};
    r.operand[1].address = UB(0);
    rig_run(&rig, r);
    CHECK(strstr(sim_printed(rig.sim).at, "desc=42") &&
          strstr(sim_printed(rig.sim).at, "[1.5, -2, "));
    rig_close(&rig);
}

T_TEST(scalar_accesses)
{
    Rig rig = rig_open();
    Record set = {.op = NPU_LOCAL_SET, .dtype = {NPU_DT_I32}, .scalar = (uint32_t)-9};
    set.operand[0].address = UB(8);
    rig_run(&rig, set);
    CHECK_EQ_INT(((int32_t *)rig_ub(&rig, 0))[2], -9);
    Record gset = {.op = NPU_GLOBAL_SET, .dtype = {NPU_DT_I16}, .scalar = 300};
    gset.operand[0].address = GM(10);
    rig_run(&rig, gset);
    CHECK_EQ_INT(rig.gm[10] | rig.gm[11] << 8, 300);
    Record raw = {.op = NPU_RAW_STORE, .n = {16}, .mask = {1, 2}};
    raw.operand[0].address = GM(64);
    rig_run(&rig, raw);
    CHECK_EQ_INT(rig.gm[72], 2);
    raw.op = NPU_RAW_LOAD;
    raw.operand[1].address = GM(RIG_BYTES + 64);
    RIG_FAULT(&rig, raw, "S007");
    raw.n[0] = 17;
    RIG_FAULT(&rig, raw, "S001");
    set.operand[0].address = UB(6);
    RIG_FAULT(&rig, set, "S009");
    rig_close(&rig);
}
