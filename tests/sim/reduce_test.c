/* Reductions: trees, orders, masks, strides, registers. */
#include "base/rng.h"
#include "tests/sim/rig.h"

enum { A = 0, D = 32768 };

static float half_add(float a, float b) { return half_to_float(half_from_float(a + b)); }

/* Neighbours first, level by level, halves rounded each time. */
static float tree(const float *v, int n, bool half)
{
    if (n == 1)
        return v[0];
    float next[64];
    for (int i = 0; i < n / 2; i++)
        next[i] = half ? half_add(v[2 * i], v[2 * i + 1]) : v[2 * i] + v[2 * i + 1];
    return tree(next, n / 2, half);
}

static Record reduce(uint16_t op, uint8_t dtype, uint32_t repeats)
{
    Record r = rig_repeat(rig_vec(op, dtype, D, A, ~0ull, 0), ~0ull, ~0ull, repeats);
    r.operand[0].repeat_stride = 1;
    return r;
}

T_TEST(reduce_repeat_sum_is_a_tree)
{
    Rig rig = rig_open();
    float v[3 * 128];
    uint16_t h[3 * 128];
    for (size_t i = 0; i < 384; i++) {
        h[i] = half_from_double(rng_normal(4, 0, i) * 3);
        v[i] = (float)rng_normal(4, 1, i);
    }
    rig_put(&rig, A, h, sizeof h);
    rig_run(&rig, reduce(NPU_REPEAT_SUM, NPU_DT_F16, 3));
    for (int r = 0; r < 3; r++) {
        float in[128];
        for (int i = 0; i < 128; i++)
            in[i] = half_to_float(h[128 * r + i]);
        CHECK(half_to_float(((uint16_t *)rig_ub(&rig, D))[r]) == tree(in, 128, true));
    }
    rig_put(&rig, A, v, sizeof v);
    rig_run(&rig, reduce(NPU_REPEAT_SUM, NPU_DT_F32, 6));
    float total = 0;
    for (int r = 0; r < 6; r++) {
        float want = tree(v + 64 * r, 64, false);
        CHECK(((float *)rig_ub(&rig, D))[r] == want);
        total = r ? total + want : want;
    }
    CHECK_EQ_INT(sim_core(rig.sim, 0)->view->accumulated, rig_bits(total));
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

/* Count form of ReduceSum: a partial last repeat, result only in the accumulator. */
T_TEST(reduce_sum_of_a_count)
{
    Rig rig = rig_open();
    float v[150], padded[192] = {0};
    for (size_t i = 0; i < 150; i++)
        padded[i] = v[i] = (float)rng_normal(4, 2, i);
    rig_put(&rig, A, v, sizeof v);
    Record r = rig_vec(NPU_REPEAT_SUM, NPU_DT_F32, D, A, ~0ull, 150);
    r.mode = 1;
    rig_run(&rig, r);
    float want = tree(padded, 64, false) + tree(padded + 64, 64, false);
    want += tree(padded + 128, 64, false); /* zeros do not change a sum that is not -0 */
    CHECK_EQ_INT(sim_core(rig.sim, 0)->view->accumulated, rig_bits(want));
    CHECK(isnan(*(float *)rig_ub(&rig, D)));
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(reduce_max_min_with_index)
{
    Rig rig = rig_open();
    float v[128];
    for (int i = 0; i < 128; i++)
        v[i] = (float)((i * 37) % 64);
    v[70] = v[90] = 500; /* equal: the smaller index */
    rig_put(&rig, A, v, sizeof v);
    Record r = reduce(NPU_REPEAT_MAX, NPU_DT_F32, 2);
    rig_run(&rig, r);
    const uint32_t *pair = rig_ub(&rig, D);
    CHECK_EQ_INT(pair[2], rig_bits(500));
    CHECK_EQ_INT(pair[3], 6);
    CHECK_EQ_INT(sim_core(rig.sim, 0)->view->max_min_count, rig_bits(500) | 70ull << 32);
    r.mode = REC_INDEX_VALUE;
    rig_run(&rig, r);
    CHECK_EQ_INT(pair[2], 6);
    CHECK_EQ_INT(pair[3], rig_bits(500));
    r.op = NPU_REPEAT_MIN;
    r.mode = REC_ONLY_INDEX;
    rig_run(&rig, r);
    CHECK_EQ_INT(pair[0], 0);
    r.mode = REC_ONLY_VALUE;
    r.mask[0] = 0xFE;
    rig_run(&rig, r);
    float least = v[1];
    for (int i = 2; i < 8; i++)
        least = fminf(least, v[i]);
    CHECK_EQ_INT(pair[0], rig_bits(least));
    RIG_CLEAN(&rig);
    r.mode = 9;
    RIG_FAULT(&rig, r, "S015");
    rig_close(&rig);
}

T_TEST(reduce_half_index_sits_in_a_half_slot)
{
    Rig rig = rig_open();
    uint16_t h[128] = {0};
    h[114] = half_from_float(0.9985f);
    rig_put(&rig, A, h, sizeof h);
    rig_run(&rig, reduce(NPU_REPEAT_MAX, NPU_DT_F16, 1));
    const uint16_t *got = rig_ub(&rig, D);
    CHECK_EQ_INT(got[0], h[114]);
    CHECK_EQ_INT(got[1], 114);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(reduce_blocks_and_pairs)
{
    Rig rig = rig_open();
    float v[128];
    for (size_t i = 0; i < 128; i++)
        v[i] = (float)rng_normal(4, 3, i);
    rig_put(&rig, A, v, sizeof v);
    rig_run(&rig, reduce(NPU_BLOCK_SUM, NPU_DT_F32, 2));
    for (int b = 0; b < 16; b++)
        CHECK(((float *)rig_ub(&rig, D))[b] == tree(v + 8 * b, 8, false));
    rig_run(&rig, reduce(NPU_BLOCK_MAX, NPU_DT_F32, 2));
    for (int b = 0; b < 16; b++) {
        float most = v[8 * b];
        for (int i = 1; i < 8; i++)
            most = fmaxf(most, v[8 * b + i]);
        CHECK(((float *)rig_ub(&rig, D))[b] == most);
    }
    rig_run(&rig, reduce(NPU_BLOCK_MIN, NPU_DT_F32, 2));
    CHECK(((float *)rig_ub(&rig, D))[0] <= v[0]);
    rig_run(&rig, reduce(NPU_PAIR_SUM, NPU_DT_F32, 2));
    for (int i = 0; i < 64; i++)
        CHECK(((float *)rig_ub(&rig, D))[i] == v[2 * i] + v[2 * i + 1]);
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(reduce_result_alignment)
{
    Rig rig = rig_open();
    float v[64] = {0};
    rig_put(&rig, A, v, sizeof v);
    Record r = reduce(NPU_REPEAT_SUM, NPU_DT_F32, 1);
    r.operand[0].address = UB(D + 4); /* one element is enough for a sum */
    rig_run(&rig, r);
    RIG_CLEAN(&rig);
    r.op = NPU_REPEAT_MAX; /* value and index want 8 bytes */
    RIG_FAULT(&rig, r, "S009");
    r.op = NPU_BLOCK_SUM;
    r.operand[0].address = UB(D + 16);
    RIG_FAULT(&rig, r, "S009"); /* eight floats want 32 */
    rig_close(&rig);
}
