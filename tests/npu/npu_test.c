/* The tables of the machines: complete rows, sources, look-ups. */
#include "base/dtype.h"
#include "npu/npu.h"
#include "tests/t.h"
#include <string.h>

T_TEST(npu_chips_by_name)
{
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    REQUIRE(chip != NULL);
    CHECK_EQ_INT(chip->aiv, 48);
    CHECK_EQ_INT(chip->ub, 196608);
    CHECK_EQ_INT(chip->fb, 2048 + 1024 + 2048 + 2048);
    CHECK(npu_chip_find(STR("ascend910b4-1")) != NULL);
    CHECK(npu_chip_find(STR("910B")) == NULL);
    CHECK(npu_chip_find(STR("")) == NULL);
    CHECK(npu_chip_find(STR("Ascend950PR_957x"))->arch == 3510);
}

T_TEST(npu_chip_rows_are_whole)
{
    for (uint32_t i = 0; i < npu_chip_count; i++) {
        const NpuChip *c = &npu_chips[i];
        CHECK_MSG(c->aiv == 2 * c->aic, "%s", c->name);
        CHECK_MSG(c->mhz >= 1500 && c->ub > 0 && c->l0c_rate > 0, "%s", c->name);
        CHECK_MSG(strstr(c->source, ".ini") != NULL, "%s", c->name);
        CHECK_MSG(c->simulated == (c->arch == 2201), "%s", c->name);
    }
}

T_TEST(npu_isa_rows_have_sources)
{
    CHECK(npu_isa(NPU_NONE) == NULL && npu_isa(NPU_OP_COUNT) == NULL);
    for (uint32_t op = 1; op < NPU_OP_COUNT; op++) {
        const NpuIsa *row = npu_isa(op);
        REQUIRE(row && row->name);
        CHECK_MSG(strncmp(row->source, "cannmirror/asc-devkit docs/", 27) == 0, "%s", row->name);
        CHECK_MSG(strlen(row->source) > 60, "%s", row->name);
        bool book = row->form == NPU_F_BOOK;
        CHECK_MSG(book == (row->cost == NPU_COST_N), "%s", row->name);
        CHECK_MSG(row->pipe < NPU_PIPE_ALL, "%s", row->name);
        if (row->pipe == NPU_PIPE_V)
            CHECK_MSG(row->dtypes != 0 && row->per_repeat >= 1, "%s", row->name);
    }
}

T_TEST(npu_isa_by_call)
{
    CHECK_EQ_INT(npu_op_find(STR("Add")), NPU_ADD);
    CHECK_EQ_INT(npu_op_find(STR("CompareScalar")), NPU_COMPARE_SCALAR);
    CHECK_EQ_INT(npu_op_find(STR("WholeReduceMax")), NPU_REPEAT_MAX);
    CHECK_EQ_INT(npu_op_find(STR("Scatter")), NPU_NONE);
    CHECK_EQ_INT(npu_op_find(STR("")), NPU_NONE);
}

T_TEST(npu_dtypes_of_2201)
{
    CHECK(npu_dtype_ok(NPU_ADD, NPU_DT_F16) && npu_dtype_ok(NPU_ADD, NPU_DT_I32));
    CHECK(!npu_dtype_ok(NPU_ADD, NPU_DT_BF16) && !npu_dtype_ok(NPU_ADD, NPU_DT_I8));
    CHECK(!npu_dtype_ok(NPU_ABS, NPU_DT_I32) && npu_dtype_ok(NPU_RELU, NPU_DT_I32));
    CHECK(!npu_dtype_ok(NPU_ADD, 200) && !npu_dtype_ok(9999, NPU_DT_F32));
    CHECK(npu_dtype_ok(NPU_DUPLICATE, NPU_DT_BF16));
}

T_TEST(npu_casts_of_2201)
{
    CHECK(npu_cast_ok(NPU_DT_F32, NPU_DT_F16, NPU_ROUND_ODD));
    CHECK(!npu_cast_ok(NPU_DT_F32, NPU_DT_BF16, NPU_ROUND_ODD));
    CHECK(!npu_cast_ok(NPU_DT_BF16, NPU_DT_F16, NPU_ROUND_RINT));
    CHECK(!npu_cast_ok(NPU_DT_F32, NPU_DT_I8, NPU_ROUND_RINT));
    CHECK(!npu_cast_ok(NPU_DT_F32, NPU_DT_F16, 77));
    CHECK_EQ_INT(npu_cast_count, 25);
}

T_TEST(npu_numbers_agree_with_base)
{
    CHECK_EQ_INT(NPU_DT_F16, DT_F16);
    CHECK_EQ_INT(NPU_DT_C64, DT_C64);
    CHECK_EQ_INT(NPU_DT_I4, DT_COUNT);
    CHECK_EQ_INT(npu_dtype_bits(NPU_DT_I4), 4);
    CHECK_EQ_INT(npu_dtype_bits(NPU_DT_F32), 32);
    CHECK_EQ_INT(npu_dtype_bits(99), 0);
    CHECK_EQ_INT(npu_position_space(NPU_POS_VECCALC), NPU_UB);
    CHECK_EQ_INT(npu_position_space(NPU_POS_C2), NPU_BT);
    CHECK_EQ_INT(npu_position_space(1234), NPU_NOWHERE);
    CHECK_EQ_STR(npu_pipe_name(NPU_PIPE_MTE3), "MTE3");
    CHECK_EQ_STR(npu_space_name(NPU_FB), "FB");
}

T_TEST(npu_constants_have_sources)
{
    for (int i = 0; i < NPU_CONSTANT_COUNT; i++)
        CHECK_MSG(npu_constants[i].value > 0 && *npu_constants[i].unit &&
                      *npu_constants[i].source && npu_constants[i].from != NPU_COST_N,
                  "%s", npu_constants[i].name);
}
