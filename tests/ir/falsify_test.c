/* Counterexamples: the two slips of the published softmax figure are refused at their lines, and
 * programs that are right stay as they are. */
#include "tests/ir/help.h"

#include "craft/craft.h"
#include "ir/falsify.h"

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

typedef struct Tried {
    bool clean;
    IrReport report;
    Diag diag;
} Tried;

static Tried try_file(Arena *arena, const char *path)
{
    Tried t = {0};
    IrProgram *p = help_file(arena, path);
    t.diag = diag_make(arena, path, (Str){0});
    ir_prove(arena, p, chip(), &t.report, &t.diag);
    t.clean = ir_falsify(arena, p, chip(), &t.report, &t.diag);
    return t;
}

static const DiagItem *find_error(const Diag *diag, const char *code)
{
    for (uint32_t i = 0; i < diag->items.len; i++)
        if (diag->items.at[i].level == DIAG_ERROR && strcmp(diag->items.at[i].code, code) == 0)
            return &diag->items.at[i];
    return NULL;
}

T_TEST(rows_lost_by_a_floor_division_are_refused)
{
    Arena arena = {0};
    Tried t = try_file(&arena, "tests/ir/programs/slip_rows.ir");
    const DiagItem *d = find_error(&t.diag, "E106");
    CHECK(!t.clean);
    CHECK(t.report.count[IR_REFUSED] >= 1);
    REQUIRE(d != NULL);
    CHECK_EQ_INT(d->at.line, 28);
    CHECK_EQ_STR(d->text, "with rows = 33, cols = 1: element y[32, 0] is never written (1 of 33 "
                          "are missing)");
    arena_drop(&arena);
}

T_TEST(a_row_stride_of_whole_tiles_is_refused)
{
    Arena arena = {0};
    Tried t = try_file(&arena, "tests/ir/programs/slip_stride.ir");
    const DiagItem *d = find_error(&t.diag, "E101");
    CHECK(!t.clean);
    REQUIRE(d != NULL);
    CHECK_EQ_INT(d->at.line, 23);
    CHECK_EQ_STR(d->text, "with rows = 2, cols = 4097: core 1 reads x at flat offset 8194 of 8194 "
                          "(the access is 8192 .. 12288)");
    arena_drop(&arena);
}

T_TEST(a_proved_program_is_not_tried)
{
    Arena arena = {0};
    Tried t = try_file(&arena, "tests/ir/programs/softmax.ir");
    CHECK(t.clean);
    CHECK_EQ_INT(t.report.count[IR_REFUSED], 0);
    arena_drop(&arena);
}

/* ---- the examples are right: no shape breaks them ---- */

static void try_example(const char *path)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, (Str){0});
    Str text;
    REQUIRE(file_read(&arena, path, 0, &text, &diag));
    diag.source = text;
    CraftFile *file = craft_read(&arena, path, text, &diag);
    IrReport report;
    IrProgram *p = file ? craft_program(&arena, file, 0, &diag) : NULL;
    if (p && ir_verify(p, &diag)) {
        ir_prove(&arena, p, chip(), &report, &diag);
        report.count[IR_WATCHED]++; /* try even what is all proved */
        ir_falsify(&arena, p, chip(), &report, &diag);
    }
    Buf out = {0};
    diag_print(&diag, &out);
    CHECK_MSG(diag_ok(&diag), "%s", out.at ? out.at : "");
    buf_free(&out);
    arena_drop(&arena);
}

T_TEST(no_example_has_a_counterexample)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "examples", (Str){0});
    NameList names = {0};
    REQUIRE(file_list(&arena, "examples", &names, &diag));
    for (uint32_t i = 0; i < names.len; i++)
        if (str_ends(str_from(names.at[i]), ".craft"))
            try_example(path_join(&arena, "examples", names.at[i]));
    arena_drop(&arena);
}
