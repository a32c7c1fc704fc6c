/* The planner's kernels at medium size: predicted time against the bound, per task, and their
 * geometric mean. The bound is every byte read or written once at the chip's peak bandwidth. */
#include "loop/make.h"

#include "base/file.h"
#include <math.h>
#include <stdio.h>

typedef struct Tally {
    uint32_t tasks, ok, counted;
    double logs;
} Tally;

static void bench_task(const char *path, Tally *tally)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, STR(""));
    MakeSpec spec = {.path = path, .chip = npu_chip_find(STR("910B2")), .medium = true};
    MakeResult result = {0};
    tally->tasks++;
    if (file_read(&arena, path, 0, &spec.source, &diag) &&
        make_kernel(&arena, &spec, &result, &diag)) {
        const Verdict *v = &result.verdicts.at[result.verdicts.len - 1];
        double ratio = v->bound_us / v->predicted_us;
        tally->ok++;
        printf("%-52s %-10s predicted %9.1f us  bound %8.1f us  ratio %.2f\n", path,
               result.plan.strategy, v->predicted_us, v->bound_us, ratio);
        if (v->predicted_us > 10) {
            tally->counted++;
            tally->logs += log(ratio);
        }
    } else {
        printf("%-52s not good: %s\n", path, diag.items.len ? diag.items.at[0].text : "wrong");
    }
    fflush(stdout);
    arena_drop(&arena);
}

int main(void)
{
    static const char *const categories[] = {"activation", "loss",    "math",  "normalization",
                                             "optimizer",  "pooling", "reduce"};
    Arena arena = {0};
    Diag diag = diag_make(&arena, "tasks", STR(""));
    Tally tally = {0};
    for (size_t c = 0; c < sizeof categories / sizeof *categories; c++) {
        NameList names = {0};
        const char *dir = path_join(&arena, "tasks", categories[c]);
        if (!file_list(&arena, dir, &names, &diag))
            return 2;
        for (uint32_t i = 0; i < names.len; i++)
            bench_task(path_join(&arena, dir, names.at[i]), &tally);
    }
    printf("%u of %u tasks right at small and medium size; bound / predicted over the %u above 10 "
           "us: geometric mean %.2f (predicted, not measured)\n",
           tally.ok, tally.tasks, tally.counted, exp(tally.logs / tally.counted));
    arena_drop(&arena);
    return 0;
}
