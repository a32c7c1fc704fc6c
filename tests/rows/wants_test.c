/* Which errors repair rows still want for. */
#include "rows/rows_int.h"

#include "tests/t.h"
#include <string.h>

static uint32_t want_of(RowsKind kind, const char *class, const char *code)
{
    return rows_want_of(kind, str_from(class), str_from(code));
}

T_TEST(a_row_counts_for_the_diagnostic_that_it_raises)
{
    uint32_t diagnostic = want_of(ROWS_REPAIR, "SCOPE", "E020");
    uint32_t finding = want_of(ROWS_MEND, "LEAK", "S028");
    REQUIRE(diagnostic < rows_wants() && finding < rows_wants());
    CHECK_EQ_STR(rows_want_name(diagnostic), "E020");
    CHECK_EQ_STR(rows_want_name(finding), "S028");
    CHECK_EQ_INT(want_of(ROWS_REPAIR, "SYNTAX", "E020"), diagnostic);
    CHECK_EQ_INT(want_of(ROWS_MEND_FULL, "HANG", "S028"), finding);
    CHECK_EQ_INT(want_of(ROWS_REPAIR, "LEAK", "S028"), ROWS_WANTS);
    CHECK_EQ_INT(want_of(ROWS_MEND, "SCOPE", "E020"),
                 want_of(ROWS_MEND, "SCOPE", "does not compile")); /* neither is a finding */
    CHECK_EQ_INT(want_of(ROWS_WRITE, "", ""), ROWS_WANTS);
    CHECK_EQ_INT(want_of(ROWS_REPAIR, "STAGE", "E999"), ROWS_WANTS);
    CHECK_EQ_STR(rows_want_name(want_of(ROWS_REPAIR, "VALUE", "wrong values")), "wrong values");
    CHECK_EQ_STR(rows_want_name(want_of(ROWS_MEND, "FAULT", "wrong values")), "wrong values");
    CHECK_EQ_STR(rows_want_name(want_of(ROWS_MEND, "COMPILE", "does not compile")), "COMPILE");
}

T_TEST(every_error_has_its_turn)
{
    for (int twin = 0; twin < 2; twin++) {
        uint32_t turns[ROWS_WANTS] = {0},
                 all = rows_want_least((uint64_t[ROWS_WANTS]){0}, twin).all;
        uint32_t round = all + (twin ? 2 : 11); /* wrong values have three turns, or twelve */
        for (uint64_t turn = 7; turn < 7 + 2 * round; turn++)
            turns[rows_want_at(turn, twin)]++;
        for (uint32_t i = 0; i < rows_wants(); i++) {
            bool there = rows_want_is_first(i) && (i >= rows_break_count()) == twin;
            bool wrong = !strcmp(rows_want_name(i), "wrong values");
            CHECK_EQ_INT(turns[i], !there ? 0 : !wrong ? 2 : twin ? 6 : 24);
        }
    }
}

T_TEST(the_rarest_error_is_named)
{
    uint64_t rows[ROWS_WANTS];
    for (int i = 0; i < ROWS_WANTS; i++)
        rows[i] = ROWS_ENOUGH;
    rows[want_of(ROWS_REPAIR, "", "E020")] = 3;
    RowsLeast least = rows_want_least(rows, false), findings = rows_want_least(rows, true);
    CHECK_EQ_STR(least.name, "E020");
    CHECK_EQ_INT(least.rows, 3);
    CHECK_EQ_INT(least.all, least.enough + 1);
    CHECK_EQ_INT(least.all, least.there);
    CHECK_EQ_INT(findings.all, findings.enough);
    CHECK_EQ_INT(findings.rows, ROWS_ENOUGH);
}
