/* What is said of kernels with mistakes in them, word for word: each kernel of tests/twin/said once provoked a
 * message that did not help. In: list.txt. Out: compared with messages.txt; ACRAFT_BLESS=1 writes that anew. */
#include "base/file.h"
#include "tests/twin/visit.h"
#include <stdlib.h>

static Str read_said(Arena *arena, const char *name)
{
    const char *path = str_format(arena, "tests/twin/said/%s", name);
    Diag diag = diag_make(arena, path, str_from(""));
    Str text;
    REQUIRE(file_read(arena, path, 1 << 20, &text, &diag));
    return text;
}

static void say_of(Str line, Buf *out)
{
    Visit v = {0};
    Str name;
    str_next(&line, ' ', &name);
    const char *file = str_format(&v.arena, "%.*s.cpp", STR_ARG(name));
    v.text = read_said(&v.arena, file);
    run_visit(&v, file, line);
    buf_printf(out, "== %.*s\n", STR_ARG(name));
    verdict_to_text(&v.verdict, out);
    leave(&v);
}

/* --- where the time goes --- */

/* In every row what a pipe works and what it stands still make a whole. */
static void check_shares(const char *said)
{
    uint32_t rows = 0;
    for (const char *at = said; (at = strstr(at, " busy ")); rows++) {
        char *end;
        double busy = strtod(at + 6, &end);
        const char *idle = strstr(end, ", idle "), *line = strchr(end, '\n');
        CHECK_MSG(busy >= 0 && busy <= 100, "%s", said);
        if (idle && idle < line)
            CHECK_NEAR(busy + strtod(idle + 7, NULL), 100, 0.2);
        at = end;
    }
    CHECK(rows >= 3);
}

static void explain_overlap(const char *sets, const char *wanted, const char *unwanted)
{
    Visit v = {.observer.explain = true};
    v.text = str_from(str_format(&v.arena, "#define SETS %s\n%.*s", sets,
                                 STR_ARG(read_said(&v.arena, "overlap.cpp"))));
    run_visit(&v, "overlap.cpp",
              STR("--time-only --in x=f16[1572864] --out y=f16[1572864] --attr total=1572864 "
                  "--blocks 48"));
    CHECK_MSG(v.verdict.status == VERDICT_OK, "%s", v.verdict.reason);
    const char *said = str_dup(&v.arena, buf_view(&v.observer.text));
    CHECK_MSG(strstr(said, wanted) && !strstr(said, unwanted), "%s", said);
    check_shares(said);
    leave(&v);
}

T_TEST(advice_names_what_the_kernel_lacks)
{
    explain_overlap("1", "Give the queues two buffers (InitBuffer(queue, 2, ...)) (overlap.cpp:10)",
                    "every queue has two buffers");
    explain_overlap("2", "although every queue has two buffers", "Give the queues two buffers");
}

T_TEST(messages_are_what_a_programmer_needs)
{
    Arena arena = {0};
    Str rest = read_said(&arena, "list.txt"), line;
    Buf got = {0};
    while (rest.len && str_next(&rest, '\n', &line))
        if (line.len && !str_starts(line, "#"))
            say_of(line, &got);
    Diag diag = diag_make(&arena, "messages.txt", str_from(""));
    if (getenv("ACRAFT_BLESS"))
        CHECK(file_write("tests/twin/said/messages.txt", buf_view(&got), &diag));
    else
        CHECK_EQ_STR(got.at, str_dup(&arena, read_said(&arena, "messages.txt")));
    buf_free(&got);
    arena_drop(&arena);
}
