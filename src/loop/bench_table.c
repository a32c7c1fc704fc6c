/* From a run's attempts to scores, and scores to text or JSON; see bench_table.h. */
#include "loop/bench_table.h"

#include "npu/npu.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- gathering ---- */

/* Not the time alone, nor a case for the second time. */
static bool is_listed_case(const StoreCase *c)
{
    return strcmp(c->name, "full") != 0 && strcmp(c->name, "again") != 0;
}

static ScoreSample sample_of(const StoreAttempt *a)
{
    ScoreSample s = {.compiled = a->compiled == VERDICT_YES || a->status == VERDICT_OK,
                     .correct = a->status == VERDICT_OK,
                     .unsupported = !verdict_status_row(a->status)->counted,
                     .unscored = a->status == VERDICT_UNSCORED,
                     .predicted_us = a->predicted_us,
                     .longest_us = npu_longest(a->predicted_us),
                     .bound_us = a->bound_us,
                     .baseline_us = a->baseline_us,
                     .unfused_us = a->unfused_us,
                     .measured_us = a->measured_us,
                     .copy_us = a->copy_us,
                     .cases = 0};
    for (uint32_t i = 0; i < a->cases.len; i++)
        if (is_listed_case(&a->cases.at[i])) {
            s.cases++;
            s.passed += a->cases.at[i].status == VERDICT_OK;
        }
    return s;
}

static bool same_task(const StoreAttempt *a, const StoreAttempt *b) { return a->task == b->task; }

static void count_sample(Arena *arena, BenchScores *scores, const StoreAttempt *a, bool new_task)
{
    if (new_task) {
        ScoreTask t = {.name = a->task_name, .category = a->category, .level = a->level};
        vec_push(arena, &scores->tasks, t);
    }
    ScoreSample s = sample_of(a);
    score_add(&vec_last(&scores->tasks), &s);
    scores->statuses[a->status]++;
    scores->samples++;
    scores->repaired += a->turn > 0 && a->status == VERDICT_OK;
}

static bool find_run(Store *store, Arena *arena, int64_t id, StoreRun *run, Diag *diag)
{
    StoreRuns runs = {0};
    if (!store_runs(store, arena, &runs, diag))
        return false;
    for (uint32_t i = 0; i < runs.len; i++)
        if (runs.at[i].id == id) {
            *run = runs.at[i];
            return true;
        }
    diag_error(diag, "B005", (Span){0}, "there is no run %lld in the store", (long long)id);
    return false;
}

/* The platform of a run, from its settings. */
static const char *platform_of(Arena *arena, const char *settings)
{
    json_t *root = json_loads(settings, JSON_REJECT_DUPLICATES, NULL);
    const char *name = json_string_value(json_object_get(root, "platform"));
    const char *platform = name ? str_dup(arena, str_from(name)) : "";
    json_decref(root);
    return platform;
}

bool bench_scores(Store *store, Arena *arena, int64_t run, BenchScores *scores, Diag *diag)
{
    *scores = (BenchScores){.platform = ""};
    StoreFilter filter = {.run = run, .with_cases = true};
    uint32_t before = diag->errors;
    StoreRows *rows = find_run(store, arena, run, &scores->run, diag)
                          ? store_attempts(store, &filter, diag)
                          : NULL;
    StoreAttempt a, held;
    bool has = false;
    int64_t counted = 0; /* the task of the last counted sample */
    while (rows && store_next(rows, arena, &a)) {
        bool same_sample = has && same_task(&a, &held) && a.sample == held.sample;
        if (has && !same_sample) {
            count_sample(arena, scores, &held, held.task != counted);
            counted = held.task;
        }
        held = a;
        has = true;
    }
    if (has)
        count_sample(arena, scores, &held, held.task != counted);
    if (rows)
        scores->platform = platform_of(arena, scores->run.settings);
    store_done(rows);
    return rows && diag->errors == before;
}

/* ---- groups ---- */

static void add_to(Arena *arena, BenchGroups *groups, const char *title, const ScoreTask *task)
{
    uint32_t i = 0;
    while (i < groups->len && strcmp(groups->at[i].title, title))
        i++;
    if (i == groups->len)
        vec_push(arena, groups, ((BenchGroup){.title = title}));
    vec_push(arena, &groups->at[i].tasks, *task);
}

BenchGroups bench_groups(Arena *arena, const BenchScores *scores)
{
    BenchGroups all = {0}, levels = {0};
    for (uint32_t i = 0; i < scores->tasks.len; i++) {
        const ScoreTask *t = &scores->tasks.at[i];
        add_to(arena, &all, t->category, t);
        if (*t->level)
            add_to(arena, &levels, str_format(arena, "level %s", t->level), t);
    }
    for (uint32_t i = 0; levels.len > 1 && i < levels.len; i++)
        vec_push(arena, &all, levels.at[i]);
    BenchGroup total = {.title = "all", .tasks = scores->tasks};
    vec_push(arena, &all, total);
    total.title = "without unscored";
    total.without_unscored = true;
    vec_push(arena, &all, total);
    return all;
}

ScoreOf bench_group_of(const BenchGroup *g, uint32_t k)
{
    return (ScoreOf){g->tasks.at, g->tasks.len, k, g->without_unscored};
}

uint32_t bench_group_unsupported(const BenchGroup *g)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->tasks.len; i++)
        n += g->tasks.at[i].unsupported;
    return n;
}

/* ---- text ---- */

static void put_percent(Buf *out, double share)
{
    if (isnan(share))
        buf_printf(out, "%6s", "-");
    else
        buf_printf(out, "%6.1f", 100 * share);
}

static void put_share(Buf *out, ScoreShare s)
{
    put_percent(out, s.share);
    if (isnan(s.share))
        buf_printf(out, " %-13s", "");
    else
        buf_printf(out, " [%5.1f,%5.1f]", 100 * s.low, 100 * s.high);
}

static uint32_t with_baseline(const ScoreTask *tasks, uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += tasks[i].has_baseline;
    return n;
}

static void put_row(Buf *out, const BenchGroup *g, uint32_t k)
{
    ScoreOf of = bench_group_of(g, k);
    buf_printf(out, "%-20s %5u %6u  ", g->title, g->tasks.len, bench_group_unsupported(g));
    put_share(out, score_of_all(&of, SCORE_COMPILE));
    buf_puts(out, " ");
    put_share(out, score_of_all(&of, SCORE_PASS));
    buf_printf(out, "  %5u", with_baseline(g->tasks.at, g->tasks.len));
    for (int kind = SCORE_FAST_0_2; kind <= SCORE_FAST_1_0; kind++) {
        buf_puts(out, "  ");
        put_percent(out, score_of_all(&of, (ScoreKind)kind).share);
        buf_puts(out, "/");
        put_percent(out, score_of_correct(&of, (ScoreKind)kind));
    }
    buf_puts(out, "  ");
    put_percent(out, score_anchored(&of).share);
    buf_puts(out, "\n");
}

static void put_heading(Arena *arena, Buf *out, uint32_t k)
{
    buf_printf(out, "\n%-20s %5s %6s  %-20s %-20s  %5s  %13s  %13s  %13s  %6s\n", "", "tasks",
               "unsup.", str_format(arena, "  Compile@%u, 95 %%", k),
               str_format(arena, "  Pass@%u, 95 %%", k), "base.", "Fast0.2", "Fast0.8", "Fast1.0",
               "bound");
}

static void put_levels(Buf *out, const BenchGroup *all)
{
    ScoreOf of = bench_group_of(all, 1);
    double by_sample = score_levels(&of, false);
    if (!isnan(by_sample) && all->tasks.len)
        buf_printf(out,
                   "level score (weights .2 .3 .5): %.3f by samples, as NPUKernelBench's code; "
                   "%.3f by cases, as its documents\n",
                   by_sample, score_levels(&of, true));
}

static void put_unfused(Buf *out, const BenchGroup *all, uint32_t k)
{
    ScoreOf of = bench_group_of(all, k);
    buf_puts(out, "against one perfect kernel for each operator (predicted, for information):");
    for (int kind = SCORE_UNFUSED_0_2; kind <= SCORE_UNFUSED_1_0; kind++) {
        buf_printf(out, "  %s ", score_kind_text((ScoreKind)kind));
        put_percent(out, score_of_all(&of, (ScoreKind)kind).share);
        buf_puts(out, "/");
        put_percent(out, score_of_correct(&of, (ScoreKind)kind));
    }
    buf_puts(out, "\n");
}

static void put_statuses(Buf *out, const BenchScores *s)
{
    const char *comma = "";
    for (int i = 0; i < VERDICT_STATUS_COUNT; i++) {
        if (!s->statuses[i])
            continue;
        buf_printf(out, "%s%s %u", comma, verdict_status_row((VerdictStatus)i)->text,
                   s->statuses[i]);
        comma = ", ";
    }
    if (s->repaired)
        buf_printf(out, "; %u right only after a repair", s->repaired);
    buf_puts(out, "\n");
}

static void put_head(Buf *out, const BenchScores *scores)
{
    buf_printf(out, "run %lld: %s by %s%s%s; %u tasks, %u samples: ", (long long)scores->run.id,
               scores->run.suite, scores->run.generator, *scores->run.label ? ", " : "",
               scores->run.label, scores->tasks.len, scores->samples);
    put_statuses(out, scores);
    buf_printf(out, "%s\n", scores->run.settings);
}

/* Kernels that this machine ran: nothing is predicted, and Ascend's baselines say nothing of them. */
static void put_on_platform(Arena *arena, const BenchScores *scores, const BenchGroups *groups,
                            uint32_t k, Buf *out)
{
    buf_printf(out, "\n%-20s %5s %6s  %-20s %-20s  %8s  %s\n", scores->platform, "tasks", "unsup.",
               str_format(arena, "  Compile@%u, 95 %%", k),
               str_format(arena, "  Pass@%u, 95 %%", k), "measured", "of a copy's speed");
    for (uint32_t i = 0; i < groups->len; i++) {
        const BenchGroup *g = &groups->at[i];
        ScoreOf of = bench_group_of(g, k);
        double of_copy;
        uint32_t measured = score_measured(&of, &of_copy);
        buf_printf(out, "%-20s %5u %6u  ", g->title, g->tasks.len, bench_group_unsupported(g));
        put_share(out, score_of_all(&of, SCORE_COMPILE));
        buf_puts(out, " ");
        put_share(out, score_of_all(&of, SCORE_PASS));
        buf_printf(out, measured ? "  %8u  %.3f\n" : "  %8u  -\n", measured, of_copy);
    }
}

void bench_table_text(Arena *arena, const BenchScores *scores, const uint32_t *ks, Buf *out)
{
    BenchGroups groups = bench_groups(arena, scores);
    const BenchGroup *all = &groups.at[groups.len - 2];
    put_head(out, scores);
    for (; *scores->platform && *ks; ks++)
        put_on_platform(arena, scores, &groups, *ks, out);
    for (; *ks; ks++) {
        put_heading(arena, out, *ks);
        for (uint32_t i = 0; i < groups.len; i++)
            put_row(out, &groups.at[i], *ks);
        put_unfused(out, all, *ks);
    }
    if (strstr(scores->run.suite, "npukernelbench"))
        put_levels(out, all);
    buf_puts(out, "Percent. Intervals: Wilson, or a bootstrap over tasks and samples. ");
    if (*scores->platform)
        buf_puts(out, "Times are measured on this machine,\nof a copy: the geometric mean of a "
                      "copy's time, of the same bytes in the same run, over the kernel's.\n");
    else
        buf_puts(out, "base.: tasks that have a measured baseline.\nFast0.8: as fast as 0.8 of it, "
                      "by the slow end of the predicted interval; counted over the base. tasks\n"
                      "only: of all their answers / of the right ones. bound: mean of bound / "
                      "predicted.\nNothing here was measured on a board.\n");
}

/* Bound over predicted time, or a copy's time over the measured one. */
static void put_speed(Buf *out, const ScoreOf *of)
{
    double of_copy;
    bool measured = score_measured(of, &of_copy) > 0;
    ScoreShare bound = score_anchored(of);
    if (measured)
        buf_printf(out, "%.3f of a copy's speed", of_copy);
    else if (bound.share > 0)
        buf_printf(out, "%.3f of the bound", bound.share);
    else
        buf_puts(out, "-");
}

void bench_leaderboard_text(const BenchPlace *places, uint32_t count, Buf *out)
{
    buf_printf(out, "\n%-10s %5s  %6s  %-34s %s\n", "platform", "tasks", "right", "time", "speed");
    for (uint32_t i = 0; i < count; i++) {
        const BenchPlace *p = &places[i];
        if (!p->scores) {
            buf_printf(out, "%-10s %5s  %6s  %s\n", p->platform, "-", "-", p->missing);
            continue;
        }
        ScoreOf of = {p->scores->tasks.at, p->scores->tasks.len, 1, false};
        buf_printf(out, "%-10s %5u  ", p->platform, p->scores->tasks.len);
        put_percent(out, score_of_all(&of, SCORE_PASS).share);
        buf_printf(out, "  %-34s ", p->time);
        put_speed(out, &of);
        buf_puts(out, "\n");
    }
}

/* ---- JSON ---- */

static void put_json_number(Buf *out, double value)
{
    if (isfinite(value))
        buf_json_double(out, value);
    else
        buf_puts(out, "null");
}

static void put_json_share(Buf *out, ScoreShare s)
{
    buf_puts(out, "{\"of_all\": ");
    put_json_number(out, s.share);
    buf_puts(out, ", \"low\": ");
    put_json_number(out, s.low);
    buf_puts(out, ", \"high\": ");
    put_json_number(out, s.high);
    buf_printf(out, ", \"tasks\": %u", s.tasks);
}

static void put_json_scores(Buf *out, const BenchGroup *g, uint32_t k)
{
    ScoreOf of = bench_group_of(g, k);
    buf_printf(out, "{\"k\": %u", k);
    for (int kind = 0; kind < SCORE_KIND_COUNT; kind++) {
        buf_printf(out, ", \"%s\": ", score_kind_text((ScoreKind)kind));
        put_json_share(out, score_of_all(&of, (ScoreKind)kind));
        buf_puts(out, ", \"of_correct\": ");
        put_json_number(out, score_of_correct(&of, (ScoreKind)kind));
        buf_puts(out, "}");
    }
    buf_puts(out, "}");
}

static void put_json_group(Buf *out, const BenchGroup *g, const uint32_t *ks)
{
    ScoreOf of = bench_group_of(g, 1);
    buf_puts(out, "{\"group\": ");
    buf_json_str(out, str_from(g->title));
    buf_printf(out, ", \"tasks\": %u, \"unsupported\": %u, \"bound\": ", g->tasks.len,
               bench_group_unsupported(g));
    put_json_share(out, score_anchored(&of));
    double of_copy;
    buf_printf(out, "}, \"measured\": %u, \"of_copy\": ", score_measured(&of, &of_copy));
    put_json_number(out, of_copy);
    buf_puts(out, ", \"level_score\": ");
    put_json_number(out, score_levels(&of, false));
    buf_puts(out, ", \"level_score_by_cases\": ");
    put_json_number(out, score_levels(&of, true));
    buf_puts(out, ", \"scores\": [");
    for (uint32_t i = 0; ks[i]; i++) {
        buf_puts(out, i ? ", " : "");
        put_json_scores(out, g, ks[i]);
    }
    buf_puts(out, "]}");
}

/* What a store says of itself is read before it is written again: null when it is no JSON. */
static void put_json_settings(Buf *out, const char *settings)
{
    json_t *value = json_loads(settings, JSON_REJECT_DUPLICATES, NULL);
    char *text = json_is_object(value) ? json_dumps(value, 0) : NULL;
    buf_puts(out, text ? text : "null");
    free(text);
    json_decref(value);
}

void bench_table_json(Arena *arena, const BenchScores *scores, const uint32_t *ks, Buf *out)
{
    BenchGroups groups = bench_groups(arena, scores);
    buf_printf(out, "{\"run\": %lld, \"suite\": ", (long long)scores->run.id);
    buf_json_str(out, str_from(scores->run.suite));
    buf_puts(out, ", \"generator\": ");
    buf_json_str(out, str_from(scores->run.generator));
    buf_puts(out, ", \"settings\": ");
    put_json_settings(out, scores->run.settings);
    buf_printf(out, ", \"samples\": %u, \"statuses\": {", scores->samples);
    const char *comma = "";
    for (int i = 0; i < VERDICT_STATUS_COUNT; i++) {
        buf_printf(out, "%s\"%s\": %u", comma, verdict_status_row((VerdictStatus)i)->text,
                   scores->statuses[i]);
        comma = ", ";
    }
    buf_puts(out, "}, \"groups\": [");
    for (uint32_t i = 0; i < groups.len; i++) {
        buf_puts(out, i ? ", " : "");
        put_json_group(out, &groups.at[i], ks);
    }
    buf_puts(out, "]}");
}
