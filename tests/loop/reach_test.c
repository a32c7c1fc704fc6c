/* Operators that no suite has, as newcomers bring them: all are planned, and right on the reference
 * interpreter at small and odd sizes; a few on the twin. */
#include "loop/make.h"

#include "base/file.h"
#include "tests/t.h"
#include <stdlib.h>

/* `only`: the number of a case in the list beside the file, made smaller; 0: the file's own sizes. */
static void reach_case(const char *path, EvalEngine engine, uint32_t fuzz, int64_t only)
{
    Arena arena = {0};
    MakeSpec spec = {.path = path,
                     .chip = npu_chip_find(STR("910B2")),
                     .seed = 1,
                     .fuzz = fuzz,
                     .float_type = DT_F32,
                     .trust = true,
                     .engine = engine,
                     .listed = only > 0,
                     .tiny = only > 0,
                     .only = only};
    Diag diag = diag_make(&arena, path, STR(""));
    MakeResult result = {0};
    REQUIRE(file_read(&arena, path, 0, &spec.source, &diag));
    diag = diag_make(&arena, path, spec.source);
    bool ok = make_kernel(&arena, &spec, &result, &diag);
    CHECK_MSG(ok, "%s: %s", path, diag.items.len ? diag.items.at[0].text : "not good");
    CHECK(result.verdicts.len >= fuzz + 1);
    for (uint32_t i = 0; i < result.verdicts.len; i++) {
        const Verdict *v = &result.verdicts.at[i];
        CHECK_MSG(v->status == VERDICT_OK, "%s, %s: %s: %s", path, v->kase,
                  verdict_status_row(v->status)->text, v->reason);
    }
    arena_drop(&arena);
}

static void reach(const char *path, EvalEngine engine, uint32_t fuzz)
{
    reach_case(path, engine, fuzz, 0);
}

/* Every `step`-th file of the folder from `first` on. */
static void reach_some(const char *dir, uint32_t first, uint32_t step, uint32_t fuzz)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, dir, STR(""));
    NameList names = {0};
    uint32_t files = 0, tried = 0;
    REQUIRE(file_list(&arena, dir, &names, &diag));
    for (uint32_t i = 0; i < names.len; i++) {
        if (!str_ends(str_from(names.at[i]), ".py") || files++ % step != first)
            continue;
        reach(path_join(&arena, dir, names.at[i]), EVAL_INTERP, fuzz);
        tried++;
    }
    CHECK(tried >= 10);
    arena_drop(&arena);
}

T_TEST(reach_ten_operators) { reach_some("tests/newcomer/operators", 0, 1, 2); }

/* Two of six shares, or all of them with ACRAFT_ALL, as `make soak` does. */
enum { SHARES = 6 };
static void reach_share(uint32_t share)
{
    if (share % 3 && !getenv("ACRAFT_ALL"))
        t_skip("one share of three without ACRAFT_ALL");
    reach_some("tests/newcomer/more", share, SHARES, 1);
}
T_TEST(reach_more_operators_0) { reach_share(0); }
T_TEST(reach_more_operators_1) { reach_share(1); }
T_TEST(reach_more_operators_2) { reach_share(2); }
T_TEST(reach_more_operators_3) { reach_share(3); }
T_TEST(reach_more_operators_4) { reach_share(4); }
T_TEST(reach_more_operators_5) { reach_share(5); }

/* Rows that UB does not hold, in order: their own sizes, since small ones take the short way. */
T_TEST(reach_long_rows_in_order)
{
    reach("tests/newcomer/long/top_p_logits.py", EVAL_INTERP, 0);
    reach("tests/newcomer/long/top_k_masked.py", EVAL_INTERP, 0);
    reach("tests/newcomer/long/middle_of_rows.py", EVAL_INTERP, 0);
    reach("tests/newcomer/long/top_k_masked.py", EVAL_TWIN, 0);
}

/* A chain with a reduction over all cores inside it, one through complex numbers, and axes turned
 * around, whose rows lie as far apart as two sizes together say. */
T_TEST(reach_chains_on_the_twin)
{
    reach("tests/newcomer/more/turn_three_axes.py", EVAL_TWIN, 2);
    reach("tests/newcomer/operators/masked_smooth_l1.py", EVAL_TWIN, 0);
    reach("tests/newcomer/more/complex_mag.py", EVAL_TWIN, 0);
}

/* Eight tensors that go through as they are and three results: more than one kernel has slots for. */
T_TEST(reach_many_tensors_on_the_twin)
{
    reach_case("tasks/npukernelbench/level1/Index/ScatterList.py", EVAL_TWIN, 0, 4);
}
