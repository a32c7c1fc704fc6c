/* Which errors repair rows show. In: a row's turn. Out: its error.
 *
 * A want is a diagnostic that a broken Craft program raises, or a finding of the twin in a broken AscendC kernel. It
 * has the number of the first row of its table that is meant to raise it; rows of the twin's table come behind those
 * of the other. Each has its turn, so that those for which few programs have a place get as many rows as the others. */
#include "rows/rows_int.h"

#include <string.h>

/* Wrong values are what a model gets most often: they count as so many diagnostics. */
enum { WRONG_SHARE = 12, WRONG_SHARE_TWIN = 3 };

uint32_t rows_wants(void)
{
    uint32_t n = rows_break_count() + rows_twin_break_count();
    return n < ROWS_WANTS ? n : ROWS_WANTS;
}

static bool is_twin(uint32_t want) { return want >= rows_break_count(); }

const char *rows_want_name(uint32_t want)
{
    const char *code = is_twin(want) ? rows_twin_break_code(want - rows_break_count())
                                     : rows_break_code(want);
    return *code                                                         ? code
           : !is_twin(want) || rows_want_is(want, STR("VALUE"), STR("")) ? "wrong values"
                                                                         : "COMPILE";
}

bool rows_want_is(uint32_t want, Str class, Str code)
{
    if (!is_twin(want))
        return str_is(code, rows_break_code(want));
    const char *meant = rows_twin_break_code(want - rows_break_count());
    return str_is(code, meant) &&
           (*meant || str_is(class, rows_twin_break_class(want - rows_break_count())));
}

uint32_t rows_want_of(RowsKind kind, Str class, Str code)
{
    bool craft = kind == ROWS_REPAIR, twin = kind == ROWS_MEND || kind == ROWS_MEND_FULL;
    uint32_t want = craft ? 0 : twin ? rows_break_count() : rows_wants();
    uint32_t end = craft ? rows_break_count() : rows_wants();
    if (str_is(code, "wrong values")) {
        code = STR("");
        class = STR("VALUE");
    } else if (twin && !str_starts(code, "S")) {
        code = STR("");
    }
    while (want < end && !rows_want_is(want, class, code))
        want++;
    return want < end ? want : ROWS_WANTS;
}

bool rows_want_is_first(uint32_t want)
{
    Str code = str_from(is_twin(want) ? rows_twin_break_code(want - rows_break_count())
                                      : rows_break_code(want));
    Str class = is_twin(want) ? str_from(rows_twin_break_class(want - rows_break_count()))
                              : STR("");
    for (uint32_t i = is_twin(want) ? rows_break_count() : 0; i < want; i++)
        if (rows_want_is(i, class, code))
            return false;
    return true;
}

static uint32_t share_of(uint32_t want)
{
    if (strcmp(rows_want_name(want), "wrong values"))
        return 1;
    return is_twin(want) ? WRONG_SHARE_TWIN : WRONG_SHARE;
}

uint32_t rows_want_at(uint64_t turn, bool twin)
{
    uint64_t turns = 0;
    uint32_t from = twin ? rows_break_count() : 0;
    uint32_t end = twin ? rows_wants() : rows_break_count();
    for (uint32_t i = from; i < end; i++)
        turns += rows_want_is_first(i) ? share_of(i) : 0;
    turn %= turns;
    for (uint32_t i = from; i < end; i++) {
        uint64_t share = rows_want_is_first(i) ? share_of(i) : 0;
        if (turn < share)
            return i;
        turn -= share;
    }
    return from;
}

RowsLeast rows_want_least(const uint64_t rows[ROWS_WANTS], bool twin)
{
    RowsLeast least = {.name = "", .rows = UINT64_MAX};
    for (uint32_t i = 0; i < rows_wants(); i++) {
        if (is_twin(i) != twin || !rows_want_is_first(i))
            continue;
        least.all++;
        least.there += rows[i] > 0;
        least.enough += rows[i] >= ROWS_ENOUGH;
        if (rows[i] < least.rows) {
            least.rows = rows[i];
            least.name = rows_want_name(i);
        }
    }
    return least;
}
