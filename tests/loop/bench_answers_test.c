/* Answers are found where the benchmarks leave them, packed or not. */
#include "loop/bench_answers.h"

#include "tests/t.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

typedef struct Place {
    Arena arena;
    Diag diag;
    const char *dir;
    BenchTasks tasks;
    BenchAnswers found;
} Place;

static void make_place(Place *p)
{
    *p = (Place){0};
    p->diag = diag_make(&p->arena, "", STR(""));
    REQUIRE(file_temp_dir(&p->arena, "acraft-answers-test", &p->dir, &p->diag));
    static const char *const names[] = {"relu", "softmax", "Sqrt"};
    for (int i = 0; i < 3; i++)
        vec_push(&p->arena, &p->tasks, ((BenchTask){names[i], "c", "1", "x.py"}));
}

static void put(Place *p, const char *path, Str text)
{
    const char *full = path_join(&p->arena, p->dir, path);
    REQUIRE(file_make_dirs(path_dir(&p->arena, full), &p->diag));
    REQUIRE(file_write(full, text, &p->diag));
}

static bool find(Place *p)
{
    return bench_answers(&p->arena, p->dir, &p->tasks, &p->found, &p->diag);
}

static void check(const Place *p, uint32_t i, const char *task, uint32_t sample, const char *text)
{
    REQUIRE(i < p->found.at.len);
    const BenchAnswer *a = &p->found.at.at[i];
    CHECK_EQ_STR(p->tasks.at[a->task].name, task);
    CHECK_EQ_INT(a->sample, sample);
    if (text)
        CHECK_EQ_SLICE(a->text, text);
    else
        CHECK(a->whole);
}

static void drop_place(Place *p)
{
    CHECK(file_remove_tree(p->dir, &p->diag));
    arena_drop(&p->arena);
}

T_TEST(answers_of_multikernelbench)
{
    Place p;
    make_place(&p);
    put(&p, "ascendc/add_shot/0.0-1.0/m/run0/relu.txt", STR("a"));
    put(&p, "ascendc/add_shot/0.0-1.0/m/run1/relu.txt", STR("b"));
    put(&p, "ascendc/add_shot/0.0-1.0/m/run1/relu_cot.txt", STR("thoughts"));
    put(&p, "ascendc/add_shot/0.0-1.0/m/run1/result_activation.json", STR("{}"));
    put(&p, "ascendc/add_shot/0.0-1.0/m/run1/softmax.txt", STR("c"));
    REQUIRE(find(&p));
    CHECK_EQ_INT(p.found.at.len, 3);
    check(&p, 0, "relu", 0, "a");
    check(&p, 1, "relu", 1, "b");
    check(&p, 2, "softmax", 1, "c");
    CHECK_EQ_INT(p.found.unknown, 2);
    drop_place(&p);
}

T_TEST(answers_of_npukernelbench)
{
    Place p;
    make_place(&p);
    put(&p, "msopgen/lvl1/Math/Sqrt/fixed_case_3/sample2/log/x_rag_simple_code_gen_prompt.json",
        STR("{\"gen_content\": \"hm</think>code\"}"));
    put(&p, "tasks/level1/Math/Sqrt/answer/0/op_kernel/sqrt.cpp", STR("k"));
    put(&p, "tasks/level1/Math/Sqrt/question/op_kernel/sqrt.cpp", STR("template"));
    REQUIRE(find(&p));
    CHECK_EQ_INT(p.found.at.len, 2);
    check(&p, 0, "Sqrt", 0, NULL);
    check(&p, 1, "Sqrt", 2, "code");
    CHECK_EQ_INT(p.found.at.at[1].kase, 3);
    drop_place(&p);
}

T_TEST(answers_packed)
{
    Place p;
    make_place(&p);
    Str lines = STR(
        "{\"task\": \"relu\", \"sample\": 4, \"answer\": \"a\\u0000b\"}\n\n"
        "{\"task\": \"relu\", \"answer\": \"\"}\n{\"task\": \"other\", \"answer\": \"\"}\n");
    char packed[512];
    size_t n = ZSTD_compress(packed, sizeof packed, lines.at, lines.len, 3);
    REQUIRE(!ZSTD_isError(n));
    put(&p, "all.jsonl.zst", (Str){packed, n});
    gzFile gz = gzopen(path_join(&p.arena, p.dir, "softmax.txt.gz"), "wb");
    gzputs(gz, "zipped");
    gzclose(gz);
    REQUIRE(find(&p));
    CHECK_EQ_INT(p.found.at.len, 3);
    CHECK_EQ_INT(p.found.at.at[0].sample, 4);
    CHECK_EQ_INT(p.found.at.at[0].text.len, 3);
    CHECK_EQ_INT(p.found.at.at[1].sample, 5); /* no number of its own: the next */
    check(&p, 2, "softmax", 0, "zipped");
    put(&p, "all.jsonl.zst", (Str){packed, n / 2});
    CHECK(find(&p)); /* what is damaged is said, the rest is taken */
    drop_place(&p);
}

T_TEST(answers_that_are_none)
{
    Place p;
    make_place(&p);
    CHECK(!find(&p));
    put(&p, "readme.txt", STR("nothing"));
    CHECK(!find(&p));
    put(&p, "bad.jsonl", STR("{\"task\": \"relu\""));
    CHECK(!find(&p));
    CHECK(strstr(vec_last(&p.diag.items).text, "bad.jsonl:1"));
    drop_place(&p);
}

/* Pipes, devices, links that lead back, names of nothing: left alone, never waited for. */
T_TEST(answers_among_other_things)
{
    Place p;
    make_place(&p);
    put(&p, "deep/relu.3.txt", STR("three"));
    put(&p, "deep/marked.jsonl",
        STR("\xef\xbb\xbf{\"task\": \"softmax\", \"answer\": \"m\", "
            "\"sample\": 4294967296}\r\n"));
    REQUIRE(mkfifo(path_join(&p.arena, p.dir, "relu.txt"), 0600) == 0);
    REQUIRE(mkfifo(path_join(&p.arena, p.dir, "relu.craft"), 0600) == 0);
    REQUIRE(symlink("..", path_join(&p.arena, p.dir, "deep/again")) == 0);
    REQUIRE(symlink("/dev/zero", path_join(&p.arena, p.dir, "softmax.txt")) == 0);
    REQUIRE(symlink("/nonexistent", path_join(&p.arena, p.dir, "softmax.0.txt")) == 0);
    REQUIRE(find(&p));
    CHECK_EQ_INT(p.found.at.len, 2);
    check(&p, 0, "relu", 3, "three");
    check(&p, 1, "softmax", 0, "m");
    CHECK_EQ_INT(p.found.unknown, 4);
    drop_place(&p);
}
