/* Copies: bursts and gaps, padding rules, atomics, undefined bytes travelling to an output. */
#include "base/rng.h"
#include "tests/sim/rig.h"

static Record copy(uint16_t op, uint8_t dtype, uint64_t d, uint64_t s, uint32_t count,
                   uint32_t bytes, uint32_t s_gap, uint32_t d_gap)
{
    Record r = {.op = op, .pipe = (uint8_t)npu_isa(op)->pipe, .dtype = {dtype, dtype}, .line = 5};
    r.operand[0].address = d;
    r.operand[1].address = s;
    r.n[0] = count, r.n[1] = bytes, r.n[2] = s_gap, r.n[3] = d_gap;
    return r;
}

static void number(Rig *rig)
{
    for (uint32_t i = 0; i < RIG_BYTES / 4; i++)
        memcpy(rig->gm + 4 * i, &i, 4);
}

T_TEST(copy_bursts_in_and_out)
{
    Rig rig = rig_open();
    number(&rig);
    rig_run(&rig, copy(NPU_COPY_GM_UB, NPU_DT_I32, UB(64), GM(0), 3, 64, 128, 32));
    const int32_t *ub = rig_ub(&rig, 64);
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < 16; i++)
            CHECK_EQ_INT(ub[b * 24 + i], b * 48 + i);
    rig_run(&rig, copy(NPU_COPY_UB_GM, NPU_DT_I32, GM(4096), UB(64), 3, 64, 32, 0));
    for (int i = 0; i < 48; i++)
        CHECK_EQ_INT(((int32_t *)(void *)(rig.gm + 4096))[i], i / 16 * 48 + i % 16);
    rig_run(&rig, copy(NPU_COPY_UB_UB, NPU_DT_I32, UB(4096), UB(64), 1, 64, 0, 0));
    CHECK_EQ_INT(((int32_t *)rig_ub(&rig, 4096))[15], 15);
    RIG_CLEAN(&rig);
    const SimStat *stat = sim_stat(rig.sim, NPU_COPY_GM_UB);
    CHECK_EQ_INT(stat->bytes_read, 192);
    RIG_FAULT(&rig, copy(NPU_COPY_GM_UB, NPU_DT_I32, UB(0), GM(0), 1, 40, 0, 0), "S049");
    RIG_FAULT(&rig, copy(NPU_COPY_GM_UB, NPU_DT_I32, UB(0), GM(2), 1, 32, 0, 0), "S009");
    Record ub_off = copy(NPU_COPY_GM_UB, NPU_DT_I32, UB(16), GM(0), 1, 32, 0, 0);
    ub_off.line = 6;
    RIG_FAULT(&rig, ub_off, "S009");
    RIG_FAULT(&rig, copy(NPU_COPY_GM_UB, NPU_DT_I32, UB(0), GM(0), 4096, 32, 0, 0), "S014");
    RIG_FAULT(&rig, copy(NPU_COPY_GM_UB, NPU_DT_I32, UB(0), UB(64), 1, 32, 0, 0), "S004");
    rig_close(&rig);
}

T_TEST(copy_padding_rules)
{
    Rig rig = rig_open();
    number(&rig);
    /* no padding: a short burst is filled up with its first element */
    rig_run(&rig, copy(NPU_PAD_GM_UB, NPU_DT_I32, UB(0), GM(40), 2, 12, 4, 0));
    const int32_t *ub = rig_ub(&rig, 0);
    const int32_t want[16] = {10, 11, 12, 10, 10, 10, 10, 10, 14, 15, 16, 14, 14, 14, 14, 14};
    CHECK(memcmp(ub, want, sizeof want) == 0);
    /* a value alone changes nothing: it needs padding to go to */
    Record lone = copy(NPU_PAD_GM_UB, NPU_DT_I32, UB(0), GM(40), 2, 12, 4, 0);
    lone.mode = 1;
    lone.scalar = 99;
    rig_run(&rig, lone);
    CHECK(memcmp(ub, want, sizeof want) == 0);
    /* with a value: left, right and the filler take it */
    Record r = copy(NPU_PAD_GM_UB, NPU_DT_I32, UB(0), GM(40), 1, 12, 0, 0);
    r.mode = 1;
    r.scalar = 77;
    r.n[4] = 2 | 1u << 16;
    rig_run(&rig, r);
    const int32_t padded[8] = {77, 77, 10, 11, 12, 77, 77, 77};
    CHECK(memcmp(ub, padded, sizeof padded) == 0);
    RIG_CLEAN(&rig);
    /* without: undefined, seen when a scalar reads it */
    r.mode = 0;
    rig_run(&rig, r);
    Record get = {.op = NPU_LOCAL_GET, .dtype = {0, NPU_DT_I32}};
    get.operand[1].address = UB(8);
    rig_run(&rig, get);
    RIG_CLEAN(&rig);
    get.operand[1].address = UB(4);
    RIG_FAULT(&rig, get, "S017");
    rig_run(&rig, rig_register(REC_REG_PAD_VALUE, 5));
    rig_run(&rig, r);
    CHECK_EQ_INT(ub[1], 5);
    r.n[4] = 9;
    RIG_FAULT(&rig, r, "S046");
    rig_close(&rig);
}

T_TEST(copy_padded_out_writes_only_its_bytes)
{
    Rig rig = rig_open();
    number(&rig);
    uint8_t bytes[64];
    memset(bytes, 9, sizeof bytes);
    rig_put(&rig, 0, bytes, sizeof bytes);
    rig_run(&rig, copy(NPU_PAD_UB_GM, NPU_DT_U8, GM(101), UB(0), 2, 5, 0, 3));
    RIG_CLEAN(&rig);
    CHECK_EQ_INT(rig.gm[101], 9);
    CHECK_EQ_INT(rig.gm[105], 9);
    CHECK_EQ_INT(rig.gm[106], ((uint8_t[4]){26, 0, 0, 0})[2]);
    CHECK_EQ_INT(rig.gm[109], 9);
    CHECK_EQ_INT(rig.gm[114], ((uint8_t[4]){28, 0, 0, 0})[2]);
    rig_close(&rig);
}

T_TEST(copy_atomic_add_max_min)
{
    static const uint8_t dtypes[] = {NPU_DT_F32, NPU_DT_F16, NPU_DT_BF16,
                                     NPU_DT_I32, NPU_DT_I16, NPU_DT_I8};
    for (size_t t = 0; t < sizeof dtypes; t++)
        for (uint32_t how = REC_ATOMIC_ADD; how < REC_ATOMIC_COUNT; how++) {
            Rig rig = rig_open();
            DType d = (DType)dtypes[t];
            uint32_t size = (uint32_t)dtype_bytes(d);
            _Alignas(8) uint8_t in[32];
            for (size_t i = 0; i < 32 / size; i++) {
                dtype_store(d, in, i, (double)i - 5);
                dtype_store(d, rig.gm, i, 3);
            }
            rig_put(&rig, 0, in, 32);
            rig_run(&rig, rig_register(REC_REG_ATOMIC, how | (uint64_t)dtypes[t] << 8));
            rig_run(&rig, copy(NPU_COPY_UB_GM, dtypes[t], GM(0), UB(0), 1, 32, 0, 0));
            RIG_CLEAN(&rig);
            for (size_t i = 0; i < 32 / size; i++) {
                double v = (double)i - 5;
                double want = how == REC_ATOMIC_ADD   ? v + 3
                              : how == REC_ATOMIC_MAX ? fmax(v, 3)
                                                      : fmin(v, 3);
                CHECK(dtype_load(d, rig.gm, i) == want);
            }
            rig_close(&rig);
        }
}

T_TEST(copy_outside_gm)
{
    Rig rig = rig_open();
    Record r = copy(NPU_COPY_GM_UB, NPU_DT_F32, UB(0), GM(RIG_BYTES - 32), 1, 96, 0, 0);
    RIG_FAULT(&rig, r, "S007"); /* the rig's tensor is a multiple of 512: no slack behind it */
    r.operand[1].address = rec_address(NPU_GM, 64);
    RIG_FAULT(&rig, r, "");
    r.line = 6;
    RIG_FAULT(&rig, r, "S007");
    CHECK(strstr(sim_fault(rig.sim, sim_fault_count(rig.sim) - 1)->message,
                 "far from every tensor") != NULL);
    uint8_t bytes[64] = {0};
    rig_put(&rig, 0, bytes, 64);
    r = copy(NPU_COPY_UB_GM, NPU_DT_F32, GM(RIG_BYTES - 32), UB(0), 1, 64, 0, 0);
    RIG_FAULT(&rig, r, "S007");
    rig_close(&rig);
}

/* Behind a tensor the allocator leaves room up to 512 bytes: reading there is a warning and gives
 * undefined values, writing there is a fault and lost. */
T_TEST(copy_in_the_allocators_padding)
{
    uint8_t memory[1000];
    Rig rig = rig_open();
    SimRegion region = {"x",       RIG_GM + (1ull << 32), sizeof memory, memory,
                        NPU_DT_U8, .role = SIM_INOUT};
    REQUIRE(sim_gm_add(rig.sim, &region));
    memset(memory, 3, sizeof memory);
    uint64_t x = rec_address(NPU_GM, RIG_GM + (1ull << 32));
    RIG_FAULT(&rig, copy(NPU_COPY_GM_UB, NPU_DT_U8, UB(0), x + 992, 1, 32, 0, 0), "S047");
    CHECK_EQ_INT(sim_fault_row(sim_fault(rig.sim, 0)->code)->kind, SIM_KIND_WARNING);
    CHECK_EQ_INT(*(uint8_t *)rig_ub(&rig, 7), 3);
    Record get = {.op = NPU_LOCAL_GET, .dtype = {0, NPU_DT_U8}};
    get.operand[1].address = UB(8);
    RIG_FAULT(&rig, get, "S017");
    uint8_t bytes[64] = {0};
    rig_put(&rig, 0, bytes, 64);
    RIG_FAULT(&rig, copy(NPU_COPY_UB_GM, NPU_DT_U8, x + 992, UB(0), 1, 32, 0, 0), "S055");
    CHECK_EQ_INT(memory[999], 0);
    Record far = copy(NPU_COPY_GM_UB, NPU_DT_U8, UB(0), x + 992, 1, 64, 0, 0);
    far.line = 50;
    RIG_FAULT(&rig, far, "S007");
    rig_close(&rig);
}

/* --- undefined values reach an output only as a fault --- */

static Rig out_rig(uint8_t *out, uint32_t bytes)
{
    Rig rig = rig_open();
    SimRegion region = {"y", RIG_GM + (1ull << 32), bytes, out, NPU_DT_F32, .role = SIM_OUT};
    REQUIRE(sim_gm_add(rig.sim, &region));
    return rig;
}
#define OUT(at) rec_address(NPU_GM, RIG_GM + (1ull << 32) + (at))

static const char *finish(Rig *rig)
{
    rig_run(rig, (Record){.op = NPU_CORE_END});
    (void)rig_fault(rig);
    sim_finish(rig->sim);
    return rig_fault(rig);
}

T_TEST(copy_output_fully_written_is_clean)
{
    float out[64], in[64] = {1};
    Rig rig = out_rig((uint8_t *)out, sizeof out);
    rig_put(&rig, 0, in, sizeof in);
    rig_run(&rig, copy(NPU_COPY_UB_GM, NPU_DT_F32, OUT(0), UB(0), 1, 256, 0, 0));
    CHECK_EQ_STR(finish(&rig), "");
    rig_close(&rig);
}

T_TEST(copy_output_with_a_hole)
{
    float out[64], in[64] = {1};
    Rig rig = out_rig((uint8_t *)out, sizeof out);
    rig_put(&rig, 0, in, sizeof in);
    rig_run(&rig, copy(NPU_COPY_UB_GM, NPU_DT_F32, OUT(0), UB(0), 1, 224, 0, 0));
    uint64_t first;
    CHECK_EQ_INT(sim_unwritten(rig.sim, 1, &first), 32);
    CHECK_EQ_INT(first, 224);
    CHECK_EQ_STR(finish(&rig), "S019");
    CHECK(strstr(sim_fault(rig.sim, 0)->message, "[56]") != NULL);
    rig_close(&rig);
}

/* The tail of a tile is computed on but not copied out: no fault. Copied out: a fault with the
 * line of the copy. */
T_TEST(copy_undefined_values_only_matter_in_the_output)
{
    float out[16], in[13];
    for (int i = 0; i < 13; i++)
        in[i] = (float)i;
    for (int whole = 0; whole < 2; whole++) {
        Rig rig = out_rig((uint8_t *)out, sizeof out);
        rig_put(&rig, 0, in, sizeof in);
        rig_put(&rig, 128, in, sizeof in);
        rig_run(&rig, rig_vec(NPU_ADD, NPU_DT_F32, 256, 0, 128, 13));
        rig_run(&rig, rig_vec(NPU_EXP, NPU_DT_F32, 512, 256, ~0ull, 16)); /* reads 3 undefined */
        RIG_CLEAN(&rig);
        rig_run(&rig, copy(NPU_PAD_UB_GM, NPU_DT_F32, OUT(0), UB(512), 1, whole ? 64 : 52, 0, 0));
        if (!whole)
            rig_run(&rig, copy(NPU_PAD_UB_GM, NPU_DT_F32, OUT(52), UB(0), 1, 12, 0, 0));
        CHECK_EQ_STR(finish(&rig), whole ? "S017" : "");
        if (whole) {
            CHECK_EQ_INT(sim_fault(rig.sim, 0)->line, 5);
            CHECK(strstr(sim_fault(rig.sim, 0)->message, "[13]") != NULL);
        }
        rig_close(&rig);
    }
}

T_TEST(copy_atomic_on_untouched_output)
{
    float out[8], in[8] = {1};
    Rig rig = out_rig((uint8_t *)out, sizeof out);
    rig_put(&rig, 0, in, sizeof in);
    rig_run(&rig, rig_register(REC_REG_ATOMIC, REC_ATOMIC_ADD | NPU_DT_F32 << 8));
    RIG_FAULT(&rig, copy(NPU_COPY_UB_GM, NPU_DT_F32, OUT(0), UB(0), 1, 32, 0, 0), "S018");
    rig_close(&rig);
}

/* A tile of which one element was written: that element stays known behind the sum, the others are
 * reported where they are read, not where they are added. */
T_TEST(copy_atomic_of_a_part)
{
    float out[8], zero[8] = {0};
    Rig rig = out_rig((uint8_t *)out, sizeof out);
    rig_put(&rig, 64, zero, sizeof zero);
    rig_run(&rig, copy(NPU_COPY_UB_GM, NPU_DT_F32, OUT(0), UB(64), 1, 32, 0, 0));
    Record set = {.op = NPU_LOCAL_SET, .pipe = NPU_PIPE_S, .dtype = {NPU_DT_F32}};
    set.operand[0].address = UB(0);
    set.scalar = 0x3f800000;
    rig_run(&rig, set);
    rig_run(&rig, rig_register(REC_REG_ATOMIC, REC_ATOMIC_ADD | NPU_DT_F32 << 8));
    for (int i = 0; i < 2; i++)
        rig_run(&rig, copy(NPU_COPY_UB_GM, NPU_DT_F32, OUT(0), UB(0), 1, 32, 0, 0));
    RIG_CLEAN(&rig);
    CHECK(out[0] == 2);
    rig_run(&rig, rig_register(REC_REG_ATOMIC, REC_ATOMIC_NONE));
    Record get = {.op = NPU_GLOBAL_GET, .pipe = NPU_PIPE_S, .dtype = {NPU_DT_F32, NPU_DT_F32}};
    get.operand[1].address = OUT(0);
    rig_run(&rig, get);
    RIG_CLEAN(&rig);
    get.operand[1].address = OUT(4);
    RIG_FAULT(&rig, get, "S018");
    rig_close(&rig);
}

T_TEST(copy_to_an_input)
{
    uint8_t in[64] = {0};
    Rig rig = rig_open();
    SimRegion region = {"x", RIG_GM + (1ull << 32), 64, in, NPU_DT_F32, .role = SIM_IN};
    REQUIRE(sim_gm_add(rig.sim, &region));
    CHECK(!sim_gm_add(rig.sim, &region));
    rig_put(&rig, 0, in, 64);
    RIG_FAULT(&rig, copy(NPU_COPY_UB_GM, NPU_DT_F32, OUT(0), UB(0), 1, 32, 0, 0), "S008");
    rig_close(&rig);
}

/* The headers say how far an element lies behind its tensor; inside UB nothing else shows it. */
T_TEST(scalar_element_past_its_tensor)
{
    Rig rig = rig_open();
    Record r = {.op = NPU_LOCAL_SET, .pipe = NPU_PIPE_S, .dtype = {NPU_DT_F32}, .n = {0, 1}};
    r.operand[0].address = UB(64);
    RIG_FAULT(&rig, r, "S062");
    r.n[1] = 0;
    RIG_FAULT(&rig, r, "");
    /* two slots of 96 bytes: a tensor of 64 in the first one, elements behind it */
    Record init = {.op = NPU_BUFFER_INIT, .n = {1, NPU_POS_VECIN, 2, 0, NPU_POS_VECIN, 2}};
    init.operand[0] = (RecordOperand){UB(0), 96, 0, 0};
    RIG_FAULT(&rig, init, "");
    r.n[1] = 1;
    r.line = 1;
    RIG_FAULT(&rig, r, "S062");
    r.operand[0].address = UB(92);
    r.n[1] = 29;
    r.line = 2;
    RIG_FAULT(&rig, r, "S062");
    r.operand[0].address = UB(96);
    r.n[1] = 33;
    RIG_FAULT(&rig, r, "S006");
    rig_close(&rig);
}
