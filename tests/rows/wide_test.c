/* Families behind MIXED: each gives rows; products are kernels of the cube, with errors of their own. */
#include "rows/rows_int.h"

#include "graph/eval.h"
#include "tests/t.h"
#include <string.h>

/* The first task of the family that gives rows of the kinds. */
static RowsMade wide_rows(Arena *arena, RowsFamily family, uint32_t kinds)
{
    RowsMaker maker = {.chip = npu_chip_find(STR("910B2")), .seed = 5};
    RowsMade made = {.arena = arena};
    graph_eval_threads(1);
    for (uint64_t number = ROWS_WIDE; !made.rows.len && number < ROWS_WIDE + 600; number++) {
        RowsTask task;
        bool differs;
        if (!rows_draw(arena, maker.seed, number, &task, &differs) || task.family != family)
            continue;
        made = (RowsMade){.arena = arena};
        rows_of_task(&maker, number, kinds, &made);
    }
    CHECK_MSG(!made.contradiction, "%s", made.contradiction ? made.contradiction : "");
    return made;
}

T_TEST(every_wide_family_gives_rows)
{
    for (int f = FAMILY_MIXED + 1; f < FAMILY_COUNT; f++) {
        Arena arena = {0};
        RowsMade made = wide_rows(&arena, (RowsFamily)f, 1u << ROWS_WRITE);
        CHECK_MSG(made.rows.len > 0, "%s", rows_family_name((RowsFamily)f));
        for (uint32_t i = 0; i < made.rows.len; i++)
            CHECK(str_is(str_from(made.rows.at[i].family), rows_family_name((RowsFamily)f)));
        arena_drop(&arena);
    }
}

T_TEST(every_fourth_task_is_wide_unless_rows_are_brief)
{
    CHECK(rows_task_number(7, false) == ROWS_WIDE + 7);
    CHECK(rows_task_number(6, false) == 6);
    CHECK(rows_task_number(7, true) == 7);
}

T_TEST(products_are_kernels_of_the_cube)
{
    Arena arena = {0};
    RowsMade made = wide_rows(&arena, FAMILY_PRODUCT, 1u << ROWS_WRITE);
    REQUIRE(made.rows.len > 0);
    Str answer = made.rows.at[0].answer;
    CHECK(str_find(answer, STR("mmad(")) > 0);
    CHECK(str_find(answer, STR("the strategy is `product`")) >= 0 ||
          str_find(answer, STR("`product`")) >= 0);
    CHECK(str_find(answer, STR("L0C")) >= 0);
    arena_drop(&arena);
}

/* Task 1 is no product: it has no channel that tiles are received from. */
T_TEST(an_error_without_a_place_is_shown_in_another_task)
{
    Arena arena = {0};
    RowsMaker maker = {.chip = npu_chip_find(STR("910B2")), .seed = 5};
    RowsMade made = {.arena = &arena};
    uint64_t *turn = &made.turn[ROWS_REPAIR];
    graph_eval_threads(1);
    while (strcmp(rows_want_name(rows_want_at(2 * *turn, false)), "E126"))
        ++*turn;
    rows_of_task(&maker, 1, 1u << ROWS_REPAIR, &made);
    REQUIRE(made.rows.len > 0);
    CHECK_EQ_STR(made.rows.at[0].code, "E126");
    CHECK(!str_starts(str_from(made.rows.at[0].number), "1-"));
    arena_drop(&arena);
}

/* What a model is to learn has no constants of our cycle model, nor other programs for other sizes. */
T_TEST(programs_of_integers_take_all_cores)
{
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    PlanPoint point = {.parts = 4};
    uint32_t seen = 0;
    for (uint64_t number = ROWS_WIDE; seen < 3 && number < ROWS_WIDE + 600; number++) {
        Arena arena = {0};
        RowsTask task;
        RowsProgram program;
        bool differs;
        if (rows_draw(&arena, 5, number, &task, &differs) && task.family == FAMILY_INTEGER &&
            rows_program(&arena, &task, chip, &point, &program) && !program.nest &&
            str_is(str_from(program.plan.strategy), "elementwise")) {
            seen++;
            CHECK_MSG(str_find(program.craft, STR("sqrt(f32(")) < 0 &&
                          str_find(program.craft, STR("chip.cores if")) < 0,
                      "%.*s", STR_ARG(program.craft));
        }
        arena_drop(&arena);
    }
    CHECK_EQ_INT(seen, 3);
}
