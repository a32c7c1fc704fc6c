/* The planner's kernels: predicted time against the bound, per task and category, with their
 * geometric means. The bound is every byte that must move, once, at the chip's peak bandwidth.
 *
 *     bench-plan [full|medium] [CATEGORY...]
 *
 * Timed without values at the suite's own or at medium sizes; tasks whose instructions depend on
 * values are said so and not counted. */
#include "eval/time.h"
#include "gen/plan/plan.h"
#include "torch/torch.h"

#include "base/file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Tally {
    uint32_t tasks, timed, counted;
    double logs;
} Tally;

static TorchScale scale = SCALE_MEDIUM;

static bool time_task(Arena *arena, const char *path, Plan *plan, Verdict *v, const char **why)
{
    const NpuChip *chip = npu_chip_find(STR("910B2"));
    Diag diag = diag_make(arena, path, STR(""));
    TorchOptions options = {0};
    Str source;
    if (!file_read(arena, path, 0, &source, &diag))
        return false;
    diag = diag_make(arena, path, source);
    TorchTask *task = torch_read_scaled(arena, path, source, &options, scale, &diag);
    if (!task || !plan_make(arena, task->graph, chip, 0, plan, &diag)) {
        *why = diag.items.len ? diag.items.at[0].text : "not read";
        return false;
    }
    EvalOperand *operands = arena_array(arena, EvalOperand, plan->operands.len + 1);
    for (uint32_t i = 0; i < plan->operands.len; i++)
        operands[i] = (EvalOperand){plan->operands.at[i].value, plan->operands.at[i].shape};
    EvalCraft c = {.file = "plan.craft",
                   .text = plan->craft,
                   .operands = operands,
                   .operand_count = plan->operands.len};
    EvalConfig config = {.chip = chip, .trust = true};
    Diag said = diag_make(arena, c.file, c.text);
    EvalTimer *timer = eval_timer_open(arena, &c, task->graph, &config, v, &said);
    bool ok = timer && eval_timer_run(arena, timer, operands, NULL, 0, v);
    eval_timer_close(timer);
    *why = v->reason;
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

static void bench_task(const char *path, Tally *tally)
{
    Arena arena = {0};
    Plan plan = {0};
    Verdict v = verdict_make();
    const char *why = NULL;
    tally->tasks++;
    if (time_task(&arena, path, &plan, &v, &why)) {
        double ratio = v.bound_us / v.predicted_us;
        tally->timed++;
        printf("%-52s %-10s predicted %10.1f us  bound %9.1f us  ratio %.2f  %s\n", path,
               plan.strategy, v.predicted_us, v.bound_us, ratio, busiest(&v));
        if (v.predicted_us > 10) {
            tally->counted++;
            tally->logs += log(ratio);
        }
    } else {
        printf("%-52s not timed: %s\n", path, why ? why : "?");
    }
    fflush(stdout);
    arena_drop(&arena);
}

static void print_mean(const char *name, const Tally *t)
{
    if (t->counted)
        printf("%s: %u of %u timed; bound / predicted over the %u above 10 us: geometric mean %.2f "
               "(predicted, not measured)\n",
               name, t->timed, t->tasks, t->counted, exp(t->logs / t->counted));
}

static bool wanted(const char *category, int argc, char **argv)
{
    bool any = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "full") || !strcmp(argv[i], "medium"))
            continue;
        any = true;
        if (!strcmp(argv[i], category))
            return true;
    }
    return !any;
}

int main(int argc, char **argv)
{
    static const char *const categories[] = {"activation", "loss",    "math",  "normalization",
                                             "optimizer",  "pooling", "reduce"};
    Arena arena = {0};
    Diag diag = diag_make(&arena, "tasks", STR(""));
    Tally all = {0};
    for (int i = 1; i < argc; i++)
        scale = !strcmp(argv[i], "full") ? SCALE_FULL : scale;
    for (size_t c = 0; c < sizeof categories / sizeof *categories; c++) {
        NameList names = {0};
        Tally tally = {0};
        const char *dir = path_join(&arena, "tasks", categories[c]);
        if (!wanted(categories[c], argc, argv))
            continue;
        if (!file_list(&arena, dir, &names, &diag))
            return 2;
        for (uint32_t i = 0; i < names.len; i++)
            bench_task(path_join(&arena, dir, names.at[i]), &tally);
        print_mean(categories[c], &tally);
        all.tasks += tally.tasks;
        all.timed += tally.timed;
        all.counted += tally.counted;
        all.logs += tally.logs;
    }
    print_mean("all", &all);
    arena_drop(&arena);
    return 0;
}
