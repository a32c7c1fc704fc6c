/* The vendor's tables of special values, 33 to 35: reductions of a block, and 39 to 41: reductions
 * of a count, built from the instructions the count form is made of
 * (cannmirror/asc-devkit docs/zh/api/附录/Memory矢量计算接口边界值汇总.md). */
#include "tests/sim/rig.h"

enum { A = 0, D = 8192, E = 12288 };

#define INF (float)INFINITY
#define NAN_ (float)NAN
#define HMAX 65504.0f
#define FMAX 3.4028235e+38f

/* `distinct` values in turn; or that many values and then ones. */
typedef struct Filling {
    float v[3];
    int distinct;
    bool ones;
} Filling;

typedef struct ReduceRow {
    Filling in;
    float want[3], saturated[3]; /* max, min, sum */
} ReduceRow;

static const uint16_t block_ops[3] = {NPU_BLOCK_MAX, NPU_BLOCK_MIN, NPU_BLOCK_SUM};
static const uint16_t repeat_ops[3] = {NPU_REPEAT_MAX, NPU_REPEAT_MIN, NPU_REPEAT_SUM};

static float element(const Filling *f, int i)
{
    if (f->ones)
        return i < f->distinct ? f->v[i] : 1.0f;
    return f->v[i % f->distinct];
}

static void put(Rig *rig, const Filling *f, bool half, int count)
{
    float wide[256];
    uint16_t narrow[256];
    for (int i = 0; i < count; i++) {
        wide[i] = element(f, i);
        narrow[i] = half_from_float(wide[i]);
    }
    rig_put(rig, A, half ? (void *)narrow : (void *)wide, (uint32_t)count * (half ? 2 : 4));
}

static float get(Rig *rig, uint64_t at, bool half)
{
    float wide;
    memcpy(&wide, rig_ub(rig, at), sizeof wide);
    return half ? half_to_float(*(uint16_t *)rig_ub(rig, at)) : wide;
}

static Record reduce(uint16_t op, bool half, uint64_t to, uint64_t from, uint32_t repeats)
{
    Record r = rig_vec(op, half ? NPU_DT_F16 : NPU_DT_F32, to, from, ~0ull, 0);
    r = rig_repeat(r, ~0ull, half ? ~0ull : 0, repeats);
    r.operand[0].repeat_stride = 1;
    return r;
}

/* --- tables 33 to 35 --- */

static float one_block(Rig *rig, uint16_t op, bool half, const Filling *f)
{
    put(rig, f, half, half ? 128 : 64);
    Record r = reduce(op, half, D, A, 1);
    r.mask[0] = half ? 0xFFFF : 0xFF;
    r.mask[1] = 0;
    rig_run(rig, r);
    return get(rig, D, half);
}

static void check_blocks(const ReduceRow *rows, size_t n, bool half)
{
    Rig rig = rig_open();
    for (int sat = 0; sat < 2; sat++)
        for (size_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                rig_run(&rig, rig_register(REC_REG_SATURATE, (uint64_t)sat));
                float got = one_block(&rig, block_ops[k], half, &rows[i].in);
                float want = sat ? rows[i].saturated[k] : rows[i].want[k];
                CHECK_MSG(rig_same(got, want), "row %zu %s sat %d: got %g, table says %g", i,
                          npu_isa(block_ops[k])->api, sat, (double)got, (double)want);
            }
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

/* Saturated sums of 15 ones and an infinity: the page prints 65344 for plus and -65344 for minus.
 * Adding ones cannot lower 65504, and its own table 38 follows the tree used here; what the tree
 * gives stands here. */
T_TEST(special_tables_33_to_35_block_half)
{
    static const ReduceRow rows[] = {
        {{{-HMAX}, 1, false}, {-HMAX, -HMAX, -INF}, {-HMAX, -HMAX, -HMAX}},
        {{{HMAX}, 1, false}, {HMAX, HMAX, INF}, {HMAX, HMAX, HMAX}},
        {{{0}, 1, false}, {0, 0, 0}, {0, 0, 0}},
        {{{-0.0f}, 1, false}, {-0.0f, -0.0f, -0.0f}, {-0.0f, -0.0f, -0.0f}},
        {{{NAN_}, 1, false}, {NAN_, NAN_, NAN_}, {0, 0, 0}},
        {{{INF}, 1, false}, {INF, INF, INF}, {HMAX, HMAX, HMAX}},
        {{{-INF}, 1, false}, {-INF, -INF, -INF}, {-HMAX, -HMAX, -HMAX}},
        {{{INF, -INF}, 2, false}, {INF, -INF, NAN_}, {HMAX, -HMAX, 0}},
        {{{INF, NAN_}, 2, false}, {NAN_, NAN_, NAN_}, {0, 0, 0}},
        {{{-INF, NAN_}, 2, false}, {NAN_, NAN_, NAN_}, {0, 0, 0}},
        {{{INF}, 1, true}, {INF, 1, INF}, {HMAX, 1, HMAX}},
        {{{-INF}, 1, true}, {1, -INF, -INF}, {1, -HMAX, -HMAX}},
        {{{NAN_}, 1, true}, {NAN_, NAN_, NAN_}, {0, 0, 14}},
    };
    check_blocks(rows, sizeof rows / sizeof *rows, true);
}

T_TEST(special_tables_33_to_35_block_float)
{
    static const ReduceRow rows[] = {
        {{{-FMAX}, 1, false}, {-FMAX, -FMAX, -INF}, {-FMAX, -FMAX, -INF}},
        {{{FMAX}, 1, false}, {FMAX, FMAX, INF}, {FMAX, FMAX, INF}},
        {{{0}, 1, false}, {0, 0, 0}, {0, 0, 0}},
        {{{-0.0f}, 1, false}, {-0.0f, -0.0f, -0.0f}, {-0.0f, -0.0f, -0.0f}},
        {{{NAN_}, 1, false}, {NAN_, NAN_, NAN_}, {NAN_, NAN_, NAN_}},
        {{{INF}, 1, false}, {INF, INF, INF}, {INF, INF, INF}},
        {{{-INF}, 1, false}, {-INF, -INF, -INF}, {-INF, -INF, -INF}},
        {{{INF, -INF, NAN_}, 3, false}, {NAN_, NAN_, NAN_}, {NAN_, NAN_, NAN_}},
        {{{INF, -INF}, 2, false}, {INF, -INF, NAN_}, {INF, -INF, NAN_}},
        {{{INF, NAN_}, 2, false}, {NAN_, NAN_, NAN_}, {NAN_, NAN_, NAN_}},
        {{{-INF, NAN_}, 2, false}, {NAN_, NAN_, NAN_}, {NAN_, NAN_, NAN_}},
        {{{INF}, 1, true}, {INF, 1, INF}, {INF, 1, INF}},
        {{{-INF}, 1, true}, {1, -INF, -INF}, {1, -INF, -INF}},
        {{{NAN_}, 1, true}, {NAN_, NAN_, NAN_}, {NAN_, NAN_, NAN_}},
    };
    check_blocks(rows, sizeof rows / sizeof *rows, false);
}

/* --- tables 39 to 41: 256 halves or 64 floats --- */

/* Maxima of the repeats with their indices, then the maximum of those; sums stay in a register. */
static float of_count(Rig *rig, int k, bool half, const Filling *f)
{
    uint32_t repeats = half ? 2 : 1;
    put(rig, f, half, half ? 256 : 64);
    if (repeat_ops[k] == NPU_REPEAT_SUM) {
        Record r = rig_vec(NPU_REPEAT_SUM, half ? NPU_DT_F16 : NPU_DT_F32, D, A, ~0ull,
                           half ? 256 : 64);
        r.mode = 1;
        rig_run(rig, r);
        uint32_t bits = (uint32_t)sim_core(rig->sim, 0)->view->accumulated;
        float wide;
        memcpy(&wide, &bits, sizeof wide);
        return half ? half_to_float((uint16_t)bits) : wide;
    }
    rig_run(rig, reduce(repeat_ops[k], half, D, A, repeats));
    Record last = reduce(repeat_ops[k], half, E, D, 1);
    last.mask[0] = half ? 5 : 1; /* values only, not the indices between them */
    last.mask[1] = 0;
    rig_run(rig, last);
    return get(rig, E, half);
}

static void check_counts(const ReduceRow *rows, size_t n, bool half)
{
    Rig rig = rig_open();
    for (int sat = 0; sat < 2; sat++)
        for (size_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                rig_run(&rig, rig_register(REC_REG_SATURATE, (uint64_t)sat));
                float got = of_count(&rig, k, half, &rows[i].in);
                float want = sat ? rows[i].saturated[k] : rows[i].want[k];
                CHECK_MSG(rig_same(got, want), "row %zu %s sat %d: got %g, table says %g", i,
                          npu_isa(repeat_ops[k])->api, sat, (double)got, (double)want);
            }
    RIG_CLEAN(&rig);
    rig_close(&rig);
}

T_TEST(special_tables_39_to_41_count_half)
{
    static const ReduceRow rows[] = {
        {{{-HMAX}, 1, false}, {-HMAX, -HMAX, -INF}, {-HMAX, -HMAX, -HMAX}},
        {{{HMAX}, 1, false}, {HMAX, HMAX, INF}, {HMAX, HMAX, HMAX}},
        {{{-0.0f}, 1, false}, {-0.0f, -0.0f, -0.0f}, {-0.0f, -0.0f, -0.0f}},
        {{{NAN_}, 1, false}, {NAN_, NAN_, NAN_}, {0, 0, 0}},
        {{{INF}, 1, false}, {INF, INF, INF}, {HMAX, HMAX, HMAX}},
        {{{-INF}, 1, false}, {-INF, -INF, -INF}, {-HMAX, -HMAX, -HMAX}},
        {{{INF, -INF, NAN_}, 3, true}, {NAN_, NAN_, NAN_}, {1, 0, 252}},
        {{{INF, -INF}, 2, true}, {INF, -INF, NAN_}, {HMAX, -HMAX, 254}},
        {{{INF, NAN_}, 2, true}, {NAN_, NAN_, NAN_}, {1, 0, 254}},
        {{{-INF, NAN_}, 2, true}, {NAN_, NAN_, NAN_}, {1, 0, 254}},
        {{{INF}, 1, true}, {INF, 1, INF}, {HMAX, 1, HMAX}},
        {{{-INF}, 1, true}, {1, -INF, -INF}, {1, -HMAX, -65248}},
        {{{NAN_}, 1, true}, {NAN_, NAN_, NAN_}, {1, 0, 254}},
    };
    check_counts(rows, sizeof rows / sizeof *rows, true);
}

T_TEST(special_tables_39_to_41_count_float)
{
    static const ReduceRow rows[] = {
        {{{-FMAX}, 1, false}, {-FMAX, -FMAX, -INF}, {-FMAX, -FMAX, -INF}},
        {{{FMAX}, 1, false}, {FMAX, FMAX, INF}, {FMAX, FMAX, INF}},
        {{{-0.0f}, 1, false}, {-0.0f, -0.0f, -0.0f}, {-0.0f, -0.0f, -0.0f}},
        {{{NAN_}, 1, false}, {NAN_, NAN_, NAN_}, {NAN_, NAN_, NAN_}},
        {{{INF, -INF, NAN_}, 3, false}, {NAN_, NAN_, NAN_}, {NAN_, NAN_, NAN_}},
        {{{INF, -INF}, 2, false}, {INF, -INF, NAN_}, {INF, -INF, NAN_}},
        {{{INF, NAN_}, 2, false}, {NAN_, NAN_, NAN_}, {NAN_, NAN_, NAN_}},
        {{{INF}, 1, true}, {INF, 1, INF}, {INF, 1, INF}},
        {{{-INF}, 1, true}, {1, -INF, -INF}, {1, -INF, -INF}},
        {{{NAN_}, 1, true}, {NAN_, NAN_, NAN_}, {NAN_, NAN_, NAN_}},
    };
    check_counts(rows, sizeof rows / sizeof *rows, false);
}
