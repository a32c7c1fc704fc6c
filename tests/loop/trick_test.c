/* Tricks against the judge, each a Craft file of tests/loop/tricks that says in its head what it answers
 * and what it may not get: `# not: ok` no reward at all, `# not: time` no speed; `# not: none` is an honest
 * one that must keep both. Sizes and limits are a sixteenth of those in use, to be judged sooner. */
#include "loop/judge_line.h"

#include "base/file.h"
#include "tests/t.h"
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char folder[] = "tests/loop/tricks";

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static NameList trick_names(Arena *arena)
{
    NameList names = {0};
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        if (str_ends(str_from(e->d_name), ".craft"))
            vec_push(arena, &names, (const char *)str_dup(arena, str_from(e->d_name)));
    if (dir)
        closedir(dir);
    if (names.len)
        qsort(names.at, names.len, sizeof *names.at, by_name);
    return names;
}

/* What stands behind a key in the head of the file. */
static Str said_of(Str text, const char *key)
{
    ptrdiff_t at = str_find(text, str_from(key));
    Str rest = at < 0 ? (Str){0} : str_slice(text, (size_t)at + strlen(key), text.len), line;
    return str_next(&rest, '\n', &line) ? str_trim(line) : (Str){0};
}

static void judge_trick(const char *name)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, name, STR(""));
    JudgeTask task = {.name = name, .category = ""};
    JudgeSpec spec = {.chip = npu_chip_find(STR("910B2")),
                      .baseline_name = "",
                      .fuzz = 1,
                      .tiny = true,
                      .trust = true,
                      .time = true,
                      .most_values = 4 << 20};
    Judged judged;
    Str text;
    REQUIRE(file_read(&arena, path_join(&arena, folder, name), 0, &text, &diag));
    Str not = said_of(text, "# not: ");
    task.path = path_join(&arena, folder, str_dup(&arena, said_of(text, "# task: ")));
    REQUIRE(file_read(&arena, task.path, 0, &task.source, &diag));
    judge_answer(&arena, &spec, &task, text, &judged);
    JudgeReward r = judge_reward(&judged);
    const char *status = verdict_status_row(judged.status)->text;
    if (str_is(not, "ok"))
        CHECK_MSG(r.reward == 0, "%s is %s, reward %g", name, status, r.reward);
    else if (str_is(not, "time"))
        CHECK_MSG(isnan(r.speed), "%s is %s, speed %g", name, status, r.speed);
    else
        CHECK_MSG(r.speed > 0, "%s is %s: %s", name, status, judged.log);
    arena_drop(&arena);
}

/* A part of them, so that each test is short. */
static void judge_part(uint32_t part, uint32_t parts)
{
    Arena arena = {0};
    NameList names = trick_names(&arena);
    CHECK(names.len > 40);
    for (uint32_t i = part; i < names.len; i += parts)
        judge_trick(names.at[i]);
    arena_drop(&arena);
}

T_TEST(tricks_1) { judge_part(0, 6); }
T_TEST(tricks_2) { judge_part(1, 6); }
T_TEST(tricks_3) { judge_part(2, 6); }
T_TEST(tricks_4) { judge_part(3, 6); }
T_TEST(tricks_5) { judge_part(4, 6); }
T_TEST(tricks_6) { judge_part(5, 6); }
