/* The table of calls: every row names its page, and asks of an instruction only what it takes. */
#include "lower/ascend.h"
#include "tests/t.h"

T_TEST(every_call_has_a_source)
{
    for (uint32_t i = 0; i < ASC_API_COUNT; i++) {
        const AscApiRow *row = &asc_apis[i];
        const NpuIsa *isa = npu_isa(row->op);
        const char *source = isa ? isa->source : row->source;
        CHECK_MSG(source && *source, "%s has no source", row->name);
        CHECK_MSG(!isa || !*row->source, "%s has two sources", row->name);
    }
}

T_TEST(calls_are_spelled_as_their_instruction)
{
    for (uint32_t i = 0; i < ASC_API_COUNT; i++) {
        const AscApiRow *row = &asc_apis[i];
        const NpuIsa *isa = npu_isa(row->op);
        if (isa)
            CHECK_MSG(str_is(str_from(row->name), isa->api) ||
                          str_is(str_from(row->name), isa->alias),
                      "%s is spelled %s or %s", row->name, isa->api, isa->alias);
    }
}

T_TEST(calls_take_what_their_instruction_takes)
{
    for (uint32_t i = 0; i < ASC_API_COUNT; i++) {
        const AscApiRow *row = &asc_apis[i];
        for (uint32_t d = 0; d < DT_COUNT; d++)
            if (row->op != NPU_NONE && row->op != NPU_CAST && (row->dtypes >> d & 1))
                CHECK_MSG(npu_dtype_ok(row->op, d), "%s of %s", row->name, dtype_name((DType)d));
    }
}
