/* The planner's kernels: predicted time against the bound and the attainable time, per task and category, with
 * their geometric means. The bound is what must move at the chip's peak bandwidth, the attainable time what must
 * move at the rates the cycle model grants at most (npu/bound.c).
 *
 *     bench-plan [--hf32] [full|medium|eager|rules|mhc] [CATEGORY|CATEGORY/TASK...]
 *
 * full, medium: the suite's own sizes, or smaller ones. eager: the sizes of tasks/kernelbench.tsv,
 * beside PyTorch eager's measured time. rules: how far the tuned rule is from the best at ten sizes
 * that it was not fitted on. mhc: the hyper-connections at their sizes, beside their operators one by
 * one. The categories of matrix work (matmul, convolution, attention, fuse, arch) are timed when they are
 * named. Timed without values; tasks whose instructions depend on values are
 * said so and not counted. --hf32: convolutions of f32 round their factors, as those of torch_npu do, with which
 * eager was measured. */
#include "eval/bound.h"
#include "eval/interval.h"
#include "eval/time.h"
#include "loop/make.h"
#include "loop/unfused.h"
#include "torch/eager.h"

#include "base/file.h"
#include "base/rng.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum Mode { FULL, MEDIUM, EAGER, RULES, MHC, MODES } Mode;
static const char *const mode_names[MODES] = {"full", "medium", "eager", "rules", "mhc"};

typedef struct Tally {
    uint32_t tasks, timed, counted;
    double logs, attainable_logs;
    uint32_t eager, faster; /* with a measured time; faster by more than the model's error */
    uint32_t level;         /* predicted at no more than LEVEL times the measured time */
    double eager_logs;
} Tally;

typedef struct Run {
    Arena *arena;
    const char *path;
    Mode mode;
    const TorchEager *eager; /* the row; NULL: none */
    const TorchSet *sets;    /* sizes other than the task's own */
    uint32_t n_sets;
    const Graph *graph; /* what was read */
    Plan plan;
    Verdict verdict;
    double attainable_us;
    const char *why;
} Run;

#define LEVEL 1.05

static bool in_hf32; /* convolutions of f32 */

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

static TorchTask *read_task(Run *run, Diag *diag)
{
    TorchOptions options = {.hf32 = in_hf32};
    Str source;
    if (!file_read(run->arena, run->path, 0, &source, diag))
        return NULL;
    *diag = diag_make(run->arena, run->path, source);
    options.sets = run->eager ? run->eager->sets : run->sets;
    options.n_sets = run->eager ? run->eager->n_sets : run->n_sets;
    return torch_read_scaled(run->arena, run->path, source, &options,
                             run->mode == MEDIUM ? SCALE_MEDIUM : SCALE_FULL, diag);
}

static bool time_task(Run *run)
{
    Diag diag = diag_make(run->arena, run->path, STR(""));
    TorchTask *task = read_task(run, &diag);
    if (!task || !plan_make(run->arena, task->graph, chip(), 0, &run->plan, &diag)) {
        run->why = diag.items.len ? diag.items.at[0].text : "not read";
        return false;
    }
    NpuWork work = eval_work(task->graph);
    run->graph = task->graph;
    run->attainable_us = npu_attainable(chip(), &work).us;
    EvalCraft c = {.file = "plan.craft",
                   .text = run->plan.craft,
                   .operands = make_operands(run->arena, &run->plan),
                   .operand_count = run->plan.operands.len};
    EvalConfig config = {.chip = chip(), .trust = true, .seconds = 600, .straight = true};
    Diag said = diag_make(run->arena, c.file, c.text);
    EvalTimer *timer = eval_timer_open(run->arena, &c, task->graph, &config, &run->verdict, &said);
    bool ok = timer && eval_timer_run(run->arena, timer, c.operands, NULL, 0, &run->verdict);
    eval_timer_close(timer);
    run->why = run->verdict.reason;
    return ok;
}

static const char *busiest(const Verdict *v)
{
    const VerdictPipe *most = NULL;
    for (uint32_t i = 0; i < v->pipes.len; i++)
        if (!most || v->pipes.at[i].share > most->share)
            most = &v->pipes.at[i];
    return most ? most->name : "";
}

static void count_eager(const Run *run, Tally *tally)
{
    double ratio = run->eager->us / run->verdict.predicted_us;
    NpuInterval range = eval_interval(&run->verdict);
    bool faster = range.high<run->eager->us, slower = range.low> run->eager->us;
    printf("  eager %9.1f us (measured), %.2f times: %s", run->eager->us, ratio,
           faster   ? "faster"
           : slower ? "slower"
                    : "within the error");
    tally->eager++;
    tally->faster += faster;
    tally->level += run->verdict.predicted_us <= LEVEL * run->eager->us;
    tally->eager_logs += log(ratio);
}

/* Below 10 us the launch is most of it. */
static void count_shares(const Run *run, Tally *tally)
{
    if (run->verdict.predicted_us <= 10)
        return;
    tally->counted++;
    tally->logs += log(run->verdict.bound_us / run->verdict.predicted_us);
    tally->attainable_logs += log(run->attainable_us / run->verdict.predicted_us);
}

static void bench_task(const char *path, Mode mode, const TorchEager *eager, Tally *tally)
{
    Arena arena = {0};
    Run run = {&arena, path, mode, eager, .verdict = verdict_make()};
    tally->tasks++;
    if (time_task(&run)) {
        const Verdict *v = &run.verdict;
        double ratio = v->bound_us / v->predicted_us;
        NpuInterval range = eval_interval(v);
        tally->timed++;
        printf("%-52s %-10s predicted %10.1f us (%.1f to %.1f)  bound %9.1f us  ratio %.2f  of "
               "attainable %.2f  %s",
               path, run.plan.strategy, v->predicted_us, range.low, range.high, v->bound_us, ratio,
               run.attainable_us / v->predicted_us, busiest(v));
        count_shares(&run, tally);
        if (eager)
            count_eager(&run, tally);
        putchar('\n');
    } else {
        printf("%-52s not timed: %s\n", path, run.why ? run.why : "?");
    }
    fflush(stdout);
    arena_drop(&arena);
}

static void print_mean(const char *name, const Tally *t)
{
    if (t->counted)
        printf("%s: %u of %u timed; geometric means over the %u above 10 us: bound / predicted "
               "%.3f, attainable / predicted %.3f, bound / attainable %.3f (predicted, not "
               "measured)\n",
               name, t->timed, t->tasks, t->counted, exp(t->logs / t->counted),
               exp(t->attainable_logs / t->counted),
               exp((t->logs - t->attainable_logs) / t->counted));
    if (t->eager)
        printf("%s: faster than measured eager beyond the range of the prediction: %u of %u; "
               "predicted "
               "at most %.2f times eager: %u; eager / predicted: geometric mean %.2f\n",
               name, t->faster, t->eager, LEVEL, t->level, exp(t->eager_logs / t->eager));
    fflush(stdout);
}

static void add_tally(Tally *all, const Tally *t)
{
    all->tasks += t->tasks;
    all->timed += t->timed;
    all->counted += t->counted;
    all->logs += t->logs;
    all->attainable_logs += t->attainable_logs;
    all->eager += t->eager;
    all->faster += t->faster;
    all->level += t->level;
    all->eager_logs += t->eager_logs;
}

/* ---- hyper-connections ---- */

static void print_operators(const Graph *g)
{
    for (uint32_t i = 0; i < g->nodes.len; i++) {
        const Node *n = &g->nodes.at[i];
        double us = time_operator_us(g, n, chip());
        Str equation = node_text(n, AT_EQUATION);
        if (us > 0)
            printf("%s%s%s%s%.*s %.1f", i ? ", " : "",
                   *node_kind_name(n) ? "" : op_rows[n->op].name, node_kind_name(n),
                   equation.len ? " " : "", STR_ARG(equation), us);
    }
    putchar('\n');
}

static void bench_streams(const char *path, int64_t n, int64_t width, int64_t tokens, Tally *tally)
{
    Arena arena = {0};
    TorchSet sets[] = {{"TOKENS", tokens}, {"STREAMS", n}, {"WIDTH", width}};
    Run run = {&arena, path, MHC, .sets = sets, .n_sets = 3, .verdict = verdict_make()};
    Str task = path_stem(path);
    tally->tasks++;
    printf("%-14.*s %2lld %6lld %7lld  ", STR_ARG(task), (long long)n, (long long)width,
           (long long)tokens);
    if (time_task(&run)) {
        const Verdict *v = &run.verdict;
        double unfused = time_unfused_us(run.graph, chip());
        tally->timed++;
        count_shares(&run, tally);
        NpuInterval range = eval_interval(v);
        printf("%10.1f %8.1f %8.1f %10.1f %6.2f %10.2f  %-9s %10.1f %6.2f  ", v->predicted_us,
               range.low, range.high, v->bound_us, v->bound_us / v->predicted_us,
               run.attainable_us / v->predicted_us, busiest(v), unfused, unfused / v->predicted_us);
        print_operators(run.graph);
    } else {
        printf("not timed: %s\n", run.why ? run.why : "?");
    }
    fflush(stdout);
    arena_drop(&arena);
}

static void bench_mhc(void)
{
    static const char *const paths[] = {"tasks/mhc/mhc_post.py", "tasks/mhc/mhc_post_grad.py"};
    static const int64_t streams[] = {4, 8}, widths[] = {1024, 5120}, tokens[] = {1, 2048, 8192};
    Tally tally = {0};
    printf("%-14s %2s %6s %7s  %10s %8s %8s %10s %6s %10s  %-9s %10s %6s  %s\n", "task", "n", "D",
           "tokens", "predicted", "from", "to", "bound", "ratio", "attainable", "busiest",
           "unfused", "times",
           "operators one by one, at least (us, predicted: operands once at peak, a launch each)");
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < 2; n++)
            for (int d = 0; d < 2; d++)
                for (int t = 0; t < 3; t++)
                    bench_streams(paths[i], streams[n], widths[d], tokens[t], &tally);
    print_mean("mhc", &tally);
}

/* ---- rules ---- */

enum { UNSEEN = 10, MOST_KNOBS = 64, TRIES = 60 };

/* Sizes of the task drawn between small and medium ones at which the program is the same. */
static uint32_t draw_shapes(Arena *arena, const MakeSpec *spec, const MakeResult *made,
                            const EvalOperand **shapes)
{
    TorchOptions options = {0};
    Diag said = diag_make(arena, spec->path, spec->source);
    TorchTask *ends[2] = {
        torch_read_scaled(arena, spec->path, spec->source, &options, SCALE_SMALL, &said),
        torch_read_scaled(arena, spec->path, spec->source, &options, SCALE_MEDIUM, &said)};
    uint32_t len = 0;
    if (!ends[0] || !ends[1] || ends[0]->knobs.len > MOST_KNOBS)
        return 0;
    for (uint32_t t = 0; t < TRIES && len < UNSEEN; t++) {
        double share[MOST_KNOBS];
        Plan plan;
        for (uint32_t i = 0; i < ends[0]->knobs.len; i++)
            share[i] = rng_uniform(11, t, i);
        TorchTask *task = sizes_between(arena, spec->path, spec->source, &options, ends[0], ends[1],
                                        share, &said);
        if (task && plan_make(arena, task->graph, spec->chip, 0, &plan, &said) &&
            made->plan.operands.len == plan.operands.len && make_same(made, &plan))
            shapes[len++] = make_operands(arena, &plan);
    }
    return len;
}

static void bench_rule(const char *path, Tally *tally)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, STR(""));
    MakeSpec spec = {.path = path, .chip = chip(), .trust = true, .full = true, .tune_only = true};
    MakeResult made = {0};
    const EvalOperand *shapes[UNSEEN];
    TuneTable table;
    EvalConfig config = {.chip = spec.chip, .trust = true};
    bool ok = file_read(&arena, path, 0, &spec.source, &diag) &&
              make_kernel(&arena, &spec, &made, &diag) && made.tuned.rows.len > 1;
    uint32_t n = ok ? draw_shapes(&arena, &spec, &made, shapes) : 0;
    EvalCraft c = {.file = "plan.craft",
                   .text = made.untuned,
                   .operands = n ? shapes[0] : NULL,
                   .operand_count = made.plan.operands.len};
    TuneSpec tune = {.candidate = &c,
                     .graph = made.task ? made.task->graph : NULL,
                     .config = &config,
                     .budget = 16};
    tally->tasks++;
    if (n && tune_table(&arena, &tune, shapes, n, &table, &diag)) {
        double mean = 0, worst = 0;
        uint32_t within = 0;
        for (uint32_t i = 0; i < table.shapes.len; i++) {
            double loss = tune_loss(&made.rule, &table.shapes.at[i], table.rows.len);
            mean += loss / table.shapes.len;
            worst = loss > worst ? loss : worst;
            within += loss <= 0.1;
        }
        printf("%-52s %-44s %2u unseen sizes: within 10 %% of the best at %u, mean %.1f %%, worst "
               "%.1f %%\n",
               path, made.rule_text, table.shapes.len, within, mean * 100, worst * 100);
        tally->timed += table.shapes.len;
        tally->counted += within;
    } else {
        printf("%-52s no choices, or not timed\n", path);
    }
    fflush(stdout);
    arena_drop(&arena);
}

/* ---- the command ---- */

/* Is the category, or with its name the task, among the arguments, or is nothing chosen? */
static bool wanted(const char *category, Str task, int argc, char **argv)
{
    bool any = false;
    for (int i = 1; i < argc; i++) {
        bool mode = !strcmp(argv[i], "--hf32");
        for (int m = 0; m < MODES; m++)
            mode = mode || !strcmp(argv[i], mode_names[m]);
        any = any || !mode;
        Str rest = str_from(argv[i]), head;
        bool here = str_next(&rest, '/', &head) && str_is(head, category);
        if (here && (!rest.len || !task.len || str_equal(rest, task)))
            return true;
    }
    return !any;
}

/* The category itself, or a task of it, is an argument. */
static bool named(const char *category, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (str_starts(str_from(argv[i]), category))
            return true;
    return false;
}

static void bench_path(Arena *arena, const char *path, Mode mode, const TorchEagerTable *table,
                       Tally *tally)
{
    Str dir = path_base(path_dir(arena, path));
    const char *key = str_format(arena, "%.*s/%.*s", STR_ARG(dir), STR_ARG(path_stem(path)));
    if (mode == RULES)
        bench_rule(path, tally);
    else if (mode != EAGER)
        bench_task(path, mode, NULL, tally);
    for (uint32_t i = 0; mode == EAGER && i < table->len; i++)
        if (!strcmp(table->at[i].task, key))
            bench_task(path, mode, &table->at[i], tally);
}

/* Categories from here on are matrix work: only when asked for. */
enum { PLAIN = 10 };

int main(int argc, char **argv)
{
    static const char *const categories[] = {
        "activation",    "broadcast",   "index",     "loss",   "math",
        "normalization", "optimizer",   "pooling",   "reduce", "resize",
        "matmul",        "convolution", "attention", "fuse",   "arch"};
    Arena arena = {0};
    Diag diag = diag_make(&arena, "tasks", STR(""));
    TorchEagerTable table = {0};
    Tally all = {0};
    Mode mode = MEDIUM;
    for (int i = 1; i < argc; i++)
        in_hf32 = in_hf32 || !strcmp(argv[i], "--hf32");
    for (int i = 1; i < argc; i++)
        for (int m = 0; m < MODES; m++)
            mode = !strcmp(argv[i], mode_names[m]) ? (Mode)m : mode;
    if (mode == MHC) {
        bench_mhc();
        return 0;
    }
    if (!torch_eager_read(&arena, "tasks/kernelbench.tsv", &table, &diag))
        return 2;
    for (size_t c = 0; c < sizeof categories / sizeof *categories; c++) {
        NameList names = {0};
        Tally tally = {0};
        const char *dir = path_join(&arena, "tasks", categories[c]);
        bool here = c < PLAIN || named(categories[c], argc, argv);
        if (!here || !wanted(categories[c], STR(""), argc, argv) || !file_is_dir(dir))
            continue;
        if (!file_list(&arena, dir, &names, &diag))
            return 2;
        for (uint32_t i = 0; i < names.len; i++)
            if (wanted(categories[c], path_stem(names.at[i]), argc, argv))
                bench_path(&arena, path_join(&arena, dir, names.at[i]), mode, &table, &tally);
        if (mode != RULES)
            print_mean(categories[c], &tally);
        add_tally(&all, &tally);
    }
    if (mode == RULES)
        printf("all: the rule is within 10 %% of the size's own best at %u of %u unseen sizes "
               "(predicted)\n",
               all.counted, all.timed);
    else
        print_mean("all", &all);
    arena_drop(&arena);
    return 0;
}
