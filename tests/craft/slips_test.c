/* The two slips of the published softmax (a floor division that loses rows, a row stride that is
 * the row length only when the tile divides it): the checker refuses them, at their lines. */
#include "tests/craft/help.h"

#include "ir/falsify.h"
#include "tests/t.h"

static bool refuses(const char *path, const char *code, uint32_t line)
{
    Arena arena = {0};
    Str text = help_read(&arena, path);
    Diag diag = diag_make(&arena, path, text);
    CraftFile *file = craft_read(&arena, path, text, &diag);
    REQUIRE(file && diag_ok(&diag));
    IrProgram *p = craft_program(&arena, file, 0, &diag);
    REQUIRE(p && ir_verify(p, &diag));
    IrReport report = {0};
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    ir_prove(&arena, p, chip, &report, &diag);
    ir_falsify(&arena, p, chip, &report, &diag);
    bool found = false;
    for (uint32_t i = 0; i < diag.items.len; i++) {
        const DiagItem *item = &diag.items.at[i];
        found = found || (item->at.line == line && str_is(str_from(item->code), code));
    }
    arena_drop(&arena);
    return found;
}

T_TEST(slip_lost_rows_are_seen)
{
    CHECK(refuses("tests/craft/softmax_slip_rows.craft", "E106", 24));
}

T_TEST(slip_wrong_stride_is_seen)
{
    CHECK(refuses("tests/craft/softmax_slip_stride.craft", "E101", 21));
    CHECK(refuses("tests/craft/softmax_slip_stride.craft", "E101", 31));
}
