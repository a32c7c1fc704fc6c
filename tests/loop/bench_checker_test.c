/* The checkers of NPUKernelBench's tasks, in the shapes they have. */
#include "loop/bench_judge_int.h"
#include "tests/t.h"

#define DEF \
    "def get_inputs(p):\n    pass\n\ndef custom_check_precision(param, outputs, outputs_new):\n"
#define CHECKER(x) \
    "check_precision(outputs, outputs_new, max_abs_error=" x ", max_rel_error=" x ")\n"

static void check(const char *text, DType dtype, CompareRule want, double want_bound)
{
    double bound = -1;
    CHECK_EQ_STR(compare_rule_name(checker_rule(str_from(text), dtype, &bound)),
                 compare_rule_name(want));
    CHECK_NEAR(bound, want_bound, 1e-12);
}

T_TEST(checkers_of_a_clone)
{
    static const char by_dtype[] = DEF "    if dtype_str == 'bfloat16':\n        return " CHECKER(
        "0.02") "    else:\n        return " CHECKER("0.0001");
    static const char two[] = DEF
        "    if dtype_str == 'bfloat16' or dtype_str == 'float16':\n        return " CHECKER(
            "0.01") "    else:\n        return " CHECKER("0.001");
    static const char float32[] = DEF "    if dtype == torch.float32:\n        return " CHECKER(
        "0.00001") "    else:\n        return " CHECKER("0.01");
    check("", DT_F16, RULE_NPUKB, 0);
    check("def get_inputs(p):\n    max_abs_error = 3\n", DT_F16, RULE_NPUKB, 0);
    check(DEF "    return " CHECKER("0.003"), DT_F32, RULE_NPUKB, 0.003);
    check(by_dtype, DT_BF16, RULE_NPUKB, 0.02);
    check(by_dtype, DT_F16, RULE_NPUKB, 0.0001);
    check(by_dtype, DT_F32, RULE_NPUKB, 0.0001);
    check(two, DT_F16, RULE_NPUKB, 0.01);
    check(two, DT_BF16, RULE_NPUKB, 0.01);
    check(two, DT_F32, RULE_NPUKB, 0.001);
    check(float32, DT_F32, RULE_NPUKB, 0.00001);
    check(float32, DT_F16, RULE_NPUKB, 0.01);
    check(DEF "    max_abs_error = max_rel_error = 0.01\n", DT_F16, RULE_NPUKB, 0.01);
    check(DEF "    LOSS = 3e-3\n", DT_F16, RULE_NPUKB_FRACTION, 0.003);
    check(DEF "        RTOL_GENERAL = 1 / 512\n", DT_F16, RULE_NPUKB_SCALED, 0);
    check(DEF "        RTOL_GENERAL = 1 / 256\n        RTOL_OVER_THRESHOLD = 1 / 128\n", DT_F16,
          RULE_NPUKB_MATMUL, 0);
}
