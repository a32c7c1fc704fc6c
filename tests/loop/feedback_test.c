/* What a model is told: candidates with one known mistake each, and the message it leads to.
 *
 *     tests/loop/feedback/NAME.craft or NAME.cpp    the mistake; "task: PATH" in its first line
 *     tests/loop/feedback/NAME.said                 the message; T_BLESS=1 writes it
 */
#include "loop/feedback.h"

#include "base/file.h"
#include "loop/bench_judge.h"
#include "tests/t.h"
#include <stdlib.h>
#include <string.h>

static const char *const folder = "tests/loop/feedback";

/* The path after "task:" in the first line. */
static const char *task_of(Arena *arena, Str text)
{
    Str line = {0};
    str_next(&text, '\n', &line);
    ptrdiff_t at = str_find(line, STR("task:"));
    return at < 0 ? NULL : str_dup(arena, str_trim(str_slice(line, (size_t)at + 5, line.len)));
}

static void say(Arena *arena, const char *path, Buf *said)
{
    EvalCandidate candidate = {0};
    JudgeSpec spec = {.chip = npu_chip_find(STR("910B2")), .seed = 3, .trust = true};
    Diag diag = diag_make(arena, path, STR(""));
    REQUIRE(eval_candidate_read(arena, path, &candidate, &diag));
    JudgeTask task = {.path = task_of(arena, candidate.texts.at[0].text), .name = "the task"};
    REQUIRE(task.path && file_read(arena, task.path, 0, &task.source, &diag));
    Judged judged;
    judge_candidate(arena, &spec, &task, &candidate, &judged);
    CHECK_MSG(judged.status != VERDICT_OK, "%s: passed", path);
    Feedback f = {&judged.worst, judged.said.arena ? &judged.said : NULL, &candidate, false};
    feedback_text(arena, &f, said);
}

static void check_said(Arena *arena, const char *path, Str said)
{
    const char *golden = str_format(arena, "%s/%.*s.said", folder, STR_ARG(path_stem(path)));
    Diag diag = diag_make(arena, golden, STR(""));
    Str want = {"", 0};
    if (getenv("T_BLESS"))
        CHECK(file_write(golden, said, &diag));
    else if (CHECK_MSG(file_read(arena, golden, 0, &want, &diag), "%s is missing", golden))
        CHECK_MSG(str_equal(said, want), "%s says now:\n%.*s", golden, STR_ARG(said));
}

static void check_all(const char *suffix)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, folder, STR(""));
    NameList names = {0};
    uint32_t seen = 0;
    REQUIRE(file_list(&arena, folder, &names, &diag));
    for (uint32_t i = 0; i < names.len; i++) {
        if (!str_ends(str_from(names.at[i]), suffix))
            continue;
        const char *path = path_join(&arena, folder, names.at[i]);
        Buf said = {0};
        say(&arena, path, &said);
        check_said(&arena, path, buf_view(&said));
        buf_free(&said);
        seen++;
    }
    CHECK(seen > 4);
    arena_drop(&arena);
}

T_TEST(feedback_on_craft) { check_all(".craft"); }
T_TEST(feedback_on_ascendc) { check_all(".cpp"); }
