/* Reasons of an answer: what they say of a schedule's axes. */
#include "rows/rows_int.h"

#include "tests/t.h"
#include <string.h>

typedef struct Fixture {
    Arena arena;
    Nest nest;
    RowsProgram program;
    Band band;
    const NpuChip *chip;
} Fixture;

/* Axes a1 (8), a2 (7), a3 (1), a4 (600). */
static void open_fixture(Fixture *f)
{
    static const int64_t sizes[] = {0, 8, 7, 1, 600};
    *f = (Fixture){.chip = npu_chip_find(STR("910B2"))};
    for (int i = 0; i < 5; i++)
        vec_push(&f->arena, &f->nest.axes, (NestAxis){.size = sizes[i]});
    f->program = (RowsProgram){.nest = &f->nest, .ub = 64, .us = -1};
}

/* In all wordings; the caller frees it. */
static Buf reasons_of(Fixture *f)
{
    Buf out = {0};
    f->program.schedule.bands.len = 0;
    vec_push(&f->arena, &f->program.schedule.bands, f->band);
    for (uint64_t seed = 0; seed < 20; seed++) {
        Dice dice = {seed, 1, 0};
        rows_put_reasons(f->chip, &f->program, &dice, &out);
    }
    return out;
}

static uint32_t count_of(const Buf *text, const char *word)
{
    uint32_t n = 0;
    Str rest = buf_view(text);
    for (ptrdiff_t at; (at = str_find(rest, str_from(word))) >= 0; n++)
        rest = str_slice(rest, (size_t)at + strlen(word), rest.len);
    return n;
}

T_TEST(an_axis_that_is_whole_in_a_tile_is_not_split)
{
    Fixture f;
    open_fixture(&f);
    f.band = (Band){.kept = 1u << 1 | 1u << 2 | 1u << 3, .lanes = {2, 8, true}};
    Buf text = reasons_of(&f);
    CHECK_EQ_INT(count_of(&text, "a1 (8)"), 20);
    CHECK_EQ_INT(count_of(&text, "a2 (7)"), 0);
    CHECK_EQ_INT(count_of(&text, "(1)"), 0); /* one element is never split */
    CHECK_EQ_INT(count_of(&text, "8 lanes of a2 (whole)"), 20);
    buf_free(&text);
    arena_drop(&f.arena);
}

T_TEST(an_axis_that_the_cores_share_does_not_stay_in_one)
{
    Fixture f;
    open_fixture(&f);
    f.band = (Band){.split = 4, .reduced = 1u << 4, .lanes = {4, 64, false}};
    Buf text = reasons_of(&f);
    CHECK_EQ_INT(count_of(&text, "share a4 (600)") + count_of(&text, "a4 (600) is reduced by all") +
                     count_of(&text, "part of a4 (600)"),
                 20);
    CHECK_EQ_INT(count_of(&text, "inside a core") + count_of(&text, "takes all of"), 0);
    CHECK_EQ_INT(count_of(&text, "share out"), 0);
    buf_free(&text);
    arena_drop(&f.arena);
}

T_TEST(a_single_value_has_no_tile_and_is_not_dealt_out)
{
    Fixture f;
    open_fixture(&f);
    f.band = (Band){.lanes = {0, 8, false}};
    Buf text = reasons_of(&f);
    CHECK_EQ_INT(count_of(&text, "one core writes") + count_of(&text, "One core writes"), 20);
    CHECK_EQ_INT(count_of(&text, " a0"), 0);
    CHECK_EQ_INT(count_of(&text, "tile"), 0);
    buf_free(&text);
    arena_drop(&f.arena);
}

static bool has_scan(const Graph *graph)
{
    for (uint32_t i = 0; i < graph->nodes.len; i++)
        if (graph->nodes.at[i].op == OP_SCAN)
            return true;
    return false;
}

/* Running extremes are of the family of orders, and no reductions either. */
T_TEST(what_a_running_minimum_walks_is_not_called_reduced)
{
    Fixture f;
    PlanPoint point = {.parts = 4};
    RowsTask task = {0};
    bool differs, found = false;
    open_fixture(&f);
    for (uint64_t number = ROWS_WIDE; !found && number < ROWS_WIDE + 2000; number++)
        found = rows_draw(&f.arena, 11, number, &task, &differs) && task.family == FAMILY_ORDER &&
                has_scan(task.read->graph) &&
                rows_program(&f.arena, &task, f.chip, &point, &f.program) && f.program.nest &&
                f.program.schedule.bands.len == 1;
    REQUIRE(found);
    Buf text = {0};
    for (uint64_t seed = 0; seed < 20; seed++) {
        Dice dice = {seed, 1, 0};
        rows_put_reasons(f.chip, &f.program, &dice, &text);
    }
    CHECK_MSG(count_of(&text, "reduc") == 0, "%.*s", (int)text.len, text.at);
    CHECK(count_of(&text, "combine") >= 20);
    buf_free(&text);
    arena_drop(&f.arena);
}
