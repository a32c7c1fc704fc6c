/* Comparing, selecting, gathering, broadcasting, transposing, sorting. */
#include "base/rng.h"
#include "tests/sim/rig.h"

enum { A = 0, B = 16384, C = 32768, D = 65536 };

static void put_floats(Rig *rig, uint64_t at, float *v, int n, uint64_t stream)
{
    for (int i = 0; i < n; i++)
        v[i] = (float)rng_normal(6, stream, (uint64_t)i);
    rig_put(rig, at, v, (uint32_t)(4 * n));
}

T_TEST(select_by_a_mask_tensor)
{
    Rig rig = rig_open();
    float a[200], b[200];
    uint8_t bits[32];
    put_floats(&rig, A, a, 200, 0);
    put_floats(&rig, B, b, 200, 1);
    for (int i = 0; i < 32; i++)
        bits[i] = (uint8_t)rng_u64(6, 2, (uint64_t)i);
    rig_put(&rig, C, bits, sizeof bits);
    Record r = rig_vec(NPU_SELECT, NPU_DT_F32, D, A, B, 200);
    r.operand[3].address = UB(C);
    r.mode = NPU_SEL_TENSOR;
    rig_run(&rig, r);
    const float *got = rig_ub(&rig, D);
    for (int i = 0; i < 200; i++)
        CHECK(got[i] == (bits[i / 8] >> i % 8 & 1 ? a[i] : b[i]));
    r.mode = NPU_SEL_SCALAR;
    r.operand[2] = (RecordOperand){0};
    r.scalar = rig_bits(-7);
    rig_run(&rig, r);
    for (int i = 0; i < 200; i++)
        CHECK(got[i] == (bits[i / 8] >> i % 8 & 1 ? a[i] : -7));
    r.mode = NPU_SEL_REGISTER; /* the same 64 bits in every repeat */
    r.operand[2] = (RecordOperand){UB(B), 0, 1, 8};
    rig_run(&rig, r);
    for (int i = 0; i < 200; i++)
        CHECK(got[i] == (bits[i % 64 / 8] >> i % 8 & 1 ? a[i] : b[i]));
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(select_by_the_compare_register)
{
    Rig rig = rig_open();
    float a[64], b[64];
    put_floats(&rig, A, a, 64, 3);
    put_floats(&rig, B, b, 64, 4);
    Record c = rig_repeat(rig_vec(NPU_COMPARE_REGISTER, NPU_DT_F32, 0, A, B, 0), ~0ull, 0, 1);
    c.operand[0] = (RecordOperand){0};
    c.mode = NPU_LT;
    rig_run(&rig, c);
    Record r = rig_repeat(rig_vec(NPU_SELECT, NPU_DT_F32, D, A, B, 0), ~0ull, 0, 1);
    rig_run(&rig, r);
    const float *got = rig_ub(&rig, D);
    for (int i = 0; i < 64; i++)
        CHECK(got[i] == fminf(a[i], b[i]));
    CHECK_EQ_INT(sim_core(rig.sim, 0)->view->compare[0] & 1, a[0] < b[0]);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(compare_needs_whole_repeats_and_equality_for_integers)
{
    Rig rig = rig_open();
    int32_t a[64], b[64];
    for (int i = 0; i < 64; i++)
        a[i] = i % 5, b[i] = i % 3;
    rig_put(&rig, A, a, sizeof a);
    rig_put(&rig, B, b, sizeof b);
    Record r = rig_vec(NPU_COMPARE, NPU_DT_I32, D, A, B, 64);
    r.dtype[0] = NPU_DT_U8;
    r.mode = NPU_EQ;
    rig_run(&rig, r);
    uint64_t bits;
    memcpy(&bits, rig_ub(&rig, D), 8);
    for (int i = 0; i < 64; i++)
        CHECK_EQ_INT(bits >> i & 1, a[i] == b[i]);
    RIG_CLEAN(&rig);
    r.mode = NPU_LT;
    RIG_FAULT(&rig, r, "S010");
    r.mode = NPU_EQ;
    r.mask[0] = 60;
    RIG_FAULT(&rig, r, "S049");
    rig_close(&rig);
}

T_TEST(gather_mask_patterns)
{
    Rig rig = rig_open();
    float a[128];
    put_floats(&rig, A, a, 128, 5);
    Record r = rig_vec(NPU_GATHER_MASK, NPU_DT_F32, D, A, ~0ull, 0);
    r.flags = 0;
    r.n[0] = 2;
    r.mode = 2;
    rig_run(&rig, r);
    CHECK_EQ_INT(sim_core(rig.sim, 0)->view->kept, 64);
    for (int i = 0; i < 64; i++)
        CHECK(((float *)rig_ub(&rig, D))[i] == a[2 * i + 1]);
    r.mode = 5; /* third of four, 70 elements of one repeat */
    r.flags = REC_COUNTER;
    r.mask[0] = 70;
    r.n[0] = 1;
    rig_run(&rig, r);
    CHECK_EQ_INT(sim_core(rig.sim, 0)->view->kept, 17);
    for (int i = 0; i < 17; i++)
        CHECK(((float *)rig_ub(&rig, D))[i] == a[4 * i + 2]);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(gather_mask_by_bits)
{
    Rig rig = rig_open();
    float a[128];
    uint32_t bits[8] = {0x99999999, 0x99999999};
    put_floats(&rig, A, a, 128, 5);
    rig_put(&rig, B, bits, sizeof bits);
    Record r = rig_vec(NPU_GATHER_MASK, NPU_DT_F32, D, A, B, 0);
    r.flags = 0;
    r.n[0] = 2;
    r.operand[2].repeat_stride = 0; /* the same bits for both repeats */
    rig_run(&rig, r);
    CHECK_EQ_INT(sim_core(rig.sim, 0)->view->kept, 64);
    for (int i = 0; i < 64; i++)
        CHECK(((float *)rig_ub(&rig, D))[i] == a[i / 2 * 4 + (i % 2 ? 3 : 0)]);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(gather_by_offsets)
{
    Rig rig = rig_open();
    uint16_t table[256];
    uint32_t offsets[100];
    for (int i = 0; i < 256; i++)
        table[i] = (uint16_t)(1000 + i);
    for (int i = 0; i < 100; i++)
        offsets[i] = 2 * (uint32_t)((i * 53) % 250);
    rig_put(&rig, A, table, sizeof table);
    rig_put(&rig, B, offsets, sizeof offsets);
    Record r = rig_vec(NPU_GATHER, NPU_DT_U16, D, A, B, 100);
    r.scalar = 8; /* base: four elements */
    r.operand[1].bytes = 512;
    rig_run(&rig, r);
    for (int i = 0; i < 100; i++)
        CHECK_EQ_INT(((uint16_t *)rig_ub(&rig, D))[i], table[(i * 53) % 250 + 4]);
    RIG_CLEAN(&rig);
    r.scalar = 20; /* the last ones now lie past the table */
    RIG_FAULT(&rig, r, "S042");
    r.op = NPU_GATHER_BLOCK;
    r.n[0] = 1;
    uint32_t blocks[8] = {0, 64, 32, 0, 96, 128, 64, 32};
    rig_put(&rig, B, blocks, sizeof blocks);
    rig_run(&rig, r);
    RIG_CLEAN(&rig);
    for (int i = 0; i < 128; i++)
        CHECK_EQ_INT(((uint16_t *)rig_ub(&rig, D))[i],
                     table[blocks[i / 16] / 2 + (uint32_t)(i % 16)]);
    rig_close(&rig);
}

T_TEST(move_broadcast_and_copy)
{
    Rig rig = rig_open();
    float a[16];
    put_floats(&rig, A, a, 16, 7);
    Record r = rig_vec(NPU_BRCB, NPU_DT_F32, D, A, ~0ull, 0);
    r.flags = 0;
    r.n[0] = 2;
    rig_run(&rig, r);
    for (int i = 0; i < 128; i++)
        CHECK(((float *)rig_ub(&rig, D))[i] == a[i / 8]);
    r = rig_repeat(rig_vec(NPU_COPY, NPU_DT_F32, B, D, ~0ull, 0), 0xFFFFFFFF, 0, 2);
    r.operand[0].repeat_stride = 4;
    rig_run(&rig, r);
    for (int i = 0; i < 64; i++)
        CHECK(((float *)rig_ub(&rig, B))[i] == a[(i < 32 ? i : i + 32) / 8]);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(move_transpose_16_by_16)
{
    Rig rig = rig_open();
    uint16_t a[256];
    for (int i = 0; i < 256; i++)
        a[i] = (uint16_t)i;
    rig_put(&rig, A, a, sizeof a);
    rig_run(&rig, rig_vec(NPU_TRANSPOSE, NPU_DT_U16, D, A, ~0ull, 0));
    for (int i = 0; i < 256; i++)
        CHECK_EQ_INT(((uint16_t *)rig_ub(&rig, D))[i], a[i % 16 * 16 + i / 16]);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

static void set_lists(Rig *rig, uint64_t d, uint64_t d_step, uint64_t s, uint64_t s_step)
{
    for (uint32_t i = 0; i < 8; i++) {
        Record r = rig_register(REC_REG_VA, 0);
        r.n[0] = i;
        for (uint32_t k = 0; k < 4; k++) {
            uint64_t slot = 4 * i + k;
            r.operand[k].address = slot < 16 ? UB(d + slot * d_step) : UB(s + (slot - 16) * s_step);
        }
        rig_run(rig, r);
    }
}

T_TEST(move_16_rows_in_three_widths)
{
    Rig rig = rig_open();
    uint8_t in[16 * 64];
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)rng_u64(8, 0, i);
    rig_put(&rig, A, in, sizeof in);
    set_lists(&rig, D, 32, A, 64);
    Record r = rig_vec(NPU_TO_5HD, NPU_DT_F16, D, A, ~0ull, 0);
    r.flags = 0;
    r.n[0] = 1;
    r.operand[0].repeat_stride = r.operand[1].repeat_stride = 0;
    rig_run(&rig, r);
    const uint8_t *out = rig_ub(&rig, D);
    for (int row = 0; row < 16; row++)
        for (int c = 0; c < 16; c++)
            CHECK(memcmp(out + c * 32 + row * 2, in + row * 64 + c * 2, 2) == 0);
    r.dtype[0] = NPU_DT_F32;
    rig_run(&rig, r);
    for (int row = 0; row < 16; row++)
        for (int c = 0; c < 8; c++)
            CHECK(memcmp(out + (2 * c + row / 8) * 32 + row % 8 * 4, in + row * 64 + c * 4, 4) ==
                  0);
    r.dtype[0] = NPU_DT_I8;
    r.mode = 3; /* from the high halves to the high halves */
    rig_run(&rig, r);
    for (int row = 0; row < 16; row++)
        for (int c = 0; c < 16; c++)
            CHECK_EQ_INT(out[c * 32 + 16 + row], in[row * 64 + 16 + c]);
    RIG_CLEAN(&rig);
    r.n[0] = 2; /* two repeats, next 32 columns to the next 512 bytes */
    r.dtype[0] = NPU_DT_F16;
    r.operand[0].repeat_stride = 16, r.operand[1].repeat_stride = 1;
    rig_run(&rig, r);
    CHECK(memcmp(out + 512 + 3 * 32 + 5 * 2, in + 5 * 64 + 32 + 3 * 2, 2) == 0);
    RIG_CLEAN(&rig);
    set_lists(&rig, D + 4, 32, A, 64);
    RIG_FAULT(&rig, r, "S009");
    rig_close(&rig);
}

typedef struct Pair {
    float score;
    uint32_t index;
} Pair;

T_TEST(sort_32_then_merge_four)
{
    Rig rig = rig_open();
    float v[128];
    uint32_t index[128];
    for (uint32_t i = 0; i < 128; i++)
        v[i] = (float)rng_range(7, 0, i, 0, 40), index[i] = i;
    rig_put(&rig, A, v, sizeof v);
    rig_put(&rig, B, index, sizeof index);
    Record r = rig_vec(NPU_SORT32, NPU_DT_F32, C, A, B, 0);
    r.n[0] = 4;
    rig_run(&rig, r);
    const Pair *sorted = rig_ub(&rig, C);
    for (uint32_t i = 1; i < 128; i++)
        if (i % 32)
            CHECK(
                sorted[i - 1].score > sorted[i].score ||
                (sorted[i - 1].score == sorted[i].score && sorted[i - 1].index < sorted[i].index));
    Record m = {.op = NPU_MERGE_SORT, .pipe = NPU_PIPE_V, .dtype = {NPU_DT_F32}, .mode = 15};
    m.operand[0].address = UB(D);
    for (uint32_t i = 0; i < 3; i++)
        m.operand[i + 1].address = UB(C + 256 * i);
    m.n[0] = 1, m.n[1] = m.n[2] = m.n[3] = m.n[4] = 32, m.n[5] = C + 768;
    rig_run(&rig, m);
    const Pair *all = rig_ub(&rig, D);
    for (uint32_t i = 0; i < 128; i++) {
        CHECK(all[i].score == v[all[i].index]);
        if (i)
            CHECK(all[i - 1].score > all[i].score ||
                  (all[i - 1].score == all[i].score && all[i - 1].index < all[i].index));
    }
    m.mode = 16 | 3; /* two lists, stop when one runs out */
    m.n[1] = 3;
    rig_run(&rig, m);
    const RecordView *view = sim_core(rig.sim, 0)->view;
    CHECK(view->merged[0] == 3 || view->merged[1] == 32);
    CHECK_EQ_INT(view->merged[2], 0);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(sort_half_keeps_eight_byte_pairs)
{
    Rig rig = rig_open();
    uint16_t v[32];
    uint32_t index[32];
    for (uint32_t i = 0; i < 32; i++)
        v[i] = half_from_float((float)((i * 11) % 32)), index[i] = 100 + i;
    rig_put(&rig, A, v, sizeof v);
    rig_put(&rig, B, index, sizeof index);
    Record r = rig_vec(NPU_SORT32, NPU_DT_F16, C, A, B, 0);
    r.n[0] = 1;
    rig_run(&rig, r);
    const uint8_t *out = rig_ub(&rig, C);
    for (uint32_t i = 0; i < 32; i++) {
        uint16_t score;
        uint32_t from;
        memcpy(&score, out + 8 * i, 2);
        memcpy(&from, out + 8 * i + 4, 4);
        CHECK(half_to_float(score) == (float)(31 - i));
        CHECK_EQ_INT(v[from - 100], score);
    }
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(sort_proposals)
{
    Rig rig = rig_open();
    uint16_t score[16], zero[128] = {0}, label[16];
    for (uint32_t i = 0; i < 16; i++)
        score[i] = half_from_float((float)((i * 5) % 16)), label[i] = half_from_float((float)i);
    rig_put(&rig, C, zero, sizeof zero);
    rig_put(&rig, A, score, sizeof score);
    rig_put(&rig, B, label, sizeof label);
    Record r = rig_vec(NPU_PROPOSAL_CONCAT, NPU_DT_F16, C, A, ~0ull, 0);
    r.n[0] = 1;
    r.mode = 4;
    rig_run(&rig, r);
    r.operand[1].address = UB(B);
    r.mode = 5;
    rig_run(&rig, r);
    r = rig_vec(NPU_RP_SORT16, NPU_DT_F16, D, C, ~0ull, 0);
    r.n[0] = 1;
    rig_run(&rig, r);
    r = rig_vec(NPU_PROPOSAL_EXTRACT, NPU_DT_F16, A, D, ~0ull, 0);
    r.n[0] = 1;
    r.mode = 5;
    rig_run(&rig, r);
    for (uint32_t i = 0; i < 16; i++)
        CHECK_EQ_INT(half_to_float(((uint16_t *)rig_ub(&rig, A))[i]) * 5 - 16 * 4 > -1000, 1);
    uint32_t top = (uint32_t)half_to_float(*(uint16_t *)rig_ub(&rig, A));
    CHECK_EQ_INT(top * 5 % 16, 15);
    RIG_CLEAN(&rig);
    r.mode = 6;
    RIG_FAULT(&rig, r, "S015");
    rig_close(&rig);
}

/* Half proposals of which only score and label were written, merged to a place 16 bytes off a block
 * until the shorter list is empty: what is written is known, and no more than that is touched. */
T_TEST(sort_merge_proposals_until_one_list_is_empty)
{
    Rig rig = rig_open();
    uint16_t score[16], label[16];
    for (uint32_t i = 0; i < 16; i++)
        score[i] = half_from_float((float)(100 - (int)i)), label[i] = half_from_float((float)i);
    rig_put(&rig, A, score, sizeof score);
    rig_put(&rig, B, label, sizeof label);
    for (uint32_t field = 4; field < 6; field++) {
        Record r = rig_vec(NPU_PROPOSAL_CONCAT, NPU_DT_F16, C, field == 4 ? A : B, ~0ull, 0);
        r.n[0] = 1;
        r.mode = (uint8_t)field;
        rig_run(&rig, r);
    }
    Record sort = rig_vec(NPU_RP_SORT16, NPU_DT_F16, C, C, ~0ull, 0);
    sort.n[0] = 1;
    rig_run(&rig, sort);
    Record r = rig_vec(NPU_MERGE_SORT4, NPU_DT_F16, D + 16, C, C + 16 * 4, 0);
    r.operand[0].bytes = 5 * 16;
    r.mode = 3 | 16;
    r.n[0] = 1;
    r.n[1] = 3;
    r.n[2] = 12;
    rig_run(&rig, r);
    RIG_CLEAN(&rig);
    CHECK_EQ_INT(sim_core(rig.sim, 0)->view->merged[0], 3);
    CHECK_EQ_INT(sim_core(rig.sim, 0)->view->merged[1], 0);
    const uint16_t *merged = rig_ub(&rig, D + 16);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_EQ_INT((int)half_to_float(merged[8 * i + 5]), (int)i);
    rig_close(&rig);
}

/* Two lists of 3 and 12 whose best are in the second: seven entries go out before the first runs out. */
T_TEST(merge_that_stops_early_past_its_tensor)
{
    Rig rig = rig_open();
    uint16_t v[16 * 8] = {0};
    const float score[15] = {9, 5, 1, 8, 7, 6, 4, 0, 0, 0, 0, 0, 0, 0, 0};
    for (uint32_t i = 0; i < 15; i++)
        v[8 * i + 4] = half_from_float(score[i]);
    rig_put(&rig, C, v, sizeof v);
    Record r = rig_vec(NPU_MERGE_SORT4, NPU_DT_F16, D, C, C + 16 * 3, 0);
    r.operand[0].bytes = 3 * 16;
    r.mode = 3 | 16;
    r.n[0] = 1;
    r.n[1] = 3;
    r.n[2] = 12;
    RIG_FAULT(&rig, r, "S006"); /* no buffer is known */
    Record init = {.op = NPU_BUFFER_INIT, .n = {1, NPU_POS_VECCALC, 1, 0, NPU_POS_VECCALC, 1}};
    init.operand[0] = (RecordOperand){UB(D), 64, 0, 0};
    RIG_FAULT(&rig, init, "");
    r.line = 8;
    RIG_FAULT(&rig, r, "S064");
    init.n[0] = 2;
    init.operand[0] = (RecordOperand){UB(D + 96), 32, 0, 0};
    RIG_FAULT(&rig, init, "");
    r.line = 9;
    RIG_FAULT(&rig, r, "S006"); /* the other buffer is hit */
    r.operand[0].bytes = 7 * 16;
    r.line = 10;
    RIG_FAULT(&rig, r, "");
    rig_close(&rig);
}
