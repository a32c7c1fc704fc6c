/* Broken programs: each error is found in a program of its kind, and the judge refuses it. */
#include "rows/rows_int.h"

#include "base/file.h"
#include "craft/craft.h"
#include "graph/eval.h"
#include "ir/prove.h"
#include "ir/run.h"
#include "sim/sim.h"
#include "tests/t.h"
#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
    Arena arena;
    const NpuChip *chip;
    RowsTask task;
    RowsProgram program;
    RowsCases cases;
    Dice dice;
} Fixture;

/* The first task of the family from `number` on that gives a right program. */
static Fixture *open_fixture(RowsFamily family, uint64_t number)
{
    static Fixture fixture;
    Fixture *f = &fixture;
    PlanPoint point = {.parts = 4};
    bool differs;
    *f = (Fixture){.chip = npu_chip_find(STR("910B2")), .dice = {1, number, 0}};
    graph_eval_threads(1);
    while (!rows_draw(&f->arena, 1, number, &f->task, &differs) || f->task.family != family ||
           !rows_program(&f->arena, &f->task, f->chip, &point, &f->program) ||
           !rows_pin(&f->arena, &f->task, f->program.craft, f->chip) ||
           !rows_cases(&f->arena, &f->task, f->program.craft, f->chip, &rows_sizes, &f->dice,
                       &f->cases)) {
        rows_cases_free(&f->cases);
        number++;
    }
    return f;
}

static void close_fixture(Fixture *f)
{
    rows_cases_free(&f->cases);
    arena_drop(&f->arena);
}

static bool judge(Fixture *f, Str craft, const char **code)
{
    Verdict verdict;
    Diag diag;
    bool ok = rows_judge(&f->arena, craft, &f->cases, f->chip, false, &verdict, &diag);
    *code = verdict.status == VERDICT_WRONG ? "" : NULL;
    for (uint32_t i = 0; i < diag.items.len && !*code; i++)
        if (diag.items.at[i].level == DIAG_ERROR)
            *code = diag.items.at[i].code;
    return ok;
}

/* How many of the errors that have a place in the program raise the code that they are meant to. */
static void count_codes(Fixture *f, uint32_t from, uint32_t *placed, uint32_t *meant)
{
    *placed = *meant = 0;
    for (uint32_t i = from; i < rows_break_count(); i += 3) {
        RowsBreak broken;
        const char *code;
        if (!rows_break(&f->arena, f->program.craft, i, f->chip, &f->dice, &broken) ||
            judge(f, broken.craft, &code))
            continue;
        ++*placed;
        *meant += code && !strcmp(code, broken.code);
        CHECK(*broken.cause != 0);
    }
}

static void check_errors(RowsFamily family, uint32_t from)
{
    Fixture *f = open_fixture(family, 0);
    const char *code;
    uint32_t placed, meant;
    CHECK(judge(f, f->program.craft, &code));
    count_codes(f, from, &placed, &meant);
    CHECK_MSG(placed > 25, "%u errors have a place", placed);
    CHECK_MSG(meant * 100 >= placed * 85, "%u of %u raise their code", meant, placed);
    close_fixture(f);
}

T_TEST(errors_in_an_elementwise_program_raise_their_codes) { check_errors(FAMILY_ARITHMETIC, 0); }

T_TEST(errors_in_a_reduction_raise_their_codes) { check_errors(FAMILY_ROW_REDUCE, 1); }

T_TEST(errors_in_a_broadcast_raise_their_codes) { check_errors(FAMILY_BROADCAST, 2); }

/* An error of the cube in the program of the fixture. Wrong values show where k has several pieces alone. */
static void raise_cube_error(Fixture *f, uint32_t row, bool *placed, bool *wrong)
{
    RowsBreak broken;
    const char *code = NULL;
    if (!rows_break(&f->arena, f->program.craft, row, f->chip, &f->dice, &broken) ||
        (strcmp(broken.class, "CUBE") && strcmp(broken.class, "CHANNEL") &&
         strcmp(broken.code, "E126")))
        return;
    *placed = true;
    bool right = judge(f, broken.craft, &code);
    *wrong |= !right && code && !strcmp(code, broken.code);
    CHECK_MSG((right && !*broken.code) || (code && !strcmp(code, broken.code)),
              "error %u (%s) raises %s\n%.*s", row, broken.code, code ? code : "nothing",
              STR_ARG(broken.craft));
}

T_TEST(errors_of_the_cube_raise_their_codes)
{
    enum { ROWS = 300, TASKS = 8 };
    bool placed[ROWS] = {false}, wrong[ROWS] = {false};
    uint32_t found = 0, rows = rows_break_count();
    uint64_t number = ROWS_WIDE;
    REQUIRE(rows <= ROWS);
    for (int task = 0; task < TASKS; task++) {
        Fixture *f = open_fixture(FAMILY_PRODUCT, number);
        for (uint32_t i = 0; i < rows; i++)
            raise_cube_error(f, i, &placed[i], &wrong[i]);
        number = f->task.number + 1;
        close_fixture(f);
    }
    for (uint32_t i = 0; i < rows; i++) {
        found += placed[i];
        CHECK_MSG(wrong[i] == placed[i], "error %u shows in none of the tasks", i);
    }
    CHECK_MSG(found >= 6, "%u errors have a place", found);
}

T_TEST(a_broken_program_differs_in_the_line_that_is_named)
{
    Fixture *f = open_fixture(FAMILY_ACTIVATION, 0);
    for (uint32_t i = 0; i < rows_break_count(); i++) {
        RowsBreak b;
        Str right = f->program.craft, wrong, line = {0}, other = {0};
        if (!rows_break(&f->arena, f->program.craft, i, f->chip, &f->dice, &b) || b.all)
            continue;
        wrong = b.craft;
        for (uint32_t n = 1; n <= b.line; n++) {
            CHECK(str_next(&right, '\n', &line) && (str_next(&wrong, '\n', &other) || n == b.line));
            CHECK(n == b.line || str_equal(line, other));
        }
        CHECK(str_equal(line, b.right));
    }
    close_fixture(f);
}

static bool has_break(const char *code)
{
    for (uint32_t i = 0; i < rows_break_count(); i++)
        if (!strcmp(rows_break_code(i), code))
            return true;
    return false;
}

/* Diagnostics that no row raises, and the table of them in docs/data-card.md. */
typedef struct Unreached {
    const char *code, *why;
} Unreached;

static const Unreached unreached[] = {
#define UNREACHED(code, why) {#code, why},
#include "rows/unreached.def"
#undef UNREACHED
};
enum { UNREACHED = sizeof unreached / sizeof *unreached };

static uint32_t check_code(const char *code)
{
    bool listed = false;
    for (uint32_t i = 0; i < UNREACHED; i++)
        listed = listed || !strcmp(unreached[i].code, code);
    CHECK_MSG(listed != has_break(code), "%s %s", code,
              listed ? "has errors and is listed" : "has no errors and is not listed");
    return 1;
}

T_TEST(every_diagnostic_has_errors_or_a_reason_why_not)
{
    uint32_t all = 0;
    for (const CraftCode *c = craft_codes; c->code; c++)
        all += check_code(c->code);
    for (int i = 0; i < IR_PROOF_COUNT; i++)
        all += check_code(ir_proof_rows[i].refuse);
    for (int i = IR_PROOF_COUNT; i < IR_FAULT_COUNT; i++)
        all += check_code(ir_fault_rows[i].code);
    CHECK(all > 90 && UNREACHED < 10);
}

T_TEST(the_data_card_lists_the_diagnostics_without_errors)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    Str card, line;
    uint32_t rows = 0;
    REQUIRE(file_read(&arena, "docs/data-card.md", 0, &card, &diag));
    for (uint32_t i = 0; i < UNREACHED; i++)
        CHECK_MSG(str_find(card, str_from(str_format(&arena, "| %s | %s |\n", unreached[i].code,
                                                     unreached[i].why))) >= 0,
                  "%s: %s", unreached[i].code, unreached[i].why);
    while (str_next(&card, '\n', &line))
        rows += str_starts(line, "| E");
    CHECK_EQ_INT(rows, UNREACHED);
    arena_drop(&arena);
}

/* Of each kind of the twin's findings. */
T_TEST(every_kind_of_finding_has_errors)
{
    uint32_t kinds[SIM_KIND_WARNING + 1] = {0};
    for (uint32_t i = 0; i < rows_twin_break_count(); i++)
        for (int k = 0; k < SIM_FAULT_COUNT; k++) {
            const SimFaultRow *row = sim_fault_row((enum SimFaultCode)k);
            kinds[row->kind] += !strcmp(row->code, rows_twin_break_code(i));
        }
    CHECK(kinds[SIM_KIND_FAULT] >= 5 && kinds[SIM_KIND_HANG] >= 5);
    CHECK(kinds[SIM_KIND_LEAK] >= 2 && kinds[SIM_KIND_RACE] >= 3);
}

/* How many programs with that error the twin finds the hazard in. */
static uint32_t count_hazards(Fixture *f, const char *code, const char *hazard)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < rows_break_count(); i++) {
        RowsBreak broken;
        Verdict verdict;
        Diag diag;
        if (strcmp(rows_break_code(i), code) ||
            !rows_break(&f->arena, f->program.craft, i, f->chip, &f->dice, &broken))
            continue;
        CHECK(!rows_judge(&f->arena, broken.craft, &f->cases, f->chip, true, &verdict, &diag));
        if (verdict.status == VERDICT_NO_TOOL)
            t_skip("clang or the AscendC headers are missing");
        for (uint32_t k = 0; k < verdict.hazards.len; k++)
            found += !strcmp(verdict.hazards.at[k].code, hazard);
    }
    return found;
}

/* Eight positions behind a view would lie inside the block that its buffer is rounded up to. */
T_TEST(a_gather_outside_its_source_is_found_in_the_text_too)
{
    Fixture *f = open_fixture(FAMILY_ARITHMETIC, 0);
    CHECK(count_hazards(f, "E125", "S042") > 0);
    close_fixture(f);
}

/* The compiler would take a loop away that computes nothing. */
T_TEST(a_loop_of_four_billion_turns_ends_in_no_judge)
{
    Fixture *f = open_fixture(FAMILY_ARITHMETIC, 0);
    uint32_t row = 0, cases = f->cases.n;
    RowsBreak broken;
    Verdict verdict;
    Diag diag;
    const char *code = NULL;
    while (row < rows_break_count() && strcmp(rows_break_code(row), "E127"))
        row++;
    REQUIRE(rows_break(&f->arena, f->program.craft, row, f->chip, &f->dice, &broken));
    CHECK(!judge(f, broken.craft, &code) && code && !strcmp(code, "E127"));
    f->cases.n = 1;
    CHECK(!rows_judge(&f->arena, broken.craft, &f->cases, f->chip, true, &verdict, &diag));
    f->cases.n = cases;
    if (verdict.status == VERDICT_NO_TOOL)
        t_skip("clang or the AscendC headers are missing");
    CHECK_MSG(verdict.status != VERDICT_WRONG, "%s", verdict_status_row(verdict.status)->text);
    close_fixture(f);
}

/* ---- findings of the twin ---- */

static const Unreached twin_unreached[] = {
#define UNREACHED(code, why) {#code, why},
#include "rows/twin_unreached.def"
#undef UNREACHED
};
enum { TWIN_UNREACHED = sizeof twin_unreached / sizeof *twin_unreached };

static bool has_twin_break(const char *code)
{
    for (uint32_t i = 0; i < rows_twin_break_count(); i++)
        if (!strcmp(rows_twin_break_code(i), code))
            return true;
    return false;
}

T_TEST(every_finding_has_errors_or_a_reason_why_not)
{
    uint32_t all = 0;
    for (int k = 0; k < SIM_FAULT_COUNT; k++) {
        const SimFaultRow *row = sim_fault_row((enum SimFaultCode)k);
        bool listed = false;
        for (uint32_t i = 0; i < TWIN_UNREACHED; i++)
            listed = listed || !strcmp(twin_unreached[i].code, row->code);
        if (row->kind == SIM_KIND_WARNING)
            continue;
        CHECK_MSG(listed != has_twin_break(row->code), "%s %s", row->code,
                  listed ? "has errors and is listed" : "has no errors and is not listed");
        all++;
    }
    CHECK(all > 45 && TWIN_UNREACHED < 10);
}

T_TEST(the_data_card_lists_the_findings_without_errors)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    Str card, line;
    uint32_t rows = 0;
    REQUIRE(file_read(&arena, "docs/data-card.md", 0, &card, &diag));
    for (uint32_t i = 0; i < TWIN_UNREACHED; i++)
        CHECK_MSG(
            str_find(card, str_from(str_format(&arena, "| %s | %s |\n", twin_unreached[i].code,
                                               twin_unreached[i].why))) >= 0,
            "%s: %s", twin_unreached[i].code, twin_unreached[i].why);
    while (str_next(&card, '\n', &line))
        rows += str_starts(line, "| S0");
    CHECK_EQ_INT(rows, TWIN_UNREACHED);
    arena_drop(&arena);
}

typedef struct KernelFixture {
    Fixture *f;
    EvalCandidate kernel;
    const EvalReference *ref;
} KernelFixture;

/* The kernel for one shape of the first task of the family whose text has the word. */
static KernelFixture open_kernel(RowsFamily family, const char *word)
{
    for (uint64_t number = 0;; number++) {
        KernelFixture k = {.f = open_fixture(family, number)};
        k.ref = rows_kernel_case(&k.f->cases);
        if (rows_ascendc(&k.f->arena, k.f->program.craft, FORM_NPUKB_KERNEL, k.ref->graph,
                         k.f->chip, &k.kernel) &&
            str_find(rows_kernel_text(&k.kernel), str_from(word)) > 0)
            return k;
        number = k.f->task.number;
        close_fixture(k.f);
    }
}

/* Whether the error of that row has a place in the kernel, and the twin finds it. */
static void raise_finding(const KernelFixture *k, uint32_t row, uint32_t *placed, uint32_t *meant)
{
    RowsBreak broken;
    Verdict verdict;
    Diag diag;
    if (!rows_twin_break(&k->f->arena, rows_kernel_text(&k->kernel), row, &k->f->dice, &broken))
        return;
    EvalCandidate worse = rows_with_kernel(&k->f->arena, &k->kernel, broken.craft);
    rows_judge_ascendc(&k->f->arena, &worse, k->ref, k->f->chip, &verdict, &diag);
    if (verdict.status == VERDICT_NO_TOOL)
        t_skip("clang or the AscendC headers are missing");
    bool found = false;
    for (uint32_t i = 0; i < verdict.hazards.len; i++)
        found = found || !strcmp(verdict.hazards.at[i].code, broken.code);
    ++*placed;
    *meant += found;
}

/* Every fourth error; ACRAFT_ALL=1: all of them. */
static void check_findings(const char *word, uint32_t from)
{
    KernelFixture k = open_kernel(FAMILY_ACTIVATION, word);
    uint32_t placed = 0, meant = 0, step = getenv("ACRAFT_ALL") ? 1 : 4;
    for (uint32_t i = step == 1 ? 0 : from; i < rows_twin_break_count(); i += step)
        if (*rows_twin_break_code(i))
            raise_finding(&k, i, &placed, &meant);
    CHECK_MSG(placed >= 8, "%u errors have a place", placed);
    CHECK_MSG(meant * 100 >= placed * 80, "%u of %u raise their finding", meant, placed);
    close_fixture(k.f);
}

T_TEST(errors_in_a_kernel_raise_their_findings) { check_findings("scratch0Buf", 1); }

T_TEST(errors_in_a_kernel_of_16_bits_raise_their_findings) { check_findings("CAST_RINT", 3); }

T_TEST(a_change_of_schedule_names_what_differs)
{
    Fixture *f = open_fixture(FAMILY_ACTIVATION, 0);
    PlanPoint point = {.parts = 1};
    RowsProgram other;
    Buf same = {0}, changed = {0};
    REQUIRE(f->program.nest && rows_program(&f->arena, &f->task, f->chip, &point, &other) &&
            other.nest);
    rows_put_changes(&f->program, &f->program, &f->dice, &same);
    rows_put_changes(&f->program, &other, &f->dice, &changed);
    CHECK_EQ_INT(same.len, 0);
    CHECK_MSG(str_find(buf_view(&changed), STR("parts 1 in place of 4")) >= 0, "%.*s",
              (int)changed.len, changed.at);
    buf_free(&same);
    buf_free(&changed);
    close_fixture(f);
}
