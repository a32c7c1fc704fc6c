/* Operators that the planner was not written for (bench/unseen, sixty of them, each at about 1, 16 and
 * 256 MB): predicted time of the planned kernels beside the bound, the attainable time and the same
 * operators one by one at peak bandwidth. Reading and planning run in a process of their own, whose
 * processor time and memory are printed.
 *
 *     bench-unseen [--dir bench/unseen2] [--size 1|16|256] [NAME...]
 *
 * bench/unseen2 holds twenty more, bench/unseen3 and bench/unseen4 fifteen each (16 MB only), bench/unseen5
 * twenty-four, bench/unseen6 twelve (16 MB): each written before the planner was tried on it, all but the last looked at since.
 *
 * Timed without values; operators whose instructions depend on values are named and not counted. */
#include "eval/bound.h"
#include "eval/time.h"
#include "loop/make.h"
#include "loop/unfused.h"

#include "base/file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SETS = 8, SIZES = 3, TEXT = 160 };
static const int64_t megabytes[SIZES] = {1, 16, 256};

typedef struct Case {
    const char *path;
    Str name;
    int size; /* index into megabytes */
    TorchSet sets[MOST_SETS];
    uint32_t n_sets;
} Case;

/* What the child process found, sent through a pipe. */
typedef struct Found {
    bool timed;
    double predicted_us, bound_us, attainable_us, unfused_us;
    char strategy[TEXT], why[TEXT];
} Found;

typedef struct Cost {
    double seconds;
    double mebibytes;
} Cost;

typedef struct Mean {
    uint32_t cases, timed, below, slower;
    double logs, bound_logs;
    Cost most;
} Mean;

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

static void copy_text(char *to, const char *from) { snprintf(to, TEXT, "%s", from ? from : ""); }

static bool time_plan(Arena *arena, const Graph *graph, const Plan *plan, Verdict *verdict)
{
    EvalCraft c = {.file = "plan.craft",
                   .text = plan->craft,
                   .operands = make_operands(arena, plan),
                   .operand_count = plan->operands.len};
    EvalConfig config = {.chip = chip(), .trust = true, .seconds = 600};
    Diag said = diag_make(arena, c.file, c.text);
    EvalTimer *timer = eval_timer_open(arena, &c, graph, &config, verdict, &said);
    bool ok = timer && eval_timer_run(arena, timer, c.operands, NULL, 0, verdict);
    eval_timer_close(timer);
    return ok;
}

static void find(const Case *c, Found *found)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, c->path, STR(""));
    TorchOptions options = {.sets = c->sets, .n_sets = c->n_sets};
    TorchTask *task = NULL;
    Str source;
    Plan plan;
    Verdict verdict = verdict_make();
    if (file_read(&arena, c->path, 0, &source, &diag)) {
        diag = diag_make(&arena, c->path, source);
        task = torch_read_scaled(&arena, c->path, source, &options, SCALE_FULL, &diag);
    }
    if (!task || !plan_make(&arena, task->graph, chip(), 0, &plan, &diag)) {
        copy_text(found->why, diag.items.len ? diag.items.at[0].text : "not read");
    } else {
        NpuWork work = eval_work(task->graph);
        found->attainable_us = npu_attainable(chip(), &work).us;
        found->unfused_us = time_unfused_us(task->graph, chip());
        copy_text(found->strategy, plan.strategy);
        found->timed = time_plan(&arena, task->graph, &plan, &verdict);
        found->predicted_us = verdict.predicted_us;
        found->bound_us = verdict.bound_us;
        copy_text(found->why, verdict.reason);
    }
    arena_drop(&arena);
}

/* Runs one case in a child process. */
static Cost run_case(const Case *c, Found *found)
{
    Cost cost = {0};
    int ends[2];
    memset(found, 0, sizeof *found);
    copy_text(found->why, "the process ended early");
    fflush(stdout);
    if (pipe(ends))
        return cost;
    pid_t child = fork();
    if (child == 0) {
        Found mine = {0};
        find(c, &mine);
        bool sent = write(ends[1], &mine, sizeof mine) == (ssize_t)sizeof mine;
        _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    Found got;
    if (child > 0 && read(ends[0], &got, sizeof got) == (ssize_t)sizeof got)
        *found = got;
    close(ends[0]);
    struct rusage used = {0};
    if (child > 0 && wait4(child, NULL, 0, &used) == child) {
        cost.seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
        cost.mebibytes = (double)used.ru_maxrss / 1024;
    }
    return cost;
}

static void bench_case(const Case *c, Mean *mean)
{
    Found f;
    Cost cost = run_case(c, &f);
    mean->cases++;
    mean->most.seconds = fmax(mean->most.seconds, cost.seconds);
    mean->most.mebibytes = fmax(mean->most.mebibytes, cost.mebibytes);
    printf("%-28.*s %3lld MB ", STR_ARG(c->name), (long long)megabytes[c->size]);
    if (f.timed) {
        double ratio = f.attainable_us / f.predicted_us;
        mean->timed++;
        mean->logs += log(ratio);
        mean->bound_logs += log(f.bound_us / f.predicted_us);
        mean->below += ratio < 0.2;
        mean->slower += f.unfused_us < f.predicted_us;
        printf("%-16.16s predicted %9.1f us, attainable %8.1f, of it %.2f; bound %8.1f; one by one "
               "%9.1f",
               f.strategy, f.predicted_us, f.attainable_us, ratio, f.bound_us, f.unfused_us);
    } else {
        printf("not timed: %s", f.why);
    }
    printf("; %.1f s, %.0f MiB\n", cost.seconds, cost.mebibytes);
    fflush(stdout);
}

static void print_mean(const char *title, const Mean *m)
{
    if (m->timed)
        printf(
            "%s: %u of %u timed; geometric mean of attainable / predicted %.3f, bound / predicted "
            "%.3f; %u below 0.2; %u slower than their operators one by one at peak bandwidth; at "
            "most %.0f s and %.0f MiB (predicted, not measured)\n",
            title, m->timed, m->cases, exp(m->logs / m->timed), exp(m->bound_logs / m->timed),
            m->below, m->slower, m->most.seconds, m->most.mebibytes);
}

/* One row of sizes.tsv: name, megabytes, NAME=VALUE with blanks between. */
static bool parse_row(Arena *arena, const char *dir, Str line, Case *c)
{
    Str name, size, set;
    if (!str_next(&line, '\t', &name) || !str_next(&line, '\t', &size))
        return false;
    *c = (Case){.path = str_format(arena, "%s/%.*s.py", dir, STR_ARG(name)), .name = name};
    int64_t mb = strtoll(str_dup(arena, size), NULL, 10);
    while (c->size < SIZES && megabytes[c->size] != mb)
        c->size++;
    while (c->n_sets < MOST_SETS && str_next(&line, ' ', &set)) {
        Str key;
        if (str_next(&set, '=', &key))
            c->sets[c->n_sets++] = (TorchSet){str_dup(arena, key),
                                              strtoll(str_dup(arena, set), NULL, 10)};
    }
    return c->size < SIZES;
}

static bool is_chosen(const Case *c, int64_t size, char **names, int n)
{
    bool named = n == 0;
    for (int i = 0; i < n; i++)
        named = named || str_is(c->name, names[i]);
    return named && (!size || megabytes[c->size] == size);
}

int main(int argc, char **argv)
{
    Arena arena = {0};
    const char *dir = "bench/unseen";
    Mean all = {0}, by_size[SIZES] = {{0}};
    int64_t size = 0;
    Str rest, line;
    for (; argc > 2 && !strncmp(argv[1], "--", 2); argc -= 2, argv += 2) {
        if (!strcmp(argv[1], "--size"))
            size = strtoll(argv[2], NULL, 10);
        else
            dir = argv[2];
    }
    const char *sizes = str_format(&arena, "%s/sizes.tsv", dir);
    Diag diag = diag_make(&arena, sizes, STR(""));
    if (!file_read(&arena, sizes, 0, &rest, &diag)) {
        fprintf(stderr, "bench-unseen: run it in the root of the repository\n");
        return 2;
    }
    while (str_next(&rest, '\n', &line)) {
        Case c;
        if (!line.len || line.at[0] == '#' || !parse_row(&arena, dir, line, &c) ||
            !is_chosen(&c, size, argv + 1, argc - 1))
            continue;
        Mean one = {0};
        bench_case(&c, &one);
        Mean *both[] = {&all, &by_size[c.size]};
        for (int i = 0; i < 2; i++) {
            both[i]->cases += one.cases;
            both[i]->timed += one.timed;
            both[i]->below += one.below;
            both[i]->slower += one.slower;
            both[i]->logs += one.logs;
            both[i]->bound_logs += one.bound_logs;
            both[i]->most.seconds = fmax(both[i]->most.seconds, one.most.seconds);
            both[i]->most.mebibytes = fmax(both[i]->most.mebibytes, one.most.mebibytes);
        }
    }
    for (int i = 0; i < SIZES; i++)
        print_mean(str_format(&arena, "%lld MB", (long long)megabytes[i]), &by_size[i]);
    print_mean("all", &all);
    arena_drop(&arena);
    return 0;
}
