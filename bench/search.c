/* How many candidates a search can time in a second: a planned softmax of middle size, its
 * choices one after the other, without values, on two cores.
 *
 *     bench-search [ROWS COLS] [SECONDS]       1024 4096 (16 MB), 3 seconds each
 *
 * Straight: records from the lowered program, in the process that asks (emit/sim). Through the
 * text: the compiled kernel on the twin, as judging does it; compiling is not counted. Both give
 * the same time. */
#include "eval/time.h"
#include "gen/plan/plan.h"
#include "loop/bench_pool.h"
#include "loop/make.h"
#include "loop/tune.h"

#include "base/file.h"
#include "craft/craft.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CORES = 2, MOST_ROWS = 64 };

typedef struct Search {
    Arena *arena;
    TorchTask *task;
    Plan plan;
    TuneRows rows;
    EvalCraft craft;
    double seconds;
} Search;

/* What one process did: shared with its parent. */
typedef struct Count {
    uint64_t evaluations, failed;
    double processor;     /* seconds */
    double us[MOST_ROWS]; /* by combination */
} Count;

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

static bool open_search(Search *s, int64_t rows, int64_t cols, Diag *diag)
{
    TorchSet sets[] = {{"ROWS", rows}, {"COLS", cols}};
    TorchOptions options = {.sets = sets, .n_sets = 2};
    s->task = torch_open(s->arena, "tasks/activation/softmax.py", &options, SCALE_FULL, diag);
    if (!s->task || !plan_make(s->arena, s->task->graph, chip(), 0, &s->plan, diag))
        return false;
    s->craft = (EvalCraft){.file = "plan.craft",
                           .text = s->plan.craft,
                           .operands = make_operands(s->arena, &s->plan),
                           .operand_count = s->plan.operands.len};
    CraftFile *file = craft_read(s->arena, s->craft.file, s->craft.text, diag);
    IrProgram *p = file ? craft_program(s->arena, file, 0, diag) : NULL;
    if (p)
        tune_rows(s->arena, p, MOST_ROWS, &s->rows);
    return p != NULL;
}

/* In a process of its own: combinations in turn until the time is over. */
static void evaluate(const Search *s, EvalTimer *timer, Count *count)
{
    double end = pool_clock() + s->seconds;
    for (uint32_t i = 0; pool_clock() < end; i++) {
        Arena scratch = {0};
        const TuneRow *row = &s->rows.at[i % s->rows.len];
        Verdict v = verdict_make();
        bool ok = eval_timer_run(&scratch, timer, s->craft.operands, row->settings,
                                 row->setting_count, &v);
        count->evaluations += ok;
        count->failed += !ok;
        count->us[i % s->rows.len] = ok ? v.predicted_us : -1;
        arena_drop(&scratch);
    }
}

typedef struct Rate {
    double wall;      /* evaluations a second of all processes together */
    double processor; /* ... if each process had a core to itself */
} Rate;

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static Rate rate(const Search *s, bool straight, Count *counts)
{
    EvalConfig config = {.chip = chip(), .trust = true, .only_time = true, .straight = straight};
    Verdict v = verdict_make();
    Diag diag = diag_make(s->arena, s->craft.file, s->craft.text);
    EvalTimer *timer = eval_timer_open(s->arena, &s->craft, s->task->graph, &config, &v, &diag);
    uint64_t done = 0, failed = 0;
    Rate r = {0};
    if (!timer) {
        printf("not timed: %s\n", v.reason);
        return r;
    }
    for (int i = 0; i < CORES; i++) {
        counts[i] = (Count){0};
        if (fork() == 0) {
            double start = processor_seconds();
            evaluate(s, timer, &counts[i]);
            counts[i].processor = processor_seconds() - start;
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        ;
    eval_timer_close(timer);
    for (int i = 0; i < CORES; i++) {
        done += counts[i].evaluations;
        failed += counts[i].failed;
        if (counts[i].processor > 0)
            r.processor += (double)counts[i].evaluations / counts[i].processor;
    }
    if (failed)
        printf("%llu of %llu were not timed\n", (unsigned long long)failed,
               (unsigned long long)(done + failed));
    r.wall = (double)done / s->seconds;
    return r;
}

int main(int argc, char **argv)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, "tasks/activation/softmax.py", STR(""));
    Search s = {.arena = &arena, .seconds = argc == 4 || argc == 2 ? atof(argv[argc - 1]) : 3};
    int64_t rows = argc >= 3 ? atoll(argv[1]) : 1024, cols = argc >= 3 ? atoll(argv[2]) : 4096;
    Count *counts = mmap(NULL, 2 * CORES * sizeof *counts, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counts == MAP_FAILED || !open_search(&s, rows, cols, &diag)) {
        fprintf(stderr, "bench-search: %s\n", diag.items.len ? diag.items.at[0].text : "no memory");
        return 2;
    }
    Rate straight = rate(&s, true, counts), twin = rate(&s, false, counts + CORES);
    uint32_t same = 0, both = 0;
    for (uint32_t i = 0; i < s.rows.len; i++) {
        double a = counts[0].us[i], b = counts[CORES].us[i];
        both += a > 0 && b > 0;
        same += a > 0 && a == b;
    }
    printf(
        "softmax %lldx%lld, %u combinations, %d processes: straight %.0f evaluations/s (%.0f/s by "
        "processor time, as on idle cores), through the text on the twin %.1f/s, ratio %.1f; the "
        "same time for %u of %u combinations timed by both\n",
        (long long)rows, (long long)cols, s.rows.len, CORES, straight.wall, straight.processor,
        twin.wall, twin.wall > 0 ? straight.wall / twin.wall : 0, same, both);
    arena_drop(&arena);
    return same == both && straight.wall > 0 ? 0 : 1;
}
