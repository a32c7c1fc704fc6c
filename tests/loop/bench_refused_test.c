/* A server that answers nobody: nothing is stored, the reason is kept, and the same command goes on
 * when it answers again. */
#include "loop/bench.h"

#include "tests/t.h"
#include <string.h>

/* No answer for the tasks of this name, prose for the others. */
static bool refuse_chat(void *self, Arena *arena, const ChatAsk *asks, uint32_t count,
                        ChatReply *replies, Diag *diag)
{
    const char *refused = self;
    (void)diag;
    for (uint32_t i = 0; i < count; i++) {
        bool none = !strcmp(refused, "*") || !strcmp(refused, asks[i].task);
        replies[i] = (ChatReply){.model = "m", .error = "", .usage = {1, 1, -1}};
        if (none)
            replies[i].error = "the server answered 401: no such key";
        else
            vec_push(arena, &replies[i].choices, ((ChatChoice){.text = STR("I cannot.")}));
        replies[i].ours = replies[i].final = none;
    }
    return true;
}

static uint64_t stored(Store *store, Diag *diag)
{
    uint64_t count = 99;
    CHECK(store_attempt_count(store, &(StoreFilter){0}, &count, diag));
    return count;
}

static void run(Store *store, const BenchSuite *suite, const char *refused, BenchDone *done,
                Diag *diag)
{
    Generator generator = {.name = "m", .self = (void *)(uintptr_t)refused, .ask = refuse_chat};
    BenchModel model = {
        .generator = &generator, .strategy = PROMPT_CRAFT, .home = ".", .settings = ""};
    BenchSpec spec = {.suite = suite,
                      .generator = "m",
                      .answers_path = "",
                      .model = &model,
                      .samples = 4,
                      .label = "",
                      .version = "test",
                      .jobs = 1};
    spec.judge = (JudgeSpec){
        .chip = npu_chip_find(STR("910B2")), .tiny = true, .trust = true, .baseline_name = ""};
    CHECK(bench_run(store, &spec, done, diag));
}

T_TEST(bench_stores_nothing_of_a_server_that_refuses)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    BenchSuite suite;
    BenchPick pick = {.suite = "tests/bench/tasks", .home = "."};
    BenchDone done;
    const char *dir;
    REQUIRE(bench_suite(&arena, &pick, &suite, &diag));
    REQUIRE(file_temp_dir(&arena, "acraft-refused", &dir, &diag));
    Store *store = store_open(path_join(&arena, dir, "r.db"), STORE_MAKE, &diag);
    REQUIRE(store);
    run(store, &suite, "*", &done, &diag);
    CHECK(done.gave_up && done.judged == 0 && done.refused == 3);
    CHECK(strstr(done.why, "401"));
    CHECK_EQ_INT(stored(store, &diag), 0);
    run(store, &suite, "square", &done, &diag); /* answers the other one */
    CHECK(!done.gave_up && done.judged == 4 && done.refused == 4);
    CHECK_EQ_INT(stored(store, &diag), 4);
    run(store, &suite, "", &done, &diag);
    CHECK(done.refused == 0 && done.kept == 4 && done.judged == 4);
    CHECK_EQ_INT(stored(store, &diag), 8);
    store_close(store);
    CHECK(file_remove_tree(dir, &diag));
    arena_drop(&arena);
}
