/* acraft diff: lines are paired by their text, findings come and go, the exit status is B's. */
#include "cmd/cmd.h"
#include "cmd/diff.h"
#include "tests/t.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEFORE "tests/cmd/diff/before.cpp"
#define AFTER "tests/cmd/diff/after.cpp"

/* The command's status; what it prints on standard output goes to `text`. */
static int diff(Arena *arena, const char *a, const char *b, const char *option, Str *text)
{
    char path[] = "/tmp/acraft-diff-XXXXXX";
    char *argv[] = {"diff",    (char *)a, (char *)b,  "--task", "tasks/activation/relu.py",
                    "--scale", "tiny",    "--blocks", "1",      (char *)option,
                    NULL};
    int file = mkstemp(path), out = dup(1), err = dup(2), nowhere = open("/dev/null", O_WRONLY);
    REQUIRE(file >= 0);
    fflush(stdout);
    dup2(file, 1);
    dup2(nowhere, 2);
    int status = cmd_diff(option ? 10 : 9, argv);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    Diag diag = diag_make(arena, path, (Str){0});
    REQUIRE(file_read(arena, path, 1 << 20, text, &diag));
    unlink(path);
    close(file), close(out), close(err), close(nowhere);
    return status;
}

#define CHECK_HAS(text, words) \
    CHECK_MSG(str_find(text, STR(words)) >= 0, "no '%s' in:\n%.*s", words, STR_ARG(text))

T_TEST(diff_shows_two_versions)
{
    Arena arena = {0};
    Str text;
    CHECK_EQ_INT(diff(&arena, BEFORE, AFTER, NULL, &text), CMD_OK);
    CHECK_HAS(text, "A: " BEFORE ": hazard");
    CHECK_HAS(text, "B: " AFTER ": ok, predicted ");
    CHECK_HAS(text, "findings: 1 gone, 0 new, 0 in both");
    CHECK_HAS(text, "gone S050 " BEFORE ":18: ");
    CHECK_HAS(text, "A:19   B:21   Relu(t, t, TILE);");
    CHECK_HAS(text, "predicted, not measured");
    CHECK_EQ_INT(diff(&arena, AFTER, BEFORE, NULL, &text), CMD_NO);
    CHECK_HAS(text, "findings: 0 gone, 1 new, 0 in both");
    CHECK_EQ_INT(diff(&arena, BEFORE, BEFORE, NULL, &text), CMD_NO);
    CHECK_HAS(text, "1.00 times as fast (within the model's error)");
    CHECK_HAS(text, "findings: 0 gone, 0 new, 1 in both");
    CHECK_HAS(text, "0 of 3 changed");
    CHECK_EQ_INT(diff(&arena, "tests/cmd/diff/none.cpp", AFTER, NULL, &text), CMD_USAGE);
    arena_drop(&arena);
}

T_TEST(diff_as_json)
{
    Arena arena = {0};
    Str text;
    CHECK_EQ_INT(diff(&arena, BEFORE, AFTER, "--json", &text), CMD_OK);
    CHECK(str_starts(text, "{\"a\":{"));
    CHECK_HAS(text, ",\"speedup\":");
    CHECK_HAS(text, ",\"within_error\":");
    CHECK_HAS(text, ",\"gone\":[{\"code\":\"S050\",\"file\":\"" BEFORE "\",\"line\":18,");
    CHECK_HAS(text, ",\"new\":[],\"lines\":[{\"a\":{\"file\":");
    CHECK(str_ends(text, "]}\n"));
    arena_drop(&arena);
}

/* --- pairing --- */

static void candidate(Arena *arena, EvalCandidate *c, const char *path, const char *text)
{
    EvalText one = {.path = path, .text = str_from(text)};
    *c = (EvalCandidate){.name = path};
    vec_push(arena, &c->texts, one);
}

T_TEST(diff_pairs_lines_by_text)
{
    Arena arena = {0};
    EvalCandidate versions[2];
    candidate(&arena, &versions[0], "k.cpp", "head\nCopy();\nOld();\nExp();\nsame\nDone();\n");
    candidate(&arena, &versions[1], "k.cpp",
              "head\nnew line\n  Copy();\nExp();\nNew();\nsame\nDone();\n");
    Str costs[2] = {STR("k.cpp\t2\t5.0\t10\t4096\nk.cpp\t3\t2.0\t1\t0\nk.cpp\t4\t1.5\t3\t0\n"
                        "k.cpp\t6\t0.5\t1\t0\nk.cpp\t2\t1.0\t2\t1024\n"),
                    STR("k.cpp\t3\t1.0\t4\t4096\nk.cpp\t4\t1.5\t3\t0\nk.cpp\t5\t0.25\t1\t0\n")};
    static const struct {
        uint32_t a, b;
        double us_a, us_b;
        const char *text;
    } want[] = {{2, 3, 6, 1, "Copy();"}, /* two launches of one line are summed */
                {3, 0, 2, 0, "Old();"},
                {6, 7, 0.5, 0, "Done();"}, /* still there, and costs nothing */
                {0, 5, 0, 0.25, "New();"},
                {4, 4, 1.5, 1.5, "Exp();"}};
    DiffLines lines = {0};
    diff_lines(&arena, versions, costs, &lines);
    CHECK_EQ_INT(lines.len, 5);
    for (uint32_t i = 0; i < lines.len && i < 5; i++) {
        const DiffLine *line = &lines.at[i];
        CHECK_EQ_INT(line->side[0].line, want[i].a);
        CHECK_EQ_INT(line->side[1].line, want[i].b);
        CHECK_NEAR(line->side[0].us, want[i].us_a, 1e-9);
        CHECK_NEAR(line->side[1].us, want[i].us_b, 1e-9);
        CHECK_EQ_SLICE(line->text, want[i].text);
    }
    arena_drop(&arena);
}

T_TEST(diff_with_nothing_to_pair)
{
    Arena arena = {0};
    EvalCandidate versions[2];
    candidate(&arena, &versions[0], "a.cpp", "");
    candidate(&arena, &versions[1], "b.cpp", "x\n");
    Str costs[2] = {STR(""), STR("elsewhere.h\t900\t1.0\t1\t0\nnot a cost\n")};
    DiffLines lines = {0};
    diff_lines(&arena, versions, costs, &lines);
    CHECK_EQ_INT(lines.len, 1);
    arena_drop(&arena);
}
