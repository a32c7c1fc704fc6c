/* How good is the planner's choice among all schedules?
 *
 *     bench-rank [--most N] [--seed N] [TASK...]     the tasks below that contain TASK; 240 schedules each
 *
 * For each task schedules of its loop nests are made: three quarters by combining roles of bands, tile sizes, chunks,
 * pieces of work and numbers of cores, a quarter by an independent generator of random texts (schedule_draw). Each is
 * printed, read back, built, and timed once by the cycle model without values, straight from the lowered program.
 * Those that are illegal or do not fit are not counted. Printed: how many were timed, best, median, what the planner
 * takes for the task (loop nests or a strategy), what it takes of loop nests, both over the best; then mean and worst,
 * best over median, and schedules timed a second. Predicted, not measured. */
#include "base/file.h"
#include "base/map.h"
#include "base/rng.h"
#include "gen/plan/build/build.h"
#include "gen/plan/schedule/search.h"
#include "gen/plan/int64.h"
#include "torch/torch.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_SETS = 4, MOST_ROLES = 24, TRIES = 12 };

/* A task at a size of a few MB, so that hundreds of launches are timed in a minute. */
typedef struct RankTask {
    const char *path;
    TorchSet sets[MOST_SETS];
} RankTask;

static const RankTask tasks[] = {
    {"tasks/activation/relu.py", {{"ROWS", 512}, {"COLS", 2048}}},
    {"tasks/activation/softmax.py", {{"ROWS", 2048}, {"COLS", 512}}},
    {"tasks/activation/log_softmax.py", {{"ROWS", 256}, {"COLS", 4096}}},
    {"tasks/activation/min_gpt_new_gelu.py", {{"ROWS", 512}, {"COLS", 2048}}},
    {"tasks/broadcast/add_bias_four_dim_broadcast.py", {{0}}},
    {"tasks/broadcast/clamp_broadcast.py", {{0}}},
    {"tasks/broadcast/max_broadcast.py", {{0}}},
    {"tasks/loss/mse_loss.py", {{"ROWS", 1024}, {"COLS", 1024}}},
    {"tasks/loss/hinge_loss.py", {{"ROWS", 1024}, {"COLS", 1024}}},
    {"tasks/math/matrix_scalar_multiplication.py", {{"ROWS", 1024}, {"COLS", 1024}}},
    {"tasks/normalization/rms_norm.py",
     {{"BATCH", 4}, {"CHANNELS", 64}, {"HEIGHT", 64}, {"WIDTH", 64}}},
    {"tasks/normalization/layer_norm.py",
     {{"BATCH", 64}, {"CHANNELS", 16}, {"HEIGHT", 32}, {"WIDTH", 32}}},
    {"tasks/normalization/l2_norm.py", {{"ROWS", 512}, {"COLS", 2048}}},
    {"tasks/normalization/instance_norm.py",
     {{"BATCH", 8}, {"CHANNELS", 32}, {"HEIGHT", 64}, {"WIDTH", 64}}},
    {"tasks/normalization/frobenius_norm.py",
     {{"BATCH", 4}, {"CHANNELS", 64}, {"HEIGHT", 64}, {"WIDTH", 64}}},
    {"tasks/optimizer/adam.py", {{0}}},
    {"tasks/reduce/sum_reduction_over_a_dimension.py",
     {{"BATCH", 16}, {"ROWS", 256}, {"COLS", 256}}},
    {"tasks/reduce/mean_reduction_over_a_dimension.py",
     {{"BATCH", 4}, {"ROWS", 1024}, {"COLS", 256}}},
    {"bench/unseen/residual_rms_gate.py", {{0}}},
    {"bench/unseen/rotary_halves_qk.py", {{0}}},
    {"bench/unseen/group_int8_quantise.py", {{0}}},
    {"bench/unseen/channel_shuffle_relu.py", {{0}}},
    {"bench/unseen/entropy_confidence.py", {{0}}},
    {"bench/unseen/token_shift_lerp.py", {{0}}},
};
enum { TASKS = sizeof tasks / sizeof *tasks };

typedef struct Rank {
    Arena arena;
    const Graph *graph;
    const Nest *base;
    Map seen; /* texts that were tried */
    uint64_t seed, next;
    uint32_t most, timed, drawn, refused;
    double *us;
    const char *best; /* text */
} Rank;

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int64_t dice(Rank *r, int64_t n) { return rng_range(r->seed, 7, r->next++, 0, n); }

/* Times the schedule of a text; false: it was tried, is illegal or does not fit. */
static bool try_text(Rank *r, const char *text)
{
    Arena scratch = {0};
    Diag quiet = diag_make(&scratch, "rank", str_from(text));
    PlanBuilt built;
    double us;
    uint32_t before;
    if (map_get(&r->seen, str_from(text), &before))
        return false;
    map_put(&r->arena, &r->seen, str_copy(&r->arena, str_from(text)), 1);
    bool ok = plan_nest_text(&scratch, r->graph, chip(), "rank", str_from(text), "k", &built,
                             &quiet) &&
              clock_is_sound(&built.plan, chip()) && clock_plan(&built.plan, chip(), &us);
    r->refused += !ok;
    if (ok) {
        bool best = true;
        for (uint32_t i = 0; i < r->timed; i++)
            best = best && us < r->us[i];
        r->best = best ? str_dup(&r->arena, str_from(text)) : r->best;
        r->us[r->timed++] = us;
    }
    arena_drop(&scratch);
    return ok;
}

/* A band with other roles, tiles and chunks than the planner gives it. */
static void vary_band(Rank *r, const Nest *nest, Band *band)
{
    static const int64_t shares[] = {1, 1, 1, 2, 3, 4, 8, 16};
    Band roles[MOST_ROLES];
    const char *why;
    uint32_t n = schedule_roles(nest, chip(), band, roles, MOST_ROLES, &why);
    if (n)
        *band = roles[dice(r, n)];
    if (!band->rows.whole && band->rows.axis)
        band->rows.tile = (band->rows.tile + shares[dice(r, 8)] - 1) / shares[dice(r, 3)];
    if (!band->lanes.whole)
        band->lanes.tile = (band->lanes.tile / shares[dice(r, 8)] + 63) / 64 * 64;
    if (band->rows.whole || band->lanes.whole) { /* more or fewer rows beside what is whole */
        BandTile *other = band->rows.whole ? &band->lanes : &band->rows;
        other->tile = (other->tile + 1) / shares[dice(r, 8)] + 1;
    }
    band->chunked = band->chunked && dice(r, 2);
}

/* The bands of the planner's own schedule, each with other roles. */
static void vary_schedule(Rank *r, const PlanBuilt *own)
{
    Arena *arena = &r->arena;
    Schedule s = schedule_copy(arena, &own->schedule);
    Buf text = {0};
    double all = schedule_elements(own->nest, schedule_largest(own->nest, &s));
    static const int64_t cores[] = {48, 48, 48, 40, 32, 24, 16, 12, 8, 6, 4};
    for (uint32_t b = 0; b < s.bands.len; b++)
        vary_band(r, own->nest, &s.bands.at[b]);
    int64_t few = cores[dice(r, 11)];
    s.longer = (Bands){0};
    s.parts = INT64_C(1) << dice(r, 5);
    s.each = few == 48 ? 0 : (int64_t)(all / (double)few) + 1;
    schedule_print(own->nest, &s, &text);
    try_text(r, text.at);
    buf_free(&text);
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef struct Result {
    uint32_t timed, drawn;
    double best, median, taken, nest;
    const char *by, *best_text;
} Result;

static bool rank_task(Rank *r, Result *result)
{
    PlanTried tried = {0};
    uint32_t best = 0;
    Plan plan = {0};
    Diag diag = diag_make(&r->arena, "rank", STR(""));
    if (!plan_nest_tried(&r->arena, r->graph, chip(), "k", clock_budget(r->graph) - 1, &tried,
                         &best, &diag) ||
        !tried.at[best].timed || !plan_make(&r->arena, r->graph, chip(), 0, &plan, &diag))
        return false;
    result->nest = tried.at[best].cost.us;
    result->by = plan.strategy;
    if (!clock_plan(&plan, chip(), &result->taken))
        result->taken = NAN;
    for (uint32_t i = 0; i < tried.len; i++)
        try_text(r, tried.at[i].plan.schedule);
    for (uint32_t i = 0; r->timed < r->most * 3 / 4 && i < TRIES * r->most; i++)
        vary_schedule(r, &tried.at[best]);
    for (uint32_t i = 0; r->timed < r->most && i < TRIES * r->most; i++) {
        Buf text = {0};
        schedule_draw(r->base, r->seed, i, &text);
        r->drawn += try_text(r, text.at);
        buf_free(&text);
    }
    qsort(r->us, r->timed, sizeof *r->us, by_time);
    result->timed = r->timed;
    result->drawn = r->drawn;
    result->best = r->us[0];
    result->median = r->us[r->timed / 2];
    result->best_text = r->best;
    return true;
}

static bool open_rank(Rank *r, const RankTask *t, Diag *diag)
{
    TorchOptions options = {.sets = t->sets};
    while (options.n_sets < MOST_SETS && t->sets[options.n_sets].name)
        options.n_sets++;
    TorchTask *task = torch_open(&r->arena, t->path, &options, SCALE_FULL, diag);
    if (!task)
        return false;
    r->graph = graph_share(&r->arena, int64_bounds(&r->arena, task->graph));
    Nest *nest = nest_derive(&r->arena, r->graph, diag);
    if (nest)
        nest_merge(nest);
    r->base = nest;
    r->us = arena_array(&r->arena, double, r->most + 64);
    return nest != NULL;
}

/* The first number behind an option; without it. */
static bool take_number(int *argc, char **argv, const char *name, int64_t *number)
{
    for (int i = 1; i + 1 < *argc; i++)
        if (!strcmp(argv[i], name)) {
            if (!str_to_i64(str_from(argv[i + 1]), number) || *number < 1 || *number > 100000)
                return false;
            memmove(argv + i, argv + i + 2, (size_t)(*argc - i - 2) * sizeof *argv);
            *argc -= 2;
        }
    return true;
}

static bool is_wanted(const char *path, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(path, argv[i]))
            return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    int64_t most = 240, seed = 1;
    double logs = 0, nest_logs = 0, spread = 0, worst = 0, nest_worst = 0, start = seconds_now();
    uint32_t counted = 0, timed = 0;
    if (!take_number(&argc, argv, "--most", &most) || !take_number(&argc, argv, "--seed", &seed)) {
        fprintf(stderr, "bench-rank [--most N] [--seed N] [TASK...]\n");
        return 2;
    }
    printf("%-46s %6s %6s %9s %9s %20s %14s\n", "task", "timed", "drawn", "best", "median",
           "taken / best", "nest / best");
    for (int i = 0; i < TASKS; i++) {
        Rank r = {.seed = (uint64_t)seed, .most = (uint32_t)most};
        Result result = {0};
        Diag diag = diag_make(&r.arena, tasks[i].path, STR(""));
        if (!is_wanted(tasks[i].path, argc, argv))
            continue;
        if (!open_rank(&r, &tasks[i], &diag) || !rank_task(&r, &result)) {
            printf("%-46s %s\n", tasks[i].path,
                   diag.items.len ? diag.items.at[0].text : "no nest that can be timed");
        } else {
            double over = result.taken / result.best, nest = result.nest / result.best;
            printf("%-46s %6u %6u %9.2f %9.2f %10.3f %9s %14.3f\n", tasks[i].path, result.timed,
                   result.drawn, result.best, result.median, over, result.by, nest);
            if (nest > 1.03) {
                Str rest = str_from(result.best_text), line;
                while (str_next(&rest, '\n', &line))
                    if (line.len)
                        printf("    %.*s\n", STR_ARG(line));
            }
            over = over >= 1 ? over : 1; /* a strategy may be faster than all of them */
            counted++;
            timed += result.timed;
            logs += log(over);
            nest_logs += log(nest);
            spread += log(result.best / result.median);
            worst = over > worst ? over : worst;
            nest_worst = nest > nest_worst ? nest : nest_worst;
        }
        fflush(stdout);
        arena_drop(&r.arena);
    }
    if (!counted)
        return 1;
    printf("%u tasks: taken over best %.3f in the mean, %.3f at worst; of loop nests alone %.3f, "
           "%.3f; best over median %.3f; %.0f schedules timed a second (predicted, not measured)\n",
           counted, exp(logs / counted), worst, exp(nest_logs / counted), nest_worst,
           exp(spread / counted), timed / (seconds_now() - start));
    return 0;
}
