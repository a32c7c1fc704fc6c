/* The bug museum: public bugs of AscendC programmers, rebuilt (tests/museum). The comment of each
 * text tells how to run it, as options of `acraft run`; a line that must be named carries
 * "// <-- CODE". Before the fix the last run names every such line; after it nothing is said. */
#include "tests/t.h"

#include "base/file.h"
#include "tests/twin/visit.h"

static void check_silent(const Visit *v, const char *path)
{
    CHECK_MSG(v->verdict.status == VERDICT_OK, "%s: %s", path, v->verdict.reason);
    for (uint32_t i = 0; i < v->verdict.hazards.len; i++)
        CHECK_MSG(false, "%s:%u: %s %s", path, v->verdict.hazards.at[i].line,
                  v->verdict.hazards.at[i].code, v->verdict.hazards.at[i].message);
}

static bool named(const Visit *v, const char *code, uint32_t line)
{
    for (uint32_t i = 0; i < v->verdict.hazards.len; i++)
        if (strcmp(v->verdict.hazards.at[i].code, code) == 0 &&
            v->verdict.hazards.at[i].line == line)
            return true;
    return false;
}

/* Every "// <-- CODE CODE" of the text must have been found at its line. */
static uint32_t check_named(Visit *v, const char *path)
{
    Str rest = v->text, line;
    uint32_t number = 0, marks = 0;
    while (rest.len && str_next(&rest, '\n', &line)) {
        number++;
        int64_t at = str_find(line, str_from("// <-- "));
        if (at < 0)
            continue;
        const char *codes[MOST_WORDS];
        uint32_t n = visit_split(&v->arena, str_slice(line, (size_t)at + 7, line.len), codes);
        for (uint32_t i = 0; i < n; i++, marks++)
            CHECK_MSG(named(v, codes[i], number), "%s:%u: %s is not named; %u findings, %s", path,
                      number, codes[i], v->verdict.hazards.len, v->verdict.reason);
    }
    return marks;
}

/* Runs every "run:" line of the text; before the fix only the last one is wrong. */
static void visit(const char *name, const char *when, bool fixed)
{
    Arena arena = {0};
    const char *path = str_format(&arena, "tests/museum/%s_%s.cpp", name, when);
    Diag diag = diag_make(&arena, path, str_from(""));
    Str text, line;
    REQUIRE(file_read(&arena, path, 1 << 16, &text, &diag));
    uint32_t runs = 0, total = 0;
    for (Str rest = text; rest.len && str_next(&rest, '\n', &line);)
        total += str_find(line, str_from(" * run: ")) == 0;
    for (Str rest = text; rest.len && str_next(&rest, '\n', &line);) {
        if (str_find(line, str_from(" * run: ")) != 0)
            continue;
        int64_t end = str_find(line, str_from("*/"));
        Visit v = {.text = text};
        run_visit(&v, path, str_slice(line, 8, end < 0 ? line.len : (size_t)end));
        if (fixed || ++runs < total)
            check_silent(&v, path);
        else
            CHECK_MSG(check_named(&v, path) > 0, "%s marks no line", path);
        leave(&v);
    }
    CHECK_MSG(total > 0, "%s has no run line", path);
    arena_drop(&arena);
}

static void show(const char *const *names)
{
    for (; *names; names++) {
        visit(*names, "before", false);
        visit(*names, "after", true);
    }
}
#define ROOM(title, ...)                                        \
    T_TEST(museum_##title)                                      \
    {                                                           \
        static const char *const names[] = {__VA_ARGS__, NULL}; \
        show(names);                                            \
    }

ROOM(hangs_of_a_core, "two_sets", "two_pipes", "nine_tensors")
ROOM(hangs_of_all_cores, "syncall_cube", "too_many_blocks")
ROOM(hangs_of_a_chain, "block_event", "turn_count")
ROOM(other_hangs, "wait_twice", "hoisted_wait", "never_freed")
ROOM(buffers_not_returned, "store_not_returned", "load_not_returned", "event_nine")
ROOM(waits_forgotten, "branch_barrier", "store_then_load", "empty_loop", "hidden_writer")
ROOM(race_between_cores, "halves_exchange")
ROOM(alignment_and_tails, "row_of_126", "narrow_rows", "tail_513", "slice_at_16_bytes")
ROOM(memory, "tile_too_large", "hidden_scratch", "wider_operand")
ROOM(full_size, "offsets_of_32_bits")
