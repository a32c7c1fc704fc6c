/* Programs edited as trees: sizes, choices and rules are found by what they are, however they are spelt. */
#include "loop/craft_edit.h"

#include "tests/t.h"
#include <string.h>

static const char text[] = "# The reason: craft = 1 and choose(\"tile\", [1]) are words here.\n"
                           "craft = 1\n"
                           "\n"
                           "k = dim(64)\n"
                           "n = dim( 1,1048576 )\n"
                           "rows = dim(1, 1048576, of=n * k)\n"
                           "\n"
                           "@host\n"
                           "def op(x: gm[f32, n, k], y: out[f32, n, k]):\n"
                           "    tile = choose(\"tile\",\n"
                           "                  [4096, 2048])\n"
                           "    work[1](x, y, tile)\n"
                           "\n"
                           "@kernel\n"
                           "def work(x: gm[f32, n, k], y: out[f32, n, k], tile: i32):\n"
                           "    pass\n";

static bool has(Str craft, const char *part) { return str_find(craft, str_from(part)) >= 0; }

T_TEST(edit_choices_of_a_program)
{
    Arena a = {0};
    Str craft = str_from(text), first = edit_choice_first(&a, craft, "tile", 2048);
    CHECK(edit_has_choice(&a, craft));
    CHECK(has(first, "tile = choose(\"tile\", [2048, 4096])"));
    CHECK(has(first, "[1]) are words here."));
    Str rule = edit_choice_rule(&a, craft, "tile", &(EditRule){"n", 512, 2048, 4096});
    CHECK(has(rule, "tile = 2048 if n < 512 else 4096"));
    CHECK(!edit_has_choice(&a, rule));
    CHECK(str_equal(edit_choice_first(&a, craft, "other", 1), craft));
    CHECK(str_equal(edit_choice_first(&a, STR("no Craft ("), "tile", 1), STR("no Craft (")));
    arena_drop(&a);
}

T_TEST(edit_sizes_of_a_program)
{
    Arena a = {0};
    Str craft = str_from(text), other = edit_dim(&a, craft, "n", 16, 32);
    NameList sizes = {0};
    CHECK(has(other, "n = dim(16, 32)\n"));
    CHECK(has(edit_dim(&a, craft, "rows", 2, 4), "rows = dim(2, 4, of=n * k)\n"));
    CHECK(edit_same(&a, craft, other));                             /* a range may differ */
    CHECK(!edit_same(&a, craft, edit_dim(&a, craft, "k", 32, 32))); /* one number may not */
    CHECK(!edit_same(&a, craft, edit_choice_first(&a, craft, "tile", 2048)));
    edit_sizes(&a, craft, "x", &sizes);
    REQUIRE(sizes.len == 2);
    CHECK_EQ_STR(sizes.at[0], "n");
    CHECK_EQ_STR(sizes.at[1], "k");
    CHECK(str_starts(edit_without_reasons(&a, craft), "craft = 1\n"));
    arena_drop(&a);
}
