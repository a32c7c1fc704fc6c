/* How many candidates a minute one machine judges, against the board the others need.
 *
 * First the 52 tasks of AscendCraft by the offline planner: values at small and odd sizes, time at
 * the tasks' own full sizes, nothing in the compile cache. Then as many answers to one task as a
 * trainer would send: the same text (compiled once), and texts that do not parse. The yardstick is
 * two minutes of board for one evaluation (AscendOptimizer, arXiv 2603.23566). */
#include "loop/bench.h"

#include "loop/bench_pool.h"
#include "loop/judge_line.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const double board_a_minute = 0.5;

static void print_rate(const char *what, uint32_t n, double seconds)
{
    double rate = 60 * n / seconds;
    printf("%-44s %5u in %7.1f s  %8.1f a minute  board %.1f  ratio %.0f\n", what, n, seconds, rate,
           board_a_minute, rate / board_a_minute);
    fflush(stdout);
}

static void bench_suite_cold(Arena *arena, const char *dir, Diag *diag)
{
    BenchSuite suite;
    BenchPick pick = {.suite = "ascendcraft", .home = "."};
    BenchDone done;
    if (!bench_suite(arena, &pick, &suite, diag))
        return;
    setenv("XDG_CACHE_HOME", dir, 1);
    BenchSpec spec = {.suite = &suite,
                      .generator = "plan",
                      .answers_path = "",
                      .samples = 1,
                      .label = "",
                      .version = "bench"};
    spec.judge = (JudgeSpec){.chip = npu_chip_find(STR("910B2")),
                             .fuzz = 1,
                             .listed = 2,
                             .time = true,
                             .baseline_name = "",
                             .trust = true};
    Store *store = store_open(path_join(arena, dir, "bench.db"), STORE_MAKE, diag);
    if (store && bench_run(store, &spec, &done, diag)) {
        print_rate("52 tasks, values, full-size time, cold cache", done.judged, done.seconds);
        printf("%-44s largest process %.0f MiB, limit for all 4096\n", "",
               (double)done.peak_bytes / (1 << 20));
    }
    store_close(store);
}

static void bench_answer(JudgeLines *lines, const char *what, Str request, uint32_t n)
{
    PoolSpec spec = {.recycle = 64, .work = judge_line, .context = lines};
    Pool *pool = pool_open(&spec);
    double start = pool_clock();
    PoolReply reply;
    for (uint32_t sent = 0, done = 0; done < n;) {
        while (sent < n && pool_busy(pool) < pool_jobs(pool) && pool_send(pool, sent, request))
            sent++;
        done += pool_next(pool, 60, -1, &reply);
    }
    print_rate(what, n, pool_clock() - start);
    pool_close(pool);
}

static void bench_answers_of_one_task(Arena *arena, Diag *diag)
{
    BenchSuite suite;
    BenchPick pick = {.suite = "ascendcraft", .home = "."};
    Str relu;
    if (!bench_suite(arena, &pick, &suite, diag) ||
        !file_read(arena, "examples/relu.craft", 0, &relu, diag))
        return;
    JudgeLines lines = {.tasks = &suite.tasks, .brief = true};
    lines.spec = (JudgeSpec){.chip = npu_chip_find(STR("910B2")),
                             .cache = judge_cache_open(),
                             .fuzz = 1,
                             .baseline_name = "",
                             .trust = true};
    Buf request = {0};
    buf_puts(&request, "{\"task\": \"relu\", \"answer\": ");
    buf_json_str(&request, relu);
    buf_puts(&request, "}");
    bench_answer(&lines, "answers to relu, right, compiled once", buf_view(&request), 40);
    bench_answer(&lines, "answers to relu that do not parse",
                 STR("{\"task\": \"relu\", \"answer\": \"craft = 1\\nx = oops(\\n\"}"), 400);
    buf_free(&request);
    judge_cache_close(lines.spec.cache);
}

int main(void)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "", STR(""));
    const char *dir;
    if (!file_temp_dir(&arena, "acraft-bench-eval", &dir, &diag))
        return 1;
    printf("%u processors\n", pool_processors());
    bench_answers_of_one_task(&arena, &diag);
    bench_suite_cold(&arena, dir, &diag);
    for (uint32_t i = 0; i < diag.items.len; i++)
        fprintf(stderr, "%s\n", diag.items.at[i].text);
    bool ok = diag_ok(&diag);
    file_remove_tree(dir, &diag);
    arena_drop(&arena);
    return ok ? 0 : 1;
}
